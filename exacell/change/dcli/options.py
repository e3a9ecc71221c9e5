"""dcli's command line: words in, frozen options out. Behaviour of dcli 3.5 unless said otherwise.

The parser is the standard library's optparse, as dcli's is, so that unambiguous prefixes of long options, glued values,
clustered short options and the messages about wrong ones are the same. Source: reference dcli.md, sections 2 and 4.
"""

from __future__ import annotations

import optparse
from collections.abc import Sequence
from typing import Any, NoReturn

from exacell.change.dcli.offered import DCLI_OPTIONS
from exacell.core.values import dataclass

VERSION = "3.5"
"""The dcli whose behaviour this is; what ``--version`` says."""

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
    """What dcli's options say, named after them.

    Attributes:
        hosts: the values of ``-c``, each a comma separated list.
        group_file: the last ``-g``; empty when there was none.
        login: of ``-l``; empty when not given, see :meth:`user`.
        files: the words of all ``-f``.
        ssh, scp: of ``-s`` and ``--scp``; None when not given.
        batch_size: of ``--batchsize``; None for all at once, which 0 means, too.
        vmstat: of ``--vmstat``; None when not given, and the empty string is a value.
        words: the command.
        argv: everything as it was given.
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
    def command(self) -> str:
        """The remote command: the words joined with single blanks, no quoting kept."""
        return " ".join(self.words)

    def user(self, default: str = LOGIN) -> str:
        """Return who logs in: ``-l``, else root with ``--root-exadatatmp``, else ``default``."""
        return self.login or ("root" if self.root_temporary else default)


class DcliExit(Exception):
    """The command line ends here: help, version, or a mistake.

    Attributes:
        out, err: what goes to standard output and standard error, lines without their ends.
        status: 0, 2, or 1 where dcli breaks off with a traceback.
    """

    def __init__(self, status: int, *, out: str = "", err: str = "") -> None:
        super().__init__(err or out)
        self.status, self.out, self.err = status, out, err


def usage_error(message: str) -> DcliExit:
    """Return what a wrong combination of options ends with: the sentence, and the whole option list on stdout."""
    return DcliExit(2, out=option_list(), err=f"Error: {message}")


def environment_error(message: str) -> DcliExit:
    """Return what a missing file or program ends with: the sentence alone."""
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

    def add(*names: str, **how: Any) -> None:
        parser.add_option(*names, help=said[names[0]], **how)

    add("--batchsize", type="int", metavar="N")
    add("-c", action="append", dest="hosts", default=[], metavar="HOSTS")
    add("--ctimeout", type="int", metavar="SECONDS")
    add("-d", dest="destination", default="", metavar="PATH")
    add("-f", action="append", dest="files", default=[], metavar="FILES")
    add("-g", dest="group_file", default="", metavar="FILE")
    add("-h", "--help", action="store_true", dest="help", default=False)
    add("--hidestderr", action="store_true", default=False)
    add("-k", action="store_true", dest="push_key", default=False)
    add("--key-with-one-password", action="store_true", dest="one_password", default=False)
    add("-l", dest="login", default="", metavar="USER")
    add("--live", action="store_true", default=False)
    add("--maxlines", type="int", default=MAX_LINES, metavar="N")
    add("-n", action="store_true", dest="abnormal", default=False)
    add("--preserve-spaces", action="store_true", dest="preserve", default=False)
    add("--prompt", action="store_true", default=False)
    add("-r", dest="pattern", metavar="REGEX")
    add("--root-exadatatmp", action="store_true", dest="root_temporary", default=False)
    add("-s", dest="ssh", metavar="OPTIONS")
    add("--scp", metavar="OPTIONS")
    add("--serial", action="store_true", default=False)
    add("--showbanner", action="store_true", default=False)
    add("-t", action="store_true", dest="list_targets", default=False)
    add("--timeout", type="float", metavar="SECONDS")
    add("--unkey", action="store_true", default=False)
    add("-v", action="count", dest="verbose", default=0)
    add("--version", action="store_true", default=False)
    add("--vmstat", metavar="OPTIONS")
    add("-x", dest="execute", default="", metavar="FILE")
    return parser


def option_list() -> str:
    """Return usage, description and all options, as ``--help`` prints them."""
    return _parser().format_help().rstrip("\n")


def parse_dcli(argv: Sequence[str]) -> DcliOptions:
    """Return what the words behind ``dcli`` say; options end at the first word that is none.

    Raises:
        DcliExit: help or version was asked for, or optparse does not know an option or its value.
    """
    found, words = _parser().parse_args(list(argv))
    if found.help:
        raise DcliExit(0, out=option_list())
    if found.version:
        raise DcliExit(0, out=f"version {VERSION}")
    return DcliOptions(
        hosts=tuple(found.hosts),
        group_file=found.group_file,
        login=found.login,
        push_key=found.push_key,
        one_password=found.one_password,
        drop_key=found.unkey,
        files=tuple(word for value in found.files for word in value.split()),
        destination=found.destination,
        execute=found.execute,
        abnormal=found.abnormal,
        pattern=found.pattern,
        ssh=found.ssh,
        scp=found.scp,
        list_targets=found.list_targets,
        verbose=bool(found.verbose),
        vmstat=found.vmstat,
        serial=found.serial,
        batch_size=found.batchsize or None,
        max_lines=found.maxlines,
        hide_stderr=found.hidestderr,
        show_banner=found.showbanner,
        connect_timeout=found.ctimeout,
        timeout=found.timeout,
        prompt=found.prompt,
        preserve_spaces=found.preserve,
        root_temporary=found.root_temporary,
        live=found.live,
        words=tuple(words),
        argv=tuple(argv),
    )


def check(options: DcliOptions) -> None:
    """Refuse combinations that dcli refuses, in its order, up to the list of targets.

    Raises:
        DcliExit: with the first rule that is broken.
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
