"""The rows of the views of the workload repository: the snapshots, and the counters at the time of each.

Source: reference asm.md section 12; Oracle Database Reference, DBA_HIST_SNAPSHOT and its neighbours. Simplified: the only
snapshots are those of DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT; there are no hourly ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.versions import version_text
from exacell.emulator.database.event_rows import EVENTS, waited_of
from exacell.emulator.io.device_io import share
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.storage.databases import AwrSnapshot, Database


def take_snapshot(instance: Instance, database: Database) -> int:
    """Take a snapshot of a database's counters and return its number."""
    number = database.snapshots[-1].number + 1 if database.snapshots else 1
    asm = instance.asm
    counted = {name: int(value) for name, value in asm.statistics(database).items()}
    for node in asm.nodes:
        for name, value in asm.own_statistics(database, node).items():
            counted[name] = counted.get(name, 0) + int(value)
    database.snapshots.append(AwrSnapshot(number=number, taken=instance.asm.now(), counted=counted))
    return number


def _of_each_instance(instance: Instance) -> Iterator[tuple[AwrSnapshot, Database, int, dict[str, Value]]]:
    database = instance.database
    for snapshot in database.snapshots if database is not None else ():
        assert database is not None
        for node in range(len(instance.asm.nodes)):
            key: dict[str, Value] = {"SNAP_ID": snapshot.number, "DBID": database.dbid, "INSTANCE_NUMBER": node + 1}
            yield snapshot, database, node, key


def snapshots(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_HIST_SNAPSHOT, one for each instance; an interval begins where the one before ends."""
    for snapshot, database, _, key in _of_each_instance(instance):
        before = [s.taken for s in database.snapshots if s.number < snapshot.number]
        yield {
            **key,
            "STARTUP_TIME": from_epoch(instance.started),
            "BEGIN_INTERVAL_TIME": from_epoch(before[-1] if before else instance.started),
            "END_INTERVAL_TIME": from_epoch(snapshot.taken),
            "FLUSH_ELAPSED": "+00000 00:00:01.0",
            "SNAP_LEVEL": 1,
            "SNAP_FLAG": 1,
        }


def statistics(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_HIST_SYSSTAT."""
    nodes = len(instance.asm.nodes)
    for snapshot, _, node, key in _of_each_instance(instance):
        for name, value in snapshot.counted.items():
            number = zlib.crc32(name.encode())
            yield {**key, "STAT_ID": number, "STAT_NAME": name, "VALUE": share(value, node, nodes)}


def events(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_HIST_SYSTEM_EVENT."""
    nodes = len(instance.asm.nodes)
    for snapshot, _, node, key in _of_each_instance(instance):
        found = waited_of({name: share(value, node, nodes) for name, value in snapshot.counted.items()})
        for event in EVENTS:
            if event.name in found:
                waits, micros = found[event.name]
                yield {
                    **key,
                    "EVENT_ID": zlib.crc32(event.name.encode()),
                    "EVENT_NAME": event.name,
                    "WAIT_CLASS": event.wait_class,
                    "TOTAL_WAITS": waits,
                    "TIME_WAITED_MICRO": micros,
                    "TOTAL_WAITS_FG": waits,
                    "TIME_WAITED_MICRO_FG": micros,
                }


def instances(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_HIST_DATABASE_INSTANCE."""
    database = instance.database
    for node, host in enumerate(instance.asm.nodes if database is not None else ()):
        assert database is not None
        yield {
            "DBID": database.dbid,
            "INSTANCE_NUMBER": node + 1,
            "STARTUP_TIME": from_epoch(instance.started),
            "PARALLEL": "YES",
            "VERSION": version_text(instance.asm.version),
            "DB_NAME": database.name[:9],
            "INSTANCE_NAME": f"{database.name}{node + 1}",
            "HOST_NAME": host,
            "PLATFORM_NAME": "Linux x86 64-bit",
        }


def control(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the row of DBA_HIST_WR_CONTROL."""
    if instance.database is not None:
        yield {
            "DBID": instance.database.dbid,
            "SNAP_INTERVAL": "+00000 01:00:00.0",
            "RETENTION": "+00008 00:00:00.0",
            "TOPNSQL": "DEFAULT",
        }
