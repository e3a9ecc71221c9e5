"""The files of emulated hosts in their places: oratab, cellip.ora, group files, installation directories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.emulator import control
from exacell.emulator.basics.clusters import make_clusters
from exacell.emulator.hosts.files import node_files

RACK = "view"
GRID = "/u01/app/19.0.0.0/grid"
Ssh = Callable[[str, str], str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("view")
    control.start(path, RACK, options={"cells": 2, "dbnodes": 2})
    try:
        if run(path, "ssh", "exa1cel01", "true; true"):
            pytest.skip("this machine allows no fence around emulated hosts")
        yield path
    finally:
        control.stop(path, RACK)


def run(home: Path, program: str, *words: str, stdin: str = "") -> str:
    """Return what a program of the rack's path prints; its errors too."""
    done = subprocess.run(
        [control.program_path(home, RACK) / program, *words],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "SSH_AUTH_SOCK": ""},
    )
    return done.stdout


SAID = {
    "oratab": ("oracle@exa1db02", "grep -v '^#' /etc/oratab | cut -d: -f1,2 | head -1", f"+ASM2:{GRID}\n"),
    "a redirection": ("grid@exa1db01", "while read l; do echo $l; done < /etc/oratab | grep -c ^SPOT", "2\n"),
    "cellip.ora": (
        "root@exa1db01",
        "cat /etc/oracle/cell/network-config/cellip.ora",
        'cell="192.168.10.11"\ncell="192.168.10.12"\n',
    ),
    "the group files": (
        "root@exa1db01",
        "cat /opt/oracle.SupportTools/onecommand/all_group; cmp /root/cell_group ~/cell_group",
        "exa1db01\nexa1db02\nexa1cel01\nexa1cel02\n",
    ),
    "dcli with the customer's file": (
        "root@exa1db01",
        "dcli -g /root/cell_group -l celladmin cellcli -e list cell attributes name",
        "exa1cel01: exa1cel01\nexa1cel02: exa1cel02\n",
    ),
    "the installation directories": (
        "grid@exa1db01",
        f"perl -e 'print qx({GRID}/bin/olsnodes -n)'; [ -x {GRID}/bin/sqlplus ] && echo there",
        "exa1db01\t1\nexa1db02\t2\nthere\n",
    ),
    "programs whatever PATH is set": (
        "root@exa1db01",
        "PATH=/usr/local/bin:/bin:/usr/bin; hostname; id -un; dcli -g /root/cell_group -l celladmin hostname | wc -l",
        "exa1db01\nroot\n2\n",
    ),
    "the machine's ssh": (
        "root@exa1db01",
        "/usr/bin/ssh -o BatchMode=yes celladmin@exa1cel02 cellcli -e list cell",
        "\t exa1cel02\t online\n",
    ),
    "another login": ("root@exa1db02", "su - oracle -c 'pwd | sed s,.*/,,; grep -c SPOT2 /etc/oratab'", "oracle\n1\n"),
    "the machine's own files": ("grid@exa1db01", "grep -c ^root: /etc/passwd", "1\n"),
    "addresses": (
        "root@exa1db01",
        "awk '/exa1/ {print $2}' /etc/hosts | sort | head -1; grep -c localhost /etc/hosts",
        "exa1cel01\n2\n",
    ),
    "a cell's alert log": ("celladmin@exa1cel02", "grep -c 'Started Service' $CELLTRACE/alert.log", "3\n"),
    "a cell's parameters": (
        "root@exa1cel02",
        "grep ^ipaddress1 /opt/oracle/cell/cellsrv/deploy/config/cellinit.ora; grep -c exa1db /etc/hosts",
        "ipaddress1=192.168.10.12/22\n2\n",
    ),
    "programs of a cell whatever PATH is set": (
        "root@exa1cel01",
        "PATH=/usr/bin:/usr/local/bin; hostname; imageinfo -ver; /opt/oracle/cell/cellsrv/bin/cellcli -e list cell",
        "exa1cel01\n19.3.2.0.0.191119\n\t exa1cel01\t online\n",
    ),
    "programs in a shell without bash's functions": (
        "root@exa1db01",
        "perl -e 'print qx(/opt/MegaRAID/storcli/storcli64 -PDList -aALL)' | grep -c Slot; [ -x /usr/sbin/ibstatus ]; echo $?",
        "4\n0\n",
    ),
    "the layout of the rack": (
        "oracle@exa1db02",
        "cd /opt/oracle.SupportTools/onecommand; sed -n 's/.*<MACHINETYPES>\\(.*\\)<.*/\\1/p' databasemachine.xml; "
        "grep -A3 cellnode databasemachine.xml | grep -o exa1cel.. ; grep -c exa1db databasemachine.xml",
        "X2-2 Elastic Rack HP 600GB\nexa1cel01\nexa1cel02\n4\n",
    ),
    "the model of a server": (
        "root@exa1cel02",
        "/opt/oracle.cellos/exadata.img.hw --get model; perl -e 'print qx(/usr/sbin/exadata.img.hw --get model)'",
        "SUN FIRE X4270 M2 SERVER\nSUN FIRE X4270 M2 SERVER\n",
    ),
    "nothing of a node on a cell": (
        "celladmin@exa1cel01",
        "cat /etc/oracle/cell/network-config/cellip.ora 2>&1 | wc -l",
        "1\n",
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_what_shells_see(home, what):
    """A shell on an emulated host finds the host's own files where scripts look for them."""
    login, command, expected = SAID[what]
    assert run(home, "ssh", login, command) == expected


def test_a_node_keeps_its_own_changes(home):
    """What a shell writes into such a file stays with that node, and the machine's /etc is not written."""
    run(home, "ssh", "root@exa1db01", "echo '# mine' >> /etc/oratab; touch /etc/exacell-was-here")
    assert run(home, "ssh", "root@exa1db01", "tail -1 /etc/oratab") == "# mine\n"
    assert "# mine" not in run(home, "ssh", "root@exa1db02", "cat /etc/oratab")
    assert not os.path.exists("/etc/exacell-was-here")


def test_something_can_be_installed(home, tmp_path):
    """Root installs a program in /opt and its settings in /etc/opt, and finds them there later, on that host only."""
    done = run(
        home,
        "ssh",
        "root@exa1cel01",
        "mkdir /opt/agent /etc/opt/agent && echo a > /opt/agent/run && echo b > /etc/opt/agent/conf",
    )
    assert done == ""
    assert run(home, "ssh", "celladmin@exa1cel01", "cat /opt/agent/run /etc/opt/agent/conf") == "a\nb\n"
    assert run(home, "ssh", "root@exa1cel02", "ls -d /opt/agent 2>/dev/null") == ""
    assert not os.path.exists("/opt/agent") and not os.path.exists("/etc/opt/agent")
    run(home, "scp", "-q", "root@exa1cel01:/opt/agent/run", str(tmp_path / "run"))
    assert (tmp_path / "run").read_text() == "a\n"


def test_scp_and_sftp_name_the_same_files(home, tmp_path):
    """scp and sftp read and write the node's files under the paths that its shells see."""
    run(home, "scp", "-q", "grid@exa1db02:/etc/oratab", str(tmp_path / "oratab"))
    assert "+ASM2:" in (tmp_path / "oratab").read_text()
    (tmp_path / "group").write_text("exa1cel01\n")
    run(home, "scp", "-q", str(tmp_path / "group"), "root@exa1db02:/root/mine")
    assert run(home, "ssh", "root@exa1db02", "cat ~/mine /root/mine") == "exa1cel01\nexa1cel01\n"
    listed = run(home, "sftp", "-q", "-b", "-", "root@exa1db02", stdin="ls -1 /opt/oracle.SupportTools/onecommand\n")
    assert [line.rpartition("/")[2].strip() for line in listed.splitlines()[1:]] == [
        "all_group",
        "cell_group",
        "databasemachine.xml",
        "dbs_group",
    ]


def test_files_of_the_clusters_of_a_rack():
    """Each cluster's nodes name their own instances and databases, and all cells."""
    one, two = make_clusters(2, ("db1", "db2", "db3", "db4"), ("A", "B"))
    files = node_files(two, "db4", {"c1": "192.168.10.11"}, ("db1", "db2", "db3", "db4"), {})
    names = [line.split(":")[0] for line in files["etc/oratab"].splitlines() if not line.startswith("#")]
    assert names == ["+ASM2", "B", "B2"]
    assert "+ASM1" in node_files(one, "db1", {}, ("db1",), {})["etc/oratab"]
