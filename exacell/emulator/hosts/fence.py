"""The fences of a rack's hosts, from the rack's process: opened for the first shell, closed with the rack.

A fence keeps a host's processes apart from this machine; :mod:`exacell.emulator.hosts.fence_launcher` builds it and describes
what is behind it. If the system allows no namespaces, there is no fence and no shell.
"""

from __future__ import annotations

import asyncio
import json
import marshal
import os
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.hosts import fence_launcher
from exacell.emulator.hosts.fence_launcher import LONGEST, OWN, receive

BIN = "/run/exacell/bin"
"""Directory in which shells find the emulated programs."""
SSH = "/run/exacell/ssh"
"""Directory with the files that a database node's ssh needs for the rack's other hosts."""
_PYTHON = "/run/exacell/python"
_FULL_S = 0.002
"""Seconds to wait for a host that takes messages more slowly than they are sent."""
_OPEN_S = 60.0
_UPDATE_S = 1.0
"""Seconds between two updates of the host's machine in /proc."""


def python_inside() -> tuple[str, Mapping[str, str]]:
    """Return the command by which shells call this interpreter behind a fence, and the directories to show there.

    The directories are this machine's paths by their place behind the fence.
    """
    program, prefix = os.path.realpath(sys.executable), os.path.realpath(sys.base_prefix)
    if prefix == "/usr" or prefix.startswith("/usr/"):
        return program, {}
    inside = _PYTHON + program.removeprefix(prefix)
    shared = f"/usr/bin/env LD_LIBRARY_PATH={_PYTHON}/lib " if sysconfig.get_config_var("Py_ENABLE_SHARED") else ""
    return shared + inside, {_PYTHON: prefix}


class FencedShell:
    """A process behind a fence."""

    def __init__(self, fence: Fence, number: int) -> None:
        self._fence, self._number = fence, number
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def returncode(self) -> int | None:
        """Return the exit status; negative for the signal that ended it, None while it runs."""
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        """Wait until it has ended and return the exit status."""
        return await asyncio.shield(self._ended)

    async def signal(self, number: signal.Signals) -> None:
        """Send a signal to its process group."""
        await self._fence.send((self._number, int(number)))

    def end(self, status: int) -> None:
        """Set the exit status."""
        if not self._ended.done():
            self._ended.set_result(status)


class Fence:
    """One host's fence, open.

    Args:
        link: the socket to its first process.
        on_port: called with a port of the rack and a connection to it.
        moving: returns the texts in /proc about the host's machine that change with time, by path.
    """

    def __init__(
        self,
        link: socket.socket,
        on_port: Callable[[int, socket.socket], None],
        moving: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._link, self._on_port, self._moving = link, on_port, moving
        self._told: dict[str, str] = {}
        self._telling: asyncio.Task[None] | None = None
        self._started: dict[int, asyncio.Future[int]] = {}
        self._shells: dict[int, FencedShell] = {}
        self._killing: set[asyncio.Task[None]] = set()
        self._number = 0
        self._ready: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        self.closed = False
        link.setblocking(False)
        asyncio.get_running_loop().add_reader(link.fileno(), self._hear)

    async def ready(self) -> socket.socket:
        """Wait until the fence is built; return the socket at which programs behind it connect.

        Raises:
            EmulatorError: this system allows no fence.
        """
        return await asyncio.wait_for(asyncio.shield(self._ready), _OPEN_S)

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environment: Mapping[str, str],
        streams: Sequence[int] | None,
        size: tuple[int, int] = (0, 0),
    ) -> tuple[FencedShell, int]:
        """Start a process behind the fence.

        Args:
            streams: its three standard streams; None for a terminal of its own.
            size: the terminal's rows and columns.

        Returns:
            The process, and the descriptor of the terminal's other end, which the caller must close; -1 without a terminal.

        Raises:
            OSError: it can't be started.
        """
        if self.closed:
            raise ConnectionResetError("the host is down")
        await self._tell()
        self._number += 1
        number, loop = self._number, asyncio.get_running_loop()
        shell = self._shells[number] = FencedShell(self, number)
        started = self._started[number] = loop.create_future()
        try:
            request = (number, list(argv), cwd, dict(environment), size if streams is None else None)
            try:
                await self.send(request, tuple(streams or ()))
                if self._telling is None or self._telling.done():
                    self._telling = asyncio.ensure_future(self._keep_telling())
            except BaseException:
                del self._started[number], self._shells[number]  # the terminal was not asked for
                raise
            return shell, await started
        except BaseException:
            if started.done() and not started.cancelled() and started.exception() is None and started.result() >= 0:
                os.close(started.result())
            started.cancel()
            raise

    async def _tell(self) -> None:
        """Update the texts about the host's machine that shells see."""
        fresh = {path: text for path, text in self._moving().items() if self._told.get(path) != text}
        if fresh:
            await self.send((0, fresh))
            self._told |= fresh

    async def _keep_telling(self) -> None:
        """Update these texts for as long as there are shells."""
        while self._shells and not self.closed:
            await asyncio.sleep(_UPDATE_S)
            await self._tell()

    async def send(self, message: tuple[Any, ...], descriptors: Sequence[int] = ()) -> None:
        """Send a message to the host's first process.

        Raises:
            OSError: the message is longer than the system allows.
        """
        data = marshal.dumps(message)
        while not self.closed:
            try:
                socket.send_fds(self._link, [data], list(descriptors))
            except BlockingIOError:
                await asyncio.sleep(_FULL_S)
            except (BrokenPipeError, ConnectionResetError):
                self.close()
            else:
                return

    def close(self) -> None:
        """End all processes behind the fence."""
        if self.closed:
            return
        self.closed = True
        asyncio.get_running_loop().remove_reader(self._link.fileno())
        self._link.close()
        if not self._ready.done():
            self._ready.set_exception(
                EmulatorError(
                    "the host's first process ended", hint="start the rack again: emulator stop, then emulator start"
                )
            )
            self._ready.exception()
        for started in self._started.values():
            if not started.done():
                started.set_exception(ConnectionResetError("the host went down"))
        for shell in self._shells.values():
            shell.end(-signal.SIGKILL)
        if self._telling is not None:
            self._telling.cancel()

    def _hear(self) -> None:
        """Read and handle the messages of the host's first process."""
        try:
            data, descriptors = receive(self._link)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        if not data:
            self.close()
            return
        kind, _, text = data.decode("utf-8", "replace").partition(" ")
        descriptor = descriptors[0] if descriptors else -1
        if kind == "R" and not self._ready.done():
            self._ready.set_result(socket.socket(fileno=descriptor))
        elif kind == "E" and not self._ready.done():
            self._ready.set_exception(EmulatorError(text))
            self._ready.exception()  # waiting callers get the error; nobody has to wait
        elif kind == "C":
            self._on_port(int(text), socket.socket(fileno=descriptor))
        elif kind == "X":
            number, _, status = text.partition(" ")
            self._shells.pop(int(number)).end(int(status))
        else:
            self._answer(kind, text, descriptor)

    def _answer(self, kind: str, text: str, descriptor: int) -> None:
        """Report to the waiting caller whether its process was started."""
        number, _, reason = text.partition(" ")
        started = self._started.pop(int(number))
        if kind == "F":
            self._shells.pop(int(number)).end(127)
            if not started.done():
                started.set_exception(OSError(reason))
        elif started.done():  # nobody waits for it any more
            killing = asyncio.ensure_future(self.send((int(number), int(signal.SIGKILL))))
            self._killing.add(killing)
            killing.add_done_callback(self._killing.discard)
            if descriptor >= 0:
                os.close(descriptor)
        else:
            started.set_result(descriptor)


