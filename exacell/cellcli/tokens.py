"""Cuts a line into tokens that keep their place in it.

The lexical rules are CellCLI's; the grammar of exacell's own statements uses the same tokens. Nothing is lost: the raw
texts of the tokens and the gaps between them are the source. Which words mean something is not decided here.

* Blanks and line ends separate tokens. A ``-`` as the last character of a line joins the next line to it.
* ``--`` at the start of a line or before a blank begins a comment up to the end of the line. ``--word`` is a word.
* Single or double quotes enclose a string; the other quote may stand inside it, there is no escape.
* ``( ) , ; |`` and the operators ``= != > < >= <= !`` are tokens of their own; everything else is a word.

Source: Oracle SAGUG, understanding-command-syntax-and-options-cellcli, comments-cellcli-scripts. ``>=`` and ``<=`` are
not CellCLI's, but are cut as one token so that an error can point at them as a whole; ``|`` is exacell's.
"""

from __future__ import annotations

import re
from enum import StrEnum

from exacell.core.errors import StatementError
from exacell.core.values import dataclass


class TokenKind(StrEnum):
    """What a token is."""

    WORD = "word"
    STRING = "string"
    OPERATOR = "operator"
    OPEN = "("
    CLOSE = ")"
    COMMA = ","
    SEMICOLON = ";"
    PIPE = "|"


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """One token.

    Attributes:
        text: as in the source.
        value: the text without quotes.
        start, end: offsets into the source.
    """

    kind: TokenKind
    text: str
    value: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        """Whether this is one of the keywords ``words`` (given in capitals), unquoted, in any case."""
        return self.kind is TokenKind.WORD and self.value.upper() in words

    def is_operator(self, *operators: str) -> bool:
        """Whether this is one of ``operators``."""
        return self.kind is TokenKind.OPERATOR and self.text in operators


_WORD_END = r"\s\"'(),;|=!<>"
_TOKEN = re.compile(
    rf"""
      (?P<gap>(?:\s+|(?P<joined>-[^\S\n]*\n\s*))+)
    | (?P<string>"[^"]*"|'[^']*')
    | (?P<operator>!=|>=|<=|[=!<>])
    | (?P<mark>[(),;|])
    | (?P<word>(?:(?!-[^\S\n]*\n)[^{_WORD_END}])+)
    """,
    re.VERBOSE,
)
_WHOLE_WORD = re.compile(rf"(?!--)[^{_WORD_END}]*[^{_WORD_END}\-]")
_COMMENT = re.compile(r"--[^\n]*")


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the tokens of ``text`` in order; empty when it holds blanks and comments only.

    Raises:
        StatementError: a quote is not closed; start and end mark the text from that quote on.
    """
    tokens: list[Token] = []
    position, at_line_start, after_blank = 0, True, True
    while position < len(text):
        if text.startswith("--", position) and after_blank:
            following = text[position + 2 : position + 3]
            if at_line_start or not following or following.isspace():
                comment = _COMMENT.match(text, position)
                position = comment.end() if comment else len(text)
                continue
        match = _TOKEN.match(text, position)
        if match is None:
            quote = text[position]
            raise StatementError(
                f"the text that begins with {quote} has no closing {quote}",
                start=position,
                end=len(text),
                hint=f"close it with {quote}, or put it between the other quotes",
            )
        position = match.end()
        if match["gap"] is not None:
            line_ended = "\n" in match[0]
            at_line_start = (at_line_start or line_ended) and match["joined"] is None
            after_blank = True
            continue
        tokens.append(_token(match))
        at_line_start = after_blank = False
    return tuple(tokens)


def is_word(text: str) -> bool:
    """Whether ``text`` can stand unquoted as one word anywhere in a line, also at its end."""
    return _WHOLE_WORD.fullmatch(text) is not None


_MARKS = {mark.value: mark for mark in (TokenKind.OPEN, TokenKind.CLOSE, TokenKind.COMMA, TokenKind.SEMICOLON)}
_MARKS["|"] = TokenKind.PIPE


def _token(match: re.Match[str]) -> Token:
    text = match[0]
    value = text
    if match["string"] is not None:
        kind, value = TokenKind.STRING, text[1:-1]
    elif match["operator"] is not None:
        kind = TokenKind.OPERATOR
    elif match["mark"] is not None:
        kind = _MARKS[text]
    else:
        kind = TokenKind.WORD
    return Token(kind=kind, text=text, value=value, start=match.start(), end=match.end())
