"""Try the twelve tasks of docs/usability.md at the real prompt, count their keys, and say where the page is wrong.

Run: python benchmarks/tasks.py [NAME] [-v]. Needs tmux. Starts an emulated rack of 3 cells in a scratch folder and stops
it; NAME is a rack of three cells that already runs. The page's table is what is pressed: text in back quotes, Tab and
Enter, each when the screen stands still. Before Enter the line must be the statement in the table's third column, and the
number of keys that in the fourth. Behind each row stands how long its answers took. -v shows the answers. Exit code 1 when
a row is wrong.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "usability.md"
WIDTH, HEIGHT = 80, 24
PROMPT = "exacell> "
SLOWEST = 60.0
EXACELL = [sys.executable, "-m", "exacell"]


@dataclass(frozen=True)
class Task:
    """One row of the page: what is pressed, the statement that it becomes, and how many keys the page says."""

    name: str
    keys: tuple[str, ...]
    statement: str
    count: int

    @property
    def pressed(self) -> int:
        """How many keys are pressed: Tab and Enter count as one, a text as its letters."""
        return sum(1 if key in ("Tab", "Enter") else len(key) for key in self.keys)


def tasks() -> list[Task]:
    """Return the rows of the page's table."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 5 and cells[3].isdigit():
            keys = tuple(text or word for text, word in re.findall(r"`([^`]+)`|\b(Tab|Enter)\b", cells[1]))
            found.append(Task(cells[0], keys, cells[2].strip("`"), int(cells[3])))
    return found


class Window:
    """The program in a tmux window of its own server."""

    def __init__(self, rack: str) -> None:
        self._socket = f"tasks-{os.getpid()}"
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        self._tmux("new-session", "-d", *size, *EXACELL, "-r", rack, env={**env, "TERM": "xterm-256color"})
        self._tmux("set", "-g", "status", "off")
        self.still(until=PROMPT)

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def rows(self) -> list[str]:
        """Return the screen's rows."""
        return self._tmux("capture-pane", "-p").splitlines()

    def line(self) -> str:
        """Return what stands behind the last prompt."""
        return next((row.rpartition(PROMPT)[2] for row in reversed(self.rows()) if PROMPT in row), "").strip()

    def press(self, key: str) -> None:
        """Press one key, by tmux's name or as a text."""
        self._tmux("send-keys", *((key,) if key in ("Tab", "Enter", "C-l") else ("-l", "--", key)))

    def still(self, until: str = "") -> list[str]:
        """Wait until the screen has not changed for a while, and an empty prompt stands there if ``until`` is one."""
        end = time.monotonic() + SLOWEST
        before: list[str] = []
        since = time.monotonic()
        while time.monotonic() < end:
            rows = self.rows()
            if rows != before:
                before, since = rows, time.monotonic()
            there = not until or any(row.rstrip().endswith(until.strip()) for row in rows)
            if there and time.monotonic() - since > 0.4:
                return rows
            time.sleep(0.05)
        raise SystemExit("the screen never stood still:\n" + "\n".join(before))

    def close(self) -> None:
        """End the window's server."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True)


@contextlib.contextmanager
def rack() -> Iterator[str]:
    """Yield the name of a running rack: the one that was named, else one in a scratch home."""
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    if named:
        yield named[0]
        return
    with tempfile.TemporaryDirectory() as home:
        os.environ["EXACELL_HOME"] = home
        subprocess.run([*EXACELL, "emulator", "start", "tasks"], check=True, capture_output=True)
        try:
            yield "tasks"
        finally:
            subprocess.run([*EXACELL, "emulator", "stop", "tasks"], check=True, capture_output=True)


def try_task(window: Window, task: Task) -> tuple[str, list[str]]:
    """Return the line before the last Enter, and the screen after it."""
    for key in task.keys[:-1]:
        window.press(key)
        window.still(until=PROMPT if key == "Enter" else "")
    line = window.line()
    window.press(task.keys[-1])
    shown = window.still(until=PROMPT)
    window.press("C-l")
    window.still(until=PROMPT)
    return line, shown


def main() -> int:
    """Return the exit code."""
    wrong = 0
    with rack() as name:
        # The first prompt of a home is the one that learns the names; whoever works with a rack has them.
        subprocess.run([*EXACELL, "-r", name, "refresh"], check=True, capture_output=True)
        window = Window(name)
        try:
            for task in tasks():
                began = time.monotonic()
                line, shown = try_task(window, task)
                took = time.monotonic() - began
                right = line == task.statement and task.pressed == task.count
                wrong += not right
                print(f"{'ok   ' if right else 'WRONG'} {task.pressed:3d} keys {took:4.0f}s  {task.name}  {line}")
                if "-v" in sys.argv or not right:
                    print(*(f"      | {row}" for row in shown if row.strip()), sep="\n")
        finally:
            window.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
