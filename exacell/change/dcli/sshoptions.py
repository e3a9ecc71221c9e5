"""ssh's and scp's own options, as dcli's ``-s`` and ``--scp`` carry them: what exacell can do with them, and what not.

Source: ssh(1) and scp(1), OPTIONS; ssh_config(5) for ``-o``.
"""

from __future__ import annotations

import shlex

from exacell.change.dcli.options import usage_error
from exacell.core.values import dataclass

_WITH_VALUE = frozenset("BbcDEeFIiJLlmOopQRSWwP")
_SSH_SETTINGS = {"p": "Port", "i": "IdentityFile", "J": "ProxyJump"}
_SCP_SETTINGS = {"P": "Port", "i": "IdentityFile", "J": "ProxyJump"}
_FAMILIES = {"4": "AddressFamily inet", "6": "AddressFamily inet6"}
_POINTLESS = frozenset("qTxanCBv")
"""Switches whose effect exacell has anyway, or that change nothing for a command without a terminal."""

_HONOURED = frozenset(
    (
        "port", "identityfile", "identitiesonly", "identityagent", "proxyjump", "proxycommand", "hostname", "hostkeyalias",
        "userknownhostsfile", "globalknownhostsfile", "revokedhostkeys", "addressfamily", "connecttimeout",
    )
)  # fmt: skip
_ALWAYS = frozenset(
    (
        "batchmode", "loglevel", "serveraliveinterval", "serveralivecountmax", "requesttty", "forwardx11", "forwardagent",
        "passwordauthentication", "numberofpasswordprompts", "gssapiauthentication", "compression", "controlmaster",
        "controlpath", "controlpersist", "preferredauthentications", "pubkeyauthentication", "tcpkeepalive", "checkhostip",
    )
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SshOptions:
    """What was understood.

    Attributes:
        settings: lines of ssh_config, first to last.
        config_file: of ``-F``; empty when not given.
        recursive, keep: scp's ``-r`` and ``-p``.
        ignored: the options that have no effect here, as they were given.
    """

    settings: tuple[str, ...] = ()
    config_file: str = ""
    recursive: bool = False
    keep: bool = False
    ignored: tuple[str, ...] = ()


def read_ssh_options(ssh: str | None, scp: str | None) -> SshOptions:
    """Return what both option strings say together; ssh's settings win.

    Raises:
        DcliExit: a quote is not closed, or the value of an option is missing.
    """
    first = _read("-s", ssh, scp=False)
    second = _read("--scp", scp, scp=True)
    return SshOptions(
        settings=(*first.settings, *second.settings),
        config_file=first.config_file or second.config_file,
        # Without --scp, scp gets ssh's options; -p is then a port, and only -r could be meant for it.
        recursive=second.recursive,
        keep=second.keep,
        ignored=(*first.ignored, *second.ignored),
    )


def _read(option: str, text: str | None, *, scp: bool) -> SshOptions:
    try:
        words = shlex.split(text or "")
    except ValueError as error:
        raise usage_error(f"{option} '{text}' can't be cut into words: {error}") from error
    settings: list[str] = []
    ignored: list[str] = []
    config_file, recursive, keep = "", False, False
    table = _SCP_SETTINGS if scp else _SSH_SETTINGS
    with_value = _WITH_VALUE - {"p"} if scp else _WITH_VALUE - {"P"}
    while words:
        word = words.pop(0)
        if not word.startswith("-") or len(word) < 2:
            ignored.append(word)
            continue
        for place, letter in enumerate(word[1:], start=1):
            if letter in with_value and not (scp and letter == "B"):
                value = word[place + 1 :]
                if not value:
                    if not words:
                        raise usage_error(f"{option}: -{letter} needs a value")
                    value = words.pop(0)
                if letter == "F":
                    config_file = value
                elif letter in table:
                    settings.append(f"{table[letter]} {value}")
                elif letter == "o":
                    _setting(value, settings, ignored)
                else:
                    ignored.append(f"-{letter} {value}")
                break
            if letter in _FAMILIES:
                settings.append(_FAMILIES[letter])
            elif scp and letter == "r":
                recursive = True
            elif scp and letter == "p":
                keep = True
            elif letter not in _POINTLESS:
                ignored.append(f"-{letter}")
    return SshOptions(
        settings=tuple(settings), config_file=config_file, recursive=recursive, keep=keep, ignored=tuple(ignored)
    )


def _setting(text: str, settings: list[str], ignored: list[str]) -> None:
    """Sort one ``-o`` setting into what is honoured, what is so anyway, and what is ignored."""
    key, equals, value = text.partition("=")
    if not equals:
        key, _, value = text.strip().partition(" ")
    name = key.strip().lower()
    if name in _HONOURED:
        settings.append(f"{key.strip()} {value.strip()}")
    elif name not in _ALWAYS and not (name == "stricthostkeychecking" and value.strip().lower() == "yes"):
        ignored.append(f"-o {text}")
