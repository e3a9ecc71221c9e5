"""Hardware models and software releases of emulated cells, from ``data/models.toml`` and ``data/releases.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from exacell.core.errors import EmulatorError
from exacell.core.units import parse_size
from exacell.emulator.basics.schema import Release, release_of

ORDER_BY_SINCE: Release = (12, 1, 2, 1)
PRIMARY_MEDIA_SINCE: Release = (24, 1)
REDUNDANCY_CHECK_SINCE: Release = (18, 1)
BARE_HYPHENS_SINCE: Release = (19, 3)
"""Up to 19.2 a name with a hyphen must be quoted. Source: reference cellcli.md 1.4."""
MAINTAIN_REDUNDANCY_SINCE: Release = (19,)
"""Releases from this on know DROP FOR REPLACEMENT MAINTAIN REDUNDANCY. Source: reference cellcli.md 8, unverified."""
DOUBLE_DASH_XML_SINCE: Release = (24, 1)
"""Releases from this on know ``--xml`` and ``--json``; the emulator accepts ``-xml`` on all releases. Source: Oracle DBMSO,
support-json-output-management-server; reference cellcli.md 1.1.
"""
CLUSTERPLAN_SINCE: Release = (21, 2)
CATPLAN_UNTIL: Release = (25, 1)
IORM_ALWAYS_ACTIVE_SINCE: Release = (11, 2, 3, 2)
WRITE_BACK_SINCE: Release = (11, 2, 3, 2)
"""Releases from this on have write-back mode and FLUSH."""
ONLINE_MODE_SINCE: Release = (11, 2, 3, 3, 1)
"""On releases from this on, flashCacheMode can be changed while CELLSRV runs; on older ones only while it is down."""
STOPPED_MODE_UNTIL: Release = (12, 2)
"""Releases before this also change flashCacheMode while CELLSRV is shut down, and print it as it was typed. Source: published
sessions of 11.2.3.3.1 and of 12.1.2.3.1; the first release without this is our guess.
"""
WHOLE_RATES_UNTIL: Release = (12, 2)
"""Releases before this print DB_IO_BY_SEC and similar metrics as 0 MB/sec. Source: published LIST METRICCURRENT of 12.1.2.1; the
first release with decimals is our guess.
"""
CACHED_BY_ONE_SINCE: Release = (18, 1)
"""Releases from this on cache a grid disk on one flash disk. Source: a published LIST GRIDDISK DETAIL of an X6 with 18.1.6; the
first such release is our guess.
"""
LARGE_WRITES_SINCE: Release = (12, 2, 1, 1)
"""Releases from this on let large writes into the flash cache. Source: Oracle SAGUG, what's new in 12.2.1.1.0."""
LIMIT_ON_FLASH_ONLY_SINCE: Release = (19, 1)
"""Releases from this on apply a limit of the IORM plan to flash only. The first such release is inferred: reference cellcli.md
7.1.
"""
XRMEM_SINCE: Release = (23, 1)
"""Releases from this on call the caches and logs in memory XRMEM; earlier ones call them PMEM."""
PMEM_SINCE: Release = (19, 3)
"""Releases from this on use persistent memory."""
LARGE_PMEM_LOG_SINCE: Release = (20, 1)
"""The PMEM log's default size is 10176M from this release on, 960M before. Source: Oracle SAGUG, create-pmemlog."""
RESTRICTED_SINCE: Release = (26, 1)
"""Releases from this on let celladmin and cellmonitor run only CellCLI and a few other commands."""
KEY_TYPES_SINCE: Release = (12, 2, 1, 1)
"""Releases from this on know keys of ASM clusters and of cells. Source: Oracle SAGUG, assign-key, list-key."""
EXASCALE_SINCE: Release = (24, 1)
"""Releases from this on have Exascale's services and objects."""
DISABLE_SERVICES_SINCE: Release = (25, 1)
SHARES_SINCE: Release = (11, 2, 3, 1)
"""Releases from this on know shares in IORM plans."""
METRIC_SWITCHES_SINCE: Release = (22, 1)
"""Releases from this on know ALTER METRICDEFINITION. Source: reference cellcli.md 8."""

EFFICIENCY = 128
"""The value in the banner and in offloadEfficiency of old releases: how many times smaller smart scans make their results."""


@dataclass(frozen=True, kw_only=True)
class HardDisks:
    """The hard disks of a model; sizes in bytes. The first two cell disks may be smaller (operating system)."""

    disks: int
    cell_disk: int
    system_cell_disk: int
    lun: int
    physical: int
    enclosure: int
    make_model: str
    rpm: int
    interface: str


