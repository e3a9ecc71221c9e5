"""Build the first page of ``top``: one row per cell, the worst first, silent cells included. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from exacell.care.alerts import ALERTS, alerts_of
from exacell.core.cellset import fold, natural_key
from exacell.core.units import counted, human_size
from exacell.core.values import dataclass
from exacell.live.listing import MARGIN, Listing, Place, Row
from exacell.live.load import STATEMENT, Load, Loads, reading_of
from exacell.live.pages import Shown
from exacell.live.silence import Silence
from exacell.live.trend import sparkline
from exacell.output.style import cut, paint
from exacell.output.tables import number_text
from exacell.plan.facts import metric_values
from exacell.session.answers import Answer

UNSEEN = f"{ALERTS} where severity = critical and examinedBy = ''"
"""Critical alerts that nobody has examined: few rows even if the history is long. Source: Oracle SAGUG, LIST ALERTHISTORY."""

_TREND = 8
_SPAN = 10.0
"""The least difference, in percentage points, between the lowest and the highest bar."""

Number = float | int | None


@dataclass(frozen=True, kw_only=True)
class Order:
    """A way to sort cells: its name, and the sort key, the smallest for the worst cell."""

    name: str
    key: Callable[[Load], float]


def _high(value: Number) -> float:
    return -float(value) if value is not None else 1.0


def _low(value: Number) -> float:
    return float(value) if value is not None else 1000.0


def _trouble(load: Load) -> float:
    """Return a sort key, smaller for a cell in more trouble: redo outliers weigh most, then misses, then a full disk or CPU.

    It is a whole number, so that cells with about the same trouble stay in the order of their names.
    """
    misses = 100 - load.hit_percent if load.hit_percent is not None else 0.0
    losses = 100 - load.win_percent if load.win_percent is not None else 0.0
    busy = max(load.cpu_percent or 0.0, load.disk_percent or 0.0)
    return -round(1000.0 * (load.outliers or 0) + misses + losses / 10 + busy / 10)


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


@dataclass(frozen=True, kw_only=True)
class Heading:
    """One column of figures: its title, on two lines, and its width."""

    name: str
    above: str
    title: str
    width: int


HEADINGS = (
    Heading(name="hits", above="flash", title="hits", width=6),
    Heading(name="trend", above="", title="trend", width=_TREND),
    Heading(name="reads", above="reads", title="per s", width=6),
    Heading(name="dirty", above="", title="dirty", width=6),
    Heading(name="used", above="", title="used", width=6),
    Heading(name="redo", above="redo", title="per s", width=6),
    Heading(name="wins", above="flash", title="wins", width=6),
    Heading(name="slow", above="slow", title="redo", width=4),
    Heading(name="saved", above="redo", title="saved", width=5),
    Heading(name="cpu", above="", title="CPU", width=4),
    Heading(name="disk", above="disk", title="busy", width=4),
)
_DROPPED = ("saved", "used", "trend", "reads", "cpu", "redo", "disk", "dirty")
"""The columns in the order in which a narrow terminal drops them."""


class Top:
    """The first page of ``top``; see :class:`exacell.live.pages.Page`.

    Args:
        order: the name of one of ORDERS.
        cells: all cells that are asked; each has its row.
    """

    statements = (STATEMENT, UNSEEN)

    def __init__(
        self, *, rack: str, order: str = "worst", cells: Sequence[str] = (), silence: Silence, unicode: bool = True
    ) -> None:
        self.place: Place | None = None
        self.listing = Listing()
        self.silence = silence
        self.cells = tuple(cells)
        self.loads = Loads()
        self.alerts: dict[str, int] = {}
        """Cell → the number of its critical alerts that nobody has examined."""
        self._rack = rack
        self._order = next(index for index, known in enumerate(ORDERS) if known.name == order)
        self._unicode = unicode

    def arrived(self, answers: Sequence[Answer]) -> frozenset[str]:
        """Add the next answers; return the cells that showed a new collection."""
        readings = {}
        for answer in answers:
            self.silence.arrived(answer)
            if not answer.problem:
                rows, alerts = answer.tables
                self.alerts[answer.cell] = sum(alert.critical for alert in alerts_of(alerts))
                readings[answer.cell] = reading_of(rows, max((at for _, at in metric_values(rows).values()), default=0))
        return self.loads.add(readings, {answer.cell: answer.problem for answer in answers if answer.problem})

    def press(self, key: str) -> bool:
        """Sort by the next figure (s) or the previous one (S)."""
        if key in ("s", "S"):
            self._order = (self._order + (1 if key == "s" else -1)) % len(ORDERS)
        return key in ("s", "S")

    @property
    def order(self) -> str:
        """Return the name of the present sort order."""
        return ORDERS[self._order].name

    def sorted(self) -> list[Load]:
        """Return the cells that have answered, the worst first; those with a problem before all others.

        In the order ``worst``, a critical alert that nobody has examined weighs more than any figure.
        """
        key, weighs = ORDERS[self._order].key, self.order == ORDERS[0].name
        return sorted(
            self.loads.cells,
            key=lambda load: (
                not load.problem,
                -self.alerts.get(load.cell, 0) if weighs else 0,
                key(load),
                natural_key(load.cell),
            ),
        )

    def shown(self, width: int, height: int) -> Shown:
        """Return one row per cell: silent ones first, in at most a third of the screen, and the rest of them last."""
        silent, loads = self.silence.told(), self.sorted()
        known = {load.cell for load in loads}
        good = [load for load in loads if not load.problem and load.cell not in silent]
        unheard = [cell for cell in self.cells if cell not in known and cell not in silent]
        names, label = self._names(width), self._label()
        asked = {**silent, **dict.fromkeys(unheard, "no answer yet")}
        mute = [
            Row(
                key=cell, text=f"{cell.ljust(label)}  {asked[cell]}", meaning="error" if cell in silent else "dim",
                place=Place(kind="cell", cell=cell),
            )
            for cell in sorted(asked, key=lambda cell: (cell not in silent, natural_key(cell)))
        ]  # fmt: skip
        figures = [
            Row(
                key=load.cell, text=self._text(load.cell, label, self._texts(load), names),
                meaning="error" if self.alerts.get(load.cell) else "odd" if load.outliers else "",
                place=Place(kind="cell", cell=load.cell),
            )
            for load in good
        ]  # fmt: skip
        most = max((height - 4) // 3, 1) if figures else len(mute)
        rack, summed = self.loads.rack_so_far()
        of = max(len(loads), len(self.cells))
        name = "all cells" if summed in (0, of) else counted(summed, "cell")
        spans = sorted({round(load.seconds) for load in good if load.seconds})
        span = "first figures with the next collection" if good else "reading"
        if spans:
            span = f"over {spans[0]}s" if len(spans) == 1 else f"over {spans[0]}-{spans[-1]}s"
        head = f"{self._rack or 'cells'}  {len(good)} of {of} cells, {span}, sorted by {self.order}"
        if alarmed := [load.cell for load in good if self.alerts.get(load.cell)]:
            head += f", alerts: {fold(alarmed)}"
        above, titles = ({h.name: getattr(h, line) for h in HEADINGS} for line in ("above", "title"))
        return Shown(
            above=(
                head,
                *(MARGIN + self._text(cell, label, texts, names) for cell, texts in (("", above), ("cell", titles))),
            ),
            rows=[*mute[:most], *figures, *mute[most:]],
            below=(MARGIN + self._text(name, label, self._texts(rack), names),),
        )

    def last_lines(self, width: int, height: int, *, color: bool) -> list[str]:
        """Return the lines that stay on the terminal: the first rows, the others in one line, the sum."""
        shown = self.shown(width, height)
        room = height - len(shown.above) - len(shown.below)
        rows = shown.rows if len(shown.rows) <= room else shown.rows[: max(room - 1, 0)]
        lines = [paint(line, "title", color=color) for line in shown.above]
        lines += [MARGIN + (paint(row.text, row.meaning, color=color) if row.meaning else row.text) for row in rows]
        rest = {row.key for row in shown.rows[len(rows) :]}
        if rest and room > 0:
            loads = [load for load in self.sorted() if load.cell in rest and not load.problem]
            lines.append(paint(MARGIN + _folded(loads, rest), "dim", color=color))
        return [cut(line, width) for line in (*lines, *shown.below)]

    def _label(self) -> int:
        """Return the width of the column of names."""
        return max(len("all cells"), *(len(load.cell) for load in self.loads.cells), *map(len, self.cells), 0)

    def _names(self, width: int) -> list[str]:
        """Return the columns that fit the width."""
        room = width - len(MARGIN) - self._label()
        names = [heading.name for heading in HEADINGS]
        for name in _DROPPED:
            if sum(2 + heading.width for heading in HEADINGS if heading.name in names) > room:
                names.remove(name)
        return names

    def _texts(self, load: Load) -> dict[str, str]:
        return {
            "hits": _share(load.hit_percent),
            "trend": sparkline(load.hits, _TREND, unicode=self._unicode, least_span=_SPAN),
            "reads": _rate(load.reads),
            "dirty": _size(load.dirty),
            "used": _size(load.used),
            "redo": _rate(load.redo),
            "wins": _share(load.win_percent),
            "slow": _rate(load.outliers),
            "saved": _rate(load.prevented),
            "cpu": _percent(load.cpu_percent),
            "disk": _percent(load.disk_percent),
        }

    @staticmethod
    def _text(name: str, label: int, texts: Mapping[str, str], names: Sequence[str]) -> str:
        parts = [
            texts[h.name].ljust(h.width) if h.name == "trend" else texts[h.name].rjust(h.width)
            for h in HEADINGS
            if h.name in names
        ]
        return "  ".join((name.ljust(label), *parts)).rstrip()


def _folded(loads: Sequence[Load], cells: Collection[str]) -> str:
    """Return one line for cells without their own: the range of their figures, then their names."""
    parts = [f"{len(cells)} more"]
    hits = [load.hit_percent for load in loads if load.hit_percent is not None]
    if hits:
        parts.append(f"hits {min(hits):.1f}-{max(hits):.1f}%")
    dirty = [load.dirty for load in loads if load.dirty is not None]
    if dirty:
        parts.append(f"dirty up to {human_size(max(dirty))}")
    if any(load.outliers is not None for load in loads):
        parts.append(f"{sum(load.outliers or 0 for load in loads)} slow redo writes")
    return f"{', '.join(parts)}: {fold(cells)}"


def _share(value: Number) -> str:
    return "-" if value is None else f"{value:.1f}%"


def _percent(value: Number) -> str:
    return "-" if value is None else f"{value:.0f}%"


def _rate(value: Number) -> str:
    if value is None:
        return "-"
    for unit, factor in (("M", 1e6), ("k", 1e3)):
        if abs(value) >= max(factor, 1e5):
            return f"{value / factor:.1f}{unit}" if abs(value) < 100 * factor else f"{value / factor:.0f}{unit}"
    return number_text(round(value)) if abs(value) >= 100 or float(value).is_integer() else f"{value:.1f}"


def _size(value: Number) -> str:
    if value is None:
        return "-"
    for unit, factor in (("T", 2**40), ("G", 2**30), ("M", 2**20)):
        if value >= factor:
            return f"{value / factor:.1f}{unit}" if value < 100 * factor else f"{value / factor:.0f}{unit}"
    return f"{value / 2**20:.1f}M" if value else "0"
