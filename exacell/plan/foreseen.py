"""Hold what a preview has planned so far, and compute the facts and records as they will be after that. Pure.

A preview plans one line after another, and sends nothing. If a line needs something that earlier lines will have done, that
counts as done. In databases: parameters with their new values, redo log groups that will exist or be gone, tables as flash will
cache them and where they will be, and the table of a load that will have been made. On cells and in ASM
(:mod:`exacell.plan.foreseen_rack`): flash caches, grid disks, free space and disk groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.units import MIB
from exacell.core.values import dataclass
from exacell.plan.asmfacts import AsmFacts
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
from exacell.plan.facts import CellFacts
from exacell.plan.foreseen_rack import After, GroupAfter, effects
from exacell.plan.model import Plan

Records = Mapping[str, Sequence[Mapping[str, Any]]]
Shown = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class MadeTable:
    """A table that exacell will have made for a load, with that many rows."""

    name: str
    rows: int


_OWNER, _TABLESPACE, _KEYS = "SYS", "SYSTEM", "db.keys"


@dataclass(frozen=True, kw_only=True)
class _InDatabase:
    database: str
    change: Change | MadeTable


class Foreseen:
    """The changes that a preview has planned so far.

    Attributes:
        moved: cells, hosts and nodes on which the preview takes back a change. The state that older changes left there is not
            restored yet, so it is not checked.
    """

    def __init__(self) -> None:
        self._noted: list[_InDatabase | After] = []
        self.moved: set[str] = set()

    def note(self, database: str, change: Change | MadeTable) -> None:
        """Treat a change of a database as made from now on."""
        self._noted.append(_InDatabase(database=database.upper(), change=change))

    def note_plan(self, plan: Plan, facts: Mapping[str, CellFacts]) -> None:
        """Treat a plan for cells and ASM as carried out from now on.

        Args:
            facts: the facts from which the plan was made, by cell.
        """
        self._noted += effects(plan, facts)

    @property
    def mark(self) -> int:
        """Return the number of changes so far, for :meth:`back_to`."""
        return len(self._noted)

    def back_to(self, mark: int) -> None:
        """Treat all changes after ``mark`` as taken back."""
        del self._noted[mark:]

    def on_cells(self, facts: Mapping[str, CellFacts]) -> dict[str, CellFacts]:
        """Return the facts of cells as they will be."""
        found = dict(facts)
        for each in self._noted:
            if not isinstance(each, _InDatabase):
                found = {cell: each.on_cell(fact) for cell, fact in found.items()}
        return found

    def in_asm(self, asm: AsmFacts) -> AsmFacts:
        """Return the facts of an ASM cluster as they will be."""
        for each in self._noted:
            if not isinstance(each, _InDatabase):
                asm = each.in_asm(asm)
        return asm

    def of(self, database: str, records: Records) -> Shown:
        """Return the records of a database as they will be."""
        shown = {name: [dict(row) for row in rows] for name, rows in records.items()}
        for each in self._noted:
            if isinstance(each, _InDatabase) and each.database == database.upper():
                _apply(shown, each.change)
            elif isinstance(each, GroupAfter) and "db.diskgroup" in shown:
                shown["db.diskgroup"] = each.in_database(shown["db.diskgroup"])
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
            whole |= {"segments": 0, "tables": 0, "users": 0, "traits": (), "default": False}
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
