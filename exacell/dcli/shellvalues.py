"""What the variables of shell text may hold, as far as the text itself says it: every value that is assigned anywhere.

The order of assignments does not matter here: a name may have each of its values everywhere, so nothing is taken for known
that a loop, a branch or a function could change. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from exacell.dcli.known import DECLARING
from exacell.dcli.shell import Script, Simple, read_shell
from exacell.dcli.shellwords import UnreadableError, Word

SOMETHING = "X"
"""Stands for a value that is a plain word, of which it does not matter which one."""
_SEVERAL = "X X"
"""Stands for a value that may be several such words."""

_GIVEN = frozenset(("HOSTNAME", "HOME", "USER", "LOGNAME", "PWD", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO"))
"""Variables that the system sets to a plain word or number."""

_TAKING = frozenset(("mapfile", "readarray", "getopts", "read"))
_EXPANSION = re.compile(r"\$(?:([A-Za-z_]\w*|[0-9@*#?$!-])|\{([A-Za-z_]\w*|[0-9@*#?$!-])\})")
_ARITHMETIC = re.compile(r"\$\(\((?:(?!\)\)).)*\)\)")
_NAMES = re.compile(r"(?<!\w)[A-Za-z_]\w*")
_DEEPEST = 4
_MOST = 64
"""More combinations of values than this are not followed."""


class Values:
    """The values that the names in one text may have.

    Args:
        script: the text.
        outer: what is known of the text around it, whose variables it may see.
        arguments: whether the text gets no arguments beside those that its own functions are called with.
    """

    def __init__(self, script: Script, *, outer: Values | None = None, arguments: bool = True) -> None:
        self._outer = outer
        self._functions = script.functions
        self._words: dict[str, list[Word]] = {}
        self._unknown: set[str] = set() if arguments else {"@"}
        for command in script.commands:
            for word in command.assigned:
                self._assign(word)
            self._command(command, script.functions)
        own = "IFS" not in self._unknown and not any(word.text for word in self._words.get("IFS", ()))
        self.splits: bool = own and (outer is None or outer.splits)
        """Whether IFS is as it was, so that values are cut into words at blanks only."""

    def _assign(self, word: Word) -> None:
        name, _, value = word.text.partition("=")
        name = name.partition("[")[0]
        if re.search(r"[$`]", name):
            raise UnreadableError("a variable whose name is not in the text")
        if name.endswith("+") or (word.glob and re.search(r"[*?[]", value)):
            self._unknown.add(name.rstrip("+"))
        else:
            self._words.setdefault(name, []).append(replace(word, text=value))

    def _command(self, command: Simple, functions: frozenset[str]) -> None:
        words = command.words
        name = words[0].text if words else ""
        for word in words:
            self._unknown |= {found[1] for found in re.finditer(r"\$\{(\w+):?[=]", word.text)}
        if name in functions:
            self._words.setdefault("@", []).extend(words[1:])
        elif name in DECLARING:
            for word in words[1:]:
                if "=" in word.text:
                    self._assign(word)
                elif word.dynamic or re.match(r"-\w*n", word.text):
                    raise UnreadableError("a variable whose name is not in the text")
        elif name == "read" and command.source is not None and not command.fed and _plain_output(command.source, self):
            for word in words[1:]:
                self._words.setdefault(word.text, []).append(Word(text=SOMETHING))
        elif name in _TAKING or (name == "printf" and any(word.text.startswith("-v") for word in words[1:2])):
            if any(word.dynamic or word.braces for word in words[1:3]):
                raise UnreadableError("a variable whose name is not in the text")
            given = words[1:3] if name == "printf" else words[1:]
            self._unknown |= {word.text.removeprefix("-v").partition("[")[0] for word in given}
        elif name == "set" and any(not re.match(r"[-+]\w", word.text) for word in words[1:]):
            self._unknown.add("@")

    def refuse_evaluated(self, script: Script) -> None:
        """Return when what arithmetic evaluates in the text can hold numbers and names only.

        Raises:
            UnreadableError: a value may hold a command, which evaluating it would run.
        """
        for name in sorted(script.counts):
            if not self._counts(name):
                raise UnreadableError(f"arithmetic with {name}, whose value the text does not tell")
        for word in script.evaluated:
            if not self.counts_plainly(word):
                raise UnreadableError(f"arithmetic with {word.text}, whose value the text does not tell")

    def counts_plainly(self, word: Word) -> bool:
        """Return whether a word that is evaluated as arithmetic can start no command."""
        if word.code or word.braces:
            return False
        for piece in _pieces(word):
            if isinstance(piece, str):
                plain = all(self._counts(name) for name in _NAMES.findall(piece))
            elif piece.inner:
                plain = _output(piece.inner[0], self, 0) is not None
            else:
                plain = self._counts(piece.text)
            if not plain:
                return False
        return True

    def _counts(self, name: str, depth: int = 0) -> bool:
        """Whether a name has no value that could start a command when it is evaluated, nor has one that it leads to.

        One that is never set here is not set, or as the login has it.
        """
        name = "@" if name in "0123456789*" else name
        if not self._all(name) and not self._holds_unknown(name):
            return True
        texts = self._named(name, 0)
        if texts is None or depth > _DEEPEST or re.search(r"[$`]", "".join(texts)):
            return False
        return all(self._counts(other, depth + 1) for text in texts for other in _NAMES.findall(text) if other != name)

    def defines(self, name: str) -> bool:
        """Return whether a function of this name is defined here or around, so that a command of that name may be it."""
        return name in self._functions or (self._outer is not None and self._outer.defines(name))

    def texts(self, word: Word, depth: int = 0) -> tuple[str, ...] | None:
        """Return every text that a word may become; None when that can't be told."""
        if word.braces:
            # A value of a loop; as an argument it would be several.
            plain = depth > 0 and re.fullmatch(r"(?!.*[,{]-)(\w[\w.,{}-]*|\{\w[\w.,{}-]*\})", word.text)
            return (SOMETHING,) if plain else None
        if not word.dynamic:
            return (word.text,)
        if word.code or depth > _DEEPEST:
            return None
        parts: list[tuple[str, ...]] = []
        for piece in _pieces(word):
            if isinstance(piece, str):
                found: tuple[str, ...] | None = (piece,)
            elif piece.inner:
                found = _output(piece.inner[0], self, depth)
            else:
                found = self._named(piece.text, depth)
            if found is None:
                return None
            parts.append(found)
        combined = 1
        for part in parts:
            combined *= len(part)
        if combined > _MOST:
            return None
        found_texts = ("".join(each) for each in product(*parts))
        # A loop goes over the words of what is expanded.
        return tuple(part for text in found_texts for part in (text.split() if word.listed else (text,)))

    def _named(self, name: str, depth: int) -> tuple[str, ...] | None:
        if name in "?#$!-":
            return (SOMETHING,)
        name = "@" if name in "0123456789*" else name
        if self._holds_unknown(name):
            return None
        words = self._all(name)
        given = (SOMETHING,) if name in _GIVEN else ("",) if name == "@" else ()
        if not words:
            return given or None
        found = list(given)
        for word in words:
            texts = self.texts(word, depth + 1)
            if texts is None:
                return None
            found += texts
        return tuple(dict.fromkeys(found))

    def _holds_unknown(self, name: str) -> bool:
        return name in self._unknown or (self._outer is not None and self._outer._holds_unknown(name))

    def _all(self, name: str) -> list[Word]:
        own = self._words.get(name, [])
        return own + self._outer._all(name) if self._outer is not None else own

    def arguments(self, words: Sequence[Word]) -> Iterator[tuple[Word, ...]] | None:
        """Return the arguments that a command may get, one tuple after the other; None when they can't be told.

        Values are plain words, so that none of them becomes two arguments.
        """
        found: list[tuple[Word, ...]] = []
        combined = 1
        for word in words:
            texts = self.texts(word)
            if texts is None or (word.dynamic and not (self.splits and all(_one_word(text, word) for text in texts))):
                return None
            combined *= len(texts)
            if combined > _MOST:
                return None
            found.append(tuple(replace(word, text=text, dynamic=False) for text in texts))
        return product(*found)


