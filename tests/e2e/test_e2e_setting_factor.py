"""Experiments on a setting of a real kernel, over a real sshd, on a rack without cells: measured by what fio tells."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernel import LOOP, NEEDED, Kernel
from tests.support.patience import until
from tests.support.program import Done

pytestmark = NEEDED

DEPTH = f"/sys/block/{LOOP}/queue/nr_requests"
"""What is switched: of a device that nobody uses, so that it has no effect by itself."""

FIO = (
    '{{"fio version": "fio-3.33", "jobs": [{{"jobname": "j", "groupid": 0, '
    '"read": {{"total_ios": 500, "lat_ns": {{"N": 500, "mean": {}}}}}}}]}}'
)


def script(folder: Path, *, slow: str) -> Path:
    """Write a stand-in for fio: it tells a latency of 200 us, half as much again while the depth is ``slow``, with some noise."""
    path = folder / "load.sh"
    path.write_text(
        f"n=$(cat {folder}/runs 2>/dev/null || echo 0); echo $((n + 1)) > {folder}/runs\n"
        f"mean=$((200000 + n * 7919 % 1000)); [ $(cat {DEPTH}) = '{slow}' ] && mean=$((mean * 3 / 2))\n"
        f"printf '{FIO.format('%s')}\\n' $mean\n"
    )
    return path


def verdict(done: Done) -> dict[str, Any]:
    (found,) = [row for row in done.records if "finding" in row]
    return found


def experiment(path: Path, *more: str) -> str:
    work = f"on @ini sh sh {path}"
    return f'experiment factor=setting:{DEPTH} levels=64,32 on=@ini seed=24 workload="{work}" {" ".join(more)} --accept-opaque -y'


@pytest.mark.parametrize(
    ("slow", "finding", "percent"), [("64", "different", 50), ("never", "no difference that matters", 0)]
)
def test_what_a_setting_does_to_fio_is_named_and_nothing_is_where_it_does_nothing(
    kernel: Kernel, tmp_path: Path, slow: str, finding: str, percent: float
) -> None:
    """fio's own latency is compared over the blocks; afterwards the kernel has what it had, a third value."""
    before = kernel.value("nr_requests")
    done = kernel.ok("-o", "json", experiment(script(tmp_path, slow=slow)))
    found = verdict(done)
    assert found["finding"] == finding and abs(found["effectPercent"] - percent) < 1
    assert "Experiment e1 on lab: nr_requests 64 against 32 on @ini" in done.err
    assert "A/A stretch: 6 runs at 32\n" in done.err and f"goes back to its present value ({before})" in done.err
    assert "an I/O of fio takes" in done.out and kernel.value("nr_requests") == before
    assert {row["count"] for row in done.records if "block" in row} == {1000}


def test_three_values_are_each_compared_with_the_first(kernel: Kernel, tmp_path: Path) -> None:
    """Of three values the one that slows fio down is named, the other is not; -n says how many blocks that needs."""
    before = kernel.value("nr_requests")
    text = experiment(script(tmp_path, slow="64"), "aa=1").replace("levels=64,32", "levels=32,64,128")
    shown = kernel.ok(text.replace(" -y", " -n"))
    assert "nr_requests 64 and 128, each against 32 on @ini" in shown.err and "6 blocks at least" in shown.err
    done = kernel.ok("-o", "json", text)
    found = {row["level"]: (row["finding"], round(row["effectPercent"])) for row in done.records if "finding" in row}
    assert found == {"64": ("different", 50), "128": ("no difference that matters", 0)}
    assert kernel.value("nr_requests") == before


def test_a_killed_experiment_leaves_the_setting_and_resume_brings_it_back(kernel: Kernel, tmp_path: Path) -> None:
    """After kill -9 at a level of a run the kernel has that level; resume makes what is left, and then it has what it had."""
    before, path = kernel.value("nr_requests"), script(tmp_path, slow="64")
    hold = tmp_path / "hold"
    path.write_text(f"while [ -e {hold} ]; do sleep 0.05; done\n" + path.read_text())
    words = ["-m", "exacell", "-r", "lab", experiment(path, "aa=0")]
    with subprocess.Popen(
        [sys.executable, *words], env=kernel.program.env, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "block 2, " in line:
                hold.touch()
                break
        assert until(lambda: kernel.value("nr_requests") in ("64", "32"))
        process.send_signal(signal.SIGKILL)
    hold.unlink()
    assert kernel.value("nr_requests") in ("64", "32")
    # What the workload had done when it was cut off nobody knows: that is set aside first.
    for row in kernel.ok("-o", "json", "pending").records:
        if row["change"]:
            kernel.ok(f"resume {row['change']} --abandon -y")
    done = kernel.ok("-o", "json", "resume --accept-opaque -y")
    assert verdict(done)["finding"] == "different" and kernel.value("nr_requests") == before
    assert len([row for row in done.records if "block" in row]) == 7


def test_without_cells_there_is_nothing_to_give_way_to(kernel: Kernel, tmp_path: Path) -> None:
    """yield= on a rack without cells is refused before anything is sent, and not passed over."""
    done = kernel(experiment(script(tmp_path, slow="64"), "yield=20ms"))
    assert done.code == 2 and "yield= needs the metric FL_RQ_TM_W_RQ, which these cells don't have" in done.err
    assert kernel.ok("-o", "json", "journal").records == []


@pytest.mark.skipif(shutil.which("fio") is None, reason="there is no fio here")
def test_what_fio_itself_writes_is_read(kernel: Kernel, tmp_path: Path) -> None:
    """A real fio on a file: its mean latency is the run's value, and its I/Os are counted."""
    file = tmp_path / "data"
    job = f"fio --name=r --filename={file} --size=1m --rw=randread --bs=4k --number_ios=500 --output-format=json"
    words = (
        f'experiment factor=setting:{DEPTH} levels=64,32 on=@ini seed=24 blocks=1 aa=0 load="{job}" --accept-opaque -y'
    )
    done = kernel.ok("-o", "json", words)
    (block,) = [row for row in done.records if "block" in row]
    alone = json.loads(subprocess.run(shlex.split(job), capture_output=True, check=True, text=True).stdout)
    took = alone["jobs"][0]["read"]["lat_ns"]
    assert block["count"] == 2 * took["N"] and 0 < block["64Us"] < 1000 * took["mean"] / 1000
