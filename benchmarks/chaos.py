"""Let things go wrong at random instants while real processes change a rack over real SSH, and judge what is left.

    python benchmarks/chaos.py [--minutes=30] [--seed=N] [--keep=FOLDER] [--only=words]

A round is one statement that is struck once or several times, then what an operator does who follows what the next start
tells. The rack is emulated, under load, and its cells refuse nothing by themselves; the rack goes on from round to round
as it was left. Instants are random in wall time, so a seed repeats what is done and not exactly when. Prints a line a
round; what fails leaves its story, journals and audit in the folder, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "faults"), str(ROOT / "benchmarks")]

from chaos_blows import draw  # noqa: E402
from chaos_judge import Judge  # noqa: E402
from chaos_rack import ChaosRack, Ended  # noqa: E402
from chaos_verbs import Choice, choose  # noqa: E402

from exacell.change.pending import pending  # noqa: E402

STEPS = 9
"""So many statements the operator gives at most until all is well again."""
RACKS: tuple[dict[str, object], ...] = (
    {"cells": 3},
    {"cells": 3, "cellcli-start": "0.3s"},
    {"cells": 4, "dbnodes": 3},
    {"cells": 3, "model": "x8m", "release": "22.1", "pmem": "writeback"},
    {"cells": 6},
    {"cells": 3, "release": "11.2.3.2.1"},
    {"cells": 3, "clocks": True},
    {"cells": 3, "write_timeout": "6s"},
)


class Round:
    """One statement, what strikes it, and how it is brought to an end."""

    def __init__(self, rack: ChaosRack, rng: random.Random, only: str) -> None:
        self.rack, self.rng = rack, rng
        self.story: list[str] = []
        self.before = rack.state()
        disks = [disk for group in self.before["ASM"].values() for disk in group["disks"].values()]
        rack.degraded = any(mode != "ONLINE" for mode, *_ in disks)
        self.choice: Choice = choose(rack, rng, self.before, only)
        self.journal_from = rack.journal_rows()
        self.audit_from = rack.audit_size()
        self.blows: list[str] = []
        self.back = self.rng.random() < 0.35 and self.choice.undo
        self.last: Ended | None = None

    def run(self) -> None:
        """Carry it out."""
        rack = self.rack
        self.say(f"rack {rack.options}; {self.choice}")
        for statement in self.choice.before:
            self.do(statement, struck=False)
        self.last = self.do(f"{self.choice.statement} -y", struck=True)
        for step in range(STEPS):
            rack.mend()
            statement = self._next(step)
            if not statement:
                break
            said = self.do(statement, struck=self.rng.random() < (0.45 if step < 3 else 0))
            if said.code == 2:
                time.sleep(1.5)  # What is in the way, such as a rebalance, has an end: minutes of the rack's time.
        rack.mend()
        rack.end_guardians()

    def _next(self, step: int) -> str:
        """Return what the operator says next; empty when all is well as far as he is told."""
        told = pending(self.rack.journal, "t1")
        for item in told:
            self.say(f"told: {item.sentence}")
        number = self.rack.newest_change(self.journal_from)
        if self.back and number and step == 0:
            return f"undo {number} -y"
        if told:
            mend = told[step % len(told) if step > 3 else 0].mend
            if self.last is not None and self.last.code == 2 and mend == "resume" and self.choice.undo and step > 2:
                return f"undo {told[0].change} -y"
            return f"{mend} -y"
        if self.last is not None and self.last.code == 1:
            if self.last.statement.startswith("undo "):
                return self.last.statement
            if step == 0 and not self.back:
                return "retry failed -y"
        return ""

    def do(self, statement: str, *, struck: bool) -> Ended:
        """Give a statement, strike it perhaps, and return how its process ended."""
        process = self.rack.start(statement)
        blow = draw(self.rack, self.rng, statement) if struck else None
        if blow is not None:
            self.blows.append(blow.name)
            try:
                self.say(f"while it runs: {blow.strike(process)}")
            finally:
                blow.release()
        ended = self.rack.wait(process)
        self.last = ended
        self.say(f"{statement}: {ended.code}: {ended.text.strip()}")
        return ended

    def say(self, text: str) -> None:
        """Add a line to the round's story."""
        self.story.append(f"{time.strftime('%H:%M:%S')} {text}")


def main() -> int:
    """Run rounds until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--keep", type=Path, default=Path("/tmp/exacell-chaos"))
    parser.add_argument("--only", default="")
    parser.add_argument("--rack", type=int, default=-1, help="one of the kinds of racks only")
    parser.add_argument("--each", type=int, default=12, help="rounds on one rack")
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    counts: Counter[str] = Counter()
    asked.keep.mkdir(parents=True, exist_ok=True)
    number, racks = 0, 0
    while time.monotonic() < until and number < asked.rounds:
        seed = asked.seed + racks
        rng = random.Random(seed)
        options = RACKS[asked.rack if asked.rack >= 0 else racks % len(RACKS)]
        racks += 1
        rack = ChaosRack(options, seed)
        try:
            for _ in range(asked.each):
                if time.monotonic() > until or number >= asked.rounds:
                    break
                number += 1
                good, line = one(rack, rng, asked.only, asked.keep, f"{seed}-{number}")
                counts["survived" if good else "failed"] += 1
                print(f"{time.strftime('%H:%M:%S')} seed {seed} round {number}: {line}", flush=True)
                if not good or rack.expelled:
                    break
        finally:
            rack.close()
    print(f"{number} rounds on {racks} racks: {dict(counts)}", flush=True)
    return 1 if counts["failed"] else 0


def one(rack: ChaosRack, rng: random.Random, only: str, keep: Path, name: str) -> tuple[bool, str]:
    """Carry out one round and return whether it was survived, and a line about it."""
    began = time.monotonic()
    turn = Round(rack, rng, only)
    try:
        turn.run()
        problems = Judge(rack, turn).problems()
    except Exception:  # A bug of this program is told like one of exacell's.
        problems = [traceback.format_exc()]
    took = time.monotonic() - began
    line = f"{took:.0f}s {turn.choice.statement} [{', '.join(turn.blows)}] -> {turn.choice.ended or '?'}"
    with open(keep / "stories.log", "a", encoding="utf-8") as log:
        log.write("\n".join([f"=== {name}: {line}", *turn.story, ""]))
    if not problems:
        return True, line
    folder = keep / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = "\n".join([*turn.story, "", *(f"! {problem}" for problem in problems)])
    (folder / "story.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "before.json").write_text(json.dumps(turn.before, indent=1, default=str), encoding="utf-8")
    rack.keep(folder)
    return False, f"FAILED {line}: {problems[0][:300]} ({folder})"


if __name__ == "__main__":
    sys.exit(main())
