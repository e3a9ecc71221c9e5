"""Evaluate the sections of ssh_config for one target: the first value counts, in one or two passes, and tokens are replaced.

A condition that can't be evaluated here matters only if the lines under it could change the result: then
:class:`UnknownError` means that only the ssh program knows. The same is true of names that DNS has to complete
(CanonicalizeHostname). Source: ssh_config(5); OpenSSH ssh.c (the two passes) and readconf.c.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pwd
import re
import socket
from collections.abc import Callable, Mapping

from exacell.core.errors import ConfigError
from exacell.core.values import dataclass, field
from exacell.transport.ssh.programs import Program
from exacell.transport.ssh.sshconfig import (
    Condition,
    Criterion,
    Section,
    Setting,
    SshConfigFiles,
    expand_tokens,
    matches_list,
)

KNOWN_HOSTS = {
    "userknownhostsfile": ("~/.ssh/known_hosts", "~/.ssh/known_hosts2"),
    "globalknownhostsfile": ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"),
}
"""The files if ssh_config names none. Source: ssh_config(5)."""

_PORT = 22
_FLAGS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_MAX_DOTS = 1
_ONE = (
    "hostname", "user", "port", "hostkeyalias", "connecttimeout", "addressfamily", "identitiesonly", "hashknownhosts",
    "identityagent", "revokedhostkeys", "canonicalizehostname", "canonicalizemaxdots", "canonicalizefallbacklocal",
)  # fmt: skip
_LISTS = (*KNOWN_HOSTS, "canonicaldomains", "canonicalizepermittedcnames")
GROWING = ("identityfile", "certificatefile", "sendenv")
_PROXIES = ("proxyjump", "proxycommand")
Holds = Callable[[str, Condition], bool]
USED = frozenset((*_ONE, *_LISTS, *GROWING, *_PROXIES, "include"))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The settings of ssh_config for a target.

    Attributes:
        host, port, user: where to connect, and as whom; ``user`` is empty if no user is known.
        options: the other settings, by keyword in lower case, with tokens, ``~`` and ``${NAME}`` replaced.
        lists: the same for keywords with several values: identityfile, certificatefile, the known_hosts files, sendenv.
        proxy: the ProxyCommand; None for none.
        asked: why the ssh program was asked; empty if it was not.
    """

    host: str
    port: int
    user: str
    options: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    proxy: Program | None = None
    asked: str = ""


class UnknownError(Exception):
    """A setting that only the ssh program can evaluate; the text is its place and content."""


