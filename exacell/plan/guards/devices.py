"""Guard CellCLI's statements on cell disks and physical disks: without the disk its contents are lost. Pure.

A cell disk is created on a LUN without one; FORCE takes the LUN from its present cell disk. A LUN that is missing, in use or
not normal is reported before the question. Source: Oracle SAGUG, create-celldisk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.statement import Change as CellChange, Media, Scalar, Setting, render
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.meant import ask_for, near, no_such
from exacell.core.units import ALLOCATION_UNIT, counted, exact_size, parse_size, round_down
from exacell.core.values import dataclass, replace
from exacell.plan.facts import CellFacts, Lun
from exacell.plan.guards.griddisks import flush, slow
from exacell.plan.guards.in_use import refuse_in_use
from exacell.plan.guards.steps import ByCell, guarded_plan, guarded_step, lossy, settings_proof, simple
from exacell.plan.guards.targets import kinds_meant, means, refuse_one_name
from exacell.plan.model import Change, Check, Op, Plan, Risk, Step
from exacell.plan.planners.availability import unused
from exacell.plan.planners.griddisk import Headers


def physicaldisk(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a statement on physical disks.

    A statement on the LED is harmless; REENABLE brings back disks that were dropped for replacement; all other statements take
    disks away from their users. Source: Oracle SAGUG, ALTER PHYSICALDISK.
    """
    if statement.action == "SERVICELED":
        return simple(rack, facts, statement, text, Risk.NONE)
    if statement.action == "REENABLE" and not statement.has("FORCE"):
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    _one_cell(facts, text)
    force = " (FORCE)" if statement.has("FORCE") else ""
    reason = f"{statement.action}{force} removes its grid disks and its part of the flash cache"
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))


def _one_cell(facts: Mapping[str, CellFacts], text: str) -> None:
    if len(facts) > 1:
        raise RefusedError(
            f"{text}: it would touch disks of {fold(facts)} together; each cell is a failure group; nothing was sent",
            hint=f"change one cell at a time: `on {next(iter(facts))} …`",
        )


