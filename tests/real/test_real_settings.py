"""Settings of other machines' kernels, over real SSH: what real devices allow, take, refuse and keep."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.real.guests import Guests
from tests.support.patience import until
from tests.support.program import Program

SDA = "/sys/block/sda/queue"


def values(guests: Guests, path: str) -> list[str]:
    return [guests.said(name, f"cat {path}").strip() for name in guests.names]


def test_both_guests_are_hosts_of_one_group(lab: Program, guests: Guests) -> None:
    """``on @initiators`` asks each guest once, and each answers with its own name and kernel."""
    rows = lab.ok("-r", "lab", "-o", "json", "on @initiators sh uname -n").records
    assert [(row["cell"], row["text"]) for row in rows] == [(name, name) for name in guests.names]


def test_limits_of_real_disks_are_read(lab: Program) -> None:
    """The PVSCSI disk takes 1280 of 32767 KB at once, scsi_debug's 4096, and a scheduler's words are all there."""
    rows = lab.ok("-r", "lab", "-o", "json", "on @initiators show setting /sys/block/sd?/queue/max*_sectors_kb").records
    found = {(row["cell"], row["device"], row["setting"]): row["value"] for row in rows}
    for host in ("ini1", "ini2"):
        assert found[host, "sda", "queue/max_sectors_kb"] == "1280"
        assert found[host, "sda", "queue/max_hw_sectors_kb"] == "32767"
        assert found[host, "sdb", "queue/max_sectors_kb"] == "4096"
    (row, _) = lab.ok("-r", "lab", "-o", "json", f"on @initiators show setting {SDA}/scheduler").records
    assert row["value"] == "mq-deadline" and row["allowed"] == ["mq-deadline", "none"]


def test_a_limit_is_set_on_both_and_undone(lab: Program, guests: Guests) -> None:
    """32767 is in both kernels after the change, and 1280 after undo."""
    lab.ok("-r", "lab", f"on @initiators set setting {SDA}/max_sectors_kb=32767 -y")
    assert values(guests, f"{SDA}/max_sectors_kb") == ["32767"] * 2
    lab.ok("-r", "lab", "undo -y")
    assert values(guests, f"{SDA}/max_sectors_kb") == ["1280"] * 2


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (f"{SDA}/max_sectors_kb=99999999", "32767"),
        ("/sys/block/sda/device/queue_depth=99999999", "Invalid argument"),
    ],
)
def test_what_the_kernel_refuses_changes_nothing(lab: Program, guests: Guests, setting: str, said: str) -> None:
    """Too much for the device is refused before it is sent, or told in the kernel's words; the value stays."""
    path = setting.partition("=")[0]
    before = values(guests, path)
    done = lab("-r", "lab", f"on @initiators set setting {setting} -y")
    assert done.code in (1, 2) and said in done.err and values(guests, path) == before


@pytest.mark.parametrize(
    ("path", "asked", "kept"),
    [("/sys/block/loop0/queue/read_ahead_kb", "4097", "4096"), (f"{SDA}/nr_requests", "0", "4")],
)
def test_a_kernel_that_keeps_another_value_is_noticed(
    lab: Program, guests: Guests, path: str, asked: str, kept: str
) -> None:
    """What the kernel takes with exit 0 and keeps otherwise is a failure that names both values, and undo takes it back."""
    before = values(guests, path)
    done = lab("-r", "lab", f"on @initiators set setting {path}={asked} -y")
    assert done.code == 1 and f"is {kept}, not {asked}" in done.err
    assert values(guests, path) == [kept] * 2
    lab.ok("-r", "lab", "undo -y")
    assert values(guests, path) == before


VM = "/proc/sys/vm"


@pytest.mark.parametrize(
    ("ratio", "size"), [("dirty_ratio", "dirty_bytes"), ("dirty_background_ratio", "dirty_background_bytes")]
)
def test_two_units_of_one_setting_go_and_come_back_together(
    lab: Program, guests: Guests, ratio: str, size: str
) -> None:
    """Bytes set the ratio to 0 in a real kernel, which takes no 0 back as bytes: undo brings both back as they were."""
    before = values(guests, f"{VM}/{ratio} {VM}/{size}")
    done = lab.ok("-r", "lab", f"on @initiators set setting {VM}/{size}=268435456 -y")
    assert f"{VM}/{ratio}" in done.err
    assert values(guests, f"{VM}/{ratio} {VM}/{size}") == ["0\n268435456"] * 2
    refused = lab("-r", "lab", f"on @initiators set setting {VM}/{size}=0 -y")
    assert refused.code == 2 and "can't be set to 0" in refused.err
    assert guests.said("ini1", f"echo 0 > {VM}/{size} || echo refused").strip() == "refused"
    lab.ok("-r", "lab", "undo -y")
    assert values(guests, f"{VM}/{ratio} {VM}/{size}") == before
    both = lab("-r", "lab", f"on @initiators set setting {VM}/{size}=268435456 {VM}/{ratio}=10 -y")
    assert both.code == 2 and "one setting in two units" in both.err
    assert values(guests, f"{VM}/{ratio} {VM}/{size}") == before


