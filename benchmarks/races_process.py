"""Processes of operators, for benchmarks/races.py: started by a program that has imported exacell already."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROGRAM = (sys.executable, str(Path(__file__).with_name("races_operator.py")))


@dataclass(frozen=True)
class Operator:
    """A process of an operator.

    The system gives the number of a process again, on a busy machine within a minute: nothing here goes by it.

    Attributes:
        number: counted here, never given twice.
        handle: a descriptor that stands for this very process; None where it had gone before one could be had.
    """

    number: int
    handle: int | None

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal and return whether the process was still there."""
        if self.handle is None:
            return False
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)
            return True
        return False


class Operators:
    """Starts processes of operators, and knows when they have ended.

    Args:
        program: what starts them, as races_operator.py does.
    """

    def __init__(self, program: Sequence[str] = PROGRAM) -> None:
        self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ended: dict[int, int] = {}
        self._began: dict[int, int] = {}
        self._given = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            row = json.loads(line)
            with self._changed:
                if "pid" in row:
                    self._began[row["number"]] = row["pid"]
                else:
                    self._ended[row["number"]] = row["code"]
                self._changed.notify_all()

    def start(self, statement: str, home: Path, out: Path) -> Operator:
        """Start a process with one statement; give it back to :meth:`leave` when it is of no use any more."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        environment |= {"EXACELL_HOME": str(home), "HOME": str(home), "COLUMNS": "200"}
        assert self._process.stdin is not None
        with self._changed:
            self._given += 1
            number = self._given
            asked = {
                "number": number,
                "argv": ["-r", "t1", "-y", *_argv(statement)],
                "env": environment,
                "out": str(out),
            }
            self._process.stdin.write((json.dumps(asked) + "\n").encode())
            self._process.stdin.flush()
            if not self._changed.wait_for(lambda: number in self._began, 30):
                raise RuntimeError(f"nobody began {statement}")
            pid = self._began.pop(number)
        handle = None
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
        return Operator(number, handle)

    def wait(self, operator: Operator, seconds: float) -> int | None:
        """Return how a process ended; None when it has not after so long."""
        with self._changed:
            self._changed.wait_for(lambda: operator.number in self._ended, seconds)
            return self._ended.get(operator.number)

    def leave(self, operator: Operator) -> None:
        """End a process where it has not ended, and have no more to do with it."""
        if operator.signal(signal.SIGKILL):
            self.wait(operator, 10)
        if operator.handle is not None:
            os.close(operator.handle)

    def close(self) -> None:
        """End the program that starts them."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _argv(statement: str) -> list[str]:
    return statement.split() if statement.startswith(("dcli ", "sh ")) else [statement]
