"""One emulated rack for all tests of care, tutorial and opaque work: each leaves it as it was."""

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
    """What one run of the program left."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return json.loads(self.out)


@dataclass(frozen=True)
class Rack:
    """Runs ``exacell -r care`` with a scratch home."""

    home: Path

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        return {
            **kept,
            "EXACELL_HOME": str(self.home),
            "COLUMNS": "120",
            "HOME": str(self.home),
            "TERM": "xterm",
            "PAGER": "cat",
        }

    def __call__(self, *words: str, timeout: float = 60) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "exacell", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.env,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def say(self, *words: str) -> Done:
        """Run a statement on the rack."""
        return self("-r", "care", *words)

    def json(self, *words: str) -> list[dict[str, Any]]:
        """Run a statement and return its records."""
        return self("-r", "care", "-o", "json", *words).records

    def fault(self, hosts: str, *words: str) -> None:
        done = self("emulator", "fault", "care", hosts, *words)
        assert done.code == 0, done.err


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """The rack care, running; stopped behind the module."""
    found = Rack(tmp_path_factory.mktemp("care") / "home")
    started = found("emulator", "start", "care")
    assert started.code == 0, started.err
    yield found
    found("emulator", "stop", "care")
