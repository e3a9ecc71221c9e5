"""What surrounds one statement: for whom it is carried out, what limits it, what it is to lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from exacell.journal.confirming import WaitingRun
    from exacell.language.line import Line
    from exacell.output.result import Result
    from exacell.plan.alike import Agreed
    from exacell.plan.foreseen import Foreseen
    from exacell.session.artifacts import Keeping
    from exacell.session.saved import Expected


@dataclass(frozen=True, kw_only=True)
class Request:
    """One statement on its way down; a statement that it runs gets what surrounds it, with what is changed for it.

    Attributes:
        line: the statement with its flags; None before there is one.
        origin: for the journal: the recipe whose line it is, or the change that it belongs to (``undo 3``, ``resume 3``);
            empty when somebody gave it himself.
        finishing: the change that it goes on with (resume, retry failed); 0 for none.
        read_timeout: seconds that each cell has for what it reads (--timeout); None for the setting's.
        risk_ceiling: the highest risk that the recipe around it declares; empty for none.
        expected: while a kept plan is applied, what it was made from and whether that has moved.
        run: the recipe's run whose line it is, as the journal tells it; empty for none.
        place: of that line in the run.
        keeping: how what it brings is kept with that run; None where it is not.
        typed: whether the operator typed the line, at the prompt or as arguments; False for what a file, standard input, an alias
            or a recipe holds.
        loads: commands of this machine that the operator typed as the load of the recipe or experiment around it.
        shows: shows the answer of a recipe's line before the next line begins; None if answers are gathered to the end, because
            answers and talk do not go to one screen.
        foreseen: in a preview of several statements what the earlier ones will have changed; None where nothing is previewed.
        agreed: the plans of earlier waves that somebody agreed to, for a line of a rolling; None for any other.
        waiting_run: the changes of the recipe's run around it that is to be confirmed as a whole.
    """

    line: Line | None = None
    origin: str = ""
    finishing: int = 0
    read_timeout: float | None = None
    risk_ceiling: str = ""
    expected: Expected | None = None
    run: str = ""
    place: str = ""
    keeping: Keeping | None = None
    waiting_run: WaitingRun | None = None
    shows: Callable[[Result], None] | None = None
    typed: bool = False
    loads: frozenset[str] = frozenset()
    foreseen: Foreseen | None = None
    agreed: Agreed | None = None

    @property
    def part(self) -> dict[str, object]:
        """What the journal's row of a change says of the run that it is a part of."""
        return {"run": self.run, "place": self.place} if self.run else {}

    @property
    def replaying(self) -> bool:
        """Whether the statement comes from an earlier change (``undo 3``, ``resume 3``), so that nobody typed its names now."""
        return " " in self.origin
