"""The parts and groups of databases that cells know: pluggable databases, categories, vaults and their volumes.

None of them has separate I/O: each has a fixed part of a database's I/O, so that the parts add up to it. The sizes of the parts
are made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.profiles import EXASCALE_SINCE
from exacell.emulator.basics.schema import Release

PLUGGABLE_SINCE: Release = (12, 2)
"""The first release on which cells list pluggable databases and have their metrics. Source: reference cellcli.md 8."""

VOLUMES = 2
"""Volumes of each vault."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,29}")
_VOLUME_SLOTS = 5
"""Slots of a vault; each volume has one of them, the others belong to the databases' files."""


@dataclass(frozen=True)
class Part:
    """A part of a whole: the slots from ``first`` to before ``end``, of ``count`` equal slots.

    >>> Part(0, 2, 3)(100), Part(2, 3, 3)(100)
    (67, 33)
    """

    first: int
    end: int
    count: int

    def __call__(self, total: float) -> int:
        """Return the part of a total; parts of different slots add up, and never decrease while the total grows."""
        slots = self.end - self.first
        whole, rest = divmod(int(total), self.count)
        return whole * slots + min(max(rest - self.first, 0), slots)

    @property
    def fraction(self) -> float:
        """Return the part as a share of 1."""
        return (self.end - self.first) / self.count


WHOLE = Part(0, 1, 1)


def pdb_parts(pdbs: Sequence[str]) -> dict[str, tuple[str, Part]]:
    """Return the database of each pluggable database and its part: of n in a database, the first has n slots, the last 1.

    Args:
        pdbs: names after their database: ``SPOT.SALES``.
    """
    inside: dict[str, list[str]] = {}
    for name in pdbs:
        inside.setdefault(name.partition(".")[0], []).append(name)
    found: dict[str, tuple[str, Part]] = {}
    for database, names in inside.items():
        first, count = 0, len(names) * (len(names) + 1) // 2
        for number, name in enumerate(names):
            end = first + len(names) - number
            found[name] = (database, Part(first, end, count))
            first = end
    return found


def category_of(databases: Sequence[str], categories: Sequence[str]) -> dict[str, str]:
    """Return the category of each database: the plan's categories in turn, because no DBRM assigns them here."""
    return {name: categories[number % len(categories)] for number, name in enumerate(databases)}


def vault_databases(vaults: Sequence[str], databases: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the databases of each vault; databases are assigned to the vaults in turn."""
    return {vault: tuple(databases[number :: len(vaults)]) for number, vault in enumerate(vaults)}


def volume_parts(vaults: Iterable[str]) -> dict[str, tuple[str, Part]]:
    """Return the vault of each volume, and the part of it."""
    numbers = range(VOLUMES)
    return {f"{vault}_vol{n + 1}": (vault, Part(n, n + 1, _VOLUME_SLOTS)) for vault in vaults for n in numbers}


def checked_pdbs(pdbs: Sequence[str], databases: Sequence[str], release: Release) -> tuple[str, ...]:
    """Return pluggable databases with their databases' names in the rack's spelling.

    Raises:
        EmulatorError: the release has no pluggable databases, or one has a wrong name, a database that the rack does not have, or
            is named twice.
    """
    known = {name.upper(): name for name in databases}
    found: list[str] = []
    for text in pdbs:
        database, dot, name = text.partition(".")
        if not dot or not _NAME.fullmatch(name):
            raise EmulatorError(
                f"pdb={text} is no pluggable database: it must be DATABASE.NAME, for example SPOT.SALES"
            )
        if database.upper() not in known:
            raise EmulatorError(f"pdb={text} is in no database of the rack; it has {', '.join(databases)}")
        found.append(f"{known[database.upper()]}.{name}")
    _refuse_twice("pdb", found)
    if found and release < PLUGGABLE_SINCE:
        raise EmulatorError(f"pdb={','.join(pdbs)} is not possible: cells know pluggable databases since release 12.2")
    return tuple(found)


def checked_vaults(vaults: Sequence[str], release: Release) -> tuple[str, ...]:
    """Return the vaults of a rack.

    Raises:
        EmulatorError: the release has no vaults, or one has a wrong name or is named twice.
    """
    for name in vaults:
        if not _NAME.fullmatch(name):
            raise EmulatorError(f"vault={name} is not a vault's name: a letter, then up to 29 letters, digits, _ $ #")
    _refuse_twice("vault", vaults)
    if vaults and release < EXASCALE_SINCE:
        raise EmulatorError(
            f"vault={','.join(vaults)} is not possible: vaults are Exascale's, which cells have since release 24.1"
        )
    return tuple(vaults)


def _refuse_twice(option: str, names: Sequence[str]) -> None:
    if len({name.upper() for name in names}) != len(names):
        raise EmulatorError(f"{option}={','.join(names)} names one twice", hint="name each once")
