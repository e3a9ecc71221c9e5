"""Kill runs of a recipe at random moments, go on with them by ``resume`` alone, and compare with runs that nobody killed.

    python benchmarks/killed_runs.py [--rounds=20] [--seed=1]

A round runs a recipe about cells, hosts and SQL, with a recipe within it, a matrix, a wait and a finally, on two emulated racks
that are alike. On one nobody disturbs it. On the other ``kill -9`` ends exacell at a random moment, also while it prints
nothing, then half of the time the ``resume`` that goes on with it, and that one's as well; the last ``resume -y`` is left alone.
A round is survived when that one ends with 0, both racks are in the same state, each command that runs apart on hosts ran
once, nothing is pending, no folder is left on a host, the lock is free and the journal is whole. A seed repeats what is
done, not exactly when. Leaves with 1 when a round was not survived.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from tests.support.program import InProcess  # noqa: E402

RECIPES = {
    "inside": """\
recipe "Inside"
param db : name
disable flashlog db=$db
wait 1s
enable flashlog db=$db
finally
  undo run
end
""",
    "whole": """\
recipe "Cells, hosts and SQL"
needs opaque
param size : size
param mark : name
param back : choice(yes|no)
let was = list flashcache.size of exa1cel01
list cell attributes name
resize flashcache size=$size
on @db sh --detach sleep 0.3; echo ${mark} >> /tmp/said
matrix cursors in 444,555
  sql db=SPOT "alter system set open_cursors=${cursors}"
end
@inside db=ERP
set iorm db=ERP share=7
wait 1s
check all flashcache.status = normal
set iorm db=SPOT share=4
finally
  resize flashcache size=$was when $back = no
  undo run when $back = yes
