"""The effects of injected faults: on the state of a cell while they are active, and on the statements that they strike."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TypeVar

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.ora_messages import ORA_TEXTS
from exacell.emulator.basics.program import Cut, Event, Out, Pause
from exacell.emulator.cell.models import RUNNING, STOPPED, Cell
from exacell.emulator.faults.disks import (
    break_disk,
    fill_disks,
    free_disks,
    keep_redo,
    mend_disk,
    release_flush,
    replace_disk,
    save_redo,
    spoil_sector,
    stick_flush,
)
from exacell.emulator.faults.quarantines import quarantine_by_crash
from exacell.emulator.state.fault_book import Fault, Kind
from exacell.emulator.state.view import RackView

Ending = TypeVar("Ending")
Step = Generator[Event, str | None, Ending]
Refuse = Callable[[str], Generator[Event, str | None, Ending]]
"""Prints an error line in the form of the present program, and returns the value with which the statement ends."""

_LOOK_S = 0.2
"""Wall seconds between two checks whether a statement still hangs."""


# -- faults that last for a time ------------------------------------------------------------------------------------------


def settle(rack: RackView) -> None:
    """Begin and end the faults that are due; forget those that are over."""
    now = rack.clock.now()
    for fault in rack.faults:
        if not rack.faults.has(fault):
            continue  # A fault that began earlier in this loop has ended this one.
        if fault.begins <= now and not fault.applied:
            _begin(rack, fault)
        if fault.over(now):
            end(rack, fault)
            rack.faults.remove(fault)


def _begin(rack: RackView, fault: Fault) -> None:
    fault.applied = True
    rack.faults.revision += 1
    cell = rack.cells.get(fault.host)
    effect = _EFFECTS.get(fault.kind)
    if cell is not None and effect is not None and not fault.picks:
        effect[0](rack, cell, fault)
        rack.touch(cell)
    if fault.kind is Kind.POWER_OFF:
        rack.faults.on_power(fault.host, False)


def end(rack: RackView, fault: Fault) -> None:
    """Undo the effect of a fault on its cell, unless somebody has repaired it already."""
    cell = rack.cells.get(fault.host)
    effect = _EFFECTS.get(fault.kind)
    if fault.applied and cell is not None and effect is not None and not fault.picks:
        effect[1](rack, cell, fault)
        rack.touch(cell)
    if fault.applied and fault.kind is Kind.POWER_OFF:
        rack.faults.on_power(fault.host, True)
    fault.applied = False


def _stop_ms(rack: RackView, cell: Cell, fault: Fault) -> None:
    fault.before["MS"] = cell.services["MS"]
    cell.services["MS"] = STOPPED


def _start_ms(rack: RackView, cell: Cell, fault: Fault) -> None:
    if fault.before.get("MS") == RUNNING:
        cell.services["MS"] = RUNNING


def _stop_cellsrv(rack: RackView, cell: Cell, fault: Fault) -> None:
    fault.before["CELLSRV"] = cell.services["CELLSRV"]
    if cell.cellsrv_up:
        rack.stop_cellsrv(cell)


def _start_cellsrv(rack: RackView, cell: Cell, fault: Fault) -> None:
    if fault.before.get("CELLSRV") == RUNNING and not cell.cellsrv_up:
        rack.start_cellsrv(cell)


def _restart(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Stop CELLSRV and close every connection to the cell."""
    _stop_cellsrv(rack, cell, fault)
    rack.faults.on_restart(cell.host)


