"""Every carrier of text for somebody else comes through the one door, and what is turned away there is journalled."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest

from exacell.core.errors import JournalError, RefusedError, StatementError
from exacell.journal.rows import Entry
from exacell.output.console import SilentConsole
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from tests.support.sessions import Session

CARRIERS = {
    "sh touch {ran}": "touch",
    "sh -- touch {ran}": "touch",
    "dcli -c c1 touch {ran}": "touch",
    "dcli -c c1 -f {file}": "copy one.log to",
    "dcli -c c1 -f {file} hostname": "copy one.log to",
    "dcli -c c1 -x {script}": "touch",
    "dcli -c c1 -x {scl}": "",
    "copy {file}": "copy one.log to",
    "copy {file} to=/tmp": "copy one.log to /tmp",
    "host touch {ran}": "touch",
    "sql asm 'begin mine; end;'": "",
    "sql db=SPOT 'begin mine; end;'": "",
}
"""Each carrier with something that is not read → how what the refusal names begins."""


def session(folder: Path, **rack: Any) -> Session:
    """A session in whose home lie a file, a script that is not read, and a CellCLI script that starts another one."""
    for name, text in (
        ("one.log", "x\n"),
        ("some.sh", f"#!/bin/sh\ntouch {folder / 'ran'}\n"),
        ("some.scl", "start y\n"),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(0o700)
    return Session(folder, write_user="root", **rack)


def line(text: str, folder: Path) -> str:
    names = {"file": "one.log", "script": "some.sh", "scl": "some.scl", "ran": "ran"}
    return text.format(**{key: folder / name for key, name in names.items()})


def rows(found: Session) -> list[Entry]:
    return found.services.journal.entries(rack="r") if found.services.journal.exists else []


RACKS: list[tuple[dict[str, Any], bool, bool]] = [
    ({"production": True}, False, True),
    ({"production": True}, True, True),
    ({"production": True, "emulated": True}, False, True),
    ({}, True, True),
    ({}, False, False),
    ({"emulated": True}, False, False),
]


@pytest.mark.parametrize(("rack", "read_only", "accepted"), RACKS)
@pytest.mark.parametrize("text", CARRIERS)
def test_unread_work_is_turned_away(
    text: str, rack: dict[str, Any], read_only: bool, accepted: bool, tmp_path: Path
) -> None:
    """Whatever carries it, unread work reaches nobody in production, in a read-only session, or where nobody accepted it, on an
    emulated rack as on any other; the journal has one row about it, and nothing is left pending."""
    found = session(tmp_path, **rack)
    found.session.read_only = read_only
    if accepted:
        found.session.options.flags["accept-opaque"] = True  # type: ignore[index]
    with pytest.raises(RefusedError) as caught:
        found.say(line(text, tmp_path))
    assert f": {CARRIERS[text]}" in caught.value.message
    assert found.written == [] and not (tmp_path / "ran").exists()
    (row,) = rows(found)
    assert (row.kind, row.body["refused"], row.body["risk"]) == ("refused", caught.value.message, "unknown")
    assert row.body["statement"] == line(text, tmp_path) and row.body["opaque"] and row.body["user"]
    assert found.services.journal.unfinished("r") == [] and found.services.journal.verify() == ""


@pytest.mark.parametrize("text", CARRIERS)
def test_a_plan_alone_is_no_attempt(text: str, tmp_path: Path) -> None:
    """With -n a refusal is said and not journalled: nothing was tried."""
    found = session(tmp_path, production=True)
    found.session.options.flags["dry-run"] = True  # type: ignore[index]
    with pytest.raises(RefusedError):
        found.say(line(text, tmp_path))
    assert rows(found) == []


def test_a_refusal_stands_without_its_row(tmp_path: Path) -> None:
    """Where the journal takes no row, that is said and the work is turned away all the same."""
    found = session(tmp_path, production=True)
    said: list[str] = []
    found.console.say = said.append  # type: ignore[method-assign,assignment]

    def full(*_: object) -> int:
        raise JournalError("the disk is full")

    found.services.journal.note = full  # type: ignore[method-assign]
    with pytest.raises(RefusedError):
        found.say("sh touch x")
    assert said == ["this refusal could not be journalled: the disk is full"] and found.written == []


FLAGS = [
    ("sh touch x --accept-opaque", "sh: --accept-opaque comes after the command"),
    ("host touch x --accept-opaque", "host: --accept-opaque comes after the command"),
    ("dcli -c c1 touch x --accept-opaque", "dcli: --accept-opaque comes after the command of dcli"),
    ("sh hostname --rolling", "sh: --rolling comes after the command"),
]


@pytest.mark.parametrize(("text", "said"), FLAGS)
def test_a_flag_behind_the_command_is_pointed_out(text: str, said: str, tmp_path: Path) -> None:
    """exacell's own flag among a command's words is refused by its name with the place where it counts; nothing is sent."""
    found = session(tmp_path)
    with pytest.raises(StatementError, match=f"^{said}") as caught:
        found.say(text)
    assert text.split()[0] in (caught.value.hint or "") and found.written == [] and rows(found) == []


@pytest.mark.parametrize(
    "text", ["sh -- ls --accept-opaque", "sh --accept-opaque -y -- ls -y", "host -- ls --reason=x"]
)
def test_two_hyphens_end_our_flags(text: str, tmp_path: Path) -> None:
    """Behind -- every word is the command's; before it stand exacell's flags."""
    found = session(tmp_path)
    command = text.partition("-- ")[2]
    if "--accept-opaque -y" in text:
        found.say(text)
        assert command in found.answers.asked[-1].command
    else:
        with pytest.raises(RefusedError, match="exacell can't tell what"):
            found.say(text)


def test_dcli_takes_the_flag_before_its_words(tmp_path: Path) -> None:
    """dcli --accept-opaque … runs what can't be read; the word does not reach the targets, and the work is journalled."""
    found = session(tmp_path)
    found.say("dcli --accept-opaque -c c1 touch x")
    assert found.written == ["c1"] and "accept-opaque" not in found.answers.asked[-1].command
    assert [row.kind for row in rows(found)] == ["plan", "intent", "outcome", "end"]


