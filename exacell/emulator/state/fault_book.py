"""Faults that are injected into an emulated rack: their kinds, when they act, and the list that remembers them.

A fault belongs to one host. Some faults last for a span of the rack's time (MS is down, a flash disk has failed); others strike
single statements or connections, and may pick them: every n-th, only the n-th, those that match an expression. Their effects
are in :mod:`exacell.emulator.faults.effects`. Times are the rack's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import RackClock

Option = str | int | float | bool


class Kind(StrEnum):
    """The kinds of faults of a host."""

    REFUSE = "refuse"
    HANG = "hang"
    SLOW = "slow"
    DROP = "drop"
    GARBAGE = "garbage"
    ERROR = "error"
    MS_DOWN = "ms-down"
    CELLSRV_DOWN = "cellsrv-down"
    STUCK_FLUSH = "stuck-flush"
    FLASH_DISK = "flash-disk"
    HARD_DISK = "hard-disk"
    REPLACE = "replace"
    HOST_KEY = "host-key"
    DISK_FULL = "disk-full"
    RESTART = "restart"
    UNGUARDED = "unguarded"
    QUARANTINE = "quarantine"
    KEPT_REDO = "kept-redo"
    BAD_SECTOR = "bad-sector"
    LOSSY_NETWORK = "lossy-network"
    POWER_OFF = "power-off"


STATEMENT_KINDS = frozenset((Kind.HANG, Kind.SLOW, Kind.DROP, Kind.GARBAGE, Kind.ERROR, Kind.RESTART))
"""Kinds that strike statements."""

ANY_HOST_KINDS = frozenset(
    (Kind.REFUSE, Kind.HANG, Kind.SLOW, Kind.DROP, Kind.GARBAGE, Kind.ERROR, Kind.HOST_KEY, Kind.POWER_OFF)
)
"""Kinds that a database node can have too; all others are for cells only."""

VARIANTS = ("stale", "error", "endless")
"""How a flush gets stuck: FC_BY_STALE_DIRTY is above 0, a disk reports flushError, or it never ends without a reason."""

DISK_STATUS = ("failed", "not present", "warning - predictive failure", "warning - poor performance")
"""The status of a broken disk, as LIST PHYSICALDISK prints it; ``not present`` is a pulled disk. Source: Oracle DBMMN,
maintaining flash disks; Oracle SAGUG, handling-disk-replacement.
"""

_DISKS: Mapping[Kind, str] = MappingProxyType({Kind.FLASH_DISK: "flash disk", Kind.HARD_DISK: "hard disk"})
_PICKING = frozenset(("every", "nth"))
_OWN_OPTIONS: Mapping[Kind, frozenset[str]] = MappingProxyType(
    {
        Kind.SLOW: frozenset(("delay",)),
        Kind.DROP: frozenset(("bytes",)),
        Kind.GARBAGE: frozenset(("bytes",)),
        Kind.ERROR: frozenset(("code",)),
        Kind.STUCK_FLUSH: frozenset(("variant",)),
        Kind.FLASH_DISK: frozenset(("disk", "status")),
        Kind.HARD_DISK: frozenset(("disk", "status")),
        Kind.REPLACE: frozenset(("disk", "bare")),
        Kind.DISK_FULL: frozenset(("disk",)),
        Kind.RESTART: frozenset(("down",)),
        Kind.KEPT_REDO: frozenset(("bytes",)),
        Kind.BAD_SECTOR: frozenset(("disk",)),
    }
)
_DEFAULTS: Mapping[Kind, Mapping[str, Option]] = MappingProxyType(
    {
        Kind.SLOW: {"delay": 2.0},
        Kind.DROP: {"bytes": 0},
        Kind.GARBAGE: {"bytes": 256},
        Kind.STUCK_FLUSH: {"variant": VARIANTS[0]},
        Kind.FLASH_DISK: {"disk": "", "status": DISK_STATUS[0]},
        Kind.HARD_DISK: {"disk": "", "status": DISK_STATUS[0]},
        Kind.REPLACE: {"disk": "", "bare": False},
        Kind.DISK_FULL: {"disk": ""},
        Kind.RESTART: {"down": 10.0},
        Kind.KEPT_REDO: {"bytes": 4 << 20},
        Kind.BAD_SECTOR: {"disk": ""},
    }
)
_CODE = re.compile(r"(CELL|ORA)-[0-9]{5}(:\s.*)?", re.DOTALL)
_MAX_BYTES = 1 << 24


def options_of(kind: Kind) -> tuple[str, ...]:
    """Return the names of the options for a fault of ``kind``."""
    picks = _PICKING if kind in STATEMENT_KINDS or kind is Kind.REFUSE else frozenset[str]()
    match = frozenset(("match",)) if kind in STATEMENT_KINDS else frozenset[str]()
    return tuple(sorted({"after", "for"} | picks | match | _OWN_OPTIONS.get(kind, frozenset())))


@dataclass(kw_only=True)
class Fault:
    """One fault of one host.

    Attributes:
        begins, ends: rack times; ``ends`` None means until it is cleared.
        match: expression that a statement must contain (in any case of letters); empty matches all.
        every: it strikes each n-th statement or connection that it could strike.
        nth: it strikes only the n-th; 0 for no such limit.
        options: the kind's own options, complete with defaults.
        seen, struck: how many statements or connections it could have struck, and how many it struck.
        applied: for kinds that last for a time, whether the host's state shows it.
        before: the earlier state, which is restored at the end.
    """

    host: str
    kind: Kind
    begins: float
    ends: float | None = None
    match: str = ""
    every: int = 1
    nth: int = 0
    options: dict[str, Option] = field(default_factory=dict)
    seen: int = 0
    struck: int = 0
    applied: bool = False
    before: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return a key: a new fault with the same key replaces this one (same host and kind, for the same statements or disk)."""
        return "|".join((self.host, self.kind, self.match, str(self.options.get("disk", ""))))

    @property
    def picks(self) -> bool:
        """Return whether it acts on single statements or connections rather than for a span of time."""
        return self.kind in STATEMENT_KINDS and (self.kind is not Kind.RESTART or self._picky)

    @property
    def _picky(self) -> bool:
        return bool(self.match or self.nth) or self.every > 1

    def active(self, now: float) -> bool:
        """Return whether it may act at ``now``."""
        return self.begins <= now and not self.over(now)

    def over(self, now: float) -> bool:
        """Return whether its time has passed."""
        return self.ends is not None and self.ends <= now

    def counts(self) -> bool:
        """Count one statement or connection that it could strike, and return whether it strikes it."""
        self.seen += 1
        strikes = self.seen == self.nth if self.nth else self.seen % self.every == 0
        self.struck += strikes
        return strikes


