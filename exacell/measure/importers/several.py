"""Compare three or more imports: one table, one chart, each import against the first. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exacell.core.units import counted
from exacell.measure.finding import Finding, Table
from exacell.measure.importers.findings import Imported, amount, charts, distributions, notes_of, pair
from exacell.measure.importers.kinds import KINDS
from exacell.measure.importers.levels import Level, curves, levels, peak
from exacell.measure.importers.model import unit_of

_DESCRIBED = 4
"""Maximum number of series that are described in sentences; the table has all of them."""


def several(sets: Sequence[Imported], *, anyway: bool = False) -> Finding:
    """Return the comparison of each import with the first, level by level.

    Args:
        anyway: whether to compare imports that were measured under other conditions, too.

    Raises:
        RefusedError: one of them can't be compared with the first.
    """
    first, *others = sets
    pairs = [pair(first, other, anyway=anyway) for other in others]
    found, names = [levels(each.runs) for each in sets], _names(sets)
    said = sorted(
        dict.fromkeys(sentence for each in pairs for sentence in each.sentences),
        key=lambda sentence: all(
            sentence in each.sentences for each in pairs
        ),  # Sentences about all of them come last.
    )
    rows = [each.figures.rows if each.figures is not None else () for each in pairs]
    sure = sum(row["low"] is not None for each in rows for row in each)
    with_load = ("load",) if first.load else ()
    ratios = tuple(f"{name}/{names[0]}" for name in names[1:])
    return Finding(
        title=f"{', '.join(names[:-1])} and {names[-1]}: {KINDS[first.kind].title}",
        sentences=(
            *_outlined(names, found, first.load),
            *said,
            *([_EACH_ALONE.format(counted(sure, "interval"))] if sure > 1 else []),
        ),
        figures=Table(
            title=f"Each beside {names[0]}",
            columns=("series", *with_load, "figure", "unit", *names, *ratios),
            rows=tuple(_rows(names, rows)),
        ),
        charts=tuple(charts(list(zip(names, sets, found, strict=True)))),
        distributions=tuple(
            one for name, each in zip(names, sets, strict=True) for one in distributions(name, each.runs)
        ),
        sides=tuple(each.side() for each in sets),
        artifacts=tuple(dict.fromkeys(file for each in sets for file in each.files)),
        notes=tuple(
            dict.fromkeys(
                (*(note for each in pairs for note in each.notes if note.startswith("only in ")), *notes_of(sets))
            )
        ),
        records=tuple(
            {"cell": None, "set": name, **{key: value for key, value in row.items() if key != "cell"}}
            for name, each in zip(names[1:], rows, strict=True)
            for row in each
        ),
    )


_EACH_ALONE = (
    "Each of the {} is one of 95 % by itself: among so many one leaves the truth out more often than once in twenty."
)


def _names(sets: Sequence[Imported]) -> list[str]:
    """Return the imports' names; a repeated name gets a number."""
    found: list[str] = []
    for place, each in enumerate(sets, 1):
        found.append(f"{each.name} ({place})" if each.name in (*found, *_TAKEN) else each.name)
    return found


_TAKEN = ("series", "load", "figure", "unit")
"""Columns of the table besides those of the imports."""


def _outlined(names: Sequence[str], found: Sequence[Sequence[Level]], load: str) -> Iterator[str]:
    """Yield a sentence for each series: the figure of each import, and the ratio to the first."""
    lines = [curves(each) for each in found]
    for series in list(lines[0])[:_DESCRIBED]:
        tops = [peak(line[series]) if series in line else None for line in lines]
        yield f"{series}, at most: {', '.join(_each(names, tops, f' {load}'))}."
    if lines[0]:
        return
    shown = [level for level in found[0] if level.values]
    for level in shown[:_DESCRIBED]:
        same = [next((one for one in each if one.key == level.key), None) for each in found]
        yield f"{level.series}: {', '.join(_each(names, same, ''))}."
    if len(shown) > _DESCRIBED:
        yield f"{len(shown) - _DESCRIBED} further series stand in the table."


def _each(names: Sequence[str], found: Sequence[Level | None], load: str) -> Iterator[str]:
    figure = next((level.rate() if load else level.main() for level in found if level is not None), "")
    values = [level.figure(figure) if level is not None and figure in level.values else None for level in found]
    unit = unit_of(figure).name
    for name, level, value in zip(names, found, values, strict=True):
        if value is None or level is None:
            continue
        times = f" ({value / values[0]:.2f} times)" if name != names[0] and values[0] else ""
        at = f" at {level.load:g}{load}" if load and level.load is not None else ""
        yield f"{name} {amount(value)}{f' {unit}' if unit else ''}{at}{times}"


def _rows(names: Sequence[str], pairs: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each level and figure that the first has in common with one of the others."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for name, rows in zip(names[1:], pairs, strict=True):
        for row in rows:
            key = tuple(row.get(column) for column in _TAKEN)
            of = {column: row[column] for column in ("cell", *_TAKEN) if column in row}
            own = found.setdefault(key, {**of, names[0]: row["a"]})
            own |= {name: row["b"], f"{name}/{names[0]}": row["ratio"]}
    for row in found.values():
        yield {**row, **{name: row.get(name) for name in names[1:]}}
