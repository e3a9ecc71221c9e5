"""Random statements of all kinds on whole cells, against a model of space that knows integers and nothing of the emulator's.

The model predicts which objects a statement makes, changes or takes away; LIST must then print exactly that. Source of the
rules: reference cellcli.md 2.4, 3.4, 6.3 and 6.4; Oracle SAGUG, create-flashlog (less than 4G on a disk, less than 64G in all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cells_bench import Bench
from hypothesis import given, settings, strategies as st

CELL = "exa1cel01"
UNIT = 16 << 20
FACTORS = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Return the bytes that a printed size says, exactly."""
    number = Fraction(text[:-1]) * FACTORS[text[-1]] if text[-1] in FACTORS else Fraction(text)
    assert number.denominator == 1, text
    return int(number)


@dataclass(frozen=True)
class Ground:
    """A kind of cell: which disks each media word means, and where caches and logs lie."""

    options: dict[str, Any]
    media: dict[str, tuple[str, ...]]
    caches: dict[str, str]


def names(prefix: str, numbers: Iterable[int]) -> tuple[str, ...]:
    """Return the names of cell disks."""
    return tuple(f"{prefix}_{number:02d}_{CELL}" for number in numbers)


CD, FD16, FD4, PM = names("CD", range(12)), names("FD", range(16)), names("FD", range(4)), names("PM", range(12))
LARGE = names("FD", range(4, 12))
GROUNDS = (
    Ground(
        {"model": "x2", "release": "19.3"},
        {"flashdisk": FD16, "harddisk": CD, "": CD + FD16},
        {"flashcache": "flashdisk", "flashlog": "flashdisk"},
    ),
    Ground(
        {"model": "x8m", "release": "22.1"},
        {"flashdisk": FD4, "harddisk": CD, "": CD + FD4, "pmem": PM},
        {"flashcache": "flashdisk", "flashlog": "flashdisk", "pmemcache": "pmem", "pmemlog": "pmem"},
    ),
    Ground(
        {"model": "x10mef", "release": "24.1"},
        {
            "performanceoptimized flashdisk": FD4,
            "capacityoptimized flashdisk": LARGE,
            "flashdisk": LARGE,
            "": LARGE,
        },
        {"flashcache": "performanceoptimized flashdisk", "flashlog": "performanceoptimized flashdisk"},
    ),
)


