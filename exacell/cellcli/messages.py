"""Read a cell's messages about a statement: error codes, and one line for each object that changed. Pure.

Success is judged by this text, never by an exit status. Source: reference cellcli.md 1.7 and 5 (published sessions); the word
order of a success differs between objects, so both orders are read. If CellCLI always prints something for a statement, an
answer of no bytes counts as no answer.
"""

from __future__ import annotations

import re

from exacell.cellcli.nodes import Change, Describe, List, Statement, Verb
from exacell.core.patterns import pattern
from exacell.core.values import dataclass

_ERROR = pattern(r"^\s*((?:CELL|DBM)-\d{5}):[ \t]*(.*?)\s*$", re.MULTILINE)
_CARET = pattern(r"\s*\^\s*")
_CHANGED = pattern(
    r"""(?P<subject>\S.*?)[ ]
    (?: successfully[ ](?P<after>[a-z]+)
      | (?P<before>[a-z]+)[ ]successfully
      | was[ ](?P<was>dropped[ ]for[ ]replacement)
      | (?P<progress>erase)[ ]is[ ]in[ ]progress
    )\.?""",
    re.VERBOSE,
)
_SERVICES = pattern(
    r"The (?P<what>SHUTDOWN|STARTUP|RESTART) of (?:(?P<which>\S+) )?services was (?P<no>not )?successful\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class CellError:
    """An error of a cell, or of DBMCLI on a database node: its code, ``CELL-02559``, and the text after it, unchanged."""

    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Success:
    """One object for which a statement succeeded.

    Attributes:
        kind: as printed, ``GridDisk``, ``Flash cache``, ``IORMPLAN``, ``services`` …
        name: empty if there is only one such object and no name is printed (``IORMPLAN successfully altered``).
        what: ``created``, ``altered``, ``dropped`` …, ``erase in progress``, ``SHUTDOWN``.
    """

    kind: str
    name: str
    what: str


def errors(text: str) -> tuple[CellError, ...]:
    """Return every error in ``text`` in order; empty if no line is an error."""
    if "CELL-" not in text and "DBM-" not in text:
        return ()
    return tuple(CellError(code=match[1], message=match[2]) for match in _ERROR.finditer(text.replace("\r", "")))


def successes(text: str) -> tuple[Success, ...]:
    """Return every success in ``text`` in order; empty if no line is one."""
    found = (_success(line.strip()) for line in text.splitlines())
    return tuple(success for success in found if success is not None)


def is_message(line: str) -> bool:
    """Return whether ``line`` is an error, the caret above one, or a success (which has no TABs, unlike rows), not data."""
    if (
        "\t" in line and "CELL-" not in line and "DBM-" not in line and "^" not in line
    ):  # nearly every line of an answer is a row
        return False
    if _ERROR.match(line) or _CARET.fullmatch(line):
        return True
    return "\t" not in line and _success(line.strip()) is not None


def _success(line: str) -> Success | None:
    services = _SERVICES.fullmatch(line)
    if services:
        return None if services["no"] else Success(kind="services", name=services["which"] or "", what=services["what"])
    match = _CHANGED.fullmatch(line)
    if match is None:
        return None
    what = match["after"] or match["before"] or match["was"] or f"{match['progress']} in progress"
    words = match["subject"].split()
    if len(words) == 1:
        return Success(kind=words[0], name="", what=what)
    return Success(kind=" ".join(words[:-1]).removesuffix(" for"), name=words[-1], what=what)


NO_ANSWER = "no answer: CellCLI printed nothing, and to this statement it always prints something"

_ONE = frozenset(("CELL", "IORMPLAN"))
"""Objects that every cell has exactly one of. Source: reference cellcli.md 2, "no CREATE/DROP IORMPLAN (it always exists)"."""

_SOME = frozenset(("PHYSICALDISK", "METRICDEFINITION", "ALERTDEFINITION"))
"""Objects that every cell has some of."""

_BARE = frozenset(("PRIVILEGE", "DIAGPACK"))
"""Objects for which DESCRIBE prints nothing. Source: reference cellcli.md 2."""

_MEASURED = ("METRICCURRENT", "METRICHISTORY", "METRICSTREAM")
"""Objects that may not exist for a given name: a metric of something that the cell does not have, or that was not collected
yet.
"""

_WHOLE = frozenset(
    ("FLASHCACHE", "FLASHLOG", "PMEMCACHE", "PMEMLOG", "XRMEMCACHE", "XRMEMLOG")
)  # fmt: skip
"""Objects that exist once, so that ALL means all of its disks."""

_TELLING = (Verb.ALTER, Verb.CREATE, Verb.DROP)
"""Verbs that print a line for each object that changed. Source: reference cellcli.md 5."""


def always_prints(statement: Statement) -> bool:
    """Return whether CellCLI always prints something for a statement: objects, a success or an error.

    LIST without objects prints nothing, and neither does a change if ALL or a condition matches no object.
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
