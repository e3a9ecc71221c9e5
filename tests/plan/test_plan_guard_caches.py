"""CellCLI's own statements on flash cache and flash log: planned and guarded from what is on the cells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cache, cell, disk
from plan_guarding import bare, flushed, guard, only

from exacell.cellcli.nodes import Group, Scalar, Setting, Value
from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan.facts import FLUSHED, CellFacts
from exacell.plan.guards.caches import unproven_cache
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Check, Op, Risk, Undo

LOSING = [
    "drop flashcache",
    "drop flashcache all",
    "alter flashcache all size=20G",
    "alter flashcache celldisk='FD_00_exa1cel01'",
]


@pytest.mark.parametrize("text", LOSING)
def test_write_back_cache_needs_proof(text: str) -> None:
    """A write-back cache that is not proven flushed is not dropped or altered; normal with nothing dirty is no proof."""
    clean = cell(metrics={"FC_BY_DIRTY": (0.0, 1)})
    with pytest.raises(RefusedError, match="may hold the only copy of data") as caught:
        guard(text, clean)
    assert caught.value.hint == "--accept-data-loss=exa1cel01 sends it anyway; -y does not"


@pytest.mark.parametrize("text", LOSING)
def test_proven_cache_goes_with_its_proof_read_again(text: str) -> None:
    """A cache proven flushed may go, and the proof is read again right before."""
    step = only(guard(text, flushed()))
    assert [(n.object, n.attribute, n.value) for n in step.needs] == [("flashcache", "status", FLUSHED)]
    assert step.risk is Risk.PERFORMANCE
    assert step.caching_off is text.startswith("drop")


@pytest.mark.parametrize("text", LOSING)
def test_write_through_cache_needs_its_mode(text: str) -> None:
    """A write-through cache holds no only copy; that it is still write-through is read again where the release has modes."""
    step = only(guard(text, cell(mode="writethrough")))
    assert [(n.object, n.attribute, n.value) for n in step.needs] == [("cell", "flashCacheMode", "writethrough")]
    assert step.risk is Risk.PERFORMANCE
    (patched,) = only(guard(text, cell(mode="", release="11.2.2.4.2"))).needs
    assert (patched.object, patched.attribute, patched.value) == ("cell", "releaseVersion", "11.2.2.4.2")
    assert only(guard(text, cell(mode="", release=""))).needs == ()


@pytest.mark.parametrize("text", LOSING)
@pytest.mark.parametrize("mode", ["", "unknown"])
def test_a_mode_that_is_not_told_is_no_write_through(text: str, mode: str) -> None:
    """Where a release has the attribute and the cell does not tell it, its cache may hold the only copy of data."""
    for release in ("11.2.3.2.1", "19.3.2.0.0"):
        with pytest.raises(RefusedError, match="may hold the only copy"):
            guard(text, cell(mode=mode, release=release))


def test_force_is_never_proven() -> None:
    """FORCE on a write-back cache throws dirty data away even when it says flushed; on write-through it can't."""
    text = "alter flashcache celldisk='FD_00_exa1cel01' force"
    with pytest.raises(RefusedError, match="FORCE throws away dirty data"):
        guard(text, flushed())
    assert guard(text, cell(mode="writethrough")).risk is Risk.PERFORMANCE


def test_accepted_loss_is_by_name_and_cell() -> None:
    """Loss is accepted per cell by its name; a cell that is not named still refuses, and a proven one keeps its proof."""
    with pytest.raises(RefusedError, match=r"drop flashcache: refused on exa1cel\[02-03\]"):
        guard("drop flashcache", accepted=[CELLS[0]])
    plan = guard("drop flashcache", cell(), flushed(CELLS[1]), accepted=["EXA1CEL01"])
    assert plan.risk is Risk.DATA
    assert plan.loss == (CELLS[0],)
    assert [s.risk for s in plan.steps] == [Risk.DATA, Risk.PERFORMANCE]
    assert [bool(s.needs) for s in plan.steps] == [False, True]


