"""Do one target's work: the tasks in order, up to the first that fails; and the work of many targets at a time."""

from __future__ import annotations

import queue
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from io import IncrementalNewlineDecoder

from exacell.cellcli.reply import errors as reply_errors
from exacell.change.dcli.hosts import Group, Target
from exacell.change.dcli.leaving import Leaving
from exacell.change.dcli.output import (
    UNREACHABLE,
    Outcome,
    decoded,
    split_lines,
)
from exacell.change.running import why_late
from exacell.core.values import dataclass, field, replace
from exacell.session.asm import in_grid
from exacell.transport.base import Looked, Ours, Reply, Request, Role, State, Upload
from exacell.transport.replies import ENDED_BY_SIGNAL

UNLIMITED = 365 * 86400.0
"""Seconds; in effect no limit, since dcli waits for its commands as long as they take."""

TIMED_OUT = 124
"""Exit status of a command that timeout(1) has ended. Source: coreutils, timeout."""

_GRACE_S = 2.0
"""Seconds beyond ``--timeout`` that the target may take to end the command."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One thing to do on a target.

    Attributes:
        limit: seconds of ``--timeout``, after which the command ends itself; None for no limit.
        deadline: seconds after which we stop waiting.
        carries: this task is the judged work; the tasks before only prepare it (a key, a directory, a copy).
        change: the single CellCLI change in the command, before which its own CellCLI looks; empty for none.
        grid: whether the command calls asmcmd, which needs the environment of Grid Infrastructure.
    """

    command: str
    reads: bool = False
    upload: Upload | None = None
    limit: float | None = None
    deadline: float = UNLIMITED
    carries: bool = False
    change: str = ""
    grid: bool = False


LiveLine = Callable[[str, str], None]
"""Takes a target and one line of its output; called from any thread."""

WhyNot = Callable[[str], str]
"""Returns why nothing may be sent to a host now, empty if something may; called from any thread."""


@dataclass
class _Listener:
    """Collects a target's output as it arrives; passes on complete lines if a listener is given."""

    target: str
    live: LiveLine | None
    data: bytearray = field(default_factory=bytearray)
    rest: str = ""

    def __post_init__(self) -> None:
        # A carriage return ends a line here too, see split_lines.
        self._decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")("backslashreplace"), translate=True)

    def take(self, piece: bytes) -> None:
        """Store a piece of output."""
        self.data += piece
        if self.live is not None:
            *lines, self.rest = (self.rest + self._decoder.decode(piece)).split("\n")
            for line in lines:
                self.live(self.target, line)

    def end(self) -> None:
        """Pass on a last line that has no end."""
        self.rest += self._decoder.decode(b"", final=True)
        if self.live is not None and self.rest:
            for line in split_lines(self.rest):
                self.live(self.target, line)
            self.rest = ""


def work_through(
    group: Group,
    target: Target,
    tasks: Sequence[Task],
    *,
    login: str,
    pid: int,
    live: LiveLine | None,
    leaving: Leaving,
) -> Outcome:
    """Carry out the tasks on one target and return its outcome.

    Args:
        pid: our process id, for the message about a time limit.
        leaving: asked before the first task that changes something, and again right before the judged task is sent.
    """
    listener = _Listener(target.label, live)
    said: list[str] = []
    looked: Looked | None = None
    key = ""
    twice = False
    for place, task in enumerate(tasks):
        refused = _refusal(leaving.why_not, target.host, task, place)
        if refused:
            listener.end()
            lines = split_lines(decoded(bytes(listener.data)))
            return Outcome(
                target=target.label, lines=lines, status=1, said=_joined(said), ran=False, refused=refused, fingerprint=key
            )  # fmt: skip
        reply = _sent(group, target, task, login, listener, leaving)
        key = reply.fingerprint or key
        if reply.banner and reply.banner not in said:
            said.append(reply.banner)
        if reply.stderr:
            said.append(reply.stderr)
        if reply.state is State.NOT_ATTEMPTED or (reply.state is State.TIMED_OUT):
            refused = leaving.lost or (reply.looked.refused if reply.looked is not None else "")
            refused = refused if reply.state is State.NOT_ATTEMPTED else ""
            return Outcome(
                target=target.label, ran=False, status=1, refused=refused, fingerprint=key, looked=reply.looked
            )  # fmt: skip
        status = _status(reply)
        late = why_late(looked := reply.looked or looked)
        if late:
            said.append(late)
            status = status or 1
        twice = bool(status) and task.upload is not None
        if task.limit is not None and status == TIMED_OUT:
            listener.take(b"" if not listener.data or listener.data.endswith(b"\n") else b"\n")
            listener.take(f"Timeout expired for pid {pid} to {target.label}...\n".encode())
        if status:
            # ssh does not report the signal that ended a command.
            if reply.exit_status is None and reply.problem != ENDED_BY_SIGNAL and reply.problem not in "".join(said):
                said.append(reply.problem)
            break
    else:
        status = 0
    listener.end()
    lines = split_lines(decoded(bytes(listener.data)))
    return Outcome(
        target=target.label,
        lines=lines,
        status=status,
        said=_joined(said),
        twice=twice,
        fingerprint=key,
        looked=looked,
    )


