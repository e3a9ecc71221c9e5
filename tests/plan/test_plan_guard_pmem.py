"""CellCLI's own statements on the PMEM cache, and on the flash cache behind one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cache, cell
from plan_guarding import guard, only, pmem

from exacell.cellcli.statement import parse
from exacell.core.errors import RefusedError
from exacell.plan import facts as f
from exacell.plan.facts import FLUSHED
from exacell.plan.guards.choice import facts_needed
from exacell.plan.model import Check, Op
from exacell.plan.planners.pmem import PMEM_FLUSHED


def test_write_back_pmem_needs_proof() -> None:
    """A write-back PMEM cache is dropped only while proven flushed; a write-through one any time, while it is that."""
    with pytest.raises(RefusedError, match="PMEM cache is normal, not normal - flushed"):
        guard("drop pmemcache", pmem())
    assert only(guard("drop pmemcache", pmem(FLUSHED))).needs[0].value == FLUSHED
    (through,) = only(guard("drop pmemcache", pmem(mode="writethrough"))).needs
    assert (through.attribute, through.value) == ("pmemCacheMode", "writethrough")
    with pytest.raises(RefusedError, match="FORCE throws away"):
        guard("alter pmemcache celldisk='PM_00' force", pmem(FLUSHED))


@pytest.mark.parametrize("text", ["drop pmemcache", "drop xrmemcache"])
@pytest.mark.parametrize(("mode", "release"), [("", "23.1.0.0.0"), ("", "18.1.5.0.0"), ("writethrough", "22.1.9.0.0")])
def test_what_a_release_never_tells_is_not_proven(text: str, mode: str, release: str) -> None:
    """A mode that the release has not, or that of DRAM, which is never write-back, holds up no DROP."""
    needs = only(guard(text, replace(pmem(mode=mode), release=release))).needs
    assert [need.attribute for need in needs] == (["pmemCacheMode"] if mode and text == "drop pmemcache" else [])


@pytest.mark.parametrize("text", ["drop xrmemcache", "alter xrmemcache celldisk='PM_00' force", "drop pmemcache"])
def test_whatever_name_means_write_back_pmem_needs_its_proof(text: str) -> None:
    """Where PMEM is write-back, its newer name needs the same proof as its own, now and when the statement leaves."""
    with pytest.raises(RefusedError, match=r"may hold the only copy|FORCE throws away"):
        guard(text, replace(pmem(), release="22.1.9.0.0"))
    if "force" not in text:
        assert PMEM_FLUSHED in only(guard(text, replace(pmem(FLUSHED), release="22.1.9.0.0"))).needs


def test_the_facts_behind_either_name_are_asked_for() -> None:
    """What is judged of XRMEMCACHE is read: the PMEM cache that an older release has under it."""
    assert all(f.PMEMCACHE in facts_needed(parse(f"drop {name}")) for name in ("pmemcache", "xrmemcache"))


def test_the_old_name_of_a_write_through_cache_needs_nothing() -> None:
    """From 23.1 on DROP PMEMCACHE means XRMEMCACHE, which is never write-back: that one exists holds nothing up."""
    fact = replace(cell(), release="24.1.4.0.0", pmem_cache=None)
    assert not only(guard("drop pmemcache", fact)).needs


@pytest.mark.parametrize("text", ["drop pmemcache", "drop pmemcache all"])
@pytest.mark.parametrize("release", ["19.3.2.0.0", "22.1.9.0.0"])
def test_a_mode_that_is_not_told_is_no_write_through(text: str, release: str) -> None:
    """Where a release has pmemCacheMode and the cell does not tell it, the cache may hold the only copy of data."""
    with pytest.raises(RefusedError, match="may hold the only copy"):
        guard(text, replace(pmem(mode=""), release=release))
    assert only(guard(text, replace(pmem(FLUSHED, mode=""), release=release))).needs[0].value == FLUSHED
    # What is told counts, whatever the release.
    assert replace(pmem(), release="").pmem_writeback and replace(pmem(), release="18.1.5.0.0").pmem_writeback


@pytest.mark.parametrize(
    ("text", "off", "on"),
    [
        ("alter pmemcache all flush", True, False),
        ("alter pmemcache all flush nowait", True, False),
        ("alter xrmemcache all flush", True, False),
        ("alter pmemcache all cancel flush", False, True),
        ("alter xrmemcache all cancel flush", False, True),
        ("create pmemcache all", False, True),
        ("drop pmemcache", True, False),
        ("drop xrmemcache", False, False),
        ("alter pmemcache all size=1T", False, False),
    ],
)
def test_whether_pmem_caches_afterwards(text: str, off: bool, on: bool) -> None:
    """FLUSH and DROP leave PMEM not caching, CANCEL FLUSH and CREATE bring it back, each under the name that was typed."""
    plan = guard(text, pmem(FLUSHED))
    step = only(plan)
    assert (step.caching_off, step.caching_on) == (off, on)
    assert step.cache == text.split()[1]
    back = (f"alter {step.cache} all cancel flush",) if off and "flush" in text else ()
    assert plan.inverse.get(step.target, ()) == back


@pytest.mark.parametrize(
    ("text", "gone"),
    [("drop pmemcache", True), ("drop xrmemcache", True), ("alter pmemcache all size=1T", False)],
)
def test_only_a_drop_is_proven_by_the_cache_being_gone(text: str, gone: bool) -> None:
    """A DROP has happened when the cache is gone; a cache of another size is there still."""
    step = only(guard(text, pmem(FLUSHED)))
    assert step.proves == ((Check(object=step.cache, op=Op.ABSENT),) if gone else ())


def test_flash_behind_write_back_pmem_is_not_proven_alone() -> None:
    """A flushed flash cache may not go while write-back PMEM in front of it is not flushed."""
    flash = cache(CELLS[0], status=FLUSHED)
    with pytest.raises(RefusedError, match="PMEM cache is normal"):
        guard("drop flashcache", pmem(flash_cache=flash))
    objects = [n.object for n in only(guard("drop flashcache", pmem(FLUSHED, flash_cache=flash))).needs]
    assert objects == ["flashcache", "pmemcache"]


PMEM_PROOFS: list[tuple[str, tuple[Check, ...]]] = [
    ("create pmemcache all", (Check(object="pmemcache", op=Op.COUNT, value=1),)),
    ("alter pmemcache all flush", (PMEM_FLUSHED,)),
    ("alter pmemcache all flush nowait", ()),
    ("alter pmemcache all cancel flush", ()),
    ("alter xrmemcache all flush", ()),
]


@pytest.mark.parametrize(("text", "proofs"), PMEM_PROOFS)
def test_pmem_statements_that_take_nothing(text: str, proofs: tuple[Check, ...]) -> None:
    """CREATE and the flushes of a PMEM cache need no proof before; FLUSH is proven by the status afterwards, CREATE by the
    cache."""
    step = only(guard(text, pmem()))
    assert step.needs == ()
    assert step.proves == proofs


def test_write_through_pmem_holds_no_only_copy() -> None:
    """Neither FORCE on a write-through PMEM cache nor a flushed flash cache behind it, or behind none, asks for a name."""
    flash = cache(CELLS[0], status=FLUSHED)
    guard("alter pmemcache celldisk='PM_00' force", pmem(mode="writethrough"))
    guard("drop flashcache", pmem(mode="writethrough", flash_cache=flash))
    guard("drop flashcache", replace(pmem(flash_cache=flash), pmem_cache=None))


def test_a_raw_flush_behind_write_back_pmem_says_what_it_waits_for() -> None:
    """The plan warns that PMEM has to be flushed too, on the cells where it is write-back and nowhere else."""
    waits = "it can't end before ALTER PMEMCACHE ALL FLUSH"
    assert [waits in warning for warning in guard("alter flashcache all flush", pmem()).warnings] == [False, True]
    assert len(guard("alter flashcache all flush", cell()).warnings) == 1


@pytest.mark.parametrize("more", ["flush size=1G", "cancel flush size=1G", "flush force"])
def test_a_flush_of_pmem_that_resizes_is_a_resize(more: str) -> None:
    """FLUSH and CANCEL FLUSH with a size or FORCE should need the proof that the resize needs."""
    with pytest.raises(RefusedError, match=r"may hold the only copy of data|FORCE throws away"):
        guard(f"alter pmemcache all {more}", pmem())
