"""Define the journal's table in SQLite, and the selections of rows with their own index."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

COLUMNS = "seq, at, rack, change, kind, target, body, prev, hash"
"""The columns of a row, in the order in which they are stored and passed on."""

SCHEMA = """
create table if not exists entry (
    seq integer primary key,
    at text not null,
    rack text not null,
    change integer not null,
    kind text not null,
    target text not null,
    body text not null,
    prev text not null,
    hash text not null
);
create index if not exists entry_change on entry (rack, change);
create index if not exists entry_of_change on entry (change);
create index if not exists entry_kind on entry (rack, kind);
"""

CACHING = (
    "(kind = 'observed' or body like '%\"cachingOff\":true%' or body like '%\"cachingOn\":true%') and kind <> 'plan'"
)
SERVICES = "kind = 'intent' and body like '%SERVICES%'"
SWITCHING = "kind = 'intent' and body like '%ALTER GRIDDISK%ACTIVE%'"
CONFIRMING = "kind = 'plan' and body like '%\"confirmWithin\":%'"
STOPPED = "kind = 'end' and (body like '%\"exitCode\":4%' or body like '%\"stopped\":%')"

SCHEMA += "".join(
    f"create index if not exists entry_{name} on entry (rack, kind) where {rows};\n"
    for name, rows in (
        ("caching", CACHING),
        ("services", SERVICES),
        ("switching", SWITCHING),
        ("confirming", CONFIRMING),
        ("stopped", STOPPED),
    )
)
"""Indexes for the questions of every start: reading each body takes seconds in a long journal."""

SCHEMA += "".join(
    f"create trigger if not exists entry_no_{deed} before {deed} on entry"
    " begin select raise(abort, 'the journal is append-only'); end;\n"
    for deed in ("update", "delete")
)
"""Triggers that stop a user who edits rows by hand; a forger can drop them, but the chain shows forged rows."""

_TRIGGERS = dict(re.findall(r"create trigger if not exists (\w+)( .*?end);", SCHEMA))
"""Name → text after the name, as SQLite stores it."""

OBJECTS = "select type, name, sql from sqlite_master"


def strange(objects: list[tuple[str, str, str | None]]) -> str:
    """Return the foreign objects in a journal's file that may change what is written or read; empty for none.

    Args:
        objects: the result of OBJECTS.
    """
    kinds = {name: kind for kind, name, _ in objects}
    if kinds.get("entry", "table") != "table":
        return f"entry is a {kinds['entry']}"
    for kind, name, sql in objects:
        if kind == "trigger" and str(sql).partition(name)[2] != _TRIGGERS.get(name):
            return f"it has a trigger {name}, which is not from exacell"
    return ""


@contextmanager
def in_words() -> Iterator[None]:
    """Raise an ordinary error in place of one that SQLite can't report because it contains bytes that are not text."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("the description of its table was overwritten") from error
