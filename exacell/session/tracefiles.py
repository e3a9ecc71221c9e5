"""Read trace files on all processors: each process reads its share of the files and returns some KB.

The processes are started, not forked, because the prompt has threads. As a program, this module reads the files that its
standard input names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from exacell.core.errors import RefusedError, why_unreadable
from exacell.measure.histogram import Histogram
from exacell.measure.trace10046 import Traced, summarize
from exacell.session.unpacking import opened

_WORTH = 16 << 20
"""How many bytes make it worth starting another process, or loading numpy."""


def read_files(paths: Sequence[Path], event: str = "", *, processors: int = 0, grouped: bool = False) -> list[Traced]:
    """Return the content of each trace file, in any order: the waits for one event, or for all events if none is named.

    Args:
        processors: how many processes read at the same time; 0 means as many processors as this process may use.
        grouped: also find which waits for the event share a log write.

    Raises:
        RefusedError: a file can't be read, or is not a trace file.
    """
    shares = _shares(paths, processors or len(os.sched_getaffinity(0)))
    command = [sys.executable, "-I", "-m", __name__]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()) for _ in shares[1:]
    ]
    try:
        for child, share in zip(children, shares[1:], strict=True):
            assert child.stdin is not None
            with child.stdin:
                child.stdin.write(json.dumps([event, grouped, [str(path) for path in share]]).encode())
        parts = _read_all(shares[0], event, grouped)
        for child, share in zip(children, shares[1:], strict=True):
            assert child.stdout is not None
            said = child.stdout.read()
            if child.wait() == 0:
                parts += _from_json(said)
            else:  # Reading it here raises the same error, or succeeds.
                parts += _read_all(share, event, grouped)
    finally:
        for child in children:
            with suppress(OSError):
                child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()
    return parts


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "OPENBLAS_NUM_THREADS": "1"}


def _shares(paths: Sequence[Path], processors: int) -> list[list[Path]]:
    """Return the files in shares: from the largest on, each goes to the share with the fewest bytes."""
    try:
        sizes = {path: path.stat().st_size for path in paths}
    except OSError as error:
        raise RefusedError(f"{error.filename}: {why_unreadable(error)}") from error
    most = max(1, min(processors, sum(sizes.values()) // _WORTH))
    shares: list[list[Path]] = [[] for _ in range(most)]
    loads = [0] * most
    for path in sorted(sizes, key=lambda one: -sizes[one]):
        least = loads.index(min(loads))
        shares[least].append(path)
        loads[least] += sizes[path]
    return [share for share in shares if share] or [[]]


def _read_all(paths: Sequence[Path], event: str, grouped: bool) -> list[Traced]:
    """Return the content of each file; loads numpy if the files are large enough for it."""
    try:
        quick = sum(path.stat().st_size for path in paths) >= _WORTH
    except OSError as error:
        raise RefusedError(f"{error.filename}: {why_unreadable(error)}") from error
    return [_read(path, event, grouped, quick) for path in paths]


def _read(path: Path, event: str, grouped: bool, quick: bool) -> Traced:
    with opened(path) as file:
        found = summarize(lambda room: file.readinto(room) or 0, event, str(path), grouped=grouped, quick=quick)
    if not found.recognised:
        raise RefusedError(
            f"{path} is not a trace file: it has no trace header and no line such as WAIT #",
            hint="give the .trc files that event 10046 writes, not the output of tkprof; `import` reads other outputs",
        )
    return found


def _as_data(part: Traced) -> dict[str, object]:
    """Return a file's content for JSON, its log writes as two lists, because keys of a JSON object must be texts."""
    writes = {instance: [list(own), list(own.values())] for instance, own in part.writes.items()}
    return {**asdict(replace(part, writes={})), "writes": writes}


def _from_json(text: bytes) -> list[Traced]:
    parts = []
    for found in json.loads(text):
        events = {name: Histogram(tuple(h["values"]), tuple(h["counts"])) for name, h in found.pop("events").items()}
        writes = {instance: dict(zip(*own, strict=True)) for instance, own in found.pop("writes").items()}
        parts.append(Traced(events=events, writes=writes, **found))
    return parts


def main() -> int:
    """Write the content of each file as JSON; return 1 if a file can't be read (the parent then reads it for the reason)."""
    with open(0, "rb") as asked:
        event, grouped, paths = json.load(asked)
    try:
        found = [_as_data(part) for part in _read_all([Path(path) for path in paths], event, grouped)]
    except RefusedError:
        return 1
    with open(1, "w", encoding="utf-8") as answer:
        answer.write(json.dumps(found))  # As a single text: json.dump takes ten times as long.
    return 0


if __name__ == "__main__":
    sys.exit(main())
