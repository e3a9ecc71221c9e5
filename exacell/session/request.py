"""Hold one statement with its surroundings: its origin, its limits, and the recipe or plan that it belongs to."""

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
    """One statement to carry out; a statement that it runs gets a copy with the changes for it.

    Attributes:
        line: the statement with its flags; None before there is one.
        origin: for the journal: the recipe whose line it is, or the change that it belongs to (``undo 3``, ``resume 3``);
            empty if the operator gave it directly.
        finishing: the change that it continues (resume, retry failed); 0 for none.
        read_timeout: seconds that each cell has for a read (--timeout); None for the setting's.
        risk_ceiling: the highest risk that the recipe around it declares; empty for none.
        expected: while a kept plan is applied, the facts it was made from and whether they have changed; else None.
        run: the key of the recipe run whose line it is, as in the journal; empty for none.
        place: the place of that line in the run.
        keeping: how the files it fetches are kept with that run; None if they are not.
        typed: whether the operator typed the line, at the prompt or as arguments; False for lines of a file, standard input, an
            alias or a recipe.
        loads: commands of this machine that the operator typed as the load of the recipe or experiment around it.
        shows: shows the answer of a recipe's line before the next line begins; None if answers are collected to the end,
            because answers and messages do not go to the same screen.
        foreseen: in a preview of several statements, the state after the earlier ones; None outside of previews.
        agreed: the plans of earlier waves that the operator agreed to, for a line of a rolling; None for other lines.
        waiting_run: the changes of the surrounding recipe run, if that run waits for one confirmation as a whole; else None.
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
        """Return the fields of a change's journal row about the run that it is a part of; empty for none."""
        return {"run": self.run, "place": self.place} if self.run else {}

    @property
    def replaying(self) -> bool:
        """Return whether the statement comes from an earlier change (``undo 3``, ``resume 3``), so nobody typed its names now."""
        return " " in self.origin
