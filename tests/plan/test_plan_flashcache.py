"""Plans that flush and re-create flashcache: the order that keeps dirty data, and every refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CACHE, CELLS, cache, cell, disk, grid, rack, sent, stage, step, with_free
from plan_guarding import pmem

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan.estimate import LARGEST, cost_notes
from exacell.plan.facts import FLUSHED, CellFacts, rounded_cache
from exacell.plan.model import Check, Gate, Op, Plan, Risk, Undo, Watch
from exacell.plan.planners.flashcache import (
    applicable,
    flush_plan,
    flush_refusal,
    recreate_stages,
    resize_plan,
)

FLUSH = "ALTER FLASHCACHE ALL FLUSH NOWAIT"
CANCEL = "ALTER FLASHCACHE ALL CANCEL FLUSH"
COLD = Check(
    object="flashcache",
    attribute="status",
    value=FLUSHED,
    why="only an active FLUSH keeps new dirty data out of a write-back cache",
)


def flush(*facts: CellFacts, recreate: bool = False) -> Plan:
    return flush_plan("t1", {f.cell: f for f in facts}, recreate=recreate, statement="flush flashcache")


def resize(*facts: CellFacts, size: int = 36 * GIB) -> Plan:
    return resize_plan("t1", {f.cell: f for f in facts}, size=size, statement="resize flashcache")


def test_flush_sends_flush_follows_it_and_cancels() -> None:
    """A flush is sent NOWAIT, followed to its proof, and always ended with CANCEL FLUSH."""
    plan = flush(*rack().values())
    for name in CELLS:
        assert sent(plan, name) == [FLUSH, CANCEL]
    first = step(plan, "flush")
    assert first.watch is Watch.FLUSH
    assert first.caching_off
    assert step(plan, "rearm").caching_on
    assert step(plan, "rearm").proves == (Check(object="flashcache", attribute="status", value="normal"),)
    assert plan.risk is Risk.PERFORMANCE
    assert plan.warnings


def test_flush_tells_equal_caches_once() -> None:
    """Cells whose caches hold as much are one note of a flush, and one that holds something else is another."""
    facts = list(rack().values())
    assert "exa1cel[01-03]: 2G dirty, 30G used of 40G" in flush(*facts).notes
    facts[0] = replace(facts[0], metrics={**facts[0].metrics, "FC_BY_DIRTY": (3.0 * GIB, 1000)})
    notes = flush(*facts).notes
    assert "exa1cel01: 3G dirty, 30G used of 40G" in notes
    assert "exa1cel[02-03]: 2G dirty, 30G used of 40G" in notes


def test_a_flush_that_fails_is_mended_unless_rearmed() -> None:
    """For every flushed cell there is a mending CANCEL FLUSH, needed unless the cell was re-armed."""
    plan = flush(*rack().values())
    mend = stage(plan, "mend")
    assert (mend.gate, mend.mends, mend.unless) == (Gate.MEND, "flush", "rearm")
    assert {s.target: s.statement for s in mend.steps} == dict.fromkeys(CELLS, CANCEL)
    assert all(s.only_if for s in mend.steps), "a cache that is not flushing is left alone"


@pytest.mark.parametrize("status", ["normal - flushing", "normal - flushed"])
def test_a_flush_under_way_is_followed(status: str) -> None:
    """A cache that is flushing or flushed already gets no second FLUSH, but is followed and re-armed."""
    plan = flush(cell(flash_cache=cache(CELLS[0], status=status)))
    assert sent(plan) == [CANCEL]
    assert step(plan, "flush").watch is Watch.FLUSH
    assert step(plan, "flush").expect == 0


def test_recreate_drops_only_what_is_still_used_and_still_flushed() -> None:
    """With recreate the cache is dropped while flushed, only where something is left, and made again at its size."""
    plan = flush(cell(), recreate=True)
    assert sent(plan) == [FLUSH, "DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=40G", CANCEL]
    drop = step(plan, "dropleft")
    assert drop.only_if[0].where == {"name": "FC_BY_USED"}
    assert (drop.only_if[0].op, drop.only_if[0].value) == (Op.ABOVE, 0)
    assert COLD in drop.needs
    assert drop.undo is Undo.IMPOSSIBLE
    back = stage(plan, "backleft")
    assert (back.gate, back.mends, back.unless) == (Gate.MEND, "dropleft", "createleft")
    assert back.steps[0].statement == "CREATE FLASHCACHE ALL size=40G"


def test_old_release_write_through_is_recreated_instead() -> None:
    """Before 11.2.3.2 there is no FLUSH: a write-through cache is dropped and created at the same explicit size."""
    plan = flush(cell(release="11.2.3.1.1", mode="writethrough"))
    assert sent(plan) == ["DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=40G"]
    assert COLD not in step(plan, "dropold").needs


def test_old_release_write_back_is_refused() -> None:
    """A write-back cache that its release can't flush is refused."""
    with pytest.raises(RefusedError, match=r"release 11\.2\.3\.1\.1 has no FLUSH and its cache is write-back"):
        flush(cell(release="11.2.3.1.1"))