def _switch_off(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Stop everything on the cell."""
    if cell.cellsrv_up:
        rack.stop_cellsrv(cell)
    for service in cell.services:
        cell.services[service] = STOPPED


def _switch_on(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Boot the cell: all its services start, even those that were stopped before."""
    for service in cell.services:
        cell.services[service] = RUNNING
    cell.last_boot = rack.now()
    rack.start_cellsrv(cell)


def _unguard(rack: RackView, cell: Cell, fault: Fault) -> None:
    cell.unguarded = True


def _guard(rack: RackView, cell: Cell, fault: Fault) -> None:
    cell.unguarded = False


def _lose_packets(rack: RackView, cell: Cell, fault: Fault) -> None:
    cell.lossy_network = True


def _carry_packets(rack: RackView, cell: Cell, fault: Fault) -> None:
    cell.lossy_network = False


def _quarantine(rack: RackView, cell: Cell, fault: Fault) -> None:
    quarantine_by_crash(rack, cell, rack.spec.db[0])


def _nothing(rack: RackView, cell: Cell, fault: Fault) -> None:
    """Do nothing: a quarantine stays until it is dropped, a bad sector until a scrub finds it, a new disk for good."""


Effect = Callable[[RackView, Cell, Fault], None]
_EFFECTS: Mapping[Kind, tuple[Effect, Effect]] = MappingProxyType(
    {
        Kind.MS_DOWN: (_stop_ms, _start_ms),
        Kind.CELLSRV_DOWN: (_stop_cellsrv, _start_cellsrv),
        Kind.RESTART: (_restart, _start_cellsrv),
        Kind.STUCK_FLUSH: (stick_flush, release_flush),
        Kind.FLASH_DISK: (break_disk, mend_disk),
        Kind.HARD_DISK: (break_disk, mend_disk),
        Kind.REPLACE: (replace_disk, _nothing),
        Kind.DISK_FULL: (fill_disks, free_disks),
        Kind.KEPT_REDO: (keep_redo, save_redo),
        Kind.BAD_SECTOR: (spoil_sector, _nothing),
        Kind.LOSSY_NETWORK: (_lose_packets, _carry_packets),
        Kind.UNGUARDED: (_unguard, _guard),
        Kind.QUARANTINE: (_quarantine, _nothing),
        Kind.POWER_OFF: (_switch_off, _switch_on),
    }
)


# -- faults that strike statements ---------------------------------------------------------------------------------------


def afflicted(
    rack: RackView, host: str, text: str, statement: Step[Ending], refuse: Refuse[Ending]
) -> Generator[Event, str | None, Ending]:
    """Carry out a statement with the faults that strike it.

    A delayed or hanging statement is carried out later. A statement whose answer is garbage or gets lost *is* carried out; one
    that gets an error code is not. If CELLSRV restarts, a statement is carried out up to its first line or pause.

    Args:
        statement: the generator that carries it out, not yet started.
        refuse: prints error lines.
    """
    struck = rack.faults.struck(host, text) if rack.faults else []
    for fault in struck:
        if fault.kind is Kind.SLOW:
            yield Pause(float(fault.options["delay"]), wall=True)
        elif fault.kind is Kind.HANG:
            while rack.faults.holds_on(fault):
                yield Pause(_LOOK_S, wall=True)
        elif fault.kind is Kind.ERROR:
            statement.close()
            return (yield from refuse(_error_line(str(fault.options["code"]))))
    if struck:
        rack.advance()
    for fault in struck:
        if fault.kind is Kind.RESTART:
            return (yield from _interrupted(rack, fault, statement, refuse))
        if fault.kind is Kind.GARBAGE:
            noise = random.Random(f"{rack.spec.seed}|{host}|{fault.struck}").randbytes(int(fault.options["bytes"]))
            return (yield from _replaced(statement, Out(noise.decode("utf-8", "surrogateescape")), refuse))
        if fault.kind is Kind.DROP and not fault.options["bytes"]:
            return (yield from _replaced(statement, Cut(0), refuse))
        if fault.kind is Kind.DROP:
            yield Cut(int(fault.options["bytes"]))
    return (yield from statement)


def _error_line(code: str) -> str:
    """Return a complete error line; for a bare code, with the emulator's text for it if the text needs no names."""
    if ":" in code:
        return code
    family, _, digits = code.partition("-")
    number = int(digits)
    texts = [ORA_TEXTS.get(number, "")] if family == "ORA" else [k.value.text for k in Code if k.value.code == number]
    text = next((text for text in texts if text and "{" not in text), "An injected fault.")
    return f"{code}: {text}"


def _replaced(statement: Step[Ending], instead: Event, refuse: Refuse[Ending]) -> Generator[Event, str | None, Ending]:
    """Carry a statement out, but send ``instead`` in place of all its output."""
    answer: str | None = None
    while True:
        try:
            event = statement.send(answer)
        except StopIteration as stop:
            yield instead
            ending: Ending = stop.value
            return ending
        except CellError:
            yield instead
            return (yield from _mute(refuse("")))
        answer = None
        if not isinstance(event, Out):
            answer = yield event


def _mute(step: Step[Ending]) -> Generator[Event, str | None, Ending]:
    answer: str | None = None
    while True:
        try:
            event = step.send(answer)
        except StopIteration as stop:
            ending: Ending = stop.value
            return ending
        answer = None
        if not isinstance(event, Out):
            answer = yield event


def _interrupted(
    rack: RackView, fault: Fault, statement: Step[Ending], refuse: Refuse[Ending]
) -> Generator[Event, str | None, Ending]:
    """Begin a statement, then stop CELLSRV and start it again a little later."""
    try:
        with suppress(StopIteration):
            statement.send(None)
    except CellError as error:
        return (yield from refuse(error.line))
    finally:
        statement.close()
    now = rack.clock.now()
    away = Fault(host=fault.host, kind=Kind.CELLSRV_DOWN, begins=now, ends=now + float(fault.options["down"]))
    if rack.cells[fault.host].cellsrv_up:
        rack.faults.put(away)
        settle(rack)
    return (yield from refuse(CellError(Code.CELLSRV_DOWN).line))
