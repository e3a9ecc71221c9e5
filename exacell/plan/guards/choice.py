"""Plan CellCLI's own changing statements with the same guards as exacell's verbs, judged by the state of the cells.

DROP, resize or mode change of a write-back cache, DROP FLASHLOG, and any FORCE need a proof about that object at that moment,
or the loss accepted by name. A change of a grid disk that ASM uses is always refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.iorm import IormPlan, against_rules, over_allocated, parse as parse_plan, render as render_plan
from exacell.cellcli.nodes import Value
from exacell.cellcli.releases import missing as unknown_to
from exacell.cellcli.statement import Change as CellChange, Grant, Scalar, Statement, render_value
from exacell.core.cellset import fold, folded_names, told_together
from exacell.core.errors import ExacellError, RefusedError
from exacell.plan import facts as f
from exacell.plan.guards.caches import flashcache, flashlog, pmemcache
from exacell.plan.guards.cell import on_cell, software_update
from exacell.plan.guards.devices import celldisk, lun, physicaldisk
from exacell.plan.guards.griddisks import griddisk
from exacell.plan.guards.steps import (
    guarded_plan,
    guarded_step,
    lossy,
    simple,
)
from exacell.plan.guards.targets import refuse_ended, refuse_slips
from exacell.plan.model import Change, Check, Plan, Risk, Undo
from exacell.plan.planners.availability import services_check
from exacell.plan.planners.griddisk import Headers
from exacell.plan.planners.iorm import agree, directive_changes

_ALWAYS = (f.CELL,)
_FACTS: Mapping[str, tuple[str, ...]] = {
    "FLASHCACHE": (f.FLASHCACHE, f.PMEMCACHE, f.CELLDISK, f.FLASH_METRICS, f.FLASH_PHYSICALDISK, f.GRIDDISK),
    "FLASHLOG": (f.FLASHLOG,),
    "PMEMCACHE": (f.PMEMCACHE,),
    # Its older name may mean the same cache, and that one was write-back.
    "XRMEMCACHE": (f.PMEMCACHE,),
    "GRIDDISK": (f.GRIDDISK, f.CELLDISK),
    "CELLDISK": (f.GRIDDISK, f.CELLDISK, f.FLASHCACHE),
    "CELL": (f.GRIDDISK, f.FLASHCACHE, f.PMEMCACHE),
    "IORMPLAN": (f.IORMPLAN,),
    "PHYSICALDISK": (f.GRIDDISK,),
    "LUN": (f.LUN,),
    "SOFTWAREUPDATE": (f.GRIDDISK,),
}

_MORE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("CREATE", "FLASHLOG"): (f.CELLDISK,),
    ("CREATE", "CELLDISK"): (f.LUN,),
    ("CREATE", "GRIDDISK"): (f.FLASHCACHE,),  # It may use the space that is missing.
}

_TELLING = (f.CELLDISK, f.FLASH_METRICS)
"""The LIST statements that show a cache which LIST FLASHCACHE does not list."""

_CACHELESS = ("flashCacheMode", "pmemCacheMode", "flashCacheCompress")
"""Attributes of a cell that change only while there is no cache of the kind."""

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
        "SOFTWAREHISTORY",
    }
)
"""Objects whose changes touch no data, no redundancy and no I/O path."""

_SLOWING = frozenset({"OFFLOADGROUP", "QUARANTINE"})
"""Objects whose changes only decide what cells scan for databases: after DROP QUARANTINE the SQL runs there again.
Source: Oracle SAGUG, ALTER OFFLOADGROUP, DROP QUARANTINE."""


def facts_needed(statement: Statement) -> tuple[str, ...]:
    """Return the LIST statements whose answers :func:`guard_plan` needs for this statement.

    None for starting services: that must also work on a cell that answers nothing.
    """
    if not isinstance(statement, CellChange):
        return _ALWAYS + _FACTS.get(getattr(statement, "object", ""), ())
    if statement.action == "STARTUP SERVICES":
        return ()
    cacheless = any(statement.setting(name) is not None for name in _CACHELESS)
    more = _MORE.get((str(statement.verb), statement.object), ())
    return (*_ALWAYS, *_FACTS.get(statement.object, ()), *(_TELLING if cacheless else ()), *more)


def guard_plan(
    rack: str,
    facts: Mapping[str, f.CellFacts],
    statement: CellChange | Grant,
    *,
    text: str,
    accepted: Sequence[str],
    headers: Headers,
    may_ask: bool = False,
    exact: bool = False,
) -> Plan:
    """Return the plan that sends ``statement`` to every cell, with its risk judged per cell.

    Args:
        accepted: names whose loss of data was accepted.
        may_ask: the plan is shown to a user who may type the names that were not accepted; they are in ``Plan.loss``.
        exact: the names come from an earlier change and were not typed: a missing one is no typing error.

    Raises:
        RefusedError: a name looks like a typing error, a grid disk in use would be removed, several failure groups would be
            touched at once, or data would be lost without acceptance and nobody may be asked.
    """
    if isinstance(statement, CellChange):
        if not exact:
            refuse_slips(facts, statement, text)
        refuse_ended(facts, statement, text)
    plan = _judged(rack, facts, statement, text, headers)
    plan = replace(plan, warnings=(*plan.warnings, *_unknown(facts, statement, plan.targets)))
    lower = {name.lower() for name in accepted}
    missing = [name for name in plan.loss if name.lower() not in lower]
    if missing and not may_ask:
        said = "; ".join(told_together((name, plan.loss_reasons[name]) for name in missing))
        raise RefusedError(
            f"{text}: refused on {said}; nothing was sent",
            hint=f"--accept-data-loss={folded_names(plan.loss)} sends it anyway; -y does not",
        )
    return plan


def _unknown(facts: Mapping[str, f.CellFacts], statement: CellChange | Grant, cells: Sequence[str]) -> tuple[str, ...]:
    """Return warnings about words that the cells' releases do not know; the cell itself decides about its grammar."""
    releases = {cell: facts[cell].release for cell in cells if facts[cell].release}
    return tuple(
        told_together((cell, said) for cell, release in releases.items() for said in unknown_to(statement, release))
    )


