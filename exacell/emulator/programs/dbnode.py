"""The programs of an emulated database node, by name: sqlplus, asmcmd, srvctl, crsctl, and a few small ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.program import Out, Program
from exacell.emulator.basics.spool import NO_FILES, FileAccess
from exacell.emulator.faults.effects import afflicted
from exacell.emulator.programs.asmcmd import asmcmd
from exacell.emulator.programs.crsctl import crsctl, olsnodes
from exacell.emulator.programs.srvctl import srvctl
from exacell.emulator.sqlplus.program import sqlplus
from exacell.emulator.state.view import RackView

PROGRAMS = ("sqlplus", "asmcmd", "srvctl", "crsctl", "olsnodes", "oracleasm")
"""The names that :func:`program` knows."""


def program(
    name: str,
    rack: RackView,
    node: str,
    login: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    tty: bool,
    files: FileAccess = NO_FILES,
) -> Program:
    """Return the running program ``name``.

    Args:
        node: host name of a database node of the rack.
        login: grid, oracle or root.
        argv: without the program's name.
        env: ORACLE_SID and ORACLE_HOME choose the instance.
        tty: prompts are sent as Ask events; without a terminal they are normal output.
        files: opens scripts and spool files.

    Raises:
        EmulatorError: the rack has no ASM or no such node, or there is no such program.
    """
    if node not in rack.dbnodes:
        raise EmulatorError(f"{node} is no database node of {rack.spec.name}; they are {', '.join(rack.dbnodes)}")
    asm = rack.asm.of_node(node) if isinstance(rack.asm, AsmClusters) else rack.asm
    if not isinstance(asm, Asm):
        raise EmulatorError(f"the rack {rack.spec.name} has no ASM: attach one with new_asm or AsmClusters.default")
    number = asm.nodes.index(node)
    if name == "sqlplus":
        return sqlplus(asm, number, login, argv, env=env, tty=tty, files=files)
    others: Mapping[str, Callable[[], Program]] = {
        "asmcmd": lambda: asmcmd(asm, number, login, argv, env=env, tty=tty),
        "srvctl": lambda: srvctl(asm, argv),
        "crsctl": lambda: crsctl(asm, number, argv),
        "olsnodes": lambda: olsnodes(asm, number, argv),
        "oracleasm": lambda: _oracleasm(argv),
    }
    if name in others:
        return afflicted(rack, node, " ".join((name, *argv)), others[name](), _refused)
    raise EmulatorError(f"{name} is no program of a database node; there are {', '.join(PROGRAMS)}")


def _refused(line: str) -> Program:
    yield Out(f"{line}\n")
    return 1


def _oracleasm(argv: Sequence[str]) -> Program:
    """Answer as ASMLib that has no disks: grid disks do not use it."""
    command = argv[0] if argv else ""
    if command in ("listdisks", "scandisks"):
        yield Out(
            "" if command == "listdisks" else "Reloading disk partitions: done\nCleaning any stale ASM disks...\n"
        )
        return 0
    if command == "status":
        yield Out("Checking if ASM is loaded: no\nChecking if /dev/oracleasm is mounted: no\n")
        return 1
    if command == "querydisk" and len(argv) > 1:
        yield Out(f'Disk "{argv[-1]}" does not exist or is not instantiated\n', err=True)
        return 1
    yield Out("Usage: oracleasm {listdisks|querydisk|scandisks|status}\n", err=True)
    return 1
