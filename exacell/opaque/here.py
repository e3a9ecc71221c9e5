"""All ways to start a program or write a file on the operator's own machine, and the rule for when ``host``'s checks apply to
them. Pure.
"""

from __future__ import annotations

from enum import StrEnum

from exacell.core.errors import RefusedError
from exacell.core.patterns import pattern
from exacell.core.values import dataclass


class Does(StrEnum):
    """The effect on this machine."""

    PROGRAM = "starts a program"
    FILE = "writes a file"


class Whose(StrEnum):
    """Who names the program or file."""

    LINE = "the line"
    """The author of the statement: the operator, a file, standard input, an alias, or a recipe."""
    OPERATOR = "the operator"
    """The operator's own configuration or environment, which others can't write."""
    LOAD = "the load"
    """A load that the operator typed for a recipe or an experiment."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to start a program or to write a file here.

    Attributes:
        name: the word that is typed or configured.
        does: its effect.
        whose: who names the program or file. The operator's own runs without a check; anything else is checked like ``host``.
    """

    name: str
    does: Does
    whose: Whose = Whose.LINE


WAYS: tuple[Way, ...] = (
    Way(name="!", does=Does.PROGRAM),
    Way(name="|", does=Does.PROGRAM),
    Way(name="host", does=Does.PROGRAM),
    Way(name="set pager", does=Does.PROGRAM),
    Way(name="dcli -s -o ProxyCommand", does=Does.PROGRAM),
    Way(name="dcli -s -F", does=Does.PROGRAM),
    Way(name="--ssh-config", does=Does.PROGRAM),
    Way(name="load=", does=Does.PROGRAM, whose=Whose.LOAD),
    Way(name="workload=host", does=Does.PROGRAM, whose=Whose.LOAD),
    Way(name="~/.ssh/config, /etc/ssh/ssh_config", does=Does.PROGRAM, whose=Whose.OPERATOR),
    Way(name="ssh_config of a rack", does=Does.PROGRAM, whose=Whose.OPERATOR),
    Way(name="transport and reach of a rack", does=Does.PROGRAM, whose=Whose.OPERATOR),
    Way(name="pager of config.toml, $PAGER", does=Does.PROGRAM, whose=Whose.OPERATOR),
    Way(name="edit, new recipe ($VISUAL, $EDITOR)", does=Does.PROGRAM, whose=Whose.OPERATOR),
    Way(name=">", does=Does.FILE),
    Way(name="spool", does=Does.FILE),
    Way(name="report", does=Does.FILE),
    Way(name="copy from", does=Does.FILE),
    Way(name="dcli -k", does=Does.FILE),  # A key, if the operator has none.
    Way(name="record, new recipe", does=Does.FILE),
)
"""All ways. A statement with a new way needs a row here and a line in the tests' ``doors.toml``."""

_LESS = pattern(r"(?:^|(?<![\\|])\|)[ \t]*less(?:[ \t]+-[FRXSNQJMmneEcgGiIqwWsU]+)*[ \t]*$")


def without_less(pipe: str) -> str:
    """Return a filter without the ``less`` at its end; with LESSSECURE, less only displays its input.

    >>> without_less("grep x | less -FRX"), without_less("less -o file")
    ('grep x ', 'less -o file')
    """
    return _LESS.sub("", pipe)


_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
"""Devices that may follow ``>``: no file is lost."""


def is_held(*, typed: bool, monitor: bool, production: bool) -> bool:
    """Return whether a program that a line starts here must be checked first; each of these conditions alone is enough.

    Args:
        typed: whether the operator typed the line, at the prompt or as arguments; if not, it is checked.
        monitor: whether the session was started with -m.
        production: whether its rack is a production rack.
    """
    return not typed or monitor or production


def replaces(*, monitor: bool, production: bool) -> bool:
    """Return whether ``>`` and SPOOL may replace an existing file, as those of CellCLI do."""
    return not (monitor or production)


def is_device(name: str) -> bool:
    """Return whether the name after ``>`` is a device, which keeps nothing that is written to it."""
    return name in _DEVICES


def replacing(way: str, name: str, *, monitor: bool, rack: str) -> RefusedError:
    """Return the refusal to replace an existing file."""
    where = "-m was given" if monitor else f"rack {rack} is a production rack"
    return RefusedError(
        f"{way} {name}: the file exists, and since {where}, only a new file may be written; nothing was run",
        hint="name a file that does not exist yet",
    )
