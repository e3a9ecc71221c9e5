"""Shipped recipes for cells, run on emulated racks."""

from __future__ import annotations

import re

import pytest

from tests.support.program import InProcess


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        ("run cache_resize size=200g", "check list flashcache.size = 200g"),
        ("run flashlog_recreate", "check list flashlog.size = 512m"),
        ("run writeback_off", "check list cell.flashCacheMode = WriteThrough"),
        ("run flush_legacy", "check list flashcache.size = 200g"),
        ("run writeback_on", "check list cell.flashCacheMode = WriteBack"),
        ("run cell_maintenance cell=exa1cel02 for=1s", "check no griddisk where asmModeStatus = OFFLINE"),
    ],
)
def test_a_recipe_does_what_it_says(alone_in_order: InProcess, statement: str, holds: str) -> None:
    """Each recipe is well-formed, plans with -n without a change, runs to its end, and leaves what it promises."""
    inside = alone_in_order
    inside.ok("check", "recipe", statement.split()[1])
    assert inside("-r", "t1", statement, "-n").code == 0
    done = inside.ok("-r", "t1", statement, "-y")
    last = 5 if "for=1s" in statement else 6  # Waiting or asking, never both.
    assert f"[{last}/{last}]" in done.err
    inside.ok("-r", "t1", holds)


@pytest.fixture
def alone_in_order(alone: InProcess, request: pytest.FixtureRequest) -> InProcess:
    """A rack of its own, in the mode and at the size that the recipe begins with."""
    statement = str(request.node.callspec.params["statement"])
    through = "flush_legacy" in statement or "writeback_on" in statement
    alone.ok("emulator", "start", "t1", "speed=600", f"mode={'writethrough' if through else 'writeback'}")
    if "flush_legacy" in statement:
        alone.ok("-r", "t1", "resize flashcache size=200g", "-y")
    return alone


def test_an_old_write_back_cache_is_not_dropped(inside: InProcess) -> None:
    """flush_legacy is for write-through caches: on write-back cells nothing of it runs."""
    done = inside("-r", "t1", "run flush_legacy", "-y")
    assert done.code == 2 and "needs mode=writethrough" in done.err and "[1/" not in done.err


def test_iorm_is_kept_and_given_back(inside: InProcess) -> None:
    """What iorm_save kept is what the cells have after iorm_restore, whatever was set in between."""
    inside.ok("-r", "t1", "run iorm_save name=kept", "-y")
    inside.ok("-r", "t1", "set iorm db=SPOT share=5", "-y")
    inside.ok("-r", "t1", "run iorm_restore name=kept", "-y")
    inside.ok("-r", "t1", "check show iorm.share of SPOT = 8")


def test_health_changes_nothing(inside: InProcess) -> None:
    """The recipe looks at every cell and makes no change."""
    before = inside.ok("-r", "t1", "-o", "json", "journal").records
    done = inside("-r", "t1", "run health")
    assert done.code in (0, 1) and "[4/4]" in done.err
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == before


def test_calibrate_says_what_it_measured_and_is_for_root(inside: InProcess) -> None:
    """As celladmin nothing of calibrate_cells runs, so no cell goes offline for nothing; as root the cell's figures are said,
    the cell is back online, and what was printed can be read and imported."""
    refused = inside("-r", "t1", "run calibrate_cells cells=exa1cel02", "-y")
    assert refused.code == 2 and "CALIBRATE is for root alone, and writes would log in as celladmin" in refused.err
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []
    done = inside.ok("-r", "t1", "-l", "root", "run calibrate_cells cells=exa1cel02", "-y")
    assert re.search(r"exa1cel02: all hard disks [\d,]+ IOPS and [\d,]+ MB/s; all flash disks [\d,]+ IOPS", done.err)
    inside.ok("-r", "t1", "check no griddisk where asmModeStatus = OFFLINE")
    inside.ok("-r", "t1", "check list cell.cellsrvStatus = running")