def test_unproven_cache() -> None:
    """Only write-through, no cache at all, or normal - flushed are proof."""
    assert unproven_cache(cell(flash_cache=None), force=True) == ""
    assert unproven_cache(cell(mode="writethrough")) == ""
    assert unproven_cache(flushed()) == ""
    for status in ("normal", "normal - flushing", "warning - flushed", ""):
        assert unproven_cache(cell(flash_cache=cache("x", status=status)))


def test_alter_needs_a_cache_everywhere() -> None:
    """ALTER FLASHCACHE is refused where a cell has none; DROP and CREATE are not."""
    facts = (flushed(), cell(CELLS[1], flash_cache=None))
    with pytest.raises(RefusedError, match="exa1cel02 has no flash cache"):
        guard("alter flashcache all size=1G", *facts)
    first, second = guard("drop flashcache", *facts).steps
    assert first.needs[0].value == FLUSHED
    assert [(n.object, n.op) for n in second.needs] == [("flashcache", Op.ABSENT)]


def test_raw_flush_warns_that_caching_stays_off() -> None:
    """A flush by hand is journalled as caching off, with CANCEL FLUSH as its inverse, and says so."""
    plan = guard("alter flashcache all flush", cell())
    assert only(plan).caching_off
    assert only(plan).inverse == "ALTER FLASHCACHE ALL CANCEL FLUSH"
    assert "caching stays off" in plan.warnings[0]
    step = only(guard("alter flashcache all cancel flush", cell()))
    assert step.caching_on
    assert step.proves[0].value == "normal"
    assert only(guard("create flashcache all", bare())).caching_on


