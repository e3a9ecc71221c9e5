"""Facts about hosts: of this machine over a real sshd, of database nodes, and of a made-up /sys in several shells."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from exacell.core.packaged import data_beside
from exacell.session import hostfacts
from exacell.session.hostfacts import Fact, parse_facts
from tests.support.program import Program
from tests.support.sshd import PROGRAM, Sshd

SCRIPT = data_beside(hostfacts.__spec__, "hostfacts.sh")
SKIPPED = ("loop", "ram", "zram", "sr", "fd")


def test_database_nodes_are_alike(inside):
    """Both nodes tell kernel, processors and disks as typed records, and --diff finds them equal."""
    rows = inside.ok("-r", "t1", "-o", "json", "on @db facts").records
    kernels = [row for row in rows if row["kind"] == "kernel"]
    assert [row["cell"] for row in kernels] == ["exa1db01", "exa1db02"] and kernels[0]["release"].startswith("4.14")
    assert all(isinstance(row["sizeBytes"], int) for row in rows if row["kind"] == "block")
    assert inside.ok("-r", "t1", "-o", "json", "facts on @db").records == rows
    assert "no difference" in inside.ok("-r", "t1", "facts on @db --diff").err
    assert "exa1db[01-02]" in inside.ok("-r", "t1", "--fold", "on @db facts kernel").out
    done = inside("-r", "t1", "on @db facts blocks")
    assert done.code == 2 and "is not a kind of facts" in done.err


def test_hosts_drift_from_their_baseline_and_from_each_other(inside):
    """What a host was is kept: a kernel that is a different file now is a difference of that host, and of it beside the other."""
    assert inside.ok("-r", "t1", "on @db save baseline as=hosts").err.strip() == "baseline hosts: 2 hosts"
    assert "2 hosts, no drift" in inside.ok("-r", "t1", "on @db drift baseline=hosts").err
    _edited(inside.home, "baseline", "hosts", "exa1db01", "kernel|kernel|release", "4.14.1")
    done = inside("-r", "t1", "-o", "json", "on @db drift baseline=hosts")
    (row,) = done.records
    assert done.code == 5 and (row["cell"], row["object"], row["attribute"], row["expected"]) == (
        "exa1db01", "kernel", "release", "4.14.1"
    )  # fmt: skip
    assert "2 hosts, no drift" in inside.ok("-r", "t1", "drift on @db").err
    assert "1 host, no drift" in inside.ok("-r", "t1", "on exa1db02 drift baseline=hosts").err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("drift baseline=hosts2", "none of the selected cells; save baseline as=NAME"),
        ("on @db drift baseline=cells2", "none of the selected hosts; on @GROUP save baseline as=NAME"),
        ("on @db drift of='list lun detail'", "of= is for cells, not for hosts"),
        ("snap flashlog as=n fresh=no hosts=exa1cel01", "hosts=exa1cel01 names cells"),
        ("snap flashlog as=n fresh=no hosts=@nobody", "@nobody"),
    ],
)
def test_cells_and_hosts_are_not_compared_with_each_other(inside, line, said):
    """A baseline of the other kind, and a set of the other kind, are refused with the way out."""
    inside.ok("-r", "t1", "on @db save baseline as=hosts2")
    inside.ok("-r", "t1", "save baseline as=cells2")
    done = inside("-r", "t1", line)
    assert done.code == 2 and said in done.err


def test_a_snapshot_tells_which_hosts_were_as_they_are(inside):
    """Two snapshots between which a host got another kernel are not alike; without hosts nothing is asked of them."""
    for name in ("a", "b"):
        inside.ok("-r", "t1", f"snap flashlog as={name} fresh=no hosts=@db")
    inside.ok("-r", "t1", "snap flashlog as=c fresh=no")
    assert (
        "not compared, because it is missing in one of the snapshots: facts of exa1db[01-02]"
        in inside("-r", "t1", "delta a c").err
    )
    _edited(inside.home, "snapshot", "a", "hosts", "exa1db02", "kernel|kernel|release", "4.14.1")
    done = inside("-r", "t1", "delta a b")
    assert done.code == 2 and "exa1db02: kernel kernel release: 4.14.1 -> 4.14" in done.err


def _edited(home: Path, table: str, name: str, *path: str) -> None:
    """Put the last of ``path`` where the others lead in what the store keeps under a name."""
    with sqlite3.connect(home / "store.db") as connection:
        (text,) = connection.execute(f"select body from {table} where name=?", (name,)).fetchone()
        body = place = json.loads(text)
        for step in path[:-2]:
            place = place[step]
        assert place[path[-2]] != path[-1]
        place[path[-2]] = path[-1]
        connection.execute(f"update {table} set body=? where name=?", (json.dumps(body), name))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Program]:
    """The program with this machine as the host ``me`` of the rack ``lab``, over a real sshd."""
    server = Sshd(tmp_path / "sshd")
    server.start()
    server.known_hosts()
    home = tmp_path / "home"
    (home / "racks.d").mkdir(parents=True)
    (home / "racks.d" / "lab.toml").write_text(
        f'ssh_config = "{server.ssh_config()}"\n[hosts.all_of_us]\nnodes = "me"\n'
    )
    yield Program(home)
    server.stop()


@pytest.mark.skipif(PROGRAM is None, reason="there is no sshd here")
def test_this_machine_is_told_as_its_kernel_has_it(here: Program) -> None:
    """Release and block queues are what uname and /sys say."""
    rows = here.ok("-r", "lab", "-o", "json", "on @all_of_us facts kernel,block").records
    (kernel,) = (row for row in rows if row["kind"] == "kernel")
    assert (
        kernel["release"] == subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True).stdout.strip()
    )
    disks = {path.name: path for path in Path("/sys/block").iterdir() if not path.name.startswith(SKIPPED)}
    told = {row["name"]: row for row in rows if row["kind"] == "block"}
    assert told.keys() == disks.keys()
    for name, path in disks.items():
        assert told[name]["scheduler"] == " ".join((path / "queue/scheduler").read_text().split())
        assert told[name]["nr_requests"] == int((path / "queue/nr_requests").read_text())


def make_sys(root: Path) -> None:
    """Make the part of /sys that a host with multipath, iSCSI and a network card has."""
    texts = {
        "block/sda/size": "2048\n",
        "block/sda/queue/scheduler": "[none] mq-deadline\n",
        "block/sda/device/rev": "A1B2\n",
        "block/dm-0/size": "2048\n",
        "block/dm-0/dm/name": "mpatha\n",
        "block/dm-0/dm/uuid": "mpath-3600140\n",
        "block/dm-0/slaves/sda/x": "",
        "block/dm-0/slaves/sdb/x": "",
        "block/loop0/size": "0\n",
        "class/scsi_host/host2/proc_name": "vmw_pvscsi\n",
        "class/scsi_host/host2/cmd_per_lun": "254\n",
        "class/iscsi_session/session7/targetname": "iqn.2003-01.org:disk\n",
        "class/iscsi_session/session7/ifacename": "default\n",
        "class/iscsi_session/session7/state": "LOGGED_IN\n",
        "class/iscsi_session/session7/device/connection7:0/iscsi_connection/connection7:0/persistent_address": "10.0.0.1\n",
        "class/iscsi_session/session7/device/connection7:0/iscsi_connection/connection7:0/persistent_port": "3260\n",
        "class/iscsi_session/session7/device/target2:0:0/2:0:0:0/x": "",
        "class/iscsi_session/session8/targetname": "iqn.2003-01.org:disk\n",
        "class/iscsi_session/session8/ifacename": "default\n",
        "class/iscsi_session/session8/state": "FAILED\n",
        "class/iscsi_session/session8/device/connection8:0/iscsi_connection/connection8:0/persistent_address": "10.0.0.1\n",
        "class/iscsi_session/session8/device/connection8:0/iscsi_connection/connection8:0/persistent_port": "3260\n",
        "class/iscsi_session/session8/device/target3:0:0/3:0:0:0/x": "",
        "class/iscsi_session/session9/targetname": "iqn.2003-01.org:disk\n",
        "class/iscsi_session/session9/ifacename": "default\n",
        "class/iscsi_session/session9/state": "LOGGED_IN\n",
        "class/iscsi_session/session9/device/connection9:0/iscsi_connection/connection9:0/persistent_address": "fd00::1\n",
        "class/iscsi_session/session9/device/connection9:0/iscsi_connection/connection9:0/persistent_port": "3261\n",
        "class/net/eth0/mtu": "9000\n",
        "class/net/eth0/device/x": "",
        "class/net/eth0/queues/rx-0/x": "",
        "class/net/eth0/queues/rx-1/x": "",
        "class/net/eth0/queues/tx-0/x": "",
        "module/vmw_pvscsi/version": "1.0.7.0-k\n",
        "module/vmw_pvscsi/parameters/ring_pages": "8\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


ETHTOOL = """#!/bin/sh
case $1 in
-i) printf 'driver: x\\nversion: 1.2\\nfirmware-version: 9.9 0x80\\n' ;;
-g) printf 'Ring parameters for eth0:\\nPre-set maximums:\\nRX:\\t\\t4096\\nTX:\\t\\t4096\\n'
    printf 'Current hardware settings:\\nRX:\\t\\t512\\nTX:\\t\\t256\\n' ;;
