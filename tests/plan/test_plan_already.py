"""When CellCLI's own statement finds its goal reached on a cell, and when that can't be told for certain."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import CACHE, CELLS, cache, cell, disk, free_grid, grid, rack, with_flash_grids

from exacell.cellcli.statement import parse
from exacell.core.units import GIB, MIB
from exacell.plan.facts import CellFacts, PmemCache
from exacell.plan.guards.already import reached
from exacell.plan.guards.targets import means
from tests.support.every import every

FULL = tuple(disk(f"FD_0{n}_exa1cel01", free=0) for n in (0, 1))
CACHES: list[tuple[str, dict[str, Any], str]] = [
    ("drop flashcache", {}, ""),
    ("drop flashcache", {"flash_cache": None}, "it has no flash cache"),
    ("drop flashcache", {"flash_cache": None, "release": ""}, ""),
    ("drop flashlog", {}, ""),
    ("drop flashlog force", {"flash_log": 0}, "it has no flash log"),
    ("drop pmemcache", {}, "it has no PMEM cache"),
    ("drop pmemcache", {"pmem_cache": PmemCache(name="p", size=1, status="normal")}, ""),
    ("drop pmemcache", {"release": "18.1.5.0.0"}, ""),
    ("drop pmemcache", {"release": "23.1.0.0.0"}, ""),
    ("drop griddisk a", {"flash_cache": None, "flash_log": 0}, ""),
    ("drop celldisk all", {"flash_cache": None, "flash_log": 0}, ""),
    ("grant role r to user u", {"flash_cache": None}, ""),
    ("list flashcache", {"flash_cache": None}, ""),
    ("create flashcache all size=40G", {}, "its flash cache is 40G already"),
    ("create flashcache all size=40G", {"flash_cache": None}, ""),
    ("create flashcache all size=40G", {"release": ""}, ""),
    ("create flashcache all size=40976M", {}, "its flash cache is 40G already"),  # Rounded to 16M on each of two disks.
    ("create flashcache all size=41G", {}, ""),
    ("create flashcache all size=40976M", {"cell_disks": ()}, ""),
    ("create flashcache all size=40G", {"cell_disks": ()}, ""),
    ("create flashcache all", {}, ""),  # 2G are free.
    ("create flashcache all", {"cell_disks": FULL, "flash_cache": None}, ""),
    ("create flashcache all", {"cell_disks": ()}, ""),
    ("create flashcache all", {"cell_disks": FULL}, "its flash cache is 40G already"),
    ("create flashcache celldisk='FD_00_exa1cel01', size=40G", {}, ""),
    ("create flashlog all size=512M", {}, "its flash log is 512M already"),
    ("create flashlog all size=256M", {}, ""),
    ("create flashlog all", {}, ""),
    ("create flashlog all size=512M", {"flash_log": 0}, ""),
    ("create flashlog celldisk='FD_00_exa1cel01', size=512M", {}, ""),
    ("create flashlog all", {"flash_log": 0}, ""),
    ("alter flashcache all cancel flush", {}, "its flash cache is normal already"),
    ("alter flashcache all cancel flush", {"flash_cache": cache("a", status="normal - flushed")}, ""),
    ("alter flashcache all cancel flush", {"flash_cache": cache("a", status="normal - flushing")}, ""),
    ("alter flashcache all cancel flush", {"flash_cache": cache("a", status="warning")}, ""),
    ("alter flashcache all cancel flush", {"flash_cache": None}, ""),
    ("alter flashcache all flush", {}, ""),
    ("alter flashcache all flush nowait", {"flash_cache": cache("a", status="normal - flushing")}, ""),
    (
        "alter flashcache all flush nowait",
        {"flash_cache": cache("a", status="normal - flushed")},
        "its flash cache is normal - flushed already",
    ),
    (
        "alter flashcache celldisk='FD_00_exa1cel01' flush",
        {"flash_cache": cache("a", status="normal - flushed")},
        "",
    ),
    ("alter flashcache all size=40G", {}, ""),
    ("alter pmemcache all cancel flush", {}, ""),
    (
        "alter pmemcache all cancel flush",
        {"pmem_cache": PmemCache(name="p", size=1, status="normal")},
        "its PMEM cache is normal already",
    ),
    ("alter pmemcache all flush", {"pmem_cache": PmemCache(name="p", size=1, status="normal")}, ""),
    ("alter pmemcache all cancel flush", {"pmem_cache": PmemCache(name="p", size=1, status="")}, ""),
    ("alter xrmemcache all cancel flush", {"pmem_cache": PmemCache(name="p", size=1, status="normal")}, ""),
]


@every(CACHES)
def test_caches_and_logs(text: str, changes: dict[str, Any], why: str) -> None:
    """A statement on a cache or log that is what it is to become changes nothing; what was not read is left to the cell."""
    assert CACHE == 40 * GIB
    assert reached(parse(text), cell(**changes)) == why


def carved(**changes: Any) -> CellFacts:
    """A cell with grid disks q_* of 512M on its two flash disks."""
    return with_flash_grids(cell(), "q", **changes)


ALL = "its 2 grid disks are with this name and size already"
MADE = [
    ("create griddisk all flashdisk prefix=q, size=512M", {}, ALL),
    ("create griddisk all flashdisk prefix=Q, size=520M", {}, ALL),  # A cell makes 512M of it.
    ("create griddisk all flashdisk prefix=q, size=544M", {}, ""),
    ("create griddisk all flashdisk prefix=q", {}, ""),
    ("create griddisk all flashdisk prefix=r, size=512M", {}, ""),
    ("create griddisk all flashdisk prefix=q, size=512M, cachingPolicy=none", {}, ""),
    ("create griddisk all harddisk prefix=q, size=512M", {}, ""),
    ("create griddisk all prefix=q, size=512M", {}, ""),
    (
        "create griddisk q_FD_00_exa1cel01 celldisk=FD_00_exa1cel01, size=512M",
        {},
        "its 1 grid disk is with this name and size already",
    ),
    ("create griddisk q_FD_00_exa1cel01 celldisk=FD_01_exa1cel01, size=512M", {}, ""),
    ("create griddisk nix celldisk=FD_01_exa1cel01, size=512M", {}, ""),
    ("alter griddisk all flashdisk active", {}, "its 2 grid disks are active already"),
    ("alter griddisk all flashdisk active", {"asm_mode": "SYNCING"}, ""),
    ("alter griddisk all flashdisk active", {"asm_mode": ""}, ""),
    ("alter griddisk all flashdisk active", {"status": "inactive"}, ""),
    ("alter griddisk all flashdisk inactive", {}, ""),
    ("alter griddisk all flashdisk inactive", {"status": "inactive"}, "its 2 grid disks are inactive already"),
    ("alter griddisk all flashdisk inactive", {"status": "inactive", "asm_mode": "ONLINE"}, ""),
    ("alter griddisk all flashdisk inactive force", {"status": "inactive"}, ""),
    ("alter griddisk all active where size = 512M", {}, ""),
    ("alter griddisk Q_fd_00_exa1cel01 active", {}, "its 1 grid disk is active already"),
    ("alter griddisk q_fd_00_exa1cel01,q_fd_00_exa1cel02 active", {}, ""),
    ("alter griddisk nix active", {}, ""),
    ("alter griddisk q_fd_00_exa1cel01 size=512M active", {}, ""),
    ("alter griddisk all flashdisk size=512M", {}, ""),
]


@every(MADE)
def test_grid_disks(text: str, changes: dict[str, Any], why: str) -> None:
    """CREATE, ACTIVE and INACTIVE change nothing where each disk is what it is to become, and ASM is done with it."""
    assert reached(parse(text), carved(**changes)) == why


def test_one_disk_that_is_not_yet_what_it_is_to_become_counts() -> None:
    """Where one disk of several is missing, of another size or in another state, the statement is sent."""
    one = cell(grid_disks=(free_grid("FD_00_exa1cel01", "q"), free_grid("FD_01_exa1cel01", "q", size=528 * MIB)))
    assert not reached(parse("create griddisk all flashdisk prefix=q, size=512M"), one)
    assert not reached(parse("create griddisk all flashdisk prefix=q, size=512M"), cell(grid_disks=one.grid_disks[:1]))
    off = cell(grid_disks=(one.grid_disks[0], free_grid("FD_01_exa1cel01", "q", status="inactive")))
    for word in ("active", "inactive"):
        assert not reached(parse(f"alter griddisk all {word}"), off)
    used = cell(grid_disks=(grid("CD_00_exa1cel01"),))
    assert not reached(parse("alter griddisk all flashdisk active"), used)
    assert reached(parse("alter griddisk all active"), used) == "its 1 grid disk is active already"


NAMED = [
    ("alter griddisk DATA_CD_00_exa1cel02 comment=x", [CELLS[1]]),
    ("alter griddisk data_cd_00_exa1cel02,DATA_CD_01_exa1cel03 comment=x", list(CELLS[1:])),
    ("alter griddisk nix comment=x", []),
    ("alter griddisk all comment=x", list(CELLS)),
    ("alter celldisk cd_00_exa1cel02 comment=x", [CELLS[1]]),
    ("drop celldisk nix", []),
    ("create celldisk nix lun=1_0", list(CELLS)),
    ("create griddisk nix celldisk=FD_00_exa1cel01", list(CELLS)),
    ("alter lun 1_0 reenable", list(CELLS)),
    ("grant role r to user u", list(CELLS)),
]


@pytest.mark.parametrize(("text", "cells"), NAMED)
def test_which_cells_a_statement_means(text: str, cells: list[str]) -> None:
    """A statement that names grid disks or cell disks is for the cells that have some of them; any other for all."""
    assert [name for name, fact in rack().items() if means(parse(text), fact)] == cells
