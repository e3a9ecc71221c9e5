"""What HELP prints: the topics, and the form of each statement in our own words."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.emulator.messages import CellError, Code
from exacell.emulator.schema import Release, object_types

_USAGE: Mapping[str, tuple[str, str]] = {
    "ALTER CELL": (
        "ALTER CELL {attribute=value [, attribute=value]... | {SHUTDOWN|STARTUP|RESTART} SERVICES {RS|MS|CELLSRV|ALL}"
        " [IGNORE REDUNDANCY]}",
        "Sets attributes of the cell, or stops and starts its services.",
    ),
    "ALTER CELLDISK": (
        "ALTER CELLDISK {ALL [FLASHDISK|HARDDISK] | name [, name]...} {FLUSH [NOWAIT] | CANCEL FLUSH | comment=text}",
        "Flushes what the flash cache holds for cell disks, or sets their comment.",
    ),
    "ALTER FLASHCACHE": (
        "ALTER FLASHCACHE {ALL [size=n] | CELLDISK='name[,name]...' [, size=n] [FORCE]}"
        " [FLUSH [NOWAIT] | CANCEL FLUSH]",
        "Flushes the flash cache, resumes caching, or changes its members or size.",
    ),
    "ALTER GRIDDISK": (
        "ALTER GRIDDISK {ALL [FLASHDISK|HARDDISK] | name [, name]...} {ACTIVE | INACTIVE [FORCE] | FLUSH | CANCEL FLUSH"
        " | attribute=value [, attribute=value]...} [NOWAIT]",
        "Activates, deactivates or flushes grid disks, or sets their attributes.",
    ),
    "ALTER IORMPLAN": (
        "ALTER IORMPLAN [objective=name] [dbplan=((name=db, attribute=value...)[, (...)]...)] [catplan=...]"
        " [clusterplan=...]",
        "Replaces plans of I/O resource management; a plan that is given replaces the old one whole.",
    ),
    "ALTER ALERTHISTORY": (
        "ALTER ALERTHISTORY {ALL | name [, name]...} examinedby=user",
        "Notes who has examined alerts.",
    ),
    "ALTER IBPORT": ("ALTER IBPORT {ALL | name [, name]...} RESET COUNTERS", "Starts counters of ports anew."),
    "ALTER LUN": ("ALTER LUN {ALL | name [, name]...} REENABLE [FORCE]", "Enables LUNs again after a failure."),
    "ALTER METRICDEFINITION": (
        "ALTER METRICDEFINITION {ALL | name [, name]...} [WHERE filters] {fineGrained|streaming}={enabled|disabled}",
        "Switches fine-grained collection or streaming of metrics.",
    ),
    "ALTER OFFLOADGROUP": (
        "ALTER OFFLOADGROUP {ALL | name [, name]...} {STARTUP | RESTART | SHUTDOWN | comment=text}",
        "Manages offload groups.",
    ),
    "ALTER PHYSICALDISK": (
        "ALTER PHYSICALDISK {ALL [HARDDISK] | name [, name]...} {DROP FOR REPLACEMENT [MAINTAIN REDUNDANCY [NOWAIT]"
        " | FORCE] | REENABLE | POWERCYCLE}",
        "Prepares disks for replacement, or takes them into use again.",
    ),
    "ALTER SOFTWAREUPDATE": (
        "ALTER SOFTWAREUPDATE {VALIDATE PREREQ | UPGRADE [FORCE] | attribute=value [, attribute=value]...}",
        "Says where and when software is updated.",
    ),
    "ALTER THRESHOLD": (
        "ALTER THRESHOLD {ALL | name [, name]...} attribute=value [, attribute=value]...",
        "Changes thresholds.",
    ),
    "CALIBRATE": (
        "CALIBRATE [HARDDISK | FLASHDISK | lun [, lun]...] [FORCE]",
        "Measures LUNs. CELLSRV must be down unless FORCE is given; only root may.",
    ),
    "CREATE CELLDISK": (
        "CREATE CELLDISK {ALL [FLASHDISK|HARDDISK] | name lun=lun [, comment=text] [FORCE]}",
        "Creates cell disks on LUNs.",
    ),
    "CREATE THRESHOLD": (
        "CREATE THRESHOLD metric[.object] comparison='operator' [, warning=n] [, critical=n] [, occurrences=n]"
        " [, observation=n]",
        "Sets limits on a metric; crossing them raises an alert.",
    ),
    "CREATE XRMEMCACHE": ("CREATE XRMEMCACHE", "Creates the cache in memory."),
    "DROP ALERTHISTORY": ("DROP ALERTHISTORY {ALL | name [, name]...}", "Drops alerts, whole sequences at a time."),
    "DROP CELLDISK": (
        "DROP CELLDISK {ALL [FLASHDISK|HARDDISK] | name [, name]...} [ERASE={1pass|3pass|7pass}] [FORCE] [NOWAIT]",
        "Drops cell disks.",
    ),
    "DROP THRESHOLD": ("DROP THRESHOLD {ALL | name [, name]...}", "Drops thresholds."),
    "DROP XRMEMCACHE": ("DROP XRMEMCACHE", "Drops the cache in memory."),
    "EXIT": ("EXIT", "Ends the session."),
    "HELP": ("HELP [topic]", "Shows the topics, or the form of a statement."),
    "QUIT": ("QUIT", "Ends the session."),
    "REMARK": ("{REMARK | REM | --} text", "Is a comment."),
    "SPOOL": ("SPOOL [file [CREATE|REPLACE|APPEND] | OFF]", "Copies what is printed to a file."),
    "CREATE FLASHCACHE": (
        "CREATE FLASHCACHE {ALL [size=n] | CELLDISK='name[,name]...' [, size=n]}",
        "Creates the flash cache on flash cell disks; without a size it takes all free space.",
    ),
    "CREATE FLASHLOG": (
        "CREATE FLASHLOG {ALL [size=n] | CELLDISK='name[,name]...' [, size=n]}",
        "Creates the flash log on flash cell disks, 512M unless a size is given.",
    ),
    "CREATE GRIDDISK": (
        "CREATE GRIDDISK {ALL [FLASHDISK|HARDDISK] PREFIX=text | name CELLDISK=name} [, attribute=value]...",
        "Creates grid disks on cell disks.",
    ),
    "DESCRIBE": ("DESCRIBE object_type", "Shows the attributes of an object type."),
    "DROP FLASHCACHE": ("DROP FLASHCACHE", "Drops the flash cache."),
    "DROP FLASHLOG": ("DROP FLASHLOG [FORCE]", "Drops the flash log."),
    "DROP GRIDDISK": (
        "DROP GRIDDISK {ALL [FLASHDISK|HARDDISK] PREFIX=text | name [, name]...} [ERASE={1pass|3pass|7pass}] [FORCE]"
        " [NOWAIT]",
        "Drops grid disks.",
    ),
    "LIST": (
        "LIST object_type [name | WHERE filters] [ATTRIBUTES {ALL | attribute [, attribute]...}] [DETAIL]"
        " [ORDER BY attribute [ASC|DESC]] [LIMIT n]",
        "Shows objects.",
    ),
    "SET": ("SET {ECHO {ON|OFF} | DATEFORMAT {STANDARD|LOCAL}}", "Sets an option of the session."),
    "START": ("{START | @} file", "Runs the statements of a file."),
}


def help_text(topic: str, release: Release) -> str:
    """Return the list of topics, or the form and purpose of one statement.

    Raises:
        CellError: there is no such topic (CELL-01504).
    """
    listed = [f"LIST {t.name}" for t in object_types().values() if "LIST" in t.verbs and t.exists_in(release)]
    if not topic:
        return "HELP [topic]\n" + "".join(f"\t{line}\n" for line in ("Available Topics:", *sorted([*_USAGE, *listed])))
    if topic in listed:
        usage, purpose = _USAGE["LIST"]
        usage = usage.replace("object_type", topic.removeprefix("LIST "))
    elif topic in _USAGE:
        usage, purpose = _USAGE[topic]
    else:
        parts = [line for line in sorted(_USAGE) if line.startswith(f"{topic} ")]
        if not parts:
            raise CellError(Code.SYNTAX, position=len("HELP "))
        return "".join(f"\tHELP {line}\n" for line in parts)
    return f"\n  Usage: {usage}\n\n  Purpose: {purpose}\n\n"
