"""The ``imageinfo`` and ``imagehistory`` programs of emulated hosts: the active software image, and since when it is active.

Cells show the active image and the inactive one that a patch leaves; database servers show the same facts without the word
Active. A single option prints only the value. Here only the delivered image exists, so the inactive partitions are empty and no
rollback is possible.

Source: published outputs of ``imageinfo``, ``imageinfo -ver -status`` and ``imagehistory`` (a cell of 11.2.3.3, database
servers of 11.2.2.4, 12.1.1.1 and 22.1); Oracle SAGUG, summary-software-and-firmware-components; DBMMN,
rolling-back-updates-storage-servers (``-ver -inactive``). The first release that shows kernel and kind of node is made up,
and so is the order in which several options print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from exacell.emulator.basics.program import Out, Program
from exacell.emulator.state.build import BOOTED_DAYS, DAY, DEPLOYED_DAYS
from exacell.emulator.state.view import RackView

_MORE_SINCE = (12, 1, 2)
_OPTIONS = {
    "version": "image version",
    "kernel": "image kernel version",
    "activated": "image activated",
    "status": "image status",
    "node-type": "node type",
    "system-partition": "system partition on device",
    "software-partition": "software partition on device",
}
"""The facts that each option prints; three letters of an option are enough."""
_LETTERS = 3


def imageinfo(rack: RackView, host: str, argv: Sequence[str]) -> Program:
    """Run ``imageinfo`` on a cell or a database node.

    Args:
        argv: options such as ``-ver`` and ``-status``, and ``-inactive`` for a cell's other partitions; without options
            everything is printed.

    Returns:
        A program; its exit status is 1 for an unknown option.
    """
    is_cell = host in rack.cells
    words = [word.lower().lstrip("-") for word in argv]
    inactive = any(len(word) >= _LETTERS and "inactive".startswith(word) for word in words) and is_cell
    wanted: list[str] = []
    for word, given in zip(words, argv, strict=True):
        if inactive and "inactive".startswith(word):
            continue
        found = [name for option, name in _OPTIONS.items() if len(word) >= _LETTERS and option.startswith(word)]
        if not found:
            yield Out(f"imageinfo: unknown option {given}\n", err=True)
            return 1
        wanted += found
    facts = {"image version": "undefined"} if inactive else _facts(rack, host)
    if len(wanted) == 1:
        yield Out(f"{facts.get(wanted[0], '')}\n")
    elif wanted or inactive:
        chosen = {name: facts.get(name, "") for name in wanted} if wanted else facts
        yield Out(_lines("Inactive" if inactive else "Active" if is_cell else "", chosen))
    else:
        yield Out(_whole_cell(rack, facts) if is_cell else _whole_node(rack, facts))
    return 0


def _facts(rack: RackView, host: str) -> dict[str, str]:
    """Return the facts of the active image, by the words that follow ``Active``, in the order in which they are printed."""
    release, is_cell = rack.release, host in rack.cells
    facts = {"image version": release.version}
    if release.number >= _MORE_SINCE:
        facts["image kernel version"] = release.kernel.removesuffix(".x86_64")
    facts |= {"image activated": _activated(rack, host), "image status": "success"}
    if release.number >= _MORE_SINCE:
        facts["node type"] = "STORAGE" if is_cell else "COMPUTE"
    if is_cell:
        facts |= {"system partition on device": "/dev/md5", "software partition on device": "/dev/md7"}
    else:
        facts["system partition on device"] = "/dev/mapper/VGExaDb-LVDbSys1"
    return facts


def _lines(head: str, facts: Mapping[str, str]) -> str:
    named = {f"{head} {name}" if head else name[0].upper() + name[1:]: value for name, value in facts.items()}
    return "".join(f"{name}: {value}\n" for name, value in named.items())


def _kernel(rack: RackView) -> str:
    return f"\nKernel version: {rack.release.kernel} #2 SMP x86_64\n"


def _whole_cell(rack: RackView, facts: Mapping[str, str]) -> str:
    release = rack.release
    date = release.version.removeprefix(f"{release.banner}.")
    return (
        f"{_kernel(rack)}Cell version: OSS_{release.banner}_LINUX.X64_{date}\nCell rpm version: {release.rpm}\n\n"
        f"{_lines('Active', facts)}\n"
        f"Cell boot usb partition: /dev/sdm1\nCell boot usb version: {release.version}\n\n"
        "Inactive image version: undefined\nRollback to the inactive partitions: Impossible\n"
    )


def _whole_node(rack: RackView, facts: Mapping[str, str]) -> str:
    first = {"image kernel version": facts["image kernel version"]} if "image kernel version" in facts else {}
    rest = {name: value for name, value in facts.items() if name not in first}
    return f"{_kernel(rack)}{_lines('', {**first, **rest})}\n"


def _activated(rack: RackView, host: str) -> str:
    cell = rack.cells.get(host) or next(iter(rack.cells.values()))
    deployed = cell.boot_time - (DEPLOYED_DAYS - BOOTED_DAYS) * DAY
    return datetime.fromtimestamp(deployed, UTC).strftime("%Y-%m-%d %H:%M:%S %z")


def imagehistory(rack: RackView, host: str, argv: Sequence[str]) -> Program:
    """Run ``imagehistory`` on a cell or a database node: print the one image that it was delivered with.

    Returns:
        A program; its exit status is 1 for an unknown option.
    """
    if any(word not in ("-all", "--all", "-a") for word in argv):
        yield Out(f"imagehistory: unknown option {argv[0]}\n", err=True)
        return 1
    rows = {
        "Version": rack.release.version,
        "Image activation date": _activated(rack, host),
        "Imaging mode": "fresh",
        "Imaging status": "success",
    }
    yield Out("".join(f"{label:<37}: {value}\n" for label, value in rows.items()) + "\n")
    return 0