def make_fault(host: str, kind: str, options: Mapping[str, object], *, is_cell: bool, now: float) -> Fault:
    """Return the fault that a command's words describe.

    Args:
        options: after, for, delay and down in seconds, nth, every and bytes as whole numbers, the others as text.

    Raises:
        EmulatorError: there is no such kind or option, or a value makes no sense.
    """
    try:
        chosen = Kind(kind)
    except ValueError as error:
        raise EmulatorError(f"{kind} is no kind of fault; there are {', '.join(Kind)}") from error
    if not is_cell and chosen not in ANY_HOST_KINDS:
        raise EmulatorError(f"{chosen} is a fault of cells: {host} is a database node", hint="name a cell")
    known = options_of(chosen)
    for name in options:
        if name not in known:
            raise EmulatorError(f"a {chosen} fault takes no {name}=; its options are {', '.join(known)}")
    values = {**_DEFAULTS.get(chosen, {}), **options}
    fault = Fault(
        host=host,
        kind=chosen,
        begins=now + _number(values, "after", 0.0),
        match=str(values.get("match", "")),
        every=_whole(values, "every", 1),
        nth=_whole(values, "nth", 0),
        options={name: _own(chosen, name, values, is_cell) for name in sorted(_OWN_OPTIONS.get(chosen, ()))},
    )
    _check_match(fault.match)
    if fault.nth and fault.every > 1:
        raise EmulatorError("nth= and every= exclude each other: nth=3 is the third only, every=3 each third")
    if "for" in values:
        fault.ends = fault.begins + _number(values, "for", 0.0, above=0.0)
    if chosen is Kind.REPLACE:
        if fault.ends is not None:
            raise EmulatorError("a new disk is put in at one moment: replace takes after=, not for=")
        fault.ends = fault.begins
    if chosen is Kind.RESTART and not fault.picks:
        if fault.ends is not None:
            raise EmulatorError(
                "a restart that waits for no statement takes down= (how long CELLSRV is away), not for="
            )
        fault.ends = fault.begins + float(fault.options["down"])
    return fault


