"""Give each reader bytes that its own lines lead to, print what was found, and keep what a reader failed at.

    python benchmarks/fuzz_readers.py [--readers=fio,shell] [--seconds=60] [--seed=1] [--into=FOLDER] [--least] [--keep] [--write]

``tests/support/fuzzing/readers.py`` has the readers. Each is run by a process under Atheris, which ``make fuzz-readers``
installs: libFuzzer changes texts that reached a new line of exacell; a changed text is as long as the reader's ``usual`` at
most. Besides it repeats a part of a text thousands of times, which finds what takes quadratic time, nests too deep, or has too
many digits; these long texts get a tenth of the time. Only exacell's own errors may leave a reader; a text of at most 32 KB may
take 2 seconds of processor time, a process 2 GB. What fails is made smaller and printed, and with ``--keep`` kept under
``tests/data/fuzz/READER/``, where the tests read it again. ``--into`` keeps what reached new lines and how many texts were given:
the next run with the same folder goes on from there, and its figures are those of all runs. With ``--least`` the reader that was
given the fewest texts comes first, and one that was given 500,000 comes last. Leaves with 1 if a reader failed, with 2
without Atheris.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import importlib
import importlib.util
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
KEPT = ROOT / "tests" / "data" / "fuzz"
FIGURES = "figures.json"
BEGIN, END = "<!-- fuzz readers: begin -->", "<!-- fuzz readers: end -->"

ROOM = 2 << 30
"""Bytes of address space that a process may take."""

TIMES_SLOWER = 4
"""A watched reader gets so many times the processor time; without the watch it is judged again."""

STRETCHED_SHARE = 0.1
"""The part of the processor time that goes to texts with a part repeated."""

LATE_S = 60
"""Seconds that a process may go on behind its time."""

SMALLER_S = 20.0
"""Seconds in which a text that fails is made smaller."""

sys.path[:0] = [str(ROOT)]

if TYPE_CHECKING:
    from tests.support.fuzzing.readers import Reader


def main() -> int:
    options = argparse.ArgumentParser(description="fuzz the readers of what others wrote")
    options.add_argument("--readers", default="", help="only these, with commas between them")
    options.add_argument("--seconds", type=int, default=60, help="how long each reader is run")
    options.add_argument("--seed", type=int, default=1, help="another number makes other texts")
    options.add_argument(
        "--into", type=Path, help="keep texts and figures in this folder, and go on from those that are there"
    )
    options.add_argument("--least", action="store_true", help="begin with the reader that was given the fewest texts")
    options.add_argument("--keep", action="store_true", help="keep what a reader failed at under tests/data/fuzz")
    options.add_argument("--write", action="store_true", help="keep the figures in docs/reliability.md")
    options.add_argument("--run", nargs=2, metavar=("READER", "FOLDER"), help=argparse.SUPPRESS)
    options.add_argument("--judge", nargs=2, metavar=("READER", "FOLDER"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.run:
        return run(*given.run, seconds=given.seconds, seed=given.seed)
    if given.judge:
        return judge(*given.judge, keep=given.keep)
    if importlib.util.find_spec("atheris") is None:
        print("Atheris is not installed: make fuzz-readers installs it; nothing was run", file=sys.stderr)
        return 2
    from tests.support.fuzzing.readers import READERS

    wanted = given.readers.split(",") if given.readers else list(READERS)
    unknown = [name for name in wanted if name not in READERS]
    if unknown:
        options.error(f"no reader is named {', '.join(unknown)}; there are {', '.join(READERS)}")
    if given.least:
        wanted.sort(key=lambda name: figures_of(given.into, name)["texts"])
    rows, failed = [], 0
    for name in wanted:
        row, faults = one(name, READERS[name], given)
        rows.append(row)
        failed += faults
        print(row, flush=True)
    if given.write:
        keep_figures(rows, given)
    return 1 if failed else 0


def one(name: str, reader: Reader, given: argparse.Namespace) -> tuple[str, int]:
    """Run one reader, and return its row of the table and the number of its faults."""
    with contextlib.ExitStack() as ending:
        folder = str(
            given.into / name if given.into else ending.enter_context(tempfile.TemporaryDirectory("exacell-fuzz"))
        )
        for part in ("texts", "faults"):
            (Path(folder) / part).mkdir(parents=True, exist_ok=True)
        (Path(folder) / "modules").write_text("\n".join(reader.modules), encoding="ascii")
        command = [sys.executable, __file__, f"--seconds={given.seconds}", f"--seed={given.seed}"]
        began = time.monotonic()
        ran = subprocess.run(
            [*command, "--run", name, folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=given.seconds + LATE_S + 600,
        )
        took = time.monotonic() - began
        said = ran.stderr.decode("utf-8", "replace")
        count = re.search(r"number_of_executed_units: *(\d+)", said) or re.search(r"^given (\d+)$", said, re.MULTILINE)
        if ran.returncode or count is None:
            print(f"{name}: the process ended with {ran.returncode} after {took:.0f} s: {said[-600:]}", flush=True)
        judged = subprocess.run(
            [*command, *["--keep"] * given.keep, "--judge", name, folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=900,
            text=True,
            errors="replace",
        )
        *told, last = judged.stdout.splitlines() or [""]
        for line in told:
            print(line, flush=True)
        said_last = re.fullmatch(r"lines (\d+) of (\d+), texts (\d+), faults (\d+)", last)
        if said_last is None:
            raise SystemExit(f"{name}: judging ended with {judged.returncode}: {judged.stderr[-2000:]}")
        reached, there, texts, faults = (int(number) for number in said_last.groups())
        faults += 1 if ran.returncode or count is None else 0
        figures = figures_of(given.into, name)
        figures["texts"] += int(count[1]) if count else 0
        figures["faults"] += faults
        if given.into:
            (Path(folder) / FIGURES).write_text(json.dumps(figures), encoding="ascii")
        lines = f"{reached:,} of {there:,} ({reached / there:.0%})" if there else "-"
        cells = (name, reader.about, f"{figures['texts']:,}", f"{texts:,}", lines, str(figures["faults"]))
        return f"| {' | '.join(cells)} |", faults


def figures_of(into: Path | None, name: str) -> dict[str, int]:
    """Return how many texts the reader was given in earlier runs with this folder, and how many faults it had."""
    path = into / name / FIGURES if into else None
    return json.loads(path.read_text(encoding="ascii")) if path and path.exists() else {"texts": 0, "faults": 0}


# The process that runs one reader


class TooSlowError(BaseException):
    """A text took more processor time than it may."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlowError in this process after so many seconds of its processor time."""

    def late(signum: int, frame: types.FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def run(name: str, folder: str, *, seconds: int, seed: int) -> int:
    """Run the reader under Atheris; each fault goes to a file. Does not return: libFuzzer ends the process."""
    import atheris  # type: ignore[import-not-found]

    modules = (Path(folder) / "modules").read_text(encoding="ascii").split()
    with atheris.instrument_imports(include=modules):  # Before anything of exacell is imported.
        from tests.support.fuzzing.readers import LONGEST, READERS
        from tests.support.fuzzing.trying import LIMIT_S, where

        for module in modules:
            importlib.import_module(module)
    reader = READERS[name]
    seeds = list(dict.fromkeys(reader.seeds()))
    texts, faults = Path(folder) / "texts", Path(folder) / "faults"
    for text in seeds:
        (texts / f"seed-{hashlib.sha1(text, usedforsecurity=False).hexdigest()[:12]}").write_bytes(text)
    words = Path(folder) / "words"
    words.write_text("\n".join(vocabulary(modules)), encoding="ascii")
    smallest: dict[str, int] = {}
    clock = Clock(ends=time.monotonic() + seconds + LATE_S)

    def take(data: bytes) -> None:
        with clock.taking():
            read(data)
        if time.monotonic() > clock.ends:
            os.write(2, f"\ngiven {clock.given}\n".encode())
            os._exit(0)

    def read(data: bytes) -> None:
        try:
            with limited(LIMIT_S * TIMES_SLOWER):
                reader.reads(data)
        except reader.passes:
            return
        except (Exception, TooSlowError) as error:
            place = where(error)
            if len(data) < smallest.get(place, 1 << 30):
                smallest[place] = len(data)
                (faults / hashlib.sha1(place.encode(), usedforsecurity=False).hexdigest()[:12]).write_bytes(data)

    def mutate(data: bytes, longest: int, number: int) -> bytes:
        clock.long = clock.long_s <= STRETCHED_SHARE * clock.all_s
        if clock.long:
            return stretched(data, longest, random.Random(number))
        return bytes(atheris.Mutate(data[: reader.usual], reader.usual))

    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    options = {
        "max_total_time": seconds,
        "seed": seed,
        "max_len": LONGEST,
        "dict": words,
        "timeout": 900,  # Its own limit ends the process; ours goes on.
        "rss_limit_mb": 0,
        "len_control": 0,  # The mutator decides.
        "print_final_stats": 1,
        "verbosity": 0,
        "artifact_prefix": f"{folder}/",
    }
    arguments = [sys.argv[0], *(f"-{option}={value}" for option, value in options.items()), str(texts)]
    atheris.Setup(arguments, take, custom_mutator=mutate)
    atheris.Fuzz()
    return 0


@dataclasses.dataclass
class Clock:
    """How much processor time went to all texts, and to those with a part repeated; ``long`` is whether the next is one.

    Attributes:
        ends: when the process ends in any case; libFuzzer does not look at the time before it has read all that it begins with.
        given: the number of texts.
    """

    ends: float
    given: int = 0
    long: bool = False
    long_s: float = 0.0
    all_s: float = 0.0

    @contextlib.contextmanager
    def taking(self) -> Iterator[None]:
        """Count the time of one text."""
        began = time.process_time()
        try:
            yield
        finally:
            took = time.process_time() - began
            self.given += 1
            self.all_s += took
            self.long_s += took if self.long else 0.0
            self.long = False


def stretched(data: bytes, longest: int, chance: random.Random) -> bytes:
    """Return the text with a part of it repeated up to the longest that is allowed."""
    begin = chance.randrange(len(data) + 1)
    part = data[begin : begin + chance.choice((1, 1, 2, 3, 5, 8, 40))] or b"("
    times = min(chance.choice((20, 400, 5000, 40000)), max(1, (longest - len(data)) // len(part)))
    return (data[:begin] + part * times + data[begin:])[:longest]


def vocabulary(modules: Sequence[str]) -> list[str]:
    """Return the texts that stand in the modules, as lines of libFuzzer's dictionary."""
    found: dict[str, None] = {}

    def collect(code: types.CodeType) -> None:
        for value in code.co_consts:
            if isinstance(value, types.CodeType):
                collect(value)
            for text in value if isinstance(value, (tuple, frozenset)) else (value,):
                if isinstance(text, str) and 1 < len(text) < 32 and text.isascii() and text.isprintable():
                    found[text] = None

    for module in modules:
        collect(code_of(module))
    return ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in found]


def code_of(module: str) -> types.CodeType:
    """Return the compiled text of a module."""
    path = importlib.util.find_spec(module).origin  # type: ignore[union-attr]
    return compile(Path(str(path)).read_bytes(), str(path), "exec")


# The process that judges afterwards, without a watch on the lines


def judge(name: str, folder: str, *, keep: bool) -> int:
    """Print each fault that is one without the watch too, as small as possible, and how many lines the texts reach."""
    from tests.support.fuzzing.readers import READERS
    from tests.support.fuzzing.trying import tried

    reader = READERS[name]
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    faults: dict[str, bytes] = {}
    for path in sorted((Path(folder) / "faults").iterdir()):
        data = path.read_bytes()
        fault = tried(reader, data)
        if fault is not None:
            small = smaller(reader, data, fault.place)
            if len(small) < len(faults.get(fault.place, small + b"x")):
                faults[fault.place] = small
    for place, data in faults.items():
        print(f"{name}: {place}: {len(data)} bytes: {data[:120]!r}")
        if keep:
            to = KEPT / name / f"{re.sub('[^A-Za-z0-9]+', '-', place).strip('-')[-60:]}"
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
    texts = sorted((Path(folder) / "texts").iterdir())
    reached, there = coverage(name, texts)
    print(f"lines {reached} of {there}, texts {len(texts)}, faults {len(faults)}")
    return 0


def smaller(reader: Reader, data: bytes, place: str) -> bytes:
    """Return a part of the text that fails at the same place; found by leaving out ever smaller parts, for some seconds."""
    from tests.support.fuzzing.trying import tried

    end = time.monotonic() + SMALLER_S
    size = len(data) // 2
    while size:
        begin = 0
        while begin < len(data) and time.monotonic() < end:
            without = data[:begin] + data[begin + size :]
            fault = tried(reader, without)
            if fault is not None and fault.place == place:
                data = without
            else:
                begin += size
        size = min(size // 2, len(data)) if time.monotonic() < end else 0
    return data


def coverage(name: str, texts: Sequence[Path]) -> tuple[int, int]:
    """Return how many lines inside functions of the reader's modules the texts reach, and how many there are."""
    from tests.support.fuzzing.readers import READERS
    from tests.support.fuzzing.trying import tried

    reader = READERS[name]
    there: dict[str, set[int]] = {}
    for module in reader.modules:
        code = code_of(module)
        there[code.co_filename] = set(lines_inside(code, function=False))
    seen: dict[str, set[int]] = {file: set() for file in there}

    def trace(frame: types.FrameType, event: str, argument: object) -> object:
        lines = seen.get(frame.f_code.co_filename)
        if lines is None:
            return None

        def line(frame: types.FrameType, event: str, argument: object) -> object:
            lines.add(frame.f_lineno)
            return line

        return line(frame, event, argument)

    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        for path in texts:
            tried(reader, path.read_bytes())
    finally:
        sys.settrace(None)
    return sum(len(seen[file] & there[file]) for file in there), sum(len(found) for found in there.values())


def lines_inside(code: types.CodeType, *, function: bool) -> Iterator[int]:
    """Yield the lines of all functions in the code, not those that run when the module is loaded."""
    if function:
        yield from (line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno)
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from lines_inside(value, function=function or bool(value.co_flags & 0x2))


def keep_figures(rows: Sequence[str], given: argparse.Namespace) -> None:
    """Put the rows into the page, between their marks; of readers that did not run the old rows stay."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no lines {BEGIN} and {END}")
    table = {
        row.split(" | ")[0]: row for row in old.splitlines() if row.startswith("| ") and not row.startswith("| reader ")
    }
    table |= {row.split(" | ")[0]: row for row in rows}
    told = (
        f"`make fuzz-readers ARGS='--seconds={given.seconds} --seed={given.seed} --write'`, each reader on one core, "
        f"{date.today().isoformat()}:"
    )
    head = ["| reader | what it reads | texts given | kept | lines reached | faults |", "|--|--|--|--|--|--|"]
    PAGE.write_text("\n".join([before + BEGIN, told, "", *head, *table.values(), END]) + after, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
