"""What metrics of the flash log, the flash cache, cells and disks count, and what values of attributes mean. Pure.

Names are regular, so that most meanings are put together from parts. Source: reference cellcli.md 2.2, 4.1 to 4.3 and 6.5,
after Oracle SAGUG, "Monitoring Exadata Storage Servers with Metrics". What is not known has no meaning here: a cell's own
LIST METRICDEFINITION tells it.
"""

from __future__ import annotations

_METRICS = {
    "FL_ACTUAL_OUTLIERS": "redo writes that were slow on flash and on disk: the outliers that flash logging could not hide",
    "FL_PREVENTED_OUTLIERS": "redo writes that were slow on disk and answered by flash in time: outliers that nobody saw",
    "FL_SKIP_OUTLIERS": "redo writes that were slow on disk while the flash log was not used for them",
    "FL_FLASH_ONLY_OUTLIERS": "redo writes that were slow on flash only: disk answered in time",
    "FL_BY_KEEP": "redo that is kept on flash because disk could not take it; the flash log must not be dropped before it is 0",
    "FL_DISK_FIRST": "redo writes that disk finished before flash",
    "FL_FLASH_FIRST": "redo writes that flash finished before disk: the wins of flash logging",
    "FL_DISK_IO_ERRS": "errors of disks in writes through the flash log",
    "FL_FLASH_IO_ERRS": "errors of flash in writes through the flash log",
    "FL_EFFICIENCY_PERCENTAGE": "the share of redo writes slow on disk that flash answered in time",
    "FL_EFFICIENCY_PERCENTAGE_HOUR": "the share of redo writes slow on disk that flash answered in time, in the last hour",
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
        ("other", "the reason why it can't; can offline <cell> says what would change that"),
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
    """Return what a metric counts, a clause; empty when that is not known."""
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
    """Return (value, what it means) for an attribute whose values need words; nothing for the others."""
    return _VALUES.get((object_type, attribute), ())
