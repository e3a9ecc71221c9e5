"""The files of an emulated database node in their places: oratab, cellip.ora, group files, installation directories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.emulator import control
from exacell.emulator.clusters import make_clusters
from exacell.emulator.host_view import HostView, node_files, view_of

RACK = "view"
GRID = "/u01/app/19.0.0.0/grid"
Ssh = Callable[[str, str], str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("view")
    control.start(path, RACK, options={"cells": 2, "dbnodes": 2})
    probe = HostView(tree=path / "tree", root=path / "root", home=path)
    for place in (probe.tree, probe.root):
        place.mkdir()
    try:
        if not probe.works():
            pytest.skip("this system allows no mount namespaces")
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
        timeout=60,
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
    "nothing of a cell": ("celladmin@exa1cel01", "cat /etc/oracle/cell/network-config/cellip.ora 2>&1 | wc -l", "1\n"),
}


@pytest.mark.parametrize("what", SAID)
def test_what_shells_see(home, what):
    """A shell on a database node finds the node's own files where scripts look for them."""
    login, command, expected = SAID[what]
    assert run(home, "ssh", login, command) == expected


def test_a_node_keeps_its_own_changes(home):
    """What a shell writes into such a file stays with that node, and the machine's /etc is not written."""
    run(home, "ssh", "root@exa1db01", "echo '# mine' >> /etc/oratab; touch /etc/exacell-was-here")
    assert run(home, "ssh", "root@exa1db01", "tail -1 /etc/oratab") == "# mine\n"
    assert "# mine" not in run(home, "ssh", "root@exa1db02", "cat /etc/oratab")
    assert not os.path.exists("/etc/exacell-was-here")


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
        "dbs_group",
    ]


def test_files_of_the_clusters_of_a_rack():
    """Each cluster's nodes name their own instances and databases, and all cells."""
    one, two = make_clusters(2, ("db1", "db2", "db3", "db4"), ("A", "B"))
    files = node_files(two, "db4", {"c1": "192.168.10.11"}, ("db1", "db2", "db3", "db4"))
    names = [line.split(":")[0] for line in files["etc/oratab"].splitlines() if not line.startswith("#")]
    assert names == ["+ASM2", "B", "B2"]
    assert "+ASM1" in node_files(one, "db1", {}, ("db1",))["etc/oratab"]


def test_a_machine_s_root_shines_through_when_it_is_needed(tmp_path):
    """Where the rack or Python is below /root, the machine's files there stay visible; else /root is the node's alone."""
    there = view_of(tmp_path / "h", tmp_path / "h" / "root", Path("/root/racks/t1"), ())
    alone = view_of(tmp_path / "h", tmp_path / "h" / "root", Path("/var/racks/t1"), ())
    assert (there.rack, alone.rack) == (Path("/root/racks/t1"), None)
    assert alone.local("/root/x") == str(tmp_path / "h" / "root" / "x")
    assert alone.local("/etc/passwd") is None and alone.local("x") is None
