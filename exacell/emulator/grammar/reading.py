"""The statements that an emulated cell understands, and the parser of those that only read.

::

    LIST object [name[, name]… | WHERE filter [AND filter]…] [ATTRIBUTES {ALL | a[, a]…}] [DETAIL]
                [ORDER BY a [ASC|DESC][, …]] [LIMIT n] [OVER n [MAX] [MIN] [AVG]] [MEMORY]     clauses in any order
    filter := attribute [NOT | !] {= | > | < | LIKE} value
    DESCRIBE object      HELP [topic]      SET ECHO {ON|OFF}      SET DATEFORMAT {STANDARD|LOCAL}

Source: reference cellcli.md 2.1 and 2.2; Oracle SAGUG, list and attribute-filters-list-and-alter-commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import BARE_HYPHENS_SINCE, KEY_TYPES_SINCE, METRIC_SWITCHES_SINCE, ORDER_BY_SINCE
from exacell.emulator.basics.schema import Attribute, ObjectType, Release, object_types
from exacell.emulator.grammar.tokens import Kind, TokenStream


@dataclass(frozen=True, kw_only=True)
class Filter:
    """One condition. ``value`` is None for NULL; ``quoted`` values are compared as strings."""

    attribute: Attribute
    negated: bool
    operator: str
    value: str | None
    quoted: bool


@dataclass(frozen=True, kw_only=True)
class Over:
    """Windows of METRICHISTORY: their length in minutes, and which of MAX, MIN, AVG are asked for (empty: all)."""

    minutes: int
    functions: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class ListStatement:
    """LIST. ``attributes`` None means the default columns; ``order_by`` pairs an attribute with whether it is descending."""

    object_type: ObjectType
    names: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    attributes: tuple[Attribute, ...] | None = None
    all_attributes: bool = False
    detail: bool = False
    order_by: tuple[tuple[Attribute, bool], ...] = ()
    limit: int | None = None
    over: Over | None = None
    memory: bool = False
    key_type: str = ""


@dataclass(frozen=True, kw_only=True)
class Describe:
    """DESCRIBE."""

    object_type: ObjectType


@dataclass(frozen=True, kw_only=True)
class Help:
    """HELP; ``topic`` in upper case, empty without one."""

    topic: str


@dataclass(frozen=True, kw_only=True)
class SetOption:
    """SET ECHO or SET DATEFORMAT."""

    option: str
    value: str


ReadStatement = ListStatement | Describe | Help | SetOption

_VERB_SINCE: Mapping[tuple[str, str], Release] = {("ALTER", "METRICDEFINITION"): METRIC_SWITCHES_SINCE}
"""Verbs that came to an object type in a later release than the type itself."""

_CLAUSES = ("WHERE", "ATTRIBUTES", "DETAIL", "ORDER", "LIMIT", "OVER", "MEMORY")


def object_type_at(
    stream: TokenStream, verb: str, release: Release, known: Mapping[str, ObjectType] | None = None
) -> ObjectType:
    """Read an object type for which ``release`` knows ``verb`` and return it.

    Args:
        known: the object types that exist; None for those of a cell.

    Raises:
        CellError: CELL-01504 if the next word is not such a type.
    """
    token = stream.peek()
    types = object_types() if known is None else known
    found = types.get(token.text.upper()) if token.kind is Kind.WORD else None
    if found is None or verb not in found.verbs or not found.exists_in(release):
        raise stream.error()
    if release < _VERB_SINCE.get((verb, found.name), release):
        raise stream.error()
    stream.take()
    return found


def name_at(stream: TokenStream, release: Release) -> str:
    """Read the name of an object; up to 19.2 a name with a hyphen must be quoted."""
    token = stream.expect_value()
    if token.kind is Kind.WORD and "-" in token.text and release < BARE_HYPHENS_SINCE:
        raise CellError(Code.SYNTAX, position=token.start)
    return token.text


def attribute_at(stream: TokenStream, owner: ObjectType, release: Release) -> Attribute:
    """Read an attribute name of ``owner`` and return the attribute."""
    token = stream.expect_value()
    found = owner.attribute(token.text, release)
    if found is None:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=token.text, object=owner.name)
    return found


def filters_at(stream: TokenStream, owner: ObjectType, release: Release) -> tuple[Filter, ...]:
    """Read and return the filters after WHERE."""
    filters = [_filter_at(stream, owner, release)]
    while stream.accept_word("AND"):
        filters.append(_filter_at(stream, owner, release))
    return tuple(filters)


_STILL_FILTERED = frozenset((("CELLDISK", "lun"),))
"""Attributes that filters accept on all releases, although later releases do not show them. Source: a published LIST CELLDISK
WHERE lun=0_5 of an X6.
"""


def _filter_at(stream: TokenStream, owner: ObjectType, release: Release) -> Filter:
    word = stream.peek().text.lower()
    former = [a for a in owner.attributes if (owner.name, a.name) in _STILL_FILTERED and a.name.lower() == word]
    if former:
        stream.take()
    attribute = former[0] if former else attribute_at(stream, owner, release)
    negated = stream.accept_symbol("!") or stream.accept_word("NOT") is not None
    if stream.accept_word("LIKE"):
        operator = "LIKE"
    else:
        operator = next((symbol for symbol in "=><" if stream.accept_symbol(symbol)), "")
        if not operator:
            raise stream.error()
    value = stream.expect_value()
    null = value.is_word("NULL")
    return Filter(
        attribute=attribute,
        negated=negated,
        operator=operator,
        value=None if null else value.text,
        quoted=value.kind is Kind.STRING,
    )


def parse_list(stream: TokenStream, release: Release, known: Mapping[str, ObjectType] | None = None) -> ListStatement:
    """Parse the rest of a LIST statement, after its verb, and return it; ``known`` as for :func:`object_type_at`."""
    owner = object_type_at(stream, "LIST", release, known)
    names: list[str] = []
    key_type = ""
    if owner.name == "KEY" and release >= KEY_TYPES_SINCE and stream.accept_word("FOR"):
        kind = stream.expect_word("ASMCLUSTER", "CELL", "LOCAL", "REMOTE")
        key_type = kind if kind in ("ASMCLUSTER", "CELL") else f"{kind}-{stream.expect_word('CELL')}"
    first = stream.peek()
    if first.is_value and not first.is_word(*_CLAUSES):
        if not owner.list_forms & {"name", "names"}:
            raise stream.error()
        names.append(name_at(stream, release))
        while "names" in owner.list_forms and stream.accept_symbol(","):
            names.append(stream.expect_value().text)
    filters: tuple[Filter, ...] = ()
    attributes: tuple[Attribute, ...] | None = None
    everything = False
    order_by: tuple[tuple[Attribute, bool], ...] = ()
    limit: int | None = None
    over: Over | None = None
    seen: set[str] = set()
    while not stream.at_end:
        token = stream.peek()
        word = stream.expect_word(*_CLAUSES)
        if word in seen or not _clause_fits(word, owner, release):
            raise CellError(Code.SYNTAX, position=token.start)
        seen.add(word)
        match word:
            case "WHERE":
                filters = filters_at(stream, owner, release)
            case "ATTRIBUTES":
                everything = stream.peek().is_word("ALL")
                attributes = _attributes_at(stream, owner, release)
            case "ORDER":
                order_by = _order_at(stream, owner, release)
            case "LIMIT":
                limit = _count_at(stream)
            case "OVER":
                over = _over_at(stream)
    if owner.name == "METRICCURRENT" and order_by and limit is None:
        raise CellError(Code.LIMIT_MANDATORY, object=owner.name)
    return ListStatement(
        object_type=owner,
        names=tuple(names),
        filters=filters,
        attributes=attributes,
        all_attributes=everything,
        detail="DETAIL" in seen,
        order_by=order_by,
        limit=limit,
        over=over,
        memory="MEMORY" in seen,
        key_type=key_type,
    )


def _clause_fits(word: str, owner: ObjectType, release: Release) -> bool:
    if word == "WHERE":
        return "filter" in owner.list_forms
    if word in ("ORDER", "LIMIT"):
        return release >= ORDER_BY_SINCE
    return word not in ("OVER", "MEMORY") or owner.name == "METRICHISTORY"


def _attributes_at(stream: TokenStream, owner: ObjectType, release: Release) -> tuple[Attribute, ...]:
    if stream.accept_word("ALL"):
        return tuple(a for a in owner.attributes_in(release) if not a.hidden)
    attributes = [attribute_at(stream, owner, release)]
    while stream.accept_symbol(","):
        attributes.append(attribute_at(stream, owner, release))
    return tuple(attributes)


def _order_at(stream: TokenStream, owner: ObjectType, release: Release) -> tuple[tuple[Attribute, bool], ...]:
    stream.expect_word("BY")
    order: list[tuple[Attribute, bool]] = []
    while True:
        attribute = attribute_at(stream, owner, release)
        order.append((attribute, stream.accept_word("ASC", "DESC") == "DESC"))
        if not stream.accept_symbol(","):
            return tuple(order)


def _count_at(stream: TokenStream) -> int:
    token = stream.peek()
    if token.kind is not Kind.WORD or not token.text.isdecimal() or int(token.text) == 0:
        raise stream.error()
    return int(stream.take().text)


def _over_at(stream: TokenStream) -> Over:
    minutes = _count_at(stream)
    functions: set[str] = set()
    while (word := stream.accept_word("MAX", "MIN", "AVG")) is not None:
        functions.add(word)
    return Over(minutes=minutes, functions=frozenset(functions))


def parse_describe(stream: TokenStream, release: Release, known: Mapping[str, ObjectType] | None = None) -> Describe:
    """Parse the rest of a DESCRIBE statement, after its verb, and return it; ``known`` as for :func:`object_type_at`."""
    owner = object_type_at(stream, "DESCRIBE", release, known)
    stream.expect_end()
    return Describe(object_type=owner)


def parse_help(stream: TokenStream) -> Help:
    """Parse the rest of a HELP statement, after its verb, and return it; a topic has one or two words."""
    words: list[str] = []
    while not stream.at_end:
        if len(words) == 2 or stream.peek().kind is not Kind.WORD:
            raise stream.error()
        words.append(stream.take().text.upper())
    return Help(topic=" ".join(words))


def parse_set(stream: TokenStream) -> SetOption:
    """Parse the rest of a SET statement, after its verb, and return it."""
    option = stream.expect_word("ECHO", "DATEFORMAT")
    value = stream.expect_word(*(("ON", "OFF") if option == "ECHO" else ("STANDARD", "LOCAL")))
    stream.expect_end()
    return SetOption(option=option, value=value)
