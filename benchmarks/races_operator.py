"""Starts processes of operators for benchmarks/races.py: each is a process of its own, forked from one that has imported exacell.

Reads one JSON object a line from standard input (``number``, ``argv``, ``env``, ``out``) and writes one with that number for
each process that begins (``pid``) or has ended (``code``: negative for a signal). It ends with its input. Not having to start an
interpreter and to import saves most of what a race would take.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from exacell import cli


def warm() -> None:
    """Import what a change needs, so that no process has to."""
    import exacell.change.changing
    import exacell.change.dcli.run
    import exacell.change.engine
    import exacell.cli
    import exacell.commands.change
    import exacell.commands.flashcache
    import exacell.commands.griddisk
    import exacell.commands.opaque
    import exacell.commands.session
    import exacell.transport.ssh  # noqa: F401


def begin(asked: dict[str, object]) -> int:
    """Start a process and return its number; in it, never return."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    out = os.open(str(asked["out"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out, 1), (out, 2)):
        os.dup2(source, target)
    os.closerange(3, 64)
    environment, words = asked["env"], asked["argv"]
    assert isinstance(environment, dict) and isinstance(words, list)
    os.environ.clear()
    os.environ.update(environment)
    code = 70
    try:
        code = int(cli.main([str(word) for word in words]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def tell(**values: object) -> None:
    """Write one line."""
    os.write(1, (json.dumps(values) + "\n").encode())


def main() -> int:
    """Serve until the input ends."""
    warm()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    numbers: dict[int, object] = {}
    pending = b""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 512)
            while ended := _ended():
                tell(number=numbers.pop(ended[0]), code=ended[1])
        if 0 in ready:
            data = os.read(0, 1 << 16)
            if not data:
                return 0
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                asked = json.loads(line)
                pid = begin(asked)
                numbers[pid] = asked["number"]
                tell(number=asked["number"], pid=pid)


def _ended() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, os.waitstatus_to_exitcode(status)) if pid else None


if __name__ == "__main__":
    sys.exit(main())
