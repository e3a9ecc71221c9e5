"""The words and operators of shell text: quoting, expansions, here-documents. Nothing is run, and nothing is guessed.

Source: POSIX.1-2017, Shell Command Language, 2.2, 2.3, 2.6, 2.7; bash(1) for ``<<<``, ``$'…'`` and ``&>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from exacell.values import dataclass

_OPERATORS = (
    "&&", "||", ";;&", ";;", ";&", "|&", "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|",
    "\n", ";", "&", "|", "(", ")", "<", ">",
)  # fmt: skip
_GLOBS = frozenset("*?[")
_BRACES = re.compile(r"\{.*(,|\.\.)", re.DOTALL)
_CODE = re.compile(r"\$\(|`")
_PLACE = re.compile(r"[!#]?\w+\[(.*)\].*|\w+:(?![-=?+])(.*)", re.DOTALL)
"""An index of an array, or the place of a part of a value: both are arithmetic."""
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
"""What stands for what in ``$'…'``, of that which is read here."""


class UnreadableError(Exception):
    """The text can't be read as shell commands; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word as the command gets it.

    Attributes:
        text: without quotes; expansions as they stand.
        dynamic: whether something in it is only known at run time.
        glob: whether an unquoted wildcard is in it.
        quoted: whether any of it was quoted.
        inner: the texts of command substitutions in it.
        braces: whether an unquoted ``{a,b}`` or ``{1..9}`` is in it, which makes several words of it.
        code: whether a command substitution is quoted in it, so that it is text here and a command where it is evaluated.
        counts: the names whose values arithmetic in it evaluates.
        listed: whether a loop goes over the words that it becomes.
    """

    text: str
    dynamic: bool = False
    glob: bool = False
    quoted: bool = False
    inner: tuple[str, ...] = ()
    braces: bool = False
    code: bool = False
    counts: tuple[str, ...] = ()
    listed: bool = False


@dataclass
class Operator:
    """An operator; ``body`` is the text of the here-document that it announces, ``joined`` whether it is doubled at once."""

    text: str
    joined: bool = False
    body: Word | None = None


class Lexer:
    """Cuts one text into words and operators.

    Attributes:
        unended: the mark of the first here-document so far that ended with the text, and not with its mark.
    """

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self.unended = ""
        self._waiting: list[tuple[Operator, bool]] = []
        self._marks: list[Word] = []
        self._counts: list[str] = []
        self._literal: list[str] = []
        """What of the present word is text, expansions left out."""

    def tokens(self) -> Iterator[Operator | Word]:
        """Yield words and operators in order; the body of a here-document is set once its line has ended.

        Raises:
            UnreadableError: a quote or bracket is never closed, or a construct is not understood.
        """
        want_mark: Operator | None = None
        while True:
            self._blanks()
            if self._at >= len(self._text):
                break
            operator = next((op for op in _OPERATORS if self._text.startswith(op, self._at)), None)
            number = re.compile(r"\d+(?=[<>])").match(self._text, self._at)
            if number is not None:
                self._at = number.end()
                continue
            if operator is not None:
                self._at += len(operator)
                found = Operator(operator, joined=self._text.startswith(operator, self._at))
                yield found
                if operator in ("<<", "<<-"):
                    want_mark = found
                elif operator == "\n":
                    self._bodies()
                continue
            word = self._word()
            if want_mark is not None:
                self._waiting.append((want_mark, want_mark.text == "<<-"))
                self._marks.append(word)
                want_mark = None
            yield word
        self._bodies()

    def _blanks(self) -> None:
        while self._at < len(self._text):
            if self._text[self._at] in " \t":
                self._at += 1
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            elif self._text[self._at] == "#":
                self._at += len(self._text[self._at :].partition("\n")[0])
            else:
                return

    def _bodies(self) -> None:
        """Read the here-documents that were announced on the line that ends here; one may end with the text itself."""
        for (operator, tabs), mark in zip(self._waiting, self._marks, strict=True):
            lines: list[str] = []
            while self._at < len(self._text):
                line = self._text[self._at :].partition("\n")[0]
                self._at += len(line) + 1
                if tabs:
                    line = line.lstrip("\t")
                if line == mark.text:
                    break
                lines.append(line)
            else:
                self.unended = self.unended or mark.text
            body = "".join(f"{line}\n" for line in lines)
            operator.body = Word(text=body, quoted=True) if mark.quoted else expanded(body)
        self._waiting, self._marks = [], []

    def _word(self) -> Word:
        text: list[str] = []
        bare: list[str] = []
        dynamic = glob = quoted = False
        inner: list[str] = []
        self._counts, self._literal = [], []
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in " \t\n;&|()<>":
                break
            if char == "'":
                quoted = True
                self._take(text, self._until("'"))
            elif char == '"':
                quoted = True
                self._at += 1
                dynamic |= self._double(text, inner)
            elif char == "\\":
                quoted = True
                if not self._text.startswith("\\\n", self._at):
                    self._take(text, self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif self._text.startswith('$"', self._at):
                # A text that may be translated.
                self._at += 1
            elif self._text.startswith("$'", self._at):
                quoted = True
                self._at += 2
                self._take(text, self._escaped())
            elif char in "$`":
                dynamic |= self._expansion(text, inner)
                bare.append("$")
            else:
                glob |= char in _GLOBS
                self._take(text, char)
                bare.append(char)
                self._at += 1
        return Word(
            text="".join(text),
            dynamic=dynamic,
            glob=glob,
            quoted=quoted,
            inner=tuple(inner),
            braces=_BRACES.search("".join(bare)) is not None,
            code=_CODE.search("".join(self._literal)) is not None,
            counts=tuple(self._counts),
        )

    def _take(self, text: list[str], piece: str) -> None:
        """Keep a piece of a word that is text and no expansion."""
        text.append(piece)
        self._literal.append(piece)

    def _escaped(self) -> str:
        """Return what stands in ``$'…'`` from the present place to its end."""
        found: list[str] = []
        while self._at < len(self._text):
            char = self._text[self._at]
            self._at += 1
            if char == "'":
                return "".join(found)
            if char == "\\":
                char = _ESCAPES.get(self._text[self._at : self._at + 1], "")
                if not char:
                    raise UnreadableError("an escape in $'…' that can't be read")
                self._at += 1
            found.append(char)
        raise UnreadableError("the quote ' is never closed")

    def _until(self, mark: str) -> str:
        """Return what stands between a quote at the present place and the next one."""
        found, closed, _ = self._text[self._at + 1 :].partition(mark)
        if not closed:
            raise UnreadableError(f"the quote {mark} is never closed")
        self._at += len(found) + 2
        return found

    def _double(self, text: list[str], inner: list[str], end: str = '"') -> bool:
        """Read to the closing double quote, or to the end of the text when ``end`` is empty."""
        dynamic = False
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == end:
                self._at += 1
                return dynamic
            following = self._text[self._at + 1 : self._at + 2]
            if char == "\\" and following in f"\\$`\n{end}":
                self._take(text, following.strip("\n"))
                self._at += 2
            elif char in "$`":
                dynamic |= self._expansion(text, inner)
            else:
                self._take(text, char)
                self._at += 1
        if end:
            raise UnreadableError(f"the quote {end} is never closed")
        return dynamic

    def _expansion(self, text: list[str], inner: list[str]) -> bool:
        """Read one expansion; returns False for a ``$`` that is none."""
        start = self._at
        if self._text[start] == "`":
            inner.append(re.sub(r"\\([`\\$])", r"\1", self._backquoted()))
        elif self._text.startswith("$((", start):
            end = self._closing(start + 3, ")")
            # Where the brackets do not end together it is no arithmetic, but a subshell in a substitution.
            if not self._text.startswith("))", end):
                raise UnreadableError("arithmetic that can't be followed")
            self._counts += counted(self._text[start + 3 : end])
            self._at = end + 2
        elif self._text.startswith("$(", start):
            end = self._closing(start + 2, ")")
            inner.append(self._text[start + 2 : end])
            self._at = end + 1
        elif self._text.startswith("${", start):
            end = self._closing(start + 2, "}")
            body = self._text[start + 2 : end]
            if _CODE.search(body):
                raise UnreadableError("a command inside ${…}")
            if re.search(r"@[A-Za-z]$", body):
                raise UnreadableError("an expansion that evaluates its value again")
            place = _PLACE.fullmatch(body)
            self._counts += counted(place[1] or place[2]) if place is not None else ()
            self._at = end + 1
        else:
            name = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])").match(self._text, start)
            if name is None:
                self._take(text, "$")
                self._at += 1
                return False
            self._at = name.end()
        text.append(self._text[start : self._at])
        self._literal.append(" ")
        return True

    def _backquoted(self) -> str:
        at = self._at + 1
        while at < len(self._text):
            if self._text[at] == "\\":
                at += 2
                continue
            if self._text[at] == "`":
                found, self._at = self._text[self._at + 1 : at], at + 1
                return found
            at += 1
        raise UnreadableError("the quote ` is never closed")

    def _closing(self, at: int, mark: str) -> int:
        """Return where the bracket that was opened before ``at`` is closed, quotes and nested ones passed over."""
        opening = {")": "(", "}": "{"}[mark]
        depth = 1
        while at < len(self._text):
            char = self._text[at]
            if char == "\\":
                at += 2
                continue
            if char in "'\"":
                end = at + 1
                while end < len(self._text) and self._text[end] != char:
                    end += 2 if char == '"' and self._text[end] == "\\" else 1
                at = end + 1
                continue
            depth += (char == opening) - (char == mark)
            if depth == 0:
                return at
            at += 1
        raise UnreadableError(f"a {mark} is missing")


def cut_off(text: str) -> str:
    """Return the mark of a here-document whose end the text does not hold; empty for none."""
    lexer = Lexer(text)
    with suppress(UnreadableError):
        for _ in lexer.tokens():
            pass
    return lexer.unended


def expanded(text: str) -> Word:
    """Return the body of a here-document whose mark was not quoted: expansions work in it as in double quotes.

    Raises:
        UnreadableError: an expansion in it is never closed.
    """
    lexer = Lexer(text)
    parts: list[str] = []
    inner: list[str] = []
    dynamic = lexer._double(parts, inner, end="")
    code = _CODE.search("".join(lexer._literal)) is not None
    return Word(
        text="".join(parts), dynamic=dynamic, quoted=True, inner=tuple(inner), code=code, counts=tuple(lexer._counts)
    )


def counted(text: str) -> list[str]:
    """Return the names in an arithmetic expression, whose values the shell evaluates as expressions again.

    Raises:
        UnreadableError: something in it is quoted or a command, so that it may hold more than names and numbers.
    """
    if _CODE.search(text) or re.search(r"[\\'\"]", text):
        raise UnreadableError("arithmetic that can't be followed")
    return re.findall(r"(?<!\w)[A-Za-z_]\w*|(?<=\$)[0-9@*]|(?<=\$\{)[0-9@*]", text)
