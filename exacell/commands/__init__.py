"""The commands, one module a noun; each registers itself."""
