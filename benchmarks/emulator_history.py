"""Print what a day under load costs an emulated rack: memory, disk, and the time to play a minute, to read it and to store it.

Run: python benchmarks/emulator_history.py [cells] [rack hours]. The rack is in this process and its clock is turned by hand; its
metrics are in a file, as with a rack that is served. Memory is this process's, before and after.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from exacell.emulator.basics.program import Out
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.metrics.metric_store import MetricStore
from exacell.emulator.server.rack_world import RackWorld


def memory() -> int:
    """Return this process's resident memory in MB."""
    lines = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(lines[1]) * 4096 // 1_000_000


def listed(world: RackWorld, statement: str) -> int:
    """Return how many lines a statement prints on the first cell."""
    lines = 0
    for event in cellcli(world._rack, "exa1cel01", "celladmin", ("-e", statement), tty=False, has_stdin=False):
        if isinstance(event, Out):
            lines += event.text.count("\n")
    return lines


def main() -> None:
    """Play the hours, then read and store them."""
    given = [int(word) for word in sys.argv[1:]]
    cells, hours = (*given, *(14, 24)[len(given) :])
    wall = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        world = RackWorld.create("t1", {"cells": cells}, history=MetricStore(str(path)), wall=lambda: wall)
        before = memory()
        world.start_load(db="SPOT", redo=None, seconds=hours * 3600, profile="mixed")
        begun = time.process_time()
        for _ in range(hours * 60):
            wall += 1.0
            world.advance()
        played = time.process_time() - begun
        begun = time.process_time()
        state = world.to_state()
        stored = time.process_time() - begun
        grown, disk, each = memory() - before, path.stat().st_size / 1e6, played / hours / 60 / cells * 1e3
        print(f"{cells} cells, {hours} hours under load: {grown} MB of memory, {disk:.0f} MB on disk")
        print(f"a minute of a cell: {each:.2f} ms; state of {len(state)} parts: {stored:.2f} s")
        begun = time.process_time()
        lines = listed(world, "list metrichistory where name like 'FC_.*' and ageInMinutes < 60")
        print(f"an hour of FC_ metrics of a cell: {lines} lines in {time.process_time() - begun:.2f} s")


if __name__ == "__main__":
    main()
