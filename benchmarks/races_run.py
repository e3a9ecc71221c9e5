"""Carries out one race of benchmarks/races.py: our operator's process, and what comes between its look and its statement."""

from __future__ import annotations

import random
import shutil
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from races_judge import Verdict, judge, look_of
from races_process import Operator, Operators
from races_rack import LOSING, RacesRack, Told
from races_verbs import RACKS, VERBS, Script, Verb, draw

from exacell.change.following import PATIENT
from exacell.journal.record import Journal
from exacell.journal.rows import Entry

PATIENCE = PATIENT + 40.0
"""Seconds within which a process has to end: exacell gives what has become hopeless a minute."""
HELD_UP = 5.0
"""Seconds after which a process that was stopped goes on though the other operator has not come through."""
FILE = 5 << 30


@dataclass
class Raced:
    """A race as it went, for the judge.

    Attributes:
        code: how our operator's process ended; None where it had to be ended.
        struck: when somebody else had changed the victim; None when that did not come about.
        taken: when the lock was taken over.
        wrong: the cells that are not as the statement was to make them.
        own_ages: of each look, by exacell's own clock: target and milliseconds, as its journal has it.
    """

    script: Script
    told: list[Told]
    lost: list[Any]
    code: int | None
    text: str
    struck: float | None
    taken: float | None
    wrong: list[str]
    own_ages: list[tuple[str, float]] = field(default_factory=list)
    other_failed: str = ""
    story: list[str] = field(default_factory=list)


