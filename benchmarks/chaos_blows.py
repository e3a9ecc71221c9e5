"""What strikes a process, its links, its cells or its rack at a random instant, for benchmarks/chaos.py."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaos_rack import ChaosRack, Ended, Started

MATCHES = (
    "",
    "",
    "",
    "",
    "alter",
    "alter",
    "create|drop",
    "drop",
    "create",
    "list",
    "cancel",
    "flush",
    "metriccurrent",
    "select",
)


@dataclass
class Blow:
    """Something that goes wrong.

    Attributes:
        strike: waits for its instant, strikes, and tells in a line what it did.
        release: ends what it holds, if anything.
    """

    name: str
    strike: Callable[[Started], str]
    release: Callable[[], None] = field(default=lambda: None)


def draw(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """Return what goes wrong while ``statement`` is carried out."""
    makers = (
        (5, _signal),
        (2, _frozen),
        (7, _fault),
        (2, _restart),
        (2, _disk_full),
        (2, _second_operator),
        (2, _takeover),
        (2, _two_things),
        (2, _taken_over_while_held),
        (2, _impatient),
        (1, _beside),
        (1, _home_moved),
        (1, _production),
        *(((4, _clock_set),) if rack.skewed else ()),
    )
    while True:
        maker = rng.choices([m for _, m in makers], [w for w, _ in makers])[0]
        blow = maker(rack, rng, statement)
        # A second failure beside disks that were offline before dismounts disk groups, whatever exacell does.
        if not (rack.degraded and ("reboot" in blow.name or "cellsrv" in blow.name)):
            return blow


def _instant(rack: ChaosRack, rng: random.Random, statement: str) -> Callable[[Started], str]:
    """Return what waits for a random instant: of the usual duration, or shortly behind a random row of the journal."""
    if rng.random() < 0.25:
        # The interpreter's start is of no interest: it is skipped mostly.
        share, usual = rng.random(), rack.expected(statement)
        seconds = share * usual if rng.random() < 0.1 else min(1.0, usual / 3) + share * usual
        return lambda started: _sleep(started, seconds)
    rows, more = (
        rng.randrange(1, 1 + rack.expected_rows(statement)),
        rng.choice((0.0, rng.random() * 0.1, rng.random())),
    )
    return lambda started: _await_rows(rack, started, rows, more)


def _sleep(started: Started, seconds: float) -> str:
    deadline = time.monotonic() + seconds
    while started.process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return f"after {time.monotonic() - started.began:.2f}s"


def _await_rows(rack: ChaosRack, started: Started, rows: int, more: float) -> str:
    first = started.rows
    deadline = time.monotonic() + rack.expected(started.statement) * 2.5
    while started.process.poll() is None and time.monotonic() < deadline:
        if rack.journal_rows() >= started.rows + rows:
            break
        time.sleep(0.02)
    _sleep(started, more)
    return f"after {time.monotonic() - started.began:.2f}s, {rack.journal_rows() - first} rows"


def _send(started: Started, number: int) -> str:
    if started.process.poll() is not None:
        return " (it had ended)"
    started.process.send_signal(number)
    return ""


def _signal(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    name, signals, gap = rng.choice(
        (
            ("kill -9", (signal.SIGKILL,), 0.0),
            ("kill -9", (signal.SIGKILL,), 0.0),
            ("SIGTERM", (signal.SIGTERM,), 0.0),
            ("SIGHUP", (signal.SIGHUP,), 0.0),
            ("Ctrl-C", (signal.SIGINT,), 0.0),
            ("Ctrl-C twice", (signal.SIGINT, signal.SIGINT), rng.random()),
        )
    )
    at = _instant(rack, rng, statement)

    def strike(started: Started) -> str:
        when = at(started)
        said = ""
        for number in signals:
            said = _send(started, number)
            _sleep(started, gap)
        return f"{name} {when}{said}"

    return Blow(name, strike)


def _frozen(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """The laptop sleeps, for longer than what it waits for; or somebody kills what is stopped."""
    at, seconds, killed = _instant(rack, rng, statement), rng.choice((1, 4, 12)), rng.random() < 0.25

    def strike(started: Started) -> str:
        when = at(started)
        said = _send(started, signal.SIGSTOP)
        time.sleep(seconds if not said else 0)
        _send(started, signal.SIGKILL if killed else signal.SIGCONT)
        return f"stopped {when} for {seconds}s{', killed' if killed else ''}{said}"

    return Blow("SIGSTOP", strike)


def _fault(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    kind = rng.choice(("drop", "drop", "hang", "slow", "error", "refuse", "garbage", "ms-down", "cellsrv-down"))
    hosts = list(rack.info.cells)
    if kind in ("drop", "hang", "slow", "error", "refuse", "garbage"):
        hosts += rack.info.dbnodes
    chosen = [rng.choice(hosts)] if rng.random() < 0.8 else list(rack.info.cells)
    options: dict[str, object] = {}
    if kind in ("drop", "hang", "slow", "error", "garbage"):
        match = rng.choice(MATCHES)
        if match:
            options["match"] = match
        if rng.random() < 0.6:
            options["nth"] = rng.randrange(1, 4)
    if kind in ("ms-down", "cellsrv-down", "refuse") or rng.random() < 0.5:
        options["for"] = rng.choice((20, 60, 300, 900))
    if kind == "cellsrv-down":
        options["for"], chosen = rng.choice((20, 60, 300)), chosen[:1]
    if kind == "error":
        options["code"] = "ORA-15041" if chosen[0] in rack.info.dbnodes else "CELL-02559"
    if kind == "slow":
        options["delay"] = rng.choice((0.5, 3))
    if kind == "drop" and rng.random() < 0.5:
        options["bytes"] = rng.choice((1, 20, 150, 600, 3000))  # In the middle of an answer.
    return Blow(kind, _injected(rack, rng, statement, chosen, kind, options))


def _restart(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """A cell reboots."""
    options = {"down": rng.choice((10, 60, 180))}
    return Blow("reboot", _injected(rack, rng, statement, [rng.choice(rack.info.cells)], "restart", options))


def _injected(
    rack: ChaosRack, rng: random.Random, statement: str, hosts: list[str], kind: str, options: dict[str, object]
) -> Callable[[Started], str]:
    at, held = _instant(rack, rng, statement), rng.choice((1, 3, 10))
    early = rng.random() < 0.4

    def strike(started: Started) -> str:
        when = "from the start" if early else at(started)
        told = rack.fault(hosts, kind, **options)
        _sleep(started, held)
        if kind in ("hang", "refuse") and rng.random() < 0.5:
            return f"{told} {when}, kill -9 {held}s later{_send(started, signal.SIGKILL)}"
        return f"{told} {when}"

    return strike


def _disk_full(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """The process can't write any file further than it is: what a full disk is like."""
    at = _instant(rack, rng, statement)

    def strike(started: Started) -> str:
        when = at(started)
        fill_disk(started.process, rack.journal.path, rng)
        return f"the disk is full {when}"

    return Blow("disk full", strike)