def _judged(
    rack: str,
    facts: Mapping[str, f.CellFacts],
    statement: CellChange | Grant,
    text: str,
    headers: Headers,
) -> Plan:
    if isinstance(statement, Grant) or statement.object in _HARMLESS:
        return simple(rack, facts, statement, text, Risk.NONE)
    if statement.object in _SLOWING:
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
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
            return on_cell(rack, facts, statement, text)
        case "CELLDISK":
            return celldisk(rack, facts, statement, text, headers)
    if statement.verb == "CREATE" and not statement.has("FORCE"):
        return simple(rack, facts, statement, text, Risk.PERFORMANCE)
    if statement.verb == "CALIBRATE":
        return _calibrate(rack, facts, statement, text)
    if statement.object == "PHYSICALDISK":
        return physicaldisk(rack, facts, statement, text)
    if statement.object == "LUN" and statement.action:
        return lun(rack, facts, statement, text)
    if statement.object == "SOFTWAREUPDATE":
        return software_update(rack, facts, statement, text)
    force = " (FORCE)" if statement.has("FORCE") else ""
    return lossy(rack, facts, statement, text, dict.fromkeys(facts, f"exacell can't know what it deletes{force}"))


def _calibrate(rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> Plan:
    """Return the plan of CALIBRATE, which only measures and needs CELLSRV stopped; with FORCE it runs besides the databases' I/O.

    Source: Oracle SAGUG, CALIBRATE; reference cellcli.md 2.3.
    """
    if statement.has("FORCE"):
        reason = "CALIBRATE FORCE saturates every disk while databases may be using them"
        return lossy(rack, facts, statement, text, dict.fromkeys(facts, reason), undo=Undo.NOTHING, inverse="")
    running = [cell for cell, fact in facts.items() if fact.cellsrv.lower() == "running"]
    if running:
        raise RefusedError(
            f"{text}: CELLSRV is running on {fold(running)}, but CALIBRATE needs it stopped; nothing was sent",
            hint="`run calibrate_cells` takes the cells offline one after the other for it; FORCE measures "
            "while databases are working",
        )
    stopped = services_check("cellsrv", "stopped")
    how: dict[str, object] = {"needs": stopped, "undo": Undo.NOTHING, "inverse": ""}
    return guarded_plan(rack, text, [guarded_step(cell, statement, Risk.PERFORMANCE, **how) for cell in facts])


def _iormplan(rack: str, facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> Plan:
    steps = []
    back: dict[str, tuple[str, ...]] = {}
    names = [s.attribute.lower() for s in statement.settings]
    known = set(names) <= {"dbplan", "objective"}
    proof = _iorm_proof(statement)
    value, objective = statement.setting("dbplan"), statement.setting("objective")
    _refuse_allocations(statement, text)
    _refuse_rules(facts, statement, text)
    for cell, fact in facts.items():
        before = {"dbplan": render_plan(fact.iorm or IormPlan()), "objective": fact.objective}
        inverse = (
            ", ".join(f"{name}={before[name]}" for name in names)
            if known and all(before[name] for name in names)
            else ""
        )
        changes: list[Change] = []
        if objective is not None:
            after = render_value(objective)
            changes.append(
                Change(object="iormplan", name=cell, attribute="objective", before=fact.objective or "-", after=after)
            )
        if value is not None:
            changes += _dbplan_changes(fact, value)
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
                else "the old values are not known"
                if known and names
                else "exacell can undo only dbplan and objective",
            )
        )
    try:
        agree(facts)
    except RefusedError as error:
        warning = error.message.removesuffix("; nothing was sent")
        return guarded_plan(rack, text, steps, warnings=(warning,), inverse=back)
    return guarded_plan(rack, text, steps, inverse=back)