def test_flash_log_goes_only_without_saved_redo() -> None:
    """DROP FLASHLOG needs FL_BY_KEEP to be 0 right before; with FORCE the loss must be accepted."""
    need = only(guard("drop flashlog", cell())).needs[0]
    assert (need.object, need.value, need.where) == ("flashlogmetric", 0, {"name": "FL_BY_KEEP"})
    with pytest.raises(RefusedError, match="redo that is saved on flash only"):
        guard("drop flashlog force", cell())
    assert guard("drop flashlog force", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_a_flush_of_some_cell_disks_is_not_proven_by_the_whole_cache() -> None:
    """The status of the whole flash cache is the proof of ALTER FLASHCACHE ALL FLUSH only."""
    assert only(guard("alter flashcache all flush", cell())).proves
    assert not only(guard("alter flashcache celldisk='FD_00_exa1cel01' flush", cell())).proves


def test_raw_flush_starts_only_where_it_can_end() -> None:
    """A flush by hand is refused as flush flashcache is, by name and not silently; forced it is a loss."""
    sick = cell(flash_physical=(("FLASH_1_0", "failed"),))
    with pytest.raises(RefusedError, match="FLASH_1_0 is failed"):
        guard("alter flashcache all flush", sick)
    assert guard("alter flashcache all flush", sick, accepted=[CELLS[0]]).risk is Risk.DATA
    assert only(guard("alter flashcache all flush", cell())).proves[0].attribute == "status"


EXISTS = Check(object="flashcache", op=Op.COUNT, value=1)
ODD_SIZE = 20 * GIB + 20 * MIB
"""No multiple of 16M on each of two flash disks: a cell may say the size that was asked for, or what it made of it."""

SIZES: list[tuple[str, CellFacts, tuple[int, ...]]] = [
    ("create flashcache all size=20G", bare(), (20 * GIB,)),
    ("create flashcache all size=20500M", bare(), (ODD_SIZE, 20 * GIB)),
    ("alter flashcache all size=20500M", flushed(), (ODD_SIZE, 20 * GIB)),
    ("create flashcache all", bare(), ()),
    ("create flashcache celldisk='FD_00_exa1cel01', size=20G", bare(), ()),
    ("create flashcache all size=20G", bare(cell_disks=(disk("CD_00_exa1cel01"),)), ()),
]
"""Statement, cell, and the sizes that prove it; none where the size isn't said or can't be told from the cell."""


@pytest.mark.parametrize(("text", "fact", "sizes"), SIZES)
def test_a_cache_is_proven_at_its_size(text: str, fact: CellFacts, sizes: tuple[int, ...]) -> None:
    """Where ALL and a size are said, a cache of another size does not pass for the one that was to be made."""
    size = (Check(object="flashcache", attribute="size", op=Op.IN, value=sizes),) if sizes else ()
    assert only(guard(text, fact)).proves == (EXISTS, *size)


@pytest.mark.parametrize("value", [Group(), Scalar(text="much")])
def test_a_size_that_is_none_proves_nothing(value: Value) -> None:
    """A size that can't be read is not compared, whoever built the statement; that the cache is there is still proven."""
    statement = parse("create flashcache all size=20G")
    assert isinstance(statement, Change)
    odd = replace(statement, settings=(Setting(attribute="size", value=value),))
    plan = guard_plan("t1", {CELLS[0]: bare()}, odd, text="x", accepted=(), headers=None)
    assert only(plan).proves == (EXISTS,)


@pytest.mark.parametrize(
    "more", ["flush size=1G", "size=1G flush", "flush nowait size=1G", "cancel flush size=1G", "flush force"]
)
def test_a_flush_that_resizes_is_a_resize(more: str) -> None:
    """FLUSH and CANCEL FLUSH with a size or FORCE should need the proof that the resize needs."""
    with pytest.raises(RefusedError, match=r"may hold the only copy of data|FORCE throws away"):
        guard(f"alter flashcache all {more}", cell())
    assert guard(f"alter flashcache all {more}", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_a_dropped_log_is_made_again_by_undo() -> None:
    """The flash log should come back at its size, where it is known."""
    plan = guard("drop flashlog", cell(flash_log=512 * MIB))
    assert (only(plan).undo, only(plan).inverse) == (Undo.STATEMENT, "CREATE FLASHLOG ALL size=512M")
    assert plan.inverse == {CELLS[0]: ("CREATE FLASHLOG ALL size=512M",)}
    assert only(guard("drop flashlog", cell(flash_log=0))).undo is Undo.IMPOSSIBLE


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("drop flashcache", ("resize flashcache size=40G",)),
        ("alter flashcache all size=20G", ("resize flashcache size=40G",)),
        ("alter flashcache celldisk='FD_00_exa1cel01'", None),
        ("alter flashcache all", None),
        ("alter flashcache celldisk='FD_00_exa1cel01', size=20G", None),
    ],
)
def test_undo_makes_a_cache_again_at_its_old_size(text: str, back: tuple[str, ...] | None) -> None:
    """What a later start says of a dropped cache, undo should do; of single members nothing should be promised."""
    assert guard(text, flushed()).inverse.get(CELLS[0]) == back
    assert not guard(text, cell(), accepted=[CELLS[0]]).inverse.get(CELLS[0]) or back


def test_what_a_statement_does_to_the_size_of_a_cache_is_shown() -> None:
    """Before and after should be told where the statement says it, and nothing where nothing changes."""

    def shown(text: str, fact: CellFacts) -> list[tuple[str, str]]:
        return [(change.before, change.after) for change in only(guard(text, fact)).changes]

    none = bare()
    assert shown("drop flashcache", flushed()) == [("40G", "-")]
    assert shown("alter flashcache all size=20G", flushed()) == [("40G", "20G")]
    assert shown("alter flashcache all size=20480m", flushed()) == [("40G", "20G")]
    assert shown("alter flashcache all size=40960M", flushed()) == []
    assert shown("create flashcache all size=20G", none) == [("-", "20G")]
    assert only(guard("create flashcache all size=20G", none)).changes[0].name == "exa1cel01_FLASHCACHE"
    assert shown("drop flashcache", none) == shown("create flashcache all", none) == []
    assert shown("alter flashcache celldisk='FD_00_exa1cel01', size=1G", flushed()) == []
    assert (
        only(guard("drop flashcache", cell(flash_cache=replace(cache(CELLS[0]), name="F"), mode="writethrough")))
        .changes[0]
        .name
        == "F"
    )
    assert shown("drop flashlog", cell(flash_log=512 * MIB)) == [("512M", "-")]
    assert shown("drop flashlog", cell(flash_log=0)) == [("-", "-")]
