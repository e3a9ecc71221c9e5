"""Define the functions of a surface for statements: messages, plans, questions and progress; data leaves only as results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from exacell.core.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from exacell.plan.model import Plan


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a running plan.

    Attributes:
        stage: the stage's title; ``number`` and ``of`` count the stages.
        states: per target, a short phrase (``flushing, 2.1G dirty``, ``done``, ``failed: …``).
        fraction: per target, 0 to 1; only for targets for which it is known.
        eta: seconds until the stage may be done, None when unknown.
        others: during a rolling change, one line about the cells of the other waves; else empty.
        waited: seconds since the stage began; 0 if they are not shown.
    """

    stage: str
    number: int
    of: int
    states: Mapping[str, str]
    fraction: Mapping[str, float]
    eta: float | None = None
    others: str = ""
    waited: float = 0.0


class Console(Protocol):
    """The person (or the script) at the other end."""

    def say(self, text: str) -> None:
        """Print a message of one line on stderr."""

    def show_plan(self, plan: Plan, *, brief: bool = False) -> None:
        """Show a plan, equal targets once, on stderr; ``brief`` is for a question at a terminal."""

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Ask yes or no; None if nobody can answer, which counts as no. The answer d shows the details and asks again."""

    def ask(self, question: str) -> str | None:
        """Ask for a line of text; None if nobody can answer."""

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Open a file in the user's editor and wait for its end; return False if there is no terminal for one.

        Raises:
            StatementError: the editor can't be started, or ended with an error.
        """

    def progress(self, progress: Progress | None) -> None:
        """Show the progress of a plan; None ends the display."""

    def waiting(self, text: str | None) -> None:
        """Show one line about a wait, if possible, until anything else is shown; None removes it."""

    def data(self, text: str) -> None:
        """Write data that can't wait for the statement's end to standard output, unchanged."""


class SilentConsole:
    """A console without a person: keeps the messages, and answers no question."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.printed: list[str] = []
        self.plans: list[Plan] = []

    def say(self, text: str) -> None:
        """Keep the line in ``said``."""
        self.said.append(text)

    def show_plan(self, plan: Plan, *, brief: bool = False) -> None:
        """Keep the plan in ``plans``."""
        self.plans.append(plan)

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Return None, because nobody can answer."""
        return None

    def ask(self, question: str) -> str | None:
        """Return None, because nobody can answer."""
        return None

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Return False, because there is no terminal."""
        return False

    def progress(self, progress: Progress | None) -> None:
        """Show nothing."""

    def waiting(self, text: str | None) -> None:
        """Show nothing."""

    def data(self, text: str) -> None:
        """Keep the text in ``printed``."""
        self.printed.append(text)
