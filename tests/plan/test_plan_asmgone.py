"""Grid disks that ASM has dropped for good: proven by their disk group, since a dead disk has no header to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from plan_factory import CELLS, asm, asm_disk, cell, grid, group
from plan_guarding import guard, only

from exacell.core.errors import RefusedError
from exacell.plan.asmfacts import AsmFacts
from exacell.plan.asmspace import headers_over, ways_out
from exacell.plan.facts import EXPELLED, GridDisk
from exacell.plan.model import Op
from exacell.plan.planners.griddisk import release_plan

DEAD = "DATA_CD_01_exa1cel01"


def dead(**changes: Any) -> GridDisk:
    """The grid disk on a disk that failed long ago."""
    return grid("CD_01_exa1cel01", **{"asm_mode": "DROPPED", "status": "not present", **changes})


def member(name: str, **changes: Any) -> Any:
    return asm_disk(name, **{"group": 1, "header": "MEMBER", "mount": "CACHED", "name": name.upper(), **changes})


def cluster(*disks: Any, **changes: Any) -> AsmFacts:
    """An ASM cluster whose disk group DATA is mounted and has one healthy disk, and more."""
    return asm([group("DATA", **changes)], [member("DATA_CD_00_exa1cel01"), *disks])


OTHER = asm([group("OTHER", number=2)], [asm_disk("OTHER_CD_00_exa1cel01", group=2, header="MEMBER")])
LOST = asm_disk("x", group=1, path="", header="UNKNOWN", mount="MISSING", mode="OFFLINE", name="_DROPPED_0001_DATA")
ELSEWHERE = asm_disk("x", group=2, path="", header="UNKNOWN", mount="MISSING", mode="OFFLINE", name="X")
HEADERS: dict[str, tuple[Sequence[AsmFacts], str | None]] = {
    "dropped": ([cluster()], EXPELLED),
    "dropped, another cluster has never heard of it": ([OTHER, cluster()], EXPELLED),
    "a disk of another group is lost": ([cluster(ELSEWHERE)], EXPELLED),
    "being expelled still": ([cluster(LOST)], None),
    "its group is not mounted where ASM was asked": ([cluster(number=0)], None),
    "its group is mounted in one cluster, and not in another": ([cluster(), cluster(number=0)], None),
    "nobody knows its group": ([OTHER], None),
    "no cluster": ([], None),
    "seen": ([cluster(asm_disk(DEAD, header="MEMBER"))], "MEMBER"),
    "seen by another cluster": ([cluster(), asm(disks=[asm_disk(DEAD, header="UNKNOWN")])], "UNKNOWN"),
    "former here, a member there": (
        [asm(disks=[asm_disk(DEAD, header="FORMER")]), asm(disks=[asm_disk(DEAD, header="MEMBER")])],
        "MEMBER",
    ),
    "a member here, former there": (
        [asm(disks=[asm_disk(DEAD, header="MEMBER")]), asm(disks=[asm_disk(DEAD, header="FORMER")])],
        "MEMBER",
    ),
    "candidate": ([cluster(asm_disk(DEAD))], "CANDIDATE"),
}


@pytest.mark.parametrize(("clusters", "header"), HEADERS.values(), ids=list(HEADERS))
def test_what_stands_for_the_header_of_a_dead_disk(clusters: Sequence[AsmFacts], header: str | None) -> None:
    """A disk that no cluster sees counts as expelled when every group of its name is mounted and misses no disk; the worst
    header of any cluster counts where it is seen."""
    assert headers_over(clusters, [dead()]).get(DEAD.lower()) == header


def test_only_the_disks_in_question_count_as_expelled() -> None:
    """What nobody asked about, or ASM sees, keeps what ASM says of it."""
    headers = headers_over([cluster()], [dead(), grid("CD_00_exa1cel01")])
    assert headers == {DEAD.lower(): EXPELLED, "data_cd_00_exa1cel01": "MEMBER"}
    assert DEAD.lower() not in headers_over([cluster()], [])


@pytest.mark.parametrize("mode", ["UNUSED", "OFFLINE", "UNKNOWN", "ONLINE", "SYNCING", ""])
def test_the_cell_must_say_so_too(mode: str) -> None:
    """A disk that ASM does not see is free only where its cell says that ASM dropped it."""
    assert dead().use({DEAD.lower(): EXPELLED}) == ""
    assert dead(asm_mode=mode).use({DEAD.lower(): EXPELLED})


EXPELLED_ONE = {DEAD.lower(): EXPELLED}


@pytest.mark.parametrize(
    "text", [f"drop griddisk {DEAD}", f"drop griddisk {DEAD} force", "drop celldisk CD_01_exa1cel01 force"]
)
def test_a_dead_disk_may_go(text: str) -> None:
    """A grid disk that ASM has dropped may be dropped, with its cell disk too; right before its cell must say so still."""
    fact = cell(grid_disks=(grid("CD_00_exa1cel01"), dead()))
    step = only(guard(text, fact, accepted=[CELLS[0]], headers=EXPELLED_ONE))
    need = next(check for check in step.needs if check.attribute == "asmModeStatus")
    assert (need.op, need.value, need.where["name"]) == (Op.IN, ("UNUSED", "DROPPED"), (DEAD,))


MEMBERS = (
    '`sql asm "alter diskgroup DATA drop disk DATA_CD_01_EXA1CEL01"` first; '
    "`drop diskgroup DATA` drops the disk group with its files"
)
WAYS: dict[str, tuple[GridDisk, dict[str, str] | None, str]] = {
    "a member": (grid("CD_01_exa1cel01"), {}, MEMBERS),
    "offline": (dead(asm_mode="OFFLINE"), {}, MEMBERS.replace("EXA1CEL01", "EXA1CEL01 force")),
    "its header was never changed": (
        dead(),
        {DEAD.lower(): "MEMBER"},
        f"ASM has dropped {DEAD} but its header was never changed: `alter griddisk {DEAD} inactive` "
        "hides it from ASM; then it can be dropped",
    ),
    "ASM misses disks": (
        dead(),
        {},
        "mount DATA, and wait until no disk is missing: see `show asmdisk` and `show rebalance`",
    ),
    "no ASM": (
        dead(),
        None,
        "start an ASM instance and mount DATA: only ASM can confirm that it has dropped the disks",
    ),
}


@pytest.mark.parametrize(("found", "headers", "way"), WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("text", [f"drop griddisk {DEAD}", "drop celldisk CD_01_exa1cel01"])
def test_what_is_refused_has_a_way_that_harms_nobody(
    found: GridDisk, headers: dict[str, str] | None, way: str, text: str
) -> None:
    """A disk that is not free is refused with what lets go of it alone, not with the loss of its disk group."""
    fact = cell(grid_disks=(grid("CD_00_exa1cel01"), found))
    with pytest.raises(RefusedError) as caught:
        guard(text, fact, accepted=[CELLS[0]], headers=headers)
    assert caught.value.hint == way


def test_disks_of_several_groups_are_told_one_way_each() -> None:
    """A cell disk with disks of two groups names both; a member comes before one that ASM has dropped."""
    reco = grid("CD_01_exa1cel01", "RECO", asm_mode="DROPPED")
    fact = cell(grid_disks=(grid("CD_01_exa1cel01"), reco, grid("CD_01_exa1cel01", "FRA")))
    with pytest.raises(RefusedError) as caught:
        guard("drop celldisk CD_01_exa1cel01", fact, accepted=[CELLS[0]], headers={})
    assert "`drop diskgroup DATA` and `drop diskgroup FRA` drop" in caught.value.hint


def test_a_pool_keeps_its_way() -> None:
    """A disk of an Exascale pool is refused with Exascale's way, whatever it was in ASM."""
    with pytest.raises(RefusedError) as caught:
        guard(f"drop griddisk {DEAD}", cell(grid_disks=(dead(pool="HC", asm_group=""),)), headers=EXPELLED_ONE)
    assert "escli" in caught.value.hint


