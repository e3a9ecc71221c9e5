"""From shell text to words, joints, redirections and here-documents: the letters of the small language. Pure.

Only what every one of bash, dash, mksh, ksh93, busybox sh and zsh splits alike is split at all; everything else raises.
Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.7, and each shell's manual page where it adds to that.
"""

from __future__ import annotations

import re

from exacell.core.values import dataclass
from exacell.opaque.findings import UnreadError

FIRST_LINES = ("#!/bin/sh", "#!/bin/bash")
"""The first lines of scripts that are read; an argument or another shell would change what the rest means."""

_UNEQUAL = "!(?==)"
"""What all shells leave as it is: ``!=``, which CellCLI's conditions have. Source: bash(1), HISTORY EXPANSION; csh(1), History
substitution; zshexpn(1): a ``!`` in front of ``=`` begins none."""
_PLAIN = re.compile(rf"(?:[A-Za-z0-9_./:,@%+=*?-]|{_UNEQUAL})+")
_SINGLE = re.compile(r"'([^'\n]*)'")
_DOUBLE = re.compile(rf'"((?:[^"$`\\!\n]|{_UNEQUAL})*)"')
_END = r"(?=[ \t\n;|]|$)"
_OUTPUT = re.compile(rf"(?:2>&1|[12]?>[ \t]*/dev/null){_END}")
_INPUT = re.compile(rf"</dev/null{_END}")
_DOCUMENT = re.compile(rf"<<[ \t]*(?:([A-Za-z_][A-Za-z0-9_]*)|'([A-Za-z_]\w*)'|\"([A-Za-z_]\w*)\"){_END}", re.ASCII)
_COMMENT = re.compile(r"#[^\n]*")
_JOINT = re.compile(r"&&(?!&)|\|\|(?!\|)|;(?![;&|])|\|(?![|&])|\n")

_SIGNS = {
    "$": "a value that only the shell there knows",
    "`": "the output of a command, which only the shell there knows",
    "\\": "a backslash, which shells read in different ways",
    "!": "a sign that some shells replace by an earlier command",
    "~": "a home directory, which only the shell there knows",
    "&": "a command in the background",
    "<": "input from somewhere else than /dev/null or a here-document",
    ">": "output to somewhere else than /dev/null",
    "(": "a group of commands, a function or arithmetic",
    ")": "a group of commands, a function or arithmetic",
    "{": "a group of commands or several words made of one",
    "}": "a group of commands or several words made of one",
    "[": "a test or a pattern that exacell does not follow",
    "]": "a test or a pattern that exacell does not follow",
    "^": "a sign that shells read in different ways",
    "#": "a # that is not behind a blank",
    ";": "an empty command or the end of a case",
    "|": "an empty command, or errors into a pipe",
    "'": "a quote that is not closed on its line",
    '"': "a quote that is not closed on its line, or holds $, `, \\ or !",
}
"""What is the matter with a sign."""

SEVERAL = (
    "exacell takes several statements: exacell -e 'list cell; list griddisk', a file of them with -f FILE, or a recipe"
)
"""The way to do in exacell what here-documents and loops are for."""

_QUOTE = "quote the whole statement: cellcli -e \"list griddisk where asmModeStatus = 'OFFLINE'\""

_INSTEAD = {
    "$": "write the value itself; a recipe takes parameters",
    "`": "write the value itself; a recipe takes parameters",
    "\\": _QUOTE,
    "(": SEVERAL,
    "{": SEVERAL,
    "<": SEVERAL,
    ">": "send the output away on this side: exacell … > FILE",
}
"""The way to do in exacell what a sign is for."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word as the program gets it; ``glob`` when the shell may put names of files in its place."""

    text: str
    glob: bool = False


