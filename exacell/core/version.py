"""The program's version, in one place that costs nothing to import."""

__version__ = "1.0.0"
