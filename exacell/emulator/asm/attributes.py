"""Disk group attributes: which exist, which values they accept, and when they may be set.

Source: reference asm.md section 3, which quotes Oracle's ASM Administrator's Guide, "Managing Disk Group Attributes".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from exacell.core.errors import UnitError
from exacell.core.units import MIB, parse_size
from exacell.emulator.basics.ora_messages import OraError, OraLine, ora
from exacell.emulator.basics.versions import Version, parse_version, version_text

AU_SIZES = tuple(n * MIB for n in (1, 2, 4, 8, 16, 32, 64))
DEFAULT_AU_BYTES = 4 * MIB
"""The default on Exadata. Source: reference asm.md section 3."""


def _truth(text: str) -> str | None:
    return text.upper() if text.upper() in ("TRUE", "FALSE") else None


def _one_of(*choices: str) -> Callable[[str], str | None]:
    return lambda text: text.lower() if text.lower() in choices else None


def _au_size(text: str) -> str | None:
    try:
        size = parse_size(text)
    except UnitError:
        return None
    return str(size) if size in AU_SIZES else None


def _sector(text: str) -> str | None:
    return {"512": "512", "4096": "4096", "4K": "4096"}.get(text.upper())


def _repair_time(text: str) -> str | None:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([mh]?)", text.strip(), re.IGNORECASE)
    return f"{float(match[1]):g}{(match[2] or 'h').lower()}" if match else None


def _anything(text: str) -> str | None:
    return text


def repair_seconds(text: str) -> float:
    """Return the seconds of a stored repair time such as ``3.6h`` or ``90m``."""
    return float(text[:-1]) * (3600 if text.endswith("h") else 60)


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One attribute.

    Attributes:
        check: returns the value in its stored form; None if it is not valid.
        default: None when the attribute has no row until it is set.
        when: ``create``, ``both`` or ``never`` (read only).
        asm, rdbms: the lowest compatible.asm and compatible.rdbms with which it may be set.
        shown: the compatible.asm from which V$ASM_ATTRIBUTE has a row.
    """

    check: Callable[[str], str | None]
    default: str | None
    when: str = "both"
    asm: Version = (10, 1)
    rdbms: Version = (10, 1)
    shown: Version = (11, 1)


ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType(
    {
        "access_control.enabled": Attribute(check=_truth, default="FALSE", asm=(11, 2), rdbms=(11, 2), shown=(11, 2)),
        "access_control.umask": Attribute(check=_anything, default="066", asm=(11, 2), rdbms=(11, 2), shown=(11, 2)),
        "appliance.mode": Attribute(check=_truth, default="FALSE", asm=(11, 2, 0, 4), shown=(11, 2, 0, 4)),
        "au_size": Attribute(check=_au_size, default=str(DEFAULT_AU_BYTES), when="create"),
        "cell.smart_scan_capable": Attribute(check=_truth, default="FALSE", shown=(11, 1)),
        "cell.sparse_dg": Attribute(
            check=_one_of("allsparse", "allnonsparse"), default="allnonsparse", when="create", shown=(12, 1, 0, 2)
        ),
        "compatible.advm": Attribute(check=_anything, default=None, asm=(11, 2)),
        "compatible.asm": Attribute(check=_anything, default=None),
        "compatible.rdbms": Attribute(check=_anything, default=None),
        "content.check": Attribute(check=_truth, default="FALSE", asm=(12, 1), shown=(12, 1)),
        "content.type": Attribute(
            check=_one_of("data", "recovery", "system"), default="data", asm=(11, 2, 0, 3), shown=(11, 2, 0, 3)
        ),
        "content_hardcheck.enabled": Attribute(check=_truth, default="FALSE", asm=(12, 1, 0, 2), shown=(12, 1, 0, 2)),
        "disk_repair_time": Attribute(check=_repair_time, default="3.6h", asm=(11, 1)),
        "failgroup_repair_time": Attribute(check=_repair_time, default="24h", asm=(12, 1), shown=(12, 1)),
        "idp.boundary": Attribute(check=_anything, default="auto", when="never", shown=(11, 2)),
        "idp.type": Attribute(check=_anything, default="dynamic", when="never", shown=(11, 2)),
        "logical_sector_size": Attribute(check=_sector, default="512", asm=(12, 2), shown=(12, 2)),
        "phys_meta_replicated": Attribute(check=_truth, default="TRUE", asm=(12, 1), shown=(12, 1)),
        "preferred_read.enabled": Attribute(check=_truth, default="FALSE", asm=(12, 2), shown=(12, 2)),
        "scrub_async_limit": Attribute(check=_anything, default="1", asm=(12, 2), shown=(12, 2)),
        "sector_size": Attribute(
            check=_sector, default="512", when="create", asm=(11, 2), rdbms=(11, 2), shown=(11, 2)
        ),
        "thin_provisioned": Attribute(check=_truth, default="FALSE", asm=(12, 1), shown=(12, 1)),
        "vam_migration_done": Attribute(check=_truth, default="FALSE", when="never", shown=(19, 1)),
    }
)


