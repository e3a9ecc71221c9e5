"""The rows of the views of wait events and of statistics: the waits of a database's sessions, computed from its counters.

Names and classes are those of the Oracle Database Reference, "Oracle Wait Events", and of Oracle SAGUG, "Monitoring … using
database statistics and wait events". The average time of a read is made up, except for the database's own flash cache: a
published AWR report of 11.2 has 450 microseconds. Redo waits are those of V$SYSSTAT.

Names of statistics follow reference asm.md section 11. An instance has its even share of its database's counters on all nodes.
Sessions have none: the load's own sessions are not shown.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from exacell.emulator.asm.instances import Instance
from exacell.emulator.database.session_rows import sessions
from exacell.emulator.io.database_io import STATISTICS
from exacell.emulator.io.wait_sizes import sizes, spread
from exacell.emulator.sql.values import Value, number_of
from exacell.emulator.work.reading import (
    DIRECT,
    DISK_US,
    FLASH_US,
    GRID_DISK_US,
    KEYED,
    OWN_READ,
    OWN_US,
    READ,
    SCAN,
    SCAN_US,
    SCANNED_AT_ONCE,
)
from exacell.emulator.work.sessions import OWN_SESSION

_CLASSES = {
    "Other": (1893977003, 0),
    "Application": (4217450380, 1),
    "Configuration": (3290255840, 2),
    "Concurrency": (3875070507, 4),
    "Commit": (3386400367, 5),
    "Idle": (2723168908, 6),
    "Network": (2000153315, 7),
    "User I/O": (1740759767, 8),
    "System I/O": (4108307767, 9),
}
"""Identifier and number of each class."""


@dataclass(frozen=True)
class _Event:
    """A wait event: its class, the counter of its waits, how many of those make one wait, and the microseconds of each wait.

    Attributes:
        time: the statistic with the total time, and the microseconds of one of its units; without it each wait takes ``each_us``.
        from_disk_us: microseconds of each wait that the flash cache did not serve, if those take longer; else 0.
    """

    name: str
    wait_class: str
    counted: str = ""
    of_each: int = 1
    each_us: int = 0
    time: tuple[str, int] = ("", 0)
    from_disk_us: int = 0


_HITS, _REQUESTS = "cell flash cache read hits", "physical read IO requests"

EVENTS = (
    _Event(READ, "User I/O", _REQUESTS, 1, FLASH_US, from_disk_us=DISK_US),
    _Event("cell multiblock physical read", "User I/O", _REQUESTS, 40, 1850),
    _Event("cell list of blocks physical read", "User I/O", _REQUESTS, 120, 1400),
    _Event(SCAN, "User I/O", "cell physical IO bytes eligible for predicate offload", SCANNED_AT_ONCE, SCAN_US),
    _Event(
        "cell smart index scan", "User I/O", "cell physical IO bytes eligible for predicate offload", 512 << 20, 1700
    ),
    _Event("cell smart file creation", "User I/O"),
    _Event("cell smart incremental backup", "System I/O"),
    _Event("cell smart restore from backup", "System I/O"),
    _Event("cell statistics gather", "User I/O"),
    _Event("cell external table smart scan", "User I/O"),
    _Event("cell single block read request", "User I/O"),
    _Event("cell multiblock read request", "User I/O"),
    _Event("cell interconnect retransmit during physical read", "User I/O"),
    _Event("cell worker idle", "Idle"),
    _Event(OWN_READ, "User I/O", "physical read flash cache hits", 1, OWN_US),
    _Event("db file sequential read", "User I/O"),
    _Event("db file scattered read", "User I/O"),
    _Event("direct path read", "User I/O", _REQUESTS, 900, 900),
    _Event("direct path write", "User I/O"),
    _Event("db file parallel write", "System I/O", "physical write IO requests", 8, 900),
    _Event("control file sequential read", "System I/O", "redo writes", 60, 480),
    _Event("control file parallel write", "System I/O", "redo writes", 90, 900),
    _Event("log file parallel write", "System I/O", "redo writes", time=("redo write time", 10_000)),
    _Event("log file sync", "Commit", "redo synch writes", time=("redo synch time (usec)", 1)),
    _Event("log file switch completion", "Configuration"),
    _Event("log buffer space", "Configuration"),
    _Event("free buffer waits", "Configuration"),
    _Event("buffer busy waits", "Concurrency"),
    _Event("latch free", "Other"),
    _Event("ASM file metadata operation", "Other"),
    _Event("SQL*Net message to client", "Network", "execute count", 2, 1),
    _Event("SQL*Net message from client", "Idle", "execute count", 2, 4000),
    _Event("rdbms ipc message", "Idle"),
)


def _described(event: _Event) -> dict[str, Value]:
    identifier, number = _CLASSES[event.wait_class]
    return {
        "WAIT_CLASS_ID": identifier,
        "WAIT_CLASS#": number,
        "WAIT_CLASS": event.wait_class,
        "EVENT_ID": zlib.crc32(event.name.encode()),
    }


def event_names(_: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$EVENT_NAME."""
    for number, event in enumerate(EVENTS, start=1):
        parameters = ("cellhash#", "diskhash#", "bytes") if event.name.startswith("cell ") else (None, None, None)
        yield {
            **_described(event),
            "EVENT#": number,
            "NAME": event.name,
            "DISPLAY_NAME": event.name,
            **{f"PARAMETER{place}": text for place, text in enumerate(parameters, start=1)},
        }


