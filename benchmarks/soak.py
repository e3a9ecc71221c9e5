"""Have two operators work on a rack of fourteen cells through held connections while all kinds of things go wrong.

    python benchmarks/soak.py [--minutes=20] [--seed=N] [--keep=FOLDER] [--slice=SEED] [--cells=14] [--turns=2] [--each=4]

A slice is a seed. In it the first operator does what ``benchmarks/chaos.py`` has him do: changes of all kinds that are struck
at random, and what the next start tells him to do. Beside it the second one, with a home of his own, reads, carries out scripts,
rehearses recipes, measures and labels cells; both have EXACELL_HOLD, and their holders are stopped and killed now and then.
Half of what the second one does is struck, too: stopped for a while, killed, on a full disk, with a clock that is set.
After each turn all stands still and is judged: chaos's judge (nothing dirty lost, no second failure group, journals whole,
caching on, all that was sent announced, nothing left), and every answer of a read: with exit code 0 it is what the cells are,
from all of them, and otherwise a part of that. The rack goes on for ``--each`` slices; on every third one the cells' clocks can
be set as well as the operators', on another third the operators' alone, which libfaketime does. A slice that fails is written
into ``seeds.txt`` of the folder with its story; ``--slice=SEED`` plays one again on a new rack. A seed repeats what is done,
not exactly when. Leaves with 1 when a slice was not survived.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "faults"), str(ROOT / "benchmarks")]

from chaos import Round  # noqa: E402
from chaos_blows import fill_disk  # noqa: E402
from chaos_judge import Judge  # noqa: E402
from chaos_rack import ENDS, RECIPES, ChaosRack, Ended  # noqa: E402

READS = (
    "list cell attributes name,releaseVersion",
    "list physicaldisk attributes name,diskType",
    "list celldisk attributes name,diskType",
    "list lun attributes name,lunSize",
)
"""What no change of the operators, and no fault, makes different."""
SCRIPT = "list cell attributes name,releaseVersion\nlist flashcache\nshow health\nlist cell attributes name,comment\n"
_GIVEN = re.compile(r"[0-9:]{8} (?!while it runs: |told: |rack ).*?: -?[0-9]+: ?", re.DOTALL)
"""A line of the first operator's story about a statement and its exit code."""
_HOLDER = b"exacell.transport.held.holder"


class SoakRack(ChaosRack):
    """A rack whose operators have their connections held."""

    def __init__(self, options: Mapping[str, object], seed: int) -> None:
        super().__init__(options, seed)
        shutil.copytree(RECIPES, self.second / "recipes")
        for home in (self.home, self.second):
            # Fourteen cells are one process here, which may take long over fourteen logins at once.
            (home / "config.toml").write_text('[settings]\nconnect_timeout = "20s"\n')

    def environment(self, home: Path) -> dict[str, str]:
        """Return what a process of an operator sees."""
        return {**super().environment(home), "EXACELL_HOLD": "10m"}

    def ask(
        self, home: Path, *words: str, typed: str = "", strike: Callable[[subprocess.Popen[bytes]], None] | None = None
    ) -> Ended:
        """Run the program to its end, and return what it gave, and with another exit code than 0 what it said as well.

        Args:
            strike: is called with the process once it runs, in a thread that ends before this returns.
        """
        with subprocess.Popen(
            [sys.executable, "-m", "exacell", "-r", "t1", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(home),
            start_new_session=True,
        ) as process:
            striking = threading.Thread(target=strike, args=(process,), name="strike", daemon=True) if strike else None
            try:
                if striking:
                    striking.start()
                out, told = process.communicate(typed.encode(), timeout=3 * ENDS)
            finally:
                process.kill()
                if striking:
                    striking.join(ENDS)
        text = out.decode("utf-8", "backslashreplace")
        return Ended(" ".join(words), process.returncode, text if process.returncode == 0 else f"{text}{told.decode()}")

    def holders(self) -> list[int]:
        """Return the process ids of the operators' holders."""
        homes = {f"EXACELL_HOME={home}".encode() for home in (self.home, self.second)}
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):  # It has ended.
                if entry.name.isdigit() and _HOLDER in (entry / "cmdline").read_bytes():
                    found += [int(entry.name)] if homes & set((entry / "environ").read_bytes().split(b"\0")) else []
        return found

    def end_holders(self) -> None:
        """Have the holders end, as their operators would; one that does not is killed by that."""
        for home in (self.home, self.second):
            self.ask(home, "hold", "off")


