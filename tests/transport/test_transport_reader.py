"""The one reader of all connections: what it must keep up while nobody waits in a thread of its own."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import paramiko
import pytest

from exacell.core.errors import TransportError
from exacell.transport import capture as capture_module
from exacell.transport.base import State
from exacell.transport.ssh import SshTransport, kept_connections, opener, packets, reader as reader_module, wire
from exacell.transport.ssh.reader import Reader
from exacell.transport.ssh.stream import Stream
from tests.support import sshd as sshd_support
from tests.support.faulty import FaultyServer
from tests.support.patience import until
from tests.support.requests import CELLS, read, write
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]


@pytest.fixture
def rekeying(tmp_path: Path) -> Iterator[Sshd]:
    """An sshd that wants new keys every 256 KB."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    server = Sshd(tmp_path / "rekeying", extra="RekeyLimit 256K")
    server.start()
    server.known_hosts()
    yield server
    server.stop()


def connections(transport: SshTransport) -> list[paramiko.Transport]:
    return [
        slot.connection._transport
        for slot in transport._sending().connections._slots.values()
        if slot.connection is not None
    ]


@pytest.mark.sshd
def test_connections_need_no_thread(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should read all connections in one thread, with no thread left to any of them or to a command."""
    earlier = set(threading.enumerate())
    transport = transport_to(sshd.ssh_config(), sshd.user)
    assert len(transport.run([read(c, "echo x") for c in CELLS]).ok) == 3
    ours = set(threading.enumerate()) - earlier
    assert not any(isinstance(thread, paramiko.Transport) for thread in ours)
    before = threading.active_count()
    running: list[int] = []
    transport.run([read(c, "echo x") for c in CELLS], on_reply=lambda reply: running.append(threading.active_count()))
    assert max(running) <= before


@pytest.mark.sshd
def test_new_keys_under_way(rekeying: Sshd, transport_to: MakeTransport) -> None:
    """It should go on through every change of keys that the server wants, in both directions and under load."""
    transport = transport_to(rekeying.ssh_config(), rekeying.user)
    sent = "0123456789abcdef" * (1 << 16)
    requests = [read(CELLS[0], "cat", stdin=sent), read(CELLS[1], "head -c 1500000 /dev/zero | tr '\\0' o")]
    for _ in range(2):
        echoed, zeros = transport.run(requests).replies.values()
        assert echoed.stdout == sent and zeros.stdout == "o" * 1_500_000, (echoed.problem, zeros.problem)
    # The identifier is the hash of the first exchange.
    assert all(connection.session_id != connection.H for connection in connections(transport))


@pytest.mark.sshd
def test_we_want_new_keys(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should ask for new keys itself when the connection has carried its share."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    assert transport.run([read(CELLS[0], "true")]).ok
    (connection,) = connections(transport)
    first = connection.session_id
    connection.packetizer.REKEY_BYTES = 100_000
    for _ in range(3):
        reply = transport.run([read(CELLS[0], "head -c 300000 /dev/zero | tr '\\0' o")]).replies[CELLS[0]]
        assert reply.stdout == "o" * 300_000, reply.problem
    assert first != connection.H


def test_cancelled_commands_leak_nothing(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should give every channel back: of commands past their deadline and of those broken off while opening."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([read("a", "echo x")]).ok
    for _ in range(20):
        assert transport.run([read("a", "hang", timeout=0.01)]).in_state(State.TIMED_OUT)
    assert until(lambda: not faulty.running)
    (connection,) = connections(transport)
    assert isinstance(connection, wire.Wire) and not connection._streams
    assert transport.run([read("a", "echo x")]).ok and len(faulty.connections) == 1


def test_what_was_told_to_be_unreachable_is_not_sent(
    faulty: FaultyServer, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It should send nothing on a channel that comes when its request has been answered as unreachable."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([read("a", "echo x")]).ok
    answered, opened = threading.Event(), Stream._opened

    def late(stream: Stream, message: paramiko.Message) -> None:
        answered.wait(300)
        opened(stream, message)

    monkeypatch.setattr(Stream, "_opened", late)
    monkeypatch.setattr(kept_connections, "GRACE_S", 0.3 - transport.connect_timeout)
    assert transport.run([write("a", "echo changed")]).in_state(State.UNREACHABLE)
    monkeypatch.undo()
    answered.set()
    assert transport.run([read("a", "echo y")]).ok
    assert faulty.commands == ["echo x", "echo y"] and len(faulty.connections) == 1


def test_interrupt_ends_all_that_is_under_way(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should close the channels of a fan-out that was broken off, and go on afterwards on the same connections."""
    transport = transport_to(faulty.ssh_config(), "u")
    targets = [f"c{n}" for n in range(6)]
    assert transport.run([read(t, "echo x") for t in targets]).ok

    def interrupt(reply: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transport.run([read("c0", "echo x"), *(read(t, "hang") for t in targets[1:])], on_reply=interrupt)
    assert until(lambda: not faulty.running)
    assert len(transport.run([read(t, "echo y") for t in targets]).ok) == 6
    assert len(faulty.connections) == 6


def test_a_slow_cell_holds_nobody_up(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should show every other cell at once while one hangs, and name that one at its own deadline."""
    transport = transport_to(faulty.ssh_config(), "u", fanout=64)
    targets = [f"c{n}" for n in range(30)]
    assert len(transport.run([read(t, "echo x") for t in targets]).ok) == 30
    for deadline in (
        1.0,
        5.0,
        25.0,
    ):  # A machine with much else to do needs a longer one to let the others answer before.
        shown: list[str] = []
        result = transport.run(
            [read(t, "hang", timeout=deadline) if t == "c7" else read(t, "echo x", timeout=60.0) for t in targets],
            on_reply=lambda reply: shown.append(reply.target),  # noqa: B023
        )
        if shown[-1] == "c7":
            break
    assert shown[-1] == "c7" and len(result.ok) == 29
    assert result.replies["c7"].state is State.TIMED_OUT


@pytest.mark.sshd
def test_without_paramikos_private_names(
    sshd: Sshd, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It should work with threads and plain channels where paramiko has other private names."""
    monkeypatch.setattr(opener, "supported", lambda: False)
    transport = transport_to(sshd.ssh_config(), sshd.user)
    result = transport.run([read(c, f"echo {c}; cat", stdin="in") for c in CELLS])
    assert [reply.stdout for reply in result.replies.values()] == [f"{c}\nin" for c in CELLS]
    assert not any(isinstance(connection, wire.Wire) for connection in connections(transport))


@pytest.mark.sshd
def test_a_cipher_that_hides_its_length(tmp_path: Path, transport_to: MakeTransport) -> None:
    """It should leave a connection to a thread of its own when no packet there says its length in the clear."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    server = Sshd(tmp_path / "old", extra="Ciphers aes128-ctr\nMACs hmac-sha2-256")
    server.start()
    server.known_hosts()
    try:
        transport = transport_to(server.ssh_config(), server.user)
        assert transport.run([read(CELLS[0], "echo x")]).replies[CELLS[0]].stdout == "x\n"
        assert [getattr(connection, "attached", False) for connection in connections(transport)] == [False]
    finally:
        server.stop()


@pytest.mark.sshd
@pytest.mark.parametrize("cipher", ["aes256-gcm@openssh.com", "aes128-ctr\nMACs hmac-sha2-256-etm@openssh.com"])
def test_ciphers_that_are_read_here(cipher: str, tmp_path: Path, transport_to: MakeTransport) -> None:
    """It should read AES-GCM and encrypt-then-MAC connections in the one reader."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    if cipher.partition("\n")[0] not in paramiko.Transport._cipher_info:
        pytest.skip("this paramiko does not know the cipher")
    server = Sshd(tmp_path / "server", extra=f"Ciphers {cipher}")
    server.start()
    server.known_hosts()
    try:
        transport = transport_to(server.ssh_config(), server.user)
        reply = transport.run([read(CELLS[0], "head -c 500000 /dev/zero | tr '\\0' o")]).replies[CELLS[0]]
        assert reply.stdout == "o" * 500_000
        assert all(isinstance(connection, wire.Wire) and connection.attached for connection in connections(transport))
    finally:
        server.stop()


def test_the_names_that_paramiko_needs() -> None:
    """It should find every private name of paramiko that is used in the installed one."""
    assert wire.supported()
    transport = wire.Wire(_Mute(), Reader())  # type: ignore[arg-type]
    packetizer = transport.packetizer
    assert [name for name in wire.NEEDED_ATTRIBUTES if not hasattr(transport, name)] == []
    private = [f"_Packetizer__{name}" for name in packets.NEEDED_ATTRIBUTES]
    assert [name for name in private if not hasattr(packetizer, name)] == []


class _Mute:
    def settimeout(self, seconds: float) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_connection_with_a_thread_of_its_own_is_kept_alive() -> None:
    """While nothing comes from a server whose ciphers leave a connection its own thread, it should send what keeps it open."""
    ours, theirs = socket.socketpair()
    ours.settimeout(0.005)
    sent = []

    def keep() -> None:
        sent.append("keepalive")
        if len(sent) == 2:
            theirs.sendall(b"word")

    late = threading.Timer(30, theirs.sendall, [b"late"])
    late.start()
    with ours, theirs:
        packetizer = packets.Packets(ours)
        packetizer.set_outbound_cipher(object(), 16, None, 0, b"")  # Only a cipher's connection is kept so.
        packetizer.set_keepalive(0.001, keep)
        assert packetizer.read_all(4) == b"word"
        late.cancel()


@pytest.mark.sshd
def test_huge_answers_wait_on_disk(sshd: Sshd, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should keep an answer beyond the limit on disk and return it whole."""
    monkeypatch.setattr(capture_module, "SPILL", 100_000)
    transport = transport_to(sshd.ssh_config(), sshd.user)
    reply = transport.run([read(CELLS[0], "seq 1 200000; seq 1 50000 >&2")]).replies[CELLS[0]]
    assert reply.stdout == "".join(f"{n}\n" for n in range(1, 200_001))
    assert reply.stderr == "".join(f"{n}\n" for n in range(1, 50_001))


def test_store_in_memory_and_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """It should return the same text whether or not it went to disk, at any moment."""
    monkeypatch.setattr(capture_module, "SPILL", 10)
    store = capture_module.Store()
    seen = ""
    assert store.text == ""
    for piece in ("abc", "wörter", "x" * 30, "", "end"):
        store.add(piece.encode())
        seen += piece
        assert store.text == seen and len(store) == len(seen.encode())
    assert store.hand_over() == seen
    assert store.text == "" and not len(store)


def test_store_hands_over_without_copies() -> None:
    """It should need no more memory than the text of a large answer and a piece that is not on disk yet."""
    store, piece = capture_module.Store(), b"x" * 300_001
    tracemalloc.start()
    try:
        while len(store) < 10_000_000:
            store.add(piece)
        text = store.hand_over()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(text) >= 10_000_000
    assert peak < len(text) + 3 * capture_module.SPILL


def test_store_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should keep in memory what finds no room on disk, in its place behind what did."""

    class Small(io.FileIO):
        def write(self, data: object) -> int:
            if self.tell() >= 20:
                raise OSError(28, "No space left on device")
            return super().write(bytes(data)[:20])  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(capture_module, "SPILL", 10)
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Small(tmp_path / "spilled", "w+"))
    store = capture_module.Store()
    for piece in ("abcdefgh", "ijklmnopqrstuvwö", "xyz" * 20, "end"):
        store.add(piece.encode())
    assert store.text == "abcdefghijklmnopqrstuvwö" + "xyz" * 20 + "end"
    assert store.hand_over().endswith("end")


def test_readers_hold_a_descriptor_only_while_they_run() -> None:
    """A reader that nobody has used yet, or that was stopped, holds no descriptor: sessions make many that read nothing."""
    before = len(os.listdir("/proc/self/fd"))
    readers = [Reader() for _ in range(20)]
    assert len(os.listdir("/proc/self/fd")) < before + 20
    for reader in readers:
        reader.call(lambda: None)
        reader.stop()
    assert len(os.listdir("/proc/self/fd")) < before + 20


def test_reader_calls_in_order_from_anywhere() -> None:
    """It should do what many threads ask for, each thread's in its order, none lost, and stop when told."""
    reader = Reader()
    done: list[tuple[int, int]] = []

    def ask(thread: int) -> None:
        for number in range(500):
            reader.call(lambda number=number: done.append((thread, number)))  # type: ignore[misc]

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    finished = threading.Event()
    reader.call(finished.set)
    assert finished.wait(300)
    assert [[number for thread, number in done if thread == n] for n in range(4)] == [list(range(500))] * 4
    reader.stop()
    again = threading.Event()
    reader.call(again.set)
    assert again.wait(300)
    reader.stop()


def test_reader_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It should do things later in the order of their time, and not what was taken back."""
    reader = Reader()
    done: list[str] = []
    finished = threading.Event()

    def arrange() -> None:
        now = time.monotonic()
        with monkeypatch.context() as patch:  # All from one moment on, however long this takes.
            patch.setattr(reader_module, "time", SimpleNamespace(monotonic=lambda: now))
            reader.later(0.03, finished.set)
            reader.later(0.02, lambda: done.append("second"))
            reader.later(0.015, lambda: done.append("never")).cancel()
            reader.later(0.01, lambda: done.append("first"))

    reader.call(arrange)
    assert finished.wait(300)
    reader.stop()
    assert done == ["first", "second"]


def test_timers_that_were_taken_back_do_not_add_up() -> None:
    """It should forget calls that were taken back long before their time, and still make all the others."""
    reader = Reader()
    done: list[int] = []
    finished = threading.Event()

    def arrange() -> None:
        for number in range(2000):
            reader.later(300.0, finished.set).cancel()
            if number % 500 == 0:
                reader.later(0.0001 * number, lambda number=number: done.append(number))  # type: ignore[misc]
        reader.later(0.1501, finished.set)

    reader.call(arrange)
    assert finished.wait(300)
    assert len(reader._timers) < 600
    reader.stop()
    assert done == [0, 500, 1000, 1500]


def test_damaged_packets_end_the_connection(faulty: FaultyServer, transport_to: MakeTransport) -> None:
    """It should lose a connection whose packets were changed on their way, and open a new one for the next read."""
    transport = transport_to(faulty.ssh_config(), "u")
    assert transport.run([read("a", "echo x")]).ok
    (connection,) = connections(transport)
    assert isinstance(connection, wire.Wire)
    connection.reader.call(lambda: connection._packets._buffer.extend(b"\x00\x00\x00\x1c" + b"garbage." * 8))
    assert transport.run([read("a", "echo y")]).replies["a"].stdout == "y\n"
    assert not connection.is_active() and len(faulty.connections) == 2


def opener_with(config: Path, reader: Reader) -> opener.Opener:
    return opener.Opener(ssh_config=config, reader=reader, default_timeout=5.0)


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    yield made
    made.stop()


def test_broken_off_while_handed_over(faulty: FaultyServer, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should leave the socket of a login that is broken off to the reader, and go on reading all others."""
    aborts: list[Callable[[], None]] = []
    handed_over: list[wire.Wire] = []
    attach = Reader.attach

    def broken_off(self: Reader, watched: wire.Wire) -> None:
        aborts[-1]()
        handed_over.append(watched)
        attach(self, watched)

    connections = opener_with(faulty.ssh_config(), reader)
    other = connections.open("b", "u", lambda late, seconds, abort: None)
    monkeypatch.setattr(Reader, "attach", broken_off)
    # Whoever waits for the login may learn of its end first.
    with contextlib.suppress(TransportError):
        connections.open("a", "u", lambda late, seconds, abort: aborts.append(abort))
    assert until(lambda: bool(handed_over) and handed_over[0].sock.fileno() < 0)
    reached = threading.Event()
    reader.call(reached.set)
    assert reached.wait(300) and other.alive


def test_closed_while_handed_over(faulty: FaultyServer, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should never have a connection read that is closed between its login and its first reading."""
    closed: list[wire.Wire] = []

    class Closing(list[wire.Wire]):
        def remove(self, ended: wire.Wire) -> None:
            # Threads of earlier tests' connections, which are in the list that this one stands for, end at any time.
            if ended in self:
                super().remove(ended)
                ended.close()
                closed.append(ended)

    connections = opener_with(faulty.ssh_config(), reader)
    other = connections.open("b", "u", lambda late, seconds, abort: None)
    monkeypatch.setattr(wire._module, "_active_threads", Closing())
    with contextlib.suppress(TransportError):
        connections.open("a", "u", lambda late, seconds, abort: None)
    assert until(lambda: bool(closed) and not closed[0].is_alive())
    assert closed[0].sock.fileno() < 0 and not closed[0].attached
    assert other.alive
