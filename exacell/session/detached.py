"""Run a long command on a host independently of the connection that starts it: its folder, its state and its output.

All scripts are fixed. The folder has mode 0700 and a unique name; it holds the command, its output, the process id and, after
the end, the exit status.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from enum import StrEnum

from exacell.core.values import dataclass
from exacell.opaque.scan import arguments
from exacell.session.answers import problem_of
from exacell.session.fleet import Fleet
from exacell.transport.base import Ours, Reply, Request, Role, State

_START = (
    'IFS= read -r d; umask 077; mkdir -m 700 "$d" || exit 1; cat >"$d/command" || exit 1; : >"$d/out"; '
    'r=\'/bin/sh "$1/command" >"$1/out" 2>&1 </dev/null; echo $? >"$1/ended"; mv "$1/ended" "$1/status"\'; '
    "s=$(command -v setsid || command -v nohup) || exit 1; "
    '$s /bin/sh -c "$r" sh "$d" </dev/null >/dev/null 2>&1 & echo $! >"$d/pid"; echo "started $!"'
)
_STAND = (
    'IFS= read -r d; [ -d "$d" ] || { echo gone; exit 0; }; p=$(cat "$d/pid"); n=$(wc -c <"$d/out"); '
    'if [ ! -f "$d/status" ] && kill -0 "$p" 2>/dev/null; then echo "running $p $((n))"; exit 0; fi; '
    'if [ -f "$d/status" ]; then echo "ended $(cat "$d/status") $((n))"; else echo "lost $p $((n))"; fi'
)
_OUTPUT = 'IFS= read -r d; cat "$d/out"'
_REMOVE = 'IFS= read -r d; case $d in /tmp/exacell-*) rm -rf "$d";; esac'

_FOLDER = re.compile(r"/tmp/exacell-[0-9a-f]{32}")


def new_folder() -> str:
    """Return the name of a folder that does not exist yet on any host."""
    return f"/tmp/exacell-{secrets.token_hex(16)}"


class Stands(StrEnum):
    """The state of a command on a host."""

    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"
    """Its process is gone and left no status: it was killed, or the host was restarted."""
    GONE = "gone"
    """The command has no folder on the host."""
    SILENT = "silent"
    """The host gave no answer."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The state of a command on one host.

    Attributes:
        number: the process id while it runs, its exit status after it ended.
        size: bytes of output so far.
        problem: why there is no answer.
    """

    stands: Stands
    number: int = 0
    size: int = 0
    problem: str = ""


def _requests(
    hosts: Sequence[str], script: str, text: str, role: Role, *, timeout: float | None = None, ours: Ours | None = None
) -> list[Request]:
    command = arguments(script)
    return [Request(target=h, command=command, role=role, stdin=text, timeout=timeout, ours=ours) for h in hosts]


def start(fleet: Fleet, hosts: Sequence[str], folder: str, command: str, *, ours: Ours | None = None) -> dict[str, str]:
    """Start a command on each host and return host → why that failed; empty for a host on which it runs.

    Raises:
        RefusedError: the transport is read-only.
    """
    replies = fleet.run(_requests(hosts, _START, f"{folder}\n{command}\n", Role.HOST_WRITE, ours=ours)).replies
    return {host: _why(reply) for host, reply in replies.items()}


def _why(reply: Reply) -> str:
    """Return why a command did not start; empty if it did or may have: the caller then reads its state."""
    never = reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED)
    if reply.state is State.OK or (reply.exit_status is None and not never):
        return ""
    lines = reply.stderr.strip().splitlines()
    return lines[-1] if lines and reply.exit_status is not None else problem_of(reply)


def standing(fleet: Fleet, hosts: Sequence[str], folder: str) -> dict[str, Standing]:
    """Return the state of a folder's command on each host."""
    replies = fleet.run(_requests(hosts, _STAND, f"{folder}\n", Role.HOST_READ)).replies
    return {host: _standing(reply) for host, reply in replies.items()}


def _standing(reply: Reply) -> Standing:
    match = re.fullmatch(r"(running|ended|lost) (\d+) (\d+)\n|gone\n", reply.stdout)
    if match is None or reply.state is not State.OK:
        return Standing(stands=Stands.SILENT, problem=problem_of(reply) or "its answer can't be read")
    if match[1] is None:
        return Standing(stands=Stands.GONE)
    return Standing(stands=Stands(match[1]), number=int(match[2]), size=int(match[3]))


def output(fleet: Fleet, host: str, folder: str) -> Reply:
    """Return the reply that holds all that the command has printed on a host."""
    return fleet.run(_requests([host], _OUTPUT, f"{folder}\n", Role.HOST_READ, timeout=600.0)).replies[host]


def remove(fleet: Fleet, hosts: Sequence[str], folder: str) -> Mapping[str, str]:
    """Remove the folder on each host and return host → why it failed, only for hosts where the folder is still there.

    Raises:
        ValueError: it is not a folder of exacell.
        RefusedError: the transport is read-only.
    """
    if not _FOLDER.fullmatch(folder):
        raise ValueError(f"{folder} is not the folder of a command")
    replies = fleet.run(_requests(hosts, _REMOVE, f"{folder}\n", Role.HOST_WRITE)).replies
    return {host: problem_of(reply) for host, reply in replies.items() if reply.state is not State.OK}
