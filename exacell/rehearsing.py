"""Try a statement on an emulated copy of the rack as it is now: nothing is sent to the rack, nothing enters its journal.

What the rack tells of its disks, caches, IORM plans and disk groups is read once; the copy is a rack of its own, in a
scratch home, with a journal of its own, reached like any other. It ends with the rehearsal.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from exacell.cellcli.ownname import for_cell
from exacell.cellset import fold
from exacell.driftfacts import read_all
from exacell.errors import RefusedError
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.drift import Difference, from_baseline
from exacell.units import counted, format_size

if TYPE_CHECKING:
    from exacell.console import Console
    from exacell.console import Progress as ConsoleProgress
    from exacell.context import Context
    from exacell.language.line import Line
    from exacell.plan.asmfacts import AsmFacts
    from exacell.plan.model import Plan

_DISKS = "list celldisk attributes name, diskType, size, freeSpace, status"
_MODEL = "list cell attributes name, makeModel"

CALM = 600.0
"""Rack seconds in a second, where no flush takes longer than a few minutes."""

FASTEST = 36_000.0
_FLUSH_S = 10.0
"""Seconds of ours that flushing the dirtiest cell's cache may take, roughly."""

_FLUSHED_PER_SECOND = 40 << 20
"""Bytes that the slowest emulated cell flushes in a rack second."""

COMPARED: Mapping[str, tuple[str, ...]] = {
    "cell": ("flashCacheMode",),
    "flashcache": ("size", "status"),
    "flashlog": ("size",),
    "celldisk": ("size", "freeSpace", "status"),
    "griddisk": ("size", "status", "cellDisk", "availableTo", "cachingPolicy", "asmDiskGroupName", "asmModeStatus"),
    "iormplan": ("dbPlan", "objective"),
    "diskgroup": ("state", "type", "auSize", "disks", "failgroups", "compatibleAsm", "compatibleRdbms"),
}
"""What a copy must have in common with its rack, by object."""


def rehearse(ctx: Context, line: Line) -> Result:
    """Carry a statement out on a copy of the rack and return what it would leave, one record per change.

    Raises:
        RefusedError: the rack can't be copied, or the statement was refused there as it would be here.
    """
    rack = ctx.need_rack()
    if len(rack.asm) > 1:
        raise RefusedError(
            f"rehearse: rack {rack.name} has the ASM clusters {', '.join(rack.asm)}, and a copy has one",
            hint="-n shows the plan",
        )
    here, problems, _ = read_all(ctx)
    if problems:
        raise RefusedError(f"rehearse: {problems[0]}; a copy is made of what every cell tells")
    with _copy(ctx) as copy:
        before, problems, _ = read_all(copy)
        if problems:
            raise RefusedError(f"rehearse: the copy does not answer: {problems[0]}")
        for said in _unlike(here, before):
            ctx.console.say(said)
        result = copy.execute(line)
        after, problems, _ = read_all(copy)
        left = copy.pending()
    found = from_baseline(before, after)
    rows = _told(found, together=False)
    columns = [Column(name) for name in ("cell", "object", "name", "attribute", "before", "after")]

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        from exacell.output.tables import table_lines

        return table_lines(_told(found, together=True), columns, folded=True, width=width, color=color, header=header)

    notes = [f"rehearsed on a copy: {note}" for note in result.notes] + [f"it would leave: {said}" for said in left]
    if not rows:
        notes.append("it would leave everything as it is")
    return Result(
        records=rows,
        columns=columns,
        data=True,
        fold=True,
        draw=draw if rows else None,
        notes=[*notes, "nothing was sent to the rack"],
        problems=[*result.problems, *problems],
        exit_code=result.exit_code,
    )


_DERIVED = frozenset(
    (
        "effectiveCacheSize",
        "cachedBy",
        "asmDiskName",
        "asmDiskSize",
        "asmDiskGroupType",
        "asmFailGroupName",
        "errorCount",
    )
)
"""Attributes that only follow from others: not told."""

_SIZES = frozenset(("size", "freeSpace", "virtualSize", "auSize"))


def _told(found: Sequence[Difference], *, together: bool) -> list[dict[str, object]]:
    """Return one record per cell, object and change; an object that comes or goes is one change, not one for each attribute.

    Args:
        together: objects of a cell to which the same happens share a record, their names folded.
    """
    whole: dict[tuple[str, str, str], list[Difference]] = {}
    for one in found:
        whole.setdefault((one.cell, one.object, one.name), []).append(one)
    names: dict[tuple[str, ...], list[str]] = {}
    for (cell, kind, name), changes in whole.items():
        for attribute, before, after in _changes(changes):
            names.setdefault((cell, kind, attribute, before, after), []).append(name)
    return [
        {
            "cell": cell,
            "object": kind,
            "name": name if together else for_cell(name, cell),
            "attribute": attribute or None,
            "before": (before if together else for_cell(before, cell)) or None,
            "after": (after if together else for_cell(after, cell)) or None,
        }
        for (cell, kind, attribute, before, after), objects in names.items()
        for name in ([_fold(objects)] if together else objects)
    ]