def _one_word(text: str, word: Word) -> bool:
    """Whether what was expanded in a word brings no blank and no wildcard that was not there."""
    return len(re.findall(r"[\s*?\[]", text)) <= sum(
        len(re.findall(r"[\s*?\[]", piece)) for piece in _pieces(word) if isinstance(piece, str)
    )


def _pieces(word: Word) -> Iterator[str | Word]:
    """Yield the fixed parts of a dynamic word as text, and what is expanded in it: a name, or a command as ``inner``."""
    inner = list(word.inner)
    text, at, fixed = word.text, 0, 0
    while at < len(text):
        if text[at] not in "$`":
            at += 1
            continue
        yield text[fixed:at]
        if (counted := _ARITHMETIC.match(text, at)) is not None:
            yield SOMETHING
            at = counted.end()
        elif (named := _EXPANSION.match(text, at)) is not None:
            yield Word(text=named[1] or named[2])
            at = named.end()
        elif inner and text.startswith((f"$({inner[0]})", f"`{inner[0]}`"), at):
            yield Word(text="", inner=(inner[0],))
            at = text.index(inner[0], at) + len(inner.pop(0)) + 1
        else:
            yield Word(text="@unread")
            at += 1
        fixed = at
    yield text[fixed:]


_GENERATORS: Mapping[str, re.Pattern[str]] = {
    "hostname": re.compile(r"[-\w ]*"),
    # A word of it that began with - could be an option.
    "date": re.compile(r"(?!.*[+ ]-[^ ]* *\Z)(?!.*%[nt])[-+%\w:/. ]*"),
    **dict.fromkeys(("whoami", "uname", "id", "nproc", "pwd", "logname"), re.compile(r"[-\w ]*")),
    "seq": re.compile(r"[\d ]*"),
    **dict.fromkeys(("df", "free"), re.compile(r"[-\w/. ]*")),
}
"""Commands whose output is plain words, and the arguments with which it is."""
_FILTERS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        ("sort", "uniq", "head", "tail", "wc", "cut"),
        re.compile(r"( ?(--lines=\d+|-d ?[ ,:=]|-[ncfk] [-\d,nr]+|-[-\d,fncukrl]+))*"),
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep"), re.compile(r"(-[a-eg-qs-zA-QS-Z]+ )*[^\s;]*")),
    "awk": re.compile(r"(-F ?\S )?((NR ?[=<>]=? ?\d+|END) ?)?\{ *print \$\w+ *;? *\}"),
    "tr": re.compile(r"-[ds] \S+| *\\n| *\\n *"),
}
"""Commands that pass on what they get, or parts of it, and the arguments with which they do."""
_COUNTING = re.compile(r"wc -[clmwL]|[ef]?grep -c [^\s;-]+")
"""Commands that print a number, whatever they get."""
_ONE_WORD = re.compile(
    r"wc|whoami|logname|nproc|hostname( -[sfd])?|uname( -[snrm])?|id -un?|date \+[^\s+]*(?<!%[cxr])|"
    r"cellcli -e list cell attributes name"
)
"""Commands whose output is one word."""


