"""Runs public programs, kept in a folder of the reader's own, against a fresh emulated rack and says what they show.

    python tests/referees/run.py FOLDER [--only NAME] [--show] [--rack-option key=value]
    python tests/referees/run.py FOLDER --command 'any command line'

It fetches nothing. ``referees.toml`` beside it names the programs, how they are called, and the tables that their
authors' pages show, as patterns of our own; programs that are not in the folder are said to be missing. The programs
find dcli, cellcli, ssh, sqlplus and their like on the PATH that ``exacell emulator path`` prints, and the rack's hosts over its
SSH. ``--command`` runs whatever else you have in the same surroundings. Exit status: 0 when each program found showed
its tables, 1 when one did not, 2 when none was found.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

DATA = Path(__file__).with_name("referees.toml")
RACK = "referee"
LIMIT_S = 120.0
_COLORS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\(B")


class Verdict(StrEnum):
    """What became of one program."""

    PASSED = "shows its tables"
    FAILED = "does NOT show its tables"
    MISSING = "not in the folder"
    UNABLE = "can't run here"


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """Lines that must be there: at least ``count`` that match ``pattern``; ``what`` says it in words."""

    what: str
    pattern: str
    count: int = 1

    def found(self, lines: Iterable[str]) -> int:
        """Return how many lines match."""
        return sum(1 for line in lines if re.search(self.pattern, line))


@dataclass(frozen=True, kw_only=True)
class Referee:
    """One program and how it is called; several may be of one file.

    Attributes:
        name: of the file, wherever it is in the folder.
        run: argv, with {file}, {path}, {group}, {dbs_group}, {ssh_config}, {python} and {here} (this folder) filled in.
        env: more of the environment, filled in likewise.
        needs: programs of this machine without which it can't run.
        load: options of ``emulator load`` that runs beside it; empty for none.
        status: the exit status that its author's page implies.
        limit: seconds that it may take.
    """

    name: str
    source: str
    run: tuple[str, ...]
    case: str = ""
    needs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    load: str = ""
    status: int = 0
    limit: float = LIMIT_S
    expect: tuple[Expectation, ...]

    @property
    def title(self) -> str:
        """Name and case."""
        return f"{self.name} ({self.case})" if self.case else self.name


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one program did: ``missed`` holds the expectations that did not come true."""

    referee: Referee
    verdict: Verdict
    status: int | None = None
    missed: tuple[str, ...] = ()
    output: str = ""


def read_referees(path: Path = DATA) -> tuple[Referee, ...]:
    """Return the programs that a file describes, in its order."""
    with path.open("rb") as file:
        tables = tomllib.load(file)["referee"]
    return tuple(
        Referee(
            **{
                **table,
                "run": tuple(table["run"]),
                "needs": tuple(table.get("needs", ())),
                "expect": tuple(Expectation(**item) for item in table["expect"]),
            }
        )
        for table in tables
    )


def judge(referee: Referee, status: int, output: str) -> Report:
    """Return the report on a program that ended with ``status`` and printed ``output``."""
    lines = _COLORS.sub("", output).splitlines()
    missed = [
        f"{e.what}: {found} of {e.count} lines"
        for e in referee.expect
        if (found := e.found(lines)) < e.count
    ]  # fmt: skip
    if status != referee.status:
        missed.insert(0, f"exit status {status} instead of {referee.status}")
    verdict = Verdict.FAILED if missed else Verdict.PASSED
    return Report(referee=referee, verdict=verdict, status=status, missed=tuple(missed), output=output)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """An emulated rack and the environment in which programs meet it."""

    home: Path
    path: Path
    env: Mapping[str, str]

    @property
    def words(self) -> dict[str, str]:
        """What the words in braces stand for."""
        return {
            "path": str(self.path),
            "group": f"{self.env['HOME']}/cell_group",
            "dbs_group": f"{self.env['HOME']}/dbs_group",
            "ssh_config": f"{self.env['HOME']}/ssh_config",
            "python": sys.executable,
            "here": str(Path(__file__).resolve().parent),
        }

    def filled(self, word: str, file: Path) -> str:
        """Return a word of argv with its braces filled in."""
        for name, value in {**self.words, "file": str(file)}.items():
            word = word.replace("{" + name + "}", value)
        return word


