"""Prompt and toolbar."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest

from exacell.change.execute import execute
from exacell.core.errors import ExacellError
from exacell.emulator.server.rack_world import RackWorld
from exacell.language.line import parse_line
from exacell.language.registry import Effect, commands
from exacell.output.terminal import TerminalConsole
from exacell.prompt.app import PrivateHistory
from exacell.prompt.appearance import prompt_fragments
from exacell.prompt.check import Surroundings, live_error
from exacell.prompt.toolbar import toolbar_fragments
from exacell.recipes.recorded import Recorded
from exacell.session.history import (
    append_history,
    history_file,
    is_secret,
    read_entries,
)
from exacell.session.opening import open_session
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Options, Session
from tests.support.worlds import session_on


def context(home: Path, rack: str = "") -> tuple[Session, Services]:
    console = TerminalConsole(err=io.StringIO(), stdin=io.StringIO())
    return open_session(Options(rack=rack), console, env={"EXACELL_HOME": str(home)})


def shown(fragments: list[tuple[str, str]]) -> str:
    return "".join(text for _, text in fragments)


def test_the_prompt_always_ends_alike(home: Path) -> None:
    """With or without a rack, waiting or entered, the prompt's text ends in 'exacell> '."""
    for rack in ("", "t1", "prod"):
        session, _ = context(home, rack)
        for done in (False, True):
            assert shown(prompt_fragments(session, pending=1, done=done)).endswith("exacell> ")
    assert shown(prompt_fragments(context(home)[0])) == "exacell> "
    assert shown(prompt_fragments(context(home, "t1")[0], pending=2)) == "t1 3 cells RW !2 exacell> "


def test_a_recording_is_seen_at_the_prompt(home: Path) -> None:
    """While a recipe is recorded the prompt names it, and no longer than that."""
    session, _ = context(home, "t1")
    session.recorded = Recorded(name="morning")
    assert shown(prompt_fragments(session)) == "t1 3 cells RW rec morning exacell> "
    session.recorded = None
    assert shown(prompt_fragments(session)) == "t1 3 cells RW exacell> "


def test_only_the_waiting_prompt_is_one_piece(home: Path) -> None:
    """The text 'exacell> ' is drawn in one piece while it waits and in two once the line was entered."""
    session, _ = context(home, "t1")
    assert prompt_fragments(session)[-1][1] == "exacell> "
    assert [text for _, text in prompt_fragments(session, done=True)][-2:] == ["exacell", "> "]


def test_a_production_rack_is_red(home: Path) -> None:
    """The name and the prompt of a production rack have the production class, others never."""
    assert all("production" in style for style, text in prompt_fragments(context(home, "prod")[0]) if "prod" in text)
    assert not any("production" in style for style, _ in prompt_fragments(context(home, "t1")[0]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("list cell", "read on 3 cells as cellmonitor"),
        ("on exa1cel01 list cell", "read on 1 cell as cellmonitor"),
        ("flush flashcache", "WRITE performance risk on 3 cells: plan first"),
        ("flush flashcache -y", "WRITE performance risk on 3 cells: plan first, then without a question"),
        ("flush flashcache -n", "plan for 3 cells: nothing is sent"),
        ("alter flashcache all flush", "WRITE performance risk on 3 cells: plan first"),
        ("journal", "shows what exacell has kept: no cell is asked"),
        ("delta a b", "no cell is asked"),
        ("racks", "changes only exacell's own state"),
        ("racks; flush flashcache", "WRITE performance risk on 3 cells: plan first"),
        ("!ls", "local shell command"),
        ("run reset_cold", "runs statements on 3 cells: changes are planned first"),
        ("@reset_cold size=1g -y", "planned first, then without a question"),
        ("run reset_cold -n", "nothing is changed"),
        ("start weekly.scl", "runs statements on 3 cells"),
        ("list flashcach detail", "'flashcach'"),
        ("plan resize flashcache size=1g", "plan for 3 cells: nothing is sent"),
        ("plan resize flashcache sise=1g as", "'sise' is not a parameter"),
        ('sql db=SPOT "select * from v$log"', "read on SPOT"),
        ("sql db=SPOT 'alter system set open_cursors=50'", "WRITE on SPOT: plan first"),
        ("sql db=SPOT 'alter user x account lock'", "OPAQUE on SPOT: exacell can't read what it does"),
        ("sql asm 'alter diskgroup DATA rebalance power 8'", "WRITE on ASM: plan first"),
        ("sql asm 'alter diskgroup DATA check'", "OPAQUE on ASM: exacell can't read what it does"),
        ("drop griddisk all prefix=x", "WRITE data risk on 3 cells: plan first"),
        ("alter alerthistory 1_1 examinedBy=me", "WRITE on 3 cells: plan first"),
        ("on (where flashCacheMode=writeback) list cell", "read on the cells where flashCacheMode=writeback"),
        ("li celld", "= list celldisk · read on 3 cells"),
        ("list griddisk where status=", "the value that status is compared with is missing"),
        ("resize flashcache ", "resize flashcache size=<size>"),
        ("", "Tab completes"),
    ],
)
def test_the_toolbar_tells_what_enter_will_do(text: str, said: str, home: Path) -> None:
    """The toolbar says what Enter would do, what is wrong, or how the statement goes on."""
    assert said in shown(toolbar_fragments(context(home, "t1")[0], text, len(text)))


