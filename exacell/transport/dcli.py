"""Use the site's own dcli program as a transport, for sites where only dcli is approved.

Equal reads for many cells are one run of dcli; changes are one run per cell, so that each cell's answer
is known separately. dcli prints only after its last host is done: if a run of several reads times out, each
of its cells is asked again alone, so that one silent cell does not hide another's answer.

Source: reference dcli.md. Needs dcli 1.4 or later.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import chain

from exacell.core.config import RackConfig, Settings
from exacell.core.errors import ConfigError, RefusedError, TransportError
from exacell.core.values import dataclass, field, replace
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, Role, State
from exacell.transport.capabilities import DCLI, DCLI_STRIPPING
from exacell.transport.capture import Ending
from exacell.transport.dcli_answers import Answer, Answers, ascii_only, at_most, closing, limited
from exacell.transport.exchange import wait_until_ours
from exacell.transport.local_process import Ended, LocalProcess
from exacell.transport.rack_transport import RackTransport, login_of, read_only_cellcli, required_program
from exacell.transport.replies import more_time, no_end, not_logged_in, problem_of_ending

USAGE_STATUS = 2
TIMEOUT_STATUS = 124
_HELP_S = 20.0
_GRACE_S = 2.0
_ALL_LINES = 1_000_000_000
_STRANGER = "Host key verification failed"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@+-]*")


@dataclass
class _Batch:
    """One run of dcli."""

    requests: list[Request]
    user: str
    command: str
    seconds: float
    reads: bool
    rewritten: bool = False
    word: str = field(default_factory=lambda: f"exacell-{secrets.token_hex(8)}")

    @property
    def targets(self) -> list[str]:
        return [request.target for request in self.requests]

    def only(self, request: Request) -> _Batch:
        """Return the same run for one of its requests only, with a new closing word."""
        return _Batch([request], self.user, self.command, self.seconds, self.reads, self.rewritten)

    @property
    def limited(self) -> bool:
        """Return whether timeout(1) ends it on the cell."""
        return self.reads and self.command.startswith("cellcli ")


class DcliTransport(RackTransport):
    """Reaches cells through a dcli program; see :class:`exacell.transport.base.Transport`.

    Attributes:
        capabilities: with or without leading blanks, depending on the program's own help.
        settings: timeouts and fan-out, unless the rack sets them.

    Raises:
        ConfigError: there is no such program, or it does not work like dcli 1.4 or later.
    """

    def __init__(self, rack: RackConfig, settings: Settings | None = None, *, read_only: bool = False) -> None:
        found = required_program("dcli", rack.reach.dcli, example="/usr/local/bin/dcli")
        super().__init__(rack, settings, read_only=read_only)
        self._program = found
        self._help = _help(found, os.stat(found).st_mtime_ns)
        self.capabilities = DCLI if "--preserve-spaces" in self._help else DCLI_STRIPPING
        self._children: set[LocalProcess] = set()

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send all requests and return one reply for each target; see Transport."""
        self._check(requests)
        requests = self._gated(requests)
        batches = self._batches(requests)
        for batch in batches:
            stand_in = self.rack.write_user if any(map(self.falls_back, batch.requests)) else ""
            _refuse_shell_words(*batch.targets, batch.user, stand_in)
        replies: dict[str, Reply] = {}
        pool = ThreadPoolExecutor(self.limit, "exacell dcli")
        try:
            under_way = {pool.submit(self._work, batch, cancel) for batch in batches}
            while under_way:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for item in chain.from_iterable(future.result() for future in done):
                    if isinstance(item, _Batch):
                        under_way.add(pool.submit(self._work, item, cancel))
                        continue
                    replies[item.target] = item
                    if on_reply is not None:
                        on_reply(item)
        except BaseException:
            self.close()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return FleetResult(targets=tuple(request.target for request in requests), replies=replies)

    def close(self) -> None:
        """Stop running programs; there are no connections to close."""
        self.forget_fallback()
        with self._lock:
            children = list(self._children)
        for child in children:
            child.kill()

    def _batches(self, requests: Sequence[Request]) -> list[_Batch]:
        """Return the runs of dcli: equal reads share a run, every other request has its own."""
        batches: list[_Batch] = []
        together: dict[tuple[str, str, float, bool, bool], _Batch] = {}
        fallback = self.read_fallback
        for request in requests:
            seconds = self.seconds(request)
            user = login_of(self.rack, request).user or ""
            rewritten = self.falls_back(request) and request.target in fallback
            command = read_only_cellcli(request.command) if rewritten else request.command
            user = self.rack.write_user if rewritten else user
            key = (command, user, seconds, rewritten, request.locale)
            reads = request.role is Role.READ
            if reads and request.on_output is None and key in together:
                together[key].requests.append(request)
                continue
            batch = _Batch([request], user, command, seconds, reads, rewritten)
            batches.append(batch)
            if reads and request.on_output is None:
                together[key] = batch
        return batches

    def _work(self, batch: _Batch, cancel: threading.Event | None) -> Sequence[Reply | _Batch]:
        """Return the result of :meth:`_perform`; if the run must not or can't start, return its replies."""
        if cancel is not None and cancel.is_set():
            return _all(batch.requests, State.NOT_ATTEMPTED, "not started: interrupted before its turn")
        try:
            return self._perform(batch)
        except TransportError as error:
            return _all(batch.requests, State.UNREACHABLE, error.message)

    def _perform(self, batch: _Batch) -> list[Reply] | list[_Batch]:
        """Run dcli once and return the replies; if it timed out with several reads, return a run for each cell."""
        why = "" if batch.reads else wait_until_ours(batch.requests[0])  # A change is always alone in its run.
        if why:
            return _all(batch.requests, State.NOT_ATTEMPTED, why)
        started = time.monotonic()
        output = batch.requests[0].on_output
        limit = self.settings.max_answer
        reading = Answers(batch.targets, batch.word, limit)

        def take(piece: bytes) -> None:
            reading.take(piece)
            if len(reading.broken_off) == len(batch.requests):
                child.kill()

        child = LocalProcess(self._argv(batch), limit=limit, sink=take, locale=batch.requests[0].locale)
        late = threading.Event()
        patience = batch.seconds + 2 * self.connect_timeout + _GRACE_S

        def break_off() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(patience, break_off)
        timer.daemon = True
        with self._lock:
            self._children.add(child)
        timer.start()
        try:
            done = child.run()
        finally:
            timer.cancel()
            with self._lock:
                self._children.discard(child)
        if late.is_set() and batch.reads and len(batch.requests) > 1:
            return [batch.only(request) for request in batch.requests]
        answers = reading.ended(done.stderr, in_pieces={r.target for r in batch.requests if r.in_pieces})
        refused = [r for r in batch.requests if answers[r.target].refused and not batch.rewritten]
        again = [r for r in refused if self.falls_back(r)]
        seconds = time.monotonic() - started
        replies = [
            self._judge(r, answers[r.target], done, batch, seconds, late=late.is_set())
            for r in batch.requests
            if r not in again
        ]
        for reply in replies:
            if output is not None and reply.stdout:
                output(reply.stdout.encode("utf-8"))
        if again:
            command = read_only_cellcli(batch.command)
            second = self._perform(_Batch(again, self.rack.write_user, command, batch.seconds, True, rewritten=True))
            found = [reply for reply in second if isinstance(reply, Reply)]
            self.fell_back(reply.target for reply in found if reply.state is not State.UNREACHABLE)
            if len(found) < len(second):
                found = _all(again, State.TIMED_OUT, f"no end within {batch.seconds:g}s", batch.seconds)
            return [*replies, *found]
        return replies

    def _argv(self, batch: _Batch) -> list[str]:
        argv = [self._program, "-c", ",".join(batch.targets), "-l", batch.user]
        if self.rack.ssh_config is not None:
            argv += ["-s", f"-F {shlex.quote(str(self.rack.ssh_config))}"]
        if "--maxlines" in self._help:
            argv += ["--maxlines", str(_ALL_LINES)]
        if "--preserve-spaces" in self._help:
            argv.append("--preserve-spaces")
        if "--ctimeout" in self._help:
            argv += ["--ctimeout", str(max(1, round(self.connect_timeout)))]
        command = batch.command
        if batch.limited:
            command = limited(command, batch.seconds)
        command = at_most(closing(command, batch.word), batch.word, self.settings.max_answer)
        return [*argv, command if batch.reads else ascii_only(command)]

    def _judge(
        self, request: Request, answer: Answer, done: Ended, batch: _Batch, seconds: float, *, late: bool
    ) -> Reply:
        """Return the reply of one target."""
        text = answer.text
        if answer.broken_off is not None:
            problem = problem_of_ending(Ending(end=answer.broken_off), self.settings.max_answer)
            return _reply(request, seconds, State.FAILED, problem)
        if answer.status == 0:
            return replace(_reply(request, seconds, State.OK, "", text, 0), large=answer.large)
        text = text if answer.large is None else answer.large.text
        if answer.status == TIMEOUT_STATUS and batch.limited:
            problem = f"no end within {batch.seconds:g}s ({more_time(request)})"
            return _reply(request, seconds, State.TIMED_OUT, problem, text)
        if answer.status is not None:
            return _reply(request, seconds, State.FAILED, f"exit status {answer.status}", text, answer.status)
        if late:
            problem = no_end(request, batch.seconds)
            return _reply(request, seconds, State.TIMED_OUT, problem, text)
        if done.status == USAGE_STATUS and not text:
            first = next((line for line in done.stderr.splitlines() if line.strip()), "usage error")
            return _reply(request, seconds, State.UNREACHABLE, f"dcli did not start: {first.strip()}")
        if _STRANGER in answer.said:
            # Some of ssh's lines about it begin with a blank, as a command's output does; no command has run.
            problem = f"dcli: ssh does not accept the host key of {request.target} ({_STRANGER})"
            return _reply(request, seconds, State.UNREACHABLE, problem)
        before = batch.reads or answer.unreachable or not_logged_in(answer.said.split("; "))
        if (answer.unreachable or answer.said) and not text and before:
            return _reply(request, seconds, State.UNREACHABLE, f"dcli: {answer.said or 'unable to connect'}")
        problem = "its answer is incomplete: the connection was lost, and the command may or may not have finished"
        return _reply(request, seconds, State.FAILED, problem, text)


