"""CellCLI's language and replies as the client reads them: tokens, schema, statements, replies."""
