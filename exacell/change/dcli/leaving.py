"""Check once more, right before work is sent to a target, that it is still allowed there and that the rack is still ours.

Much may happen after a command was judged: a person answers, files are copied, and with ``--serial`` or batches other
targets come first. So each target is judged again right before its turn.
"""

from __future__ import annotations

from functools import partial

from exacell.change.clocks import against_clocks
from exacell.change.dcli.hosts import Group
from exacell.change.dcli.sequence import needs_now, plans_in_order
from exacell.change.dcli.verdict import Judgement, facts_for
from exacell.change.lockwatch import Vigil
from exacell.change.racklock import RackLock, lock_in
from exacell.change.targets.cells import failed_on_cells, upon
from exacell.core.errors import ExacellError
from exacell.core.values import dataclass, field, replace
from exacell.plan.model import Plan, Risk, highest
from exacell.session.answers import problem_of
from exacell.session.factreading import (
    facts_with_cellsrv_stopped,
    gather,
    headers_if_needed,
    with_asm_sizes,
)
from exacell.session.upon import Upon


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """Checks each target right before its work is sent; may be called from any thread."""

    group: Group
    judgement: Judgement
    _plans: dict[str, tuple[Plan, ...]] = field(default_factory=dict)
    """By cell, the plans of its changes from the last check."""

    def why_not(self, host: str) -> str:
        """Return why the work must not be sent to ``host`` now, in one phrase; empty if it may."""
        if why := self.lost:
            return why
        if not self.judgement.changes or host not in self.group.cells:
            return ""
        try:
            return self._moved(host)
        except ExacellError as error:
            return error.message.removesuffix("; nothing was sent")

    def vigil(self) -> Vigil:
        """Return a context manager that checks, while it is entered, that the rack is still ours."""
        return Vigil(self._lock.still_mine)

    @property
    def lost(self) -> str:
        """Return why the rack is not ours any more; empty if it is."""
        return self._lock.still_mine()

    @property
    def _lock(self) -> RackLock:
        return lock_in(self.group.session)

    def upon(self, host: str) -> Upon | None:
        """Return the single CellCLI change for a cell, with the look that its CellCLI takes first; None without such a plan."""
        steps = [step for plan in self._plans.get(host, ()) for step in plan.steps if step.target == host]
        return upon(replace(steps[0], only_if=())) if len(steps) == 1 else None

    def _moved(self, cell: str) -> str:
        """Judge the changes again for one cell, from its present state; return why one may no longer be sent, empty if all may.

        Raises:
            ExacellError: a guard forbids a change, or the cell does not answer.
        """
        session, services, judgement = self.group.session, self.group.services, self.judgement
        query = partial(services.fleet.query, cancel=session.interrupted)
        statements = [found.statement for found in judgement.changes]
        needed = facts_with_cellsrv_stopped(services, statements, (cell,)) or facts_for(judgement.changes)
        facts, bad = gather(services.fleet, query, needed, (cell,), others=session.need_rack().cells)
        if bad:
            return problem_of(bad[cell])
        facts = with_asm_sizes(session, services, facts, statements)
        headers = headers_if_needed(session, services, self.group.request, facts)
        plans = plans_in_order(
            self.group.rack.name, facts, judgement.changes, accepted=judgement.accepted, headers=headers
        )
        unread = any(plan.risk is Risk.UNKNOWN for plan in judgement.plans)
        for plan in plans:
            timed = against_clocks(session, services, self.group.request, plan, facts)
            if timed.risk is Risk.UNKNOWN and plan.risk is not Risk.UNKNOWN and not unread:
                return timed.warnings[-1]  # This clock could be read at the first check.
        self._plans[cell] = plans
        confirmed, now = judgement.risk_of(cell), highest(plan.risk for plan in plans)
        # Plans here lose data only if that was accepted by name.
        if now.rank > confirmed.rank and now is not Risk.DATA:
            return f"its risk is now {now}; it was {confirmed} when you confirmed it"
        failures = failed_on_cells(services.fleet, needs_now(plans))
        return next(iter(failures.get(cell, {}).values()), "")
