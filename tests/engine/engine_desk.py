"""A session on the fake cells and ASM whose journal says what earlier changes left; it keeps what it is asked to carry out.

Statements are not carried out here: what undo, resume and retry decide is which ones are, for which cells, and in which order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine_fakes import CELLS, NODES, Bench

from exacell.change.running import intent
from exacell.core.config import AsmConfig, Config, RackConfig
from exacell.core.errors import ExacellError, ExitCode
from exacell.core.paths import Home
from exacell.journal.actor import actor
from exacell.journal.record import Row
from exacell.language.line import Line
from exacell.output.result import Result
from exacell.plan.model import Plan, Rolling, Stage, Step
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Options, Session

DEAD = {"pid": "4194305"}
"""No process has this number: Linux gives at most 4194304. Source: proc(5), /proc/sys/kernel/pid_max."""


@dataclass(frozen=True)
class Left:
    """A change that a journal holds: what was asked, and per step how it ended.

    Attributes:
        steps: (step, state): ``open`` is an intent without an outcome, ``none`` not begun, ``refused`` an outcome alone;
            else an intent and an outcome of that state, with a reason behind a colon.
        end: the body of the end row; None for a change that never ended.
        more: further rows behind all of these.
        body: whatever else the plan's row says.
        plan: whether the row holds a plan; opaque work has none.
        waves: how its cells took turns; none for all cells together.
    """

    statement: str
    steps: Sequence[tuple[Step, str]] = ()
    inverse: Mapping[str, tuple[str, ...]] | None = None
    end: Mapping[str, Any] | None = None
    more: Sequence[Row] = ()
    body: Mapping[str, Any] | None = None
    plan: bool = True
    waves: tuple[tuple[str, ...], ...] = ()


class Desk(Services):
    """The session; ``done`` are the statements that it was asked to carry out, ``origins`` what for, ``code`` how each ends."""

    def __init__(self, bench: Bench) -> None:
        asm = AsmConfig(name="main", nodes=NODES, home="/u01/grid")
        rack = RackConfig(name="t1", cells=CELLS, dbnodes=NODES, asm={"main": asm})
        self.session = Session(
            home=Home.from_env({"EXACELL_HOME": str(bench.journal.path.parent)}),
            config=Config(default_rack="t1", racks={"t1": rack}),
            options=Options(yes=True),
            env={"EXACELL_HOME": str(bench.journal.path.parent)},
        )
        super().__init__(self.session, bench.console, bench.transport)
        self.request = Request()
        self.journal = bench.journal
        self.bench = bench
        self.done: list[str] = []
        self.origins: list[str] = []
        self.code = ExitCode.DONE

    def execute(self, line: Line, request: Request) -> Result:
        """Keep the statement instead of carrying it out."""
        self.done.append(f"on {line.on} {line.text}" if line.on else line.text)
        self.origins.append(request.origin)
        return Result(exit_code=self.code)

    def left(self, *changes: Left) -> None:
        """Write changes into the journal, as processes that have ended left them."""
        for change in changes:
            stages: dict[str, list[Step]] = {}
            for step, _ in change.steps:
                stages.setdefault(step.what, []).append(step)
            plan = Plan(
                statement=change.statement,
                rack="t1",
                stages=tuple(Stage(title=what, steps=tuple(steps)) for what, steps in stages.items()),
                inverse=change.inverse or {},
                rolling=Rolling(waves=change.waves) if change.waves else None,
            )
            body = {"statement": change.statement, **actor(), **DEAD, **(change.body or {})}
            number = self.journal.begin("t1", {**body, "plan": asdict(plan)} if change.plan else body)
            rows = [row for step, state in change.steps for row in _rows(step, state)]
            if change.end is not None:
                rows.append(Row(kind="end", body=change.end))
            self.journal.append("t1", number, [*rows, *change.more])


def _rows(step: Step, state: str) -> list[Row]:
    if state == "none":
        return []
    state, _, reason = state.partition(": ")
    body = {"what": step.what, "state": state, "reason": reason, "mending": False}
    outcome = Row(kind="outcome", target=step.target, body=body)
    return {"open": [intent(step)], "refused": [outcome]}.get(state, [intent(step), outcome])


def told(error: ExacellError) -> str:
    """Return what the user reads of an error."""
    return " | ".join(filter(None, (error.message, error.hint)))
