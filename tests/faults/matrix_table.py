"""The table of the fault matrix: how many cases each row and column has, and how many of them survived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matrix_cases import COLUMNS

Counts = Mapping[tuple[str, str], tuple[int, int]]
"""(row, column) → cases, survivors."""


def table(counts: Counts, rows: Sequence[str]) -> list[str]:
    """Return the table as lines of Markdown: ``survivors of cases``, or the number alone where all survived.

    Rows of which no case was carried out are left out.
    """
    lines = ["| statement | " + " | ".join(COLUMNS) + " | all |", "|--|" + "--:|" * (len(COLUMNS) + 1)]
    for row in rows:
        if all((row, column) not in counts for column in COLUMNS):
            continue
        cells = [counts.get((row, column), (0, 0)) for column in COLUMNS]
        lines.append(f"| {row} | " + " | ".join(_cell(*cell) for cell in cells) + f" | {_cell(*_sum(cells))} |")
    sums = [_sum([counts.get((row, column), (0, 0)) for row in rows]) for column in COLUMNS]
    lines.append("| **all** | " + " | ".join(_cell(*cell) for cell in sums) + f" | **{_cell(*_sum(sums))}** |")
    return lines


def _sum(cells: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(cases for cases, _ in cells), sum(survived for _, survived in cells)


def _cell(cases: int, survived: int) -> str:
    if not cases:
        return "–"
    return str(cases) if cases == survived else f"{survived} of {cases}"
