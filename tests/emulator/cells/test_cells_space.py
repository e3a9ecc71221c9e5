"""Space on cell disks: 16M units, 48M kept, and nothing lost whatever is created and dropped."""

from __future__ import annotations

import random

import pytest
from cells_bench import AsmStub, Bench
from hypothesis import given, settings, strategies as st

from exacell.core.units import parse_size
from exacell.emulator.basics.profiles import models
from tests.support.every import every

UNIT = 16 << 20
GIB = 1 << 30


def _without_cache(**options: str) -> Bench:
    bench = Bench(mode="writethrough", **options)
    bench.e("drop flashcache")
    return bench


@pytest.mark.parametrize(
    ("model", "disks", "size"),
    [
        ("x2", 16, "364.75G"),
        ("x6", 4, "11.643218994140625T"),
        ("x8m", 4, "23.28692626953125T"),
        ("x10m", 4, "24.73773193359375T"),
    ],
)
def test_cache_sizes_of_the_models(model: str, disks: int, size: str) -> None:
    """Each model's default cache has the published size, on as many disks, with nothing left over."""
    bench = Bench(model=model)
    assert bench.one("list flashcache attributes size") == size
    free = bench.values("list celldisk attributes freeSpace where diskType=flashdisk")
    assert free == [["0"]] * disks
    assert parse_size(size) % UNIT == 0


@pytest.mark.parametrize("model", sorted(models()))
def test_a_cache_is_restored_by_its_explicit_size(model: str) -> None:
    """Creating the cache with the size that it had gives the same cache, on every model."""
    bench = Bench(model=model)
    assert bench.cell.flash_cache is not None
    size = bench.cell.flash_cache.size_bytes
    bench.flush()
    bench.e(f"drop flashcache; create flashcache all size={size}")
    assert bench.cell.flash_cache.size_bytes == size


@pytest.mark.parametrize(
    ("asked", "a_disk", "free"),
    [
        ("288g", 18 * GIB, "4.796875G"),
        ("1g", 4 * UNIT, "22.734375G"),
        ("300m", UNIT, "22.78125G"),
        ("364.75g", 1459 * UNIT, "0"),
    ],
)
def test_a_cache_is_shared_evenly_in_whole_units(asked: str, a_disk: int, free: str) -> None:
    """The size is over all disks; each gets an equal share rounded down to 16M, and the rest is free."""
    bench = _without_cache()
    bench.e(f"create flashcache all size={asked}")
    assert bench.cell.flash_cache is not None
    assert {m.size_bytes for m in bench.cell.flash_cache.members.values()} == {a_disk}
    assert bench.values("list celldisk attributes freeSpace where diskType=flashdisk") == [[free]] * 16


@every(
    [
        ("create flashcache all size=9t", "CELL-02909: Flash cache cannot have size 9T: at most 364.75G"),
        ("create flashcache all size=255m", "CELL-02910: Flash cache cannot have size 255M: the minimum is 256M."),
        ("create flashcache celldisk='CD_00_exa1cel01'", "CELL-02906"),
        ("create flashcache celldisk='FD_99_exa1cel01'", "CELL-02906"),
        ("create griddisk a celldisk=CD_00_exa1cel01", "CELL-02528"),
        ("create griddisk a celldisk=CD_02_exa1cel01, size=30g", "CELL-02528"),
        ("create griddisk a celldisk=CD_02_exa1cel01, size=15m", "CELL-02910"),
        ("create griddisk a celldisk=CD_02_exa1cel01, size=many", "CELL-02917"),
        ("create griddisk a celldisk=CD_02_exa1cel01, colour=red", "CELL-02907"),
        ("create griddisk a celldisk=CD_02_exa1cel01, errorCount=1", "CELL-02908"),
        ("create griddisk a celldisk=CD_02_exa1cel01, cachingPolicy=keep", "CELL-02917"),
        (f"create griddisk {'a' * 31} celldisk=CD_02_exa1cel01", "CELL-02919"),
        ("create griddisk 'a b' celldisk=CD_02_exa1cel01", "CELL-02919"),
        ("create griddisk DATA_CD_00_exa1cel02 celldisk=CD_02_exa1cel01", "CELL-02905"),
    ]
)
def test_what_does_not_fit_is_refused_and_changes_nothing(statement: str, code: str) -> None:
    """Sizes, names and attributes outside the rules are refused and leave the cell as it was."""
    bench = _without_cache()
    before = bench.e("list celldisk attributes name,freeSpace; list griddisk; list flashcache")
    assert bench.e(statement).startswith(code)
    assert bench.e("list celldisk attributes name,freeSpace; list griddisk; list flashcache") == before


