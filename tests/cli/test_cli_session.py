"""The session's own statements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exacell.cli import main
from exacell.core.errors import ExitCode, RefusedError
from exacell.session.history import append_history
from exacell.session.state import Options
from tests.support.sessions import Session, TableTransport


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """The records that were printed, as jsonl."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def run(*statements: str, rack: str = "t1") -> int:
    return main(["-r", rack, "-o", "jsonl", "-e", "; ".join(statements)])


def test_use_selects_cells_until_all(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """use narrows what statements go to, +, not and @all change it, and cells shows which are in use."""
    assert run("use exa1cel[01-02]", "use not exa1cel01", "use +exa1cel03", "cells") == ExitCode.DONE
    assert [r["inUse"] for r in records(capsys)] == [False, True, True]
    assert run("use exa1cel02", "list cell") == ExitCode.DONE
    assert [r["cell"] for r in records(capsys)] == ["exa1cel02"]
    assert run("use exa1cel02", "use @all", "list cell") == ExitCode.DONE
    assert len(records(capsys)) == 3


@pytest.mark.parametrize("wrong", ["use exa1cel09", "use @nothing", "use exa1cel01!exa1cel01", "connect nowhere"])
def test_what_is_not_there_cannot_be_used(wrong: str, rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """A cell, group or rack that does not exist is refused and nothing changes."""
    assert run(wrong) == ExitCode.NOT_EXECUTED
    assert capsys.readouterr().err.startswith("exacell: ")


def test_racks_and_connect(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """connect changes the current rack, and a production rack is read-only."""
    assert run("connect prod", "racks") == ExitCode.DONE
    assert {r["name"]: r["current"] for r in records(capsys)} == {"prod": True, "t1": False}
    assert run("connect prod", "show settings") == ExitCode.DONE
    assert {r["name"]: r["value"] for r in records(capsys)}["mode"] == "ro"


def test_settings_can_be_set_and_seen(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """set changes a setting for the session; a wrong name or value is refused."""
    assert run("set timeout 90s", "set fanout 7", "set echo on", "show settings") == ExitCode.DONE
    shown = {r["name"]: r["value"] for r in records(capsys)}
    assert (shown["timeout"], shown["fanout"], shown["echo"]) == (90.0, 7, "on")
    assert run("set fanout many") == ExitCode.NOT_EXECUTED
    assert run("set fanot 3") == ExitCode.NOT_EXECUTED
    assert "fanout" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["show", "flashcache", "--timeout=7s"], ["--timeout", "7s", "show", "flashcache"]])
def test_a_deadline_with_a_statement_of_our_own_is_its_cells_deadline(rack: object, argv: list[str]) -> None:
    """show flashcache --timeout=7s gives each cell seven seconds, wherever the flag stands; another one has what is set."""
    asked = rack.asked  # type: ignore[attr-defined]
    main(["-r", "t1", *argv])
    assert {request.timeout for request in asked if "flashcache" in request.command.lower()} == {7.0}
    asked.clear()
    main(["-r", "t1", "-e", "show services --timeout 7s; show flashcache"])
    assert {request.timeout for request in asked if "flashcache" in request.command.lower()} == {None}


def test_spool_copies_answers(rack: object, tmp_path: Path) -> None:
    """spool FILE keeps a copy of the answers, create refuses an existing file, off ends it."""
    target = tmp_path / "answers"
    assert run(f"spool {target}", "cells", "spool off", "racks") == ExitCode.DONE
    assert len(target.read_text().splitlines()) == 3
    assert run(f"spool {target} create") == ExitCode.NOT_EXECUTED
    assert run(f"spool {target} append", "cells") == ExitCode.DONE
    assert len(target.read_text().splitlines()) == 6


def test_history_shows_what_was_entered(rack: object, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """history lists entries with their number, the last ones, or those with a word."""
    for text in ("list cell", "racks", "list griddisk"):
        append_history(home / "history", text)
    assert run("history last=2") == ExitCode.DONE
    assert [(r["number"], r["statement"]) for r in records(capsys)] == [(2, "racks"), (3, "list griddisk")]
    assert run("history list") == ExitCode.DONE
    assert [r["number"] for r in records(capsys)] == [1, 3]


def test_refresh_keeps_the_selection(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """refresh opens connections anew and leaves the cells in use as they were."""
    assert run("use exa1cel02", "refresh", "cells") == ExitCode.DONE
    assert [r["inUse"] for r in records(capsys)] == [False, True, False]


def on(home: Path, rack: str, *, answer: str | None = None, monitor: bool = False) -> Session:
    """A session on a configured rack."""
    return Session(home, answer=answer, options=Options(rack=rack, monitor=monitor))


def is_read_only(session: Session) -> tuple[bool, bool]:
    """Whether the session says that it is, and whether its connections refuse writes."""
    return session.session.read_only, session.services.transport.read_only


@pytest.mark.parametrize("answer", ["prod", "  prod\n"])
def test_a_production_rack_is_writable_once_its_name_is_typed(home: Path, answer: str) -> None:
    """set mode rw on it asks for its name, once; back to ro nothing is asked, and the name is needed again."""
    session = on(home, "prod", answer=answer)
    assert is_read_only(session) == (True, True)
    session.say("set mode rw")
    assert is_read_only(session) == (False, False)
    session.say("set mode rw")
    assert session.console.questions == ["prod is a production rack: type its name for read-write: "]
    session.say("set mode ro")
    assert is_read_only(session) == (True, True) and len(session.console.questions) == 1
    session.say("set mode rw")
    assert is_read_only(session) == (False, False) and len(session.console.questions) == 2


@pytest.mark.parametrize("answer", [None, "", "y", "yes", "PROD", "t1", "prod prod"])
def test_a_production_rack_stays_read_only_without_its_name(home: Path, answer: str | None) -> None:
    """Another word than the name, also yes, leaves it read-only, and so does nobody who could answer."""
    session = on(home, "prod", answer=answer)
    with pytest.raises(RefusedError, match="prod stays read-only: its name was not typed"):
        session.say("set mode rw")
    assert is_read_only(session) == (True, True) and len(session.console.questions) == 1


def test_another_rack_changes_its_mode_unasked(home: Path) -> None:
    """set mode ro and rw on a rack that is not in production ask nobody."""
    session = on(home, "t1")
    for mode, read_only in (("rw", False), ("ro", True), ("rw", False)):
        session.say(f"set mode {mode}")
        assert is_read_only(session) == (read_only, read_only), mode
    assert session.console.questions == []


@pytest.mark.parametrize("rack", ["t1", "prod"])
def test_a_session_begun_with_m_stays_read_only(home: Path, rack: str) -> None:
    """With -m nobody is asked for a name either, whichever the rack, and set mode ro is no error."""
    session = on(home, rack, answer=rack, monitor=True)
    with pytest.raises(RefusedError, match="-m was given: this session stays read-only"):
        session.say("set mode rw")
    session.say("set mode ro")
    assert is_read_only(session) == (True, True) and session.console.questions == []


def test_what_cannot_be_read_cannot_be_taken_back_at_a_deadline(
    rack: TableTransport, capsys: pytest.CaptureFixture[str]
) -> None:
    """--confirm-within before a command that exacell can't read refuses it before any cell is asked."""
    assert main(["-r", "t1", "--confirm-within=30m", "sh", "hostname"]) == ExitCode.NOT_EXECUTED
    assert "--confirm-within needs a change that exacell can take back" in capsys.readouterr().err
    assert rack.asked == []


@pytest.mark.parametrize(
    "text", ["curl -u joe:S3cret9x https://a", "create user joe password=S3cret9x", "host sshpass -p S3cret9x ssh c1"]
)
def test_an_alias_keeps_no_secret(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An alias with a password in it is refused and not written, and one that somebody wrote into the file is shown masked."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    assert main([f"alias x {text}"]) == 2 and not (tmp_path / "aliases").exists()
    (tmp_path / "aliases").write_text(f"x {text}\n")
    assert main(["alias"]) == 0
    told = capsys.readouterr()
    assert "S3cret9x" not in told.out + told.err and "***" in told.out
