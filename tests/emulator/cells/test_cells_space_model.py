"""Random statements against an independent model of space: a few integers a disk, and nothing of the emulator's."""

from __future__ import annotations

from dataclasses import dataclass

from cells_bench import Bench
from hypothesis import given, settings, strategies as st

CELL = "exa1cel01"
FLASH = [f"FD_{n:02d}_{CELL}" for n in range(16)]
HARD = [f"CD_{n:02d}_{CELL}" for n in range(12)]
UNIT = 16 << 20
LOG = "log"
CACHE = "cache"


class Model:
    """Units of 16M: how many a disk has, and who has how many of them. Statements are predicted, then compared."""

    def __init__(self) -> None:
        self.room = dict.fromkeys(FLASH, 1461)
        self.used: dict[str, dict[str, int]] = {disk: {} for disk in FLASH}
        for disk in FLASH:
            self.used[disk][LOG] = 2

    def free(self, disk: str) -> int:
        return self.room[disk] - sum(self.used[disk].values())

    def has(self, owner: str) -> bool:
        return any(owner in used for used in self.used.values())

    def take(self, owner: str, disks: list[str], units: int | None) -> bool:
        """Give each disk's share of ``units`` to an owner, or all free units; False when that is impossible."""
        if self.has(owner):
            return False
        if owner == CACHE and units == sum(map(self.free, disks)):
            units = None  # exactly all free space takes all free space
        shares = {d: self.free(d) for d in disks} if units is None else dict.fromkeys(disks, units // len(disks))
        shares = {d: n for d, n in shares.items() if n} if units is None else shares
        if not shares or any(n < 1 or n > self.free(d) for d, n in shares.items()):
            return False
        for disk, n in shares.items():
            self.used[disk][owner] = n
        return True

    def give(self, owner: str) -> bool:
        found = self.has(owner)
        for used in self.used.values():
            used.pop(owner, None)
        return found


UNITS = st.sampled_from([1, 15, 16, 32, 100, 1000, 5000, 23_000, 24_000])
SOME = st.lists(st.sampled_from(range(16)), min_size=1, max_size=4, unique=True)
STEPS = st.one_of(
    st.tuples(st.just("create cache"), st.one_of(st.none(), UNITS), st.one_of(st.none(), SOME)),
    st.tuples(st.just("create log"), UNITS, st.one_of(st.none(), SOME)),
    st.tuples(st.just("drop cache"), st.none(), st.none()),
    st.tuples(st.just("drop log"), st.none(), st.none()),
    st.tuples(st.just("create grid"), UNITS, SOME),
    st.tuples(st.just("resize grid"), UNITS, SOME),
    st.tuples(st.just("drop grid"), st.none(), SOME),
    st.tuples(st.just("drop disk"), st.none(), SOME),
    st.tuples(st.just("create disks"), st.none(), st.none()),
)


def _members(numbers: list[int] | None) -> str:
    return "all" if numbers is None else "celldisk='" + ",".join(FLASH[n] for n in numbers) + "'"


def _step(bench: Bench, model: Model, step: tuple[str, int | None, list[int] | None]) -> None:
    what, units, numbers = step
    disks = list(model.room) if numbers is None else [FLASH[n] for n in numbers if FLASH[n] in model.room]
    all_there = numbers is None or len(disks) == len(numbers)
    if what in ("create cache", "create log"):
        owner = CACHE if what.endswith("cache") else LOG
        size = "" if units is None else f"{'' if numbers is None else ','} size={units * UNIT}"
        small = owner == CACHE or (units is not None and units < 4096 and units // max(1, len(disks)) < 256)
        fine = all_there and bool(disks) and small and model.take(owner, disks, units)
        text = bench.e(f"create flash{owner} {_members(numbers)}{size}")
        assert ("successfully created" in text) == fine, text
    elif what in ("drop cache", "drop log"):
        assert ("successfully dropped" in bench.e(f"drop flash{what[5:]}")) == model.give(what[5:])
    elif what == "create disks":
        missing = [disk for disk in FLASH if disk not in model.room]
        text = bench.e("create celldisk all flashdisk")
        assert text.count("successfully created") == len(missing)
        for disk in missing:
            model.room[disk], model.used[disk] = 1461, {}
    elif numbers is not None:
        disk, name = FLASH[numbers[0]], f"g{numbers[0]}"
        known = disk in model.room
        if what == "create grid":
            fine = known and model.take(name, [disk], units)
            text = bench.e(f"create griddisk {name} celldisk={disk}, size={(units or 0) * UNIT}")
            assert ("successfully created" in text) == fine, text
        elif what == "resize grid":
            old = model.used.get(disk, {}).get(name)
            fine = old is not None and units is not None and units - old <= model.free(disk)
            if fine and units is not None:
                model.used[disk][name] = units
            assert ("successfully altered" in bench.e(f"alter griddisk {name} size={(units or 0) * UNIT}")) == fine
        elif what == "drop grid":
            assert ("successfully dropped" in bench.e(f"drop griddisk {name} force")) == model.give(name)
        else:
            fine = known and not {LOG, CACHE} & set(model.used[disk]) and name not in model.used[disk]
            assert ("successfully dropped" in bench.e(f"drop celldisk {disk}")) == fine
            if fine:
                del model.room[disk], model.used[disk]


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=15))
def test_the_model_and_the_cell_agree(steps: list[tuple[str, int | None, list[int] | None]]) -> None:
    """Whatever is done, the cell succeeds and fails as the model predicts, and prints the space that the model has."""
    bench, model = Bench(mode="writethrough"), Model()
    bench.e("drop flashcache")
    for step in steps:
        _step(bench, model, step)
        printed = bench.values("list celldisk attributes name, freeSpace where diskType=flashdisk")
        assert [name for name, _free in printed] == sorted(model.room)
        cell = bench.cell
        for name, _free in printed:
            assert cell.free_space(name) == model.free(name) * UNIT >= 0
        for owner, made in ((CACHE, cell.flash_cache), (LOG, cell.flash_log)):
            total = sum(used.get(owner, 0) for used in model.used.values())
            assert (made.size_bytes if made else 0) == total * UNIT
        grid_disks = {disk.name: disk.size_bytes for disk in cell.grid_disks.values() if disk.name[0] == "g"}
        owners = {o: n for used in model.used.values() for o, n in used.items() if o[0] == "g"}
        assert grid_disks == {owner: units * UNIT for owner, units in owners.items()}


