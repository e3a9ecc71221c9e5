"""Statements that hints name: each is one, with all that stands in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile

import pytest

from exacell.core.errors import StatementError
from exacell.language.calls import find_command
from exacell.language.line import parse_line
from exacell.language.words import Word, split_words
from tests.support.sources import ROOT, calls, trees

PUT_IN = "\x00"
"""What stands for a value that is put into a hint."""

VALUES = ("exa1cel01", "DATA", "4G", "3", "db=SPOT", "writeback", "flash")
"""What is tried for it: a cell, a disk group, a size, a number, whose, a mode, a medium."""


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else PUT_IN for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))


def _part_of_a_statement(word: Word) -> bool:
    """Whether a word of a clause is the statement's, and not one of the sentence around it: a value, a text, what is put in."""
    return (
        "=" in word.raw
        or word.quoted
        or word.raw.startswith("--")
        or re.fullmatch(r"[A-Z]+|\x00|@\w+", word.raw) is not None
    )


def statement_in(clause: str) -> str:
    """Return the statement that a clause of a hint begins with; empty where it begins with none, or with its name alone."""
    try:
        words = split_words(clause.removeprefix("type: ").rstrip(","))
    except StatementError:
        return ""
    command = find_command(words)
    if command is None or (len(command.words) < 2 and command.name != "sql"):
        return ""
    own = words[: len(command.words)]
    given = list(takewhile(_part_of_a_statement, words[len(own) :]))
    return " ".join(word.raw for word in (*own, *given)) if given else ""


def _found() -> Iterator[tuple[str, str]]:
    for path in trees():
        for node in calls(path):
            for keyword in node.keywords:
                for text in _texts(keyword.value) if keyword.arg == "hint" else ():
                    for clause in (*re.split(r"; |, (?=or |and |then )", text), *re.findall(r"`([^`]*)`", text)):
                        if statement := statement_in(clause):
                            yield f"{path.relative_to(ROOT)}:{node.lineno}", statement


@cache
def advice() -> list[tuple[str, str]]:
    """Return each statement that a hint names, behind its place; once, and not where tests are only collected."""
    return sorted(set(_found()))


def test_advice_is_found() -> None:
    """The sweep sees the hints that name a statement with its values, not an empty list."""
    assert len(advice()) > 30 and any("sql asm" in text for _, text in advice())


def test_what_a_hint_says_to_type_is_a_statement() -> None:
    """With a value of its kind put in, each statement that a hint names parses, and each value of it is read."""
    wrong = [f"{place} {text}: {why}" for place, text in advice() if (why := wrong_with(text))]
    assert not wrong, "\n".join(wrong)


def wrong_with(text: str) -> str:
    """Return why a statement that is advised can't be typed with any of the values; empty where it can."""
    errors = []
    for value in VALUES:
        said = text.replace(PUT_IN, value).replace("…", value)
        try:
            line = parse_line(said)
        except StatementError as error:
            errors.append(f"{said}: {error.message}")
            continue
        if line is None or line.call is None:
            return f"{said} is no statement of ours"
        read = {**line.call.args, **line.call.extra}
        keys = re.findall(r"(?<= )([a-z_]+)=", re.sub(r"""'[^']*'|"[^"]*\"""", "_", said))
        lost = [key for key in keys if key not in read and not any(key in str(found) for found in read.values())]
        return f"{said}: {', '.join(lost)} is lost" if lost else ""
    return "; ".join(errors)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('sql asm "alter diskgroup DATA online all"', ""),
        ("resize flashcache size=\x00", ""),
        ("resize flashcache sise=\x00", "sise"),
        ("list nonsense", "nonsense"),
    ],
)
def test_advice_that_can_not_be_typed_is_noticed(text: str, why: str) -> None:
    """A slip in a statement that is advised is found, and a good one is none."""
    assert why in wrong_with(text) and bool(wrong_with(text)) is bool(why)