def test_dcli_lets_a_flag_of_ours_through_behind_two_hyphens(tmp_path: Path) -> None:
    """Behind dcli -- all words are the command's: they reach the target, and the hyphens do not."""
    found = session(tmp_path)
    found.say("dcli --accept-opaque -- -c c1 touch --reason=x")
    assert found.written == ["c1"]
    assert "touch --reason=x" in found.answers.asked[-1].command and "-- " not in found.answers.asked[-1].command


@pytest.mark.parametrize(
    "text",
    [
        "sh --reason=why --accept-opaque -y touch x",
        "sh --reason 'why' -y --accept-opaque touch x",
        "-y sh --accept-opaque --reason=why -- touch x",
        "on c1 sh --accept-opaque -y --reason=why -- touch x",
    ],
)
def test_every_flag_of_a_statement_may_stand_before_the_command(text: str, tmp_path: Path) -> None:
    """sh takes reasons and its like before the command, with or without =: they are journalled, and not sent."""
    found = session(tmp_path)
    found.say(text)
    assert found.written and rows(found)[0].body["reason"] == "why"
    assert "touch x" in found.answers.asked[-1].command and "why" not in found.answers.asked[-1].command


def test_a_rack_may_allow_it_for_good(tmp_path: Path) -> None:
    """opaque = "allow" lets scripts that used dcli run as they did, journalled; a read-only session still refuses."""
    found = session(tmp_path, opaque="allow")
    found.say("dcli -c c1 touch x")
    assert found.written == ["c1"] and [row.kind for row in rows(found)] == ["plan", "intent", "outcome", "end"]
    found.session.read_only = True
    with pytest.raises(RefusedError, match="is read-only"):
        found.say("dcli -c c1 touch x")


