"""What is typed on an emulated host, by somebody who wants out: it reaches nothing of this machine.

Each line says ``OUT`` when it got where it should not get. The fixture first proves the fence with lines that harm nobody;
where one of those gets through, none of the others is run.
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from exacell.emulator import control

RACK = "fenced"
NODE, CELL = "root@exa1db01", "root@exa1cel01"
WORDS = "the operator's own"


@dataclass(frozen=True)
class Machine:
    """This machine as the hostile lines find it: a folder of the operator's, a listener of his, the rack's process."""

    home: Path
    folder: Path
    listener: socket.socket
    rack: control.RackInfo

    @property
    def words(self) -> dict[str, str]:
        """What stands in the lines."""
        return {
            "folder": str(self.folder),
            "home": str(self.home),
            "port": str(self.listener.getsockname()[1]),
            "pid": str(self.rack.pid),
            "me": str(os.getpid()),
            "swappiness": Path("/proc/sys/vm/swappiness").read_text().strip(),
            "clock": str(int(time.time())),
        }

    def say(self, login: str, line: str, *, stdin: str = "") -> str:
        """Return all that a line prints on a host."""
        for word, value in self.words.items():
            line = line.replace("{" + word + "}", value)
        command = ["ssh", "-F", str(self.rack.ssh_config), login, line]
        done = subprocess.run(
            command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False
        )
        return done.stdout

    def state(self) -> dict[str, object]:
        """Return what no line may change."""
        files = {
            str(path.relative_to(self.folder)): path.read_text() for path in self.folder.rglob("*") if path.is_file()
        }
        devices = {name: stat.S_IMODE(os.stat(f"/dev/{name}").st_mode) for name in ("null", "tty", "urandom")}
        settings = {
            path: Path(path).read_text() for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness")
        }
        return {
            "files": files,
            "devices": devices,
            "settings": settings,
            "host name": socket.gethostname(),
            "clock": abs(time.time() - time.monotonic() - _CLOCK) < 60,
            "rack": control.status(self.home, RACK)[0].pid,
            "top": sorted(os.listdir("/")),
            "etc": sorted(os.listdir("/etc")),
        }


_CLOCK = time.time() - time.monotonic()

HARMLESS = (
    "[ -e {folder}/keep ] && echo OUT",
    "[ -e {home} ] && echo OUT",
    "touch /usr/exacell-was-here && rm /usr/exacell-was-here && echo OUT",
    "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && /bin/sh -c 'mkdir /exacell-was-here && echo OUT'",
    "echo {swappiness} > /proc/sys/vm/swappiness && echo OUT",
    "date -s @{clock} && echo OUT",
    "[ -d /proc/{me} ] && grep -q pytest /proc/{me}/cmdline && echo OUT",
)


def got_out(said: str) -> bool:
    """Return whether a line says that it got where it should not get."""
    return any(line.startswith("OUT") for line in said.splitlines())


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A running rack, on a machine that has shown that its fence holds."""
    folder, home = tmp_path_factory.mktemp("operator"), tmp_path_factory.mktemp("home")
    (folder / "keep").write_text(WORDS)
    (folder / "below").mkdir()
    (folder / "below" / "id_ed25519").write_text(WORDS)
    info, _ = control.start(home, RACK, options={"cells": 2, "dbnodes": 1})
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            found = Machine(home, folder, listener, info)
            if "no fence" in found.say(CELL, "true; true"):
                pytest.skip("this machine allows no fence around emulated hosts")
            for line in HARMLESS:
                assert not got_out(found.say(CELL, line)), line
            yield found
    finally:
        control.stop(home, RACK)