@dataclass(frozen=True, kw_only=True)
class Joint:
    """What stands between commands: ``;``, a line feed, ``|``, ``&&`` or ``||``."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Redirection:
    """Output or errors that go away, or input from nowhere (``source``)."""

    source: bool


@dataclass(frozen=True, kw_only=True)
class Document:
    """A here-document: its mark and its lines, each with its line feed."""

    mark: str
    body: str


Token = Word | Joint | Redirection | Document


def refuse_bytes(text: str) -> None:
    """Return when a text holds nothing but printable ASCII, blanks, tabs and line feeds.

    Raises:
        UnreadError: naming the first other character.
    """
    found = re.search(r"[^\t\n -~]", text)
    if found is not None:
        name = "a carriage return" if found[0] == "\r" else "a character that is no printable ASCII"
        raise UnreadError(ascii(found[0])[1:-1], name)


def lex(text: str) -> tuple[tuple[Token, ...], UnreadError | None]:
    """Return the tokens of a shell text up to what is outside of the small language, and what that is."""
    lexer = _Lexer(text)
    try:
        refuse_bytes(text)
        lexer.go_through()
    except UnreadError as error:
        return tuple(lexer.found), error
    return tuple(lexer.found), None


class _Lexer:
    """Goes through a text once; a here-document is read when its line ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.found: list[Token] = []
        self._mark = ""
        self._literal = False

    def go_through(self) -> None:
        """Find all tokens.

        Raises:
            UnreadError: what comes next is outside of the language.
        """
        text, at = self._text, 0
        first = text.partition("\n")[0]
        if first.startswith("#!") and first not in FIRST_LINES:
            raise UnreadError(first, "a script for something else than /bin/sh or /bin/bash alone")
        while at < len(text):
            free = at == 0 or text[at - 1] in " \t\n"
            if text[at] in " \t":
                at += 1
            elif free and (comment := _COMMENT.match(text, at)):
                if comment[0].endswith("\\"):
                    raise UnreadError("\\", "a comment that may go on in the next line")
                at = comment.end()
            elif joint := _JOINT.match(text, at):
                at = self._joint(joint)
            elif found := self._redirection(at):
                at = found
            else:
                at = self._word(at)
        if self._mark:
            raise self._endless()

    def _joint(self, found: re.Match[str]) -> int:
        if found[0] != "\n" or not self._mark:
            self.found.append(Joint(text=found[0]))
            return found.end()
        last = self.found[-1]
        if isinstance(last, Joint) and last.text != ";":
            raise UnreadError(f"<<{self._mark}", f"a here-document whose line ends in {last.text}")
        self.found.append(Joint(text="\n"))
        return self._body(found.end())

    def _redirection(self, at: int) -> int:
        """Read a redirection or a here-document's mark; return where it ends, 0 where there is none."""
        if found := _OUTPUT.match(self._text, at) or _INPUT.match(self._text, at):
            self.found.append(Redirection(source=found[0].startswith("<")))
        elif found := _DOCUMENT.match(self._text, at):
            if self._mark:
                raise UnreadError(found[0], "a second here-document in one line")
            self._mark, self._literal = found[1] or found[2] or found[3], not found[1]
            # Its body is known when the line ends.
            self.found.append(Document(mark=self._mark, body=""))
        return found.end() if found else 0

    def _body(self, at: int) -> int:
        """Read a here-document's lines, which begin at ``at``; return where its last line ends."""
        found = re.compile(rf"^{self._mark}$", re.MULTILINE).search(self._text, at)
        if found is None:
            raise self._endless()
        body = self._text[at : found.start()]
        expanded = None if self._literal else re.search(r"[$`\\]", body)
        if expanded is not None:
            raise UnreadError(
                expanded[0],
                "the shell replaces it in a here-document",
                f"<<'{self._mark}' keeps it as it is",
            )
        place = max(n for n, token in enumerate(self.found) if isinstance(token, Document))
        self.found[place] = Document(mark=self._mark, body=body)
        self._mark = ""
        return found.end()

    def _endless(self) -> UnreadError:
        return UnreadError(f"<<{self._mark}", f"a here-document without a line {self._mark} at its end", SEVERAL)

    def _word(self, at: int) -> int:
        text, pieces, glob = "", 0, False
        while found := _PLAIN.match(self._text, at) or _SINGLE.match(self._text, at) or _DOUBLE.match(self._text, at):
            bare = found.lastindex is None
            piece = found[0] if bare else found[1]
            if bare and not text and piece.startswith("="):
                raise UnreadError(piece, "a = that some shells replace by the path of a command", _QUOTE)
            glob = glob or (bare and re.search(r"[*?]", piece) is not None)
            text, pieces, at = text + piece, pieces + 1, found.end()
        if not pieces or (at < len(self._text) and self._text[at] not in " \t\n;|&"):
            sign = self._text[at]
            raise UnreadError(sign, _SIGNS.get(sign, "a sign that exacell does not read"), _INSTEAD.get(sign, ""))
        if glob and pieces > 1:
            raise UnreadError(text, "a pattern that is quoted in part")
        self.found.append(Word(text=text, glob=glob))
        return at
