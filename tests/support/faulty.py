"""An SSH server (asyncssh, independent of the client's library) that misbehaves on demand, command by command."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh


class _Connection(asyncssh.SSHServer):
    def __init__(self, owner: FaultyServer) -> None:
        self._owner = owner
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, connection: asyncssh.SSHServerConnection) -> None:
        self._owner.connections.append(connection)
        self._connection = connection

    async def begin_auth(self, username: str) -> bool:
        self._owner.logins.append(username)
        await asyncio.sleep(self._owner.login_delay)
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username not in self._owner.refuse_users and key == self._owner.login_key.convert_to_public()

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        self._owner.tunnels.append((dest_host, dest_port))
        return True


class FaultyServer:
    """Commands it understands: ``echo TEXT``, ``drop`` (half an answer, then the connection dies), ``vanish`` (dies
    before any byte), ``garble`` (a request that is no text), ``hang``, ``exit N``, ``signal``, ``cat``, ``meet N``
    (ends when N commands have run at the same time), ``open`` (ends, keeps its output open).

    Attributes:
        commands: what was asked to run, in order.
        most: the largest number of commands that ran at the same time.
        ran: (command, line): how often it was started.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = 0
        self.commands: list[str] = []
        self.logins: list[str] = []
        self.tunnels: list[tuple[str, int]] = []
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.refuse_users: set[str] = set()
        self.refuse_commands = False
        self.login_delay = 0.0
        self.vanish_next = False
        self.running = 0
        self.most = 0
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.login_key = asyncssh.generate_private_key("ssh-ed25519")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncssh.SSHAcceptor | None = None
        (directory / "login").write_bytes(self.login_key.export_private_key())

    def start(self) -> None:
        self._thread.start()
        self._call(self._listen())

    def stop(self) -> None:
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def kill_connections(self) -> None:
        """Cut every connection without a word."""

        async def cut() -> None:
            for connection in self.connections:
                connection.abort()
            self.connections.clear()

        self._call(cut())

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Do nothing meanwhile, as a host whose processes hang while its kernel lives."""
        thaw = threading.Event()
        self._loop.call_soon_threadsafe(thaw.wait, 60)
        try:
            yield
        finally:
            thaw.set()

    def ssh_config(self, *lines: str) -> Path:
        public = self.host_key.export_public_key().decode().split()
        known = self.directory / "known_hosts"
        known.write_text(f"[127.0.0.1]:{self.port} {public[0]} {public[1]}\n")
        path = self.directory / "ssh_config"
        common = (
            "Host *",
            "HostName 127.0.0.1",
            f"Port {self.port}",
            f"IdentityFile {self.directory / 'login'}",
            "IdentitiesOnly yes",
            f"UserKnownHostsFile {known}",
            "GlobalKnownHostsFile none",
        )
        path.write_text("".join(f"{line}\n" for line in (*lines, *common)))
        return path

    def _call(self, coroutine: object) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    async def _listen(self) -> None:
        self._server = await asyncssh.create_server(
            lambda: _Connection(self),
            "127.0.0.1",
            self.port,
            server_host_keys=[self.host_key],
            process_factory=self._process,
            encoding=None,
        )
        self.port = self._server.get_port()

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self.connections:
            connection.abort()
        # No bytes come once they are closed, and what the last ones began has begun a turn of the loop later: of a task that is
        # cancelled before it begins, what it was to wait for is never waited for.
        await asyncio.gather(*(connection.wait_closed() for connection in self.connections))
        await asyncio.sleep(0)
        # What still answers, logs in or waits for a channel ends with its connection, and is waited for.
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _process(self, process: asyncssh.SSHServerProcess) -> None:
        command = process.command or ""
        self.commands.append(command)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self._answer(process, command)
        except BrokenPipeError:
            process.close()  # The client closed the channel before we could say anything.
        finally:
            self.running -= 1

    async def _answer(self, process: asyncssh.SSHServerProcess, command: str) -> None:
        word, _, rest = command.partition(" ")
        connection = process.channel.get_connection()
        if self.vanish_next or word == "vanish":
            self.vanish_next = False
            connection.abort()
        elif word == "drop":
            process.stdout.write(b"half an ans")
            await process.stdout.drain()
            await asyncio.sleep(0.05)
            connection.abort()
        elif word == "hang":
            process.stdout.write(b"so far\n")
            await process.channel.wait_closed()
        elif word == "meet":
            while self.most < int(rest):
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.05)
            process.exit(0)
        elif word == "garble":
            process.channel._send_request(b"\xff\xfe")
            await process.channel.wait_closed()
        elif word == "signal":
            process.exit_with_signal("KILL", False, "")
        elif word == "cat":
            data = await process.stdin.read()
            process.stdout.write(data)
            process.exit(0)
        elif word == "exit":
            process.exit(int(rest))
        else:
            process.stdout.write(f"{rest}\n".encode())
            process.exit(0)
