"""Whether roles have a privilege already, as LIST ROLE tells; what it does not tell for certain counts as unknown. Pure.

A privilege stands there as ``object=griddisk, verb=list, attributes=all attributes, options=all options``, each of a role's
own privileges so. Source: Oracle DBMMN, "LIST ROLE", whose example has one; how several stand together is not published, so a
text that is not wholly made of such parts tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from exacell.cellcli.statement import Grant

LIST = "list role attributes name, privileges"

_ONE = re.compile(
    r"\s*object=\s*(?P<on>[\w ,]*?)\s*,\s*verb=\s*(?P<verb>[\w ,]*?)\s*,\s*attributes=\s*(?P<attributes>[\w ,]*?)\s*,\s*"
    r"options=\s*(?P<options>[\w ,]*?)\s*(?:[;,\n]\s*(?=object=)|\s+(?=object=)|[;,]?\s*$)",
    re.IGNORECASE,
)
_ALL = frozenset(("all",))


def told_by(statement: Grant) -> str:
    """Return the LIST that may tell whether GRANT or REVOKE PRIVILEGE changes anything; empty when none can.

    Of several actions or objects at once, and of what names neither attributes nor options, it is not published how LIST
    ROLE shows them.
    """
    alone = len(statement.granted) == len(statement.on) == 1
    said = bool(statement.attributes and statement.options)
    return LIST if alone and said and "ALL" not in statement.recipients else ""


def holds_already(statement: Grant, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether each role has the privilege as it is granted already, or none on that object to revoke.

    Args:
        statement: one that :func:`told_by` has a LIST for.
        rows: what a cell answered to it.
    """
    held = {str(row.get("name")).lower(): _read(row.get("privileges")) for row in rows}
    wanted = _wanted(statement)
    for role in statement.recipients:
        privileges = held.get(role.lower())
        if privileges is None:
            return False
        if statement.verb == "GRANT":
            same = wanted in privileges
        else:
            same = not any(_touch(wanted, other) for other in privileges)
        if not same:
            return False
    return True


def tells(statement: Grant, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether what a cell answered can be read for each of the roles that it has."""
    roles = {role.lower() for role in statement.recipients}
    return all(_read(row.get("privileges")) is not None for row in rows if str(row.get("name")).lower() in roles)


def doubt(statement: Grant) -> str:
    """Return the line for a plan that can't tell whether a privilege is there already; it is sent each time."""
    return (
        f"LIST ROLE does not tell for certain whether {statement.verb} PRIVILEGE changes anything for role "
        f"{', '.join(statement.recipients)}: it is sent, also when it was before"
    )


_Privilege = tuple[frozenset[str], ...]
"""Object, verb, attributes and options, in small letters; ``all`` for all of them."""


def _read(value: object) -> tuple[_Privilege, ...] | None:
    """Return the privileges that LIST shows; None when a part of the text is none."""
    parts = tuple(map(str, value)) if isinstance(value, (tuple, list)) else (str(value or ""),)
    found: list[_Privilege] = []
    for part in parts:
        place = 0
        while place < len(part.rstrip()):
            match = _ONE.match(part, place)
            if match is None:
                return None
            found.append(tuple(_words(match[name]) for name in ("on", "verb", "attributes", "options")))
            place = match.end()
    return tuple(found)


def _words(text: str) -> frozenset[str]:
    words = frozenset(" ".join(word.lower().split()) for word in text.split(",") if word.strip())
    return _ALL if words in (frozenset((f"all {noun}",)) for noun in _NOUNS) else words


_NOUNS = ("objects", "actions", "attributes", "options")


def _wanted(statement: Grant) -> _Privilege:
    parts = (statement.on, statement.granted, statement.attributes, statement.options)
    return tuple(frozenset(" ".join(word.lower().split()) for word in part) for part in parts)


def _touch(one: _Privilege, other: _Privilege) -> bool:
    """Whether two privileges may speak of the same action on the same object."""
    return all(a & b or _ALL in (a, b) for a, b in zip(one[:2], other[:2], strict=True))
