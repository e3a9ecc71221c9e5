"""Parse dcli's command line into frozen options. Behaves like dcli 3.5 unless noted otherwise.

The parser is the standard library's optparse, as dcli's is, so that unambiguous prefixes of long options, glued values,
clustered short options and the messages about wrong ones are the same. Options of ssh and scp, given with ``-s`` and
``--scp``, are partly applied; a message names the others. Source: reference dcli.md, sections 2 and 4; ssh(1) and scp(1),
OPTIONS; ssh_config(5) for ``-o``.
"""

from __future__ import annotations

import optparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from exacell.change.dcli.offered import DCLI_OPTIONS
from exacell.core.values import dataclass
from exacell.opaque.lexing import patterns_quoted

VERSION = "3.5"
"""The version of dcli that is reproduced here; ``--version`` prints it."""

LOGIN = "celladmin"
MAX_LINES = 100_000

_DESCRIPTION = (
    "Runs a command on many cells or database servers at the same time, or copies files there and runs them. Output "
    "comes at the end, each line behind the name of its target."
)
_EPILOG = (
    "exacell's own: --live. exacell reads the CellCLI in the command, in -x files and in .scl scripts, and guards it "
    "like a typed statement. What it can't read is refused on production and read-only racks, and elsewhere needs "
    "'dcli --accept-opaque ...': there the guard ends."
)


@dataclass(frozen=True, kw_only=True)
class DcliOptions:
    """The values of dcli's options; fields have the options' names.

    Attributes:
        hosts: the values of ``-c``, each a comma-separated list.
        group_file: the value of the last ``-g``; empty if there was none.
        login: the value of ``-l``; empty if not given, see :meth:`user`.
        files: the words of all ``-f``.
        ssh, scp: the values of ``-s`` and ``--scp``; None if not given.
        batch_size: the value of ``--batchsize``; None means all at once, as does 0.
        vmstat: the value of ``--vmstat``, which may be empty; None if not given.
        words: the command.
        argv: all words as given, except that pattern signs in a statement are quoted here and in ``words``.
    """

    hosts: tuple[str, ...] = ()
    group_file: str = ""
    login: str = ""
    push_key: bool = False
    one_password: bool = False
    drop_key: bool = False
    files: tuple[str, ...] = ()
    destination: str = ""
    execute: str = ""
    abnormal: bool = False
    pattern: str | None = None
    ssh: str | None = None
    scp: str | None = None
    list_targets: bool = False
    verbose: bool = False
    vmstat: str | None = None
    serial: bool = False
    batch_size: int | None = None
    max_lines: int = MAX_LINES
    hide_stderr: bool = False
    show_banner: bool = False
    connect_timeout: int | None = None
    timeout: float | None = None
    prompt: bool = False
    preserve_spaces: bool = False
    root_temporary: bool = False
    live: bool = False
    words: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()

    @property
    def keys(self) -> bool:
        """Return whether a public key is added to the targets or removed from them."""
        return self.push_key or self.one_password or self.drop_key

    @property
    def in_turn(self) -> bool:
        """Return whether each target waits until the previous one has ended."""
        return self.serial or self.push_key or self.batch_size == 1

    @property
    def command(self) -> str:
        """Return the remote command: the words joined with single blanks; quotes are not kept."""
        return " ".join(self.words)

    def user(self, default: str = LOGIN) -> str:
        """Return the user that logs in: ``-l``, else root with ``--root-exadatatmp``, else ``default``."""
        return self.login or ("root" if self.root_temporary else default)


class DcliExit(Exception):
    """Ends the command line early: for help, version, or a mistake.

    Attributes:
        out, err: text for standard output and standard error, without a last line end.
        status: the exit status: 0, 2, or 1 for an error at which dcli itself ends with a traceback.
    """

    def __init__(self, status: int, *, out: str = "", err: str = "") -> None:
        super().__init__(err or out)
        self.status, self.out, self.err = status, out, err


def usage_error(message: str) -> DcliExit:
    """Return the DcliExit for a wrong combination of options: the message, and the whole option list on stdout."""
    return DcliExit(2, out=option_list(), err=f"Error: {message}")


def environment_error(message: str) -> DcliExit:
    """Return the DcliExit for a missing file or program: only the message."""
    return DcliExit(2, err=f"Error: {message}")


class _Parser(optparse.OptionParser):
    def error(self, msg: str) -> NoReturn:
        raise DcliExit(2, err=f"{self.get_usage()}\n{self.get_prog_name()}: error: {msg}")


def _parser() -> _Parser:
    parser = _Parser(
        prog="dcli",
        usage="%prog [options] [command]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        add_help_option=False,
        formatter=optparse.IndentedHelpFormatter(width=79, max_help_position=28),
    )
    parser.disable_interspersed_args()
    said = {name: option.help for option in DCLI_OPTIONS for name in (option.short, option.name) if name}

    for names, how in _PARSED.items():
        parser.add_option(*names.split(), help=said[names.split()[0]], **how)
    return parser


