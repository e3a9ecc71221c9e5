"""The process behind one emulated rack: ``python -m exacell.emulator.server.daemon <directory> <options as JSON>``.

Started by :func:`exacell.emulator.control.start`. It serves until it is asked to stop, gets SIGTERM, or its directory is
removed. It writes control.json when all its services answer, and failure.json with the reason if it refuses to start.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from exacell.core.errors import EmulatorError, ExacellError, RackFormatError
from exacell.emulator.basics.beneath import HostFiles
from exacell.emulator.basics.names import node_address
from exacell.emulator.basics.store import Json, RackFiles, hold_running_lock, read_json, write_json, write_text
from exacell.emulator.hosts.fronts import DOWN
from exacell.emulator.hosts.identity import bind_all, bind_port_22, client_keys, write_client_files
from exacell.emulator.hosts.kinds import KINDS
from exacell.emulator.hosts.making import HostMaking
from exacell.emulator.hosts.shell import Host, write_path, write_programs
from exacell.emulator.hosts.tools import uname_script
from exacell.emulator.rack.timekeeper import TimeKeeper
from exacell.emulator.rack.world import World
from exacell.emulator.server.host_shells import HostShells
from exacell.emulator.server.programs import Programs
from exacell.emulator.server.service import ControlService, Operation
from exacell.emulator.server.sessions import Sessions
from exacell.emulator.server.ssh import RackServers
from exacell.emulator.state.fault_book import Kind

LOG = logging.getLogger("exacell.emulator")

_FEW_HOSTS = 4
"""Up to this many hosts, changes are found by comparing the stored state host by host."""
_SHORT_S = 0.01
"""Seconds between two checks whether a due load has been applied."""
_WATCH_S = 1.0
"""Seconds between two checks whether the rack's directory still exists."""


