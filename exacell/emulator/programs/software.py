"""The software of emulated hosts: the processes of a cell's services, the packages, and the version of Oracle Linux.

Source: published ``ps -ef`` of storage cells; LIST CELL's rpmVersion and kernelVersion.
"""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.cell.models import RUNNING, Cell
from exacell.emulator.state.view import RackView


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process of a service: its number, its parent's, and its command line."""

    pid: int
    parent: int
    command: str


_PROGRAMS = "/opt/oracle/cell/cellsrv/bin"
_RS = tuple(f"{_PROGRAMS}/{name} -ms 1 -cellsrv 1" for name in ("cellrssrm", "cellrsbmt", "cellrsmmt", "cellrsomt"))
_MS = "/usr/java/default/bin/java -Xms256m -Xmx512m -Djava.library.path=/opt/oracle/cell/cellsrv/lib -jar oc4j.jar"
_CELLSRV = f"{_PROGRAMS}/cellsrv 100 5000 9 5042"
_FIRST_PID = 5801


def services(cell: Cell) -> tuple[Process, ...]:
    """Return the processes of a cell's running services. RS is the parent of those of MS and CELLSRV.

    Source: published ``ps -ef`` of storage cells; MS's options are shortened, and numbers are made up.
    """
    commands = {"RS": _RS, "MS": (_MS,), "CELLSRV": (_CELLSRV,)}
    lines = [(name, line) for name in commands if cell.services.get(name) == RUNNING for line in commands[name]]
    return tuple(
        Process(pid=_FIRST_PID + 7 * number, parent=1 if name == "RS" else _FIRST_PID, command=line)
        for number, (name, line) in enumerate(lines)
    )


def packages(rack: RackView, *, is_cell: bool) -> tuple[str, ...]:
    """Return the packages by which scripts recognize a host: the cell's software, kernel and distribution.

    Source: LIST CELL's rpmVersion; the distribution follows from the kernel.
    """
    kernel = rack.release.kernel.removesuffix(".x86_64")
    distribution = distribution_of(rack.release.kernel)
    found = [f"kernel-uek-{kernel}.x86_64", f"oraclelinux-release-{distribution}-1.0.x86_64"]
    return tuple(sorted([*found, rack.release.rpm] if is_cell else found))


def distribution_of(kernel: str) -> str:
    """Return the version of Oracle Linux to which a kernel belongs; the update number is an example."""
    return next(
        (f"{major}.{update}" for major, update in (("8", "10"), ("7", "9"), ("6", "10")) if f".el{major}" in kernel),
        "5.11",
    )