def _refuse_shell_words(*words: str) -> None:
    """Raise RefusedError if a host or login is unsafe: dcli pastes them unquoted into a local shell command.

    Empty words are not passed to dcli, so they are safe.

    Raises:
        RefusedError: one has a character that a shell would interpret; nothing was sent.
    """
    for word in filter(None, words):
        if not _PLAIN.fullmatch(word):
            raise RefusedError(
                f"'{word}' is not safe for dcli, which puts it into a shell command; nothing was sent",
                hint="use letters, digits and . _ - @ : / only; the transport ssh takes any text",
            )


def _all(requests: Sequence[Request], state: State, problem: str, seconds: float = 0.0) -> list[Reply]:
    """Return the same reply for each of the requests."""
    return [_reply(request, seconds, state, problem) for request in requests]


def _reply(
    request: Request, seconds: float, state: State, problem: str, stdout: str = "", status: int | None = None
) -> Reply:
    return Reply(
        target=request.target, state=state, problem=problem, stdout=stdout, exit_status=status, seconds=seconds
    )


@lru_cache(maxsize=8)
def _help(program: str, changed: int) -> str:
    """Return the program's help; it is run once as long as the file does not change.

    Args:
        changed: when the file was last changed.
    """
    try:
        done = subprocess.run(
            [program, "--help"], capture_output=True, text=True, timeout=_HELP_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(
            f"{program} --help does not answer: {error}",
            hint='name the program with dcli = in the configuration; transport = "ssh" does not need it',
        ) from error
    if done.returncode or "--serial" not in done.stdout:
        raise ConfigError(f"exacell can't use {program} as dcli: its --help does not show --serial (1.4 and later)")
    return done.stdout
