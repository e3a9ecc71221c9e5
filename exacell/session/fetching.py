"""Files of hosts brought here: looked at first, then streamed into a file beside the goal, compared by checksum, renamed.

One fixed script lists files with size and checksum, one prints a file; the path goes to their standard input.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import mkstemp

from exacell.core.values import dataclass
from exacell.opaque.scan import arguments
from exacell.session.answers import problem_of
from exacell.session.fleet import Fleet
from exacell.transport.base import Reply, Request, Role, State

_LOOK = (
    'IFS= read -r p; n=0; IFS=; l=$(printf "\\nx"); l=${l%x}; for f in $p; do [ -f "$f" ] || continue; n=1; '
    'case $f in *"$l"*) printf "odd %s\\n" "$(printf %s "$f" | tr "\\n" "?")"; continue;; esac; '
    'if s=$(wc -c <"$f") && c=$(sha256sum <"$f"); then printf "%s %s %s\\n" "$((s))" "${c%% *}" "$f"; '
    'else printf "unread %s\\n" "$f"; fi; done; '
    '[ $n = 1 ] || { [ -d "$p" ] && echo "$p is a folder: $p/* names its files" || echo "there is no file $p"; exit 1; } >&2; '
    "echo ."
)
"""Prints size, checksum and path of each regular file that a pattern stands for, what can't be copied, and a dot at the end.

With an empty IFS an unquoted name is a pattern and nothing else: blanks stay.
"""

_WHY = {"odd": "there is a line feed in its name", "unread": "it can't be read there"}
_LINE = re.compile(r"(?:(?P<size>\d+) (?P<sum>[0-9a-f]{64})|(?P<why>odd|unread)) (?P<path>/.+)", re.DOTALL)

_PRINT = 'IFS= read -r f; cat "$f"'


@dataclass(frozen=True, kw_only=True)
class There:
    """One file of a host, as it was when it was looked at."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """What a pattern stands for on one host: files, and a line for each thing that can't be copied."""

    files: Sequence[There] = ()
    problems: Sequence[str] = ()


def look(
    fleet: Fleet, hosts: Sequence[str], pattern: str, *, timeout: float, cancel: threading.Event
) -> dict[str, Listed]:
    """Return by host what the pattern stands for.

    Args:
        timeout: seconds per host: all of each file is read for its checksum.
    """
    requests = [
        Request(target=host, command=arguments(_LOOK), role=Role.HOST_READ, stdin=f"{pattern}\n", timeout=timeout)
        for host in hosts
    ]
    replies = fleet.run(requests, cancel=cancel).replies
    return {host: _listed(replies[host]) for host in hosts}


def _listed(reply: Reply) -> Listed:
    if reply.state is not State.OK:
        said = reply.stderr.strip().splitlines()
        return Listed(problems=[said[-1] if said else problem_of(reply)])
    *lines, end, rest = ("\n" + reply.stdout).split("\n")
    found = [_LINE.fullmatch(line) for line in lines[1:]]
    if (end, rest) != (".", "") or None in found:
        return Listed(problems=["its answer can't be read"])
    told = [match for match in found if match is not None]
    return Listed(
        files=[There(path=m["path"], size=int(m["size"]), sha256=m["sum"]) for m in told if not m["why"]],
        problems=[f"{m['path']} was not copied: {_WHY[m['why']]}" for m in told if m["why"]],
    )


def is_here(there: There, goal: Path) -> bool:
    """Whether a file of a host lies here already, byte by byte."""
    if not goal.is_file() or goal.stat().st_size != there.size:
        return False
    with goal.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == there.sha256


class _Arriving:
    """Takes a file's bytes as they arrive, from the thread that reads them; what goes wrong with the disk is kept for the end."""

    def __init__(self, folder: Path, sent: Callable[[int], None]) -> None:
        descriptor, name = mkstemp(dir=folder, prefix=".exacell-")
        self._file, self.path = os.fdopen(descriptor, "wb"), Path(name)
        self.problem = ""
        self._hash, self._sent, self.size = hashlib.sha256(), sent, 0

    def take(self, piece: bytes) -> None:
        """Keep a piece."""
        if self.problem:
            return
        try:
            self._file.write(piece)
        except OSError as error:
            self.problem = f"{self.path.parent}: {error.strerror}"
            return
        self._hash.update(piece)
        self.size += len(piece)
        self._sent(len(piece))

    def end(self) -> str:
        """Return the checksum of all that came; what is kept is on disk then."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            self.problem = self.problem or f"{self.path.parent}: {error.strerror}"
        self._file.close()
        return self._hash.hexdigest()


def fetch(
    fleet: Fleet,
    wanted: Mapping[str, tuple[There, Path]],
    *,
    timeout: float,
    cancel: threading.Event,
    sent: Callable[[str, int], None],
) -> dict[str, str]:
    """Bring one file from each host and return by host why that failed; empty where the file is here, whole.

    A file that did not come whole, or is another one than was looked at, leaves nothing here.

    Args:
        wanted: by host, the file there and its goal here, which is replaced.
        timeout: seconds per host.
        sent: told of the bytes of each piece that came from a host.
    """

    def counting(host: str) -> Callable[[int], None]:
        return lambda count: sent(host, count)

    arriving = {host: _Arriving(goal.parent, counting(host)) for host, (_, goal) in wanted.items()}
    try:
        requests = [
            Request(
                target=host,
                command=arguments(_PRINT),
                role=Role.HOST_READ,
                stdin=f"{there.path}\n",
                timeout=timeout,
                on_output=arriving[host].take,
                in_pieces=True,
            )
            for host, (there, _) in wanted.items()
        ]
        replies = fleet.run(requests, cancel=cancel).replies
        return {host: _ended(replies[host], arriving[host], *wanted[host]) for host in wanted}
    finally:
        for each in arriving.values():
            each.path.unlink(missing_ok=True)


def _ended(reply: Reply, came: _Arriving, there: There, goal: Path) -> str:
    digest = came.end()
    if reply.state is not State.OK:
        return f"{there.path}: {problem_of(reply)}"
    if came.problem:
        return came.problem
    if came.size != there.size or digest != there.sha256:
        return (
            f"{there.path} changed while it was copied: {came.size} of {there.size} bytes came; type the "
            "statement again"
        )
    os.chmod(came.path, 0o644 & ~_umask())
    came.path.replace(goal)
    return ""


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
