"""A rack of invented programs behind the real servers, so that what SSH does can be tested by itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.beneath import Files
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.clusters import Cluster, make_clusters
from exacell.emulator.basics.program import Ask, Out, Pause, Program
from exacell.emulator.basics.store import Json, RackFiles
from exacell.emulator.rack.world import Launch, StartedLoad
from exacell.emulator.state.fault_book import FaultBook


@dataclass
class FakeWorld:
    """Programs that say who they are and do what their first argument tells them."""

    cells: tuple[str, ...] = ("exa1cel01", "exa1cel02")
    dbnodes: tuple[str, ...] = ("exa1db01",)
    clusters: tuple[Cluster, ...] = make_clusters(1, ("exa1db01",), ("SPOT", "ERP"))
    faults: FaultBook = field(default_factory=lambda: FaultBook(RackClock()))
    statements: int = 0
    saved: int = 0
    closed: list[str] = field(default_factory=list)

    def address(self, cell: str) -> str:
        return f"192.168.10.{11 + self.cells.index(cell)}"

    def describe(self) -> Json:
        return {
            "name": "t1",
            "cells": len(self.cells),
            "dbnodes": len(self.dbnodes),
            "db": ["SPOT", "ERP"],
            "model": "x2",
            "release": "19.3",
            "mode": "writeback",
            "speed": 60.0,
            "seed": 1,
            "cell_names": list(self.cells),
            "dbnode_names": list(self.dbnodes),
        }

    def program(self, launch: Launch) -> Program:
        name, host, login, env, tty = launch.name, launch.host, launch.login, launch.env, launch.tty
        words = list(launch.argv)
        match words[:1]:
            case ["crash"]:
                return self._crash()
            case ["sleep"]:
                return self._sleep(float(words[1]))
            case ["big"]:
                return self._big(int(words[1]))
            case ["env"]:
                return self._env(env, words[1])
            case ["ask"]:
                return self._ask("" if "-n" in words else "CellCLI> ")
            case ["status"]:
                return self._status(int(words[1]))
        return self._who(f"{name} {host} {login} {words} tty={tty}")

    def _who(self, text: str) -> Program:
        yield Out(text + "\n")
        yield Out("told on stderr\n", err=True)
        return 0

    def _crash(self) -> Program:
        yield Out("so far\n")
        raise RuntimeError("a fault in the program")

    def _sleep(self, seconds: float) -> Program:
        try:
            yield Out("asleep\n")
            yield Pause(seconds, wall=True)
            yield Out("awake\n")
        finally:
            self.closed.append(f"sleep {seconds:g}")
        return 0

    def _big(self, lines: int) -> Program:
        for number in range(lines):
            yield Out(f"{number:08d} {'x' * 90}\n")
        return 0

    def _env(self, env: Mapping[str, str], name: str) -> Program:
        yield Out(f"{env.get(name)}\n")
        return 0

    def _ask(self, prompt: str) -> Program:
        while (line := (yield Ask(prompt))) not in (None, "quit"):
            self.statements += 1
            yield Out(f"<{line}>\n")
        return 0

    def _status(self, status: int) -> Program:
        yield from ()
        return status

    def machine_files(self, host: str) -> Mapping[str, str]:
        return self.moving_files(host)

    def moving_files(self, host: str) -> Mapping[str, str]:
        return {"/proc/uptime": "3600.00 3500.00\n", "/proc/stat": "cpu  1 0 1 1 0 0 0 0 0 0\nbtime 1600000000\n"}

    def wall_seconds(self, pause: Pause) -> float:
        return pause.seconds if pause.wall else pause.seconds / 60

    def start_load(self, *, db: str, redo: float | None, seconds: float, profile: str) -> StartedLoad:
        if db not in ("", "SPOT"):
            raise EmulatorError(f"rack t1 has no database {db}")
        return StartedLoad(number=1, db="SPOT", redo=2000.0 if redo is None else redo, profile=profile)

    def give_files(self, files: Callable[[str], Files]) -> None:
        self.files = files

    def commit_load(self, *, db: str, sessions: int, commits: int) -> Iterator[None]:
        yield from ()

    def uncounted(self) -> bool:
        return False

    def truth(self, *, db: str, known: Mapping[str, Any] | None) -> Mapping[str, object]:
        return {"db": "SPOT", **(known or {})}

    def load_left(self, number: int) -> float | None:
        return None

    def play(self, enough: Callable[[], bool]) -> bool:
        return True

    def hold_back(self) -> None:
        return None

    def moved_parts(self) -> Mapping[str, Json]:
        return {}

    def advance(self) -> None:
        return None

    def changed_parts(self, host: str) -> Mapping[str, Json]:
        if self.saved == self.statements:
            return {}
        self.saved = self.statements
        return {f"cell-{host}": {"statements": self.statements}}

    def to_state(self) -> Mapping[str, Json]:
        return {"rack": {}}


@dataclass(frozen=True)
class RunningRack:
    """A fake rack that serves in a thread of the test's process."""

    files: RackFiles
    world: FakeWorld

    def ssh(
        self, host: str, *command: str, stdin: str = "", options: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        return self.run("ssh", *options, host, *command, stdin=stdin)

    def run(self, program: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [program, "-F", str(self.files.ssh_config), *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300)


def wait_for(condition: Callable[[], bool], timeout: float = 60.0) -> None:
    """Wait until ``condition()`` holds; fail when it does not in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.01)