class Course:
    """The racks of this process, and races on them."""

    def __init__(self, seed: int, *, keep: Path | None = None) -> None:
        self.seed, self._keep = seed, keep
        self.operators = Operators()
        self._racks: dict[str, RacesRack] = {}
        self._usual: dict[str, tuple[int, float]] = {}
        self._number = 0

    def close(self) -> None:
        """Stop everything."""
        for rack in self._racks.values():
            rack.close()
        self.operators.close()

    # -- racks -----------------------------------------------------------------------------------------------------

    def rack(self, verb: Verb) -> RacesRack:
        """Return the rack that a verb wants, as it finds it."""
        if verb.rack not in self._racks:
            self._racks[verb.rack] = RacesRack(RACKS[verb.rack], self.seed)
        rack = self._racks[verb.rack]
        if verb.state not in rack.prepared:
            rack.reset("new")
            for statement in verb.prepare:
                if statement.startswith("raw: "):
                    for cell in rack.cells:
                        rack.raw(cell, statement.removeprefix("raw: "))
                    rack.pass_time(3600)
                else:
                    code, text = self.plain(rack, statement)
                    if code != 0:
                        raise RuntimeError(f"{statement}: {code}: {text}")
            rack.keep(verb.state)
        rack.reset(verb.state)
        return rack

    def home(self, rack: RacesRack, *, user: str = "", shared: bool = True) -> Path:
        """Return a new home of an operator."""
        self._number += 1
        home = rack.folder / f"home-{self._number}"
        shutil.copytree(rack.place / "racks.d", home / "racks.d")
        path = home / "racks.d" / "t1.toml"
        lines = [f'write_user = "{user}"'] if user else []
        lines += [f'lock = "{rack.folder}/t1.lock"'] if shared else []
        path.write_text(path.read_text().replace("emulated = true", "\n".join(["emulated = true", *lines]), 1))
        return home

    def plain(self, rack: RacesRack, statement: str) -> tuple[int | None, str]:
        """Carry a statement out that nobody disturbs, and return how it ended, as :meth:`carried_out` does, and its text."""
        home = self.home(rack)
        out = home / "out"
        code = self.carried_out(statement, home, out)
        text = out.read_text(errors="replace")
        shutil.rmtree(home, ignore_errors=True)
        return code, text

    def carried_out(self, statement: str, home: Path, out: Path) -> int | None:
        """Carry a statement out as an operator and return how the process ended; None where it had to be ended."""
        operator = self.operators.start(statement, home, out)
        try:
            return self.operators.wait(operator, PATIENCE)
        finally:
            self.operators.leave(operator)

    def usual(self, verb: Verb) -> tuple[int, float]:
        """Return how many reads a cell gets before the statement that can lose data, and how long all takes."""
        if verb.kind not in self._usual:
            rack = self.rack(verb)
            counter = Counter(rack, verb, rack.cells[1])
            rack.world.heard = counter.heard
            began = time.monotonic()
            code, text = self.plain(rack, verb.statement)
            if code != 0:
                raise RuntimeError(f"{verb.statement} with nobody else at work: {code}: {text[-300:]}")
            self._usual[verb.kind] = (max(1, counter.before), time.monotonic() - began)
        return self._usual[verb.kind]

    # -- races -----------------------------------------------------------------------------------------------------

    def race(self, number: int, only: str = "") -> tuple[Verb, Verdict]:
        """Carry out one race: the same number and seed make the same one, but for the instants of other processes."""
        rng = random.Random(f"{self.seed}-{number}")
        verbs = [verb for verb in VERBS if verb.kind == only] or [verb for verb in VERBS if only in verb.kind]
        verb = rng.choices(verbs, [verb.weight for verb in verbs])[0]
        looks, seconds = self.usual(verb)
        rack = self.rack(verb)
        script = draw(rng, verb, rack.cells, looks, seconds)
        race = Race(self, rack, script).run()
        verdict = judge(race)
        if self._keep is not None and (verdict.moment or not verdict.survived):
            self._write(number, race, verdict)
        return verb, verdict

    def ages(self, kind: str) -> list[float]:
        """Return how old the look was at each statement of an undisturbed change that loses data."""
        verb = next(verb for verb in VERBS if verb.kind == kind)
        rack = self.rack(verb)
        code, text = self.plain(rack, verb.statement)
        if code != 0:
            raise RuntimeError(text)
        told = list(rack.world.told)
        looks = [(row, look_of(told, place)) for place, row in enumerate(told) if row.loses]
        return [row.at - (look.looked or look.at) for row, look in looks if look is not None]

    def _write(self, number: int, race: Raced, verdict: Verdict) -> None:
        assert self._keep is not None
        first = race.told[0].at if race.told else 0.0
        rows = [
            f"{r.at - first:8.3f} {r.looked - first if r.looked else 0:8.3f} {r.host} {r.login} {r.run} {r.text[:150]}"
            for r in race.told
        ]
        text = "\n".join(
            [
                f"seed {self.seed} race {number}: {race.script}",
                *(f"! {line}" for line in verdict.problems()),
                "",
                *race.story,
            ]
        )
        struck = (
            f"struck {race.struck - first if race.struck else None}, taken {race.taken - first if race.taken else None}"
        )
        self._keep.mkdir(parents=True, exist_ok=True)
        body = "\n".join([text, struck, f"exit {race.code}", race.text, "", *rows, ""])
        (self._keep / f"{self.seed}-{number}.txt").write_text(body, encoding="utf-8")


class Counter:
    """Counts the reads of a cell from when something could be stale until the statement that loses data."""

    def __init__(self, rack: RacesRack, verb: Verb, host: str) -> None:
        self._rack, self._verb, self._host = rack, verb, host
        self.count = 0
        self.before = 0

    def heard(self, told: Told) -> bool:
        """Take note of a statement; True when it is a read that counts."""
        if self._verb.harm == "files" and told.host in self._rack.nodes and told.loses:
            self.before = self.before or self.count
        if told.host != self._host and not (self._verb.harm == "files" and told.host in self._rack.nodes):
            return False
        if told.loses and not self.before:
            self.before = self.count
        if not told.looks or not self._armed():
            return False
        self.count += 1
        return True

    def _armed(self) -> bool:
        if not self._verb.flushes:
            return True
        cache = self._rack.cell(self._host).flash_cache
        return cache is None or cache.flushed


