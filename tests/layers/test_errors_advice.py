"""Statements that hints name: each is one, with all that stands in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

import exacell
from exacell.core.errors import StatementError
from exacell.language.calls import find_command
from exacell.language.line import parse_line
from exacell.language.words import Word, split_words

ROOT = Path(exacell.__file__).parent
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


def _advice() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                for text in _texts(keyword.value) if keyword.arg == "hint" else ():
                    for clause in re.split(r"; |, (?=or |and |then )", text):
                        if statement := statement_in(clause):
                            yield f"{path.relative_to(ROOT)}:{node.lineno}", statement


ADVICE = sorted(set(_advice()))


def test_advice_is_found() -> None:
    """The sweep sees the hints that name a statement with its values, not an empty list."""
    assert len(ADVICE) > 30 and any("sql asm" in text for _, text in ADVICE)


@pytest.mark.parametrize(
    ("place", "text"), ADVICE, ids=[f"{place} {text}".replace(PUT_IN, "…") for place, text in ADVICE]
)
def test_what_a_hint_says_to_type_is_a_statement(place: str, text: str) -> None:
    """With a value of its kind put in, each statement that a hint names parses, and each value of it is read."""
    errors = []
    for value in VALUES:
        said = text.replace(PUT_IN, value).replace("…", value)
        try:
            line = parse_line(said)
        except StatementError as error:
            errors.append(f"{said}: {error.message}")
            continue
        assert line is not None and line.call is not None, said
        read = {**line.call.args, **line.call.extra}
        for key in re.findall(r"(?<= )([a-z_]+)=", re.sub(r"""'[^']*'|"[^"]*\"""", "_", said)):
            assert key in read or any(key in str(found) for found in read.values()), f"{said}: {key} is lost"
        return
    pytest.fail(f"{place}: " + "; ".join(errors))