REFUSALS: list[tuple[str, CellFacts, str]] = [
    ("no cache", cell(flash_cache=None), "has no flash cache"),
    (
        "physical disk",
        cell(flash_physical=(("FLASH_1_0", "normal"), ("FLASH_1_1", "warning - predictive failure"))),
        "flash disk FLASH_1_1 is warning - predictive failure",
    ),
    (
        "cell disk",
        cell(cell_disks=(disk("CD_00_x"), disk("FD_00_x", status="proactive failure"))),
        "flash cell disk FD_00_x is proactive failure",
    ),
    (
        "flush error",
        cell(cell_disks=(disk("CD_00_x"), disk("FD_00_x", flush_error="cannot write"))),
        "FD_00_x reports flushError cannot write",
    ),
    ("degraded", cell(flash_cache=cache("x", degraded=("FD_01_x",))), r"is normal \(FD_01_x\), not normal"),
    ("warning", cell(flash_cache=cache("x", status="warning - degraded")), "is warning - degraded, not normal"),
    (
        "stale",
        cell(metrics={"FC_BY_STALE_DIRTY": (5.0 * MIB, 1)}),
        r"5M of dirty data belong to grid disks that cannot be written \(FC_BY_STALE_DIRTY\)",
    ),
    (
        "offline",
        cell(grid_disks=(grid("CD_00_x"), grid("CD_01_x", asm_mode="OFFLINE"))),
        "grid disk DATA_CD_01_x is active, ASM mode OFFLINE",
    ),
    (
        "inactive in use",
        cell(grid_disks=(grid("CD_00_x", status="inactive", asm_mode="UNKNOWN"),)),
        "grid disk DATA_CD_00_x is inactive, ASM mode UNKNOWN",
    ),
]


@pytest.mark.parametrize(("fact", "said"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS])
def test_flush_refused(fact: CellFacts, said: str) -> None:
    """A flush does not start where dirty data could not be read or written; the reason names disk and state."""
    with pytest.raises(RefusedError, match=said) as caught:
        flush(fact, cell(CELLS[1]))
    assert caught.value.message.startswith(f"flush flashcache refused on {CELLS[0]}: ")
    assert caught.value.message.endswith("; nothing was sent")


@pytest.mark.parametrize(("fact", "said"), [r[1:] for r in REFUSALS[1:]], ids=[r[0] for r in REFUSALS[1:]])
def test_resize_refused_where_a_flush_is(fact: CellFacts, said: str) -> None:
    """A write-back cache is not re-created where a flush must not start."""
    with pytest.raises(RefusedError, match=said):
        resize(with_free(fact, 30 * GIB), size=20 * GIB)


ALLOWED: list[tuple[str, CellFacts]] = [
    ("flash grid disk offline", cell(grid_disks=(grid("FD_00_x", asm_mode="OFFLINE"),))),
    ("not cached", cell(grid_disks=(grid("CD_00_x", asm_mode="OFFLINE", caching_policy="none"),))),
    ("inactive, unused", cell(grid_disks=(grid("CD_00_x", status="inactive", asm_mode="UNUSED"),))),
    ("inactive, dropped", cell(grid_disks=(grid("CD_00_x", status="inactive", asm_mode="DROPPED"),))),
    ("syncing", cell(grid_disks=(grid("CD_00_x", asm_mode="SYNCING"),))),
    ("no stale metric", cell(metrics={})),
    ("bad hard disk", cell(cell_disks=(disk("CD_00_x", status="failed", flush_error="x"), disk("FD_00_x")))),
]


