"""Statements that go on reading behind the prompt."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pexpect
import pytest

from exacell.language.line import parse_line
from exacell.output.terminal import TerminalConsole
from exacell.prompt.entering import Reading
from exacell.session.opening import open_session
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State
from tests.support.patience import must_come
from tests.support.transports import Open

PROMPT = "exacell> "
Start = Callable[..., pexpect.spawn]


class Held(Open):
    """Cells of which the second one is dead and the third one answers when it is let."""

    def __init__(self) -> None:
        self.read_only = False
        self.let = threading.Event()

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Return one reply per request, each told as it comes."""
        replies: dict[str, Reply] = {}
        for request in sorted(requests, key=lambda request: request.target):
            if request.target.endswith("3") and "detail" in request.command.lower():
                assert self.let.wait(300)
            reply = replies[request.target] = self._reply(request)
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)

    def _reply(self, request: Request) -> Reply:
        if request.target.endswith("2"):
            return Reply(target=request.target, state=State.UNREACHABLE, problem="connection refused")
        if "releaseversion" in request.command.lower():
            text = f"\t {request.target}\t 19.3.2.0.0.190918\n"
        else:
            text = f"\t name:   \t {request.target}\n\t status: \t online\n"
        return Reply(target=request.target, state=State.OK, stdout=text, exit_status=0)


@pytest.fixture
def held(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Session, Services, Held]:
    """A session with the rack t1 over such cells."""
    monkeypatch.setenv("EXACELL_HOME", str(home))
    session, services = open_session(Options(rack="t1"), TerminalConsole(quiet=True))
    transport = Held()
    services._given = transport  # type: ignore[assignment]
    return session, services, transport


def test_an_answer_is_whole_whatever_comes_late(held: tuple[Session, Services, Held]) -> None:
    """What a dead cell and a late one hold up is one answer: the good cells', the late one's and the dead one's problem."""
    session, services, cells = held
    line = parse_line("list cell attributes name,status detail")
    assert line is not None
    reading = Reading(session, services, line, "list cell detail", lambda: None)
    must_come(lambda: list(reading.waiting_for) == ["exa1cel03"])
    assert not reading.ended
    cells.let.set()
    whole = reading.outcome(20)
    assert whole.text.startswith("exa1cel[01,03]\n")
    assert len(whole.problems) == 1 and "exa1cel02" in whole.problems[0]


def test_cells_that_are_down_are_those_of_the_newest_statement(held: tuple[Session, Services, Held]) -> None:
    """A late answer does not change what @down means when another statement asked cells meanwhile."""
    session, services, cells = held
    line = parse_line("list cell attributes name,status detail")
    assert line is not None
    cells.let.set()
    for overtaken in (True, False):
        reading = Reading(session, services, line, "list cell detail", lambda: None)
        reading.overtaken = overtaken
        session.selection.remember(session.cells(), ["exa1cel01"])
        reading.outcome(20)
        assert list(session.selection.resolve("@down")) == (["exa1cel01"] if overtaken else ["exa1cel02"])


@pytest.fixture
def hanging(home: Path) -> socket.socket:
    """The rack ``hang``, whose only cell takes connections and says nothing."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(60)
    (home / "ssh_config").write_text(f"Host slow\n HostName 127.0.0.1\n Port {server.getsockname()[1]}\n")
    (home / "racks.d" / "hang.toml").write_text(
        f'cells = "slow"\nssh_config = "{home}/ssh_config"\nconnect_timeout = "60s"\n'
    )
    return server


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def go_behind(child: pexpect.spawn, server: socket.socket) -> socket.socket:
    """Enter a statement, type on, and return the connection on which it waits once the prompt is back."""
    child.send("list cell\r")
    link, _ = server.accept()
    child.send("ra")
    child.expect_exact("still waiting for an answer from slow")
    child.expect_exact(PROMPT)
    return link


def test_other_statements_run_meanwhile(start: Start, hanging: socket.socket) -> None:
    """While a cell hangs other statements are answered at once; the late answer says what it answers."""
    child = start("-r", "hang")
    link = go_behind(child, hanging)
    child.send("cks\r")
    child.expect_exact("exa1cel[01-03]")
    child.expect_exact(PROMPT)
    hanging.close()
    link.close()
    child.expect_exact("answer to: list cell")
    child.expect_exact("slow: ")
    child.expect_exact(PROMPT)


def test_a_late_answer_names_its_statement_also_where_nothing_was_entered_since(
    start: Start, hanging: socket.socket
) -> None:
    """An answer that comes above the prompt says to which statement it is one, always."""
    child = start("-r", "hang")
    link = go_behind(child, hanging)
    hanging.close()
    link.close()
    child.expect_exact("answer to: list cell")
    child.expect_exact("slow: ")
    child.expect_exact(PROMPT)


def test_ctrl_c_gives_up_what_is_waited_for(start: Start, hanging: socket.socket) -> None:
    """Ctrl-C at the prompt ends the statement that still reads, and the session goes on."""
    child = start("-r", "hang")
    go_behind(child, hanging)
    child.send("\x03")
    child.expect_exact("no longer waiting for: list cell")
    child.send("racks\r")
    child.expect_exact("exa1cel[01-03]")
    hanging.close()


def test_leaving_does_not_wait(start: Start, hanging: socket.socket) -> None:
    """Exit ends the session at once, whatever is still waited for."""
    child = start("-r", "hang")
    go_behind(child, hanging)
    child.send("\x15exit\r")
    child.expect(pexpect.EOF)
    child.close()
    hanging.close()
    assert child.exitstatus == 0


@pytest.mark.parametrize("change", ["flush flashcache -n", "run reset_cold -n"])
def test_a_change_waits_for_what_reads(start: Start, hanging: socket.socket, change: str) -> None:
    """A change, a recipe's too, is not planned beside a statement that still reads; Ctrl-C twice takes both back."""
    child = start("-r", "hang")
    go_behind(child, hanging)
    child.send(f"\x15{change}\r")
    child.expect_exact("waiting for slow: 0 of 1 answered")
    child.send("\x03")
    child.expect_exact("stopping")
    child.send("\x03")
    child.expect_exact(PROMPT)
    assert "interrupted" in plain(child.before) and "plan" not in plain(child.before)
    hanging.close()
