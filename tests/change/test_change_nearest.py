"""Whatever is not there is told with the nearest of its kind that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.change.execute import execute
from exacell.core.errors import ExacellError, RefusedError
from exacell.emulator.server.rack_world import RackWorld
from exacell.journal.record import Journal
from exacell.language.line import parse_line
from exacell.output.console import SilentConsole
from exacell.recipes.record import DONE, Run
from exacell.session.request import Request as Asking
from exacell.session.runs import changes_of_run, keep_run
from exacell.session.store import Store
from tests.support.worlds import session_on

BEFORE = (
    "alias nightly list cell",
    "save baseline as=golden",
    "save iorm as=quiet",
    "plan as=smaller resize flashcache size=288g",
    "snap flashlog as=morning",
    "create threshold db_io_rq_sm_sec.SPOT comparison='>', critical=120 -y",
)

CASES = {
    # Of which kind it is: what is typed, and what is nearest.
    "disk group": ("drop diskgroup DATB", "DATA"),
    "database": ("show flashcachecontent db=SPOTT", "SPOT"),
    "alias": ("unalias nightlyy", "nightly"),
    "baseline": ("drift baseline=goldn", "golden"),
    "kept plan": ("apply smaler", "smaller"),
    "kept IORM plan": ("restore iorm quite", "quiet"),
    "recipe": ("run flash_diskgruop", "flash_diskgroup"),
    "group": ("use @cels", "@cells"),
    "cell": ("on exa1cel0l list cell", "exa1cel01"),
    "LUN": ("on exa1cel01 alter lun 0_111 reenable", "0_11"),
    "grid disk": ("on exa1cel01 drop griddisk DATA_CD_00_exa1ce101", "DATA_CD_00_exa1cel01"),
    "cell disk": ("on exa1cel01 drop celldisk CD_00_exa1ce101", "CD_00_exa1cel01"),
    "metric": ("list metriccurrent where name = 'FC_BY_DIRTYY'", "FC_BY_DIRTY"),
    "setting": ("set timout 3s", "timeout"),
    "ASM disk": ('sql asm "alter diskgroup DATA drop disk DATA_CD_00_EXA1CE101"', "DATA_CD_00_EXA1CEL01"),
    "failgroup": ('sql asm "alter diskgroup DATA drop disks in failgroup EXA1CE101"', "EXA1CEL01"),
    "node": ("on exa1db0l sh uptime", "exa1db01"),
    "snapshot": ("delta mornin morning", "morning"),
    "rack": ("connect t11", "t1"),
    "alert": ("ack alert 11", "1"),
    "quarantine": ("drop quarantine 11 -n", "1"),
    "threshold": ("drop threshold db_io_rq_sm_sec.SPOTT", "DB_IO_RQ_SM_SEC.SPOT"),
    "threshold of a change": ("alter threshold db_io_rq_sm_sec.SPOTT critical=9 -n", "DB_IO_RQ_SM_SEC.SPOT"),
    "listed cell disk": ("list celldisk FD_01_exa1cell02", "FD_01_exa1cel02"),
    "listed grid disk": ("on exa1cel03 list griddisk RECO_CD_1_exa1cel03", "RECO_CD_01_exa1cel03"),
    "listed LUN": ("on exa1cel01 list lun 0_111", "0_11"),
    "listed physical disk": ("list physicaldisk FLASH_1_11", "FLASH_1_1"),
    "attribute": ("list cell attributes nmae", "name"),
}


def said(text: str, folder: Path, world: RackWorld) -> str:
    """Return all that a statement comes to, in words."""
    session, services, _ = session_on(world, folder)
    try:
        line = parse_line(text)
        assert line is not None, text
        found = execute(session, services, Asking(), line)
    except ExacellError as error:
        return " ".join([error.message, error.hint, *map(str, getattr(error, "suggestions", ()))])
    assert isinstance(services.console, SilentConsole)
    warned = [line for plan in services.console.plans for line in plan.warnings]
    return " ".join([*found.notes, *found.problems, str(found.records), found.text, *warned])


def test_what_is_not_there_is_told_with_the_nearest_that_is(tmp_path: Path) -> None:
    """For each kind of object whose name is a slip the answer says that it is not there, and names the one that was meant."""
    world = RackWorld.create("t1", {})
    world.inject(["exa1cel01"], "quarantine", {})
    (tmp_path / "config.toml").write_text('[racks.t1]\ncells = "exa1cel[01-03]"\n')
    for text in BEFORE:
        said(text, tmp_path, world)
    told = {kind: said(text, tmp_path, world) for kind, (text, _) in CASES.items()}
    assert {kind: text for kind, text in told.items() if f"did you mean {CASES[kind][1]}" not in text} == {}


def test_a_run_that_is_not_there_is_told_with_the_nearest_that_is(tmp_path: Path) -> None:
    """The name of a recipe's run that is a slip is no exception."""
    store, began = Store(tmp_path / "store.db"), "2026-11-28T21:00:00+00:00"
    keep_run(store, Run(name="nightly", rack="t1", statement="run x", recipe="x", began=began, state=DONE))
    with pytest.raises(RefusedError) as refused:
        changes_of_run(store, Journal(tmp_path / "journal.db"), "t1", "nightlyy")
    assert refused.value.hint == "did you mean nightly?"