-l) printf 'Channel parameters for eth0:\\nPre-set maximums:\\nCombined:\\t8\\nCurrent hardware settings:\\nCombined:\\t4\\n' ;;
esac
"""


def facts_in(folder: Path, shell: str, programs: Mapping[str, str], kinds: str = "") -> dict[tuple[str, str], Fact]:
    """Return the facts by kind and name that a shell tells where ``folder`` has the host's /sys."""
    (folder / "bin").mkdir()
    for name, text in programs.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    inner = [shell, "sh", "-s"] if shell == "busybox" else [shell, "-s"]
    box = ["bwrap", "--dev-bind", "/", "/", "--bind", str(folder / "sys"), "/sys", "--setenv", "PATH"]
    box.append(f"{folder}/bin:/usr/bin:/bin")
    script = f"kinds='{kinds}'\n{SCRIPT}"
    done = subprocess.run([*box, *inner], input=script, capture_output=True, text=True, check=False)
    if "bwrap:" in done.stderr:
        pytest.skip(f"no sandbox here: {done.stderr.strip()}")
    return {(str(fact["kind"]), str(fact["name"])): fact for fact in parse_facts(done.stdout) or ()}


needs_sandbox = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")
SHELLS = [name for name in ("dash", "bash", "busybox", "mksh") if shutil.which(name)]


