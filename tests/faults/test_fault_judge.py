"""The matrix' judge: whatever is put wrong on a rack behind a change that ended well, it is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from matrix_cases import Case, Way
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, MatrixRack, Operator
from matrix_run import Verdict, judge, prepared, reference, state_of
from matrix_verbs import VERBS

from exacell.emulator.storage.disk_groups import DiskMode
from exacell.journal.record import Row
from tests.support.forging import forging

TWO = CELLS[1]
GROUP = "PP"


def grid_disk(rack: MatrixRack) -> str:
    """A grid disk of the second cell."""
    return sorted(rack.rack.cells[TWO].grid_disks)[0]


def lost_grid_disk(rack: MatrixRack) -> None:
    """One grid disk is gone."""
    del rack.rack.cells[TWO].grid_disks[grid_disk(rack)]


def smaller_grid_disk(rack: MatrixRack) -> None:
    """One grid disk lacks an extent."""
    rack.rack.cells[TWO].grid_disks[grid_disk(rack)].size_bytes -= 16 << 20


def inactive_grid_disk(rack: MatrixRack) -> None:
    """One grid disk is inactive."""
    rack.rack.cells[TWO].grid_disks[grid_disk(rack)].status = "inactive"


def other_caching_policy(rack: MatrixRack) -> None:
    """One grid disk is cached otherwise."""
    rack.rack.cells[TWO].grid_disks[grid_disk(rack)].caching_policy = "none"


def for_somebody_else(rack: MatrixRack) -> None:
    """One grid disk is available to others."""
    rack.rack.cells[TWO].grid_disks[grid_disk(rack)].available_to = ("+OTHER",)


def no_cache(rack: MatrixRack) -> None:
    """One cell has no flash cache."""
    rack.rack.cells[TWO].flash_cache = None


def smaller_cache(rack: MatrixRack) -> None:
    """A part of one cell's cache is smaller."""
    cache = rack.rack.cells[TWO].flash_cache
    assert cache is not None
    next(iter(cache.members.values())).size_bytes -= 16 << 20


def caching_off(rack: MatrixRack) -> None:
    """One cell is left flushed."""
    rack.raw(TWO, "alter flashcache all flush")


def other_mode(rack: MatrixRack) -> None:
    """One cell caches in the other mode."""
    rack.rack.cells[TWO].mode = "writethrough"


def no_flash_log(rack: MatrixRack) -> None:
    """One cell has no flash log."""
    rack.raw(TWO, "drop flashlog")


def other_plan(rack: MatrixRack) -> None:
    """One word of one cell's IORM plan is another."""
    rack.raw(TWO, "alter iormplan dbplan=((name=SPOT,share=7,limit=80),(name=ERP,share=4),(name=default,share=1))")


def other_objective(rack: MatrixRack) -> None:
    """One cell's objective is another."""
    rack.raw(TWO, "alter iormplan objective=basic")


def stopped_service(rack: MatrixRack) -> None:
    """One cell's restart server is stopped."""
    rack.rack.cells[TWO].services["rs"] = "stopped"


def dismounted(rack: MatrixRack) -> None:
    """The disk group is mounted on one node only."""
    mounted = rack.rack.asm.groups[GROUP].mounted
    mounted.remove(sorted(mounted)[1])


def no_disk_group(rack: MatrixRack) -> None:
    """A disk group is gone."""
    del rack.rack.asm.groups["DATA"]


def disk_out_of_group(rack: MatrixRack) -> None:
    """The disk group lacks a disk."""
    disks = rack.rack.asm.groups[GROUP].disks
    del disks[next(iter(disks))]


def disk_offline(rack: MatrixRack) -> None:
    """A disk of a disk group is offline."""
    disk = next(iter(rack.rack.asm.groups[GROUP].disks.values()))
    disk.mode, disk.kept_offline = DiskMode.OFFLINE, True


def other_failure_group(rack: MatrixRack) -> None:
    """A disk is in another failure group."""
    next(iter(rack.rack.asm.groups[GROUP].disks.values())).fail_group = "ELSE"


def lost_file(rack: MatrixRack) -> None:
    """A disk group lacks a file."""
    rack.rack.asm.groups["DATA"].files.pop()


def other_attribute(rack: MatrixRack) -> None:
    """A disk group has another attribute."""
    rack.rack.asm.groups[GROUP].attributes["disk_repair_time"] = "1h"


