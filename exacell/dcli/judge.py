"""Whether dcli's work may be done: CellCLI changes found in it are judged like typed ones, the unreadable by the rack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.statement import Change, Grant, Scalar, parse
from exacell.cellset import fold
from exacell.commands.griddisk import headers_if_needed
from exacell.dcli.reach import Group
from exacell.dcli.scan import Findings
from exacell.errors import RefusedError
from exacell.language.registry import Call, Value
from exacell.plan.facts import CELL, CellFacts, FlashCache
from exacell.plan.guard import facts_needed, guard_plan
from exacell.plan.guard_disks import targets_of
from exacell.plan.model import Plan
from exacell.plan.rolling import takes_offline
from exacell.values import dataclass

_LEAVE = frozenset({"INACTIVE", "SHUTDOWN SERVICES", "RESTART SERVICES"})
"""Actions after which ASM misses the cell's disks; behind a restart it takes them back, which nobody waits for."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was found out about the work on one group.

    Attributes:
        plans: one for each CellCLI change, in order.
        opaque: what can't be read, in phrases.
    """

    plans: tuple[Plan, ...] = ()
    opaque: tuple[str, ...] = ()

    @property
    def risk(self) -> str:
        """The word for the journal: unknown, or the worst plan's."""
        if self.opaque:
            return "unknown"
        return str(max((plan.risk for plan in self.plans), key=lambda risk: risk.rank, default="none"))

    @property
    def caches(self) -> dict[str, bool]:
        """The caches that changes switch off → whether the last change of each brings it back."""
        steps = [step for plan in self.plans for step in plan.steps if step.caching_off or step.caching_on]
        return {step.cache: step.caching_on for step in steps}

    @property
    def cache(self) -> str:
        """The cache that the journal has to speak of: the first one that is left off, else the first one changed."""
        caches = sorted(self.caches, key=lambda cache: self.caches[cache])
        return caches[0] if caches else "flashcache"

    @property
    def caching_off(self) -> bool:
        """Whether some change leaves that cache off until another one brings it back."""
        return any(step.caching_off and step.cache == self.cache for plan in self.plans for step in plan.steps)

    @property
    def caching_on(self) -> bool:
        """Whether the last change of that cache brings caching back."""
        return self.caches.get(self.cache, False)


def judge(
    group: Group, findings: Findings, call: Call, *, serial: bool, flags: Mapping[str, Value], what: str = "dcli"
) -> Judgement:
    """Return what the work is when it may be done on the group; nothing that changes anything is sent.

    Args:
        serial: whether one cell is over before the next one begins.
        flags: the statement's.
        what: its first word, for messages.

    Raises:
        RefusedError: a guard forbids a change, the rack is read-only, or what can't be read was not accepted.
    """
    ctx, rack = group.ctx, group.rack
    if findings.harmless:
        return Judgement()
    if ctx.read_only:
        text = findings.unread[0] if findings.unread else findings.changes[0].text
        raise RefusedError(
            f"rack {rack.name} is read-only, and '{text}' is no read that exacell knows; nothing was sent",
            hint="set mode rw",
        )
    if findings.unread:
        _accept(group, findings.unread, flags, what)
    return Judgement(plans=_plans(group, findings, call, serial=serial), opaque=tuple(findings.unread))


def _accept(group: Group, unread: Sequence[str], flags: Mapping[str, Value], what: str) -> None:
    rack = group.rack
    more = f" (and {len(unread) - 1} more)" if len(unread) > 1 else ""
    if rack.production:
        raise RefusedError(
            f"rack {rack.name} is a production rack, and exacell can't tell what '{unread[0]}'{more} does; nothing was sent",
            hint="say it in exacell's statements or in CellCLI",
        )
    if not rack.emulated and not flags.get("accept-opaque"):
        raise RefusedError(
            f"exacell can't tell what '{unread[0]}'{more} does on {fold(group.cells)}; nothing was sent",
            hint=f"exacell --accept-opaque {what} … runs it; the guard ends there",
        )