@dataclass(frozen=True, kw_only=True)
class FlashDisks:
    """The flash devices of one kind that a model has; sizes in bytes, one cell disk for each FDOM of each slot."""

    slots: tuple[int, ...]
    fdoms: int
    first_fdom: int
    cell_disk: int
    lun: int
    physical: int
    make_model: str
    firmware: str
    device: str

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Return (slot, FDOM) of each flash cell disk, in the order of their numbers."""
        return tuple((slot, self.first_fdom + fdom) for slot in self.slots for fdom in range(self.fdoms))


@dataclass(frozen=True, kw_only=True)
class PersistentMemory:
    """The persistent memory of a model: modules of one size in bytes, with one cell disk each, and its cache's behaviour."""

    modules: int
    cell_disk: int
    physical: int
    make_model: str
    firmware: str
    dirty: int
    flush_per_second: int
    used_percent: int

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Return (processor, DIMM) of each module, in the order of their numbers."""
        half = self.modules // 2
        return tuple((number // half, 1 + 2 * (number % half)) for number in range(self.modules))


@dataclass(frozen=True, kw_only=True)
class CacheBehaviour:
    """How full and dirty a new rack's cache is, and how many bytes a cell's flush writes to disk in a rack second.

    Attributes:
        share_percent: of the flash that the cache takes on delivery; the rest is for grid disks.
    """

    dirty: int
    flush_per_second: int
    used_percent: int
    share_percent: int = 100


@dataclass(frozen=True, kw_only=True)
class HardwareModel:
    """One hardware model."""

    name: str
    make_model: str
    default_release: str
    cpu_count: str
    memory_gb: int
    fan_count: str
    hard: HardDisks
    flash: FlashDisks
    grid_disks: Mapping[str, int]
    cache: CacheBehaviour
    memory_cache: int = 0
    pmem: PersistentMemory | None = None
    capacity: FlashDisks | None = None

    @property
    def cpus(self) -> int:
        """Return the number of processors in use."""
        return int(self.cpu_count.partition("/")[0])

    @property
    def infiniband(self) -> bool:
        """Return whether the RDMA network is InfiniBand; it is RoCE from X8M on. Source: Oracle DBMSO, hardware by model."""
        return self.name in ("x2", "x6", "x6ef")

    @property
    def extreme_flash(self) -> bool:
        """Return whether the model has only flash disks."""
        return self.hard.disks == 0


@dataclass(frozen=True, kw_only=True)
class ReleaseProfile:
    """One software release. Features depend on ``number``."""

    name: str
    number: Release
    version: str
    banner: str
    kernel: str
    rpm: str
    tracking_bug: str
    copyright: str
    largest_suffix: str
    models: tuple[str, ...]


def _table(name: str) -> dict[str, dict[str, Any]]:
    text = resources.files("exacell.emulator").joinpath("data", name).read_text(encoding="utf-8")
    return tomllib.loads(text)


def _sizes(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**row, **{name: parse_size(row[name]) for name in names}}


def _flash(row: dict[str, Any]) -> FlashDisks:
    return FlashDisks(**{**_sizes(row, "cell_disk", "lun", "physical"), "slots": tuple(row["slots"])})


@cache
def models() -> Mapping[str, HardwareModel]:
    """Return the hardware models by name."""
    found: dict[str, HardwareModel] = {}
    for name, row in _table("models.toml").items():
        found[name] = HardwareModel(
            name=name,
            make_model=row["make_model"],
            default_release=row["default_release"],
            cpu_count=row["cpu_count"],
            memory_gb=row["memory_gb"],
            fan_count=row["fan_count"],
            hard=HardDisks(**_sizes(row["hard"], "cell_disk", "system_cell_disk", "lun", "physical")),
            flash=_flash(row["flash"]),
            grid_disks=MappingProxyType({prefix: parse_size(size) for prefix, size in row["grid_disks"].items()}),
            capacity=_flash(capacity) if (capacity := row.get("capacity")) else None,
            memory_cache=parse_size(row.get("memory_cache", "0")),
            pmem=PersistentMemory(**_sizes(pmem, "cell_disk", "physical", "dirty", "flush_per_second"))
            if (pmem := row.get("pmem"))
            else None,
            cache=CacheBehaviour(**_sizes(row["cache"], "dirty", "flush_per_second")),
        )
    return MappingProxyType(found)


@cache
def releases() -> Mapping[str, ReleaseProfile]:
    """Return the release profiles by name."""
    return MappingProxyType(
        {
            name: ReleaseProfile(name=name, number=release_of(row["banner"]), **{**row, "models": tuple(row["models"])})
            for name, row in _table("releases.toml").items()
        }
    )


def hardware_model(name: str) -> HardwareModel:
    """Return the model called ``name``.

    Raises:
        EmulatorError: there is no such model.
    """
    found = models().get(name.lower())
    if found is None:
        raise EmulatorError(f"model={name} cannot be emulated; there are {', '.join(models())}")
    return found


def release_profile(name: str, model: HardwareModel) -> ReleaseProfile:
    """Return the release called ``name``, or the newest release of the model whose name begins with it.

    Args:
        name: ``19.3``, ``12.1``; empty for the model's default.

    Raises:
        EmulatorError: there is no such release, or it does not run on ``model``.
    """
    known = releases()
    fitting = [key for key, release in known.items() if model.name in release.models]
    found = known.get(name or model.default_release)
    if found is None:
        begun = [key for key in (*known, *fitting) if key.startswith(f"{name}.")]
        found = known[begun[-1]] if begun else None
    if found is None:
        raise EmulatorError(f"release={name} cannot be emulated; there are {', '.join(known)}")
    if model.name not in found.models:
        raise EmulatorError(
            f"release {found.name} does not run on model {model.name}; for that use release={' or '.join(fitting)}"
        )
    return found
