"""Base values of IORM's objects: databases, their parts, and the groups that databases belong to.

Consumer groups and pluggable databases have shares of their database; clusters, categories and vaults are the sums of their
databases. Shares always add up to the whole, and no counter ever decreases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from exacell.core.units import KIB, MIB
from exacell.emulator.basics.tenants import WHOLE, Part, category_of, pdb_parts, volume_parts
from exacell.emulator.io.cache_shares import cache_shares
from exacell.emulator.io.device_io import CAPACITY, FLASH, HARD, OTHER_DATABASE
from exacell.emulator.io.iorm_queues import waits
from exacell.emulator.metrics.collection import Collection
from exacell.emulator.metrics.rules import CPUS, DISKS, Base
from exacell.emulator.metrics.scene import Scene

SPECIAL_DATABASES = ("ASM", OTHER_DATABASE)
"""Databases of every cell's IORM metrics. Source: reference cellcli.md 4.3."""

_OTHER_CATEGORY = "OTHER"
"""The name of the one category on a cell without a category plan; made up."""

GROUPS = ("OTHER_GROUPS", "_ORACLE_BACKGROUND_GROUP_")
"""Consumer groups of a database without a resource plan: its sessions, and its background processes."""

_FOREGROUND_PART, _BACKGROUND_PART = Part(0, 4, 5), Part(4, 5, 5)
"""The shares of a database's I/O for its sessions (four fifths) and its background processes (one fifth)."""

WAIT_PART = 40_000
"""A request waits in IORM's queue for about a fortieth of its service time; the counter is in milliseconds."""

_COLUMNS_US = 40
"""Microseconds of processor time for each scanned megabyte that is turned into columns."""

_SCAN_US = {"FG": 820, "BG": 35}
"""Microseconds of processor time for a megabyte of smart scan in its two parts, as the load counts it."""

_INFIXES = {HARD: "", FLASH: "_FD", CAPACITY: "_CF"}
_NOTHING: Mapping[str, float] = {}
_Recipe = tuple[int, bool, tuple[str, ...]]
"""The divisor of each counter, whether it counts KB that become MB, and the counters that are summed."""


@cache
def _recipes(prefix: str) -> Mapping[str, _Recipe]:
    """Return how each base value of a kind of object is computed from counters of databases."""
    sizes = ("SM", "LG")
    found: dict[str, _Recipe] = {
        f"{prefix}_FC_IO_RQ": (1, False, ("FC.SM", "FC.LG")),
        f"{prefix}_FC_IO_BY": (1, True, ("FC.KB",)),
        **{f"{prefix}_FC_IO_RQ_{size}": (1, False, (f"FC.{size}",)) for size in sizes},
    }
    for medium, infix in _INFIXES.items():
        head = f"{prefix}{infix}_IO"
        found[f"{head}_BY"] = (1, True, tuple(f"{medium}.{size}.KB" for size in sizes))
        for what in ("RQ", "TM"):
            found[f"{head}_{what}"] = (1, False, tuple(f"{medium}.{size}.{what}" for size in sizes))
            for size in sizes:
                found[f"{head}_{what}_{size}"] = (1, False, (f"{medium}.{size}.{what}",))
        for size in sizes:
            found[f"{head}_WT_{size}"] = (WAIT_PART, False, (f"{medium}.{size}.TM",))
    return found


_SPACES = ("FC_BY_ALLOCATED", "PC_BY_ALLOCATED", "XRM_BY_ALLOCATED")


def iorm_objects(object_type: str, scene: Scene) -> list[str] | None:
    """Return the names of the objects of one IORM object type, sorted; None for a type that is not IORM's."""
    match object_type:
        case "IORM_DATABASE":
            return sorted((*scene.databases, *SPECIAL_DATABASES))
        case "IORM_CONSUMER_GROUP":
            return sorted(f"{database}.{group}" for database in scene.databases for group in GROUPS)
        case "IORM_CLUSTER":
            return sorted(scene.clusters)
        case "IORM_PLUGGABLE_DATABASE":
            return sorted(scene.pdbs)
        case "IORM_CATEGORY":
            return sorted(set(_categories(scene)))
        case "IORM_VAULT":
            return sorted(scene.vaults)
        case "IORM_VOLUME":
            return sorted(volume_parts(scene.vaults))
        case _:
            return None


