"""Conditions that select cells, and checks of facts that all cells must show. Pure.

A condition, ``where flashCacheMode=writeback`` or ``where griddisk.status=inactive``, is written like a WHERE of LIST; with an
object before the attribute it selects cells that have such an object. exacell itself compares the values, because LIST takes a
WHERE for some objects only, and not for CELL.

A fact is ``ALL object.attribute {= | != | > | >= | <=} value``, ``NO object`` or ``SAME object.attribute[, …]``, each with an
optional WHERE as of LIST; objects, attributes and values are checked against the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from exacell.cellcli.nodes import Filter, Operator
from exacell.cellcli.query import read_filters
from exacell.cellcli.schema import Attribute, Kind, ObjectType, find_object, objects_of, typed_value
from exacell.cellcli.tokens import Cursor, Token, TokenKind, tokenize
from exacell.core.errors import StatementError, UnitError
from exacell.core.meant import closest
from exacell.core.patterns import pattern
from exacell.core.units import parse_duration, parse_size
from exacell.core.values import dataclass

_WHERE = pattern(r"\s*where\s+", re.IGNORECASE)
_OBJECT = pattern(r"([A-Za-z]+)\.(?=[A-Za-z])")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition that a cell meets if one of its objects of type ``object`` passes all ``filters``; a cell has one CELL."""

    object: str
    filters: tuple[Filter, ...]

    @property
    def statement(self) -> str:
        """Return the LIST whose answer shows whether a cell meets the condition."""
        names = dict.fromkeys(["name", *(condition.attribute for condition in self.filters)])
        return f"list {self.object.lower()} attributes {', '.join(names)}"

    def holds(self, rows: Iterable[Mapping[str, Any]]) -> bool:
        """Return whether one of a cell's typed records passes all filters."""
        return any(all(passes(condition, row, self.object) for condition in self.filters) for row in rows)


def is_condition(text: str) -> bool:
    """Return whether a text is a condition on cells, not a set of names."""
    return _WHERE.match(text) is not None


def parse_condition(text: str) -> Condition:
    """Return the condition in ``text``.

    Raises:
        StatementError: ``text`` is not a condition; places are offsets into ``text``.
    """
    begin = _WHERE.match(text)
    rest = text[begin.end() if begin else 0 :]
    offset = len(text) - len(rest)
    named = [match for match in _OBJECT.finditer(rest) if _outside_quotes(rest, match.start())]
    names = {match[1].upper() for match in named}
    if len(names) > 1:
        raise StatementError(
            f"a condition for cells may use one object only, not {' and '.join(sorted(names))}",
            start=0,
            end=len(text),
            hint="ask for one object, then narrow with use where …",
        )
    subject = find_object(names.pop() if names else "CELL")
    if subject is None:
        wrong = named[0]
        raise StatementError(
            f"LIST has no object '{wrong[1]}'",
            start=offset + wrong.start(1),
            end=offset + wrong.end(1),
            suggestions=closest(wrong[1], ("cell", "griddisk", "celldisk", "flashcache", "flashlog", "physicaldisk")),
        )
    blanked = rest
    for match in named:
        blanked = blanked[: match.start()] + " " * len(match[0]) + blanked[match.end() :]
    try:
        cursor = Cursor(tokenize(blanked), end=len(blanked))
        filters = read_filters(cursor, subject)
        if cursor.token is not None:
            raise cursor.wrong(f"'{cursor.token.text}' is not part of a condition; join two conditions with and")
    except StatementError as error:
        error.move(lambda place: place + offset)
        raise
    return Condition(object=subject.name, filters=filters)


def _outside_quotes(text: str, place: int) -> bool:
    return text[:place].count("'") % 2 == 0 and text[:place].count('"') % 2 == 0


def passes(condition: Filter, row: Mapping[str, Any], subject: str) -> bool:
    """Return whether a typed record passes one filter; a missing attribute passes only a negated filter."""
    return _compares(condition, row, subject) is not condition.negated


