"""What fanout.py found out: a row of figures a client, tables of them, and the goals beside them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass
class Row:
    """One client's figures in one table: seconds a round, and what else was seen."""

    name: str
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    bad: int = 0

    @property
    def wall(self) -> float:
        """The median of the walls."""
        return statistics.median(self.walls)

    @property
    def cpu(self) -> float:
        """The median of the processors' time, 0 when it was not measured."""
        return statistics.median(self.cpus) if self.cpus else 0.0


class Goals:
    """What was to be reached, beside what was."""

    COLD: ClassVar = {3: 1.4, 14: 1.1, 64: 0.9, 255: 0.75}
    """Times pdsh, by number of cells."""
    ALONE: ClassVar = {3: 1.8, 14: 1.1, 64: 0.9}
    """Times pdsh without a holder, in the part held."""
    HELD: ClassVar = {3: (0.7, 0.33, 0.12), 14: (0.33, 0.33, 0.08), 64: (0.12, 0.2, 0.06)}
    """With a holder, by number of cells: wall times pdsh, CPU times the tree before, wall times dcli's way where CellCLI takes
    1.5 s to start."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def most(self, what: str, value: float, goal: float, unit: str = "") -> None:
        """Note a figure that is to be ``goal`` or less."""
        self._note(what, value, f"<= {goal:g}{unit}", value <= goal)

    def least(self, what: str, value: float, goal: float, unit: str = "") -> None:
        """Note a figure that is to be ``goal`` or more."""
        self._note(what, value, f">= {goal:g}{unit}", value >= goal)

    def ratio(self, rows: dict[str, Row], one: str, other: str, goal: float, *, faster: bool = False) -> None:
        """Note how many times ``other`` the wall of ``one`` is or, with ``faster``, how many times faster it is."""
        if one in rows and other in rows:
            ratio = rows[one].wall / rows[other].wall
            if faster:
                self.least(f"{one}: times faster than {other}", 1 / ratio, goal, " x")
            else:
                self.most(f"{one}: of {other}", ratio, goal, " x")

    def less(self, rows: dict[str, Row], one: str, other: str, goal: float) -> None:
        """Note how many times the least CPU of ``other`` that of ``one`` is."""
        if one in rows and other in rows:
            self.most(f"{one}: least CPU of {other}", min(rows[one].cpus) / min(rows[other].cpus), goal, " x")

    def show(self) -> None:
        """Print them all."""
        print("\ngoals (meant for a machine that does nothing else)", *self._lines, sep="\n", flush=True)

    def _note(self, what: str, value: float, goal: str, reached: bool) -> None:
        self._lines.append(f"  {what:<68}{value:>9.3g}   goal {goal:<10}{'reached' if reached else 'MISSED'}")


def table(title: str, rows: dict[str, Row], base: str) -> None:
    """Print medians, ranges and ratios to ``base``."""
    print(f"\n{title}\n{'':34}{'wall ms':>9}{'range':>17}{'cpu ms':>9}   x {base}", flush=True)
    for name, row in sorted(rows.items(), key=lambda item: item[1].wall):
        span = f"{min(row.walls) * 1000:.1f}-{max(row.walls) * 1000:.1f}"
        cpu = f"{row.cpu * 1000:.0f}" if row.cpus else ""
        bad = f"  BAD {row.bad}" if row.bad else ""
        ratio = row.wall / rows[base].wall
        print(f"  {name:<32}{row.wall * 1000:>9.1f}{span:>17}{cpu:>9}   {ratio:.3f}{bad}", flush=True)
