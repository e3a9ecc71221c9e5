"""Find passwords, keys and tokens in shell commands, in addresses, and in wrong statements about keys. Pure.

A short table (``data/options.tsv``) has the options of well-known programs; ``--password``, ``--token`` and similar options of
any program count, too. Found secrets are masked for display, never in the text that is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from exacell.core.packaged import data_beside
from exacell.core.patterns import pattern
from exacell.core.values import dataclass

_VALUE = r"""(?:\\.|"(?:\\.|[^"\\])*(?:"|$)|'[^']*(?:'|$)|[^\s"'\\;|&<>()])+"""
_WORD = r"""(?:\\.|"(?:\\.|[^"\\])*(?:"|$)|'[^']*(?:'|$)|[^\s"'\\;|&<>()`])+"""
_SET = r"""(?:\\.|"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s"'\\;|&<>()`])+"""
"""A value after NAME=, with shell quotes or CellCLI quotes (which take a backslash); it may match too much, never too little."""
_PLAIN = r"""(?:"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s"'\\;|&<>(),]+)"""

_GAP = r"(?:[ \t]|\\\n)+"
"""The space between two words; a line may continue after a backslash."""

_LONG = (
    r"--?(?:[\w-]*(?:passw\w*|passphrase|secret|token|pwd|(?:api|access|security|activation)-?key|private-?key-?pass)[\w-]*"
    r"|[\w-]*(?:pass|creds)(?![\w-]))"
)
_CALLED = r"[\w.-]*(?:passw\w*|passphrase|secret|token|api[_-]?key|access[_-]?key|signature)[\w.-]*"
"""Names of secrets in a web address, in JSON, and in options that store a secret."""


_FED = (
    r"(?:sudo[ \t]+(?:-\w+[ \t]+)*-\w*S|(?:sudo[ \t]+(?:-\S+[ \t]+)*)?"
    r"(?:(?:passwd|chpasswd|kinit|cryptsetup|vncpasswd|smbpasswd|htpasswd|openssl[ \t]+passwd|adcli|realm)\b"
    r"|[^|;\n]*(?:--password-?stdin|--stdin-?password|--passphrase-fd)))"
)
"""Commands that read a password on standard input."""


class Hint:
    """A pattern, and words; each matching text contains at least one of the words.

    Nearly all texts contain no such word, which is quick to check: a cell's answer may have a million letters.

    Attributes:
        words: in ASCII, lower case.
    """

    def __init__(self, text: str, words: str) -> None:
        self.pattern, self.words = pattern(text, re.IGNORECASE), tuple(words.split())

    def found_in(self, text: str) -> bool:
        """Return whether the pattern occurs in a text, in upper or lower case."""
        return self._may_be_in(text) and self.pattern.search(text) is not None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return all matches of the pattern in a text."""
        return self.pattern.finditer(text) if self._may_be_in(text) else iter(())

    def _may_be_in(self, text: str) -> bool:
        if not text.isascii():
            return True  # Some other letters count as another case of these: the Kelvin sign, the long s.
        small = text.lower()
        return any(word in small for word in self.words)


_NAMED = Hint(
    rf"(?<![\w-]){_LONG}(?:=|{_GAP}(?!-))(?P<value>{_VALUE})"
    rf"|(?<![\w$])(?-i:[A-Z_]*(?:TOKEN|SECRET|APIKEY|API_KEY|ACCESS_KEY|PASSPHRASE)[A-Z_]*|[A-Z_]*PASS)=(?P<variable>{_SET})"
    # Misspelt names; CellCLI's own names are in the schema, and PWD is the shell's folder.
    rf"|(?<![\w$-])\w*(?:pwd\w{{1,3}}|pasw\w{{0,5}}|passw(?!ord\b)\w{{1,5}}|(?<![a-z])pass|securitykey|(?-i:pwd))=(?!['\"]?\*(?!\*))(?P<slip>{_PLAIN})"
    rf"|[?&](?:{_CALLED}|pwd|sig)=(?P<asked>[^\s&'\"\\;|]+)"
    rf"|\\?[\"']{_CALLED}\\?[\"']\s*:\s*\\?[\"'](?P<json>[^\"'\\\n]+)"
    rf"|\bset[ \t]+(?:password|{_CALLED})[ \t]+(?P<told>{_WORD})|\bvault[ \t]+login[ \t]+(?!-)(?P<login>{_WORD})"
    rf"|\b(?:echo|printf)[ \t]+(?:-\S+[ \t]+)*(?P<said>{_WORD})[ \t]*\|[ \t]*{_FED}"
    rf"|\b{_FED}[^|;\n<]*<<<[ \t]*(?P<fed>{_WORD})"
    rf"|-(?:create|modify)Entry[ \t]+{_WORD}[ \t]+(?P<entry>{_WORD})"
    rf"|(?:-H|--header)[ =]?['\"]?[\w-]*(?:token|key|auth|secret)[\w-]*[ \t]*:[ \t]*(?P<sent>[^'\"\n\\]+)"
    rf"|\bidentified\s+by\s+{_WORD}\s+replace\s+(?P<replaced>{_WORD})"
    rf"|-(?:create|modify)Credential[ \t]+{_WORD}[ \t]+{_WORD}[ \t]+(?P<kept>{_WORD})"
    r"|[\w$.-]+:(?P<piped>[^\s'\"|:]+)['\"]?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"
    r"|\bAuthorization[ \t]*:[ \t]*(?:\w+[ \t]+)?(?P<header>[^\s'\"\\]+)|\bBearer[ \t]+(?P<bearer>[\w.~+/=-]{16,})"
    r"|\b(?:X-[\w-]*(?:Token|Key|Auth|Secret)[\w-]*|Cookie)[ \t]*:[ \t]*(?P<cookie>[^'\"\n\\]+)",
    "pass pasw pwd secret token key creds sig vault sudo kinit cryptsetup adcli realm entry credential auth identified bearer"
    " cookie",
)
_ADDRESS = pattern(
    r"""[A-Za-z][\w+.-]*://(?:[^\s/:@'"]*:(?P<both>[^\s/'"]+)|(?P<one>[^\s/:@'"]{8,}|\*{3}))@(?=[\w\[.$-])"""
)
"""``scheme://user:password@host``; a long word alone before ``@`` is a token."""
_NAMES_ALONE = pattern(r"[a-z][a-z0-9_.-]*")
"""A word alone before ``@`` that is a login rather than a token: no capital, and no long run of digits."""
_LOGON = Hint(
    r"(?:\b(?:sqlplus|sqlcl|sql|rman|impdp|expdp|imp|exp|sqlldr|dgmgrl)(?:[ \t]+-\S+(?:[ \t]+[\d.]+)?)*[ \t]+"
    r"|\b(?:conn|connect|target|catalog|auxiliary)[ \t]+|\b(?:userid|explain)=)"
    r"[\"'\\]*[\w$#\[\]]+/(?P<value>\\?\"[^\"\n]*\"|[^\s@\"'/;|&\\]+)(?=@|[ \t]+as\b|[\"'\\]|\s|$)",
    "sql rman imp exp dgmgrl conn target catalog auxiliary userid= explain=",
)
"""``sqlplus system/password@db``. Source: Oracle SQL*Plus User's Guide, "SQL*Plus Program Syntax"."""
_KEYS = Hint(r"\b(?P<verb>as+i?gn|cr\w{2,5}|alter|drop)\s+keys?\b(?P<rest>[^;\n]*?)(?=\s--\w|[;\n]|$)", "key")
_FOR = pattern(r"""\s*(?:for\b\s*)?(?:asmcluster\b\s*)?(?:(?<=\s)(?:"[^"]*"|'[^']*'|[^\s=,'"]+)\s*=)?""", re.IGNORECASE)
_HEX = pattern(r"\b[0-9A-Fa-f]{16,}\b")
_DETAIL = pattern(r"\s*(?:detail\b)?", re.IGNORECASE)
_TOKEN = pattern(r"""(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s=,()'"]+)""")


