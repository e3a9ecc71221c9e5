"""What scripts find on emulated hosts besides Oracle's programs: su, sudo, service, dcli on nodes, dbmcli, absolute paths."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.emulator import control

RACK = "tools"
GRID = "/u01/app/19.0.0.0/grid"
Ssh = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("tools")
    control.start(path, RACK, options={"cells": 2, "dbnodes": 2})
    yield path
    control.stop(path, RACK)


@pytest.fixture(scope="module")
def ssh(home: Path) -> Ssh:
    """Run a command line on a host of the rack as a login there."""
    program = control.program_path(home, RACK) / "ssh"

    def run(login: str, command: str, *, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, login, command],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={**os.environ, "SSH_AUTH_SOCK": ""},
        )

    return run


SERVICES = "rsStatus:running\nmsStatus:running\ncellsrvStatus:running\n"
SAID = [
    ("root@exa1cel01", 'su - celladmin -c "whoami; cellcli -e list cell"', "celladmin\n\t exa1cel01\t online\n"),
    ("root@exa1cel02", "/bin/su celladmin -c whoami", "celladmin\n"),
    ("root@exa1cel01", "su - cellmonitor -c \"cellcli -e alter cell comment=x\" | cut -c1-10", "CELL-02913\n"),
    ("root@exa1db01", "su - grid -c 'echo $ORACLE_SID $ORACLE_HOME'", f"+ASM1 {GRID}\n"),
    ("root@exa1db02", "su - grid <<'E'\necho $ORACLE_SID\nwhoami\nE", "+ASM2\ngrid\n"),
    ("oracle@exa1db01", f"sudo -n -u grid env ORACLE_SID=+ASM1 ORACLE_HOME={GRID} {GRID}/bin/asmcmd lsdg RECO | wc -l", "2\n"),
    ("grid@exa1db01", "sudo -i -u oracle whoami; sudo id -un; sudo -u grid A=1 sh -c 'echo $A'", "oracle\nroot\n1\n"),
    ("oracle@exa1db01", "sudo su - grid -c whoami", "grid\n"),
    ("root@exa1cel01", "/sbin/service celld status | tr -d '\\t ' | sort -r", SERVICES),
    ("root@exa1cel01", "service celld restart | sed -n 1p", "Stopping the RS, CELLSRV, and MS services...\n"),
    ("root@exa1cel01", "/usr/local/bin/imageinfo -ver", "19.3.2.0.0.191119\n"),
    ("oracle@exa1db02", "imagehistory | grep -c '^Version  *: 19.3.2.0.0.191119$'", "1\n"),
    ("root@exa1db01", "/usr/local/bin/dcli -g cell_group -l celladmin hostname", "exa1cel01: exa1cel01\nexa1cel02: exa1cel02\n"),
    ("oracle@exa1db01", "cat ~/dbs_group; ssh exa1cel02 hostname", "exa1db01\nexa1db02\nexa1cel02\n"),
    ("grid@exa1db02", f"olsnodes -n; {GRID}/bin/olsnodes", "exa1db01\t1\nexa1db02\t2\nexa1db01\nexa1db02\n"),
    ("root@exa1cel02", "/usr/sbin/dmidecode -s system-serial-number | wc -l; ipmitool sel list", "1\nSEL has no entries\n"),
    ("root@exa1cel01", "/opt/MegaRAID/MegaCli/MegaCli64 -PDList -aAll | grep -c 'Spun Up'", "12\n"),
    ("root@exa1db01", "/opt/oracle.cellos/CheckHWnFWProfile | cut -c1-9; ipconf -verify | wc -l", "[SUCCESS]\n2\n"),
    ("root@exa1db01", "ssh 192.168.10.12 hostname; dcli -c 192.168.10.11 -l root id -un", "exa1cel02\n192.168.10.11: root\n"),
    ("root@exa1db01", "ping -c1 192.168.10.11 | grep -c icmp_seq=1", "1\n"),
    ("grid@exa1db01", "echo welcome1 | exacli -l celladmin -c 192.168.10.12 -e list cell", "Password: \t exa1cel02\t online\n"),
    ("root@exa1cel01", "PATH=/usr/sbin:/usr/bin; service celld status | wc -l; ibstatus | grep -c ACTIVE", "3\n2\n"),
    ("root@exa1db01", f"ORACLE_HOME={GRID} {GRID}/bin/orabase", "/u01/app/grid\n"),
    ("root@exa1db02", "dbmcli -e list dbserver", "\t exa1db02\t online\n"),
]  # fmt: skip


@pytest.mark.parametrize(("login", "command", "shown"), SAID)
def test_what_scripts_expect_is_there(ssh: Ssh, login: str, command: str, shown: str) -> None:
    """Becoming another login, asking for services and calling programs by their paths work as on the real host."""
    done = ssh(login, command)
    assert (done.stdout, done.returncode) == (shown, 0), done.stderr


REFUSED = [
    ("celladmin@exa1cel01", "su - root -c id", 1, "su: Authentication failure"),
    ("root@exa1cel01", "su - grid -c id", 1, "su: user grid does not exist"),
    ("celladmin@exa1cel01", "sudo id", 1, "celladmin is not in the sudoers file"),
    ("root@exa1db01", "sudo -u nobody id", 1, "sudo: unknown user: nobody"),
    ("celladmin@exa1cel01", "service celld stop", 4, "only root"),
    ("celladmin@exa1cel01", "/opt/oracle.cellos/CheckHWnFWProfile", 1, "only root"),
    (
        "root@exa1db01",
        "exacli -n -l celladmin -c 192.168.10.12 -e list cell",
        1,
        "login of celladmin on exa1cel02 failed",
    ),
    ("root@exa1cel01", "service sshd status", 1, "unrecognized service"),
    ("root@exa1cel01", "dbmcli -e list dbserver", 127, "not found"),
]


@pytest.mark.parametrize(("login", "command", "status", "said"), REFUSED)
def test_what_a_real_host_refuses_is_refused(ssh: Ssh, login: str, command: str, status: int, said: str) -> None:
    """Nobody becomes who he may not become, and what a host does not have is not there."""
    done = ssh(login, command)
    assert (done.returncode, done.stdout) == (status, "") and said in done.stderr


def test_a_home_directory_is_the_same_by_su_and_by_ssh(ssh: Ssh) -> None:
    """What su leaves in a login's home is there when the login comes over SSH, and it still gets in."""
    assert ssh("root@exa1db02", "su - oracle -c 'echo kept > by_su'").returncode == 0
    assert ssh("oracle@exa1db02", "cat by_su").stdout == "kept\n"


def test_a_login_without_a_terminal_runs_what_it_reads_in_silence(home: Path) -> None:
    """ssh host <<EOF has the login's environment and the programs' paths, and neither prompts nor the commands come back."""
    program = control.program_path(home, RACK) / "ssh"
    script = f"echo $ORACLE_SID\n{GRID}/bin/asmcmd lsdg --suppressheader | wc -l\ncat <<E\nmore\nE\nexit 3\n"
    done = subprocess.run(
        [program, "grid@exa1db02"], input=script, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.stdout, done.returncode) == ("+ASM2\n2\nmore\n", 3)
    assert "grid@" not in done.stderr
