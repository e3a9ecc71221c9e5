"""DBMS_RESOURCE_MANAGER.CALIBRATE_IO: a database's reads from the disks of its data files, and the view of the last run.

Source: Oracle PL/SQL Packages and Types Reference, DBMS_RESOURCE_MANAGER; Oracle Database Reference, DBA_RSRC_IO_CALIBRATE;
reference measurement.md 5. Simplified: the figures are those of the disks, the same in each run except for chance; the
databases' load is ignored.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.values import Value, from_epoch, to_number
from exacell.emulator.storage.databases import IoCalibration

CALIBRATE_IO = "DBMS_RESOURCE_MANAGER.CALIBRATE_IO"
PARAMETERS = ("num_physical_disks", "max_latency", "max_iops", "max_mbps", "actual_latency")
_GIVEN = {"num_physical_disks": 1, "max_latency": 20}
"""Default values of the call's parameters."""
LASTS_S = 720.0
"""Rack seconds that a run takes."""


@dataclass(frozen=True)
class _Disk:
    """The most that one disk reads: small requests and MB in a second, and the milliseconds of a request then."""

    iops: int
    mbps: float
    latency_ms: float


_HARD, _FLASH = _Disk(180, 105.0, 11.0), _Disk(9000, 195.0, 1.0)


def arguments(values: Sequence[Value | bool], names: Sequence[str]) -> dict[str, Value | bool]:
    """Return the arguments of a call by parameter name.

    Raises:
        OraError: PLS-00306 as ORA-06553 if they do not fit the procedure.
    """
    found: dict[str, Value | bool] = {}
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        known = name.lower() or (PARAMETERS[place] if place < len(PARAMETERS) else "")
        if known not in PARAMETERS:
            raise OraError(ora(6553, CALIBRATE_IO))
        found[known] = value
    if any(name not in found for name in PARAMETERS[2:]):
        raise OraError(ora(6553, CALIBRATE_IO))
    return found


def calibrate_io(instance: Instance, given: Mapping[str, Value | bool]) -> dict[str, int]:
    """Measure over the rack seconds just passed, store the result with the database, and return the values of the OUT parameters.

    Raises:
        OraError: ORA-01109 on an ASM instance.
    """
    asm, database = instance.asm, instance.database
    if database is None:
        raise OraError(ora(1109))
    wanted = {
        name: default if isinstance(given.get(name), bool) else int(to_number(given.get(name)) or default)
        for name, default in _GIVEN.items()
    }
    flash = {disk.name: disk.flash for disk in asm.discover()}
    holding = [group for group in asm.groups.values() if any(f.database == database.name for f in group.files)]
    disks = [_FLASH if flash.get(disk.grid_disk) else _HARD for group in holding for disk in group.disks.values()]
    now = asm.now()
    factor = random.Random(f"{database.dbid}|{now}").uniform(0.97, 1.03)
    mbps = sum(disk.mbps for disk in disks) * factor
    found = database.calibration = IoCalibration(
        started=now - LASTS_S,
        ended=now,
        iops=round(sum(disk.iops for disk in disks) * factor),
        mbps=round(mbps),
        process_mbps=round(min(mbps, 900.0)),
        latency_ms=round(min(wanted["max_latency"], max((disk.latency_ms for disk in disks), default=0))),
        disks=wanted["num_physical_disks"],
    )
    return {"max_iops": found.iops, "max_mbps": found.mbps, "actual_latency": found.latency_ms}


def last_run(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the row of DBA_RSRC_IO_CALIBRATE, which has only the last run."""
    found = instance.database.calibration if instance.database is not None else None
    if found is not None:
        yield {
            "START_TIME": from_epoch(found.started),
            "END_TIME": from_epoch(found.ended),
            "MAX_IOPS": found.iops,
            "MAX_MBPS": found.mbps,
            "MAX_PMBPS": found.process_mbps,
            "LATENCY": found.latency_ms,
            "NUM_PHYSICAL_DISKS": found.disks,
        }
