"""Error codes of cells and of ASM that a DBA meets, what each means, and what to do. Pure.

Only codes that public sources show; a code that is told of without a captured session is marked as not confirmed.
Source: reference cellcli.md 1.7 and asm.md section 8, which name the documents and captures.
"""

from __future__ import annotations

import re

from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class ErrorCode:
    """One code.

    Attributes:
        code: as printed, ``CELL-01504``.
        meaning: what has happened.
        way: what to do about it.
        example: a statement to go on with.
        confirmed: seen in a public capture or document.
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
        "Lower one of them, or use shares, which need not add up to anything.",
        "show iorm",
    ),
    _cell(23, "A share in the IORM plan is no whole number from 1 to 32.", "Give one in that range.", "show iorm"),
    _cell(
        1504,
        "CellCLI did not understand the statement: verb, object or clause. Old releases say so to ORDER BY, too.",
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
        1556, "CALIBRATE was asked for while CELLSRV runs.", "It wants an idle cell.", "can offline", confirmed=False
    ),
    _cell(2026, "LIST METRICCURRENT with ORDER BY wants LIMIT, too.", "Add LIMIT n.", "list metriccurrent limit 10"),
    _cell(
        2526,
        "A cell disk is on that LUN already.",
        "It may hold data of another cell or of before: look before you FORCE.",
        "list celldisk",
    ),
    _cell(
        2559,
        "MS could not talk to CELLSRV, most often because CELLSRV is down. What only CELLSRV knows can't be told: caches, "
        "IORM, and all asm... attributes of grid disks.",
        "See which service is stopped; online cell starts CELLSRV and brings the grid disks back.",
        "show services",
        confirmed=False,
    ),
    _cell(
        2701,
        "No grid disk was made: the status of its cell disk is not normal.",
        "See to the disk first.",
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
        "ALTER CELL VALIDATE CONFIGURATION found hardware or firmware that is not as it should be.",
        "The lines below it name each part with what is required and what was found: see to them, then validate again.",
        "show health",
    ),
    _cell(
        4591,
        "The SERVICELED option of ALTER PHYSICALDISK is gone.",
        "Find the slot, and light the LED of the cell instead.",
        "locate disk FLASH_1_0",
    ),
    _cell(
        2630,
        "MS and CELLSRV have different security keys (cellmskey.ora).",
        "Restart MS; if that does not help it is a case for support.",
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
        "A disk group was not created. The lines behind this one say why.",
        "Read on: the first line is only the envelope.",
        "show asmdisk",
    ),
    _ora(
        15027,
        "A disk group is not dismounted: somebody uses it.",
        "See which databases are its clients, and stop or move them.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(
        15031,
        "The string for disks matches no disk that ASM could use.",
        "A typing error, a cell that is down, or disks that a group has already.",
        "show asmdisk",
    ),
    _ora(15032, "An ALTER was not carried out. The lines behind say why.", "Read on.", "show rebalance"),
    _ora(
        15033,
        "A disk belongs to a disk group that is not mounted.",
        "Find out whose it is, before anything is forced.",
        "show asmdisk",
    ),
    _ora(
        15039, "A disk group was not dropped. The lines behind say why.", "Read on.", "show diskgroup", confirmed=False
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
        "The disk group has files, so that it is not dropped.",
        "Move them or delete them; with files a drop is loss of data, and asks for the name.",
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
        "drop diskgroup dismounts it on the other nodes first.",
        "show diskgroup",
        confirmed=False,
    ),
    _ora(15260, "The connection may not do this to disk groups: it is not SYSASM.", "Check user= of [asm.…].", "racks"),
)

CODES = {item.code: item for item in _ALL}
"""Every known code."""


def find_code(text: str) -> ErrorCode | None:
    """Return what is known of a code, however many digits it is written with; None for an unknown one."""
    match = re.fullmatch(r"(cell|ora)-?0*(\d{1,5})", text.strip(), re.IGNORECASE)
    return CODES.get(f"{match[1].upper()}-{int(match[2]):05}") if match else None


def is_code(text: str) -> bool:
    """Return whether a text looks like an error code."""
    return re.fullmatch(r"(cell|ora)-\d{1,5}", text.strip(), re.IGNORECASE) is not None
