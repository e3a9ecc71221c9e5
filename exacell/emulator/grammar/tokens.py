"""Splits a CellCLI line into tokens: words, quoted strings and the symbols ``= > < ! , ( ) ;``.

The emulator has a separate tokenizer, so that client and emulator can't share an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from exacell.emulator.basics.messages import CellError, Code

_SYMBOLS = frozenset("=><!,();")
_QUOTES = frozenset("'\"")
_ENDS_WORD = _SYMBOLS | _QUOTES


class Kind(Enum):
    """The kinds of tokens."""

    WORD = auto()
    STRING = auto()
    SYMBOL = auto()
    END = auto()


@dataclass(frozen=True)
class Token:
    """One token. ``text`` is without quotes; ``start`` is its offset in the line."""

    kind: Kind
    text: str
    start: int

    def is_word(self, *words: str) -> bool:
        """Return whether this is one of these unquoted words; upper and lower case are equal."""
        return self.kind is Kind.WORD and self.text.upper() in words

    def is_symbol(self, symbol: str) -> bool:
        """Return whether this is that symbol."""
        return self.kind is Kind.SYMBOL and self.text == symbol

    @property
    def is_value(self) -> bool:
        """Return whether this can be a name or a value."""
        return self.kind in (Kind.WORD, Kind.STRING)


def tokens_of(line: str) -> list[Token]:
    """Return the tokens of one line, without an END token.

    Raises:
        CellError: a quote is not closed (CELL-01504 at the quote).
    """
    tokens: list[Token] = []
    position = 0
    while position < len(line):
        char = line[position]
        if char.isspace():
            position += 1
        elif char in _QUOTES:
            end = line.find(char, position + 1)
            if end < 0:
                raise CellError(Code.SYNTAX, position=position)
            tokens.append(Token(Kind.STRING, line[position + 1 : end], position))
            position = end + 1
        elif char in _SYMBOLS:
            tokens.append(Token(Kind.SYMBOL, char, position))
            position += 1
        else:
            end = position
            while end < len(line) and not line[end].isspace() and line[end] not in _ENDS_WORD:
                end += 1
            tokens.append(Token(Kind.WORD, line[position:end], position))
            position = end
    return tokens


def statements_of(line: str) -> list[str]:
    """Return the statements of a ``;`` batch; semicolons in quotes do not separate, empty statements are dropped.

    A quote that is never closed takes the rest of the line, so that only its own statement fails.
    """
    statements: list[str] = []
    start, quote = 0, ""
    for position, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        elif char == ";":
            statements.append(line[start:position])
            start = position + 1
    statements.append(line[start:])
    return [statement for statement in statements if statement.strip()]


def is_comment(line: str) -> bool:
    """Return whether a line is a comment: it begins with ``REM``, ``REMARK`` or ``--``."""
    words = line.split(None, 1)
    return bool(words) and (words[0].upper() in ("REM", "REMARK") or words[0].startswith("--"))


class TokenStream:
    """The tokens of one statement with a cursor; an unexpected token raises CELL-01504 at its place."""

    def __init__(self, statement: str) -> None:
        self._tokens = tokens_of(statement)
        self._end = Token(Kind.END, "", len(statement.rstrip()))
        self._position = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a coming token without taking it; an END token after the last one."""
        index = self._position + ahead
        return self._tokens[index] if index < len(self._tokens) else self._end

    def take(self) -> Token:
        """Take the next token and return it."""
        token = self.peek()
        self._position += 1
        return token

    def accept_word(self, *words: str) -> str | None:
        """Take the next token if it is one of these words and return the word in upper case."""
        if self.peek().is_word(*words):
            return self.take().text.upper()
        return None

    def accept_symbol(self, symbol: str) -> bool:
        """Take the next token if it is that symbol; return whether it was."""
        if self.peek().is_symbol(symbol):
            self.take()
            return True
        return False

    def expect_word(self, *words: str) -> str:
        """Take one of these words and return it in upper case."""
        found = self.accept_word(*words)
        if found is None:
            raise self.error()
        return found

    def expect_symbol(self, symbol: str) -> None:
        """Take that symbol; raise CellError if another token comes next."""
        if not self.accept_symbol(symbol):
            raise self.error()

    def expect_value(self) -> Token:
        """Take a word or a string and return it; raise CellError if another token comes next."""
        if not self.peek().is_value:
            raise self.error()
        return self.take()

    def expect_end(self) -> None:
        """Raise CellError if a token follows."""
        if self.peek().kind is not Kind.END:
            raise self.error()

    @property
    def at_end(self) -> bool:
        """Return whether no token follows."""
        return self.peek().kind is Kind.END

    def error(self) -> CellError:
        """Return a syntax error at the next token."""
        return CellError(Code.SYNTAX, position=self.peek().start)
