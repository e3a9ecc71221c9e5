"""One target's work: the steps in their order, stopping at the first that fails; and many targets' at a time."""

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
"""Seconds: dcli waits for its commands as long as they take."""

TIMED_OUT = 124
"""Status of a command that timeout(1) has ended. Source: coreutils, timeout."""

_GRACE_S = 2.0
"""How much longer than ``--timeout`` the far side may take to end the command."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to do on a target.

    Attributes:
        limit: seconds of ``--timeout``, after which the command there ends itself; None for no limit.
        deadline: seconds after which we give up.
        carries: it is what was judged; what goes before it only makes it ready (a key, a directory, a copy).
        change: the one CellCLI change that the command is, which goes upon a look by its own CellCLI; empty for none.
        grid: whether it calls asmcmd, which needs the environment of Grid Infrastructure.
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
"""Takes a target and one line of its output, from any thread."""

WhyNot = Callable[[str], str]
"""Says why nothing may be sent to a host now, empty when something may; from any thread."""


@dataclass
class _Listener:
    """Collects a target's output as it arrives; hands on complete lines when somebody wants them."""

    target: str
    live: LiveLine | None
    data: bytearray = field(default_factory=bytearray)
    rest: str = ""

    def __post_init__(self) -> None:
        # A carriage return ends a line here, too, see split_lines.
        self._decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")("backslashreplace"), translate=True)

    def take(self, piece: bytes) -> None:
        """Keep a piece of output."""
        self.data += piece
        if self.live is not None:
            *lines, self.rest = (self.rest + self._decoder.decode(piece)).split("\n")
            for line in lines:
                self.live(self.target, line)

    def end(self) -> None:
        """Hand on a last line that has no end."""
        self.rest += self._decoder.decode(b"", final=True)
        if self.live is not None and self.rest:
            for line in split_lines(self.rest):
                self.live(self.target, line)
            self.rest = ""


def work_through(
    group: Group,
    target: Target,
    steps: Sequence[Step],
    *,
    login: str,
    pid: int,
    live: LiveLine | None,
    leaving: Leaving,
) -> Outcome:
    """Carry the steps out on one target and return what became of it.

    Args:
        pid: our process, for the line about a time limit.
        leaving: asked before the first step that changes something, and again when what was judged leaves.
    """
    listener = _Listener(target.label, live)
    said: list[str] = []
    looked: Looked | None = None
    key = ""
    twice = False
    for place, step in enumerate(steps):
        refused = _refusal(leaving.why_not, target.host, step, place)
        if refused:
            listener.end()
            lines = split_lines(decoded(bytes(listener.data)))
            return Outcome(
                target=target.label, lines=lines, status=1, said=_joined(said), ran=False, refused=refused, fingerprint=key
            )  # fmt: skip
        reply = _sent(group, target, step, login, listener, leaving)
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
        twice = bool(status) and step.upload is not None
        if step.limit is not None and status == TIMED_OUT:
            listener.take(b"" if not listener.data or listener.data.endswith(b"\n") else b"\n")
            listener.take(f"Timeout expired for pid {pid} to {target.label}...\n".encode())
        if status:
            # ssh has no word for a command that a signal ended.
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


def _refusal(why_not: WhyNot, host: str, step: Step, place: int) -> str:
    """Return why a step must not go to its target, and what that leaves there; empty when it may go."""
    if step.reads or (place and not step.carries):
        return ""
    why = why_not(host)
    left = "it was not run there" if place else "nothing was sent there"
    return f"{why}; {left}" if why else ""


def _sent(group: Group, target: Target, step: Step, login: str, listener: _Listener, leaving: Leaving) -> Reply:
    """Send a step as long as the rack is ours; one CellCLI change upon a look by its own CellCLI."""
    if step.reads:
        return _send(group, target, step, login, listener, None)
    with leaving.vigil() as vigil:
        upon = leaving.upon(target.host) if step.change and group.transport.capabilities.pairs else None
        if upon is None:
            return _send(group, target, step, login, listener, vigil.ours)
        fleet, seconds = group.services.fleet, step.deadline
        reply = fleet.send_upon(
            {target.host: upon}, ours=vigil.ours, timeout=seconds, within=group.session.settings.timeout, login=login
        ).replies[target.host]
    if reply.looked is None or not reply.looked.sent:
        return reply
    listener.take(reply.stdout.encode("utf-8", "surrogateescape"))
    # CellCLI that is fed ends with 0 whatever it said; with -e it ends with 1 behind an error.
    failed = bool(reply_errors(reply.stdout)) and reply.exit_status == 0
    return replace(reply, exit_status=1, state=State.FAILED) if failed else reply


def _send(group: Group, target: Target, step: Step, login: str, listener: _Listener, ours: Ours | None) -> Reply:
    reads, writes = (Role.HOST_READ, Role.HOST_WRITE) if group.hosts else (Role.READ, Role.WRITE)
    asked = Request(
        target=target.host,
        command=_command(group, target, step),
        role=reads if step.reads else writes,
        timeout=step.deadline if step.limit is None else step.limit + _GRACE_S,
        login=login or None,
        on_output=listener.take,
        upload=step.upload,
        ours=ours,
        locale=True,
    )
    return group.transport.run([asked], cancel=group.session.interrupted).replies[target.host]


def _command(group: Group, target: Target, step: Step) -> str:
    """Return a step's command, with the home and the instance that the configuration of the target's ASM names, where it needs
    them: a login that runs single commands has none of them."""
    asm = group.session.rack.asm_of(target.host) if step.grid and group.session.rack is not None else None
    return step.command if asm is None else in_grid(asm, target.host, step.command)


def _status(reply: Reply) -> int:
    if reply.state is State.UNREACHABLE:
        return UNREACHABLE
    # A link that is lost in the middle is a connection failure for ssh, too.
    return UNREACHABLE if reply.exit_status is None else reply.exit_status


def _joined(texts: Sequence[str]) -> str:
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts if text)


def in_parallel(
    work: Sequence[Callable[[], Outcome]], *, limit: int, on_end: Callable[[Outcome], None]
) -> list[Outcome]:
    """Run all work, at most ``limit`` at a time, and return the outcomes in order; ``on_end`` hears of each at once.

    An exception of any of them is raised here. The threads die with the process: Ctrl-C waits for none.
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
            except BaseException as error:  # Handed to the caller, who raises it.
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