def _refusal(why_not: WhyNot, host: str, task: Task, place: int) -> str:
    """Return why a task must not be sent to its target, and what earlier tasks leave there; empty if it may be sent."""
    if task.reads or (place and not task.carries):
        return ""
    why = why_not(host)
    left = "it was not run there" if place else "nothing was sent there"
    return f"{why}; {left}" if why else ""


def _sent(group: Group, target: Target, task: Task, login: str, listener: _Listener, leaving: Leaving) -> Reply:
    """Send a task while the rack is ours; for a single CellCLI change its own CellCLI looks first."""
    if task.reads:
        return _send(group, target, task, login, listener, None)
    with leaving.vigil() as vigil:
        upon = leaving.upon(target.host) if task.change and group.transport.capabilities.pairs else None
        if upon is None:
            return _send(group, target, task, login, listener, vigil.ours)
        fleet, seconds = group.services.fleet, task.deadline
        reply = fleet.send_upon(
            {target.host: upon}, ours=vigil.ours, timeout=seconds, within=group.session.settings.timeout, login=login
        ).replies[target.host]
    if reply.looked is None or not reply.looked.sent:
        return reply
    listener.take(reply.stdout.encode("utf-8", "surrogateescape"))
    # CellCLI that reads its input ends with 0 even after an error; with -e it ends with 1.
    failed = bool(reply_errors(reply.stdout)) and reply.exit_status == 0
    return replace(reply, exit_status=1, state=State.FAILED) if failed else reply


def _send(group: Group, target: Target, task: Task, login: str, listener: _Listener, ours: Ours | None) -> Reply:
    reads, writes = (Role.HOST_READ, Role.HOST_WRITE) if group.hosts else (Role.READ, Role.WRITE)
    asked = Request(
        target=target.host,
        command=_command(group, target, task),
        role=reads if task.reads else writes,
        timeout=task.deadline if task.limit is None else task.limit + _GRACE_S,
        login=login or None,
        on_output=listener.take,
        upload=task.upload,
        ours=ours,
        locale=True,
    )
    return group.transport.run([asked], cancel=group.session.interrupted).replies[target.host]


def _command(group: Group, target: Target, task: Task) -> str:
    """Return a task's command, with the home and instance from the configuration of the target's ASM if it needs them.

    A login that runs single commands does not have them in its environment.
    """
    asm = group.session.rack.asm_of(target.host) if task.grid and group.session.rack is not None else None
    return task.command if asm is None else in_grid(asm, target.host, task.command)


def _status(reply: Reply) -> int:
    if reply.state is State.UNREACHABLE:
        return UNREACHABLE
    # ssh also reports a link that is lost in the middle as a connection failure.
    return UNREACHABLE if reply.exit_status is None else reply.exit_status


def _joined(texts: Sequence[str]) -> str:
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts if text)


def in_parallel(
    work: Sequence[Callable[[], Outcome]], *, limit: int, on_end: Callable[[Outcome], None]
) -> list[Outcome]:
    """Run all work, at most ``limit`` at a time, and return the outcomes in order; each is passed to ``on_end`` at once.

    An exception of any of them is raised here. The threads are daemons, so that Ctrl-C does not wait for them.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    ended: queue.SimpleQueue[tuple[int, Outcome | BaseException]] = queue.SimpleQueue()
    for number in range(len(work)):
        waiting.put(number)

    def worker() -> None:
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                ended.put((number, work[number]()))
            except BaseException as error:  # Passed to the caller, which raises it.
                ended.put((number, error))

    for _ in range(min(limit, len(work))):
        threading.Thread(target=worker, name="exacell dcli", daemon=True).start()
    outcomes: dict[int, Outcome] = {}
    while len(outcomes) < len(work):
        number, outcome = ended.get()
        if isinstance(outcome, BaseException):
            raise outcome
        outcomes[number] = outcome
        on_end(outcome)
    return [outcomes[number] for number in range(len(work))]
