"""The files of an emulated cell that scripts look for.

Shells on the cell see them at their paths (:mod:`exacell.emulator.hosts.fence_launcher`), scp and sftp by their names.
CELLTRACE names the directory of the alert log in every session, as the profiles of a cell do. The log has only the first
start of the services.

Source: Oracle DBMMN, "cellinit.ora"; SAGUG, alter-cell (where a dump is written); published listings of both files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from exacell.emulator.basics.names import node_address

_SOFTWARE = "opt/oracle/cell"
_FIRST_PID = 5801


def trace_directory(cell: str) -> str:
    """Return the directory of a cell's alert log and dumps."""
    return f"/{_SOFTWARE}/log/diag/asm/cell/{cell}/trace"


def hosts_file(cells: Mapping[str, str], nodes: Sequence[str]) -> str:
    """Return the text of ``/etc/hosts``, the same on every host of the rack.

    Args:
        cells: the addresses of the cells by name.
        nodes: the database nodes.
    """
    known = {**{node: node_address(number) for number, node in enumerate(nodes, start=1)}, **cells}
    lines = ["127.0.0.1\tlocalhost.localdomain localhost", "::1\tlocalhost6.localdomain6 localhost6"]
    return "".join(f"{line}\n" for line in (*lines, *(f"{address}\t{name}" for name, address in known.items())))


def cell_files(cell: str, cells: Mapping[str, str], nodes: Sequence[str], started: datetime) -> dict[str, str]:
    """Return the files of a cell, text by path; the paths begin without a slash.

    Args:
        cells: the addresses of the rack's cells by name.
        nodes: all database nodes of the rack.
        started: when the cell was first started.
    """
    parameters = {
        "version": "0.0",
        "HTTP_PORT": "8888",
        "SSL_PORT": "23943",
        "RMI_PORT": "23791",
        "JMS_PORT": "9127",
        "BMC_SNMP_PORT": "162",
        "bbuChargeThreshold": "800",
        "bbuTempThreshold": "60",
        "ipaddress1": f"{cells[cell]}/22",
        "DEPLOYED": "TRUE",
    }
    moment = started.isoformat(timespec="microseconds")
    services = enumerate(("RS", "MS", "CELLSRV"), start=_FIRST_PID)
    log = "".join(f"{moment}\n[RS] Started Service {service} with pid {pid}\n" for pid, service in services)
    return {
        "etc/hosts": hosts_file(cells, nodes),
        "opt/oracle.cellos/ORACLE_CELL_NODE": "",
        f"{_SOFTWARE}/cellsrv/deploy/config/cellinit.ora": "#CELL Initialization Parameters\n"
        + "".join(f"{name}={value}\n" for name, value in parameters.items()),
        f"{trace_directory(cell)[1:]}/alert.log": log,
    }
