"""Copy files of hosts here: read their size and checksum, stream each into a temporary file, compare, then rename.

One fixed script lists files with size and checksum, another one prints a file; both read the path from standard input.
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
"""Prints size, checksum and path of each regular file that a pattern matches, then what can't be copied, then a dot.

With an empty IFS the shell expands an unquoted name as a pattern but does not split it, so blanks stay.
"""

_WHY = {"odd": "there is a line feed in its name", "unread": "it can't be read there"}
_LINE = re.compile(r"(?:(?P<size>\d+) (?P<sum>[0-9a-f]{64})|(?P<why>odd|unread)) (?P<path>/.+)", re.DOTALL)

_PRINT = 'IFS= read -r f; cat "$f"'


@dataclass(frozen=True, kw_only=True)
class There:
    """One file of a host, as it was when the host listed it."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Return its name without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The files that a pattern matches on one host, and one line for each that can't be copied."""

    files: Sequence[There] = ()
    problems: Sequence[str] = ()


def look(
    fleet: Fleet, hosts: Sequence[str], pattern: str, *, timeout: float, cancel: threading.Event
) -> dict[str, Listed]:
    """Return host → the files that the pattern matches there.

    Args:
        timeout: seconds per host; each file is read to its end for the checksum.
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
    """Return whether a file with the same size and checksum is already here."""
    if not goal.is_file() or goal.stat().st_size != there.size:
        return False
    with goal.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == there.sha256


class _Arriving:
    """Writes a file's bytes as they arrive, in the thread that reads them; a disk error is kept in ``problem`` until the end."""

    def __init__(self, folder: Path, sent: Callable[[int], None]) -> None:
        descriptor, name = mkstemp(dir=folder, prefix=".exacell-")
        self._file, self.path = os.fdopen(descriptor, "wb"), Path(name)
        self.problem = ""
        self._hash, self._sent, self.size = hashlib.sha256(), sent, 0

    def take(self, piece: bytes) -> None:
        """Write a piece of the file."""
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
        """Return the checksum of all bytes that came, after they are on disk."""
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
    """Copy one file from each host and return host → why that failed; empty for a host whose file is here, complete.

    A file that did not come complete, or has changed since it was listed, is removed here.

    Args:
        wanted: by host, the file there and its path here, which is replaced.
        timeout: seconds per host.
        sent: called with the host and the number of bytes of each piece that came.
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
