"""Processes of operators, for benchmarks/races.py: started by a program that has imported exacell already."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path


class Operators:
    """Starts processes of operators, and knows when they have ended."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("races_operator.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._ended: dict[int, int] = {}
        self._began: list[int] = []
        self._changed = threading.Condition()
        self._asking = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            row = json.loads(line)
            with self._changed:
                if "began" in row:
                    self._began.append(row["began"])
                else:
                    self._ended[row["ended"]] = row["code"]
                self._changed.notify_all()

    def start(self, statement: str, home: Path, out: Path) -> int:
        """Start a process with one statement and return its number."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        environment |= {"EXACELL_HOME": str(home), "HOME": str(home), "COLUMNS": "200"}
        asked = {"argv": ["-r", "t1", "-y", *_argv(statement)], "env": environment, "out": str(out)}
        assert self._process.stdin is not None
        with self._asking:
            self._process.stdin.write((json.dumps(asked) + "\n").encode())
            self._process.stdin.flush()
            with self._changed:
                while not self._began:
                    self._changed.wait()
                return self._began.pop(0)

    def wait(self, pid: int, seconds: float) -> int | None:
        """Return how a process ended; None when it has not after so long."""
        with self._changed:
            self._changed.wait_for(lambda: pid in self._ended, seconds)
            return self._ended.get(pid)

    def close(self) -> None:
        """End the program that starts them."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _argv(statement: str) -> list[str]:
    return statement.split() if statement.startswith(("dcli ", "sh ")) else [statement]
