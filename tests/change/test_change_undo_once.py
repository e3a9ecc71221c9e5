"""Taking one change back asks once, however many statements take it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from exacell.change.execute import execute
from exacell.core.errors import ExitCode, RefusedError
from exacell.language.line import parse_line
from exacell.output.console import SilentConsole
from exacell.output.result import Result
from exacell.session.request import Request
from tests.support.worlds import new_world, session_on

CELLS = ("exa1cel01", "exa1cel02")


class Answering(SilentConsole):
    """Answers every question as it is told to, and keeps the statements of the plans that were shown before each."""

    def __init__(self, *, yes: bool = True) -> None:
        super().__init__()
        self.yes = yes
        self.asked: list[list[str]] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Answer."""
        self.asked.append([plan.statement for plan in self.plans])
        self.plans.clear()
        self.meanwhile()
        return self.yes


class Place:
    """A session on an emulated rack with room on its flash, at whose terminal somebody answers."""

    def __init__(self, folder: Path) -> None:
        self.session, self.services, self.transport = session_on(new_world(time, cells=2, speed=6000.0), folder)
        self.session.rack = replace(self.session.need_rack(), emulated=True)
        self.services.console = self.console = Answering()
        for cell in CELLS:
            self.by_hand(cell, "alter flashcache all flush")
            self.by_hand(cell, "drop flashcache")
            self.by_hand(cell, "create flashcache all size=288g")

    def by_hand(self, cell: str, statement: str) -> None:
        """Carry a statement out on a cell, without exacell."""
        assert "CELL-0" not in self.transport.cellcli(cell, statement), statement

    def type(self, text: str) -> Result:
        """Carry a line out."""
        line = parse_line(text)
        assert line is not None
        self.console.plans.clear()
        return execute(self.session, self.services, Request(), line)

    def space(self) -> list[str]:
        """Return the grid disks and the size of the cache, by cell."""
        wanted = ("list griddisk attributes name, size, cachingPolicy, comment", "list flashcache attributes size")
        return [self.transport.cellcli(cell, text) for cell in CELLS for text in wanted]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A new rack."""
    return Place(tmp_path)


REGROW = "release griddisk prefix=TST regrow=yes"


def carved(place: Place) -> list[str]:
    """Carve disks, and return the space with them."""
    place.type("carve griddisk prefix=TST media=flash -y")
    return place.space()


def test_a_cache_and_disks_come_back_by_one_yes(place: Place) -> None:
    """Both plans stand before the one question, the disks' as they will fit when the cache is small again; -n shows the same."""
    before = carved(place)
    assert place.type(f"{REGROW} -y").exit_code is ExitCode.DONE
    preview = place.type("undo -n")
    shown = [plan.statement for plan in place.console.plans]
    assert (preview.exit_code, len(shown)) == (ExitCode.DONE, 2)
    assert place.type("undo").exit_code is ExitCode.DONE
    assert place.console.asked == [shown]
    assert place.space() == before


def test_disks_with_names_of_their_own_come_back_by_one_yes(place: Place) -> None:
    """However many CREATE statements that takes, on however many cells."""
    names = {"A": CELLS[0], "B": CELLS[1]}
    for name, cell in names.items():
        place.by_hand(cell, f"create griddisk {name} celldisk=FD_00_{cell}, size=1g, comment='of {name}'")
        place.by_hand(cell, f"create griddisk {name}2 celldisk=FD_01_{cell}, size=1g")
    before = place.space()
    assert place.type("release griddisk name=A,A2,B,B2 -y").exit_code is ExitCode.DONE
    assert place.type("undo").exit_code is ExitCode.DONE
    assert [len(plans) for plans in place.console.asked] == [4]
    assert place.space() == before


def test_nothing_is_sent_without_a_yes(place: Place) -> None:
    """A no to the one question sends no part, and -y asks nothing."""
    before = carved(place)
    place.type(f"{REGROW} -y")
    left = place.space()
    place.console.yes = False
    with pytest.raises(RefusedError, match="not confirmed"):
        place.type("undo")
    assert (len(place.console.asked), place.space()) == (1, left)
    assert place.type("undo -y").exit_code is ExitCode.DONE
    assert (len(place.console.asked), place.space()) == (1, before)


def test_a_plan_that_is_another_one_by_then_is_asked_about(place: Place) -> None:
    """Each part is planned again before it is sent: one that differs from what was shown is shown and asked about."""
    carved(place)
    place.type(f"{REGROW} -y")

    def taken() -> None:
        place.console.meanwhile = lambda: None
        place.by_hand(CELLS[0], "alter flashcache all flush")
        place.by_hand(CELLS[0], "drop flashcache")
        place.by_hand(CELLS[0], "create flashcache all size=288g")

    place.console.meanwhile = taken
    assert place.type("undo").exit_code is ExitCode.DONE
    assert [len(plans) for plans in place.console.asked] == [2, 1]
