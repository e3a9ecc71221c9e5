"""Many generated texts: which of them are read, and whether six shells take each of those as it was read."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from exacell.opaque.findings import UnreadError
from exacell.opaque.scan import arguments, wrapped
from exacell.opaque.shell import Reading, read_shell
from exacell.opaque.table import READ, SHOWN, table
from tests.support.judging import sampling
from tests.support.judging.forms import FORMS, Forms
from tests.support.judging.grammar import BUILTINS, PRODUCTIONS, PROGRAMS, Grammar
from tests.support.judging.sandbox import Run, Sandbox, installed
from tests.support.judging.verdict import Difference, Folders, disordered, judge, refused

FILES = (
    "-o",
    "--output=x",
    "a b",
    "x",
    "messages",
    "hosts",
    "os-release",
    "-rf",
    "a*b",
    "logs",
    ".hidden",
    "m;ls",
    "$x",
    "sub/",
    "y.log",
    "a'b",
    "1",
    "scheduler",
)
"""Names in each folder of the sandbox: what a pattern finds there, and what a word without quotes would be mistaken for."""

DEVICES = ("/sys/class/net/eth0", "/sys/block/sda/queue", "/sys/block/sdb/queue")
"""Folders of the kernel's, of devices whose names a pattern may stand for."""

MACHINES_OWN = (
    "/usr/lib",
    "/lib",
    "/lib64",
    "/usr/lib64",
    "/proc",
    "/dev",
    "/tmp",
    "/",
    "/usr",
    "/bin",
    "/sbin",
    "/home",
)
"""Folders of the sandbox that hold other names than these."""

LIVING = (
    "/usr/lib",
    "/lib",
    "/lib64",
    "/usr/lib64",
    "/proc",
    "/dev",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/bin",
    "/sbin",
)
"""Folders that are this machine's with all below them, or hold the programs."""

AGAIN = 5
"""So often a text is run again whose commands told of themselves in another order, since a shell need not wait for all of a
pipe, or which did not end in its time, which a busy machine may take from it."""

LEAST_SHARE = 0.25
"""Of all texts at least so many have to be called reads."""


@dataclass
class Tally:
    """What a run found.

    Attributes:
        texts, reads: how many were made, and how many of them were called reads.
        runs: shell -> runs of it.
        productions: name -> texts that were read and had been built with it.
        rows: program -> texts that were read and hold it.
        forms: name -> texts that were read and had been built with that form.
        refused: shell -> texts that it refused whole.
        differences: what was taken otherwise.
        seconds: how long it took.
    """

    texts: int = 0
    reads: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    productions: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Count what another run found too."""
        self.texts += other.texts
        self.reads += other.reads
        for mine, theirs in (
            (self.runs, other.runs),
            (self.productions, other.productions),
            (self.rows, other.rows),
            (self.kinds, other.kinds),
            (self.forms, other.forms),
            (self.refused, other.refused),
        ):
            mine.update(theirs)
        self.differences += other.differences

    @property
    def missing(self) -> list[str]:
        """Return the productions and rows that no read text had."""
        return sorted(PRODUCTIONS - set(self.productions)) + sorted(set(table().rows) - set(self.rows))

    def rare(self, least: int) -> list[str]:
        """Return the wider forms that fewer than ``least`` of the read texts had, each with how many."""
        return [f"{name}: {self.forms[name]:,}" for name in sorted(FORMS) if self.forms[name] < least]

    @property
    def share(self) -> float:
        """Return which part of the texts was called reads."""
        return self.reads / self.texts if self.texts else 0.0

    def sentence(self) -> str:
        """Return the figures."""
        runs = ", ".join(f"{shell} {self.runs[shell]:,}" for shell in self.runs)
        refusals = sum(self.refused.values())
        return (
            f"{self.texts:,} texts, {self.reads:,} of them called reads ({self.share:.0%}), {sum(self.runs.values()):,} runs"
            f" ({runs}), {len(self.differences)} differences, {refusals:,} refused whole, {self.seconds:.0f} seconds"
        )


def stand_ins() -> list[str]:
    """Return the names of programs that the sandbox has: those of the table, and those that a text may start instead."""
    others = re.findall(r"[a-z0-9_]+", " ".join((*BUILTINS, *PROGRAMS)))
    return sorted(
        {*table().rows, *others, "sh", "bash", "x", "a", "a1", "E", "list", "alter", "drop", "foo", "id", "echo"}
    )


def held(folders: Collection[str]) -> Folders:
    """Return what a sandbox with these folders holds; the machine's own names are not known."""
    names = {folder: {name.rstrip("/") for name in FILES} for folder in folders}
    names |= {f"{folder}/{name.rstrip('/')}": set() for folder in folders for name in FILES if name.endswith("/")}
    for path in (*folders, "/home/judge"):
        inner = PurePosixPath(path)
        for outer in inner.parents:
            names.setdefault(str(outer), set()).add(inner.name)
            inner = outer
    return Folders({"/home/judge": (), "/tmp": (), **names, "/": None, "/usr": None}, LIVING)


