"""Prove that the tests hold the guards: break each guard's condition, one at a time, and see which breakage is noticed.

    python benchmarks/mutate_guards.py [--jobs=2] [--only=words] [--quick] [--list] [--afresh] [--write] [--progress]

``guard_mutants.py`` says what is broken, ``guard_breaking.py`` how. A copy of the project is tested as it is first, and which
test runs which line of a guard is kept. Then each breakage is put into the function in memory, in a fork of the process that
has collected the tests, and only the tests that come to its line are run, those that notice most first, up to the first that
fails.
Results are kept in ``build/mutants.jsonl``: a run that was ended goes on where it was, functions that have changed since are
tried again, and so is whatever was not noticed; ``--afresh`` tries all again, beginning with the test that noticed last
time. ``--quick`` runs only the tests that stand beside a function's file in ``guard_mutants.py``: what they do not notice
another test may. Prints the breakages that no test
noticed and a table by module (``--write`` keeps it in docs/reliability.md), and leaves with 1 when EQUIVALENT does not
explain them all. A terminal is told now and then how far it is, a pipe with ``--progress``.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import importlib
import itertools
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from guard_breaking import Mutant, broken, is_code_of, mutants
from guard_equivalents import EQUIVALENT
from guard_mutants import TARGETS
from how_far import HowFar

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
KEPT = ROOT / "build" / "mutants.jsonl"
BEGIN, END = "<!-- mutation: begin -->", "<!-- mutation: end -->"

MORE = ("tests/plan", "tests/engine", "tests/journal", "tests/change", "tests/core", "tests/cli", "tests/recipes")
"""Tests that may notice, besides those that TARGETS names."""

HUNG_S = 20.0
"""Seconds after which a test that takes much less on the whole package counts as hung, and the mutant as noticed."""


@dataclass
class Known:
    """What the tests do on the package as it is.

    Attributes:
        seconds: how long each test takes, by its place among the collected ones.
        lines: file → line → the tests that run it.
    """

    seconds: list[float]
    lines: dict[str, dict[int, set[int]]]

    def covering(self, mutant: Mutant) -> list[int]:
        """Return the tests that run the mutant's statement."""
        own = self.lines.get(mutant.file, {})
        return sorted(set[int]().union(*(own.get(line, set()) for line in mutant.lines)))

    def leave_out(self, tests: set[int]) -> None:
        """Forget what some tests run."""
        for lines in self.lines.values():
            for covering in lines.values():
                covering -= tests