def _plans(group: Group, findings: Findings, call: Call, *, serial: bool) -> tuple[Plan, ...]:
    """Return the plan of each CellCLI change, judged from what is on the cells now."""
    ctx, cells = group.ctx, group.cells
    if not findings.changes or not cells:
        return ()
    wanted = dict.fromkeys(need for found in findings.changes for need in facts_needed(found.statement))
    facts = ctx.facts(*(wanted or (CELL,)), cells=cells)
    headers = headers_if_needed(ctx, facts) if any(fact.grid_disks for fact in facts.values()) else None
    accepted = ctx.accepted_loss(call)

    def plan(cells: Sequence[str]) -> list[Plan]:
        plans: list[Plan] = []
        known: Mapping[str, CellFacts] = {cell: facts[cell] for cell in cells}
        for found in findings.changes:
            statement = found.statement
            touched = _touched(known, statement)
            if touched:
                made = guard_plan(
                    group.rack.name, touched, statement, text=found.text, accepted=accepted, headers=headers
                )
                _refuse_together(made)
                plans.append(made)
            known = {cell: _after(fact, statement) for cell, fact in known.items()}
        return plans

    try:
        return tuple(plan(cells))
    except RefusedError as error:
        if not serial or len(cells) < 2:
            raise
        together = error
    try:
        # One cell is over before the next one begins: what must not be done to all at once may be done so.
        alone = [plan([cell]) for cell in cells]
    except RefusedError as error:
        raise together from error
    if sum(_left_away(plans) for plans in alone) > 1:
        raise together
    return tuple(found for plans in alone for found in plans)


def _refuse_together(plan: Plan) -> None:
    """Refuse a change that takes disks of several cells offline at once: nobody rolls what a command does.

    Raises:
        RefusedError: naming the cells.
    """
    away = takes_offline(plan)
    if len(away) > 1:
        raise RefusedError(
            f"{plan.statement}: it would take disks of {fold(away)} offline together; each cell is a failure group; nothing "
            "was sent",
            hint=f"typed in exacell it goes one cell at a time, a gate before each: {plan.statement}",
        )


def _left_away(plans: Sequence[Plan]) -> bool:
    """Whether the changes of one cell take disks that ASM uses offline and do not bring them back."""
    away: set[str] = set()
    for step in (step for plan in plans for step in plan.steps):
        statement = parse(step.statement)
        if not isinstance(statement, Change):
            continue
        if statement.action in _LEAVE and step.offline:
            away.add(statement.object)
        elif statement.action == "STARTUP SERVICES":
            away.discard("CELL")
        elif statement.action == "ACTIVE":
            away.clear()
    return bool(away)


def _touched(facts: Mapping[str, CellFacts], statement: Change | Grant) -> Mapping[str, CellFacts]:
    """Return the cells that have something that the statement names: a script may name what it only makes itself."""
    if not isinstance(statement, Change) or statement.object != "GRIDDISK" or statement.verb == "CREATE":
        return facts
    return {cell: fact for cell, fact in facts.items() if targets_of(fact, statement)}


def _after(fact: CellFacts, statement: Change | Grant) -> CellFacts:
    """Return what is known behind a change that was allowed: so that DROP, mode change, CREATE in a script can be judged.

    A flush proves nothing here: whether it came to its end is only known when it is over.
    """
    if not isinstance(statement, Change):
        return fact
    if statement.object == "FLASHCACHE" and statement.verb == "DROP":
        return replace(fact, flash_cache=None)
    if statement.object == "FLASHCACHE" and statement.verb == "CREATE":
        return replace(fact, flash_cache=FlashCache(name="", size=0, status="normal", degraded=(), cell_disks=()))
    mode = statement.setting("flashCacheMode")
    return replace(fact, mode=mode.text.lower()) if statement.object == "CELL" and isinstance(mode, Scalar) else fact


def agree(group: Group, judgement: Judgement, flags: Mapping[str, Value], what: str = "dcli") -> None:
    """Have the CellCLI changes confirmed; on an emulated rack scripts run without being asked.

    Raises:
        RefusedError: nobody agreed.
    """
    if not judgement.plans or group.rack.emulated or flags.get("yes"):
        return
    for plan in judgement.plans:
        group.ctx.console.show_plan(plan)
    answer = group.ctx.console.confirm("proceed?")
    if answer is None:
        raise RefusedError(
            f"{judgement.plans[0].statement}: nobody is at the terminal to confirm; nothing was sent",
            hint=f"exacell -y {what} … answers yes",
        )
    if not answer:
        raise RefusedError("not confirmed; nothing was sent")