def fill_disk(process: subprocess.Popen[bytes], journal: Path, rng: random.Random) -> None:
    """Let a process write no file further than its journal is, or a little more."""
    size = journal.stat().st_size if journal.exists() else 0
    limit = max(1, size + rng.choice((0, 0, 512, 5000)))
    with suppress(ProcessLookupError):  # It has ended.
        if process.poll() is None:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, limit))


def _second(rack: ChaosRack, rng: random.Random) -> Ended:
    comment = f"theirs {rng.randrange(10_000)}"
    rack.comments.add(comment)
    return rack.wait(rack.start(f"alter cell comment='{comment}' -y", home=rack.second))


def _second_operator(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    at = _instant(rack, rng, statement)

    def strike(started: Started) -> str:
        when = at(started)
        ended = _second(rack, rng)
        return f"a second operator {when}: {ended.code} {ended.text.strip()[-300:]}"

    return Blow("second operator", strike)


def _takeover(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    at = _instant(rack, rng, statement)

    def strike(started: Started) -> str:
        when = at(started)
        taken = rack.wait(rack.start("unlock --takeover --reason='the night shift'", home=rack.second))
        ended = _second(rack, rng)
        return f"takeover {when}: {taken.code} {taken.text.strip()[-200:]}; {ended.code} {ended.text.strip()[-300:]}"

    return Blow("takeover", strike)


def _two_things(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """A fault, and the process killed while it lasts."""
    fault, killed = _fault(rack, rng, statement), _signal(rack, rng, statement)

    def strike(started: Started) -> str:
        return f"{fault.strike(started)}; {killed.strike(started)}"

    return Blow(f"{fault.name} and {killed.name}", strike)


def _taken_over_while_held(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """The process stands still while somebody else takes the rack over and changes it, and goes on afterwards."""
    at = _instant(rack, rng, statement)

    def strike(started: Started) -> str:
        when = at(started)
        said = _send(started, signal.SIGSTOP)
        try:
            taken = rack.wait(rack.start("unlock --takeover --reason='it hangs'", home=rack.second))
            ended = _second(rack, rng)
        finally:
            _send(started, signal.SIGCONT)
        told = f"{taken.code} {taken.text.strip()[-200:]}; {ended.code} {ended.text.strip()[-300:]}"
        return f"stopped {when}{said}, taken over: {told}"

    return Blow("takeover while SIGSTOP", strike)


def _impatient(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """The operator says something in another terminal while the statement is under way."""
    at = _instant(rack, rng, statement)
    asked = rng.choice(
        ("resume -y", "retry failed -y", "undo {0} -y", "resume {0} -y", "unlock", "confirm", "show health")
    )

    def strike(started: Started) -> str:
        when = at(started)
        change = rack.newest_change(started.rows)
        text = asked.format(change)
        if started.process.poll() is not None or (not change and "{0}" in asked):
            return f"{text} {when} (too late, or too early)"
        ended = rack.wait(rack.start(text))
        return f"{text} {when}: {ended.code} {ended.text.strip()[-300:]}"

    return Blow("impatient", strike)


def _beside(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """The same operator's other processes work on the same rack at the same time."""
    at = _instant(rack, rng, statement)
    texts = [
        "snap flashcache as=s{0}",
        "journal verify",
        "run cold size=288g -n",
        "drift",
        "plan as=k{0} flush flashcache",
    ]
    chosen = [rng.choice(texts).format(rng.randrange(1000)) for _ in range(3)]

    def strike(started: Started) -> str:
        when = at(started)
        processes = [rack.start(text) for text in chosen]
        ended = [rack.wait(process) for process in processes]
        return f"beside it {when}: {'; '.join(f'{e.statement}: {e.code} {e.text.strip()[-150:]}' for e in ended)}"

    return Blow("beside", strike)


def _home_moved(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """Somebody moves the directory of exacell away while a change is under way, and puts it back."""
    rows, seconds = rng.randrange(1, 1 + rack.expected_rows(statement)), rng.choice((0.5, 2, 6))

    def strike(started: Started) -> str:
        when = _await_rows(rack, started, rows, 0)
        if rack.journal_rows() == started.rows or started.process.poll() is not None:
            return f"the home was not moved: nothing was under way {when}"
        with rack.moved_home() as made:
            _sleep(started, seconds)
        return f"the home was away for {seconds}s {when}{f', {made} was made' if made.exists() else ''}"

    return Blow("home moved", strike)


def _production(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """Somebody declares the rack one in production while a change is under way."""
    at = _instant(rack, rng, statement)

    def strike(started: Started) -> str:
        when = at(started)
        rack.set_production(True)
        _sleep(started, rng.choice((1, 5)))
        return f"in production {when}"

    return Blow("production", strike)


def _clock_set(rack: ChaosRack, rng: random.Random, statement: str) -> Blow:
    """The clock of the operator's host, or of the rack's, is set."""
    at, again = _instant(rack, rng, statement), rng.random() < 0.3
    whose = rng.choice(("operator", "operator", "rack" if rack.rack_skewed else "operator"))
    seconds = rng.choice((-3600, -600, -30, 30, 600, 3600) if whose == "operator" else (-3, -1, 1, 3))

    def strike(started: Started) -> str:
        when = at(started)
        rack.set_clock(whose, seconds)
        if again:
            _sleep(started, rng.random() * 3)
            rack.set_clock(whose, -seconds)
        return f"the clock of the {whose} set by {seconds}s {when}{', and there and back' if again else ''}"

    return Blow(f"{whose}'s clock", strike)


def strike_guardian(pid: int) -> None:
    """Kill a guardian."""
    subprocess.run(["kill", "-9", str(pid)], check=False, env={**os.environ})
