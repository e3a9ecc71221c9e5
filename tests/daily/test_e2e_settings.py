"""Settings of a real kernel over a real sshd: a loop device that nobody uses, set, read back, undone, resumed after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.kernel import LOOP, NEEDED, QUEUE, Kernel
from tests.support.patience import until

pytestmark = NEEDED


def path(name: str) -> str:
    return f"/sys/block/{LOOP}/queue/{name}"


def test_what_the_kernel_says_is_shown(kernel: Kernel) -> None:
    """A setting's record has its value, and the words that the kernel lists where it lists them."""
    (row,) = kernel.ok("-o", "json", f"on @ini show setting {path('scheduler')}").records
    text = (kernel.queue / "scheduler").read_text()
    assert (
        row["value"] == kernel.value("scheduler") and row["allowed"] == text.replace("[", "").replace("]", "").split()
    )
    every = kernel.ok("-o", "json", "on @ini show setting /sys/block/loop*/queue/nr_requests").records
    assert {row["device"] for row in every} == {device.name for device in Path("/sys/block").glob("loop*")}


def test_devices_with_gaps_share_a_row(kernel: Kernel) -> None:
    """Devices with the same value are told in one row as ranges, also where one between them is not among them."""
    if not all(Path(f"/sys/block/loop{number}").exists() for number in (0, 1, 3)):
        pytest.skip("this kernel has too few loop devices")
    shown = kernel.ok("--fold", "on @ini show setting /sys/block/loop[013]/queue/max_hw_sectors_kb").out
    assert "loop[0-1,3]" in shown, shown


def test_a_setting_is_set_read_back_and_undone(kernel: Kernel) -> None:
    """The change is in the kernel afterwards, and undo brings back the old value; a second time there is nothing to do."""
    before = kernel.value("rq_affinity")
    new = "2" if before != "2" else "1"
    planned = kernel.ok(f"set setting {path('rq_affinity')}={new} on @ini", "-n")
    assert (
        "until the next boot" in planned.err
        and "60-local.rules" in planned.err
        and kernel.value("rq_affinity") == before
    )
    kernel.ok(f"set setting {path('rq_affinity')}={new} on @ini -y")
    assert kernel.value("rq_affinity") == new
    assert kernel.ok("-o", "json", f"show setting {path('rq_affinity')} on @ini").records[0]["value"] == new
    again = kernel.ok(f"on @ini set setting {path('rq_affinity')}={new} -y").out
    assert "nothing to do" in again and again.startswith("host ")
    kernel.ok("undo -y")
    assert kernel.value("rq_affinity") == before


def test_a_scheduler_brings_its_own_depth_and_undo_restores_both(kernel: Kernel) -> None:
    """Changing the scheduler may set nr_requests anew: undo brings both back."""
    before = {name: kernel.value(name) for name in ("scheduler", "nr_requests")}
    listed = (kernel.queue / "scheduler").read_text().replace("[", "").replace("]", "").split()
    others = [word for word in listed if word != before["scheduler"]]
    if not others:
        pytest.skip("this kernel has one scheduler for the device")
    kernel.ok(f"on @ini set setting {path('scheduler')}={others[0]} -y")
    assert kernel.value("scheduler") == others[0]
    kernel.ok("undo -y")
    assert {name: kernel.value(name) for name in before} == before


@pytest.mark.parametrize("form", ["{}='{}'", '{}="{}"', "'{}={}'"])
def test_a_value_of_several_numbers_stands_in_quotes(kernel: Kernel, form: str) -> None:
    """Quotes go around the value, or around all of it."""
    least, default, most = Path("/proc/sys/net/ipv4/tcp_rmem").read_text().split()
    value = f"{least} {default} {int(most) + 4096}"
    planned = kernel.ok("on @ini set setting " + form.format("/proc/sys/net/ipv4/tcp_rmem", value), "-n")
    assert f"-> {value}" in planned.err