def _refuse_allocations(statement: CellChange, text: str) -> None:
    """Raise RefusedError if an IORM plan allocates more than 100 % of a level.

    Raises:
        RefusedError: names the level and its directives.
    """
    for name in ("dbplan", "catplan"):
        value = statement.setting(name)
        try:
            plan = parse_plan(render_value(value)) if value is not None else None
        except ExacellError:
            continue  # The cell itself reports what is wrong with it.
        if plan is not None and (why := over_allocated(plan)):
            raise RefusedError(
                f"{text}: {name}: {why}; nothing was sent",
                hint="the allocations of a level can be at most 100 in total",
            )


def _refuse_rules(facts: Mapping[str, f.CellFacts], statement: CellChange, text: str) -> None:
    """Raise RefusedError if an IORM plan breaks a known rule of a cell's release, in a part that it changes on the cell.

    Raises:
        RefusedError: names the directive and the rule, or the release that has no catPlan.
    """
    if (category := statement.setting("catplan")) is not None and render_value(category).strip("\"' ()"):
        ended = [cell for cell, fact in facts.items() if fact.at_least(CATPLAN_UNTIL)]
        if ended:
            raise RefusedError(
                f"{text}: {fold(ended)}: release {facts[ended[0]].release} has no catPlan (releases before {CATPLAN_UNTIL} "
                "have it); nothing was sent",
                hint="use dbPlan and clusterPlan, for databases and clusters",
            )
    for name in ("dbplan", "clusterplan"):
        value = statement.setting(name)
        try:
            plan = parse_plan(render_value(value)) if value is not None else None
        except ExacellError:
            continue  # The cell itself reports what is wrong with it.
        for cell, fact in facts.items():
            held = (fact.iorm if name == "dbplan" else None) or IormPlan()
            if plan is not None and (why := against_rules(plan, held)):
                raise RefusedError(
                    f"{text}: {cell}: {name}: {why}; nothing was sent",
                    hint="`help set iorm` shows what can be combined",
                )


CATPLAN_UNTIL = "25.1"
"""The first release without catPlan. Source: reference cellcli.md section 8."""


def _dbplan_changes(fact: f.CellFacts, value: Value) -> tuple[Change, ...]:
    """Return the changes of a dbplan, directive by directive; as a whole if one of the two plans can't be read."""
    try:
        new = parse_plan(render_value(value))
    except ExacellError:
        new = None
    if fact.iorm is not None and new is not None:
        return directive_changes(fact.iorm, new)
    after = (value.text if isinstance(value, Scalar) else render_value(value)) or "-"
    return (Change(object="iormplan", name=fact.cell, attribute="dbPlan", before=fact.iorm_text or "-", after=after),)


_PLANS = ("dbPlan", "catPlan", "clusterPlan")


def _iorm_proof(statement: CellChange) -> tuple[Check, ...]:
    """Return the checks of the sent plans, if they can be read, in the spelling for comparisons; and of the objective."""
    objective = statement.setting("objective")
    proofs = []
    try:
        for name in _PLANS:
            if (value := statement.setting(name)) is not None:
                wanted = render_plan(parse_plan(render_value(value)))
                proofs.append(Check(object="iormplan", attribute=name, value=wanted))
    except ExacellError:
        return ()
    if isinstance(objective, Scalar):
        proofs.append(Check(object="iormplan", attribute="objective", value=objective.text))
    return tuple(proofs)
