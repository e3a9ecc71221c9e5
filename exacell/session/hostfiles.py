"""Read and write small files of hosts, with one fixed script per host.

Paths and values go to the script's standard input, one line each, and never into a command line, so none of them can
become shell syntax there.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial

from exacell.core.values import dataclass
from exacell.opaque.scan import arguments
from exacell.plan.hostsettings import Found, Wanted
from exacell.session.answers import problem_of
from exacell.session.fleet import Fleet
from exacell.transport.base import FleetResult, Ours, Reply, ReplyHandler, Request, Role, State

_READ = (
    'while IFS= read -r p; do echo "# $p"; for f in $p; do [ -e "$f" ] || continue; [ -d "$f" ] && continue; '
    'm=$(ls -ld "$f"); if v=$(cat "$f" 2>&1); then k="="; else k="-"; fi; echo "$k ${m%% *} $f"; '
    'printf "%s\\n" "$v" | sed "s/^/ /"; done; done; echo "."'
)
"""Prints ``# pattern``, then for each file ``= mode path`` (``- mode path`` if it can't be read) and its lines, each after a
blank; a dot at the end."""

_WRITE = (
    'while read -r p v; do [ -f "$p" ] || { echo "there is no $p" >&2; exit 1; }; '
    'printf "%s\\n" "$v" | tee "$p" >/dev/null || exit 1; done'
)
"""Writes each value to its file and stops at the first that the kernel refuses."""


@dataclass(frozen=True, kw_only=True)
class HostFiles:
    """The answer of one host.

    Attributes:
        found: by pattern, the files that match it, in the shell's order; empty for none.
        problem: why there is no answer, one line; empty if there is one.
    """

    found: Mapping[str, Sequence[Found]]
    problem: str = ""


def read_files(
    fleet: Fleet,
    wanted: Mapping[str, Sequence[str]],
    *,
    timeout: float | None = None,
    cancel: threading.Event | None = None,
) -> dict[str, HostFiles]:
    """Return the content of the files that match the patterns, in one round trip per host.

    Args:
        wanted: by host, the patterns, which :func:`exacell.plan.hostsettings.read_path` has accepted.
        timeout: seconds per host.
    """
    requests = [
        Request(
            target=host,
            command=arguments(_READ),
            role=Role.HOST_READ,
            stdin="".join(f"{pattern}\n" for pattern in dict.fromkeys(patterns)),
            timeout=timeout,
        )
        for host, patterns in wanted.items()
    ]
    replies = fleet.run(requests, cancel=cancel).replies
    return {host: _answer(replies[host], patterns) for host, patterns in wanted.items()}


def _answer(reply: Reply, patterns: Sequence[str]) -> HostFiles:
    if reply.state is not State.OK:
        return HostFiles(found={}, problem=problem_of(reply))
    lines = reply.stdout.split("\n")
    if lines[-2:] != [".", ""]:
        return HostFiles(found={}, problem="its answer is cut off")
    found: dict[str, list[Found]] = {pattern: [] for pattern in patterns}
    pattern, head, body = "", "", list[str]()

    def close() -> None:
        if head:
            sign, mode, path = head.split(" ", 2)
            text = "\n".join(body)
            # cat names itself and the file, then the reason.
            text = text if sign == "=" else text.rpartition(": ")[2]
            found[pattern].append(Found(path=path, mode=mode, text=text, readable=sign == "="))

    for line in lines[:-2]:
        if line.startswith(" "):
            body.append(line[1:])
            continue
        close()
        head, body = "", []
        if line.startswith("# ") and line[2:] in found:
            pattern = line[2:]
        elif pattern and line[:2] in ("= ", "- "):
            head = line
        else:
            return HostFiles(found={}, problem=f"its answer can't be read: {line[:60]}")
    close()
    return HostFiles(found=found)


def write_files(
    fleet: Fleet,
    writes: Mapping[str, Sequence[Wanted]],
    *,
    timeout: float,
    ours: Ours | None = None,
    on_reply: ReplyHandler | None = None,
) -> FleetResult:
    """Write values into files and return the replies; a host stops at the first file that refuses its value.

    Args:
        writes: by host, paths and values in order.
        ours: checked right before each request is sent.
        timeout: seconds per host.

    Raises:
        RefusedError: the transport is read-only.
    """
    request = partial(Request, command=arguments(_WRITE), role=Role.HOST_WRITE, timeout=timeout, ours=ours)
    requests = [
        request(target=host, stdin="".join(f"{path} {value}\n" for path, value in pairs))
        for host, pairs in writes.items()
    ]
    return fleet.run(requests, on_reply=on_reply)


def setting_rows(files: HostFiles) -> list[dict[str, str]]:
    """Return the records that checks compare: one for each file that could be read."""
    paths = {file.path: file for listed in files.found.values() for file in listed if file.readable}
    return [{"name": path, "value": file.value} for path, file in paths.items()]