@dataclass(frozen=True)
class _Place:
    """The position at which a program takes a secret.

    Attributes:
        behind: pattern of the words that must follow the program's name.
        option: pattern of an option with its value; None if the secret is not the value of an option.
        words: numbers (from 1) of the non-option words that are secrets; -1 is the last.
        bare: whether the secret may have no hyphen before it.
    """

    behind: re.Pattern[str]
    option: re.Pattern[str] | None
    words: tuple[int, ...]
    bare: bool

    def found_in(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each secret in a command; ``start`` and ``end`` enclose the words after its name."""
        behind = self.behind.match(text, start, end)
        if behind is None:
            return
        for option in self.option.finditer(text, start, end) if self.option else ():
            yield option.span("value")
        words = [] if not self.words else [one.span() for one in _EACH.finditer(text, behind.end(), end)]
        plain = [span for span in words if text[span[0]] != "-"]
        for number in self.words:
            if len(plain) >= abs(number):
                yield plain[number - (number > 0)]


_EACH = pattern(_WORD)


def _option(place: str) -> str:
    """Return the pattern of an option, up to its value."""
    how, name = (place[0], re.escape(place[1:])) if place[0] in "+=*" else ("", re.escape(place))
    match how:
        case "*":
            return rf"[^\s=]*{name}(?:=|{_GAP})"
        case "+":
            return rf"-{name}(?:=|(?=\S))"
        case "=":
            return rf"-{name}(?:=|{_GAP})"
    if place.startswith("--"):
        return rf"{name}(?:=|{_GAP})"
    # Other one-letter options may be in the same word: -su USER:PASSWORD.
    return name if place.startswith("/") else rf"-[A-Za-z]*?{name[-1]}(?:{_GAP}|(?=\S))"


def _any(word: str) -> str:
    """Return the pattern of a word of the table, in which a star matches any characters."""
    return re.escape(word).replace(r"\*", r"[^\s;|&<>()]*")


@cache
def _programs() -> tuple[Hint, tuple[str, ...], dict[str, list[_Place]]]:
    """Return the hint that finds a program of the table with its words, the programs that take secrets without a hyphen, and
    program → positions of its secrets.
    """
    found: dict[str, list[_Place]] = {}
    lines = [line for line in data_beside(__spec__, "options.tsv").splitlines() if not line.startswith("#")]
    for what, places in (line.split("\t") for line in lines[1:]):
        programs, *words = what.split()
        behind = "".join(rf".*?(?<!\S){_any(word)}(?!\S)" for word in words)
        options = [_option(place) for place in places.split() if not place.startswith("#")]
        row = _Place(
            behind=pattern(behind, re.IGNORECASE | re.DOTALL),
            option=pattern(rf"(?<!\S)(?:{'|'.join(options)})(?P<value>{_VALUE})") if options else None,
            words=tuple(int(place[1:]) for place in places.split() if place.startswith("#")),
            bare=any(place[0] in "#*/" for place in places.split()),
        )
        for program in programs.split(","):
            found.setdefault(program, []).append(row)
    names = "|".join(_any(name) for name in sorted(found, key=len, reverse=True))
    any_of_them = rf"(?-i:(?<![\w-])(?P<program>{names}))(?:\.exe)?(?=\s)(?P<rest>(?:{_WORD}|{_GAP}|`)*)"
    bare = tuple(name for name, rows in found.items() if any(row.bare for row in rows))
    return Hint(any_of_them, " ".join(name.rstrip("*") for name in found)), bare, found


def _places_of(program: str) -> list[_Place]:
    """Return the positions at which a program takes secrets."""
    found = _programs()[2]
    return [place for name in found if fnmatchcase(program, name) for place in found[name]]


def shell_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each secret in a text, in no order."""
    for hint in (_NAMED, _LOGON):
        for match in hint.finditer(text):
            begin, end = match.span(match.lastgroup or 0)
            # In CellCLI's lists a comma follows the value.
            yield begin, end - (text[end - 1] == "," and end - begin > 1)
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        alone = match["one"]
        if alone is None or not (_NAMES_ALONE.fullmatch(alone) and sum(map(str.isdigit, alone)) < 4):
            yield match.span("both" if alone is None else "one")
    programs, bare, _ = _programs()
    # Most texts have neither, and a cell's answer may have a million letters.
    for match in programs.finditer(text) if "-" in text or any(name in text for name in bare) else ():
        for place in _places_of(match["program"]):
            yield from place.found_in(text, *match.span("rest"))
    for match in _KEYS.finditer(text):
        names = (_FOR if match["verb"].lower().startswith("as") else _DETAIL).match(match["rest"])
        begin = match.start("rest") + (names.end() if names is not None else 0)
        for token in _TOKEN.finditer(text, begin, match.end("rest")):
            if text[token.end() :].lstrip().startswith("="):
                continue  # This is the name of the key's owner.
            # In a sentence about keys, plain words follow; a key is never a plain word.
            if text[: token.start()].rstrip().endswith("=") or any(map(str.isdigit, token[0])) or token[0] == "***":
                yield token.span()
        for key in _HEX.finditer(text, match.start("rest"), match.end("rest")):
            yield key.span()
