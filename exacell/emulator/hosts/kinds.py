"""The kinds of emulated hosts: storage cells and database nodes, with their programs and logins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from exacell.emulator.basics.names import DATABASE_HOME, GRID_HOME
from exacell.emulator.hosts.tools import PLACES, PROCESSES, TOOLS

_HARDWARE = ("dmidecode", "ipmitool", "MegaCli64", "storcli64")
POWER = ("shutdown", "reboot", "poweroff", "halt", "init", "telinit", "systemctl", "service")
OF_THE_SYSTEM = frozenset(PLACES)
"""Programs that are not in Oracle's installation directories."""


@dataclass(frozen=True, kw_only=True)
class HostKind:
    """The programs and logins of one kind of host.

    Attributes:
        name: names the directory of its programs.
        programs: the programs that the rack's process answers.
        ids: OS logins that are accepted, with their numeric user id.
        login: the login of a program that names none.
        homes: installation directories under whose ``bin`` the programs are called by absolute path.
        inner: further requests that the rack's process answers, for scripts of these hosts.
    """

    name: str
    programs: tuple[str, ...]
    ids: Mapping[str, int]
    login: str
    homes: tuple[str, ...]
    inner: tuple[str, ...] = ()

    def answers(self, command: str) -> bool:
        """Return whether ``command``, a bare name or an absolute path of an installed program, is one of the programs."""
        directory, slash, program = command.rpartition("/")
        return program in self.programs and (not slash or directory in self.directories(program))

    def directories(self, program: str) -> tuple[str, ...]:
        """Return the directories in which a program or tool of these hosts can be called by absolute path."""
        places = PLACES.get(program, ())
        return places if program in OF_THE_SYSTEM else (*(f"{home}/bin" for home in self.homes), *places)


CELL = HostKind(
    name="cell",
    programs=("cellcli", "cellsrvstat", "imageinfo", "imagehistory", *_HARDWARE, *POWER, *TOOLS),
    ids=MappingProxyType({"root": 0, "celladmin": 1000, "cellmonitor": 1001}),
    login="celladmin",
    homes=("/opt/oracle/cell/cellsrv", "/opt/oracle/cell"),
    inner=(PROCESSES,),
)
DBNODE = HostKind(
    name="dbnode",
    programs=(
        *("sqlplus", "asmcmd", "srvctl", "crsctl", "olsnodes", "oracleasm"),
        *("dbmcli", "imageinfo", "imagehistory", "exacli", *_HARDWARE, *POWER, *TOOLS),
    ),
    ids=MappingProxyType({"root": 0, "oracle": 1001, "grid": 1000}),
    login="grid",
    homes=(GRID_HOME, DATABASE_HOME),
)
KINDS = (CELL, DBNODE)
