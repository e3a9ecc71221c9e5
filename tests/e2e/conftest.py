"""A scratch home, the real program, and an emulated rack that ends with the test."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from exacell.cli import main


@dataclass(frozen=True)
class Done:
    """What one run of the program left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return json.loads(self.out)


@dataclass(frozen=True)
class Program:
    """Runs ``exacell`` with a scratch home and standard input at /dev/null."""

    home: Path

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        return {**kept, "EXACELL_HOME": str(self.home), "COLUMNS": "120", "HOME": str(self.home)}

    def __call__(self, *words: str, stdin: str | None = None, timeout: float = 120) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "exacell", *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            env=self.env,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str) -> Done:
        """Run and require exit code 0."""
        done = self(*words)
        assert done.code == 0, f"{words}: exit {done.code}\n{done.out}\n{done.err}"
        return done


class InProcess(Program):
    """Runs the program's ``main`` in this process: the same work without an interpreter's start for each statement."""

    def __call__(self, *words: str, stdin: str | None = None, timeout: float = 120) -> Done:
        out, err, before = io.StringIO(), io.StringIO(), dict(os.environ)
        with open(os.devnull) as nothing, redirect_stdout(out), redirect_stderr(err):
            sys.stdin, kept = nothing if stdin is None else io.StringIO(stdin), sys.stdin
            os.environ.clear()
            os.environ.update(self.env)
            try:
                code = main(list(words))
            finally:
                os.environ.clear()
                os.environ.update(before)
                sys.stdin = kept
        return Done(int(code), out.getvalue(), err.getvalue())

    def with_rack_of(self, other: Program) -> InProcess:
        """Take the other home's racks into this one: the same running cells, a journal of its own."""
        shutil.copytree(other.home / "racks.d", self.home / "racks.d")
        return self


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The program with the default rack t1 at ten times its usual speed, for a module; each test leaves it as it was."""
    program = InProcess(tmp_path_factory.mktemp("shared") / "home")
    program.ok("emulator", "start", "t1", "speed=600")
    yield program
    program.ok("emulator", "stop", "t1")


@pytest.fixture
def inside(shared: InProcess, tmp_path: Path) -> InProcess:
    """The program with the module's rack and a home, so a journal, of its own."""
    return InProcess(tmp_path / "home").with_rack_of(shared)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[InProcess]:
    """The program, in this process, without a rack; the rack t1 that a test starts ends with it."""
    program = InProcess(tmp_path / "home")
    yield program
    program.ok("emulator", "stop", "t1")


@pytest.fixture
def exacell(tmp_path: Path) -> Iterator[Program]:
    """The program in a scratch home; every emulated rack that it started is stopped."""
    program = Program(tmp_path / "home")
    yield program
    for rack in program("-o", "json", "emulator", "status").records:
        if rack["running"]:
            program.ok("emulator", "stop", rack["name"])


@pytest.fixture
def t1(exacell: Program) -> Program:
    """The program with the default rack t1 running."""
    exacell.ok("emulator", "start", "t1")
    return exacell
