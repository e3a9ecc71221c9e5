"""The real program at a real terminal and without one, against an emulated rack."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

PROMPT = "exacell> "
Start = Callable[..., pexpect.spawn]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home in which the emulated rack t1 runs; its third cell has a smaller flash cache."""
    home = tmp_path_factory.mktemp("live")
    env = {**os.environ, "EXACELL_HOME": str(home)}

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "exacell", *words]
        subprocess.run(command, env=env, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)

    run("emulator", "start", "t1")
    try:
        run("-r", "t1", "on exa1cel03 resize flashcache size=288g -y")
        # A busy machine may take longer than the prompt waits for an answer.
        (home / "config.toml").write_text("[settings]\npatience = 60\n")
        yield home
    finally:
        run("emulator", "stop", "t1")


@pytest.fixture
def run(rack: Path) -> Run:
    """Run the program without a terminal."""

    def begin(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "exacell", "-r", "t1", *words]
        env = {**os.environ, "EXACELL_HOME": str(rack)}
        return subprocess.run(
            command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, check=False
        )

    return begin


@pytest.fixture
def start(rack: Path) -> Iterator[Start]:
    """Start the program in a pty, at its prompt unless a statement is given."""
    started: list[pexpect.spawn] = []

    def begin(*argv: str, rows: int = 24, columns: int = 100, **env: str) -> pexpect.spawn:
        # The size is the pty's: pytest-xdist gives its workers COLUMNS and LINES.
        kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        given = {**kept, "EXACELL_HOME": str(rack), "TERM": "xterm-256color", "PAGER": "", **env}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "exacell", "-r", "t1", *argv],
            env={key: value for key, value in given.items() if not (key == "NO_COLOR" and not value)},
            dimensions=(rows, columns),
            timeout=300,
            encoding="utf-8",
        )
        started.append(child)
        if not argv:
            child.expect_exact(PROMPT)
        return child

    yield begin
    for child in started:
        child.close(force=True)