def _output(text: str, values: Values, depth: int) -> tuple[str, ...] | None:
    """Return what a command substitution may print; None when that can't be told."""
    try:
        script = read_shell(text)
    except UnreadableError:
        return None
    if not script.commands:
        return None
    last = script.commands[-1]
    if len(script.commands) == 1 and last.words and last.words[0].text == "echo" and not values.defines("echo"):
        parts = [values.texts(word, depth + 1) for word in last.words[1:]]
        known = [part[0] for part in parts if part is not None and len(part) == 1]
        return (" ".join(known),) if len(known) == len(parts) and "\\" not in "".join(known) else None
    pipeline: Simple | None = last
    length = 0
    while pipeline is not None:
        pipeline, length = pipeline.source, length + 1
    if length != len(script.commands) or not _plain_output(last, values):
        return None
    name, *given = (word.text for word in last.words)
    text = " ".join((name.rpartition("/")[2], *(given if last.source is None else ())))
    return (SOMETHING,) if _ONE_WORD.fullmatch(text) else (_SEVERAL,)


def _plain_output(command: Simple, values: Values) -> bool:
    """Whether the output of a pipeline that ends with ``command`` holds names, numbers and times only."""
    if not command.words or values.defines(command.words[0].text):
        return False
    name = command.words[0].text.rpartition("/")[2]
    arguments = values.arguments(command.words[1:])
    if arguments is None:
        return False
    texts = [" ".join(word.text for word in words) for words in arguments]
    if all(_COUNTING.fullmatch(f"{name} {text}") for text in texts):
        return True
    if any(redirection.operator.startswith("<") for redirection in command.redirections):
        return False
    if name == "cellcli":
        # A comment may say anything.
        free = any(re.search(r"comment|detail|[;\n]", text, re.IGNORECASE) for text in texts)
        return not free and all(re.match(r"(-m )?-e list ", text, re.IGNORECASE) for text in texts)
    known = (_GENERATORS if command.source is None else _FILTERS).get(name)
    if known is None or not all(known.fullmatch(text) for text in texts):
        return False
    return command.source is None or _plain_output(command.source, values)
