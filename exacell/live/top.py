"""What ``top`` shows: a line a cell, the worst first, the rest in one line, readable on 80 by 24. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.core.cellset import fold, natural_key
from exacell.core.units import counted, human_size
from exacell.core.values import dataclass
from exacell.live.load import Load, Loads, Reading
from exacell.live.trend import sparkline
from exacell.output.folding import fold_problems
from exacell.output.style import paint, printable
from exacell.output.tables import number_text

_TREND = 8
_SPAN = 10.0
"""Percentage points between the lowest and the highest bar, at least."""

Number = float | int | None


@dataclass(frozen=True, kw_only=True)
class Order:
    """A way to sort: by what, and which end is the worst."""

    name: str
    key: Callable[[Load], float]


def _high(value: Number) -> float:
    return -float(value) if value is not None else 1.0


def _low(value: Number) -> float:
    return float(value) if value is not None else 1000.0


def _trouble(load: Load) -> float:
    """Return less for a cell in more trouble: redo outliers weigh most, then misses, then a disk or CPU that is full."""
    misses = 100 - load.hit_percent if load.hit_percent is not None else 0.0
    losses = 100 - load.win_percent if load.win_percent is not None else 0.0
    busy = max(load.cpu_percent or 0.0, load.disk_percent or 0.0)
    return -(1000.0 * (load.outliers or 0) + misses + losses / 10 + busy / 10)


ORDERS = (
    Order(name="worst", key=_trouble),
    Order(name="hit", key=lambda load: _low(load.hit_percent)),
    Order(name="reads", key=lambda load: _high(load.reads)),
    Order(name="dirty", key=lambda load: _high(load.dirty)),
    Order(name="redo", key=lambda load: _high(load.redo)),
    Order(name="wins", key=lambda load: _low(load.win_percent)),
    Order(name="outliers", key=lambda load: _high(load.outliers)),
    Order(name="load", key=lambda load: _high(max(load.cpu_percent or 0.0, load.disk_percent or 0.0))),
    Order(name="cell", key=lambda load: 0.0),
)

TITLES = ("hit%", "trend", "reads/s", "dirty", "used", "redo/s", "wins%", "out", "prev", "cpu%", "disk%")
_WIDTHS = (5, _TREND, 8, 6, 6, 7, 5, 5, 5, 4, 5)
_DROPPED = ("prev", "used", "trend", "reads/s", "cpu%", "redo/s", "disk%", "dirty")
"""What goes first where the terminal is narrow."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What all cells answered once: readings, and why there is none, by cell."""

    readings: dict[str, Reading]
    problems: dict[str, str]


