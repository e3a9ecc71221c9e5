"""Computes metrics from a cell's collections: the value of each metric of each object at any minute of its history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.basics.schema import MetricDefinition
from exacell.emulator.metrics.bases import Columns
from exacell.emulator.metrics.collection import Collection
from exacell.emulator.metrics.metrics import CellMetrics
from exacell.emulator.metrics.objects import Bases, objects_of
from exacell.emulator.metrics.rules import OUTLIERS, efficiency, rules
from exacell.emulator.metrics.scene import Scene

_AMBIENT = frozenset(("CELL", "SERVER", "CELL_FILESYSTEM", "DISKGROUP"))
"""Object types whose metrics differ from minute to minute even if no counter changes."""

_SCRUBBED = frozenset(("CELLDISK", "GRIDDISK", "DISK"))
"""Object types whose metrics differ while hard disks are scrubbed, even if no counter changes."""

_WHOLE_RATES = frozenset(("DB_IO_BY_SEC", "DB_FC_IO_BY_SEC", "DB_FD_IO_BY_SEC"))
"""Rates that old releases print without decimals."""

_WHOLE_UNITS = frozenset(("IO requests", "us", "ms", "Bytes"))


class Reading(NamedTuple):
    """One metric of one object at one collection."""

    definition: MetricDefinition
    object_name: str
    moment: float
    number: float


def rounded(definition: MetricDefinition, numbers: list[float]) -> list[float]:
    """Return values rounded as they are printed: counts are whole, loads have one decimal.

    Utilisations are whole because a published check reads them as integers; this is not documented.
    """
    if definition.unit in _WHOLE_UNITS or (definition.unit == "Number" and definition.metric_type == "Cumulative"):
        return list(map(int, numbers))
    if definition.unit == "%" and "_IO_UTIL" in definition.name:
        return list(map(round, numbers))
    if definition.unit == "Number":
        return [round(number, 1) if isinstance(number, float) else number for number in numbers]
    return numbers


class MetricReader:
    """Computes metric values of one cell, for one statement: objects must not change while it is used."""

    def __init__(self, scene: Scene, metrics: CellMetrics) -> None:
        self._scene = scene
        self._metrics = metrics
        self._objects: dict[str, list[str]] = {}
        self._last: tuple[Collection, Collection] | None = None
        self._numbers: dict[str, list[float]] = {}
        self._scrubbed: list[str] = []
        self._pace: tuple[tuple[float, ...], ...] = ()
        self._here: dict[str, tuple[float, Columns]] = {}

    def readings(self, moment: float, definitions: Iterable[MetricDefinition]) -> Iterator[Reading]:
        """Yield the values of metrics at the collection of ``moment``, by object; types without objects have none."""
        for definition, objects, numbers in self.table(moment, definitions):
            for object_name, number in zip(objects, numbers, strict=True):
                yield Reading(definition, object_name, moment, number)

    def table(
        self, moment: float, definitions: Iterable[MetricDefinition]
    ) -> Iterator[tuple[MetricDefinition, list[str], list[float]]]:
        """Yield each metric with its objects and their values. A list of values that has not changed is the same list object."""
        now, earlier = self._metrics.at(moment), self._metrics.at(moment - MINUTE)
        if self._last is None or self._last[0] is not now or self._last[1] is not earlier:
            self._last = (now, earlier)
            self._numbers.clear()
        pace = self._scene.scrub.pace(moment), self._scene.scrub.pace(moment - MINUTE)
        if pace != self._pace:
            self._pace = pace
            for name in self._scrubbed:
                self._numbers.pop(name, None)
            self._scrubbed.clear()
        columns: dict[str, tuple[Columns, Columns]] = {}
        for definition in definitions:
            name, kind = definition.name, definition.object_type
            if kind not in self._objects:
                self._objects[kind] = objects_of(kind, self._scene)
            objects = self._objects[kind]
            if not objects:
                continue
            numbers = self._numbers.get(name)
            if numbers is None or kind in _AMBIENT or name == "FL_EFFICIENCY_PERCENTAGE_HOUR":
                if kind not in columns:
                    columns[kind] = self._columns(kind, objects, now, earlier, moment)
                if kind in _SCRUBBED:
                    self._scrubbed.append(name)
                numbers = self._numbers[name] = self._compute(definition, columns[kind], now, moment)
            yield definition, objects, numbers

    def one(self, moment: float, definition: MetricDefinition) -> float:
        """Return the value of a metric that has one object."""
        return next(self.readings(moment, [definition])).number

    def _compute(
        self, definition: MetricDefinition, columns: tuple[Columns, Columns], now: Collection, moment: float
    ) -> list[float]:
        if definition.name == "FL_EFFICIENCY_PERCENTAGE_HOUR":
            hour_ago = self._metrics.at(moment - 60 * MINUTE)
            known = hour_ago.values if hour_ago.log_epoch == now.log_epoch else {}
            return [efficiency(*(now.values.get(name, 0) - known.get(name, 0) for name in OUTLIERS))]
        numbers = rounded(definition, rules()[definition.name].column(*columns))
        return list(map(round, numbers)) if self._scene.whole_rates and definition.name in _WHOLE_RATES else numbers

    def _columns(
        self, kind: str, objects: list[str], now: Collection, earlier: Collection, moment: float
    ) -> tuple[Columns, Columns]:
        """Return the base values now and a minute ago; the latter are empty if the counters were reset in between."""
        same = {
            "FLASHLOG": now.log_epoch == earlier.log_epoch,
            "FLASHCACHE": now.cache_epoch == earlier.cache_epoch,
        }.get(kind, now.server_epoch == earlier.server_epoch)
        here = Bases(self._scene, self._metrics, now, moment).of(kind, objects)
        known, self._here[kind] = self._here.get(kind), (moment, here)
        if not same:
            return here, Columns([{}] * len(objects))
        if known is not None and known[0] == moment - MINUTE:
            return here, known[1]
        return here, Bases(self._scene, self._metrics, earlier, moment - MINUTE).of(kind, objects)
