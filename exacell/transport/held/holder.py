"""The process that holds one rack's connections for the reads of later command lines.

Run as ``python -m exacell.transport.held.holder ERRAND`` by :mod:`exacell.transport.held.starting`, with its lock taken. It
logs in as reads do, and sends only what :mod:`~exacell.transport.held.judging` allows. Nobody waits for a connection here: a
cell without a connection is reported at once, and the holder connects to it meanwhile. The holder ends after its idle time,
when it is asked to, and when something that it was started with changes: configuration, ssh_config, known_hosts, exacell
itself, the folder of its home.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from exacell.cellcli.secrets import masked
from exacell.core.cellset import fold
from exacell.core.collecting import exclude_loaded
from exacell.core.config import Config, RackConfig, load
from exacell.core.errors import ExacellError
from exacell.core.paths import Home
from exacell.transport.base import FleetResult, Reply, Role, State
from exacell.transport.capture import Spooled
from exacell.transport.held.frames import (
    INLINE,
    LARGEST,
    Batch,
    FrameError,
    Seen,
    decode,
    encode,
    heard_batches,
    requests_of,
    told_reply,
)
from exacell.transport.held.judging import refusal
from exacell.transport.held.place import BEAT, PACKAGE, Watched, hold_of, listen, open_folder, peer
from exacell.transport.ssh import SshTransport

LOOK_S = 1.0
"""Seconds between two looks at whether it is to end."""
FIRST_S = 2.0
"""Seconds in which a program that connects has to say what it wants."""
SEND_S = 10.0
"""Seconds in which a program has to take what it is sent."""
LAST_S = 60.0
"""Seconds that reads under way are given when a holder ends."""
AT_ONCE = 512
"""Cells that are asked at a time by all programs together: more would only take the interpreter from each other."""
TURN_S = 1.0
"""Seconds without a read that ends, after which whoever waits for a turn goes on: the others may wait for cells that hang."""
SWITCH_S = 0.0005
"""Seconds that a thread has the interpreter while others want it: the pulse must not wait for fifty of them."""
_BEAT = encode({"beat": 1})
MOST_LOG = 1 << 20
"""Bytes of a log; then a new log begins, and the old one is kept."""


class Unheard(Exception):
    """Nobody waits for a read any more."""


class _Kept(SshTransport):
    """Connections that are opened separately, never by a read."""

    connects = False
    idle_s = 7 * 86400.0
    turn_s = 1.0
    again_s = 600.0
    acknowledged_ms = 300
    expects_more = True


class Asking:
    """One connected program that asks."""

    def __init__(self, line: socket.socket, pid: int) -> None:
        self.line, self.pid = line, pid
        self.cancel = threading.Event()
        self.gone = False
        self.under_way = False
        self._sending = threading.Lock()
        self._poll = select.poll()

    def say(self, frame: Mapping[str, Any], descriptors: Iterable[int] = ()) -> None:
        """Send a frame.

        Raises:
            Unheard: nobody takes it.
            FrameError: it is too large.
        """
        data = encode(frame)
        try:
            with self._sending:
                if given := list(descriptors):
                    socket.send_fds(self.line, [data], given)
                else:
                    self.line.send(data)
        except OSError as error:
            self.gone = True
            raise Unheard from error

    def beat(self) -> None:
        """Send a sign of life, and check whether the program still waits; never waits itself."""
        if not self._sending.acquire(blocking=False):
            return
        try:
            # A socket with a timeout waits in spite of MSG_DONTWAIT.
            self._poll.register(self.line, select.POLLIN | select.POLLOUT)
            ready = sum(events for _, events in self._poll.poll(0))
            if ready & select.POLLOUT:  # Else it has enough to read.
                self.line.send(_BEAT)
            if ready & ~select.POLLOUT:
                data = self.line.recv(LARGEST)
                self.gone = not data
                if data and decode(data).get("what") == "stop":
                    self.cancel.set()
        except (OSError, ValueError, FrameError):
            self.gone = True
        finally:
            self._sending.release()


class Holder:
    """Serves one rack until it is to end.

    Args:
        config: the configuration at the time when ``watched`` began.
        seconds: after how many idle seconds it ends.
    """

    def __init__(self, home: Home, rack: RackConfig, config: Config, seconds: float, watched: Watched) -> None:
        self._hold = hold_of(home, rack, config.settings, seconds)
        self._rack, self._seconds, self._watched = rack, seconds, watched
        self._transport = _Kept(rack, config.settings, read_only=True)
        self._folder = open_folder(self._hold.folder)
        self._lock = threading.Lock()
        self._askings: set[Asking] = set()
        self._connecting: set[str] = set()
        self._asked = 0
        """Cells that are asked now."""
        self._turn = threading.Condition(self._lock)
        self._keys: dict[tuple[str, int], tuple[str, ...]] = {}
        self._since = self._used = time.monotonic()
        self._reads = 0
        self._why = ""
        """Why it is to end; empty as long as it is not."""

    def serve(self, cells: Iterable[str]) -> None:
        """Listen until there is a reason to end, then close everything.

        Args:
            cells: the cells to connect to at once.
        """
        listener = listen(self._hold, self._folder)
        self._log(f"begins, ends after {self._seconds:g} idle seconds")
        self._connect(cells)
        threading.Thread(target=self._pulse, name="exacell pulse", daemon=True).start()
        try:
            listener.settimeout(LOOK_S)
            while not self._ended():
                try:
                    line, _ = listener.accept()
                except TimeoutError:
                    continue
                except OSError:
                    time.sleep(BEAT)  # No descriptor is free: whoever waits asks elsewhere.
                    continue
                threading.Thread(target=self._serve, args=(line,), name="exacell ask", daemon=True).start()
        finally:
            with suppress(OSError):
                os.unlink(self._hold.socket.name, dir_fd=self._folder)
            listener.close()
            self._last_reads()
            self._log(f"ends: {self._why or 'told to'}")
            self._transport.close()

    def end(self, why: str) -> None:
        """Let the holder end."""
        self._why = self._why or why

    # -- when it ends ----------------------------------------------------------------------------------------------

    def _ended(self) -> bool:
        if not self._why:
            self._why = self._outdated() or self._idle()
        return self._why != ""

    def _outdated(self) -> str:
        """Return what has changed since the holder was started, so that it must end; empty if nothing has."""
        try:
            if os.stat(self._hold.folder).st_ino != os.fstat(self._folder).st_ino:
                return f"{self._hold.folder} is another folder"
        except OSError:
            return f"{self._hold.folder} is gone"
        changed = self._watched.changed()
        return f"{changed} has changed" if changed is not None else ""

    def _idle(self) -> str:
        with self._lock:
            busy = any(asking.under_way for asking in self._askings)
            return "idle" if not busy and time.monotonic() - self._used > self._seconds else ""

    def _last_reads(self) -> None:
        """Wait for the reads that still run."""
        until = time.monotonic() + LAST_S
        while time.monotonic() < until:
            with self._lock:
                if not any(asking.under_way for asking in self._askings):
                    return
            time.sleep(BEAT / 10)

    # -- whoever asks ----------------------------------------------------------------------------------------------

    def _pulse(self) -> None:
        """Send a sign of life for all running reads, and break off those that nobody waits for."""
        while True:
            time.sleep(BEAT)
            with self._lock:
                askings = [asking for asking in self._askings if asking.under_way]
            for asking in askings:
                asking.beat()
                if asking.gone:
                    self._transport.break_off(asking.cancel, Unheard())

    def _serve(self, line: socket.socket) -> None:
        with line:
            try:
                asking = Asking(line, peer(line))
                line.settimeout(FIRST_S)
                frame = decode(line.recv(LARGEST))
                line.settimeout(SEND_S)
            except (OSError, FrameError) as error:
                self._log(f"takes no notice of a program: {error}")
                return
            with self._lock:
                self._askings.add(asking)
            try:
                self._answer(asking, frame)
            except Unheard:
                self._log(f"pid {asking.pid} has gone")
            except FrameError as error:
                self._log(f"pid {asking.pid}: {error}")
                with suppress(Unheard):
                    asking.say({"no": str(error)})
            except Exception:
                self._log(f"pid {asking.pid}: {traceback.format_exc()}")
                with suppress(Unheard):
                    asking.say({"no": "the holder made a mistake"})
            finally:
                with self._lock:
                    self._askings.discard(asking)

    def _answer(self, asking: Asking, frame: Mapping[str, Any]) -> None:
        match frame.get("what"):
            case "status":
                asking.say({"status": self._status()})
            case "end":
                self.end(f"told to by pid {asking.pid}")
                asking.say({"ending": os.getpid()})
            case "ask":
                self._ask(asking, frame)
            case _:
                raise FrameError("a program asks for nothing that is known")

    def _ask(self, asking: Asking, frame: Mapping[str, Any]) -> None:
        batches = heard_batches(frame.get("batches"))
        why = "its configuration is another" if frame.get("identity") != self._hold.identity else ""
        why = why or self._outdated() or refusal(batches, self._rack.cells)
        if why:
            raise FrameError(why)
        asking.under_way = True
        asking.say({"ack": os.getpid()})
        with self._lock:
            self._reads += 1
        cells = sum(len(batch.cells) for batch in batches)
        began = time.monotonic()
        self._await_turn(cells)
        try:
            result = self._transport.run(
                requests_of(batches), on_reply=partial(self._hand_on, asking), cancel=asking.cancel
            )
            asking.say({"over": len(result.targets)})
        finally:
            asking.under_way = False
            with self._turn:
                self._used = time.monotonic()
                self._asked -= cells
                self._turn.notify_all()
        self._log(f"pid {asking.pid} asked {_asked(batches)}: {_ends(result)}, {(self._used - began) * 1000:.0f} ms")

    def _await_turn(self, cells: int) -> None:
        """Wait until few enough cells are being asked, then count these cells too."""
        with self._turn:
            while self._asked and self._asked + cells > AT_ONCE:
                if not self._turn.wait(TURN_S):
                    break
            self._asked += cells

    def _hand_on(self, asking: Asking, reply: Reply) -> None:
        """Send a reply; a long text as a file that both sides have open."""
        if asking.gone:
            raise Unheard
        if reply.state is State.UNREACHABLE:
            self._connect([reply.target])
        seen = self._seen(reply)
        if isinstance(reply.large, Spooled):
            asking.say({"reply": told_reply(reply, seen, carried="large")}, [reply.large.descriptor])
        elif len(reply.stdout) > INLINE:
            self._hand_text(asking, reply, seen)
        else:
            asking.say({"reply": told_reply(reply, seen)})

    def _hand_text(self, asking: Asking, reply: Reply, seen: Seen) -> None:
        try:
            file = open(os.memfd_create("exacell answer"), "wb")  # noqa: SIM115 - closed below
        except OSError:
            return  # No descriptor is free: whoever misses a reply asks the cell.
        with file:
            file.write(reply.stdout.encode("utf-8", "surrogatepass"))
            file.flush()
            asking.say({"reply": told_reply(reply, seen, carried="text")}, [file.fileno()])

    def _seen(self, reply: Reply) -> Seen:
        target, transport = reply.target, self._transport
        lives = transport.lives(target)
        keys = self._keys.get((target, lives))
        if keys is None and lives:
            keys = self._keys[target, lives] = tuple(sorted(transport.shows(target).keys))
        return Seen(
            host_key=transport.host_keys.get(target, ""),
            keys=keys or (),
            lives=lives,
            single=transport.single_reads.get(target, ""),
            fallback=target in transport.read_fallback,
        )

    def _status(self) -> dict[str, Any]:
        now = time.monotonic()
        with self._lock:
            under_way = sum(asking.under_way for asking in self._askings)
            idle = 0.0 if under_way else now - self._used
        return {
            "pid": os.getpid(), "connections": self._transport.open_connections, "reads": self._reads,
            "under_way": under_way, "seconds": self._seconds, "left": max(0.0, self._seconds - idle),
            "age": now - self._since, "descriptors": len(os.listdir("/proc/self/fd")),
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }  # fmt: skip

    # -- connections -----------------------------------------------------------------------------------------------

    def _connect(self, cells: Iterable[str]) -> None:
        """Begin to connect to cells without a connection and without an attempt."""
        with self._lock:
            wanted = [cell for cell in cells if cell not in self._connecting]
            self._connecting.update(wanted)
        if wanted:
            threading.Thread(target=self._log_in, args=(wanted,), name="exacell connect", daemon=True).start()

    def _log_in(self, cells: list[str]) -> None:
        try:
            for reply in self._transport.logins(cells, Role.READ).problems:
                self._log(f"{reply.target}: {reply.problem}")
            self._watched.add(self._transport.places)
        except ExacellError as error:
            self._log(f"{fold(cells)}: {error.message}")
        finally:
            with self._lock:
                self._connecting.difference_update(cells)

    def _log(self, text: str) -> None:
        """Write a line into the log."""
        line = f"{datetime.now().isoformat(timespec='milliseconds')} holder {os.getpid()}: {text}\n"
        with suppress(OSError), self._lock:
            name = self._hold.log.name
            log = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=self._folder)
            try:
                if os.fstat(log).st_size > MOST_LOG:
                    os.rename(name, f"{name}.old", src_dir_fd=self._folder, dst_dir_fd=self._folder)
                os.write(log, line.encode("utf-8", "backslashreplace"))
            finally:
                os.close(log)


def _asked(batches: Iterable[Batch]) -> str:
    """Return the cells and statements of a request for the log, without passwords."""
    return "; ".join(f"{fold(batch.cells)} {masked('; '.join(batch.statements))}" for batch in batches)


def _ends(result: FleetResult) -> str:
    states = [reply.state for reply in result.replies.values()]
    return ", ".join(f"{states.count(state)} {state}" for state in State if state in states)


def hold_rack(errand: Mapping[str, Any], signalled: Callable[[Holder], None]) -> None:
    """Hold the connections of the rack in an errand.

    Args:
        signalled: called with the holder before it serves.

    Raises:
        ExacellError, OSError: the configuration is wrong, or it can't listen.
    """
    os.umask(0o077)
    home, name = Home.from_env(), str(errand["rack"])
    watched = Watched()
    watched.add([home.config_file, home.racks_dir / f"{name}.toml", PACKAGE / "core" / "version.py"])
    config = load(home)
    rack = config.racks[name]
    watched.add([rack.ssh_config] if rack.ssh_config is not None else [])
    holder = Holder(home, rack, config, float(errand["seconds"]), watched)
    signalled(holder)
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    exclude_loaded()
    holder.serve([cell for cell in errand["cells"] if cell in rack.cells])


def main(words: list[str]) -> int:
    """Carry an errand out and return the exit code."""

    def signalled(holder: Holder) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: holder.end("told to by a signal"))

    try:
        hold_rack(json.loads(words[0]), signalled)
    except (ExacellError, OSError) as error:
        print(f"holder {os.getpid()}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # Reads that nobody waits for do not hold it up.
