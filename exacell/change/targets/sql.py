"""What ASM clusters and databases share: SQL that is sent to database nodes, and one state on all of them."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from exacell.change.running import Outcome, StepResult
from exacell.change.targets.base import NO_ANSWER, NOT_YET, Failed, Going, OwnedWay, Wanted, failures, upon_look
from exacell.core.background import unless_interrupted
from exacell.core.errors import ExacellError
from exacell.plan.asmfacts import sql_errors
from exacell.plan.model import Check, Step
from exacell.transport.base import Reply, State

Records = Mapping[str, Sequence[Mapping[str, Any]]]
"""By object, the records that checks are judged by."""


class SqlWay(OwnedWay):
    """The way to something with SQL; each cluster or database is asked by itself."""

    @abstractmethod
    def records(self, owner: str, node: str, checks: Sequence[Check]) -> Records:
        """Return the records of the objects that checks name, asked through a node.

        Raises:
            ExacellError: no answer, or an error.
        """

    @abstractmethod
    def sent(self, owner: str, steps: Mapping[str, Step], going: Going) -> Mapping[str, tuple[Reply, str]]:
        """Send each node its statement and return by node the reply and its problem, empty if the statement passed."""

    def failed(self, wanted: Wanted, cancel: threading.Event | None) -> Failed:
        """Return the checks that fail, one target after the other."""
        return {
            node: self._failed(step.owner, node, checks, cancel) if checks else {}
            for node, (step, checks) in wanted.items()
        }

    def _failed(self, owner: str, node: str, checks: Sequence[Check], cancel: threading.Event | None) -> dict[int, str]:
        ask = partial(self.records, owner, node, checks)
        try:
            records = ask() if cancel is None else unless_interrupted(ask, cancel)
        except ExacellError as error:
            return {NO_ANSWER: error.message}
        return {NO_ANSWER: NOT_YET} if records is None else failures(checks, records)

    def send(self, steps: Sequence[Step], going: Going) -> list[StepResult]:
        """Send each node its statement, one cluster or database after the other."""
        found: list[StepResult] = []
        for owner in dict.fromkeys(step.owner for step in steps):
            own = {step.target: step for step in steps if step.owner == owner}
            going.waiting(own)
            found += [
                judge(own[node], reply, problem) for node, (reply, problem) in self.sent(owner, own, going).items()
            ]
        return found


def judge(step: Step, reply: Reply, problem: str) -> StepResult:
    """Return a step's result; ``problem`` is the problem that the client found in the answer, empty for none."""
    return upon_look(_judge(step, reply, problem), reply)


def _judge(step: Step, reply: Reply, problem: str) -> StepResult:
    who = reply.fingerprint
    if not problem:
        return StepResult(step=step, outcome=Outcome.DONE, said=reply.stdout, fingerprint=who)
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem)
    # Only an error line is a refusal; an answer that ends early may have been cut after a successful statement.
    outcome = Outcome.FAILED if sql_errors(reply.stdout) else Outcome.UNKNOWN
    return StepResult(step=step, outcome=outcome, reason=problem, said=reply.stdout, fingerprint=who)
