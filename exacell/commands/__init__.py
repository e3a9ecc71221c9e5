"""The commands, one module a noun: each carries out what :mod:`exacell.commands.declared` declares."""
