"""Use ClusterShell's tree as a transport: gateways fan out, so that this host needs few connections for thousands of cells.

Each call is a ClusterShell task in its own thread: its workers go through the gateways that the rack's
configuration names (or ClusterShell's topology file), and each cell's answer is passed on as it comes. Gateways need
ClusterShell and a key for the cells, but not exacell. A command that a gateway has taken is never sent again; if a
gateway is lost after that, the results of its cells are reported as unknown.

Source: ClusterShell 1.9 and later, Task, Worker.Tree and topology.conf; ssh(1): exit status 255 is ssh's own.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

# ClusterShell imports its workers on first use: two threads that do so at once get incomplete modules.
import ClusterShell.Worker.Exec
import ClusterShell.Worker.Ssh
import ClusterShell.Worker.Tree  # noqa: F401
from ClusterShell.Event import EventHandler
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from ClusterShell.Propagation import RouteResolvingError
from ClusterShell.Task import Task, task_self
from ClusterShell.Topology import TopologyError, TopologyGraph, TopologyParser, TopologyTree

from exacell.core.config import RackConfig, Settings
from exacell.core.errors import ConfigError
from exacell.core.values import dataclass, field
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State
from exacell.transport.capabilities import CLUSH
from exacell.transport.capture import Capture, Ending
from exacell.transport.exchange import wait_until_ours
from exacell.transport.rack_transport import RackTransport, login_of, read_only_cellcli
from exacell.transport.replies import OWN_STATUS, REFUSED, no_end, not_logged_in, problem_of_ending

_GROOMING_S = 0.05
"""How long a gateway collects answers before it sends them on; ClusterShell's default of 0.25 is noticeable at a prompt."""
_GRACE_S = 3.0
_GATEWAY_PHASES = 3
"""The time for a gateway in connect timeouts: its login, the start of its Python, its login on the cell."""
_LONGEST_WAIT_S = 3600.0
"""The longest single wait: a queue's timeout can't hold a year, which a dcli command may take."""
_UNLIMITED_S = 1_000_000.0
"""From this value on, ClusterShell gets no limit: epoll counts milliseconds in 31 bits."""


@dataclass
class _Cell:
    """The state of one cell's request, and its output so far."""

    request: Request
    started: float = field(default_factory=time.monotonic)
    capture: Capture = field(default_factory=Capture)
    status: int | None = None
    late: bool = False
    sent: bool = False
    ended: bool = False


