"""What starts a program on the operator's own machine or writes a file there, in one list, and when the door of ``host`` stands
before it. Pure."""

from __future__ import annotations

from enum import StrEnum

from exacell.core.errors import RefusedError
from exacell.core.patterns import pattern
from exacell.core.values import dataclass


class Does(StrEnum):
    """What happens on this machine."""

    PROGRAM = "starts a program"
    FILE = "writes a file"


class Whose(StrEnum):
    """Who says which program or file it is."""

    LINE = "the line"
    """Whoever wrote the statement: the operator, or a file, standard input, an alias, a recipe."""
    OPERATOR = "the operator"
    """The operator's own configuration or environment, which others can't write."""
    LOAD = "the load"
    """A load that the operator typed for a recipe or an experiment."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to start a program or to write a file here.

    Attributes:
        name: as it is typed or configured.
        does: what happens.
        whose: who names the program or file. What is the operator's own runs as ever; all else passes the door.
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
    Way(name="dcli -k", does=Does.FILE),  # A key where the operator has none.
    Way(name="record, new recipe", does=Does.FILE),
)
"""All ways. A statement that finds another one gets a row here and a line in the tests' ``doors.toml``."""

_LESS = pattern(r"(?:^|(?<![\\|])\|)[ \t]*less(?:[ \t]+-[FRXSNQJMmneEcgGiIqwWsU]+)*[ \t]*$")


def without_less(pipe: str) -> str:
    """Return a filter without the ``less`` at its end, which shows what it reads and, with LESSSECURE, does nothing else.

    >>> without_less("grep x | less -FRX"), without_less("less -o file")
    ('grep x ', 'less -o file')
    """
    return _LESS.sub("", pipe)


_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
"""What may stand behind ``>`` and is no file that could be lost."""


def is_held(*, typed: bool, monitor: bool, production: bool) -> bool:
    """Return whether the door stands before what a line starts here; each of these alone is enough.

    Args:
        typed: the operator typed the line, at the prompt or as arguments.
        monitor: the session was begun with -m.
        production: its rack is a production rack.
    """
    return not typed or monitor or production


def replaces(*, monitor: bool, production: bool) -> bool:
    """Return whether ``>`` and SPOOL replace a file that is there, as CellCLI's do."""
    return not (monitor or production)


def is_device(name: str) -> bool:
    """Return whether a name behind ``>`` is a device that takes everything and keeps nothing."""
    return name in _DEVICES


def replacing(way: str, name: str, *, monitor: bool, rack: str) -> RefusedError:
    """Return why a file that is there already stays as it is."""
    where = "-m was given" if monitor else f"rack {rack} is a production rack"
    return RefusedError(
        f"{way} {name}: the file exists, and since {where}, only a new file may be written; nothing was run",
        hint="name a file that does not exist yet",
    )
