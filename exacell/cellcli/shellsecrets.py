"""Where passwords, keys and tokens stand in what a shell runs, in addresses, and in statements about keys that are wrong. Pure.

A short table (``data/options.tsv``) has the options of well-known programs; any program's ``--password``, ``--token`` and their
like count, too. What it finds is masked, never replaced in what is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from exacell.core.packaged import data_beside

_VALUE = r"""(?:\\.|"(?:\\.|[^"\\])*(?:"|$)|'[^']*(?:'|$)|[^\s"'\\;|&<>()])+"""
_WORD = r"""(?:\\.|"(?:\\.|[^"\\])*(?:"|$)|'[^']*(?:'|$)|[^\s"'\\;|&<>()`])+"""
_SET = r"""(?:\\.|"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s"'\\;|&<>()`])+"""
"""A value behind NAME=, as shells have it or as CellCLI does, whose quotes take a backslash: rather too much than too little."""
_PLAIN = r"""(?:"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s"'\\;|&<>(),]+)"""

_LONG = r"--?(?:[\w-]*(?:passw\w*|passphrase|secret|token|api-?key|access-?key|private-?key-?pass)[\w-]*)"
_CALLED = r"[\w.-]*(?:passw\w*|passphrase|secret|token|api[_-]?key|access[_-]?key|signature)[\w.-]*"
"""What a secret is called in a web address, in JSON and where a program is told to keep it."""


class Hint:
    """A pattern, and words of which one stands in each text that it matches. In nearly all texts none does, which is seen at
    once: a cell's answer may be a million letters.

    Attributes:
        words: ASCII in lower case.
    """

    def __init__(self, pattern: str, words: str) -> None:
        self.pattern, self.words = re.compile(pattern, re.IGNORECASE), tuple(words.split())

    def found_in(self, text: str) -> bool:
        """Return whether a text has it, in upper or lower case."""
        return self._may_be_in(text) and self.pattern.search(text) is not None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return where a text has it, as the pattern finds it."""
        return self.pattern.finditer(text) if self._may_be_in(text) else iter(())

    def _may_be_in(self, text: str) -> bool:
        if not text.isascii():
            return True  # Of other letters some are another case of these: the Kelvin sign, the long s.
        small = text.lower()
        return any(word in small for word in self.words)


_NAMED = Hint(
    rf"(?<![\w-]){_LONG}(?:=|[ \t]+(?!-))(?P<value>{_VALUE})"
    rf"|(?<![\w$])(?-i:[A-Z_]*(?:TOKEN|SECRET|APIKEY|API_KEY|ACCESS_KEY|PASSPHRASE)[A-Z_]*|[A-Z_]*PASS)=(?P<variable>{_SET})"
    # A slip of the pen: CellCLI's own names are the schema's, and PWD is a shell's folder.
    rf"|(?<![\w$-])\w*(?:pwd\w{{1,3}}|pasw\w{{0,5}}|passw(?!ord\b)\w{{1,5}}|(?-i:pwd))=(?!['\"]?\*(?!\*))(?P<slip>{_PLAIN})"
    rf"|[?&](?:{_CALLED}|pwd|sig)=(?P<asked>[^\s&'\"\\;|]+)"
    rf"|\\?[\"']{_CALLED}\\?[\"']\s*:\s*\\?[\"'](?P<json>[^\"'\\\n]+)"
    rf"|\bset[ \t]+(?:password|{_CALLED})[ \t]+(?P<told>{_WORD})|\bvault[ \t]+login[ \t]+(?!-)(?P<login>{_WORD})"
    rf"|\b(?:echo|printf)[ \t]+(?:-\S+[ \t]+)*(?P<said>{_WORD})[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-\S+[ \t]+)*)?passwd\b"
    rf"|\b(?:echo|printf)[ \t]+(?:-\S+[ \t]+)*(?P<sudo>{_WORD})[ \t]*\|[ \t]*sudo[ \t]+(?:-\w+[ \t]+)*-\w*S"
    rf"|\b(?:passwd|chpasswd|kinit|sudo[ \t]+-S)\b[^|;\n<]*<<<[ \t]*(?P<fed>{_WORD})"
    rf"|-(?:create|modify)Entry[ \t]+{_WORD}[ \t]+(?P<entry>{_WORD})"
    rf"|(?:-H|--header)[ =]?['\"]?[\w-]*(?:token|key|auth|secret)[\w-]*[ \t]*:[ \t]*(?P<sent>[^'\"\n\\]+)"
    rf"|\bidentified\s+by\s+{_WORD}\s+replace\s+(?P<replaced>{_WORD})"
    rf"|-(?:create|modify)Credential[ \t]+{_WORD}[ \t]+{_WORD}[ \t]+(?P<kept>{_WORD})"
    r"|[\w$.-]+:(?P<piped>[^\s'\"|:]+)['\"]?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"
    r"|\bAuthorization[ \t]*:[ \t]*(?:\w+[ \t]+)?(?P<header>[^\s'\"\\]+)|\bBearer[ \t]+(?P<bearer>[\w.~+/=-]{16,})"
    r"|\b(?:X-[\w-]*(?:Token|Key|Auth|Secret)[\w-]*|Cookie)[ \t]*:[ \t]*(?P<cookie>[^'\"\n\\]+)",
    "pass pasw pwd secret token key sig vault sudo kinit entry credential auth identified bearer cookie",
)
_ADDRESS = re.compile(
    r"""[A-Za-z][\w+.-]*://(?:[^\s/:@'"]*:(?P<both>[^\s/'"]+)|(?P<one>[^\s/:@'"]{8,}|\*{3}))@(?=[\w\[.$-])"""
)
"""``scheme://user:password@host``; what stands alone before ``@`` is a token where it is long."""
_NAMES_ALONE = re.compile(r"[a-z][a-z0-9_.-]*")
"""What stands alone before ``@`` and is a login rather than a token: no capital, and no long run of digits."""
_LOGON = Hint(
    r"(?:\b(?:sqlplus|sqlcl|rman|impdp|expdp|sqlldr|dgmgrl)(?:[ \t]+-\S+(?:[ \t]+[\d.]+)?)*[ \t]+"
    r"|\b(?:conn|connect|target|catalog|auxiliary)[ \t]+|\buserid=)"
    r"[\"'\\]*[\w$#\[\]]+/(?P<value>\\?\"[^\"\n]*\"|[^\s@\"'/;|&\\]+)(?=@|[ \t]+as\b|[\"'\\]|\s|$)",
    "sqlplus sqlcl rman impdp expdp sqlldr dgmgrl conn target catalog auxiliary userid=",
)
"""``sqlplus system/password@db``. Source: Oracle SQL*Plus User's Guide, "SQL*Plus Program Syntax"."""
_KEYS = Hint(r"\b(?P<verb>as+i?gn|cr\w{2,5}|alter|drop)\s+keys?\b(?P<rest>[^;\n]*?)(?=\s--\w|[;\n]|$)", "key")
_FOR = re.compile(
    r"""\s*(?:for\b\s*)?(?:asmcluster\b\s*)?(?:(?<=\s)(?:"[^"]*"|'[^']*'|[^\s=,'"]+)\s*=)?""", re.IGNORECASE
)
_HEX = re.compile(r"\b[0-9A-Fa-f]{16,}\b")
_DETAIL = re.compile(r"\s*(?:detail\b)?", re.IGNORECASE)
_TOKEN = re.compile(r"""(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s=,()'"]+)""")


