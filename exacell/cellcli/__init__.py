"""CellCLI as the client understands it: tokens, schema, statements, replies."""
