"""Split shell text into words, joints, redirections and here-documents; the lowest level of the small language. Pure.

Text is split only if bash, dash, mksh, ksh93, busybox sh and zsh all split it in the same way; any other text raises an error.
Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.7, and each shell's manual page where it adds to that; their real
behaviour was tested with generated texts (``benchmarks/fuzz_shell.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.core.values import dataclass, replace
from exacell.opaque.findings import UnreadError

_FIRST_LINE = re.compile(r"#![ \t]{0,4}(?:/bin/(?:sh|bash)(?:[ \t]{1,4}-[xvue])?|/usr/bin/env[ \t]{1,4}bash)")
"""First lines of scripts that are read: ``-x``, ``-v``, ``-u`` and ``-e`` don't change the meaning of the rest. Source:
POSIX.1-2017, Shell Command Language, set.
"""

_UNEQUAL = "!(?==)"
"""A sign that all shells leave unchanged: ``!=``, which CellCLI's conditions contain. Source: bash(1), HISTORY EXPANSION; csh(1),
History substitution; zshexpn(1): a ``!`` in front of ``=`` begins none."""
_BARE = re.compile(rf"(?:[A-Za-z0-9_./:,@%+=*?-]|{_UNEQUAL})+")
_BRACKETS = re.compile(r"[\[\]]")
_ESCAPED = re.compile(r"\\([\t -~])")
_SINGLE = re.compile(r"'([^'\n]*)'")
_DOLLAR = r"\$(?=[ \t\"%'),./:;|])"
"""A ``$`` that begins nothing in any shell, in double quotes and in here-documents."""
_INNER = rf"""(?:[^"$`\\!\n]|{_UNEQUAL}|\\[^!]|{_DOLLAR})*"""
_DOUBLE = re.compile(rf'"({_INNER})"')
_LAST_DOLLAR = re.compile(r"\$(?=[ \t\n;|]|&&|\Z)")
_END = r"(?=[ \t\n;|]|$)"
_OUTPUT = re.compile(rf"(?:(2)>&1|([12]?)>[ \t]*/dev/null){_END}")
_INPUT = re.compile(rf"</dev/null{_END}")
_PLAIN_MARK = r"[A-Za-z0-9_.,:@%+/=!-]+"
_QUOTED_MARK = r"[^\t\n'\"\\$`]+"
_DOCUMENT = re.compile(
    rf"<<(-?+)[ \t]*+(?:({_PLAIN_MARK})|\\({_PLAIN_MARK})|'({_QUOTED_MARK})'|\"({_QUOTED_MARK})\")(?=[ \t\n;|]|&&|\Z)"
)
_LINES = re.compile(rf"(?:[^$`\\]|\\.|{_DOLLAR}|\$(?=\n))*", re.DOTALL)
"""The lines of a here-document with an unquoted mark."""
_COMMENT = re.compile(r"#[^\n]*")
_JOINT = re.compile(r"&&(?!&)|\|\|(?!\|)|;(?![;&|])|\|(?![|&])|\n")

_REPLACED = "a value that only the shell there knows"
_GROUP = "a group of commands, a function or arithmetic"
_PATTERN = "a test or a pattern that exacell does not follow"

SEVERAL = (
    "exacell takes several statements: exacell -e 'list cell; list griddisk', a file of them with -f FILE, or a recipe"
)
"""What to use in exacell in place of here-documents and loops."""

CONDITION = "put the condition in quotes: cellcli -e \"list griddisk where asmModeStatus = 'OFFLINE'\""
"""How to write a statement that contains signs with a meaning for the shell."""

_VALUE = "write the value itself; a recipe takes parameters; \\$ or '$' is the sign"
_IN_QUOTES = "put it in '…'"

_SIGNS = {
    "$": (_REPLACED, _VALUE),
    "`": (
        "the output of a command, which only the shell there knows",
        "write the value itself; a recipe takes parameters",
    ),
    "\\": (
        "a backslash that shells read in different ways",
        "leave it out, or put a blank before one that ends a line",
    ),
    "!": ("a sign that some shells replace by an earlier command", _IN_QUOTES),
    "~": ("a home directory, which only the shell there knows", "write the directory itself"),
    "&": ("a command in the background", "leave it out: exacell asks all cells at once; in a word, put it in '…'"),
    "<": ("input other than /dev/null or a here-document", SEVERAL),
    ">": (
        "output other than to /dev/null",
        "write it to a file on this side: `spool FILE`, or `exacell … > FILE` in a shell",
    ),
    "(": (_GROUP, SEVERAL),
    ")": (_GROUP, SEVERAL),
    "{": ("a group of commands or several words made of one", SEVERAL),
    "}": ("a group of commands or several words made of one", SEVERAL),
    "[": (_PATTERN, _IN_QUOTES),
    "]": (_PATTERN, _IN_QUOTES),
    "^": ("a sign that shells read in different ways", _IN_QUOTES),
    "#": ("a # without a blank before it", "put it in '…', or a blank before it"),
    ";": ("an empty command or the end of a case", "leave one ; out"),
    "|": ("an empty command, or errors into a pipe", "2>&1 | takes errors into a pipe; leave out what is too much"),
    "'": ("a quote that is not closed on its line", "close it on its line"),
    '"': ("a quote that is not closed on its line", "close it on its line"),
}
"""Sign → why it is not read, and what to write instead."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word as the program receives it.

    Attributes:
        at: its offset in the text.
        glob: whether the shell may replace it by names of files.
        signs: in a statement after ``cellcli -e``: offsets of its pattern signs outside of quotes.
        plain: whether it has no backslash or ``$`` outside of single quotes, so that shells other than the six read it alike.
    """

    text: str
    at: int
    glob: bool = False
    signs: tuple[int, ...] = ()
    plain: bool = True


@dataclass(frozen=True, kw_only=True)
class Joint:
    """A separator of commands: ``;``, a line feed, ``|``, ``&&`` or ``||``."""

    text: str
    at: int = 0


@dataclass(frozen=True, kw_only=True)
class Redirection:
    """A redirection of output (``descriptor`` 1) or errors (2) to /dev/null or another descriptor, or of input (0) from
    /dev/null.
    """

    descriptor: int
    at: int


@dataclass(frozen=True, kw_only=True)
class Document:
    """A here-document: its mark, and its lines as the program receives them, each with its line feed.

    Attributes:
        at: offset of its ``<<`` in the text.
        literal: whether its mark is quoted, so that the shell does not change its lines.
        strip: whether it begins with ``<<-``, so that leading tabs of its lines are removed.
        closed: whether a line with the mark ends it; otherwise the end of the file does.
    """

    mark: str
    body: str
    at: int
    literal: bool
    strip: bool
    closed: bool = True


Token = Word | Joint | Redirection | Document


def place_in(text: str, at: int) -> str:
    """Return a place in a text for messages: the line, if there are several, and the character."""
    line = f"line {text.count(chr(10), 0, at) + 1}, " if "\n" in text.strip("\n") else ""
    return f"{line}character {at - text.rfind(chr(10), 0, at)}"


def refuse_bytes(text: str) -> None:
    """Raise UnreadError if a text contains anything but printable ASCII, blanks, tabs and line feeds.

    Raises:
        UnreadError: names the first other character.
    """
    found = re.search(r"[^\t\n -~]", text)
    if found is None:
        return
    name, instead = "a character that is no printable ASCII", "write it in ASCII"
    if found[0] == "\r":
        name, instead = "a carriage return", "save the text with plain line ends: sed -i 's/\\r$//' FILE"
    raise UnreadError(ascii(found[0])[1:-1], name, instead, place=place_in(text, found.start()))


def lex(text: str, *, script: bool = False) -> tuple[tuple[Token, ...], UnreadError | None]:
    """Return the tokens of a shell text up to the first part outside of the small language, and the error for that part (None
    for none).

    Args:
        script: whether it is a script file, whose end may end a here-document.
    """
    lexer = _Lexer(text, script=script)
    try:
        refuse_bytes(text)
        lexer.go_through()
    except UnreadError as error:
        return tuple(lexer.found), error
    return tuple(lexer.found), None


def patterns_quoted(text: str) -> str:
    """Return a command with a backslash before each pattern sign that is outside of quotes in a statement after ``cellcli
    -e``; without it, the shell on the cell would replace the pattern by names of files that match.
    """
    tokens, wrong = lex(text)
    if wrong is None:
        for at in sorted((at for token in tokens if isinstance(token, Word) for at in token.signs), reverse=True):
            text = f"{text[:at]}\\{text[at:]}"
    return text


def statement_begun(tokens: Sequence[Token]) -> bool:
    """Return whether text after these tokens belongs to a statement after ``cellcli -e``."""
    words: list[str] = []
    for token in reversed(tokens):
        if isinstance(token, Joint):
            break
        if isinstance(token, Word):
            words.append(token.text)
    return bool(words) and words[-1].rpartition("/")[2] == "cellcli" and "-e" in words


class _Lexer:
    """Reads a text once; the lines of a here-document are read at the end of its line."""

    def __init__(self, text: str, *, script: bool) -> None:
        self._text, self._script = text, script
        self.found: list[Token] = []
        self._pending: list[int] = []

    def _unread(self, at: int, sign: str, why: str, instead: str) -> UnreadError:
        return UnreadError(sign, why, instead, place=place_in(self._text, at))

    def go_through(self) -> None:
        """Find all tokens.

        Raises:
            UnreadError: the next part is outside of the language.
        """
        text, at = self._text, 0
        first = text.partition("\n")[0]
        if first.startswith("#!") and not _FIRST_LINE.fullmatch(first):
            raise self._unread(
                0,
                first,
                "a first line that names another program than sh or bash, or an option that is not read",
                "begin it with the line #!/bin/sh",
            )
        while at < len(text):
            free = at == 0 or text[at - 1] in " \t\n"
            if text[at] in " \t":
                at += 1
            elif free and (comment := _COMMENT.match(text, at)):
                if comment[0].endswith("\\"):
                    why = "a comment that may go on in the next line"
                    raise self._unread(comment.end() - 1, "\\", why, "leave out the backslash")
                at = comment.end()
            elif text.startswith("\\\n", at):
                at = self._line_goes_on(at)
            elif joint := _JOINT.match(text, at):
                at = self._joint(joint)
            elif found := self._redirection(at):
                at = found
            else:
                at = self._word(at)
        if self._pending:
            raise self._endless(self._pending[0])

    def _line_goes_on(self, at: int) -> int:
        """Return the offset of the next line after a backslash at the end of a line."""
        if self._text[at - 1 : at] != " ":
            why = "a line that goes on, without a blank before the backslash"
            raise self._unread(at, "\\", why, "put a blank before the backslash")
        rest = self._text[at + 2 :].lstrip(" \t")
        if not rest or rest.startswith("#"):
            why = "a line that goes on where nothing follows, or a comment"
            raise self._unread(at, "\\", why, "leave out the backslash")
        return at + 2

    def _joint(self, found: re.Match[str]) -> int:
        joint = Joint(text=found[0], at=found.start())
        if found[0] != "\n" or not self._pending:
            self.found.append(joint)
            return found.end()
        last = self.found[-1]
        if isinstance(last, Joint) and last.text != ";":
            mark = self._shown(self._pending[0])
            why = f"a here-document whose line ends in {last.text}"
            raise self._unread(last.at, mark, why, f"write what follows {last.text} on the line of {mark}")
        self.found.append(joint)
        return self._bodies(found.end())

    def _redirection(self, at: int) -> int:
        """Read a redirection or a here-document's mark; return the offset of its end, 0 if there is none."""
        if found := _OUTPUT.match(self._text, at):
            self.found.append(Redirection(descriptor=int(found[1] or found[2] or 1), at=at))
        elif found := _INPUT.match(self._text, at):
            self.found.append(Redirection(descriptor=0, at=at))
        elif found := _DOCUMENT.match(self._text, at):
            self._pending.append(len(self.found))
            mark, literal = found[2] or found[3] or found[4] or found[5], not found[2]
            # Its lines are read at the end of this line.
            self.found.append(Document(mark=mark, body="", at=at, literal=literal, strip=bool(found[1])))
        elif re.match("<<(?!<)", self._text[at : at + 3]):
            why = "a here-document whose mark shells read in different ways"
            raise self._unread(at, "<<", why, "quote the mark: <<'EOF'")
        return found.end() if found else 0

    def _bodies(self, at: int) -> int:
        """Read the lines of the here-documents of one line, from offset ``at``; return the offset of the end of the last one."""
        alone = len(self._pending) == 1
        for number, place in enumerate(self._pending):
            at = self._body(place, at + (number > 0), alone=alone)
        self._pending = []
        return at

    def _body(self, place: int, at: int, *, alone: bool) -> int:
        document = self.found[place]
        assert isinstance(document, Document)
        tabs = r"\t*" if document.strip else ""
        found = re.compile(rf"^{tabs}{re.escape(document.mark)}$", re.MULTILINE).search(self._text, at)
        # The end of a file may end the only here-document of a line. Source: POSIX.1-2017, 2.7.4, leaves it open; mksh refuses
        # it.
        ends = self._script and alone and self._text.endswith("\n") and at < len(self._text)
        if found is None and not ends:
            raise self._endless(place)
        end = len(self._text) if found is None else found.start()
        body = self._text[at:end]
        early = re.search(rf"^{tabs}{re.escape(document.mark)}\)", body, re.MULTILINE)
        if early is not None:
            # ksh93 ends the here-document there, and so does mksh within parentheses, for texts like $(cat <<E … E).
            why = "a line that begins with the mark and ); some shells end the here-document there"
            raise self._unread(at + early.start(), early[0].strip(), why, "use a mark with which no line begins")
        if not document.literal:
            self._refuse_lines(document, body, at)
        if document.strip:
            body = re.sub(r"^\t+", "", body, flags=re.MULTILINE)
        if not document.literal:
            body = re.sub(r"\\([\\$`])", r"\1", body)
        self.found[place] = replace(document, body=body, closed=found is not None)
        return end if found is None else found.end()

    def _refuse_lines(self, document: Document, body: str, at: int) -> None:
        """Raise UnreadError if the shell would replace something in the lines of a here-document with an unquoted mark.

        Raises:
            UnreadError: it would.
        """
        whole = _LINES.match(body)
        assert whole is not None
        end = re.search(r"\\\n", body)
        place = min(whole.end(), len(body) if end is None else end.start())
        if place == len(body):
            return
        why = "it joins lines in a here-document" if body[place] == "\\" else "the shell replaces it in a here-document"
        raise self._unread(at + place, body[place], why, f"quote the mark: <<'{document.mark}'")

    def _shown(self, place: int) -> str:
        document = self.found[place]
        assert isinstance(document, Document)
        return f"<<{document.mark}"

    def _endless(self, place: int) -> UnreadError:
        shown = self._shown(place)
        mark = shown.removeprefix("<<")
        why = f"a here-document without a line {mark} at its end"
        return self._unread(self.found[place].at, shown, why, f"end it with the line {mark}; or {SEVERAL}")

    def _word(self, start: int) -> int:
        text, at = "", start
        signs: list[int] = []
        quoted, plain = False, True
        inner = statement_begun(self.found)
        while piece := self._piece(at, inner=inner):
            found, said, bare = piece
            if bare and not text and said.startswith("=") and not self._alone(start, found):
                why = "a word with =, which some shells replace by the path of a command"
                raise self._unread(at, said, why, CONDITION if inner else f"put it in quotes: '{said}'")
            if bare:
                signs += [at + n for n, sign in enumerate(said) if sign in "*?[]"]
            quoted = quoted or not bare
            plain = plain and (self._text[at] == "'" or not set(self._text[at:found]) & set("\\$"))
            text, at = text + said, found
        if at == start or (at < len(self._text) and self._text[at] not in " \t\n;|&"):
            self._refuse_end(start, at, inner=inner)
        if signs and quoted and not inner:
            raise self._unread(start, text, "a pattern that is partly in quotes", "put all of it in quotes, or nothing")
        self.found.append(Word(text=text, at=start, glob=bool(signs), signs=tuple(signs) if inner else (), plain=plain))
        return at

    def _piece(self, at: int, *, inner: bool) -> tuple[int, str, bool] | None:
        """Return the end offset of the piece of a word at ``at``, its text for the program, and whether it is unquoted; None
        if no piece begins there.
        """
        text = self._text
        if found := _BARE.match(text, at) or (inner and _BRACKETS.match(text, at)) or _LAST_DOLLAR.match(text, at):
            return found.end(), found[0], True
        if found := _ESCAPED.match(text, at) or _SINGLE.match(text, at):
            return found.end(), found[1], False
        if found := _DOUBLE.match(text, at):
            return found.end(), re.sub(r"\\([\\$`\"\n])", lambda one: one[1].strip("\n"), found[1]), False
        return None

    def _alone(self, start: int, end: int) -> bool:
        """Return whether a word that ends at ``end`` is just ``=``."""
        return self._text[start:end] == "=" and self._text[end : end + 1] in (*" \t\n;|&", "")

    def _refuse_end(self, start: int, at: int, *, inner: bool) -> None:
        """Raise UnreadError unless a here-document may directly follow the word before it.

        Raises:
            UnreadError: names the sign that can't follow a word.
        """
        text, sign = self._text, self._text[at]
        if text.startswith("<<", at) and at > start:
            if text[start:at].isdigit():
                why = "a here-document for another descriptor"
                raise self._unread(start, f"{text[start:at]}<<", why, "put a blank before <<")
            return
        if sign == '"':
            at, sign = self._within(at)
        if text.startswith("\\\n", at):
            why = "a line that goes on, without a blank before the backslash"
            raise self._unread(at, sign, why, "put a blank before the backslash")
        why, instead = _SIGNS.get(sign, ("a sign that exacell does not read", _IN_QUOTES))
        conditional = inner and any(isinstance(each, Word) and each.text.lower() == "where" for each in self.found)
        raise self._unread(at, sign, why, CONDITION if conditional else instead)

    def _within(self, at: int) -> tuple[int, str]:
        """Return the offset of the first sign in double quotes that is not read, and the sign; the opening quote if it is
        never closed.
        """
        found = re.compile(_INNER).match(self._text, at + 1)
        assert found is not None
        sign = self._text[found.end() : found.end() + 1]
        return (found.end(), sign) if sign.strip("\n") else (at, '"')
