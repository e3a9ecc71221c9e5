"""A cell that hung is asked again with a short time, holds up no other, and is remembered until it answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from exacell.core.background import uptime
from exacell.core.paths import Home
from exacell.session import hung
from exacell.session.fleet import Fleet
from exacell.session.hung import PATIENCE, REMEMBERED, KeptHung
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from tests.support.transports import Open

CELLS = ("c1", "c2")
XML = '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="c"/>\n</cli-output>\n'


class Cells(Open):
    """Cells of which some hang, or can't be reached; keeps what each was asked, and for how long."""

    def __init__(self, *hang: str) -> None:
        self.read_only = False
        self.hang = set(hang)
        self.away: set[str] = set()
        self.asked: list[tuple[str, str, float | None]] = []
        self.gate = threading.Event()
        self.gate.set()

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Reply for each request, hanging cells without an answer."""
        if any(request.target in self.hang for request in requests):
            assert self.gate.wait(300)
        replies = {}
        for request in requests:
            what = "release" if "releaseversion" in request.command.lower() else "question"
            self.asked.append((request.target, what, request.timeout))
            replies[request.target] = self._reply(request)
            if on_reply is not None:
                on_reply(replies[request.target])
        return FleetResult(targets=tuple(replies), replies=replies)

    def _reply(self, request: Request) -> Reply:
        if request.target in self.away:
            return Reply(target=request.target, state=State.UNREACHABLE, problem="connection refused")
        if request.target in self.hang:
            return Reply(target=request.target, state=State.TIMED_OUT, problem="no end within 60s")
        if "releaseversion" in request.command.lower():
            text = f"\t {request.target}\t 19.3.2.0.0.190918\n"
        else:
            text = XML if "xml" in request.command else f"\t {request.target}\t online\n"
        return Reply(target=request.target, state=State.OK, stdout=text, exit_status=0)

    def taken(self) -> list[tuple[str, str, float | None]]:
        """Return what was asked since this was asked last, by cell."""
        asked, self.asked = sorted(self.asked, key=lambda item: item[:2]), []
        return asked


def ask(fleet: Fleet, way: str) -> dict[str, str]:
    """Return the problem of each cell, empty for an answer."""
    if way == "send":
        sent = fleet.send(dict.fromkeys(CELLS, "list cell"), role=Role.READ)
        return {reply.target: reply.problem for reply in sent.replies.values()}
    return {a.cell: a.problem for a in fleet.query(CELLS, ["list celldisk attributes name"]).answers.values()}


@pytest.mark.parametrize("way", ["send", "query"])
def test_a_cell_that_hung_gets_a_short_time_the_next_time(way: str) -> None:
    """The next statement only asks it a short while whether it lives; the others are asked as ever."""
    cells = Cells("c2")
    fleet = Fleet(cells)
    assert ask(fleet, way) == {"c1": "", "c2": "no end within 60s"}
    cells.taken()
    again = ask(fleet, way)
    assert again == {
        "c1": "",
        "c2": "no answer within 10s; it did not answer before either, so the wait is short (--timeout=60 waits longer)",
    }
    asked = cells.taken()
    assert ("c2", "release", PATIENCE) in asked
    assert not any(cell == "c2" and what == "question" for cell, what, _ in asked)
    assert ("c1", "question", None) in asked


@pytest.mark.parametrize("way", ["send", "query"])
def test_a_cell_that_answers_again_is_asked_as_ever(way: str) -> None:
    """Once it says its release it gets the statement with its whole time, and the statement after that at once."""
    cells = Cells("c2")
    fleet = Fleet(cells)
    ask(fleet, way)
    cells.hang.clear()
    cells.taken()
    assert ask(fleet, way) == {"c1": "", "c2": ""}
    assert {("c2", "release", PATIENCE), ("c2", "question", None)} <= set(cells.taken())
    assert ask(fleet, way) == {"c1": "", "c2": ""}
    assert not any(what == "release" for _, what, _ in cells.taken())


def test_what_is_known_of_one_fleet_is_known_of_those_like_it() -> None:
    """Which cells hung is shared by all that ask the same rack: a statement that goes on behind the prompt and the next one."""
    cells = Cells("c2")
    fleet = Fleet(cells, patience=3.0)
    ask(Fleet(cells, like=fleet), "send")
    cells.taken()
    assert "within 3s" in ask(fleet, "send")["c2"]
    assert ("c2", "release", 3.0) in cells.taken()


def kept_of(path: Path, rack: str = "r1") -> KeptHung:
    return KeptHung(Home(config_dir=path, state_dir=path, cache_dir=path), rack)


@pytest.mark.parametrize("way", ["send", "query"])
def test_the_next_command_line_knows_it_too(tmp_path: Path, way: str) -> None:
    """Another process asks a cell that hung a short while only and says so; once it has answered, the one after that as ever."""
    cells = Cells("c2")
    ask(Fleet(cells, kept=kept_of(tmp_path)), way)
    for _ in range(2):
        cells.taken()
        assert "it did not answer before either" in ask(Fleet(cells, kept=kept_of(tmp_path)), way)["c2"]
        assert {seconds for cell, _, seconds in cells.taken() if cell == "c2"} == {PATIENCE}
    ask(Fleet(cells, kept=kept_of(tmp_path, "r2")), way)
    assert {seconds for cell, _, seconds in cells.taken() if cell == "c2"} == {None}
    cells.hang.clear()
    assert ask(Fleet(cells, kept=kept_of(tmp_path)), way)["c2"] == ""
    cells.taken()
    assert ask(Fleet(cells, kept=kept_of(tmp_path)), way)["c2"] == ""
    assert {seconds for cell, _, seconds in cells.taken() if cell == "c2"} == {None}


@pytest.mark.parametrize("what", ["old", "future", "another host", "damaged", "no file", "a folder"])
def test_what_is_not_known_for_sure_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Old news, another host's or start's, and a damaged file leave a cell its whole time, and what hangs then is kept."""
    cells = Cells("c2")
    ask(Fleet(cells, kept=kept_of(tmp_path)), "send")
    file = tmp_path / "hung"
    assert kept_of(tmp_path).read() == {"c2"}
    if what in ("old", "future"):
        moved = REMEMBERED + 1 if what == "old" else -5.0
        monkeypatch.setattr(hung, "uptime", lambda: uptime() + moved)
    elif what == "another host":
        monkeypatch.setattr(hung, "BOOT_ID", tmp_path / "id")
        (tmp_path / "id").write_text("another\n")
    elif what == "damaged":
        file.write_bytes(b"\xff\tr1\n")
    else:
        file.unlink()
        if what == "a folder":
            file.mkdir()
    assert kept_of(tmp_path).read() == set()
    cells.taken()
    ask(Fleet(cells, kept=kept_of(tmp_path)), "send")
    assert {seconds for cell, _, seconds in cells.taken() if cell == "c2"} == {None}
    assert kept_of(tmp_path).read() == (set() if what == "a folder" else {"c2"})


