"""Recipes about block queues, run against two guests' kernels."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.real.guests import Guests
from tests.support.patience import until
from tests.support.program import Program

LIMITS = Path(__file__).parents[2] / "examples/block_limits.exa"
QUEUE = "/sys/block/sda/queue"


def both(guests: Guests, name: str) -> list[str]:
    return [guests.said(host, f"cat {QUEUE}/{name}").strip() for host in guests.names]


def test_block_queue_sets_three_settings_and_undo_takes_all_back(lab: Program, guests: Guests) -> None:
    """block_queue sets scheduler, depth and largest request on both guests; one undo brings all three back."""
    names = ("scheduler", "nr_requests", "max_sectors_kb")
    before = {name: both(guests, name) for name in names}
    given = "hosts=@initiators devices=sda scheduler=none nr_requests=64 max_sectors_kb=4096"
    lab.ok("-r", "lab", f"run block_queue {given} -n")
    assert {name: both(guests, name) for name in names} == before
    lab.ok("-r", "lab", f"run block_queue {given} -y")
    assert [both(guests, name) for name in names] == [["[none] mq-deadline"] * 2, ["64"] * 2, ["4096"] * 2]
    lab.ok("-r", "lab", "undo -y")
    assert {name: both(guests, name) for name in names} == before


def test_fio_row_brings_each_hosts_result(lab: Program, tmp_path: Path) -> None:
    """fio's JSON of each guest lies under its name and counts reads."""
    given = f"hosts=@initiators device=/dev/nullb0 tag=row to={tmp_path}/got seconds=1"
    lab.ok("-r", "lab", f"run fio_row {given} -y --accept-opaque")
    for host in ("ini1", "ini2"):
        assert json.loads((tmp_path / "got" / host / "row.json").read_text())["jobs"][0]["read"]["iops"] > 0


def test_net_queues_reads_both(lab: Program) -> None:
    """net_queues shows the card's driver, and changes nothing."""
    done = lab.ok("-r", "lab", "-o", "json", "run net_queues hosts=@initiators")
    assert "e1000" in done.out and lab.ok("-r", "lab", "-o", "json", "journal").records == []


def reads_of(lab: Program, *words: str) -> dict[tuple[str, str], float]:
    """Return reads in a second that a run's results tell, by name and host."""
    rows = lab.ok("-r", "lab", "-o", "json", "results", *words).records
    told = {(row["name"], row["cell"]): json.loads(Path(row["file"]).read_text()) for row in rows}
    return {which: found["jobs"][0]["read"]["iops"] for which, found in told.items()}


def test_block_limits_measures_at_each_size_and_puts_back_what_was_there(lab: Program, guests: Guests) -> None:
    """Killed by kill -9 while fio reads at the second size: resume alone picks up that fio, measures at the third size, and sets
    what was there before again, as a run that nobody killed does; each run has kept three results of each host."""
    lab.ok("-r", "lab", "on @initiators set setting /sys/block/sda/queue/max_sectors_kb=512 -y")
    words = ["-r", "lab", f"run {LIMITS} seconds=8 -y --accept-opaque"]
    quiet = subprocess.DEVNULL
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", *words],
        env=lab.env,
        stdin=quiet,
        stdout=quiet,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if "kb=32767: keep sh --detach fio" in line:
                break
        apart = "ls -d /tmp/exacell-*"
        assert until(lambda: all(guests.said(host, apart) for host in guests.names)), said
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert "stopped after 4 of its lines: `resume` continues it" in lab.ok("-r", "lab", "pending").out
    done = lab.ok("-r", "lab", "resume -y")
    assert "is not started again: ini1: " in " ".join(done.err.split())
    assert lab.ok("-r", "lab", "-o", "json", "pending").records == []
    assert both(guests, "max_sectors_kb") == ["512"] * 2
    lab.ok("-r", "lab", f"run {LIMITS} seconds=2 -y --accept-opaque")
    took = time.monotonic() - began
    assert both(guests, "max_sectors_kb") == ["512"] * 2
    for run in ("r1", "r2"):
        found = reads_of(lab, run)
        assert found.keys() == {(f"fio_{kb}", host) for kb in (1280, 32767, 4096) for host in guests.names}
        assert all(found.values())
    row = next(
        row
        for row in lab.ok("-r", "lab", "-o", "json", "compare r1:fio_1280@ini1 fio_1280@ini1").records
        if row.get("figure") == "iops"
    )
    compared = [reads_of(lab, run)["fio_1280", "ini1"] for run in ("r1", "r2")]
    assert [round(row["a"]), round(row["b"])] == [round(iops) for iops in compared]
    for host in guests.names:
        assert "exacell-" not in guests.said(host, "ls /tmp")
    assert took < 120
    lab.ok("-r", "lab", "on @initiators set setting /sys/block/sda/queue/max_sectors_kb=1280 -y")


def test_vpd_limits_stand_beside_what_the_kernel_holds(lab: Program, guests: Guests) -> None:
    """The PVSCSI disk reports no optimal length and scsi_debug's one of 8192 blocks; each page of sg_vpd is kept and can be
    imported; nothing is changed."""
    for device, reported in (("sda", "not reported"), ("sdb", "8192 blocks")):
        done = lab.ok("-r", "lab", f"run vpd_limits hosts=@initiators device={device}", "-y", "--accept-opaque")
        assert "max_hw_sectors_kb" in done.out and "optimal_io_size" in done.out
        files = [Path(row["file"]) for row in lab.ok("-r", "lab", "-o", "json", "results").records]
        assert len(files) == 2 and all(reported in file.read_text() for file in files)
        assert "sg_vpd" in lab.ok(f"import as={device} {files[0]}").out
        assert "sg_vpd" in lab.ok("-r", "lab", f"import vpd_{device}@ini1").out
    assert both(guests, "max_sectors_kb") == ["1280"] * 2


def test_fio_compare_runs_in_turn_and_gives_the_setting_back(lab: Program, guests: Guests, tmp_path: Path) -> None:
    """Two runs at each value, each on two hosts at once, end in a comparison of two runs each; the setting is as it was."""
    given = f"hosts=@initiators device=sda a=512 b=1280 runs=1,2 seconds=4 bs=1m to={tmp_path}/got"
    before = both(guests, "max_sectors_kb")
    lab.ok("-r", "lab", f"run fio_compare {given}", "-n")
    done = lab.ok("-r", "lab", f"run fio_compare {given}", "-y", "--accept-opaque")
    assert both(guests, "max_sectors_kb") == before
    assert "in max_sectors_kb_512" in done.out and "from 2 and 2 runs" in done.out
