"""What shells on emulated hosts learn of the machine: the emulated host's, or nothing; never this one's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.emulator import control

RACK = "machines"
CELL, NODE = "root@exa1cel01", "root@exa1db01"
Say = Callable[[str, str], str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("machines")
    info, _ = control.start(path, RACK, options={"cells": 2, "dbnodes": 1})
    if info.no_shells:
        control.stop(path, RACK)
        pytest.skip("this machine allows no fence around emulated hosts")
    yield path
    control.stop(path, RACK)


@pytest.fixture(scope="module")
def say(home: Path) -> Say:
    """Return all that a line prints in a shell on a host."""
    config = str(control.status(home, RACK)[0].ssh_config)

    def run(login: str, line: str) -> str:
        # The semicolon makes it work for a shell, also where the rack's process could answer by itself.
        command = ["ssh", "-F", config, login, f": ; {line}"]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False
        )
        return done.stdout

    return run


def _words_of_this_machine(home: Path) -> set[str]:
    """Return words by which this machine would be known: kernel, memory, disks, processor, paths."""
    system = os.uname()
    found = {system.release, system.nodename, str(home), sys.prefix}
    found |= {line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal")}
    found |= {
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    }
    found |= {line.split()[2] for line in Path("/proc/diskstats").read_text().splitlines()}
    found |= {line.split()[0] for line in Path("/proc/mounts").read_text().splitlines() if line.startswith("/dev/")}
    return {word for word in found if len(word) > 2 and not re.fullmatch("sd[a-z]+|md[0-9]+", word)}


DAILY = (
    *("hostname", "uptime", "date", "uname -a", "cat /proc/meminfo", "df -h", "df -k /u01", "free -m", "netstat -rn"),
    *("netstat -an", "ip addr", "ip route", "ifconfig -a", "ethtool eth0", "ibstat", "ipmitool sunoem version"),
    *("dmidecode", "lspci", "rpm -qa", "imageinfo", "iostat -x 1 2", "vmstat 1 2", "lscpu", "nproc", "w", "mount"),
    *("cat /etc/os-release /etc/oracle-release /usr/lib/os-release", "cat /proc/mounts /etc/mtab", "dmesg", "lsblk"),
    *(
        "/bin/uname -a",
        "/usr/bin/free",
        "/bin/df",
        "env PATH=/usr/bin:/bin uname -r",
        "sysctl -a",
        "top -bn1",
        "ps -ef",
    ),
    *("arch", "findmnt", "cat /proc/self/cgroup", "cat /proc/1/cmdline", "getconf _NPROCESSORS_ONLN", "fdisk -l"),
)


@pytest.mark.parametrize("login", [CELL, NODE])
@pytest.mark.parametrize("line", DAILY)
def test_daily_commands_tell_of_the_emulated_host(line: str, login: str, home: Path, say: Say) -> None:
    """Each answers, or is not found; none names this machine's kernel, memory, processors, disks or paths."""
    told = say(login, line)
    assert told or line.startswith(("cat /proc/self", "ps"))
    assert not [word for word in _words_of_this_machine(home) if word in told]
    assert "does not answer" not in told
    assert "emulator failed" not in told


@pytest.mark.parametrize("login", [CELL, NODE])
def test_proc_and_sys_hold_nothing_of_this_machine(login: str, home: Path, say: Say) -> None:
    """No file of /proc but the processes' own, and none of /sys, has a word of this machine or is as it is here."""
    line = "find /proc/[!0-9]* /sys -type f -size -1000k 2>/dev/null | grep -v /proc/self | grep -v /proc/thread-self"
    names = [name for name in say(login, line).split() if not name.startswith("/proc/net")]
    assert "/proc/cpuinfo" in names
    assert "/sys/class/net/eth0/address" in names
    told = say(login, f'for name in $({line}); do echo "== $name"; cat $name; done')
    assert not [word for word in _words_of_this_machine(home) if word in told]
    for name, text in re.findall(r"^== (\S+)\n((?:(?!== ).*\n)*)", told, re.MULTILINE):
        known = Path(name)
        if (
            text.strip()
            and name not in SAME
            and not name.endswith(("/mtu", "/operstate", "/speed", "/dev", "/ro", "/removable"))
            and known.is_file()
        ):
            assert text != known.read_text(errors="replace"), name


SAME = {
    *("/proc/sys/kernel/ostype", "/proc/sys/kernel/ngroups_max", "/proc/sys/kernel/domainname", "/proc/swaps"),
    *("/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/random/uuid", "/proc/sys/kernel/cap_last_cap"),
    "/proc/sys/vm/swappiness",
    *("/proc/sys/kernel/pid_max", "/sys/class/net/lo/address", "/sys/class/net/lo/mtu", "/sys/class/net/lo/operstate"),
}
"""What may be the same here: it tells of Linux, not of a machine."""