@pytest.mark.parametrize("fact", [a[1] for a in ALLOWED], ids=[a[0] for a in ALLOWED])
def test_flush_allowed(fact: CellFacts) -> None:
    """What has no dirty data on flash does not hold a flush up."""
    assert flush_refusal(fact) == ""


def test_same_reasons_are_folded() -> None:
    """Cells refused for the same reason are named together."""
    with pytest.raises(RefusedError, match=r"refused on exa1cel\[01-02\]: its flash cache is warning"):
        flush(*(cell(n, flash_cache=cache(n, status="warning")) for n in CELLS[:2]), cell(CELLS[2]))


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (cell(cell_disks=(disk("CD_00_x"),)), "no flash cell disks"),
        (cell(cell_disks=()), "no flash cell disks"),
        (cell(cell_disks=(disk("FD_00_x"), disk("FD_01_x"))), "Extreme Flash"),
        (cell(model="Oracle Corporation Exadata X10M Extreme Flash"), "Extreme Flash"),
    ],
)
def test_not_applicable(fact: CellFacts, why: str) -> None:
    """A cell without flash, or all of flash, is not applicable: skipped with the reason, not failed."""
    good = cell(CELLS[1])
    cells, skipped = applicable({fact.cell: fact, good.cell: good})
    assert list(cells) == [CELLS[1]]
    assert why in skipped[fact.cell]
    plan = flush(fact, good)
    assert plan.skipped.keys() == {fact.cell}
    assert plan.targets == (CELLS[1],)


def test_nothing_applicable_changes_nothing() -> None:
    """A rack without any flash gets a plan that sends nothing and risks nothing."""
    plan = flush(cell(cell_disks=(disk("CD_00_x"),)))
    assert not plan.changes_something
    assert plan.risk is Risk.NONE
    assert not plan.warnings


# -- resize ----------------------------------------------------------------------------------------------------------


def test_resize_drops_while_flushed() -> None:
    """Write-back: FLUSH, proof, DROP while still flushed, CREATE at an explicit size; no CANCEL FLUSH in between."""
    plan = resize(*rack().values())
    for name in CELLS:
        assert sent(plan, name) == [FLUSH, "DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=36G"]
    drop = step(plan, "drop")
    assert COLD in drop.needs
    assert drop.proves == (Check(object="flashcache", op=Op.ABSENT),)
    create = step(plan, "create")
    assert Check(object="flashcache", attribute="size", op=Op.IN, value=(36 * GIB,)) in create.proves
    assert Check(object="flashcache", attribute="status", value="normal") in create.proves
    assert create.undo is Undo.IMPOSSIBLE
    assert create.inverse == drop.inverse
    assert drop.what == "drop flashcache while it is still flushed"
    assert create.caching_on
    assert drop.caching_off


def test_resize_gates() -> None:
    """Nothing is flushed or dropped unless all cells got there, but each cell that lost its cache gets one."""
    plan = resize(*rack().values())
    assert {s.key: s.gate for s in plan.stages} == {
        "flush": Gate.ALL,
        "drop": Gate.ALL,
        "create": Gate.EACH,
        "back": Gate.MEND,
        "mend": Gate.MEND,
    }
    mend, back = stage(plan, "mend"), stage(plan, "back")
    assert (mend.mends, mend.unless) == ("flush", "drop"), "CANCEL FLUSH only where the drop did not happen"
    assert (back.mends, back.unless) == ("drop", "create")
    assert [s.statement for s in back.steps] == ["CREATE FLASHCACHE ALL size=40G"] * 3
    assert all(s.only_if == (Check(object="flashcache", op=Op.ABSENT),) for s in back.steps)
    assert all((s.undo, s.inverse) == (Undo.NOTHING, "") for s in back.steps)


