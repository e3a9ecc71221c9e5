"""Recorded sessions: what the program said to a list of statements, with what differs from run to run taken out.

A scene is an emulated rack of its own (or none) and the statements given to it one after the other. What came is kept
in tests/data/sessions.jsonl, one line a scene; ``benchmarks/sessions.py`` writes it and compares, a test plays a sample.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.program import Done, InProcess

KEPT = Path(__file__).parents[1] / "data" / "sessions.jsonl"
SHOWN = 2500
"""Characters of an output that are kept as text; of longer ones the rest is a hash."""


@dataclass(frozen=True)
class Said:
    """One statement and what came: ``level`` says how much of it is compared.

    Attributes:
        level: ``exact``; ``numbers`` where numbers differ between two runs of the same program (metrics, times);
            ``not compared`` where more does, but the scene needs the statement.
    """

    statement: str
    code: int
    out: str
    err: str
    level: str = "exact"


@dataclass(frozen=True)
class Scene:
    """A rack and what was said with it; ``rack`` is how the emulator was told to start it, empty for none."""

    name: str
    rack: str
    said: tuple[Said, ...]

    @property
    def line(self) -> str:
        """The scene as a line of the file."""
        return json.dumps(asdict(self), ensure_ascii=False)


def kept(path: Path = KEPT) -> Iterator[Scene]:
    """Yield the scenes of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        yield Scene(found["name"], found["rack"], tuple(Said(**said) for said in found["said"]))


TIMES = (
    (r"\bup .*load average: .*|\bupTime: .*", "UPTIME"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)?", "TIME"),
    (r"\b\d\d:\d\d(?::\d\d)?\b", "CLOCK"),
    (r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d", "DAY"),
    (r"\b\d+:[0-9a-f]{12}\b", "HASH"),
    (r"\b\d+(?:\.\d+)? ?(?:ms|s|min|h|d)\b|\b(?:\d+[dhm])+\d+[ms]\b", "DURATION"),
    (r"\b(?:\d+ (?:days?|hours?|minutes?|seconds?)(?:, | and )?)+", "DURATION"),
    (r"\b1\d:[0-9a-f]{8}\b|\b\d+:[0-9a-f]{8}\b", "HASH"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\b[0-9a-f]{16,}\b", "HASH"),
    (
        r"cannot be reached: Connection reset by peer|closed the connection during the login: .*? not an SSH server",
        "REFUSED",
    ),
    (r"SHA256:[\w+/]+", "KEY"),
    (r"\b(pid|process) \d+", r"\1 PID"),
    (r'"started": "\d+"', '"started": "TICKS"'),
    (r"(127\.0\.0\.1|localhost|port)([: ])\d+", r"\1\2PORT"),
)


def plain(text: str, home: Path) -> str:
    """Return an output without what differs from run to run: the home, times, durations, ports, pids, hashes.

    Runs of blanks and dashes count as one, since a column is as wide as what stood there.
    """
    text = text.replace(str(home), "HOME")
    text = re.sub(rf"\b{os.getpid()}\b", "PID", re.sub(rf"\b{re.escape(socket.gethostname())}\b", "HOST", text))
    for pattern, word in TIMES:
        text = re.sub(pattern, word, text)
    return re.sub(r"-{3,}", "---", re.sub(r" {2,}", "  ", text))


def short(text: str) -> str:
    """Return a text of at most SHOWN characters and the hash of all of it, or the text itself."""
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}… {len(text)} characters, {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def numberless(text: str) -> str:
    """Return a text in which each number is the same, and each run of blanks."""
    return re.sub(r" +", " ", re.sub(r"\d+(?:[.,]\d+)*", "#", text))


def levelled(statement: str, done: Done, home: Path, level: str) -> Said:
    """Return what came as it is compared at a level; at ``not compared`` only the statement and its exit code."""
    if level == "not compared":
        return Said(statement, done.code, "", "", level)
    out, err = plain(done.out, home), plain(done.err, home)
    if level == "numbers":
        out, err = numberless(out), numberless(err)
    return Said(statement, done.code, short(out), short(err), level)


@dataclass(frozen=True)
class Holding(InProcess):
    """Runs the program with a holder of connections, which the first read starts and which ends after ``idle`` without one."""

    idle: str

    @property
    def env(self) -> dict[str, str]:
        """The environment with what has a holder start."""
        return {**super().env, "EXACELL_HOLD": self.idle}


class Player:
    """Plays scenes, each with a home and a rack of its own below ``folder``.

    Args:
        hold: idle time of a holder that the reads go to; empty for none.
    """

    def __init__(self, folder: Path, *, hold: str = "") -> None:
        self.folder, self.hold = folder, hold

    def play(self, name: str, rack: str, statements: Sequence[str]) -> tuple[Path, list[Done]]:
        """Return the scene's home and what came for each statement; the rack is stopped behind them.

        A statement that begins with ``! `` is given to the program as the emulator's own: ``! emulator fault …``.
        """
        home = self.folder / name
        program = Holding(home, self.hold) if self.hold else InProcess(home)
        (home / "recipes").mkdir(parents=True)
        (home / "recipes" / "night.exa").write_text(
            'recipe "Night" { size: size = 288g "how large" }\ncheck all flashcache.status = normal "not well"\n'
            "resize flashcache size=${size}\n"
        )
        if rack:
            program.ok("emulator", "start", *rack.split())
        try:
            with chdir(home):  # What a statement writes to a file named without a folder goes there.
                return home, [self._one(program, rack, statement) for statement in statements]
        finally:
            if rack and self.hold:
                program("-r", rack.split()[0], "hold", "off")
            if rack:
                program.ok("emulator", "stop", rack.split()[0])

    @staticmethod
    def _one(program: InProcess, rack: str, statement: str) -> Done:
        if statement.startswith("! "):
            return program(*statement.split()[1:])
        words = ("-r", rack.split()[0]) if rack else ()
        options = []
        while statement.startswith("-"):
            option, _, statement = statement.partition(" ")
            options.append(option)
            if option in ("-o",):
                value, _, statement = statement.partition(" ")
                options.append(value)
        return program(*words, *options, statement)

    def compare(self, scene: Scene, *, every: int = 1, first: int = 0) -> list[tuple[Said, Said]]:
        """Play a scene, or each ``every``-th statement of one without changes, and return (kept, now) that differ."""
        chosen = scene.said[first::every]
        home, came = self.play(scene.name, scene.rack, [said.statement for said in chosen])
        now = [levelled(said.statement, done, home, said.level) for said, done in zip(chosen, came, strict=True)]
        return [(before, after) for before, after in zip(chosen, now, strict=True) if before != after]
