"""The simple commands in a piece of shell text, as far as they can be told without running it.

Enough of the shell's grammar to find every command that would be started: pipelines, compound commands, functions,
redirections. What cannot be told raises :class:`UnreadableError`; nothing is guessed. Source: POSIX.1-2017, Shell Command
Language, 2.9 and 2.10; bash(1) for ``[[``, ``((``, ``function`` and arrays.
"""

from __future__ import annotations

import re
from dataclasses import field, replace

from exacell.dcli.shellwords import Lexer, Operator, UnreadableError, Word, counted
from exacell.values import dataclass

_REDIRECTIONS = frozenset(("&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"))
_BEGINNING = {"if": "fi", "while": "done", "until": "done", "{": "}"}
"""Reserved words that open a compound command, and what closes it."""
_WITHIN = {"then": "fi", "elif": "fi", "else": "fi", "do": "done"}
"""Reserved words between the two, and what closes what they stand in."""
_CLOSING = frozenset(("fi", "done", "}", "esac"))
_COMPARING = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"))
"""What evaluates the words beside it within ``[[``."""
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[([^\]]*)\])?\+?=")
_NOTHING = Operator("")
"""Stands behind the last token."""


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
        source: the command whose output is its standard input; None when it is not behind one in a pipe.
        fed: whether its standard input comes from a redirection around it.
        repeats: whether it stands in a loop or in a function, so that it may run more than once.
        own: whether its name is that of a function which is certainly defined when it runs.
    """

    words: tuple[Word, ...]
    assigned: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    source: Simple | None = None
    fed: bool = False
    repeats: bool = False
    own: bool = False


@dataclass(frozen=True, kw_only=True)
class Script:
    """What stands in a text.

    Attributes:
        commands: in order.
        functions: the names that it may define.
        counts: the names whose values arithmetic evaluates.
        evaluated: words that are expressions of arithmetic as a whole.
    """

    commands: tuple[Simple, ...]
    functions: frozenset[str]
    counts: frozenset[str] = frozenset()
    evaluated: tuple[Word, ...] = ()


@dataclass
class _Open:
    """A compound command that has not ended.

    Attributes:
        closer: the word that ends it.
        loop: whether what is in it may run more than once.
        function: the function whose body it is; empty for none.
        certain: whether that function is defined whatever happens.
        pattern: whether a pattern of ``case`` comes next.
    """

    closer: str
    loop: bool = False
    function: str = ""
    certain: bool = False
    pattern: bool = False


def read_shell(text: str) -> Script:
    """Return every simple command in ``text``; those in substitutions are left as ``inner`` texts of the words.

    Raises:
        UnreadableError: a quote or bracket is never closed, or a construct is not understood.
    """
    # No rule looks further than three tokens ahead.
    return _Parser([*Lexer(text).tokens(), _NOTHING, _NOTHING, _NOTHING]).run()


@dataclass
class _Parser:
    tokens: list[Operator | Word]
    commands: list[Simple] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    _certain: list[str] = field(default_factory=list)
    """Functions that are defined whatever happens, in order."""
    _places: list[tuple[frozenset[str], int]] = field(default_factory=list)
    """For each command the functions that it stands in, and how many functions are certain where it stands."""
    _counts: set[str] = field(default_factory=set)
    _evaluated: list[Word] = field(default_factory=list)
    _words: list[Word] = field(default_factory=list)
    _assigned: list[Word] = field(default_factory=list)
    _redirections: list[Redirection] = field(default_factory=list)
    _source: Simple | None = None
    _closed: bool = False
    """A compound command has just ended: only redirections and operators may follow."""
    _open: list[_Open] = field(default_factory=list)
    _naming: _Open | None = None
    """The body, not begun yet, of a function that has been named."""
    _named: list[str] = field(default_factory=list)
    """The function whose definition ends here, when it is certain."""
    _behind: str = ";"
    """The operator before the present command."""

    def run(self) -> Script:
        at = 0
        while self.tokens[at] is not _NOTHING:
            at = self._step(at)
        self._finish(";")
        if self._open or self._naming is not None:
            raise UnreadableError(
                f"'{self._open[-1].closer}' is missing" if self._open else "a function without a body"
            )
        for token in self.tokens:
            word = token if isinstance(token, Word) else token.body
            self._counts.update(word.counts if word is not None else ())
        self._settle()
        return Script(
            commands=tuple(self.commands),
            functions=frozenset(self.functions),
            counts=frozenset(self._counts),
            evaluated=tuple(self._evaluated),
        )

    def _settle(self) -> None:
        """Tell which commands are functions for certain, now that all is known that may take their names away."""
        gone: set[str] = set()
        for command in self.commands:
            texts = [word.text for word in command.words]
            if "unset" in texts:
                gone |= self.functions if any(word.dynamic or word.braces for word in command.words) else set(texts)
        first: dict[str, int] = {}
        for command, (around, certain) in zip(self.commands, self._places, strict=True):
            if not around:
                self._called(_name(command), certain, first)
        for place, (around, certain) in enumerate(self._places):
            # What stands in a function runs when that is called first.
            known = self._certain[: min((first.get(name, certain) for name in around), default=certain)]
            name = _name(self.commands[place])
            self.commands[place] = replace(self.commands[place], own=name in known and name not in gone)

    def _called(self, name: str, certain: int, first: dict[str, int]) -> None:
        """Keep how many functions are certain at the first call of ``name``, and of those that it calls."""
        if first.get(name, certain + 1) > certain:
            first[name] = certain
            for command, (around, _) in zip(self.commands, self._places, strict=True):
                if name in around:
                    self._called(_name(command), certain, first)

    def _step(self, at: int) -> int:
        if self._open and self._open[-1].pattern:
            return self._pattern(at)
        token = self.tokens[at]
        if isinstance(token, Operator):
            return self._operator(at, token)
        if self._closed:
            raise UnreadableError(f"'{token.text}' behind a compound command")
        if not self._words:
            if not self._assigned and not token.quoted:
                behind = self._reserved(at, token.text)
                if behind:
                    return behind
            if self._naming is not None:
                raise UnreadableError("a function without a body")
            assignment = _ASSIGNMENT.match(token.text)
            if assignment is not None:
                return self._assignment(at, token, assignment[1] or "")
        self._words.append(token)
        return at + 1

    def _reserved(self, at: int, text: str) -> int:
        """Step over what begins with a reserved word; returns 0 where ``text`` is none."""
        if text in _BEGINNING:
            self._begin(_Open(_BEGINNING[text], loop=_BEGINNING[text] == "done"))
        elif text in _WITHIN:
            if not self._open or self._open[-1].closer != _WITHIN[text]:
                raise UnreadableError(f"'{text}' outside of what it belongs to")
        elif text in _CLOSING:
            self._close(text)
        elif text == "time":
            return at + 1 + (self.tokens[at + 1].text == "-p")
        elif text in ("for", "select"):
            return self._for(at + 1)
        elif text == "case":
            return self._case(at + 1)
        elif text == "function":
            return self._function(at + 1)
        elif text == "[[":
            return self._test(at + 1)
        elif text == "coproc":
            raise UnreadableError(text)
        elif text != "!":
            return 0
        return at + 1

    def _operator(self, at: int, token: Operator) -> int:
        if token.text in _REDIRECTIONS:
            target = self.tokens[at + 1]
            if not isinstance(target, Word):
                raise UnreadableError(f"nothing behind {token.text}")
            body = target if token.text == "<<<" else token.body
            self._redirections.append(Redirection(operator=token.text, target=target, body=body))
            if self._closed and token.text.startswith("<"):
                # What the compound command reads is also what every command in it may read.
                self.commands = [replace(command, fed=True) for command in self.commands]
            return at + 2
        if token.text == "(":
            return self._parenthesis(at, token)
        if token.text == ")":
            self._finish(token.text)
            self._close(token.text)
            return at + 1
        done = self._finish(token.text)
        if token.text in ("|", "|&"):
            self._source = done
        elif token.text in (";;", ";&", ";;&"):
            if not self._open or self._open[-1].closer != "esac":
                raise UnreadableError(f"{token.text} outside of a case")
            self._open[-1].pattern = True
        return at + 1

    def _finish(self, operator: str) -> Simple | None:
        """Keep the command that is complete now, before ``operator``; return it."""
        done: Simple | None = None
        if self._words or self._assigned or self._redirections:
            done = Simple(
                words=tuple(self._words),
                assigned=tuple(self._assigned),
                redirections=tuple(self._redirections),
                source=self._source,
                repeats=any(around.loop for around in self._open),
            )
            around = frozenset(opened.function for opened in self._open if opened.function)
            self._places.append((around, len(self._certain)))
            self.commands.append(done)
        if operator not in ("|", "|&", "&"):
            # What stands in a pipe or in the background is defined for itself alone.
            self._certain += self._named
        if done is not None or self._closed:
            self._source, self._behind = None, operator
        self._words, self._assigned, self._redirections, self._closed, self._named = [], [], [], False, []
        return done

    def _begin(self, begun: _Open) -> None:
        """Go into a compound command; it is the body of the function that has just been named."""
        if self._naming is not None:
            begun = replace(self._naming, closer=begun.closer)
            self._naming = None
        self._open.append(begun)

    def _close(self, word: str) -> None:
        """Leave the compound command that ends here.

        Raises:
            UnreadableError: another one is open, or none.
        """
        if not self._open or self._open[-1].closer != word:
            raise UnreadableError(f"'{word}' closes nothing")
        closed = self._open.pop()
        if closed.certain:
            self._named = [closed.function]
        self._closed = True

    def _parenthesis(self, at: int, token: Operator) -> int:
        if self._words and self._is(at + 1, ")"):
            return self._name_function(at + 2, self._words.pop())
        if self._words or self._assigned or self._closed:
            raise UnreadableError("a ( inside a command")
        if token.joined:
            return self._arithmetic(at + 2)
        self._begin(_Open(")"))
        return at + 1

    def _arithmetic(self, at: int) -> int:
        """Step over what stands behind ``((``."""
        depth = 0
        while self.tokens[at] is not _NOTHING:
            token = self.tokens[at]
            at += 1
            if isinstance(token, Word):
                if token.quoted:
                    raise UnreadableError("arithmetic that can't be followed")
                self._counts.update(counted(token.text))
                continue
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0:
                if not token.joined:
                    raise UnreadableError("(( that is no arithmetic")
                self._closed = True
                return at + 1
        raise UnreadableError("(( that never ends")

    def _assignment(self, at: int, token: Word, index: str) -> int:
        self._assigned.append(token)
        self._counts.update(counted(index))
        at += 1
        if not token.text.endswith("=") or not self._is(at, "("):
            return at
        # Each value of an array is kept as if it were assigned alone.
        while not self._is(at := at + 1, ")"):
            value = self.tokens[at]
            if isinstance(value, Word):
                self._assigned.append(replace(value, text=token.text + value.text))
            elif value.text != "\n":
                raise UnreadableError("an array that never ends")
        return at + 1

    def _is(self, at: int, text: str) -> bool:
        """Return whether a token is this operator."""
        token = self.tokens[at]
        return isinstance(token, Operator) and token.text == text

    def _past_lines(self, at: int) -> int:
        """Return where something else than a line end stands."""
        while self._is(at, "\n"):
            at += 1
        return at

    def _for(self, at: int) -> int:
        """Step over the head of a for; each value of its variable is kept as if it were assigned."""
        self._begin(_Open("done", loop=True))
        head = self.tokens[at]
        if isinstance(head, Operator):
            if not head.joined or head.text != "(":
                raise UnreadableError("a for that can't be followed")
            at = self._arithmetic(at + 2)
            self._closed = False
            return at
        if not re.fullmatch(r"[A-Za-z_]\w*", head.text):
            raise UnreadableError("a for that can't be followed")
        at = self._past_lines(at + 1)
        if self.tokens[at].text == "in":
            while isinstance(value := self.tokens[at := at + 1], Word):
                self._assigned.append(replace(value, text=f"{head.text}={value.text}", listed=not value.quoted))
        else:
            # Without a list its values are the arguments of the script.
            self._assigned.append(Word(text=f"{head.text}=$@", dynamic=True))
        self._finish(";")
        return at

    def _case(self, at: int) -> int:
        subject, listed = self.tokens[at], self.tokens[self._past_lines(at + 1)]
        if not isinstance(subject, Word) or listed.text != "in":
            raise UnreadableError("a case that can't be followed")
        self._expanded(subject)
        self._begin(_Open("esac", pattern=True))
        return self._past_lines(at + 1) + 1

    def _expanded(self, *words: Word) -> None:
        """Keep words that are only expanded, as if a command got them that does nothing."""
        self._words += [Word(text=":"), *words]
        self._finish(";")

    def _pattern(self, at: int) -> int:
        """Step over a pattern of a case."""
        while self.tokens[at] is not _NOTHING:
            token = self.tokens[at]
            at += 1
            if isinstance(token, Operator):
                if token.text == ")":
                    self._open[-1].pattern = False
                    return at
            elif token.inner:
                raise UnreadableError("a command in a pattern of case")
            elif token.text == "esac" and not token.quoted:
                self._close("esac")
                return at
        return at

    def _function(self, at: int) -> int:
        name = self.tokens[at]
        if not isinstance(name, Word):
            raise UnreadableError("a function without a name")
        both = self._is(at + 1, "(") and self._is(at + 2, ")")
        return self._name_function(at + (3 if both else 1), name)

    def _name_function(self, at: int, name: Word) -> int:
        """Expect the body of a function; it is certain where it stands alone, behind a command that ended anyhow."""
        if self._words or self._assigned or not re.fullmatch(r"[\w-]+", name.text):
            raise UnreadableError("a function whose name can't be told")
        self.functions.add(name.text)
        certain = not self._open and self._behind in (";", "\n", "&")
        self._naming = _Open("", loop=True, function=name.text, certain=certain)
        return at

    def _test(self, at: int) -> int:
        """Step over what stands behind ``[[``."""
        words: list[Word] = []
        while self.tokens[at] is not _NOTHING:
            token = self.tokens[at]
            at += 1
            if isinstance(token, Operator):
                continue
            if token.text == "]]" and not token.quoted:
                if not _COMPARING.isdisjoint(word.text for word in words):
                    self._evaluated += words
                self._expanded(*words)
                self._closed = True
                return at
            if token.code:
                raise UnreadableError("a command that [[ evaluates")
            words.append(token)
        raise UnreadableError("[[ that never ends")


def _name(command: Simple) -> str:
    """Return the name of a command; empty where it only assigns."""
    return command.words[0].text if command.words else ""
