"""Reads through a CellCLI that is kept open, against a server whose CellCLI behaves, or does not."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncssh
import pytest

from exacell.transport import session as session_module
from exacell.transport.base import Feed, Request, Role, State
from exacell.transport.ssh import SshTransport
from tests.support.faulty import FaultyServer
from tests.support.requests import read, write

MakeTransport = Callable[..., SshTransport]
PROGRAM = "cellcli -m -n -x"


class CellcliServer(FaultyServer):
    """Answers ``cellcli -e list X`` once, and feeds of ``list X`` to a CellCLI whose ``mode`` may change at any time.

    Attributes:
        started: how many CellCLIs were started to be fed.
        fed: the statements that those got.
        mode: ``marks``, ``mute`` (names nothing), ``dies`` (ends when asked),
            ``other`` (its marker's error has changed), ``stderr``, ``slow`` (never answers), ``half`` (dies halfway),
            ``hung`` (no CellCLI ever says anything).
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.mode = "marks"
        self.started = 0
        self.fed: list[str] = []

    async def _answer(self, process: asyncssh.SSHServerProcess, command: str) -> None:
        if self.mode == "hung" and command.startswith("cellcli "):
            await process.stdin.read()
        elif command.startswith("cellcli -e "):
            process.stdout.write(f"\t {command[11:]} once\n".encode())
            process.exit(0)
        elif command.startswith(PROGRAM):
            self.started += 1
            # Writing to a channel that the client has closed is an error here, and would cost the whole connection.
            with contextlib.suppress(BrokenPipeError, asyncssh.Error):
                await self._serve(process, xml="xml" in command)
        else:
            await super()._answer(process, command)

    async def _serve(self, process: asyncssh.SSHServerProcess, *, xml: bool) -> None:
        async for raw in process.stdin:
            line = raw.decode().rstrip("\n")
            verb, _, name = line.partition(" ")
            if verb == "start" or line.startswith("list celldisk exacell"):
                if self.mode == "other":
                    process.stdout.write(f"CELL-00009: {line.split()[-1]} is gone\n".encode())
                elif self.mode != "mute":
                    process.stdout.write(f"CELL-00001: there is no {line.split()[-1]}\n".encode())
                else:
                    process.stdout.write(b"CELL-00001: no\n")
                continue
            self.fed.append(line)
            if self.mode == "dies":
                process.exit(1)
                return
            if self.mode == "half":
                process.stdout.write(f"\t {name} hal".encode())
                await process.stdout.drain()
                process.exit(1)
                return
            if self.mode == "slow":
                process.stdout.write(b"\t so far\n")
                await process.stdout.drain()
                await process.channel.wait_closed()
                return
            if self.mode == "stderr":
                process.stderr.write(b"Exception in thread main\n")
            body = f"\t {name} fed\n"
            process.stdout.write((f"<?xml ?><cli-output>{body}</cli-output>\n" if xml else body).encode())


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[CellcliServer]:
    server = CellcliServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "QUIET_S", 0.1)


@pytest.fixture
def transport(cell: CellcliServer, transport_to: MakeTransport) -> SshTransport:
    """A transport that keeps a CellCLI open from the first read on."""
    made = transport_to(cell.ssh_config(), "u", timeout=5)
    made.warm(["c"]).join(10)
    return made


def fed(name: str, *, program: str = PROGRAM, role: Role = Role.READ, timeout: float | None = None) -> Request:
    feed = Feed(program=program, statements=(f"list {name}",))
    return Request(target="c", command=f"cellcli -e list {name}", role=role, feed=feed, timeout=timeout)


def ask(transport: SshTransport, name: str, **details: object) -> str:
    reply = transport.run([fed(name, **details)]).replies["c"]  # type: ignore[arg-type]
    assert reply.state is State.OK, reply
    return reply.stdout


def test_one_cellcli_answers_many_reads(cell: CellcliServer, transport: SshTransport) -> None:
    """It should start one CellCLI and have it answer all reads, each whole and without the marker."""
    assert [ask(transport, f"a{n}") for n in range(5)] == [f"\t a{n} fed\n" for n in range(5)]
    assert (cell.started, len(cell.fed), cell.commands) == (1, 5, [PROGRAM])


def test_first_read_of_a_short_life_is_one_shot(cell: CellcliServer, transport_to: MakeTransport) -> None:
    """It should not start a CellCLI to keep for the first read of a process that announced no more."""
    transport = transport_to(cell.ssh_config(), "u")
    assert [ask(transport, "a"), ask(transport, "b")] == ["\t list a once\n", "\t b fed\n"]


def test_first_read_of_many_starts_what_is_kept(cell: CellcliServer, transport_to: MakeTransport) -> None:
    """It should have one CellCLI, started for the first read, answer all reads when more than one was announced."""
    transport = transport_to(cell.ssh_config(), "u")
    transport.expects_more = True
    assert [ask(transport, "a"), ask(transport, "b")] == ["\t a fed\n", "\t b fed\n"]
    assert cell.started == 1


def test_writes_are_never_fed(cell: CellcliServer, transport: SshTransport) -> None:
    """It should run a write as a command of its own, whatever the request offers to feed."""
    assert ask(transport, "a", role=Role.WRITE) == "\t list a once\n"
    assert transport.run([write("c", "cellcli -e alter cell")]).ok
    assert cell.fed == [] and cell.started == 0


