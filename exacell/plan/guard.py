"""Plans for CellCLI's own changing statements: the same guards as the verbs, judged from what is on the cells.

A statement reaches DROP, resize or mode change of a write-back cache, DROP FLASHLOG, or any FORCE only with proof on that
object at that moment, or with the loss accepted by name. A grid disk in ASM use is refused whatever is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.iorm import IormPlan
from exacell.cellcli.iorm import parse as parse_plan
from exacell.cellcli.iorm import render as render_plan
from exacell.cellcli.statement import Change as CellChange
from exacell.cellcli.statement import Grant, Scalar, Statement, render_value
from exacell.cellset import fold
from exacell.errors import ExacellError, RefusedError
from exacell.plan import facts as f
from exacell.plan.availability import (
    ONLINE_WITHIN,
    SERVICE_WITHIN,
    back_online,
    may_go,
    refuse_unspared,
    services_check,
)
from exacell.plan.facts import CellFacts
from exacell.plan.gate import in_use
from exacell.plan.griddisk import Headers
from exacell.plan.guard_caches import flashcache, flashlog, pmemcache, unproven_cache
from exacell.plan.guard_disks import celldisk, griddisk, refuse_offline, refuse_together
from exacell.plan.guard_steps import guarded_plan, guarded_step, lossy, simple
from exacell.plan.iorm import agree
from exacell.plan.model import Change, Check, Op, Plan, Risk, Undo

_ALWAYS = (f.CELL,)
_FACTS: Mapping[str, tuple[str, ...]] = {
    "FLASHCACHE": (f.FLASHCACHE, f.PMEMCACHE, f.CELLDISK, f.FLASH_METRICS, f.FLASH_PHYSICALDISK, f.GRIDDISK),
    "FLASHLOG": (f.FLASHLOG,),
    "PMEMCACHE": (f.PMEMCACHE,),
    "GRIDDISK": (f.GRIDDISK, f.CELLDISK),
    "CELLDISK": (f.GRIDDISK, f.CELLDISK, f.FLASHCACHE),
    "CELL": (f.GRIDDISK, f.FLASHCACHE, f.PMEMCACHE),
    "IORMPLAN": (f.IORMPLAN,),
    "PHYSICALDISK": (f.GRIDDISK,),
}

_HARMLESS = frozenset(
    {
        "THRESHOLD",
        "ALERTHISTORY",
        "METRICDEFINITION",
        "USER",
        "ROLE",
        "PRIVILEGE",
        "DIAGPACK",
        "IBPORT",
        "QUARANTINE",
        "SOFTWAREHISTORY",
        "OFFLOADGROUP",
    }
)
"""Objects whose changes touch no data, no redundancy and no I/O path."""

_CELL_SERVICES = ("SHUTDOWN SERVICES", "RESTART SERVICES")


def facts_needed(statement: Statement) -> tuple[str, ...]:
    """Return the LIST statements whose answers :func:`guard_plan` needs for this statement.

    None for starting services, which is what brings back a cell that answers nothing.
    """
    if isinstance(statement, CellChange) and statement.action == "STARTUP SERVICES":
        return ()
    return _ALWAYS + _FACTS.get(getattr(statement, "object", ""), ())


def guard_plan(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange | Grant,
    *,
    text: str,
    accepted: Sequence[str],
    headers: Headers,
    may_ask: bool = False,
) -> Plan:
    """Return the plan that sends ``statement`` to every cell, with its risk judged per cell.

    Args:
        accepted: names whose loss of data was accepted.
        may_ask: the plan goes to somebody who may type the names that were not accepted: they are in ``Plan.loss``.

    Raises:
        RefusedError: a grid disk in use would go, several failure groups would be touched at once, or data would be
            lost, that was not accepted, and nobody may be asked.
    """
    plan = _judged(rack, facts, statement, text, headers)
    lower = {name.lower() for name in accepted}
    missing = [name for name in plan.loss if name.lower() not in lower]
    if missing and not may_ask:
        by_reason: dict[str, list[str]] = {}
        for name in missing:
            by_reason.setdefault(plan.loss_reasons[name], []).append(name)
        said = "; ".join(f"{fold(cells)}: {reason}" for reason, cells in by_reason.items())
        raise RefusedError(
            f"{text}: refused on {said}; nothing was sent",
            hint=f"--accept-data-loss={','.join(missing)} sends it all the same; -y never does",
        )
    return plan


def _judged(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: CellChange | Grant,
    text: str,
    headers: Headers,
) -> Plan:
    if isinstance(statement, Grant) or statement.object in _HARMLESS:
        return simple(rack, facts, statement, text, Risk.NONE)
    match statement.object:
        case "FLASHCACHE":
            return flashcache(rack, facts, statement, text)
        case "FLASHLOG":
            return flashlog(rack, facts, statement, text)
        case "PMEMCACHE" | "XRMEMCACHE":
            return pmemcache(rack, facts, statement, text)
        case "GRIDDISK":
            return griddisk(rack, facts, statement, text, headers)
        case "IORMPLAN":
            return _iormplan(rack, facts, statement, text)
        case "CELL":
            return _cell(rack, facts, statement, text)
        case "CELLDISK":
            return celldisk(rack, facts, statement, text, headers)
    if statement.verb == "CREATE" and not statement.has("FORCE"):
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    force = " (FORCE)" if statement.has("FORCE") else ""
    reason = f"exacell can't judge what it takes away{force}"
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))


def _iormplan(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    steps = []
    back: dict[str, tuple[str, ...]] = {}
    names = [s.attribute.lower() for s in statement.settings]
    known = set(names) <= {"dbplan", "objective"}
    proof = _iorm_proof(statement)
    value, objective = statement.setting("dbplan"), statement.setting("objective")
    for cell, fact in facts.items():
        before = {"dbplan": render_plan(fact.iorm or IormPlan()), "objective": fact.objective}
        inverse = (
            ", ".join(f"{name}={before[name]}" for name in names)
            if known and all(before[name] for name in names)
            else ""
        )
        changes = []
        if objective is not None:
            after = render_value(objective)
            changes.append(
                Change(object="iormplan", name=cell, attribute="objective", before=fact.objective or "-", after=after)
            )
        if value is not None:
            after = (value.text if isinstance(value, Scalar) else render_value(value)) or "-"
            changes.append(
                Change(object="iormplan", name=cell, attribute="dbPlan", before=fact.iorm_text or "-", after=after)
            )
        if inverse:
            back[cell] = (f"alter iormplan {inverse}",)
        steps.append(
            guarded_step(
                cell,
                statement,
                Risk.PERFORMANCE,
                expect=1,
                proves=proof,
                changes=tuple(changes),
                undo=Undo.STATEMENT if inverse else Undo.IMPOSSIBLE,
                inverse=f"ALTER IORMPLAN {inverse}"
                if inverse
                else "what they were is not known"
                if known and names
                else "exacell keeps an inverse of dbplan and objective alone",
            )
        )
    try:
        agree(facts)
    except RefusedError as error:
        warning = error.message.removesuffix("; nothing was sent")
        return guarded_plan(rack, text, steps, warnings=(warning,), inverse=back)
    return guarded_plan(rack, text, steps, inverse=back)


def _iorm_proof(statement: CellChange) -> tuple[Check, ...]:
    """The dbplan that was sent, in the one spelling in which plans are compared, where it can be read; the objective."""
    value, objective = statement.setting("dbplan"), statement.setting("objective")
    proofs = []
    try:
        if value is not None:
            wanted = render_plan(parse_plan(render_value(value)))
            proofs.append(Check(object="iormplan", attribute="dbPlan", value=wanted))
    except ExacellError:
        return ()
    if isinstance(objective, Scalar):
        proofs.append(Check(object="iormplan", attribute="objective", value=objective.text))
    return tuple(proofs)


def _cell(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    if statement.verb in ("DROP", "CREATE"):
        reason = f"{statement.verb} CELL takes everything on the cell away"
        return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason))
    values = ((s.attribute.lower(), s.value) for s in statement.settings)
    changed = {name: value.text if isinstance(value, Scalar) else render_value(value) for name, value in values}
    if "flashcachemode" in changed or "pmemcachemode" in changed:
        return _mode(rack, facts, statement, text, changed)
    if statement.action.endswith("SERVICES"):
        return _services(rack, facts, statement, text)
    return simple(rack, facts, statement, text, Risk.PERFORMANCE)


def _mode(
    rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str, changed: Mapping[str, str]
) -> Plan:
    """A mode changes while there is no cache of the kind; where one is left the cell's name is asked for."""
    reasons: dict[str, str] = {}
    checks: dict[str, tuple[Check, ...]] = {}
    for cell, fact in facts.items():
        found: list[str] = []
        proofs: list[Check] = []
        if "flashcachemode" in changed:
            found.append(_flash_reason(fact, changed["flashcachemode"]))
            proofs.append(_absent("flashcache"))
        if "pmemcachemode" in changed:
            found.append("it still has a PMEM cache: flush and drop it first" if fact.pmem_cache is not None else "")
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
    plan = lossy(rack, facts, statement, text, reasons, needs=checks, proves=dict.fromkeys(facts, proves), expect=1)
    hint = "set flashcache mode=… does all of it: flush, drop, mode, create"
    steps = tuple(
        replace(step, inverse="what the cache alone held may be gone")
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


def _mode_before(fact: CellFacts, changed: Mapping[str, str]) -> str:
    """The statement that brings back the mode that alone is changed; empty where more is, or it is not known."""
    if set(changed) == {"flashcachemode"}:
        return f"ALTER CELL flashCacheMode={fact.mode or 'writethrough'}"
    if set(changed) == {"pmemcachemode"} and fact.pmem_mode:
        return f"ALTER CELL pmemCacheMode={fact.pmem_mode}"
    return ""


def _absent(kind: str) -> Check:
    return Check(object=kind, op=Op.ABSENT, why="the mode changes while there is no such cache")


def _flash_reason(fact: CellFacts, mode: str) -> str:
    if fact.flash_cache is not None:
        return unproven_cache(fact) or "it still has a flash cache: drop it first (write-back: flushed)"
    if mode.lower() == "writethrough" and fact.pmem_mode == "writeback":
        return "its PMEM cache is write-back, which needs a write-back flash cache: alter cell pmemCacheMode first"
    return ""


def _takes_offline(facts: Mapping[str, CellFacts]) -> bool:
    """Whether a cell that stops takes grid disks away from a disk group."""
    return any(in_use(grid) and grid.status == "active" for fact in facts.values() for grid in fact.grid_disks)


def _services(rack: str, facts: Mapping[str, CellFacts], statement: CellChange, text: str) -> Plan:
    """SHUTDOWN and RESTART of CELLSRV take the cell's disks away from ASM; SHUTDOWN leaves them so."""
    service = (statement.argument or "ALL").lower()
    known = service in ("cellsrv", "ms", "rs", "all")
    starts = statement.action != "SHUTDOWN SERVICES"
    if statement.action == "STARTUP SERVICES" or service not in ("cellsrv", "all"):
        # Where MS or RS is stopped nobody answers who could show it.
        proves = services_check(service, "running") if known and starts else ()
        steps = [guarded_step(c, statement, Risk.PERFORMANCE, proves=proves, within=SERVICE_WITHIN) for c in facts]
        return guarded_plan(rack, text, steps)
    grids = {cell: fact.grid_disks for cell, fact in facts.items()}
    if "IGNORE REDUNDANCY" in statement.flags:
        # Somebody may accept that for a cell, never for two failure groups at once.
        refuse_together(text, grids)
        reason = "IGNORE REDUNDANCY stops the cell even where a disk group would dismount"
        return lossy(
            rack,
            facts,
            statement,
            text,
            dict.fromkeys(facts, reason),
            offline=_takes_offline(facts),
            forced=True,
            online=starts,
        )
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