def test_a_free_disk_beside_a_used_one_needs_no_way() -> None:
    """Of the disks that a statement means only those that are not free are told with a way."""
    former = grid("CD_01_exa1cel01", "OLD", asm_mode="UNUSED")
    fact = cell(grid_disks=(former, grid("CD_01_exa1cel01")))
    with pytest.raises(RefusedError) as caught:
        guard("drop celldisk CD_01_exa1cel01", fact, accepted=[CELLS[0]], headers={former.name.lower(): "FORMER"})
    assert caught.value.hint == MEMBERS


def test_a_disk_of_which_nothing_is_known_waits_for_asm() -> None:
    """A disk without a disk group of which no ASM tells whether it is used is refused until ASM does."""
    with pytest.raises(RefusedError) as caught:
        guard(f"drop griddisk {DEAD}", cell(grid_disks=(dead(asm_group="", asm_mode="UNKNOWN"),)), headers={})
    assert caught.value.hint.startswith("start ASM")


def test_a_release_of_dropped_disks_tells_their_way() -> None:
    """release griddisk tells of disks that ASM has dropped what lets go of them; of members, what it always did."""
    for grids, way in (
        ((dead(),), "wait until no disk is missing"),
        ((dead(), grid("CD_00_exa1cel01")), "drop diskgroup DATA"),
    ):
        with pytest.raises(RefusedError) as caught:
            release_plan(
                "t1", {CELLS[0]: cell(grid_disks=grids)}, prefix="DATA", headers={}, regrow=False, statement="release"
            )
        assert way in caught.value.hint and ("alter diskgroup" not in caught.value.hint)


def test_disks_of_two_groups_name_both() -> None:
    """Where disks of several disk groups are in the way, dropping each of them is named."""
    two = (grid("CD_00_exa1cel01"), grid("CD_01_exa1cel01", asm_group="RECO"))
    way = ways_out({CELLS[0]: two}, {})
    assert way.endswith("`drop diskgroup DATA` and `drop diskgroup RECO` drop the disk groups with their files")
