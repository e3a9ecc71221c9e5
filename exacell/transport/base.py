"""Define the methods of every transport: above all, it takes requests and returns exactly one reply per target.

Pure types; nothing here opens a socket. A target is any host that a configuration or a person names: a cell, a database
node, or another host. A transport never raises because of one target: refused connections, wrong host
keys, timeouts and dead cells are replies like any other, so that one cell's failure never hides another's answer.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from exacell.core.belonging import Identity
from exacell.core.errors import ExitCode
from exacell.core.values import dataclass, field


class State(StrEnum):
    """The final state of a target."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    NOT_ATTEMPTED = "not attempted"
    NOT_APPLICABLE = "not applicable"


class Role(StrEnum):
    """The purpose of a request; the rack's configuration maps it to a login."""

    READ = "read"
    """LIST and DESCRIBE on a cell: cellmonitor."""
    WRITE = "write"
    """Anything that changes a cell: celladmin. Refused by a transport that is read-only."""
    ASM_READ = "asm_read"
    """Queries on a database node as the ASM owner."""
    ASM_WRITE = "asm_write"
    """Changes through a database node as the ASM owner. Refused by a transport that is read-only."""
    HOST_READ = "host_read"
    """A command that only reads on a host that is not a cell, as the user of its group."""
    HOST_WRITE = "host_write"
    """A command that may change such a host. Refused by a transport that is read-only."""

    @property
    def changes(self) -> bool:
        """Return whether requests in this role may change anything."""
        return self in (Role.WRITE, Role.ASM_WRITE, Role.HOST_WRITE)


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Files that a request sends instead of running a command, as scp would.

    Attributes:
        sources: local files; directories only with ``recursive``.
        destination: a file or directory there, relative to the login's home; empty for the home itself.
        keep: whether modification time and exact mode are kept (``scp -p``).
        sent: called with the number of bytes of each piece that was sent, from the thread that sends.
        untold: called once instead of ``sent``, if the files are sent in a way that reports no progress.
    """

    sources: tuple[Path, ...]
    destination: str
    keep: bool = False
    recursive: bool = False
    sent: Callable[[int], None] | None = None
    untold: Callable[[], None] | None = None

    @property
    def place(self) -> str:
        """Return the destination relative to the login's home, as SFTP expects it."""
        if self.destination in ("", "~", "~/"):
            return "."
        return self.destination.removeprefix("~/")


@dataclass(frozen=True, kw_only=True)
class Feed:
    """Reads that a long-lived CellCLI may answer, instead of one that is started for them.

    Attributes:
        program: the remote command that starts it.
        statements: LIST and DESCRIBE, one line each.
    """

    program: str
    statements: tuple[str, ...]


