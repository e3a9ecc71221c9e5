"""Splits one SQL statement of the emulated database nodes into tokens.

Names become upper case, quoted names and texts stay as they are; every token has its offset, at which SQL*Plus prints its ``*``
marker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from exacell.emulator.basics.ora_messages import OraError, ora


class TokenKind(StrEnum):
    """The kinds of tokens."""

    NAME = "name"
    QUOTED = "quoted"
    NUMBER = "number"
    TEXT = "text"
    MARK = "mark"
    END = "end"


@dataclass(frozen=True)
class Token:
    """One token; ``value`` is the name in upper case, the text without quotes, or the mark itself."""

    kind: TokenKind
    value: str
    at: int

    def is_word(self, *words: str) -> bool:
        """Return whether this is one of these unquoted words (in upper case)."""
        return self.kind is TokenKind.NAME and self.value in words

    def is_mark(self, *marks: str) -> bool:
        """Return whether this is one of these marks."""
        return self.kind is TokenKind.MARK and self.value in marks


_BLANK = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]*")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MARK = re.compile(r"\.\.|\|\||<=|>=|<>|!=|\^=|=>|\(\+\)|[-+*/(),.=<>;:@\[\]]")
_ALTERNATIVE_QUOTES = {"[": "]", "(": ")", "{": "}", "<": ">"}


def tokenize(statement: str, *, marks: str = "") -> list[Token]:
    """Return the tokens of ``statement``; the last one is an END token.

    Args:
        marks: further characters that are separate tokens; PL/SQL has ``%``.

    Raises:
        OraError: ORA-00911 for a character that no token starts with, ORA-01756 or ORA-01740 for an open quote.
    """
    tokens: list[Token] = []
    at = 0
    while True:
        if blank := _BLANK.match(statement, at):
            at = blank.end()
        if at >= len(statement):
            tokens.append(Token(TokenKind.END, "", len(statement.rstrip())))
            return tokens
        if statement[at] in marks:
            token, at = Token(TokenKind.MARK, statement[at], at), at + 1
        else:
            token, at = _next(statement, at)
        tokens.append(token)


def _next(statement: str, at: int) -> tuple[Token, int]:
    char = statement[at]
    if char == "'":
        return _text(statement, at)
    if char in "qQ" and statement[at + 1 : at + 2] == "'" and len(statement) > at + 2:
        closing = _ALTERNATIVE_QUOTES.get(statement[at + 2], statement[at + 2]) + "'"
        end = statement.find(closing, at + 3)
        if end < 0:
            raise OraError(ora(1756), at=at)
        return Token(TokenKind.TEXT, statement[at + 3 : end], at), end + 2
    if char == '"':
        end = statement.find('"', at + 1)
        if end < 0:
            raise OraError(ora(1740), at=at)
        if end == at + 1:
            raise OraError(ora(1741), at=at)
        return Token(TokenKind.QUOTED, statement[at + 1 : end], at), end + 1
    for kind, pattern in ((TokenKind.NAME, _NAME), (TokenKind.NUMBER, _NUMBER), (TokenKind.MARK, _MARK)):
        if match := pattern.match(statement, at):
            value = match[0].upper() if kind is TokenKind.NAME else match[0]
            return Token(kind, value, at), match.end()
    raise OraError(ora(911), at=at)


def _text(statement: str, at: int) -> tuple[Token, int]:
    pieces: list[str] = []
    position = at + 1
    while True:
        end = statement.find("'", position)
        if end < 0:
            raise OraError(ora(1756), at=at)
        pieces.append(statement[position:end])
        if statement[end + 1 : end + 2] != "'":
            return Token(TokenKind.TEXT, "".join(pieces), at), end + 1
        pieces.append("'")
        position = end + 2


class TokenReader:
    """Reads tokens one by one with lookahead, for the parsers of queries and of disk group statements."""

    def __init__(self, statement: str, *, marks: str = "") -> None:
        self.tokens = tokenize(statement, marks=marks)
        self.position = 0

    @property
    def here(self) -> Token:
        """Return the next token without taking it."""
        return self.tokens[self.position]

    def ahead(self, count: int = 1) -> Token:
        """Return the token ``count`` places after the next one; an END token beyond the end."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and move to the one after it; END is never left."""
        token = self.here
        if token.kind is not TokenKind.END:
            self.position += 1
        return token

    def accept(self, *words: str) -> bool:
        """Take ``words`` if exactly they come next; return whether they did."""
        if all(self.ahead(n).is_word(word) for n, word in enumerate(words)):
            self.position += len(words)
            return True
        return False

    def accept_mark(self, mark: str) -> bool:
        """Take ``mark`` if it comes next; return whether it did."""
        if self.here.is_mark(mark):
            self.position += 1
            return True
        return False

    def expect(self, word: str, code: int) -> None:
        """Take ``word``.

        Raises:
            OraError: ``code`` if something else comes next.
        """
        if not self.accept(word):
            raise self.error(code)

    def expect_mark(self, mark: str, code: int) -> None:
        """Take ``mark``.

        Raises:
            OraError: ``code`` if something else comes next.
        """
        if not self.accept_mark(mark):
            raise self.error(code)

    def name(self, code: int) -> str:
        """Take the next token, which must be a name, and return it.

        Raises:
            OraError: ``code`` if it is not a name; ORA-00972 if it is longer than 128 characters.
        """
        if self.here.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self.error(code)
        if len(self.here.value) > 128:
            raise self.error(972)
        return self.take().value

    def text(self, code: int) -> str:
        """Take the next token, which must be a quoted text, and return the text.

        Raises:
            OraError: ``code`` if it is not a text.
        """
        if self.here.kind is not TokenKind.TEXT:
            raise self.error(code)
        return self.take().value

    def whole(self, code: int) -> int:
        """Take the next token, which must be a whole number, and return the number.

        Raises:
            OraError: ``code`` if it is not a whole number.
        """
        if self.here.kind is not TokenKind.NUMBER or not re.fullmatch(r"[0-9]{1,18}", self.here.value):
            raise self.error(code)
        return int(self.take().value)

    def done(self, code: int = 933) -> None:
        """Raise OraError if the statement does not end here.

        Raises:
            OraError: ``code`` if something follows.
        """
        if self.here.kind is not TokenKind.END:
            raise self.error(code)

    def error(self, code: int, *values: object) -> OraError:
        """Return the error ``code`` at the next token."""
        return OraError(ora(code, *values), at=self.here.at)