def waited(instance: Instance) -> dict[str, tuple[int, int]]:
    """Return (waits, microseconds) of each event for which an instance has waited; empty on ASM."""
    return waited_of(instance.counted())


def waited_of(counted: Mapping[str, float]) -> dict[str, tuple[int, int]]:
    """Return (waits, microseconds) of each event, computed from the counters of an instance."""
    found: dict[str, tuple[int, int]] = {}
    for event in EVENTS:
        single = counted.get(KEYED, 0) if event.of_each > 1 and event.counted == _REQUESTS else 0
        waits = int(counted.get(event.counted, 0) - single) // event.of_each
        if waits:
            statistic, unit = event.time
            whole = int(counted.get(statistic, 0)) * unit if statistic else waits * event.each_us
            if event.from_disk_us:
                direct = int(counted.get(DIRECT, 0))
                whole += (_from_disk(counted, waits) - direct) * (event.from_disk_us - event.each_us)
                whole += direct * (GRID_DISK_US - event.each_us)
            found[event.name] = waits, whole
    return found


def _times(waits: int, micros: int) -> dict[str, Value]:
    average = number_of(round(Decimal(micros) / 10_000 / waits, 2)) if waits else 0
    return {
        "TOTAL_WAITS": waits,
        "TIME_WAITED": micros // 10_000,
        "AVERAGE_WAIT": average,
        "TIME_WAITED_MICRO": micros,
        "TOTAL_WAITS_FG": waits,
        "TIME_WAITED_FG": micros // 10_000,
        "AVERAGE_WAIT_FG": average,
        "TIME_WAITED_MICRO_FG": micros,
    }


