"""What a surface offers to the commands: talk, plans, questions and progress. Data leaves as results, never here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from exacell.core.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from exacell.plan.model import Plan


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a running plan stands.

    Attributes:
        stage: the stage's title, and which of how many.
        states: per target, a short phrase (``flushing, 2.1G dirty``, ``done``, ``failed: …``).
        fraction: 0 to 1 per target where it is known.
        eta: seconds until the stage may be done, None when unknown.
        others: while a plan rolls, where the cells of the other waves are, one line; empty else.
        waited: seconds since the stage began, where they are shown.
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
        """Print one line of talk on stderr."""

    def show_plan(self, plan: Plan, *, brief: bool = False) -> None:
        """Show a plan, folded over equal targets, on stderr; in brief where somebody is asked about it at a terminal."""

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Ask yes or no; None when nobody can be asked, which means no. The answer d shows the details and asks again."""

    def ask(self, question: str) -> str | None:
        """Ask for a line of text; None when nobody can be asked."""

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Open a file in the user's editor and return when it has ended; False when there is no terminal for one.

        Raises:
            StatementError: the editor can't be started, or ended with an error.
        """

    def progress(self, progress: Progress | None) -> None:
        """Show where a plan stands; None ends the display."""

    def waiting(self, text: str | None) -> None:
        """Show one line about what is waited for until anything else is shown, where that can be; None takes it away."""

    def data(self, text: str) -> None:
        """Write data that can't wait for the statement's end, as it is, on standard output."""


class SilentConsole:
    """A console with nobody at it: keeps the talk, answers no question."""

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
        """Return None: nobody can be asked."""
        return None

    def ask(self, question: str) -> str | None:
        """Return None: nobody can be asked."""
        return None

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Return False: there is no terminal."""
        return False

    def progress(self, progress: Progress | None) -> None:
        """Show nothing."""

    def waiting(self, text: str | None) -> None:
        """Show nothing."""

    def data(self, text: str) -> None:
        """Keep the text in ``printed``."""
        self.printed.append(text)