Ours = Callable[[], str | None]
"""Returns why a statement must not be sent, empty if it may, None if that is not known at the moment; it never waits."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The decision that follows from a read: whether the statement after it may be sent.

    Attributes:
        why: why the statement must not be sent; empty if it may.
        needless: whether ``why`` says that it need not be sent.
    """

    why: str = ""
    needless: bool = False


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A read, and the statement that depends on its answer, in one program; see :mod:`exacell.transport.exchange`.

    Attributes:
        program: the remote command that starts it.
        look: the first input, whole lines that only read.
        whole: returns whether the output so far is all of the read's answer.
        judge: returns the judgement of the answer; must be fast.
        statement: the second input, whole lines; the program's input ends after it.
        ours: checked right before the statement is sent.
        within: seconds that the reads may take.
    """

    program: str
    look: str
    whole: Callable[[str], bool]
    judge: Callable[[str], Judgement]
    statement: str
    ours: Ours
    within: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Looked:
    """The read after which a statement was sent, or refused.

    Attributes:
        at: when its answer was complete, as ISO 8601; empty if no answer came.
        text: the answer.
        seconds: from sending the read to its answer.
        age: the largest possible number of seconds from the answer to the moment when the statement had been written.
        looks: how often the read was sent.
        sent: whether the statement was written.
        refused: why it was not sent; ``needless`` means that it need not be sent.
        ours: False if it was refused because this session may no longer change the rack.
    """

    at: str = ""
    text: str = ""
    seconds: float = 0.0
    age: float = 0.0
    looks: int = 0
    sent: bool = False
    refused: str = ""
    needless: bool = False
    ours: bool = True


class Large(Protocol):
    """A large answer on disk: any thread may read it from its beginning, repeatedly; it is deleted with this object."""

    @property
    def size(self) -> int:
        """Return its size in bytes."""

    @property
    def text(self) -> str:
        """Return all of it; bytes that are not UTF-8 as ``\\xNN``."""

    def pieces(self) -> Iterator[bytes]:
        """Yield it in pieces that may end anywhere."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One command for one target.

    Attributes:
        target: the cell's or database node's name as the configuration spells it.
        command: the complete remote command line, already quoted for a POSIX shell.
        stdin: text sent to the command's standard input, which is then closed; None sends end-of-file at once.
        timeout: seconds from sending to the last byte of the answer; None takes the rack's command timeout.
        login: the user who logs in, instead of the configured one for ``role``.
        on_output: called with each piece of standard output as it arrives, from the thread that reads it.
        upload: files to send instead of running ``command``, which is then only for messages.
        feed: the same reads as in ``command``, for a transport that keeps a CellCLI open; other transports ignore it.
        pair: a read and the statement of ``command``, which is then only for messages; refused by a transport whose
            capabilities have no ``pairs``.
        ours: checked right before the command is sent, or right before the program that carries it starts.
        locale: whether the operator's LANG and LC_* are sent if ssh_config's SendEnv names them: for text that is shown
            to a person, never for text that exacell parses.
        in_pieces: whether a large answer may come as ``Reply.large``; otherwise all of it comes as text.
    """

    target: str
    command: str
    role: Role
    stdin: str | None = None
    timeout: float | None = None
    login: str | None = None
    on_output: Callable[[bytes], None] | None = None
    upload: Upload | None = None
    feed: Feed | None = None
    pair: Pair | None = None
    ours: Ours | None = None
    locale: bool = False
    in_pieces: bool = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The result of one request.

    Attributes:
        state: OK if the command ran and ended with status 0; FAILED for another status. The reader of the reply, not the
            transport, judges what CellCLI printed.
        exit_status: None if the command did not end.
        seconds: wall time from the request's start to its end.
        problem: one complete line (without the target's name), empty when OK.
        fingerprint: of the key that logged in (``SHA256:…``), empty when unknown; for the journal.
        banner: the server's text before the login, empty if there was none.
        large: standard output, on disk; ``stdout`` is then empty.
        looked: the read before a pair's statement; if the read forbade the statement, the state is NOT_ATTEMPTED.
    """

    target: str
    state: State
    stdout: str = ""
    stderr: str = ""
    exit_status: int | None = None
    seconds: float = 0.0
    problem: str = ""
    fingerprint: str = ""
    banner: str = ""
    large: Large | None = None
    looked: Looked | None = None


@dataclass(frozen=True, kw_only=True)
class FleetResult:
    """One reply for every target, in the order in which the targets were given."""

    targets: tuple[str, ...]
    replies: Mapping[str, Reply] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if set(self.targets) != set(self.replies) or len(set(self.targets)) != len(self.targets):
            raise ValueError("a FleetResult has exactly one reply for each target")
        object.__setattr__(self, "replies", MappingProxyType({t: self.replies[t] for t in self.targets}))

    def in_state(self, *states: State) -> tuple[Reply, ...]:
        """Return the replies in any of ``states``, in target order."""
        return tuple(reply for reply in self.replies.values() if reply.state in states)

    @property
    def ok(self) -> tuple[Reply, ...]:
        """Return the replies that are OK, in target order."""
        return self.in_state(State.OK)

    @property
    def problems(self) -> tuple[Reply, ...]:
        """Return the replies that are neither OK nor NOT_APPLICABLE, in target order."""
        return tuple(r for r in self.replies.values() if r.state not in (State.OK, State.NOT_APPLICABLE))

    @property
    def exit_code(self) -> ExitCode:
        """Return DONE if nothing failed, NOT_EXECUTED if no target could be reached at all, else FAILED."""
        if not self.problems:
            return ExitCode.DONE
        never = (State.UNREACHABLE, State.NOT_ATTEMPTED)
        return ExitCode.NOT_EXECUTED if all(r.state in never for r in self.replies.values()) else ExitCode.FAILED