class Daemon:
    """One running rack: its world, its SSH servers, its control service and its files.

    Args:
        given: the options that the rack was made with, as the user wrote them.
    """

    def __init__(self, files: RackFiles, world: World, given: Mapping[str, object]) -> None:
        self._files = files
        self._given = given
        self._world = world
        self._stop = asyncio.Event()
        self._faults_changed = asyncio.Event()
        self._offer_keys: Callable[[], None] = lambda: None
        self._token = secrets.token_hex(16)
        self._time = TimeKeeper(world, float(str(world.describe()["speed"])), files.write_state)

    async def serve(self) -> None:
        """Open all services, write control.json, and serve until stopped."""
        making = HostMaking(self._files, self._world)
        hosts = making.hosts()
        programs = Programs(self._world, self.save, self._time.catch_up)
        public_keys = client_keys(self._files)
        self._world.give_files(partial(_files_of, hosts, public_keys))
        sockets = bind_all(self._files, hosts)
        ports = {host: bound.getsockname()[1] for host, bound in sockets.items()}
        more: Mapping[str, socket.socket] = {}
        if self._files.port22.exists():
            more = bind_port_22(self._files, tuple(hosts))
        else:
            self._files.addresses.unlink(missing_ok=True)
        sessions = Sessions()
        faults = self._world.faults
        service = ControlService(self._token, self._operations(), hosts, programs, sessions)
        shells = HostShells(self._files, service, ports, self._world)
        servers = RackServers(
            self._files, hosts, programs, public_keys, faults=faults, sessions=sessions, shells=shells
        )
        model = str(self._world.describe().get("model", ""))
        for kind in KINDS:
            write_programs(self._files, kind, more=making.scripts(kind, hosts))
            making.write_layer(kind)
        write_path(self._files, hosts, model=model, more={"uname": uname_script(making.kernel)})
        await shells.probe()
        faults.on_change = self._faults_changed.set
        faults.on_power = partial(self._power, servers, shells)
        self._tell(shells)
        await servers.listen(sockets, self._addresses(), more)
        kinds = {name: host.kind for name, host in hosts.items()}
        write_client_files(self._files, kinds, ports, self._addresses())
        self._announce(await service.listen())
        self._offer_keys = servers.offer_keys
        players = [asyncio.ensure_future(playing) for playing in (self._play_faults(), self._time.run())]
        for player in players:
            player.add_done_callback(self._player_ended)
        try:
            await self._until_stopped()
        finally:
            for player in players:
                player.cancel()
            await servers.close()
            shells.close()
            await service.close()
            # Rack time that has not been emulated by now is skipped, so that stopping a rack takes no time.
            self._world.hold_back()
            if self._files.root.is_dir():
                self._files.write_state(self._world.to_state())
                self._files.control.unlink(missing_ok=True)

    def _player_ended(self, player: asyncio.Task[None]) -> None:
        """Stop the rack if the task that lets its time pass has failed: it would seem to run although its time stands still."""
        if not player.cancelled() and (error := player.exception()) is not None:
            LOG.error("the rack's time stands still", exc_info=error)
            self._stop.set()

    def _power(self, servers: RackServers, shells: HostShells, host: str, up: bool) -> None:
        """End all processes on a host that goes down, and write down which hosts are down."""
        if not up:
            shells.close_host(host)
            servers.drop(host)
        asyncio.get_running_loop().call_soon(self._tell, shells)

    def _tell(self, shells: HostShells) -> None:
        """Write the facts for ``status`` and ping: whether the rack has shells, and which hosts are down."""
        faults = self._world.faults
        down = [host for host in (*self._world.cells, *self._world.dbnodes) if faults.holds(host, Kind.POWER_OFF)]
        write_json(self._files.status, {"no_shells": shells.refusal, "down": down})
        for programs in (*(kind.name for kind in KINDS), "path"):
            write_text(self._files.bin(programs) / DOWN, "".join(f"{host}\n" for host in down))

    def stop(self) -> None:
        """Make :meth:`serve` end."""
        self._stop.set()

    def save(self, host: str) -> None:
        """Store the changes that a statement made on ``host``."""
        self._files.write_state(self._world.changed_parts(host))

    def _save_all(self, hosts: set[str]) -> None:
        """Store the changes on some hosts; for many hosts it is cheaper to write all state than to compare."""
        if len(hosts) > _FEW_HOSTS:
            self._files.write_state(self._world.to_state())
        else:
            for host in hosts:
                self.save(host)

    def _addresses(self) -> dict[str, str]:
        """Return the addresses on the storage network by host."""
        nodes = {name: node_address(number) for number, name in enumerate(self._world.dbnodes, start=1)}
        return {**{name: self._world.address(name) for name in self._world.cells}, **nodes}

    def _announce(self, port: int) -> None:
        self._files.write_state(self._world.to_state())
        write_json(self._files.rack, {**self._world.describe(), "given": dict(self._given)})
        started = datetime.now().astimezone().isoformat(timespec="seconds")
        write_json(self._files.control, {"port": port, "token": self._token, "pid": os.getpid(), "started": started})

    async def _until_stopped(self) -> None:
        identity = self._files.root.stat()
        while not self._stop.is_set():
            try:
                await asyncio.wait_for(self._stop.wait(), _WATCH_S)
            except TimeoutError:
                try:
                    now = self._files.root.stat()
                except FileNotFoundError:
                    return
                if (now.st_dev, now.st_ino) != (identity.st_dev, identity.st_ino):
                    return

    def _operations(self) -> Mapping[str, Operation]:
        return {
            "ping": self._ping,
            "stop": self._stop_request,
            "load": self._load,
            "commits": self._commits,
            "truth": self._truth,
            "fault": self._fault,
            "faults": self._faults,
            "clear-faults": self._clear_faults,
        }

    async def _play_faults(self) -> None:
        """Begin and end injected faults when they are due, even if nobody reads the rack's state."""
        faults = self._world.faults
        while True:
            self._faults_changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._faults_changed.wait(), faults.next_change())
                continue
            hosts = {fault.host for fault in faults}
            await self._time.catch_up()
            self._offer_keys()
            self._save_all(hosts)

    async def _fault(self, request: Json) -> Json:
        options, hosts = request.get("options"), request.get("hosts")
        assert isinstance(options, dict) and isinstance(hosts, list)
        self._world.inject([str(host) for host in hosts], str(request["kind"]), options)
        return self._faults_answer(set(hosts))

    async def _faults(self, request: Json) -> Json:
        return self._faults_answer(set())

    async def _clear_faults(self, request: Json) -> Json:
        hosts, kind = request.get("hosts"), request.get("kind")
        before = {fault.host for fault in self._world.faults}
        wanted = [str(host) for host in hosts] if isinstance(hosts, list) else None
        count = self._world.clear_faults(wanted, None if kind is None else str(kind))
        return {**self._faults_answer(before), "cleared": count}

    def _faults_answer(self, changed: set[str]) -> Json:
        """Apply a change of the faults of some hosts at once, and return the rack's faults."""
        self._offer_keys()
        self._faults_changed.set()
        self._save_all(changed)
        return {"faults": self._world.faults.rows()}

    async def _ping(self, request: Json) -> Json:
        return {"name": self._files.name, "pid": os.getpid()}

    async def _stop_request(self, request: Json) -> Json:
        # The answer leaves before the service is closed: set() only wakes the main task.
        self._stop.set()
        return {}

    async def _commits(self, request: Json) -> Json:
        db, sessions, commits = str(request.get("db") or ""), _whole(request, "sessions"), _whole(request, "commits")
        started = time.monotonic()
        for _turn in self._world.commit_load(db=db, sessions=sessions, commits=commits):
            await asyncio.sleep(0)
        while self._world.uncounted():
            await asyncio.sleep(_SHORT_S)
            await self._time.catch_up()
        self._files.write_state(self._world.to_state())
        return {"sessions": sessions, "commits": commits, "wall_seconds": round(time.monotonic() - started, 3)}

    async def _truth(self, request: Json) -> Json:
        known = request.get("known")
        told = self._world.truth(db=str(request.get("db") or ""), known=known if isinstance(known, dict) else None)
        self._files.write_state(self._world.to_state())
        return dict(told)

    async def _load(self, request: Json) -> Json:
        db, profile = str(request.get("db") or ""), str(request.get("profile") or "redo")
        redo = None if request.get("redo") is None else _number(request, "redo")
        seconds = _number(request, "seconds")
        started = time.monotonic()
        load = self._world.start_load(db=db, redo=redo, seconds=seconds, profile=profile)
        self._files.write_state(self._world.to_state())
        while (left := self._world.load_left(load.number)) is not None:
            await asyncio.sleep(max(_SHORT_S, left))
            await self._time.catch_up()
        self._files.write_state(self._world.to_state())
        took = round(time.monotonic() - started, 3)
        return {"db": load.db, "profile": load.profile, "redo": load.redo, "seconds": seconds, "wall_seconds": took}


