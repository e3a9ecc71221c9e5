"""Read ssh_config files once, as sections, with Includes followed and each line split into words; match patterns, replace tokens.

:mod:`exacell.transport.ssh.resolving` evaluates the sections for one target. A file of 300 Host blocks is read in a few
milliseconds, once for all targets. A line that can't be read is kept with its problem, which is reported only if it concerns
a target. Source: ssh_config(5); OpenSSH readconf.c (16 levels of Include) and misc.c (words, quotes, comments).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from exacell.core.errors import ConfigError, why_unreadable
from exacell.core.values import dataclass

USER_CONFIG = "~/.ssh/config"
SYSTEM_CONFIG = "/etc/ssh/ssh_config"

_DEPTH = 16
_KEYWORD = re.compile(r'\s*"?([A-Za-z0-9]+)"?(?:[ \t\r]*=[ \t\r]*|[ \t\r]+|$)')
_ESCAPABLE = "'\"\\"
_CLOSE = "close the quote"
_ALONE = ("canonical", "final")
"""Criteria without an argument. Source: ssh_config(5), Match."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One line that sets something.

    Attributes:
        keyword: in lower case.
        words: its arguments, without quotes and comment.
        raw: the text after the keyword, unchanged.
        where: file and line.
        own: whether it is in the user's or the system's file, or in a file that these include.
        problem: why it can't be read; empty if it can.
    """

    keyword: str
    words: tuple[str, ...]
    raw: str
    where: str
    own: bool = False
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One condition of a Match line; ``argument`` is empty for all, canonical and final."""

    name: str
    negated: bool
    argument: str = ""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A Host or Match line.

    Attributes:
        patterns: those of a Host line; None for a Match line.
        criteria: those of a Match line, in their order.
        own: see :class:`Setting`.
        problem: why a part of the line can't be read; empty if all can.
    """

    where: str
    patterns: tuple[str, ...] | None = None
    criteria: tuple[Criterion, ...] = ()
    own: bool = False
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Lines that apply together.

    Attributes:
        under: the number of the section that must apply too; -1: none.
        condition: the condition that must be true besides; None: none.
    """

    under: int
    condition: Condition | None
    settings: tuple[Setting, ...]


class SshConfigFiles:
    """The sections of the ssh_config files that apply, in their order. Immutable, shared by threads.

    Attributes:
        given: the file read instead of the user's and the system's, as with ``ssh -F``; None: those two are read.
        places: the files that were read or looked for, and the folders in which Include looked for files.
    """

    def __init__(self, sections: Sequence[Section], given: Path | None = None, places: Iterable[Path] = ()) -> None:
        self.sections = tuple(sections)
        self.given = given
        self.places = tuple(places)

    @classmethod
    def read(cls, given: Path | None) -> SshConfigFiles:
        """Return the sections of ``given`` only, if there is one (as ``ssh -F``), else those of the user's and the system's file.

        Raises:
            ConfigError: ``given`` cannot be read, or includes nest too deep.
        """
        reading = _Reading()
        if given is not None:
            reading.file(given, os.path.expanduser("~/.ssh"), -1, 0)
        else:
            for name in (os.path.expanduser(USER_CONFIG), SYSTEM_CONFIG):
                if os.path.isfile(name):
                    reading.file(Path(name), os.path.dirname(name), -1, 0)
        looked = (given,) if given is not None else (Path(os.path.expanduser(USER_CONFIG)), Path(SYSTEM_CONFIG))
        return cls(reading.sections, given, dict.fromkeys((*looked, *reading.places)))


