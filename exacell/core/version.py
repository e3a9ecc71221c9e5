"""The program's version, in a module that is fast to import."""

__version__ = "1.0.0"
