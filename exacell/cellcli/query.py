"""Parse LIST and DESCRIBE, and also the WHERE of some changes.

``LIST object [name | WHERE filter [AND filter]…] [ATTRIBUTES {ALL | a[, b]…}] [DETAIL] [ORDER BY a [ASC|DESC][, …]]
[LIMIT n]``, the clauses in any order. A table shows which object has which clauses; completion reads it without the parser.
Source: Oracle SAGUG, list, attribute-lists-list-command; DBMMN, attribute-filters-list-and-alter-commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from exacell.cellcli.nodes import Describe, Filter, List, Operator, OrderBy, Over
from exacell.cellcli.schema import Kind, ObjectType
from exacell.cellcli.tokens import Cursor, Token, TokenKind, scalar
from exacell.core.errors import StatementError
from exacell.core.patterns import pattern

CLAUSES = ("WHERE", "ATTRIBUTES", "DETAIL", "ORDER", "LIMIT")
"""Words that begin a clause of every LIST."""
HISTORY_CLAUSES = ("OVER", "MEMORY")
"""Words that begin a clause of LIST METRICHISTORY only."""


def clauses_of(subject: ObjectType) -> tuple[str, ...]:
    """Return the words that may begin a clause of ``LIST subject``."""
    words = [word for word in CLAUSES if word != "WHERE" or subject.list_filter]
    if subject.name == "METRICHISTORY":
        words += HISTORY_CLAUSES
    if subject.name == "KEY":
        words.append("FOR")
    return tuple(words)


_UNIT = pattern(r"[0-9]*\.?[0-9]+([A-Za-z]+)")
_KNOWN_UNIT = pattern(r"[KMGT](?:I?B)?|B", re.IGNORECASE)
"""Powers of 1024, and the letters that people add to them. Source: reference cellcli.md 3.4."""

_AGGREGATES = ("MAX", "MIN", "AVG")
_KEY_SCOPES = (("ASMCLUSTER",), ("LOCAL", "CELL"), ("REMOTE", "CELL"), ("CELL",))


def read_describe(cursor: Cursor, subject: ObjectType) -> Describe:
    """Return a DESCRIBE of ``subject``; raise StatementError if anything follows."""
    if cursor.token is not None:
        raise cursor.wrong(f"nothing may follow DESCRIBE {subject.name}")
    return Describe(object=subject.name)


def read_list(cursor: Cursor, subject: ObjectType) -> List:
    """Return the LIST whose clauses come next.

    Raises:
        StatementError: a clause is wrong, given twice, or not allowed for LIST ``subject``.
    """
    clauses = clauses_of(subject)
    names = _names(cursor, subject, clauses)
    statement = List(object=subject.name, names=tuple(token.value for token in names))
    seen: dict[str, Token] = {}
    while cursor.token is not None:
        keyword = cursor.token
        word = keyword.value.upper()
        if not keyword.is_word(*clauses):
            raise _no_clause(cursor, keyword, subject, clauses, names)
        if word in seen:
            raise cursor.wrong(f"{word} is given twice")
        if word == "WHERE" and names and not subject.list_names:
            raise cursor.wrong(f"LIST {subject.name} takes a name or WHERE, not both")
        if word in ("FOR", "WHERE") and (names or {"FOR", "WHERE"} & seen.keys()) and "FOR" in clauses:
            raise cursor.wrong("LIST KEY takes a name, WHERE or FOR: one of them")
        seen[word] = cursor.advance()
        statement = _CLAUSES[word](cursor, subject, statement)
    if subject.name == "METRICCURRENT" and "ORDER" in seen and "LIMIT" not in seen:
        raise cursor.wrong(
            "LIST METRICCURRENT with ORDER BY needs a LIMIT", at=seen["ORDER"], hint="add for example LIMIT 100"
        )
    return statement


def read_filters(cursor: Cursor, subject: ObjectType) -> tuple[Filter, ...]:
    """Return the conditions after WHERE and step over them.

    Raises:
        StatementError: a condition is wrong, or joined by anything but AND.
    """
    filters = [_filter(cursor, subject)]
    while cursor.take_words("AND"):
        filters.append(_filter(cursor, subject))
    token = cursor.token
    if token is not None and token.is_word("OR"):
        raise cursor.wrong("CellCLI joins filters with AND only; there is no OR", hint="send one statement for each")
    return tuple(filters)


def read_attribute(cursor: Cursor, subject: ObjectType) -> str:
    """Return the attribute that comes next as CellCLI spells it, and step over it.

    Raises:
        StatementError: no known release has it.
    """
    token = cursor.word(f"an attribute of {subject.name}")
    if subject.attribute(token.value) is None and not subject.open:
        raise cursor.wrong(
            f"'{token.value}' is not an attribute of {subject.name}",
            at=token,
            like=[attribute.name for attribute in subject.attributes.values()],
        )
    return subject.canonical(token.value)


def _names(cursor: Cursor, subject: ObjectType, clauses: Sequence[str]) -> tuple[Token, ...]:
    token = cursor.token
    if token is None or token.kind not in (TokenKind.WORD, TokenKind.STRING) or token.is_word(*clauses):
        return ()
    if token.is_word("WHERE"):
        raise _no_filter(cursor, subject)
    first, _, rest = token.value.partition(" ")
    if token.kind is TokenKind.STRING and rest and first.upper() in clauses:
        raise cursor.wrong(
            f"{token.text} is in quotes, so it is read as the name of an object",
            hint=f'in a shell quote the whole: exacell "list {subject.name.lower()} {token.value}"',
        )
    if not subject.list_name:
        raise cursor.wrong(
            f"LIST {subject.name} takes no name, and '{token.value}' is not a clause", like=_spelled(clauses)
        )
    return cursor.names(f"the name of a {subject.name}") if subject.list_names else (cursor.advance(),)


def _no_filter(cursor: Cursor, subject: ObjectType) -> StatementError:
    return cursor.wrong(f"LIST {subject.name} takes no WHERE", hint=f"type `list {subject.name.lower()}` without WHERE")


def _no_clause(
    cursor: Cursor, token: Token, subject: ObjectType, clauses: Sequence[str], names: Sequence[Token]
) -> StatementError:
    if token.is_word("WHERE"):
        return _no_filter(cursor, subject)
    if token.kind is TokenKind.COMMA and names:
        return cursor.wrong(
            f"LIST {subject.name} takes one name", hint="use WHERE name LIKE 'this|that', or one LIST for each name"
        )
    if names and names[-1].is_word("LIKE") and subject.list_filter:
        pattern = f"LIST {subject.name} WHERE name LIKE {token.text}"
        return cursor.wrong("LIKE is only allowed in a condition after WHERE", at=names[-1], hint=pattern)
    if names and names[-1].end < token.start:
        mistaken = cursor.wrong(
            f"'{names[-1].value}' is not a clause; only a clause may follow the name of a {subject.name}",
            at=names[-1],
            like=_spelled(clauses),
        )
        if mistaken.suggestions:
            return mistaken
    mistaken = cursor.wrong(f"'{token.value}' is not a clause of LIST {subject.name}", like=_spelled(clauses))
    spread = "" if mistaken.suggestions else cursor.spread("AND", *clauses)
    if not spread:
        return mistaken
    return cursor.wrong(mistaken.message, hint=in_quotes(f"list {subject.name.lower()} where", spread))


def in_quotes(begins: str, spread: str) -> str:
    """Return a hint how to write a value of several words, in exacell and in a shell.

    Args:
        begins: the beginning of the statement, before the value.
        spread: see :meth:`Cursor.spread`.
    """
    return f'put a value of several words in quotes: {spread}; in a shell quote the whole: exacell "{begins} {spread}"'


def _spelled(clauses: Sequence[str]) -> list[str]:
    return ["order by" if word == "ORDER" else word.lower() for word in clauses]


def _where(cursor: Cursor, subject: ObjectType, statement: List) -> List:
    return replace(statement, filters=read_filters(cursor, subject))


def _filter(cursor: Cursor, subject: ObjectType) -> Filter:
    token = cursor.token
    if token is not None and token.kind is TokenKind.OPEN:
        raise cursor.wrong("CellCLI has no parentheses in WHERE: filters are joined with AND only")
    attribute = read_attribute(cursor, subject)
    negated, operator = _operator(cursor, attribute)
    token = cursor.token
    if token is not None and token.kind is TokenKind.OPEN:
        raise cursor.wrong("a filter compares with one value, not with a list", hint="use LIKE 'this|that'")
    token = cursor.word(f"the value that {attribute} is compared with")
    value = scalar(token)
    known = subject.attribute(attribute)
    sized = known is not None and known.kind is Kind.SIZE and operator is not Operator.LIKE and not value.quoted
    if sized and (unit := _UNIT.fullmatch(value.text)) and not _KNOWN_UNIT.fullmatch(unit[1]):
        raise cursor.wrong(
            f"'{value.text}' is not a size: a number with K, M, G or T (powers of 1024), for example 288G", at=token
        )
    return Filter(attribute=attribute, operator=operator, value=value, negated=negated)


def _operator(cursor: Cursor, attribute: str) -> tuple[bool, Operator]:
    first = cursor.token
    if cursor.take_operator("!="):
        return True, Operator.EQUAL
    negated = cursor.take_words("NOT") or cursor.take_operator("!") is not None
    if cursor.take_words("LIKE"):
        return negated, Operator.LIKE
    token = cursor.take_operator("=", ">", "<")
    if token is None:
        token = cursor.token
        if token is not None and token.is_operator(">=", "<="):
            raise _no_such_comparison(cursor, token, token)
        raise cursor.wrong(
            f"a comparison is missing after {attribute}: one of =, !=, >, <, LIKE or NOT LIKE",
            at=None if negated else first,
        )
    following = cursor.token
    if token.text in "<>" and following is not None and following.is_operator("="):
        raise _no_such_comparison(cursor, token, following)
    return negated, Operator(token.text)


def _no_such_comparison(cursor: Cursor, first: Token, last: Token) -> StatementError:
    sign = first.text[0]
    return cursor.wrong(
        f"CellCLI has no {sign}=: filters compare with =, !=, >, <, LIKE or NOT LIKE",
        at=first,
        through=last,
        hint=f"use NOT {'<' if sign == '>' else '>'}",
    )


def _attributes(cursor: Cursor, subject: ObjectType, statement: List) -> List:
    if cursor.take_words("ALL"):
        return replace(statement, all_attributes=True)
    found = [read_attribute(cursor, subject)]
    while cursor.take(TokenKind.COMMA):
        found.append(read_attribute(cursor, subject))
    token = cursor.token
    if token is not None and token.kind is TokenKind.WORD and subject.attribute(token.value) is not None:
        raise cursor.wrong(f"a comma is missing before '{token.value}'")
    return replace(statement, attributes=tuple(found))


def _detail(_: Cursor, __: ObjectType, statement: List) -> List:
    return replace(statement, detail=True)


def _order_by(cursor: Cursor, subject: ObjectType, statement: List) -> List:
    if not cursor.take_words("BY"):
        raise cursor.wrong("BY is missing after ORDER")
    found: list[OrderBy] = []
    while not found or cursor.take(TokenKind.COMMA):
        attribute = read_attribute(cursor, subject)
        descending = cursor.take_words("DESC")
        if not descending:
            cursor.take_words("ASC")
        found.append(OrderBy(attribute=attribute, descending=descending))
    return replace(statement, order_by=tuple(found))


def _limit(cursor: Cursor, _: ObjectType, statement: List) -> List:
    return replace(statement, limit=_count(cursor, "LIMIT"))


def _over(cursor: Cursor, _: ObjectType, statement: List) -> List:
    minutes = _count(cursor, "OVER")
    aggregates: list[str] = []
    while (token := cursor.token) is not None and token.is_word(*_AGGREGATES):
        word = cursor.advance().value.upper()
        if word in aggregates:
            raise cursor.wrong(f"{word} is given twice", at=token)
        aggregates.append(word)
    return replace(statement, over=Over(minutes=minutes, aggregates=tuple(aggregates)))


def _memory(_: Cursor, __: ObjectType, statement: List) -> List:
    return replace(statement, memory=True)


def _for(cursor: Cursor, _: ObjectType, statement: List) -> List:
    for scope in _KEY_SCOPES:
        if cursor.take_words(*scope):
            return replace(statement, key_for=" ".join(scope))
    raise cursor.wrong("FOR takes ASMCLUSTER, CELL, LOCAL CELL or REMOTE CELL")


def _count(cursor: Cursor, clause: str) -> int:
    token = cursor.word(f"the number after {clause}")
    if not (token.value.isascii() and token.value.isdigit()) or int(token.value) < 1:
        raise cursor.wrong(f"{clause} takes a whole number from 1 on, not '{token.value}'", at=token)
    return int(token.value)


_CLAUSES: Mapping[str, Callable[[Cursor, ObjectType, List], List]] = {
    "WHERE": _where,
    "ATTRIBUTES": _attributes,
    "DETAIL": _detail,
    "ORDER": _order_by,
    "LIMIT": _limit,
    "OVER": _over,
    "MEMORY": _memory,
    "FOR": _for,
}
