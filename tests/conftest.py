"""What all tests share: Ctrl-C as a terminal has it, examples without a time limit, the order in which workers take tests,
places and locks that no other worker sees, and behind it a table of the fault matrix and what shells judged.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from exacell.change import racklock
from tests.support.spreading import spread
from tests.support.surroundings import Surroundings, changes, process_state

# How long an example takes says how loaded the machine is. The same examples each time, so that a run judges the change and
# not its luck; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("untimed", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "untimed"))

# A job that a shell starts in the background ignores SIGINT and SIGQUIT, and so would every program that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# Under nohup they would ignore a hang-up, which the tests go on to do.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


SURROUNDINGS = pytest.StashKey[Surroundings]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Leave the surroundings of whoever started the tests, also for the workers that are started from here."""
    ours = config.stash[SURROUNDINGS] = Surroundings()
    ours.enter()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the surroundings back."""
    if SURROUNDINGS in config.stash:
        config.stash[SURROUNDINGS].leave()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return how many workers ``-n auto`` starts: two a core, because tests of a running rack wait for a good part of it."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None  # pytest-xdist reads that itself.
    return 2 * (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let no garbage be looked for among the collected tests: they stay, and looking takes a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each worker its part of the long modules first, after the order was made a random one."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = spread(items, workers, module=lambda item: str(item.path))


@pytest.fixture(scope="session", autouse=True)
def surroundings(pytestconfig: pytest.Config) -> Iterator[Surroundings]:
    """Tell behind the last test of this process what the tests have left in its places, and which processes; end those.

    Fails where a fixture of several tests left the process itself otherwise than it was.
    """
    ours = pytestconfig.stash[SURROUNDINGS]
    if not ours.of_this_process:
        # Who forks processes that each run tests, as benchmarks/mutate_guards.py does.
        ours = Surroundings()
        ours.enter()
    before = process_state()
    yield ours
    for sentence in ours.leftovers():
        warnings.warn(pytest.PytestWarning(sentence), stacklevel=1)
    changed = changes(before)
    assert not changed, "\n".join(changed)


@pytest.fixture(autouse=True)
def unchanged_process(surroundings: Surroundings, request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail where a test has left something else in what all tests of the process share: its environment, its signals."""
    before = process_state()
    yield
    surroundings.look(request.node.nodeid)
    changed = changes(before)
    assert not changed, "\n".join(changed)


@pytest.fixture(scope="session", autouse=True)
def shared_locks(surroundings: Surroundings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the locks of this process's real racks apart: other workers have racks of the same names, other people too.

    Yields where they lie outside of tests.
    """
    outside = racklock.SHARED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(racklock, "SHARED", tmp_path_factory.mktemp("locks"))
        yield outside


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many cases of the fault matrix were carried out, how many survived, and how many texts shells judged."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == "faults":
                row, column, cases, survived = value
                counts[row, column] = (cases, survived)
    judged = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "judged"]
    for sentence in judged:
        terminalreporter.section("shell texts that were read, judged by shells")
        terminalreporter.write_line(str(sentence))
    if not counts:
        return
    folder = str(Path(__file__).parent / "faults")
    sys.path.insert(0, folder)
    try:
        from matrix_table import table
    finally:
        sys.path.remove(folder)
    terminalreporter.section("fault matrix: cases, or survivors of cases")
    for line in table(counts, list(dict.fromkeys(row for row, _ in counts))):
        terminalreporter.write_line(line)
