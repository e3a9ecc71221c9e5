"""The real program with a scratch home: run without a terminal, or at one as a person would."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pexpect

from exacell.cli import main
from tests.support.patience import LONG_S, until

PROMPT = "exacell> "


@dataclass(frozen=True)
class Done:
    """What one run of the program left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """The data of a run with ``-o json``."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Program:
    """Runs ``exacell`` with a scratch home and standard input at /dev/null."""

    home: Path

    @property
    def env(self) -> dict[str, str]:
        """The environment, without what would lead to another home."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        return {**kept, "EXACELL_HOME": str(self.home), "COLUMNS": "120", "HOME": str(self.home)}

    def __call__(self, *words: str, stdin: str | None = None, timeout: float = 300) -> Done:
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

    def dies(self, at: str, *words: str) -> str:
        """Run it until it says ``at`` on standard error, which kills it as ``kill -9`` does; return all that it said there."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.dying", at, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.env,
            timeout=LONG_S, check=False,
        )  # fmt: skip
        assert done.returncode == -9, f"{words}: exit {done.returncode}\n{done.stderr}"
        return done.stderr

    def mend(self, rack: str) -> None:
        """End a rack's faults, and wait until ASM has brought up to date what they took from it.

        Until then a cell is well enough for exit code 0, but not what other tests of the rack find it to be.
        """
        self.ok("emulator", "fault", rack, "all", "clear")
        look = ("-r", rack, "-o", "json", "list griddisk attributes name where asmModeStatus != ONLINE")
        assert until(lambda: self.ok(*look).records == [])

    def with_rack_of(self, other: Program) -> Self:
        """Take the other home's racks into this one: the same running cells, a journal of its own."""
        shutil.copytree(other.home / "racks.d", self.home / "racks.d")
        return self

    def at_terminal(self, *words: str, rows: int = 24, columns: int = 80, **env: str) -> Terminal:
        """Start the program at a terminal of that size, with what a person's terminal has in its environment."""
        # The size is the pty's: pytest-xdist gives its workers COLUMNS and LINES.
        kept = {k: v for k, v in self.env.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "exacell", *words],
            env={**kept, "TERM": "xterm-256color", "PAGER": "", **env},
            dimensions=(rows, columns),
            timeout=300,
            encoding="utf-8",
        )
        return Terminal(child)


class InProcess(Program):
    """Runs the program's ``main`` in this process: the same work without an interpreter's start for each statement."""

    def __call__(self, *words: str, stdin: str | None = None, timeout: float = 300) -> Done:
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


class Terminal:
    """A session of the program at a terminal; use as a context manager."""

    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.child.close(force=True)

    def ready(self) -> Terminal:
        """Wait for the first prompt."""
        self.child.expect_exact(PROMPT)
        return self

    def enter(self, line: str) -> str:
        """Enter a line and return what is shown until the next prompt, without colours."""
        self.child.send(line + "\r")
        self.child.expect_exact(PROMPT)
        return plain(self.child.before)

    def rest(self) -> str:
        """Return all that is shown until the program ends, without colours."""
        self.child.expect(pexpect.EOF)
        return plain(self.child.before)


def plain(text: str) -> str:
    """Return text without escape sequences and carriage returns."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def answer(child: pexpect.spawn, line: str) -> str:
    """Enter a line at a prompt and return what is shown until the next one, without colours."""
    child.sendline(line)
    child.expect_exact(PROMPT)
    return plain(child.before)


def told(text: str) -> str:
    """Return text as one line, for sentences that a terminal has wrapped."""
    return " ".join(text.split())