end
""",
}
"""Where nothing is taken back at the end, the next round begins from what this one left, on both racks."""

MOST = 2
"""So many resumes of a run are killed."""


@dataclass
class Round:
    """What became of a round: what it did, where it was killed, and what was wrong."""

    said: str
    killed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    void: bool = False
    """This host was too busy to carry something out, killed or not: nothing was shown."""


class Rack:
    """An emulated rack with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.program = InProcess(home)
        (home / "recipes").mkdir(parents=True)
        for name, text in RECIPES.items():
            (home / "recipes" / f"{name}.exa").write_text(text)
        self.program.ok("emulator", "start", "t1", "speed=600")

    def close(self) -> None:
        """Stop it."""
        self.program.ok("emulator", "stop", "t1")

    def asked(self, *words: str) -> list[dict[str, object]]:
        """Return what a reading statement answers."""
        return self.program.ok("-r", "t1", "-o", "json", *words).records

    def state(self) -> dict[str, list[dict[str, object]]]:
        """Return what a round may change."""
        return {
            "cache": self.asked("list flashcache attributes name, size, status"),
            "disks": self.asked("list griddisk attributes name, size, status"),
            "iorm": self.asked("list iormplan attributes dbplan, status"),
            "sql": self.asked("sql db=SPOT \"select name, value from v$parameter where name = 'open_cursors'\""),
            "spfile": self.asked("sql db=SPOT \"select name, value from v$spparameter where name = 'open_cursors'\""),
        }

    def on_hosts(self, command: str) -> list[str]:
        """Return what a command prints on each database node."""
        rows = self.asked("--accept-opaque", f"on @db sh {command}")
        return [str(row["text"]) for row in rows]

    def run(self, words: Sequence[str], kill: tuple[int, float] | None = None) -> tuple[int, list[str]]:
        """Run a statement in a process; return its exit code, negative where it was killed, and what it said.

        Args:
            kill: so many seconds after it has said so many lines.
        """
        process = subprocess.Popen(
            [sys.executable, "-m", "exacell", "-r", "t1", *words],
            env=self.program.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        said: list[str] = []
        blow = threading.Timer(kill[1] if kill is not None else 0, process.kill)
        try:
            for line in process.stderr:
                said.append(line.rstrip("\n"))
                if kill is not None and len(said) == kill[0]:
                    blow.start()
            return process.wait(), said
        finally:
            blow.cancel()
            process.kill()
            process.wait()


def judge(rack: Rack, twin: Rack, mark: str) -> Iterator[str]:
    """Yield what is wrong after a round, a sentence each."""
    unkilled = twin.state()
    for what, seen in rack.state().items():
        if odd := [row for row in seen if row not in unkilled[what]] + [
            row for row in unkilled[what] if row not in seen
        ]:
            yield f"{what}: {odd[:4]} on one of the two racks alone"
    lines = [text.split().count(mark) for text in rack.on_hosts("cat /tmp/said")]
    if lines != [1, 1]:
        yield f"the command that runs apart ran {lines} times"
    if left := [text for text in rack.on_hosts("ls /tmp") if "exacell-" in text]:
        yield f"left on hosts: {left}"
    if pending := rack.asked("pending"):
        yield f"pending: {pending}"
    if rack.asked("show lock")[0]["locked"]:
        yield "the rack is locked"
    if rack.program("-r", "t1", "journal verify").code:
        yield "the journal is damaged"


def too_busy(said: Sequence[str]) -> bool:
    """Whether a look at a cell was too old to act upon because this host stood still."""
    return any("was suspended" in line for line in said)


def play(rack: Rack, twin: Rack, dice: random.Random, number: int) -> Round:
    """Do one round."""
    back, mark = dice.choice(("yes", "no")), f"m{number}"
    statement = f"run whole size={dice.choice((256, 288, 304, 320))}g mark={mark} back={back}"
    words = (statement, "-y", "--accept-opaque")
    found = Round(statement)
    began = time.monotonic()
    code, said = twin.run(words)
    lasted = time.monotonic() - began
    if code:
        found.void = too_busy(said)
        found.problems.append(f"unkilled it ended with {code}: {said[-3:]}")
        return found
    first = next(place for place, line in enumerate(said) if line.startswith("[1/"))
    for attempt in range(1 + MOST):
        if attempt and dice.random() < 0.5:
            break
        some = dice.randrange(1 if attempt else first, len(said))
        kill = dice.choice(((some, 0.0), (1 if attempt else first, dice.uniform(0, lasted))))
        code, told = rack.run(("resume", "-y", "--accept-opaque") if attempt else words, kill)
        if code != -9:
            break  # It had ended before.
        found.killed.append(told[-1].strip())
    if found.killed:
        code, told = rack.run(("resume", "-y", "--accept-opaque"))
    if code:
        found.void = too_busy(told)
        found.problems.append(f"it ended with {code}: {told[-3:]}")
    found.problems += judge(rack, twin, mark)
    return found


@contextmanager
def racks() -> Iterator[tuple[Rack, Rack]]:
    """Two racks that are alike."""
    with tempfile.TemporaryDirectory(prefix="killed-") as folder, ExitStack() as stack:
        both = []
        for name in ("killed", "twin"):
            both.append(Rack(Path(folder) / name))
            stack.callback(both[-1].close)
        yield both[0], both[1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill runs at random moments and go on with them.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began, kills, bad, void, number = time.monotonic(), Counter[int](), 0, 0, 0
    while number < given.rounds:
        with racks() as (rack, twin):
            while number < given.rounds:
                found = play(rack, twin, random.Random(f"{given.seed} {number}"), number)
                number += 1
                print(f"{number}: {found.said}: killed at {found.killed or 'no moment'}", flush=True)
                for problem in found.problems:
                    print(f"   {problem}", flush=True)
                if found.void:
                    void += 1
                    break  # The racks are not alike any more.
                kills[len(found.killed)] += 1
                bad += bool(found.problems)
    times = ", ".join(f"{count} killed {how} times" for how, count in sorted(kills.items()))
    print(
        f"seed {given.seed}: {given.rounds} rounds ({times}; {void} void, this host was too busy) in "
        f"{time.monotonic() - began:.0f}s, {bad} not survived"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
