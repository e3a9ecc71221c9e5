"""Shipped recipes, each with racks of three ages on which it is tried, and what is expected of it there."""

from __future__ import annotations

from dataclasses import dataclass

RACKS = {
    "x2": ("model=x2", "release=11.2.2.4", "mode=writethrough"),
    "x6": ("model=x6", "release=19.3", "dbcache=64g"),
    "x8m": ("model=x8m", "release=22.1"),
}
"""Racks as ``emulator start`` makes them: the first published procedures', one with a write-back cache and one
of each database's own, one with PMEM."""

ALL = tuple(RACKS)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A recipe on some racks.

    Attributes:
        run: the statement.
        racks: where it is tried.
        before: statements that make what it needs.
        rehearsed: whether it works on cells and ASM alone, so that it can be rehearsed.
        again: what the second run does: ``nothing``, the same once more, or it is ``other`` and left out.
        holds: a check that holds behind it.
        kept: undo run is left out, since it puts back itself what it changes.
        own: whether its words reach for the emulator in the home, so that the rack is that home's own.
        login: who logs in to write, where that is not the usual one.
        flags: of the command line.
    """

    run: str
    racks: tuple[str, ...] = ALL
    before: tuple[str, ...] = ()
    rehearsed: bool = True
    again: str = "the same"
    holds: str = "check same cell.releaseVersion"
    kept: bool = False
    own: bool = False
    login: str = ""
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The recipe's name."""
        return self.run.split()[1]


CASES = (
    Case(run="run health"),
    Case(run="run reset_cold"),
    Case(run="run reset_cold size=200g", again="the same", holds="check list flashcache.size <= 200g"),
    Case(run="run flush_legacy", racks=("x2",)),
    Case(run="run cache_resize size=200g", again="nothing", holds="check list flashcache.size <= 200g"),
    Case(run="run flashlog_recreate", holds="check list flashlog.size = 512m"),
    Case(
        run="run writeback_off",
        racks=("x6", "x8m"),
        again="nothing",
        holds="check list cell.flashCacheMode = WriteThrough",
    ),
    Case(
        run="run writeback_on",
        racks=("x6",),
        before=("run writeback_off",),
        again="nothing",
        holds="check list cell.flashCacheMode = WriteBack",
    ),
    Case(run="run iorm_save name=kept"),
    Case(
        run="run iorm_restore name=kept",
        before=("run iorm_save name=kept", "alter iormplan objective=basic"),
        rehearsed=False,
        again="nothing",
        holds="check same iormplan.dbPlan",
    ),
    Case(
        run="run iorm_equalize cell=exa1cel02",
        before=(
            "on exa1cel03 alter iormplan dbplan=((name=SPOT,flashlog=off))",
            "on exa1cel01 alter iormplan objective=basic",
        ),
        again="nothing",
        holds="check same iormplan.dbPlan, iormplan.objective",
    ),
    Case(
        run="run flash_diskgroup cache=160g",
        again="nothing",
        holds="check no griddisk where name = ssddisk_* and asmModeStatus = UNUSED",
    ),
    Case(
        run="run flash_diskgroup_release",
        before=("run flash_diskgroup cache=160g",),
        again="nothing",
        holds="check no griddisk where name = ssddisk_*",
    ),
    Case(
        run="run cell_maintenance cell=exa1cel02,exa1cel03 for=100ms",
        holds="check no griddisk where asmModeStatus = OFFLINE",
    ),
    Case(
        run="run calibrate_cells cells=exa1cel03,exa1cel01 media=flashdisk",
        rehearsed=False,
        login="root",
        holds="check list cell.cellsrvStatus = running",
    ),
    Case(
        run="run cache_keep_off db=SPOT table=APP.CUSTOMERS blocks=1 warm=2 for=60s",
        racks=("x6", "x2"),
        rehearsed=False,
        own=True,
        holds="check sql db=SPOT \"select cell_flash_cache as c from dba_tables where table_name = 'CUSTOMERS'\".c = DEFAULT",
    ),
    Case(
        run="run placement_ab db=SPOT table=APP.CUSTOMERS for=100ms",
        racks=("x6", "x2"),
        rehearsed=False,
        holds="check sql db=SPOT \"select cell_flash_cache as c from dba_tables where table_name = 'CUSTOMERS'\".c = DEFAULT",
    ),
    Case(
        run="run placement_ab db=SPOT table=APP.CUSTOMERS places=cache,dbcache for=100ms",
        racks=("x6",),
        rehearsed=False,
        holds="check sql db=SPOT \"select value as v from v$parameter where name = 'db_flash_cache_size'\".v = 68719476736",
    ),
    Case(
        run="run redo_on_flash db=SPOT target=+RECO groups=21,22,23 old=1,2 size=64m",
        racks=("x2", "x6"),
        rehearsed=False,
        again="nothing",
        holds='check sql db=SPOT "select count(*) as n from v$log where thread# = 1".n >= 3',
    ),
    Case(
        run="run calibrate_io db=SPOT disks=36 passes=1,2",
        racks=("x2", "x6"),
        rehearsed=False,
        kept=True,
        flags=("--accept-opaque",),
        holds='check sql db=SPOT "select max_iops as i from dba_rsrc_io_calibrate".i > 1000',
    ),
    Case(run="run commit_load db=SPOT sessions=2 commits=20", racks=("x6", "x2"), rehearsed=False, kept=True),
    Case(
        run="run flashlog_traces db=SPOT tag=T1 sessions=2 commits=20",
        racks=("x2", "x6"),
        rehearsed=False,
        kept=True,
        again="other",
    ),
    Case(run="run flashlog_ab db=SPOT blocks=1 for=1s", racks=("x2", "x6"), rehearsed=False, kept=True, own=True),
    Case(run="run net_queues hosts=@db", racks=("x6",), rehearsed=False),
    Case(
        run="run iscsi_sessions hosts=@db target=iqn.2014-03.local.lab:t01 portal=10.0.0.5:3260",
        racks=("x6",),
        rehearsed=False,
    ),
)

ELSEWHERE = {
    "block_queue": "real/test_real_recipes.py",
    "fio_compare": "real/test_real_recipes.py",
    "fio_row": "real/test_real_recipes.py",
    "iscsi_sessions": "real/test_real_iscsi.py",
    "orion_row": "daily/test_e2e_recipe_library.py",
    "slob_compare": "daily/test_e2e_recipe_library.py",
    "vpd_limits": "real/test_real_recipes.py",
}
"""Recipes for what no emulated rack has, and the tests that run them; calibrate_cell is run by calibrate_cells."""
