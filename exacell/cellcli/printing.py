"""Which statements CellCLI always prints something to: an answer of no bytes to one of them is none. Pure."""

from __future__ import annotations

from exacell.cellcli.nodes import Change, Describe, List, Statement, Verb

NO_ANSWER = "no answer: CellCLI printed nothing, and to this statement it always prints something"

_ONE = frozenset(("CELL", "IORMPLAN"))
"""What every cell has one of. Source: reference cellcli.md 2, "no CREATE/DROP IORMPLAN (it always exists)"."""

_SOME = frozenset(("PHYSICALDISK", "METRICDEFINITION", "ALERTDEFINITION"))
"""What every cell has some of, where no condition leaves them out."""

_BARE = frozenset(("PRIVILEGE", "DIAGPACK"))
"""What DESCRIBE has nothing to tell of. Source: reference cellcli.md 2."""

_MEASURED = ("METRICCURRENT", "METRICHISTORY", "METRICSTREAM")
"""Of which a name need not have an object: a metric of what the cell has not, or no collection yet."""

_WHOLE = frozenset(
    ("FLASHCACHE", "FLASHLOG", "PMEMCACHE", "PMEMLOG", "XRMEMCACHE", "XRMEMLOG")
)  # fmt: skip
"""Of which there is one, so that ALL means its disks."""

_TELLING = (Verb.ALTER, Verb.CREATE, Verb.DROP)
"""Verbs that print a line for each object that changed. Source: reference cellcli.md 5."""


def always_prints(statement: Statement) -> bool:
    """Return whether CellCLI prints something to a statement whatever is there: objects, a success or an error.

    LIST without objects prints nothing, and neither does a change that ALL or a condition leaves no object for.
    """
    match statement:
        case List():
            if statement.object in _ONE:
                return True
            if statement.filters or statement.limit == 0 or statement.object in _MEASURED:
                return False
            return statement.object in _SOME or bool(statement.names)
        case Describe():
            return statement.object not in _BARE
        case Change():
            if statement.verb not in _TELLING or statement.filters:
                return False
            return bool(statement.names) or not statement.all or statement.object in _WHOLE
    return False
