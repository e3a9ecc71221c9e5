"""Walks over the tokens of one statement and says where it is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exacell.cellcli.nodes import Group, Scalar, Setting, Value
from exacell.cellcli.suggest import closest
from exacell.cellcli.tokens import Token, TokenKind, is_word
from exacell.core.errors import StatementError


def scalar(token: Token) -> Scalar:
    """Return what a word or string means as a value. A literal that cannot stand unquoted becomes a quoted one."""
    return Scalar(text=token.value, quoted=token.kind is TokenKind.STRING or not is_word(token.value))


class Cursor:
    """The next token of a statement, and the errors that point at it.

    Args:
        tokens: of one statement, without the ``;`` after it.
        end: offset where something that is missing would have to stand.
    """

    def __init__(self, tokens: Sequence[Token], *, end: int) -> None:
        self._tokens = tokens
        self._index = 0
        self._end = end

    @property
    def token(self) -> Token | None:
        """The next token; None at the end."""
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def ahead(self, distance: int) -> Token | None:
        """The token ``distance`` after the next one; None beyond the end."""
        index = self._index + distance
        return self._tokens[index] if index < len(self._tokens) else None

    def advance(self) -> Token:
        """Return the next token and step over it.

        Raises:
            StatementError: there is none.
        """
        token = self.token
        if token is None:
            raise self.wrong("the statement ends too early")
        self._index += 1
        return token

    def wrong(
        self,
        message: str,
        *,
        at: Token | None = None,
        through: Token | None = None,
        hint: str = "",
        like: Iterable[str] = (),
    ) -> StatementError:
        """Return the error that points at a token: ``at``, else the next one, else the end of the statement.

        Args:
            through: the last token at fault when there are several.
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
        """Step over ``phrase`` (words in capitals) and return True, or stay and return False."""
        for distance, word in enumerate(phrase):
            token = self.ahead(distance)
            if token is None or not token.is_word(word):
                return False
        self._index += len(phrase)
        return True

    def take(self, kind: TokenKind) -> Token | None:
        """Return the next token and step over it when it is of ``kind``; None otherwise."""
        token = self.token
        if token is None or token.kind is not kind:
            return None
        self._index += 1
        return token

    def take_operator(self, *operators: str) -> Token | None:
        """Return the next token and step over it when it is one of ``operators``; None otherwise."""
        token = self.token
        if token is None or not token.is_operator(*operators):
            return None
        self._index += 1
        return token

    def at_setting(self) -> bool:
        """Whether ``word =`` comes next."""
        token, following = self.token, self.ahead(1)
        return (
            token is not None and following is not None and token.kind is TokenKind.WORD and following.is_operator("=")
        )

    def word(self, what: str) -> Token:
        """Return the next token, which has to be a word or a string, and step over it.

        Args:
            what: is missing when there is none, for example ``the name of a grid disk``.

        Raises:
            StatementError: it is none.
        """
        token = self.token
        if token is None:
            raise self.wrong(f"{what} is missing")
        if token.kind not in (TokenKind.WORD, TokenKind.STRING):
            raise self.wrong(f"'{token.text}' stands where {what} should")
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
            first = self.ahead(1)
            if first is not None and following is not None and following.is_operator("="):
                break
            self.advance()
            found.append(self.word(what))
        return tuple(found)

    def value(self, attribute: str) -> Value:
        """Return the value after ``attribute=`` and step over it.

        Raises:
            StatementError: there is none, or a parenthesis is not closed.
        """
        token = self.token
        if token is not None and token.kind is TokenKind.OPEN:
            return self.group()
        return scalar(self.word(f"the value of {attribute}"))

    def group(self) -> Group:
        """Return the list in parentheses that comes next and step over it.

        Raises:
            StatementError: it is not closed, or holds something else than values, ``attribute=value`` and lists.
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
                raise self.wrong(f"'{self.token.text}' stands where a comma or ) should")

    def _unclosed(self, opened: Token) -> StatementError:
        return self.wrong("the parenthesis is not closed", at=opened, hint="close it with )")
