"""Gateways for a ClusterShell tree on loopback: sshds that alone can reach a rack's cells."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.sshd import Sshd

PYTHON_VARIABLE = "CLUSTERSHELL_GW_PYTHON_EXECUTABLE"
"""Where ClusterShell finds the Python that it starts on gateways."""


@contextmanager
def gateways(directory: Path, names: Sequence[str], cells_config: str) -> Iterator[tuple[Path, dict[str, Sshd]]]:
    """Start one sshd a gateway and yield an ssh_config and the servers by name.

    Args:
        cells_config: an ssh_config with a Host block for each cell. In the one that is yielded the blocks count only for an
            ssh that a gateway has started; for all others the cells' port is closed.
    """
    servers: dict[str, Sshd] = {}
    try:
        blocks = []
        for name in names:
            server = servers[name] = Sshd(directory / name)
            server.start()
            known = server.known_hosts(f"{name} {server.public_key('host_ed25519')}")
            blocks.append(
                f"Host {name}\n  HostName 127.0.0.1\n  Port {server.port}\n  User {server.user}\n  HostKeyAlias {name}\n"
                f"  IdentityFile {server.directory / 'login'}\n  IdentitiesOnly yes\n  UserKnownHostsFile {known}\n"
                "  GlobalKnownHostsFile none\n"
            )
        cells = " ".join(re.findall(r"^Host (\S+)$", cells_config, re.MULTILINE))
        closed = f'Match originalhost {cells.replace(" ", ",")} exec "case $PATH in *{directory}*) false;; esac"\n'
        config = directory / "tree_config"
        config.write_text(
            "".join(blocks) + closed + "  HostName 127.0.0.1\n  Port 1\n" + cells_config, encoding="utf-8"
        )
        os.chmod(config, 0o600)
        yield config, servers
    finally:
        for server in servers.values():
            server.stop()
