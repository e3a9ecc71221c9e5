"""What the servers need to know of an emulated rack, and the rack that really stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from exacell.emulator.beneath import Files
from exacell.emulator.clusters import Cluster
from exacell.emulator.faults import FaultBook
from exacell.emulator.program import Pause, Program
from exacell.emulator.store import Json


@dataclass(frozen=True, kw_only=True)
class StartedLoad:
    """A load that begins: what of it was left open is filled in.

    Attributes:
        number: names it to :meth:`World.load_left`.
    """

    number: int
    db: str
    redo: float
    profile: str


class World(Protocol):
    """A rack as its servers see it. Nothing here waits; everything is called from the one event loop."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The storage cells' host names."""

    def address(self, cell: str) -> str:
        """Return a cell's address on the storage network."""

    @property
    def dbnodes(self) -> tuple[str, ...]:
        """The database nodes' host names."""

    @property
    def clusters(self) -> Sequence[Cluster]:
        """The ASM clusters."""

    @property
    def faults(self) -> FaultBook:
        """The faults that were injected."""

    def inject(self, hosts: Sequence[str], kind: str, options: Mapping[str, object]) -> None:
        """Give hosts a fault, in the place of one that they have of the same kind for the same statements or disk.

        Raises:
            EmulatorError: no such host, kind or option, or a value that makes no sense.
        """

    def clear_faults(self, hosts: Sequence[str] | None, kind: str | None) -> int:
        """End the faults of some hosts (None: of all), of one kind (None: of all), and return how many there were.

        Raises:
            EmulatorError: no such host or kind.
        """

    def describe(self) -> Json:
        """Return what ``status`` tells about the rack: name, databases, model, release, mode, speed, seed."""

    def program(
        self,
        name: str,
        host: str,
        login: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        files: Files,
        tty: bool,
        has_stdin: bool,
    ) -> Program:
        """Return the program ``name`` started by ``login`` on ``host``.

        Args:
            argv: without the program's name.
            files: those that it may name.
        """

    def give_files(self, files: Callable[[str], Files]) -> None:
        """Take what gives the files of a host."""

    def machine_files(self, host: str) -> Mapping[str, str]:
        """Return the files of /proc and /sys that tell of a host's machine, by path."""

    def moving_files(self, host: str) -> Mapping[str, str]:
        """Return those of them that change as time passes."""

    def wall_seconds(self, pause: Pause) -> float:
        """Return how long a pause lasts on the wall clock."""

    def start_load(self, *, db: str, redo: float | None, seconds: float, profile: str) -> StartedLoad:
        """Apply a load of ``seconds`` rack seconds from the next whole minute on.

        Args:
            db: empty for the rack's first database.
            redo: redo writes a second; None for the profile's own.

        Raises:
            EmulatorError: no such database or profile, or a rate or time that makes no sense.
        """

    def commit_load(self, *, db: str, sessions: int, commits: int) -> Iterator[None]:
        """Let sessions of a database commit one change after another, and yield now and then.

        Args:
            db: empty for the rack's first database.
            sessions: how many, all at the same time.
            commits: of each.

        Raises:
            EmulatorError: no such database, or a number makes no sense.
        """

    def uncounted(self) -> bool:
        """Whether redo writes of user sessions are not yet in the cells' counters."""

    def truth(self, *, db: str, known: Mapping[str, Any] | None) -> Mapping[str, object]:
        """Give the loads of a database a true effect, and return it with the database's name.

        Args:
            db: empty for the rack's first database.
            known: attributes of :class:`exacell.emulator.truth.Truth`; None only asks for what there is, {} takes it away.

        Raises:
            EmulatorError: no such database, or no load can be like that.
        """

    def load_left(self, number: int) -> float | None:
        """Return the wall seconds until a load is applied and collected, 0 when it is due; None when that is done."""

    def advance(self) -> None:
        """Bring counters, flushes and rebalances up to the rack's clock."""

    def play(self, enough: Callable[[], bool]) -> bool:
        """Bring the rack towards its clock until ``enough`` says so, and return whether it is there."""

    def hold_back(self) -> None:
        """Let the clock go on from what has been played."""

    def changed_parts(self, host: str) -> Mapping[str, Json]:
        """Return the parts of the state, by name, that a program on ``host`` has changed since the last call."""

    def moved_parts(self) -> Mapping[str, Json]:
        """Return the parts of the state, by name, that time has changed since the last call."""

    def to_state(self) -> Mapping[str, Json]:
        """Return all parts of the state by name, from which the rack can go on later."""
