"""What may be typed short at the prompt: aliases with arguments, and verbs and objects cut off where one only fits. Pure.

Nothing here is for scripts, recipes or the command line: a name that is unique today may not be so in the next release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.cellcli.schema import objects_of
from exacell.errors import StatementError
from exacell.language.line import VERBS, Line, parse_line
from exacell.language.registry import Effect, commands
from exacell.language.words import Word, split_words

ALIAS_NAME = re.compile(r"[A-Za-z][\w\-]*")

_PLACE = re.compile(r"\$(?:([1-9])|(\*)|\{([1-9])(?::-([^}]*))?\})")
_DEEPEST = 8


def expand_alias(text: str, aliases: Mapping[str, str]) -> str:
    """Return ``text`` with an alias in front replaced by what it stands for; ``text`` itself when there is none.

    ``$1`` to ``$9`` in an alias are the words behind it, ``${1:-word}`` has a default, ``$*`` is all of them; words that
    no placeholder takes are added at the end. An alias may begin with another one.

    Raises:
        StatementError: a placeholder has no word, or aliases stand for each other.
    """
    for _ in range(_DEEPEST):
        words = _words(text)
        first = 2 if words and words[0].value.lower() == "on" and not words[0].quoted else 0
        body = aliases.get(words[first].value.lower()) if len(words) > first else None
        if body is None:
            return text
        filled = _filled(words[first], body, [word.raw for word in words[first + 1 :]])
        head = text[: words[first].start]
        if _first(filled) == words[first].value.lower():
            return head + filled
        text = head + filled
    raise StatementError(f"the alias {words[first].value} never comes to an end: aliases stand for each other")


def _words(text: str) -> list[Word]:
    try:
        return split_words(text)
    except StatementError:
        return []


def _first(text: str) -> str:
    return (text.split(None, 1) or [""])[0].lower()


def _filled(alias: Word, body: str, given: Sequence[str]) -> str:
    taken: set[int] = set()

    def value(match: re.Match[str]) -> str:
        if match[2]:
            taken.update(range(len(given)))
            return " ".join(given)
        number = int(match[1] or match[3])
        taken.add(number - 1)
        if number <= len(given):
            return given[number - 1]
        if match[4] is not None:
            return match[4]
        raise StatementError(
            f"alias {alias.value} needs {number} word{'' if number == 1 else 's'} behind it: {body}",
            start=alias.start,
            end=alias.end,
        )

    filled = _PLACE.sub(value, body)
    return " ".join([filled, *(word for place, word in enumerate(given) if place not in taken)])


def spelled_out(text: str) -> str:
    """Return ``text`` with its verb and object in full where they were cut off and only one fits; else ``text`` itself."""
    words = _words(text)
    first = 2 if words and words[0].value.lower() == "on" and not words[0].quoted else 0
    if len(words) <= first or words[first].quoted:
        return text
    verb = _only(words[first].value, _verbs())
    if not verb:
        return text
    changes = {first: verb}
    if len(words) > first + 1 and not words[first + 1].quoted:
        found = _only(words[first + 1].value, _objects(verb))
        if found:
            changes[first + 1] = found
    for place in sorted(changes, reverse=True):
        word = words[place]
        if word.value.lower() != changes[place]:
            text = text[: word.start] + changes[place] + text[word.end :]
    return text


def _verbs() -> set[str]:
    return {verb.lower() for verb in VERBS} | {words[0] for words in commands()}


def _objects(verb: str) -> set[str]:
    own = {words[1] for words in commands() if len(words) > 1 and words[0] == verb}
    return own | {found.name.lower() for found in objects_of(verb)}


def _only(typed: str, words: set[str]) -> str:
    """Return the one word that begins with ``typed``, or is it; empty when there is none or more."""
    if typed.lower() in words:
        return typed.lower()
    found = [word for word in words if word.startswith(typed.lower())]
    return found[0] if len(found) == 1 and typed.isalpha() else ""


def understood(text: str, aliases: Mapping[str, str]) -> tuple[str, Line | None]:
    """Return the statement that ``text`` means once aliases and cut-off words are written out, and its line.

    The statement is ``text`` itself when nothing in it was short. The line is None for a comment, and for an alias that
    stands for several statements.

    Raises:
        StatementError: it is no statement; places in it count in ``text`` unless it was an alias.
    """
    expanded = expand_alias(text, aliases)
    if expanded != text:
        from exacell.language.text import split_statements

        if len(split_statements(expanded)) > 1:
            return expanded, None
    try:
        return expanded, parse_line(expanded)
    except StatementError as error:
        full = spelled_out(expanded)
        if full == expanded:
            raise _elsewhere(error, text, expanded) from None
        try:
            line = parse_line(full)
        except StatementError:
            raise _elsewhere(error, text, expanded) from None
        if line is not None and line.effect in (Effect.WRITE, Effect.OPAQUE) and line.flags.get("yes"):
            raise StatementError(
                f"'{text}' is cut short and says -y: a change without a question is typed in full",
                start=0,
                end=len(text),
                hint=full,
            ) from None
        return full, line


def _elsewhere(error: StatementError, text: str, expanded: str) -> StatementError:
    """Return the error as one about ``text``: what an alias stands for has no place in it."""
    if expanded == text:
        return error
    end = len(text.split(None, 1)[0]) if text.split() else 0
    return StatementError(
        f"{error.message} (in: {expanded})", start=0, end=end, suggestions=error.suggestions, hint=error.hint
    )