class Judge:
    """Runs texts in the sandboxes and compares; use it as a context."""

    def __init__(self) -> None:
        folders = [folder for folder in (*SHOWN, *READ, *DEVICES) if folder not in MACHINES_OWN]
        make = partial(Sandbox, stand_ins(), folders, FILES)
        self._stack = ExitStack()
        self._plain = self._stack.enter_context(make())
        self._documents = self._stack.enter_context(make(writable=True))
        self._folders = held(folders)
        self._shells = installed()
        self.runs: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def differences(self, text: str, reading: Reading, *, turn: int = 0, all_wrapped: bool = True) -> list[Difference]:
        """Return what shells do otherwise than was read: with the text itself, and with it as it is sent.

        Args:
            turn: with every other one the shells are started by the name sh for the second.
            all_wrapped: whether all shells get the second, else each only every other turn.
        """
        found = self._judged(text, reading, self._shells, "0", None)
        shells = self._shells if all_wrapped else self._shells[turn // 2 % 2 :: 2]
        return found + self._judged(wrapped(text), reading, shells, "0110100", "sh" if turn % 2 else None)

    def differences_of_form(self, text: str, reading: Reading, *, script: bool, wrap: bool) -> list[Difference]:
        """Return what shells do otherwise than was read: with the text as it is, wrapped as it is sent, or as a file."""
        if not script:
            return self._judged(wrapped(text) if wrap else text, reading, self._shells, "0", None)
        option = re.match(r"#!\s*\S+\s+(-[a-z])\n", text)
        return self._judged(text, reading, self._shells, "0", None, how=option[1] if option else "file")

    def differences_of(self, sent: str, reading: Reading) -> list[Difference]:
        """Return what shells do otherwise with ``sent`` than was read."""
        return self._judged(sent, reading, self._shells, "0", None)

    def differences_of_arguments(self, text: str) -> list[Difference]:
        """Return the shells in which ``arguments(text)`` does not start /bin/sh with -c and the very text."""
        found = []
        sent = arguments(text)
        for run in self._plain.run(sent, self._shells):
            self.runs[run.shell] += 1
            if [started.argv for started in run.started] != [("/bin/sh", "-c", text)]:
                real = " ; ".join(str(list(started.argv)) for started in run.started)
                found.append(Difference(sent, run.shell, "the text does not arrive", repr(text), real))
        return found

    def _judged(
        self, sent: str, reading: Reading, asked: Sequence[str], status: str, argv0: str | None, *, how: str = "-c"
    ) -> list[Difference]:
        documents = any(command.document is not None for pipeline in reading.pipelines for command in pipeline)
        place = self._documents if documents or how != "-c" else self._plain

        def run(shells: Sequence[str]) -> list[Run]:
            self.runs.update(shells)
            return place.run(sent, shells, status=status, argv0=argv0, how=how)

        found = []
        for first in run(asked):
            each = first
            difference = judge(sent, reading, each, self._folders, all_well=status == "0")
            self.refused[each.shell] += refused(each)
            for _ in range(AGAIN):
                if difference is None or not (each.ended == "timeout" or disordered(reading, each, self._folders)):
                    break
                each = run([each.shell])[0]
                difference = judge(sent, reading, each, self._folders, all_well=status == "0")
            if difference is not None:
                found.append(difference)
        return found


def fuzz(numbers: Iterable[int], seed: int, *, all_wrapped: bool = True) -> Tally:
    """Make the texts of these numbers, read them, and run those that are reads; return what was found.

    Args:
        all_wrapped: whether each shell gets each text also as it is sent, else every other one.
    """
    tally, began = Tally(), time.monotonic()
    grammar = Grammar(sampling.names(), sampling.sample, sampling.filters())
    with Judge() as shells:
        for number in numbers:
            made = grammar.text(seed, number)
            tally.texts += 1
            tally.kinds[made.kind] += 1
            try:
                reading = read_shell(made.text)
            except UnreadError:
                continue
            tally.reads += 1
            tally.kinds[f"{made.kind}, read"] += 1
            tally.productions.update(made.uses)
            tally.rows.update({command.row for pipeline in reading.pipelines for command in pipeline})
            tally.differences += shells.differences(made.text, reading, turn=tally.reads, all_wrapped=all_wrapped)
            if number % 5 == 0:
                tally.differences += shells.differences_of_arguments(made.text)
        tally.runs.update(shells.runs)
    tally.seconds = time.monotonic() - began
    return tally


def fuzz_forms(numbers: Iterable[int], seed: int) -> Tally:
    """Make the texts of these numbers over the wider forms, read them, and run those that are read, each in one way: as a
    command, as it is sent, or as a file; return what was found."""
    tally, began, made = Tally(), time.monotonic(), Forms()
    with Judge() as shells:
        for number in numbers:
            text, script = made.text(seed, number)
            tally.texts += 1
            try:
                reading = read_shell(text.text, script=script)
            except UnreadError:
                continue
            tally.reads += 1
            tally.forms.update(text.uses)
            tally.differences += shells.differences_of_form(text.text, reading, script=script, wrap=number % 2 == 0)
        tally.runs.update(shells.runs)
        tally.refused.update(shells.refused)
    tally.seconds = time.monotonic() - began
    return tally


def fuzz_together(
    count: int,
    seed: int,
    *,
    jobs: int = 0,
    part: int = 0,
    all_wrapped: bool = True,
    forms: bool = False,
    told: Callable[[Tally], object] | None = None,
) -> Tally:
    """Do the same for the numbers below ``count`` in several processes.

    Args:
        jobs: how many; 0 for one a core.
        forms: make texts over the wider forms, each judged in one way; ``all_wrapped`` says nothing then.
        part: so many numbers are done together; 0 for all that a process does.
        told: is called with what was found by then whenever a part has ended.
    """
    jobs = jobs or len(os.sched_getaffinity(0))
    size = part or -(-count // jobs)
    began, whole = time.monotonic(), Tally()
    with ProcessPoolExecutor(jobs) as pool:
        parts = [range(first, min(first + size, count)) for first in range(0, count, size)]
        work = partial(fuzz_forms, seed=seed) if forms else partial(fuzz, seed=seed, all_wrapped=all_wrapped)
        for found in pool.map(work, parts):
            whole.add(found)
            whole.seconds = time.monotonic() - began
            if told:
                told(whole)
    return whole