def test_a_clock_that_is_set_changes_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the wall clock says, a cell that hung just now is known to have."""
    ask(Fleet(Cells("c2"), kept=kept_of(tmp_path)), "send")
    now = time.time()
    for moved in (now - 3e8, now + 3e8):
        monkeypatch.setattr(time, "time", lambda moved=moved: moved)
        assert kept_of(tmp_path).read() == {"c2"}


def test_other_cells_do_not_wait_for_one_that_hung() -> None:
    """The answers of the others come while a cell that hung is still looked at."""
    cells = Cells("c2")
    fleet = Fleet(cells)
    ask(fleet, "send")
    cells.gate.clear()
    came = threading.Event()

    def on_reply(reply: Reply) -> None:
        if reply.target == "c1":
            came.set()

    asking = threading.Thread(
        target=fleet.send, args=(dict.fromkeys(CELLS, "list cell"),), kwargs={"role": Role.READ, "on_reply": on_reply}
    )
    asking.start()
    assert came.wait(300)
    cells.gate.set()
    asking.join(300)
    assert not asking.is_alive()


def test_every_reply_is_told_once() -> None:
    """Who listens to replies hears of each cell once, also of one that hangs still and of one that does not any more."""
    cells = Cells("c1", "c2")
    fleet = Fleet(cells)
    ask(fleet, "send")
    cells.hang = {"c2"}
    told: list[tuple[str, State]] = []
    result = fleet.send(
        dict.fromkeys(CELLS, "list cell"), role=Role.READ, on_reply=lambda r: told.append((r.target, r.state))
    )
    assert sorted(told) == [("c1", State.OK), ("c2", State.TIMED_OUT)]
    assert result.targets == CELLS


@pytest.mark.parametrize("way", ["send", "query"])
def test_a_time_that_somebody_gives_is_theirs(way: str) -> None:
    """Who says how long a cell may take waits so long for it, though it hung before."""
    cells = Cells("c2")
    fleet = Fleet(cells)
    ask(fleet, "query")
    cells.taken()
    if way == "send":
        fleet.send(dict.fromkeys(CELLS, "list cell"), role=Role.READ, timeout=300)
    else:
        fleet.query(CELLS, ["list celldisk attributes name"], timeout=300)
    assert {seconds for _, _, seconds in cells.taken()} == {300}


def test_a_cell_that_is_away_has_not_hung() -> None:
    """A cell that can't be reached says so at once: it is asked as ever, and one that hung and is away now is still known."""
    cells = Cells()
    cells.away.add("c2")
    fleet = Fleet(cells)
    ask(fleet, "send")
    cells.taken()
    assert ask(fleet, "send")["c2"] == "connection refused"
    assert ("c2", "question", None) in cells.taken()
    cells.away.clear()
    cells.hang.add("c2")
    ask(fleet, "send")
    cells.away.add("c2")
    assert ask(fleet, "send")["c2"] == "connection refused"
    cells.away.clear()
    cells.taken()
    assert "it did not answer before either" in ask(fleet, "send")["c2"]


def test_no_bytes_are_no_answer() -> None:
    """In XML every LIST has a document: a cell that printed nothing gave no answer, and never one without objects."""

    class Mute(Cells):
        def _reply(self, request: Request) -> Reply:
            reply = super()._reply(request)
            silent = request.target == "c2" and "xml" in request.command
            return Reply(target="c2", state=State.OK, exit_status=0) if silent else reply

    answers = Fleet(Mute()).query(CELLS, ["list celldisk attributes name"])
    assert {cell: answer.problem for cell, answer in answers.answers.items()} == {
        "c1": "", "c2": "no answer: CellCLI printed nothing",
    }  # fmt: skip