class ClushTransport(RackTransport):
    """Reaches cells through ClusterShell; see :class:`exacell.transport.base.Transport`.

    Raises:
        ConfigError: the topology can't be read.
    """

    capabilities = CLUSH

    def __init__(self, rack: RackConfig, settings: Settings | None = None, *, read_only: bool = False) -> None:
        super().__init__(rack, settings, read_only=read_only)
        self._tasks: set[Any] = set()
        self._topology = read_topology(rack)
        self._gateways = gateway_names(rack, self._topology)

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests and return one reply for each target; see Transport.

        ``cancel`` is checked only before each login's fan-out: after that, ClusterShell already has all cells.
        """
        self._check(requests)
        requests = self._gated(requests)
        replies: dict[str, Reply] = {}

        def settle(reply: Reply) -> None:
            replies[reply.target] = reply
            if on_reply is not None:
                on_reply(reply)

        fallback = self.read_fallback
        again: list[Request] = []
        plain = [r for r in requests if not (self.falls_back(r) and r.target in fallback)]
        for user, group in self._by_login(plain):
            again += self._fan_out(group, user, settle, cancel)
        refused = {request.target for request in again}
        second = [r for r in requests if r.target in refused or r not in plain]
        if second:
            for request in self._fan_out(second, self.rack.write_user, settle, cancel, rewritten=True):
                raise AssertionError(f"{request.target} was asked a third time")
            reached = [t for t in refused if replies[t].state is not State.UNREACHABLE]
            self.fell_back(reached)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)

    def close(self) -> None:
        """Stop running tasks; there are no connections to close."""
        self.forget_fallback()
        with self._lock:
            tasks = list(self._tasks)
        for task in tasks:
            _break_off(task)

    def _by_login(self, requests: Sequence[Request]) -> list[tuple[str, list[Request]]]:
        groups: dict[str, list[Request]] = {}
        for request in requests:
            user = login_of(self.rack, request).user or ""
            groups.setdefault(user, []).append(request)
        return list(groups.items())

    def _fan_out(
        self,
        requests: Sequence[Request],
        user: str,
        settle: ReplyHandler,
        cancel: threading.Event | None,
        *,
        rewritten: bool = False,
    ) -> list[Request]:
        """Send requests as one login; pass on the replies, except of requests to send again as the write login."""
        if cancel is not None and cancel.is_set():
            for request in requests:
                problem = "not started: interrupted before its turn"
                settle(Reply(target=request.target, state=State.NOT_ATTEMPTED, problem=problem))
            return []
        requests = [request for request in requests if _may_leave(request, settle)]
        if not requests:
            return []
        limit = self.settings.max_answer
        cells = {r.target: _Cell(r, capture=Capture(r.on_output, limit=limit)) for r in requests}
        # Not a SimpleQueue: exacell.core.background explains how its get fails in a process that is stopped and continued.
        ended: queue.Queue[_Cell | BaseException | None] = queue.Queue()
        again: list[Request] = []
        open_cells = dict(cells)

        def take(cell: _Cell) -> None:
            open_cells.pop(cell.request.target, None)
            reply = self._reply(cell)
            falls = self.falls_back(cell.request) and not rewritten
            if falls and reply.state is State.UNREACHABLE and REFUSED in reply.problem:
                again.append(cell.request)
            else:
                settle(reply)

        run = _Run(self, cells, user, ended, rewritten=rewritten)
        threading.Thread(target=run.work, name="exacell clush", daemon=True).start()
        deadline = time.monotonic() + self._patience(requests)
        try:
            while open_cells:
                left = deadline - time.monotonic()
                try:
                    item = ended.get(timeout=min(max(0.0, left), _LONGEST_WAIT_S))
                except queue.Empty:
                    if left > _LONGEST_WAIT_S:
                        continue
                    run.abort()
                    break
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    break
                take(item)
        except BaseException:
            run.abort()
            raise
        over = time.monotonic() >= deadline
        for cell in list(open_cells.values()):
            cell.late = over
            take(cell)
        if any(cell.capture.broken_off for cell in cells.values()):
            run.abort()  # ClusterShell can't end one of many commands: it would run as long as the others.
        return again

    def _patience(self, requests: Sequence[Request]) -> float:
        """Return the seconds until everything must be over: the longest request, times the turns that the fan-out needs."""
        leaves = max(1, len(requests) // max(1, len(self._gateways)))
        turns = -(-leaves // self.limit)
        longest = max(self.seconds(request) for request in requests)
        return longest * turns + _GATEWAY_PHASES * self.connect_timeout + _GRACE_S

    def _reply(self, cell: _Cell) -> Reply:
        request, seconds, capture = cell.request, time.monotonic() - cell.started, cell.capture
        large = capture.output.hand_over_file() if request.in_pieces and cell.status == 0 else None
        out, err = capture.output.hand_over(), capture.errors.hand_over()

        def reply(state: State, problem: str, status: int | None = None) -> Reply:
            return Reply(
                target=request.target, state=state, stdout=out, stderr=err, exit_status=status, seconds=seconds,
                problem=problem, large=large,
            )  # fmt: skip

        if capture.broken_off is not None:
            return reply(State.FAILED, problem_of_ending(Ending(end=capture.broken_off), self.settings.max_answer))
        if cell.late and cell.sent:
            return reply(State.TIMED_OUT, no_end(request, self.seconds(request)))
        if cell.status == 0:
            return reply(State.OK, "", 0)
        words = err.splitlines()
        said = next((line for line in reversed(words) if line.strip()), "").strip()
        if cell.status == OWN_STATUS and not out and (not request.role.changes or not_logged_in(words)):
            return reply(State.UNREACHABLE, said or "ssh ended with status 255")
        if cell.status is None and not cell.sent:
            return reply(State.UNREACHABLE, said or "no gateway to it could be reached")
        if cell.status is None or cell.status == OWN_STATUS:
            lost = "its gateway" if self._gateways else "the connection"
            return reply(State.FAILED, f"{lost} was lost after the command was sent; it may or may not have finished")
        return reply(State.FAILED, f"exit status {cell.status}", cell.status)

    def configure(self, task: Task, user: str) -> None:
        """Set on a new ClusterShell task how gateways and cells are reached."""
        task.set_default("stderr", True)
        task.set_default("stdout_msgtree", False)
        task.set_default("stderr_msgtree", False)
        task.set_default("auto_tree", self._topology is not None)
        task.topology = self._topology
        task.set_info("fanout", self.limit)
        task.set_info("grooming_delay", _GROOMING_S)
        task.set_info("connect_timeout", max(1, round(self.connect_timeout)))
        task.set_info("ssh_path", shlex.join(["sh", "-c", ssh_script(self.rack, self._gateways, user), "ssh"]))
        task.set_info("ssh_options", "-oStrictHostKeyChecking=yes -oLogLevel=ERROR")

    def kept(self, task: Any, *, running: bool) -> None:
        """Note that a task runs, or that it no longer does."""
        with self._lock:
            (self._tasks.add if running else self._tasks.discard)(task)


class _Run(EventHandler):  # type: ignore[misc]  # ClusterShell publishes no types
    """One ClusterShell task; also its event handler."""

    def __init__(
        self,
        owner: ClushTransport,
        cells: dict[str, _Cell],
        user: str,
        ended: queue.Queue[_Cell | BaseException | None],
        *,
        rewritten: bool,
    ) -> None:
        super().__init__()
        self._owner = owner
        self._cells = cells
        self._user = user
        self._ended = ended
        self._rewritten = rewritten
        self._task: Any = None
        self._aborted = threading.Event()

    def work(self) -> None:
        """Run everything to its end; called in its own thread, to which ClusterShell's task belongs."""
        try:
            task = self._task = task_self()
            self._owner.kept(task, running=True)
            self._owner.configure(task, self._user)
            for targets, request in self._groups():
                self._schedule(task, targets, request)
            if not self._aborted.is_set():
                with contextlib.suppress(RouteResolvingError):  # no gateway is left: open requests get that reply
                    task.run()
            self._ended.put(None)
        except BaseException as error:  # Passed to the caller of run(), who raises it.
            self._ended.put(error)
        finally:
            if self._task is not None:
                self._owner.kept(self._task, running=False)
                # task_cleanup() would end every task of the process, also those of other calls.
                self._task.abort(kill=True)

    def abort(self) -> None:
        """Stop everything."""
        self._aborted.set()
        if self._task is not None:
            _break_off(self._task)

    def _groups(self) -> list[tuple[list[str], Request]]:
        """Return groups of targets with the same command, input and timeout."""
        groups: dict[tuple[str, str | None, float | None], tuple[list[str], Request]] = {}
        for name, cell in self._cells.items():
            key = (cell.request.command, cell.request.stdin, cell.request.timeout)
            groups.setdefault(key, ([], cell.request))[0].append(name)
        return list(groups.values())

    def _schedule(self, task: Any, targets: list[str], request: Request) -> None:
        command = read_only_cellcli(request.command) if self._rewritten else request.command
        seconds = self._owner.seconds(request)
        worker = task.shell(
            command,
            nodes=NodeSet.fromlist(targets, resolver=RESOLVER_NOGROUP),
            handler=self,
            timeout=seconds if seconds < _UNLIMITED_S else None,
            stderr=True,
            stdin=request.stdin is not None,
        )
        if request.stdin is not None:
            worker.write(request.stdin.encode("utf-8"))
            worker.set_write_eof()

    # -- ClusterShell's events -------------------------------------------------------------------------------------

    def ev_pickup(self, worker: Any, node: str) -> None:
        """Note that a cell's command was sent: to its gateway, or by an ssh of this host."""
        if (cell := self._cells.get(str(node))) is not None:
            cell.sent = True

    def ev_read(self, worker: Any, node: str, sname: str, msg: bytes) -> None:
        """Keep a line of a cell's output."""
        if (cell := self._open(node)) is not None:
            (cell.capture.take_error if sname == "stderr" else cell.capture.take)(msg + b"\n")
            if cell.capture.broken_off is not None:
                self._end(cell)

    def ev_hup(self, worker: Any, node: str, rc: int) -> None:
        """Note that a cell's command has ended."""
        if (cell := self._open(node)) is not None:
            cell.status = rc
            self._end(cell)

    def ev_close(self, worker: Any, timedout: bool) -> None:
        """Note which cells have timed out."""
        own = worker.iter_node_timeouts() if hasattr(worker, "iter_node_timeouts") else ()
        for node in (*own, *worker.task.iter_keys_timeout()) if timedout else ():
            if (cell := self._open(node)) is not None:
                cell.late = True
                self._end(cell)

    def _open(self, node: object) -> _Cell | None:
        """Return the cell with that name if it has not ended; else None."""
        cell = self._cells.get(str(node))
        return cell if cell is not None and not cell.ended else None

    def _end(self, cell: _Cell) -> None:
        cell.ended = True
        self._ended.put(cell)


