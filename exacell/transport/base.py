"""What every transport promises: requests in, exactly one reply a target out; and all else that one may be asked.

Pure types; nothing here opens a socket. A target is any host that a configuration or a person names: a cell, a database
node, a host that is neither. A transport never raises for a target's sake: refused connections, wrong host
keys, deadlines and dead cells are replies like any other, so that one cell's failure never hides another's answer.
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
    """The one state in which a target ends."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    NOT_ATTEMPTED = "not attempted"
    NOT_APPLICABLE = "not applicable"


class Role(StrEnum):
    """On whose behalf a request runs; the rack's configuration maps it to a login."""

    READ = "read"
    """LIST and DESCRIBE on a cell: cellmonitor."""
    WRITE = "write"
    """Anything that changes a cell: celladmin. Refused by a transport that is read-only."""
    ASM_READ = "asm_read"
    """Queries on a database node as the ASM owner."""
    ASM_WRITE = "asm_write"
    """Changes through a database node as the ASM owner. Refused by a transport that is read-only."""
    HOST_READ = "host_read"
    """What only reads on a host beside the cells, as the user of its group."""
    HOST_WRITE = "host_write"
    """Anything that may change such a host. Refused by a transport that is read-only."""

    @property
    def changes(self) -> bool:
        """Whether requests in this role may change anything."""
        return self in (Role.WRITE, Role.ASM_WRITE, Role.HOST_WRITE)


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Files that a request sends instead of running a command, as scp would.

    Attributes:
        sources: local files; directories only with ``recursive``.
        destination: a file or directory there, relative to the login's home; empty for the home itself.
        keep: modification time and exact mode are kept (``scp -p``).
        sent: told of the bytes of each piece that was sent, from the thread that sends.
        untold: called instead, once, where the files go in a way of which nothing is told.
    """

    sources: tuple[Path, ...]
    destination: str
    keep: bool = False
    recursive: bool = False
    sent: Callable[[int], None] | None = None
    untold: Callable[[], None] | None = None

    @property
    def place(self) -> str:
        """The destination from the login's home, where relative names begin for SFTP."""
        if self.destination in ("", "~", "~/"):
            return "."
        return self.destination.removeprefix("~/")


@dataclass(frozen=True, kw_only=True)
class Feed:
    """Reads that a long-lived CellCLI may answer instead of one that is started for them.

    Attributes:
        program: the remote command that starts it.
        statements: LIST and DESCRIBE, one line each.
    """

    program: str
    statements: tuple[str, ...]