def exacell(home: Path, *words: str) -> str:
    """Run exacell with its files in ``home`` and return what it prints on standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "exacell", *words],
        env={**os.environ, "EXACELL_HOME": str(home), "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"exacell {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def surroundings(options: Sequence[str] = ()) -> Iterator[Surroundings]:
    """Start a rack, make a home directory and an ORACLE_HOME with perl, and take everything away at the end."""
    with tempfile.TemporaryDirectory(prefix="referee-") as name:
        root = Path(name)
        home, own, oracle, tools = root / "exacell", root / "home", root / "oracle", root / "tools"
        for folder in (own, oracle / "perl" / "bin", tools):
            folder.mkdir(parents=True)
        for link, program in ((oracle / "perl" / "bin" / "perl", "perl"), (tools / "awk", "gawk")):
            if (found := shutil.which(program)) is not None:
                link.symlink_to(found)
        if (python2 := find_python2()) is not None:
            (tools / "python2").symlink_to(python2)
        exacell(home, "emulator", "start", RACK, *options)
        try:
            path = Path(exacell(home, "emulator", "path", RACK).strip())
            config = exacell(home, "emulator", "ssh-config", RACK)
            (own / "ssh_config").write_text(config, encoding="utf-8")
            hosts = re.findall(r"^Host (\S+)$", config, re.MULTILINE)
            cells = [host for host in hosts if "cel" in host]
            (own / "cell_group").write_text("".join(f"{cell}\n" for cell in cells), encoding="utf-8")
            (own / "dbs_group").write_text("".join(f"{h}\n" for h in hosts if h not in cells), encoding="utf-8")
            env = {
                **{k: v for k, v in os.environ.items() if not k.startswith(("EXACELL", "ORACLE", "PYENV"))},
                "PATH": f"{tools}:{path}:{os.environ['PATH']}",
                "HOME": str(own),
                "ORACLE_HOME": str(oracle),
                "TERM": os.environ.get("TERM") or "xterm",
                "COLUMNS": "160",
            }
            yield Surroundings(home=home, path=path, env=env)
        finally:
            exacell(home, "emulator", "stop", RACK)


def find_python2() -> str | None:
    """Return a Python 2 that starts, None when this machine has none."""
    others = sorted(Path("~/.pyenv/versions").expanduser().glob("2.*/bin/python2"))
    for name in (shutil.which("python2"), shutil.which("python2.7"), *map(str, others)):
        if name and subprocess.run([name, "-c", "print 1"], capture_output=True, check=False).returncode == 0:
            return name
    return None


def find(folders: Sequence[Path], name: str) -> Path | None:
    """Return the first file of that name anywhere in the folders."""
    return next((path for folder in folders for path in sorted(folder.rglob(name)) if path.is_file()), None)


def run(referee: Referee, file: Path, around: Surroundings) -> Report:
    """Run one program to its end and judge it."""
    missing = [need for need in referee.needs if shutil.which(need, path=around.env["PATH"]) is None]
    if missing:
        return Report(referee=referee, verdict=Verdict.UNABLE, missed=(f"needs {', '.join(missing)}",))
    env = {**around.env, **{name: around.filled(value, file) for name, value in referee.env.items()}}
    if "ORACLE_SID" not in referee.env and "perl" not in referee.needs:
        env.pop("ORACLE_HOME")  # as the emulated login has it
    load = None
    if referee.load:
        load = subprocess.Popen(
            [sys.executable, "-m", "exacell", "emulator", "load", RACK, "db=SPOT", *referee.load.split()],
            env={**os.environ, "EXACELL_HOME": str(around.home)},
            cwd=Path(__file__).resolve().parents[2],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    argv = [around.filled(word, file) for word in referee.run]
    try:
        done = subprocess.run(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=referee.limit,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode("utf-8", "replace")
        return Report(
            referee=referee, verdict=Verdict.FAILED, missed=(f"it did not end in {referee.limit:g}s",), output=text
        )
    finally:
        if load is not None:
            load.wait()
    return judge(referee, done.returncode, done.stdout.decode("utf-8", "replace"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the arguments ask for and return the exit status."""
    parser = argparse.ArgumentParser(description="Public programs against an emulated rack.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="where the programs are kept")
    parser.add_argument("--only", metavar="NAME", help="only programs whose name contains this")
    parser.add_argument("--show", action="store_true", help="print what the programs print")
    parser.add_argument("--data", type=Path, default=DATA, help="another file that describes programs")
    parser.add_argument("--rack-option", action="append", default=[], metavar="KEY=VALUE", help="of emulator start")
    parser.add_argument("--command", metavar="LINE", help="run this shell command in the same surroundings instead")
    given = parser.parse_args(argv)
    if given.command:
        with surroundings(given.rack_option) as around:
            env = {**around.env, "REFEREES": str(given.folders[0].resolve())}
            return subprocess.run(given.command, shell=True, env=env, cwd=given.folders[0], check=False).returncode
    wanted = [r for r in read_referees(given.data) if not given.only or given.only in r.name]
    files = {referee.name: find(given.folders, referee.name) for referee in wanted}
    if not any(files.values()):
        print(f"none of {', '.join(files)} is in {', '.join(map(str, given.folders))}")
        return 2
    reports = []
    with surroundings(given.rack_option) as around:
        for referee in wanted:
            file = files[referee.name]
            report = run(referee, file, around) if file else Report(referee=referee, verdict=Verdict.MISSING)
            reports.append(report)
            status = "" if report.status is None else f", exit status {report.status}"
            print(f"{referee.title}: {report.verdict}{status}")
            for missed in report.missed:
                print(f"    {missed}")
            if given.show and report.output:
                print("".join(f"    | {line}\n" for line in report.output.splitlines()), end="")
            sys.stdout.flush()
    return 1 if any(report.verdict is Verdict.FAILED for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