def test_grid_disks_on_the_rest_of_flash() -> None:
    """After a 288G cache, grid disks on all flash disks have 5150605312 bytes each and take all that was free."""
    bench = _without_cache()
    text = bench.e("create flashcache all size=288g; create griddisk all flashdisk prefix=ssddisk")
    expected = "".join(f"GridDisk ssddisk_FD_{n:02d}_exa1cel01 successfully created\n" for n in range(16))
    assert text == f"Flash cache exa1cel01_FLASHCACHE successfully created\n{expected}"
    assert {d.size_bytes for d in bench.cell.grid_disks.values() if d.disk_type == "FlashDisk"} == {5_150_605_312}
    assert {bench.cell.free_space(d.name) for d in bench.cell.flash_disks()} == {0}


def test_all_goes_on_over_failures() -> None:
    """CREATE GRIDDISK ALL prints one line a disk and creates where it can."""
    bench = _without_cache()
    bench.e("create griddisk X_CD_03_exa1cel01 celldisk=CD_02_exa1cel01, size=1g")
    lines = bench.e("create griddisk all harddisk prefix=X, size=28.5g").splitlines()[1:]
    assert [line.split(":")[0] for line in lines[:2]] == ["CELL-02528", "CELL-02905"]
    assert lines[2:] == [f"GridDisk X_CD_{n:02d}_exa1cel01 successfully created" for n in range(4, 12)]


@pytest.mark.parametrize("size", ["", ", size=1g"])
def test_all_passes_over_full_disks(size: str) -> None:
    """CREATE GRIDDISK ALL says in one line which disks have nothing free, and it is no failure, with a size or without."""
    bench = _without_cache()
    skipped = "Cell disks were skipped because they had no freespace for grid disks: CD_00_exa1cel01, CD_01_exa1cel01."
    lines = bench.e(f"create griddisk all harddisk prefix=X{size}").splitlines()
    assert lines == [skipped, *(f"GridDisk X_CD_{n:02d}_exa1cel01 successfully created" for n in range(2, 12))]


def test_prefix_lists_take_a_value_each() -> None:
    """With two prefixes a list of two sizes gives each prefix its own."""
    bench = _without_cache()
    bench.e("create griddisk all flashdisk prefix='P,Q', size='1g,2g', comment=both")
    sizes = bench.values("list griddisk attributes name,size where cellDisk = FD_00_exa1cel01")
    assert sizes == [["P_FD_00_exa1cel01", "1G"], ["Q_FD_00_exa1cel01", "2G"]]
    offsets = bench.values("list griddisk attributes offset where cellDisk = FD_00_exa1cel01")
    assert offsets == [["32M"], ["1.03125G"]]


def test_all_without_a_media_word() -> None:
    """ALL means every disk before 24.1 and the hard disks alone from then on."""
    old, new = _without_cache(), _without_cache(model="x10m")
    assert "A_FD_00_exa1cel01" in old.e("create griddisk all prefix=A, size=1g")
    assert "A_FD_" not in new.e("create griddisk all prefix=A, size=1g")


def test_a_log_fits_before_the_cache_only() -> None:
    """A dropped log comes back when there is room for it, and is refused when the cache has taken everything."""
    bench = Bench(mode="writethrough")
    bench.e("drop flashlog; drop flashcache; create flashcache all")
    assert bench.one("list flashcache attributes size") == "365.25G"
    assert bench.e("create flashlog all").startswith("CELL-02909")
    bench.e("drop flashcache; create flashlog all; create flashcache all")
    assert bench.one("list flashcache attributes size") == "364.75G"
    assert bench.e("drop flashlog; create flashlog all size=64g").splitlines()[1].startswith("CELL-02909")


def test_grid_disks_can_be_resized() -> None:
    """A grid disk grows into free space, shrinks, and never below what ASM uses of it."""
    bench = _without_cache()
    bench.e("create griddisk a celldisk=FD_00_exa1cel01, size=1g")
    assert bench.e("alter griddisk a size=2000m") == "GridDisk a successfully altered\n"
    assert bench.one("list griddisk a attributes size") == "1.953125G"
    assert bench.e("alter griddisk a size=23g").startswith("CELL-02528")
    assert bench.e("alter griddisk a size=16m, comment='x y'") == "GridDisk a successfully altered\n"
    assert bench.values("list griddisk a attributes size,comment") == [["16M", '"x y"']]