def test_what_asks_no_cell_asks_none(tmp_path: Path) -> None:
    """A command of which the toolbar says so sends nothing to any cell, host or database."""
    session, services, transport = session_on(RackWorld.create("t1", {}), tmp_path)
    named = [command for command in commands().values() if not command.asks]
    assert len(named) > 20 and all(command.effect is Effect.READ for command in named)
    for command in named:
        line = parse_line(command.example)
        assert line is not None and line.call is not None
        with mock.patch.object(transport, "run", wraps=transport.run) as sent, suppress(ExacellError):
            execute(session, services, Request(), line)
        assert not sent.called, command.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("facts", "facts is for hosts: on @ini …"),
        ("set setting /proc/sys/vm/swappiness=1", "set setting is for hosts: on @ini …"),
        ("facts on @ini", "read on 2 hosts as root"),
        ("on jump1 show setting /proc/sys/vm/swappiness", "read on 1 host"),
        ("set setting /proc/sys/vm/swappiness=1 on @ini -n", "plan for 2 hosts: nothing is sent"),
        ("drift", "read on 3 cells as cellmonitor"),
        ("drift on @ini", "read on 2 hosts as root"),
    ],
)
def test_the_toolbar_tells_hosts_from_cells(text: str, said: str, home: Path) -> None:
    """Of hosts the toolbar says how many there are and who logs in there, where ssh_config does not decide it, and what needs
    some says so."""
    hosts = '[hosts.ini]\nnodes = "ini[1-2]"\nuser = "root"\n[hosts.jump]\nnodes = "jump1"\n'
    (home / "racks.d" / "lab.toml").write_text('cells = "exa1cel[01-03]"\n' + hosts)
    assert shown(toolbar_fragments(context(home, "lab")[0], text, len(text))).strip() == said


def test_a_read_only_session_is_told_before_enter(home: Path) -> None:
    """On a read-only rack the toolbar says that a write will be refused."""
    assert "refused" in shown(toolbar_fragments(context(home, "prod")[0], "flush flashcache", 16))
    assert "refused" in shown(toolbar_fragments(context(home, "prod")[0], "run reset_cold", 14))


@pytest.mark.parametrize(
    "text", ['create user x password="y"', "alter user x PASSWORD = *", "assign key for cell c='00ff'"]
)
def test_secrets_are_not_kept(text: str, tmp_path: Path) -> None:
    """Statements with passwords or keys are neither written nor offered again."""
    path = tmp_path / "deep" / "history"
    history = PrivateHistory(path)
    history.append_string(text)
    append_history(path, text)
    assert is_secret(text) and read_entries(path) == [] and text not in history.get_strings()


def test_history_comes_back_as_it_was(tmp_path: Path) -> None:
    """Lines, also of several rows and with backslashes, are read back unchanged, newest first at the prompt."""
    path = history_file(tmp_path)
    for text in ("list cell", "list griddisk -\n where name like '\\n'", "racks"):
        PrivateHistory(path).append_string(text)
    assert [entry.text for entry in read_entries(path)] == [
        "list cell",
        "list griddisk -\n where name like '\\n'",
        "racks",
    ]
    assert next(iter(PrivateHistory(path).load_history_strings())) == "racks"


def test_what_the_cells_release_lacks_is_wrong_before_enter(home: Path) -> None:
    """An attribute of a later release is marked where it stands, with the release that has it."""
    around = Surroundings(releases=("11.2.3.2.0",))
    text = "list griddisk attributes name, asmDiskSize where name=x"
    found = live_error(text, len(text), around)
    assert found is not None and text[found[0] : found[1]] == "asmDiskSize" and "12.1.2.3" in found[2].message
    assert live_error(text, len(text)) is None
    assert "12.1.2.3" in shown(toolbar_fragments(context(home, "t1")[0], text, len(text), around))


def test_an_alias_is_judged_by_what_it_stands_for(home: Path) -> None:
    """The toolbar says what an alias becomes and what that does; a wrong one is marked at the alias."""
    around = Surroundings(aliases=(("cold", "flush flashcache"), ("bad", "list flashcach detail")))
    assert "= flush flashcache · WRITE performance risk" in shown(
        toolbar_fragments(context(home, "t1")[0], "cold", 4, around)
    )
    found = live_error("bad x", 5, around)
    assert found is not None and found[:2] == (0, 3) and "flashcach" in found[2].message
