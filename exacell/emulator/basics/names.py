"""Names on the emulated hosts: the directories of Oracle's software, and host names in the notation of cell sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

GRID_HOME = "/u01/app/19.0.0.0/grid"
"""ORACLE_HOME of the grid infrastructure on the emulated database nodes."""
DATABASE_HOME = "/u01/app/oracle/product/19.0.0.0/dbhome_1"
"""ORACLE_HOME of the databases there."""

_NODES_FROM, _NODES_LEFT_OUT = 100, 70
"""Database nodes have the addresses from 100 on. There are at most 64 nodes; cells skip 70 addresses."""


def cell_address(number: int) -> str:
    """Return the address of the n-th cell, from 1, on the storage network."""
    place = 10 + number
    if place >= _NODES_FROM:
        place += _NODES_LEFT_OUT
    return f"192.168.{10 + place // 250}.{place % 250}"


def node_address(number: int) -> str:
    """Return the address of the n-th database node, from 1, on the storage network."""
    return f"192.168.10.{_NODES_FROM + number}"


def fold(names: Sequence[str]) -> str:
    """Return names in cell set notation: ``exa1cel[01-03],exa1cel07``.

    Consecutive numbers of one width after one prefix become a range; everything else stays as it is.
    """
    parts: list[str] = []
    numbered = [
        (match[1], match[2]) if (match := re.fullmatch(r"(.*?)([0-9]+)", name)) else (name, "") for name in names
    ]
    runs = groupby(enumerate(numbered), key=lambda item: (item[1][0], len(item[1][1]), item[0] - int(item[1][1] or -1)))
    for (prefix, width, _), run in runs:
        digits = [number for _, (_, number) in run]
        if not width:
            parts += [prefix] * len(digits)
        elif len(digits) == 1:
            parts.append(prefix + digits[0])
        else:
            parts.append(f"{prefix}[{digits[0]}-{digits[-1]}]")
    return ",".join(parts)
