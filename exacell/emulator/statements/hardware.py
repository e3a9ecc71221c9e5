"""LUNs, physical disks, ports, offload groups, software updates; CALIBRATE.

Source: reference cellcli.md 2.3, 5 and 6; reference measurement.md 6 for CALIBRATE. Lines that no public session shows
follow those of the other objects.
"""

from __future__ import annotations

import random

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Pause
from exacell.emulator.cell.disk_models import DiskType, Lun
from exacell.emulator.cell.models import Cell
from exacell.emulator.faults.disk_health import DROPPED, cell_disk_on, set_status
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changes import CreateFlashCache
from exacell.emulator.grammar.settable import checked_values
from exacell.emulator.metrics.scene import IB_PORTS
from exacell.emulator.state.build import new_memory_cache
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, named, require_cellsrv
from exacell.emulator.statements.hardware_rows import PORT_COUNTERS, offload_groups, software_history_rows

_CALIBRATE_S = 600.0


# -- LUNs and physical disks ---------------------------------------------------------------------------------------------


def alter_luns(place: Place, statement: AdminStatement) -> Effects:
    """Enable LUNs again after a failure; a LUN that is normal needs FORCE."""
    luns = place.cell.luns
    chosen = list(luns) if statement.names is None else list(named(statement.names, list(luns), "LUN"))
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
        elif luns[found].status == "normal" and "FORCE" not in statement.options:
            yield line(CellError(Code.LUN_NORMAL, name=found).line)
        else:
            luns[found].status = "normal"
            yield line(f"Lun {found} successfully reenabled")


def alter_physical_disks(place: Place, statement: AdminStatement) -> Effects:
    """Drop physical disks for replacement, or take them into use again."""
    cell = place.cell
    disks = cell.physical_disks
    if "SERVICELED" in statement.words:
        raise CellError(Code.SERVICELED_OBSOLETE)
    if statement.names is None:
        hard = statement.media == "HARDDISK"
        chosen: list[str | CellError] = [n for n, d in disks.items() if d.disk_type is DiskType.HARD or not hard]
    else:
        serials = {disk.serial.lower(): name for name, disk in disks.items()}
        chosen = list(named([serials.get(n.lower(), n) for n in statement.names], list(disks), "Physical disk"))
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        try:
            yield line(_alter_disk(place, found, statement))
        except CellError as error:
            yield line(error.line)


def _alter_disk(place: Place, name: str, statement: AdminStatement) -> str:
    cell, disk = place.cell, place.cell.physical_disks[name]
    if statement.words == ("POWERCYCLE",):
        return f"Physical disk {name} was power cycled."
    if statement.words == ("REENABLE",):
        if not disk.status.endswith(DROPPED):
            raise CellError(Code.NOT_DROPPED, name=name, status=disk.status)
        set_status(place.rack, cell, disk, disk.status.removesuffix(DROPPED))
        return f"Physical disk {name} was reenabled."
    if disk.status.endswith(DROPPED):
        raise CellError(Code.NOT_NORMAL, kind="Physical disk", name=name, status=disk.status)
    member = cell_disk_on(cell, disk)
    if "FORCE" not in statement.options and place.rack.asm is not None and member is not None:
        for grid_disk in cell.grid_disks_on(member.name):
            view = place.rack.asm.disk(cell.host, grid_disk.name)
            if view is not None and view.deactivation_outcome != "Yes":
                raise CellError(Code.ASM_REFUSES, disk=grid_disk.name, reason=view.deactivation_outcome)
    set_status(place.rack, cell, disk, disk.status + DROPPED)
    return f"Physical disk {name} was dropped for replacement."


# -- ports, groups, updates ----------------------------------------------------------------------------------------------


def alter_ports(place: Place, statement: AdminStatement) -> Effects:
    """Reset the counters of InfiniBand ports."""
    known = list(IB_PORTS) if place.rack.model.infiniband else []
    chosen = list(known) if statement.names is None else list(named(statement.names, known, "IB port"))
    counters = place.rack.metrics[place.cell.host].counters
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        for name in PORT_COUNTERS:
            place.cell.port_resets[f"{found}|{name}"] = int(counters.get(name, 0))
        yield line(f"IBPort {found} successfully altered")


def alter_offload_groups(place: Place, statement: AdminStatement) -> Effects:
    """Start, stop or restart offload groups, or set their comment; a cell has only system groups, whose packages can't be
    changed.
    """
    known = [group.name for group in offload_groups(place)]
    chosen = list(known) if statement.names is None else list(named(statement.names, known, "Offload group"))
    values = checked_values("OFFLOADGROUP", statement.values, place.rack.release.number)
    if "package" in values:
        raise CellError(Code.READ_ONLY, attribute="package", object="OFFLOADGROUP")
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        if statement.words:
            state = "stopped" if statement.words == ("SHUTDOWN",) else "running"
            place.cell.offload_settings[f"{found}|runtimeState"] = state
        else:
            place.cell.offload_settings[f"{found}|comment"] = values["comment"]
        yield line(f"OffloadGroup {found} successfully altered")


def alter_software_update(place: Place, statement: AdminStatement) -> Effects:
    """Set the source and the time of software updates. There is no software to install, so no update ever starts."""
    if statement.words:
        raise CellError(Code.NO_UPDATE, store=place.cell.update_settings.get("store", ""))
    place.cell.update_settings |= checked_values("SOFTWAREUPDATE", statement.values, place.rack.release.number)
    yield line("Software Update successfully altered.")