def test_what_is_judged_is_what_is_sent(tmp_path: Path) -> None:
    """A script that is edited after it was judged goes to its targets as it was: what is copied is what was read."""
    found = session(tmp_path, opaque="allow")
    script = tmp_path / "some.sh"
    sent: list[str] = []
    run = found.answers.run

    def running(requests: Any, **more: Any) -> Any:
        script.write_text("#!/bin/sh\nrm -rf everything\n")
        sent.extend(request.upload.sources[0].read_text() for request in requests if request.upload is not None)
        return run(requests, **more)

    found.answers.run = running  # type: ignore[method-assign]
    judged = script.read_text()
    found.say(f"dcli -c c1,c2 --serial -x {script}")
    assert sent == [judged, judged]


class Typed:
    """A runner of lines that are typed, or that stand in a file."""

    def __init__(self, found: Session, *, typed: bool, flags: dict[str, str | None] | None = None) -> None:
        self.err, self.out = io.StringIO(), io.StringIO()
        console = TerminalConsole(err=self.err, stdin=io.StringIO())
        self.runner = Runner(found.session, found.services, console, out=self.out, flags=flags, prefix="")
        self.runner.typed = typed
        assert isinstance(found.console, SilentConsole)

    def run(self, text: str) -> int:
        return int(self.runner.run_text(text))


LINES = ["!touch {ran}", "show settings | tee {ran}"]


@pytest.mark.parametrize("text", LINES)
def test_what_is_typed_is_the_operators_own(text: str, tmp_path: Path) -> None:
    """! and | typed at a terminal run as the operator where the rack is none of production, and are journalled."""
    found = session(tmp_path)
    assert Typed(found, typed=True).run(line(text, tmp_path)) == 0
    assert (tmp_path / "ran").exists() and [row.kind for row in rows(found)] == ["plan", "end"]
    assert rows(found)[0].body["opaque"] and found.services.journal.unfinished("r") == []


@pytest.mark.parametrize(
    ("rack", "flags", "code"),
    [({"production": True}, {"accept-opaque": None}, 2), ({}, {}, 2), ({}, {"accept-opaque": None}, 0)],
)
@pytest.mark.parametrize("text", LINES)
def test_in_a_file_they_obey_the_door(
    text: str, rack: dict[str, Any], flags: dict[str, str | None], code: int, tmp_path: Path
) -> None:
    """The same in a file of statements is refused like host, or accepted, and journalled either way."""
    found = session(tmp_path, **rack)
    where = Typed(found, typed=False, flags=flags)
    assert where.run(line(text, tmp_path)) == code
    assert (tmp_path / "ran").exists() is (code == 0)
    kinds = [row.kind for row in rows(found)]
    assert kinds[0] == ("plan" if code == 0 else "refused") and kinds[-1] == ("end" if code == 0 else "refused")
    assert "that cells" not in where.err.getvalue() and found.services.journal.unfinished("r") == []


@pytest.mark.parametrize("text", ["!uptime", "show settings | grep timeout | wc -l"])
def test_reads_in_a_file_need_nothing(text: str, tmp_path: Path) -> None:
    """A local command or a filter that is read runs from a file on a production rack, without a row."""
    found = session(tmp_path, production=True)
    assert Typed(found, typed=False).run(text) == 0
    assert rows(found) == []


def test_a_script_that_is_typed_is_a_file(tmp_path: Path) -> None:
    """START FILE at the prompt obeys the door in the file's lines, and the lines behind it are typed again."""
    found = session(tmp_path)
    (tmp_path / "a.exa").write_text(f"!touch {tmp_path / 'ran'}\n")
    where = Typed(found, typed=True)
    assert where.run(f"start {tmp_path / 'a.exa'}") == 2 and not (tmp_path / "ran").exists()
    assert where.run(f"!touch {tmp_path / 'ran'}") == 0 and (tmp_path / "ran").exists()


def test_the_shell_of_the_account_is_not_asked(tmp_path: Path) -> None:
    """Text goes as one argument of /bin/sh -c, in parentheses that a last comment can't swallow."""
    found = session(tmp_path)
    found.say("sh uptime; hostname # that's all")
    (command,) = {request.command for request in found.answers.asked}
    assert command.startswith("/bin/sh -c ")
    words = os.fsdecode(command.encode()).removeprefix("/bin/sh -c ")
    assert words.startswith("'(uptime; hostname # that") and words.endswith("all\n) 2>&1'")
