"""The journal's table in SQLite, and the choices of rows that have an index of their own."""

from __future__ import annotations

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
CONFIRMING = "kind = 'plan' and body like '%\"confirmWithin\":%'"
STOPPED = "kind = 'end' and (body like '%\"exitCode\":4%' or body like '%\"stopped\":%')"

SCHEMA += "".join(
    f"create index if not exists entry_{name} on entry (rack, kind) where {rows};\n"
    for name, rows in (("caching", CACHING), ("services", SERVICES), ("confirming", CONFIRMING), ("stopped", STOPPED))
)
"""What every start asks has an index of its own: looking into each body takes seconds in a long journal."""

SCHEMA += "".join(
    f"create trigger if not exists entry_no_{deed} before {deed} on entry"
    " begin select raise(abort, 'the journal is append-only'); end;\n"
    for deed in ("update", "delete")
)
"""Who means to tidy up by hand is told; who means to forge drops them, and the chain tells of that."""
