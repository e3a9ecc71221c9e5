"""A home with one configured rack, and the real program in a pty."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

PROMPT = "exacell> "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An EXACELL_HOME with the racks t1 and prod."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-03]"\n')
    (tmp_path / "racks.d" / "prod.toml").write_text('cells = "prod[1-2]"\nproduction = true\n')
    return tmp_path


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., pexpect.spawn]]:
    """Start the program in a pty of 24 by 100 and wait for its prompt."""
    started: list[pexpect.spawn] = []

    def begin(*argv: str, **env: str) -> pexpect.spawn:
        # The size is the pty's: pytest-xdist gives its workers COLUMNS and LINES.
        kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        given = {**kept, "EXACELL_HOME": str(home), "TERM": "xterm-256color", **env}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "exacell", *argv],
            env={key: value for key, value in given.items() if not (key == "NO_COLOR" and not value)},
            dimensions=(24, 100),
            timeout=300,
            encoding="utf-8",
        )
        started.append(child)
        child.expect_exact(PROMPT)
        return child

    yield begin
    for child in started:
        child.close(force=True)
