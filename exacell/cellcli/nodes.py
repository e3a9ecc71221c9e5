"""A CellCLI statement as a value, frozen and comparable, independent of how it was spelled; and CellCLI's keywords.

Keywords and object types are in capitals, attributes in CellCLI's camelCase, names and values as they were given (without
quotes; whether there were quotes is stored if they have a meaning). Render one with
:func:`exacell.cellcli.statement.render`. Completion uses only the keywords and builds no statement.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from exacell.core.values import dataclass


class Verb(StrEnum):
    """CellCLI's verbs that act on cells. The verbs of the client (HELP, SET, SPOOL, START, EXIT …) are never sent."""

    LIST = "LIST"
    DESCRIBE = "DESCRIBE"
    ALTER = "ALTER"
    CREATE = "CREATE"
    DROP = "DROP"
    CALIBRATE = "CALIBRATE"
    ASSIGN = "ASSIGN"
    GRANT = "GRANT"
    REVOKE = "REVOKE"
    EXPORT = "EXPORT"
    IMPORT = "IMPORT"
    REGISTER = "REGISTER"
    DEREGISTER = "DEREGISTER"


class Operator(StrEnum):
    """Comparisons of a filter. Source: Oracle DBMMN, attribute-filters-list-and-alter-commands."""

    EQUAL = "="
    GREATER = ">"
    LESS = "<"
    LIKE = "LIKE"


class Media(StrEnum):
    """Words after ALL that choose the medium; without one its meaning depends on the release (primary from 24.1)."""

    HARDDISK = "HARDDISK"
    FLASHDISK = "FLASHDISK"
    PERFORMANCE = "PERFORMANCEOPTIMIZED FLASHDISK"
    CAPACITY = "CAPACITYOPTIMIZED FLASHDISK"
    PMEM = "PMEM"


@dataclass(frozen=True, kw_only=True)
class Scalar:
    """One word or quoted string. Quotes have a meaning: a quoted value is text, an unquoted one may be a number."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, kw_only=True)
class Group:
    """A list in parentheses, such as an IORM plan: scalars, settings and groups in their order."""

    items: tuple[Scalar | Setting | Group, ...] = ()


Value = Scalar | Group


@dataclass(frozen=True, kw_only=True)
class Setting:
    """``attribute=value``."""

    attribute: str
    value: Value

    @property
    def text(self) -> str:
        """Return the value if it is a scalar.

        Raises:
            TypeError: it is a list in parentheses.
        """
        if isinstance(self.value, Group):
            raise TypeError(f"{self.attribute} has a list in parentheses, not one value")
        return self.value.text


@dataclass(frozen=True, kw_only=True)
class Filter:
    """One condition of a WHERE; several are joined by AND."""

    attribute: str
    operator: Operator
    value: Scalar
    negated: bool = False


@dataclass(frozen=True, kw_only=True)
class OrderBy:
    """One column of an ORDER BY."""

    attribute: str
    descending: bool = False


@dataclass(frozen=True, kw_only=True)
class Over:
    """OVER of LIST METRICHISTORY: the length of a window in minutes, and the aggregates that are named (MAX, MIN, AVG)."""

    minutes: int
    aggregates: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class List:
    """A LIST statement.

    Attributes:
        names: names of the objects; empty for all.
        filters: joined by AND; a statement has names or filters, never both.
        attributes: the columns; empty for the default ones.
        all_attributes: whether it has ATTRIBUTES ALL.
        over, memory: METRICHISTORY only.
        key_for: KEY only: the words after FOR (``ASMCLUSTER``, ``CELL``, ``LOCAL CELL``, ``REMOTE CELL``).
    """

    verb: ClassVar[Verb] = Verb.LIST
    changes: ClassVar[bool] = False

    object: str
    names: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    attributes: tuple[str, ...] = ()
    all_attributes: bool = False
    detail: bool = False
    order_by: tuple[OrderBy, ...] = ()
    limit: int | None = None
    over: Over | None = None
    memory: bool = False
    key_for: str = ""


@dataclass(frozen=True, kw_only=True)
class Describe:
    """A DESCRIBE statement."""

    verb: ClassVar[Verb] = Verb.DESCRIBE
    changes: ClassVar[bool] = False

    object: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """Any statement that changes something (or needs the right to), except GRANT and REVOKE.

    Attributes:
        object: empty for CALIBRATE.
        all: whether ALL is given.
        media: the medium after ALL; for CALIBRATE the one that is measured.
        names: the objects, in the order given.
        filters: conditions on the objects (GRIDDISK, METRICDEFINITION).
        action: the phrase for what to do, in capitals: ``FLUSH``, ``CANCEL FLUSH``, ``INACTIVE``,
            ``SHUTDOWN SERVICES``, ``DROP FOR REPLACEMENT`` …; empty for plain settings.
        argument: the object of the action, such as the service; empty for actions without one.
        settings: ``attribute=value`` in the order given.
        definitions: CREATE CELLDISK ((name=…),(name=…)), one tuple of settings a cell disk.
        flags: FORCE, NOWAIT, IGNORE REDUNDANCY …, in capitals, in the order in which CellCLI writes them.
    """

    changes: ClassVar[bool] = True

    verb: Verb
    object: str
    all: bool = False
    media: Media | None = None
    names: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    action: str = ""
    argument: str = ""
    settings: tuple[Setting, ...] = ()
    definitions: tuple[tuple[Setting, ...], ...] = ()
    flags: tuple[str, ...] = ()

    def setting(self, attribute: str) -> Value | None:
        """Return the value of ``attribute`` (in any case); None if it is not set."""
        return next(
            (setting.value for setting in self.settings if setting.attribute.lower() == attribute.lower()), None
        )

    def has(self, flag: str) -> bool:
        """Return whether ``flag`` (in any case) is given."""
        return flag.upper() in self.flags


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A GRANT or REVOKE statement. ``("ALL",)`` means ALL, in every attribute that holds names.

    Attributes:
        object: PRIVILEGE or ROLE.
        granted: actions of the privilege, or roles.
        on: object types of the privilege; empty for ROLE.
        attributes, options: empty if not given.
        recipients: roles (for PRIVILEGE) or users (for ROLE).
    """

    changes: ClassVar[bool] = True

    verb: Verb
    object: str
    granted: tuple[str, ...]
    on: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    recipients: tuple[str, ...]


Statement = List | Describe | Change | Grant
