"""Print what one emulator process costs with many cells: 300 connections open at once, one LIST on each, and its memory.

Run: python benchmarks/emulator_scale.py [cells]. The client is asyncssh in this process, all connections are opened at
the same time and stay open; then exacell itself asks every cell. Memory is that of the rack's process alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import asyncssh

from exacell.emulator import control

RACK = "scale"
STATEMENT = "list flashcache attributes name, size, status"


def memory_mb(pid: int) -> tuple[int, int]:
    """Return the resident memory of a process in MB, and the most that it was.

    Source: proc(5), /proc/pid/status, VmRSS and VmHWM.
    """
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    values = {line.split(":")[0]: int(line.split()[1]) // 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return values["VmRSS"], values["VmHWM"]


async def ask_all(config: Path, hosts: tuple[str, ...]) -> tuple[float, float, int]:
    """Connect to all hosts at once, then send one LIST to each; return the seconds of both, and how many answered."""
    start = time.perf_counter()
    # agent_path: keys of the caller's own agent would only be tried in vain.
    links = await asyncio.gather(
        *(asyncssh.connect(host, config=[str(config)], agent_path=None, login_timeout=300) for host in hosts)
    )
    connected = time.perf_counter()
    try:
        replies = await asyncio.gather(*(link.run(f'cellcli -e "{STATEMENT}"') for link in links))
        listed = time.perf_counter()
    finally:
        for link in links:
            link.close()
        await asyncio.gather(*(link.wait_closed() for link in links))
    whole = sum(reply.exit_status == 0 and "FLASHCACHE" in str(reply.stdout) for reply in replies)
    return connected - start, listed - connected, whole


def ask_with_exacell(home: Path) -> tuple[float, int]:
    """Let exacell send the LIST to every cell; return the seconds of the whole process, and how many cells answered."""
    command = [sys.executable, "-m", "exacell", "-r", RACK, "-o", "json", STATEMENT]
    start = time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "EXACELL_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return time.perf_counter() - start, len(json.loads(done.stdout or b"[]"))


def main() -> int:
    """Measure and print; the exit status is 1 when a cell did not answer or the memory is 1 GB or more."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        start = time.perf_counter()
        info, _ = control.start(home, RACK, options={"cells": count, "mode": "writethrough"}, timeout=300)
        assert info.pid is not None
        print(f"{'start of a rack of ' + str(count) + ' cells':<44}{time.perf_counter() - start:8.1f} s")
        try:
            print(f"{'memory after the start':<44}{memory_mb(info.pid)[0]:8} MB")
            connecting, listing, whole = asyncio.run(ask_all(info.ssh_config, info.cells))
            print(f"{f'{count} connections at once':<44}{connecting:8.1f} s")
            print(f"{'one LIST on each':<44}{listing:8.1f} s   {whole} complete")
            seconds, answered = ask_with_exacell(home)
            print(f"{'exacell: connect to all, one LIST':<44}{seconds:8.1f} s   {answered} complete")
            now, most = memory_mb(info.pid)
            print(f"{'memory now, and the most it was':<44}{now:8} MB {most} MB")
        finally:
            control.stop(home, RACK)
    return 0 if whole == answered == count and most < 1024 else 1


if __name__ == "__main__":
    sys.exit(main())
