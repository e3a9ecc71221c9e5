"""The programs in front of a rack: dcli, imageinfo, ssh and scp on the PATH that emulator path prints."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.emulator import control
from exacell.emulator.basics.infiniband import FABRIC, has_infiniband
from exacell.emulator.hosts.fronts import front_scripts
from tests.support.patience import must_come

RACK = "front"
Front = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("home")
    control.start(path, RACK, options={"cells": 2, "dbnodes": 1})
    yield path
    control.stop(path, RACK)


@pytest.fixture
def front(home: Path, tmp_path: Path) -> Front:
    """Run a program by its name alone, with the rack's directory in front of PATH and a scratch HOME."""
    path = control.program_path(home, RACK)
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["env", *words], env=env, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )

    return run


USAGE = [
    [],
    ["-c", "a", "-x", "f", "ls"],
    ["-c", "a", "-n", "-r", "x", "ls"],
    ["-c", "a", "--serial", "--batchsize", "2", "ls"],
    ["-c", "a", "--batchsize", "-1", "ls"],
    ["-c", "a", "-d", "/tmp", "ls"],
    ["-c", "a", "--hidestderr", "-f", "x"],
    ["ls"],
]


@pytest.mark.parametrize("words", USAGE)
def test_a_wrong_command_line_shows_all_options(front: Front, words: list[str]) -> None:
    """A usage error is one line on stderr, the option list on stdout, and status 2."""
    done = front("dcli", *words)
    assert (done.returncode, done.stderr.startswith("Error: ")) == (2, True)
    assert "--preserve-spaces" in done.stdout


