"""The simple commands in a piece of shell text, as far as they can be told without running it.

Enough of the shell's grammar to find every command that would be started: pipelines, compound commands, functions,
redirections. What cannot be told raises :class:`UnreadableError`; nothing is guessed. Source: POSIX.1-2017, Shell Command
Language, 2.9 and 2.10; bash(1) for ``[[``, ``((``, ``function`` and arrays.
"""

from __future__ import annotations

import re
from dataclasses import field, replace

from exacell.dcli.shellwords import Lexer, Operator, UnreadableError, Word
from exacell.values import dataclass

_REDIRECTIONS = frozenset(("&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"))
_LEADING = frozenset(("if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"))
_CLOSING = frozenset(("fi", "done", "}", "esac"))
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=")


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
        repeats: whether it stands in a loop or in a function, so that it may run more than once.
    """

    words: tuple[Word, ...]
    assigned: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    source: Simple | None = None
    fed: bool = False
    repeats: bool = False


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
    return _Parser(list(Lexer(text).tokens())).run()


@dataclass
class _Parser:
    tokens: list[Operator | Word]
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
    _open: list[str] = field(default_factory=list)
    """What is open around the present command and ends with a word: ``loop``, ``function`` or ``{``."""
    _defining: bool = False
    """A function has been named and its body has not begun."""

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
        if isinstance(token, Operator):
            return self._operator(at, token)
        first = not self._words and not self._closed
        plain = not token.quoted and not token.dynamic
        if first and plain and not self._assigned:
            if token.text in _LEADING:
                self._begin(token.text)
                return at + 1
            if token.text in _CLOSING:
                return self._close(at, token.text)
            if token.text in ("for", "select"):
                self._begin("while")
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
            if token.text.endswith("=") and isinstance(following, Operator) and following.text == "(":
                return self._array(at + 2)
            return at + 1
        if self._closed:
            raise UnreadableError(f"'{token.text}' behind a compound command")
        self._words.append(token)
        return at + 1

    def _operator(self, at: int, token: Operator) -> int:
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
                repeats=self._defining or any(around != "{" for around in self._open),
            )
            self.commands.append(done)
        if done is not None or self._closed:
            self._source, self._fed = None, False
        self._words, self._assigned, self._redirections, self._closed = [], [], [], False
        return done

    def _begin(self, word: str) -> None:
        """Take note of a compound command whose end matters for what repeats."""
        if word in ("while", "until"):
            self._open.append("loop")
        elif word == "{":
            self._open.append("function" if self._defining else "{")
            self._defining = False

    def _close(self, at: int, word: str) -> int:
        if word == "esac" and self._cases:
            self._cases.pop()
        ends = {"done": ("loop",), "}": ("function", "{")}.get(word, ())
        if self._open and self._open[-1] in ends:
            self._open.pop()
        self._closed = True
        return at + 1

    def _parenthesis(self, at: int) -> int:
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        closes = isinstance(following, Operator) and following.text == ")"
        if len(self._words) == 1 and closes and not self._assigned:
            self.functions.add(self._words.pop().text)
            self._defining = True
            return at + 2
        if self._words or self._closed:
            raise UnreadableError("a ( inside a command")
        if isinstance(following, Operator) and following.text == "(":
            return self._arithmetic(at + 2)
        return at + 1

    def _arithmetic(self, at: int) -> int:
        while at + 1 < len(self.tokens):
            pair = self.tokens[at : at + 2]
            if all(isinstance(token, Operator) and token.text == ")" for token in pair):
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
            if isinstance(token, Operator) and token.text in (";", "\n"):
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
            if isinstance(token, Operator) and token.text == ")":
                self._cases[-1] = False
                return at + 1
            at += 1
        raise UnreadableError("a case that never ends")

    def _function(self, at: int) -> int:
        name = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        if not isinstance(name, Word):
            raise UnreadableError("a function without a name")
        self.functions.add(name.text)
        self._defining = True
        rest = self.tokens[at + 2 : at + 4]
        parentheses = [t.text for t in rest if isinstance(t, Operator)] == ["(", ")"]
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