def test_resize_write_through_needs_no_flush() -> None:
    """A write-through cache holds no only copy: it is dropped without a flush and without its proof."""
    plan = resize(cell(mode="writethrough"))
    assert sent(plan) == ["DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=36G"]
    assert COLD not in step(plan, "drop").needs
    assert step(plan, "drop").what == "drop flashcache"
    degraded = cell(mode="writethrough", flash_cache=cache(CELLS[0], status="warning - degraded"))
    assert sent(resize(degraded)) == sent(plan), "what can't be flushed need not be"


def test_unknown_release_is_flushed() -> None:
    """A cell that does not say its release is taken for one that can flush: it refuses by itself if it can't."""
    assert sent(resize(cell(release="")))[0] == FLUSH
    assert sent(flush(cell(release="")))[0] == FLUSH


def test_resize_without_a_cache_creates_one() -> None:
    """A cell that has no cache gets one; nothing is flushed or dropped there."""
    plan = resize(with_free(cell(flash_cache=None), 21 * GIB))
    assert sent(plan) == ["CREATE FLASHCACHE ALL size=36G"]
    assert not any(s.key == "back" for s in plan.stages)


def test_mixed_cells() -> None:
    """Each cell gets what its own state asks for."""
    plan = resize(cell(), cell(CELLS[1], mode="writethrough"), with_free(cell(CELLS[2], flash_cache=None), 21 * GIB))
    assert [len(sent(plan, name)) for name in CELLS] == [3, 2, 1]
    assert [s.target for s in stage(plan, "mend").steps] == [CELLS[0]]


def test_resize_rounds_down_to_units() -> None:
    """The size is rounded down to equal shares of 16M, says so, and the statement and proof carry the real one."""
    plan = resize(cell(), size=36 * GIB + 31 * MIB)
    assert sent(plan)[-1] == "CREATE FLASHCACHE ALL size=36G"
    assert "rounded down to 16M a disk" in plan.notes[0]
    assert rounded_cache(100 * MIB, 3) == 96 * MIB
    assert rounded_cache(47 * MIB, 3) == 0


def test_resize_done_already() -> None:
    """A cache of that size that is caching is done already; one that is not caching is re-created."""
    plan = resize(cell(), cell(CELLS[1], flash_cache=cache(CELLS[1], status="normal - flushed")), size=CACHE)
    assert plan.done.keys() == {CELLS[0]}
    assert sent(plan, CELLS[1]) == ["DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=40G"]


def test_resize_too_big() -> None:
    """More than a cell has room for is refused with what it has room for, in bytes too."""
    facts = rack()
    facts[CELLS[2]] = with_free(facts[CELLS[2]], 2 * GIB)
    assert resize_plan("t1", facts, size=42 * GIB, statement="x").changes_something
    with pytest.raises(RefusedError, match=r"43G does not fit, at most 42G \(45097156608 bytes\) on exa1cel\[01-02\];"):
        resize_plan("t1", facts, size=43 * GIB, statement="x")
    with pytest.raises(RefusedError, match=r"at most 42G .* on exa1cel\[01-02\]; at most 44G .* on exa1cel03"):
        resize_plan("t1", facts, size=45 * GIB, statement="x")


def test_room_is_the_tightest_disk() -> None:
    """The cache takes an equal share of every flash disk, so that the one with the least room decides."""
    fact = with_free(cell(), {"FD_00": 5 * GIB, "FD_01": GIB + 15 * MIB})
    assert fact.cache_room() == 2 * 21 * GIB
    assert fact.cache_room(plus={f"FD_01_{fact.cell}": GIB}) == 2 * 22 * GIB
    assert replace(fact, cell_disks=()).cache_room() == 0


def test_resize_too_small() -> None:
    """Less than 16M a disk is refused with the least size."""
    with pytest.raises(RefusedError, match=r"less than 16M on each of 2 flash disks of exa1cel01; at least 32M"):
        resize(cell(), size=31 * MIB)
    assert sent(resize(cell(), size=32 * MIB))[-1] == "CREATE FLASHCACHE ALL size=32M"


