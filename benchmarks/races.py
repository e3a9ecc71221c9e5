"""Race the last look at a cell against everything that can come before the statement that loses data, and judge.

    python benchmarks/races.py [--races=500] [--seed=N] [--only=drop] [--jobs=2] [--keep=FOLDER] [--write]
    python benchmarks/races.py --seed=N --number=288 [--times=20]
    python benchmarks/races.py --moment=200 [--loaded] [--write]

A race is one statement of an operator that drops or resizes a cache, grid disks or a disk group, on an emulated rack whose
cells refuse nothing by themselves, and somebody who ends the flush and lets a database write, restarts CELLSRV, or takes
the lock over, at a random instant between look and statement, while cells are slow or hang, or our process is stopped.
A race is survived when nothing went with a statement of ours, no look was older than a fifth of a second when its
statement arrived, the old owner sent nothing after a takeover, and whoever lost a race was told. A seed repeats what is
done; instants are wall time; ``--number`` does a single race of a seed again. ``--moment`` measures how old the look is
when nobody disturbs. Leaves with 1 when a race was not survived.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import time
import traceback
from collections import Counter
from datetime import date
from pathlib import Path
from queue import Empty
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from races_judge import LONGEST, Verdict  # noqa: E402
from races_run import Course  # noqa: E402
from races_verbs import VERBS  # noqa: E402

MEASURED = ("drop", "resize", "drop", "alter size", "drop", "pmem drop")
BUSY = "while True: pass"


def work(seed: int, numbers: list[int], only: str, keep: Path | None, found: Any) -> None:
    """Carry out some races, and put (number, kind, verdict) of each; None behind the last."""
    course = Course(seed, keep=keep)
    try:
        for number in numbers:
            try:
                verb, verdict = course.race(number, only)
                found.put((number, verb.kind, verdict))
            except Exception as error:  # A bug of this program is told like one of exacell's.
                where = "".join(traceback.format_tb(error.__traceback__)[-1:])
                found.put((number, "?", Verdict(f"race {number}", odd=[f"{error}\n{where}"])))
    finally:
        course.close()
        found.put(None)


def run(seed: int, numbers: list[int], jobs: int, only: str, keep: Path | None) -> list[tuple[int, str, Verdict]]:
    """Return what became of each race, telling those that were not survived as they end."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    workers = [context.Process(target=work, args=(seed, numbers[job::jobs], only, keep, found)) for job in range(jobs)]
    for worker in workers:
        worker.start()
    left, rows = jobs, []
    while left:
        try:
            row = found.get(timeout=5)
        except Empty:
            if not any(worker.is_alive() for worker in workers):
                break
            continue
        if row is None:
            left -= 1
            continue
        rows.append(row)
        number, kind, verdict = row
        if not verdict.survived:
            print(
                f"seed {seed} race {number} ({kind}) {verdict.script}: {'; '.join(verdict.problems())[-600:]}",
                flush=True,
            )
    for worker in workers:
        worker.join()
    return rows


_COLUMNS = (
    "statement",
    "races",
    "struck in time",
    "survived",
    "lost",
    "stale statements",
    "sent after a takeover",
    "untold",
    "in the moment that remains",
)


def table(rows: list[tuple[int, str, Verdict]]) -> list[str]:
    """Return the table of statements and what became of their races."""
    lines = [f"| {' | '.join(_COLUMNS)} |", "|--|" + "--:|" * (len(_COLUMNS) - 1)]
    shown = {verb.kind: f"`{verb.statement}`" + (f" ({verb.rack})" if verb.rack != "x2" else "") for verb in VERBS}
    for kind in [*shown, "all"]:
        of = [verdict for _, k, verdict in rows if kind in (k, "all")]
        if of:
            figures = (
                shown.get(kind, "**all**"),
                len(of),
                sum(v.struck for v in of),
                sum(v.survived for v in of),
                _size(v.lost for v in of),
                sum(len(v.stale) for v in of),
                sum(len(v.after) for v in of),
                sum(bool(v.untold) for v in of),
                f"{sum(v.moment > 0 for v in of)} ({_size(v.moment for v in of)})",
            )
            lines.append(f"| {' | '.join(map(str, figures))} |")
    return lines