class Top:
    """The view of ``top``; see :class:`exacell.live.loop.View`.

    Args:
        order: the name of one of ORDERS.
        cells: all that are asked: those without an answer yet are named.
    """

    def __init__(
        self,
        *,
        rack: str,
        every: float,
        order: str = "worst",
        cells: Sequence[str] = (),
        color: bool = False,
        unicode: bool = True,
    ) -> None:
        self._rack = rack
        self._asked = tuple(cells)
        self._every = every
        self._order = next(index for index, known in enumerate(ORDERS) if known.name == order)
        self._color = color
        self._unicode = unicode
        self.loads = Loads()

    def arrived(self, value: Sample) -> None:
        """Take the next answers."""
        self.loads.add(value.readings, value.problems)

    def press(self, key: str) -> None:
        """Sort by the next figure (s), by the one before (S)."""
        if key in ("s", "S"):
            self._order = (self._order + (1 if key == "s" else -1)) % len(ORDERS)

    @property
    def ended(self) -> bool:
        """Never by itself."""
        return False

    @property
    def order(self) -> str:
        """By what the cells are sorted."""
        return ORDERS[self._order].name

    def sorted(self) -> list[Load]:
        """Return the cells, the worst first; those that do not answer before all others."""
        key = ORDERS[self._order].key
        return sorted(self.loads.cells, key=lambda load: (not load.problem, key(load), natural_key(load.cell)))

    def lines(self, width: int, height: int, status: str | None) -> list[str]:
        """Return the whole screen; without a status no more than the figures, for what stays behind."""
        loads = self.sorted()
        good = [load for load in loads if not load.problem]
        spans = sorted({round(load.seconds) for load in good if load.seconds})
        span = "first figures with the next collection" if good else "reading"
        if spans:
            span = f"over {spans[0]}s" if len(spans) == 1 else f"over {spans[0]}-{spans[-1]}s"
        of = max(len(loads), len(self._asked))
        head = f"{self._rack or 'cells'}: {len(good)} of {of} cells, {span}, sorted by {self.order}"
        names = list(TITLES)
        label = max([len("cell"), len("all cells"), *(len(load.cell) for load in loads), *map(len, self._asked)])
        for name in _DROPPED:
            if self._wide(label, names) > width:
                names.remove(name)
        titles = self._text("cell", label, {title: title for title in TITLES}, names)
        lines = [paint(text, "title", color=self._color) for text in (head, titles)]
        lines.append("-" * min(self._wide(label, names), width))
        room = max(height - len(lines) - 3, 1)  # The rack's line, the status and the keys stay.
        there = {load.cell for load in loads}
        silent = [cell for cell in self._asked if cell not in there]
        if silent and loads:
            lines += self._rows(loads, good, max(room - 1, 1), label, names, width)
            lines.append(paint(_cut(f"no answer yet: {fold(silent)}", width), "dim", color=self._color))
        else:
            lines += self._rows(loads, good, room, label, names, width)
        rack, cells = self.loads.rack_so_far()
        name = "all cells" if cells in (0, of) else counted(cells, "cell")
        lines.append(self._text(name, label, self._texts(rack), names))
        if status is None:
            return lines
        lines += [""] * (height - len(lines) - 2)
        lines.append(paint(_cut(printable(status), width), "warning", color=self._color))
        lines.append(paint(f"q quit  s sort  p pause   every {self._every:g}s"[:width], "dim", color=self._color))
        return lines

    def _rows(
        self, loads: Sequence[Load], good: Sequence[Load], room: int, label: int, names: Sequence[str], width: int
    ) -> list[str]:
        """Return at most ``room`` lines for the cells: silent ones get a third of them, so that the others are seen."""
        silent = [(load.cell, load.problem) for load in loads if load.problem]
        told = fold_problems(silent) if len(loads) > room else [((cell,), problem) for cell, problem in silent]
        most = max(room // 3, 1)
        texts = [f"{fold(cells).ljust(label)}  {printable(problem)}" for cells, problem in told]
        if len(loads) > room and len(told) > most:
            others = [cell for cells, _ in told[most - 1 :] for cell in cells]
            texts = [*texts[: most - 1], f"{len(others)} more silent: {fold(others)}"]
        lines = [paint(_cut(text, width), "error", color=self._color) for text in texts]
        left = room - len(lines)
        shown = good if len(good) <= left else good[: max(left - 1, 0)]
        lines += [self._row(load, label, names) for load in shown]
        rest = good[len(shown) :]
        if rest and left > 0:
            lines.append(paint(_cut(_folded(rest), width), "dim", color=self._color))
        return lines

    def _wide(self, label: int, names: Sequence[str]) -> int:
        return label + sum(2 + size for name, size in zip(TITLES, _WIDTHS, strict=True) if name in names)

    def _row(self, load: Load, label: int, names: Sequence[str]) -> str:
        line = self._text(load.cell, label, self._texts(load), names)
        if load.outliers:
            return paint(line, "odd", color=self._color)
        return line

    def _texts(self, load: Load) -> dict[str, str]:
        return {
            "hit%": _share(load.hit_percent),
            "trend": sparkline(load.hits, _TREND, unicode=self._unicode, least_span=_SPAN),
            "reads/s": _rate(load.reads),
            "dirty": _size(load.dirty),
            "used": _size(load.used),
            "redo/s": _rate(load.redo),
            "wins%": _share(load.win_percent),
            "out": _rate(load.outliers),
            "prev": _rate(load.prevented),
            "cpu%": _rate(load.cpu_percent),
            "disk%": _rate(load.disk_percent),
        }

    def _text(self, name: str, label: int, texts: dict[str, str], names: Sequence[str]) -> str:
        parts = [
            texts[title].ljust(size) if title == "trend" else texts[title].rjust(size)
            for title, size in zip(TITLES, _WIDTHS, strict=True)
            if title in names
        ]
        return "  ".join((name.ljust(label), *parts)).rstrip()


def _cut(text: str, width: int) -> str:
    """Return ``text`` in ``width`` columns, with dots where something is missing."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def _folded(rest: Sequence[Load]) -> str:
    """Return the cells that have no line of their own in one: the range of their figures, then who they are."""
    parts = [f"{len(rest)} more"]
    hits = [load.hit_percent for load in rest if load.hit_percent is not None]
    if hits:
        parts.append(f"hit {min(hits):.1f}-{max(hits):.1f}%")
    dirty = [load.dirty for load in rest if load.dirty is not None]
    if dirty:
        parts.append(f"dirty up to {human_size(max(dirty))}")
    if any(load.outliers is not None for load in rest):
        parts.append(f"{sum(load.outliers or 0 for load in rest)} outliers")
    return f"{', '.join(parts)}: {fold([load.cell for load in rest])}"


def _share(value: Number) -> str:
    return "-" if value is None else f"{value:.1f}"


def _rate(value: Number) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.1f}M"
    return number_text(round(value)) if abs(value) >= 100 or float(value).is_integer() else f"{value:.1f}"


def _size(value: Number) -> str:
    if value is None:
        return "-"
    for unit, factor in (("T", 2**40), ("G", 2**30), ("M", 2**20)):
        if value >= factor:
            return f"{value / factor:.1f}{unit}" if value < 100 * factor else f"{value / factor:.0f}{unit}"
    return f"{value / 2**20:.1f}M" if value else "0"
