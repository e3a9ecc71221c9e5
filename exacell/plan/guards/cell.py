"""Guard CellCLI's statements on the cell itself: its modes, its services, and statements that remove everything. Pure.

Before 11.2.3.3.1 the flash cache's mode changes only while CELLSRV is stopped, and public procedures for 11.2.3.3.1 and 12.1
stop it too. LIST FLASHCACHE needs CELLSRV; LIST CELLDISK and cachedBy do not, and show that no cache is left. Source: reference
cellcli.md 6.1 (old procedure), 6.4, 6.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.statement import Change as CellChange, Group, Scalar, Setting, Statement, Value, render_value
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.units import MIB, size_text
from exacell.plan import facts as f
from exacell.plan.gate import needed
from exacell.plan.guards.caches import unproven_cache
from exacell.plan.guards.griddisks import refuse_offline, refuse_together
from exacell.plan.guards.steps import ByCell, guarded_plan, guarded_step, lossy, only_words, settings_proof, simple
from exacell.plan.implausible import hidden_pmem
from exacell.plan.model import Change, Check, Op, Plan, Risk, Undo
from exacell.plan.planners.availability import (
    ONLINE_WITHIN,
    SERVICE_WITHIN,
    SERVICES,
    back_online,
    may_go,
    refuse_flushing,
    refuse_unspared,
    services_check,
)

STOPPED_FACTS = (f.CELL, f.CELLDISK, f.GRIDDISK_STOPPED)
"""The LIST statements that a cell answers while its CELLSRV is stopped; this guard judges by them."""

_UNTIL = "12.2"
"""The first release without this procedure."""

_KEPT = 48 * MIB
"""Bytes that a flash cell disk keeps for itself."""

_LOG = 512 * MIB
"""The default size of a flash log, over all flash disks of a cell."""


def may_be_stopped(statement: Statement) -> bool:
    """Return whether a statement only sets the mode of the flash cache: CELLSRV may be stopped for that."""
    return isinstance(statement, CellChange) and [s.attribute.lower() for s in statement.settings] == ["flashcachemode"]


def refuse_stopped(text: str, fact: f.CellFacts) -> None:
    """Raise RefusedError if a cell with CELLSRV stopped may have a flash cache, or its release can't change the mode this way.

    Args:
        fact: with ``STOPPED_FACTS`` read.

    Raises:
        RefusedError: names the obstacle.
    """
    why = _why_not(fact)
    if why:
        raise RefusedError(
            f"{text}: CELLSRV of {fact.cell} is stopped, and {why}; nothing was sent",
            hint=f"`online cell {fact.cell}` starts CELLSRV and brings its grid disks online; `set flashcache "
            "mode=…` does all of it",
        )


def _why_not(fact: f.CellFacts) -> str:
    if not fact.at_least(f.MODE_SINCE) or fact.at_least(_UNTIL):
        return f"release {fact.release or 'unknown'} changes the mode while it runs"
    if not fact.flash_disks:
        return "it lists no flash disks, so exacell can't check that there is no flash cache"
    for grid in fact.grid_disks:
        if grid.cached_by:
            return f"grid disk {grid.name} is cachedBy {grid.cached_by[0]}: drop the flash cache first (write-back: flushed)"
    log = _LOG // len(fact.flash_disks)
    for disk in fact.flash_disks:
        if disk.status != "normal":
            return f"{disk.name} is {disk.status or 'in no known state'}"
        taken = _taken(fact, disk)
        if taken > _KEPT + log:
            return (
                f"{size_text(taken)} of {disk.name} are not free and not used by a grid disk: a flash cache may be "
                f"there; drop it first (write-back: flushed)"
            )
    return ""


def _taken(fact: f.CellFacts, disk: f.CellDisk) -> int:
    """Return the bytes of a cell disk that are neither free nor in a grid disk."""
    grids = sum(grid.size for grid in fact.grid_disks if grid.cell_disk.lower() == disk.name.lower())
    return disk.size - disk.free - grids


def still_stopped(fact: f.CellFacts) -> Sequence[Check]:
    """Return the checks right before the mode changes: CELLSRV is still stopped, and no cache has appeared."""
    free = (
        Check(
            object="celldisk",
            attribute="freeSpace",
            op=Op.AT_LEAST,
            value=disk.free,
            where={"name": disk.name},
            why="the mode changes while there is no flash cache",
        )
        for disk in fact.flash_disks
    )
    return (*services_check("cellsrv", "stopped"), *free)


def on_cell(rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a statement on the cell."""
    if statement.verb in ("DROP", "CREATE"):
        reason = f"{statement.verb} CELL deletes everything on the cell"
        return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))
    if statement.settings and statement.action.endswith("SERVICES"):
        raise RefusedError(
            f"{text}: one statement sets attributes, another one stops or starts services; nothing was sent",
            hint="use two statements, so that the second is checked after the first",
        )
    _refuse_shared(facts, statement, text)
    values = ((s.attribute.lower(), s.value) for s in statement.settings)
    changed = {name: value.text if isinstance(value, Scalar) else render_value(value) for name, value in values}
    if "flashcachemode" in changed or "pmemcachemode" in changed:
        return _mode(rack, facts, statement, text, changed)
    if statement.action.endswith("SERVICES"):
        return _services(rack, facts, statement, text)
    if changed.get("eighthrack", "").lower() == "true":
        reason = "it already has disks in use, and as an eighth rack it loses half of them"
        reasons = {cell: reason for cell, fact in facts.items() if fact.grid_disks or fact.flash_cache is not None}
        return lossy(rack, facts, statement, text, reasons)
    if "flashcachecompress" in changed:
        return _compression(rack, facts, statement, text)
    if found := sorted(name for name in changed if _OWN.fullmatch(name)):
        told = f"ASM and the databases know the cell by it: {', '.join(found)}"
        plan = simple(rack, facts, statement, text, Risk.REDUNDANCY, proves=settings_proof(statement))
        return replace(plan, warnings=(*plan.warnings, told))
    if not changed.keys().isdisjoint(_UNDOCUMENTED):
        return simple(rack, facts, statement, text, Risk.UNKNOWN, proves=settings_proof(statement))
    shows = statement.action.split(" ")[0] in ("LED", "DONOTSERVICELED", "VALIDATE")
    risk = Risk.NONE if shows or only_words(statement) else Risk.PERFORMANCE
    return simple(rack, facts, statement, text, risk, proves=settings_proof(statement))


