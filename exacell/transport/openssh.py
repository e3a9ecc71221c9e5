"""Use the system's ssh as a transport: one kept connection per host and login (ControlMaster), one ssh process per command.

It can do what paramiko can't: host keys signed by an authority, cells that know only SHA-1, smart cards, a site's own ssh.
Files go over SFTP, its packets through ``ssh -s``; by scp's old protocol if a host has no SFTP.
The user's ssh_config applies; BatchMode and strict host keys are always on. A command is sent at most once, except that a
read whose kept connection turns out to be dead before any byte came back is sent again on a new one.

Source: OpenSSH ssh(1) -S, -O, -M, -f and ssh_config(5) ControlMaster, ControlPath, ControlPersist; exit status 255 is
ssh's own.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from exacell.core.belonging import Identity
from exacell.core.config import RackConfig, Settings
from exacell.core.errors import ConfigError, TransportError
from exacell.core.values import dataclass, field, replace
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State, Upload
from exacell.transport.capabilities import OPENSSH
from exacell.transport.capture import End
from exacell.transport.exchange import ProcessPipe, over_process, wait_until_ours
from exacell.transport.fanout import FanOut, Flight
from exacell.transport.local import LocalRunner
from exacell.transport.local_process import Ended, LocalProcess
from exacell.transport.rack_transport import Login, LoginRefusedError, RackTransport, login_of
from exacell.transport.replies import OWN_STATUS, PROBLEMS, REFUSED, reply_of_program, watch

_PERSIST_S = 600
"""Seconds for which an idle connection outlives exacell if nobody closes it, as after a crash."""
_SOCKET_PATH = 107
"""The longest path of a socket, in bytes. Source: unix(7), sun_path."""
_SOCKET_NAME = 24
"""The longest name of a socket, in bytes: a slash, a number, and a dot with 16 letters while ssh creates it."""
_PHASES = 3
"""The time for a login in connect timeouts: connection, key exchange, authentication."""
_LOST = PROBLEMS[End.LOST]
_ALWAYS = ("BatchMode=yes", "StrictHostKeyChecking=yes", "ControlMaster=no", "EscapeChar=none", "LogLevel=ERROR")


@dataclass
class _Master:
    """One kept connection; its lock is held while it is being opened."""

    path: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    up: bool = False


class OpensshTransport(RackTransport):
    """Reaches one rack's cells and database nodes through the ssh program; see :class:`exacell.transport.base.Transport`.

    Args:
        program: the ssh program; None for the one in PATH.

    Attributes:
        settings: timeouts and fan-out, unless the rack sets them.
        read_only: see Transport.

    Raises:
        ConfigError: there is no ssh program.
    """

    capabilities = OPENSSH

    def __init__(
        self,
        rack: RackConfig,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        program: str | None = None,
        local: LocalRunner | None = None,
    ) -> None:
        found = program or shutil.which("ssh")
        if found is None:
            raise ConfigError("the transport openssh needs the program ssh, which PATH does not have")
        super().__init__(rack, settings, read_only=read_only)
        self._program = found
        self._scp = shutil.which("scp", path=os.path.dirname(found)) or shutil.which("scp") or "scp"
        self._local = local or LocalRunner(rack)
        self._masters: dict[tuple[str, str | None], _Master] = {}
        self._folder: Path | None = None

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests and return one reply for each target; see Transport."""
        self._check(requests)
        requests = self._gated(requests)
        run = FanOut(requests, self._perform, limit=self.limit, on_reply=on_reply, cancel=cancel)
        return self._carried_out(run)

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        """Return the host keys that known_hosts has for ``target``: ssh accepts no other."""
        from exacell.transport.ssh import SshTransport  # Imported late, because it loads paramiko.

        return SshTransport(self.rack, self.settings).shows(target, addresses=addresses)

    def close(self) -> None:
        """Close all connections and remove their sockets; the next ``run`` opens new ones."""
        self.forget_fallback()
        with self._lock:
            masters, self._masters = self._masters, {}
            folder, self._folder = self._folder, None
        for (target, _), master in masters.items():
            if master.up:
                self._control(master, target, "exit")
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _perform(self, flight: Flight) -> Reply:
        request = flight.request
        seconds = self.seconds(request)
        if self._local.takes(request):
            return self._local.run(flight, seconds)
        try:
            login = login_of(self.rack, request)
            for may_retry in (True, False):
                (master, kept, user), command = self._connected(flight, login)
                if request.pair is not None:
                    return self._send_paired(flight, master, user, login)
                why = wait_until_ours(request)
                if why:
                    return flight.reply(State.NOT_ATTEMPTED, why)
                ended = (
                    self._send(flight, master, user, command, seconds)
                    if request.upload is None
                    else self._copy(flight, master, user, request.upload, seconds)
                )
                if ended.status == OWN_STATUS and not self._alive(master, request.target):
                    master.up = False
                    if kept and may_retry and not request.role.changes and not ended.stdout:
                        continue
                    return flight.reply(State.FAILED, _LOST, stdout=ended.stdout, stderr=ended.stderr)
                return self._reply(flight, ended)
        except (TransportError, ConfigError) as error:
            return flight.reply(State.UNREACHABLE, error.message)
        raise AssertionError("the second attempt always ends in a reply")

    def _send_paired(self, flight: Flight, master: _Master, user: str | None, login: Login) -> Reply:
        """Start a new program for a read and the statement after it, and return the reply."""
        request = flight.request
        pair = request.pair
        assert pair is not None
        program = login.command(pair.program)
        argv = self._over(master, user, request.target, program)

        def reply(ended: Ended) -> Reply:
            if ended.status == OWN_STATUS and not self._alive(master, request.target):
                master.up = False
                return flight.reply(State.FAILED, _LOST, stdout=ended.stdout, stderr=ended.stderr)
            return self._reply(flight, ended)

        return over_process(flight, LocalProcess(argv, on_output=request.on_output), pair, self.seconds(request), reply)

    def _over(self, master: _Master, user: str | None, target: str, command: str, *kind: str) -> list[str]:
        """Return the command line that runs ``command`` there; with ``kind`` ``-s``, the subsystem of that name."""
        return [self._program, "-S", master.path, *self._options(), *_user(user), *kind, "--", target, command]

    def _send(self, flight: Flight, master: _Master, user: str | None, command: str, seconds: float) -> Ended:
        request = flight.request
        child = LocalProcess(
            self._over(master, user, request.target, command), stdin=request.stdin, on_output=request.on_output,
            limit=self.settings.max_answer, in_pieces=request.in_pieces, locale=request.locale,
        )  # fmt: skip
        watch(flight, child, seconds)
        return child.run()

    def _copy(self, flight: Flight, master: _Master, user: str | None, upload: Upload, seconds: float) -> Ended:
        """Send files over SFTP, or by scp if the host has no SFTP."""
        from exacell.transport.ssh.sftp import write_through  # It loads paramiko, which nothing else here needs.

        target, written = flight.request.target, None
        child = LocalProcess(self._over(master, user, target, "sftp", "-s"))

        def talk(process: subprocess.Popen[bytes]) -> None:
            nonlocal written
            pipe = ProcessPipe(process, child.capture.take_error)
            try:
                written = write_through(pipe, upload, child.capture)
            finally:
                pipe.close()
            if written is None:
                child.kill()

        watch(flight, child, seconds)
        ended = child.run(talk)
        if written is not None:
            return replace(ended, status=ended.status or written)
        if flight.abandoned or not self._alive(master, target):
            return replace(ended, status=OWN_STATUS)
        if upload.untold is not None:
            upload.untold()
        return self._copy_by_scp(flight, master, user, upload, seconds)

    def _copy_by_scp(self, flight: Flight, master: _Master, user: str | None, upload: Upload, seconds: float) -> Ended:
        """Send files by scp's old protocol, in which a shell on the host reads the destination."""
        options = [*self._in_old_manner, *(["-p"] if upload.keep else []), *(["-r"] if upload.recursive else [])]
        target = flight.request.target
        place = f"{user}@{target}" if user else target
        sources = [str(path.absolute()) for path in upload.sources]
        control = ["-o", f"ControlPath={master.path}", *self._options()]
        child = LocalProcess([self._scp, *options, *control, "--", *sources, f"{place}:{shlex.quote(upload.place)}"])
        watch(flight, child, seconds)
        return child.run()

    @functools.cached_property
    def _in_old_manner(self) -> list[str]:
        """Return the option for scp's old protocol; empty if scp has no other. Source: scp(1) -O, from OpenSSH 8.7 on."""
        said = subprocess.run([self._scp, "-O"], capture_output=True, text=True, check=False).stderr
        return [] if "option -- O" in said else ["-O"]

    def _reply(self, flight: Flight, ended: Ended) -> Reply:
        return reply_of_program(flight, ended, self.settings.max_answer, program="ssh was ")

    def _connected(self, flight: Flight, login: Login) -> tuple[tuple[_Master, bool, str | None], str]:
        """Return an open connection, whether it was open already, its user, and the command to send."""
        request = flight.request

        def log_in(user: str | None) -> tuple[_Master, bool, str | None]:
            return (*self._master(flight, request.target, user), user)

        return self.logged_in(request, login, log_in)

    def _master(self, flight: Flight, target: str, user: str | None) -> tuple[_Master, bool]:
        """Return the kept connection of this login, opened if necessary, and whether it was open already."""
        with self._lock:
            if self._folder is None:
                self._folder = _folder()
            place = str(self._folder / f"{len(self._masters)}")
            master = self._masters.setdefault((target, user), _Master(place))
        limit = self.connect_timeout
        waiting = "another statement is still connecting to it"
        flight.stage(
            _PHASES * limit * 2, abort=_nothing, late=lambda: flight.reply(State.UNREACHABLE, waiting)
        )  # fmt: skip
        with master.lock:
            if master.up and (not flight.request.role.changes or self._alive(master, target)):
                return master, True
            self._open(flight, master, target, user, limit)
            return master, False

    def _open(self, flight: Flight, master: _Master, target: str, user: str | None, limit: float) -> None:
        argv = [
            self._program, "-M", "-S", master.path, "-N", "-f",
            "-o", f"ControlPersist={_PERSIST_S}", "-o", f"ConnectTimeout={max(1, round(limit))}",
            *self._options(master=True), *_user(user), "--", target,
        ]  # fmt: skip
        Path(master.path).unlink(missing_ok=True)
        # ssh closes its streams when it goes into the background only from OpenSSH 8.5 on: reading a file never blocks.
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
            late = f"no login within {_PHASES * limit:g}s"
            flight.stage(
                _PHASES * limit,
                abort=functools.partial(_kill, process),
                late=lambda: flight.reply(State.UNREACHABLE, late),
            )
            status = process.wait()
            said.seek(0)
            text = said.read().decode("utf-8", "backslashreplace")
        if status:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            problem = "; ".join(lines[-2:]) or f"ssh ended with status {status}"
            kind = LoginRefusedError if REFUSED in text else TransportError
            raise kind(f"ssh: {problem}")
        master.up = True

    def _options(self, *, master: bool = False) -> list[str]:
        options = [word for option in _ALWAYS if not (master and "ControlMaster" in option) for word in ("-o", option)]
        return [*(["-F", str(self.rack.ssh_config)] if self.rack.ssh_config else []), *options]

    def _alive(self, master: _Master, target: str) -> bool:
        return self._control(master, target, "check")

    def _control(self, master: _Master, target: str, word: str) -> bool:
        config = ["-F", str(self.rack.ssh_config)] if self.rack.ssh_config else []
        argv = [self._program, *config, "-S", master.path, "-O", word, "--", target]
        try:
            done = subprocess.run(argv, capture_output=True, timeout=self.connect_timeout, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def _folder() -> Path:
    """Return a new folder for sockets, which only this user may enter: in TMPDIR, or in /tmp if that path is too long."""
    folder = Path(tempfile.mkdtemp(prefix="exacell-ssh-"))
    if len(os.fsencode(folder)) + _SOCKET_NAME <= _SOCKET_PATH:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="exacell-ssh-", dir="/tmp"))


def _user(user: str | None) -> list[str]:
    return ["-l", user] if user else []


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()


def _nothing() -> None:
    """Do nothing: this stage can't be interrupted."""
