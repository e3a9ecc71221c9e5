"""Find the tables in an AWR report of any form: HTML, text under lines of dashes, or text that was made from HTML. Pure.

Each cell stays in its column: an empty one is an empty text, one that was too wide stays ``####``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import zip_longest

from exacell.core.values import dataclass

TITLES = " · "
"""Separator between a table's heading and its summary."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table.

    Attributes:
        title: the heading above it, and its summary after :data:`TITLES`.
        columns: the header of each column, its lines joined by blanks.
        rows: cells, as many in each row as there are columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(text: str) -> tuple[str, list[Table]]:
    """Return the report's form and its tables."""
    if re.search(r"<t(?:able|r|d)\b", text, re.IGNORECASE):
        return "HTML", _html(text)
    sign = next((sign for sign in "|\t" if re.search(rf"^ *Event *\{sign} *(?:Total )?Waits *\{sign}", text, re.M)), "")
    if sign or _PIPES.search(text):
        return "text made of HTML", list(_split(text, sign or "|"))
    return "text", list(_ruled(text))


_PIPES = re.compile(r"^[^|\n]*\| *Per Second *\|", re.MULTILINE)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\xa0", " ")).strip()


@dataclass(kw_only=True)
class _Cell:
    """A cell of a page: its text, how many columns and rows it spans, and whether it belongs to the table's header."""

    text: str = ""
    wide: int = 1
    high: int = 1
    head: bool = False


class _Page(HTMLParser):
    """The tables of a page as lists of rows, each with the heading before it and its summary."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[list[_Cell]]]] = []
        self._heading, self._into = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("table", "tr"):
            self._into = ""  # A cell or heading that was not closed ends here.
        if tag == "table":
            summary = (dict(attrs).get("summary") or "").removeprefix("This table displays ")
            self.found.append((TITLES.join(filter(None, (_squeezed(self._heading), summary))), []))
        elif tag == "tr" and self.found:
            self.found[-1][1].append([])
        elif tag in ("td", "th") and self.found and self.found[-1][1]:
            spans = {name: int(value) for name, value in attrs if value and re.fullmatch(r"[1-9]\d{0,2}", value)}
            cell = _Cell(wide=spans.get("colspan", 1), high=spans.get("rowspan", 1), head=tag == "th")
            self.found[-1][1][-1].append(cell)
            self._into = "cell"
        elif re.fullmatch(r"h\d", tag):
            self._heading, self._into = "", "heading"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "table") or re.fullmatch(r"h\d", tag):
            self._into = ""

    def handle_data(self, data: str) -> None:
        if self._into == "cell":
            self.found[-1][1][-1][-1].text += data
        elif self._into == "heading":
            self._heading += data


def _html(text: str) -> list[Table]:
    page = _Page()
    page.feed(text)
    found = []
    for title, rows in page.found:
        rows = [row for row in rows if row]
        if not rows:
            continue
        heads = max(1, next((place for place, row in enumerate(rows) if not all(cell.head for cell in row)), len(rows)))
        grid = _grid(rows)
        columns = [_squeezed(" ".join(dict.fromkeys(words))) for words in zip_longest(*grid[:heads], fillvalue="")]
        found.append(_table(title, columns, grid[heads:]))
    return found


def _grid(rows: Sequence[Sequence[_Cell]]) -> list[list[str]]:
    """Return the texts of each row; the text of a cell is repeated in every column and row that the cell spans."""
    found: list[list[str]] = []
    over: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        cell = next(cells, None)
        while cell is not None or len(line) in over:
            place = len(line)
            if place in over:
                left, text = over.pop(place)
                line.append(text)
                if left > 1:
                    over[place] = left - 1, text
                continue
            assert cell is not None
            text = _squeezed(cell.text)
            for _ in range(cell.wide):
                if cell.high > 1:
                    over[len(line)] = cell.high - 1, text
                line.append(text)
            cell = next(cells, None)
        found.append(line)
    return found


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    width = len(columns)
    whole = tuple(tuple([*row, *[""] * (width - len(row))][:width]) for row in rows)
    return Table(title=title, columns=tuple(columns), rows=whole)


def _split(text: str, sign: str) -> Iterator[Table]:
    """Yield the tables of a text whose cells are separated by ``sign``; each begins with a heading and a line of column
    headers.
    """
    title, rows = "", list[list[str]]()
    for line in [*text.splitlines(), ""]:
        if sign in line.strip(" "):
            cells = [
                _squeezed(cell)
                for cell in line.strip(" ").strip("|" if line.strip().startswith("|") else " ").split(sign)
            ]
            if not all(re.fullmatch(r":?-+:?|", cell) for cell in cells):
                rows.append(cells if not line.strip().startswith("| ") or len(rows) else ["", *cells])
            continue
        if rows:
            width = max(map(len, rows))
            yield _table(title, [*rows[0], *[""] * (width - len(rows[0]))], [row for row in rows[1:] if row != rows[0]])
            rows = []
        if re.search(r"\w", line):
            title = line.strip(" #*")


_RULER = re.compile(r"\s*-{2,}(?: +-{2,})+\s*")
_TITLE = re.compile(r"^\S.*?(?=\s{3}|$)")
"""A heading in the same line as column headers: it begins at the margin."""

_LINES = 5
"""Maximum number of lines above a ruler that may contain column headers."""


def _ruled(text: str) -> Iterator[Table]:
    """Yield the tables of a text: a heading, lines with column headers, a line of dashes below each column, rows."""
    lines = [line.expandtabs().rstrip().lstrip("\f") for line in text.splitlines()]
    for place, line in enumerate(lines):
        if not _RULER.fullmatch(line):
            continue
        spans = [match.span() for match in re.finditer(r"-+", line)]
        head = place
        while head > 0 and place - head < _LINES and lines[head - 1].strip() and not lines[head - 1].startswith("->"):
            head -= 1
        above = [one for one in lines[head:place] if not set(one) <= set(" ~-")]
        above = [_TITLE.sub(lambda title: " " * len(title[0]), one) for one in above[:-1]] + above[-1:]
        columns = [_squeezed(" ".join(_piece(one, spans, at) for one in above)) for at in range(len(spans))]
        rows = []
        for row in lines[place + 1 :]:
            if not row.strip() or set(row) <= set(" -"):
                break
            rows.append([_piece(row, spans, at).strip() for at in range(len(spans))])
        yield _table(_heading(lines, head, place), columns, rows)


def _piece(line: str, spans: Sequence[tuple[int, int]], at: int) -> str:
    """Return the part of a line in a column, which begins after the end of the column before."""
    begin = spans[at - 1][1] if at else 0
    return line[begin:] if at == len(spans) - 1 else line[begin : spans[at][1]]


def _heading(lines: Sequence[str], head: int, ruler: int) -> str:
    """Return the line that names a table: the last one above its columns that begins at the margin."""
    for place in range(ruler - 2, max(head - 12, -1), -1):
        line = lines[place]
        if re.match(r"[A-Z][A-Za-z]+ +\S", line) and not line.startswith("Event ") and "DB/Inst" not in line[:8]:
            return _squeezed(re.split(r" {3,}|DB/Inst", line)[0])
    return ""
