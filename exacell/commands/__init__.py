"""The functions that carry commands out, one module per subject; :mod:`exacell.commands.declared` declares the commands."""
