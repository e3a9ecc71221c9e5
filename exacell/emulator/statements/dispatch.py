"""From a parsed statement to what it does, and who may run it."""

from __future__ import annotations

from exacell.emulator.changes import (
    AlterCell,
    AlterCellDisk,
    AlterFlashCache,
    AlterGridDisk,
    AlterIormPlan,
    CellServices,
    CreateFlashCache,
    CreateFlashLog,
    CreateGridDisk,
    DropFlashCache,
    DropFlashLog,
    DropGridDisk,
    NotEmulated,
    Statement,
)
from exacell.emulator.grammar import Describe, Help, ListStatement, SetOption
from exacell.emulator.messages import CellError, Code
from exacell.emulator.models import STOPPED
from exacell.emulator.objects import Place
from exacell.emulator.program import Out
from exacell.emulator.statements import cell, celldisk, flashcache, flashlog, griddisk, iorm, listing
from exacell.emulator.statements.effects import Effects

READS = (ListStatement, Describe, Help, SetOption)
"""Statements that cellmonitor and monitor mode may run. Source: reference cellcli.md 1.5."""


def execute(place: Place, statement: Statement, *, xml: bool) -> Effects:
    """Yield what a statement prints and the time it takes.

    Raises:
        CellError: the statement as a whole fails; what fails for one object of several is only printed.
    """
    _check_services(place, statement)
    if isinstance(statement, ListStatement):
        yield from map(Out, listing.list_texts(place, statement, xml=xml))
        return
    if isinstance(statement, Describe):
        yield Out(listing.describe_text(place, statement.object_type))
        return
    place.rack.touch(place.cell)
    yield from _change(place, statement)
    place.rack.touch(place.cell)


def _check_services(place: Place, statement: Statement) -> None:
    """Without the Management Server only services can be managed."""
    if place.cell.services["MS"] == STOPPED and not isinstance(statement, CellServices):
        raise CellError(Code.MS_DOWN)


def _change(place: Place, statement: Statement) -> Effects:
    match statement:
        case CreateFlashCache():
            return flashcache.create(place, statement)
        case AlterFlashCache():
            return flashcache.alter(place, statement)
        case DropFlashCache():
            return flashcache.drop(place)
        case CreateFlashLog():
            return flashlog.create(place, statement)
        case DropFlashLog():
            return flashlog.drop(place, statement)
        case CreateGridDisk():
            return griddisk.create(place, statement)
        case AlterGridDisk():
            return griddisk.alter(place, statement)
        case DropGridDisk():
            return griddisk.drop(place, statement)
        case AlterCellDisk():
            return celldisk.alter(place, statement)
        case AlterCell():
            return cell.alter(place, statement)
        case CellServices():
            return cell.services(place, statement)
        case AlterIormPlan():
            return iorm.alter(place, statement)
        case NotEmulated(title=title):
            raise CellError(Code.NOT_EMULATED, statement=title)
        case _:
            raise CellError(Code.NOT_EMULATED, statement=type(statement).__name__)
