"""Writes a statement as CellCLI text: one line, keywords in capitals, nothing that needs a second reading.

``parse(render(statement)) == statement`` for every statement that :func:`exacell.cellcli.statement.parse` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from exacell.cellcli.nodes import Change, Describe, Filter, Grant, Group, List, Scalar, Setting, Statement, Value, Verb
from exacell.cellcli.tokens import is_word
from exacell.core.errors import StatementError

_RESERVED = """
    ABORT ACTIVE ACTIVEREQUEST ALERTDEFINITION ALERTHISTORY ALL ALTER ASSIGN BBU BMC CALIBRATE CATPLAN CELL CONFIGUREBMC
    CREATE DBPLAN DESCRIBE DETAIL DROP EXPORT FLASHCACHE FLASHCACHECONTENT FOR FORCE GRIDDISK IGNORE IMPORT INACTIVE
    IORMPLAN KEY LED LIST LUN MAIL MEMORY METRICDEFINITION METRICCURRENT METRICHISTORY MS NULL OFF ON PHYSICALDISK
    PRIVILEGE REALM REDUNDANCY REPLACEMENT RESTART RS RULE SHUTDOWN SNMP STARTUP THRESHOLD USER VALIDATE
"""
"""Words that are quoted when they are values. Source: Oracle SAGUG, reserved-words."""

_GRAMMAR = """
    AND ASC ATTRIBUTES BY CANCEL CAPACITYOPTIMIZED DESC DISABLE DONOTSERVICELED FLASHDISK FLUSH FROM HARDDISK LIKE LIMIT
    MAINTAIN NOT NOWAIT OPTIONS ORDER OVER PERFORMANCEOPTIMIZED PMEM POWERCYCLE PREPARE REENABLE RESET ROLE SERVICELED
    TO UPGRADE WHERE WITH
"""
"""Further words that mean something where a name may stand."""

_KEYWORDS = frozenset(_RESERVED.split()) | frozenset(_GRAMMAR.split())
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:/]+")


def render(statement: Statement) -> str:
    """Return ``statement`` as one line of CellCLI, without a ``;`` at the end.

    Raises:
        StatementError: a name or value has both kinds of quotes, for which CellCLI has no spelling.
    """
    if isinstance(statement, List):
        return _list(statement)
    if isinstance(statement, Describe):
        return f"DESCRIBE {statement.object}"
    if isinstance(statement, Grant):
        return _grant(statement)
    return _change(statement)


def render_value(value: Value) -> str:
    """Return a value as it stands after ``attribute=``, lists without blanks.

    Raises:
        StatementError: as :func:`render`.
    """
    if isinstance(value, Scalar):
        return _quoted(value.text, "'") if value.quoted or not is_word(value.text) else value.text
    return f"({','.join(_item(item) for item in value.items)})"


def render_name(name: str) -> str:
    """Return a name, in double quotes when it has to be (up to 19.2 a hyphen needs them) or could be a keyword.

    Raises:
        StatementError: as :func:`render`.
    """
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in _KEYWORDS:
        return name
    return _quoted(name, '"')


def _list(statement: List) -> str:
    parts = ["LIST", statement.object]
    if statement.key_for:
        parts += ["FOR", statement.key_for]
    if statement.names:
        parts.append(_names(statement.names))
    parts += _where(statement.filters)
    if statement.all_attributes:
        parts.append("ATTRIBUTES ALL")
    elif statement.attributes:
        parts += ["ATTRIBUTES", ", ".join(statement.attributes)]
    if statement.over is not None:
        parts += ["OVER", str(statement.over.minutes), *statement.over.aggregates]
    if statement.memory:
        parts.append("MEMORY")
    if statement.detail:
        parts.append("DETAIL")
    if statement.order_by:
        columns = (f"{order.attribute} DESC" if order.descending else order.attribute for order in statement.order_by)
        parts += ["ORDER BY", ", ".join(columns)]
    if statement.limit is not None:
        parts += ["LIMIT", str(statement.limit)]
    return " ".join(parts)


def _change(statement: Change) -> str:
    parts = [statement.verb.value]
    if statement.object:
        parts.append(statement.object)
    if statement.definitions:
        parts.append(f"({','.join(_definition(settings) for settings in statement.definitions)})")
    if statement.all:
        parts.append("ALL")
    if statement.media is not None:
        parts.append(statement.media.value)
    if statement.names:
        parts.append(_names(statement.names))
    settings = ", ".join(_item(setting) for setting in statement.settings)
    action = [statement.action, *([_argument(statement)] if statement.argument else [])] if statement.action else []
    flags = list(statement.flags)
    if statement.action and statement.setting("cellDisk") is not None:
        # Which cell disks of a cache, and FORCE about them, come before what happens to it.
        forced = [flags.pop(flags.index("FORCE"))] if "FORCE" in flags else []
        parts += [settings, *forced, *action]
    elif statement.action:
        parts += [*_where(statement.filters), *action, *([settings] if settings else [])]
    else:
        parts += [*([settings] if settings else []), *_where(statement.filters)]
    return " ".join([*parts, *flags])


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
    if isinstance(item, Setting):
        return f"{item.attribute}={render_value(item.value)}"
    return render_value(item)


def _definition(settings: tuple[Setting, ...]) -> str:
    return f"({','.join(_item(setting) for setting in settings)})"


def _quoted(text: str, preferred: str) -> str:
    other = "'" if preferred == '"' else '"'
    for quote in (preferred, other):
        if quote not in text:
            return f"{quote}{text}{quote}"
    raise StatementError(
        f"{text} has both kinds of quotes, for which CellCLI has no spelling", hint="use one kind only"
    )
