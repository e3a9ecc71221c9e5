"""Holds a site's own dcli and exacell against what dcli 3.5 is known to do, claim by claim, in front of an emulated rack.

    python tests/referees/dcli_verdict.py /usr/local/bin/dcli [--only TEXT] [--show]
    python tests/referees/dcli_verdict.py                          (exacell alone against the claims)

``dcli_claims.toml`` beside it has the claims: command lines, and what the reference says that they print. The file is run
as a black box, by a Python that takes it, over the machine's own ssh and scp; then the same command lines go through
``exacell dcli`` and what both leave is compared byte for byte: standard output, standard error and exit status. Only what
the reference says to vary is left out: process ids, vmstat's numbers, who failed first, the wording of errors, and what ssh
itself says. Nothing is fetched, nothing is kept, and no host but the emulated ones on this machine is reached.

A verdict for each claim: whether the dcli does what the reference says, and whether exacell does what the dcli did. Exit
status: 0 when nothing unexpected was seen, 1 otherwise, 2 when the file can't be run here.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

if (here := str(Path(__file__).parent)) not in sys.path:
    sys.path.insert(0, here)

from run import RACK, Surroundings, find_python2, surroundings

CLAIMS = Path(__file__).with_name("dcli_claims.toml")
LIMIT_S = 120.0
OLD = 1_000_000_000
"""Time stamp of all files, in seconds since 1970."""
EXECUTABLE = re.compile(r"\.sh$|^list\.scl$")


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a run of claimed command lines leaves, with the names of the cells still in braces.

    Attributes:
        out, err: the whole text; None: only the patterns count.
        out_has, err_has: patterns that must be found, and ``out_hasnot`` one that must not.
        out_lines: how many lines there are; 0 for any number.
        out_rises: a pattern of numbers on stdout, each of which is larger than the one before it; empty for none.
    """

    out: str | None = ""
    err: str | None = ""
    status: int = 0
    out_has: tuple[str, ...] = ()
    out_hasnot: tuple[str, ...] = ()
    err_has: tuple[str, ...] = ()
    out_lines: int = 0
    out_rises: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One sentence of the reference.

    Attributes:
        ref: its section.
        runs: command lines, one behind the other; what they print counts together, and the last bad status.
        before: shell text for the cells, so that each program finds them alike.
        alike: what is not compared between two programs.
        differs: why exacell does something else; empty when it does the same. ``ours`` is what it does then.
    """

    ref: str
    says: str
    runs: tuple[tuple[str, ...], ...]
    expected: Expected
    stdin: str = ""
    before: str = ""
    alike: tuple[str, ...] = ()
    differs: str = ""
    ours: Expected


@dataclass(frozen=True)
class Left:
    """What a program left."""

    out: str
    err: str
    status: int


Run = Callable[[Sequence[str], str], Left]
"""Runs dcli's words with a standard input in the current place."""


def read_claims(path: Path = CLAIMS) -> tuple[tuple[Claim, ...], Mapping[str, str]]:
    """Return the claims of a file and the files that they name."""
    with path.open("rb") as stream:
        tables = tomllib.load(stream)
    return tuple(_claim(table) for table in tables["claim"]), tables["files"]


def _claim(table: dict[str, Any]) -> Claim:
    runs = table["run"] if isinstance(table["run"][0], list) else [table["run"]]
    return Claim(
        ref=table["ref"],
        says=table["says"],
        runs=tuple(tuple(words) for words in runs),
        expected=_expected(table, ""),
        stdin=table.get("stdin", ""),
        before=table.get("before", ""),
        alike=tuple(table.get("alike", ())),
        differs=table.get("differs", ""),
        ours=_expected(table, "ours_"),
    )


def _expected(table: dict[str, Any], prefix: str) -> Expected:
    def text(name: str) -> str | None:
        patterns = any(f"{prefix}{name}_{kind}" in table for kind in ("has", "lines"))
        found = table.get(prefix + name)
        return found if found is not None or patterns else ""

    return Expected(
        out=text("out"),
        err=text("err"),
        status=table.get(f"{prefix}status", 0),
        out_has=tuple(table.get(f"{prefix}out_has", ())),
        out_hasnot=tuple(table.get(f"{prefix}out_hasnot", ())),
        err_has=tuple(table.get(f"{prefix}err_has", ())),
        out_lines=table.get(f"{prefix}out_lines", 0),
        out_rises=table.get(f"{prefix}out_rises", ""),
    )