def dirty_line_seen(rack: MatrixRack) -> None:
    """The auditor saw a dirty byte go."""
    rack.lost = 1


def dirty_line_counted(rack: MatrixRack) -> None:
    """A cell counts a dirty byte that went with its cache."""
    rack.rack.cells[TWO].lost_dirty_bytes = 1


def two_cells_offline(rack: MatrixRack) -> None:
    """Disks of two cells were offline at once."""
    rack.offline = 2


def edited_journal(rack: MatrixRack) -> None:
    """A row of the journal was edited."""
    with forging(rack.home / "journal.db") as connection:
        connection.execute("update entry set target = 'x' where seq = 2")


def still_warned(rack: MatrixRack) -> None:
    """The next start warns of a cache that caches."""
    body = {"what": "w", "cachingOff": True, "cache": "flashcache"}
    rack.operator().services.journal.append("t1", 1, [Row(kind="intent", target=TWO, body=body)])


WRONGS: list[Callable[[MatrixRack], None]] = [
    lost_grid_disk, smaller_grid_disk, inactive_grid_disk, other_caching_policy, for_somebody_else, no_cache, smaller_cache,
    caching_off, other_mode, no_flash_log, other_plan, other_objective, stopped_service, dismounted, no_disk_group,
    disk_out_of_group, disk_offline, other_failure_group, lost_file, other_attribute, dirty_line_seen, dirty_line_counted,
    two_cells_offline, edited_journal, still_warned,
]  # fmt: skip

CREATED = next(verb for verb in VERBS if verb.name == "create diskgroup")
KILLED = Case(CREATED, (Mishap(Kind.KILL, Moment(Phase.END), "before"),), Way.RESUME)
OTHER = replace(KILLED, mishaps=(Mishap(Kind.OTHER, Moment(Phase.OUTCOME, 1), "after"),))


@pytest.fixture
def ended(tmp_path: Path) -> tuple[MatrixRack, Operator]:
    """A rack on which CREATE DISKGROUP has ended well."""
    rack = MatrixRack(tmp_path / "rack", prepared((*CREATED.prepare, CREATED.statement), CREATED.rack))
    operator = rack.operator()
    journal = operator.services.journal
    journal.append("t1", journal.begin("t1", {"statement": CREATED.statement}), [Row(kind="end", body={"exitCode": 0})])
    return rack, operator


def judged(ended: tuple[MatrixRack, Operator], case: Case) -> Verdict:
    """What the judge says of the rack as it is now."""
    verdict = Verdict(case, story=["resume -y -> 0: done"])
    rack, operator = ended
    judge(rack, operator, case, reference(CREATED).intended, verdict)
    return verdict


def test_a_rack_as_it_has_to_be_is_passed(ended: tuple[MatrixRack, Operator]) -> None:
    """Where nothing is wrong the judge should say nothing, or what it says elsewhere means nothing."""
    assert judged(ended, KILLED).survived and judged(ended, OTHER).survived


@pytest.mark.parametrize("wrong", WRONGS, ids=lambda wrong: wrong.__name__)
@pytest.mark.parametrize("case", [KILLED, OTHER], ids=["killed", "second operator"])
def test_each_thing_that_is_wrong_is_noticed(
    ended: tuple[MatrixRack, Operator], case: Case, wrong: Callable[[MatrixRack], None]
) -> None:
    """It should find every difference in configuration, dirty bytes, failure groups, journal and warnings, whatever struck."""
    wrong(ended[0])
    verdict = judged(ended, case)
    assert not verdict.survived, f"{wrong.__doc__} Nobody noticed."


def test_an_end_in_between_is_no_good_refusal(ended: tuple[MatrixRack, Operator]) -> None:
    """A refusal should excuse only a rack that is wholly as intended or as it was, never one in between."""
    rack, operator = ended
    lost_grid_disk(rack)
    for way in Way:
        verdict = Verdict(replace(KILLED, way=way), story=["said", "undo -y -> 2: refused; nothing was sent"])
        goal = reference(CREATED).original if way is Way.UNDO else reference(CREATED).intended
        judge(rack, operator, verdict.case, goal, verdict)
        assert not verdict.survived
    assert state_of(rack) != reference(CREATED).intended