_FLAG: Mapping[str, Any] = {"action": "store_true", "default": False}
_PARSED: Mapping[str, Mapping[str, Any]] = {
    "--batchsize": {"type": "int", "dest": "batch_size", "metavar": "N"},
    "-c": {"action": "append", "dest": "hosts", "metavar": "HOSTS"},
    "--ctimeout": {"type": "int", "dest": "connect_timeout", "metavar": "SECONDS"},
    "-d": {"dest": "destination", "default": "", "metavar": "PATH"},
    "-f": {"action": "append", "dest": "files", "metavar": "FILES"},
    "-g": {"dest": "group_file", "default": "", "metavar": "FILE"},
    "-h --help": {**_FLAG, "dest": "help"},
    "--hidestderr": {**_FLAG, "dest": "hide_stderr"},
    "-k": {**_FLAG, "dest": "push_key"},
    "--key-with-one-password": {**_FLAG, "dest": "one_password"},
    "-l": {"dest": "login", "default": "", "metavar": "USER"},
    "--live": _FLAG,
    "--maxlines": {"type": "int", "dest": "max_lines", "default": MAX_LINES, "metavar": "N"},
    "-n": {**_FLAG, "dest": "abnormal"},
    "--preserve-spaces": {**_FLAG, "dest": "preserve_spaces"},
    "--prompt": _FLAG,
    "-r": {"dest": "pattern", "metavar": "REGEX"},
    "--root-exadatatmp": {**_FLAG, "dest": "root_temporary"},
    "-s": {"dest": "ssh", "metavar": "OPTIONS"},
    "--scp": {"metavar": "OPTIONS"},
    "--serial": _FLAG,
    "--showbanner": {**_FLAG, "dest": "show_banner"},
    "-t": {**_FLAG, "dest": "list_targets"},
    "--timeout": {"type": "float", "metavar": "SECONDS"},
    "--unkey": {**_FLAG, "dest": "drop_key"},
    "-v": {"action": "count", "dest": "verbose", "default": 0},
    "--version": _FLAG,
    "--vmstat": {"metavar": "OPTIONS"},
    "-x": {"dest": "execute", "default": "", "metavar": "FILE"},
}
"""optparse's arguments for each option, in the order of dcli's own page; ``dest`` names the field of DcliOptions."""


def option_list() -> str:
    """Return usage, description and all options, as ``--help`` prints them."""
    return _parser().format_help().rstrip("\n")


def parse_dcli(argv: Sequence[str]) -> DcliOptions:
    """Return the options in the words after ``dcli``; options end at the first word that is not an option.

    Raises:
        DcliExit: help or version was asked for, or an option or its value is unknown to optparse.
    """
    values, words = _parser().parse_args(list(argv))
    found = vars(values)
    if found.pop("help"):
        raise DcliExit(0, out=option_list())
    if found.pop("version"):
        raise DcliExit(0, out=f"version {VERSION}")
    whole = {
        "hosts": tuple(found["hosts"] or ()),
        "files": tuple(word for value in found["files"] or () for word in value.split()),
        "verbose": bool(found["verbose"]),
        "batch_size": found["batch_size"] or None,
    }
    # The same text is judged, shown, journalled and sent.
    sent, before = patterns_quoted(" ".join(words)), argv[: len(argv) - len(words)]
    words = words if sent == " ".join(words) else [sent]
    return DcliOptions(**{**found, **whole}, words=tuple(words), argv=(*before, *words))


def check(options: DcliOptions) -> None:
    """Raise DcliExit for a combination of options that dcli refuses; checks up to the list of targets, in dcli's order.

    Raises:
        DcliExit: names the first rule that is broken.
    """
    command = bool(options.words)
    copies = bool(options.files or options.execute)
    keys = options.push_key or options.one_password or options.drop_key
    watching = options.vmstat is not None
    rules = (
        (
            not (command or copies or keys or watching or options.list_targets),
            "there is nothing to do: give a command, -f, -x, -k, --unkey, --vmstat or -t",
        ),
        (command and bool(options.execute), "a command and -x were both given: -x FILE is the command"),
        (bool(options.files) and bool(options.execute), "-f and -x were both given: -x copies its file itself"),
        (options.hide_stderr and not command, "--hidestderr needs a command"),
        (options.abnormal and options.pattern is not None, "-n and -r exclude each other"),
        (watching and (copies or command), "--vmstat excludes -x, -f and a command"),
        (watching and (options.abnormal or options.pattern is not None), "--vmstat excludes -n and -r"),
        ((options.connect_timeout or 0) < 0, "--ctimeout must not be negative"),
        (
            options.root_temporary and options.login not in ("", "root"),
            "--root-exadatatmp works as root only: leave -l out",
        ),
        (options.serial and options.batch_size is not None, "--serial and --batchsize exclude each other"),
        ((options.batch_size or 0) < 0, "--batchsize must not be negative"),
    )
    for broken, message in rules:
        if broken:
            raise usage_error(message)


