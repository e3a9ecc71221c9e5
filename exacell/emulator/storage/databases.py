"""The emulated databases' use of storage: their redo log groups, and the changes that SQL makes to these.

Source: reference asm.md section 10 (V$LOG, V$LOGFILE, ADD and DROP LOGFILE, block sizes).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.storage.segments import Segment, segments_from_state
from exacell.emulator.storage.tracing import EnabledTrace

OVERRIDE = "_disk_sector_size_override"
"""A parameter: while it is TRUE, block sizes of redo logs are not checked."""

CACHE_FILE, CACHE_SIZE = "db_flash_cache_file", "db_flash_cache_size"
"""Parameters of the database's own flash cache. Source: Oracle Database Reference, DB_FLASH_CACHE_FILE, DB_FLASH_CACHE_SIZE."""

BLOCK_SIZES = (512, 1024, 4096)
DEFAULT_LOG_BYTES = 100 << 20
"""Size of a log member when the statement gives none."""


@dataclass(kw_only=True)
class RedoGroup:
    """One redo log group. ``members`` are complete file names, ``+DATA/SPOT/ONLINELOG/group_1.261.1123456789``."""

    number: int
    thread: int
    sequence: int
    size_bytes: int
    block_size: int
    members: list[str]
    status: str
    archived: bool
    first_change: int
    first_time: float


@dataclass(kw_only=True)
class AwrSnapshot:
    """A snapshot of the workload repository: its time, and the counters of all instances."""

    number: int
    taken: float
    counted: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class IoCalibration:
    """The result of CALIBRATE_IO: its times in rack time, and requests and MB in a second."""

    started: float
    ended: float
    iops: int
    mbps: int
    process_mbps: int
    latency_ms: int
    disks: int


@dataclass(frozen=True, kw_only=True)
class StoredRoutine:
    """A procedure or function stored in a database: its text from that word on, and its errors, line by line."""

    kind: str
    source: str
    errors: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Database:
    """One database, open on every node.

    Attributes:
        change: the system change number now.
        routines: stored procedures and functions by name.
        parameters: values that ALTER SYSTEM has set in the memory of all instances.
        spfile: values in the server parameter file beyond those that the database was made with.
        own, own_spfile: the same by instance, for values set with SID; they take precedence.
        snapshots: of the workload repository, oldest first.
        traces: tracing that DBMS_MONITOR has switched on for more than one session.
        calibration: the last run of CALIBRATE_IO.
        standby: log groups for a standby database; here they stay empty.
    """

    name: str
    dbid: int
    created: float
    started: float
    change: int
    redo: list[RedoGroup] = field(default_factory=list)
    standby: list[RedoGroup] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    snapshots: list[AwrSnapshot] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    spfile: dict[str, str] = field(default_factory=dict)
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    own_spfile: dict[str, dict[str, str]] = field(default_factory=dict)
    routines: dict[str, StoredRoutine] = field(default_factory=dict)
    traces: list[EnabledTrace] = field(default_factory=list)
    calibration: IoCalibration | None = None

    def in_memory(self, sid: str) -> dict[str, str]:
        """Return the parameters that ALTER SYSTEM has set in the memory of an instance."""
        return self.parameters | self.own.get(sid, {})

    def group(self, number: int, *, standby: bool = False) -> RedoGroup:
        """Return a redo log group, or one of those for a standby database.

        Raises:
            OraError: ORA-01590 if there is no group of that number.
        """
        for group in self.standby if standby else self.redo:
            if group.number == number:
                return group
        raise OraError(ora(1590, number))

    def of_thread(self, thread: int) -> list[RedoGroup]:
        """Return the groups of one thread by number."""
        return sorted((group for group in self.redo if group.thread == thread), key=lambda group: group.number)

    def switch(self, thread: int, now: float) -> None:
        """Make the next group of a thread the current one: an unused group first, else the one used longest ago."""
        groups = self.of_thread(thread)
        current = next((group for group in groups if group.status == "CURRENT"), None)
        others = [group for group in groups if group is not current]
        if not others:
            return
        following = min(others, key=lambda group: (group.status != "UNUSED", group.sequence, group.number))
        self.change += 1000
        if current is not None:
            current.status, current.archived = "ACTIVE", True
        following.sequence = max(group.sequence for group in groups) + 1
        following.status, following.archived = "CURRENT", False
        following.first_change, following.first_time = self.change, now

    def checkpoint(self) -> None:
        """Write all changes to disk, so that only the current groups are needed for recovery."""
        self.change += 100
        for group in self.redo:
            if group.status == "ACTIVE":
                group.status = "INACTIVE"

    def check_drop(self, number: int) -> RedoGroup:
        """Return the group if it may be dropped.

        Raises:
            OraError: ORA-01590, 01623, 01624 or 01567.
        """
        group = self.group(number)
        instance = f"{self.name}{group.thread}"
        if group.status == "CURRENT":
            raise OraError(ora(1623, number, instance, group.thread))
        if group.status == "ACTIVE":
            raise OraError(ora(1624, number, instance, group.thread))
        if len(self.of_thread(group.thread)) <= 2:
            raise OraError(ora(1567, number, instance, group.thread))
        return group


def database_to_state(database: Database) -> dict[str, Any]:
    """Return a database as JSON-able data."""
    return asdict(database)


def database_from_state(state: dict[str, Any]) -> Database:
    """Return the database that :func:`database_to_state` stored."""
    redo, standby = ([RedoGroup(**row) for row in state.get(kind, [])] for kind in ("redo", "standby"))
    snapshots = [AwrSnapshot(**row) for row in state.get("snapshots", [])]
    routines = {name: StoredRoutine(**row) for name, row in state.get("routines", {}).items()}
    segments = segments_from_state(state.get("segments", []))
    traces = [EnabledTrace(**row) for row in state.get("traces", [])]
    calibration = IoCalibration(**state["calibration"]) if state.get("calibration") else None
    made = {
        "redo": redo,
        "standby": standby,
        "segments": segments,
        "snapshots": snapshots,
        "routines": routines,
        "traces": traces,
        "calibration": calibration,
    }
    known = dict(state)
    if known.pop("override_sector_size", False):  # Racks that were made by earlier versions keep it here.
        made["parameters"] = {**state.get("parameters", {}), OVERRIDE: "TRUE"}
    return Database(**{**known, **made})