def _check_match(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise EmulatorError(
            f"match={pattern} is no regular expression: {error}",
            hint="a word is one already; . [ ] ( ) * + ? \\ mean something",
        ) from error


def _own(kind: Kind, name: str, values: Mapping[str, object], is_cell: bool) -> Option:
    """Return one of a kind's own options after checking it."""
    if name in ("delay", "down"):
        return _number(values, name, 0.0, above=0.0)
    if name == "bytes":
        return _whole(values, name, 0, limit=_MAX_BYTES)
    if name == "bare":
        return _truth(values, name)
    text = str(values.get(name, "")).strip()
    if name == "variant" and text not in VARIANTS:
        raise EmulatorError(f"variant={text} is no way to get stuck; there are {', '.join(VARIANTS)}")
    if name == "status" and text not in DISK_STATUS:
        raise EmulatorError(f"status='{text}' is none of a broken {_DISKS[kind]}; there are {', '.join(DISK_STATUS)}")
    if name == "code":
        return _code(text, is_cell)
    return text


def _truth(values: Mapping[str, object], name: str) -> bool:
    value = values[name]
    if not isinstance(value, bool):
        raise EmulatorError(f"{name}={value} is neither yes nor no")
    return value


def _code(text: str, is_cell: bool) -> str:
    family = "CELL" if is_cell else "ORA"
    line = f"{family}-{int(text):05d}" if text.isdecimal() and len(text) <= 5 else text
    found = _CODE.fullmatch(line)
    if found is None or found[1] != family:
        raise EmulatorError(
            f"code={text} is no error of this host: {family}- and five digits, with ': text' behind it if you like",
            hint=f"for example code={'CELL-02559' if is_cell else 'ORA-15041'}",
        )
    return line


def _number(values: Mapping[str, object], name: str, default: float, *, above: float = -1.0) -> float:
    value = values.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise EmulatorError(f"{name} must be a number, not '{value}' of seconds", hint="such as 2, 0.5 or 30")
    if not above < value <= 366 * 86400 or value < 0:
        raise EmulatorError(f"{name}={value:g} is not possible: seconds from 0 on, at most a year")
    return float(value)


def _whole(values: Mapping[str, object], name: str, default: int, *, limit: int = 1_000_000) -> int:
    value = values.get(name, default)
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or not 0 <= value <= limit
        or (not value and name in _PICKING and name in values)
    ):
        raise EmulatorError(f"{name}={value} is no whole number from {int(name in _PICKING)} to {limit}")
    return value


def _nobody_listens(host: str) -> None:
    """Do nothing on a restart: a rack that is not served has no connections."""


def _nobody_waits() -> None:
    """Do nothing on a change of the faults."""


