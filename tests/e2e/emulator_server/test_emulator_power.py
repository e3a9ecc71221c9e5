"""Switching emulated hosts off and on by what is typed there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from exacell.emulator import control
from tests.support.patience import must_come

RACK = "power"
CELL, NODE = "exa1cel01", "exa1db01"


@dataclass(frozen=True)
class Rack:
    """A running rack."""

    home: Path
    info: control.RackInfo

    def ssh(self, login: str, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line on a host."""
        command = ["ssh", "-F", str(self.info.ssh_config), login, line]
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
        )

    @property
    def down(self) -> tuple[str, ...]:
        """The hosts that ``emulator status`` has as down."""
        return control.status(self.home, RACK)[0].down

    def answers(self, host: str) -> bool:
        """Return whether a host takes a login."""
        return self.ssh(f"root@{host}", "imageinfo -status").returncode == 0

    def switch_on(self, host: str) -> None:
        """Press the button of a host."""
        control.clear_faults(self.home, RACK, [host], "power-off")
        must_come(lambda: host not in self.down)


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    home = tmp_path_factory.mktemp("power")
    info, _ = control.start(home, RACK, options={"cells": 2, "dbnodes": 1, "speed": 120})
    yield Rack(home, info)
    control.stop(home, RACK)


OFF = ("shutdown -h now", "/sbin/poweroff", "halt -p", "init 0", "systemctl poweroff", "/usr/sbin/shutdown -P now bye")
AGAIN = ("reboot", "shutdown -r now", "telinit 6", "systemctl reboot --force", "true; PATH=/usr/sbin:/usr/bin reboot")


@pytest.mark.parametrize("host", [CELL, NODE])
@pytest.mark.parametrize("line", OFF)
def test_a_host_that_is_switched_off_stays_down(rack: Rack, line: str, host: str) -> None:
    """It takes no login, status names it, other hosts go on, and it answers again when it is switched on."""
    rack.ssh(f"root@{host}", line)
    must_come(lambda: rack.down == (host,))
    assert not rack.answers(host) and rack.answers("exa1cel02")
    rack.switch_on(host)
    assert rack.answers(host)


@pytest.mark.parametrize("host", [CELL, NODE])
@pytest.mark.parametrize("line", AGAIN)
def test_a_host_that_reboots_comes_up_by_itself(rack: Rack, line: str, host: str) -> None:
    """It is down for as long as a boot takes on the rack's clock, and answers then."""
    rack.ssh(f"root@{host}", line)
    must_come(lambda: rack.down == (host,))
    must_come(lambda: rack.down == ())
    assert rack.answers(host)


def test_a_cell_that_reboots_ends_what_ran_there(rack: Rack) -> None:
    """Its connections break, its shells' processes end, its files stay, its services run and its time begins anew."""
    rack.ssh(f"root@{CELL}", "echo kept > /var/kept; cellcli -e alter cell shutdown services ms")
    command = ["ssh", "-F", str(rack.info.ssh_config), f"root@{CELL}", "echo here; sleep 333"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as client:
        assert client.stdout is not None
        if client.stdout.readline() != b"here\n":
            pytest.skip("this machine allows no fence around emulated hosts")
        rack.ssh(f"root@{CELL}", "reboot")
        assert client.wait(300) == 255
    must_come(lambda: rack.answers(CELL))
    must_come(lambda: rack.down == ())
    assert rack.ssh(f"root@{CELL}", "cat /var/kept; pgrep -f '^sleep 333' | cat").stdout == "kept\n"
    said = rack.ssh(CELL, "cellcli -e list cell attributes msStatus, cellsrvStatus, upTime").stdout
    assert said.split()[:4] == ["running", "running", "0", "days,"]


def test_a_cell_that_is_down_is_missed_by_asm(rack: Rack) -> None:
    """Grid disks of a cell that is switched off are offline in ASM while it is down."""
    query = ". ~/.bash_profile; asmcmd lsdsk -p -G DATA | grep -c OFFLINE"
    if rack.ssh(f"grid@{NODE}", "true; true").returncode:
        pytest.skip("this machine allows no fence around emulated hosts")
    assert rack.ssh(f"grid@{NODE}", query).stdout == "0\n"
    rack.ssh(f"root@{CELL}", "poweroff")
    must_come(lambda: rack.down == (CELL,))
    assert rack.ssh(f"grid@{NODE}", query).stdout == "12\n"
    rack.switch_on(CELL)


def test_a_shutdown_can_wait_and_be_called_off(rack: Rack) -> None:
    """shutdown +10 says when, nothing happens before, and -c calls it off."""
    done = rack.ssh(f"root@{CELL}", "shutdown -h +10")
    assert (done.returncode, done.stderr[:22]) == (0, "Shutdown scheduled for")
    (row,) = control.faults(rack.home, RACK)
    assert (row["host"], row["kind"], row["state"]) == (CELL, "power-off", "waiting")
    assert rack.answers(CELL) and rack.ssh(f"root@{CELL}", "shutdown -c").returncode == 0
    assert control.faults(rack.home, RACK) == ()


def test_a_host_stays_down_over_a_stop_of_the_rack(rack: Rack) -> None:
    """Whoever stops and starts the rack does not press a host's button."""
    rack.ssh(f"root@{CELL}", "poweroff")
    must_come(lambda: rack.down == (CELL,))
    control.stop(rack.home, RACK)
    control.start(rack.home, RACK, options={})
    assert rack.down == (CELL,) and not rack.answers(CELL)
    rack.switch_on(CELL)
    assert rack.answers(CELL)


REFUSED = {
    "another login": (f"celladmin@{CELL}", "reboot", 1, "reboot: only root may do this"),
    "another login by systemctl": (f"oracle@{NODE}", "systemctl poweroff", 1, "systemctl: only root may do this"),
    "an option": (f"root@{CELL}", "shutdown --sideways now", 1, "shutdown: unrecognized option '--sideways'"),
    "a time": (f"root@{CELL}", "shutdown -h tomorrow", 1, "shutdown: Failed to parse time specification: tomorrow"),
    "a run level": (f"root@{CELL}", "init 9x", 1, "init: a run level is needed: 0 to 6, s or q"),
    "a unit": (
        f"root@{CELL}",
        "systemctl restart sshd",
        5,
        "Failed to restart sshd.service: Unit sshd.service not found.",
    ),
    "a unit's status": (f"root@{NODE}", "systemctl status celld", 4, "Unit celld.service could not be found."),
    "a verb": (f"root@{CELL}", "systemctl isolate rescue", 1, "systemctl: isolate is not possible here"),
    "a stop without root": (f"celladmin@{CELL}", "systemctl stop celld", 4, "celld: only root may do this"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_leaves_the_host_up(rack: Rack, what: str) -> None:
    """Who may not, or asks for what there is not, gets one line, and the host stays up."""
    login, line, status, said = REFUSED[what]
    done = rack.ssh(login, line)
    assert (done.returncode, done.stdout) == (status, "") and done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1 and rack.down == ()


def test_harmless_words_do_nothing(rack: Rack) -> None:
    """A run level that is no end, a rehearsal and a note in the log switch nothing off."""
    for line in ("init 3", "shutdown -k now", "reboot -w", "systemctl is-active celld"):
        assert rack.ssh(f"root@{CELL}", line).returncode == 0
    assert rack.down == () and control.faults(rack.home, RACK) == ()
