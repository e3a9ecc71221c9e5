"""Guard CellCLI's own changing statements, one module per kind of object. Pure."""
