"""Times `set transport clush` over gateways against exacell's own SSH: python benchmarks/clush_tree.py [--cells 300].

One process emulates the cells; three sshds on loopback are the gateways, and only they can reach the cells. Printed are
the median wall time of a LIST on all cells, and how many ssh connections this host opens for it. The times say little
about gateways that are machines of their own (here all share the same cores); the number of connections is the point.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from exacell.core.config import (  # noqa: E402
    RackConfig,
    Reach,
    Settings,
)
from exacell.emulator import control  # noqa: E402
from exacell.transport.base import Request, Role, Transport  # noqa: E402
from exacell.transport.clush import ClushTransport  # noqa: E402
from exacell.transport.ssh import SshTransport  # noqa: E402
from tests.support.gateways import PYTHON_VARIABLE, gateways  # noqa: E402

GATEWAYS = ("gw1", "gw2", "gw3")


def measure(transport: Transport, cells: tuple[str, ...], runs: int) -> tuple[list[float], int]:
    """Return the wall seconds of each run, and how many cells answered in the last one."""
    command = "cellcli -e 'list flashcache attributes name, size'"
    times, good = [], 0
    for _ in range(runs):
        started = time.perf_counter()
        result = transport.run([Request(target=cell, command=command, role=Role.WRITE) for cell in cells])
        times.append(time.perf_counter() - started)
        good = len(result.ok)
        for reply in result.problems[:3]:
            print(f"  {reply.target}: {reply.state}: {reply.problem}")
    return times, good


def main() -> int:
    """Run the comparison and return 0 when every cell answered every time."""
    parser = argparse.ArgumentParser(description="clush over gateways against ssh")
    parser.add_argument("--cells", type=int, default=300)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    os.environ[PYTHON_VARIABLE] = sys.executable
    complete = True
    with tempfile.TemporaryDirectory(prefix="tree-") as name:
        home = Path(name)
        info, _ = control.start(home / "exacell", "tree", options={"cells": given.cells}, timeout=300.0)
        try:
            config = info.ssh_config.read_text(encoding="utf-8")
            with gateways(home, GATEWAYS, config) as (tree_config, _):
                settings = Settings(timeout=120.0, connect_timeout=20.0, fanout=64)
                rack = RackConfig(name="tree", cells=info.cells, ssh_config=info.ssh_config)
                tree = RackConfig(name="tree", cells=info.cells, ssh_config=tree_config, reach=Reach(gateways=GATEWAYS))
                for title, transport, links in (
                    ("ssh, connections open", SshTransport(rack, settings), len(info.cells)),
                    ("clush, three gateways", ClushTransport(tree, settings), len(GATEWAYS)),
                ):
                    times, good = measure(transport, info.cells, given.runs)
                    transport.close()
                    complete = complete and good == len(info.cells)
                    first, warm = times[0], statistics.median(times[1:] or times)
                    print(
                        f"{title:<24}{good:>4} of {len(info.cells)} cells  first {first:6.2f} s  later {warm:6.2f} s  "
                        f"connections from here {links}"
                    )
        finally:
            control.stop(home / "exacell", "tree")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
