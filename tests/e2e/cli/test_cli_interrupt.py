"""Ctrl-C, wherever it comes, and mistakes in threads."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell import cli
from exacell.core.background import Interruption
from exacell.output import faults as failing
from exacell.output.terminal import TerminalConsole
from exacell.session.signalled import ending_well, interruptible, quitting_as_terminated
from tests.support.clocks import set_back


def test_ctrl_c_while_another_line_is_written() -> None:
    """Ctrl-C in the middle of the writing of a line, which a slow terminal holds up, still stops further work."""
    stopped: list[bool] = []

    def tell(*_: object) -> None:
        raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stderr>'>")

    session: Any = SimpleNamespace(interrupted=SimpleNamespace(set=lambda: stopped.append(True)))
    console: Any = SimpleNamespace(tell=tell)
    with interruptible(session, console):
        signal.raise_signal(signal.SIGINT)
    assert stopped == [True]


def test_a_mistake_in_a_thread_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What goes wrong in a thread is said in one line that names the file with the details, and no more."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    monkeypatch.setattr(threading, "excepthook", failing.bug_in_thread)
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    thread.join()
    said = capsys.readouterr().err
    assert said.startswith("exacell: a mistake in exacell itself: ZeroDivisionError") and said.count("\n") == 1
    (kept,) = tmp_path.rglob("crash-*.txt")
    assert "1 // 0" in kept.read_text()


DETACHING = [
    ("list cell detail", "interrupted: nothing was changed"),
    ("flush flashcache -y", "interrupted: nothing was sent"),
    ("disable flashlog db=SPOT -y", "interrupted: nothing was sent"),
]


@pytest.mark.parametrize(("statement", "said"), DETACHING)
def test_a_second_ctrl_c_says_what_is_true(
    rack: Any, statement: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who detaches while exacell still reads is not told that something goes on at the cells."""

    def detach(cell: str) -> str:
        raise KeyboardInterrupt

    rack.rules.insert(0, ("", detach))
    assert cli.main(["-r", "t1", statement]) == 4
    assert capsys.readouterr().err.splitlines() == [said]


@pytest.mark.parametrize("clock", ["runs", "is set back"])
def test_a_second_ctrl_c_says_what_has_left(
    rack: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clock: str
) -> None:
    """Who detaches from what was sent is told that it goes on, whatever the clock did meanwhile."""

    def detach(cell: str) -> str:
        raise KeyboardInterrupt

    rack.rules.insert(0, ("touch", detach))
    if clock == "is set back":
        set_back(monkeypatch)
    assert cli.main(["-r", "t1", "--accept-opaque", "sh touch x"]) == 4
    assert capsys.readouterr().err.splitlines()[-1] == (
        "interrupted; the cells finish the sent statements, but exacell no longer waits"
    )