_WITH_VALUE = frozenset("BbcDEeFIiJLlmOopQRSWwP")
_SSH_SETTINGS = {"p": "Port", "i": "IdentityFile", "J": "ProxyJump"}
_SCP_SETTINGS = {"P": "Port", "i": "IdentityFile", "J": "ProxyJump"}
_FAMILIES = {"4": "AddressFamily inet", "6": "AddressFamily inet6"}
_POINTLESS = frozenset("qTxanCBv")
"""Switches that exacell always applies, or that have no effect on a command without a terminal."""

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
    """The options of ssh and scp that exacell applies, and those that it ignores.

    Attributes:
        settings: lines of ssh_config, in order.
        config_file: the value of ``-F``; empty if not given.
        recursive, keep: scp's ``-r`` and ``-p``.
        ignored: options without an effect here, as they were given.
    """

    settings: tuple[str, ...] = ()
    config_file: str = ""
    recursive: bool = False
    keep: bool = False
    ignored: tuple[str, ...] = ()


def read_ssh_options(ssh: str | None, scp: str | None) -> SshOptions:
    """Return the options of both strings together; ssh's settings have priority.

    Raises:
        DcliExit: a quote is not closed, or the value of an option is missing.
    """
    first = _read("-s", ssh, scp=False)
    second = _read("--scp", scp, scp=True)
    return SshOptions(
        settings=(*first.settings, *second.settings),
        config_file=first.config_file or second.config_file,
        # Without --scp, scp gets ssh's options: -p is then a port, so only -r can be meant for scp.
        recursive=second.recursive,
        keep=second.keep,
        ignored=(*first.ignored, *second.ignored),
    )


def _read(option: str, text: str | None, *, scp: bool) -> SshOptions:
    try:
        words = shlex.split(text or "")
    except ValueError as error:
        raise usage_error(f"{option} '{text}' can't be cut into words: {error}") from error
    if any(not word.isprintable() for word in words):
        raise usage_error(f"{option}: it has a line end or another character that can't be printed")
    found = _Sorted(scp)
    while words:
        word = words.pop(0)
        if not word.startswith("-") or len(word) < 2:
            found.ignored.append(word)
            continue
        for place, letter in enumerate(word[1:], start=1):
            if not found.takes_value(letter):
                found.flag(letter)
                continue
            value = word[place + 1 :]
            if not value and not words:
                raise usage_error(f"{option}: -{letter} needs a value")
            found.value(letter, value or words.pop(0))
            break
    return SshOptions(
        settings=tuple(found.settings),
        config_file=found.config_file,
        recursive=found.recursive,
        keep=found.keep,
        ignored=tuple(found.ignored),
    )


class _Sorted:
    """Sorts the options of ssh, or of scp, while they are read one by one: applied or ignored."""

    def __init__(self, scp: bool) -> None:
        self._scp = scp
        self._table = _SCP_SETTINGS if scp else _SSH_SETTINGS
        self._with_value = _WITH_VALUE - ({"p", "B"} if scp else {"P"})
        self.settings: list[str] = []
        self.ignored: list[str] = []
        self.config_file, self.recursive, self.keep = "", False, False

    def takes_value(self, letter: str) -> bool:
        """Return whether a value follows the option."""
        return letter in self._with_value

    def value(self, letter: str, value: str) -> None:
        """Add an option with its value."""
        if letter == "F":
            self.config_file = value
        elif letter in self._table:
            self.settings.append(f"{self._table[letter]} {value}")
        elif letter == "o":
            _setting(value, self.settings, self.ignored)
        else:
            self.ignored.append(f"-{letter} {value}")

    def flag(self, letter: str) -> None:
        """Add an option without a value."""
        if letter in _FAMILIES:
            self.settings.append(_FAMILIES[letter])
        elif self._scp and letter == "r":
            self.recursive = True
        elif self._scp and letter == "p":
            self.keep = True
        elif letter not in _POINTLESS:
            self.ignored.append(f"-{letter}")


def _setting(text: str, settings: list[str], ignored: list[str]) -> None:
    """Sort one ``-o`` setting: applied, always true in exacell, or ignored."""
    key, equals, value = text.partition("=")
    if not equals:
        key, _, value = text.strip().partition(" ")
    name = key.strip().lower()
    if name in _HONOURED:
        settings.append(f"{key.strip()} {value.strip()}")
    elif name not in _ALWAYS and not (name == "stricthostkeychecking" and value.strip().lower() == "yes"):
        ignored.append(f"-o {text}")


def is_program(setting: str) -> bool:
    """Return whether a line of :attr:`SshOptions.settings` starts a program on this machine."""
    key, _, value = setting.partition(" ")
    return key.lower() == "proxycommand" and value.strip().lower() != "none"