@dataclass(frozen=True)
class Ground:
    """Where caches and logs lie: a model's disks of one kind, their units of 16M, and the words of the statements."""

    model: str
    release: str
    prefix: str
    numbers: tuple[int, ...]
    units: int
    word: str
    memory: bool

    @property
    def disks(self) -> list[str]:
        return [f"{self.prefix}_{number:02d}_{CELL}" for number in self.numbers]


GROUNDS = (
    # 125.984375G less 96M.
    Ground(model="x8m", release="19.3", prefix="PM", numbers=tuple(range(12)), units=8057, word="pmem", memory=True),
    Ground(model="x8m", release="24.1", prefix="PM", numbers=tuple(range(12)), units=8057, word="xrmem", memory=True),
    # 6.184600830078125T less 48M.
    Ground(
        model="x10mef", release="24.1", prefix="FD", numbers=(0, 1, 2, 3), units=405_311, word="flash", memory=False
    ),
)
ACTS = st.one_of(
    st.tuples(st.just("create cache"), st.one_of(st.none(), st.integers(1, 110_000))),
    st.tuples(st.just("create log"), st.one_of(st.none(), st.integers(1, 4000))),
    st.tuples(st.just("drop cache"), st.none()),
    st.tuples(st.just("drop log"), st.none()),
    st.tuples(st.just("flush"), st.none()),
)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(GROUNDS), st.lists(ACTS, min_size=1, max_size=12))
def test_space_in_memory_and_on_fast_flash(ground: Ground, acts: list[tuple[str, int | None]]) -> None:
    """On persistent memory and on an EF cell's fast flash: as predicted, whole units, nothing negative, nothing lost."""
    bench = Bench(model=ground.model, release=ground.release, mode="writethrough")
    bench.e(f"drop {ground.word}cache; drop {ground.word}log")
    used = {CACHE: 0, LOG: 0}
    default = {"19.3": 60, "24.1": 636}[ground.release] if ground.memory else 32
    for what, units in acts:
        verb, owner = what.split() if " " in what else (what, CACHE)
        free = ground.units - sum(used.values())
        if verb == "create":
            share = (
                free
                if units is None and owner == CACHE
                else (units if units is not None else default) // len(ground.disks)
            )
            small = owner == CACHE or ground.memory or (share < 256 and (units or default) < 4096)
            fine = not used[owner] and 1 <= share <= free and small
            size = "" if units is None else f" size={units * UNIT}"
            text = bench.e(f"create {ground.word}{owner} all{size}")
            assert ("successfully created" in text) == fine, text
            used[owner] = share if fine else used[owner]
        elif verb == "drop":
            assert ("successfully dropped" in bench.e(f"drop {ground.word}{owner}")) == bool(used[owner])
            used[owner] = 0
        else:
            answer = bench.e(f"alter {ground.word}cache all flush; alter {ground.word}cache all cancel flush")
            assert ("altered successfully" in answer) == bool(used[CACHE])
        shown = bench.values(f"list celldisk attributes name where name like '{ground.prefix}_.*'")
        assert {name for (name,) in shown} >= set(ground.disks)
        for disk in ground.disks:
            assert bench.cell.free_space(disk) == (ground.units - sum(used.values())) * UNIT >= 0
        for owner, kept in ((CACHE, bench.cell.caches), (LOG, bench.cell.logs)):
            mine = [thing for thing in kept if thing.name.lower().endswith(f"{ground.word}{owner}")]
            total = used[owner] * len(ground.disks) * UNIT
            assert sum(thing.size_bytes for thing in mine) == total and total % UNIT == 0
