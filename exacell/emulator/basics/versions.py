"""Version numbers of Oracle's software on database nodes, and the product line of a release."""

from __future__ import annotations

import re

Version = tuple[int, ...]

_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,6}){1,4}")


def parse_version(text: str) -> Version:
    """Return a version of two to five parts, padded to five as the views show it.

    Raises:
        ValueError: ``text`` is not a version; an empty text is not one either.
    """
    if not _VERSION.fullmatch(text.strip()):
        raise ValueError(text)
    parts = [int(part) for part in text.strip().split(".")]
    return tuple([*parts, 0, 0, 0][:5])


def version_text(version: Version) -> str:
    """Return the version as text, ``11.2.0.4.0``."""
    return ".".join(str(part) for part in version)


def banner(version: Version) -> str:
    """Return the product line of a release, with only the first part of its version number."""
    suffix = {11: "11g", 12: "12c", 18: "18c", 19: "19c"}[version[0]]
    return f"Oracle Database {suffix} Enterprise Edition Release {version_text(version)} - 64bit Production"
