"""The simple commands in a piece of shell text, as far as they can be told without running it.

Enough of the shell's grammar to find every command that would be started: quoting, pipelines, compound commands,
functions, here-documents, substitutions. What cannot be told raises :class:`UnreadableError`; nothing is guessed.
Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.10; bash(1) for ``[[``, ``<<<``, ``$'…'`` and ``&>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

_OPERATORS = (
    "&&", "||", ";;&", ";;", ";&", "|&", "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|",
    "\n", ";", "&", "|", "(", ")", "<", ">",
)  # fmt: skip
_REDIRECTIONS = frozenset(("&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"))
_LEADING = frozenset(("if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"))
_CLOSING = frozenset(("fi", "done", "}", "esac"))
_GLOBS = frozenset("*?[")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=")


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
    """

    text: str
    dynamic: bool = False
    glob: bool = False
    quoted: bool = False
    inner: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Redirection:
    """A redirection; ``body`` is the text of a here-document or here-string."""

    operator: str
    target: Word
    body: Word | None = None


@dataclass(frozen=True, kw_only=True)
class Simple:
    """One simple command.

    Attributes:
        words: name and arguments, assignments in front cut off.
        assigned: the words of the assignments.
        source: the command whose output is its standard input; None when it is not behind a pipe.
        fed: whether its standard input comes from a compound command or a redirection around it.
    """

    words: tuple[Word, ...]
    assigned: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    source: Simple | None = None
    fed: bool = False


@dataclass(frozen=True, kw_only=True)
class Script:
    """The commands of a text in order, and the functions it defines."""

    commands: tuple[Simple, ...]
    functions: frozenset[str]


def read_shell(text: str) -> Script:
    """Return every simple command in ``text``; those in substitutions are left as ``inner`` texts of the words.

    Raises:
        UnreadableError: a quote or bracket is never closed, or a construct is not understood.
    """
    return _Parser(list(_Lexer(text).tokens())).run()


@dataclass
class _Operator:
    text: str
    body: Word | None = None


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._waiting: list[tuple[_Operator, bool]] = []
        self._marks: list[Word] = []

    def tokens(self) -> Iterator[_Operator | Word]:
        want_mark: _Operator | None = None
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
                if operator in ("<", ">") and self._text.startswith("(", self._at + 1):
                    raise UnreadableError("a process substitution")
                self._at += len(operator)
                found = _Operator(operator)
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
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return

    def _bodies(self) -> None:
        """Read the here-documents that were announced on the line that ends here; one may end with the text itself."""
        for (operator, tabs), mark in zip(self._waiting, self._marks, strict=True):
            lines: list[str] = []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                line = self._text[self._at : len(self._text) if end < 0 else end]
                self._at = len(self._text) if end < 0 else end + 1
                if tabs:
                    line = line.lstrip("\t")
                if line == mark.text:
                    break
                lines.append(line)
            body = "".join(f"{line}\n" for line in lines)
            operator.body = Word(text=body, quoted=True) if mark.quoted else expanded(body)
        self._waiting, self._marks = [], []

    def _word(self) -> Word:
        start = self._at
        text: list[str] = []
        dynamic = glob = quoted = False
        inner: list[str] = []
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in " \t\n;&|()<>":
                break
            if char == "'":
                quoted = True
                text.append(self._until("'"))
            elif char == '"':
                quoted = True
                self._at += 1
                dynamic |= self._double(text, inner)
            elif char == "\\":
                quoted = True
                if not self._text.startswith("\\\n", self._at):
                    text.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif char == "$" and self._text.startswith("$'", self._at):
                quoted = True
                self._at += 1
                text.append(self._until("'"))
            elif char in "$`":
                dynamic |= self._expansion(text, inner)
            else:
                glob |= char in _GLOBS
                text.append(char)
                self._at += 1
        if self._at == start:
            raise UnreadableError(f"'{self._text[start : start + 10]}'")
        return Word(text="".join(text), dynamic=dynamic, glob=glob, quoted=quoted, inner=tuple(inner))

    def _until(self, mark: str) -> str:
        """Return what stands between a quote at the present place and the next one."""
        end = self._text.find(mark, self._at + 1)
        if end < 0:
            raise UnreadableError(f"the quote {mark} is never closed")
        found, self._at = self._text[self._at + 1 : end], end + 1
        return found

    def _double(self, text: list[str], inner: list[str], end: str = '"') -> bool:
        """Read to the closing double quote, or to the end of the text when ``end`` is empty."""
        dynamic = False
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == end:
                self._at += 1
                return dynamic
            if char == "\\" and self._text[self._at + 1 : self._at + 2] in ('"', "\\", "$", "`", "\n"):
                following = self._text[self._at + 1]
                text.append("\\" + following if following == '"' and not end else following.strip("\n"))
                self._at += 2
            elif char in "$`":
                dynamic |= self._expansion(text, inner)
            else:
                text.append(char)
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
            end = self._text.find("))", start)
            if end < 0 or "$(" in self._text[start + 3 : end] or "`" in self._text[start + 3 : end]:
                raise UnreadableError("arithmetic that can't be followed")
            self._at = end + 2
        elif self._text.startswith("$(", start):
            end = self._closing(start + 2, ")")
            inner.append(self._text[start + 2 : end])
            self._at = end + 1
        elif self._text.startswith("${", start):
            end = self._closing(start + 2, "}")
            body = self._text[start + 2 : end]
            if "$(" in body or "`" in body:
                raise UnreadableError("a command inside ${…}")
            self._at = end + 1
        else:
            name = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])").match(self._text, start)
            if name is None:
                text.append("$")
                self._at += 1
                return False
            self._at = name.end()
        text.append(self._text[start : self._at])
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
            if char == "'" or (char == '"'):
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


