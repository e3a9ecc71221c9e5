"""The pages of top without a terminal: what keys open, close, filter and ask for."""

from __future__ import annotations

from collections.abc import Callable

from exacell.live.deck import ACTIONS, KEYS, Deck
from exacell.live.listing import Listing, Place, Row
from exacell.live.pages import Detail, Page
from exacell.live.silence import Silence
from exacell.live.top import Top
from exacell.session.answers import Answer
from exacell.transport.base import Reply, State


class Source:
    """Gives what is put into it; counts how often it was begun and ended."""

    def __init__(self, page: Page, wake: Callable[[], None]) -> None:
        self.page, self.running, self.paused = page, False, False
        self.error, self.status = None, ""
        self.answers: list[list[Answer]] = []

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def pause(self, paused: bool) -> None:
        self.paused = paused

    def taken(self) -> list[list[Answer]]:
        found, self.answers = self.answers, []
        return found


class Deal:
    """A deck over cells, and the sources that it has begun."""

    def __init__(self, *cells: str) -> None:
        self.sources: list[Source] = []
        self.deck = Deck(Top(rack="t1", order="cell", cells=cells, silence=Silence()), self._look, every=5)
        self.deck.start()
        self.lines()

    def _look(self, page: Page, wake: Callable[[], None]) -> Source:
        self.sources.append(Source(page, wake))
        return self.sources[-1]

    def lines(self) -> list[str]:
        found = self.deck.lines(80, 24, "")
        assert len(found) == 24 and max(map(len, found)) <= 80
        return found

    def press(self, *keys: str) -> list[bool]:
        taken = []
        for key in keys:
            taken.append(self.deck.press(key))
            self.lines()
        return taken


def test_a_page_is_asked_for_while_it_is_open_and_the_rack_all_along() -> None:
    """Enter begins to ask for the cell, Esc ends that; the rack's source goes on in the background."""
    deal = Deal("c1", "c2")
    assert deal.press("down", "enter") == [True, True]
    rack, cell = deal.sources
    assert isinstance(cell.page, Detail) and cell.page.cells == ("c2",) and rack.running and cell.running
    deal.press("escape")
    assert rack.running and not cell.running and deal.lines()[4].startswith("> c2")
    assert deal.press("escape") == [True] and rack.running


def test_pages_stay_open_while_a_statement_runs() -> None:
    """What an action wants is a statement; started again, every open page is asked for anew and its rows are there."""
    deal = Deal("c1", "c2")
    deal.press("enter", "o")
    assert deal.deck.wanted == "can offline c1" and deal.deck.ended
    deal.deck.stop()
    assert not any(source.running for source in deal.sources)
    deal.deck.wanted = ""
    deal.deck.start()
    assert [source.page.cells for source in deal.sources[2:]] == [("c1", "c2"), ("c1",)]
    assert deal.lines()[0].startswith("c1  reading")


def test_keys_that_the_page_does_not_know_are_left_to_the_loop() -> None:
    """q, p and Ctrl-C are the loop's, but q and p are letters while a filter is typed; help takes any key."""
    deal = Deal("c1", "c2")
    assert deal.press("q", "p", "quit", "x") == [False, False, False, False]
    assert deal.press("/", "q", "p", "quit") == [True, True, True, False]
    assert deal.press("escape", "?", "q", "q") == [True, True, True, False]


def test_an_action_without_its_thing_says_what_it_is_for() -> None:
    """a on a cell is no statement; the line above the keys says where the cursor has to be."""
    deal = Deal("c1")
    deal.press("a")
    assert not deal.deck.wanted and deal.lines()[-2] == ACTIONS["a"][2]
    assert {key for keys, _ in KEYS for key in keys.split(", ")} >= set(ACTIONS)


def test_a_cell_that_tells_an_error_is_asked_for_less() -> None:
    """Where metrics can't be listed, as with a stopped CELLSRV, disks and alerts still are."""
    page = Detail(Place(kind="cell", cell="c1"), Silence())
    asked = len(page.statements)
    reply = Reply(target="c1", state=State.OK, stdout="CELL-02559: no")
    page.arrived([Answer(cell="c1", problem="CELL-02559: no", reply=reply)])
    assert len(page.statements) == asked - 1 and not any("metriccurrent" in text for text in page.statements)
    disk = {"name": "20:0", "status": "failed", "diskType": "HardDisk", "physicalSize": 2**30}
    page.arrived([Answer(cell="c1", tables=((disk,), (), ()), reply=reply)])
    shown = page.shown(80, 22)
    assert shown.above[0] == "c1  1 disk, 1 not normal, no open alert"
    assert [row.place for row in shown.rows] == [Place(kind="disk", cell="c1", name="20:0")]


def test_the_cursor_stays_with_its_row_once_it_was_moved() -> None:
    """Rows that change places take the cursor along; before, it stays on the first; one that is gone leaves it where it was."""
    listing = Listing()
    rows = [Row(key=key, text=key) for key in "abc"]
    listing.take(rows)
    listing.take(rows[::-1])
    assert listing.row == rows[2]
    listing.press("down")
    listing.take([rows[1], rows[0], rows[2]])
    assert listing.row == rows[1]
    listing.take([rows[0], rows[2]])
    assert listing.row == rows[0]
