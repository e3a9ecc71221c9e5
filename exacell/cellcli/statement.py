"""CellCLI's grammar: parse a text to a statement, and render it as text.

A statement is rendered as one line with keywords in capitals: ``parse(render(statement)) ==
statement`` for every statement that :func:`parse` returns.

A statement may use everything that any known release has; whether a cell's release has it is checked later
(:class:`exacell.cellcli.schema.Lifetime`). Source: Oracle SAGUG, understanding-command-syntax-and-options-cellcli.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exacell.cellcli.nodes import (
    Change,
    Describe,
    Filter,
    Grant,
    Group,
    List,
    Media,
    Operator,
    OrderBy,
    Over,
    Scalar,
    Setting,
    Statement,
    Value,
    Verb,
)
from exacell.cellcli.query import read_describe, read_list
from exacell.cellcli.schema import ObjectType, find_object, objects_of
from exacell.cellcli.tokens import Cursor, Token, TokenKind, is_word, tokenize
from exacell.core.errors import StatementError
from exacell.core.patterns import pattern

_RESERVED = """
    ABORT ACTIVE ACTIVEREQUEST ALERTDEFINITION ALERTHISTORY ALL ALTER ASSIGN BBU BMC CALIBRATE CATPLAN CELL CONFIGUREBMC
    CREATE DBPLAN DESCRIBE DETAIL DROP EXPORT FLASHCACHE FLASHCACHECONTENT FOR FORCE GRIDDISK IGNORE IMPORT INACTIVE
    IORMPLAN KEY LED LIST LUN MAIL MEMORY METRICDEFINITION METRICCURRENT METRICHISTORY MS NULL OFF ON PHYSICALDISK
    PRIVILEGE REALM REDUNDANCY REPLACEMENT RESTART RS RULE SHUTDOWN SNMP STARTUP THRESHOLD USER VALIDATE
"""
"""Words that must be quoted as values. Source: Oracle SAGUG, reserved-words."""

_GRAMMAR = """
    AND ASC ATTRIBUTES BY CANCEL CAPACITYOPTIMIZED DESC DISABLE DONOTSERVICELED FLASHDISK FLUSH FROM HARDDISK LIKE LIMIT
    MAINTAIN NOT NOWAIT OPTIONS ORDER OVER PERFORMANCEOPTIMIZED PMEM POWERCYCLE PREPARE REENABLE RESET ROLE SERVICELED
    TO UPGRADE WHERE WITH
