"""What tests find of the machine and of whom it belongs to, which is nothing; and what they leave there.

Each process that runs tests has a home directory and a place for temporary files of its own, both empty at first, and an
environment without the habits of the person who started it. What a test leaves there is told and removed at the end.
"""

from __future__ import annotations

import locale
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

from tests.support.anyload import sitecustomize as anyload
from tests.support.patience import until

KEPT = re.compile(
    r"PATH|USER|LOGNAME|SHELL|TZ|COLUMNS|LINES|CI|LD_LIBRARY_PATH|LD_PRELOAD|VIRTUAL_ENV|EXACELL_APPROVE|EXACELL_FAULTS_STEP"
    r"|TEST_REAL|TEST_DIST|(PYTHON|PYTEST|COV|HYPOTHESIS|PIP)\w*"
)
"""Variables that tests may inherit: what Python and the test programs need. All others are somebody's own habits."""

ROOT = "PYTEST_DEBUG_TEMPROOT"
"""Where pytest and its workers make their folders. Source: docs.pytest.org, tmp_path."""

ANY_LOAD = str(Path(anyload.__file__).parent)
"""Processes that have this on their path measure a look by the work behind it."""

SLOW_TO_END_S = 4.0
"""So long what a test began may take to end: a guardian or a daemon that was told to."""

_SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGCONT,
    signal.SIGWINCH,
    signal.SIGCHLD,
    signal.SIGALRM,
)


class Surroundings:
    """The private places of this process.

    Attributes:
        left: name in them -> the test behind which it was first seen.
    """

    def __init__(self) -> None:
        self._outside, self._umask = dict(os.environ), 0o022
        os.environ.setdefault(ROOT, tempfile.gettempdir())
        self.folder = Path(tempfile.mkdtemp(prefix="exacell-", dir=os.environ[ROOT]))
        self.home, self.temporary = self.folder / "home", self.folder / "t"
        self.left: dict[str, str] = {}
        self._process = os.getpid()

    def enter(self) -> None:
        """Make the places, and let this process and those that it starts see nothing else."""
        self.home.mkdir()
        self.temporary.mkdir()
        for name in [name for name in os.environ if not KEPT.fullmatch(name)]:
            del os.environ[name]
        os.environ |= {"HOME": str(self.home), "TMPDIR": str(self.temporary), "LANG": "C.UTF-8"}
        os.environ["LESSHISTFILE"] = "-"
        os.environ["PYTHONPATH"] = path_of(ANY_LOAD, os.environ.get("PYTHONPATH", ""))
        anyload.install()
        tempfile.tempdir = None
        self._umask = os.umask(0o022)

    def leave(self) -> None:
        """Take the environment back, and remove the places; in a process that was forked off do nothing."""
        if self.of_this_process:
            os.environ.clear()
            os.environ.update(self._outside)
            os.umask(self._umask)
            tempfile.tempdir = None
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def of_this_process(self) -> bool:
        """Whether it was made here, and not before the process was forked off."""
        return os.getpid() == self._process

    def look(self, test: str) -> None:
        """Remember of each file that is there by now behind which test it was first seen."""
        for name in self._names():
            self.left.setdefault(name, test)

    def leftovers(self) -> list[str]:
        """Return what is still there at the end: files with the test that made them, and processes; one sentence each.

        The processes are ended. None of it is a fault by itself: what was killed in the middle leaves something.
        """
        until(lambda: not any(self._processes()), seconds=SLOW_TO_END_S, step=0.05)
        left = [f"{name} was left by {self.left.get(name, 'the last test or a fixture')}" for name in self._names()]
        for pid, command in self._processes():
            left.append(f"process {pid} was left: {command}")
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left

    def _names(self) -> list[str]:
        return sorted(str(path) for place in (self.home, self.temporary) for path in place.iterdir())

    def _processes(self) -> Iterator[tuple[int, str]]:
        """Yield the processes that have this process's places in their environment: nobody else's have."""
        mark = f"TMPDIR={self.temporary}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if int(folder.name) != self._process and mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield (
                        int(folder.name),
                        (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"),
                    )
            except OSError:
                continue  # It has ended meanwhile, or is another user's.


def path_of(*places: str) -> str:
    """Return a PYTHONPATH of those that are not empty."""
    return os.pathsep.join(filter(None, places))


@contextmanager
def on_the_hosts_clock() -> Iterator[None]:
    """Let processes that are started in here measure a look as exacell does for everybody: for who stops them meanwhile."""
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    with mock.patch.dict(os.environ, {"PYTHONPATH": path_of(*(place for place in path if place != ANY_LOAD))}):
        yield


def process_state() -> dict[str, object]:
    """Return what all tests of a process share, by what a sentence calls it."""
    state: dict[str, object] = {f"the handler of {number.name}": signal.getsignal(number) for number in _SIGNALS}
    state |= {f"${name}": value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    state["the working directory"] = _working_directory()
    state["the umask"] = _umask()
    state["the locale"] = locale.setlocale(locale.LC_ALL)
    state["sys.path"] = tuple(sys.path)
    state["the folder of temporary files"] = tempfile.gettempdir()
    return state


def changes(before: Mapping[str, object]) -> list[str]:
    """Return what is otherwise than ``before``, one sentence each."""
    after = process_state()
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [f"{name} was {before.get(name)!r} and is now {after.get(name)!r}" for name in names]


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "none: it was removed"


def _umask() -> str:
    """Return the umask without setting it, which other threads would feel. Source: proc(5), /proc/pid/status."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    return next((line.split()[1] for line in text.splitlines() if line.startswith("Umask:")), "")
