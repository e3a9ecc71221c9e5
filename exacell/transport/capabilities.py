"""List the statements and requests that each transport can carry, and refuse all others before anybody is asked to confirm.

Pure: a statement or a request is compared with a transport's capabilities; one that does not fit is refused
before anything is sent, with the rule and the way out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from exacell.cellcli.tokens import cut_statements
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.transport.base import Capabilities, Request, Role

SSH = Capabilities(name="ssh", fan_out="one kept connection a host")
OPENSSH = Capabilities(name="openssh", fan_out="an ssh a command, one kept connection a host")
CLUSH = Capabilities(
    name="clush",
    fan_out="ClusterShell, through its gateways",
    nodes=False,
    keeps=False,
    pairs=False,
    uploads=False,
)
DCLI = Capabilities(
    name="dcli",
    fan_out="one dcli for equal reads, one a cell for changes",
    nodes=False,
    stdin=False,
    streaming=False,
    uploads=False,
    keeps=False,
    pairs=False,
)
DCLI_STRIPPING = Capabilities(**{**vars(DCLI), "indents": False})
"""dcli before ``--preserve-spaces``: it strips the blanks at both ends of every line. Source: reference dcli.md 6.1."""

_EXACLI_NEVER = (
    (
        r"alter cell (restart|startup|shutdown)\b",
        "ExaCLI does not start, stop or restart services: log in to the cell, or ask somebody who may",
    ),
    (r"(create|alter|drop|list|describe) (user|role)\b|(grant|revoke)\b", "ExaCLI does not manage users, roles "
                                                                          "and privileges"),
    (r"calibrate\b", "ExaCLI has no CALIBRATE: root runs it on the cell"),
    (r"desc(ribe)?\b", "ExaCLI has no DESCRIBE: `help` and Tab show the attributes"),
    (r"list cell\b.*\b(rsStatus|cellsrvStatus|msStatus)\b", "ExaCLI does not list the status of services"),
)  # fmt: skip
EXACLI = Capabilities(
    name="exacli",
    fan_out="an exacli a statement and cell",
    programs=False,
    nodes=False,
    known_hosts=False,
    stdin=False,
    streaming=False,
    uploads=False,
    keeps=False,
    pairs=False,
    never=_EXACLI_NEVER,
)
EXACLI_CLOUD = Capabilities(
    **{
        **vars(EXACLI),
        "only": r"list\b|alter iormplan\b|(create|drop|list|alter) (diagpack|quarantine)\b",
        "only_why": "a cloud customer's login may LIST, alter the IORM plan, and manage diagpacks and quarantines only",
    }
)
"""What Exadata Cloud allows its customers. Source: Oracle Exadata Cloud documentation, "Monitor and Manage Exadata
Storage Servers with ExaCLI", which calls it a subset; the cell decides in the end what its login may do."""


def statements_in(command: str) -> tuple[str, ...] | None:
    """Return the CellCLI statements of a remote command line that is only one run of ``cellcli -e``; else None."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if len(words) < 3 or words[0] != "cellcli" or "-e" not in words:
        return None
    options, text = words[1 : words.index("-e")], " ".join(words[words.index("-e") + 1 :])
    if not all(option.startswith("-") for option in options):
        return None
    return tuple(cut_statements(text))


def refuse_statement(capabilities: Capabilities, statement: str) -> None:
    """Raise RefusedError if the transport can't carry a CellCLI statement that a user typed.

    Raises:
        RefusedError: the message has the rule, and the hint the way out.
    """
    why = capabilities.problem(statement)
    if why:
        raise RefusedError(
            f"'{statement}' can't go over the transport {capabilities.name}: {why}; nothing was sent",
            hint="type `set transport ssh`, if the cells allow SSH",
        )


def refuse_programs(capabilities: Capabilities, what: str) -> None:
    """Raise RefusedError if the transport can't run any command line on a cell.

    Raises:
        RefusedError: it carries CellCLI statements only.
    """
    if not capabilities.programs:
        raise RefusedError(
            f"{what} needs command lines on the hosts, and the transport {capabilities.name} carries CellCLI "
            "statements only; "
            "nothing was sent",
            hint="type `set transport ssh`, if the hosts allow SSH",
        )


def refuse_uploads(capabilities: Capabilities, what: str) -> None:
    """Raise RefusedError if the transport can't copy files.

    Raises:
        RefusedError: the message names ``what`` and the transport.
    """
    if not capabilities.uploads:
        raise RefusedError(
            f"{what}: the transport {capabilities.name} copies no files; nothing was sent",
            hint="type `set transport ssh`, if the hosts allow SSH",
        )


def refuse_requests(requests: Iterable[Request], capabilities: Capabilities) -> None:
    """Raise RefusedError if the transport can't carry one of the requests.

    Raises:
        RefusedError: nothing was sent.
    """
    for request in requests:
        why = _request_problem(request, capabilities)
        if why:
            raise RefusedError(
                f"{request.target}: {why}; nothing was sent", hint="type `set transport ssh`, if the hosts allow SSH"
            )


def _request_problem(request: Request, capabilities: Capabilities) -> str:
    name = capabilities.name
    if request.pair is not None and not capabilities.pairs and request.role is Role.WRITE:
        return f"the transport {name} can't check and send a statement in one session"
    if request.upload is not None and not capabilities.uploads:
        return f"the transport {name} copies no files"
    if request.stdin is not None and not capabilities.stdin:
        return f"the transport {name} can't send input to a command, and all users of the host can read its arguments"
    if capabilities.programs:
        return ""
    statements = statements_in(request.command)
    if statements is None:
        return f"the transport {name} carries only CellCLI statements, and '{request.command[:60]}' is not one"
    problems = (capabilities.problem(statement) for statement in statements)
    return next((problem for problem in problems if problem), "")


def check_requests(requests: Sequence[Request], *, rack: str, read_only: bool, capabilities: Capabilities) -> None:
    """Raise an error if one of the requests may not be sent; see :meth:`exacell.transport.base.Transport.run`.

    Raises:
        RefusedError: a request changes something and the transport is read-only, or the transport can't carry a request.
        ValueError: two requests have the same target.
    """
    targets = [request.target for request in requests]
    if len(set(targets)) != len(targets):
        raise ValueError("two requests have the same target")
    writes = [request.target for request in requests if request.role.changes]
    if read_only and writes:
        raise RefusedError(f"rack {rack} is read-only: nothing was sent to {fold(writes)}", hint="set mode rw")
    refuse_requests(requests, capabilities)