SIZES = st.sampled_from(["16m", "300m", "1g", "2.5g", "20g", "100g", "288g", "400g", ""])
STATEMENTS = st.one_of(
    st.builds(lambda s: "create flashcache all" + (f" size={s}" if s else ""), SIZES),
    st.builds(lambda s: "create flashlog all" + (f" size={s}" if s else ""), SIZES),
    st.just("drop flashcache"),
    st.just("drop flashlog"),
    st.builds(
        lambda p, m, s: f"create griddisk all {m} prefix={p}" + (f", size={s}" if s else ""),
        st.sampled_from("AB"),
        st.sampled_from(["flashdisk", "harddisk"]),
        SIZES,
    ),
    st.builds(lambda p, s: f"alter griddisk {p}_FD_01_exa1cel01 size={s or '1g'}", st.sampled_from("AB"), SIZES),
    st.builds(lambda p: f"drop griddisk all prefix={p} force", st.sampled_from("AB")),
    st.builds(
        lambda p, n, s: f"create griddisk {p}{n} celldisk=FD_{n:02d}_exa1cel01" + (f", size={s}" if s else ""),
        st.sampled_from("CD"),
        st.integers(0, 15),
        SIZES,
    ),
    st.builds(lambda p, n: f"drop griddisk {p}{n} force", st.sampled_from("CD"), st.integers(0, 15)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(STATEMENTS, min_size=1, max_size=12))
def test_space_is_never_negative_and_never_lost(statements: list[str]) -> None:
    """Whatever is created, altered and dropped: what cells print adds up to the disks, free is never below zero, and
    every object is made of whole units."""
    bench = _without_cache()
    for statement in statements:
        bench.e(statement)
        for name, size, free in bench.values("list celldisk attributes name,size,freeSpace"):
            used = sum(
                parse_size(row[0]) for row in bench.values(f"list griddisk attributes size where cellDisk = {name}")
            )
            if name.startswith("FD") and bench.cell.flash_cache and name in bench.cell.flash_cache.members:
                used += bench.cell.flash_cache.members[name].size_bytes
            if name.startswith("FD") and bench.cell.flash_log:
                used += bench.cell.flash_log.members[name]
            assert used % UNIT == 0
            assert parse_size(free) >= 0
            assert used + parse_size(free) + (48 << 20) == parse_size(size)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_asm_hears_of_every_grid_disk(seed: int) -> None:
    """ASM is told of each grid disk that is created, resized, made active or inactive and dropped, and of nothing else."""
    bench = _without_cache()
    stub = bench.rack.asm = AsmStub()
    rng = random.Random(seed)
    for _ in range(6):
        name = f"a{rng.randrange(3)}"
        action = rng.choice(["create", "inactive", "active", "drop"])
        known, told = dict(bench.cell.grid_disks), len(stub.told)
        active = name in known and known[name].status == "active"
        if action == "create":
            bench.e(f"create griddisk {name} celldisk=FD_00_exa1cel01, size=16m")
            expected = [] if name in known else ["created"]
        elif action == "drop":
            bench.e(f"drop griddisk {name}")
            expected = ["dropped"] if name in known and not active else []
        else:
            bench.e(f"alter griddisk {name} {action}")
            expected = [action] if name in known and active != (action == "active") else []
        assert [what for _cell, _name, what in stub.told[told:]] == expected


def test_a_log_is_even_and_a_cache_of_all_free_space_need_not_be() -> None:
    """What is free on one disk alone makes no flash log, and a cache that shows exactly that size can be made of it again."""
    bench = Bench(mode="writethrough")
    bench.e(
        "drop flashcache; drop flashlog; create griddisk g celldisk=FD_00_exa1cel01, size=240M; create flashcache all"
    )
    bench.e("drop griddisk g force")
    assert "CELL-02910" in bench.e("create flashlog all size=240M")
    bench.e("create griddisk h celldisk=FD_01_exa1cel01, size=16M; drop flashcache")
    assert bench.e("create flashcache all").startswith("Flash cache")
    size = bench.one("list flashcache attributes size")
    bench.e("drop flashcache")
    assert bench.e(f"create flashcache all size={size}").startswith("Flash cache")
    assert bench.one("list flashcache attributes size") == size
    bench.e("drop flashcache")
    assert "CELL-" in bench.e("create flashcache all size=0")
