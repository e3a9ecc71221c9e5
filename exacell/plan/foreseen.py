"""Compute the records that a database will show after changes that are only planned. Pure.

A preview plans one line after another, and sends nothing. If a line needs the effect of earlier lines, that effect counts as
there: parameters with their new values, redo log groups that will exist or be gone, tables with their later place and caching,
and the table that a load will have made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.units import MIB
from exacell.core.values import dataclass
from exacell.plan.dbchange import (
    AddLog,
    AddTablespace,
    Change,
    DropLog,
    DropTablespace,
    KeepInCache,
    MoveTable,
    SetParameter,
)

Records = Mapping[str, Sequence[Mapping[str, Any]]]
Shown = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class MadeTable:
    """A table that exacell will have made for a load, with that many rows."""

    name: str
    rows: int


_OWNER, _TABLESPACE, _KEYS = "SYS", "SYSTEM", "db.keys"


class Foreseen:
    """The changes of databases that a preview has planned so far.

    Attributes:
        moved: cells, hosts and nodes on which the preview takes back a change. The state that older changes left there is not
            restored yet, so it is not checked.
    """

    def __init__(self) -> None:
        self._changes: dict[str, list[Change | MadeTable]] = {}
        self.moved: set[str] = set()

    def note(self, database: str, change: Change | MadeTable) -> None:
        """Treat a change as made from now on."""
        self._changes.setdefault(database.upper(), []).append(change)

    def of(self, database: str, records: Records) -> Shown:
        """Return the records of a database as they will be."""
        shown = {name: [dict(row) for row in rows] for name, rows in records.items()}
        for change in self._changes.get(database.upper(), ()):
            _apply(shown, change)
        return shown


def _apply(shown: Shown, change: Change | MadeTable) -> None:
    match change:
        case MadeTable():
            _made(shown, change)
        case AddTablespace() if "db.tablespace" in shown:
            whole = {
                "contents": "PERMANENT",
                "diskgroups": (change.target,),
                "bytes": change.size,
                "bigfile": change.bigfile,
            }
            whole |= {"segments": 0, "tables": 0, "users": 0, "traits": ()}
            shown["db.tablespace"].append({"name": change.name, **whole, "free": change.size - MIB})
        case DropTablespace() if "db.tablespace" in shown:
            shown["db.tablespace"] = [row for row in shown["db.tablespace"] if row["name"] != change.name]
        case MoveTable():
            _move(shown, change)
        case SetParameter():
            _set(shown.get("db.parameter", []), change)
        case KeepInCache():
            for row in shown.get(f"db.{change.kind.lower()}", []):
                if (row["owner"], row["name"]) == (change.owner, change.name):
                    row["cache"] = change.value
        case AddLog():
            _add(shown, change)
        case DropLog() if "db.log" in shown:
            shown["db.log"] = [row for row in shown["db.log"] if int(row["name"]) != change.group]


def _made(shown: Shown, change: MadeTable) -> None:
    """Add the table of a load unless it is there; it is small, and where the database puts tables."""
    here = {"owner": _OWNER, "name": change.name}
    for kind, more in (
        ("db.table", {"cache": "DEFAULT"}),
        ("db.place", {"tablespace": _TABLESPACE, "bytes": 0, "iot": False, "temporary": False}),
        (_KEYS, {"rows": change.rows, "total": 0}),
    ):
        if kind in shown:
            there = any(row["name"] == change.name for row in shown[kind])
            shown[kind] += [] if there else [{**here, **more}]


def _move(shown: Shown, change: MoveTable) -> None:
    for row in shown.get("db.place", []):
        if (row["owner"], row["name"]) == (change.owner, change.name):
            row["tablespace"] = change.tablespace
    for row in shown.get("db.tablespace", []):
        came = (row["name"] == change.tablespace) - (row["name"] == change.before)
        row["segments"] += came
        row["tables"] += came


def _set(rows: Sequence[dict[str, Any]], change: SetParameter) -> None:
    own = [row for row in rows if row["parameter"] == change.name]
    for row in own:
        every = change.sid == "*"
        same = str(row["sid"]).lower() == change.sid.lower()
        if change.scope in ("MEMORY", "BOTH") and row["sid"] != "*" and (every or same):
            row["memory"] = change.value
        if change.scope in ("SPFILE", "BOTH") and same:
            row["spfile"] = change.value


def _add(shown: Shown, change: AddLog) -> None:
    """Add a group with the values of the statement; values that it does not give are copied from the other groups."""
    if "db.log" not in shown:
        return
    logs, instances = shown["db.log"], shown.get("db.instance", [])
    groups = {str(row["name"]): row for row in shown.get("db.diskgroup", [])}
    thread = change.thread or (int(instances[0]["thread"]) if instances else 1)
    like = [row for row in logs if row["thread"] == thread and row["type"] == "log"] or logs
    targets = change.targets or (tuple(like[0]["diskgroups"]) if like else ())
    size = change.size if change.size is not None else max((int(row["bytes"]) for row in like), default=0)
    sectors = [int(groups[name]["sectorSize"]) for name in targets if name in groups]
    for name in targets:
        if name in groups:
            groups[name]["usableMb"] -= -(-size // MIB)
    logs.append(
        {
            "name": str(change.group or 1 + max((int(row["name"]) for row in logs), default=0)),
            "type": "standby" if change.standby else "log",
            "thread": thread,
            "bytes": size,
            "blockSize": change.block_size or (sectors[0] if sectors else 512),
            "status": "UNUSED" if not change.standby else "UNASSIGNED",
            "diskgroups": targets,
        }
    )
