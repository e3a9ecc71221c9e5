"""The statements that change an emulated cell, as :mod:`exacell.emulator.grammar.changing` parses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exacell.emulator.cell.iorm_models import Directive
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.reading import Filter, ReadStatement


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The chosen disks: named ones, or ALL with an optional media word (``names`` is then None)."""

    names: tuple[str, ...] | None = None
    media: str | None = None


@dataclass(frozen=True, kw_only=True)
class CreateFlashCache:
    """CREATE FLASHCACHE, PMEMCACHE or XRMEMCACHE; ``members`` None for ALL.

    Attributes:
        bare: nothing followed the object, which XRMEMCACHE allows.
    """

    object_name: str = "FLASHCACHE"
    members: tuple[str, ...] | None = None
    size_bytes: int | None = None
    bare: bool = False


@dataclass(frozen=True, kw_only=True)
class AlterFlashCache:
    """ALTER FLASHCACHE, PMEMCACHE or XRMEMCACHE; ``action`` is FLUSH, CANCEL or empty for a change of members or size."""

    object_name: str = "FLASHCACHE"
    members: tuple[str, ...] | None = None
    size_bytes: int | None = None
    force: bool = False
    action: str = ""
    nowait: bool = False


@dataclass(frozen=True, kw_only=True)
class DropFlashCache:
    """DROP FLASHCACHE, PMEMCACHE or XRMEMCACHE."""

    object_name: str = "FLASHCACHE"


@dataclass(frozen=True, kw_only=True)
class CreateFlashLog:
    """CREATE FLASHLOG, PMEMLOG or XRMEMLOG; ``members`` None for ALL."""

    object_name: str = "FLASHLOG"
    members: tuple[str, ...] | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class DropFlashLog:
    """DROP FLASHLOG, PMEMLOG or XRMEMLOG."""

    object_name: str = "FLASHLOG"
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class CreateGridDisk:
    """CREATE GRIDDISK; with ALL there are ``prefixes``, else a ``name`` and a ``cell_disk``."""

    media: str | None = None
    prefixes: tuple[str, ...] = ()
    name: str = ""
    cell_disk: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AlterGridDisk:
    """ALTER GRIDDISK; ``action`` is ACTIVE, INACTIVE, FLUSH, CANCEL or empty when ``values`` are set."""

    which: Selection
    action: str = ""
    force: bool = False
    nowait: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DropGridDisk:
    """DROP GRIDDISK; ``prefixes`` with ALL; ``pool`` with PREPARE or CANCEL, which are for disks of storage pools."""

    which: Selection
    prefixes: tuple[str, ...] = ()
    force: bool = False
    pool: bool = False
    erase: str = ""
    nowait: bool = False


@dataclass(frozen=True, kw_only=True)
class AlterCellDisk:
    """ALTER CELLDISK; ``action`` is FLUSH, CANCEL or empty when ``values`` are set."""

    which: Selection
    action: str = ""
    nowait: bool = False
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AlterCell:
    """ALTER CELL attribute=value."""

    values: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class CellServices:
    """ALTER CELL {SHUTDOWN|STARTUP|RESTART} SERVICES."""

    action: str
    service: str
    ignore_redundancy: bool = False


@dataclass(frozen=True, kw_only=True)
class AlterIormPlan:
    """ALTER IORMPLAN; plans by name (dbplan, catplan, clusterplan), not yet checked against the rules.

    Attributes:
        active: True for ACTIVE and False for INACTIVE, both of old releases.
    """

    objective: str | None = None
    active: bool | None = None
    plans: Mapping[str, tuple[Directive, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AssignKey:
    """ASSIGN KEY: pairs of client and key. The client is empty for the key of all cells; an empty key removes a key."""

    key_type: str
    keys: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Grant:
    """GRANT or REVOKE: a ``privilege`` for roles, as LIST ROLE shows it; if it is empty, ``roles`` for users. None means ALL."""

    verb: str
    privilege: str
    roles: tuple[str, ...] | None
    targets: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class CellAction:
    """ALTER CELL with an action rather than attributes: ``LED ON``, ``VALIDATE MAIL``, ``RESTART BMC`` …"""

    words: tuple[str, ...]
    argument: str = ""


Change = (
    CreateFlashCache
    | AlterFlashCache
    | DropFlashCache
    | CreateFlashLog
    | DropFlashLog
    | CreateGridDisk
    | AlterGridDisk
    | DropGridDisk
    | AlterCellDisk
    | AlterCell
    | CellServices
    | CellAction
    | AssignKey
    | Grant
    | AlterIormPlan
    | AdminStatement
)
Statement = ReadStatement | Change