_OWN = re.compile(r"name|realmname|ipaddress\d|interconnect\d")
"""Attributes (lower case) by which ASM and databases find a cell and its failure group. Source: Oracle SAGUG, ALTER CELL;
reference asm.md section 2."""

_UNDOCUMENTED = frozenset({"events", "offloadgroupevents"})
"""Attributes whose values come from Oracle's support and are not documented. Source: Oracle SAGUG, ALTER CELL."""

_SHARED = re.compile(r"name|ipaddress\d")
"""Attributes (lower case) whose values must differ on all cells."""


def _refuse_shared(facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if several cells would get one name or address, or that of another cell.

    Raises:
        RefusedError: names the attribute and the cells.
    """
    own = [s for s in statement.settings if _SHARED.fullmatch(s.attribute.lower())]
    own = [s for s in own if render_value(s.value).strip("\"'")]
    if own and len(facts) > 1:
        raise RefusedError(
            f"{text}: {fold(facts)} would all have the same {own[0].attribute}, but each cell needs its own; nothing was sent",
            hint=f"change one cell at a time: `on {next(iter(facts))} …`",
        )
    addresses = [a for s in own if s.attribute.lower() != "name" and (a := render_value(s.value).strip("\"'"))]
    if len(set(addresses)) < len(addresses):
        raise RefusedError(
            f"{text}: {addresses[0]} would be two addresses of one cell; nothing was sent",
            hint="`list cell attributes ipaddress1, ipaddress2` shows its addresses",
        )


def refuse_taken(statement: Statement, text: str, cells: Sequence[str], others: Sequence[str]) -> None:
    """Raise RefusedError if a cell would get the name that another cell of its rack has in the configuration.

    Args:
        cells: the cells that the statement goes to.
        others: all cells of the rack.

    Raises:
        RefusedError: names both.
    """
    named = statement.setting("name") if isinstance(statement, CellChange) and statement.object == "CELL" else None
    if named is None:
        return
    wanted = render_value(named).strip("\"'").partition(".")[0].lower()
    taken = next((other for other in others if other.partition(".")[0].lower() == wanted and other not in cells), None)
    if taken is not None:
        raise RefusedError(
            f"{text}: {fold(cells)} would have the name of {taken}, but each cell needs its own; nothing was sent",
            hint="`cells` lists the names of the rack",
        )


_LEVELS = frozenset({"accesslevelperm", "accessleveltemp"})

_SSH_OFF = (
    "SSH",
    _LEVELS,
    r"\bremoteLoginDisabled\b",
    "type `set transport exacli` first, if a login for ExaCLI exists",
)
_ROOT_OFF = (
    "SSH for root",
    _LEVELS,
    r"\bremoteLoginEnabledRootLoginDisabled\b",
    "-l celladmin logs in as celladmin; to keep that, set write_user=celladmin in the rack's file",
)
_EXACLI_OFF = (
    "ExaCLI",
    frozenset({"httpsaccess", "exaclienabled"}),
    r"^\W*(?:none|false)\W*$",
    "type `set transport ssh` first, if the cells allow SSH",
)
"""A way to a cell: its name, the attributes (lower case) that close it, the values that do so, and the way out. Source: Oracle
SAGUG, Managing SSH on Storage Servers; ALTER CELL, httpsAccess."""


def refuse_locked_out(statement: Statement, text: str, *, user: str, ssh: bool) -> None:
    """Raise RefusedError if a statement closes the way by which exacell reaches the cell.

    Args:
        user: the login that changes cells.
        ssh: whether cells are reached over SSH, and not over ExaCLI.

    Raises:
        RefusedError: exacell could neither check the outcome nor undo it.
    """
    if not isinstance(statement, CellChange) or statement.object != "CELL":
        return
    ways = (_SSH_OFF, *((_ROOT_OFF,) if user == "root" else ())) if ssh else (_EXACLI_OFF,)
    for way, attributes, values, hint in ways:
        given = [text for s in statement.settings if s.attribute.lower() in attributes for text in _said(s.value)]
        if any(re.search(values, value, re.IGNORECASE) for value in given):
            raise RefusedError(
                f"{text}: it closes {way}, by which exacell reaches the cell; exacell could then neither check the outcome "
                "nor undo it; nothing was sent",
                hint=hint,
            )


def _said(value: Value) -> Iterator[str]:
    """Yield the parts of a value, without the times and the reason that are in parentheses beside a level."""
    if not isinstance(value, Group):
        yield render_value(value)
        return
    for item in value.items:
        if not isinstance(item, Setting):
            yield from _said(item)
        elif item.attribute.lower() not in _BESIDE:
            yield from _said(item.value)


_BESIDE = frozenset({"starttime", "duration", "reason"})
"""The parts beside accessLevel in accessLevelTemp (lower case). Source: Oracle SAGUG, Managing SSH on Storage Servers."""


def _compression(rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan for a change of compression; it changes the size of the flash disks, so no cache on them remains.

    Source: reference cellcli.md 6.7.
    """
    return lossy(
        rack,
        facts,
        statement,
        text,
        {cell: reason for cell, fact in facts.items() if (reason := unproven_cache(fact) or _still_cached(fact))},
        ByCell(
            needs=dict.fromkeys(
                facts, (Check(object="flashcache", op=Op.ABSENT, why="no cache is left after this change"),)
            )
        ),
        expect=1,
    )


def _still_cached(fact: f.CellFacts) -> str:
    return "it still has a flash cache: drop it first (write-back: flushed)" if fact.flash_cache is not None else ""


def _mode(
    rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str, changed: Mapping[str, str]
) -> Plan:
    """Return the plan for a change of mode, which needs that there is no cache of the kind.

    If a cell still has one, the user must type the cell's name.
    """
    reasons: dict[str, str] = {}
    checks: dict[str, tuple[Check, ...]] = {}
    for cell, fact in facts.items():
        found: list[str] = []
        proofs: list[Check] = []
        if "flashcachemode" in changed and fact.cellsrv.lower() == "stopped":
            refuse_stopped(text, fact)
            proofs += still_stopped(fact)
        elif "flashcachemode" in changed:
            found.append(_flash_reason(fact, changed["flashcachemode"]))
            proofs.append(_absent("flashcache"))
        if "pmemcachemode" in changed:
            left = "it still has a PMEM cache: flush and drop it first" if fact.pmem_cache is not None else ""
            found.append(left or hidden_pmem(fact))
            proofs.append(_absent("pmemcache"))
        reason = next((text for text in found if text), "")
        if reason:
            reasons[cell] = reason
        checks[cell] = tuple(proofs)
    names = {"flashcachemode": ("cell", "flashCacheMode"), "pmemcachemode": ("pmem", "pmemCacheMode")}
    proves = tuple(
        Check(object=names[name][0], attribute=names[name][1], value=value)
        for name, value in changed.items()
        if name in names
    )
    back = {cell: inverse for cell, fact in facts.items() if (inverse := _mode_before(fact, changed))}
    plan = lossy(
        rack,
        facts,
        statement,
        text,
        reasons,
        ByCell(
            needs=checks,
            proves=dict.fromkeys(facts, proves),
            changes={cell: _modes(fact, changed) for cell, fact in facts.items()},
        ),
        expect=1,
    )
    hint = "set flashcache mode=… does all of it: flush, drop, mode, create"
    steps = tuple(
        replace(step, inverse="data that was only in the cache may be lost")
        if step.target in reasons
        else replace(step, undo=Undo.STATEMENT, inverse=back[step.target])
        if step.target in back
        else step
        for step in plan.steps
    )
    return replace(
        plan,
        stages=(replace(plan.stages[0], steps=steps),),
        inverse={cell: (inverse,) for cell, inverse in back.items()},
        warnings=(hint,) if "flashcachemode" in changed else (),
    )


def _modes(fact: f.CellFacts, changed: Mapping[str, str]) -> tuple[Change, ...]:
    """Return the modes before and after."""
    kinds = {"flashcachemode": ("flashCacheMode", fact.mode), "pmemcachemode": ("pmemCacheMode", fact.pmem_mode)}
    return tuple(
        Change(object="cell", name=fact.cell, attribute=kinds[name][0], before=kinds[name][1] or "-", after=value)
        for name, value in changed.items()
        if name in kinds and kinds[name][1] != value.lower()
    )


def _mode_before(fact: f.CellFacts, changed: Mapping[str, str]) -> str:
    """Return the statement that restores the mode; empty if more than one setting changes, or the old mode is unknown."""
    if set(changed) == {"flashcachemode"}:
        return f"ALTER CELL flashCacheMode={fact.mode or 'writethrough'}"
    if set(changed) == {"pmemcachemode"} and fact.pmem_mode:
        return f"ALTER CELL pmemCacheMode={fact.pmem_mode}"
    return ""


def _absent(kind: str) -> Check:
    return Check(object=kind, op=Op.ABSENT, why="the mode changes while there is no such cache")


def _flash_reason(fact: f.CellFacts, mode: str) -> str:
    if reason := unproven_cache(fact) or _still_cached(fact):
        return reason
    if mode.lower() == "writethrough" and fact.pmem_mode == "writeback":
        return "its PMEM cache is write-back, which needs a write-back flash cache: alter cell pmemCacheMode first"
    return ""


def _takes_offline(facts: Mapping[str, f.CellFacts]) -> bool:
    """Return whether stopping these cells takes grid disks away from a disk group."""
    return any(needed(grid) and grid.status == "active" for fact in facts.values() for grid in fact.grid_disks)


def software_update(rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of ALTER SOFTWAREUPDATE.

    UPGRADE patches the cell, and its disks are away from ASM during that time. VALIDATE PREREQ runs the checks before it, which
    download files and leave every disk in place. A setting decides which updates the cell installs by itself, and when.

    Source: Oracle SAGUG, ALTER SOFTWAREUPDATE; Scheduling Automated Updates of Storage Servers.
    """
    if statement.action == "VALIDATE PREREQ":
        nothing: dict[str, object] = {"undo": Undo.NOTHING, "inverse": ""}
        return guarded_plan(rack, text, [guarded_step(cell, statement, Risk.PERFORMANCE, **nothing) for cell in facts])
    if statement.action != "UPGRADE":
        plan = simple(rack, facts, statement, text, Risk.UNKNOWN)
        later = "a cell may install the update by itself at the time that is set there, and exacell does not watch it"
        return replace(plan, warnings=(*plan.warnings, later))
    refuse_together(text, {cell: fact.grid_disks for cell, fact in facts.items()})
    reason = "it patches the cell, and exacell can't know the state of the cell afterwards"
    offline = _takes_offline(facts)
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), offline=offline, forced=True, online=True)


def _services(rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of STARTUP, SHUTDOWN or RESTART of services.

    SHUTDOWN and RESTART of CELLSRV take the cell's disks away from ASM; after SHUTDOWN they stay away.
    """
    service = (statement.argument or "ALL").lower()
    known = service in SERVICES
    starts = statement.action != "SHUTDOWN SERVICES"
    if not known and statement.action != "STARTUP SERVICES" and len(facts) > 1:
        raise RefusedError(
            f"{text}: {service.upper()} of Exascale would stop on {fold(facts)} together; nothing was sent",
            hint=f"change one cell at a time: `on {next(iter(facts))} …`",
        )
    if statement.action == "STARTUP SERVICES" or service not in ("cellsrv", "all"):
        # With MS or RS stopped, no process can show it.
        proves = services_check(service, "running") if known and starts else ()
        steps = [guarded_step(c, statement, Risk.PERFORMANCE, proves=proves, within=SERVICE_WITHIN) for c in facts]
        return guarded_plan(rack, text, steps)
    grids = {cell: fact.grid_disks for cell, fact in facts.items()}
    if "IGNORE REDUNDANCY" in statement.flags:
        # The user may accept that for one cell, never for two failure groups at once.
        refuse_together(text, grids)
        return lossy(
            rack,
            facts,
            statement,
            text,
            dict.fromkeys(facts, "IGNORE REDUNDANCY stops the cell even if a disk group would dismount"),
            offline=_takes_offline(facts),
            forced=True,
            online=starts,
        )
    refuse_flushing(text, facts)
    if starts:
        refuse_unspared(text, facts)
    else:
        refuse_offline(text, grids)
    steps = []
    for cell, fact in facts.items():
        active = [grid for grid in fact.grid_disks if grid.status == "active"]
        offline = _takes_offline({cell: fact})
        proves = ()
        if starts:
            proves = (*services_check(service, "running"), *back_online(active))
        elif service == "cellsrv":
            proves = services_check(service, "stopped")
        steps.append(
            guarded_step(
                cell,
                statement,
                Risk.REDUNDANCY if offline else Risk.PERFORMANCE,
                needs=may_go(fact.grid_disks),
                proves=proves,
                within=ONLINE_WITHIN if starts else SERVICE_WITHIN,
                offline=offline,
                online=starts,
            )
        )
    return guarded_plan(rack, text, steps)