# -- one claim ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Names:
    """What stands for the words in braces: ``over`` are options that a program needs to find the cells over ssh.

    ``own`` is a path on the cells that no other run of the claims has.
    """

    cells: tuple[str, str, str]
    group: str
    over: str = ""
    own: str = f"/tmp/dcli-claim-{os.getpid()}"

    def fill(self, text: str) -> str:
        """Return text with the names filled in."""
        a, b, c = self.cells
        words = {"a": a, "b": b, "c": c, "abc": ",".join(self.cells), "group": self.group, "own": self.own}
        words |= {"ssh": self.over, "scp": self.over}
        for name, value in words.items():
            text = text.replace("{" + name + "}", value)
        return text

    def words(self, words: Sequence[str]) -> list[str]:
        """Return a command line of a program that has to be told how the cells are reached."""
        filled = [self.fill(word) for word in words]
        return ["-s", self.over.rstrip(), *filled] if self.over and "-s" not in words else filled


def make_place(place: Path, files: Mapping[str, str], names: Names) -> None:
    """Fill an empty working directory with the files that claims name."""
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(names.fill(text).encode())
        path.chmod(0o755 if EXECUTABLE.search(name) else 0o644)
        os.utime(path, (OLD, OLD))


def carry_out(claim: Claim, run: Run, names: Names) -> Left:
    """Return what the command lines of a claim leave together."""
    done = [run(names.words(words), claim.stdin) for words in claim.runs]
    status = max((left.status for left in done), default=0)
    return Left("".join(left.out for left in done), "".join(left.err for left in done), status)


def misses(expected: Expected, left: Left, names: Names) -> list[str]:
    """Return in what a program's work is not what was expected; empty when it is."""
    found: list[str] = []
    if left.status != expected.status:
        found.append(f"exit status {left.status} instead of {expected.status}")
    for what, wanted, text in (("stdout", expected.out, left.out), ("stderr", expected.err, left.err)):
        if wanted is not None and names.fill(wanted) != text:
            found += [f"{what}: {line}" for line in _difference(names.fill(wanted), text)]
    for what, patterns, text in (("stdout", expected.out_has, left.out), ("stderr", expected.err_has, left.err)):
        found += [
            f"{what} does not have {names.fill(pattern)!r}, but {text[:300]!r}"
            for pattern in patterns
            if not re.search(names.fill(pattern), text, re.MULTILINE)
        ]
    found += [
        f"stdout has {names.fill(pattern)!r}"
        for pattern in expected.out_hasnot
        if re.search(names.fill(pattern), left.out, re.MULTILINE)
    ]
    if expected.out_lines and left.out.count("\n") != expected.out_lines:
        found.append(f"stdout has {left.out.count(chr(10))} lines instead of {expected.out_lines}")
    if expected.out_rises:
        numbers = [int(number) for number in re.findall(expected.out_rises, left.out)]
        if len(numbers) < 2 or any(second <= first for first, second in pairwise(numbers)):
            found.append(f"stdout's numbers {expected.out_rises!r} do not rise: {numbers}")
    return found


def differences(claim: Claim, theirs: Left, ours: Left) -> list[str]:
    """Return in what two programs' work differs, byte for byte but for what the claim says to vary."""
    found = [] if theirs.status == ours.status else [f"exit status {ours.status}, and the dcli's {theirs.status}"]
    for what, first, second in (("stdout", theirs.out, ours.out), ("stderr", theirs.err, ours.err)):
        settled = [settle(text, claim.alike, error=what == "stderr") for text in (first, second)]
        found += [f"{what}: {line}" for line in _difference(*settled)]
    return found


