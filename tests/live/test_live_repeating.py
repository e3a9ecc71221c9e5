"""A watched statement goes on although a cell hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from exacell.change.execute import execute
from exacell.language.line import Line, parse_line
from exacell.output.result import Result
from exacell.output.terminal import TerminalConsole
from exacell.session.opening import open_session
from exacell.session.repeating import Repeating
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import FleetResult, Reply, Request, State
from tests.support.patience import patiently, until
from tests.support.transports import Open


class Held(Open):
    """Three cells that answer at once; the third says nothing until it is let go."""

    read_only = False

    def __init__(self) -> None:
        self.let = threading.Event()
        self.asked: list[str] = []

    def run(self, requests: Sequence[Request], *, on_reply: Callable[[Reply], None] | None, **_: Any) -> FleetResult:
        replies: dict[str, Reply] = {}
        for request in sorted(requests, key=lambda request: request.target):
            listing = "detail" in request.command.lower()
            if listing:
                self.asked.append(request.target)
            if listing and request.target.endswith("3"):
                assert self.let.wait(300)
            text = f"\t name:   \t {request.target}\n" if listing else f"\t {request.target}\t 19.3.2.0.0.190918\n"
            reply = replies[request.target] = Reply(target=request.target, state=State.OK, stdout=text, exit_status=0)
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Session, Services, Held]]:
    """A session with a rack of such cells."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-03]"\n')
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    session, services = open_session(Options(rack="t1"), TerminalConsole(quiet=True))
    cells = Held()
    services._given = cells  # type: ignore[assignment]
    yield session, services, cells
    cells.let.set()


def line(text: str) -> Line:
    found = parse_line(text)
    assert found is not None
    return found


def test_a_cell_that_hangs_is_left_out_until_it_answers(held: tuple[Session, Services, Held]) -> None:
    """Each answer holds the other cells, names the silent one, asks it once; when it has answered it is back."""
    session, services, cells = held
    made: list[Repeating] = []

    def left_out(seconds: float) -> None:
        cells.asked.clear()
        made.append(
            Repeating(session, services, Asking(), line("list cell attributes name detail"), execute, patience=seconds)
        )
        for _ in range(3):
            result = made[-1].read()
            assert result.text.startswith("exa1cel[01-02]\n")
            assert result.problems == ("exa1cel03: no answer yet",) and result.exit_code == 1
        assert cells.asked.count("exa1cel03") == 1 and cells.asked.count("exa1cel01") == 3

    def back() -> bool:
        result = made[-1].read()
        return result.text.startswith("exa1cel[01-03]\n") and not result.problems and made[-1].late == ""

    patiently(left_out, 0.3, 2, 8)
    cells.let.set()
    assert until(back)


def test_where_all_are_silent_it_says_so(held: tuple[Session, Services, Held]) -> None:
    """With nobody left to ask the answer is empty and names who is waited for."""
    session, services, _ = held
    repeating = Repeating(
        session, services, Asking(), line("on exa1cel03 list cell attributes name detail"), execute, patience=0.1
    )
    for _ in range(2):
        assert repeating.read().problems == ("exa1cel03: no answer yet",)


def test_what_cannot_be_told_in_parts_is_waited_for(held: tuple[Session, Services, Held]) -> None:
    """A statement that sums over cells is never shown without one of them."""
    session, services, cells = held
    taken: list[Line] = []

    def answer(own_session: Session, own_services: Services, request: Request, asked: Line) -> Result:
        taken.append(asked)
        return Result(text="sum")

    whole = line("show flashcachecontent db=SPOT")
    assert Repeating(session, services, Asking(), whole, answer, patience=0.0).read().text == "sum" and taken == [whole]
    assert not cells.asked
