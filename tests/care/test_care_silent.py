"""A cell that says nothing is told as one that says nothing: in health, in LIST, and after a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from exacell.care.health import AREAS, TITLES, Finding, Level
from exacell.change.execute import execute
from exacell.change.running import Outcome
from exacell.change.targets.cells import judge
from exacell.core.errors import ExitCode
from exacell.language.line import parse_line
from exacell.output.care import health_lines, matrix_lines
from exacell.output.result import Result
from exacell.output.terminal import TerminalConsole
from exacell.plan.model import Step
from exacell.session.opening import open_session
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State
from tests.support.transports import Open

ALERTS = "\t 1_1\t 2021-01-22T15:37:23+01:00\t critical\t Disk failed\nCELL-02559: CELLSRV told MS so\n\t  Slot : 3\n"


class Cells(Open):
    """Three cells that answer what a test says: by the last digit of their name, else nothing at all."""

    def __init__(self) -> None:
        self.read_only = False
        self.texts: dict[str, str] = {}
        self.hang: set[str] = set()
        self.amid = ""
        self.waits: list[float | None] = []

    def run(
        self, requests: Sequence[Request], *, on_reply: ReplyHandler | None = None, cancel: Event | None = None
    ) -> FleetResult:
        """Reply for each request."""
        replies = {}
        for request in requests:
            name = request.target
            if name[-1] in self.hang and self.amid in request.command:
                self.waits.append(request.timeout)
                said = self.texts.get(name[-1], "")
                reply = Reply(target=name, state=State.TIMED_OUT, stdout=said, problem="no end within 60s")
            elif (
                "name, releaseVersion, id'" in request.command
                or "name, releaseversion" in request.command.lower()[-40:]
            ):
                reply = Reply(target=name, state=State.OK, stdout=f"\t {name}\t 19.3.2.0.0.190918\n", exit_status=0)
            else:
                reply = Reply(target=name, state=State.OK, stdout=self.texts.get(name[-1], ""), exit_status=0)
            replies[name] = reply
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(replies), replies=replies)


@pytest.fixture
def silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Session, Services, Cells]:
    """A session with the rack t1 over such cells."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-03]"\n')
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    session, services = open_session(Options(rack="t1"), TerminalConsole(quiet=True))
    cells = Cells()
    services._given = cells  # type: ignore[assignment]
    return session, services, cells


def run(session: Session, services: Services, text: str) -> Result:
    line = parse_line(text)
    assert line is not None
    return execute(session, services, Asking(), line)


NOTHING = "no answer: CellCLI printed nothing, and to this statement it always prints something"


@pytest.mark.parametrize(
    "text", ["list cell", "list cell detail", "list iormplan", "list griddisk X_CD_00", "describe griddisk"]
)
def test_no_bytes_where_there_is_always_something_are_no_answer(
    silent: tuple[Session, Services, Cells], text: str
) -> None:
    """An answer of no bytes is a cell without an answer, named with the reason; it is never one that has none."""
    session, services, cells = silent
    cells.texts = {"1": "\t name:\t exa1cel01\n" if "detail" in text else "\t exa1cel01\t online\n"}
    result = run(session, services, text)
    assert result.exit_code is ExitCode.FAILED
    assert list(result.problems) == [f"exa1cel0{n}: {NOTHING}" for n in (2, 3)]
    assert list(session.selection.resolve("@down")) == ["exa1cel02", "exa1cel03"]


@pytest.mark.parametrize("text", ["list griddisk", "list alerthistory", "list metriccurrent where name = 'CL_CPUT'"])
def test_no_bytes_where_there_may_be_nothing_are_an_answer(silent: tuple[Session, Services, Cells], text: str) -> None:
    """A cell without such objects prints nothing, and that is no problem."""
    session, services, _ = silent
    result = run(session, services, text)
    assert (result.exit_code, tuple(result.problems), list(result.records)) == (ExitCode.DONE, (), [])


def test_an_attribute_without_a_value_is_an_answer(silent: tuple[Session, Services, Cells]) -> None:
    """A row of blanks is what a cell prints whose only wanted attribute has no value."""
    session, services, cells = silent
    cells.texts = {"1": "\t \n", "2": "\n", "3": ""}
    result = run(session, services, "list cell attributes comment")
    assert list(result.problems) == [f"exa1cel03: {NOTHING}"]


def test_an_alert_that_tells_of_an_error_is_no_error(silent: tuple[Session, Services, Cells]) -> None:
    """A line of an alert's message that begins with the code of an error does not make the answer one."""
    session, services, cells = silent
    cells.texts = dict.fromkeys("123", ALERTS)
    result = run(session, services, "list alerthistory")
    assert not result.problems and len(result.records) == 3
    cells.texts = dict.fromkeys("123", "CELL-01514: Connect Error.\n")
    assert len(run(session, services, "list alerthistory").problems) == 3