def lun(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for ALTER LUN … REENABLE on one cell: it creates the cell disk and grid disks there again.

    Source: Oracle SAGUG, ALTER LUN: their contents may be lost.

    Raises:
        RefusedError: no cell has the LUN, or several cells are meant.
    """
    there = {cell: {lun.name.lower() for lun in fact.luns} for cell, fact in facts.items() if fact.luns}
    for name in statement.names if len(there) == len(facts) else ():
        if not any(name.lower() in luns for luns in there.values()):
            known = sorted({lun.name for fact in facts.values() for lun in fact.luns})
            raise RefusedError(
                f"{text}: there is no LUN {name} on {fold(facts)}; nothing was sent",
                hint=ask_for(name, known) or "list lun",
            )
    wanted = {name.lower() for name in statement.names}
    facts = {cell: fact for cell, fact in facts.items() if not wanted or cell not in there or wanted & there[cell]}
    _one_cell(facts, text)
    reason = f"{statement.action} creates cell disks and grid disks on it again: the data on them is lost"
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))


def celldisk(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    headers: Headers,
) -> Plan:
    """Return the plan for a statement on cell disks; dropping a cell disk loses its contents.

    Each cell gets only the names of its own disks.
    """
    if statement.verb == "CREATE" and not statement.has("FORCE"):
        return created(rack, facts, statement, text)
    plan = _judged(rack, facts, statement, text, headers)
    if statement.verb in ("CREATE", "IMPORT"):
        return plan

    def own(step: Step) -> Step:
        here = {disk.name.lower() for disk in facts[step.target].cell_disks}
        names = tuple(name for name in statement.names if name.lower() in here)
        return replace(step, statement=render(replace(statement, names=names)))

    return plan.each(own)


def _judged(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange,
    text: str,
    headers: Headers,
) -> Plan:
    """Return the plan for the statement as it was typed."""
    having = {cell: fact for cell, fact in facts.items() if means(statement, fact)}
    if not having:
        known = [disk.name for fact in facts.values() for disk in fact.cell_disks]
        raise no_such(text, "cell disk", fold(facts), statement.names, known)
    facts = having
    takes = statement.verb in ("DROP", "EXPORT") or statement.has("FORCE")
    if statement.action:
        return flush(rack, facts, statement, text)
    if not takes:
        return _altered(rack, facts, statement, text)
    hit = {
        cell: tuple(grid for grid in fact.grid_disks if grid.cell_disk.lower() in taken)
        for cell, fact in facts.items()
        for taken in (_meant(fact, statement) | forced(fact, statement),)
    }
    refuse_in_use(text, hit, headers)
    if statement.verb == "DROP":
        _refuse_write_back(facts, statement, text)
    reason = "the cell disks' contents are lost"
    always = {cell: unused(grids) for cell, grids in hit.items()}
    gone = (Check(object="celldisk", op=Op.ABSENT, where={"name": statement.names}),)
    proves = gone if statement.verb == "DROP" and statement.names and not slow(statement) else ()
    reasons = dict.fromkeys(facts, reason)
    return lossy(rack, facts, statement, text, reasons, ByCell(always=always, proves=dict.fromkeys(facts, proves)))


def _refuse_write_back(facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if a flash disk of a write-back flash cache would be dropped, which cells refuse.

    Source: Oracle SAGUG, DROP CELLDISK: a flash cell disk of a write-back flash cache can't be dropped.

    Raises:
        RefusedError: names the disk, and the statement to type first.
    """
    for cell, fact in facts.items():
        meant = _meant(fact, statement)
        cached = fact.flash_cache.cell_disks if fact.flash_cache is not None and fact.writeback else ()
        disk = next((name for name in cached if name.lower() in meant), "")
        if disk:
            raise RefusedError(
                f"{text}: {cell}: {disk} can't be dropped: a write-back flash cache is on it; nothing was sent",
                hint=f"type `on {cell} flush flashcache`, then `drop flashcache`, then this; `create "
                "flashcache` creates it on the other disks",
            )


def _meant(fact: CellFacts, statement: CellChange) -> frozenset[str]:
    """Return the cell disks that a statement means, in lower case: by name, or ALL of a medium; empty for IMPORT and similar."""
    if not statement.all:
        return frozenset(name.lower() for name in statement.names)
    known = {disk.name.lower(): disk for disk in fact.cell_disks}
    match statement.media:
        case None:
            others = {name for name, disk in known.items()}
        case Media.HARDDISK:
            others = {name for name, disk in known.items() if disk.hard}
        case Media.PMEM:
            others = {name for name, disk in known.items() if disk.pmem}
        case _:
            others = {name for name, disk in known.items() if disk.flash}
    # Disks count unless they are known to be of another kind.
    return frozenset(others | ({grid.cell_disk.lower() for grid in fact.grid_disks} - set(known)))


def _altered(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of IMPORT, or of ALTER of attributes, whose new values are read back."""
    if statement.verb != "ALTER":
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    refuse_one_name(text, statement, sum(len(_altered_disks(fact, statement)) for fact in facts.values()))
    steps = [
        guarded_step(c, statement, Risk.PERFORMANCE, proves=settings_proof(statement, disks) if disks else ())
        for c, disks in ((c, _altered_disks(fact, statement)) for c, fact in facts.items())
    ]
    return guarded_plan(rack, text, steps)


def _altered_disks(fact: CellFacts, statement: CellChange) -> list[str]:
    """Return the cell disks that ALTER means; empty if only the cell knows them."""
    if not statement.all:
        names = {name.lower() for name in statement.names}
        return [disk.name for disk in fact.cell_disks if disk.name.lower() in names]
    kinds = kinds_meant(fact, statement) or ()
    return [disk.name for disk in fact.cell_disks if disk.kind in kinds]


_LISTED = 4
"""Above this number, a plan shows only the number of LUNs."""


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """One cell disk that is named, with the given values for its place; empty for values that are not given."""

    name: str
    lun: str
    drive: str
    size: str


def created(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of CREATE CELLDISK without FORCE: each LUN with its new cell disk.

    Raises:
        RefusedError: a LUN does not exist, has a cell disk or is not normal, a name is taken, or a size does not fit.
    """
    steps = []
    done: dict[str, str] = {}
    for cell, fact in facts.items():
        more: dict[str, object] = {}
        if fact.read_now and fact.luns and statement.all:
            free = _free(fact, statement, text)
            if not free:
                done[cell] = "each LUN of the statement already has a cell disk"
                continue
            more = {"changes": _all(free)}
        elif fact.read_now and fact.luns:
            places = tuple(_place(fact, wanted, text) for wanted in _named(statement))
            names = tuple(place.name for place in places)
            proof = Check(object="celldisk", op=Op.COUNT, value=len(names), where={"name": names})
            more = {"changes": places, "proves": (proof,), "expect": len(names)}
        steps.append(guarded_step(cell, statement, Risk.PERFORMANCE, **more))
    return guarded_plan(rack, text, steps, done=done) if steps else Plan(statement=text, rack=rack, done=done)


def _all(free: Sequence[Lun]) -> tuple[Change, ...]:
    """Return the change that ALL makes on these LUNs; the cell chooses the names."""
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
            f"{text}: {fact.cell}: LUN {bad.name} is {bad.status or 'of unknown status'}, no cell disk can be made on it; "
            "nothing was sent",
            hint="replace its disk first, or give the other LUNs one by one: `create celldisk <name> lun=…`",
        )
    return free


def _named(statement: CellChange) -> list[_Wanted]:
    """Return the cell disks that the statement names, each with its given values."""
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
    """Return the LUN that is meant, by its name or its physical disk's; None if the cell has none, or only the cell knows it."""
    for lun in fact.luns:
        if (wanted.lun and lun.name.lower() == wanted.lun.lower()) or (
            wanted.drive and wanted.drive.lower() in (drive.lower() for drive in lun.drives)
        ):
            return lun
    return None


def _place(fact: CellFacts, wanted: _Wanted, text: str) -> Change:
    """Return the place on which a cell disk is created.

    Raises:
        RefusedError: it can't be created there.
    """

    def refuse(why: str, hint: str) -> RefusedError:
        return RefusedError(f"{text}: {fact.cell}: {why}; nothing was sent", hint=hint)

    if any(disk.name.lower() == wanted.name.lower() for disk in fact.cell_disks):
        raise refuse(f"it has a cell disk {wanted.name} already", "use another name, or drop that one first")
    lun = _lun(fact, wanted)
    if lun is None and wanted.lun:
        meant = near(wanted.lun, [lun.name for lun in fact.luns])
        free = [lun.name for lun in fact.luns if not lun.cell_disk]
        none = "each LUN has a cell disk: list lun" if not free else f"without a cell disk: {', '.join(free)}"
        raise refuse(f"there is no LUN {wanted.lun}", f"did you mean {' or '.join(meant)}?" if meant else none)
    if lun is not None and lun.cell_disk:
        raise refuse(
            f"LUN {lun.name} has the cell disk {lun.cell_disk}",
            f"drop celldisk {lun.cell_disk} first, if its data is no longer needed",
        )
    if lun is not None and lun.status != "normal":
        raise refuse(f"LUN {lun.name} is {lun.status or 'of unknown status'}", "replace its disk first")
    size = parse_size(wanted.size) if wanted.size else None
    if size is not None and round_down(size) < ALLOCATION_UNIT:
        raise refuse(f"a cell disk has at least 16M, not {exact_size(size)}", "without size=, it gets the whole LUN")
    if size is not None and lun is not None and lun.size and size > lun.size:
        raise refuse(
            f"LUN {lun.name} has {exact_size(lun.size)}, not {exact_size(size)}",
            "without size=, it gets the whole LUN",
        )
    where = lun.name if lun is not None else f"of physical disk {wanted.drive}"
    return Change(object="celldisk", name=wanted.name, attribute="lun", before="-", after=where)


def forced(fact: CellFacts, statement: CellChange) -> frozenset[str]:
    """Return the cell disks, in lower case, that lose their LUNs by CREATE CELLDISK FORCE.

    If it is unknown which LUN is meant, these are all cell disks of the cell.
    """
    luns = [_lun(fact, wanted) for wanted in _named(statement)]
    if statement.verb != "CREATE" or None not in luns:
        return frozenset(lun.cell_disk.lower() for lun in luns if lun is not None and statement.verb == "CREATE")
    return frozenset(grid.cell_disk.lower() for grid in fact.grid_disks)