class Trying:
    """The pytest plugin: instead of running the collected tests once, it tries every mutant on them.

    Args:
        folder: the copy that is imported.
        todo: the mutants to try.
        report: called with each mutant, how it ended and the test that noticed.
        before: mutant → the test that noticed it in an earlier run.
    """

    def __init__(
        self,
        folder: Path,
        todo: Sequence[Mutant],
        jobs: int,
        report: Callable[[Mutant, str], None],
        before: Mapping[str, str],
    ) -> None:
        self.folder, self.todo, self.jobs, self.report, self.before = folder, todo, jobs, report, before
        self.kills: Counter[tuple[str, int]] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, then against each mutant."""
        self.items = session.items
        targets = [importlib.import_module("exacell." + file.removesuffix(".py").replace("/", ".")) for file in TARGETS]
        self.kept = [item for module in targets for item in vars(module).values() if isinstance(item, _Cached)]
        import exacell

        if not str(exacell.__file__).startswith(str(self.folder)):
            raise RuntimeError(f"{exacell.__file__} is imported instead of the copy in {self.folder}")
        started = time.monotonic()
        self.known = self._get_known()
        told = f"{len(self.items)} tests run on the unchanged package, {time.monotonic() - started:.0f}s"
        print(told, file=sys.stderr, flush=True)
        self._try_all()
        return True

    # -- the tests as they are -------------------------------------------------------------------------------------

    def _get_known(self) -> Known:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            found = self._watch_all()
            with os.fdopen(writer, "wb") as stream:
                pickle.dump(found, stream)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            failed, known = pickle.load(stream)
        os.waitpid(child, 0)
        for number in failed:
            print(f"fails on the unchanged package and takes no part: {self.items[number].nodeid}", flush=True)
        known.leave_out(set(failed))
        return known

    def _watch_all(self) -> tuple[list[int], Known]:
        self._go_apart("known")
        places = {str(self.folder / "exacell" / file): file for file in TARGETS}
        known = Known([], {file: {} for file in TARGETS})
        now = 0

        def lines(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                known.lines[places[frame.f_code.co_filename]].setdefault(frame.f_lineno, set()).add(now)
            return lines

        def calls(frame: FrameType, event: str, arg: Any) -> Any:
            return lines if frame.f_code.co_filename in places else None

        threading.settrace(calls)
        failed = []
        for now in range(len(self.items)):
            began = time.monotonic()
            sys.settrace(calls)
            good = self._passes(now, self.items[now + 1] if now + 1 < len(self.items) else None)
            sys.settrace(None)
            known.seconds.append(time.monotonic() - began)
            if not good:
                failed.append(now)
        return failed, known

    def _go_apart(self, name: str) -> None:
        """Let this process be one of its own: silent, without a terminal, with a place for its files."""
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        place = self.folder / "tmp" / name
        place.mkdir(parents=True, exist_ok=True)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(place)

    def _passes(self, number: int, following: pytest.Item | None) -> bool:
        from _pytest.runner import runtestprotocol

        # What an earlier test, or the collection, has had computed would hide a breakage of what computes it.
        for kept in self.kept:
            kept.cache_clear()
        return not any(report.failed for report in runtestprotocol(self.items[number], log=False, nextitem=following))

    # -- the mutants -----------------------------------------------------------------------------------------------

    def _try_all(self) -> None:
        waiting = list(reversed(self.todo))
        free = [self.folder / "tmp" / f"lane{number}" for number in range(self.jobs)]
        running: dict[int, tuple[Mutant, int, Path]] = {}
        while waiting or running:
            while waiting and free:
                mutant, place = waiting.pop(), free.pop()
                reader, child = self._begin(mutant, place)
                running[child] = (mutant, reader, place)
            child, status = os.wait()
            if child in running:
                mutant, reader, place = running.pop(child)
                self._ended(mutant, reader, child, os.waitstatus_to_exitcode(status))
                shutil.rmtree(place, ignore_errors=True)
                free.append(place)

    def _begin(self, mutant: Mutant, place: Path) -> tuple[int, int]:
        """Start the tests of one mutant; return where the number of each test that begins is told, and the process."""
        preferred = TARGETS[mutant.file][1]

        last = self.before.get(mutant.name, "").removesuffix(_HUNG)

        def rank(n: int) -> tuple[bool, int, bool, float]:
            elsewhere = not self.items[n].nodeid.startswith(preferred)
            return self.items[n].nodeid != last, -self.kills[mutant.file, n], elsewhere, self.known.seconds[n]

        tests = sorted(self.known.covering(mutant), key=rank)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self._go_apart(place.name)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                put_in(mutant, self.folder / "exacell")
                for number, following in itertools.zip_longest(tests, tests[1:]):
                    os.write(writer, f"{number}\n".encode())
                    signal.alarm(int(HUNG_S + 5 * self.known.seconds[number]))
                    if not self._passes(number, None if following is None else self.items[following]):
                        os._exit(NOTICED)
                os._exit(SURVIVED)
            except BaseException:
                os.write(writer, traceback.format_exc().encode())
                raise
            finally:
                os._exit(BROKEN)
        os.close(writer)
        return reader, child

    def _ended(self, mutant: Mutant, reader: int, child: int, status: int) -> None:
        """Tell how the tests of one mutant ended, and end whatever they left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.set_blocking(reader, False)
        with os.fdopen(reader, "rb") as stream:
            begun = (stream.read() or b"").decode().split()
        if status not in (SURVIVED, NOTICED, -signal.SIGALRM):
            raise RuntimeError(f"the tests ended with {status} for {mutant}: {' '.join(begun)[-2000:]}")
        by = ""
        if status != SURVIVED:
            number = int(begun[-1])
            self.kills[mutant.file, number] += 1
            by = self.items[number].nodeid + (_HUNG if status < 0 else "")
        self.report(mutant, by)


_Cached = type(functools.cache(len))
"""The type of functions that remember what they returned."""

_HUNG = " (hung)"
"""Behind the name of a test that noticed by not ending."""

SURVIVED, NOTICED, BROKEN = 0, 1, 3
"""How the process that tries a mutant ends."""


def put_in(mutant: Mutant, package: Path) -> None:
    """Put a breakage into the functions of this process.

    Raises:
        LookupError: the function is not loaded.
    """
    code = broken(mutant, package)
    # What a function made when its module was imported is kept in tables there, with its own code.
    inner = {_told_apart(one): one for one in codes_in(code)}
    path = str(package / mutant.file)
    gc.unfreeze()  # The tests freeze what is loaded, which is then not listed.
    found = [item for item in gc.get_objects() if isinstance(item, FunctionType) and item.__code__.co_filename == path]
    if not any(is_code_of(function.__code__, mutant) for function in found):
        raise LookupError(f"{mutant} is not loaded")
    for function in found:
        if is_code_of(function.__code__, mutant):
            function.__code__ = code
        elif (made := inner.get(_told_apart(function.__code__))) is not None:
            function.__code__ = made


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function that this one makes, and of those that they make."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from codes_in(const)


