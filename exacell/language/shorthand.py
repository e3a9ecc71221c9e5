"""Expand abbreviations at the prompt: aliases with arguments, and words of which only the beginning is typed. Pure.

Scripts, recipes and the command line don't use this: a beginning that is unique today may not be unique in the next release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.cellcli.schema import objects_of
from exacell.core.errors import StatementError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.language.calls import VERBS
from exacell.language.line import Line, parse_line
from exacell.language.pasted import pasted
from exacell.language.registry import Effect, commands
from exacell.language.suggestion import Known
from exacell.language.words import Word, split_words, unquote

ALIAS_NAME = re.compile(r"[A-Za-z][\w\-]*")

_PLACE = re.compile(r"\$(?:([1-9])|(\*)|\{([1-9])(?::-([^}]*))?\})")
_DEEPEST = 8
_MOST_WORDS = 8
"""Maximum number of words of one statement that are completed, besides its verb and object."""


def expand_alias(text: str, aliases: Mapping[str, str]) -> str:
    """Return ``text`` with the alias at its beginning replaced by the definition; ``text`` itself without an alias.

    ``$1`` to ``$9`` in an alias are the words after it, ``${1:-word}`` has a default, ``$*`` is all of them; words that no
    placeholder takes are added at the end. An alias may begin with another one.

    Raises:
        StatementError: a placeholder has no word, or aliases refer to each other.
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
    raise StatementError(f"the alias {words[first].value} never ends: aliases refer to each other")


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
            f"alias {alias.value} needs {counted(number, 'word')} after it: {body}",
            start=alias.start,
            end=alias.end,
        )

    filled = _PLACE.sub(value, body)
    return " ".join([filled, *(word for place, word in enumerate(given) if place not in taken)])


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """An abbreviated word: its place, and the word in full."""

    start: int
    end: int
    word: str

    def back(self, place: int) -> int:
        """Return the offset before the word was completed, for an offset after."""
        longer = len(self.word) - (self.end - self.start)
        return place - longer if place >= self.start + len(self.word) else min(place, self.end)


def _replaced(text: str, cuts: Sequence[_Cut]) -> str:
    for cut in cuts:
        text = text[: cut.start] + cut.word + text[cut.end :]
    return text


def _head(text: str) -> list[_Cut]:
    """Return the verb and the object if they are abbreviated, the last one first."""
    words = _words(text)
    first = 2 if words and words[0].value.lower() == "on" and not words[0].quoted else 0
    if len(words) <= first or words[first].quoted:
        return []
    verb = _only(words[first].value, _verbs())
    if not verb:
        return []
    whole = {first: verb}
    if len(words) > first + 1 and not words[first + 1].quoted:
        whole[first + 1] = _only(words[first + 1].value, _objects(verb))
    return [
        _Cut(start=words[place].start, end=words[place].end, word=whole[place])
        for place in sorted(whole, reverse=True)
        if whole[place] and words[place].value.lower() != whole[place]
    ]


def _faulty(text: str, error: StatementError) -> list[_Cut]:
    """Return the word at the error, in full, if exactly one allowed word begins with it; otherwise nothing."""
    typed = text[error.start : error.end] if error.start is not None and error.end is not None else ""
    if error.start is None or error.end is None or not re.fullmatch(r"[A-Za-z]\w+", typed):
        return []
    from exacell.language.suggest import suggest

    found = {
        text[error.start : each.start] + each.text.rstrip("=,")
        for each in suggest(text[: error.end], Known(names=lambda kind: ()))
    }
    whole = [word for word in found if word.lower().startswith(typed.lower()) and len(word) > len(typed)]
    return [_Cut(start=error.start, end=error.end, word=whole[0])] if len(whole) == 1 else []


def _verbs() -> set[str]:
    return {verb.lower() for verb in VERBS} | {words[0] for words in commands()}


def _objects(verb: str) -> set[str]:
    own = {words[1] for words in commands() if len(words) > 1 and words[0] == verb}
    return own | {found.name.lower() for found in objects_of(verb)}


def _only(typed: str, words: set[str]) -> str:
    """Return the one word that is equal to ``typed`` or begins with it; empty if there is none or several."""
    if typed.lower() in words:
        return typed.lower()
    found = [word for word in words if word.startswith(typed.lower())]
    return found[0] if len(found) == 1 and typed.isalpha() else ""


_HABITS = {
    "?": "help", "\\?": "help", "\\q": "exit", ":q": "exit", "quit()": "exit", "exit()": "exit",
    "clear": "!clear", "cls": "!clear", "clear screen": "!clear",
    "\\h": "help", ".help": "help", ".exit": "exit", ".quit": "exit",
    "\\l": "racks", "\\s": "history", "\\e": "edit",
    "ed": "edit", "\\timing": "set timing on", "\\timing on": "set timing on", "\\timing off": "set timing off",
    "\\o": "spool off",
}  # fmt: skip
"""Words that users type from habit in another shell → the statement here."""