_HINT = Hint(
    r"://|/|\bkeys?\b|pass|secret|token|api|access|pwd|pasw|credential|bearer|basic|cookie|x-|vault|identified|signature|(?<!\w)-{1,2}\w|/p:",
    "/ - key pass secret token api access pwd pasw credential bearer basic cookie vault identified signature",
)


@cache
def _programs() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """Return what finds a program of the table, and what finds the values of its options behind it."""
    found: dict[str, re.Pattern[str]] = {}
    lines = [line for line in data_beside(__spec__, "options.tsv").splitlines() if not line.startswith("#")]
    for program, options in (line.split("\t") for line in lines[1:]):
        ways = []
        for option in options.split():
            how, name = (option[0], option[1:]) if option[0] in "+=" else ("", option)
            name = name if name.startswith(("-", "/")) or how == "" else f"-{name}"
            blank = r"[ \t]+"
            if how == "+":
                ways.append(rf"{re.escape(name)}(?:=|(?=\S))")
            elif how == "=" or not name.startswith("-"):
                ways.append(rf"-?{re.escape(name)}{blank if not name.endswith(':') else ''}")
            elif name.startswith("--"):
                ways.append(rf"{re.escape(name)}(?:=|{blank})")
            else:
                # Letters of one word may stand before it: -su USER:PASSWORD.
                ways.append(rf"-[A-Za-z]*?{re.escape(name[1:])}(?:{blank}|(?=\S))")
        found[program] = re.compile(rf"(?<!\S)(?:{'|'.join(ways)})(?P<value>{_VALUE})")
    names = "|".join(re.escape(name) for name in sorted(found, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?P<program>{names})(?:\.exe)?(?=\s)(?P<rest>(?:{_WORD}|[ \t]+|`)*)"), found


def shell_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand in a text, in no order."""
    if not _HINT.found_in(text):
        return
    for pattern in (_NAMED, _LOGON):
        for match in pattern.finditer(text):
            begin, end = match.span(match.lastgroup or 0)
            # In CellCLI's lists a comma follows the value.
            yield begin, end - (text[end - 1] == "," and end - begin > 1)
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        alone = match["one"]
        if alone is None or not (_NAMES_ALONE.fullmatch(alone) and sum(map(str.isdigit, alone)) < 4):
            yield match.span("both" if alone is None else "one")
    programs, options = _programs()
    for match in programs.finditer(text) if any(program in text for program in options) else ():
        for option in options[match["program"]].finditer(text, match.start("rest"), match.end("rest")):
            yield option.span("value")
    for match in _KEYS.finditer(text):
        names = (_FOR if match["verb"].lower().startswith("as") else _DETAIL).match(match["rest"])
        begin = match.start("rest") + (names.end() if names is not None else 0)
        for token in _TOKEN.finditer(text, begin, match.end("rest")):
            if text[token.end() :].lstrip().startswith("="):
                continue  # The name of whose key it is.
            # A sentence about keys has plain words behind it, and no key is one.
            if text[: token.start()].rstrip().endswith("=") or any(map(str.isdigit, token[0])) or token[0] == "***":
                yield token.span()
        for key in _HEX.finditer(text, match.start("rest"), match.end("rest")):
            yield key.span()
