"""Quarantines of a cell: objects that CELLSRV keeps out of smart scans because it crashed on them before."""

from __future__ import annotations

import random

from exacell.emulator.cell.alert_models import Alert
from exacell.emulator.cell.models import Cell, Record
from exacell.emulator.state.build import guid
from exacell.emulator.state.view import RackView

_SQL_ID = "0123456789abcdfghjkmnpqrstuvwxyz"


def add_quarantine(rack: RackView, cell: Cell, values: Record) -> str:
    """Add a quarantine and return its name, the next number.

    Args:
        values: its attributes, without those that the cell sets itself.
    """
    known = cell.records.setdefault("QUARANTINE", {})
    cell.quarantines_made += 1
    name = str(cell.quarantines_made)
    known[name] = {
        "cellsrvChecksum": guid(f"{rack.release.version}|cellsrv").replace("-", ""),
        "creationTime": rack.now(),
        "rpmVersion": rack.release.rpm,
        **values,
    }
    rack.touch(cell)
    return name


def quarantine_by_crash(rack: RackView, cell: Cell, database: str) -> str:
    """Quarantine a statement of a database on which CELLSRV crashed, and raise an alert; return the quarantine's name."""
    rng = random.Random(f"{rack.spec.seed}|quarantine|{cell.host}|{cell.quarantines_made}")
    sql_id = "".join(rng.choice(_SQL_ID) for _ in range(13))
    incident = str(rng.randrange(100, 999))
    name = add_quarantine(
        rack,
        cell,
        {
            "clientPID": rng.randrange(10_000, 300_000),
            "crashReason": "ORA-600[CacheGet::process:C1, 0]",
            "dbUniqueName": database,
            "incidentID": incident,
            "quarantineMode": "FULL Quarantine",
            "quarantinePlan": "SYSTEM",
            "quarantineReason": "Crash",
            "quarantineType": "SQL PLAN",
            "planLineID": rng.randrange(1, 9),
            "remoteHostName": rack.dbnodes[0],
            "sqlID": sql_id,
            "sqlPlanHashValue": rng.randrange(10**9, 4 * 10**9),
        },
    )
    cell.alert_sequences += 1
    cell.alerts.append(
        Alert(
            name=str(cell.alert_sequences),
            sequence=cell.alert_sequences,
            short_name="ADR",
            begin_time=rack.now(),
            sequence_begin=rack.now(),
            severity="critical",
            message=f"CELLSRV has quarantined statement {sql_id} of database {database} after incident {incident}.",
            action="Drop the quarantine when the cause has been removed.",
            owner="",
            value=0.0,
        )
    )
    return name