def test_cellcli_and_the_operating_system_agree(say: Say) -> None:
    """Kernel, processors, memory, address and disks are those that LIST CELL and LIST LUN show."""
    wanted = "kernelVersion, cpuCount, memoryGB, ipaddress1"
    kernel, processors, memory, address = say(CELL, f'cellcli -e "list cell attributes {wanted}"').split()
    assert say(CELL, "uname -r").strip() == kernel
    assert say(CELL, "nproc").strip() == processors.partition("/")[0]
    assert say(CELL, "grep -c ^processor /proc/cpuinfo").strip() == say(CELL, "nproc").strip()
    total = int(say(CELL, "awk '/MemTotal/ {print $2}' /proc/meminfo"))
    assert abs(total / 1024 / 1024 - int(memory)) < 2
    assert f"inet {address} " in say(CELL, "ip addr show ib0")
    devices = {name.removeprefix("/dev/") for name in say(CELL, 'cellcli -e "list lun attributes deviceName"').split()}
    assert {line.split()[3] for line in say(CELL, "tail -n +3 /proc/partitions").splitlines()} == devices
    assert {line.split()[0] for line in say(CELL, "iostat -xd | grep ^sd").splitlines()} == devices
    assert set(say(CELL, "ls /sys/block").split()) == devices
    (numbers,) = say(CELL, "cat /sys/block/sda/dev").split()
    assert say(CELL, f"readlink /sys/dev/block/{numbers}").strip() == "../../block/sda"
    if shutil.which("lsblk"):
        assert set(say(CELL, "lsblk -dnr -o NAME").split()) == devices


@pytest.mark.parametrize("login", [CELL, NODE])
def test_hosts_reach_each_other_by_ping(say: Say, login: str) -> None:
    """ping answers on cells and database nodes from the address that LIST CELL shows, and knows no name outside the rack."""
    address = (
        say(CELL.replace("cel01", "cel02"), 'cellcli -e "list cell attributes ipaddress1"').strip().partition("/")[0]
    )
    assert f"64 bytes from exa1cel02 ({address}): icmp_seq=1 " in say(login, "ping -c 1 exa1cel02")
    assert "ping: no-such-host: Name or service not known" in say(login, "ping -c 1 no-such-host 2>&1")


@pytest.mark.parametrize("login", [CELL, NODE])
def test_a_host_tells_its_own_addresses(say: Say, login: str) -> None:
    """hostname -i and -I tell the addresses that ip and /etc/hosts have of the host, and never the loopback's."""
    (own,) = say(login, "hostname -i").split()
    assert f"{own}\t{login.partition('@')[2]}\n" in say(login, "cat /etc/hosts")
    every = say(login, "hostname -I").split()
    assert own in every and "127.0.0.1" not in every
    shown = say(login, "ip addr")
    assert all(f"inet {address}/" in shown for address in every)


def test_ps_shows_the_services_that_run(say: Say) -> None:
    """The processes of RS, MS and CELLSRV are there while they run, and no longer; those of the session are there too."""
    names = ("cellrssrm", "oc4j.jar", "bin/cellsrv ")
    shown = say(CELL, "ps -ef")
    assert [shown.count(name) for name in names] == [1, 1, 1]
    assert shown.count("PPID") == 1
    assert "ps -ef" in shown
    say(CELL, 'cellcli -e "alter cell shutdown services ms"')
    try:
        assert [name in say(CELL, "ps aux") for name in names] == [True, False, True]
        assert "oc4j" not in say(CELL, "ps -eo args | grep -v grep")
    finally:
        say(CELL, 'cellcli -e "alter cell startup services ms"')
    assert "root" in say(CELL, "ps -o user= -p $$")


def test_time_in_a_shell_is_the_racks(say: Say) -> None:
    """Within one session /proc/uptime goes on at the rack's speed, and date with it."""
    line = "a=$(cut -d. -f1 /proc/uptime); s=$(date +%s); sleep 3; b=$(cut -d. -f1 /proc/uptime); e=$(date +%s); "
    up, clock = map(int, say(CELL, line + "echo $((b-a)) $((e-s))").split())
    assert up >= 60
    assert clock >= 180


def test_nobody_writes_to_what_tells_of_the_machine(say: Say) -> None:
    """Root of a host can't change /proc or /sys, nor take away what covers them."""
    for line in (
        "echo x > /proc/uptime",
        "echo x > /proc/mounts",
        "echo x > /sys/class/net/eth0/mtu",
        "rm -f /sys/class/net/eth0/mtu",
        "umount /proc/cpuinfo",
        "mount --bind /tmp /proc/sys",
    ):
        assert "OUT" not in say(CELL, f"{line} && echo OUT"), line


def test_the_path_for_other_programs_leaves_the_callers_own(home: Path) -> None:
    """With the emulator's path on the PATH, date, df and free are the caller's; uname speaks for the chosen host."""
    path = control.program_path(home, RACK)
    assert not [name for name in ("date", "df", "free", "ip", "mount", "rpm", "nproc") if (path / name).exists()]
    done = subprocess.run([path / "uname", "-n"], capture_output=True, text=True, check=True)
    assert done.stdout == "exa1cel01\n"