def test_a_scheduler_comes_back_with_what_it_was_tuned_to(lab: Program, guests: Guests) -> None:
    """A scheduler that leaves forgets its own settings; undo sets them when it is back."""
    tuned = f"{SDA}/iosched/read_expire"
    before = values(guests, tuned)
    lab.ok("-r", "lab", f"on @initiators set setting {tuned}=400 -y")
    lab.ok("-r", "lab", f"on @initiators set setting {SDA}/scheduler=none -y")
    lab.ok("-r", "lab", "undo -y")
    assert values(guests, tuned) == ["400"] * 2
    lab.ok("-r", "lab", f"on @initiators set setting {tuned}={before[0]} -y")


def _started(lab: Program, *words: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "lab", *words], env=lab.env, stdin=quiet, stdout=quiet, stderr=quiet
    )


@pytest.fixture
def held(guests: Guests) -> Iterator[str]:
    """Let the second guest's tee wait before it writes a queue, and say so, until it is let go; yields the guest's name."""
    host = guests.names[1]
    script = (
        "#!/bin/sh\ncase $1 in /sys/*) : > /tmp/reached; while [ ! -e /tmp/go ]; do usleep 50000; done; exit 1;; esac\n"
    )
    put = "rm -f /tmp/go /tmp/reached; mv /bin/tee /bin/tee.own; cat > /bin/tee; chmod 755 /bin/tee"
    guests.said(host, put, script + 'exec /bin/tee.own "$@"\n')
    yield host
    let_go(guests, host)


def let_go(guests: Guests, host: str) -> None:
    """Let who waits in tee end without having written, and put the own one back."""
    guests.said(host, "touch /tmp/go; [ ! -e /bin/tee.own ] || mv /bin/tee.own /bin/tee")


@pytest.mark.parametrize(("way", "then"), [("the program is killed", "resume"), ("the link is lost", "retry failed")])
def test_a_change_that_broke_off_is_ended_on_both(lab: Program, guests: Guests, held: str, way: str, then: str) -> None:
    """kill -9, or a connection that ends, while one guest still has the old value: resume or retry failed brings both to the
    new one."""
    process = _started(lab, f"on @initiators set setting {SDA}/max_sectors_kb=4096 -y")
    try:
        assert until(lambda: guests.said(held, "ls /tmp/reached") != "")
        if way == "the link is lost":
            # Process 1 is the listener; the others of that name are the connections.
            guests.said(held, "kill $(pidof dropbear | tr ' ' '\\n' | grep -vx 1)")
            assert process.wait(timeout=300) != 0
        else:
            os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    let_go(guests, held)
    assert values(guests, f"{SDA}/max_sectors_kb") == ["4096", "1280"]
    lab.ok("-r", "lab", f"{then} -y")
    assert values(guests, f"{SDA}/max_sectors_kb") == ["4096"] * 2
    lab.ok("-r", "lab", f"on @initiators set setting {SDA}/max_sectors_kb=1280 -y")


def test_facts_of_real_drivers_are_told(lab: Program) -> None:
    """``facts`` names the driver of the PVSCSI adapter and of the network card, as the kernel and ethtool have them."""
    text = lab.ok("-r", "lab", "-o", "json", "on ini1 facts scsi,net").out
    assert "vmw_pvscsi" in text and "e1000" in text and '"cmd_per_lun": 254' in text


def test_queues_interrupts_and_numa_nodes_of_real_devices_are_told(lab: Program, guests: Guests) -> None:
    """Two NUMA nodes with their processors, two queues of a virtio disk and of a vmxnet3 card, and the processors that take the
    interrupts of the disk, the card and the PVSCSI adapter are told as the kernel has them; --diff shows who has them.
    """
    guests.said("ini1", "ifconfig eth1 up")
    rows = lab.ok("-r", "lab", "-o", "json", "on ini1 facts numa,scsi,block,net,irq").records
    known = {(row["kind"], row["name"]): row for row in rows}
    assert [known["numa", f"node{node}"]["cpulist"] for node in (0, 1)] == [0, 1]
    assert known["block", "vda"]["hardwareQueues"] == 2 and known["scsi", "host0"]["nr_hw_queues"] == 1
    assert (known["net", "eth1"]["rxQueues"], known["net", "eth1"]["txQueues"]) == (2, 2)
    depth = guests.said("ini1", "cat /sys/block/sda/device/queue_depth").strip()
    assert known["net", "eth1"]["driver"] == "vmxnet3" and str(known["block", "sda"]["queue_depth"]) == depth == "254"
    table = guests.said("ini1", "cat /proc/interrupts")
    for name in ("host0 vmw_pvscsi", "virtio0-req.0", "virtio0-req.1", "eth1 eth1-rxtx-0", "eth1 eth1-rxtx-1"):
        (number,) = (line.split(":")[0].strip() for line in table.splitlines() if line.endswith(f" {name.split()[-1]}"))
        assert (
            str(known["irq", name]["affinity"])
            == guests.said("ini1", f"cat /proc/irq/{number}/smp_affinity_list").strip()
        )
    differ = lab.ok("-r", "lab", "on @initiators facts net,numa --diff").out
    assert "eth1" in differ and "node1" in differ and "eth0" not in differ
