"""A scratch home, the real program, and an emulated rack that ends with the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


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