def _changes(found: Sequence[Difference]) -> list[tuple[str, str, str]]:
    """Return attribute, before and after for each change of one object."""
    size = next((one for one in found if one.attribute == "size"), None)
    essential = size is not None or any(one.attribute in ("type", "objective") for one in found)
    if len(found) > 2 and essential and not any(one.expected for one in found):
        return [("", "", f"made, {_shown(size.attribute, size.value)}" if size else "made")]
    if len(found) > 2 and essential and not any(one.value for one in found):
        return [("", _shown(size.attribute, size.expected) if size else "there", "gone")]
    kept = [one for one in found if one.attribute not in _DERIVED]
    return [(o.attribute, _shown(o.attribute, o.expected), _shown(o.attribute, o.value)) for o in kept]


def _shown(attribute: str, value: str) -> str:
    return format_size(int(value)) if attribute in _SIZES and value.isdigit() else value


def _fold(names: Sequence[str]) -> str:
    """Return names folded, where a cell's own name stands as ``{cell}``."""
    return (
        fold([name.replace("{cell}", "CELL") for name in names]).replace("CELL", "{cell}")
        if len(names) > 1
        else names[0]
    )


def _unlike(here: Mapping[str, Mapping[str, str]], copy: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return lines about what the copy does not have in common with its rack, though a plan may depend on it."""
    found = [d for d in from_baseline(here, copy) if d.attribute in COMPARED.get(d.object, ())]
    lines = [
        f"the copy is not quite the rack: {d.cell}: {d.object} {d.name} {d.attribute} is {d.value or 'empty'} there, "
        f"{d.expected or 'empty'} here"
        for d in found[:3]
    ]
    return lines + ([f"… and {len(found) - 3} more such differences"] if len(found) > 3 else [])


@contextmanager
def _copy(ctx: Context) -> Iterator[Context]:
    """Yield a session on a copy of the rack, which ends with it; also when the program is told to end."""
    from exacell.commands.emulator import copied_rack
    from exacell.context import Context as Session
    from exacell.context import Options
    from exacell.paths import Home

    rack = ctx.need_rack()
    likeness = likeness_of(ctx)
    name = f"{''.join(c if c.isalnum() or c in '-_' else '-' for c in rack.name)[:50]}-rehearsal"
    with ctx.while_changing(), tempfile.TemporaryDirectory(prefix="exacell-rehearsal-") as folder:
        home = Home.from_env({**ctx.env, "EXACELL_HOME": folder})
        if ctx.home.recipes_dir.is_dir():
            shutil.copytree(ctx.home.recipes_dir, home.recipes_dir)
        ctx.console.say(f"making a copy of {rack.name}: {counted(len(rack.cells), 'cell')} …")
        with copied_rack(Path(folder), name, likeness):
            session = Session(
                home=home,
                config=ctx.config,
                console=_Rehearsing(ctx.console),
                options=Options(yes=True, flags=ctx.options.flags, quiet=ctx.options.quiet),
                env={**ctx.env, "EXACELL_HOME": folder, "EXACELL_RACK": ""},
            )
            try:
                session.connect(name)
                made = session.need_rack()
                session.rack = replace(
                    made,
                    asm=MappingProxyType(
                        {key: replace(only, name=key) for key in rack.asm for only in made.asm.values()}
                    ),
                    dbnodes=rack.dbnodes and made.dbnodes,
                    groups=rack.groups,
                    production=rack.production,
                )
                session.read_only = False
                session.settings = ctx.settings
                session.interrupted = ctx.interrupted
                session.use(",".join(ctx.cells()))
                yield session
            finally:
                session.close()


def likeness_of(ctx: Context) -> dict[str, Any]:
    """Return the description of the rack as it is now, from which a copy is made; sizes in bytes.

    Raises:
        RefusedError: a cell gave no answer.
    """
    rack = ctx.need_rack()
    wanted = (
        f.CELL,
        f.FLASHCACHE,
        f.FLASHLOG,
        f.CELLDISK,
        f.GRIDDISK,
        f.IORMPLAN,
        f.DATABASE,
        f.FLASH_METRICS,
        f.PMEMCACHE,
    )
    facts = ctx.facts(*wanted, cells=rack.cells)
    answers = ctx.query(_DISKS, _MODEL, cells=rack.cells)
    if answers.problems:
        raise RefusedError(f"rehearse: {answers.problems[0]}")
    cells = [_cell(fact, *answers.answers[cell].tables) for cell, fact in facts.items()]
    asm = ctx.asm().facts() if rack.asm else None
    databases = {name.rsplit(".", 1)[-1].upper() for fact in facts.values() for name in fact.databases}
    databases |= {client.upper() for group in (asm.groups if asm else ()) for client in group.clients}
    databases |= {name.upper() for cluster in rack.asm.values() for name in cluster.databases}
    dirty = max((fact.metric_bytes("FC_BY_DIRTY") or 0 for fact in facts.values()), default=0)
    speed = min(FASTEST, max(CALM, dirty / _FLUSHED_PER_SECOND / _FLUSH_S))
    return {
        "cells": cells,
        "nodes": list(rack.dbnodes),
        "databases": sorted(databases) or ["DB"],
        "groups": _groups(asm) if asm else [],
        "former": [d.grid_disk for d in asm.disks if d.header == "FORMER" and d.grid_disk] if asm else [],
        "pmem": next((fact.pmem_mode for fact in facts.values() if fact.pmem_mode), "writethrough"),
        "speed": speed,
    }


def _cell(fact: f.CellFacts, disks: Sequence[Mapping[str, Any]], model: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    cache = fact.flash_cache
    plan = fact.iorm.directives if fact.iorm else ()
    return {
        "name": fact.cell,
        "release": fact.release,
        "makeModel": str(model[0].get("makeModel") or "") if model else "",
        "mode": fact.mode,
        "objective": fact.objective,
        "directives": [[[a.name, a.value] for a in directive.attributes] for directive in plan],
        "cellDisks": [
            {
                "name": row["name"],
                "diskType": row.get("diskType"),
                "size": row.get("size") or 0,
                "free": row.get("freeSpace") or 0,
                "status": row.get("status"),
            }
            for row in disks
        ],
        "gridDisks": [
            {
                "name": grid.name,
                "cellDisk": grid.cell_disk,
                "size": grid.size,
                "status": grid.status,
                "availableTo": [client.strip() for client in grid.available_to.split(",") if client.strip()],
                "cachingPolicy": grid.caching_policy,
            }
            for grid in fact.grid_disks
        ],
        "flashCache": None
        if cache is None
        else {
            "name": cache.name,
            "cellDisks": list(cache.cell_disks),
            "flushed": cache.caching == "off",
            "dirty": fact.metric_bytes("FC_BY_DIRTY") or 0,
            "used": fact.metric_bytes("FC_BY_USED") or 0,
        },
        "flashLog": fact.flash_log,
    }


def _groups(asm: AsmFacts) -> list[dict[str, Any]]:
    host = {instance.inst_id: instance.host.split(".")[0] for instance in asm.instances}
    return [
        {
            "name": group.name,
            "type": group.type,
            "auSize": group.au_size,
            "usedMb": max(0, group.total_mb - group.free_mb),
            "files": 1 if group.files is None else group.files,
            "clients": list(group.clients),
            "mountedOn": [
                host[i] for i, state in group.states.items() if state in ("MOUNTED", "CONNECTED") and i in host
            ],
            "compatibleAsm": group.compatible_asm,
            "compatibleRdbms": group.compatible_rdbms,
            "votingFiles": group.voting_files,
            "disks": [
                {
                    "name": disk.name,
                    "failGroup": disk.failgroup,
                    "gridDisk": disk.grid_disk,
                    "sizeMb": disk.os_mb // max(1, group.au_size >> 20) * max(1, group.au_size >> 20),
                    "mode": disk.mode,
                }
                for disk in asm.members(group)
            ],
        }
        for group in asm.groups
    ]


class _Rehearsing:
    """The session's console, where what happens on the copy is marked as such and questions are not asked."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """Print one line of talk."""
        self._console.say(f"rehearsal: {text}")

    def show_plan(self, plan: Plan) -> None:
        """Show a plan."""
        self._console.show_plan(plan)

    def confirm(self, question: str) -> bool | None:
        """Return True: it is only a copy."""
        return True

    def ask(self, question: str) -> str | None:
        """Return None: a loss is accepted by the statement's own flag, as on the rack."""
        return None

    def progress(self, progress: ConsoleProgress | None) -> None:
        """Show where the plan stands."""
        self._console.progress(progress)

    def waiting(self, text: str | None) -> None:
        """Show what is waited for."""
        self._console.waiting(text)

    def data(self, text: str) -> None:
        """Write data."""
        self._console.data(text)