def _may_leave(request: Request, settle: ReplyHandler) -> bool:
    """Return whether a request may be sent; if not, pass on its reply."""
    why = wait_until_ours(request)
    if why:
        settle(Reply(target=request.target, state=State.NOT_ATTEMPTED, problem=why))
    return not why


def _break_off(task: Any) -> None:
    """Stop a task of another thread; a task that has just ended has already closed the pipe for such messages."""
    with contextlib.suppress(OSError):
        task.abort()


_LOCALE = "LANG LC_ALL " + " ".join(
    f"LC_{name}"
    for name in (
        "ADDRESS", "COLLATE", "CTYPE", "IDENTIFICATION", "MEASUREMENT", "MESSAGES", "MONETARY", "NAME", "NUMERIC", "PAPER",
        "TELEPHONE", "TIME",
    )
)  # fmt: skip
"""Source: locale(7)."""


def ssh_script(rack: RackConfig, gateways: Sequence[str], user: str) -> str:
    """Return the shell script that ClusterShell runs instead of ssh, here and on the gateways.

    ClusterShell knows one login for all hosts, so the script adds the login for cells only; on gateways, ssh_config decides.
    The rack's own ssh_config is used on each host where its file is readable. No locale is sent, even if SendEnv names it.
    """
    config = str(rack.ssh_config) if rack.ssh_config else ""
    file = shlex.quote(config)
    use = f'[ -r {file} ] && set -- -F {file} "$@"; ' if config else ""
    gateways = "|".join(shlex.quote(gateway) for gateway in gateways) or "''"
    return (
        "host=; word=; for next do host=$word; word=$next; done; "
        f'case $host in {gateways}) ;; *) set -- -l {shlex.quote(user)} "$@" ;; esac; {use}unset {_LOCALE}; '
        'exec ssh "$@"'
    )


