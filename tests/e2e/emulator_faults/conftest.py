from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from faults_bench import Bench

from exacell.emulator import control


@pytest.fixture(scope="session")
def faulty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of one rack for all tests here, running."""
    home = tmp_path_factory.mktemp("home")
    control.start(home, "t1", options={"cells": 2, "dbnodes": 1})
    yield home
    control.stop(home, "t1")


@pytest.fixture
def bench(faulty_home: Path) -> Iterator[Bench]:
    """The rack without faults."""
    (info,) = control.status(faulty_home, "t1")
    bench = Bench(faulty_home, info)
    bench.clear()
    yield bench
    bench.close()
    bench.clear()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Bench]:
    """A rack of one's own and ten times as fast, for tests that leave scars."""
    info, _ = control.start(tmp_path, "t1", options={"cells": 2, "dbnodes": 1, "speed": 600})
    bench = Bench(tmp_path, info)
    yield bench
    bench.close()
    control.stop(tmp_path, "t1")