def defaults(software: Version) -> dict[str, str]:
    """Return the attributes of a group created without an ATTRIBUTE clause, in the order of their names.

    Args:
        software: the release of the ASM instances.
    """
    values = {name: attribute.default for name, attribute in ATTRIBUTES.items() if attribute.default is not None}
    values["compatible.asm"] = "11.2.0.2.0" if software >= (12, 1) else "10.1.0.0.0"
    values["compatible.rdbms"] = "10.1.0.0.0"
    if software >= (12, 2):
        values["disk_repair_time"] = "12h"
    return values


def visible(attributes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the (name, value) rows of V$ASM_ATTRIBUTE, by name; empty if compatible.asm is below 11.1."""
    compatible = parse_version(attributes["compatible.asm"])
    return sorted(
        (name, value)
        for name, value in attributes.items()
        if compatible >= max(ATTRIBUTES[name].shown, (11, 1)) and value
    )


def set_attribute(
    attributes: Mapping[str, str], name: str, value: str, *, creating: bool, software: Version, wrapper: OraLine
) -> dict[str, str]:
    """Return the attributes after one of them was set.

    Args:
        attributes: those of the group, or those that CREATE has gathered so far.
        wrapper: the outermost line of an error, for example ORA-15018.

    Raises:
        OraError: ``wrapper`` over ORA-15238, 15240, 15241, 15243, 15244, 15221 or 15283; in ALTER, ORA-15242 comes between them.
    """

    def refuse(*lines: OraLine) -> OraError:
        between = () if creating else (ora(15242, name),)
        return OraError(wrapper, *between, *lines)

    name = name.lower()
    entry = ATTRIBUTES.get(name)
    if entry is None:
        raise refuse(ora(15240, name))
    if entry.when == "never" or (entry.when == "create" and not creating):
        raise refuse(ora(15241, name))
    if name.startswith("compatible."):
        return {**attributes, name: _compatible(attributes, name, value, creating, software, refuse)}
    stored = entry.check(value)
    if stored is None:
        raise refuse(ora(15238, value, name))
    if parse_version(attributes["compatible.asm"]) < entry.asm:
        raise refuse(ora(15221, version_text(entry.asm)))
    if parse_version(attributes["compatible.rdbms"]) < entry.rdbms:
        raise refuse(ora(15283, version_text(entry.rdbms)))
    return {**attributes, name: stored}


def _compatible(
    attributes: Mapping[str, str],
    name: str,
    value: str,
    creating: bool,
    software: Version,
    refuse: Callable[..., OraError],
) -> str:
    """Return a compatible.* value padded to five parts, after checking it against the software and the other attributes."""
    try:
        version = parse_version(value)
    except ValueError:
        raise refuse(ora(15243, value)) from None
    if version[:2] > software[:2] or version < (10, 1):
        raise refuse(ora(15238, value, name))
    current = attributes.get(name)
    if not creating and current and version < parse_version(current):
        raise refuse(ora(15244, version_text(version), current))
    if name != "compatible.asm" and version > parse_version(attributes["compatible.asm"]):
        raise refuse(ora(15221, version_text(version)))
    if name == "compatible.advm" and version < (11, 2):
        raise refuse(ora(15238, value, name))
    return version_text(version)