def read_topology(rack: RackConfig) -> TopologyTree | None:
    """Return the tree from this host over the rack's gateways to its cells; None if it names neither gateways nor a file.

    Raises:
        ConfigError: the file is missing, or ClusterShell can't make a tree from the configuration.
    """
    if not (rack.reach.gateways or rack.reach.topology):
        return None
    root = socket.gethostname().split(".")[0]
    try:
        if rack.reach.topology:
            path = os.path.expanduser(rack.reach.topology)
            if not os.path.isfile(path):
                raise ConfigError(
                    f"rack {rack.name}: the topology file {path} does not exist",
                    hint="correct topology in the rack's configuration",
                )
            return TopologyParser(path).tree(root)
        graph = TopologyGraph()
        gateways = NodeSet.fromlist(rack.reach.gateways, resolver=RESOLVER_NOGROUP)
        graph.add_route(NodeSet(root, resolver=RESOLVER_NOGROUP), gateways)
        graph.add_route(gateways, NodeSet.fromlist(rack.cells, resolver=RESOLVER_NOGROUP))
        return graph.to_tree(root)
    except TopologyError as error:
        raise ConfigError(
            f"rack {rack.name}: ClusterShell can't make a tree of its gateways: {error}",
            hint="correct gateways or topology in the rack's configuration",
        ) from error


def gateway_names(rack: RackConfig, topology: TopologyTree | None) -> tuple[str, ...]:
    """Return the hosts of the tree between this host and the cells; empty without a tree."""
    if rack.reach.gateways or topology is None:
        return rack.reach.gateways
    inner = [group for group in topology.groups if group.children() and group.parent is not None]
    return tuple(str(name) for group in inner for name in group.nodeset)
