"""``python -m exacell``."""

from exacell.cli import entry

if __name__ == "__main__":
    entry()