def settle(text: str, alike: Sequence[str], *, error: bool = False) -> str:
    """Return a stream's text without what is said to vary.

    Args:
        alike: pid, clock, numbers, order, wording, talk, usage, ssh or debug; see the claims' file.
        error: it is standard error.
    """
    if "pid" in alike:
        text = re.sub(r"pid \d+", "pid N", text)
    if "clock" in alike:
        text = re.sub(r"\d\d:\d\d:\d\d", "hh:mm:ss", text)
    if "numbers" in alike:
        lines = [re.sub(r"\s*:\s*|\s+", " ", re.sub(r"\d+", "N", line)).strip() for line in text.splitlines()]
        text = "".join(f"{line}\n" for line in lines)
    if "wording" in alike and error:
        text = re.sub(r"(?m)^(Error: )?.+$", r"\1<words>", text)
    if "wording" in alike and "--vmstat" in text:
        text = "<the options>\n"
    if "talk" in alike and error:
        text = re.sub(r"(?m)^.+$", "<words>", text)
    if "usage" in alike and error:
        text = text.strip().rpartition("error: ")[2].replace("an argument", "1 argument") + "\n"
    if "ssh" in alike and not error:
        text = re.sub(r"(?m)^([\w.@-]*):[^ \n].*\n(?:.+\n)*?\n(?:\1:[^ \n].*\n\n)*", _said, text)
        text = re.sub(r"(: \*{6}BANNER\*{6}\n)[^*]*?(\n[^\n]*: \*{6}BANNER\*{6}\n)", r"\1<ssh>\2", text)
    if "debug" in alike:
        text = "".join(f"{line}\n" for line in text.splitlines() if re.match(r"\S*cel\d+: ", line))
    if "order" in alike:
        text = re.sub(r"\[[^\]\n]*\]", lambda found: ", ".join(sorted(found[0][1:-1].split(", "))), text)
        text = "".join(sorted(text.splitlines(keepends=True)))
    return text


def _said(found: re.Match[str]) -> str:
    """Return what stands for a target's words of ssh or scp, once or, where dcli tells them twice, twice.

    How many lines they have is the program's: of a place that is not there scp 9.2 says two over SFTP (``dest open``, ``failed to
    upload``) and one with -O, and exacell, which writes over SFTP itself, says one.
    """
    half = len(found[0]) // 2
    return f"{found[1]}:<ssh>\n\n" * (2 if found[0] == found[0][:half] * 2 else 1)


def _difference(wanted: str, found: str) -> list[str]:
    lines = difflib.ndiff(wanted.splitlines(), found.splitlines())
    told = [line[:200] for line in lines if line[:1] in "-+"]
    if not told and wanted != found:
        return [f"- {wanted[-40:]!r}", f"+ {found[-40:]!r}"]
    return told[:12]


# -- programs ----------------------------------------------------------------------------------------------------------