@pytest.mark.parametrize("mode", ["mute", "dies", "half", "other", "stderr"])
def test_what_goes_wrong_ends_as_one_shot(cell: CellcliServer, transport: SshTransport, mode: str) -> None:
    """It should ask with a CellCLI of its own when the one that is kept fails in any way, and answer whole."""
    if mode != "mute":
        assert ask(transport, "before") == "\t before fed\n"
    cell.mode = mode
    assert ask(transport, "a") == "\t list a once\n"
    cell.mode = "marks"
    assert ask(transport, "b") == ("\t list b once\n" if mode == "mute" else "\t b fed\n")


def test_it_is_given_up_after_some_losses(cell: CellcliServer, transport: SshTransport) -> None:
    """It should stop starting CellCLIs on a connection where they keep dying."""
    cell.mode = "dies"
    for _ in range(session_module.MOST_LOSSES + 3):
        assert ask(transport, "a") == "\t list a once\n"
    assert cell.started == session_module.MOST_LOSSES


def test_xml_needs_no_marker(cell: CellcliServer, transport: SshTransport) -> None:
    """It should keep a CellCLI for XML open although nothing marks an end there, and not for plain text."""
    cell.mode = "mute"
    xml = f"{PROGRAM} -xml"
    assert [ask(transport, f"x{n}", program=xml) for n in range(2)] == [
        f"<?xml ?><cli-output>\t x{n} fed\n</cli-output>\n" for n in range(2)
    ]
    assert cell.started == 1


def test_deadline_ends_the_cellcli(cell: CellcliServer, transport: SshTransport) -> None:
    """It should time out a read at its own deadline with what came, and ask a new CellCLI the next time."""
    cell.mode = "slow"
    reply = transport.run([fed("a", timeout=0.3)]).replies["c"]
    assert (reply.state, reply.stdout) == (State.TIMED_OUT, "\t so far\n")
    cell.mode = "marks"
    assert ask(transport, "b") == "\t b fed\n"
    assert cell.started == 2


def test_deadline_holds_for_all_that_is_tried(
    cell: CellcliServer, transport: SshTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It should name a hung cell at the deadline of the read, not that long after the kept CellCLI was given up."""
    monkeypatch.setattr(session_module, "START_S", 0.9)
    cell.mode = "hung"
    reply = transport.run([fed("a", timeout=1.0)]).replies["c"]
    assert reply.state is State.TIMED_OUT and "no end within 1s" in reply.problem
    assert cell.commands == [PROGRAM, "cellcli -e list a"] and reply.seconds < 1.8


def test_second_statement_does_not_queue(cell: CellcliServer, transport: SshTransport) -> None:
    """It should answer a read with a CellCLI of its own while the one that is kept is busy."""
    cell.mode = "slow"
    slow = threading.Thread(target=transport.run, args=([fed("a", timeout=0.7)],))
    slow.start()
    while not cell.fed:
        time.sleep(0.005)
    started = time.monotonic()
    assert ask(transport, "b") == "\t list b once\n"
    assert time.monotonic() - started < 0.6
    slow.join()


def test_idle_cellcli_is_closed(cell: CellcliServer, transport: SshTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should close a CellCLI that nobody asked for a while, and start one when it is asked again."""
    monkeypatch.setattr(session_module, "IDLE_S", 0.05)
    assert ask(transport, "a") == "\t a fed\n"
    deadline = time.monotonic() + 5
    while cell.running and time.monotonic() < deadline:
        time.sleep(0.01)
    assert cell.running == 0
    assert ask(transport, "b") == "\t b fed\n"
    assert cell.started == 2


def test_reads_go_on_after_the_cell_restarted(cell: CellcliServer, transport: SshTransport) -> None:
    """It should reconnect and answer when the connection under a kept CellCLI was cut between two reads."""
    assert ask(transport, "a") == "\t a fed\n"
    cell.kill_connections()
    assert ask(transport, "b").startswith("\t ")
    assert ask(transport, "c").startswith("\t ")


def test_connection_cut_while_it_answers(cell: CellcliServer, transport: SshTransport) -> None:
    """It should ask again on a new connection when the one under a kept CellCLI is cut before the answer."""
    assert ask(transport, "a") == "\t a fed\n"
    cell.mode = "slow"
    cut = threading.Timer(0.1, cell.kill_connections)
    cut.start()
    assert ask(transport, "b") == "\t list b once\n"


def test_it_can_be_switched_off(cell: CellcliServer, transport: SshTransport) -> None:
    """It should start a CellCLI for each read when none may be kept."""
    transport.long_lived = False
    assert [ask(transport, "a"), ask(transport, "b")] == ["\t list a once\n", "\t list b once\n"]
    assert cell.started == 0


def test_plain_reads_are_not_fed(cell: CellcliServer, transport: SshTransport) -> None:
    """It should run a read that offers nothing to feed as the command it is."""
    assert transport.run([read("c", "echo hi")]).replies["c"].stdout == "hi\n"
    assert cell.started == 0


def test_it_tells_where_each_read_starts_a_cellcli(cell: CellcliServer, transport: SshTransport) -> None:
    """It should name the cells where no CellCLI can be kept, and why."""
    assert ask(transport, "a") and transport.single_reads == {}
    transport.close()
    cell.mode = "mute"
    assert ask(transport, "a") and ask(transport, "a")
    assert "no end of an answer" in transport.single_reads["c"]
