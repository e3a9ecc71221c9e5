"""The rows of V$CELL_STATE: what CELLSRV reports to databases about itself, as XML.

Source: Oracle Database Reference, V$CELL_STATE; reference asm.md section 11 (``<stat name="FL_FLASH_FIRST">``); the
elements are those that published queries look for (hyee/dbcli, oracle/exa). Simplified: FLASHLOG, CELL and NPHYSDISKS only.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import quoteattr

from exacell.emulator.asm.instances import Instance
from exacell.emulator.cell.models import RUNNING, Cell
from exacell.emulator.sql.values import Value


def states(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$CELL_STATE; a cell whose CELLSRV is down has no rows."""
    rack = instance.asm.rack
    for host, cell in rack.cells.items():
        if cell.services["CELLSRV"] != RUNNING:
            continue
        counters = rack.metrics[host].counters
        flash_log = {name: int(value) for name, value in counters.items() if name.startswith("FL_")}
        caches = {name: int(value) for name, value in counters.items() if name.startswith(("FC_", "SIO_"))}
        disks = len(cell.physical_disks)
        yield _row(cell, "CELL", "", _xml("cell_stats", caches.items()))
        yield _row(cell, "FLASHLOG", "", _xml("flashlog_stats", flash_log.items()))
        for name in _log_disks(cell):
            yield _row(cell, "FLASHLOG", name, _xml("flashlogstore_stats", [("celldisk", name)]))
        yield _row(cell, "NPHYSDISKS", "", _xml("nphysdisks_stats", [("nphysdisks", disks)]))


def _log_disks(cell: Cell) -> list[str]:
    return sorted(cell.flash_log.members) if cell.flash_log is not None else []


def _row(cell: Cell, kind: str, name: str, text: str) -> dict[str, Value]:
    return {
        "CELL_NAME": cell.ip,
        "CELL_HASHVAL": zlib.crc32(cell.ip.encode()),
        "STATISTICS_TYPE": kind,
        "OBJECT_NAME": name or None,
        "STATISTICS_VALUE": text,
    }


def _xml(element: str, values: Iterable[tuple[str, int | str]]) -> str:
    lines = "".join(f"<stat name={quoteattr(name)}>{value}</stat>\n" for name, value in sorted(values))
    return f"<{element}>\n{lines}</{element}>\n"
