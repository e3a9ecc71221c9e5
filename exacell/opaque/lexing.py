"""From shell text to words, joints, redirections and here-documents: the letters of the small language. Pure.

Only what every one of bash, dash, mksh, ksh93, busybox sh and zsh splits alike is split at all; everything else raises.
Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.7, and each shell's manual page where it adds to that; what they do in
fact was tried with generated texts (``benchmarks/fuzz_shell.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.core.values import dataclass, replace
from exacell.opaque.findings import UnreadError

_FIRST_LINE = re.compile(r"#![ \t]{0,4}(?:/bin/(?:sh|bash)(?:[ \t]{1,4}-[xvue])?|/usr/bin/env[ \t]{1,4}bash)")
"""The first lines of scripts that are read: ``-x``, ``-v``, ``-u`` and ``-e`` leave the rest what it is. Source: POSIX.1-2017,
Shell Command Language, set."""

_UNEQUAL = "!(?==)"
"""What all shells leave as it is: ``!=``, which CellCLI's conditions have. Source: bash(1), HISTORY EXPANSION; csh(1), History
substitution; zshexpn(1): a ``!`` in front of ``=`` begins none."""
_BARE = re.compile(rf"(?:[A-Za-z0-9_./:,@%+=*?-]|{_UNEQUAL})+")
_BRACKETS = re.compile(r"[\[\]]")
_ESCAPED = re.compile(r"\\([\t -~])")
_SINGLE = re.compile(r"'([^'\n]*)'")
_DOLLAR = r"\$(?=[ \t\"%'),./:;|])"
"""A ``$`` that no shell takes for the beginning of anything, in double quotes and in here-documents."""
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
"""The lines of a here-document whose mark is not quoted."""
_COMMENT = re.compile(r"#[^\n]*")
_JOINT = re.compile(r"&&(?!&)|\|\|(?!\|)|;(?![;&|])|\|(?![|&])|\n")

_REPLACED = "a value that only the shell there knows"
_GROUP = "a group of commands, a function or arithmetic"
_PATTERN = "a test or a pattern that exacell does not follow"

SEVERAL = (
    "exacell takes several statements: exacell -e 'list cell; list griddisk', a file of them with -f FILE, or a recipe"
)
"""The way to do in exacell what here-documents and loops are for."""

CONDITION = "put the condition in quotes: cellcli -e \"list griddisk where asmModeStatus = 'OFFLINE'\""
"""The way to write a statement whose signs are the shell's, too."""

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
    ">": ("output other than to /dev/null", "write it to a file on this side: `exacell … > FILE`"),
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
"""What is the matter with a sign, and what to write instead."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word as the program gets it.

    Attributes:
        at: where it begins in the text.
        glob: the shell may put names of files in its place.
        signs: in a statement behind ``cellcli -e``: where in the text its pattern signs stand outside of quotes.
        plain: no backslash and no ``$`` is in it but in single quotes, so that shells beside the six read it alike.
    """

    text: str
    at: int
    glob: bool = False
    signs: tuple[int, ...] = ()
    plain: bool = True


@dataclass(frozen=True, kw_only=True)
class Joint:
    """What stands between commands: ``;``, a line feed, ``|``, ``&&`` or ``||``."""

    text: str
    at: int = 0


@dataclass(frozen=True, kw_only=True)
class Redirection:
    """Output (``descriptor`` 1) or errors (2) that go away, or input from nowhere (0)."""

    descriptor: int
    at: int


@dataclass(frozen=True, kw_only=True)
class Document:
    """A here-document: its mark, and its lines as the program gets them, each with its line feed.

    Attributes:
        at: where its ``<<`` stands in the text.
        literal: its mark is quoted, so that its lines are taken as they are.
        strip: it begins with ``<<-``, so that its lines lose the tabs before them.
        closed: a line with the mark ends it; else the file does.
    """

    mark: str
    body: str
    at: int
    literal: bool
    strip: bool
    closed: bool = True


Token = Word | Joint | Redirection | Document


def place_in(text: str, at: int) -> str:
    """Return where in a text something stands, for messages: the line where there are several, and the character."""
    line = f"line {text.count(chr(10), 0, at) + 1}, " if "\n" in text.strip("\n") else ""
    return f"{line}character {at - text.rfind(chr(10), 0, at)}"


def refuse_bytes(text: str) -> None:
    """Return when a text holds nothing but printable ASCII, blanks, tabs and line feeds.

    Raises:
        UnreadError: naming the first other character.
    """
    found = re.search(r"[^\t\n -~]", text)
    if found is None:
        return
    name, instead = "a character that is no printable ASCII", "write it in ASCII"
    if found[0] == "\r":
        name, instead = "a carriage return", "save the text with plain line ends: sed -i 's/\\r$//' FILE"
    raise UnreadError(ascii(found[0])[1:-1], name, instead, place=place_in(text, found.start()))


