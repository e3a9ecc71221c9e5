"""The rows of LIST for pluggable databases, vaults and volumes. Source: reference cellcli.md 3.3."""

from __future__ import annotations

import zlib

from exacell.emulator.basics.tenants import vault_databases, volume_parts
from exacell.emulator.grammar.values import Row, Size, Time, Value
from exacell.emulator.state.place import Place

_NO_LIMITS: dict[str, Value] = {
    f"{cache}Cache{what}": Size(0)
    for cache in ("flash", "pmem", "xrmem", "sharedFlash", "sharedPmem", "sharedXRMem")
    for what in ("Limit", "Min", "Size")
}
"""No plan of the emulator has directives for parts of a database."""


def _number(name: str) -> int:
    return zlib.crc32(name.upper().encode()) | 0x10000000


def _hex(name: str) -> str:
    return "".join(f"{zlib.crc32(f'{part}|{name}'.encode()):08x}" for part in range(4))


def pluggable_database_rows(place: Place) -> list[Row]:
    """Return the rows of LIST PLUGGABLEDATABASE, by name."""
    spec = place.rack.spec
    vaults = {owner: vault for vault, owners in vault_databases(spec.vault, spec.db).items() for owner in owners}
    rows: list[Row] = []
    for full in sorted(spec.pdb, key=lambda full: full.partition(".")[::-1]):
        database, _, name = full.partition(".")
        rows.append(
            {
                **_NO_LIMITS,
                "name": name,
                "asmClusterName": "",
                "containerName": database,
                "iormDiskLimit": 0,
                "iormFlashLimit": 0,
                "iormShare": 1,
                "pdbID": _number(full),
                "vaultName": vaults.get(database, ""),
            }
        )
    return rows


def vault_rows(place: Place) -> list[Row]:
    """Return the rows of LIST VAULT, by name."""
    return [
        {
            **_NO_LIMITS,
            "name": name,
            "iormDiskLimit": 0,
            "iormDiskShare": 1,
            "iormFlashLimit": 0,
            "iormFlashShare": 1,
            "lastRequestTime": Time(place.rack.collection_time(place.cell)),
            "vaultID": _hex(name),
        }
        for name in sorted(place.rack.spec.vault)
    ]


def volume_rows(place: Place) -> list[Row]:
    """Return the rows of LIST VOLUME, by name."""
    return [
        {
            **_NO_LIMITS,
            "name": name,
            "iormDiskLimit": 0,
            "iormFlashLimit": 0,
            "lastRequestTime": Time(place.rack.collection_time(place.cell)),
            "vaultName": vault,
            "volumeID": _hex(name),
        }
        for name, (vault, _part) in sorted(volume_parts(place.rack.spec.vault).items())
    ]
