"""Send requests on open connections: as streams of the shared reader, as questions to a kept CellCLI, or by a worker.

Imports fabric and paramiko: :mod:`exacell.transport.ssh` imports this with the first connection.
"""

from __future__ import annotations

import functools
import time
from dataclasses import replace

from exacell.core.errors import ConfigError, TransportError
from exacell.transport.base import Reply, Request, Role, State
from exacell.transport.capture import SPILL, Capture, End, Ending, Store
from exacell.transport.exchange import wait_until_ours
from exacell.transport.fanout import Flight
from exacell.transport.rack_transport import Login, RackTransport, login_of, read_only_cellcli
from exacell.transport.replies import PROBLEMS, problem_of_ending
from exacell.transport.ssh.connection import Connection, execute, hang_up, send_files
from exacell.transport.ssh.exchanges import (
    StreamPair,
    kept_answer,
    late_reply,
    may_stay_open,
    over_channel,
    reply_of,
    timed_out,
)
from exacell.transport.ssh.kept_cellcli import Question, Session
from exacell.transport.ssh.kept_connections import KeptConnections
from exacell.transport.ssh.reader import Reader
from exacell.transport.ssh.stream import Stream


class Sender:
    """Sends one transport's requests. Thread-safe.

    Attributes:
        connections: the transport's kept connections.
    """

    def __init__(self, transport: RackTransport, reader: Reader) -> None:
        self._transport = transport
        self.connections = self._connections = KeptConnections(transport, reader)

    def start(self, flight: Flight) -> bool:
        """Send a request on its kept connection and return True; return False if it would have to be opened first."""
        request, transport = flight.request, self._transport
        try:
            login = self._login(request)
        except ConfigError:
            return False
        fallen = transport.falls_back(request) and request.target in transport.read_fallback
        user = transport.rack.write_user if fallen else login.user
        connection = self._connections.ready(request.target, user)
        if connection is None:
            return False
        command = read_only_cellcli(request.command) if user != login.user else login.command(request.command)
        self._ask(flight, connection, command, kept=True)
        return True

    def perform(self, flight: Flight, *, alone: bool = False) -> Reply | None:
        """Connect and send one request; runs in a worker. Returns None if the answer comes without the worker.

        Args:
            alone: whether kept CellCLIs are not used.
        """
        request = flight.request
        if not self._transport.connects:
            return flight.reply(State.UNREACHABLE, "no connection is open")
        try:
            connection, kept, command = self._connections.connect(flight, self._login(request))
            if connection.wire is not None and request.upload is None:
                send = self._send if alone and request.pair is None else self._ask
                send(flight, connection, command, kept=kept)
                return None
            return self._run_in_worker(flight, connection, command, kept=kept)
        except (TransportError, ConfigError) as error:
            return flight.reply(State.UNREACHABLE, error.message)

    def _ask(self, flight: Flight, connection: Connection, command: str, *, kept: bool) -> None:
        """Let a long-lived CellCLI answer if the request allows it and one is worthwhile; else send the command."""
        request, wire, sessions = flight.request, connection.wire, connection.sessions
        assert wire is not None and sessions is not None
        feed = request.feed
        if request.pair is not None:
            self._send_paired(flight, connection, kept=kept)
            return
        if request.role is not Role.READ or request.login is not None or feed is None or not self._transport.long_lived:
            self._send(flight, connection, command, kept=kept)
            return
        connection.reads += 1
        if sessions.problem or (connection.reads == 1 and not self._transport.expects_more):
            self._send(flight, connection, command, kept=kept)
            return
        seconds = self._transport.seconds(request)
        ends, limit = time.monotonic() + seconds, self._transport.settings.max_answer
        asked: list[Session] = []

        def late() -> Reply:
            partial = asked[0].partial_of(question) if asked else b""
            return timed_out(flight, connection, seconds, partial.decode("utf-8", "backslashreplace"))

        def stop() -> None:
            for session in asked:
                wire.reader.call(functools.partial(session.drop, question), of=wire)

        def answered(answer: bytes | Store) -> None:
            if request.on_output is not None:
                _hear(flight, answer if isinstance(answer, bytes) else answer.text.encode())
            flight.finish(lambda: kept_answer(flight, connection, answer))

        def broken_off(end: End) -> None:
            flight.finish(flight.reply(State.FAILED, problem_of_ending(Ending(end=end), limit)))

        def lost(reason: str) -> None:
            # The deadline stays: a silent cell is reported when its time is over, for any statement.
            if not flight.abandoned:
                self._send(flight, connection, command, kept=kept, ends=ends)

        question = Question(
            statements=feed.statements, on_answer=answered, on_lost=lost, limit=limit, on_limit=broken_off
        )

        def ask() -> None:
            session = sessions.ask(feed, question)
            if session is None:
                self._send(flight, connection, command, kept=kept)
            else:
                asked.append(session)

        flight.stage(seconds, abort=stop, late=late)
        wire.reader.call(ask, of=wire)

    def _send(
        self, flight: Flight, connection: Connection, command: str, *, kept: bool, ends: float | None = None
    ) -> None:
        """Send ``command`` as a stream of the connection's wire; the reader's thread handles it up to its reply.

        Args:
            ends: a :func:`time.monotonic` moment by which the answer must be there; None: its time begins when it
                is sent.
        """
        request, wire = flight.request, connection.wire
        assert wire is not None
        hear = None if request.on_output is None else functools.partial(_hear, flight)
        capture = Capture(hear, limit=self._transport.settings.max_answer)
        seconds = self._transport.seconds(request)

        def may_be_sent() -> None:
            # If the flight was answered meanwhile with "nothing was sent", this cancels it.
            flight.stage(seconds if ends is None else ends - time.monotonic(), abort=stream.cancel, late=late)

        def late() -> Reply:
            if stream.exit_status is not None and may_stay_open(request):
                return reply_of(flight, connection, Ending(end=End.STATUS, exit_status=stream.exit_status), capture)
            large = request.in_pieces and len(capture.output) > SPILL
            return timed_out(flight, connection, seconds, "" if large else capture.stdout, capture.stderr)

        def ended(ending: Ending) -> None:
            if stream.refused:
                flight.finish(flight.reply(State.NOT_ATTEMPTED, stream.refused))
            elif ending.end is End.LOST and kept and (not stream.sent or (capture.empty and not request.role.changes)):
                # The connection was dead already. A command that was not sent may be sent again, and so may a read.
                flight.go_on(functools.partial(self.perform, alone=True))
            elif ending.end is End.NO_CHANNEL:
                problem = PROBLEMS[ending.end].format(refusal=stream.refusal)
                flight.finish(flight.reply(State.UNREACHABLE, problem))
            elif ending.end is End.LOST and not stream.sent:
                flight.finish(flight.reply(State.UNREACHABLE, f"the connection was lost ({connection.last_words})"))
            else:
                flight.finish(lambda: reply_of(flight, connection, ending, capture))

        stream = Stream(
            wire, command, capture, stdin=(request.stdin or "").encode("utf-8", "surrogateescape"), on_end=ended
        )
        capture.on_limit = stream.break_off
        stream.on_channel = may_be_sent
        stream.ours = request.ours
        stream.env = connection.locale if request.locale else ()
        stream.start(self._connections.await_channel(flight, stream.cancel), connection.close)

    def _send_paired(self, flight: Flight, connection: Connection, *, kept: bool) -> None:
        """Start a new program for a read and the statement after it; the reader's thread handles both."""
        pair, wire = flight.request.pair, connection.wire
        assert pair is not None and wire is not None

        def again() -> bool:
            if kept:
                flight.go_on(functools.partial(self.perform, alone=True))
            return kept

        driver = StreamPair(flight, connection, self._transport.seconds(flight.request), again=again)
        program = self._login(flight.request).command(pair.program)
        stream = driver.stream = Stream(wire, program, driver, stdin=None, on_end=driver.ended)
        stream.on_open = driver.opened
        stream.on_channel = lambda: flight.stage(pair.within, abort=stream.cancel, late=driver.late)
        stream.start(self._connections.await_channel(flight, stream.cancel), connection.close)

    def _run_in_worker(self, flight: Flight, connection: Connection, command: str, *, kept: bool) -> Reply:
        """Run a request on a connection with its own thread, or an upload on any connection."""
        request, seconds = flight.request, self._transport.seconds(flight.request)
        try:
            channel = self._connections.open_channel(flight, connection)
        except TransportError:
            # Nothing was sent, so even a change may use a new connection.
            if not kept or connection.alive:
                raise
            return self._again(flight)
        if request.pair is not None:
            pair = replace(request.pair, program=self._login(request).command(request.pair.program))
            return over_channel(flight, connection, channel, pair, seconds, functools.partial(hang_up, channel))
        why = wait_until_ours(request)
        if why:
            hang_up(channel)
            return flight.reply(State.NOT_ATTEMPTED, why)
        capture = Capture(request.on_output, limit=self._transport.settings.max_answer)
        late = late_reply(flight, connection, channel, capture, seconds)
        flight.stage(seconds, abort=functools.partial(hang_up, channel), late=late)
        if request.upload is not None:
            ending = send_files(channel, request.upload, capture)
        else:
            ending = execute(channel, command, request.stdin, capture, connection.locale if request.locale else ())
        if ending.end is End.LOST and kept and capture.empty and not request.role.changes:
            return self._again(flight)
        return reply_of(flight, connection, ending, capture)

    def _again(self, flight: Flight) -> Reply:
        """Run a request again, on a new connection."""
        connection, _, command = self._connections.connect(flight, self._login(flight.request))
        return self._run_in_worker(flight, connection, command, kept=False)

    def _login(self, request: Request) -> Login:
        return login_of(self._transport.rack, request)


def _hear(flight: Flight, piece: bytes) -> None:
    """Pass output to the request's ``on_output``; an error in it ends the flight, not the connection."""
    try:
        if flight.request.on_output is not None:
            flight.request.on_output(piece)
    except BaseException as error:  # Passed to the caller of run(), who raises it.
        flight.finish(error)