def _whole(request: Json, key: str) -> int:
    return int(_number(request, key))


def _files_of(hosts: Mapping[str, Host], public_keys: str, host: str) -> HostFiles:
    """Return the files of a host; they are made first if nobody has logged in there yet."""
    hosts[host].prepare(public_keys)
    return HostFiles(hosts[host].files.tree(host), "/")


def _number(request: Json, key: str) -> float:
    value = request.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise EmulatorError(f"{key} must be a number, not '{value}'", hint="use digits, and a point before decimals")


def open_world(files: RackFiles, options: Mapping[str, object]) -> World:
    """Return the rack as it was when it stopped, or a new one made with ``options``.

    Raises:
        ExacellError: no rack can have these options, or the stored state is damaged.
    """
    from exacell.emulator.metrics.metric_store import MetricStore
    from exacell.emulator.server.rack_world import RackWorld

    history = MetricStore(str(files.history))
    if files.exists:
        return RackWorld.from_state(files.read_state(), history=history)
    return RackWorld.create(files.name, options, history=history)


def _use_cheap_child_watcher() -> None:
    """Make asyncio use pidfds for children: before Python 3.12 it starts a thread for each child otherwise."""
    if sys.version_info < (3, 12) and hasattr(os, "pidfd_open"):
        asyncio.set_child_watcher(asyncio.PidfdChildWatcher())


def _leave_signals_to_shells() -> None:
    """Ignore SIGHUP and SIGQUIT here with a handler, so that shells on the rack's hosts do not inherit them as ignored."""
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)


async def _run(files: RackFiles, options: Mapping[str, object]) -> None:
    made_with = read_json(files.rack) or {"given": options}
    given = made_with["given"]
    assert isinstance(given, dict)
    daemon = Daemon(files, open_world(files, options), given)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, daemon.stop)
    await daemon.serve()


def main() -> int:
    """Serve the rack in the directory that the first argument names; return the process's exit status."""
    files = RackFiles(Path(sys.argv[1]))
    options: Mapping[str, object] = json.loads(sys.argv[2])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    os.umask(0o022)
    os.chdir("/")
    lock = hold_running_lock(files)
    if lock is None:
        return _refuse(
            files,
            EmulatorError(
                f"rack {files.name} is served by another process already", hint=f"`emulator stop {files.name}` stops it"
            ),
        )
    if os.fork():
        # The caller must not wait for the rack, and the rack must not become its zombie. The child keeps the lock.
        os._exit(0)
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode("ascii"), 0)
    _use_cheap_child_watcher()
    _leave_signals_to_shells()
    try:
        asyncio.run(_run(files, options))
    except ExacellError as error:
        return _refuse(files, error)
    return 0


def _refuse(files: RackFiles, error: ExacellError) -> int:
    outdated = isinstance(error, RackFormatError)
    write_json(files.failure, {"error": error.message, "hint": error.hint, "outdated": outdated})
    return int(error.exit_code)


if __name__ == "__main__":
    sys.exit(main())
