"""The rows of V$CELL, V$CELL_CONFIG and V$CELL_STATE: the cells that instances know, their configuration as CellCLI's own XML,
and what CELLSRV reports to databases about itself.

Source: Oracle Database Reference, V$CELL, V$CELL_CONFIG, V$CELL_STATE; the types of configuration and the path
``/cli-output/<object>`` from tanelpoder/tpt-oracle, exadata; reference asm.md section 11 (``<stat name="FL_FLASH_FIRST">``); the
elements of states are those that published queries look for (hyee/dbcli, oracle/exa). The hash values are made up. Simplified:
V$CELL_STATE has FLASHLOG, CELL and NPHYSDISKS only.
"""

from __future__ import annotations

import pickle
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import quoteattr

from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.program import Out
from exacell.emulator.cell.models import RUNNING, Cell
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.sql.values import Value
from exacell.emulator.state.view import RackView

_LISTS = {
    "CELL": "cell",
    "CELLDISKS": "celldisk",
    "GRIDDISKS": "griddisk",
    "IORM": "iormplan",
    "LUNS": "lun",
    "PHYSICALDISKS": "physicaldisk",
}
"""The object that is listed for each CONFTYPE."""

_MOVING = "CELL"
"""The type that contains times, and so changes even if nobody changes the cell."""


def cells(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$CELL."""
    for cell in instance.asm.rack.cells.values():
        yield {"CELL_PATH": cell.ip, "CELL_HASHVAL": zlib.crc32(cell.ip.encode())}


def configurations(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$CELL_CONFIG."""
    rack = instance.asm.rack
    for host, cell in rack.cells.items():
        for kind, text in _texts(rack, host).items():
            yield {"CELLNAME": cell.ip, "CONFTYPE": kind, "CONFVAL": text}


def gathered(instance: Instance, statement: str) -> Iterator[None]:
    """Prepare what a query on V$CELL_CONFIG needs, one step for each cell; queries on other views have no steps.

    Listing hundreds of cells takes seconds, and between the steps other sessions of the rack get their turn.
    """
    if "CELL_CONFIG" in statement.upper():
        for host in instance.asm.rack.cells:
            _texts(instance.asm.rack, host)
            yield


def _texts(rack: RackView, host: str) -> dict[str, str]:
    """Return the configuration of a cell by type; it is listed again only if the cell, or what ASM knows of it, has changed."""
    cell = rack.cells[host]
    known_to_asm = [rack.asm.disk(host, name) for name in cell.grid_disks] if rack.asm is not None else []
    state = pickle.dumps((vars(cell), known_to_asm), pickle.HIGHEST_PROTOCOL)
    before, texts = rack.configurations.get(host, (b"", {}))
    if before != state:
        texts = {kind: _listed(rack, host, kind) for kind in _LISTS}
        rack.configurations[host] = (state, texts)
        return texts
    return {**texts, _MOVING: _listed(rack, host, _MOVING)}


def _listed(rack: RackView, host: str, kind: str) -> str:
    asked = ["-xml", "-e", f"list {_LISTS[kind]} detail"]
    running = cellcli(rack, host, "celladmin", asked, tty=False, has_stdin=False)
    return _as_configuration("".join(event.text for event in running if isinstance(event, Out) and not event.err))


def _as_configuration(text: str) -> str:
    """Return a CellCLI listing in the form of V$CELL_CONFIG: physical disks have an id, which cell disks refer to; the IORM plan
    is an interdatabaseplan. Source: tanelpoder/tpt-oracle, exadata/exadisktopo.sql, celliorm.sql.
    """
    if "<id>" not in text:
        text = re.sub(r"(<physicalSerial>([^<]*)</physicalSerial>)", r"\1\n<id>\2</id>", text)
    return text.replace("<iormplan>", "<interdatabaseplan>").replace("</iormplan>", "</interdatabaseplan>")


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