@dataclass
class Neighbour:
    """The second operator, in a thread of his own until told to stop.

    Attributes:
        truth: read → its rows, as all cells gave them before anything was done.
        said: what he did, for the story.
        wrong: what was not as it has to be.
        counts: verbs, answers that were compared, and blows against holders.
    """

    rack: SoakRack
    rng: random.Random
    truth: dict[str, list[str]]
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def work(self, stop: threading.Event) -> None:
        """Do one thing after the other."""
        try:
            while not stop.is_set():
                self.rng.choices(
                    (self._read, self._script, self._label, self._aside, self._strike_holder), (10, 2, 2, 4, 2)
                )[0]()
        except Exception:  # A bug of this program is told like one of exacell's.
            self.wrong.append(traceback.format_exc())

    def _ask(self, home: Path, *words: str, typed: str = "", may_end: bool = True) -> Ended:
        """Run the program, struck every other time; ``may_end`` says whether the blow may end it before its work is done."""
        kinds = ["stopped", *["clock"] * self.rack.skewed, *["killed", "disk full"] * may_end]
        if self.rng.random() < 0.5:
            return self._say(self.rack.ask(home, *words, typed=typed))
        kind, after, seconds = self.rng.choice(kinds), self.rng.random() * 4, self.rng.choice((-3600, -30, 30, 3600))
        struck = False

        def strike(process: subprocess.Popen[bytes]) -> None:
            nonlocal struck
            with suppress(subprocess.TimeoutExpired):
                process.wait(after)
                return
            struck = True
            if kind == "stopped":
                process.send_signal(signal.SIGSTOP)
                time.sleep(after)
                process.send_signal(signal.SIGCONT)
            elif kind == "clock":
                self.rack.set_clock("operator", seconds)
            elif kind == "killed":
                process.kill()
            else:
                fill_disk(process, home / "journal.db", self.rng)

        ended = self._say(self.rack.ask(home, *words, typed=typed, strike=strike), f" [{kind} after {after:.1f}s]")
        self.counts[f"struck {kind}"] += struck
        return ended

    def _say(self, ended: Ended, blow: str = "") -> Ended:
        self.counts["verbs of the second operator"] += 1
        self.said.append(
            f"{time.strftime('%H:%M:%S')} neighbour: {ended.statement}{blow}: {ended.code}: {ended.text[-300:].strip()}"
        )
        if "Traceback" in ended.text or ended.code in (70, -signal.SIGSEGV):
            self.wrong.append(f"{ended.statement}: a mistake in exacell: {ended.text[-600:]}")
        return ended

    def _read(self) -> None:
        text = self.rng.choice(READS)
        home = self.rng.choice((self.rack.home, self.rack.second))
        if not home.exists():
            return  # Somebody has moved it away, which is a blow for its operator alone.
        self._compare(self._ask(home, "-o", "csv", text), self.truth[text])

    def _compare(self, ended: Ended, truth: list[str]) -> None:
        self.counts["answers compared"] += 1
        rows = ended.text.splitlines()
        if ended.code == 0 and sorted(rows) != sorted(truth):
            missing = sorted(set(truth) - set(rows))
            more = sorted(set(rows) - set(truth))
            self.wrong.append(
                f"{ended.statement}: exit code 0, but {len(missing)} rows less, such as {missing[:2]}, and {more[:2]}"
            )
        cells = tuple(f"{cell}," for cell in self.rack.info.cells)
        whole = rows if ended.text.endswith("\n") else rows[:-1]
        made_up = [row for row in whole if row.startswith(cells) and row not in truth]
        if ended.code and made_up:
            self.wrong.append(f"{ended.statement}: exit code {ended.code}, and rows that are not so: {made_up[:3]}")

    def _script(self) -> None:
        self._ask(self.rack.second, "-o", "csv", "-f", "-", typed=SCRIPT)

    def _label(self) -> None:
        comment = f"theirs {self.rng.randrange(10_000)}"
        self.rack.comments.add(comment)
        self._ask(self.rack.second, f"alter cell comment='{comment}' -y", may_end=False)

    def _aside(self) -> None:
        number = self.rng.randrange(1000)
        texts = (
            f"snap flashcache as=s{number}",
            "run cold size=288g -n",
            "drift",
            "journal verify",
            "experiment factor=flashlog levels=on,off db=SPOT for=5s blocks=1 -n",
            f"plan as=k{number} flush flashcache",
        )
        ended = self._ask(self.rack.second, self.rng.choice(texts))
        if ended.statement == "journal verify" and ended.code not in (0, -signal.SIGKILL):
            self.wrong.append(f"the second operator's journal: {ended.text[-300:]}")

    def _strike_holder(self) -> None:
        holders = self.rack.holders()
        if not holders:
            return
        pid, kind = self.rng.choice(holders), self.rng.choice(("killed", "stopped", "told to end"))
        self.counts[f"holder {kind}"] += 1
        self.said.append(f"{time.strftime('%H:%M:%S')} a holder is {kind}")
        with suppress(ProcessLookupError):
            if kind == "stopped":
                os.kill(pid, signal.SIGSTOP)
                try:
                    self._read()
                finally:
                    os.kill(pid, signal.SIGCONT)
            else:
                os.kill(pid, signal.SIGKILL if kind == "killed" else signal.SIGTERM)


