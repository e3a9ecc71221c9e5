"""Names in a query that are no columns of the tables it reads: they may be functions, which need no parentheses. Pure.

A function of a package is called by its name alone, and so is NEXTVAL of a sequence; both may change something. A name with a
dot is a column where a table, a view or an alias of that name stands behind FROM. A name without a dot may always be a column,
but of DUAL, which has only one. Source: Oracle Database SQL Language Reference, Function Expressions and Column Expressions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from exacell.care.sqlwords import BUILT_IN, NO_FUNCTION
from exacell.values import dataclass

_NAME = re.compile(r'[A-Z_"]')
_ENDS = frozenset(
    ("WHERE", "GROUP", "HAVING", "ORDER", "CONNECT", "START", "UNION", "MINUS", "INTERSECT", "FETCH", "OFFSET", "MODEL")
)
_BEHIND_OPERAND = re.compile(r"[A-Z0-9_$#\"')]")
_OPERANDS = frozenset(
    (
        *(
            "SYSDATE",
            "SYSTIMESTAMP",
            "CURRENT_DATE",
            "CURRENT_TIMESTAMP",
            "LOCALTIMESTAMP",
            "DBTIMEZONE",
            "SESSIONTIMEZONE",
            "USER",
            "UID",
        ),
        *("DUMMY", "ROWNUM", "ROWID", "LEVEL", "CONNECT_BY_ISLEAF", "CONNECT_BY_ISCYCLE", "NULL", "END"),
    )
)
"""Words of SQL that are values, or end one: behind them an alias may stand."""
_PLAIN = _OPERANDS | {"DISTINCT", "UNIQUE", "ALL", "CASE", "NOT", "DATE", "TIMESTAMP", "INTERVAL", "ASC", "DESC"}
_PLAIN |= {word.upper() for word in NO_FUNCTION | BUILT_IN}


@dataclass
class _Tables:
    """What stands behind FROM: names and aliases, names with their schema, and the places of both."""

    names: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    places: set[int] = field(default_factory=set)


def words_of(pieces: Sequence[tuple[str, bool]]) -> list[str]:
    """Return the words and signs of a statement, names in upper case as Oracle keeps them; a literal is a single quote.

    Args:
        pieces: text outside of literals (False), and literals and quoted names (True).
    """
    found: list[str] = []
    for text, literal in pieces:
        if not literal:
            found += re.findall(r"[\w$#]+|\S", text.upper())
        elif text.startswith('"'):
            found.append(text[1:-1] if re.fullmatch(r'"[A-Z][A-Z0-9_$#]*"', text) else text)
        else:
            found.append("'")
    return found


def foreign_name(words: Sequence[str]) -> str:
    """Return the first name in a query that may be a function, lower case; empty where there is none."""
    words = [*words, "", ""]
    tables = _tables(words)
    alone = words.count("SELECT") == 1 and not tables.read - {"DUAL", "SYS.DUAL"}
    at = 0
    while words[at]:
        name = _dotted(words, at)
        if at not in tables.places and _NAME.match(words[at]):
            if len(name) > 1:
                known = name[0] in tables.names or ".".join(name[:2]) in tables.read
            else:
                # Behind an operand stands an alias or a word of SQL.
                before = words[at - 1]
                alias = (
                    before == "AS" or before in _OPERANDS or (before not in _PLAIN and _BEHIND_OPERAND.match(before))
                )
                national = words[at : at + 2] == ["N", "'"]
                known = not alone or words[at] in _PLAIN or bool(alias) or national
            if not known:
                return ".".join(name).lower()
        at += max(1, 2 * len(name) - 1)
    return ""


def _dotted(words: Sequence[str], at: int) -> list[str]:
    """Return the parts of the name that begins at a place; none where no name does."""
    parts: list[str] = []
    while _NAME.match(words[at]):
        parts.append(words[at])
        if words[at + 1] != ".":
            break
        at += 2
    return parts


def _tables(words: Sequence[str]) -> _Tables:
    """Return what a query reads; the FROM of a function such as EXTRACT, in front of which no SELECT stands, is none."""
    found = _Tables()
    states = [""]
    at = 0
    while words[at]:
        word, state = words[at], states[-1]
        name = _dotted(words, at)
        if word == "(":
            states.append("")
        elif word == ")":
            states = states[:-1] or [""]
            states[-1] = "named" if states[-1] == "item" else states[-1]
        elif word == "SELECT":
            states[-1] = "select"
        elif (word == "FROM" and state == "select") or (
            state in ("item", "named", "on") and word in (",", "JOIN", "APPLY")
        ):
            states[-1] = "item"
        elif words[at - 1] == "@":
            found.places.add(at)
        elif state in ("named", "on") and word in _ENDS:
            states[-1] = "rest"
        elif word in ("ON", "USING"):
            states[-1] = "on"
        elif state == "item" and name:
            states[-1] = "named"
            found.names |= {name[-1], ".".join(name)}
            found.read.add(".".join(name))
            found.places |= set(range(at, at + 2 * len(name) - 1))
        elif state == "named" and len(name) == 1:
            found.names.add(word)
            found.places.add(at)
        at += max(1, 2 * len(name) - 1)
    return found