class Race:
    """One race."""

    def __init__(self, course: Course, rack: RacesRack, script: Script) -> None:
        self.course, self.rack, self.script = course, rack, script
        self.story: list[str] = []
        self.struck: float | None = None
        self.taken: float | None = None
        self.other_failed = ""
        self._counter = Counter(rack, script.verb, script.victim)
        self._go = threading.Event()
        self._operator: Operator | None = None
        self._ended = threading.Event()

    def run(self) -> Raced:
        """Carry it out."""
        rack, script = self.rack, self.script
        for lock in (rack.folder / "t1.lock", rack.files.root / "change.lock"):
            lock.unlink(missing_ok=True)
        home = self.course.home(rack, shared=script.shared)
        other = self.course.home(rack, user="root", shared=script.shared)
        rack.world.heard = self._heard
        if script.keeps == "late":
            rack.world.late = lambda told: script.lasting if self._go.is_set() and told.host == script.victim else 0.0
        out = home / "out"
        operator = self._operator = self.course.operators.start(script.verb.statement, home, out)
        thread = threading.Thread(target=self._disturb, args=(home, other))
        thread.start()
        code = self.course.operators.wait(operator, PATIENCE)
        self._ended.set()
        thread.join()
        self.course.operators.leave(operator)
        wrong = rack.on(lambda: [cell for cell in rack.cells if not script.verb.done(rack, rack.cell(cell))])
        outcomes = _outcomes(home)
        raced = Raced(
            script=script,
            told=list(rack.world.told),
            lost=list(rack.world.lost),
            code=code,
            text=out.read_text(errors="replace"),
            struck=self.struck,
            taken=self.taken,
            wrong=wrong,
            own_ages=[(r.target, float(r.body["lookAgeMs"])) for r in outcomes if "lookAgeMs" in r.body],
            other_failed=self.other_failed,
            story=self.story,
        )
        for path in (home, other):
            shutil.rmtree(path, ignore_errors=True)
        return raced

    def _say(self, text: str) -> None:
        first = self.rack.world.told[0].at if self.rack.world.told else time.monotonic()
        self.story.append(f"{time.monotonic() - first:8.3f} {text}")

    # -- the instant -----------------------------------------------------------------------------------------------

    def _heard(self, told: Told) -> None:
        """Begin, on the rack's thread, with the read that the script names."""
        script = self.script
        if told.login == "root" or not self._counter.heard(told):
            return
        if script.keeps in ("slow", "hung", "own") and self._counter.count == max(1, script.look - 1):
            self._hold_up()
        if script.trigger == "look" and self._counter.count == script.look:
            self._say(f"look {script.look}: {told.text[:80]}")
            if script.keeps != "stop" and script.between in ("cancel", "restart", "reboot"):
                self._go.set()
                self._later(script.offset, self._strike)
            else:
                self._go.set()

    def _later(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something after a while unless the race is over then: the rack is the next one's."""
        self.rack.later(seconds, lambda: None if self._ended.is_set() else do())

    def _hold_up(self) -> None:
        script = self.script
        host = script.victim if script.keeps == "own" else script.neighbour
        options: dict[str, object] = {"match": "(?i)list"}
        if script.keeps == "hung":
            self.rack.fault([host], "hang", **options)
            self._later(script.lasting, lambda: self.rack.clear("hang"))
        else:
            self.rack.fault([host], "slow", delay=script.lasting, **options)
            self._later(2 * script.lasting, lambda: self.rack.clear("slow"))
        self._say(f"{script.keeps} on {host}")

    def _disturb(self, home: Path, other: Path) -> None:
        """Wait for the instant beside the rack, and do what another process has to do."""
        script = self.script
        if script.trigger == "look":
            while not self._go.wait(0.05):
                if self._ended.is_set():
                    return
            if script.keeps != "stop" and script.between in ("cancel", "restart", "reboot"):
                return
        elif script.trigger == "intent":
            if not self._intent(home):
                return
            self._say("the intent is on disk")
            self._go.set()
        if self._ended.wait(script.offset):
            return
        stopped = script.keeps == "stop" and self._signal(signal.SIGSTOP)
        # One that was stopped while it read the lock's file holds up whoever wants to take the lock over.
        waking = threading.Timer(script.lasting + HELD_UP, self._signal, [signal.SIGCONT])
        if stopped:
            waking.start()
        try:
            until = time.monotonic() + script.lasting
            if script.between == "takeover":
                self._take_over(home, other, stopped=bool(stopped))
                self._strike()
            elif script.between == "operator":
                self._other(other, "alter flashcache all cancel flush")
                self._strike()
            else:
                self._strike()
            if stopped:
                time.sleep(max(0.0, until - time.monotonic()))
        finally:
            waking.cancel()
            if stopped:
                self._signal(signal.SIGCONT)

    def _intent(self, home: Path) -> bool:
        """Wait for the row of the journal that announces a statement which loses data on the victim."""
        path = home / "journal.db"
        seen: tuple[int, int] | None = None
        journal = Journal(path)
        while not self._ended.wait(0.002):
            try:
                stat = path.stat()
            except OSError:
                continue
            if (stat.st_mtime_ns, stat.st_size) != seen:
                seen = (stat.st_mtime_ns, stat.st_size)
                with suppress(Exception):
                    for row in journal.entries():
                        text = str(row.body.get("statement", "")).removeprefix("cellcli -e ")
                        if row.kind == "intent" and (LOSING.match(text) or "cellcli" in str(row.body)):
                            return True
        return False

    def _signal(self, number: signal.Signals) -> bool:
        sent = self._operator is not None and self._operator.signal(number)
        if sent:
            self._say(number.name)
        return sent

    # -- what comes between ----------------------------------------------------------------------------------------

    def _strike(self) -> None:
        """Do to the victim what the script says, at once, on the rack's thread."""
        self.rack.on(self._struck)

    def _struck(self) -> None:
        rack, script = self.rack, self.script
        if script.verb.harm == "disks":
            said = rack.raw(rack.nodes[1], "sql:create diskgroup QQ normal redundancy disk 'o/*/p_*'")
            self._say(f"QQ: {said.strip()[-80:]}")
        elif script.verb.harm == "files":
            self._say(f"a file: {rack.make_file('PP', FILE)}")
        else:
            self._end_flush(script.victim)
            wrote = rack.write(script.victim, script.size)
            self._say(f"{script.between}: {wrote / (1 << 30):.1f} GB dirty")
        self.struck = time.monotonic()

    def _end_flush(self, host: str) -> None:
        rack, script = self.rack, self.script
        if script.between in ("restart", "reboot"):
            rack.restart(host, cut=script.between == "reboot")
            return
        rack.raw(host, "alter flashcache all cancel flush")
        if script.verb.rack != "x2":
            rack.raw(host, "alter pmemcache all cancel flush")

    def _take_over(self, home: Path, other: Path, *, stopped: bool) -> None:
        """Let the other operator take the lock over; nobody may hold it yet, and that is none then."""
        code, text = self._other(other, "unlock --takeover --reason='the night shift'")
        if code == 0 and "was locked" in text:
            self.taken = time.monotonic()
        elif code != 0:
            self.other_failed = text[-200:] or f"it ended with {code}"
        elif stopped and Journal(home / "journal.db").unfinished("t1"):
            self.other_failed = "the other operator saw no lock while a change was under way"

    def _other(self, home: Path, statement: str) -> tuple[int | None, str]:
        out = home / "out"
        code = self.course.carried_out(statement, home, out)
        text = out.read_text(errors="replace").strip()
        self._say(f"another operator: {statement}: {code} {text[-200:]}")
        return code, text


def _outcomes(home: Path) -> list[Entry]:
    """Return what the journal says of each statement's end."""
    path = home / "journal.db"
    if not path.exists():
        return []
    with suppress(Exception):
        return [row for row in Journal(path).entries() if row.kind == "outcome"]
    return []
