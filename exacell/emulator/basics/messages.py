"""Every CELL- code that an emulated cell can answer, in one table with the source of each.

Public material shows few of CellCLI's codes. Those are marked CAPTURED (a published session or example) or FAMILY (the code is
reported for this situation, the text here is made up). All others are EMULATED: code and text are this emulator's own, in the
range from 2900 that no public source mentions, and nothing may depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Evidence(StrEnum):
    """How well a code and its text are known."""

    CAPTURED = "captured"
    FAMILY = "family"
    EMULATED = "emulated"


@dataclass(frozen=True)
class Message:
    """One code with its text (a format string) and its evidence."""

    code: int
    text: str
    evidence: Evidence


class Code(Enum):
    """The situations in which a statement fails."""

    IORM_ALLOCATION = Message(
        6, "The IORMPLAN command contains an invalid allocation total at level {level}.", Evidence.CAPTURED
    )
    IORM_SHARE = Message(
        23, "IORMPLAN has an invalid value {value} for share. Share must be an integer from 1 to 32.", Evidence.CAPTURED
    )
    SYNTAX = Message(1504, "Invalid command syntax.", Evidence.CAPTURED)
    RS_DOWN = Message(1509, "Restart Server (RS) not responding.", Evidence.CAPTURED)
    MS_DOWN = Message(
        1514,
        "Connect Error. Verify that Management Server is listening at the specified HTTP port: 8888.",
        Evidence.FAMILY,
    )
    SHUTDOWN_REFUSED = Message(
        1548,
        "Unable to shut down CELLSRV because disk group {groups} may be forced to dismount due to reduced redundancy.",
        Evidence.CAPTURED,
    )
    CALIBRATE_BUSY = Message(
        1556, "CALIBRATE needs CELLSRV to be shut down: shut it down, or use FORCE.", Evidence.FAMILY
    )
    LIMIT_MANDATORY = Message(
        2026,
        'The LIMIT parameter is mandatory for "LIST {object}" command when using the ORDER BY option.',
        Evidence.CAPTURED,
    )
    PREEXISTING_CELLDISK = Message(2526, "Pre-existing cell disk: {disk}", Evidence.CAPTURED)
    NO_SPACE = Message(
        2528, "Not enough free space on cell disk {disk}: {wanted} wanted, {free} free.", Evidence.FAMILY
    )
    GRIDDISK_ACTIVE = Message(
        2548, "Grid disk {disk} is active: make it inactive first, or use FORCE.", Evidence.FAMILY
    )
    CELLDISK_HAS_GRIDDISKS = Message(2550, "Cell disk {disk} contains grid disks: {grid_disks}.", Evidence.FAMILY)
    CELLSRV_DOWN = Message(2559, "There is a communication error between MS and CELLSRV.", Evidence.FAMILY)
    CELLDISK_NOT_NORMAL = Message(
        2701, "Cannot create grid disk on cell disk {disk} because its status is not normal.", Evidence.CAPTURED
    )

    CONFIGURATION_ISSUES = Message(
        2827,
        "Cell configuration check for hardware and firmware encountered the following issues:\n\n{issues}",
        Evidence.CAPTURED,
    )
    SERVICELED_OBSOLETE = Message(4591, "SERVICELED option on ALTER PHYSICALDISK is obsolete.", Evidence.CAPTURED)

    FLASHCACHE_EXISTS = Message(2901, "Flash cache already exists: {name}", Evidence.EMULATED)
    FLASHCACHE_MISSING = Message(2902, "Flash cache does not exist on cell {cell}.", Evidence.EMULATED)
    FLASHLOG_EXISTS = Message(2903, "Flash log already exists: {name}", Evidence.EMULATED)
    FLASHLOG_MISSING = Message(2904, "Flash log does not exist on cell {cell}.", Evidence.EMULATED)
    GRIDDISK_EXISTS = Message(2905, "Grid disk already exists: {name}", Evidence.EMULATED)
    OBJECT_MISSING = Message(2906, "{kind} does not exist: {name}", Evidence.EMULATED)
    UNKNOWN_ATTRIBUTE = Message(2907, "Attribute {attribute} is not an attribute of {object}.", Evidence.EMULATED)
    READ_ONLY = Message(2908, "Attribute {attribute} of {object} cannot be altered.", Evidence.EMULATED)
    TOO_LARGE = Message(
        2909, "{what} cannot have size {wanted}: at most {limit} is available on cell {cell}.", Evidence.EMULATED
    )
    TOO_SMALL = Message(2910, "{what} cannot have size {wanted}: the minimum is {limit}.", Evidence.EMULATED)
    MODE_NEEDS_DROP = Message(
        2911, "flashCacheMode cannot be altered while flash cache {name} exists: drop it first.", Evidence.EMULATED
    )
    NOT_FLUSHED = Message(
        2912,
        "{kind} {name} is in WriteBack mode and is not flushed: ALTER {object} ALL FLUSH first.",
        Evidence.EMULATED,
    )
    NOT_ALLOWED = Message(2913, "User {login} does not have the privilege to run this command.", Evidence.EMULATED)
    MONITOR_MODE = Message(
        2914, "CellCLI was started with -m (monitor mode), which takes only commands that read.", Evidence.EMULATED
    )
    ASM_REFUSES = Message(2915, "Grid disk {disk} cannot be deactivated: {reason}", Evidence.EMULATED)
    BAD_VALUE = Message(2917, "Invalid value {value} for {attribute}: {rule}.", Evidence.EMULATED)
    IORM_RULE = Message(2918, "Invalid IORMPLAN: {rule}.", Evidence.EMULATED)
    BAD_NAME = Message(2919, "Invalid name {name}: {rule}.", Evidence.EMULATED)
    BAD_PATTERN = Message(2920, "Invalid regular expression: {pattern}", Evidence.EMULATED)
    NO_FILE = Message(2921, "Unable to read file {name}.", Evidence.EMULATED)
    REDO_SAVED = Message(
        2922, "{kind} {name} holds redo that is not on disk yet ({kept} bytes): retry later.", Evidence.EMULATED
    )
    NO_FLASH = Message(2923, "Cell {cell} has no usable flash cell disk.", Evidence.EMULATED)
    ASM_LARGER = Message(
        2924, "Grid disk {disk} cannot shrink to {wanted}: its ASM disk has {size}.", Evidence.EMULATED
    )
    OBJECT_EXISTS = Message(2927, "{kind} already exists: {name}", Evidence.EMULATED)
    ALERT_SEQUENCE = Message(
        2929, "Alert {name} belongs to a sequence: drop it together with {others}.", Evidence.EMULATED
    )
    DISALLOWED = Message(2930, "{attribute} is not allowed for metric {metric}.", Evidence.EMULATED)
    NOT_NORMAL = Message(2931, "{kind} {name} has status {status}.", Evidence.EMULATED)
    CELLDISK_IN_USE = Message(2932, "Cell disk {disk} is used by {user}: drop that first.", Evidence.EMULATED)
    LUN_NORMAL = Message(2933, "LUN {name} is normal: FORCE reenables it all the same.", Evidence.EMULATED)
    NOT_DROPPED = Message(
        2934, "Physical disk {name} is not dropped for replacement: its status is {status}.", Evidence.EMULATED
    )
    NO_UPDATE = Message(2935, "No software update can be read from store '{store}'.", Evidence.EMULATED)
    FILE_EXISTS = Message(2936, "File {name} exists: use REPLACE or APPEND.", Evidence.EMULATED)
    FILE_WRITE = Message(2937, "Unable to write file {name}.", Evidence.EMULATED)
    MODE_NEEDS_SHUTDOWN = Message(
        2938, "flashCacheMode cannot be altered while CELLSRV is running: shut it down first.", Evidence.EMULATED
    )
    NO_MEMORY = Message(2939, "Cell {cell} has no memory for an XRMEM cache.", Evidence.EMULATED)
    NO_PMEM = Message(2940, "Cell {cell} has no usable persistent memory.", Evidence.EMULATED)
    PMEM_MODE_NEEDS_DROP = Message(
        2941, "pmemCacheMode cannot be altered while PMEM cache {name} exists: drop it first.", Evidence.EMULATED
    )
    PMEM_NEEDS_FLASH = Message(
        2942, "pmemCacheMode WriteBack needs flashCacheMode WriteBack: alter {attribute} first.", Evidence.EMULATED
    )
    PMEM_FIRST = Message(
        2943,
        "Flash cache {name} takes the data of PMEM cache {pmem}, which is in WriteBack mode and is not flushed:"
        " ALTER PMEMCACHE ALL FLUSH first.",
        Evidence.EMULATED,
    )
    ROLE_GRANTED = Message(2944, "Role {name} is granted to {users}: use FORCE.", Evidence.EMULATED)
    NOT_GRANTED = Message(2945, "{item} is not granted to {kind} {name}.", Evidence.EMULATED)
    CELL_IN_USE = Message(
        2946, "Cell {cell} has {what}: drop that first, or use FORCE for grid disks and cell disks.", Evidence.EMULATED
    )
    VALIDATION = Message(2947, "{what} of cell {cell} cannot be validated: {reason}.", Evidence.EMULATED)
    NO_POOL_DISK = Message(2948, "Grid disk {disk} belongs to no storage pool.", Evidence.EMULATED)


FLUSH_ERROR_STALE = "Stale dirty data cannot be flushed"
"""flushError of a flash disk whose dirty data has no reachable grid disk. The text is emulated."""

FLUSH_ERROR_WRITE = "I/O error while writing dirty data"
"""flushError of a flash disk whose dirty data the disk writer can't write. The text is emulated."""

FLUSH_WORKING = "working"
"""flushStatus of a cell disk while it is flushed. The word is emulated; only ``complete`` is attested."""

FLUSH_COMPLETE = "complete"
"""flushStatus of a cell disk that was flushed. Source: reference cellcli.md 6.2, captured."""

ASM_UNREACHABLE = "Cannot query ASM deactivation outcome"
"""asmDeactivationOutcome while no ASM instance answers. The text is emulated."""


class CellError(Exception):
    """A statement, or its part for one object, failed as a cell reports it.

    Attributes:
        position: offset of the first wrong token in the statement, for the caret line; None without one.
    """

    def __init__(self, code: Code, *, position: int | None = None, **fields: object) -> None:
        self.code = code
        self.line = f"CELL-{code.value.code:05d}: {code.value.text.format(**fields)}"
        self.position = position
        super().__init__(self.line)