@functools.cache
def local_user() -> str:
    """Return the operator's name on this machine; empty if the system has none for the user id, as in a container."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""


@dataclass
class Found:
    """Values as written in the files; the first value of each keyword counts."""

    one: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)


class Reader:
    """Evaluates the sections for one target. Use once.

    Args:
        holds: runs a Match exec and returns whether it ends with status 0.
        user, port: if given, they have priority over the files.
    """

    def __init__(self, files: SshConfigFiles, holds: Holds, target: str, user: str | None, port: int | None) -> None:
        self._holds_exec, self._sections, self._target = holds, files.sections, target
        self._host = target
        self._found = Found()
        if user:
            self._found.one["user"] = user
        if port:
            self._found.one["port"] = str(port)
        self._wants_final = False
        self._final = False
        self._why = ""
        self._proxy = ("", False)

    def answer(self) -> Answer:
        """Return the settings that the files contain.

        Raises:
            UnknownError: only the ssh program can evaluate them.
            ConfigError: a value is wrong.
        """
        self._pass()
        one = self._found.one
        self._host = expand_tokens(one.get("hostname", self._target), {"h": self._target}).lower()
        canonicalizes = one.get("canonicalizehostname", "no") != "no"
        if canonicalizes:
            self._refuse_dns()
        if self._wants_final or canonicalizes:
            one["hostname"] = self._host.replace("%", "%%")
            self._final = True
            self._pass()
        return finished(self._found, self._target, self._host, self._proxy)

    def _refuse_dns(self) -> None:
        """Raise UnknownError if DNS would have to complete the name, which only the ssh program can do.

        Raises:
            UnknownError: the text names the setting.
        """
        one, lists = self._found.one, self._found.lists
        proxied = any(one.get(name, "none") != "none" for name in _PROXIES)
        if proxied and one["canonicalizehostname"] != "always":
            return
        many_dots = self._host.count(".") > int(one.get("canonicalizemaxdots", _MAX_DOTS))
        if lists.get("canonicalizepermittedcnames", ["none"]) != ["none"] or self._host.endswith("."):
            raise UnknownError(self._why)
        if not many_dots and (lists.get("canonicaldomains") or one.get("canonicalizefallbacklocal") == "no"):
            raise UnknownError(self._why)

    def _pass(self) -> None:
        """Evaluate all sections once; values that are set already stay."""
        applies: list[bool | None] = []
        doubts: dict[int, str] = {}
        for number, section in enumerate(self._sections):
            outer: bool | None = True if section.under < 0 else applies[section.under]
            held, why = self._holds(section, outer)
            doubt = why if outer else doubts.get(section.under, why)
            applies.append(held)
            if held is None:
                doubts[number] = doubt
            if held is False:
                continue
            for setting in section.settings:
                if setting.keyword not in USED:
                    continue
                if held is None:
                    if self._could_change(setting):
                        raise UnknownError(doubt)
                    continue
                self._set(setting)

    def _could_change(self, setting: Setting) -> bool:
        """Return whether a line could change the result, if it is unknown whether the line applies."""
        if setting.keyword in _PROXIES:
            return self._takes_proxy(setting.keyword)
        return setting.keyword not in self._found.one and (
            setting.keyword in GROWING or setting.keyword not in self._found.lists
        )

    def _takes_proxy(self, keyword: str) -> bool:
        """Return whether a ProxyJump or ProxyCommand can still be set: the first counts, but ProxyJump none allows a command."""
        one = self._found.one
        if keyword == "proxycommand":
            return keyword not in one and one.get("proxyjump", "none").lower() == "none"
        return not any(name in one for name in _PROXIES)

    def _holds(self, section: Section, outer: bool | None) -> tuple[bool | None, str]:
        """Return whether a section applies (None: unknown), and why that is unknown."""
        condition = section.condition
        if condition is None:
            return outer, ""
        if condition.patterns is not None:
            if condition.problem:
                return outer and None, f"{condition.where}: {condition.problem}, which"
            return outer if matches_list(condition.patterns, self._host) else False, ""
        return self._match(condition, outer)

    def _match(self, condition: Condition, outer: bool | None) -> tuple[bool | None, str]:
        """Return whether a Match line is true (None: unknown), and why that is unknown."""
        held, why = outer, ""
        for criterion in condition.criteria:
            if criterion.name == "final":
                self._wants_final = True
            if held is False:
                continue
            truth = self._criterion(criterion, condition, sure=held is True)
            if truth is None:
                why = why or f"{condition.where}: 'Match {criterion.name}'"
                held = None
            elif truth is criterion.negated:
                held = False
        if condition.problem and held is not False:
            return None, why or f"{condition.where}: {condition.problem}, which"
        return held, why

    def _criterion(self, criterion: Criterion, condition: Condition, *, sure: bool) -> bool | None:
        """Return whether one condition is true, before negation; None if that is unknown.

        Args:
            sure: whether all earlier conditions are true, so that a program may be run.
        """
        name, patterns = criterion.name, criterion.argument.split(",")
        if name == "all":
            return True
        if name in ("canonical", "final"):
            return self._final
        if name == "host":
            return matches_list([pattern.lower() for pattern in patterns], self._now.lower())
        if name == "originalhost":
            return matches_list([pattern.lower() for pattern in patterns], self._target.lower())
        if name == "user":
            return matches_list(patterns, self._found.one.get("user") or local_user())
        if name == "localuser":
            return matches_list(patterns, local_user())
        if name == "exec" and sure:
            found = self._found.one
            tokens = _tokens(found, self._target, self._now)
            return self._holds_exec(expand_tokens(criterion.argument, tokens), condition)
        return None

    @property
    def _now(self) -> str:
        """Return the host's name as known in this pass."""
        return expand_tokens(self._found.one.get("hostname", self._target), {"h": self._target})

    def _set(self, setting: Setting) -> None:
        """Set the value of a line that applies."""
        keyword, words, one, lists = setting.keyword, setting.words, self._found.one, self._found.lists
        if setting.problem:
            if not self._could_change(setting):
                return
            problem = setting.problem if keyword == "include" else f"{setting.problem}: close the quote"
            raise ConfigError(f"{setting.where}: {problem}")
        if keyword in _PROXIES:
            raw = setting.raw.lstrip(" \t\r=")
            if self._takes_proxy(keyword):
                one[keyword] = raw.partition("#")[0].strip() if keyword == "proxyjump" else raw
                self._proxy = (setting.where, setting.own)
        elif not words:
            raise ConfigError(f"{setting.where}: {keyword} needs a value")
        elif keyword in GROWING:
            kept = lists.setdefault(keyword, [])
            kept += [word for word in (words if keyword == "sendenv" else words[:1]) if word not in kept]
        elif keyword in _LISTS:
            lists.setdefault(keyword, list(words))
        elif keyword not in one:
            one[keyword] = _value(keyword, words[0], setting.where)
            if keyword == "canonicalizehostname":
                self._why = f"{setting.where}: CanonicalizeHostname {words[0]}"


