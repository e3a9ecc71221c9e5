"""The rows of V$CELL and V$CELL_CONFIG: what instances know of the cells, the configuration as CellCLI's own XML.

Source: Oracle Database Reference, V$CELL, V$CELL_CONFIG; the types of configuration and the path ``/cli-output/<object>``
from tanelpoder/tpt-oracle, exadata. The hash values are ours.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping

from exacell.emulator.cellcli import cellcli
from exacell.emulator.instances import Instance
from exacell.emulator.program import Out
from exacell.emulator.sql_values import Value

_LISTS = {
    "CELL": "cell",
    "CELLDISKS": "celldisk",
    "GRIDDISKS": "griddisk",
    "IORM": "iormplan",
    "LUNS": "lun",
    "PHYSICALDISKS": "physicaldisk",
}
"""CONFTYPE → what is listed."""


def cells(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$CELL."""
    for cell in instance.asm.rack.cells.values():
        yield {"CELL_PATH": cell.ip, "CELL_HASHVAL": zlib.crc32(cell.ip.encode())}


def configurations(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$CELL_CONFIG."""
    rack = instance.asm.rack
    for host, cell in rack.cells.items():
        for kind, listed in _LISTS.items():
            asked = ["-xml", "-e", f"list {listed} detail"]
            running = cellcli(rack, host, "celladmin", asked, tty=False, has_stdin=False)
            text = "".join(event.text for event in running if isinstance(event, Out) and not event.err)
            yield {"CELLNAME": cell.ip, "CONFTYPE": kind, "CONFVAL": _as_configuration(text)}


def _as_configuration(text: str) -> str:
    """Return a listing as V$CELL_CONFIG has it: physical disks have an id, by which cell disks name them; the IORM plan
    is an interdatabaseplan. Source: tanelpoder/tpt-oracle, exadata/exadisktopo.sql, celliorm.sql.
    """
    if "<id>" not in text:
        text = re.sub(r"(<physicalSerial>([^<]*)</physicalSerial>)", r"\1\n<id>\2</id>", text)
    return text.replace("<iormplan>", "<interdatabaseplan>").replace("</iormplan>", "</interdatabaseplan>")
