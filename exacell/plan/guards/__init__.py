"""Guards for CellCLI's own changing statements, one module a kind of object. Pure."""