class Fences:
    """The fences of a rack's hosts.

    Args:
        scratch: a directory of the rack's own for putting root directories together.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._launcher: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._open: set[Fence] = set()

    async def open(
        self,
        name: str,
        tree: Path,
        layer: Path,
        *,
        shown: Mapping[str, str],
        ports: Sequence[int],
        on_port: Callable[[int, socket.socket], None],
        machine: Path | None = None,
        moving: Callable[[], Mapping[str, str]] = dict,
    ) -> tuple[Fence, socket.socket]:
        """Put a fence around a host and return it with the socket at which its programs arrive.

        Args:
            tree: holds the host's own directories.
            layer: the directories that it has over this machine's /usr.
            shown: directories of this machine by their path on the host, read-only.
            ports: the ports of the rack's hosts, the same behind the fence as outside.
            machine: a JSON file with the texts of /proc and /sys about the host's machine, by path.
            moving: returns those of the texts that change with time.

        Raises:
            EmulatorError: the system allows no fence.
        """
        if self._link is None:
            self._launch()
        assert self._link is not None
        host = {
            "name": name,
            "tree": str(tree),
            "layer": str(layer),
            "view": str(self._scratch / "view"),
            "shown": dict(shown),
            "ports": list(ports),
            "machine": str(machine or ""),
        }
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
        with theirs:
            fence = Fence(ours, on_port, moving)
            try:
                socket.send_fds(self._link, [json.dumps(host).encode()], [theirs.fileno()])
            except OSError as error:
                fence.close()
                raise EmulatorError(
                    f"no process for the hosts' fences: {error}",
                    hint="ulimit -u tells how many processes you may have; end some",
                ) from error
        try:
            programs = await fence.ready()
        except BaseException:
            fence.close()
            raise
        self._open.add(fence)
        return fence, programs

    async def refusal(self) -> str:
        """Return why this system allows no fences; empty if it allows them."""
        tree, layer = self._scratch / "probe", self._scratch / "layer" / "usr"
        for directory in (layer, *(tree / name for name in OWN)):
            directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        try:
            fence, programs = await self.open("probe", tree, layer, shown={}, ports=(), on_port=lambda *_: None)
        except (EmulatorError, TimeoutError, OSError) as error:
            return str(error) or "the system does not answer"
        programs.close()
        fence.close()
        self._open.discard(fence)
        return ""

    def close(self) -> None:
        """End all processes behind the fences, and the process that opens them."""
        for fence in self._open:
            fence.close()
        if self._link is not None and self._launcher is not None:
            self._link.close()
            self._launcher.wait()
            self._link = self._launcher = None

    def _launch(self) -> None:
        (self._scratch / "view").mkdir(mode=0o700, parents=True, exist_ok=True)
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            program = [sys.executable, "-I", "-S", os.path.abspath(fence_launcher.__file__), str(theirs.fileno())]
            self._launcher = subprocess.Popen(
                program, env={}, cwd="/", pass_fds=[theirs.fileno()], start_new_session=True, stdin=subprocess.DEVNULL
            )