_BEGUN = {
    "\\h": "help ", "\\c": "connect ", "\\connect": "connect ", "\\i": "start ", "\\o": "spool ", "\\watch": "watch ", "\\!": "!",
    "desc": "describe ",
}  # fmt: skip
"""The same for words that are followed by something."""

_CALLED = re.compile(r"(?:exacell\s+(?=[A-Za-z@])|cellcli\s+-e\s+)(.+)", re.IGNORECASE | re.DOTALL)
"""A statement in a shell's command line: after a program's name."""

_SSH = re.compile(
    r"ssh\s+(?:-(?:[oFil]\s+\S+|[qTnx])\s+)*(?:\w+@)?(?P<host>[A-Za-z][\w.-]*)\s+"
    r"(?P<around>['\"]?)cellcli\s+(?:-[xmn]\s+)*-e\s+(?P<statement>.+)(?P=around)",
    re.IGNORECASE | re.DOTALL,
)
"""The same for one cell. Source: ssh(1)."""


def _habit(text: str) -> str:
    """Return the statement for a word of another shell or for a shell's command line; otherwise ``text``."""
    text = pasted(text)
    bare = text.strip().rstrip(";").rstrip()
    meant = _HABITS.get(bare.lower())
    if meant is not None:
        return meant
    first, _, rest = bare.partition(" ")
    if rest.strip() and first.lower() in _BEGUN:
        return _BEGUN[first.lower()] + rest.strip()
    called, elsewhere = _CALLED.fullmatch(bare), _SSH.fullmatch(bare)
    if elsewhere is not None:
        return f"on {elsewhere['host']} {unquote(elsewhere['statement'].strip())}"
    return unquote(called[1].strip()) if called is not None else text


def understood(text: str, aliases: Mapping[str, str]) -> tuple[str, Line | None]:
    """Return ``text`` with aliases and abbreviated words written out, and its parsed line.

    The statement is ``text`` itself if nothing was abbreviated. The line is None for a comment, and for an alias that stands
    for several statements.

    Raises:
        StatementError: it is not a statement; places are offsets into ``text``, unless ``text`` begins with an alias.
    """
    expanded = expand_alias(_habit(text), aliases)
    if expanded != text:
        from exacell.language.words import split_statements

        if len(split_statements(expanded)) > 1:
            return expanded, None
    try:
        return expanded, parse_line(expanded)
    except StatementError as error:
        return _written_out(text, expanded, error)


def _written_out(text: str, expanded: str, error: StatementError) -> tuple[str, Line | None]:
    """Return ``expanded`` with its abbreviated words in full, and its line; in a change only verb and object may be abbreviated.

    Raises:
        StatementError: something else is wrong with it; places are offsets into ``text``.
    """
    full, cuts, wrong, first = expanded, _head(expanded), error, error
    made: list[_Cut] = []
    for only_head in (True, *[False] * _MOST_WORDS):
        full = _replaced(full, cuts)
        made += cuts
        try:
            line = parse_line(full) if made else None
        except StatementError as again:
            wrong = again
        else:
            if made:
                _refuse_short_change(text, expanded, full, line, wrong=None if only_head else first)
                return full, line
        if only_head:
            first = _moved(wrong, made)
        cuts = _faulty(full, wrong)
        if not cuts:
            break
    raise _elsewhere(_moved(wrong, made), text, expanded) from None


def _refuse_short_change(
    text: str, expanded: str, full: str, line: Line | None, *, wrong: StatementError | None
) -> None:
    """Raise ``wrong`` if the line is a change with more than verb and object abbreviated; else a StatementError if it has -y."""
    if line is None or line.effect not in (Effect.WRITE, Effect.OPAQUE):
        return
    if wrong is not None:
        raise _elsewhere(wrong, text, expanded) from None
    if line.flags.get("yes"):
        raise StatementError(
            f"'{text}' is abbreviated and has -y: a change without a question must be typed in full",
            start=0,
            end=len(text),
            hint=full,
        ) from None


def _moved(error: StatementError, made: Sequence[_Cut]) -> StatementError:
    """Return the error with its place in the text before words were completed."""
    start, end = error.start, error.end
    for cut in reversed(made):
        start = None if start is None else cut.back(start)
        end = None if end is None else cut.back(end)
    return StatementError(error.message, start=start, end=end, suggestions=error.suggestions, hint=error.hint)


def _elsewhere(error: StatementError, text: str, expanded: str) -> StatementError:
    """Return the error as one about ``text``; an error inside an alias's definition gets the place of the alias."""
    if expanded == text:
        return error
    end = len(text.split(None, 1)[0]) if text.split() else 0
    return StatementError(
        f"{error.message} (in: {expanded})", start=0, end=end, suggestions=error.suggestions, hint=error.hint
    )
