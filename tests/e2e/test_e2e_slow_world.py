"""Cells that take their time, some answers more than others: what exacell says and does is the same as with quick ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from exacell.transport.ssh import kept_cellcli
from tests.support.program import InProcess

READS = """\
list griddisk attributes name, size, cachingPolicy, status
list celldisk attributes name, diskType, freeSpace
list celldisk nosuch
list iormplan detail
list flashcache attributes name, size, effectiveCacheSize
list griddisk where name like 'RECO.*' attributes name, asmModeStatus
list metriccurrent nosuch
list database attributes name
describe flashlog
list cell attributes name, flashCacheMode, releaseVersion
show griddisk
show iorm
show versions
show diskgroup
"""

PLANS = (
    "resize flashcache size=288g",
    "set flashcache mode=writethrough",
    "flush flashcache",
    "carve griddisk prefix=SLOW size=64m media=hard",
    "disable flashlog db=SPOT",
    "set iorm db=ERP share=6",
    "alter griddisk DATA_CD_00_exa1cel01 comment='late'",
    "drop griddisk RECO_CD_00_exa1cel01",
)

CHANGES = ("disable flashlog db=SPOT", "set iorm db=ERP share=6")


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """What counts as silence, as much shorter than usual as the delays are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_cellcli, "QUIET_S", 0.03)
        yield


@pytest.fixture
def delay(shared: InProcess) -> Iterator[Callable[[], None]]:
    """Make each second statement of a host late until the test ends, each third one later, and each seventh still more."""

    def inject() -> None:
        for match, every, seconds in ((".", 2, 0.02), ("..", 3, 0.08), ("...", 7, 0.2)):
            options = (f"match={match}", f"every={every}", f"delay={seconds}")
            shared.ok("emulator", "fault", "t1", "all", "slow", *options)

    yield inject
    shared.ok("emulator", "fault", "t1", "all", "clear")


def test_answers_are_the_same(inside: InProcess, delay: Callable[[], None]) -> None:
    """It should answer reads of slow cells, through the CellCLIs that are kept open, as those of quick ones."""
    quick = inside("-r", "t1", stdin=READS)
    delay()
    late = inside("-r", "t1", stdin=READS)
    assert quick.out.count("exa1cel") > 50 and late == quick


@pytest.mark.parametrize("statement", PLANS)
def test_plans_are_the_same(inside: InProcess, delay: Callable[[], None], statement: str) -> None:
    """It should plan for slow cells, or refuse, what it does for quick ones."""

    def plan() -> tuple[int, object]:
        done = inside("-r", "t1", "-o", "json", "-n", statement)
        steps = json.loads(done.out or "[]")
        assert done.code in (0, 2) and (steps or done.code), done
        return done.code, [{key: step[key] for key in step if key != "seconds"} for step in steps] or done.err

    quick = plan()
    delay()
    assert plan() == quick


def test_changes_are_carried_out_and_taken_back(inside: InProcess, delay: Callable[[], None]) -> None:
    """It should carry changes out on slow cells, prove them and take them back, without one that is not known."""
    delay()
    before = inside.ok("-r", "t1", "list iormplan detail").out
    for statement in CHANGES:
        done = inside.ok("-r", "t1", "-o", "json", statement, "-y")
        assert {row["outcome"] for row in done.records} == {"done"}, done
    assert inside.ok("-r", "t1", "list iormplan detail").out != before
    for _ in CHANGES:
        inside.ok("-r", "t1", "undo", "-y")
    assert inside.ok("-r", "t1", "list iormplan detail").out == before
