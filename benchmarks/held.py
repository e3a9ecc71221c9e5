"""A client that stays: connects, says ``ready``, then runs each line of standard input on all cells and prints it.

Run: python held.py WAY HOSTFILE SSH_CONFIG USER, with WAY one of

``channel``   exacell's transport, a channel for each command
``fabric``    fabric's own ThreadingGroup, for comparison
``connect``   no lines: prints the seconds that each of 20 connections with its first command took, inside one process
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Imported where it is used: what an import costs is measured.
    from exacell.transport.ssh import SshTransport

_PIECE = 1 << 16
Pairs = Iterable[tuple[str, str]]


def main() -> None:
    """Serve lines until standard input ends."""
    way, hostfile, ssh_config, user = sys.argv[1:5]
    hosts = Path(hostfile).read_text().split()
    if way == "connect":
        _connect(hosts[0], Path(ssh_config), user)
        return
    ask = (_fabric if way == "fabric" else _channel)(hosts, Path(ssh_config), user)
    print("ready", flush=True)
    for line in sys.stdin:
        for host, text in ask(line.rstrip("\n")):
            _print(f"{host}: ", text)
            del text  # its memory is the last answer's, not the next one's
        sys.stdout.flush()


def _print(prefix: str, text: str) -> None:
    """Print ``text`` with ``prefix`` before each line, a piece at a time: copies of all of it are not the client's."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE)
        end = len(text) if end < 0 else end
        sys.stdout.write(prefix + text[start:end].rstrip("\n").replace("\n", f"\n{prefix}") + "\n")
        start = end + 1


def _transport(hosts: list[str], ssh_config: Path, user: str) -> SshTransport:
    from exacell.core.config import RackConfig, Settings
    from exacell.transport.ssh import SshTransport

    rack = RackConfig(name="b", cells=tuple(hosts), read_user=user, write_user=user, ssh_config=ssh_config)
    return SshTransport(rack, Settings(fanout=max(64, len(hosts))))


def _channel(hosts: list[str], ssh_config: Path, user: str) -> Callable[[str], Pairs]:
    from exacell.transport.base import Request, Role

    transport = _transport(hosts, ssh_config, user)
    transport.warm(hosts).join()

    def ask(command: str) -> Pairs:
        result = transport.run([Request(target=host, command=command, role=Role.READ) for host in hosts])
        return [(reply.target, reply.stdout or reply.problem) for reply in result.replies.values()]

    return ask


def _connect(host: str, ssh_config: Path, user: str) -> None:
    from exacell.transport.base import Request, Role

    transport = _transport([host], ssh_config, user)
    for _ in range(20):
        started = time.perf_counter()
        assert transport.run([Request(target=host, command="true", role=Role.READ)]).ok
        print(time.perf_counter() - started, flush=True)
        transport.close()


def _fabric(hosts: list[str], ssh_config: Path, user: str) -> Callable[[str], Pairs]:
    from fabric import Config, ThreadingGroup

    group = ThreadingGroup(*hosts, user=user, config=Config(runtime_ssh_path=str(ssh_config)))
    group.run("true", hide=True, in_stream=False)

    def ask(command: str) -> Pairs:
        found = group.run(command, hide=True, in_stream=False)
        return [(connection.host, result.stdout) for connection, result in found.items()]

    return ask


if __name__ == "__main__":
    main()
