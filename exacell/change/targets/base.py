"""Say what every kind of target can do: be opened, asked, and sent statements whose answers are judged."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exacell.change.running import Outcome, StepResult
from exacell.core.units import format_duration
from exacell.core.values import dataclass, replace
from exacell.plan.checks import failure
from exacell.plan.foreseen import Foreseen
from exacell.plan.model import Check, Step
from exacell.session.fleet import Fleet
from exacell.session.given import Services, Session
from exacell.transport.base import Judgement, Ours, Reply, State

Wanted = Mapping[str, tuple[Step, Sequence[Check]]]
"""By target, a step and the checks that are asked about there."""

Failed = dict[str, dict[int, str]]
"""By target, the checks that fail: the check's place → why."""

NO_ANSWER = -1
"""The key under which a target that did not answer fails, instead of the place of a check."""

NOT_YET = "no answer yet"
"""The reason for a target whose answer was not waited for."""


@dataclass(frozen=True, kw_only=True)
class Going:
    """How statements leave.

    Attributes:
        ours: checked right before each statement is sent.
        timeout: seconds for each statement.
        within: seconds for each look right before a statement.
        show: shows the state of one target.
        show_all: shows the same state of several targets.
    """

    ours: Ours
    timeout: float
    within: float
    show: Callable[[str, str], None]
    show_all: Callable[[Mapping[str, object], str], None]

    def waiting(self, targets: Mapping[str, object]) -> None:
        """Show that statements are on their way to these targets."""
        self.show_all(targets, f"sent, no answer yet (waited for up to {format_duration(self.timeout)})")

    def answered(self, reply: Reply) -> None:
        """Show that a target has answered."""
        self.show(reply.target, "answered" if reply.state is not State.NOT_ATTEMPTED else "not sent")


class Way(ABC):
    """The way to the targets of one kind."""

    @abstractmethod
    def failed(self, wanted: Wanted, cancel: threading.Event | None) -> Failed:
        """Return for each target the checks that fail; one that does not answer fails under the key NO_ANSWER, with the reason.

        Args:
            cancel: once set, silent targets are no longer waited for.
        """

    @abstractmethod
    def send(self, steps: Sequence[Step], going: Going) -> list[StepResult]:
        """Send each step's statement to its target and return how each ended, judged by the answer.

        Raises:
            RefusedError: the transport is read-only.
        """

    def still(self, step: Step) -> tuple[Check, ...]:
        """Return the checks that hold as long as nobody has changed the result of a step."""
        return step.proves

    def far(self, step: Step) -> tuple[str, float, float] | None:
        """Return a wait's progress at the last look: a text, the done part (0 to 1), the seconds left; None if unknown."""
        return None


class DirectWay(Way):
    """The way to targets that are hosts of the rack: whoever reaches the host reaches the target."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet


class OwnedWay(Way):
    """The way to something with one state on all of its nodes: each owner, a cluster or a database, has a client.

    Args:
        clients: owner → its client, as :meth:`opened` has returned it.
    """

    def __init__(self, clients: Mapping[str, Any]) -> None:
        self.clients = clients

    @staticmethod
    @abstractmethod
    def opened(session: Session, services: Services, name: str, foreseen: Foreseen | None) -> Any:
        """Return the client for the ASM cluster or database with this name.

        Raises:
            ConfigError: the rack has nothing of that name.
        """


def failures(checks: Sequence[Check], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[int, str]:
    """Return the checks that fail with these records, by object: the check's place → why."""
    found = {place: failure(check, tables[check.object]) for place, check in enumerate(checks)}
    return {place: why for place, why in found.items() if why}


def meaning(step: Step, failed: Mapping[int, str]) -> Judgement:
    """Return the judgement that follows from the failed checks; those of ``only_if`` come before those of ``needs``."""
    unneeded = next((why for place, why in failed.items() if place < len(step.only_if)), "")
    return Judgement(why=unneeded, needless=True) if unneeded else Judgement(why=next(iter(failed.values()), ""))


def upon_look(result: StepResult, reply: Reply) -> StepResult:
    """Return the result with the look before its statement; if the look found nothing to do, that is the outcome."""
    looked = reply.looked
    if looked is None:
        return result
    if looked.needless:
        return StepResult(step=result.step, outcome=Outcome.NOT_NEEDED, reason=looked.refused, looked=looked)
    return replace(result, looked=looked)
