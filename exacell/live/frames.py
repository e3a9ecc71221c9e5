"""Draw what ``watch`` shows: the table of a statement, changes since the last answer, and bars beside changing numbers.

Pure: results in, lines out. A record is found again in the next answer by its cell and name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.cellset import fold
from exacell.live.trend import number_of, sparkline
from exacell.output.differing import record_key
from exacell.output.folding import FoldedRecord, fold_records, mask_value
from exacell.output.render import lines as rendered
from exacell.output.result import Result
from exacell.output.style import paint, paint_within
from exacell.output.tables import RIGHT, columns_of, padded_column, texts_of

KEPT = 120
"""How many values of each number are kept."""

_SPARK = 16
"""The greatest width of a line of bars, in columns."""

_SMALLEST_SPARK = 6

Place = tuple[str, str, str]
"""Cell, name of the record, attribute."""


class Frames:
    """The answers so far.

    Args:
        color: whether changed values are shown in reverse.
        unicode: whether bars are drawn with block characters.
    """

    def __init__(self, *, color: bool = False, unicode: bool = True) -> None:
        self._color = color
        self._unicode = unicode
        self._series: dict[Place, deque[float | None]] = {}
        self._moving: dict[str, None] = {}
        self._before: dict[Place, str] = {}
        self._now: dict[Place, str] = {}
        self._lines_before: list[str] = []
        self._lines_now: list[str] = []
        self._result: Result | None = None
        self._count = 0

    def add(self, result: Result) -> None:
        """Add the next answer."""
        self._before, self._now = self._now, {}
        self._lines_before, self._lines_now = self._lines_now, []
        self._result = result
        self._count += 1
        if not result.records or result.draw is not None or result.text:
            self._lines_now = list(rendered(result, "table"))
            return
        records = [_Alone.of(record) for record in result.records]
        for row, key in _keyed(records):
            for name, value in row.record.items():
                if name != "cell":
                    self._note((*key, name), value)

    def _note(self, place: Place, value: Any) -> None:
        self._now[place] = texts_of([value])[0]
        number = number_of(value)
        if number is None and place not in self._series:
            return
        series = self._series.setdefault(place, deque(maxlen=KEPT))
        # A record that was missing in some answers gets no value for them.
        if series and number is not None and series[-1] is not None and series[-1] != number:
            self._moving.setdefault(place[2])
        series.append(number)

    def body(self, width: int | None = None) -> list[str]:
        """Return the lines of the last answer, titles first."""
        result = self._result
        if result is None:
            return []
        if self._lines_now or not result.records:
            return [self._line(line) for line in self._lines_now] or ["(none)"]
        shown = columns_of(result.records, result.columns)
        rows = fold_records(result.records) if result.fold else [_Alone.of(record) for record in result.records]
        if "metricObjectName" in result.records[0]:
            rows = _by_metric(rows)
        keyed = _keyed(rows)
        titles: list[str] = []
        grid: list[list[str]] = []
        right: list[bool] = []
        places: list[list[Place | None]] = []
        if any(row.cells for row in rows):
            titles, right = ["cell"], [False]
            grid.append([fold(row.cells) if row.cells else "-" for row in rows])
            places.append([None] * len(rows))
        for column in shown:
            titles.append(column.title or column.name)
            grid.append(texts_of([row.record.get(column.name) for row in rows], column.kind))
            right.append(column.kind in RIGHT)
            places.append([(*key, column.name) for _, key in keyed])
        return self._laid_out(titles, grid, right, places, width)

    def _laid_out(
        self,
        titles: Sequence[str],
        grid: Sequence[Sequence[str]],
        right: Sequence[bool],
        places: Sequence[Sequence[Place | None]],
        width: int | None,
    ) -> list[str]:
        padded = [
            padded_column(title, texts, to_right=flag) for title, texts, flag in zip(titles, grid, right, strict=True)
        ]
        moving = [name in self._moving and any(p and p in self._series for p in ps) for name, ps in _named(places)]
        room = _SPARK
        if width is not None and any(moving):
            left = width - sum(size for _, size in padded) - 2 * (len(padded) - 1)
            room = min(_SPARK, left // sum(moving) - 2)
        sparks = room >= _SMALLEST_SPARK
        lines: list[str] = []
        for index in range(len(grid[0]) + 1):
            parts: list[str] = []
            for (texts, _), column_places, moves in zip(padded, places, moving, strict=True):
                if index == 0:
                    parts.append(texts[0])
                else:
                    place = column_places[index - 1]
                    parts.append(self._value(texts[index], place))
                if moves and sparks:
                    place = column_places[index - 1] if index else None
                    bars = sparkline(tuple(self._series.get(place, ())), room, unicode=self._unicode) if place else ""
                    parts.append(bars.ljust(room))
            line = "  ".join(parts).rstrip()
            lines.append(line if index else paint(line, "title", color=self._color))
            if index == 0:
                dashes = []
                for (_, size), moves in zip(padded, moving, strict=True):
                    dashes += ["-" * size] + (["-" * room] if moves and sparks else [])
                lines.append("  ".join(dashes))
        return lines

    def _value(self, text: str, place: Place | None) -> str:
        if place is None or self._count < 2 or self._before.get(place) == self._now.get(place):
            return text
        return paint_within(text, "changed", color=self._color)

    def _line(self, line: str) -> str:
        changed = self._count > 1 and line.strip() and line not in self._lines_before
        return paint(line, "changed", color=self._color) if changed else line


class _Alone:
    @staticmethod
    def of(record: Mapping[str, Any]) -> FoldedRecord:
        cell = record.get("cell")
        own = {name: value for name, value in record.items() if name != "cell"}
        return FoldedRecord(cells=() if cell is None else (str(cell),), record=own, odd=False)


def _by_metric(rows: Sequence[FoldedRecord]) -> list[FoldedRecord]:
    """Return metrics with the rows of a metric together, and within them the rows of an object, to compare cells by eye."""
    place: dict[object, int] = {}
    found = []
    for row in rows:
        name, own = row.record.get("name"), row.record.get("metricObjectName")
        own = mask_value(own, row.cells[0]) if row.cells else own
        found.append((place.setdefault(name, len(place)), place.setdefault((name, own), len(place)), row))
    return [row for _, _, row in sorted(found, key=lambda one: one[:2])]


def _keyed(rows: Sequence[FoldedRecord]) -> list[tuple[FoldedRecord, tuple[str, str]]]:
    """Return each row with the key that finds it in other answers: its (first) cell, and its name with the cell's masked."""
    seen: dict[tuple[str, str], int] = {}
    found = []
    for row in rows:
        cell = row.cells[0] if row.cells else ""
        name = record_key(row.record, cell)
        count = seen[cell, name] = seen.get((cell, name), 0) + 1
        found.append((row, (cell, name if count == 1 else f"{name} {count}")))
    return found


def _named(places: Sequence[Sequence[Place | None]]) -> list[tuple[str, Sequence[Place | None]]]:
    """Return for each column its attribute's name and its places."""
    return [(column[0][2] if column and column[0] else "", column) for column in places]