@dataclass
class Model:
    """Units of 16M: ``room`` of each disk, and ``used`` of them by owner; ``rest`` is what is no whole unit."""

    room: dict[str, int] = field(default_factory=dict)
    rest: dict[str, int] = field(default_factory=dict)
    used: dict[str, dict[str, int]] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)

    def free(self, disk: str) -> int:
        return self.room[disk] - sum(self.used[disk].values())

    def members(self, owner: str) -> set[str]:
        return {disk for disk, used in self.used.items() if owner in used}

    def shares(self, owner: str, disks: list[str], units: int | None) -> dict[str, int]:
        """Return what a cache or log would get on each disk; empty when it can't be made."""
        if not disks or (units is not None and owner == "flashlog" and not units // len(disks) < 256):
            return {}
        if units is not None and owner == "flashlog" and units >= 4096:
            return {}
        everything = {disk: self.free(disk) for disk in disks}
        if owner.endswith("cache") and units in (None, sum(everything.values())):
            return {disk: free for disk, free in everything.items() if free}
        units = units or 0
        share = units // len(disks)
        return dict.fromkeys(disks, share) if 1 <= share <= min(everything.values()) else {}

    def put(self, owner: str, shares: dict[str, int]) -> None:
        for disk, units in shares.items():
            self.used[disk][owner] = units

    def take(self, owner: str) -> dict[str, int]:
        return {disk: self.used[disk].pop(owner) for disk in self.members(owner)}


class Player:
    """Runs statements on a cell and on the model, and compares."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.bench = Bench(mode="writethrough", cells=2, **ground.options)
        self.model = Model()
        owners: dict[str, dict[str, int]] = {}
        for name, disk, text in self.bench.values("list griddisk attributes name, cellDisk, size"):
            owners.setdefault(disk, {})[name] = size(text) // UNIT
        self.bench.e("; ".join(f"drop {owner}" for owner in ground.caches))
        for name, text in self.bench.values("list celldisk attributes name, freeSpace"):
            used = owners.get(name, {})
            units, self.model.rest[name] = divmod(size(text), UNIT)
            self.model.room[name], self.model.used[name] = units + sum(used.values()), used

    def there(self, disks: Iterable[str]) -> list[str]:
        return [disk for disk in disks if disk in self.model.room]

    def says(self, statement: str, word: str, count: int) -> None:
        answer = self.bench.e(statement)
        assert answer.count(word) == count, (statement, answer)

    # -- caches and logs -----------------------------------------------------------------------------------------

    def create(self, owner: str, units: int | None, some: list[int]) -> None:
        media = self.ground.media[self.ground.caches[owner]]
        chosen = list(dict.fromkeys(media[n % len(media)] for n in some)) or list(media)
        disks = self.there(chosen)
        units = units or (32 if owner.endswith("log") else None)
        shares = self.model.shares(owner, disks, units) if not some or len(disks) == len(chosen) else {}
        shares = {} if self.model.members(owner) else shares
        where = f"celldisk='{','.join(chosen)}'," if some else "all"
        self.says(
            f"create {owner} {where} {'' if units is None else f'size={units * UNIT}'}".rstrip(" ,"),
            "successfully created",
            bool(shares),
        )
        self.model.put(owner, shares)

    def drop(self, owner: str, _units: int | None, _some: list[int]) -> None:
        self.says(f"drop {owner}", "successfully dropped", bool(self.model.take(owner)))

    def rebuild(self, owner: str, units: int | None, some: list[int]) -> None:
        if not owner.endswith("cache"):
            return
        media = self.ground.media[self.ground.caches[owner]]
        chosen = dict.fromkeys(media[n % len(media)] for n in some)
        disks = self.there(chosen or media)
        where = f"celldisk='{','.join(chosen)}'" if some else "all"
        text = f"alter {owner} {where}" + ("" if units is None else f"{',' if some else ''} size={units * UNIT}")
        if units is not None and owner != "flashcache":
            # Only the flash cache takes a size there. Source: Oracle SAGUG, alter-pmemcache.
            self.says(text, "CELL-01504", 1)
            return
        old = self.model.take(owner)
        shares = self.model.shares(owner, disks, units) if old and (not some or len(disks) == len(chosen)) else {}
        if some and units is None and set(disks) == set(old) and len(disks) == len(chosen):
            shares = old
        self.says(text, "altered successfully", bool(shares))
        self.model.put(owner, shares or old)

    # -- grid disks ----------------------------------------------------------------------------------------------

    def carve(self, media: str, units: int | None, some: list[int]) -> None:
        prefix, made = "pq"[len(some) % 2], 0
        for disk in self.there(self.ground.media[media]):
            wanted = self.model.free(disk) if units is None else units
            if f"{prefix}_{disk}" not in self.model.used[disk] and 1 <= wanted <= self.model.free(disk):
                self.model.used[disk][f"{prefix}_{disk}"] = wanted
                made += 1
        text = "" if units is None else f", size={units * UNIT}"
        self.says(f"create griddisk all {media} prefix={prefix}{text}", "successfully created", made)

    def release(self, media: str, units: int | None, some: list[int]) -> None:
        prefix = "pq"[len(some) % 2]
        disks = self.there(self.ground.media[media])
        dropped = [self.model.used[disk].pop(f"{prefix}_{disk}", None) for disk in disks]
        self.says(
            f"drop griddisk all {media} prefix={prefix} force",
            "successfully dropped",
            sum(d is not None for d in dropped),
        )

    def grid_disk(self, media: str, units: int | None, some: list[int]) -> None:
        """Create, resize or drop one grid disk."""
        disks = self.ground.media[media]
        disk = disks[(some or [0])[0] % len(disks)]
        used, name, units = self.model.used.get(disk), f"g_{disk}", units or 1
        if used is None:
            self.says(f"create griddisk {name} celldisk={disk}, size={units * UNIT}", "CELL-02906", 1)
        elif name not in used:
            fits = units <= self.model.free(disk)
            self.says(f"create griddisk {name} celldisk={disk}, size={units * UNIT}", "successfully created", fits)
            used |= {name: units} if fits else {}
        elif len(some) % 2:
            fits = units - used[name] <= self.model.free(disk)
            self.says(f"alter griddisk {name} size={units * UNIT}", "successfully altered", fits)
            used[name] = units if fits else used[name]
        else:
            self.says(f"alter griddisk {name} inactive; drop griddisk {name}", "successfully dropped", 1)
            del used[name]

    # -- cell disks ----------------------------------------------------------------------------------------------

    def drop_disk(self, media: str, units: int | None, some: list[int]) -> None:
        disks = self.ground.media[media]
        disk, force = disks[(some or [0])[0] % len(disks)], len(some) % 2 == 0
        used = self.model.used.get(disk)
        fine = used is not None and not set(used) & set(self.ground.caches) and (force or not used)
        self.says(f"drop celldisk {disk}{' force' if force else ''}", "successfully dropped", fine)
        if fine:
            del self.model.used[disk]
            self.model.gone[disk] = self.model.room.pop(disk)

    def make_disks(self, media: str, units: int | None, some: list[int]) -> None:
        meant = self.ground.media[media] + (self.ground.media.get("pmem", ()) if not media else ())
        made = [disk for disk in meant if disk in self.model.gone]
        self.says(f"create celldisk all {media}", "successfully created", len(made))
        for disk in made:
            self.model.room[disk], self.model.used[disk] = self.model.gone.pop(disk), {}

    # -- comparing -----------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Make sure that the cell prints what the model has: nothing negative, nothing lost, whole units."""
        model, bench = self.model, self.bench
        free = {n: size(text) for n, text in bench.values("list celldisk attributes name, freeSpace")}
        assert free == {disk: model.free(disk) * UNIT + model.rest[disk] for disk in model.room}
        assert all(model.free(disk) >= 0 for disk in model.room)
        grid_disks = {n: size(text) for n, text in bench.values("list griddisk attributes name, size")}
        kept = {o: n * UNIT for used in model.used.values() for o, n in used.items() if o not in self.ground.caches}
        assert grid_disks == kept
        for owner in self.ground.caches:
            rows = bench.values(f"list {owner} attributes size, cellDisk")
            members = model.members(owner)
            assert len(rows) == bool(members)
            if rows:
                assert size(rows[0][0]) == sum(model.used[disk][owner] for disk in members) * UNIT
                assert set(rows[0][1].split(",")) == members


UNITS = st.one_of(st.none(), st.sampled_from([1, 15, 16, 33, 100, 1000, 5000, 23_000, 100_000, 1_000_000]))
SOME = st.lists(st.integers(0, 15), max_size=4, unique=True)
ON_CACHES: tuple[Callable[..., None], ...] = (Player.create, Player.drop, Player.rebuild)
ON_MEDIA: tuple[Callable[..., None], ...] = (
    *(Player.carve, Player.release, Player.grid_disk),
    *(Player.drop_disk, Player.make_disks),
)


@st.composite
def _plays(draw: st.DrawFn) -> tuple[Ground, list[tuple[Callable[..., None], str, int | None, list[int]]]]:
    ground = draw(st.sampled_from(GROUNDS))
    media = st.sampled_from([word for word in ground.media if word != "pmem"])
    step = st.one_of(
        st.tuples(st.sampled_from(ON_CACHES), st.sampled_from(list(ground.caches)), UNITS, SOME),
        st.tuples(st.sampled_from(ON_MEDIA), media, UNITS, SOME),
        st.tuples(
            st.sampled_from((Player.drop_disk, Player.make_disks)), st.sampled_from(list(ground.media)), UNITS, SOME
        ),
    )
    return ground, draw(st.lists(step, min_size=1, max_size=14))


@settings(max_examples=50, deadline=None)
@given(_plays())
def test_all_statements_of_space_agree_with_the_model(
    play: tuple[Ground, list[tuple[Callable[..., None], str, int | None, list[int]]]],
) -> None:
    """Caches, logs, grid disks and cell disks on every medium: each statement does what the model says, and no more."""
    ground, steps = play
    player = Player(ground)
    player.compare()
    for action, where, units, some in steps:
        action(player, where, units, some)
        player.compare()