@pytest.mark.parametrize(
    ("size", "told", "meant"),
    [(300, "300 bytes is", "300G"), (1023, "1023 bytes is", "1023G"), (1024, "1K is", "1024G"), (MIB, "1M is", "")],
)
def test_a_size_without_its_unit(size: int, told: str, meant: str) -> None:
    """A number so small that its unit must be missing is refused as bytes, with the size that was meant."""
    with pytest.raises(RefusedError, match=f"resize flashcache: {told} less than 16M") as refused:
        resize(cell(), size=size)
    assert refused.value.hint == (f"a number without a unit is bytes: did you mean size={meant}?" if meant else "")


def test_resize_keeps_the_iorm_promise() -> None:
    """Less than the sum of flashCacheMin of the IORM plan is refused; exactly that is allowed."""
    plan = parse_iorm("((name=A,share=1,flashcachemin=20G),(name=B,share=1,flashcachemin=10G))")
    with pytest.raises(RefusedError, match=r"29G is less than the 30G that the IORM plan of exa1cel01 promises"):
        resize(cell(iorm=plan), size=29 * GIB)
    assert resize(cell(iorm=plan), size=30 * GIB).changes_something
    assert resize(cell(iorm=None), size=GIB).changes_something


def test_recreate_refuses_old_write_back() -> None:
    """Re-creating a write-back cache of a release without FLUSH is refused; write-through is not."""
    with pytest.raises(RefusedError, match="has no FLUSH and its cache is write-back"):
        recreate_stages([cell(release="11.2.3.1")], {CELLS[0]: GIB})
    assert recreate_stages([cell(release="11.2.3.1", mode="writethrough")], {CELLS[0]: GIB})


def test_nothing_to_recreate() -> None:
    """No cell, no stage."""
    assert recreate_stages([], {}) == []


def test_pmem_is_re_armed_once_on_each_cell() -> None:
    """A cell whose PMEM is flushed for its flash cache and was left flushed before gets one CANCEL FLUSH, others theirs."""
    both, other = pmem(), replace(pmem(), cell=CELLS[1])
    stages = recreate_stages([both], {both.cell: GIB}, idle=[both, other])
    rearm = next(found for found in stages if found.key == "pmemrearm")
    assert [s.target for s in rearm.steps] == [*CELLS[:2]]


def test_a_write_through_cache_is_dropped_only_while_it_is_that() -> None:
    """Somebody may make a cache write-back between the plan and the drop: the mode is read again right before."""
    needs = step(resize(cell(mode="writethrough")), "drop").needs
    assert [(check.object, check.attribute, check.value) for check in needs][1:] == [
        ("cell", "flashCacheMode", "writethrough")
    ]
    # Releases without the attribute have no other mode.
    needs = step(resize(cell(mode="", release="11.2.2.4.2")), "drop").needs
    assert [(check.object, check.attribute) for check in needs] == [("flashcache", "name"), ("cell", "releaseVersion")]
    # Where the cell should tell its mode and does not, the cache is flushed first.
    assert [s.key for s in resize(cell(mode="")).stages] == [s.key for s in resize(cell(mode="writeback")).stages]


def test_the_cost_of_a_flush_is_told_by_database() -> None:
    """What will be read from disk again is summed over cells and objects, the most first, with the hits so far."""
    one = {"dbUniqueName": "SPOT", "cachedSize": 3 * GIB, "hitCount": 90, "missCount": 10}
    other = {"dbUniqueName": "ERP", "cachedSize": GIB, "hitCount": 0, "missCount": 0}
    none = {"dbUniqueName": None, "cachedSize": 0, "hitCount": 5, "missCount": 5}
    assert cost_notes({"c1": [one, other], "c2": [one, none]}) == (
        "read from disk again, at most: SPOT 6G (the cache answered 90.0 % of its reads); ERP 1G",
    )
    assert cost_notes({"c1": [none], "c2": []}) == () == cost_notes({})
    (many,) = cost_notes({"c1": [one] * LARGEST})
    assert many.startswith("read from disk again, of the 100 largest objects of a cell: SPOT 300G")
