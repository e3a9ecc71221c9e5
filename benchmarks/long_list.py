"""Print how long a long list takes to show: 14 cells' METRICCURRENT, 4,200 rows, from records to the lines of the table.

Run: python benchmarks/long_list.py [rounds]. Medians of one process in milliseconds; the floor is joining the values
alone. rich's table is measured beside it where rich is installed, once, because it takes seconds.
"""

from __future__ import annotations

import io
import statistics
import sys
import time
from collections.abc import Callable

from exacell.cellcli.rows import Rows
from exacell.cellcli.schema import metrics
from exacell.output.render import render
from exacell.output.result import Column, Record, Result

CELLS, PER_CELL = 14, 300
COLUMNS = ("name", "metricObjectName", "metricValue")


def answers() -> list[Record]:
    """Return 300 metrics of each of 14 cells as CellCLI prints them: most differ between cells, some are equal."""
    names = sorted(metrics())
    found: list[Record] = []
    for number in range(1, CELLS + 1):
        cell = f"exa1cel{number:02d}"
        for index in range(PER_CELL):
            value = f"{index * 37 * number % 99_991:,} MB" if index % 4 else "0.000 MB/sec"
            thing = f"CD_{index % 12:02d}_{cell}" if index % 3 else "FLASHCACHE"
            found.append(
                {"cell": cell, "name": names[index % len(names)], "metricObjectName": thing, "metricValue": value}
            )
    return found


def by_column(records: list[Record]) -> Rows:
    """Return the same answers by column, as they come from cells."""
    cells = dict.fromkeys(str(record["cell"]) for record in records)
    parts = {cell: [record for record in records if record["cell"] == cell] for cell in cells}
    return Rows(
        COLUMNS, [(cell, tuple([str(row[name]) for row in rows] for name in COLUMNS)) for cell, rows in parts.items()]
    )


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of ``work`` in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def with_rich(records: list[Record]) -> float | None:
    """Return what rich's table takes for the same rows, None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        return None

    def draw() -> None:
        table = Table(*("cell", *COLUMNS))
        for record in records:
            table.add_row(*(str(record[name]) for name in ("cell", *COLUMNS)))
        Console(file=io.StringIO(), width=120).print(table)

    return median_ms(draw, 1)


def in_format(result: Result, name: str) -> Callable[[], object]:
    """Return what renders ``result`` in the format ``name`` into a text of its own."""
    return lambda: render(result, name, io.StringIO())


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    records = answers()
    shown = [Column("cell"), *(Column(name) for name in COLUMNS)]
    folded = Result(records=records, columns=shown, fold=True)
    plain = Result(records=records, columns=shown)
    kept = Result(records=by_column(records), columns=shown, fold=True)
    cases: dict[str, Callable[[], object]] = {
        "joining the values (floor)": lambda: "\n".join("  ".join(map(str, r.values())) for r in records),
        "table, folded, as LIST keeps it": lambda: render(kept, "table", io.StringIO(), width=120, color=True),
        "table, folded, from records": lambda: render(folded, "table", io.StringIO(), width=120, color=True),
        "table": lambda: render(plain, "table", io.StringIO(), width=120),
        **{name: in_format(plain, name) for name in ("json", "jsonl", "csv", "tsv", "yaml", "md")},
    }
    print(f"{len(records):,} rows of {CELLS} cells, medians of {rounds}")
    for name, work in cases.items():
        print(f"{name:<34}{median_ms(work, rounds):>9.1f} ms")
    rich = with_rich(records)
    print(f"{'rich.table (once)':<34}" + (f"{rich:>9.1f} ms" if rich is not None else "  not installed"))


if __name__ == "__main__":
    main()