def _value(keyword: str, word: str, where: str) -> str:
    """Return the value of a keyword in its normal form.

    Raises:
        ConfigError: the value is not allowed.
    """
    small = word.lower()
    if keyword in ("identitiesonly", "hashknownhosts", "canonicalizefallbacklocal"):
        small = _FLAGS.get(small, "")
    elif keyword == "canonicalizehostname":
        small = small if small == "always" else "no" if small == "none" else _FLAGS.get(small, "")
    elif keyword in ("port", "canonicalizemaxdots"):
        small = small if small.isascii() and small.isdigit() and (keyword != "port" or 0 < int(small) < 65536) else ""
    elif keyword == "connecttimeout":
        small = _seconds(small)
    elif keyword == "addressfamily":
        small = small if small in ("any", "inet", "inet6") else ""
    else:
        return small if keyword == "hostkeyalias" else word
    if not small:
        raise ConfigError(f"{where}: {keyword} can't be '{word}'", hint="man ssh_config lists its values")
    return small


def _seconds(text: str) -> str:
    """Return a time of ssh_config (``90``, ``1m30s``) in seconds; ``none`` stays, and other text gives an empty result."""
    if text == "none":
        return text
    parts = re.findall(r"([0-9]+)([smhdw]?)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return ""
    return str(sum(int(number) * _SECONDS[unit] for number, unit in parts))


def _tokens(one: Mapping[str, str], target: str, host: str) -> dict[str, str]:
    """Return letter → its replacement. Source: ssh_config(5), TOKENS; %C as in OpenSSH before %j (9.8)."""
    name = socket.gethostname()
    port, user = one.get("port", str(_PORT)), one.get("user") or local_user()
    return {
        "C": hashlib.sha1(f"{name}{host}{port}{user}".encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest(),
        "L": name.partition(".")[0],
        "d": os.path.expanduser("~"),
        "h": host,
        "i": str(os.getuid()),
        "k": one.get("hostkeyalias") or host,
        "l": name,
        "n": target,
        "p": port,
        "r": user,
        "u": local_user(),
    }  # fmt: skip


def _path(text: str, tokens: Mapping[str, str]) -> str | None:
    """Return a path with ``~``, ``%`` and ``${NAME}`` replaced; None if it names a variable that is not set."""
    text = expand_tokens(os.path.expanduser(text), tokens)
    names = re.findall(r"\$\{([^}]*)\}", text)
    if any(name not in os.environ for name in names):
        return None
    return re.sub(r"\$\{([^}]*)\}", lambda match: os.environ[match[1]], text)


def _paths(words: list[str], tokens: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths in ``words``, without ``none``."""
    found = (_path(word, tokens) for word in words if word.lower() != "none")
    return tuple(dict.fromkeys(path for path in found if path is not None))


def finished(found: Found, target: str, host: str, named: tuple[str, bool], *, asked: str = "") -> Answer:
    """Return the settings found, with tokens replaced and defaults added.

    Args:
        named: the file and line of the ProxyCommand, and whether that file is the user's or the system's.
    """
    one = dict(found.one)
    tokens = _tokens(one, target, host)
    lists = {name: _paths(found.lists.get(name, list(usual)), tokens) for name, usual in KNOWN_HOSTS.items()}
    if "identityfile" in found.lists:
        lists["identityfile"] = _paths(found.lists["identityfile"], tokens) or ("none",)
    if "certificatefile" in found.lists:
        lists["certificatefile"] = _paths(found.lists["certificatefile"], tokens)
    if "sendenv" in found.lists:
        lists["sendenv"] = tuple(word for words in found.lists["sendenv"] for word in words.split())
    for name in _PROXIES:
        value = one.pop(name, "none")
        if value.lower() not in ("none", ""):
            one[name] = expand_tokens(value, {key: tokens[key] for key in "hnpr"})
    command = one.pop("proxycommand", None)
    for name in ("identityagent", "revokedhostkeys"):
        if name in one:
            one[name] = _path(one[name], tokens) or one[name]
    if one.get("connecttimeout") == "none":
        del one["connecttimeout"]
    return Answer(
        host=host,
        port=int(one.pop("port", _PORT)),
        user=one.pop("user", "") or local_user(),
        options={name: value for name, value in one.items() if name != "hostname"},
        lists=lists,
        proxy=None if command is None else Program(what="ProxyCommand", command=command, where=named[0], own=named[1]),
        asked=asked,
    )