def expanded(text: str) -> Word:
    """Return the body of a here-document whose mark was not quoted: expansions work in it as in double quotes.

    Raises:
        UnreadableError: an expansion in it is never closed.
    """
    lexer = _Lexer(text)
    parts: list[str] = []
    inner: list[str] = []
    dynamic = lexer._double(parts, inner, end="")
    return Word(text="".join(parts), dynamic=dynamic, quoted=True, inner=tuple(inner))


@dataclass
class _Parser:
    tokens: list[_Operator | Word]
    commands: list[Simple] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    _words: list[Word] = field(default_factory=list)
    _assigned: list[Word] = field(default_factory=list)
    _redirections: list[Redirection] = field(default_factory=list)
    _source: Simple | None = None
    _fed: bool = False
    _closed: bool = False
    """A compound command has just ended: only redirections and operators may follow."""
    _cases: list[bool] = field(default_factory=list)
    """For each open ``case``: whether a pattern comes next."""

    def run(self) -> Script:
        at = 0
        while at < len(self.tokens):
            at = self._step(at)
        self._finish()
        if self._cases:
            raise UnreadableError("a case that never ends")
        return Script(commands=tuple(self.commands), functions=frozenset(self.functions))

    def _step(self, at: int) -> int:
        token = self.tokens[at]
        if self._cases and self._cases[-1]:
            return self._pattern(at)
        if isinstance(token, _Operator):
            return self._operator(at, token)
        first = not self._words and not self._closed
        plain = not token.quoted and not token.dynamic
        if first and plain and not self._assigned:
            if token.text in _LEADING:
                return at + 1
            if token.text in _CLOSING:
                return self._close(at, token.text)
            if token.text in ("for", "select"):
                return self._skip_for(at)
            if token.text == "case":
                return self._case(at)
            if token.text == "function":
                return self._function(at)
            if token.text in ("[[", "coproc"):
                return self._test(at) if token.text == "[[" else self._unknown("coproc")
        if first and _ASSIGNMENT.match(token.text):
            self._assigned.append(token)
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            if token.text.endswith("=") and isinstance(following, _Operator) and following.text == "(":
                return self._array(at + 2)
            return at + 1
        if self._closed:
            raise UnreadableError(f"'{token.text}' behind a compound command")
        self._words.append(token)
        return at + 1

    def _operator(self, at: int, token: _Operator) -> int:
        if token.text in _REDIRECTIONS:
            target = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            if not isinstance(target, Word):
                raise UnreadableError(f"nothing behind {token.text}")
            body = target if token.text == "<<<" else token.body
            found = Redirection(operator=token.text, target=target, body=body)
            self._redirections.append(found)
            if self._closed and token.text.startswith("<"):
                # What the compound command reads is also what every command in it may read.
                self.commands = [replace(command, fed=True) for command in self.commands]
            return at + 2
        if token.text == "(":
            return self._parenthesis(at)
        if token.text == ")":
            self._finish()
            self._closed = True
            return at + 1
        compound = self._closed and not self._words
        done = self._finish()
        if token.text in ("|", "|&"):
            self._source, self._fed = done, compound or done is None
        elif token.text in (";;", ";&", ";;&") and self._cases:
            self._cases[-1] = True
        return at + 1

    def _finish(self) -> Simple | None:
        """Keep the command that is complete now; return it."""
        done: Simple | None = None
        if self._words or self._assigned or self._redirections:
            done = Simple(
                words=tuple(self._words),
                assigned=tuple(self._assigned),
                redirections=tuple(self._redirections),
                source=self._source,
                fed=self._fed,
            )
            self.commands.append(done)
        if done is not None or self._closed:
            self._source, self._fed = None, False
        self._words, self._assigned, self._redirections, self._closed = [], [], [], False
        return done

    def _close(self, at: int, word: str) -> int:
        if word == "esac" and self._cases:
            self._cases.pop()
        self._closed = True
        return at + 1

    def _parenthesis(self, at: int) -> int:
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        closes = isinstance(following, _Operator) and following.text == ")"
        if len(self._words) == 1 and closes and not self._assigned:
            self.functions.add(self._words.pop().text)
            return at + 2
        if self._words or self._closed:
            raise UnreadableError("a ( inside a command")
        if isinstance(following, _Operator) and following.text == "(":
            return self._arithmetic(at + 2)
        return at + 1

    def _arithmetic(self, at: int) -> int:
        while at + 1 < len(self.tokens):
            pair = self.tokens[at : at + 2]
            if all(isinstance(token, _Operator) and token.text == ")" for token in pair):
                self._closed = True
                return at + 2
            token = self.tokens[at]
            if isinstance(token, Word) and token.inner:
                raise UnreadableError("arithmetic that can't be followed")
            at += 1
        raise UnreadableError("(( that never ends")

    def _array(self, at: int) -> int:
        while at < len(self.tokens):
            token = self.tokens[at]
            if isinstance(token, Word):
                self._assigned.append(token)
            elif token.text == ")":
                return at + 1
            at += 1
        raise UnreadableError("an array that never ends")

    def _skip_for(self, at: int) -> int:
        at += 1
        while at < len(self.tokens):
            token = self.tokens[at]
            if isinstance(token, _Operator) and token.text in (";", "\n"):
                self._finish()
                return at + 1
            if isinstance(token, Word):
                if token.text == "do" and not token.quoted:
                    self._finish()
                    return at
                self._assigned.append(token)
            elif token.text != "(" and token.text != ")":
                raise UnreadableError("a for that can't be followed")
            at += 1
        return at

    def _case(self, at: int) -> int:
        subject = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        if isinstance(subject, Word):
            self._assigned.append(subject)
        self._finish()
        at += 2
        while at < len(self.tokens):
            token = self.tokens[at]
            if isinstance(token, Word) and token.text == "in":
                self._cases.append(True)
                return at + 1
            at += 1
        raise UnreadableError("a case without in")

    def _pattern(self, at: int) -> int:
        while at < len(self.tokens):
            token = self.tokens[at]
            if isinstance(token, Word) and token.text == "esac" and not token.quoted:
                return self._close(at, "esac")
            if isinstance(token, Word) and token.inner:
                raise UnreadableError("a command in a pattern of case")
            if isinstance(token, _Operator) and token.text == ")":
                self._cases[-1] = False
                return at + 1
            at += 1
        raise UnreadableError("a case that never ends")

    def _function(self, at: int) -> int:
        name = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        if not isinstance(name, Word):
            raise UnreadableError("a function without a name")
        self.functions.add(name.text)
        rest = self.tokens[at + 2 : at + 4]
        parentheses = [t.text for t in rest if isinstance(t, _Operator)] == ["(", ")"]
        return at + (4 if parentheses else 2)

    def _test(self, at: int) -> int:
        at += 1
        while at < len(self.tokens):
            token = self.tokens[at]
            if isinstance(token, Word):
                if token.text == "]]":
                    self._closed = True
                    return at + 1
                if token.inner:
                    # Its commands run: kept as if they were assigned.
                    self._assigned.append(token)
            at += 1
        raise UnreadableError("[[ that never ends")

    def _unknown(self, what: str) -> int:
        raise UnreadableError(what)