def _categories(scene: Scene) -> list[str]:
    """Return the categories of the cell's plan; without a plan there is one category, as in LIST METRICCURRENT of 12.1.2.1."""
    return [directive.name for directive in scene.cell.iorm.cat_plan] or [_OTHER_CATEGORY]


class IormBase(Mapping[str, float]):
    """The base values of one IORM object, computed when they are asked for: the sums over parts of databases.

    Args:
        values: all that the cell has collected.
        rest: computes the values that do not come from counters of I/O.
    """

    def __init__(
        self,
        prefix: str,
        values: Mapping[str, float],
        parts: Sequence[tuple[str, Part]],
        rest: Callable[[], Mapping[str, float]],
    ) -> None:
        self._recipes = _recipes(prefix)
        self._values, self._parts, self._rest = values, parts, rest
        self._known_rest: Mapping[str, float] | None = None

    @property
    def _others(self) -> Mapping[str, float]:
        if self._known_rest is None:
            self._known_rest = self._rest()
        return self._known_rest

    def __getitem__(self, name: str) -> float:
        recipe = self._recipes.get(name)
        if recipe is None:
            return self._others[name]
        each, kilobytes, counters = recipe
        values = self._values
        total = sum(
            part(int(values.get(f"{owner}:{counter}", 0)) // each + self._waited(owner, counter, each))
            for owner, part in self._parts
            for counter in counters
        )
        return total / KIB if kilobytes else total

    def _waited(self, owner: str, counter: str, each: int) -> int:
        """Return the milliseconds that requests waited because of IORM, in addition to the usual wait."""
        if each != WAIT_PART:
            return 0
        medium, size, _time = counter.split(".")
        return int(self._values.get(waits(f"{owner}:", medium, size), 0))

    def get(self, name: str, default: float = 0) -> float:  # type: ignore[override]  # 0, not None
        """Return a base value; ``default`` if the object does not have it."""
        return self[name] if name in self._recipes else self._others.get(name, default)

    def __iter__(self) -> Iterator[str]:
        yield from self._recipes
        yield from self._others

    def __len__(self) -> int:
        return len(self._recipes) + len(self._others)


class IormBases:
    """The base values of one cell's databases and other IORM objects at one collection."""

    def __init__(self, scene: Scene, collection: Collection) -> None:
        self._scene = scene
        self._values = collection.values
        self.makers: Mapping[str, Callable[[str], Base]] = {
            "IORM_DATABASE": self._database,
            "IORM_CONSUMER_GROUP": self._consumer_group,
            "IORM_CLUSTER": lambda name: self._base("CLU", ((owner, WHOLE) for owner in scene.clusters[name])),
            "IORM_PLUGGABLE_DATABASE": self._pluggable_database,
            "IORM_CATEGORY": self._category,
            "IORM_VAULT": lambda name: self._base("VLT", ((owner, WHOLE) for owner in scene.vaults[name])),
            "IORM_VOLUME": self._volume,
        }

    def _space(self, prefix: str, database: str, part: Part) -> dict[str, float]:
        """Return the megabytes in each cache that a part of a database has, by metric."""
        values, scene, plan = self._values, self._scene, self._scene.cell.iorm
        shares = cache_shares(plan, scene.databases, int(values.get("FC_BY_ALLOCATED", 0.0) * MIB))
        remembered = [name for name in scene.databases if not plan.memory_off(name)]
        in_memory = allocated_in_memory(values) / len(remembered) if database in remembered else 0.0
        in_flash = part(shares.get(database, 0)) / MIB
        sizes = (in_flash, in_memory * part.fraction, in_memory * part.fraction)
        return {f"{prefix}_{space}": size for space, size in zip(_SPACES, sizes, strict=True)}

    def _base(self, prefix: str, parts: Iterable[tuple[str, Part]], other: Mapping[str, float] = _NOTHING) -> Base:
        """Return the base values that are sums over parts of databases."""
        owners = tuple(parts)

        def rest() -> dict[str, float]:
            found: dict[str, float] = dict(other)
            for medium, infix in _INFIXES.items():
                found[f"{prefix}{infix}_{DISKS}"] = len(self._scene.disks[medium])
            for owner, part in owners:
                for name, size in self._space(prefix, owner, part).items():
                    found[name] = found.get(name, 0.0) + size
            return found

        return IormBase(prefix, self._values, owners, rest)

    def _database(self, name: str) -> Base:
        values = self._values
        log = {"DB_FL_IO_RQ": values.get(f"{name}:FL.RQ", 0), "DB_FL_IO_BY": values.get(f"{name}:FL.KB", 0) / KIB}
        return self._base("DB", [(name, WHOLE)], log)

    def _consumer_group(self, name: str) -> Base:
        database, _, group = name.partition(".")
        return self._base("CG", [(database, _BACKGROUND_PART if group == GROUPS[1] else _FOREGROUND_PART)])

    def _pluggable_database(self, name: str) -> Base:
        """Return the base of a pluggable database; its large I/O is counted as its smart scans."""
        database, part = pdb_parts(self._scene.pdbs)[name]
        scans = {
            CPUS: self._scene.cpus,
            "PDB_SCAN_TM": self._scanned(database, part) * sum(_SCAN_US.values()),
            "PDB_COLUMNS_TM": self._scanned(database, part) * _COLUMNS_US,
            "ELIGIBLE": self._values.get("SIO_IO_EL_OF", 0),
            "PASSED": self._values.get("SIO_IO_PA_TH", 0),
        }
        return self._base("PDB", [(database, part)], scans)

    def _scanned(self, database: str, part: Part) -> float:
        """Return the megabytes of a part of a database's large I/O."""
        return sum(part(self._values.get(f"{database}:{medium}.LG.KB", 0)) for medium in (HARD, FLASH, CAPACITY)) / KIB

    def scans_of_pdbs(self) -> dict[str, float]:
        """Return the processor time of smart scans of pluggable databases, at most that of all smart scans."""
        databases = {database for database, _part in pdb_parts(self._scene.pdbs).values()}
        scanned = sum(self._scanned(database, WHOLE) for database in databases)
        return {
            f"SIO_PDB_{where}_CPU": min(self._values.get(f"SIO_{where}_CPU", 0), int(scanned * each))
            for where, each in _SCAN_US.items()
        }

    def kept_share(self) -> float:
        """Return the share of the flash cache's data that has CELL_FLASH_CACHE KEEP, as LIST FLASHCACHECONTENT shows it."""
        scene = self._scene
        if not scene.kept:
            return 0.0
        used = int(self._values.get("FC_BY_USED", 0.0) * MIB)
        shares = cache_shares(scene.cell.iorm, scene.databases, used)
        return sum(shares.get(name, 0) * kept for name, kept in scene.kept.items()) / used if used else 0.0

    def _category(self, name: str) -> Base:
        owners = category_of(self._scene.databases, _categories(self._scene))
        return self._base("CT", ((owner, WHOLE) for owner, category in owners.items() if category == name))

    def _volume(self, name: str) -> Base:
        vault, part = volume_parts(self._scene.vaults)[name]
        return self._base("VOL", ((owner, part) for owner in self._scene.vaults[vault]))


def allocated_in_memory(values: Mapping[str, float]) -> float:
    """Return the megabytes in the cache in memory, for either kind of memory."""
    return values.get("XRM_BY_ALLOCATED", values.get("PC_BY_ALLOCATED", 0.0))
