"""The ``imageinfo`` and ``imagehistory`` programs of emulated hosts: which software image is active, and since when.

Source: published outputs of ``imageinfo``, ``imageinfo -ver -status`` and ``imagehistory``; a single option prints the
bare value. Only the active image exists here, as delivered: there is no earlier one and no inactive partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from exacell.emulator.build import BOOTED_DAYS, DAY, DEPLOYED_DAYS
from exacell.emulator.program import Out, Program
from exacell.emulator.rack import Rack

_FULL = {"version": "-version", "status": "-status", "kernel version": "-kernel"}


def imageinfo(rack: Rack, host: str, argv: Sequence[str]) -> Program:
    """Run ``imageinfo`` on a cell or a database node.

    Args:
        argv: options such as ``-ver`` and ``-status``, each at least four letters of its name; none prints everything.

    Returns:
        A program; its exit status is 1 for an unknown option.
    """
    is_cell = host in rack.cells
    release = rack.release
    facts = {
        "version": release.version,
        "status": "success",
        "kernel version": release.kernel,
    }
    wanted: list[str] = []
    for word in argv:
        found = [name for name, option in _FULL.items() if len(word) >= 4 and option.startswith(word.lower())]
        if not found:
            yield Out(f"imageinfo: unknown option {word}\n", err=True)
            return 1
        wanted += found
    if len(wanted) == 1:
        yield Out(f"{facts[wanted[0]]}\n")
        return 0
    if not wanted:
        banner = release.banner
        yield Out(f"\nKernel version: {release.kernel} #2 SMP x86_64\n")
        if is_cell:
            yield Out(f"Cell version: OSS_{banner}_LINUX.X64_{release.version.rsplit('.', 1)[1]}\n\n")
        else:
            yield Out(f"Image kernel version: {release.kernel}\n")
        wanted = ["version", "kernel version", "status"]
    for name in wanted:
        yield Out(f"Active image {name}: {facts[name]}\n")
    if not argv:
        yield Out(f"Active node type: {'STORAGE' if is_cell else 'COMPUTE'}\n")
    return 0


def imagehistory(rack: Rack, host: str, argv: Sequence[str]) -> Program:
    """Run ``imagehistory`` on a cell or a database node: the one image that it was delivered with.

    Returns:
        A program; its exit status is 1 for an unknown option.
    """
    if any(word not in ("-all", "--all", "-a") for word in argv):
        yield Out(f"imagehistory: unknown option {argv[0]}\n", err=True)
        return 1
    cell = rack.cells.get(host) or next(iter(rack.cells.values()))
    deployed = cell.boot_time - (DEPLOYED_DAYS - BOOTED_DAYS) * DAY
    activated = datetime.fromtimestamp(deployed, UTC).strftime("%Y-%m-%d %H:%M:%S %z")
    rows = {
        "Version": rack.release.version,
        "Image activation date": activated,
        "Imaging mode": "fresh",
        "Imaging status": "success",
    }
    yield Out("".join(f"{label:<37}: {value}\n" for label, value in rows.items()) + "\n")
    return 0