def interpreter_of(file: Path, given: str | None) -> list[str] | None:
    """Return the words before a dcli file: the Python that was given, its own first line's, or one that can read it."""
    if given:
        return [given]
    first = file.read_bytes().split(b"\n", 1)[0].decode("utf-8", "replace")
    words = first[2:].split() if first.startswith("#!") else []
    if words and not re.search(r"python", first):
        return words
    named = words[1] if len(words) > 1 and words[0].endswith("/env") else words[0] if words else ""
    likely = [named, sys.executable, shutil.which("python3"), find_python2()]
    for program in filter(None, likely):
        try:
            done = subprocess.run(
                [program, "-c", "import sys; compile(open(sys.argv[1]).read(), 'dcli', 'exec')", str(file)],
                capture_output=True,
                check=False,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return [program]
    return None


@dataclass(frozen=True, kw_only=True)
class Process:
    """A program that is run with dcli's words, in a place of its own making."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    place: Path

    def __call__(self, words: Sequence[str], stdin: str) -> Left:
        try:
            done = subprocess.run(
                [*self.argv, *words],
                input=stdin.encode(),
                capture_output=True,
                env=self.env,
                cwd=self.place,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return Left((late.stdout or b"").decode("utf-8", "surrogateescape"), f"no end in {LIMIT_S:g}s\n", -1)
        out, err = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
        return Left(out, err, done.returncode)


@dataclass
class Bench:
    """Carries claims out by several programs, each time from the same state."""

    files: Mapping[str, str]
    place: Path
    on_cells: Callable[[str], None]
    counts: dict[str, int] = field(default_factory=dict)

    def left(self, claim: Claim, run: Run, names: Names) -> Left:
        """Return what one program leaves."""
        for path in self.place.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        make_place(self.place, self.files, names)
        if claim.before:
            self.on_cells(names.fill(claim.before))
        return carry_out(claim, run, names)

    def judge(self, claim: Claim, theirs: tuple[Run, Names] | None, ours: tuple[Run, Names]) -> list[str]:
        """Return the lines to tell of a claim; the verdicts are counted."""
        told: list[str] = []
        left = self.left(claim, *theirs) if theirs is not None else None
        if left is not None and theirs is not None:
            missed = misses(claim.expected, left, theirs[1])
            self._count("dcli as the reference says" if not missed else "dcli NOT as the reference says")
            told += [f"    dcli: {line}" for line in missed]
        mine = self.left(claim, *ours)
        if claim.differs:
            missed = misses(claim.ours, mine, ours[1])
            self._count("exacell different on purpose" if not missed else "exacell WRONG")
            told += [f"    exacell, on purpose: {claim.differs}"] if not missed else []
        elif left is None:
            missed = misses(claim.expected, mine, ours[1])
            self._count("exacell as the reference says" if not missed else "exacell WRONG")
        else:
            missed = differences(claim, left, mine)
            self._count("exacell the same bytes" if not missed else "exacell WRONG")
        return told + [f"    exacell: {line}" for line in missed]

    def _count(self, verdict: str) -> None:
        self.counts[verdict] = self.counts.get(verdict, 0) + 1

    @property
    def unexpected(self) -> bool:
        """Whether something is not as it should be."""
        return any("NOT" in verdict or "WRONG" in verdict for verdict in self.counts)


def programs(
    around: Surroundings, argv: Sequence[str] | None, place: Path
) -> tuple[tuple[Run, Names] | None, tuple[Run, Names]]:
    """Return the site's dcli, None for none, and exacell's, each with the names that it needs."""
    group = around.words["group"]
    a, b, c = Path(group).read_text(encoding="utf-8").split()[:3]
    env = {**around.env, "HOME": str(place), "LC_ALL": "C.UTF-8"}
    checkout = str(Path(__file__).resolve().parents[2])
    # As a rack may say for scripts that were made for dcli: what exacell can't read it sends as dcli does.
    (around.home / "config.toml").write_text(f'[racks.{RACK}]\nopaque = "allow"\n', encoding="utf-8")
    ours = Process(
        argv=(sys.executable, "-m", "exacell", "-r", RACK, "dcli"),
        env={**env, "EXACELL_HOME": str(around.home), "PYTHONPATH": checkout},
        place=place,
    )
    mine = (ours, Names(cells=(a, b, c), group=group))
    if argv is None:
        return None, mine
    theirs = Process(argv=tuple(argv), env=env, place=place)
    return (theirs, Names(cells=(a, b, c), group=group, over=f"-F {around.words['ssh_config']} ")), mine


def main(argv: Sequence[str] | None = None) -> int:
    """Judge what the arguments name and return the exit status."""
    parser = argparse.ArgumentParser(description="A site's dcli and exacell against the claims about dcli 3.5.")
    parser.add_argument("dcli", nargs="?", type=Path, help="the dcli program; without it exacell alone is judged")
    parser.add_argument("--python", help="run it by this Python instead of the one that its first line names")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="only claims of this section, or whose sentence contains this"
    )
    parser.add_argument("--show", action="store_true", help="name the claims that hold, too")
    given = parser.parse_args(argv)
    claims, files = read_claims()
    if given.only:
        claims = tuple(c for c in claims if c.ref in given.only or any(text in c.says for text in given.only))
    command: list[str] | None = None
    if given.dcli is not None:
        file = given.dcli.resolve()
        if not file.is_file():
            print(f"{given.dcli} is no file")
            return 2
        interpreter = interpreter_of(file, given.python)
        if interpreter is None:
            print(f"no Python here can read {file}; --python names one")
            return 2
        command = [*interpreter, str(file)]
        version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
        print(f"{' '.join(command)}: {version.stdout.strip() or version.stderr.strip()}")
        if re.search(r"\b[012]\.\d", version.stdout):
            print(
                "this dcli tries port 22 of each target itself, so no emulated rack can stand behind it; 3.5 is needed"
            )
            return 2
    with surroundings() as around, tempfile.TemporaryDirectory(prefix="dcli-") as folder:
        place = Path(folder)
        theirs, ours = programs(around, command, place)

        def on_cells(text: str) -> None:
            for cell in ours[1].cells:
                words = ["/usr/bin/ssh", "-F", around.words["ssh_config"], "-l", "celladmin", cell, text]
                subprocess.run(words, env=around.env, stdin=subprocess.DEVNULL, check=True, capture_output=True)

        bench = Bench(files=files, place=place, on_cells=on_cells)
        for claim in claims:
            told = bench.judge(claim, theirs, ours)
            if told or given.show:
                print(f"{claim.ref:5}{claim.says}", *told, sep="\n")
                sys.stdout.flush()
    print(f"{len(claims)} claims: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(bench.counts.items())))
    return 1 if bench.unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