class _Reading:
    """Collects the sections of files in their order."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.places: list[Path] = []
        self._own = [Path(os.path.expanduser(USER_CONFIG)), Path(SYSTEM_CONFIG)]

    def file(self, path: Path, base: str, under: int, depth: int, *, own: bool = False) -> None:
        """Read one file and the files that it includes.

        Args:
            base: the folder for relative names of Include.
            under: the number of the section that includes it; -1: none.
            own: whether the user's or the system's file includes it.
        """
        own = own or path in self._own
        self.places.append(path)
        if depth > _DEPTH:
            raise ConfigError(
                f"{path}: Include is nested deeper than {_DEPTH} levels",
                hint="one of these files includes itself: remove that Include",
            )
        try:
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise ConfigError(f"ssh_config {path} can't be read: {why_unreadable(error)}") from error
        outer, condition, settings = under, None, list[Setting]()

        def close() -> int:
            """Add the section that ends here, and return its number."""
            self.sections.append(Section(under=outer, condition=condition, settings=tuple(settings)))
            settings.clear()
            return len(self.sections) - 1

        for number, line in enumerate(text.split("\n"), 1):
            match = _KEYWORD.match(line)
            if match is None:
                continue
            where = f"{path}:{number}"
            setting = _setting(match[1].lower(), line[match.end() :].rstrip(" \t\r\f"), where, own=own)
            if setting.keyword in ("host", "match"):
                close()
                outer, condition = under, _condition(setting)
            elif setting.keyword == "include":
                if setting.problem:
                    raise ConfigError(f"{where}: {setting.problem}", hint=_CLOSE)
                # The rest of this file applies if the part before does, independent of the included files.
                outer, condition = close(), None
                from glob import glob  # Few files include others.

                for pattern in setting.words:
                    self.places.append(Path(os.path.dirname(os.path.join(base, os.path.expanduser(pattern)))))
                    for name in sorted(glob(os.path.join(base, os.path.expanduser(pattern)))):
                        self._include(Path(name), base, outer, depth + 1, setting)
            else:
                settings.append(setting)
        close()

    def _include(self, path: Path, base: str, under: int, depth: int, line: Setting) -> None:
        """Read an included file; if it can't be read, that is an error only for targets to which the Include applies."""
        try:
            self.file(path, base, under, depth, own=line.own)
        except ConfigError as error:
            if not isinstance(error.__cause__, OSError):
                raise
            problem = Setting(
                keyword="include", words=line.words, raw=line.raw, where=line.where, problem=error.message
            )
            self.sections.append(Section(under=under, condition=None, settings=(problem,)))


def _setting(keyword: str, raw: str, where: str, *, own: bool) -> Setting:
    words, problem = _words(raw)
    return Setting(keyword=keyword, words=words, raw=raw, where=where, own=own, problem=problem)


def _condition(line: Setting) -> Condition:
    """Return the condition of a Host or Match line."""
    if line.keyword == "host":
        return Condition(where=line.where, patterns=line.words, problem=line.problem)
    criteria, problem = _criteria(line.raw)
    return Condition(where=line.where, criteria=criteria, own=line.own, problem=problem)


def _criteria(raw: str) -> tuple[tuple[Criterion, ...], str]:
    """Return the conditions of a Match line that can be read, and why the others can't."""
    tokens, problem = _tokens(raw)
    found: list[Criterion] = []
    while tokens:
        word = tokens.pop(0)
        negated, name = word.startswith("!"), word.lstrip("!").lower()
        if name == "all":
            if tokens or any(criterion.name not in _ALONE for criterion in found):
                problem = problem or "'all' must be alone in a Match line"
            found.append(Criterion(name=name, negated=negated))
        elif name in _ALONE:
            found.append(Criterion(name=name, negated=negated))
        elif not tokens:
            problem = problem or f"'Match {word}' needs a value"
        else:
            found.append(Criterion(name=name, negated=negated, argument=tokens.pop(0)))
    return tuple(found), problem or ("" if found else "Match needs a condition")


_TOKEN = re.compile(r'[ \t\r]*(?:"([^"]*)"|([^ \t\r"=#][^ \t\r"=]*))(?:[ \t\r]*=|(?=[ \t\r]|$))')


def _tokens(raw: str) -> tuple[list[str], str]:
    """Return the words of a Match line, in which ``=`` may replace a blank, and why the rest can't be read."""
    found, place = list[str](), 0
    while raw[place:].strip(" \t\r"):
        match = _TOKEN.match(raw, place)
        if match is None:
            rest = raw[place:].lstrip(" \t\r")
            return found, "" if rest.startswith("#") else f"'{rest}' can't be read: {_CLOSE}"
        found.append(match[1] if match[1] is not None else match[2])
        place = match.end()
    return found, ""


def _words(text: str) -> tuple[tuple[str, ...], str]:
    """Return the arguments in ``text`` up to a comment, and why they can't be read.

    Quotes of both kinds may begin anywhere in a word; a backslash escapes a quote, a backslash, or a blank outside of
    quotes. Source: OpenSSH misc.c, argv_split.
    """
    found, word, quote, place = list[str](), None, "", 0
    while place < len(text):
        sign = text[place]
        place += 1
        if not quote and sign in " \t":
            if word is not None:
                found.append(word)
            word = None
        elif word is None and sign == "#":
            return tuple(found), ""
        elif sign == "\\" and (text[place : place + 1] or "x") in _ESCAPABLE + ("" if quote else " "):
            word = (word or "") + text[place]
            place += 1
        elif sign == quote:
            quote = ""
        elif not quote and sign in "'\"":
            word, quote = word or "", sign
        else:
            word = (word or "") + sign
    if word is not None:
        found.append(word)
    return tuple(found), f"a quote {quote} is not closed" if quote else ""


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern), re.DOTALL)


