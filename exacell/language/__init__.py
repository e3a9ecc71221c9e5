"""exacell's own statements: the registry of commands and the grammar of a line."""
