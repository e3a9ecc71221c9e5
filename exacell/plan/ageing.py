"""Decide which statements are never sent after an old proof: all changing statements except those listed here. Pure.

When a plan was made, the object that a statement takes away was proven free, flushed or unused. Such a proof *ages*: CELLSRV
may restart, somebody may cancel the flush, a database may write. Right before a statement that ages is sent, the same CellCLI
reads the object again (:mod:`exacell.transport.exchange`). The lists name the statements that lose nothing, even if
everything has changed since; any other or unreadable statement ages.
"""

from __future__ import annotations

import re

from exacell.cellcli.statement import Change, Describe, Grant, List, Setting, Statement, parse
from exacell.core.errors import StatementError
from exacell.plan.asmchange import outline_of

_KEEPS = frozenset(
    (
        "ALERTHISTORY",
        "DIAGPACK",
        "IBPORT",
        "METRICDEFINITION",
        "OFFLOADGROUP",
        "QUARANTINE",
        "ROLE",
        "SOFTWAREHISTORY",
        "THRESHOLD",
        "USER",
    )
)
"""Objects without any data, redundancy or key: no statement about them ages."""

_MADE = frozenset(("FLASHCACHE", "FLASHLOG", "GRIDDISK", "PMEMCACHE", "PMEMLOG", "XRMEMCACHE", "XRMEMLOG"))
"""Objects that CREATE without FORCE makes from free space only; a cell refuses one that exists already. CREATE CELLDISK
ages, because it formats disks."""

_FLUSHED = frozenset(("CELLDISK", "FLASHCACHE", "GRIDDISK", "PMEMCACHE", "XRMEMCACHE"))
"""Objects that FLUSH only writes out, and that CANCEL FLUSH only lets cache again."""

_DISK_WORDS = frozenset(("comment",))
"""Settings of cell disks and grid disks that only people read."""

_CELL_WORDS = frozenset(
    (
        "comment",
        "diaghistorydays",
        "diagpackemailattach",
        "diagpackuploadenabled",
        "emailformat",
        "emailsubscriber",
        "harddiskscrubinterval",
        "harddiskscrubstarttime",
        "ilomsyslogclients",
        "location",
        "mailserver",
        "metriccollection",
        "metricfgcollintvlinsec",
        "metrichistorydays",
        "metricstreamendpoint",
        "metricstreamintvlinsec",
        "metricstreamtags",
        "notificationmethod",
        "notificationpolicy",
        "rackname",
        "restsubscriber",
        "sitename",
        "smtpfrom",
        "smtpfromaddr",
        "smtpport",
        "smtppwd",
        "smtpserver",
        "smtptoaddr",
        "smtpuser",
        "smtpusessl",
        "snmpengineid",
        "snmpsubscriber",
        "snmpuser",
        "syslogconf",
        "syslogformat",
        "tracelevel",
    )
)
"""Settings of a cell that describe, mail, log, scrub or measure."""

_CELL_ACTIONS = frozenset(("LED", "DONOTSERVICELED", "STARTUP SERVICES", "VALIDATE", "VALIDATE SYSLOGCONF"))
"""Actions on a cell that show something, or start a stopped service."""

_AWAY = frozenset(("MS", "RS"))
"""Services that disks and caches can do without; stopping the others takes these offline."""

_KEEPS_IN_ASM = re.compile(r"(?:SELECT|WITH|ALTER SYSTEM SET)\b", re.IGNORECASE)
"""Statements for ASM that are about no disk group and take nothing away."""

_KEEPS_GROUP = frozenset(("REBALANCE", "ONLINE", "CHECK"))
"""Clauses of ALTER DISKGROUP that take nothing away. Source: Oracle ASM Administrator's Guide, ALTER DISKGROUP."""


def ages(statement: str | Statement) -> bool:
    """Return whether a CellCLI statement may lose data if an earlier proof is not true any more.

    A text that is not a single CellCLI statement ages.
    """
    if isinstance(statement, str):
        try:
            statement = parse(statement)
        except StatementError:
            return True
    return False if isinstance(statement, (List, Describe, Grant)) else not _keeps(statement)


def ages_in_asm(sql: str) -> bool:
    """Return whether a statement for ASM may take away something that was proven unused earlier."""
    text = " ".join(sql.split()).rstrip("; ")
    group = outline_of(text)
    if group is None:
        return _KEEPS_IN_ASM.match(text) is None
    if group.verb == "CREATE":
        return group.forced  # Without FORCE, ASM itself refuses CREATE on disks that belong to a group.
    if group.verb == "DROP":
        return True
    if group.clause[:1] == ("MOUNT",):
        return group.forced
    return not (_KEEPS_GROUP.intersection(group.clause[:1]) or group.clause[:2] == ("SET", "ATTRIBUTE"))


def _keeps(statement: Change) -> bool:
    """Return whether a changing statement loses nothing, even if everything has changed since it was judged."""
    verb, kind = str(statement.verb), statement.object
    if kind in _KEEPS:
        return True
    if statement.has("FORCE") or statement.has("IGNORE REDUNDANCY"):
        return False
    if verb == "CREATE":
        return kind in _MADE
    if verb == "CALIBRATE":
        return True
    if verb == "ALTER":
        return kind == "IORMPLAN" or _alter_keeps(statement)
    return False


def _alter_keeps(statement: Change) -> bool:
    kind, action = statement.object, statement.action
    if action and statement.settings:
        return False
    if action in ("FLUSH", "CANCEL FLUSH"):
        return kind in _FLUSHED
    if kind == "CELL" and action:
        restarts = action in ("RESTART SERVICES", "SHUTDOWN SERVICES") and statement.argument.upper() in _AWAY
        return action in _CELL_ACTIONS or restarts
    if kind == "GRIDDISK" and action:
        return action == "ACTIVE"
    if kind in ("CELLDISK", "GRIDDISK"):
        return _only(statement.settings, _DISK_WORDS)
    return kind == "CELL" and _only(statement.settings, _CELL_WORDS)


def _only(settings: tuple[Setting, ...], names: frozenset[str]) -> bool:
    """Return whether some settings are given, and all of them are among these names."""
    return bool(settings) and all(setting.attribute.lower().rstrip("+") in names for setting in settings)
