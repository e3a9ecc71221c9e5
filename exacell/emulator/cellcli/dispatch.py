"""Finds the function that carries out a parsed statement, and checks who may run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Out
from exacell.emulator.cell.models import STOPPED
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changes import (
    AlterCell,
    AlterCellDisk,
    AlterFlashCache,
    AlterGridDisk,
    AlterIormPlan,
    AssignKey,
    CellAction,
    CellServices,
    CreateFlashCache,
    CreateFlashLog,
    CreateGridDisk,
    DropFlashCache,
    DropFlashLog,
    DropGridDisk,
    Grant,
    Statement,
)
from exacell.emulator.grammar.reading import Describe, Help, ListStatement, SetOption
from exacell.emulator.state.place import Place
from exacell.emulator.statements import (
    cell,
    cell_actions,
    celldisk,
    celldisk_making,
    exascale,
    flashcache,
    flashlog,
    griddisk,
    hardware,
    iorm,
    listing,
    security,
    support,
    threshold,
    transfer,
)
from exacell.emulator.statements.effects import Effects
from exacell.emulator.statements.printer import Format

READS = (ListStatement, Describe, Help, SetOption)
"""Statements that cellmonitor and monitor mode may run. Source: reference cellcli.md 1.5."""


def execute(place: Place, statement: Statement, look: Format) -> Effects:
    """Yield the output of a statement and the time that it takes.

    Raises:
        CellError: the statement as a whole fails; a failure for one of several objects is only printed.
    """
    _check_services(place, statement)
    if isinstance(statement, ListStatement):
        yield from map(Out, listing.list_texts(place, statement, look))
        return
    if isinstance(statement, Describe):
        yield Out(listing.describe_text(place, statement.object_type))
        return
    place.rack.touch(place.cell)
    yield from _change(place, statement)
    place.rack.touch(place.cell)


def _check_services(place: Place, statement: Statement) -> None:
    """Raise CellError if the Management Server is down and the statement does not manage services."""
    if place.cell.services["MS"] == STOPPED and not isinstance(statement, CellServices):
        raise CellError(Code.MS_DOWN)


def _change(place: Place, statement: Statement) -> Effects:
    if isinstance(statement, AdminStatement):
        return _ADMIN[statement.verb, statement.object_name](place, statement)
    if place.rack.model.pmem is None and getattr(statement, "object_name", "") == "XRMEMCACHE":
        if isinstance(statement, CreateFlashCache):
            return hardware.create_memory_cache(place, statement)
        if isinstance(statement, AlterFlashCache):
            raise CellError(Code.NO_PMEM, cell=place.cell.name)
        if isinstance(statement, DropFlashCache):
            return hardware.drop_memory_cache(place)
    change = _CHANGES.get(type(statement))
    if change is None:  # HELP and SET are CellCLI's own statements and never come here.
        raise CellError(Code.SYNTAX)
    return change(place, statement)


_CHANGES: Mapping[type, Callable[[Place, Any], Effects]] = {
    AlterCell: cell.alter,
    AlterCellDisk: celldisk.alter,
    AlterFlashCache: flashcache.alter,
    AlterGridDisk: griddisk.alter,
    AlterIormPlan: iorm.alter,
    AssignKey: security.assign_key,
    CellAction: cell_actions.act,
    CellServices: cell.services,
    CreateFlashCache: flashcache.create,
    CreateFlashLog: flashlog.create,
    CreateGridDisk: griddisk.create,
    DropFlashCache: flashcache.drop,
    DropFlashLog: flashlog.drop,
    DropGridDisk: griddisk.drop,
    Grant: security.grant,
}
_ADMIN: Mapping[tuple[str, str], Callable[[Place, AdminStatement], Effects]] = {
    ("CREATE", "THRESHOLD"): threshold.create,
    ("ALTER", "THRESHOLD"): threshold.alter,
    ("DROP", "THRESHOLD"): threshold.drop,
    ("ALTER", "ALERTHISTORY"): threshold.alter_alerts,
    ("DROP", "ALERTHISTORY"): threshold.drop_alerts,
    ("ALTER", "METRICDEFINITION"): threshold.alter_definitions,
    ("CREATE", "CELLDISK"): celldisk_making.create_cell_disks,
    ("DROP", "CELLDISK"): celldisk_making.drop_cell_disks,
    ("ALTER", "LUN"): hardware.alter_luns,
    ("ALTER", "PHYSICALDISK"): hardware.alter_physical_disks,
    ("ALTER", "IBPORT"): hardware.alter_ports,
    ("ALTER", "OFFLOADGROUP"): hardware.alter_offload_groups,
    ("ALTER", "SOFTWAREUPDATE"): hardware.alter_software_update,
    ("CALIBRATE", "LUN"): hardware.calibrate,
    ("CREATE", "ESCLUSTER"): exascale.create,
    ("ALTER", "ESCLUSTER"): exascale.alter_cluster,
    ("ALTER", "ESNODE"): exascale.alter_node,
    ("REGISTER", "ESNODE"): exascale.register,
    ("DEREGISTER", "ESNODE"): exascale.deregister,
    ("CREATE", "KEY"): security.create_key,
    ("CREATE", "ROLE"): security.create_roles,
    ("DROP", "ROLE"): security.drop_roles,
    ("CREATE", "USER"): security.create_user,
    ("ALTER", "USER"): security.alter_user,
    ("DROP", "USER"): security.drop_users,
    ("CREATE", "QUARANTINE"): support.create_quarantine,
    ("ALTER", "QUARANTINE"): support.alter_quarantines,
    ("DROP", "QUARANTINE"): support.drop_quarantines,
    ("CREATE", "DIAGPACK"): support.create_diagpack,
    ("DROP", "SOFTWAREHISTORY"): hardware.drop_software_history,
    ("EXPORT", "CELLDISK"): transfer.export,
    ("IMPORT", "CELLDISK"): transfer.import_,
    ("CREATE", "CELL"): cell_actions.create,
    ("DROP", "CELL"): cell_actions.drop,
}
