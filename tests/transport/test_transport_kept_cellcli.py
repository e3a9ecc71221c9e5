"""Reads through a CellCLI that is kept open, against a server whose CellCLI behaves, or does not."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncssh
import pytest

from exacell.transport.base import Feed, Request, Role, State
from exacell.transport.ssh import SshTransport, kept_cellcli as session_module
from tests.support.faulty import FaultyServer
from tests.support.patience import patiently, until
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
            ``late`` (what the Management Server has to answer at the start comes after the silence that ends the probe),
            ``slow start``, ``slow end`` (the second answer to the probe, or that of the first marker, comes
            when the read has been asked elsewhere),
            ``hung`` (no CellCLI ever says anything).
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.mode = "marks"
        self.started = 0
        self.fed: list[str] = []
        self.markers = 0
        self.asked_elsewhere = asyncio.Event()

    async def _answer(self, process: asyncssh.SSHServerProcess, command: str) -> None:
        if self.mode == "hung" and command.startswith("cellcli "):
            await process.stdin.read()
        elif command.startswith("cellcli -e "):
            self.asked_elsewhere.set()
            process.stdout.write(f"\t {command[11:]} once\n".encode())
            process.exit(0)
        elif command.startswith(PROGRAM):
            self.started += 1
            # Writing to a channel that the client has closed is an error here, and would cost the whole connection.
            with contextlib.suppress(BrokenPipeError, asyncssh.Error):
                await self._serve(process)
        else:
            await super()._answer(process, command)

    def _comes_late(self) -> bool:
        """Whether the marker that is being answered is the one that comes late."""
        self.markers += 1
        return self.markers == {"slow start": 2, "slow end": 3}.get(self.mode)

    async def _serve(self, process: asyncssh.SSHServerProcess) -> None:
        async for raw in process.stdin:
            line = raw.decode().rstrip("\n")
            verb, _, name = line.partition(" ")
            if self.mode == "late" and line.startswith("list celldisk exacell"):
                await process.stdout.drain()
                await asyncio.sleep(3 * session_module.QUIET_S)
            if verb == "start" and self._comes_late():
                await process.stdout.drain()
                await self.asked_elsewhere.wait()
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
            process.stdout.write(f"\t {name} fed\n".encode())


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[CellcliServer]:
    server = CellcliServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "QUIET_S", 0.4)


@pytest.fixture
def transport(cell: CellcliServer, transport_to: MakeTransport) -> SshTransport:
    """A transport that keeps a CellCLI open from the first read on."""
    made = transport_to(cell.ssh_config(), "u", timeout=30)
    made.warm(["c"]).join(300)
    return made


def fed(name: str, *, xml: str = "", role: Role = Role.READ, timeout: float | None = None) -> Request:
    feed = Feed(program=PROGRAM + xml, statements=(f"list {name}",))
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


def test_a_late_start_is_in_no_answer(cell: CellcliServer, transport: SshTransport) -> None:
    """It should answer a read whole where what the start of its CellCLI made the cell say comes late."""
    cell.mode = "late"
    assert [ask(transport, f"a{n}") for n in range(3)] == [f"\t a{n} fed\n" for n in range(3)]
    assert cell.started == 1


@pytest.mark.parametrize("mode", ["slow start", "slow end"])
def test_silence_is_no_proof(cell: CellcliServer, transport: SshTransport, mode: str) -> None:
    """It should ask elsewhere while a CellCLI that is kept is silent, go on with it when it was only late, and not complain."""
    cell.mode = mode
    assert ask(transport, "CELL-1") == "\t list CELL-1 once\n"
    assert until(lambda: ask(transport, "b") == "\t b fed\n")
    assert cell.started == 1 and not transport.single_reads


def test_it_is_given_up_after_some_losses(cell: CellcliServer, transport: SshTransport) -> None:
    """It should stop starting CellCLIs on a connection where they keep dying."""
    cell.mode = "dies"
    for _ in range(session_module.MOST_LOSSES + 3):
        assert ask(transport, "a") == "\t list a once\n"
    assert cell.started == session_module.MOST_LOSSES


def test_what_was_given_up_is_tried_again(cell: CellcliServer, transport: SshTransport) -> None:
    """Where it is told after how many seconds, it should keep a CellCLI again on a connection where they have died."""
    usual = cell.mode
    transport.close()
    transport.again_s, cell.mode = 0.2, "dies"
    for _ in range(session_module.MOST_LOSSES):
        assert ask(transport, "a") == "\t list a once\n"
    cell.mode = usual
    assert until(lambda: ask(transport, "b") == "\t b fed\n") and not transport.single_reads


def test_deadline_ends_the_cellcli(cell: CellcliServer, transport: SshTransport) -> None:
    """It should time out a read at its own deadline with what came, and ask a new CellCLI the next time."""
    cell.mode = "slow"

    def in_time(seconds: float) -> None:
        cell.started = 0
        reply = transport.run([fed("a", timeout=seconds)]).replies["c"]
        assert (reply.state, reply.stdout) == (State.TIMED_OUT, "\t so far\n")

    patiently(in_time, 0.3, 3, 15)
    cell.mode = "marks"
    assert ask(transport, "b") == "\t b fed\n"
    assert cell.started == 2


def test_deadline_holds_for_all_that_is_tried(
    cell: CellcliServer, transport: SshTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It should name a hung cell at the deadline of the read, not that long after the kept CellCLI was given up."""
    cell.mode = "hung"

    def in_time(seconds: float) -> None:
        # A connection goes without a kept CellCLI after some losses, also those of an attempt that took too long.
        transport.close()
        transport.warm(["c"]).join(300)
        cell.commands.clear()
        monkeypatch.setattr(session_module, "START_S", 0.9 * seconds)
        reply = transport.run([fed("a", timeout=seconds)]).replies["c"]
        assert reply.state is State.TIMED_OUT and f"no end within {seconds}s" in reply.problem
        assert cell.commands == [PROGRAM, "cellcli -e list a"] and reply.seconds < 1.8 * seconds

    patiently(in_time, 1, 4, 12)


