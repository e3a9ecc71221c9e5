"""Print what a large answer costs in each format: time, how often raw's time of the same run that is, and peak memory.

Run: python benchmarks/large.py [--share 1.0] [--hosts 14] [--rounds 1] [--formats raw,csv]. sshd daemons on loopback play the
cells (benchmarks/lab.py) and print files: LIST METRICHISTORY of an hour, 162,540 rows a cell, as text and as XML, so that
only the client and ssh are measured. Each format is a run of the whole program with its output into a file; its rows are
counted. --share takes that part of an hour. The exit code is 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from lab import Lab, installed

from exacell.cellcli.schema import metrics

ROWS = 162_540
"""METRICHISTORY of an hour on one cell: 60 collections of 2,709 metrics; 2,275,560 rows on 14 cells."""
FORMATS = ("raw", "csv", "tsv", "jsonl", "json", "yaml", "md", "table")
GOAL_MB, GOAL_TIMES = 300, 4.0
"""Peak memory of every format, and how often raw's time csv, jsonl and the table may take."""
HELD = ("csv", "jsonl", "table")
_COLLECTED = 2_709
_BEGINS = datetime(2026, 11, 24, 12, tzinfo=UTC)
_XML = '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="cel01" realm="" ossStartTimestamp="1"/>\n'
_RECORD = (
    "<metric> <name>{}</name>\n<metricObjectName>{}</metricObjectName>\n<metricValue>{}</metricValue>\n"
    "<collectionTime>{}</collectionTime>\n</metric>\n"
)


def history(rows: int) -> Iterator[tuple[str, str, float, str, datetime]]:
    """Yield metric, object, value, unit and time of so many rows, as a busy cell has them: two values in five are 0."""
    chance = random.Random(7)
    things = [
        "FLASHCACHE",
        *(f"{kind}_{n:02d}_exa1cel01" for kind in ("CD", "FD", "DATA_CD", "RECO_CD") for n in range(12)),
    ]
    kinds = [(one.name, one.unit or "IO requests", thing) for one, thing in product(metrics().values(), things)]
    chosen = sorted(chance.sample(kinds, _COLLECTED))
    for number in range(rows):
        name, unit, thing = chosen[number % _COLLECTED]
        value = 0.0 if chance.random() < 0.4 else chance.random() * 10 ** chance.randint(0, 6)
        yield name, thing, value, unit, _BEGINS + timedelta(minutes=number // _COLLECTED)


def write(folder: Path, rows: int) -> None:
    """Write history.txt and history.xml: each row 132 bytes as text on average."""
    with (folder / "history.txt").open("w") as text, (folder / "history.xml").open("w") as xml:
        xml.write(_XML)
        for name, thing, value, unit, at in history(rows):
            text.write(f"\t {name:<28}\t {thing:<36}\t {f'{value:,.3f} {unit}':<32}\t {at.isoformat()}\n")
            xml.write(_RECORD.format(name, thing, value, int(at.timestamp() * 1000)))
        xml.write("</cli-output>\n")


def run(words: list[str], environment: dict[str, str], target: Path) -> tuple[float, float, float, int]:
    """Run a command into a file; return seconds, seconds of its own CPU, peak megabytes and lines."""
    began = time.perf_counter()
    with target.open("wb") as out:
        process = subprocess.Popen(words, env=environment, stdout=out, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    if status:
        raise SystemExit(f"{' '.join(words)}: {said}")
    with target.open("rb") as file:
        lines = sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--hosts", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--formats", default=",".join(FORMATS))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended on the way out
    with tempfile.TemporaryDirectory(prefix="exacell-bench-") as name, Lab(Path(name), options.hosts) as lab:
        write(lab.folder, round(ROWS * options.share))
        sys.exit(measure(lab, options.hosts, options.rounds, options.formats.split(",")))


def measure(lab: Lab, hosts: int, rounds: int, wanted: list[str]) -> int:
    """Take turns, print a line for each format, and return the exit code."""
    home = lab.folder / "home"
    home.mkdir()
    environment = {
        **os.environ,
        "EXACELL_HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(lab.folder / "bytecode"),
        "TMPDIR": str(lab.folder),
    }
    python = installed(lab.folder / "venv")
    words = [python, "-m", "exacell", "-g", str(lab.hostfile(hosts)), "-l", lab.user, "--ssh-config"]
    words += [str(lab.folder / "ssh_config"), "-e", "set timeout 600s", "-o"]
    size = {kind: (lab.folder / f"history.{kind}").stat().st_size for kind in ("txt", "xml")}
    with (lab.folder / "history.txt").open("rb") as file:
        rows = hosts * sum(1 for _ in file)
    print(
        f"{hosts} cells, {rows:,} rows: {hosts * size['txt'] / 1e6:.0f} MB as text, {hosts * size['xml'] / 1e6:.0f} as XML"
    )
    found: dict[str, list[tuple[float, float, float]]] = {form: [] for form in wanted}
    target = lab.folder / "out"
    for _, form in product(range(rounds), wanted):
        took, cpu, peak, lines = run([*words, form, "-e", "list metrichistory"], environment, target)
        if lines < rows:
            raise SystemExit(f"{form}: {lines:,} lines of {rows:,} rows")
        found[form].append((took, cpu, peak))
    raw, raw_cpu = (statistics.median(one[place] for one in found[wanted[0]]) for place in (0, 1))
    missed = False
    print(f"{'format':<8}{'seconds':>9}{'x ' + wanted[0]:>8}{'CPU':>8}{'x':>6}{'peak MB':>9}")
    for form, runs in found.items():
        took, cpu = (statistics.median(one[place] for one in runs) for place in (0, 1))
        peak = max(one[2] for one in runs)
        bad = peak > GOAL_MB or (form in HELD and took > GOAL_TIMES * raw)
        missed = missed or bad
        print(
            f"{form:<8}{took:>9.2f}{took / raw:>8.2f}{cpu:>8.2f}{cpu / raw_cpu:>6.2f}{peak:>9.0f}"
            + ("  missed" if bad else "")
        )
    print(f"goals: {GOAL_MB} MB each; {', '.join(HELD)} at most {GOAL_TIMES:g} times {wanted[0]}")
    return int(missed)


if __name__ == "__main__":
    main()
