"""The files that emulated hosts have from the start, at the paths where scripts look for them.

``/etc/oratab``, ``/etc/oracle/cell/network-config/cellip.ora``, the group files of the installer, the installation
directories, what every Linux has in /etc and the home directories are made once, before anybody has logged in. From then on
only the host's shells change its directories (:mod:`exacell.emulator.hosts.fence`); scp and sftp use the same files.

Source: Oracle DBMMN, "cellip.ora", "cellinit.ora", OneCommand's group files; Database Administrator's Reference for
Linux, "oratab"; Clusterware Administration and Deployment Guide, "olr.loc".
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from exacell.emulator.basics.clusters import Cluster
from exacell.emulator.basics.names import DATABASE_HOME, GRID_HOME, node_address
from exacell.emulator.basics.store import write_text
from exacell.emulator.hosts.cell_files import hosts_file
from exacell.emulator.hosts.fence import BIN, SSH
from exacell.emulator.hosts.fence_launcher import OWN
from exacell.emulator.hosts.kinds import HostKind
from exacell.emulator.hosts.tools import TELLING, TOOLS
from exacell.emulator.storage.tracing import trace_directory

_ONE_COMMAND = "opt/oracle.SupportTools/onecommand"
_NETWORK = "etc/oracle/cell/network-config"

_POWER = ("shutdown", "reboot", "poweroff", "halt", "init", "telinit", "service")


def _telling(directory: str) -> tuple[str, ...]:
    """Return the programs in a directory that show facts about the machine."""
    return tuple(name for name, places in {**TOOLS, **TELLING}.items() if directory in places)


SYSTEM_LINKS = {
    "/usr/local/bin": ("dcli", "imageinfo", "imagehistory", "dbmcli", "oraenv"),
    "/usr/bin": ("hostname", "whoami", "id", "su", "sudo", "ipmitool", "systemctl", *_telling("/usr/bin")),
    "/usr/sbin": ("dmidecode", "exadata.img.hw", *_POWER, *_telling("/usr/sbin")),
}
"""Programs that a script finds with any PATH. Source: DBMMN; the places on an Oracle Linux host."""

CELL_LINKS = {
    **SYSTEM_LINKS,
    "/usr/local/bin": ("imageinfo", "imagehistory"),
}
"""The same on cells."""


def node_files(
    cluster: Cluster, node: str, cells: Mapping[str, str], nodes: Sequence[str], more: Mapping[str, str]
) -> dict[str, str]:
    """Return the files of a database node, text by path; the paths begin without a slash.

    Args:
        cells: the addresses of the rack's cells by name.
        nodes: all database nodes of the rack.
        more: further files.
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
        "etc/ssh/ssh_config": f"Include {SSH}/ssh_config\n",
        **{f"{_ONE_COMMAND}/{name}": text for name, text in groups.items()},
        **{
            f"{trace_directory(name, f'{name.upper()}{number}')[1:]}/alert_{name.upper()}{number}.log": ""
            for name in cluster.databases
        },
        **more,
    }


def group_files(cells: Sequence[str], nodes: Sequence[str]) -> dict[str, str]:
    """Return the text of dcli's group files on database nodes, by name."""
    first, second = ("".join(f"{name}\n" for name in names) for names in (cells, nodes))
    return {"cell_group": first, "dbs_group": second, "all_group": second + first}


def distribution_files(version: str) -> dict[str, str]:
    """Return the files that name the distribution, by path without a slash.

    Source: Oracle Linux's oraclelinux-release package.
    """
    major = version.partition(".")[0]
    release = (
        f'NAME="Oracle Linux Server"\nVERSION="{version}"\nID="ol"\nID_LIKE="fedora"\nVERSION_ID="{version}"\n'
        f'PRETTY_NAME="Oracle Linux Server {version}"\nCPE_NAME="cpe:/o:oracle:linux:{major}:{version}:server"\n'
    )
    names = {"etc/oracle-release": f"Oracle Linux Server release {version}\n"}
    names["etc/redhat-release"] = f"Red Hat Enterprise Linux Server release {version}\n"
    return {**names, "etc/system-release": names["etc/oracle-release"], "etc/os-release": release}


def system_files(kind: HostKind, host: str) -> dict[str, str]:
    """Return the files in /etc that programs of any Linux need, by path without a slash: users, names, name lookup."""
    uid = os.getuid()
    users = "".join(f"{login}:x:{number}:{number}::{home_of(login)}:/bin/bash\n" for login, number in kind.ids.items())
    if (
        uid not in kind.ids.values()
    ):  # processes of an ordinary user of this machine have that user's number on the host
        users += f"emulator:x:{uid}:{os.getgid()}::/root:/bin/bash\n"
    groups = "".join(f"{login}:x:{number}:\n" for login, number in kind.ids.items())
    return {
        "etc/passwd": users + "nobody:x:65534:65534::/:/sbin/nologin\n",
        "etc/group": groups + "nobody:x:65534:\n",
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n",
        "etc/hostname": f"{host}\n",
        "etc/profile": "",
        "var/log/messages": "",
    }


def home_of(login: str) -> str:
    """Return the path of a login's home directory on its host."""
    return "/root" if login == "root" else f"/home/{login}"


def fill(
    tree: Path, files: Mapping[str, str], links: Mapping[str, Sequence[str]], homes: Mapping[str, Mapping[str, str]]
) -> None:
    """Write the first files of a new host's directories.

    Args:
        files: texts by path without a slash.
        links: the names of emulated programs by the directory of the host that holds them.
        homes: texts by name for each login's home directory.
    """
    for name in OWN:
        (tree / name).mkdir(mode=0o755, parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (tree / name).mkdir(exist_ok=True)
        (tree / name).chmod(0o1777)
    for name in ("etc/opt", "var/lib", "var/log/exadatatmp", "var/spool"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for name, target in (("var/run", "/run"), ("etc/mtab", "/proc/mounts")):
        link_to(tree / name, target)
    for login, texts in homes.items():
        home = tree / home_of(login).lstrip("/")
        (home / ".ssh").mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(home / name, text, mode=0o600 if name.startswith(".ssh/") else 0o644)
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(tree / path, text, mode=0o644)
    link_programs(tree, links)


def link_programs(tree: Path, links: Mapping[str, Sequence[str]]) -> None:
    """Make links to emulated programs.

    Args:
        links: their names by the directory that holds the links.
    """
    for path, names in links.items():
        directory = tree / path.lstrip("/")
        directory.mkdir(parents=True, exist_ok=True)
        for name in names:
            link_to(directory / name, f"{BIN}/{name}")


def link_to(link: Path, target: str) -> None:
    """Make a link; it replaces a link that exists."""
    link.unlink(missing_ok=True)
    link.symlink_to(target)