def lex(text: str, *, script: bool = False) -> tuple[tuple[Token, ...], UnreadError | None]:
    """Return the tokens of a shell text up to what is outside of the small language, and what that is.

    Args:
        script: whether it is a file that is run by itself, whose end may end a here-document.
    """
    lexer = _Lexer(text, script=script)
    try:
        refuse_bytes(text)
        lexer.go_through()
    except UnreadError as error:
        return tuple(lexer.found), error
    return tuple(lexer.found), None


def patterns_quoted(text: str) -> str:
    """Return a command as it is sent: with a backslash before each pattern sign that stands outside of quotes in a statement
    behind ``cellcli -e``. Else the shell there would put the names of files in their place that happen to fit."""
    tokens, wrong = lex(text)
    if wrong is None:
        for at in sorted((at for token in tokens if isinstance(token, Word) for at in token.signs), reverse=True):
            text = f"{text[:at]}\\{text[at:]}"
    return text


def statement_begun(tokens: Sequence[Token]) -> bool:
    """Return whether what follows these tokens belongs to a statement behind ``cellcli -e``."""
    words: list[str] = []
    for token in reversed(tokens):
        if isinstance(token, Joint):
            break
        if isinstance(token, Word):
            words.append(token.text)
    return bool(words) and words[-1].rpartition("/")[2] == "cellcli" and "-e" in words


class _Lexer:
    """Goes through a text once; here-documents are read when their line ends."""

    def __init__(self, text: str, *, script: bool) -> None:
        self._text, self._script = text, script
        self.found: list[Token] = []
        self._pending: list[int] = []

    def _unread(self, at: int, sign: str, why: str, instead: str) -> UnreadError:
        return UnreadError(sign, why, instead, place=place_in(self._text, at))

    def go_through(self) -> None:
        """Find all tokens.

        Raises:
            UnreadError: what comes next is outside of the language.
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
        """Return where the next line begins, behind a backslash at a line's end."""
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
        """Read a redirection or a here-document's mark; return where it ends, 0 where there is none."""
        if found := _OUTPUT.match(self._text, at):
            self.found.append(Redirection(descriptor=int(found[1] or found[2] or 1), at=at))
        elif found := _INPUT.match(self._text, at):
            self.found.append(Redirection(descriptor=0, at=at))
        elif found := _DOCUMENT.match(self._text, at):
            self._pending.append(len(self.found))
            mark, literal = found[2] or found[3] or found[4] or found[5], not found[2]
            # Its body is known when the line ends.
            self.found.append(Document(mark=mark, body="", at=at, literal=literal, strip=bool(found[1])))
        elif re.match("<<(?!<)", self._text[at : at + 3]):
            why = "a here-document whose mark shells read in different ways"
            raise self._unread(at, "<<", why, "quote the mark: <<'EOF'")
        return found.end() if found else 0

    def _bodies(self, at: int) -> int:
        """Read the lines of the here-documents of a line, which begin at ``at``; return where the last of them end."""
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
        # A file's end may end the only one of its line. Source: POSIX.1-2017, 2.7.4, leaves it open; mksh refuses it.
        ends = self._script and alone and self._text.endswith("\n") and at < len(self._text)
        if found is None and not ends:
            raise self._endless(place)
        end = len(self._text) if found is None else found.start()
        body = self._text[at:end]
        early = re.search(rf"^{tabs}{re.escape(document.mark)}\)", body, re.MULTILINE)
        if early is not None:
            # ksh93 takes it for the end, mksh too within parentheses: $(cat <<E … E) is what they have in mind.
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
        """Return when the shell leaves the lines of a here-document with a plain mark as they are, but for backslashes.

        Raises:
            UnreadError: it would replace something in them.
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
        """Return where a piece of a word ends that begins at ``at``, what the program gets of it, and whether it is without
        quotes; None where none begins there."""
        text = self._text
        if found := _BARE.match(text, at) or (inner and _BRACKETS.match(text, at)) or _LAST_DOLLAR.match(text, at):
            return found.end(), found[0], True
        if found := _ESCAPED.match(text, at) or _SINGLE.match(text, at):
            return found.end(), found[1], False
        if found := _DOUBLE.match(text, at):
            return found.end(), re.sub(r"\\([\\$`\"\n])", lambda one: one[1].strip("\n"), found[1]), False
        return None

    def _alone(self, start: int, end: int) -> bool:
        """Return whether a word that ends at ``end`` is a ``=`` and nothing else."""
        return self._text[start:end] == "=" and self._text[end : end + 1] in (*" \t\n;|&", "")

    def _refuse_end(self, start: int, at: int, *, inner: bool) -> None:
        """Return when a here-document may touch the word before it.

        Raises:
            UnreadError: naming the sign at which a word ends that is none.
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
        """Return the first sign in double quotes that is not read, and its place; the quote where it is not closed."""
        found = re.compile(_INNER).match(self._text, at + 1)
        assert found is not None
        sign = self._text[found.end() : found.end() + 1]
        return (found.end(), sign) if sign.strip("\n") else (at, '"')
