"""Find names of stored things (snapshots, plans, recipes, ...) for completion: reads only, and gives up after a short time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from exacell.core.paths import Home
from exacell.language.registry import Kind

if TYPE_CHECKING:
    from exacell.core.packaged import Place

_PATIENCE = 0.2
"""Seconds that a key press waits while another process writes the same file."""

_HEADER = 4096
"""How many first characters of a recipe are searched for its title."""

_TITLE = re.compile(r'^recipe\s+"([^"\n]*)"', re.MULTILINE)

_STORE, _JOURNAL = "store.db", "journal.db"

_QUERIES = {
    Kind.SNAPSHOT: (_STORE, "select name, group_concat(kind, ', ') from snapshot where rack=:rack group by name"),
    Kind.MEASURED: (
        _STORE,
        "select name, 'import' from imported"
        " union all select name, 'snapshot of ' || group_concat(kind, ', ') from snapshot where rack=:rack group by name"
        " union all select name, 'trace files' from traces where rack=:rack"
        " union all select name, 'experiment' from experiment where rack=:rack",
    ),
    Kind.KEPT: (  # As in exacell.commands.subjects.files: files of the newest run by name, those of earlier runs with the run.
        _JOURNAL,
        "with kept as (select json_extract(body, '$.run') as run, json_extract(body, '$.name') as name, max(seq) as seq,"
        " coalesce(target, '') as host, json_extract(body, '$.origin') as recipe from entry"
        " where rack=:rack and kind='kept' and json_valid(body) group by 1, 2, 4), short as (select *,"
        " substr(run, 1, instr(run, ' ') - 1) as r, first_value(run) over (partition by lower(name) order by seq desc) as"
        " newest, count(*) over (partition by run, name) as hosts from kept)"
        " select case run when newest then '' else r || ':' end || name || case hosts when 1 then '' else '@' || host end,"
        " 'kept with run ' || r || ' of ' || recipe from short order by seq desc",
    ),
    Kind.PLAN: (
        _STORE,
        "select name, json_extract(body, '$.statement') from plan where rack=:rack order by made, name",
    ),
    Kind.BASELINE: (_STORE, "select name, taken from baseline where rack=:rack order by taken"),
    Kind.RUN: (
        _STORE,
        "select name, json_extract(body, '$.statement') from run where rack=:rack order by began desc limit 50",
    ),
    Kind.IORM: (_STORE, "select name, taken from iorm where rack=:rack order by taken"),
    Kind.CHANGE: (
        _JOURNAL,
        "select change, json_extract(body, '$.statement') from entry where rack=:rack and kind='plan' and json_valid(body)"
        " order by seq desc limit 50",
    ),
}

STORED = frozenset(_QUERIES)
"""The kinds of names that are stored here."""


def stored_names(home: Home, rack: str, kind: Kind) -> Sequence[tuple[str, str]]:
    """Return (name, phrase about it) of each thing of that kind on ``rack``, changes newest first.

    The result is empty if the file can't be read; statements that use the file report the reason.
    """
    file, query = _QUERIES[kind]
    path = home.state_dir / file
    if not path.exists():
        return ()
    try:
        return [(str(name), about or "") for name, about in _ask(path, query, rack)]
    except sqlite3.Error:
        return ()


def recipe_titles(home: Home) -> Sequence[tuple[str, str]]:
    """Return (name, title) of each recipe, by name; a recipe that can't be read has no title."""
    from exacell.recipes.files import recipe_files

    return [(name, _title(path)) for name, path in sorted(recipe_files(home).items())]


def _title(path: Place) -> str:
    try:
        found = _TITLE.search(path.read_text(encoding="utf-8")[:_HEADER])
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""


def _ask(path: Path, query: str, rack: str) -> list[tuple[str | int, str | None]]:
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_PATIENCE)
    try:
        return connection.execute(query, {"rack": rack}).fetchall()
    finally:
        connection.close()
