"""The statements that the privileges of a role allow to a caller of ExaCLI.

A privilege names a verb, an object type, attributes and options, or all of each. A statement may be run if one privilege of one
of the user's roles covers all of it: the attributes that it shows, sets, filters and sorts by, and its options.

Source: reference cellcli.md 2.3; Oracle DBMMN, grant-privilege: options are for example DETAIL, LIMIT, ORDER BY and WHERE;
GRANT, REVOKE, and CREATE and DROP of users and roles can't be granted. It is not published which attributes a LIST without
ATTRIBUTES needs on a real cell; here it needs those that it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from exacell.emulator.basics.messages import CellError
from exacell.emulator.basics.schema import ObjectType, Release, object_types
from exacell.emulator.cell.models import Cell
from exacell.emulator.grammar.changing import parse
from exacell.emulator.grammar.reading import ListStatement
from exacell.emulator.grammar.security import grantable
from exacell.emulator.grammar.tokens import Kind, tokens_of

_SHOWN = re.compile(r"object=(.*?), verb=(.*?), attributes=(.*), options=(.*)")
_ALL_OBJECTS, _ALL_VERBS = "all objects", "all actions"
_OPTION_WORDS = ("FORCE", "NOWAIT", "ERASE", "WHERE")


@dataclass(frozen=True, kw_only=True)
class Need:
    """The needs of a statement: verb, object type, attributes and options, all in lower case."""

    verb: str
    object_name: str
    attributes: frozenset[str]
    options: frozenset[str]


def may_run(cell: Cell, user: str, text: str, release: Release) -> bool:
    """Return whether a user of ``cell`` may run a statement; True also for a text that CellCLI will refuse anyway."""
    try:
        need = needed_by(text, release)
    except CellError:
        return True
    roles, having = cell.records.get("ROLE", {}), cell.records.get("USER", {}).get(user, {"roles": []})
    privileges = (
        privilege for role in having["roles"] for privilege in roles.get(role, {"privileges": []})["privileges"]
    )
    return grantable(need.verb, need.object_name) and any(_covers(privilege, need) for privilege in privileges)


def needed_by(text: str, release: Release) -> Need:
    """Return the verb, object type, attributes and options that a statement needs.

    Raises:
        CellError: ``text`` is not a statement of ``release``.
    """
    statement = parse(text, release)
    tokens = [token for token in tokens_of(text) if token.kind is not Kind.END]
    verb, object_name = tokens[0].text, tokens[1].text if len(tokens) > 1 else ""
    owner = object_types().get(object_name.upper())
    if isinstance(statement, ListStatement):
        attributes: Iterable[str] = _listed(statement, release)
        options: Iterable[str] = _list_options(statement)
    else:
        settings = pairwise(tokens)
        attributes = () if owner is None else _set(owner, release, (t.text for t, n in settings if n.is_symbol("=")))
        options = (token.text for token in tokens if token.is_word(*_OPTION_WORDS))
    return Need(
        verb=verb.lower(),
        object_name=object_name.lower(),
        attributes=frozenset(name.lower() for name in attributes),
        options=frozenset(name.lower() for name in options),
    )


def _listed(statement: ListStatement, release: Release) -> Iterator[str]:
    owner, chosen = statement.object_type, statement.attributes
    if chosen is not None:
        yield from (attribute.name for attribute in chosen)
    elif statement.detail:
        yield from (attribute.name for attribute in owner.attributes_in(release) if not attribute.hidden)
    else:
        yield from owner.default_columns
    yield from (condition.attribute.name for condition in statement.filters)
    yield from (attribute.name for attribute, _descending in statement.order_by)


def _list_options(statement: ListStatement) -> Iterator[str]:
    asked = {
        "detail": statement.detail,
        "where": bool(statement.filters),
        "order by": bool(statement.order_by),
        "limit": statement.limit is not None,
        "over": statement.over is not None,
        "memory": statement.memory,
    }
    return (name for name, used in asked.items() if used)


def _set(owner: ObjectType, release: Release, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        attribute = owner.attribute(name, release)
        if attribute is not None:
            yield attribute.name


def _covers(shown: str, need: Need) -> bool:
    """Return whether a privilege, written as LIST ROLE shows it, covers the needs of a statement."""
    match = _SHOWN.fullmatch(shown)
    if match is None:
        return False
    owner, verb, attributes, options = match.groups()
    return (
        owner in (_ALL_OBJECTS, need.object_name)
        and verb in (_ALL_VERBS, need.verb)
        and (attributes == "all attributes" or need.attributes <= _names(attributes))
        and (options == "all options" or need.options <= _names(options))
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in text.split(","))