HOSTILE = {
    "the operator's files": "rm -rf {folder}; rm -rf {home}; rm -rf /somewhere; ls {folder} && echo OUT",
    "all files": "rm -rf /[!up]* /u01 /usr/bin 2>/dev/null; rm -rf / 2>/dev/null; cat {folder}/keep && echo OUT",
    "a disk": "for d in /dev/sda /dev/vda /dev/nvme0n1; do : 2>/dev/null > $d && echo OUT; done",
    "a new device": "mknod /tmp/disk b 254 0 && echo OUT; mknod /tmp/memory c 1 1 && echo OUT",
    "memory": "for f in /dev/mem /dev/kmem /dev/port /proc/kcore /dev/kmsg; do head -c1 $f >/dev/null && echo OUT; done",
    "the mode of a device": "chmod 600 /dev/null && echo OUT; chown 1 /dev/urandom && echo OUT; rm -f /dev/tty && echo OUT",
    "a mount": "mount -t tmpfs none /mnt && echo OUT; mount -o remount,rw /usr && echo OUT; umount /proc && echo OUT",
    "a mount over a program": "mount --bind /tmp /usr/bin && echo OUT; mount -o bind,rw / /mnt && echo OUT",
    "namespaces": "unshare -Ur true && echo OUT; unshare -m true && echo OUT; nsenter -t 1 -m true && echo OUT",
    "the clock": "date -s @{clock} && echo OUT; date -s '2001-01-01' && echo OUT; hwclock -w && echo OUT",
    "the host name": "/bin/hostname other && echo OUT; echo other > /proc/sys/kernel/hostname && echo OUT",
    "the rack's process": "kill -9 {pid}; kill -9 {me}; kill -9 -1",
    "the host's first process": "kill -9 1; kill -INT 1; kill -TERM 1; kill -STOP 1; sleep 0.2; echo alive | grep -v alive",
    "its environment": "grep . /proc/1/environ && echo OUT; ls /proc/1/root/ && echo OUT; readlink /proc/1/fd/3 && echo OUT",
    "its memory": "head -c1 /proc/1/mem && echo OUT; cat /proc/1/maps | grep . && echo OUT",
    "the machine's listeners": "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo OUT",
    "another machine": "bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' && echo OUT",
    "a network of one's own": "ip link add x type dummy && echo OUT; ip addr add 192.0.2.9/24 dev lo && echo OUT",
    "links": "ln -s {folder} /tmp/l; rm -rf /tmp/l/; cat /tmp/l/keep && echo OUT; cat ~/../../..{folder}/keep && echo OUT",
    "the root of a process": "cat /proc/self/root{folder}/keep && echo OUT; cat /proc/$$/cwd/../..{folder}/keep && echo OUT",
    "descriptors": "for f in /proc/self/fd/*; do ls $f/.. 2>/dev/null | grep -q boot && echo OUT; done",
    "descriptors of the rack": "for n in 3 4 5 6 7 8 9 10 11 12 13 14 15; do [ -e /proc/$$/fd/$n ] && echo OUT $n; done",
    "a second root": "mkdir -p /tmp/j; chroot /tmp/j /x; perl -e 'mkdir q(/tmp/k); chroot q(/tmp/k) or exit 1; "
    "chdir q(..) for 1..99; chroot q(.); print -e q({folder}/keep) ? q(OUT) : q()'",
    "settings of the kernel": "echo 1 > /proc/sys/vm/swappiness && echo OUT; sysctl -w kernel.core_pattern='|/x' && echo OUT",
    "more namespaces again": "echo 9 > /proc/sys/user/max_user_namespaces && echo OUT; echo 0 0 1 > /proc/self/uid_map",
    "the keyboard's secret keys": "echo b > /proc/sysrq-trigger && echo OUT; echo c > /proc/sysrq-trigger && echo OUT",
    "modules": "insmod /tmp/x.ko && echo OUT; modprobe dummy && echo OUT",
    "setuid programs": "cp /bin/sh /tmp/sh; chmod 4755 /tmp/sh; /tmp/sh -p -c 'cat {folder}/keep && echo OUT'",
    "passwords and keys": "cat /etc/shadow /etc/ssh/ssh_host_* 2>/dev/null && echo OUT; ls -d /root/.ssh/id_* && echo OUT",
    "the rack's state": "find / -xdev -name control.json -o -name rack.json 2>/dev/null | grep . && echo OUT",
    "the address of the programs": "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); "
    "print bind(S, pack(q(Sa*), AF_UNIX, qq(\\0exacell))) ? q(OUT) : q()'",
    "the emulated programs": "rm -f /run/exacell/bin/hostname && echo OUT; echo > /run/exacell/bin/.shim.py && echo OUT",
    "the machine's programs": "echo > /usr/bin/ls && echo OUT; cp /bin/true /usr/local/bin/exacell-x && echo OUT",
    "what writes into the machine's terminal": "for t in /dev/pts/[0-9]* /dev/console /dev/tty0; do [ -e $t ] && echo OUT; done",
    "services": "systemctl list-units && echo OUT; ls /run/systemd /run/dbus /var/run/docker.sock 2>/dev/null && echo OUT",
    "jobs for later": "echo 'touch {folder}/later' | at now; echo '* * * * * touch /x' | crontab - && echo OUT",
    "a core file elsewhere": "cd /tmp; ulimit -c unlimited && echo OUT; sh -c 'kill -SEGV $$'",
}  # fmt: skip


