from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from exacell.core.config import RackConfig, Settings, parse_rack
from exacell.emulator import control
from exacell.transport.base import Transport
from tests.support.patience import LONG_S

RACK = "t1"


class EmulatedRack:
    """A running rack and the programs in front of it.

    Attributes:
        path: the directory of dcli, exacli, ssh and their like.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        control.start(home, RACK, options={"cells": 3, "dbnodes": 1})
        self.path = control.program_path(home, RACK)
        file = control.rack_file(home, RACK)
        self.config: RackConfig = parse_rack(RACK, file.read_text(encoding="utf-8"), str(file))
        for cell in self.config.cells:
            for user in ("celladmin", "cellmonitor"):
                self.exacli(
                    "-c", cell, "-l", user, "--cookie-jar", self.config.reach.cookie_jar, "-e", "list cell", stdin="w\n"
                )

    def exacli(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the emulated exacli."""
        return subprocess.run(
            [self.path / "exacli", *words], input=stdin, capture_output=True, text=True, check=False, timeout=300
        )

    def dcli(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the emulated dcli."""
        return subprocess.run(
            [self.path / "dcli", *words], capture_output=True, text=True, check=False, timeout=300, **more
        )

    def fault(self, cell: str, kind: str, **options: str) -> None:
        """Inject a fault."""
        control.fault(self.home, RACK, [cell], kind, **options)

    def mend(self) -> None:
        """End all faults."""
        control.clear_faults(self.home, RACK)


@pytest.fixture(scope="session")
def rack_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedRack]:
    home = tmp_path_factory.mktemp("programs")
    yield EmulatedRack(home)
    control.stop(home, RACK)


@pytest.fixture
def rack(rack_process: EmulatedRack) -> Iterator[EmulatedRack]:
    """The session's rack, without faults before and behind the test."""
    yield rack_process
    rack_process.mend()


Make = Callable[..., Transport]


@pytest.fixture
def made(rack: EmulatedRack) -> Iterator[Make]:
    """Make transports of a class to the rack; closed after the test."""
    transports: list[Transport] = []

    def make(kind: type, **changes: object) -> Transport:
        names = ("timeout", "connect_timeout", "fanout")
        settings = {
            "timeout": LONG_S,
            "connect_timeout": LONG_S,
            **{key: changes.pop(key) for key in names if key in changes},
        }
        read_only = bool(changes.pop("read_only", False))
        reach = replace(
            rack.config.reach, **{k: changes.pop(k) for k in list(changes) if hasattr(rack.config.reach, k)}
        )
        config = replace(rack.config, reach=reach, **changes)
        transports.append(kind(config, Settings(**settings), read_only=read_only))
        return transports[-1]

    yield make
    for transport in transports:
        transport.close()