def test_what_the_kernel_rounds_is_noticed(kernel: Kernel) -> None:
    """A value that the kernel takes with exit 0 and keeps otherwise is a failure that names both, and undo takes it back."""
    before = kernel.value("read_ahead_kb")
    done = kernel(f"on @ini set setting {path('read_ahead_kb')}=4097 -y")
    assert done.code == 1 and "is 4096, not 4097" in done.err
    kernel.ok("undo -y")
    assert kernel.value("read_ahead_kb") == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{path('scheduler')}=mq-dedline", "did you mean mq-deadline?"),
        (f"{path('max_sectors_kb')}=99999999", "at most (queue/max_hw_sectors_kb)"),
        (f"{path('max_hw_sectors_kb')}=4", "is read-only"),
        (f"{path('nr_requests')}=many", "takes a number"),
        (f"{path('no_such')}=1", "there is no"),
        (f"'{path('nr_requests')}=1;reboot'", "is not a value of a setting"),
        (f"'{path('nr_requests')}=$(reboot)'", "is not a value of a setting"),
        (f"'{path('nr_requests')}=1`reboot`'", "is not a value of a setting"),
        ("/proc/sys/kernel/core_pattern=1", "not a setting that exacell changes"),
        ("/sys/block/../../etc/queue/x=1", "is not the path of a setting"),
    ],
)
def test_what_can_not_be_set_is_refused_before_anything_is_sent(kernel: Kernel, words: str, said: str) -> None:
    """A wrong word, a value beyond the device's limit, a file that is no setting: one line, and no change in the journal."""
    before = {name: kernel.value(name) for name in QUEUE}
    done = kernel(f"on @ini set setting {words} -y")
    assert done.code == 2 and said in done.err, done.err
    assert {name: kernel.value(name) for name in QUEUE} == before and kernel.ok("-o", "json", "journal").records == []


def test_what_the_kernel_refuses_is_said_in_its_words(kernel: Kernel) -> None:
    """A number that the device does not take is a failure with the kernel's reason; nothing is changed."""
    before = kernel.value("nr_requests")
    done = kernel(f"on @ini set setting {path('nr_requests')}=-5 -y")
    assert done.code == 1 and "Invalid argument" in done.err and kernel.value("nr_requests") == before


def test_a_host_without_dbmcli_says_so(kernel: Kernel) -> None:
    """DBMCLI's statements on a host that is no database node end with what is missing there, not with a bare exit status."""
    done = kernel("on @ini list dbserver")
    assert done.code == 1 and "ini1: there is no dbmcli" in done.err, done.err


def test_a_read_only_session_sets_nothing(kernel: Kernel) -> None:
    """-m shows settings and sets none."""
    assert kernel("-m", f"on @ini show setting {path('rq_affinity')}").code == 0
    done = kernel("-m", f"on @ini set setting {path('rq_affinity')}=0 -y")
    assert done.code == 2 and "read-only" in done.err


def test_undo_refuses_what_somebody_changed_since(kernel: Kernel) -> None:
    """What was set by hand after the change is not overwritten by undo."""
    new = "2" if kernel.value("rq_affinity") != "2" else "1"
    kernel.ok(f"on @ini set setting {path('rq_affinity')}={new} -y")
    (kernel.queue / "rq_affinity").write_text("0")
    done = kernel("undo -y")
    assert done.code == 2 and "it has been changed since" in done.err and kernel.value("rq_affinity") == "0"


def test_a_killed_change_is_resumed_and_undone(kernel: Kernel) -> None:
    """kill -9 while the second of two settings is written: resume sets the rest, and undo takes both back."""
    folder = kernel.server.directory
    before = {name: kernel.value(name) for name in ("rq_affinity", "read_ahead_kb")}
    new = "2" if before["rq_affinity"] != "2" else "1"
    tee = folder / "bin" / "tee"
    # The second file waits until it is let go, and is then not written: the link was lost.
    tee.write_text(
        f"#!/bin/sh\ncase $1 in *read_ahead_kb) touch {folder}/reached; while [ ! -e {folder}/go ]; do sleep 0.05; done; exit 1;;"
        ' esac\nexec /usr/bin/tee "$@"\n'
    )
    tee.chmod(0o755)
    words = ["-r", "lab", f"on @ini set setting {path('rq_affinity')}={new} {path('read_ahead_kb')}=512 -y"]
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", *words],
        env=kernel.program.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert until((folder / "reached").exists)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        (folder / "go").touch()
    tee.unlink()
    assert kernel.value("rq_affinity") == new and kernel.value("read_ahead_kb") == before["read_ahead_kb"]
    assert "1" in kernel("pending").out
    kernel.ok("resume -y")
    assert kernel.value("rq_affinity") == new and kernel.value("read_ahead_kb") == "512"
    kernel.ok("undo -y")
    assert {name: kernel.value(name) for name in before} == before