@pytest.mark.parametrize("login", [CELL, NODE], ids=["cell", "node"])
@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_that_is_typed_on_a_host_reaches_the_machine(machine: Machine, what: str, login: str) -> None:
    """After each hostile line this machine is as it was, the line got nowhere, and the host goes on answering."""
    before = machine.state()
    said = machine.say(login, HOSTILE[what])
    assert not got_out(said) and WORDS not in said, said
    assert machine.state() == before
    assert machine.say(login, "hostname | cat") == f"{login.partition('@')[2]}\n"


@pytest.mark.parametrize("login", [CELL, NODE], ids=["cell", "node"])
def test_no_connection_came_from_a_host(machine: Machine, login: str) -> None:
    """The operator's listener on the loopback address hears nothing of what a host sends to its port."""
    machine.say(login, "bash -c 'echo hello > /dev/tcp/127.0.0.1/{port}'")
    machine.listener.settimeout(0.2)
    with pytest.raises(TimeoutError):
        machine.listener.accept()


def test_hosts_are_apart(machine: Machine) -> None:
    """What is written into a host's directories and what runs there is on no other host of the rack."""
    machine.say(CELL, "echo mine > /tmp/mine; echo mine > /var/mine; nohup sleep 321 >/dev/null 2>&1 &")
    other = "root@exa1cel02"
    assert "mine" not in machine.say(other, "cat /tmp/mine /var/mine 2>/dev/null; true")
    assert machine.say(other, "pgrep -f '^sleep 321' | cat") == ""
    assert machine.say(CELL, "cat /tmp/mine; pkill -f '^sleep 321'; echo $?") == "mine\n0\n"


def test_a_host_speaks_for_itself_alone(machine: Machine) -> None:
    """A program behind one host's fence that claims to be another host's is answered by its own host."""
    assert machine.say(CELL, "EXACELL_EMU_HOST=exa1cel02 cellcli -e list cell | cat").split()[0] == "exa1cel01"


def test_files_stay_until_a_reset(tmp_path: Path) -> None:
    """What was written on a host is there after the rack was stopped and started, and gone after reset=yes."""

    def said(line: str) -> str:
        info = control.status(tmp_path, "kept")[0]
        command = ["ssh", "-F", str(info.ssh_config), CELL, line]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stdout

    options = {"cells": 2, "dbnodes": 1}
    control.start(tmp_path, "kept", options=options)
    try:
        if said("true; echo there") != "there\n":
            pytest.skip("this machine allows no fence around emulated hosts")
        said("echo kept > /tmp/f; echo kept > /etc/f; echo kept > ~/f")
        control.stop(tmp_path, "kept")
        control.start(tmp_path, "kept", options=options)
        assert said("cat /tmp/f /etc/f ~/f | cat") == "kept\n" * 3
        control.start(tmp_path, "kept", options=options, reset=True)
        assert said("cat /tmp/f /etc/f ~/f | cat") == ""
    finally:
        control.stop(tmp_path, "kept")
