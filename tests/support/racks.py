"""Fixtures: a scratch home, the real program, and an emulated rack that ends with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.kernel import Kernel, kernel_of
from tests.support.program import InProcess, Program

__all__ = ["alone", "exacell", "fast", "fault", "inside", "kernel", "outside", "program", "shared", "t1"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    """The program, in this process, with a scratch home for a module and no rack."""
    return InProcess(tmp_path_factory.mktemp("module") / "home")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The program with the default rack t1 at ten times its usual speed, for a module; each test leaves it as it was."""
    program = InProcess(tmp_path_factory.mktemp("shared") / "home")
    program.ok("emulator", "start", "t1", "speed=600")
    yield program
    program.ok("emulator", "stop", "t1")


@pytest.fixture
def inside(shared: InProcess, tmp_path: Path) -> InProcess:
    """The program with the module's rack and a home, so a journal, of its own."""
    return InProcess(tmp_path / "home").with_rack_of(shared)


@pytest.fixture
def outside(shared: InProcess, tmp_path: Path) -> Program:
    """The program, a process a statement, with the module's rack and a home, so a journal, of its own."""
    return Program(tmp_path / "home").with_rack_of(shared)


@pytest.fixture
def fault(shared: InProcess) -> Iterator[Callable[..., None]]:
    """Let something go wrong on a host of the module's rack until the test ends."""

    def inject(host: str, kind: str, *options: str) -> None:
        shared.ok("emulator", "fault", "t1", host, kind, *options)

    yield inject
    shared.ok("emulator", "fault", "t1", "all", "clear")


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[InProcess]:
    """The program, in this process, without a rack; the rack t1 that a test starts ends with it."""
    program = InProcess(tmp_path / "home")
    yield program
    program.ok("emulator", "stop", "t1")


@pytest.fixture
def exacell(tmp_path: Path) -> Iterator[Program]:
    """The program in a scratch home; every emulated rack that it started is stopped."""
    program = Program(tmp_path / "home")
    yield program
    inside = InProcess(program.home)
    for rack in inside("-o", "json", "emulator", "status").records:
        if rack["running"]:
            inside.ok("emulator", "stop", rack["name"])


@pytest.fixture
def t1(exacell: Program) -> Program:
    """The program with the default rack t1 running."""
    InProcess(exacell.home).ok("emulator", "start", "t1")
    return exacell


@pytest.fixture
def fast(exacell: Program) -> Program:
    """The program with the default rack t1 running at ten times its usual speed."""
    InProcess(exacell.home).ok("emulator", "start", "t1", "speed=600")
    return exacell


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """A rack of one host, this machine."""
    with kernel_of(tmp_path) as found:
        yield found
