"""The shells of a rack's hosts: opens a fence around each host that needs one, and serves the connections from behind it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.store import RackFiles, write_json
from exacell.emulator.hosts.fence import BIN, SSH, Fence, Fences, python_inside
from exacell.emulator.hosts.kinds import DBNODE
from exacell.emulator.hosts.shell import Host
from exacell.emulator.rack.world import World
from exacell.emulator.server.service import ControlService


class HostShells:
    """Opens fences when shells are needed.

    Args:
        service: answers programs behind the fences.
        ports: the ports on which the rack's hosts listen; database nodes can reach them.
        world: the rack, for the hosts' machines.
    """

    def __init__(self, files: RackFiles, service: ControlService, ports: Mapping[str, int], world: World) -> None:
        self._files, self._service, self._world = files, service, world
        self._names = {port: name for name, port in ports.items()}
        self._fences = Fences(files.fence)
        self._opening: dict[str, asyncio.Lock] = {}
        self._open: dict[str, tuple[Fence, asyncio.AbstractServer]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._python, self._shown = python_inside()
        self.on_connection: Callable[[str, socket.socket], Coroutine[Any, Any, None]] | None = None
        self.refusal = ""

    async def probe(self) -> None:
        """Find out whether this system allows fences; if not, set ``refusal`` to the reason."""
        self.refusal = await self._fences.refusal()

    async def fence(self, host: Host) -> Fence:
        """Return the fence around a host; the first call opens it.

        Raises:
            EmulatorError: this system allows no fence.
        """
        async with self._opening.setdefault(host.name, asyncio.Lock()):
            known = self._open.get(host.name)
            if known is not None and not known[0].closed:
                return known[0]
            if self.refusal:
                raise EmulatorError(self.refusal)
            self.close_host(host.name)
            node = host.kind is DBNODE
            fence, programs = await self._fences.open(
                host.name,
                self._files.tree(host.name),
                self._files.layer(host.kind.name),
                shown={
                    **self._shown,
                    BIN: str(self._files.bin(host.kind.name)),
                    **({SSH: str(self._files.nodes)} if node else {}),
                },
                ports=tuple(self._names) if node else (),
                on_port=self._arrived,
                machine=self._machine(host.name),
                moving=partial(self._world.moving_files, host.name),
            )
            server = await self._service.listen_on(programs, host)
            self._open[host.name] = fence, server
            return fence

    def _machine(self, name: str) -> Path:
        """Write the texts about a host's machine into a file for the process that opens its fence; return the file's path."""
        path = self._files.host_dir(name) / "machine.json"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_json(path, dict(self._world.machine_files(name)))
        return path

    def close_host(self, name: str) -> None:
        """End all processes on a host."""
        known = self._open.pop(name, None)
        if known is not None:
            known[0].close()
            known[1].close()

    def close(self) -> None:
        """End all processes on all hosts."""
        for name in list(self._open):
            self.close_host(name)
        for task in self._tasks:
            task.cancel()
        self._fences.close()

    def _arrived(self, port: int, connection: socket.socket) -> None:
        """Serve a connection from a program behind a fence to one of the rack's hosts."""
        name = self._names.get(port)
        if name is None or self.on_connection is None:
            connection.close()
            return
        task = asyncio.ensure_future(self.on_connection(name, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
