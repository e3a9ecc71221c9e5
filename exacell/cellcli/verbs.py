"""CellCLI's keywords as enumerations; apart from the statements, so that completion need not build those."""

from __future__ import annotations

from enum import StrEnum


class Verb(StrEnum):
    """CellCLI's verbs that act on cells. Its client-side ones (HELP, SET, SPOOL, START, EXIT …) are never sent."""

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
