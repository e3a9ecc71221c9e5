"""Manage the pages of ``top`` as a stack: Enter opens a page, Esc goes back, and an action leaves as a statement.

All open pages are updated in the background, so that the rack's figures are up to date when one comes back.
"""

from __future__ import annotations

from collections.abc import Callable

from exacell.core.errors import ExacellError
from exacell.live.listing import Place
from exacell.live.loop import Source
from exacell.live.pages import Detail, Page
from exacell.live.silence import Silence
from exacell.output.style import cut, paint, printable
from exacell.session.answers import Answer

Answers = list[Answer]
Look = Callable[[Page, Callable[[], None]], Source[Answers]]
"""Makes the source that asks a page's cells; the second argument is called, from any thread, when an answer has come."""

ACTIONS = {
    "a": ("alert", "on {cell} ack alert {name}", "a acknowledges an alert: move the cursor to one"),
    "l": ("disk", "on {cell} locate disk {name}", "l locates a disk: move the cursor to one"),
    "o": ("", "can offline {cell}", "o checks whether a cell may go offline: move the cursor to one"),
}
"""Key → the kind of place it is for (empty: anything on a cell), its statement, and the message for any other place."""

KEYS = (
    ("Enter, right", "open: rack, cell, then disk, database or alert"),
    ("Esc, left", "back; in the rack's list it ends a filter"),
    ("up, down, j, k", "move; space and b by a screen, g and G to the ends"),
    ("/", "show only rows with what you type; Enter keeps it, Esc ends it"),
    ("s, S", "the rack: sort by the next figure, by the one before"),
    ("a", "acknowledge the alert: ack alert, with its plan and question"),
    ("l", "locate the disk: locate disk"),
    ("o", "may the cell go offline? can offline"),
    ("p", "pause, go on"),
    ("q", "quit; the last figures stay above the prompt"),
)
_MEANS = (
    "flash hits: share of cacheable reads that came from flash",
    "flash wins: redo writes that were finished on flash first",
    "slow redo: slow redo writes (outliers); redo saved: those that flash saved",
    "Figures are of each cell's last two collections, one a minute.",
)


class Deck:
    """The view of ``top`` and its source; see :class:`exacell.live.loop.View` and :class:`exacell.live.loop.Source`.

    Attributes:
        wake: called when something new has come; the screen sets it.
        wanted: the statement that the user wants to run; empty for none.
    """

    def __init__(self, first: Page, look: Look, *, every: float, color: bool = False) -> None:
        self._look, self._every, self._color = look, every, color
        self._pages: list[tuple[Page, Source[Answers]]] = []
        self._first = first
        self._helps = False
        self._said = ""
        self._heard = False
        self.wake: Callable[[], None] = lambda: None
        self.wanted = ""

    # -- the source --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the sources of all open pages."""
        pages = [page for page, _ in self._pages] or [self._first]
        self._pages = [(page, self._source(page)) for page in pages]

    def _source(self, page: Page) -> Source[Answers]:
        source = self._look(page, lambda: self.wake())
        source.start()
        return source

    def stop(self) -> None:
        """Stop asking the cells of all open pages."""
        for _, source in self._pages:
            source.stop()

    def pause(self, paused: bool) -> None:
        """Pause asking, or continue it."""
        for _, source in self._pages:
            source.pause(paused)

    @property
    def paused(self) -> bool:
        """Return whether asking is paused."""
        return self._pages[-1][1].paused

    def taken(self) -> list[Answers]:
        """Pass each page its new answers, and return the answers of all pages."""
        found = []
        for page, source in self._pages:
            for answers in source.taken():
                page.arrived(answers)
                found.append(answers)
        return found

    @property
    def error(self) -> ExacellError | None:
        """Return the error of the last attempt to ask for the top page; None if it succeeded."""
        return self._pages[-1][1].error

    @property
    def status(self) -> str:
        """Return why the top page's cells could not be asked; silent cells are shown in its rows."""
        return self._pages[-1][1].status

    # -- the view ----------------------------------------------------------------------------------------------------

    def arrived(self, value: Answers) -> None:
        """Do nothing: :meth:`taken` has already passed the answers to their pages."""

    @property
    def ended(self) -> bool:
        """Return whether there is a statement to run."""
        return bool(self.wanted)

    @property
    def _page(self) -> Page:
        return self._pages[-1][0]

    @property
    def _under(self) -> Place | None:
        """Return the place under the cursor, else the place of the page."""
        row = self._page.listing.row
        return (row.place if row is not None else None) or self._page.place

    def press(self, key: str) -> bool:
        """Carry out the action of a key; return False for keys that belong to the loop."""
        self._said = ""
        page = self._page
        if page.listing.typing:
            return page.listing.press(key)
        if self._helps:
            self._helps = False
            return key != "quit"
        if key == "?":
            self._helps = True
        elif key in ("enter", "right"):
            self._open(page.listing.row.place if page.listing.row is not None else None)
        elif key in ACTIONS:
            self._act(*ACTIONS[key])
        elif page.listing.press(key) or page.press(key):
            pass
        elif key in ("escape", "left", "backspace"):
            self._back()
        else:
            return False
        return True

    def _open(self, place: Place | None) -> None:
        self._page.listing.stay()
        if place is not None and place != self._page.place:
            page = Detail(place, Silence())
            self._pages.append((page, self._source(page)))

    def _back(self) -> None:
        if len(self._pages) > 1:
            self._pages.pop()[1].stop()

    def _act(self, kind: str, statement: str, way: str) -> None:
        place = self._under
        if kind and self._page.place is not None and (place is None or place.kind != kind):
            place = self._page.place
        if place is None or (kind and place.kind != kind):
            self._said = way
        else:
            self.wanted = statement.format(cell=place.cell, name=place.name)

    def lines(self, width: int, height: int, status: str) -> list[str]:
        """Return the lines of the whole screen."""
        if self._helps:
            return self._help(width, height)
        page = self._page
        listing = page.listing
        shown = page.shown(width, height - 2)
        listing.take(shown.rows)
        lines = [paint(cut(line, width), "title", color=self._color) for line in shown.above]
        lines += listing.lines(width, height - 2 - len(shown.above) - len(shown.below), color=self._color)
        lines += [cut(line, width) for line in shown.below]
        lines += [""] * (height - len(lines) - 2)
        if listing.typing or listing.filter:
            status = f"/{listing.filter}{'_' if listing.typing else '   (Esc shows all)'}"
        lines.append(paint(cut(printable(self._said or status), width), "warning", color=self._color))
        keys, more = "Enter opens  / filter  s sort  o offline?  ? keys  q quit", f"  every {self._every:g}s"
        if page.place is not None:
            keys, more = "Esc back  Enter open  / filter  a ack  l locate  o offline?  ? keys", ""
        more = listing.extent + more
        gap = width - len(keys) - len(more)
        lines.append(paint(cut(keys + " " * gap + more if gap > 0 else keys, width), "dim", color=self._color))
        return lines

    def _help(self, width: int, height: int) -> list[str]:
        lines = [paint("keys of top", "title", color=self._color), ""]
        lines += [f"  {key:<16}{means}" for key, means in KEYS]
        lines += ["", *(f"  {text}" for text in _MEANS)]
        lines = [cut(line, width) for line in lines][: height - 1]
        return [*lines, *[""] * (height - 1 - len(lines)), paint("any key goes back", "dim", color=self._color)]