def _told_apart(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    """What tells a function inside another one apart: its code fits those only that hold the same variables."""
    return code.co_qualname, code.co_firstlineno, code.co_freevars


def copy_project(folder: Path) -> Path:
    """Return a folder with the package, the tests and what they read."""
    for name in ("exacell", "tests", "recipes", "examples", "completions", "docs", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    return folder


def try_on(
    folder: Path,
    todo: Sequence[Mutant],
    jobs: int,
    report: Callable[[Mutant, str], None],
    before: Mapping[str, str],
    *,
    quick: bool,
) -> None:
    """Try mutants on the copy in ``folder``, in this process, which has imported nothing of exacell."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)
    sys.dont_write_bytecode = True
    subprocess.run([sys.executable, "-m", "compileall", "-q", "exacell", "tests"], cwd=folder, check=True)
    given = ["-q", "-s", *(word for name in ("randomly", "cacheprovider", "xdist") for word in ("-p", f"no:{name}"))]
    beside = [TARGETS[file][1] for file in ({mutant.file for mutant in todo} if quick else TARGETS)]
    more = () if quick else MORE
    named = {test for tests in beside for test in tests if not test.startswith(more)}
    plugin = Trying(folder, todo, jobs, report, before)
    status = pytest.main([*given, "--hypothesis-seed=0", *more, *sorted(named)], plugins=[plugin])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest ended with {status}")


def chosen(folder: Path, only: str) -> list[Mutant]:
    """Return the mutants whose description has one of the words in ``only``, all when it is empty."""
    words = only.split(",")
    every = [mutant for file in TARGETS for mutant in mutants(file, TARGETS[file][0], folder / "exacell")]
    return [mutant for mutant in every if any(word in str(mutant) for word in words)]


def results() -> dict[str, str]:
    """Return what is kept of earlier runs: mutant → the test that noticed it, empty when none did."""
    if not KEPT.exists():
        return {}
    lines = KEPT.read_text(encoding="utf-8").splitlines()
    return {item["mutant"]: item["by"] for item in map(json.loads, lines)}


def told(every: Sequence[Mutant], noticed: dict[str, str], seconds: float) -> tuple[list[str], list[Mutant]]:
    """Return the table by module with its sum, and the mutants that neither a test noticed nor EQUIVALENT explains."""
    left = [mutant for mutant in every if not noticed.get(mutant.name)]
    odd = [mutant for mutant in left if mutant.key not in EQUIVALENT]
    lines = ["| module | breakages | noticed | nobody can notice | unnoticed |", "|--|--:|--:|--:|--:|"]
    for file in TARGETS:
        counts = [sum(mutant.file == file for mutant in some) for some in (every, left, odd)]
        if counts[0]:
            lines.append(
                f"| `{file}` | {counts[0]} | {counts[0] - counts[1]} | {counts[1] - counts[2]} | {counts[2]} |"
            )
    total = f"| **all** | {len(every)} | {len(every) - len(left)} | {len(left) - len(odd)} | {len(odd)} |"
    return [*lines, total], odd


def keep(lines: Iterable[str]) -> None:
    """Put the lines into the page, between its marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text("\n".join([before + BEGIN, *lines, END]) + after, encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description="mutate the guards and see which mutants the tests notice")
    options.add_argument("--jobs", type=int, default=2, help="mutants tried at a time")
    options.add_argument("--only", default="", help="only mutants whose description has one of these words")
    options.add_argument("--quick", action="store_true", help="run the tests beside the functions' files only")
    options.add_argument("--list", action="store_true", help="list the mutants, run nothing")
    options.add_argument("--afresh", action="store_true", help="try again what earlier runs have tried")
    options.add_argument("--write", action="store_true", help="keep the table in docs/reliability.md")
    options.add_argument("--progress", action="store_true", help="say on standard error how far it is, also in a pipe")
    given = options.parse_args()
    if given.list:
        print("\n".join(map(str, chosen(ROOT, given.only))))
        return 0
    before = results()
    if given.afresh:
        KEPT.unlink(missing_ok=True)
    KEPT.parent.mkdir(exist_ok=True)
    noticed = results()
    started = time.monotonic()

    tried: Counter[str] = Counter()
    far = HowFar(0, "breakages tried", "unnoticed", wanted=given.progress)

    def report(mutant: Mutant, by: str) -> None:
        noticed[mutant.name] = by
        with KEPT.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"mutant": mutant.name, "what": str(mutant), "by": by}) + "\n")
        odd = not by and mutant.key not in EQUIVALENT
        if odd:
            print(f"unnoticed: {mutant}", flush=True)
        tried["all"] += 1
        tried["unnoticed"] += odd
        far.tell(tried["all"], tried["unnoticed"])

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="exacell-mutants-", dir=memory if memory.is_dir() else None) as scratch:
        folder = copy_project(Path(scratch))
        every = chosen(folder, given.only)
        todo = [mutant for mutant in every if not noticed.get(mutant.name)]
        far.total = len(todo)
        if todo:
            try_on(folder, todo, given.jobs, report, before, quick=given.quick)
    seconds = time.monotonic() - started
    table, odd = told(every, noticed, seconds)
    for mutant in every:
        if not noticed.get(mutant.name) and mutant.key in EQUIVALENT:
            print(f"nobody can notice: {mutant}: {EQUIVALENT[mutant.key]}")
    print("\n".join(table))
    summary = f"{len(every)} breakages, {len(todo)} of them tried in {seconds:.0f}s, {date.today().isoformat()}"
    print(summary)
    if given.write:
        keep([f"`python benchmarks/mutate_guards.py --jobs={given.jobs}`: {summary}", "", *table])
    return 1 if odd else 0


if __name__ == "__main__":
    raise SystemExit(main())
