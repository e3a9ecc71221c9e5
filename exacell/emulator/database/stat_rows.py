"""The rows of the views of statistics: V$SYSSTAT, V$STATNAME, V$SESSTAT, V$MYSTAT.

Names and meanings follow reference asm.md section 11. An instance has its even share of its database's counters on all nodes.
Sessions have no counters: the load's own sessions are not shown.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from exacell.emulator.asm.instances import Instance
from exacell.emulator.io.database_io import STATISTICS
from exacell.emulator.sql.values import Value
from exacell.emulator.work.sessions import OWN_SESSION


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