def _size(sizes: Any) -> str:
    total = sum(sizes)
    return f"{total / (1 << 30):.1f} GB" if total else "0"


def summary(rows: list[tuple[int, str, Verdict]], seconds: float) -> str:
    """Return one line about all races."""
    of = [verdict for _, _, verdict in rows]
    return (
        f"{sum(v.survived for v in of)} of {len(of)} survived; {_size(v.lost for v in of)} lost, "
        f"{sum(len(v.stale) for v in of)} stale statements, {sum(len(v.after) for v in of)} sent after a takeover, "
        f"{sum(bool(v.untold) for v in of)} untold; {sum(v.moment > 0 for v in of)} struck in the moment that remains "
        f"({_size(v.moment for v in of)}); {seconds:.0f}s, {date.today().isoformat()}"
    )


def moment(count: int, seed: int, *, loaded: bool) -> list[str]:
    """Return lines about how old the look is when its statement arrives."""
    beside = os.getloadavg()[0]
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 if loaded else 0)]
    ages: list[float] = []
    kinds: Counter[str] = Counter()
    course = Course(seed)
    try:
        turn = 0
        while len(ages) < count:
            kind = MEASURED[turn % len(MEASURED)]
            found = course.ages(kind)
            kinds[kind] += len(found)
            ages += found
            turn += 1
    finally:
        course.close()
        for process in busy:
            process.kill()
            process.wait()
    ages.sort()
    of = f"{len(ages)} statements ({', '.join(f'{number} of {kind}' for kind, number in kinds.items())})"
    shares = ", ".join(f"{name} {1000 * ages[int(share * (len(ages) - 1))]:.0f} ms" for name, share in _SHARES)
    over = sum(age > LONGEST for age in ages)
    command = f"python benchmarks/races.py --moment={count}{' --loaded' if loaded else ''} --write"
    age = f"age of the look when the statement arrived: {shares}; {over} above {LONGEST} s"
    age += f"; load average before it {beside:.1f} on {os.cpu_count()} cores"
    return [f"`{command}`: {of}, {age}, {date.today().isoformat()}"]


_SHARES = (("p50", 0.5), ("p99", 0.99), ("most", 1.0))


def keep_lines(mark: str, lines: list[str]) -> None:
    """Put lines into the page, between the marks of a name."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text("\n".join([before + begin, *lines, end]) + after, encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description="race look and statement against what can come between")
    options.add_argument("--races", type=int, default=500)
    options.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options.add_argument("--only", default="", help="only statements of this kind, such as drop or pmem")
    options.add_argument("--jobs", type=int, default=2, help="processes, each with racks of its own")
    options.add_argument(
        "--keep", type=Path, default=None, help="folder for the stories of races that were not survived"
    )
    options.add_argument("--number", type=int, default=None, help="only this race of the seed")
    options.add_argument("--times", type=int, default=1, help="so often")
    options.add_argument(
        "--moment", type=int, default=0, help="measure so many statements that nobody disturbs instead"
    )
    options.add_argument("--loaded", action="store_true", help="measure beside two busy loops")
    options.add_argument("--write", action="store_true", help="keep the figures in docs/reliability.md")
    given = options.parse_args()
    if given.moment:
        lines = moment(given.moment, given.seed, loaded=given.loaded)
        print("\n".join(lines))
        if given.write:
            keep_lines(f"moment, {'loaded' if given.loaded else 'quiet'}", lines)
        return 0
    started = time.monotonic()
    numbers = list(range(given.races)) if given.number is None else [given.number] * given.times
    rows = run(given.seed, numbers, given.jobs, given.only, given.keep)
    told = summary(rows, time.monotonic() - started)
    lines = table(rows)
    print("\n".join([*lines, told]))
    if given.write and given.number is None:
        only = f" --only={given.only}" if given.only else ""
        keep_lines(
            "races",
            [
                f"`python benchmarks/races.py --races={given.races} --seed={given.seed}{only} --write`: {told}",
                "",
                *lines,
            ],
        )
    return 0 if len(rows) == len(numbers) and all(verdict.survived for _, _, verdict in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
