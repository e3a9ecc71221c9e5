"""Meanings to look up: error codes of cells and ASM, metrics, and values of attributes. Pure.

Only codes from public sources are here, each with what to do; a code that is described without a captured session is marked as
not confirmed. Source: reference cellcli.md 1.7 and asm.md section 8, which name the documents and captures.

Names of metrics are regular, so most meanings are composed from parts. An unknown name has no meaning here; a cell's own LIST
METRICDEFINITION shows it. Source: reference cellcli.md 2.2, 4.1 to 4.3 and 6.5, after Oracle SAGUG, "Monitoring Exadata
Storage Servers with Metrics".
"""

from __future__ import annotations

import re

from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class ErrorCode:
    """One error code.

    Attributes:
        code: as printed, ``CELL-01504``.
        meaning: what has happened.
        way: what to do about it.
        example: a statement to type next.
        confirmed: whether it was seen in a public capture or document.
    """

    code: str
    meaning: str
    way: str
    example: str
    confirmed: bool = True


def _cell(number: int, meaning: str, way: str, example: str, *, confirmed: bool = True) -> ErrorCode:
    return ErrorCode(code=f"CELL-{number:05}", meaning=meaning, way=way, example=example, confirmed=confirmed)


def _ora(number: int, meaning: str, way: str, example: str, *, confirmed: bool = True) -> ErrorCode:
    return ErrorCode(code=f"ORA-{number:05}", meaning=meaning, way=way, example=example, confirmed=confirmed)