"""
"""More words with a meaning at a place where a name is allowed."""

_KEYWORDS = frozenset(_RESERVED.split()) | frozenset(_GRAMMAR.split())
_PLAIN_NAME = pattern(r"[A-Za-z0-9_.:/]+")


def render(statement: Statement) -> str:
    """Return ``statement`` as one line of CellCLI, without a ``;`` at the end.

    Raises:
        StatementError: a name or value has both kinds of quotes, which CellCLI can't express.
    """
    if isinstance(statement, List):
        return _list(statement)
    if isinstance(statement, Describe):
        return f"DESCRIBE {statement.object}"
    if isinstance(statement, Grant):
        return _grant(statement)
    return _change(statement)


def render_value(value: Value) -> str:
    """Return a value as it is written after ``attribute=``; lists have no blanks.

    Raises:
        StatementError: as :func:`render`.
    """
    if isinstance(value, Scalar):
        return _quoted(value.text, "'") if value.quoted or not is_word(value.text) else value.text
    return f"({','.join(_item(item) for item in value.items)})"


def render_name(name: str) -> str:
    """Return a name, in double quotes if it has a special character or is a keyword.

    Up to release 19.2 a hyphen needs the quotes.

    Raises:
        StatementError: as :func:`render`.
    """
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in _KEYWORDS:
        return name
    return _quoted(name, '"')


def _list(statement: List) -> str:
    over, limit = statement.over, statement.limit
    columns = (f"{order.attribute} DESC" if order.descending else order.attribute for order in statement.order_by)
    attributes = ", ".join(statement.attributes)
    parts = (
        f"LIST {statement.object}",
        f"FOR {statement.key_for}" if statement.key_for else "",
        _names(statement.names),
        *_where(statement.filters),
        "ATTRIBUTES ALL" if statement.all_attributes else f"ATTRIBUTES {attributes}" if attributes else "",
        " ".join(("OVER", str(over.minutes), *over.aggregates)) if over is not None else "",
        "MEMORY" if statement.memory else "",
        "DETAIL" if statement.detail else "",
        f"ORDER BY {', '.join(columns)}" if statement.order_by else "",
        f"LIMIT {limit}" if limit is not None else "",
    )
    return " ".join(filter(None, parts))


def _change(statement: Change) -> str:
    definitions = ",".join(map(_definition, statement.definitions))
    parts = [
        statement.verb.value,
        statement.object,
        f"({definitions})" if definitions else "",
        "ALL" if statement.all else "",
        statement.media.value if statement.media is not None else "",
        _names(statement.names),
    ]
    settings = ", ".join(_item(setting) for setting in statement.settings)
    action = [statement.action, *([_argument(statement)] if statement.argument else [])] if statement.action else []
    flags = list(statement.flags)
    if statement.action and statement.setting("cellDisk") is not None:
        # The cell disks of a cache, and their FORCE, come before the action.
        forced = [flags.pop(flags.index("FORCE"))] if "FORCE" in flags else []
        parts += [settings, *forced, *action]
    elif statement.action:
        parts += [*_where(statement.filters), *action, settings]
    else:
        parts += [settings, *_where(statement.filters)]
    return " ".join(filter(None, [*parts, *flags]))


def _argument(statement: Change) -> str:
    return render_value(Scalar(text=statement.argument, quoted=not is_word(statement.argument)))


def _grant(statement: Grant) -> str:
    parts = [statement.verb.value, statement.object]
    if statement.object == "PRIVILEGE":
        # Actions and object types are keywords themselves, so they are written without quotes.
        parts += [_all_or_words(statement.granted, "ACTIONS"), "ON", _all_or_words(statement.on, "OBJECTS")]
        if statement.attributes == ("ALL",):
            parts.append("ALL ATTRIBUTES")
        elif statement.attributes:
            parts += ["ATTRIBUTES", _names(statement.attributes)]
        if statement.options == ("ALL",):
            parts.append("WITH ALL OPTIONS")
        elif statement.options:
            parts += ["WITH OPTIONS", _names(statement.options)]
        recipient = "ROLE"
    else:
        parts.append(_all_or_names(statement.granted))
        recipient = "USER"
    parts += ["TO" if statement.verb is Verb.GRANT else "FROM", recipient]
    parts.append(_all_or_names(statement.recipients))
    return " ".join(parts)


def _all_or_words(words: tuple[str, ...], noun: str) -> str:
    if words == ("ALL",):
        return f"ALL {noun}"
    return ", ".join(word.upper() if is_word(word) else _quoted(word, '"') for word in words)


def _all_or_names(names: tuple[str, ...]) -> str:
    return "ALL" if names == ("ALL",) else _names(names)


def _names(names: Iterable[str]) -> str:
    return ", ".join(render_name(name) for name in names)


def _where(filters: tuple[Filter, ...]) -> list[str]:
    return ["WHERE", " AND ".join(_filter(condition) for condition in filters)] if filters else []


def _filter(condition: Filter) -> str:
    operator = condition.operator.value
    if condition.negated:
        operator = "!=" if operator == "=" else f"NOT {operator}"
    return f"{condition.attribute} {operator} {render_value(condition.value)}"


def _item(item: Scalar | Setting | Group) -> str:
    return f"{item.attribute}={render_value(item.value)}" if isinstance(item, Setting) else render_value(item)


def _definition(settings: tuple[Setting, ...]) -> str:
    return f"({','.join(_item(setting) for setting in settings)})"


def _quoted(text: str, preferred: str) -> str:
    other = "'" if preferred == '"' else '"'
    for quote in (preferred, other):
        if quote not in text:
            return f"{quote}{text}{quote}"
    raise StatementError(f"{text} has both kinds of quotes, which CellCLI can't express", hint="use one kind only")


__all__ = [
    "Change",
    "Describe",
    "Filter",
    "Grant",
    "Group",
    "List",
    "Media",
    "Operator",
    "OrderBy",
    "Over",
    "Scalar",
    "Setting",
    "Statement",
    "Value",
    "Verb",
    "columns",
    "parse",
    "render",
    "render_name",
    "render_value",
]

_INSTEAD = {
    (Verb.ALTER, "FLASHLOG"): "drop it and create it with the new size",
    (Verb.ALTER, "PMEMLOG"): "drop it and create it with the new size",
    (Verb.ALTER, "XRMEMLOG"): "drop it and create it with the new size",
    (Verb.CREATE, "IORMPLAN"): "every cell has one: use ALTER IORMPLAN",
    (Verb.DROP, "IORMPLAN"): 'every cell has one: empty it with ALTER IORMPLAN dbplan=""',
}


def parse(source: str | Sequence[Token], *, end: int | None = None) -> Statement:
    """Return the one statement in ``source``; a ``;`` may follow it.

    Args:
        source: a line, or the tokens of one.
        end: offset at which a missing part would be; None: the end of the line or of the last token.

    Raises:
        StatementError: it is not a CellCLI statement that acts on cells, or more than one; start, end and suggestions show where
            the error is and what would fit.
    """
    tokens = tokenize(source) if isinstance(source, str) else tuple(source)
    if end is None:
        end = len(source.rstrip()) if isinstance(source, str) else tokens[-1].end if tokens else 0
    for index, token in enumerate(tokens):
        if token.kind is TokenKind.SEMICOLON:
            if index + 1 < len(tokens):
                raise StatementError(
                    "only one statement is allowed here, but another follows the ;",
                    start=tokens[index + 1].start,
                    end=tokens[-1].end,
                    hint="type each on a line of its own",
                )
            tokens, end = tokens[:index], token.start
    return _parse(Cursor(tokens, end=end))


def columns(statement: List) -> tuple[str, ...]:
    """Return the columns of the rows of ``statement``, for :func:`exacell.cellcli.reply.read_columns`.

    Empty for ATTRIBUTES ALL: its rows can't be read reliably, because they may contain hidden attributes. Ask for DETAIL instead.
    """
    if statement.all_attributes:
        return ()
    found = find_object(statement.object)
    return statement.attributes or (found.default_columns if found else ())


def _parse(cursor: Cursor) -> Statement:
    word = cursor.word("a statement")
    verb = next((verb for verb in Verb if word.is_word(verb.value)), None)
    if verb is None:
        raise cursor.wrong(
            f"'{word.value}' is not a verb of CellCLI that acts on cells",
            at=word,
            like=[verb.value.lower() for verb in Verb],
        )
    subject = _object(cursor, verb) if verb is not Verb.CALIBRATE else None
    if verb is Verb.LIST and subject is not None:
        return read_list(cursor, subject)
    if verb is Verb.DESCRIBE and subject is not None:
        return read_describe(cursor, subject)
    from exacell.cellcli.change import NOTHING, read_change, read_grant  # Most statements read and don't need it.

    if subject is None:
        return read_change(cursor, verb, NOTHING)
    if verb in (Verb.GRANT, Verb.REVOKE):
        return read_grant(cursor, verb, subject)
    return read_change(cursor, verb, subject)


def _object(cursor: Cursor, verb: Verb) -> ObjectType:
    word = cursor.word(f"the object type after {verb}")
    subject = find_object(word.value) if word.kind is TokenKind.WORD else None
    if subject is not None and verb in subject.verbs:
        return subject
    candidates = [found.name.lower() for found in objects_of(verb)]
    instead = _INSTEAD.get((verb, subject.name)) if subject else None
    if instead and subject:
        raise cursor.wrong(f"there is no {verb} {subject.name}", at=word, hint=instead)
    raise cursor.wrong(f"{verb} has no object '{word.value}'", at=word, like=candidates)
