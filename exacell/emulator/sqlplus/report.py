"""BREAK and COMPUTE of SQL*Plus: where a report is divided, and the totals there.

A break column shows a value once for the rows that share it. When it changes, its totals are printed first, then the blank
lines; a change of a column also breaks the columns named after it. REPORT breaks once, at the end, and ROW at every row, at
any place in the list.

Source: Oracle SQL*Plus User's Guide, "Clarifying Your Report with Spacing and Summary Lines", BREAK, COMPUTE. The order of
several functions of one break is that of the guide's table; no output was seen.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cmp_to_key
from types import MappingProxyType

from exacell.emulator.sql.compare import compare
from exacell.emulator.sql.scope import Row
from exacell.emulator.sql.values import Value

REPORT = "REPORT"
ROW = "ROW"


@dataclass(frozen=True, kw_only=True)
class Break:
    """One column (or REPORT or ROW) that the report breaks on.

    Attributes:
        skip: number of blank lines when it changes.
        page: a new page when it changes.
        repeats: DUPLICATES is set: the value is shown in every row.
    """

    name: str
    skip: int = 0
    page: bool = False
    repeats: bool = False


@dataclass(frozen=True)
class Line:
    """A row to print.

    Attributes:
        blank: places of the columns whose value is not repeated.
    """

    row: Row
    blank: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The lines of totals on one break.

    Attributes:
        starred: places of the columns that get a line of asterisks.
        place: the break column's place; None for REPORT.
        functions: by label, the value at each place, in the order in which they are printed.
    """

    starred: frozenset[int]
    place: int | None
    functions: Mapping[str, Mapping[int, Value]]


@dataclass(frozen=True)
class Skip:
    """Blank lines."""

    count: int


@dataclass(frozen=True)
class NewPage:
    """A new page, on which the next row is printed."""


Piece = Line | Totals | Skip | NewPage


@dataclass(kw_only=True)
class Report:
    """The settings of BREAK and COMPUTE.

    Attributes:
        computed: the label by break name, function and column.
    """

    breaks: list[Break] = field(default_factory=list)
    computed: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)

    def pieces(self, rows: Sequence[Row], names: Sequence[str]) -> Iterator[Piece]:
        """Yield the pieces of the report on a query's rows, in order.

        Args:
            names: the names of the query's columns for BREAK and COMPUTE.
        """
        places = {name: place for place, name in reversed(list(enumerate(names)))}
        known = [b for b in self.breaks if b.name in (REPORT, ROW) or b.name in places]
        levels = sorted(known, key=lambda b: (b.name != REPORT, b.name == ROW))
        since = [0] * len(levels)
        for number, row in enumerate(rows):
            outermost = self._broken(levels, places, rows[number - 1], row) if number else 0
            if number and outermost < len(levels):
                yield from self._end(levels, outermost, since, rows[:number], places)
                since[outermost:] = [number] * (len(levels) - outermost)
            blank = frozenset(
                places[b.name]
                for level, b in enumerate(levels)
                if number and level < outermost and b.name in places and not b.repeats
            )
            yield Line(row, blank)
        if rows:
            yield from self._end(levels, 0, since, rows, places)

    @staticmethod
    def _broken(levels: Sequence[Break], places: Mapping[str, int], before: Row, row: Row) -> int:
        """Return the index of the outermost level that changes between two rows; the number of levels if none changes."""
        for level, b in enumerate(levels):
            if b.name == ROW or (b.name in places and before[places[b.name]] != row[places[b.name]]):
                return level
        return len(levels)

    def _end(
        self,
        levels: Sequence[Break],
        outermost: int,
        since: Sequence[int],
        rows: Sequence[Row],
        places: Mapping[str, int],
    ) -> Iterator[Piece]:
        for level in reversed(range(outermost, len(levels))):
            ended = levels[level]
            inside = frozenset(places[b.name] for b in levels[level:] if b.name in places)
            totals = self._totals(ended, rows[since[level] :], places)
            if totals:
                yield Totals(
                    starred=inside if ended.name != REPORT else frozenset(),
                    place=places.get(ended.name),
                    functions=totals,
                )
            if ended.skip:
                yield Skip(ended.skip)
            if ended.page:
                yield NewPage()

    def _totals(self, ended: Break, rows: Sequence[Row], places: Mapping[str, int]) -> dict[str, dict[int, Value]]:
        totals: dict[str, dict[int, Value]] = {}
        wanted = self.computed.get(ended.name, {})
        for function in (name for name in FUNCTIONS if name in wanted):
            for column, label in wanted[function].items():
                if column in places:
                    values = [row[places[column]] for row in rows]
                    totals.setdefault(label, {})[places[column]] = FUNCTIONS[function](values)
        return totals


