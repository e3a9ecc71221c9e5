"""What a plan is made of is read from all cells: who waits is told for whom, and may leave."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_fakes import CELLS, Bench

from exacell.core import background as meanwhile
from exacell.core.config import RackConfig, load
from exacell.core.errors import InterruptedByUserError, RefusedError
from exacell.core.paths import Home
from exacell.output.console import SilentConsole
from exacell.plan import facts as f
from exacell.session import recording as arrivals
from exacell.session.factreading import read_facts
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import Reply, Request

THREE = CELLS[2]


class Told(SilentConsole):
    """A console that keeps what it shows while somebody waits; ``told`` is set when that was anything."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str | None] = []
        self.told = threading.Event()

    def waiting(self, text: str | None) -> None:
        """Keep it."""
        self.lines.append(text)
        if text:
            self.told.set()


@pytest.fixture
def console() -> Told:
    """Nobody is at it."""
    return Told()


@pytest.fixture
def sitting(bench: Bench, console: Told, tmp_path: Path) -> tuple[Session, Services]:
    """A session on three cells."""
    home = Home.from_env({"EXACELL_HOME": str(tmp_path)})
    session = Session(home=home, config=load(home, {}), options=Options(), env={})
    services = Services(session, console, bench.transport)
    session.rack = RackConfig(name="t1", cells=CELLS)
    return session, services


@pytest.fixture
def free(bench: Bench, console: Told, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The third cell keeps silent until this is set; at first until somebody was told that it does."""
    event, one = threading.Event(), bench.transport._one

    def answer(request: Request) -> Reply:
        if request.target == THREE:
            assert console.told.wait(300) and event.wait(300)
        return one(request)

    monkeypatch.setattr(bench.transport, "_one", answer)
    monkeypatch.setattr(meanwhile, "AFTERWARDS", 0.05)
    monkeypatch.setattr(arrivals, "TELL_AFTER", 0.0)
    monkeypatch.setattr(arrivals, "TELL_EVERY", 0.01)
    yield event
    event.set()


def test_whom_a_plan_waits_for_is_told(sitting: tuple[Session, Services], console: Told, free: threading.Event) -> None:
    """One line names the cell that has not answered, and is gone before anything else is shown."""
    session, services = sitting
    free.set()
    assert set(read_facts(session, services, Asking(), f.CELL)) == set(CELLS)
    (line,) = {line.rpartition(",")[0] for line in console.lines if line}
    assert line == f"waiting for {THREE}: 2 of 3 answered" and console.lines[-1] is None


def test_a_silent_cell_holds_up_nobody_who_leaves(
    sitting: tuple[Session, Services], console: Told, free: threading.Event
) -> None:
    """Ctrl-C while a plan's facts are read ends it, with nothing sent; what that cell says late is heard by nobody."""
    session, services = sitting
    threading.Thread(target=lambda: console.told.wait(300) and session.interrupted.set(), daemon=True).start()
    with pytest.raises(InterruptedByUserError, match=f"with no answer of {THREE} yet: nothing was sent"):
        read_facts(session, services, Asking(), f.CELL)
    assert console.lines[-1] is None
    assert list(session.selection.resolve("@down")) == []


def test_cells_that_plans_ask_are_up_or_down(sitting: tuple[Session, Services], bench: Bench) -> None:
    """A cell that gave a plan no answer is @down until one gets its answer."""
    session, services = sitting
    bench.transport.silent.add(THREE)
    with pytest.raises(RefusedError, match="no route to host"):
        read_facts(session, services, Asking(), f.CELL)
    assert list(session.selection.resolve("@down")) == [THREE]
    bench.transport.silent.clear()
    read_facts(session, services, Asking(), f.CELL)
    assert list(session.selection.resolve("@down")) == []
