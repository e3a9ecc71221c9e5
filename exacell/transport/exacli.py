"""Use the exacli program as a transport: CellCLI statements over the Management Server, for cells whose SSH is closed.

Only single runs of ``cellcli -e`` can be sent. Nobody is asked for a password: the cookie in exacli's jar logs in, and
without a cookie the error shows how to get one.

Source: reference cellcli.md 1.6; Oracle DBMMN, exacli-command-reference.
"""

from __future__ import annotations

import re
import shlex
import threading
from collections.abc import Sequence
from dataclasses import replace

from exacell.cellcli.reply import errors as reply_errors
from exacell.core.config import RackConfig, Settings
from exacell.core.errors import RefusedError, TransportError
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from exacell.transport.capabilities import EXACLI, EXACLI_CLOUD, statements_in
from exacell.transport.exchange import wait_until_ours
from exacell.transport.fanout import FanOut, Flight
from exacell.transport.local_process import LocalProcess
from exacell.transport.rack_transport import RackTransport, login_of, required_program
from exacell.transport.replies import reply_of_program, watch

_READS = ("LIST", "DESCRIBE", "DESC")
_SERVICES = ("cellsrvstatus", "msstatus", "rsstatus")
_CELL_LIST = re.compile(
    r"(list\s+cell\s+attributes\s+)([\w\s,]+?)(\s+where\b.*|\s+detail)?$", re.IGNORECASE | re.DOTALL
)


class ExacliTransport(RackTransport):
    """Reaches cells through an exacli program; see :class:`exacell.transport.base.Transport`.

    Raises:
        ConfigError: there is no such program.
    """

    def __init__(self, rack: RackConfig, settings: Settings | None = None, *, read_only: bool = False) -> None:
        found = required_program("exacli", rack.reach.exacli, example="/usr/local/sbin/exacli")
        super().__init__(rack, settings, read_only=read_only)
        self.capabilities = EXACLI_CLOUD if rack.reach.cloud else EXACLI
        self._program = found

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests and return one reply for each target; see Transport.

        Raises:
            RefusedError: also for a statement that ExaCLI does not have, or a read that would change something.
        """
        self._check([replace(request, command=_bare(request.command)) for request in requests])
        for request in requests:
            _refuse_change(request)
        requests = self._gated(requests)
        run = FanOut(requests, self._perform, limit=self.limit, on_reply=on_reply, cancel=cancel)
        return self._carried_out(run)

    def close(self) -> None:
        """Do nothing, because each statement is a run of exacli and no connection stays open."""

    def _perform(self, flight: Flight) -> Reply:
        request = flight.request
        seconds = self.seconds(request)
        user = login_of(self.rack, request).user or ""
        why = wait_until_ours(request)
        if why:
            return flight.reply(State.NOT_ATTEMPTED, why)
        child = LocalProcess(
            self._argv(request, user), on_output=request.on_output, limit=self.settings.max_answer,
            in_pieces=request.in_pieces, locale=True,
        )  # fmt: skip
        watch(flight, child, seconds)
        try:
            ended = child.run()
        except TransportError as error:
            return flight.reply(State.UNREACHABLE, error.message)
        if ended.broken_off is not None or ended.status == 0 or reply_errors(ended.stdout):
            return reply_of_program(flight, ended, self.settings.max_answer)
        said = _last_line(ended.stderr) or _last_line(ended.stdout) or f"exit status {ended.status}"
        said = said.removeprefix("exacli: ")
        if request.role.changes:
            problem = f"exacli: {said}: whether the statement was carried out is unknown"
            return flight.reply(State.FAILED, problem, stdout=ended.stdout, stderr=ended.stderr)
        login = shlex.join([self._program, "-c", request.target, "-l", user, *self._jar(), "-e", "list cell"])
        return flight.reply(State.UNREACHABLE, f"exacli: {said} (for a cookie log in once: {login})")

    def _jar(self) -> list[str]:
        return ["--cookie-jar", self.rack.reach.cookie_jar] if self.rack.reach.cookie_jar else ["--cookie-jar"]

    def _argv(self, request: Request, user: str) -> list[str]:
        words = shlex.split(request.command)
        options = words[1 : words.index("-e")]
        form = [option for option in ("--xml", "--json") if option in options or option[1:] in options]
        statements = [without_services(statement) for statement in statements_in(request.command) or ()]
        return [
            self._program, "-c", request.target, "-l", user, *form, *self._jar(), "-e", "; ".join(statements),
        ]  # fmt: skip


def without_services(statement: str) -> str:
    """Return a LIST CELL statement without the attributes that ExaCLI can't list.

    Plans ask for these together with others; their values are then unknown. A LIST with only such attributes stays unchanged.

    >>> without_services("list cell attributes name, cellsrvStatus, makeModel")
    'list cell attributes name, makeModel'
    """
    found = _CELL_LIST.match(statement)
    if found is None:
        return statement
    names = [name.strip() for name in found[2].split(",")]
    left = [name for name in names if name.lower() not in _SERVICES]
    return f"{found[1]}{', '.join(left)}{found[3] or ''}" if left and left != names else statement


def _bare(command: str) -> str:
    """Return a command without the attributes that :func:`without_services` removes; the check uses this form."""
    statements = statements_in(command)
    if statements is None:
        return command
    return f"cellcli -e {shlex.quote('; '.join(without_services(text) for text in statements))}"


def _refuse_change(request: Request) -> None:
    if request.role is not Role.READ:
        return
    for statement in statements_in(request.command) or ():
        if statement.split(None, 1)[0].upper() not in _READS:
            raise RefusedError(
                f"{request.target}: '{statement}' is not a read; nothing was sent",
                hint="only LIST and DESCRIBE are reads",
            )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
