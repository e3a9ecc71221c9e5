"""CellCLI's grammar: text to a statement and back.

A statement is checked against what any known release has; whether the release of a cell has it is a later question
(:class:`exacell.cellcli.schema.Lifetime`). Source: Oracle SAGUG, understanding-command-syntax-and-options-cellcli.
"""

from __future__ import annotations

from collections.abc import Sequence

from exacell.cellcli.change import NOTHING, read_change, read_grant
from exacell.cellcli.cursor import Cursor
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
from exacell.cellcli.render import render, render_name, render_value
from exacell.cellcli.schema import ObjectType, find_object, objects_of
from exacell.cellcli.tokens import Token, TokenKind, tokenize
from exacell.core.errors import StatementError

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
    """Return the one statement that ``source`` is; a ``;`` may follow it.

    Args:
        source: a line, or the tokens of one.
        end: where something that is missing would have to stand; the end of the line or of the last token when None.

    Raises:
        StatementError: it is no statement of CellCLI that acts on cells, or more than one; start, end and
            suggestions say where and what would fit.
    """
    tokens = tokenize(source) if isinstance(source, str) else tuple(source)
    if end is None:
        end = len(source.rstrip()) if isinstance(source, str) else tokens[-1].end if tokens else 0
    for index, token in enumerate(tokens):
        if token.kind is TokenKind.SEMICOLON:
            if index + 1 < len(tokens):
                raise StatementError(
                    "one statement is expected here, and another follows the ;",
                    start=tokens[index + 1].start,
                    end=tokens[-1].end,
                )
            tokens, end = tokens[:index], token.start
    return _parse(Cursor(tokens, end=end))


def columns(statement: List) -> tuple[str, ...]:
    """Return the columns that the rows of ``statement`` have, for :func:`exacell.cellcli.reply.read_columns`.

    Empty for ATTRIBUTES ALL: whether hidden attributes are among its columns is not known, so that its rows cannot be
    read reliably. Ask for DETAIL instead.
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
    if verb is Verb.CALIBRATE:
        return read_change(cursor, verb, NOTHING)
    subject = _object(cursor, verb)
    if verb is Verb.LIST:
        return read_list(cursor, subject)
    if verb is Verb.DESCRIBE:
        return read_describe(cursor, subject)
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
    raise cursor.wrong(f"'{word.value}' is not an object that {verb} knows", at=word, like=candidates)
