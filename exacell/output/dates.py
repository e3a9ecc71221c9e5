"""Times as this host writes them, for SET DATEFORMAT LOCAL."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from exacell.output.result import Record, Result


def with_local_dates(result: Result) -> Result:
    """Return ``result`` with the times in its columns in this host's form and zone, as SET DATEFORMAT LOCAL asks."""
    names = [column.name for column in result.columns if column.kind == "time"]

    def local(record: Record) -> Record:
        return {key: _local_time(value) if key in names else value for key, value in record.items()}

    return replace(result, records=[local(record) for record in result.records]) if names else result


def _local_time(value: object) -> object:
    try:
        return datetime.fromisoformat(str(value)).astimezone().strftime("%c")
    except ValueError:
        return value  # Not a time after all: shown as the cell printed it.
