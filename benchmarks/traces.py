"""How fast trace files are summed up, beside what else could: ripgrep, perl, DuckDB and R, in the same run.

    python benchmarks/traces.py [--files=20] [--commits=200000] [--rounds=3]

The last lines say how much more trace compare takes than trace summarize, with half of the files on each side.

Makes 4,000,000 waits for log file sync in 20 files (0.85 GB) in a temporary folder and removes them. Each program takes its
turn in every round, so that all meet the same load; the best of each counts. What is not installed is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.trace_files import write_file  # noqa: E402

EVENT = "log file sync"
_PERL = r"""while(<>){ $h{$1}++ if /^WAIT #\d+: nam='log file sync' ela= *(\d+)/ } print scalar(keys %h), "\n";"""
_R = r"""n <- 0
for (f in commandArgs(TRUE)) {
  w <- grep("nam='log file sync'", readLines(f), fixed = TRUE, value = TRUE)
  n <- n + length(as.integer(sub(".*ela= *([0-9]+).*", "\\1", w, perl = TRUE)))
}
cat(n)"""
_DUCK = r"""import duckdb, sys
text = "regexp_extract(line, '^WAIT #[0-9]+: nam=''log file sync'' ela= *([0-9]+)', 1)"
read = "columns={'line': 'varchar'}, delim=chr(1), header=false, quote='', escape='', auto_detect=false"
query = f"select v, count(*) from (select {text} v from read_csv('{sys.argv[1]}/*.trc', {read})) where v <> '' group by v"
print(len(duckdb.sql(query).fetchall()))"""


def programs(folder: Path, files: list[str]) -> Mapping[str, list[str]]:
    """Return what is there to be measured, by name."""
    exacell = [sys.executable, "-m", "exacell", "trace", "summarize"]
    found = {
        "rg -c": ["rg", "-c", f"nam='{EVENT}'", *files],
        "exacell, one event": [*exacell, f"event='{EVENT}'", *files],
        "exacell, all events": [*exacell, *files],
        "exacell, two halves": [
            *exacell[:-1],
            *("compare", f"event='{EVENT}'", f"a='{' '.join(files[::2])}'", f"b='{' '.join(files[1::2])}'"),
        ],
        "perl": ["perl", "-ne", _PERL, *files],
        "R readLines": ["Rscript", "-e", _R, *files],
        "DuckDB": [sys.executable, "-c", _DUCK, str(folder)],
    }
    there = {name: words for name, words in found.items() if shutil.which(words[0])}
    if subprocess.run([sys.executable, "-c", "import duckdb"], capture_output=True, check=False).returncode:
        del there["DuckDB"]
    return there


def timed(words: list[str]) -> tuple[float, float, int]:
    """Return seconds on the clock, seconds of all processors, and the largest memory of one process in MB."""
    began = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=ROOT)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{words[0]} ended with {child.returncode}")
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--commits", type=int, default=200_000, help="waits for log file sync in each file")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="exacell-traces-") as name:
        folder = Path(name)
        paths = [folder / f"spot1_ora_{20_000 + number}.trc" for number in range(asked.files)]
        with Pool() as pool:
            pool.starmap(write_file, [(path, asked.commits, number) for number, path in enumerate(paths)])
        best: dict[str, tuple[float, float, int]] = {}
        for turn in range(asked.rounds):
            for program, words in programs(folder, [str(path) for path in paths]).items():
                if turn and program in ("R readLines", "perl", "DuckDB"):
                    continue
                found = timed(words)
                old = best.get(program, found)
                best[program] = (min(found[0], old[0]), min(found[1], old[1]), max(found[2], old[2]))
    print(f"{'':22}{'wall s':>8}{'CPU s':>8}{'MB':>6}{'wall : rg':>11}{'CPU : rg':>10}{'R : wall':>10}")
    slow = best.get("R readLines")
    for program, (wall, cpu, memory) in best.items():
        to_rg = (
            [f"{mine / its:.1f}" for mine, its in zip((wall, cpu), best["rg -c"][:2], strict=True)]
            if "rg -c" in best
            else "--"
        )
        times = f"{slow[0] / wall:.1f}" if slow else "-"
        print(f"{program:22}{wall:8.2f}{cpu:8.2f}{memory:6}{to_rg[0]:>11}{to_rg[1]:>10}{times:>10}")
    ratio = best["exacell, two halves"][1] / best["exacell, one event"][1]
    print(f"trace compare takes {ratio:.1f} times the CPU of trace summarize over the same files (at most 3)")
    print("goals: one event <= 4, all events <= 8 times rg's wall; <= 250 MB; >= 20 times as fast as R")


if __name__ == "__main__":
    main()