def _compares(condition: Filter, row: Mapping[str, Any], subject: str) -> bool:
    value = row.get(condition.attribute)
    if value is None:
        return False
    found = find_object(subject)
    attribute = found.attribute(condition.attribute) if found is not None else None
    wanted = typed_value(condition.value.text, attribute.kind) if attribute is not None else condition.value.text
    match condition.operator:
        case Operator.EQUAL:
            return value == wanted or _text(value) == _text(wanted)
        case Operator.LIKE:
            return re.fullmatch(condition.value.text, _plain(value), re.IGNORECASE) is not None
    if isinstance(value, str) or isinstance(wanted, str) or wanted is None:
        low, high = _text(value), _text(wanted)
        return low > high if condition.operator is Operator.GREATER else low < high
    return bool(value > wanted if condition.operator is Operator.GREATER else value < wanted)


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _text(value: object) -> str:
    return _plain(value).lower()


EXAMPLE = "all flashcache.status = normal"

_NUMBERS = (Kind.INT, Kind.NUMBER, Kind.PERCENT)
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One fact that a check requires.

    Attributes:
        object: object type as LIST takes it, lower case.
        attribute: in CellCLI's spelling; empty for NO, which requires that the object does not exist.
        operator, value: the comparison of ALL. Sizes are in bytes, numbers are numbers, other values text; None without ALL.
    """

    object: str
    attribute: str = ""
    operator: str = ""
    value: str | int | float | None = None


@dataclass(frozen=True, kw_only=True)
class FactCheck:
    """A check of facts: ``what`` is all, no or same; only rows that pass all ``filters`` count."""

    what: str
    facts: tuple[Fact, ...]
    filters: tuple[Filter, ...] = ()


def read_check(text: str) -> FactCheck:
    """Return the check in ``text``.

    Raises:
        StatementError: ``text`` is not a check; places are offsets into ``text``.
    """
    return _Reader(text).read()


def read_wait(text: str, *, bounded: bool) -> FactCheck | float:
    """Return the check after UNTIL, or the seconds of a wait.

    Args:
        bounded: whether ``every=`` or ``for=`` is given; only UNTIL may have them.

    Raises:
        StatementError: it is neither; places are offsets into ``text``.
    """
    first, *rest = text.split(None, 1) or [""]
    if first.lower() == "until":
        behind = len(text) - len(rest[0]) if rest else len(text)
        try:
            return read_check(text[behind:])
        except StatementError as error:
            error.move(lambda place: place + behind)
            raise
    try:
        seconds = parse_duration(text)
    except UnitError as error:
        suggestions = ("until",) if re.fullmatch(r"u\w*|\w*ntil", first, re.IGNORECASE) else ()
        if first.lower() in ("all", "no", "same"):
            raise StatementError(
                "until is missing before the check that is waited for",
                start=0,
                end=len(first),
                hint=f"wait until {text}",
            ) from error
        raise StatementError(
            error.message, start=0, end=len(first), suggestions=suggestions, hint="" if suggestions else error.hint
        ) from error
    if bounded:
        raise StatementError(
            "every= and for= need until", start=0, end=len(text), hint=f"write `wait until {EXAMPLE} every=5s`"
        )
    return seconds


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.cursor = Cursor(tokenize(text), end=len(text.rstrip()))

    def read(self) -> FactCheck:
        cursor, word = self.cursor, self.cursor.token
        if word is None:
            raise cursor.wrong("a check is missing", hint=f"such as: {EXAMPLE}")
        if not word.is_word("ALL", "NO", "SAME"):
            like = ("all", "no", "same")
            error = cursor.wrong(f"'{word.text}' can't begin a check; begin with all, no or same", like=like)
            of = find_object(word.text.partition(".")[0])
            hint = f"such as: {EXAMPLE}" if of is None else f"all {self.text}, or no {of.name.lower()} where …"
            raise error if error.suggestions else cursor.wrong(error.message, hint=hint)
        what = cursor.advance().value.lower()
        subjects: list[ObjectType] = []
        facts: list[Fact] = []
        while not facts or (what == "same" and cursor.take(TokenKind.COMMA)):
            subject, fact = self._fact(what)
            subjects.append(subject)
            facts.append(fact)
        filters = self._where(subjects)
        self._ended(what)
        return FactCheck(what=what, facts=tuple(facts), filters=filters)

    def _fact(self, what: str) -> tuple[ObjectType, Fact]:
        cursor = self.cursor
        token = cursor.word("an object" if what == "no" else "object.attribute")
        name, dot, attribute = token.value.partition(".")
        place = replace(token, text=name, value=name, end=token.start + len(name))
        subject = find_object(name) if token.kind is TokenKind.WORD else None
        if subject is None or "LIST" not in subject.verbs:
            like = [found.name.lower() for found in objects_of("LIST")]
            raise cursor.wrong(f"LIST has no object '{name}'", at=place, like=like)
        if what == "no":
            if dot:
                raise cursor.wrong(
                    "`no` needs an object, not an attribute",
                    at=token,
                    hint=f"no {name} where {attribute or 'status'}=…",
                )
            return subject, Fact(object=subject.name.lower())
        if not dot:
            raise cursor.wrong(f"an attribute is missing: {name}.…", at=token, hint=f"such as: {what} {_example(what)}")
        known = subject.attribute(attribute)
        if known is None:
            raise cursor.wrong(
                f"'{attribute}' is not an attribute of {subject.name}",
                at=replace(token, text=attribute, value=attribute, start=place.end + 1),
                like=[each.name for each in subject.attributes.values()],
            )
        fact = Fact(object=subject.name.lower(), attribute=known.name)
        return subject, fact if what == "same" else self._compared(fact, known)

    def _compared(self, fact: Fact, attribute: Attribute) -> Fact:
        cursor = self.cursor
        operator = cursor.take_operator(*_COMPARED)
        if operator is None:
            raise cursor.wrong(f"a comparison is missing after {fact.attribute}: one of {', '.join(_COMPARED)}")
        token = cursor.word(f"the value that {fact.attribute} is compared with")
        return replace(fact, operator=operator.text, value=self._value(token, attribute))

    def _value(self, token: Token, attribute: Attribute) -> str | int | float:
        text = token.value
        if attribute.kind is Kind.SIZE:
            try:
                return parse_size(text)
            except UnitError as error:
                raise self.cursor.wrong(error.message, at=token) from error
        if attribute.kind in _NUMBERS:
            if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
                raise self.cursor.wrong(f"{attribute.name} needs a number, not '{text}'", at=token)
            return float(text) if "." in text else int(text)
        return text

    def _where(self, subjects: list[ObjectType]) -> tuple[Filter, ...]:
        cursor = self.cursor
        where = cursor.token
        if not cursor.take_words("WHERE") or where is None:
            return ()
        filters = read_filters(cursor, subjects[0])
        for subject in subjects[1:]:
            for each in filters:
                if subject.attribute(each.attribute) is None:
                    raise cursor.wrong(
                        f"where compares {each.attribute}, which is not an attribute of {subject.name}", at=where
                    )
        return filters

    def _ended(self, what: str) -> None:
        token = self.cursor.token
        if token is None:
            return
        if what == "same" and token.kind is TokenKind.OPERATOR:
            raise self.cursor.wrong("same compares cells with each other, not with a value", hint=f"such as: {EXAMPLE}")
        error = self.cursor.wrong(f"'{token.text}' can't follow the check", like=("where", "and", "every", "for"))
        if not error.suggestions:
            error.hint = "put a value with blanks in quotes"
        raise error


def _example(what: str) -> str:
    return "flashcache.size" if what == "same" else EXAMPLE.partition(" ")[2]
