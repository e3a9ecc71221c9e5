"""Find effects that the flash log's counters, or a comparison of flash logging on and off, can't show on these cells. Pure.

Sources: Oracle DBMSO, "Smart Flash Log Write-Back" (from 20.1 on, X7 and newer, write-back flash cache, databases in
ARCHIVELOG mode: the redo log files themselves are kept in the flash cache); SAGUG, create-pmemlog (databases write redo into
persistent memory first); reference cellcli.md 4.1 (FL_IO_W_SKIP_LOG_ON_FAST_DEV: the redo logs are on flash themselves).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exacell.cellcli.schema import release_key
from exacell.core.cellset import fold
from exacell.core.values import dataclass

WRITE_BACK_REDO = "20.1"
"""The first release with Smart Flash Log Write-Back."""

WRITE_BACK = "Smart Flash Log Write-Back"
_WRITE_BACK_MODEL = 7
_MODEL = re.compile(r"\bX(\d+)", re.IGNORECASE)
_FOUR_DIGITS = 1000
"""Models before X4 have four digits, such as SUN FIRE X4270 M2; their number is at least this."""

FAST_DEVICE = ("FL_IO_W_SKIP_LOG_ON_FAST_DEV", "FL_IO_W_SKIP_LOG_ON_FLASH")
"""Counters of redo writes that did not use the flash log because the redo logs are on flash: the newer and the older name."""


@dataclass(frozen=True, kw_only=True)
class RedoPath:
    """Everything that decides where a cell's redo is written; an empty text means that the cell did not show it.

    Attributes:
        mode: ``writeback`` or ``writethrough``.
        model: the cell's makeModel.
        memory_log: size and status of the PMEM or XRMEM log; ``none`` without one.
        flash_log: size and status of the flash log; ``none`` without one.
        on_flash: redo writes in the interval that did not use the flash log because the redo logs are on flash.
        writes: all redo writes in the interval.
    """

    release: str = ""
    mode: str = ""
    model: str = ""
    memory_log: str = ""
    flash_log: str = ""
    on_flash: float = 0
    writes: float = 0


_NOTHING, _DISKS = "can't show anything", "can't show what flash logging does against disks"


def limits(cells: Mapping[str, RedoPath]) -> list[str]:
    """Return the limits of a comparison of flash logging on and off on these cells, with reasons, without their full stops.

    Empty if it can show everything.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for cell, path in cells.items():
        for why in _limits(path):
            found.setdefault(why, []).append(cell)
    return [
        f"a comparison of flash logging on and off {what} on {fold(names)}: {why}"
        for (what, why), names in found.items()
    ]


def _limits(path: RedoPath) -> list[tuple[str, str]]:
    found = []
    if path.flash_log.startswith("none"):
        found.append((_NOTHING, "there is no flash log"))
    if "extreme flash" in path.model.lower():
        found.append((_DISKS, "an Extreme Flash cell has none, so its redo is written to flash anyway"))
    elif path.mode == "writeback" and path.release and release_key(path.release) >= release_key(WRITE_BACK_REDO):
        model = _MODEL.search(path.model)
        if model is None or _WRITE_BACK_MODEL <= int(model[1]) < _FOUR_DIGITS:
            keeps = "keeps" if model else "may keep (on X7 and newer)"
            why = (
                f"release {path.release} {keeps} the redo of databases in ARCHIVELOG mode in its write-back flash cache"
            )
            found.append((_DISKS, f"{why}; {WRITE_BACK} is Oracle's name for it"))
    if path.memory_log and not path.memory_log.startswith("none"):
        found.append((_NOTHING, "databases from 19c on write their redo to its PMEM log first"))
    if path.on_flash and path.on_flash >= path.writes / 2:
        found.append((_NOTHING, "the redo logs are on flash themselves, so their writes do not use the flash log"))
    return found
