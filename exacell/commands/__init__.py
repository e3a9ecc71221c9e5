"""The functions that carry commands out, one module per subject; :mod:`exacell.commands.declared` declares the commands.

However small, a module here is loaded only when its command runs, and a module of declarations when somebody asks for help.
"""