def test_second_statement_does_not_queue(cell: CellcliServer, transport: SshTransport) -> None:
    """It should answer a read with a CellCLI of its own while the one that is kept is busy."""
    cell.mode = "slow"
    slow = threading.Thread(target=transport.run, args=([fed("a", timeout=60)],))
    slow.start()
    assert until(lambda: bool(cell.fed))
    assert ask(transport, "b") == "\t list b once\n"
    assert slow.is_alive()
    transport.close()
    slow.join()


def test_reads_take_turns_where_they_may_wait(cell: CellcliServer, transport: SshTransport) -> None:
    """Where reads may wait for their turn, many at a time are answered by the one CellCLI that is kept, each with its own."""
    transport.close()
    transport.turn_s = 60.0
    answers: dict[str, str] = {}

    def one(name: str) -> None:
        answers[name] = ask(transport, name)

    names = [f"n{number}" for number in range(12)]
    asking = [threading.Thread(target=one, args=(name,)) for name in names]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(300)
    assert answers == {name: f"\t {name} fed\n" for name in names}
    assert cell.started == 1


def test_who_waits_for_a_turn_in_vain_asks_elsewhere(cell: CellcliServer, transport: SshTransport) -> None:
    """A read whose turn does not come in time, or whose CellCLI ends before, is answered by a CellCLI of its own."""
    transport.close()
    transport.turn_s = 0.2
    cell.mode = "slow"
    slow = threading.Thread(target=transport.run, args=([fed("a", timeout=60)],))
    slow.start()
    assert until(lambda: bool(cell.fed))
    assert ask(transport, "b") == "\t list b once\n"
    assert slow.is_alive()
    transport.turn_s = 60.0
    transport.close()
    slow.join(300)


def test_idle_cellcli_is_closed(cell: CellcliServer, transport: SshTransport) -> None:
    """It should close a CellCLI that nobody asked for a while, and start one when it is asked again."""
    transport.close()
    transport.idle_s = 0.05
    assert ask(transport, "a") == "\t a fed\n"
    assert until(lambda: not cell.running)
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
    cut = threading.Thread(target=lambda: until(lambda: len(cell.fed) == 2) and cell.kill_connections())
    cut.start()
    assert ask(transport, "b") == "\t list b once\n"
    cut.join()


def test_it_can_be_switched_off(cell: CellcliServer, transport: SshTransport) -> None:
    """It should start a CellCLI for each read when none may be kept."""
    transport.long_lived = False
    assert [ask(transport, "a"), ask(transport, "b")] == ["\t list a once\n", "\t list b once\n"]
    assert cell.started == 0


def test_plain_reads_are_not_fed(cell: CellcliServer, transport: SshTransport) -> None:
    """It should run a read that offers nothing to feed as the command it is."""
    assert transport.run([read("c", "echo hi")]).replies["c"].stdout == "hi\n"
    assert cell.started == 0


def test_it_tells_where_each_read_starts_a_cellcli(
    cell: CellcliServer, transport: SshTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It should name the cells where no CellCLI can be kept, and why."""
    assert ask(transport, "a") and transport.single_reads == {}
    transport.close()
    cell.mode = "mute"
    started = cell.started
    assert ask(transport, "a") and ask(transport, "a") and ask(transport, "a", xml=" -xml")
    assert cell.started == started + 1 and transport.single_reads == {}
    transport.close()
    monkeypatch.setattr(session_module, "DOUBT_S", 0.1)
    assert ask(transport, "a") and ask(transport, "a")
    assert until(lambda: "c" in transport.single_reads)
    assert "does not mark the end of an answer" in transport.single_reads["c"]