def parse_breaks(words: Sequence[str]) -> list[Break] | str:
    """Parse ``BREAK ON column [SKIP n | SKIP PAGE | PAGE] [NODUPLICATES | DUPLICATES] …`` and return the breaks.

    If a word does not belong there, that word is returned instead.
    """
    breaks: list[Break] = []
    queue = list(words)
    while queue:
        if queue.pop(0).upper() != "ON" or not queue:
            return words[0]
        name, skip, page, repeats = queue.pop(0).upper(), 0, False, False
        while queue and queue[0].upper() != "ON":
            word = queue.pop(0)
            option = word.upper()
            if option in ("SKIP", "SKI") and queue and queue[0].isdigit():
                skip = min(int(queue.pop(0)), 100)
            elif option in ("SKIP", "SKI") and queue and queue[0].upper() == "PAGE":
                page = bool(queue.pop(0))
            elif option == "PAGE":
                page = True
            elif option.startswith("NODUP"):
                repeats = False
            elif option.startswith("DUP"):
                repeats = True
            else:
                return word
        breaks.append(Break(name=name, skip=skip, page=page, repeats=repeats))
    return breaks


def parse_compute(words: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]] | str:
    """Parse one COMPUTE and return the functions with their labels, the columns, and the breaks.

    If a word does not belong there, that word is returned instead.
    """
    upper = [word.upper() for word in words]
    if "OF" not in upper or "ON" not in upper or upper.index("ON") < upper.index("OF"):
        return words[-1]
    of, on = upper.index("OF"), upper.index("ON")
    functions: dict[str, str] = {}
    latest = ""
    queue = list(words[:of])
    while queue:
        word = queue.pop(0)
        if word.upper() in ("LABEL", "LAB") and queue and latest:
            functions[latest] = queue.pop(0)
            continue
        found = next((f for f in FUNCTIONS if f.startswith(word.upper()) and len(word) >= 3), None)
        if found is None:
            return word
        latest = found
        functions[found] = found.lower()
    columns = [word.strip(",") for word in upper[of + 1 : on]]
    breaks = [word.strip(",") for word in upper[on + 1 :] if word != "ON"]
    if not functions or not columns or not breaks:
        return words[-1]
    return functions, columns, breaks


def _numbers(values: Sequence[Value]) -> list[Decimal]:
    return [Decimal(value) for value in values if isinstance(value, int | Decimal)]


def _present(values: Sequence[Value]) -> list[Value]:
    return [value for value in values if value is not None]


def _least(values: Sequence[Value]) -> Value:
    return min(_present(values), key=cmp_to_key(compare), default=None)


def _most(values: Sequence[Value]) -> Value:
    return max(_present(values), key=cmp_to_key(compare), default=None)


def _sum(values: Sequence[Value]) -> Value:
    return sum(_numbers(values), Decimal(0)) if _numbers(values) else None


def _average(values: Sequence[Value]) -> Value:
    numbers = _numbers(values)
    return sum(numbers, Decimal(0)) / len(numbers) if numbers else None


def _variance(values: Sequence[Value]) -> Value:
    numbers = _numbers(values)
    return statistics.variance(numbers) if len(numbers) > 1 else None


def _deviation(values: Sequence[Value]) -> Value:
    numbers = _numbers(values)
    return statistics.stdev(numbers) if len(numbers) > 1 else None


FUNCTIONS: Mapping[str, Callable[[Sequence[Value]], Value]] = MappingProxyType(
    {
        "AVG": _average,
        "COUNT": lambda values: len(_present(values)),
        "MINIMUM": _least,
        "MAXIMUM": _most,
        "NUMBER": len,
        "SUM": _sum,
        "STD": _deviation,
        "VARIANCE": _variance,
    }
)
"""The functions of COMPUTE, in the order in which it prints several for one break."""
