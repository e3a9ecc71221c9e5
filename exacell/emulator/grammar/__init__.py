"""The language of CellCLI as emulated cells read it: tokens, statements, values, and who may say what."""
