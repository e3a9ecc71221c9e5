"""The files that emulated database nodes have in the places where scripts look for them, and the view that shows them.

``/etc/oratab``, ``/etc/oracle/cell/network-config/cellip.ora``, the group files of the installer and the installation
directories are kept in the node's own folder. Shells on the node see them in their places (:mod:`view_launcher`), scp
and sftp by their names.

Source: Oracle DBMMN, "cellip.ora", "cellinit.ora", OneCommand's group files; Database Administrator's Reference for
Linux, "oratab"; Clusterware Administration and Deployment Guide, "olr.loc".
"""

from __future__ import annotations

import os
import posixpath
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exacell.emulator import view_launcher
from exacell.emulator.cell_files import hosts_file
from exacell.emulator.clusters import Cluster
from exacell.emulator.names import DATABASE_HOME, GRID_HOME, node_address
from exacell.emulator.store import write_text

_ONE_COMMAND = "opt/oracle.SupportTools/onecommand"
_NETWORK = "etc/oracle/cell/network-config"
_SSH_CONFIG = Path("/etc/ssh/ssh_config")
_PROBE_S = 60.0
"""Seconds in which a machine shows whether it allows the view."""

SYSTEM_LINKS = {
    "/usr/local/bin": ("dcli", "imageinfo", "imagehistory", "dbmcli", "oraenv"),
    "/usr/bin": ("hostname", "whoami", "id", "su", "sudo", "ipmitool"),
    "/usr/sbin": ("dmidecode", "exadata.img.hw"),
}
"""Programs that a script finds with whatever PATH it sets. Source: DBMMN; the places on an Oracle Linux host."""

CELL_LINKS = {
    "/usr/local/bin": ("imageinfo", "imagehistory"),
    "/usr/bin": ("hostname", "whoami", "id", "su", "sudo", "ipmitool"),
    "/usr/sbin": ("dmidecode", "exadata.img.hw", "service"),
}
"""The same on cells."""


def node_files(cluster: Cluster, node: str, cells: Mapping[str, str], nodes: Sequence[str]) -> dict[str, str]:
    """Return the files of a database node by their paths, which begin without a slash.

    Args:
        cells: the addresses of the rack's cells by name.
        nodes: all database nodes of the rack.
    """
    number = cluster.nodes.index(node) + 1
    agent = "\t\t# line added by Agent"
    lines = [f"+ASM{number}:{GRID_HOME}:N{agent}"]
    for database in (name.upper() for name in cluster.databases):
        lines += [f"{database}:{DATABASE_HOME}:N{agent}", f"{database}{number}:{DATABASE_HOME}:N{agent}"]
    heading = "# Backup file is  /u01/app/oracle/oratab.bak  line added by Agent\n#\n"
    groups = group_files(tuple(cells), nodes)
    return {
        "etc/hosts": hosts_file(cells, nodes),
        "etc/oratab": heading + "".join(f"{line}\n" for line in lines),
        "etc/oraInst.loc": "inventory_loc=/u01/app/oraInventory\ninst_group=oinstall\n",
        "etc/oracle/olr.loc": f"olrconfig_loc={GRID_HOME}/cdata/{node}/{node}_19.olr\ncrs_home={GRID_HOME}\n",
        f"{_NETWORK}/cellip.ora": "".join(f'cell="{address}"\n' for address in cells.values()),
        f"{_NETWORK}/cellinit.ora": f"ipaddress1={node_address(nodes.index(node) + 1)}/22\n",
        **{f"{_ONE_COMMAND}/{name}": text for name, text in groups.items()},
    }


def ssh_client_file(ssh_config: Path) -> str:
    """Return the ssh_config of a node for the whole host: the rack's hosts first, then what the machine has."""
    own = _SSH_CONFIG.read_text(encoding="utf-8", errors="replace") if _SSH_CONFIG.is_file() else ""
    return f'Include "{ssh_config}"\n\n{own}'


def group_files(cells: Sequence[str], nodes: Sequence[str]) -> dict[str, str]:
    """Return the group files that dcli is given on database nodes, by name."""
    first, second = ("".join(f"{name}\n" for name in names) for names in (cells, nodes))
    return {"cell_group": first, "dbs_group": second, "all_group": second + first}


@dataclass(frozen=True, kw_only=True)
class HostView:
    """The view of one host.

    Attributes:
        tree: its files, under their paths.
        root: where its root directory is put together, in each shell's own namespace.
        home: root's home directory on the emulated host.
        rack: the rack's folder when something that shells need is below the machine's /root, which then shines through
            the emulated one; None when nothing is.
    """

    tree: Path
    root: Path
    home: Path
    rack: Path | None = None

    def write(self, files: Mapping[str, str], programs: Path, links: Mapping[str, Sequence[str]]) -> None:
        """Write what is missing of the tree; the installation directories get links to our programs.

        Args:
            programs: the directory of the programs of this kind of host.
            links: the names that a directory of the host holds.
        """
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.tree / "etc/opt").mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            place = self.tree / path
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                write_text(place, text, mode=0o644)
        for path, names in links.items():
            directory = self.tree / path.lstrip("/")
            directory.mkdir(parents=True, exist_ok=True)
            for name in names:
                link = directory / name
                link.unlink(missing_ok=True)
                link.symlink_to(programs / name)

    def command(self, argv: Sequence[str], *, python: str = sys.executable) -> tuple[str, ...]:
        """Return what runs a command in the view; where the system allows none, it runs without."""
        launcher = (python, "-I", "-S", os.path.abspath(view_launcher.__file__))
        return (*launcher, str(self.tree), str(self.root), str(self.home), str(self.rack or ""), *argv)

    def works(self) -> bool:
        """Whether this system lets the view be put together."""
        probe = replace(self, home=self.root, rack=None)  # there are no home directories yet
        try:
            done = subprocess.run(probe.command(["--probe"]), capture_output=True, timeout=_PROBE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    def local(self, path: str) -> str | None:
        """Return where a file of the host is on this machine; None for one that is the machine's own."""
        plain = posixpath.normpath(path)
        if plain == "/root" or plain.startswith("/root/"):
            own = str(self.home) + plain.removeprefix("/root")
            return None if self.rack is not None and os.path.lexists(plain) and not os.path.lexists(own) else own
        parts = plain.strip("/").split("/")
        if not plain.startswith("/") or not os.path.lexists(self.tree / parts[0]):
            return None
        own = str(self.tree) + plain
        if not os.path.isdir(f"/{parts[0]}"):
            return own
        if len(parts) < 2 or not os.path.lexists(self.tree / parts[0] / parts[1]):
            return None
        merged = os.path.isdir(f"/{parts[0]}/{parts[1]}") and not os.path.isfile(own)
        return None if merged else own


def view_of(directory: Path, home: Path, rack: Path, needed: Sequence[str]) -> HostView:
    """Return the view of a host.

    Args:
        directory: the host's own.
        home: root's home directory there.
        rack: the rack's folder.
        needed: what else shells of the host need of this machine.
    """
    paths = [resolved for path in (str(rack), *needed) for resolved in (path, os.path.realpath(path))]
    below = any(path.startswith("/root/") for path in paths)
    return HostView(tree=directory / "tree", root=directory / "view", home=home, rack=rack if below else None)
