"""The options with which an emulated rack is made, and the rules that they must meet together."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.clock import fastest
from exacell.emulator.basics.clusters import make_clusters
from exacell.emulator.basics.profiles import (
    PMEM_SINCE,
    WRITE_BACK_SINCE,
    XRMEM_SINCE,
    hardware_model,
    release_profile,
)
from exacell.emulator.basics.tenants import checked_pdbs, checked_vaults

MODES = ("writeback", "writethrough")
_MAX_CELLS, _MAX_DBNODES = 512, 64
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,29}")


def dbnode_names(count: int) -> tuple[str, ...]:
    """Return the host names of a rack's database nodes."""
    return tuple(f"exa1db{number:02d}" for number in range(1, count + 1))


@dataclass(frozen=True, kw_only=True)
class RackSpec:
    """The options of a rack. Empty ``release`` means the model's own; after construction it is always set.

    Releases without write-back mode always have ``mode`` writethrough.

    Attributes:
        pmem: mode of the cache on persistent memory, if the model has any.
        cellcli_start: wall seconds that the start of ``cellcli`` takes, as a Java client does.
        node_names: host names of the database nodes; empty for the usual ones.
        client: the name in availableTo under which the only cluster uses the grid disks; empty for the usual one.
        pdb: pluggable databases, each after its database, ``SPOT.SALES``; only cells know them.
        dbcache: bytes of the flash cache that each database's instances have on their nodes; 0 for none.
        vault: Exascale vaults, among which cells divide the databases in turn, from release 24.1 on.
        clusters: ASM clusters, among which nodes, databases and the space of the grid disks are divided.

    Raises:
        EmulatorError: a value is out of its range, or the release does not run on the model.
    """

    name: str
    cells: int = 3
    dbnodes: int = 2
    db: tuple[str, ...] = ("SPOT", "ERP")
    model: str = "x2"
    release: str = ""
    mode: str = "writeback"
    pmem: str = "writethrough"
    speed: float = 60.0
    seed: int = 1
    cellcli_start: float = 0.0
    dbcache: int = 0
    clusters: int = 1
    node_names: tuple[str, ...] = ()
    client: str = ""
    pdb: tuple[str, ...] = ()
    vault: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= self.cells <= _MAX_CELLS:
            raise EmulatorError(f"cells={self.cells} is not possible: a rack has 2 to {_MAX_CELLS} cells, 3 by default")
        if not 1 <= self.dbnodes <= _MAX_DBNODES:
            raise EmulatorError(f"dbnodes={self.dbnodes} is not possible: a rack has 1 to {_MAX_DBNODES} of them")
        if not self.db:
            raise EmulatorError("db= names no database: a rack has at least one, for example db=SPOT,ERP")
        for name in self.db:
            if not _DATABASE.fullmatch(name):
                raise EmulatorError(f"db={name} is not a database name: a letter, then up to 29 letters, digits, _ $ #")
        if len({name.upper() for name in self.db}) != len(self.db):
            raise EmulatorError(f"db={','.join(self.db)} names a database twice", hint="name each once")
        if self.mode.lower() not in MODES:
            raise EmulatorError(f"mode={self.mode} is no flash cache mode; there are {' and '.join(MODES)}")
        if not 0 < self.speed <= fastest(self.cells):
            raise EmulatorError(
                f"speed={self.speed:g} is not possible: it must be above 0 and, for {self.cells} cells, at most"
                f" {int(fastest(self.cells))}, because the time of every cell has to be played"
            )
        if self.cellcli_start < 0:
            raise EmulatorError(f"cellcli-start={self.cellcli_start:g} is no time: it must be 0 or more seconds")
        make_clusters(self.clusters, dbnode_names(self.dbnodes), self.db)
        model = hardware_model(self.model)
        object.__setattr__(self, "db", tuple(self.db))
        object.__setattr__(self, "node_names", tuple(self.node_names))
        object.__setattr__(self, "model", model.name)
        object.__setattr__(self, "mode", self.mode.lower())
        release = release_profile(self.release, model)
        object.__setattr__(self, "release", release.name)
        object.__setattr__(self, "pdb", checked_pdbs(self.pdb, self.db, release.number))
        object.__setattr__(self, "vault", checked_vaults(self.vault, release.number))
        if release.number < WRITE_BACK_SINCE:
            object.__setattr__(self, "mode", "writethrough")
        object.__setattr__(self, "pmem", self.pmem.lower())
        if self.pmem not in MODES:
            raise EmulatorError(f"pmem={self.pmem} is no mode of a PMEM cache; there are {' and '.join(MODES)}")
        if self.pmem == "writeback":
            if model.pmem is None or not PMEM_SINCE <= release.number < XRMEM_SINCE:
                raise EmulatorError(
                    f"pmem=writeback is not possible on model {model.name} with release {release.name}: it needs"
                    " persistent memory and a release before 23.1, for example model=x8m release=22.1"
                )
            if self.mode != "writeback":
                raise EmulatorError("pmem=writeback needs mode=writeback: a PMEM cache writes to the flash cache")