def test_a_second_ctrl_c_while_the_journal_cannot_be_read(
    rack: Any, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What has left is not known where the journal can't be read, and nobody is told that nothing has."""

    def detach(cell: str) -> str:
        raise KeyboardInterrupt

    (home / "journal.db").write_bytes(b"no journal\n" * 2000)
    rack.rules.insert(0, ("", detach))
    assert cli.main(["-r", "t1", "flush flashcache -y"]) == 4
    assert capsys.readouterr().err.splitlines()[-1] == (
        "interrupted; the cells finish the sent statements, but exacell no longer waits"
    )


# -- SIGTERM, SIGQUIT and SIGHUP ---------------------------------------------------------------------------------------

ENDS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


@pytest.fixture
def ends_by_default() -> Iterator[None]:
    before = [signal.signal(number, signal.SIG_DFL) for number in ENDS]
    yield
    for number, handler in zip(ENDS, before, strict=True):
        signal.signal(number, handler)


def told_to_end(calls: list[str]) -> tuple[Any, TerminalConsole]:
    interrupted = SimpleNamespace(set=lambda: calls.append("stop"))
    session: Any = SimpleNamespace(interrupted=interrupted, told_to_end=False)
    console = TerminalConsole()
    console.tell = lambda text, meaning="": calls.append(text)  # type: ignore[method-assign]
    return session, console


@pytest.mark.usefixtures("ends_by_default")
def test_sigterm_while_cells_change_stops_as_ctrl_c_does() -> None:
    """No more is started and it is said; from then on, and when the change has ended, SIGTERM kills as ever."""
    calls: list[str] = []
    session, console = told_to_end(calls)
    with ending_well(session, console):
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        with ending_well(session, console):
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert session.told_to_end and calls[0] == "stop" and calls[1].startswith("asked to stop (SIGTERM)")
    with ending_well(session, console):
        pass
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.usefixtures("ends_by_default")
@pytest.mark.parametrize("second", [signal.SIGQUIT, signal.SIGTERM])
def test_sigquit_stops_a_change_as_sigterm_does(second: signal.Signals) -> None:
    """No more is started and it is said; a second one, or a SIGTERM behind it, ends the program as SIGTERM does."""
    calls: list[str] = []
    session, console = told_to_end(calls)
    with quitting_as_terminated(), ending_well(session, console):
        signal.raise_signal(signal.SIGQUIT)
        assert session.told_to_end and not console.can_ask
        assert calls[0] == "stop" and calls[1].startswith("asked to stop (SIGQUIT)") and len(calls) == 2
        signal.signal(signal.SIGTERM, lambda number, frame: calls.append("over"))
        signal.raise_signal(second)
        assert calls[2:] == ["over"]
    assert signal.getsignal(signal.SIGQUIT) == signal.SIG_DFL


def test_sigquit_outside_of_a_change_ends_the_program_without_a_core(tmp_path: Path) -> None:
    """A script that waits ends at once, by SIGTERM: a core file belongs to a crash."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    words = [sys.executable, "-m", "exacell", "-e", "help; wait 1h"]
    process = subprocess.Popen(words, env={**os.environ, "EXACELL_HOME": str(tmp_path)}, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    process.send_signal(signal.SIGQUIT)
    process.stdout.close()
    assert process.wait(60) == -signal.SIGTERM


@pytest.mark.usefixtures("ends_by_default")
@pytest.mark.parametrize("decided", [signal.SIG_IGN, lambda number, frame: None])
def test_sigquit_that_somebody_else_decides_stays_his(decided: Any) -> None:
    """Where it is ignored or handled when the program begins, it is so until it ends."""
    signal.signal(signal.SIGQUIT, decided)
    with quitting_as_terminated(), ending_well(*told_to_end([])):
        assert signal.getsignal(signal.SIGQUIT) == decided
    assert signal.getsignal(signal.SIGQUIT) == decided


@pytest.mark.usefixtures("ends_by_default")
def test_sighup_may_come_again() -> None:
    """A closed terminal's second SIGHUP, and the SIGTERM behind it, kill nobody in the middle of a change, nor does a third
    SIGHUP when it has just ended; it is said once."""
    calls: list[str] = []
    session, console = told_to_end(calls)
    with ending_well(session, console):
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    assert [call.partition(":")[0] for call in calls if call != "stop"] == [
        "asked to stop (SIGHUP)",
        "asked to stop (SIGTERM)",
    ]
    assert session.told_to_end and not console.can_ask


@pytest.mark.usefixtures("ends_by_default")
def test_a_change_that_nobody_ended_leaves_the_signals_as_they_were() -> None:
    """Behind a change that ended by itself all three end the program at once."""
    with ending_well(*told_to_end([])):
        assert signal.SIG_DFL not in [signal.getsignal(number) for number in ENDS]
    assert [signal.getsignal(number) for number in ENDS] == [signal.SIG_DFL] * 3


@pytest.mark.usefixtures("ends_by_default")
@pytest.mark.parametrize("number", ENDS)
def test_a_signal_that_somebody_else_decides_stays_his(number: signal.Signals) -> None:
    """Where it is ignored (nohup) or handled already, and outside of the main thread, nothing changes."""
    session, console = told_to_end([])
    signal.signal(number, signal.SIG_IGN)
    with ending_well(session, console):
        assert signal.getsignal(number) == signal.SIG_IGN
    assert signal.getsignal(number) == signal.SIG_IGN
    passed: list[bool] = []

    def beside() -> None:
        with ending_well(session, console):
            passed.append(True)

    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    assert passed == [True]


# -- the event that a signal handler sets --------------------------------------------------------------------------


def test_it_may_be_set_at_every_step_of_a_wait() -> None:
    """A handler that sets it, in the very thread that waits and wherever in the wait that is, ends the wait at once."""
    steps = 0

    def at_step(number: int, event: Interruption) -> Callable[..., Any]:
        def trace(frame: Any, kind: str, arg: object) -> Any:
            nonlocal steps
            if frame.f_code.co_name != "wait":
                return None
            anew = sys.version_info[:2] == (3, 12) and not frame.f_trace_opcodes
            frame.f_trace_opcodes = True
            if anew:
                sys.settrace(trace)  # It traces opcodes only where that was wanted before tracing began.
            if kind == "opcode":
                steps += 1
                if steps == number:
                    event.set()
            return trace

        return trace

    ends, number, last = [], 0, 1
    while number < last:
        number += 1
        steps, event = 0, Interruption()
        other = threading.Timer(0.02, event.set)  # For the steps behind the wait.
        other.start()
        before = sys.gettrace()
        sys.settrace(at_step(number, event))
        try:
            ends.append(event.wait(300))
        finally:
            sys.settrace(before)
        other.cancel()
        last = max(last, steps)
    assert last > 20 and all(ends)


def test_a_wait_ends_with_its_time_and_not_before() -> None:
    """Nobody set it: the wait says so when its time is over; a time that is over already is no error."""
    event, began = Interruption(), time.monotonic()
    assert event.wait(0.02) is False and time.monotonic() - began >= 0.02
    assert event.wait(0) is False and event.wait(-1.0) is False
    event.set()
    assert event.is_set() and event.wait() and event.wait(0)
    event.clear()
    assert not event.is_set() and not event.wait(0)


_LONG_HANDLER = """
import signal, time
from exacell.core.background import Interruption

signal.signal(signal.SIGALRM, lambda *_: time.sleep(0.6))
signal.setitimer(signal.ITIMER_REAL, 0.1)
assert Interruption().wait(0.3) is False
"""
"""A signal comes during the wait, and the wait's time is over when its handler returns."""

_STOPPED = """
from exacell.core.background import Interruption

print("waits", flush=True)
while not Interruption().wait(0.2):
    print("again", flush=True)
"""


def test_a_wait_ends_although_a_handler_outlasts_it() -> None:
    """A signal whose handler returns when the wait's time is over does not make it a wait for ever."""
    subprocess.run([sys.executable, "-c", _LONG_HANDLER], timeout=300, check=True)


def test_a_wait_ends_although_the_process_was_stopped() -> None:
    """Who is stopped for longer than the wait and continued (Ctrl-Z and fg, a laptop that slept) goes on."""
    with subprocess.Popen([sys.executable, "-c", _STOPPED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "waits\n"
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        try:
            for _ in range(3):
                assert process.stdout.readline() == "again\n"
                process.send_signal(signal.SIGSTOP)
                os.waitpid(process.pid, os.WUNTRACED)
                time.sleep(0.4)
                process.send_signal(signal.SIGCONT)
            assert [process.stdout.readline() for _ in range(3)] == ["again\n"] * 3
        finally:
            watchdog.cancel()
            process.kill()


def test_all_who_wait_are_woken() -> None:
    """However many threads wait, one wish ends all of their waits."""
    event = Interruption()
    ended: list[bool] = []
    threads = [threading.Thread(target=lambda: ended.append(event.wait(300))) for _ in range(5)]
    for thread in threads:
        thread.start()
    event.set()
    for thread in threads:
        thread.join()
    assert ended == [True] * 5


def test_nobody_waits_for_a_time_on_a_simple_queue() -> None:
    """Its get waits for ever when the process is stopped and goes on after the time is over."""
    package = Path(cli.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    assert not [path for path, text in texts.items() if "SimpleQueue(" in text and ".get(timeout" in text]


def test_a_crash_file_is_ones_own_and_holds_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of a mistake in exacell should be readable by its user alone, and without the statement's passwords."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path / "home"))
    before = os.umask(0)
    try:
        failing.bug(ValueError("alter user joe password='geheim'"))
    finally:
        os.umask(before)
    (kept,) = tmp_path.rglob("crash-*.txt")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "geheim" not in kept.read_text() and "password=***" in kept.read_text()
