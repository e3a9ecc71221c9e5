"""Guards for CREATE CELLDISK: the LUN that is missing, in use or not normal is named before the question. Pure.

A cell disk is made on a LUN that has none; FORCE takes it from the cell disk that it has. Source: Oracle SAGUG, create-celldisk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Scalar, Setting
from exacell.core.errors import RefusedError
from exacell.core.units import (
    ALLOCATION_UNIT,
    counted,
    format_size,
    parse_size,
    round_down,
)
from exacell.core.values import dataclass
from exacell.plan.facts import CellFacts, Lun
from exacell.plan.guards.steps import guarded_plan, guarded_step
from exacell.plan.media import kinds_meant
from exacell.plan.model import Change, Check, Op, Plan, Risk
from exacell.plan.nearby import near

_LISTED = 4
"""More LUNs than these are counted in what a plan shows."""


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """One cell disk that is named, with what is said of its place; empty where that is not said."""

    name: str
    lun: str
    drive: str
    size: str


def created(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of CREATE CELLDISK without FORCE: which LUN gets which cell disk.

    Raises:
        RefusedError: a LUN is not there, has a cell disk or is not normal, a name is taken, or a size does not fit.
    """
    steps = []
    done: dict[str, str] = {}
    for cell, fact in facts.items():
        more: dict[str, object] = {}
        if fact.read_now and fact.luns and statement.all:
            free = _free(fact, statement, text)
            if not free:
                done[cell] = "each LUN that it means has a cell disk already"
                continue
            more = {"changes": _all(free)}
        elif fact.read_now and fact.luns:
            places = tuple(_place(fact, wanted, text) for wanted in _named(statement))
            names = tuple(place.name for place in places)
            proof = Check(object="celldisk", op=Op.COUNT, value=len(names), where={"name": names})
            more = {"changes": places, "proves": (proof,), "expect": len(names)}
        steps.append(guarded_step(cell, statement, Risk.PERFORMANCE, **more))
    if not steps:
        return Plan(statement=text, rack=rack, done=done)
    return guarded_plan(rack, text, steps, done=done)


def _all(free: Sequence[Lun]) -> tuple[Change, ...]:
    """What ALL makes on these LUNs; the cell gives the names."""
    few = ",".join(lun.name for lun in free)
    after = few if len(free) <= _LISTED else f"{len(free)} LUNs without a cell disk"
    return (Change(object="celldisk", name=counted(len(free), "disk"), attribute="lun", before="-", after=after),)


def _free(fact: CellFacts, statement: CellChange, text: str) -> list[Lun]:
    """Return the LUNs without a cell disk that ALL of a medium may mean.

    Raises:
        RefusedError: one of them is not normal.
    """
    kinds = kinds_meant(fact, statement)
    free = [lun for lun in fact.luns if not lun.cell_disk and (kinds is None or lun.kind in kinds)]
    bad = next((lun for lun in free if lun.status != "normal"), None)
    if bad is not None and kinds is not None:
        raise RefusedError(
            f"{text}: {fact.cell}: LUN {bad.name} is {bad.status or 'of no known status'}, no cell disk can be made on it; "
            "nothing was sent",
            hint="replace its disk first, or name the other LUNs one by one: create celldisk <name> lun=…",
        )
    return free


def _named(statement: CellChange) -> list[_Wanted]:
    """Return the cell disks that the statement names, each with what it says of it."""
    if statement.definitions:
        return [_wanted("", settings) for settings in statement.definitions]
    return [_wanted(name, statement.settings) for name in statement.names]


def _wanted(name: str, settings: Sequence[Setting]) -> _Wanted:
    said = {s.attribute.lower(): s.value.text for s in settings if isinstance(s.value, Scalar)}
    return _Wanted(
        name=said.get("name", name),
        lun=said.get("lun", ""),
        drive=said.get("physicaldisk", ""),
        size=said.get("size", ""),
    )


def _lun(fact: CellFacts, wanted: _Wanted) -> Lun | None:
    """Return the LUN that is meant, by its name or its physical disk's; None where the cell has none, or only it knows."""
    for lun in fact.luns:
        if (wanted.lun and lun.name.lower() == wanted.lun.lower()) or (
            wanted.drive and wanted.drive.lower() in (drive.lower() for drive in lun.drives)
        ):
            return lun
    return None


def _place(fact: CellFacts, wanted: _Wanted, text: str) -> Change:
    """Return where a cell disk is made.

    Raises:
        RefusedError: it can't be made there.
    """

    def refuse(why: str, hint: str) -> RefusedError:
        return RefusedError(f"{text}: {fact.cell}: {why}; nothing was sent", hint=hint)

    if any(disk.name.lower() == wanted.name.lower() for disk in fact.cell_disks):
        raise refuse(f"it has a cell disk {wanted.name} already", "another name, or drop that one first")
    lun = _lun(fact, wanted)
    if lun is None and wanted.lun:
        meant = near(wanted.lun, [lun.name for lun in fact.luns])
        free = [lun.name for lun in fact.luns if not lun.cell_disk]
        none = "each LUN has a cell disk: list lun" if not free else f"without a cell disk: {', '.join(free)}"
        raise refuse(f"there is no LUN {wanted.lun}", f"did you mean {' or '.join(meant)}?" if meant else none)
    if lun is not None and lun.cell_disk:
        raise refuse(
            f"LUN {lun.name} has the cell disk {lun.cell_disk}",
            f"drop celldisk {lun.cell_disk} first, when nothing on it is needed any more",
        )
    if lun is not None and lun.status != "normal":
        raise refuse(f"LUN {lun.name} is {lun.status or 'of no known status'}", "replace its disk first")
    size = parse_size(wanted.size) if wanted.size else None
    if size is not None and round_down(size) < ALLOCATION_UNIT:
        raise refuse(f"a cell disk has at least 16M, not {format_size(size)}", "without size= it takes the whole LUN")
    if size is not None and lun is not None and lun.size and size > lun.size:
        raise refuse(
            f"LUN {lun.name} has {format_size(lun.size)}, not {format_size(size)}", "without size= it takes all of it"
        )
    where = lun.name if lun is not None else f"of physical disk {wanted.drive}"
    return Change(object="celldisk", name=wanted.name, attribute="lun", before="-", after=where)


def forced(fact: CellFacts, statement: CellChange) -> frozenset[str]:
    """Return the cell disks, in lower case, whose LUNs CREATE CELLDISK FORCE names: it takes these from them.

    All of the cell's where it can't be told which LUN is meant.
    """
    luns = [_lun(fact, wanted) for wanted in _named(statement)]
    if statement.verb != "CREATE" or None not in luns:
        return frozenset(lun.cell_disk.lower() for lun in luns if lun is not None and statement.verb == "CREATE")
    return frozenset(grid.cell_disk.lower() for grid in fact.grid_disks)