@pytest.mark.parametrize("words", [["-g", "nowhere", "ls"], ["-c", "a", "-x", "nowhere"]])
def test_a_missing_file_is_one_line(front: Front, words: list[str]) -> None:
    """What is missing here is one line on stderr, status 2, and no option list."""
    done = front("dcli", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_host_that_is_not_there(front: Front, home: Path) -> None:
    """A refused connection is ssh's words behind the name without a blank, a list on stderr, and status 1."""
    control.fault(home, RACK, ["exa1cel02"], "refuse")
    try:
        done = front("dcli", "-c", "exa1cel01,exa1cel02", "hostname")
    finally:
        control.clear_faults(home, RACK)
    assert (done.returncode, done.stderr) == (1, "Unable to connect to hosts: ['exa1cel02']\n")
    assert done.stdout.startswith("exa1cel02:") and done.stdout.endswith("exa1cel01: exa1cel01\n")


def test_output_that_is_no_utf8_runs_the_command_again(front: Front) -> None:
    """As the real one does, which is why exacell never lets a change print such output over it."""
    front("dcli", "-c", "exa1cel01", "rm -f ~/count")
    done = front("dcli", "-c", "exa1cel01", "printf 'x\\351\\n'; echo >> ~/count")
    assert done.stdout == "exa1cel01: x\u00e9\n"
    assert front("dcli", "-c", "exa1cel01", "wc -l < ~/count").stdout == "exa1cel01: 2\n"


def test_keys_are_pushed_once_and_dropped_once(front: Front) -> None:
    """-k adds the caller's key, says so when it is there, and --unkey takes it away again."""
    said = [front("dcli", "-c", "exa1cel01", option).stdout for option in ("-k", "-k", "--unkey", "--unkey")]
    assert said == [
        "exa1cel01: ssh key added\n",
        "exa1cel01: ssh key already exists\n",
        "exa1cel01: ssh key dropped\n",
        "exa1cel01: ssh key did not exist\n",
    ]


def test_long_output_is_cut(front: Front) -> None:
    """With several hosts, what is longer than --maxlines is cut one line behind it, with two lines on stderr."""
    done = front("dcli", "-c", "exa1cel01,exa1cel02", "--maxlines", "3", "seq 9")
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["1", "2", "3", "4"] * 2
    assert (done.stderr.count("\n"), done.returncode) == (4, 0) or done.returncode == 1


IMAGEINFO = {
    ("-ver",): "19.3.",
    ("-status",): "success\n",
    ("-ver", "-status"): "Image version: 19.3.",
    (): "\nKernel version: ",
}


@pytest.mark.parametrize("words", IMAGEINFO)
def test_imageinfo(front: Front, words: tuple[str, ...]) -> None:
    """imageinfo prints the bare value for one option and named values for several, on cells and database nodes."""
    assert front("imageinfo", *words).stdout.startswith(IMAGEINFO[words])
    done = front("dcli", "-c", "exa1cel01,exa1db01", "-l", "root", "imageinfo -status -ver | cut -d: -f1")
    shown = ["exa1cel01: Active image status", "exa1cel01: Active image version"]
    assert done.stdout.splitlines() == [*shown, "exa1db01: Image status", "exa1db01: Image version"]
    assert front("imageinfo", "-nothing").returncode == 1


def test_ssh_and_scp_know_the_hosts(front: Front, tmp_path: Path) -> None:
    """ssh and scp reach the rack's hosts by their names, whatever ~/.ssh has."""
    (tmp_path / "a file").write_text("x\n")
    assert front("scp", "-q", "a file", "exa1cel02:there").returncode == 0
    assert front("ssh", "exa1cel02", "cat there; hostname; rm there").stdout == "x\nexa1cel02\n"


def test_vmstat_is_one_table(front: Front) -> None:
    """--vmstat prints two headings, a line a host, and Minimum, Maximum and Average of several."""
    import shutil

    if shutil.which("vmstat") is None:
        pytest.skip("no vmstat is installed (procps)")
    lines = front("dcli", "-c", "exa1cel01,exa1cel02", "--vmstat", "").stdout.splitlines()
    assert [line.split(":")[0].strip() for line in lines[2:]] == [
        "exa1cel01", "exa1cel02", "Minimum", "Maximum", "Average",
    ]  # fmt: skip


def test_ibhosts_lists_the_hosts(front: Front) -> None:
    """On a model with InfiniBand ibhosts has a line a host, its name as the sixth word and C for cells, S for servers."""
    lines = [line.split() for line in front("ibhosts").stdout.splitlines()]
    assert [(words[5].strip('"'), words[6]) for words in lines] == [
        ("exa1cel01", "C"), ("exa1cel02", "C"), ("exa1db01", "S"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "has"), [("x2", True), ("x6", True), ("x6ef", True), ("x8", True), ("x8m", False), ("x10m", False)]
)
def test_which_models_have_infiniband(model: str, has: bool) -> None:
    """Models before X8M have InfiniBand, later ones have none."""
    assert has_infiniband(model) is has


def test_the_fabric_is_shown(front: Front) -> None:
    """Ibnodes lists hosts and switches, cells with the addresses of their disk paths; ibstatus shows two active ports."""
    nodes = front("ibnodes").stdout
    assert nodes == front("ibhosts").stdout + front("ibswitches").stdout
    assert "192.168.10.11 HCA-1" in nodes and nodes.count("Switch\t: 0x") == 2
    assert front("ibstatus").stdout.count("state:\t\t 4: ACTIVE") == 2
    assert front("EXACELL_EMU_HOST=exa1db01", "ibstatus").stdout != front("ibstatus").stdout


@pytest.mark.parametrize("program", FABRIC)
def test_the_programs_of_the_fabric_say_how_they_are_called(front: Front, program: str) -> None:
    """With -h each program of the fabric prints nothing but its usage on stderr, status 255."""
    done = front(program, "-h")
    assert (done.returncode, done.stdout, done.stderr.startswith(f"Usage: {program} [-")) == (255, "", True)


def test_a_cells_card_is_the_same_everywhere(front: Front) -> None:
    """LIST IBPORT, ibstat and iblinkinfo show the same identifiers, LIDs and firmware of a cell's two ports."""
    listed = front("EXACELL_EMU_HOST=exa1cel02", "cellcli", "-e", "list ibport attributes id, lid, hcaFWVersion").stdout
    ports = [line.split() for line in listed.splitlines()]
    shown = front("EXACELL_EMU_HOST=exa1cel02", "ibstat").stdout
    links = front("iblinkinfo", "--cas-only", "-l").stdout
    for number, (guid, lid, firmware) in enumerate(ports, start=1):
        assert re.search(
            rf"\tPort {number}:\n(\t\t.*\n)*\t\tBase lid: {lid}\n(\t\t.*\n)*\t\tPort GUID: {guid}\n", shown
        )
        assert f"\tFirmware version: {firmware}\n" in shown
        assert re.search(rf'^{guid} " *exa1cel02 C 192.168.10.12 HCA-1" +{lid} +{number}\[', links, re.MULTILINE)
    assert f"sm guid {front('ibswitches').stdout.split()[2].replace('0x00', '0x')}," in front("sminfo").stdout


def test_all_links_of_the_fabric(front: Front) -> None:
    """Iblinkinfo shows each cable from both its ends: a port of each host on each switch, seven between the switches."""
    near, far = r'(0x[0-9a-f]{16}) ("[^"]*") +(\d+) +(\d+)\[  \]', r'(0x\S+) +(\d+) +(\d+)\[  \] ("[^"]*") \( \)'
    end = rf"{near} ==\( 4X +10\.0 Gbps Active/  LinkUp\)==>  {far}"
    lines = front("iblinkinfo", "-l").stdout.splitlines()
    up = {match.groups() for line in lines if (match := re.fullmatch(end, line))}
    ends = {(guid, name.replace('"', "").strip(), lid, port) for guid, name, lid, port, *_ in up}
    others = {(guid, name.replace('"', "").strip(), lid, port) for *_, guid, lid, port, name in up}
    assert ends == others and len(ends) == 2 * (2 * 3 + 7)
    assert len(lines) == 2 * 36 + 2 * 3 and sum("Down/ Polling" in line for line in lines) == 2 * (36 - 3 - 7)
    only = front("iblinkinfo", "--switches-only", "-l").stdout.splitlines()
    assert len(only) == 72 and set(only) < set(lines)
    blocks = front("iblinkinfo").stdout.splitlines()
    assert [line.split(":")[0] for line in blocks if line[0] != " "] == ["CA"] * 3 + ["Switch"] * 2
    assert sum("LinkUp" in line for line in blocks) == len(ends)
    assert "LinkUp" not in front("iblinkinfo", "-d").stdout


def test_ping_knows_the_hosts(front: Front) -> None:
    """ping answers for the rack's hosts, each at its own address and as often as asked; other names are the system's ping's."""
    done = front("ping", "-c", "2", "exa1cel01")
    assert (done.returncode, done.stdout.split()[:3]) == (0, ["PING", "exa1cel01", "(192.168.10.11)"])
    assert done.stdout.count("64 bytes from exa1cel01 (192.168.10.11): icmp_seq=") == 2
    assert "2 packets transmitted, 2 received, 0% packet loss" in done.stdout
    quiet = front("ping", "-q", "-c3", "-W", "1", "192.168.10.11").stdout
    assert "bytes from" not in quiet and "3 packets transmitted" in quiet
    assert front("ping", "-c", "x", "exa1cel01").returncode == 1
    assert front("ping", "-c", "1", "no-such-host.invalid").returncode != 0


def test_a_rack_on_the_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rack that is started with a rack's programs on the PATH runs the machine's ssh, and not itself."""
    ours = tmp_path / "path"
    ours.mkdir()
    for name in ("cellcli", "ssh"):
        (ours / name).write_text("#!/bin/sh\n")
        (ours / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{ours}:{os.environ['PATH']}")
    script = front_scripts(str(tmp_path / "config"), ("python3", "dcli.py"), {})["ssh"]
    assert str(ours) not in script and script.startswith("exec /")


def test_ping_tells_of_a_host_that_is_switched_off(front: Front, home: Path) -> None:
    """A host that is switched off loses every packet, the others none; once it is on again it answers."""

    def answers(*hosts: str) -> list[bool]:
        return [front("ping", "-c", "1", host).returncode == 0 for host in hosts]

    hosts = ("exa1cel01", "exa1cel02", "192.168.10.12")
    control.fault(home, RACK, ["exa1cel02"], "power-off")
    try:
        must_come(lambda: answers(*hosts) == [True, False, False])
        done = front("ping", "-c", "3", "exa1cel02")
        assert (done.returncode, "bytes from" in done.stdout) == (1, False)
        assert "3 packets transmitted, 0 received, 100% packet loss" in done.stdout
    finally:
        control.clear_faults(home, RACK)
    must_come(lambda: answers(*hosts) == [True, True, True])
