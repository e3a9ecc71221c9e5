"""Prints how asking scales from 1 to 300 emulated cells, and what three bad ones among them cost the others.

Run: python benchmarks/scaling.py [--cells 300] [--deadline 4]. It starts an emulated rack of its own and ends it. One
process emulates all cells and shares this machine with the client: the figures say how exacell scales, not how fast a
real rack answers. The last table has one cell that refuses connections, one that hangs, one that is slow.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RACK = "scaling"
STATEMENT = "list cell attributes name, status"
ROUNDS = 5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, default=300)
    parser.add_argument("--deadline", type=float, default=4.0)
    parser.add_argument("--only-bad", action="store_true", help="leave the scaling table out")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended on the way out
    with tempfile.TemporaryDirectory(prefix="exacell-bench-") as home:
        os.environ["EXACELL_HOME"] = home
        sys.path.insert(0, str(ROOT))
        control("start", f"cells={options.cells}", "speed=1")
        try:
            if not options.only_bad:
                scaling(Path(home), options.cells)
            bad_cells(Path(home), options.cells, options.deadline)
        finally:
            control("stop")


def control(verb: str, *words: str) -> str:
    """Run an emulator command for our rack and return what it says."""
    command = [sys.executable, "-m", "exacell", "emulator", verb, RACK, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def transport(home: Path, cells: list[str], timeout: float) -> Any:
    """Return a transport to the emulated cells."""
    from exacell.core.config import RackConfig, Settings
    from exacell.transport.ssh import SshTransport

    config = home / "emulator" / RACK / "ssh_config"
    if not config.exists():
        config.write_text(control("ssh-config"))
    rack = RackConfig(
        name=RACK, cells=tuple(cells), read_user="celladmin", write_user="celladmin", ssh_config=config, emulated=True
    )
    return SshTransport(rack, Settings(fanout=64, timeout=timeout, connect_timeout=10.0))


def names(count: int) -> list[str]:
    """Return the emulated cells' names."""
    return [f"exa1cel{number:02}" for number in range(1, count + 1)]


def ask(fleet: Any, cells: list[str]) -> float:
    """Return how many milliseconds a read from all of ``cells`` takes."""
    from exacell.transport.base import Role

    started = time.perf_counter()
    result = fleet.send(dict.fromkeys(cells, STATEMENT), role=Role.READ)
    assert len(result.ok) == len(cells), [reply.problem for reply in result.problems][:3]
    return 1000 * (time.perf_counter() - started)


def scaling(home: Path, most: int) -> None:
    """Print milliseconds for the first read (with connecting), and for later ones by channel and by kept CellCLI."""
    from exacell.session.fleet import Fleet

    print(f"{'cells':>6}{'connect + first':>17}{'a channel each':>16}{'kept CellCLI':>14}{'ms/cell':>9}")
    every = names(most)
    for count in [n for n in (1, 3, 10, 30, 100, 300) if n <= most]:
        cells = every[:count]
        client = transport(home, cells, 60.0)
        fleet = Fleet(client)

        client.long_lived = False
        first = ask(fleet, cells)
        channels = statistics.median(ask(fleet, cells) for _ in range(ROUNDS))
        client.long_lived = True
        ask(fleet, cells)
        kept = statistics.median(ask(fleet, cells) for _ in range(ROUNDS))
        client.close()
        print(f"{count:>6}{first:>17.0f}{channels:>16.1f}{kept:>14.1f}{kept / count:>9.2f}", flush=True)


def bad_cells(home: Path, most: int, deadline: float) -> None:
    """Print when the good cells were shown and when each bad one was named."""
    from exacell.session.fleet import Fleet
    from exacell.transport.base import Role

    cells = names(most)
    client = transport(home, cells, deadline)
    fleet = Fleet(client)
    assert len(fleet.send(dict.fromkeys(cells, STATEMENT), role=Role.READ, timeout=60.0).ok) == most
    bad = {cells[most // 3]: "refuse", cells[most // 2]: "hang", cells[2 * most // 3]: "slow"}
    for cell, fault in bad.items():
        control("fault", cell, fault, *(["delay=2s"] if fault == "slow" else []))
    client.close()
    client = transport(home, cells, deadline)
    fleet = Fleet(client)
    good = [cell for cell in cells if cell not in bad]
    client.settings = client.settings.with_value("timeout", "60")
    for _ in range(2):
        ask(fleet, good)
    alone = ask(fleet, good) / 1000
    client.settings = client.settings.with_value("timeout", f"{deadline:g}")
    shown: dict[str, float] = {}
    started = time.perf_counter()
    result = fleet.send(
        dict.fromkeys(cells, STATEMENT),
        role=Role.READ,
        on_reply=lambda reply: shown.__setitem__(reply.target, time.perf_counter() - started),
    )
    print(f"\n{most} cells, three of them bad, deadline {deadline:g}s")
    last = max(shown[cell] for cell in good)
    print(f"  {len(good)} good cells, the last shown after {last:.2f} s; without the bad ones it takes {alone:.2f} s")
    for cell, fault in bad.items():
        reply = result.replies[cell]
        print(f"  {cell} ({fault}): {reply.state} after {shown[cell]:.2f} s: {reply.problem or 'answered'}")
    client.close()


if __name__ == "__main__":
    main()
