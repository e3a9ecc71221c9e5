"""The journal's table in SQLite, and the choices of rows that have an index of their own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

COLUMNS = "seq, at, rack, change, kind, target, body, prev, hash"
"""Of a row, in the order in which they are stored and handed around."""

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
"""What every start asks has an index of its own: looking into each body takes seconds in a long journal."""

SCHEMA += "".join(
    f"create trigger if not exists entry_no_{deed} before {deed} on entry"
    " begin select raise(abort, 'the journal is append-only'); end;\n"
    for deed in ("update", "delete")
)
"""Who means to tidy up by hand is told; who means to forge drops them, and the chain tells of that."""

_TRIGGERS = dict(re.findall(r"create trigger if not exists (\w+)( .*?end);", SCHEMA))
"""Name → text, as SQLite keeps it behind the name."""

OBJECTS = "select type, name, sql from sqlite_master"


def strange(objects: list[tuple[str, str, str | None]]) -> str:
    """Return what a journal's file holds that is none of exacell's and may change what is written or read; empty for nothing.

    Args:
        objects: what OBJECTS finds.
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
    """Let what SQLite can't say of a damaged file, because it would repeat bytes that are no text, be an error like others."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("the description of its table was overwritten") from error