def test_health_has_a_row_for_a_cell_that_hangs(silent: tuple[Session, Services, Cells]) -> None:
    """A cell that hung is a row of its own: it gave no answer, why is among its findings, and nothing of it is called ok."""
    session, services, cells = silent
    cells.hang = {"2"}
    result = run(session, services, "show health")
    row = next(row for row in result.records if row["cell"] == "exa1cel02")
    assert row["services"] == "no answer" and row["findings"] == ("no end within 60s",)
    assert {row[area] for area in ("hw", "disks", "flash", "cache", "log", "asm", "iorm", "image", "alerts")} == {None}
    assert "exa1cel02: no end within 60s" in result.problems and result.exit_code is not ExitCode.DONE
    assert result.draw is not None
    drawn = list(result.draw(100, False, True))
    assert any("exa1cel[01-03]" in line and "no answer" in line and "ok" not in line for line in drawn)


@pytest.mark.parametrize("width", [60, 80, 160])
def test_on_a_terminal_a_silent_cell_has_its_place(width: int) -> None:
    """Each check has its line with its worst word first; cells that gave no answer have one, and are never among those that
    are ok."""
    ok = dict.fromkeys(AREAS, "ok")
    mute = {**dict.fromkeys(AREAS, "-"), "services": "no answer"}
    rows = [{"cell": "c1", **ok}, {"cell": "c2", **mute}, {"cell": "c3", **ok, "asm": "1 offline"}]
    found = {"c3": [Finding("asm", Level.BAD, "1 offline", "", "")]}
    drawn = health_lines(rows, found, TITLES, width=width, color=False)
    assert drawn[:2] == ["disks in ASM  1 offline  c3, others ok", "cells         no answer  c2"]
    assert drawn[2].startswith("the rest      ok         services · fans, power · hard disks")
    assert max(map(len, drawn)) <= width
    assert health_lines(rows[1:2], {}, TITLES, width=width, color=False) == ["cells  no answer  c2"]
    assert health_lines(rows[:1], {}, TITLES, width=width, color=False) == [
        f"{title:<12}  ok" for title in TITLES.values()
    ]


def test_fourteen_unlike_cells_fit_on_a_screen() -> None:
    """On 80 columns the lines of cells that all differ wrap within the last column, and stay a screen."""
    rows = [
        {
            "cell": f"exa1cel{n:02}",
            **dict.fromkeys(AREAS, "ok"),
            "disks": "failed" if n % 3 else "ok",
            "alerts": f"{n} open",
        }
        for n in range(1, 15)
    ]
    drawn = health_lines(rows, {}, TITLES, width=80, color=False)
    assert len(drawn) <= 23 and max(map(len, drawn)) <= 80


def test_a_pipe_gets_the_matrix() -> None:
    """Without a terminal a row stands for each kind of cell, whatever its width."""
    ok = [{"cell": f"c{n}", **dict.fromkeys(AREAS, "ok")} for n in (1, 2)]
    lines = list(matrix_lines(ok, {}, AREAS, color=False, header=True))
    assert lines[0].split() == ["cell", *AREAS] and lines[2].split() == ["c[1-2]", *["ok"] * len(AREAS)]


STEPS = [
    ("ALTER IORMPLAN objective=auto", "", Outcome.UNKNOWN),
    ("ALTER CELL comment='x'", "\n", Outcome.UNKNOWN),
    ("ALTER ALERTHISTORY ALL examinedBy=me", "", Outcome.DONE),
    ("ALTER IORMPLAN objective=auto", "IORMPLAN successfully altered\n", Outcome.DONE),
    ("service celld restart", "", Outcome.DONE),
]


@pytest.mark.parametrize(("statement", "said", "outcome"), STEPS)
def test_a_change_to_which_nothing_was_printed_is_not_known_to_be_done(
    statement: str, said: str, outcome: Outcome
) -> None:
    """A change that always prints something and printed nothing is looked at again: it is not called done."""
    reply = Reply(target="c1", state=State.OK, stdout=said, exit_status=0)
    result = judge(Step(target="c1", what="x", statement=statement), reply)
    assert result.outcome is outcome
    assert (NOTHING in result.reason) is (outcome is Outcome.UNKNOWN)


def test_health_waits_once_for_a_cell_that_falls_silent_amid_its_answer(
    silent: tuple[Session, Services, Cells],
) -> None:
    """A cell that told something and then hung is asked again for ten seconds at most, not for the whole time once more."""
    session, services, cells = silent
    cells.hang, cells.amid, cells.texts = {"2"}, "alerthistory", {"2": "\t exa1cel02\t online\n"}
    run(session, services, "show health")
    assert cells.waits == [None, 10]