def system_events(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SYSTEM_EVENT. Only background processes wait for writes, so those events have no foreground part."""
    found = waited(instance)
    for event in EVENTS:
        if event.name in found:
            waits, micros = found[event.name]
            row = {**_described(event), "EVENT": event.name, **_times(waits, micros)}
            if event.wait_class == "System I/O":
                row |= {name: 0 for name in row if name.endswith("_FG")}
            yield row


def wait_classes(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SYSTEM_WAIT_CLASS."""
    found = waited(instance)
    for name, (identifier, number) in _CLASSES.items():
        own = [found[event.name] for event in EVENTS if event.wait_class == name and event.name in found]
        if own:
            waits, micros = sum(w for w, _ in own), sum(m for _, m in own)
            yield {
                "WAIT_CLASS_ID": identifier,
                "WAIT_CLASS#": number,
                "WAIT_CLASS": name,
                "TOTAL_WAITS": waits,
                "TIME_WAITED": micros // 10_000,
                "TOTAL_WAITS_FG": waits,
                "TIME_WAITED_FG": micros // 10_000,
            }


def _sizes(instance: Instance) -> Iterator[tuple[dict[str, Value], dict[int, int]]]:
    """Yield each event that was waited for, with its number of waits by upper bound, a power of two of microseconds."""
    counted = instance.counted()
    for number, event in enumerate(EVENTS, start=1):
        waits, micros = waited_of(counted).get(event.name, (0, 0))
        if not waits:
            continue
        found = sizes(counted, event.name, waits)
        if not found:
            slow = _from_disk(counted, waits) if event.from_disk_us else 0
            quick = event.each_us if event.from_disk_us else micros / waits
            found = spread(waits - slow, quick)
            for upper, count in spread(slow, event.from_disk_us).items():
                found[upper] = found.get(upper, 0) + count
        yield {"EVENT#": number, "EVENT": event.name}, found


def event_histogram(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$EVENT_HISTOGRAM: waits by power of two in milliseconds."""
    for event, found in _sizes(instance):
        millis: dict[int, int] = {}
        for upper, count in found.items():
            millis[max(1, upper // 1024)] = millis.get(max(1, upper // 1024), 0) + count
        for upper, count in sorted(millis.items()):
            yield {**event, "WAIT_TIME_MILLI": upper, "WAIT_COUNT": count}


def event_histogram_micro(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$EVENT_HISTOGRAM_MICRO: waits by power of two in microseconds."""
    for event, found in _sizes(instance):
        for upper, count in sorted(found.items()):
            yield {**event, "WAIT_TIME_MICRO": upper, "WAIT_COUNT": count, "WAIT_TIME_FORMAT": _said(upper)}


def _said(micros: int) -> str:
    """Return a bucket's time as WAIT_TIME_FORMAT shows it: 1024 microseconds are 1 millisecond."""
    number, unit = (
        (micros, "microsecond")
        if micros < 1000
        else (micros // 1000, "millisecond")
        if micros < 1_000_000
        else (micros // 1_000_000, "second")
    )
    return f"{number} {unit}{'s' if number != 1 else ''}"


def _from_disk(counted: Mapping[str, float], waits: int) -> int:
    """Return the number of reads that the flash cache did not serve."""
    return max(0, waits - int(counted.get(_HITS, 0) - counted.get(f"{_HITS} for smart IO", 0)))


def session_events(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SESSION_EVENT: messages to the client, and the waits of open sessions."""
    events = {event.name: event for event in EVENTS}
    talk = "SQL*Net message to client"
    opened = instance.asm.rack.work.desk(instance).sessions if instance.database is not None else {}
    for sid, waited in {OWN_SESSION: {}, **{sid: session.waited for sid, session in opened.items()}}.items():
        yield {**_described(events[talk]), "SID": sid, "EVENT": talk, **_times(12, 36), "MAX_WAIT": 0}
        for name, its in waited.items():
            times = {**_times(its.waits, its.total), "MAX_WAIT": its.most // 10_000}
            yield {**_described(events[name]), "SID": sid, "EVENT": name, **times}


def session_waits(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SESSION_WAIT."""
    for session in sessions(instance):
        event = next((event for event in EVENTS if event.name == session["EVENT"]), None)
        yield {
            **(_described(event) if event else {}),
            "SID": session["SID"],
            "SEQ#": 1,
            "EVENT": session["EVENT"],
            "STATE": session["STATE"],
            "SECONDS_IN_WAIT": session["LAST_CALL_ET"],
        }


def _names() -> Iterator[dict[str, Value]]:
    for number, (name, group) in enumerate(STATISTICS):
        yield {"STATISTIC#": number, "NAME": name, "CLASS": group, "STAT_ID": zlib.crc32(name.encode())}


def sysstat(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SYSSTAT; none on an ASM instance."""
    counted = instance.counted()
    for row in _names():
        yield {**row, "VALUE": int(counted.get(str(row["NAME"]), 0))}


def statname(_: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$STATNAME."""
    for row in _names():
        yield {**row, "DISPLAY_NAME": row["NAME"]}


def session_statistics(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SESSTAT and V$MYSTAT: only those of the session that asks."""
    for row in _names():
        yield {"SID": instance.sid or OWN_SESSION, "STATISTIC#": row["STATISTIC#"], "VALUE": 0}