Ours = Callable[[], str | None]
"""Says why a statement must not leave, empty when it may, None when that is not known at the moment; it never waits."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a look means for the statement behind it.

    Attributes:
        why: why it must not be sent; empty when it may.
        needless: it need not be sent, for that reason.
    """

    why: str = ""
    needless: bool = False


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A look and the statement that goes upon it alone, on one program; see :mod:`exacell.transport.exchange`.

    Attributes:
        program: the remote command that starts it.
        look: what is fed first, whole lines that only read.
        whole: returns whether what has come is all of the look's answer.
        judge: returns what the answer means; takes no time.
        statement: what is fed then, whole lines; the program's input ends behind it.
        ours: whether the statement may leave still.
        within: seconds that the looks may take.
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
    """The look that a statement went upon, or was refused upon.

    Attributes:
        at: when its answer was there, as ISO 8601; empty when none came.
        text: the answer.
        seconds: from the look's asking to its answer.
        age: seconds, at most, from the answer to the moment at which the statement had been written.
        looks: how often the program was asked.
        sent: whether the statement was written.
        refused: why it was not; ``needless`` says that it need not be.
        ours: False when it was refused because the rack is not ours to change any more.
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
    """An answer that waits on disk: read from its beginning as often as wanted, from any thread, gone when it is dropped."""

    @property
    def size(self) -> int:
        """Its bytes."""

    @property
    def text(self) -> str:
        """All of it; bytes that are not UTF-8 as ``\\xNN``."""

    def pieces(self) -> Iterator[bytes]:
        """Yield it, a piece at a time, cut anywhere."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One command for one target.

    Attributes:
        target: the cell's or database node's name as the configuration spells it.
        command: the complete remote command line, already quoted for a POSIX shell.
        stdin: text sent to the command's standard input, which is then closed; None sends end-of-file at once.
        timeout: seconds from sending to the last byte of the answer; None takes the rack's command timeout.
        login: who logs in, instead of the one whom the configuration has for ``role``.
        on_output: told of each piece of standard output as it arrives, from the thread that reads it.
        upload: files to send instead of running ``command``, which is then only for messages.
        feed: the same reads as in ``command``, for a transport that keeps a CellCLI open; others take no notice of it.
        pair: a look and the statement of ``command``, which is then only for messages; refused by a transport whose
            capabilities have no ``pairs``.
        ours: asked right before the command leaves, or right before the program that carries it begins.
        locale: whether the operator's LANG and LC_* go along where ssh_config's SendEnv names them: for text that is carried
            for somebody else, never for what is read here.
        in_pieces: a large answer may come as ``Reply.large``; who has not asked for that gets all of it as text.
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
    """What became of one request.

    Attributes:
        state: OK when the command ran and ended with status 0; FAILED for another status. What CellCLI's text says
            is judged by the reader of the reply, not here.
        exit_status: None when the command did not end.
        seconds: wall time from the request's start to its end.
        problem: one complete line (names no target), empty when OK.
        fingerprint: of the key that logged in (``SHA256:…``), empty when unknown; for the journal.
        banner: what the server showed before the login, empty when it showed nothing.
        large: standard output, on disk; ``stdout`` is empty then.
        looked: the look that a pair's statement went upon; a statement that was not sent upon it is NOT_ATTEMPTED.
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
        """The replies that are OK, in target order."""
        return self.in_state(State.OK)

    @property
    def problems(self) -> tuple[Reply, ...]:
        """The replies that are neither OK nor NOT_APPLICABLE, in target order."""
        return tuple(r for r in self.replies.values() if r.state not in (State.OK, State.NOT_APPLICABLE))

    @property
    def exit_code(self) -> ExitCode:
        """DONE when nothing failed, NOT_EXECUTED when no target could be reached at all, FAILED otherwise."""
        if not self.problems:
            return ExitCode.DONE
        never = (State.UNREACHABLE, State.NOT_ATTEMPTED)
        return ExitCode.NOT_EXECUTED if all(r.state in never for r in self.replies.values()) else ExitCode.FAILED


ReplyHandler = Callable[[Reply], None]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a transport can carry, published before anybody is asked to confirm.

    Attributes:
        name: the word of ``set transport``.
        programs: any command line runs on a target; False: CellCLI statements only.
        nodes: database nodes are reached in the same way; False: over ssh beside it.
        known_hosts: targets show who they are by host keys that ``known_hosts`` has.
        stdin: a command's standard input can be given.
        streaming: output arrives as it is printed; False: when the command has ended.
        uploads: files can be copied.
        indents: leading blanks of lines come through; False: only XML can be read exactly.
        fan_out: how many targets are worked on, a phrase.
        keeps: connections stay open between statements.
        pairs: a statement can go upon a look at its cell by the same CellCLI; False: a look and a statement are two runs.
        never: (expression, why) for statements that it cannot carry; matched at the start, without case, blanks folded.
        only: expression of the statements that it carries; empty for all others than ``never``.
        only_why: the rule behind ``only``.
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
    """Knows which targets are hosts of production racks that are closed to this session."""

    def pass_all(self, targets: Sequence[str]) -> None:
        """Return when all targets may be changed, asking those who they are that are not known yet.

        Raises:
            RefusedError: one may not.
        """

    def why_not(self, target: str) -> str:
        """Return why a target that was connected to must not be changed, empty when it may; never waits."""


class Transport(ABC):
    """Reaches cells, database nodes and other hosts. Thread-safe: everything here may be called from any thread.

    This is all that anybody outside of the package asks a transport. Two methods have to be there; everything else has
    an answer here that holds for a transport which keeps nothing open, and one that can do more overrides it.
    """

    capabilities: Capabilities = Capabilities(name="other", fan_out="one a target", known_hosts=False)
    """What it can carry. One that says nothing carries everything, and knows its targets in its own way."""
    read_only: bool = False
    """While True, a request whose role changes anything raises RefusedError before anything is sent."""
    gate: Gate | None = None
    """Asked before what may change a target leaves; None where nobody is to be asked."""
    expects_more: bool = False
    """Whether more reads are sure to come, so that what makes them quicker is worth its start; set by who knows."""

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
            on_reply: called once a target as it completes, from any thread.
            cancel: when set, no further request is started (NOT_ATTEMPTED); those in flight go on to their end.

        Raises:
            RefusedError: a request changes something and the transport is read-only.
            ValueError: two requests have the same target.
        """

    @abstractmethod
    def close(self) -> None:
        """End all connections; the next ``run`` opens them anew."""

    @property
    def read_fallback(self) -> frozenset[str]:
        """Targets whose read login was refused, so that reads run as the write login, rewritten to change nothing."""
        return frozenset()

    @property
    def awaited(self) -> tuple[str, ...]:
        """The targets that were sent something, or will be, and have not ended, of all runs of the moment; empty where that
        is not known."""
        return ()

    @property
    def single_reads(self) -> Mapping[str, str]:
        """Targets where no CellCLI can be kept open, so that each read starts one, and why; empty where none ever is."""
        return {}

    @property
    def host_keys(self) -> Mapping[str, str]:
        """The host key that each target has shown, ``SHA256:…``, as far as it was connected to; empty where not known."""
        return {}

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        """Return by what ``target`` is told from other hosts, as far as that is known without connecting to it.

        Args:
            addresses: find out its address, too, which asks the resolver.
        """
        return Identity()

    def lives(self, target: str) -> int:
        """Return how often ``target`` has been connected to for reads: what was true of an earlier life may not be now.

        0 where that is not known.
        """
        return 0

    def warm(self, targets: Sequence[str], role: Role = Role.READ) -> threading.Thread | None:
        """Begin to open connections that will be kept; problems show when they are used.

        Returns:
            The thread that does so; None where nothing is kept.
        """
        return None

    def logins(self, targets: Sequence[str], role: Role) -> FleetResult | None:
        """Log in to targets on behalf of ``role``, run nothing, and return who could.

        None where a login can't be tried without running something.
        """
        return None