def drop_software_history(place: Place, statement: AdminStatement) -> Effects:
    """Remove finished updates from the history."""
    known = [str(row["name"]) for row in software_history_rows(place)]
    chosen = list(known) if statement.names is None else list(named(statement.names, known, "Software history"))
    for found in chosen:
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        place.cell.records.setdefault("SOFTWAREHISTORY", {})[found] = {}
        yield line(f"Software History {found} successfully dropped")


# -- the cache in memory -------------------------------------------------------------------------------------------------


def create_memory_cache(place: Place, statement: CreateFlashCache) -> Effects:
    """Create XRMEMCACHE in the cell's memory; its size is the model's, so the statement takes no arguments."""
    cell, size = place.cell, place.rack.model.memory_cache
    require_cellsrv(cell)
    if not statement.bare:
        raise CellError(Code.SYNTAX)
    if cell.memory_cache is not None:
        raise CellError(Code.OBJECT_EXISTS, kind="XRMEM cache", name=cell.memory_cache.name)
    if not size:
        raise CellError(Code.NO_MEMORY, cell=cell.name)
    cell.memory_cache = new_memory_cache(cell, size, seed=place.rack.spec.seed, now=place.rack.now())
    yield line(f"Xrmem cache {cell.memory_cache.name} successfully created")


def drop_memory_cache(place: Place) -> Effects:
    """Drop XRMEMCACHE; no data is lost, because it never holds the only copy."""
    cell = place.cell
    require_cellsrv(cell)
    if cell.memory_cache is None:
        raise CellError(Code.OBJECT_MISSING, kind="XRMEM cache", name=f"{cell.name}_XRMEMCACHE")
    name, cell.memory_cache = cell.memory_cache.name, None
    yield line(f"Xrmem cache {name} successfully dropped")


# -- calibrate -----------------------------------------------------------------------------------------------------------


_CALIBRATE_WORDS_UNTIL = (12,)
_OLD_DRIVE_WIDTH = 10
"""Up to 11.2 CALIBRATE prints luns and Lun, also measures the controller, and uses ten columns for each drive. Source: Oracle
SAGUG, calibrate; Oracle Exadata Survival Guide (Apress), chapter 11.
"""


def calibrate(place: Place, statement: AdminStatement) -> Effects:
    """Measure the LUNs: random reads by medium and by LUN, sorted by their names as text."""
    cell = place.cell
    if cell.cellsrv_up and "FORCE" not in statement.options:
        raise CellError(Code.CALIBRATE_BUSY)
    wanted = None if statement.names is None else set(statement.names)
    media = {"HARDDISK": {DiskType.HARD}, "FLASHDISK": {DiskType.FLASH, DiskType.CAPACITY}}.get(
        statement.media or "", {DiskType.HARD, DiskType.FLASH, DiskType.CAPACITY}
    )
    luns = [lun for _n, lun in sorted(cell.luns.items()) if lun.disk_type in media]
    if wanted is not None:
        luns = [lun for lun in luns if lun.name in wanted]
        missing = sorted(wanted - {lun.name for lun in luns})
        if missing:
            raise CellError(Code.OBJECT_MISSING, kind="LUN", name=missing[0])
    yield line("Calibration will take a few minutes...")
    yield Pause(_CALIBRATE_S)
    rng = random.Random(f"{place.rack.spec.seed}|{cell.host}|calibrate")
    measured = {lun.name: _speed(rng, lun, cell) for lun in sorted(cell.luns.values(), key=lambda lun: lun.name)}
    groups = [
        (kind, [lun for lun in luns if lun.disk_type.printed == kind]) for kind in (DiskType.HARD, DiskType.FLASH)
    ]
    groups = [(kind, members) for kind, members in groups if members]
    names = {DiskType.HARD: "hard", DiskType.FLASH: "flash"}
    old = place.rack.release.number < _CALIBRATE_WORDS_UNTIL
    all_luns, a_lun = ("luns", "Lun") if old else ("LUNs", "LUN")
    for kind, members in groups:
        megabytes = sum(measured[lun.name][0] for lun in members) * 0.94
        yield line(f"Aggregate random read throughput across all {names[kind]} disk {all_luns}: {megabytes:.6g} MBPS")
    for kind, members in groups:
        requests = sum(measured[lun.name][1] for lun in members)
        yield line(f"Aggregate random read IOs per second (IOPS) across all {names[kind]} disk {all_luns}: {requests}")
    if old:
        yield line(f"Controller read throughput: {sum(measured[lun.name][0] for lun in luns) * 1.02:.2f} MBPS")
    for kind, members in groups:
        note = "" if kind is DiskType.HARD else ", note that writes will be significantly slower"
        yield line(f"Calibrating {names[kind]} disks (read only{note}) ...")
        width = _OLD_DRIVE_WIDTH if old else max(len(lun.physical_disk) for lun in luns)
        for lun in members:
            megabytes, requests = measured[lun.name]
            drive = lun.physical_disk.ljust(width)
            yield line(
                f"{a_lun} {lun.name.ljust(4)} on drive [{drive}] random read throughput: {megabytes:.2f} MBPS, "
                f"and {requests} IOPS"
            )
    yield line("CALIBRATE results are within an acceptable range.")


def _speed(rng: random.Random, lun: Lun, cell: Cell) -> tuple[float, int]:
    """Return the megabytes and the requests that a LUN reads in a second; a disk that is not normal is slow."""
    nvme = "nvme" in lun.device_name
    megabytes, requests = {True: (2650.0, 310_000) if nvme else (201.0, 9450), False: (118.0, 230)}[
        lun.disk_type.is_flash
    ]
    factor = rng.uniform(0.97, 1.03) * (1.0 if cell.physical_disks[lun.physical_disk].status == "normal" else 0.3)
    return megabytes * factor, round(requests * factor)