def is_literal(pattern: str) -> bool:
    """Return whether ``pattern`` can only match itself."""
    return "*" not in pattern and "?" not in pattern and not pattern.startswith("!")


def matches(pattern: str, name: str) -> bool:
    """Return whether one pattern (without ``!``) matches the whole ``name``, case-sensitive."""
    if is_literal(pattern):
        return pattern == name
    return _compiled(pattern).fullmatch(name) is not None


def matches_list(patterns: Iterable[str], name: str) -> bool:
    """Return whether a pattern list matches ``name``: at least one pattern does, and no pattern after ``!`` does."""
    found = False
    for pattern in patterns:
        if pattern.startswith("!"):
            if matches(pattern[1:], name):
                return False
        elif not found:
            found = matches(pattern, name)
    return found


def expand_tokens(text: str, tokens: Mapping[str, str]) -> str:
    """Return ``text`` with ``%x`` replaced from ``tokens`` (keys are the letters) and ``%%`` by ``%``.

    An unknown token stays, so that the error about the missing file shows it.
    """
    return re.sub(r"%(.)", lambda m: "%" if m[1] == "%" else tokens.get(m[1], m[0]), text)


_KEYWORDS = """
addkeystoagent addressfamily batchmode bindaddress bindinterface canonicaldomains canonicalizefallbacklocal
canonicalizehostname canonicalizemaxdots canonicalizepermittedcnames casignaturealgorithms certificatefile
challengeresponseauthentication channeltimeout checkhostip ciphers clearallforwardings compression connectionattempts
connecttimeout controlmaster controlpath controlpersist dynamicforward enableescapecommandline enablesshkeysign
escapechar exitonforwardfailure fingerprinthash forkafterauthentication forwardagent forwardx11 forwardx11timeout
forwardx11trusted gatewayports globalknownhostsfile gssapiauthentication gssapiclientidentity gssapidelegatecredentials
gssapikexalgorithms gssapikeyexchange gssapirenewalforcesrekey gssapiserveridentity gssapitrustdns hashknownhosts
hostbasedacceptedalgorithms hostbasedauthentication hostbasedkeytypes hostkeyalgorithms hostkeyalias hostname
identitiesonly identityagent identityfile ignoreunknown ipqos kbdinteractiveauthentication kbdinteractivedevices
kexalgorithms localforward loglevel logverbose macs nohostauthenticationforlocalhost numberofpasswordprompts
obscurekeystroketiming passwordauthentication permitlocalcommand permitremoteopen port preferredauthentications protocol
proxyjump proxyusefdpass pubkeyacceptedalgorithms pubkeyacceptedkeytypes pubkeyauthentication refuseconnection
rekeylimit remoteforward requesttty requiredrsasize revokedhostkeys rsaminsize sendenv serveralivecountmax
serveraliveinterval sessiontype setenv stdinnull streamlocalbindmask streamlocalbindunlink stricthostkeychecking
syslogfacility tag tcpkeepalive tunnel tunneldevice updatehostkeys user userknownhostsfile verifyhostkeydns
versionaddendum visualhostkey warnweakcrypto
"""
_NO_PROGRAM = frozenset(_KEYWORDS.split())
"""Keywords that start or load no program here. Source: ssh_config(5) of OpenSSH 10; GSSAPI's of Debian's and RHEL's."""


def programs_named(files: SshConfigFiles) -> tuple[str, ...]:
    """Return ``file:line: keyword`` for each program that ssh would start and that is not named in the user's or system's file.

    A keyword that is not known to be harmless counts too.
    """
    found = []
    for section in files.sections:
        condition = section.condition
        if condition is not None and not condition.own:
            runs = any(criterion.name == "exec" for criterion in condition.criteria) or (
                condition.patterns is None and bool(condition.problem)
            )
            found += [f"{condition.where}: Match exec"] if runs else []
        found += [
            f"{setting.where}: {setting.keyword}"
            for setting in section.settings
            if not (
                setting.own or setting.keyword in _NO_PROGRAM or [word.lower() for word in setting.words] == ["none"]
            )
        ]
    return tuple(found)
