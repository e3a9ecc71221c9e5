"""What surrounds one statement: for whom it is carried out, what limits it, what it is to lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from exacell.core.values import dataclass

if TYPE_CHECKING:
    from exacell.journal.confirming import WaitingRun
    from exacell.language.line import Line
    from exacell.language.registry import Value
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
        waiting_run: the changes of the recipe's run around it that is to be confirmed as a whole.
    """

    line: Line | None = None
    origin: str = ""
    finishing: int = 0
    read_timeout: float | None = None
    risk_ceiling: str = ""
    expected: Expected | None = None
    waiting_run: WaitingRun | None = None

    @property
    def replaying(self) -> bool:
        """Whether the statement comes from an earlier change (``undo 3``, ``resume 3``), so that nobody typed its names now."""
        return " " in self.origin


@dataclass(frozen=True, kw_only=True)
class Options:
    """What stood before the statement on the command line.

    Attributes:
        yes, dry_run, flags: apply to every statement of the run.
    """

    rack: str = ""
    cells: str = ""
    group_file: str = ""
    login: str = ""
    ssh_config: str = ""
    format: str = ""
    monitor: bool = False
    yes: bool = False
    dry_run: bool = False
    quiet: bool = False
    flags: Mapping[str, Value] = field(default_factory=dict)

    def over(self, flags: Mapping[str, Value]) -> dict[str, Value]:
        """Return the flags of a statement together with those given once for all statements; its own win."""
        found = {**self.flags, **flags}
        if self.yes:
            found["yes"] = True
        if self.dry_run:
            found["dry-run"] = True
        return found
