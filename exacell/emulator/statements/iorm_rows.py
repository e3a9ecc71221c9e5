"""The rows of LIST for the IORM plan, the databases and their parts: pluggable databases, vaults and volumes.

Source: reference cellcli.md 3.3 and 7.4.
"""

from __future__ import annotations

import zlib

from exacell.emulator.basics.tenants import vault_databases, volume_parts
from exacell.emulator.cell.iorm_models import Directive
from exacell.emulator.grammar.values import Lines, Row, Size, Time, Value
from exacell.emulator.state.place import Place

_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$#-"


def directive_line(directive: Directive) -> str:
    """Return a directive as DETAIL prints it: ``name=SPOT,share=8``."""
    return ",".join(f"{name}={_plain_or_quoted(value)}" for name, value in directive.attributes)


def _plain_or_quoted(value: str) -> str:
    """Return a value in the form in which it can be sent again in a plan. Source: reference cellcli.md 7.4."""
    if value and all(char in _WORD for char in value):
        return value
    quote = '"' if "'" in value else "'"
    return f"{quote}{value}{quote}"


def plan_value(plan: tuple[Directive, ...]) -> Value:
    """Return a plan as LIST prints it: lines in DETAIL, ``((…),(…))`` in a column. Source: reference cellcli.md 7.4."""
    lines = tuple(directive_line(directive) for directive in plan)
    return Lines(lines, "(" + ",".join(f"({line})" for line in lines) + ")") if lines else ""


def iorm_plan_rows(place: Place) -> list[Row]:
    """Return the row of LIST IORMPLAN."""
    iorm = place.cell.iorm
    return [
        {
            "name": f"{place.cell.name}_IORMPLAN",
            "catPlan": plan_value(iorm.cat_plan),
            "clusterPlan": plan_value(iorm.cluster_plan),
            "dbPlan": plan_value(iorm.db_plan),
            "objective": iorm.objective,
            "status": "active" if iorm.active else "inactive",
        }
    ]


def iorm_profile_rows(place: Place) -> list[Row]:
    """Return the rows of LIST IORMPROFILE, by name: the profiles for which the plan has directives."""
    plan = place.cell.iorm.db_plan
    profiles = [directive for directive in plan if (directive.get("type") or "").lower() == "profile"]
    rows: list[Row] = [{"name": d.name, "asmClusterName": d.get("asmcluster") or ""} for d in profiles]
    return sorted(rows, key=lambda row: str(row["name"]))


def database_id(name: str) -> int:
    """Return the DBID of an emulated database, or of a pluggable one."""
    return zlib.crc32(name.upper().encode()) | 0x10000000


def database_rows(place: Place) -> list[Row]:
    """Return the rows of LIST DATABASE, by name."""
    named = {directive.name.lower(): directive for directive in place.cell.iorm.db_plan}
    rows: list[Row] = []
    for name in sorted(place.rack.spec.db):
        directive = named.get(name.lower(), Directive(()))
        rows.append(
            {
                "name": name,
                "asmClusterName": "",
                "databaseID": database_id(name),
                "flashCacheLimit": _size_text(directive, "flashcachelimit"),
                "flashCacheMin": _size_text(directive, "flashcachemin"),
                "flashCacheSize": _size_text(directive, "flashcachesize"),
                "iormDiskShare": int(directive.get("share") or 1),
                "iormFlashShare": int(directive.get("share") or 1),
                "iormShare": int(directive.get("share") or 1),
                "lastRequestTime": Time(place.rack.collection_time(place.cell)),
                "profile": "",
            }
        )
    return rows


def cluster_rows(place: Place) -> list[Row]:
    """Return the rows of LIST CLUSTER, by name; empty if there is one cluster, which has no name on cells."""
    named = {directive.name.lower(): directive for directive in place.cell.iorm.cluster_plan}
    return [
        {
            "name": cluster.key,
            "iormShare": int(named.get(cluster.key.lower(), Directive(())).get("share") or 1),
            "lastRequestTime": Time(place.rack.collection_time(place.cell)),
        }
        for cluster in sorted(place.rack.clusters, key=lambda cluster: cluster.key)
        if cluster.suffix
    ]


def _size_text(directive: Directive, name: str) -> Value:
    return directive.get(name) or Size(0)


_NO_LIMITS: dict[str, Value] = {
    f"{cache}Cache{what}": Size(0)
    for cache in ("flash", "pmem", "xrmem", "sharedFlash", "sharedPmem", "sharedXRMem")
    for what in ("Limit", "Min", "Size")
}
"""No plan of the emulator has directives for parts of a database."""


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
                "pdbID": database_id(full),
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
