"""The forms of the statements that change something, as a table: the words allowed after each verb and object.

Source: Oracle SAGUG, alter-*, create-*, drop-*, export-celldisk, assign-key; on-line HELP of a 24.x cell. Where these
disagree, or published sessions show more (``DROP FLASHCACHE ALL``), the table takes the union: the cell decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from exacell.cellcli.nodes import Media, Verb
from exacell.core.values import dataclass

ANY = ("*",)
"""In place of the allowed settings or arguments: any."""
MODIFIABLE = ("+",)
"""In place of the allowed settings: the attributes that the schema marks as modifiable."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The allowed parts of a statement.

    Attributes:
        all: whether ALL may be given in place of the objects.
        names: how many names may be given: 0, 1, or 2, which means several.
        bare: whether no object may be named (there is only one, or a setting names it).
        media: the words that may follow ALL.
        actions: phrase → the allowed words after it; empty: no word may follow; ANY: any one word.
        flags: phrases that may be added, in the order in which they are written.
        settings: attributes that may be set, in CellCLI's spelling, or ANY, or MODIFIABLE.
        extra: more attributes that may be set.
        required_all, required_name: attributes that are required with ALL (or with a name), and allowed only there.
        members: whether exactly one of ALL and ``cellDisk=`` is required.
        filters: whether it may have a WHERE.
        definitions: whether several objects may be defined in parentheses.
        something: whether an action or a setting is required.
        free: whether any further words are allowed, because no public source lists them.
    """

    all: bool = False
    names: int = 0
    bare: bool = False
    media: tuple[Media, ...] = ()
    actions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    required_all: tuple[str, ...] = ()
    required_name: tuple[str, ...] = ()
    filters: bool = False
    definitions: bool = False
    members: bool = False
    something: bool = False
    free: bool = False


_FLASH = (Media.PERFORMANCE, Media.CAPACITY, Media.FLASHDISK)
_DISKS = (*_FLASH, Media.HARDDISK)
_FLUSH: Mapping[str, tuple[str, ...]] = {"FLUSH": (), "CANCEL FLUSH": ()}
_SERVICES = ("RS", "MS", "CELLSRV", "ALL", "EGS", "USREDS", "SYSEDS", "ERS", "BSM", "BSW", "IFD")
_ON_OFF = ("ON", "OFF")
_WHICH = Form(all=True, names=2)

_CELL_EXTRA = (
    "bbuLearnCycleTime",
    "bbuLearnSchedule",
    "bbuLoadThreshold",
    "bbuTempThreshold",
    "securityPrivKey",
    "securityPrivKeyPW",
    "securityPubKey",
    "smtpPwd",
    "smtpServer",
    "smtpUser",
    "type",
)
"""Attributes that ALTER CELL sets although DESCRIBE does not list them: write-only, old, or (type) for VALIDATE SNMP."""

_ALTER_CACHE = Form(
    all=True,
    bare=True,
    actions=_FLUSH,
    flags=("FORCE", "NOWAIT"),
    settings=("cellDisk", "size"),
    members=True,
)
_CREATE_CACHE = Form(all=True, bare=True, settings=("cellDisk", "size"), members=True)
_CREATE_LOG = Form(all=True, bare=True, media=(Media.FLASHDISK,), settings=("cellDisk", "size"), members=True)
_CREATE_XRMEM = Form(all=True, bare=True, settings=("cellDisk", "size"))
_UNPUBLISHED = Form(all=True, names=2, bare=True, settings=ANY, free=True)

_ALTER: Mapping[str, Form] = {
    "ALERTHISTORY": Form(all=True, names=2, settings=MODIFIABLE, something=True),
    "CELL": Form(
        bare=True,
        actions={
            "SHUTDOWN SERVICES": _SERVICES,
            "RESTART SERVICES": _SERVICES,
            "STARTUP SERVICES": _SERVICES,
            "DISABLE SERVICES": _SERVICES[4:],
            "RESTART BMC": (),
            "CONFIGUREBMC": (),
            "CONFIGURE BMC": (),
            "LED": _ON_OFF,
            "DONOTSERVICELED": _ON_OFF,
            "VALIDATE SYSLOGCONF": ANY,
            "VALIDATE": ("MAIL", "SNMP", "CONFIGURATION"),
            "BBU DROP FOR REPLACEMENT": (),
            "BBU REENABLE": (),
        },
        flags=("IGNORE REDUNDANCY", "FORCE"),
        settings=MODIFIABLE,
        extra=_CELL_EXTRA,
        something=True,
    ),
    "CELLDISK": Form(
        all=True,
        names=2,
        media=(*_DISKS, Media.PMEM),
        actions=_FLUSH,
        flags=("NOWAIT",),
        settings=MODIFIABLE,
        something=True,
    ),
    # Source: Oracle DBMMN, alter-dbserver.
    "DBSERVER": Form(
        bare=True,
        actions={
            "SHUTDOWN SERVICES": ("RS", "MS", "ALL"),
            "RESTART SERVICES": ("RS", "MS", "ALL"),
            "STARTUP SERVICES": ("RS", "MS", "ALL"),
            "RESTART BMC": (),
            "CONFIGUREBMC": (),
            "LED": _ON_OFF,
            "VALIDATE SYSLOGCONF": ANY,
            "VALIDATE": ("MAIL", "SNMP", "CONFIGURATION"),
        },
        flags=("FORCE",),
        settings=MODIFIABLE,
        something=True,
    ),
    "ESCLUSTER": _UNPUBLISHED,
    "ESNODE": _UNPUBLISHED,
    "FLASHCACHE": _ALTER_CACHE,
    "GRIDDISK": Form(
        all=True,
        names=2,
        media=_DISKS,
        actions={"ACTIVE": (), "INACTIVE": (), **_FLUSH},
        flags=("NOWAIT", "FORCE"),
        settings=MODIFIABLE,
        filters=True,
        something=True,
    ),
    "IBPORT": Form(all=True, names=2, actions={"RESET COUNTERS": ()}, something=True),
    "IORMPLAN": Form(bare=True, actions={"ACTIVE": (), "INACTIVE": ()}, settings=MODIFIABLE, something=True),
    "LUN": Form(all=True, names=2, actions={"REENABLE": ()}, flags=("FORCE",), something=True),
    "METRICDEFINITION": Form(all=True, names=2, settings=MODIFIABLE, filters=True, something=True),
    "OFFLOADGROUP": Form(
        all=True, names=2, actions={"STARTUP": (), "RESTART": (), "SHUTDOWN": ()}, settings=MODIFIABLE, something=True
    ),
    "PHYSICALDISK": Form(
        all=True,
        names=2,
        media=(Media.HARDDISK,),
        actions={"DROP FOR REPLACEMENT": (), "REENABLE": (), "POWERCYCLE": (), "SERVICELED": _ON_OFF},
        flags=("MAINTAIN REDUNDANCY", "NOWAIT", "FORCE"),
        something=True,
    ),
    "PMEMCACHE": _ALTER_CACHE,
    "QUARANTINE": Form(all=True, names=2, settings=MODIFIABLE, something=True),
    "SOFTWAREUPDATE": Form(
        bare=True, actions={"VALIDATE PREREQ": (), "UPGRADE": ()}, flags=("FORCE",), settings=MODIFIABLE, something=True
    ),
    "THRESHOLD": Form(all=True, names=2, settings=MODIFIABLE, something=True),
    "USER": Form(all=True, names=2, settings=("password",), something=True),
    "XRMEMCACHE": _ALTER_CACHE,
}

_CREATE: Mapping[str, Form] = {
    "CELL": Form(names=1, bare=True, settings=MODIFIABLE),
    "CELLDISK": Form(
        all=True,
        names=1,
        media=(*_DISKS, Media.PMEM),
        flags=("FORCE",),
        settings=("comment", "lun", "size", "physicalDisk"),
        definitions=True,
    ),
    "DIAGPACK": Form(bare=True, settings=("packStartTime", "durationInHrs", "alertName", "packType"), something=True),
    "ESCLUSTER": _UNPUBLISHED,
    "FLASHCACHE": _CREATE_CACHE,
    "FLASHLOG": _CREATE_LOG,
    "GRIDDISK": Form(
        all=True,
        names=1,
        media=_DISKS,
        settings=(
            "prefix",
            "cellDisk",
            "size",
            "offset",
            "comment",
            "availableTo",
            "cachingPolicy",
            "virtualSize",
            "storagePool",
        ),
        required_all=("prefix",),
        required_name=("cellDisk",),
    ),
    "KEY": Form(bare=True),
    "PMEMCACHE": _CREATE_CACHE,
    "PMEMLOG": _CREATE_LOG,
    "QUARANTINE": Form(bare=True, settings=ANY, something=True),
    "ROLE": Form(names=2),
    "THRESHOLD": Form(names=1, settings=MODIFIABLE, something=True),
    "USER": Form(names=1, settings=("password",), required_name=("password",)),
    "XRMEMCACHE": _CREATE_XRMEM,
    "XRMEMLOG": _CREATE_LOG,
}

_DROP: Mapping[str, Form] = {
    "ALERTHISTORY": _WHICH,
    "CELL": Form(bare=True, flags=("FORCE",), settings=("erase",)),
    "CELLDISK": Form(all=True, names=2, media=(*_DISKS, Media.PMEM), flags=("FORCE", "NOWAIT"), settings=("erase",)),
    "FLASHCACHE": Form(all=True, bare=True),
    "FLASHLOG": Form(all=True, bare=True, flags=("FORCE",)),
    "GRIDDISK": Form(
        all=True,
        names=2,
        media=_DISKS,
        flags=("FORCE", "NOWAIT", "PREPARE", "CANCEL"),
        settings=("prefix", "erase"),
        required_all=("prefix",),
    ),
    "PMEMCACHE": Form(all=True, bare=True),
    "PMEMLOG": Form(all=True, bare=True, flags=("FORCE",)),
    "QUARANTINE": _WHICH,
    "ROLE": Form(all=True, names=2, flags=("FORCE",)),
    "SOFTWAREHISTORY": _WHICH,
    "THRESHOLD": _WHICH,
    "USER": _WHICH,
    "XRMEMCACHE": Form(all=True, bare=True),
    "XRMEMLOG": Form(all=True, bare=True, flags=("FORCE",)),
}

FORMS: Mapping[tuple[Verb, str], Form] = {
    **{(Verb.ALTER, name): form for name, form in _ALTER.items()},
    **{(Verb.CREATE, name): form for name, form in _CREATE.items()},
    **{(Verb.DROP, name): form for name, form in _DROP.items()},
    (Verb.ASSIGN, "KEY"): Form(
        bare=True,
        actions={"FOR ASMCLUSTER": (), "FOR LOCAL CELL": (), "FOR REMOTE CELL": (), "FOR CELL": (), "FOR": ()},
        settings=ANY,
        something=True,
    ),
    (Verb.CALIBRATE, ""): Form(names=2, bare=True, media=(Media.HARDDISK, Media.FLASHDISK), flags=("FORCE",)),
    (Verb.EXPORT, "CELLDISK"): _WHICH,
    (Verb.IMPORT, "CELLDISK"): Form(all=True, names=1, bare=True, flags=("FORCE",), settings=("comment", "lun")),
    (Verb.REGISTER, "ESNODE"): _UNPUBLISHED,
    (Verb.DEREGISTER, "ESNODE"): _UNPUBLISHED,
}
"""Every statement that changes something, except GRANT and REVOKE, by verb and object (empty for CALIBRATE)."""