_ALL = (
    _cell(
        6,
        "The allocations of one level of the IORM plan add up to more than 100.",
        "Lower one of them, or use shares, which have no total.",
        "show iorm",
    ),
    _cell(
        23, "A share in the IORM plan is not a whole number from 1 to 32.", "Use a number in that range.", "show iorm"
    ),
    _cell(
        1504,
        "CellCLI did not understand the statement: verb, object or clause. Old releases print it for ORDER BY, too.",
        "The mark stands under the first word that was not understood. exacell checks words against the cells' release "
        "before it sends them.",
        "help list griddisk",
    ),
    _cell(
        1509, "The Restart Server (RS) does not answer.", "Start RS first, then the other services.", "show services"
    ),
    _cell(
        1514,
        "CellCLI could not reach the Management Server (MS), through which everything goes.",
        "MS is stopped or starting: wait a minute, then restart it.",
        "show services",
        confirmed=False,
    ),
    _cell(
        1548,
        "CELLSRV was not stopped: a disk group would be dismounted, because other disks are missing already.",
        "Bring the missing disks back first. Nothing was taken offline.",
        "can offline",
    ),
    _cell(
        1556, "CALIBRATE was asked for while CELLSRV runs.", "It needs an idle cell.", "can offline", confirmed=False
    ),
    _cell(2026, "LIST METRICCURRENT with ORDER BY needs LIMIT, too.", "Add LIMIT n.", "list metriccurrent limit 10"),
    _cell(
        2526,
        "A cell disk is on that LUN already.",
        "It may hold data of another cell, or older data: look at it before you use FORCE.",
        "list celldisk",
    ),
    _cell(
        2559,
        "MS could not talk to CELLSRV, most often because CELLSRV is down. What only CELLSRV knows can't be shown: caches, "
        "IORM, and all asm... attributes of grid disks.",
        "See which service is stopped; `online cell` starts CELLSRV and brings the grid disks back.",
        "show services",
        confirmed=False,
    ),
    _cell(
        2701,
        "No grid disk was made: the status of its cell disk is not normal.",
        "Repair the disk first.",
        "list celldisk attributes name, status",
    ),
    _cell(
        2767,
        "Making or dropping the flash cache took too long, as on a bad flash disk.",
        "Find the flash disk that is not normal. Do not use FORCE on a write-back cache.",
        "show health",
    ),
    _cell(
        2827,
        "ALTER CELL VALIDATE CONFIGURATION found hardware or firmware that is not as required.",
        "The lines below it name each part with what is required and what was found: repair them, then validate again.",
        "show health",
    ),
    _cell(
        4591,
        "ALTER PHYSICALDISK has no SERVICELED option any more.",
        "Find the slot, and light the LED of the cell instead.",
        "locate disk FLASH_1_0",
    ),
    _cell(
        2630,
        "MS and CELLSRV have different security keys (cellmskey.ora).",
        "Restart MS; if that does not help, ask Oracle Support.",
        "show services",
        confirmed=False,
    ),
    _ora(15001, "No disk group of that name exists, or it is not mounted here.", "Mount it.", "show diskgroup"),
    _ora(15013, "The disk group is mounted already.", "There is nothing to do.", "show diskgroup"),
    _ora(
        15014,
        "A path is not covered by ASM's discovery string.",
        "Look at the instance's asm_diskstring.",
        "show asmdisk",
    ),
    _ora(
        15018,
        "A disk group was not created. The lines after this one give the reason.",
        "Read the next lines: this one has no details.",
        "show asmdisk",
    ),
    _ora(
        15027,
        "A disk group was not dismounted: it is in use.",
        "See which databases are its clients, and stop or move them.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(
        15031,
        "The string for disks matches no disk that ASM could use.",
        "Check the spelling, whether a cell is down, and whether a disk group has the disks already.",
        "show asmdisk",
    ),
    _ora(
        15032, "An ALTER was not carried out. The lines after this one give the reason.", "Read on.", "show rebalance"
    ),
    _ora(
        15033,
        "A disk belongs to a disk group that is not mounted.",
        "Find out whose it is before you use FORCE.",
        "show asmdisk",
    ),
    _ora(
        15039,
        "A disk group was not dropped. The lines after this one give the reason.",
        "Read on.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(
        15041,
        "A disk group has no room left.",
        "Free space in it, or give it disks.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(
        15053,
        "The disk group has files, so it was not dropped.",
        "Move or delete them; a drop with files loses data, and asks for the name.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(
        15063,
        "Too few disks were found to mount the disk group.",
        "Cells are missing, or it was dropped.",
        "show asmdisk",
        confirmed=False,
    ),
    _ora(
        15072,
        "The redundancy needs more failure groups than there are; each cell is one.",
        "Two cells for normal, three for high redundancy.",
        "show asmdisk",
    ),
    _ora(
        15073,
        "Another ASM instance has the disk group mounted.",
        "`drop diskgroup` dismounts it on the other nodes first.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(15260, "The connection may not do this to disk groups: it is not SYSASM.", "Check user= of [asm.…].", "racks"),
)

CODES = {item.code: item for item in _ALL}
"""Every known code."""


def find_code(text: str) -> ErrorCode | None:
    """Return the entry of a code, with any number of leading zeros; None for an unknown code."""
    match = re.fullmatch(r"(cell|ora)-?0*(\d{1,5})", text.strip(), re.IGNORECASE)
    return CODES.get(f"{match[1].upper()}-{int(match[2]):05}") if match else None


def is_code(text: str) -> bool:
    """Return whether a text looks like an error code."""
    return re.fullmatch(r"(cell|ora)-\d{1,5}", text.strip(), re.IGNORECASE) is not None


_METRICS = {
    "FL_ACTUAL_OUTLIERS": "redo writes over 500 ms on flash and on disk: the outliers that flash logging could not hide",
    "FL_PREVENTED_OUTLIERS": "redo writes over 500 ms on disk that flash answered in time: outliers that nobody saw",
    "FL_SKIP_OUTLIERS": "redo writes over 500 ms on disk while the flash log was not used for them",
    "FL_FLASH_ONLY_OUTLIERS": "redo writes over 500 ms on flash only: disk answered in time",
    "FL_BY_KEEP": "redo that is kept on flash because disk could not take it; the flash log must not be dropped before it is 0",
    "FL_DISK_FIRST": "redo writes that disk finished before flash",
    "FL_FLASH_FIRST": "redo writes that flash finished before disk: the wins of flash logging",
    "FL_DISK_IO_ERRS": "errors of disks in writes through the flash log",
    "FL_FLASH_IO_ERRS": "errors of flash in writes through the flash log",
    "FL_EFFICIENCY_PERCENTAGE": "the share of redo writes over 500 ms on disk that flash answered in time",
    "FL_EFFICIENCY_PERCENTAGE_HOUR": "the share of redo writes over 500 ms on disk that flash answered in time, in the last hour",
    "FL_IO_DB_BY_W": "redo written to disk through the flash log",
    "FL_IO_FL_BY_W": "redo written to flash through the flash log",
    "FL_IO_TM_W": "the time of all redo writes through the flash log together",
    "FL_IO_TM_W_RQ": "the mean time of a redo write through the flash log",
    "FL_IO_W": "redo writes that used the flash log",
    "FL_RQ_TM_W": "the time of all redo write requests together, network and overhead included",
    "FL_RQ_TM_W_RQ": "the mean time of a redo write request, network and overhead included",
    "FL_RQ_W": "all redo write requests, whether they used the flash log or not",
    "FC_BY_USED": "valid data in the flash cache",
    "FC_BY_ALLOCATED": "space of the flash cache that is given to cached lines",
    "FC_BY_ALLOCATED_DIRTY": "space of lines that hold data not yet on disk",
    "FC_BY_ALLOCATED_OLTP": "space that is given to small reads and writes",
    "FC_BY_DIRTY": "data in the flash cache that is not yet on disk: what a flush has to write",
    "FC_BY_STALE_DIRTY": "data not yet on disk whose grid disk can't be reached: a flush can't end while there is any",
    "FC_BY_SYNCED": "lines that were dirty and have been copied to disk",
    "FC_BYKEEP_USED": "valid data of objects with CELL_FLASH_CACHE KEEP",
    "FC_BYKEEP_DIRTY": "data of objects with CELL_FLASH_CACHE KEEP that is not yet on disk",
    "FC_COL_BY_USED": "columnar data in the flash cache",
    "FC_IO_ERRS": "errors in reads and writes of the flash cache",
    "CL_CPUT": "how busy the cell's CPUs are",
    "CL_MEMUT": "how much of the cell's memory is used",
    "CL_RUNQ": "processes that wait for a CPU of the cell",
    "CL_TEMP": "the cell's temperature",
    "CL_FANS": "fans that work",
    "CL_FSUT": "how full a file system of the cell is",
    "CL_POWER_CONSUMPTION": "electrical power that the cell takes",
    "CD_IO_UTIL": "how busy the disk is",
    "CD_IO_ERRS": "errors in reads and writes of the disk",
    "CD_BY_FC_DIRTY": "data for this disk that only the flash cache has",
    "GD_BY_FC_DIRTY": "data for this grid disk that only the flash cache has",
    "GD_FC_HIT_RATIO_PCT": "the share of the grid disk's reads that the flash cache answered",
    "SIO_IO_EL_OF": "data that could be offloaded to the cell by smart scans",
    "SIO_IO_OF_RE": "data that smart scans returned after the cell had worked on it",
    "SIO_IO_PA_TH": "data that smart scans sent back as it was",
    "SIO_IO_RV_OF": "data that was sent back unread to balance the CPUs of cells and databases",
    "SIO_IO_SI_SV": "data that a storage index saved from being read",
    "DB_FL_IO_BY": "redo of the database written through the flash log",
    "DB_FL_IO_RQ": "redo writes of the database through the flash log",
    "DB_FC_BY_ALLOCATED": "space of the flash cache that is given to the database",
}  # fmt: skip

_SKIPPED = {
    "BUSY": "too much of the flash log waits to reach disk",
    "DISABLED_GD": "flash logging is off for the grid disk",
    "IORM_LIMIT": "the disk limit of the IORM plan is reached",
    "IORM_PLAN": "the IORM plan says flashLog=off",
    "LARGE": "they are larger than what is free on any flash log disk",
    "LOG_ON_FAST_DEV": "the redo logs lie on flash or persistent memory themselves",
    "LOG_ON_FLASH": "the redo logs lie on flash themselves",
    "NO_BUFFER": "no buffer was free",
    "NO_FL_DISKS": "no disk of the flash log could be used",
}
_FLASH_CACHE = {
    "R": "small reads that the flash cache answered",
    "R_DW": "large reads, of scans, that the flash cache answered",
    "R_MISS": "small reads for which disk was needed",
    "R_MISS_DW": "large reads, of scans, for which disk was needed",
    "R_ACTIVE_SECONDARY": "reads of the active secondary mirror that the flash cache answered",
    "R_ACTIVE_SECONDARY_MISS": "reads of the active secondary mirror for which disk was needed",
    "R_DISK_WRITER": "reads of the flash cache in order to write dirty data to disk",
    "R_PROXYREAD": "reads for a partner cell that the flash cache answered",
    "R_PROXYREAD_MISS": "reads for a partner cell for which disk was needed",
    "R_SKIP": "reads that went past the flash cache, for whatever cause",
    "R_SKIP_FC_THROTTLE": "reads that went past the flash cache because flash was too busy",
    "R_SKIP_LG": "reads that went past the flash cache because they are large",
    "R_SKIP_NCMIRROR": "reads that went past the flash cache because they are of a mirror that is not cached",
    "W": "writes into the flash cache",
    "W_FIRST": "first writes of a line of the flash cache",
    "W_OVERWRITE": "writes of a line that the flash cache had already",
    "W_POPULATE": "writes that fill the flash cache after a read from disk",
    "W_METADATA": "writes of the flash cache's own bookkeeping",
    "W_DISK_WRITER": "writes to disk of what the flash cache had dirty",
    "W_LG_CHINT": "large writes that the cache kept because of a hint",
    "W_LG_DTAGE": "large writes of aged data that the cache kept",
    "W_LG_MRCV": "large writes of media recovery that the cache kept",
    "W_SKIP": "writes that went past the flash cache, for whatever cause",
    "W_SKIP_FC_THROTTLE": "writes that went past the flash cache because flash was too busy",
    "W_SKIP_LG": "writes that went past the flash cache because they are large",
    "W_SKIP_NCMIRROR": "writes that went past the flash cache because they are of a mirror that is not cached",
    "DISK_WRITE": "writes of the flash cache to hard disks",
}  # fmt: skip

_VALUES = {
    ("GRIDDISK", "asmModeStatus"): (
        ("ONLINE", "ASM uses it"),
        ("OFFLINE", "ASM has taken it offline: its data is on the mirrors only"),
        ("SYNCING", "it comes back: ASM copies what was written meanwhile"),
        ("DROPPED", "ASM has dropped it from its disk group"),
        ("UNUSED", "no disk group has it"),
        ("UNKNOWN", "the cell can't ask ASM, for example because no instance is up"),
    ),
    ("GRIDDISK", "asmDeactivationOutcome"): (
        ("Yes", "it can go offline now: the mirrors hold all of its data"),
        ("other", "the reason why it can't; `can offline <cell>` shows what would change that"),
    ),
    ("GRIDDISK", "cachingPolicy"): (
        ("default", "the flash cache holds its data"),
        ("none", "the flash cache leaves its data alone"),
    ),
    ("CELL", "flashCacheMode"): (
        ("WriteBack", "writes end in flash; dirty data waits there for disk, and only a flush makes dropping it safe"),
        ("WriteThrough", "writes end on disk; the flash cache only speeds up reads"),
    ),
}


def metric_meaning(name: str) -> str:
    """Return what a metric counts, as a clause; empty if it is not known."""
    upper = name.upper()
    found = _METRICS.get(upper) or _composed(upper)
    if found:
        return found
    for ending, phrase in (("_SEC", ", a second"), ("_MIN", ", a minute")):
        base = upper.removesuffix(ending)
        if base != upper:
            whole = _METRICS.get(base) or _composed(base)
            return whole + phrase if whole else ""
    return ""


def _composed(name: str) -> str:
    skipped = name.removeprefix("FL_IO_W_SKIP_")
    if skipped != name:
        why = _SKIPPED.get(skipped, "")
        return f"redo writes that did not use the flash log because {why}" if why else ""
    for kind, measure in (("BY", "data of "), ("RQ", "")):
        for keep, whose in (("KEEP", ", of objects with CELL_FLASH_CACHE KEEP"), ("", "")):
            base = name.removeprefix(f"FC_IO_{kind}{keep}_")
            if base != name and base in _FLASH_CACHE:
                return f"{measure}{_FLASH_CACHE[base]}{whose}"
    return ""


def value_meanings(object_type: str, attribute: str) -> tuple[tuple[str, str], ...]:
    """Return (value, meaning) for an attribute whose values need an explanation; empty for other attributes."""
    return _VALUES.get((object_type, attribute), ())
