"""The file after ``>``: it has a whole answer, or it is as it was."""

from __future__ import annotations

import io
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from exacell.core.errors import ExitCode, OutputError, StatementError
from exacell.core.paths import Home, replace_file
from exacell.output import tofile
from exacell.output.delivery import Delivery
from exacell.output.result import Result
from exacell.output.terminal import TerminalConsole
from exacell.output.tofile import opened
from exacell.session.written import places


def delivery() -> Delivery:
    return Delivery(TerminalConsole(), io.StringIO(), header=True, pager=lambda: "off")


FAILURES = {
    "all cells failed": Result(data=True, problems=["c1: no such metric"], exit_code=ExitCode.FAILED),
    "nothing was executed": Result(data=True, exit_code=ExitCode.NOT_EXECUTED),
    "interrupted": Result(records=[{"cell": "c1"}], exit_code=ExitCode.INTERRUPTED),
}
ANSWERS = {
    "an empty list": Result(data=True),
    "a difference": Result(records=[{"cell": "c1"}], exit_code=ExitCode.DRIFT),
    "one cell of two": Result(records=[{"cell": "c1"}], problems=["c2: no answer"], exit_code=ExitCode.FAILED),
}


def test_a_failure_leaves_the_file(tmp_path: Path) -> None:
    """A statement that brought nothing but a failure, or was interrupted, leaves its file as it was; each answer
    replaces it, also an empty one."""
    file = tmp_path / "x"

    def after(result: Result, form: str) -> str:
        file.write_text("before")
        delivery().deliver(result, form, redirect=str(file))
        return file.read_text()

    forms = ("table", "json", "csv", "raw")
    assert {name: form for name, one in FAILURES.items() for form in forms if after(one, form) != "before"} == {}
    assert [name for name, one in ANSWERS.items() if after(one, "json") == "before"] == []
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("linked", [False, True])
def test_a_broken_answer_leaves_the_file(tmp_path: Path, error: BaseException, linked: bool) -> None:
    """Whatever ends an answer before it is complete, its file is as it was and no other file is left."""
    file = tmp_path / "x"
    file.write_text("before")
    if linked:  # It has a second name, so that no other file may take its place.
        os.link(file, tmp_path / "y")
    raised = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(raised) as caught, opened(str(file)) as stream:
        stream.write("half")
        stream.flush()
        assert file.read_text() == "before"
        raise error
    if raised is OutputError:
        assert "no space left on device; it is unchanged; changes on cells" in str(caught.value)
    assert file.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == (["x", "y"] if linked else ["x"])


def test_a_new_file_is_there_only_with_an_answer(tmp_path: Path) -> None:
    """A file that was not there is not there after a failure either, also where only a new one may be written."""
    for anew in (False, True):
        with pytest.raises(ValueError), opened(str(tmp_path / "x"), anew=anew) as stream:
            stream.write("half")
            raise ValueError
        assert list(tmp_path.iterdir()) == []
        with opened(str(tmp_path / "x"), anew=anew) as stream:
            stream.write("whole")
        assert (tmp_path / "x").read_text() == "whole"
        if anew:
            with pytest.raises(StatementError, match="can't be written"), opened(str(tmp_path / "x"), anew=True):
                pass
        assert (tmp_path / "x").read_text() == "whole"
        (tmp_path / "x").unlink()


def test_the_rights_and_the_link_stay(tmp_path: Path) -> None:
    """A file that gets another answer keeps its rights, a link stays a link, and both names of a file see the answer."""
    file = tmp_path / "x"
    file.write_text("before")
    file.chmod(0o640)
    (tmp_path / "link").symlink_to("x")
    with opened(str(tmp_path / "link")) as stream:
        stream.write("after")
    assert (tmp_path / "link").is_symlink() and file.read_text() == "after"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    os.link(file, tmp_path / "second")
    with opened(str(file)) as stream:
        stream.write("again")
    assert (tmp_path / "second").read_text() == "again" and file.samefile(tmp_path / "second")


def test_a_copy_that_fails_is_told_as_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the answer must be copied into the file, and that fails in the middle, the message says that it is cut off."""
    file = tmp_path / "x"
    file.write_text("before")
    os.link(file, tmp_path / "y")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tofile.shutil, "copyfileobj", full)
    with pytest.raises(OutputError, match="it is not complete"), opened(str(file)) as stream:
        stream.write("after")


def test_a_pipe_gets_the_answer_itself(tmp_path: Path) -> None:
    """A fifo after ``>`` is written directly and stays a fifo."""
    fifo, came = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: came.append(fifo.read_text()))
    reader.start()
    with opened(str(fifo)) as stream:
        stream.write("answer")
    reader.join(60)
    assert came == ["answer"] and stat.S_ISFIFO(fifo.stat().st_mode)


def test_an_endless_answer_is_seen_at_once(tmp_path: Path) -> None:
    """What goes on until the user ends it is in the file part by part; before its first part the old content is there."""
    file = tmp_path / "x"
    file.write_text("before")
    with pytest.raises(ValueError), opened(str(file), live=True):
        raise ValueError
    assert file.read_text() == "before"
    with opened(str(file), live=True) as stream:
        assert file.read_text() == "before"
        stream.write("first")
        stream.flush()
        assert file.read_text() == "first"


def test_drafts_that_a_killed_process_left_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`files` has the draft beside the file of `> FILE`, and the drafts of its own files, where a process was killed."""
    monkeypatch.chdir(tmp_path)
    home = Home.from_env({"EXACELL_HOME": str(tmp_path / "home")})
    with opened("answer.txt") as target:
        target.stream.write("half of it")
        (draft,) = tmp_path.glob(".exacell*")
        found = {file for place in places(home, ()) for file in place.files}
    assert draft in found

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with suppress(KeyboardInterrupt):
        replace_file(home.cache_dir / "hung", "exa1cel01")
    (left,) = home.cache_dir.iterdir()
    assert left in {file for place in places(home, ()) for file in place.files}
