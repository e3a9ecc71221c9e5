"""Cells and an ASM as planners see them, made by hand: a small X2 rack of two flash disks and two hard disks a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.core.units import GIB, MIB
from exacell.plan.asmfacts import AsmDisk, AsmFacts, AsmInstance, DiskGroup, Operation
from exacell.plan.facts import CellDisk, CellFacts, FlashCache, GridDisk
from exacell.plan.model import Plan, Stage, Step

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")
DBPLAN = "((name=SPOT,share=8,limit=80),(name=ERP,share=4,flashcache=off),(name=default,share=1))"
CACHE = 40 * GIB


def cache(cell: str, **changes: Any) -> FlashCache:
    found = FlashCache(
        name=f"{cell}_FLASHCACHE",
        size=CACHE,
        status="normal",
        degraded=(),
        cell_disks=(f"FD_00_{cell}", f"FD_01_{cell}"),
    )
    return replace(found, **changes)


def disk(name: str, **changes: Any) -> CellDisk:
    flash = name.startswith("FD")
    found = CellDisk(
        name=name,
        flash=flash,
        size=24 * GIB if flash else 500 * GIB,
        free=GIB,
        status="normal",
        flush_status="",
        flush_error="",
    )
    return replace(found, **changes)


def grid(cell_disk: str, prefix: str = "DATA", **changes: Any) -> GridDisk:
    found = GridDisk(
        name=f"{prefix}_{cell_disk}",
        cell_disk=cell_disk,
        flash=cell_disk.startswith("FD"),
        size=100 * GIB,
        status="active",
        available_to="",
        caching_policy="default",
        asm_group=prefix,
        asm_mode="ONLINE",
        deactivation="Yes",
        pool="",
    )
    return replace(found, **changes)


def free_grid(cell_disk: str, prefix: str = "ssd", **changes: Any) -> GridDisk:
    """A flash grid disk that no disk group uses."""
    values = {"asm_group": "", "asm_mode": "UNUSED", "size": 512 * MIB, **changes}
    return grid(cell_disk, prefix, **values)


def cell(name: str = CELLS[0], **changes: Any) -> CellFacts:
    """A write-back cell with a normal cache, something dirty in it, and DATA on its hard disks.

    Without a cache it has nothing dirty either, and its flash disks are as large as what is free on them.
    """
    if "flash_cache" in changes and changes["flash_cache"] is None:
        small = {"size": GIB}
        disks = tuple(
            disk(f"{k}_{name}", **(small if k[0] == "F" else {})) for k in ("CD_00", "CD_01", "FD_00", "FD_01")
        )
        changes = {"metrics": {"FC_BY_DIRTY": (0.0, 1000)}, "cell_disks": disks, **changes}
    found = CellFacts(
        cell=name,
        release="19.3.2.0.0",
        mode="writeback",
        cellsrv="running",
        model="Oracle Corporation SUN FIRE X4270 M2 SERVER",
        flash_cache=cache(name),
        flash_log=512 * MIB,
        cell_disks=tuple(disk(f"{kind}_{name}") for kind in ("CD_00", "CD_01", "FD_00", "FD_01")),
        flash_physical=(("FLASH_1_0", "normal"), ("FLASH_1_1", "normal")),
        grid_disks=(grid(f"CD_00_{name}"), grid(f"CD_01_{name}")),
        iorm=parse_iorm(DBPLAN),
        iorm_text=DBPLAN,
        objective="auto",
        databases=("SPOT", "ERP"),
        metrics={
            "FC_BY_DIRTY": (2.0 * GIB, 1000),
            "FC_BY_USED": (30.0 * GIB, 1000),
            "FC_BY_STALE_DIRTY": (0.0, 1000),
        },
    )
    return replace(found, **changes)


def rack(*names: str, **changes: Any) -> dict[str, CellFacts]:
    return {name: cell(name, **changes) for name in names or CELLS}


def with_flash_grids(fact: CellFacts, prefix: str = "ssd", **changes: Any) -> CellFacts:
    """The cell with one grid disk of ``prefix`` on each flash disk."""
    more = tuple(free_grid(d.name, prefix, **changes) for d in fact.flash_disks)
    return replace(fact, grid_disks=(*fact.grid_disks, *more))


def with_free(fact: CellFacts, free: Mapping[str, int] | int) -> CellFacts:
    """The cell with that much free on its flash disks; a mapping names them by their first five letters."""
    disks = tuple(
        replace(d, free=free if isinstance(free, int) else free.get(d.name[:5], d.free)) if d.flash else d
        for d in fact.cell_disks
    )
    return replace(fact, cell_disks=disks)


# -- ASM -------------------------------------------------------------------------------------------------------------

NODES = {"exa1db01": "1", "exa1db02": "2"}


def group(name: str = "DATA", **changes: Any) -> DiskGroup:
    found = DiskGroup(
        name=name,
        number=1,
        states={"1": "MOUNTED", "2": "MOUNTED"},
        type="NORMAL",
        au_size=4 * MIB,
        total_mb=1000,
        free_mb=500,
        required_mirror_free_mb=100,
        usable_file_mb=200,
        offline_disks=0,
        compatible_asm="19.0.0.0.0",
        compatible_rdbms="11.2.0.4.0",
        voting_files=False,
        files=0,
        clients=(),
    )
    return replace(found, **changes)


def asm_disk(grid_disk: str, address: str = "192.168.10.5", **changes: Any) -> AsmDisk:
    found = AsmDisk(
        group=0,
        path=f"o/{address}/{grid_disk}",
        header="CANDIDATE",
        mount="CLOSED",
        mode="ONLINE",
        os_mb=512,
        name="",
        failgroup="",
    )
    return replace(found, **changes)


def asm(groups: Sequence[DiskGroup] = (), disks: Sequence[AsmDisk] = (), **changes: Any) -> AsmFacts:
    found = AsmFacts(
        cluster="main",
        node="exa1db01",
        instances=(
            AsmInstance(inst_id="1", name="+ASM1", host="exa1db01", version="19.0.0.0.0"),
            AsmInstance(inst_id="2", name="+ASM2", host="exa1db02.example.com", version="19.0.0.0.0"),
        ),
        groups=tuple(groups),
        disks=tuple(disks),
        operations=0,
    )
    return replace(found, **changes)


# -- plans -----------------------------------------------------------------------------------------------------------


def stage(plan: Plan, key: str) -> Stage:
    return next(found for found in plan.stages if found.key == key)


def step(plan: Plan, key: str, target: str = CELLS[0]) -> Step:
    return next(found for found in stage(plan, key).steps if found.target == target)


def sent(plan: Plan, target: str = CELLS[0]) -> list[str]:
    """The statements that one target would get when nothing fails, in order."""
    return [s.statement for g in plan.stages if g.gate != "mend" for s in g.steps if s.target == target and s.statement]


def operation(name: str, power: int = 4, **changes: Any) -> Operation:
    found = Operation(
        inst_id="1", diskgroup=name, kind="REBAL", state="RUN", power=power, sofar=10, work=100, minutes=5
    )
    return replace(found, **changes)
