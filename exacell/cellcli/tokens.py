"""Cut CellCLI's text into tokens with their offsets, and read them with a cursor that shows where a statement is wrong.

The lexical rules are CellCLI's; the grammar of exacell's own statements uses the same tokens. Nothing is lost: the raw
texts of the tokens and the gaps between them are the source. Keywords are not recognized here.

* Blanks and line ends separate tokens. A ``-`` as the last character of a line joins the next line to it.
* ``--`` at the start of a line or before a blank begins a comment up to the end of the line. ``--word`` is a word.
* Single or double quotes enclose a string; the other quote is allowed inside it; there is no escape.
* ``( ) , ; |`` and the operators ``= != > < >= <= !`` are tokens of their own; everything else is a word.

Source: Oracle SAGUG, understanding-command-syntax-and-options-cellcli, comments-cellcli-scripts. ``>=`` and ``<=`` are
not CellCLI's, but are cut as one token so that an error can point at them as a whole; ``|`` is exacell's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from exacell.cellcli.nodes import Group, Scalar, Setting, Value
from exacell.cellcli.secrets import MASK, is_secret_name
from exacell.core.errors import StatementError
from exacell.core.lookalikes import lookalikes, refuse_lookalikes, unclosed
from exacell.core.meant import closest
from exacell.core.patterns import pattern
from exacell.core.values import dataclass


class TokenKind(StrEnum):
    """The kind of a token."""

    WORD = "word"
    STRING = "string"
    OPERATOR = "operator"
    OPEN = "("
    CLOSE = ")"
    COMMA = ","
    SEMICOLON = ";"
    PIPE = "|"


@dataclass(frozen=True, kw_only=True)
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
        """Return whether this is one of the keywords ``words`` (given in capitals), unquoted, in any case."""
        return self.kind is TokenKind.WORD and self.value.upper() in words

    def is_operator(self, *operators: str) -> bool:
        """Return whether this is one of ``operators``."""
        return self.kind is TokenKind.OPERATOR and self.text in operators


BLANKS = " \t\n\r\f\v"
"""Characters that separate words: the blanks of ASCII."""

_STRING = r"""(?:"[^"]*"|'[^']*')"""
_WORD_END = r"\s\"'(),;|=!<>"
_TOKEN = pattern(
    rf"""
      (?P<gap>(?:\s+|(?P<joined>-[^\S\n]*\n\s*))+)
    | (?P<string>{_STRING})
    | (?P<operator>!=|>=|<=|[=!<>])
    | (?P<mark>[(),;|])
    | (?P<word>(?:(?!-[^\S\n]*\n)[^{_WORD_END}])+)
    """,
    re.VERBOSE,
)
_WHOLE_WORD = pattern(rf"(?!--)[^{_WORD_END}]*[^{_WORD_END}\-]")
_COMMENT = pattern(r"--[^\n]*")


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the tokens of ``text`` in order; empty if it has only blanks and comments.

    Raises:
        StatementError: a quote is not closed; start and end mark the text from that quote on. Or there is a non-ASCII character
            that is not a letter outside of quotes.
    """
    tokens: list[Token] = []
    position, at_line_start, after_blank = 0, True, True
    while position < len(text):
        if text.startswith("--", position) and after_blank:
            following = text[position + 2 : position + 3]
            if at_line_start or not following or following in BLANKS:
                comment = _COMMENT.match(text, position)
                position = comment.end() if comment else len(text)
                continue
        match = _TOKEN.match(text, position)
        if match is None:
            quote = text[position]
            raise unclosed(text, position) or StatementError(
                f"the text that begins with {quote} has no closing {quote}",
                start=position,
                end=len(text),
                hint=f"close it with {quote}, or use the other kind of quotes around it",
            )
        if match["string"] is None:
            refuse_lookalikes(text, range(position, match.end()))
        position = match.end()
        if match["gap"] is not None:
            line_ended = "\n" in match[0]
            at_line_start = (at_line_start or line_ended) and match["joined"] is None
            after_blank = True
            continue
        tokens.append(_token(match))
        at_line_start = after_blank = False
    return tuple(tokens)


_STATEMENT = pattern(rf"""(?:{_STRING}|[^;"']|["'])+""")


def cut_statements(text: str) -> list[str]:
    """Return the statements of a text for ``cellcli -e``, cut at each ``;`` outside of strings; empty ones are dropped.

    A quote that is never closed is a letter like any other: no text is refused, and the cell reports the error.
    """
    return [piece.strip() for piece in _STATEMENT.findall(text) if piece.strip()]


def is_word(text: str) -> bool:
    """Return whether ``text`` can be written unquoted as one word anywhere in a line, also at its end."""
    return _WHOLE_WORD.fullmatch(text) is not None and next(lookalikes(text, range(len(text))), None) is None


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


def scalar(token: Token) -> Scalar:
    """Return a word or string as a value. A text that cannot be written unquoted becomes a quoted value."""
    return Scalar(text=token.value, quoted=token.kind is TokenKind.STRING or not is_word(token.value))


class Cursor:
    """Reads the tokens of a statement one by one, and makes errors that point at a token.

    Args:
        tokens: the tokens of one statement, without the ``;`` after it.
        end: offset at which a missing part would be.
    """

    def __init__(self, tokens: Sequence[Token], *, end: int) -> None:
        self._tokens = tokens
        self._index = 0
        self._end = end

    @property
    def token(self) -> Token | None:
        """Return the next token; None at the end."""
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def ahead(self, distance: int) -> Token | None:
        """Return the token ``distance`` after the next one; None after the end."""
        index = self._index + distance
        return self._tokens[index] if index < len(self._tokens) else None

    def advance(self) -> Token:
        """Return the next token and step over it.

        Raises:
            StatementError: there is no further token.
        """
        token = self.token
        if token is None:
            raise self.wrong("the statement ends too early")
        self._index += 1
        return token

    def spread(self, *ends: str) -> str:
        """Return the value before the next token together with the plain words that follow it, quoted as one value.

        A shell may have removed the quotes around such a value. Empty if the next token can't be part of a value.

        Args:
            ends: words that are never part of a value.
        """
        before = self._tokens[max(0, self._index - 3) : self._index]
        if len(before) < 3 or not (before[1].kind is TokenKind.OPERATOR or before[1].is_word("LIKE")):
            return ""
        words, rest = [before[2]], self._tokens[self._index :]
        for token, following in zip(rest, [*rest[1:], None], strict=True):
            setting = following is not None and following.kind is TokenKind.OPERATOR
            if token.kind is not TokenKind.WORD or setting or token.is_word(*ends):
                break
            words.append(token)
        if len(words) < 2 or words[0].kind is not TokenKind.WORD:
            return ""
        sign = "=" if before[0].end == before[1].start else f" {before[1].text} "
        return f"{before[0].text}{sign}'{' '.join(word.text for word in words)}'"

    def wrong(
        self,
        message: str,
        *,
        at: Token | None = None,
        through: Token | None = None,
        hint: str = "",
        like: Iterable[str] = (),
    ) -> StatementError:
        """Return an error that points at a token: ``at``, otherwise the next one, otherwise the end of the statement.

        Args:
            through: the last of several wrong tokens.
            like: words that would fit; those that resemble the faulty token become suggestions.
        """
        token = at or self.token
        if token is None:
            return StatementError(message, start=self._end, end=self._end, hint=hint)
        return StatementError(
            message,
            start=token.start,
            end=(through or token).end,
            suggestions=closest(token.value, like),
            hint=hint,
        )

    def take_words(self, *phrase: str) -> bool:
        """Return whether ``phrase`` (words in capitals) comes next, and step over it if so."""
        for distance, word in enumerate(phrase):
            token = self.ahead(distance)
            if token is None or not token.is_word(word):
                return False
        self._index += len(phrase)
        return True

    def take(self, kind: TokenKind) -> Token | None:
        """Return the next token and step over it if it is of ``kind``; otherwise None."""
        token = self.token
        if token is None or token.kind is not kind:
            return None
        self._index += 1
        return token

    def take_operator(self, *operators: str) -> Token | None:
        """Return the next token and step over it if it is one of ``operators``; otherwise None."""
        token = self.token
        if token is None or not token.is_operator(*operators):
            return None
        self._index += 1
        return token

    def at_setting(self) -> bool:
        """Return whether ``word =`` comes next."""
        token, following = self.token, self.ahead(1)
        return (
            token is not None and following is not None and token.kind is TokenKind.WORD and following.is_operator("=")
        )

    def word(self, what: str) -> Token:
        """Return the next token, which must be a word or a string, and step over it.

        Args:
            what: what is needed, for the message, for example ``the name of a grid disk``.

        Raises:
            StatementError: the next token is neither.
        """
        token = self.token
        if token is None:
            raise self.wrong(f"{what} is missing")
        if token.kind not in (TokenKind.WORD, TokenKind.STRING):
            raise self.wrong(f"{what} is needed here, not '{token.text}'")
        self._index += 1
        return token

    def names(self, what: str) -> tuple[Token, ...]:
        """Return one or more names separated by commas and step over them.

        Raises:
            StatementError: a name is missing, also after a last comma.
        """
        found = [self.word(what)]
        while self.token is not None and self.token.kind is TokenKind.COMMA:
            following = self.ahead(2)
            if following is not None and following.is_operator("="):
                break
            self.advance()
            found.append(self.word(what))
        return tuple(found)

    def value(self, attribute: str) -> Value:
        """Return the value after ``attribute=`` and step over it.

        Raises:
            StatementError: the value is missing, or a parenthesis is not closed.
        """
        token = self.token
        if token is not None and token.kind is TokenKind.OPEN:
            return self.group()
        return scalar(self.word(f"the value of {attribute}"))

    def group(self) -> Group:
        """Return the list in parentheses that comes next and step over it.

        Raises:
            StatementError: it is not closed, or contains anything other than values, ``attribute=value`` and lists.
        """
        opened = self.advance()
        items: list[Scalar | Setting | Group] = []
        if self.take(TokenKind.CLOSE):
            return Group()
        while True:
            token = self.token
            if token is not None and token.kind is TokenKind.OPEN:
                items.append(self.group())
            elif self.at_setting():
                attribute = self.advance().value
                self.advance()
                items.append(Setting(attribute=attribute, value=self.value(attribute)))
            elif token is None:
                raise self._unclosed(opened)
            else:
                items.append(scalar(self.word("a value")))
            if self.take(TokenKind.CLOSE):
                return Group(items=tuple(items))
            if self.token is None:
                raise self._unclosed(opened)
            if not self.take(TokenKind.COMMA):
                last = items[-1]
                # If a shell removed the quotes of a password, the words after it are part of the password.
                secret = isinstance(last, Setting) and is_secret_name(last.attribute)
                text = MASK if secret else self.token.text
                raise self.wrong(f"a comma or ) is needed here, not '{text}'")

    def _unclosed(self, opened: Token) -> StatementError:
        return self.wrong("the parenthesis is not closed", at=opened, hint="close it with )")