ReplyHandler = Callable[[Reply], None]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a transport can carry; known before anybody is asked to confirm.

    Attributes:
        name: the word of ``set transport``.
        programs: whether any command line runs on a target; False: CellCLI statements only.
        nodes: whether database nodes are reached in the same way; False: over exacell's ssh instead.
        known_hosts: whether targets prove their identity by host keys in ``known_hosts``.
        stdin: whether a command can get standard input.
        streaming: whether output arrives as it is printed; False: after the command has ended.
        uploads: whether files can be copied.
        indents: whether leading blanks of lines are kept; False: only XML can be read exactly.
        fan_out: how targets are worked on in parallel, a phrase.
        keeps: whether connections stay open between statements.
        pairs: whether a read and the statement after it can use the same CellCLI; False: they are two runs.
        never: (expression, why) for statements that it cannot carry; matched at the start, ignoring case and repeated blanks.
        only: expression of the only statements that it carries; empty if it carries all but ``never``.
        only_why: the reason for ``only``.
    """

    name: str
    programs: bool = True
    nodes: bool = True
    known_hosts: bool = True
    stdin: bool = True
    streaming: bool = True
    uploads: bool = True
    indents: bool = True
    fan_out: str
    keeps: bool = True
    pairs: bool = True
    never: tuple[tuple[str, str], ...] = ()
    only: str = ""
    only_why: str = ""

    def problem(self, statement: str) -> str:
        """Return why this transport cannot carry a CellCLI statement; empty when it can."""
        text = " ".join(statement.split())
        for expression, why in self.never:
            if re.match(expression, text, re.IGNORECASE):
                return why
        return "" if re.match(self.only, text, re.IGNORECASE) else self.only_why


class Gate(Protocol):
    """Decides whether targets may be changed: not if they are hosts of a production rack that this session has not opened."""

    def pass_all(self, targets: Sequence[str]) -> None:
        """Raise RefusedError if a target may not be changed; targets that are not known yet are asked for their identity.

        Raises:
            RefusedError: a target may not be changed.
        """

    def why_not(self, target: str) -> str:
        """Return why a target that was connected to must not be changed, empty if it may; never waits."""


class Transport(ABC):
    """Reaches cells, database nodes and other hosts. Thread-safe: everything here may be called from any thread.

    Other packages use only these methods and attributes. Two methods are abstract; the others have
    a default for a transport that keeps nothing open; a transport that can do more overrides them.
    """

    capabilities: Capabilities = Capabilities(name="other", fan_out="one a target", known_hosts=False)
    """What it can carry; the default is everything, without host keys in known_hosts."""
    read_only: bool = False
    """While True, a request whose role changes anything raises RefusedError before anything is sent."""
    gate: Gate | None = None
    """Checked before a request that may change a target is sent; None for no check."""
    expects_more: bool = False
    """Whether more reads are certain to come, so that starting a long-lived CellCLI is worthwhile; the caller sets it."""

    @abstractmethod
    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests (one a target), at most ``fanout`` at a time, and wait for every target's end.

        Args:
            on_reply: called once per target as it completes, from any thread.
            cancel: when set, no further request is started (its state is NOT_ATTEMPTED); those in progress continue to their end.

        Raises:
            RefusedError: a request changes something and the transport is read-only.
            ValueError: two requests have the same target.
        """

    @abstractmethod
    def close(self) -> None:
        """Close all connections; the next ``run`` opens new ones."""

    @property
    def read_fallback(self) -> frozenset[str]:
        """Return the targets whose read login was refused, so that reads use the write login, rewritten to change nothing."""
        return frozenset()

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return the targets of all present runs that have not ended, also those whose request is not sent yet; empty if that
        is not known."""
        return ()

    @property
    def single_reads(self) -> Mapping[str, str]:
        """Return target → why no CellCLI can be kept open there, so that each read starts one; empty if it never keeps one."""
        return {}

    @property
    def host_keys(self) -> Mapping[str, str]:
        """Return target → the host key it has shown, ``SHA256:…``, for targets connected to; empty if not known."""
        return {}

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        """Return the identity of ``target``, as known without connecting to it.

        Args:
            addresses: whether to find its address too, which asks the resolver.
        """
        return Identity()

    def lives(self, target: str) -> int:
        """Return how often ``target`` has been connected to for reads: facts from an earlier connection may be outdated.

        The result is 0 if that is not known.
        """
        return 0

    def warm(self, targets: Sequence[str], role: Role = Role.READ) -> threading.Thread | None:
        """Start to open connections that will be kept; problems are reported when the connections are used.

        Returns:
            The thread that opens them; None if nothing is kept.
        """
        return None

    def logins(self, targets: Sequence[str], role: Role) -> FleetResult | None:
        """Log in to targets for ``role``, run nothing, and return one reply per target.

        The result is None if a login can't be tried without running something.
        """
        return None
