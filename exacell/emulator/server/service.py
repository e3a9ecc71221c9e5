"""The control service of a running rack: answers requests of the command layer and of programs on the hosts' PATH."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from exacell.core.errors import EmulatorError, ExacellError
from exacell.emulator.basics.beneath import OwnFiles
from exacell.emulator.basics.store import Json
from exacell.emulator.hosts.identity import LOOPBACK
from exacell.emulator.hosts.shell import Host
from exacell.emulator.server import wire
from exacell.emulator.server.driver import ConsoleLost, LineBuffer
from exacell.emulator.server.programs import Programs
from exacell.emulator.server.sessions import VARIABLE, Sessions

LOG = logging.getLogger("exacell.emulator")

Operation = Callable[[Json], Awaitable[Json]]

_FIRST_FRAME_S = 30.0
"""Seconds that a connection may take to send its first frame; then it is closed."""


class FrameConsole:
    """A shim's connection, used as a program's console.

    Args:
        cut_session: breaks the SSH connection of the shim's session; returns False if there is none.
    """

    def __init__(self, reader: StreamReader, writer: StreamWriter, *, cut_session: Callable[[], bool]) -> None:
        self._cut_session = cut_session
        self._reader = reader
        self._writer = writer
        self._lines = LineBuffer()
        self._input: asyncio.Queue[bytes] = asyncio.Queue()

    async def write(self, text: str, *, err: bool) -> None:
        """Send text, waiting while the shim doesn't read."""
        await self._send(wire.ERRORS if err else wire.OUTPUT, text.encode("utf-8", "surrogateescape"))

    async def read_line(self, prompt: str) -> str | None:
        """Let the shim show the prompt and read; input beyond one line is kept for the next call."""
        shown = prompt
        while True:
            complete, line = self._lines.next()
            if complete:
                if shown and shown is prompt:
                    await self.write(prompt, err=False)
                return line
            await self._send(wire.WANT, shown.encode("utf-8", "surrogateescape"))
            shown = ""
            self._lines.feed(await self._input.get())

    async def cut(self) -> None:
        """Break the SSH connection behind the shim, or else the shim's own."""
        if not self._cut_session():
            self._writer.close()

    async def exit(self, status: int) -> None:
        """Send the exit status, the last frame."""
        await self._send(wire.EXIT, str(status).encode("ascii"))

    async def receive(self) -> None:
        """Receive the shim's frames until it is gone."""
        while True:
            try:
                kind, payload = await read_frame(self._reader)
            except (asyncio.IncompleteReadError, ConnectionError, ValueError):
                return
            if kind == wire.INPUT:
                self._input.put_nowait(payload)

    async def _send(self, kind: bytes, payload: bytes) -> None:
        try:
            self._writer.write(wire.frame(kind, payload))
            await self._writer.drain()
        except ConnectionError as error:
            raise ConsoleLost(str(error)) from error


async def read_frame(reader: StreamReader) -> tuple[bytes, bytes]:
    """Return the kind and payload of the next frame.

    Raises:
        asyncio.IncompleteReadError: the connection ended first.
        ValueError: the frame is longer than both sides allow.
    """
    kind, length = wire.parse_header(await reader.readexactly(wire.HEADER))
    return kind, await reader.readexactly(length)


class ControlService:
    """Answers requests with the right token on a loopback port.

    Args:
        operations: the function for each ``op``; it takes the request and returns the result.
    """

    def __init__(
        self,
        token: str,
        operations: Mapping[str, Operation],
        hosts: Mapping[str, Host],
        programs: Programs,
        sessions: Sessions,
    ) -> None:
        self._sessions = sessions
        self._token = token
        self._operations = operations
        self._hosts = hosts
        self._programs = programs
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def listen(self) -> int:
        """Start to listen and return the port."""
        self._server = await asyncio.start_server(self._accept, LOOPBACK, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def listen_on(self, programs: socket.socket, host: Host) -> asyncio.AbstractServer:
        """Answer programs from behind a host's fence: they act on that host and may only run programs."""
        return await asyncio.start_unix_server(partial(self._accept, host=host), sock=programs)

    async def close(self) -> None:
        """Stop listening and end all running programs."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _accept(self, reader: StreamReader, writer: StreamWriter, *, host: Host | None = None) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer, host)
        except asyncio.CancelledError:
            LOG.debug("a control connection ended with the rack")
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError, ValueError) as error:
            LOG.debug("a control connection ended early: %s", error)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter, host: Host | None) -> None:
        kind, payload = await asyncio.wait_for(read_frame(reader), _FIRST_FRAME_S)
        if kind == wire.REQUEST and host is None:
            answer = await self._answer(json.loads(payload))
            writer.write(wire.frame(wire.ANSWER, json.dumps(answer).encode("utf-8")))
            await writer.drain()
        elif kind == wire.RUN:
            await self._run(payload.decode("utf-8", "surrogateescape").split("\0"), reader, writer, host)

    async def _answer(self, request: Json) -> Json:
        if not hmac.compare_digest(str(request.get("token")), self._token):
            return {"error": "the token is not this rack's", "hint": ""}
        try:
            operation = self._operations.get(str(request.get("op")))
            if operation is None:
                raise EmulatorError(
                    f"the running emulator knows no operation {request.get('op')}", hint="stop and start it"
                )
            return {"ok": await operation(request)}
        except ExacellError as error:
            return {"error": error.message, "hint": error.hint}
        except Exception:  # an error in one request must not end the rack
            LOG.exception("%s failed", request.get("op"))
            return {"error": "the emulator failed here; its log tells why", "hint": ""}

    async def _run(self, fields: list[str], reader: StreamReader, writer: StreamWriter, inside: Host | None) -> None:
        """Run a program for a process behind a host's fence, or for a process of this machine that knows the token."""
        token, host_name, user, terminal, cwd, program, count, *rest = fields
        if inside is None and not hmac.compare_digest(token, self._token):
            return
        arguments, environment = rest[: int(count)], rest[int(count) :]
        env = dict(entry.split("=", 1) for entry in environment if "=" in entry)
        console = FrameConsole(reader, writer, cut_session=partial(self._sessions.cut, env.get(VARIABLE, "")))
        host = inside or self._hosts.get(host_name)
        login = host.login(user) if host else None
        if login is None or program not in (*login.host.kind.programs, *login.host.kind.inner):
            await console.write(
                f"{program}: {user or 'nobody'}@{host_name or 'nowhere'} has no such program\n", err=True
            )
            await console.exit(127)
            return
        work = asyncio.ensure_future(
            self._programs.run(
                program,
                login,
                arguments,
                console,
                env=env,
                files=OwnFiles(cwd) if inside is None else replace(login.files(), cwd=cwd),
                tty=terminal == "1",
            )
        )
        gone = asyncio.ensure_future(console.receive())
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                with suppress(ConsoleLost):
                    await console.exit(work.result())
        finally:
            gone.cancel()
            work.cancel()
            with suppress(asyncio.CancelledError, ConsoleLost):
                await work