@needs_sandbox
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_reads_a_host_in_every_shell(shell: str, tmp_path: Path) -> None:
    """Each shell tells the same of disks, paths, sessions, rings and drivers, and nothing that is not there."""
    make_sys(tmp_path / "sys")
    facts = facts_in(tmp_path, shell, {"ethtool": ETHTOOL})
    assert facts["block", "sda"] == {
        "kind": "block", "name": "sda", "sizeBytes": 1048576, "scheduler": "[none] mq-deadline", "rev": "A1B2",
    }  # fmt: skip
    assert facts["multipath", "mpatha"]["paths"] == 2 and ("block", "loop0") not in facts
    assert facts["scsi", "host2"]["cmd_per_lun"] == 254 and facts["module", "vmw_pvscsi"]["ring_pages"] == 8
    session = facts["iscsi", "iqn.2003-01.org:disk@10.0.0.1:3260"]
    assert (session["state"], session["luns"], session["sessions"]) == ("LOGGED_IN, FAILED", 1, 2)
    session = facts["iscsi", "iqn.2003-01.org:disk@[fd00::1]:3261"]
    assert (session["state"], session["luns"], session["sessions"]) == ("LOGGED_IN", 0, 1)
    net = facts["net", "eth0"]
    assert (net["rxQueues"], net["txQueues"], net["mtu"], net["firmware"]) == (2, 1, 9000, "9.9 0x80")
    assert (net["ringRX"], net["ringTX"], net["channelsCombined"]) == (512, 256, 4)


@needs_sandbox
def test_many_disks_start_few_programs(tmp_path: Path) -> None:
    """What the kernel tells of two hundred disks is read without a program for each file, and of kinds that nobody asked for
    nothing is read."""
    files = ("size", "removable", "queue/rotational", "queue/nr_requests", "queue/max_sectors_kb")
    for path in (tmp_path / "sys/block" / f"sd{number}" / file for number in range(200) for file in files):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("8\n")
    counted = f'#!/bin/sh\necho >> {tmp_path}/started\nexec /bin/cat "$@"\n'
    facts = facts_in(tmp_path, "sh", {"cat": counted}, "block net")
    told = {kind: [fact for key, fact in facts.items() if key[0] == kind] for kind, _ in facts}
    assert told.keys() == {"block"} and len(told["block"]) == 200
    assert all(fact["max_sectors_kb"] == 8 and fact["sizeBytes"] == 4096 for fact in told["block"])
    # One for each disk asks whether it is a map of dm-multipath.
    assert len((tmp_path / "started").read_text()) < 300


def test_an_answer_that_is_cut_is_none() -> None:
    """Wherever the answer ends before its end, it is no answer."""
    whole = "kernel\tkernel\trelease\t6.1\nblock\tsda\tsize\t8\nend\n"
    assert parse_facts(whole) == [
        {"kind": "kernel", "name": "kernel", "release": "6.1"},
        {"kind": "block", "name": "sda", "sizeBytes": 4096},
    ]
    assert all(parse_facts(whole[:cut]) is None for cut in range(len(whole) - 1))
