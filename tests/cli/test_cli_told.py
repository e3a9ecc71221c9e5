"""No statement ends as one that failed, or was not executed, without a word on standard error, however quiet."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from exacell import cli
from exacell.core.errors import ExitCode
from exacell.output.result import Result
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from tests.support.sessions import Session

STOPPED = "the lock of rack t1 was taken over by maria; `resume 1` continues with the other cells"


def _said(folder: Path, result: Result, *, quiet: bool = True) -> list[str]:
    err = io.StringIO()
    runner = Runner(
        Session(folder).session, Session(folder).services, TerminalConsole(err=err, quiet=quiet), out=io.StringIO()
    )
    runner.delivery.deliver(result, "table")
    return err.getvalue().splitlines()


@pytest.mark.parametrize("code", [ExitCode.FAILED, ExitCode.NOT_EXECUTED, ExitCode.INTERRUPTED])
@pytest.mark.parametrize("records", [[], [{"cell": "c1", "outcome": "not sent"}]])
def test_why_nothing_was_sent_is_told_with_q_too(
    tmp_path: Path, code: ExitCode, records: Sequence[dict[str, str]]
) -> None:
    """Where only a note says why a statement failed, -q does not silence it."""
    assert _said(tmp_path, Result(records=records, notes=[STOPPED], exit_code=code)) == [STOPPED]


@pytest.mark.parametrize("code", [ExitCode.DONE, ExitCode.CHANGES, ExitCode.DRIFT])
def test_notes_of_what_went_well_are_silenced(tmp_path: Path, code: ExitCode) -> None:
    """With -q nothing is said of what went well."""
    assert _said(tmp_path, Result(notes=["change 1, journal 5:ab"], exit_code=code)) == []


def test_problems_are_enough(tmp_path: Path) -> None:
    """Where a problem says why, -q still silences the notes."""
    found = Result(notes=["change 1, journal 5:ab"], problems=["c1: refused"], exit_code=ExitCode.FAILED)
    assert _said(tmp_path, found) == ["c1: refused"]
    assert _said(tmp_path, found, quiet=False) == ["change 1, journal 5:ab", "c1: refused"]


def test_what_was_not_executed_says_at_least_that(tmp_path: Path) -> None:
    """Exit code 2 is never all there is."""
    assert _said(tmp_path, Result(exit_code=ExitCode.NOT_EXECUTED)) == ["nothing was executed"]


class _Gone(io.StringIO):
    def flush(self) -> None:
        raise BrokenPipeError

    def fileno(self) -> int:
        raise ValueError("no descriptor")


@pytest.mark.parametrize("code", list(ExitCode))
def test_a_reader_that_went_away_changes_no_exit_code(monkeypatch: pytest.MonkeyPatch, code: ExitCode) -> None:
    """A statement that failed ends as that also where nobody reads the last of its output."""
    monkeypatch.setattr(cli, "_main", lambda words: code)
    monkeypatch.setattr(sys, "stdout", _Gone())
    assert cli.main(["list cell"]) == code