class FaultBook:
    """All faults of one rack.

    Attributes:
        revision: a number that changes with every change of the faults.
        on_restart: called with the name of a host that restarts; it must close all connections to the host.
        on_power: called with the name of a host that goes down or comes up, and whether it is up.
        on_change: called when a program on a host has added or ended a fault.
    """

    def __init__(self, clock: RackClock) -> None:
        self.revision = 0
        self.on_restart: Callable[[str], None] = _nobody_listens
        self.on_power: Callable[[str, bool], None] = lambda *_: None
        self.on_change: Callable[[], None] = _nobody_waits
        self._clock = clock
        self._faults: dict[str, Fault] = {}

    def __bool__(self) -> bool:
        return bool(self._faults)

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._faults.values()))

    def has(self, fault: Fault) -> bool:
        """Return whether a fault is neither cleared nor replaced."""
        return self._faults.get(fault.key) is fault

    def put(self, fault: Fault) -> Fault | None:
        """Add a fault and return the one that it replaces, or None."""
        self.revision += 1
        replaced = self._faults.pop(fault.key, None)
        self._faults[fault.key] = fault
        return replaced

    def remove(self, fault: Fault) -> None:
        """Forget a fault."""
        self.revision += 1
        self._faults.pop(fault.key, None)

    def holds_on(self, fault: Fault) -> bool:
        """Return whether a fault is neither over nor cleared nor replaced."""
        return self.has(fault) and fault.active(self._clock.now())

    def struck(self, host: str, text: str) -> list[Fault]:
        """Return the faults that strike a statement on a host, in the order in which they were injected."""
        now = self._clock.now()
        possible = [
            fault
            for fault in self
            if fault.host == host and fault.picks and fault.active(now) and re.search(fault.match, text, re.IGNORECASE)
        ]
        self.revision += len(possible)
        return [fault for fault in possible if fault.counts()]

    def refuses(self, host: str) -> bool:
        """Return whether a new connection to a host is refused."""
        if self.holds(host, Kind.POWER_OFF):
            return True
        now = self._clock.now()
        refusing = [f for f in self if f.host == host and f.kind is Kind.REFUSE and f.active(now)]
        self.revision += len(refusing)
        return any(fault.counts() for fault in refusing)

    def holds(self, host: str, kind: Kind) -> bool:
        """Return whether a host has an active fault of ``kind``."""
        now = self._clock.now()
        return any(fault.host == host and fault.kind is kind and fault.active(now) for fault in self)

    def next_change(self) -> float | None:
        """Return the wall seconds until the next fault begins or ends by itself; None if no fault will.

        0 if a fault is due but its beginning or end has not been applied yet.
        """
        now = self._clock.now()
        moments = [fault.begins for fault in self if not fault.applied]
        moments += [fault.ends for fault in self if fault.ends is not None]
        return max(0.0, min(moments) - now) / self._clock.speed if moments else None

    def rows(self) -> list[dict[str, object]]:
        """Return a row for every fault, by host; times are rack seconds from now."""
        now = self._clock.now()
        return [
            {
                "host": fault.host,
                "kind": fault.kind.value,
                "state": "active" if fault.active(now) else "over" if fault.over(now) else "waiting",
                "begins": round(max(0.0, fault.begins - now), 3),
                "ends": None if fault.ends is None else round(max(0.0, fault.ends - now), 3),
                "match": fault.match,
                "every": fault.every,
                "nth": fault.nth or None,
                "seen": fault.seen,
                "struck": fault.struck,
                "options": dict(fault.options),
            }
            for fault in sorted(self, key=lambda fault: fault.host)
        ]

    def to_state(self) -> list[dict[str, Any]]:
        """Return everything as JSON-able data."""
        return [asdict(fault) for fault in self]

    @classmethod
    def from_state(cls, rows: list[dict[str, Any]], clock: RackClock) -> FaultBook:
        """Return the book that :meth:`to_state` stored."""
        book = cls(clock)
        for row in rows:
            book.put(Fault(**{**row, "kind": Kind(row["kind"])}))
        return book
