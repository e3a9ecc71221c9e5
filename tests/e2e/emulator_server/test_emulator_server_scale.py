"""Many cells in one process: all are reached at the same time. benchmarks/emulator_scale.py has the figures for 300."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from exacell.emulator import control

CELLS = 30


@pytest.fixture
def many(tmp_path: Path) -> Iterator[control.RackInfo]:
    """A running rack of thirty cells."""
    info, _ = control.start(tmp_path, "many", options={"cells": CELLS, "dbnodes": 1}, timeout=60)
    yield info
    control.stop(tmp_path, "many")


async def _ask_all(info: control.RackInfo) -> list[str]:
    async def connect(host: str) -> asyncssh.SSHClientConnection:
        return await asyncssh.connect(host, config=[str(info.ssh_config)], agent_path=None, login_timeout=60)

    links = await asyncio.gather(*(connect(host) for host in info.cells))
    try:
        replies = await asyncio.gather(*(link.run('cellcli -e "list cell attributes name, status"') for link in links))
    finally:
        for link in links:
            link.close()
    return [str(reply.stdout).split()[0] for reply in replies]


def test_all_cells_answer_at_once_in_little_memory(many: control.RackInfo) -> None:
    """Connections to all cells are open together, each answers for itself, and one process needs under 150 MB for it."""
    assert asyncio.run(asyncio.wait_for(_ask_all(many), 60)) == list(many.cells)
    status = Path(f"/proc/{many.pid}/status").read_text(encoding="ascii").splitlines()
    most_kb = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert most_kb < 150 * 1024
