"""The interface of an emulated rack that its servers use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from exacell.emulator.basics.beneath import Files
from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.program import Pause, Program
from exacell.emulator.basics.store import Json
from exacell.emulator.state.fault_book import FaultBook


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How a program is started: the program ``name`` for ``login`` on ``host``.

    Attributes:
        argv: without the program's name.
        files: opens the files that it may use.
        tty: whether its output goes to a terminal.
        has_stdin: whether it has a standard input.
    """

    name: str
    host: str
    login: str
    argv: Sequence[str]
    env: Mapping[str, str]
    files: Files
    tty: bool
    has_stdin: bool


@dataclass(frozen=True, kw_only=True)
class StartedLoad:
    """A load that has begun, with the defaults filled in.

    Attributes:
        number: identifies it for :meth:`World.load_left`.
    """

    number: int
    db: str
    redo: float
    profile: str


class World(Protocol):
    """A rack as its servers use it. No method waits; all are called from the one event loop."""

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the storage cells' host names."""

    def address(self, cell: str) -> str:
        """Return a cell's address on the storage network."""

    @property
    def dbnodes(self) -> tuple[str, ...]:
        """Return the database nodes' host names."""

    @property
    def clusters(self) -> Sequence[Cluster]:
        """Return the ASM clusters."""

    @property
    def faults(self) -> FaultBook:
        """Return the injected faults."""

    def inject(self, hosts: Sequence[str], kind: str, options: Mapping[str, object]) -> None:
        """Inject a fault into hosts; it replaces one of the same kind for the same statements or disk.

        Raises:
            EmulatorError: there is no such host, kind or option, or a value is wrong.
        """

    def clear_faults(self, hosts: Sequence[str] | None, kind: str | None) -> int:
        """End the faults of some hosts (None: of all) and one kind (None: of all); return how many were ended.

        Raises:
            EmulatorError: there is no such host or kind.
        """

    def describe(self) -> Json:
        """Return the facts that ``status`` shows: name, databases, model, release, mode, speed, seed."""

    def program(self, launch: Launch) -> Program:
        """Start a program on a cell or a database node and return it."""

    def give_files(self, files: Callable[[str], Files]) -> None:
        """Set the function that opens the files of a host."""

    def machine_files(self, host: str) -> Mapping[str, str]:
        """Return the files of /proc and /sys about a host's machine: text by path."""

    def moving_files(self, host: str) -> Mapping[str, str]:
        """Return those of these files that change with time."""

    def wall_seconds(self, pause: Pause) -> float:
        """Return how long a pause lasts on the wall clock."""

    def start_load(self, *, db: str, redo: float | None, seconds: float, profile: str) -> StartedLoad:
        """Apply a load of ``seconds`` rack seconds from the next whole minute on.

        Args:
            db: empty for the rack's first database.
            redo: redo writes a second; None for the profile's own.

        Raises:
            EmulatorError: there is no such database or profile, or the rate or time is not above zero.
        """

    def commit_load(self, *, db: str, sessions: int, commits: int) -> Iterator[None]:
        """Let sessions of a database commit one change after the other, and yield now and then.

        Args:
            db: empty for the rack's first database.
            sessions: how many, all at the same time.
            commits: commits of each session.

        Raises:
            EmulatorError: there is no such database, or a number is out of its range.
        """

    def uncounted(self) -> bool:
        """Return whether some redo writes of user sessions are not yet in the cells' counters."""

    def truth(self, *, db: str, known: Mapping[str, Any] | None) -> Mapping[str, object]:
        """Plant a true effect in the loads of a database, and return the effect with the database's name.

        Args:
            db: empty for the rack's first database.
            known: attributes of :class:`exacell.emulator.io.truth.Truth`; None returns the present effect, {} removes it.

        Raises:
            EmulatorError: there is no such database, or the attributes are impossible for a load.
        """

    def load_left(self, number: int) -> float | None:
        """Return the wall seconds until a load is applied and collected: 0 if it is due, None if that is done."""

    def advance(self) -> None:
        """Bring counters, flushes and rebalances up to the rack's clock."""

    def play(self, enough: Callable[[], bool]) -> bool:
        """Bring the rack nearer to its clock until ``enough`` returns True; return whether it has reached the clock."""

    def hold_back(self) -> None:
        """Set the clock back to the time that has been emulated."""

    def changed_parts(self, host: str) -> Mapping[str, Json]:
        """Return the parts of the state, by name, that a program on ``host`` has changed since the last call."""

    def moved_parts(self) -> Mapping[str, Json]:
        """Return the parts of the state, by name, that have changed with time since the last call."""

    def to_state(self) -> Mapping[str, Json]:
        """Return all parts of the state by name; from them the rack can continue later."""