def truth_of(rack: SoakRack) -> dict[str, list[str]]:
    """Return what the reads give while nothing goes wrong.

    Raises:
        RuntimeError: not all cells answered.
    """
    found = {}
    for text in READS:
        ended = rack.ask(rack.second, "-o", "csv", text)
        found[text] = ended.text.splitlines()
        if ended.code or len(found[text]) < len(rack.info.cells):
            raise RuntimeError(f"{text}: {ended.code}: {ended.text[:500]}")
    return found


def play(
    rack: SoakRack, truth: dict[str, list[str]], seed: int, turns: int
) -> tuple[list[str], list[str], Counter[str]]:
    """Carry out one slice; return what is wrong, its story and what was done in it."""
    rng = random.Random(f"soak {seed}")
    story: list[str] = []
    counts: Counter[str] = Counter()
    for _ in range(turns):
        problems, said, done = _turn(rack, truth, rng)
        story += said
        counts += done
        if problems or rack.expelled:
            return problems, story, counts
    return [], story, counts


def _turn(rack: SoakRack, truth: dict[str, list[str]], rng: random.Random) -> tuple[list[str], list[str], Counter[str]]:
    turn = Round(rack, rng, "")
    neighbour = Neighbour(rack, random.Random(rng.random()), truth)
    stop = threading.Event()
    beside = threading.Thread(target=neighbour.work, args=(stop,), name="second operator", daemon=True)
    problems = []
    try:
        beside.start()
        try:
            turn.run()
        finally:
            stop.set()
            rack.mend()
            beside.join(3 * ENDS)
        rack.end_holders()
        problems += Judge(rack, turn).problems()
    except Exception:  # A bug of this program is told like one of exacell's.
        problems.append(traceback.format_exc())
    counts = neighbour.counts
    counts["turns"] = 1
    counts["verbs of the first operator"] = sum(bool(_GIVEN.match(line)) for line in turn.story)
    counts["faults"] = len(turn.blows) + sum(n for name, n in counts.items() if name.startswith(("holder ", "struck ")))
    for blow in turn.blows:
        counts[f"blow {blow}"] += 1
    return [*neighbour.wrong, *problems], sorted([*turn.story, *neighbour.said]), counts


def main() -> int:
    """Play slices until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--slice", type=int, default=-1, help="only the slice of this seed")
    parser.add_argument("--keep", type=Path, default=Path("/tmp/exacell-soak"))
    parser.add_argument("--cells", type=int, default=14)
    parser.add_argument("--turns", type=int, default=2, help="turns of a slice, each judged")
    parser.add_argument("--each", type=int, default=4, help="slices on one rack")
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * asked.minutes
    counts: Counter[str] = Counter()
    seed = asked.slice if asked.slice >= 0 else asked.seed
    rack: SoakRack | None = None
    truth: dict[str, list[str]] = {}
    racks = on_it = 0
    try:
        while time.monotonic() < until:
            if rack is None:
                # A clock that can be set makes a rack slow: one in three has it; on a second one the operators have.
                racks, on_it = racks + 1, 0
                clocks = ("operators", False, True)[racks % 3 - 1]
                rack = SoakRack({"cells": asked.cells, "dbnodes": 2, "clocks": clocks}, seed)
                truth = truth_of(rack)
            began = time.monotonic()
            problems, story, done = play(rack, truth, seed, asked.turns)
            counts += done
            counts["slices"] += 1
            on_it += 1
            line = f"{time.strftime('%H:%M:%S')} slice {seed}: {time.monotonic() - began:.0f}s {dict(done)}"
            print(f"{line}{f' FAILED: {problems[0][:400]}' if problems else ''}", flush=True)
            with open(asked.keep / "stories.log", "a", encoding="utf-8") as log:
                log.write("\n".join([f"=== {line}", *story, *(f"! {problem}" for problem in problems), ""]))
            if problems or rack.expelled or on_it == asked.each:
                if problems:
                    counts["failed"] += 1
                    _keep(rack, asked.keep, seed, [*story, "", *(f"! {problem}" for problem in problems)])
                rack.close()
                rack = None
            seed += 1
            if asked.slice >= 0:
                break
    finally:
        if rack is not None:
            rack.close()
    print(
        f"seeds {asked.seed if asked.slice < 0 else asked.slice} to {seed - 1}: {dict(sorted(counts.items()))}",
        flush=True,
    )
    return 1 if counts["failed"] else 0


def _keep(rack: SoakRack, folder: Path, seed: int, story: list[str]) -> None:
    """Write down a slice that was not survived."""
    with open(folder / "seeds.txt", "a", encoding="utf-8") as seeds:
        seeds.write(f"{seed}\n")
    kept = folder / f"slice-{seed}-{time.strftime('%H%M%S')}"
    kept.mkdir(parents=True)
    (kept / "story.txt").write_text("\n".join(story) + "\n", encoding="utf-8")
    rack.keep(kept)


if __name__ == "__main__":
    sys.exit(main())
