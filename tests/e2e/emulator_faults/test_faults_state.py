"""Faults that hold for a while: services, disks, the flush, the host key; and how long they stay."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from faults_bench import C1, C2, Bench

from exacell.core.errors import EmulatorError, ExacellError
from exacell.emulator import control
from exacell.transport.base import State
from tests.support.patience import must_come


def test_ms_is_down(bench: Bench) -> None:
    """ms-down makes every statement CELL-01514 until MS is started again, or the fault ends."""
    bench.fault("ms-down")
    assert bench.says("list cell").startswith("CELL-01514:")
    assert "successful" in bench.says("alter cell startup services ms")
    assert "online" in bench.says("list cell")
    bench.fault("ms-down")
    bench.clear()
    assert "online" in bench.says("list cell")


def test_cellsrv_is_down(bench: Bench) -> None:
    """cellsrv-down refuses changes with CELL-02559, takes the grid disks from ASM, and gives them back at its end."""
    bench.fault("cellsrv-down")
    assert bench.says("alter flashcache all flush nowait").startswith("CELL-02559:")
    assert bench.values("list cell attributes cellsrvStatus") == [["stopped"]]
    where = "list griddisk where asmDeactivationOutcome != 'Yes' attributes name"
    assert len(bench.values(where, host=C2)) > 0
    bench.clear(C1)
    assert bench.values("list cell attributes cellsrvStatus") == [["running"]]
    must_come(lambda: not bench.values(where, host=C2))


@pytest.mark.parametrize("variant", ["stale", "error", "endless"])
def test_a_flush_that_gets_stuck(fresh: Bench, variant: str) -> None:
    """stuck-flush keeps a flush from completing, each variant with its own signs; cleared, the flush completes."""
    fresh.fault("stuck-flush", variant=variant)
    fresh.says("alter flashcache all flush nowait")
    disks = "list celldisk where diskType=flashdisk attributes flushStatus, flushError"
    if variant != "endless":
        must_come(lambda: all(len(row) > 1 and row[1] for row in fresh.values(disks)))
        assert ("Stale" if variant == "stale" else "I/O error") in fresh.says(disks)
    stale = "list metriccurrent FC_BY_STALE_DIRTY attributes metricValue"
    must_come(lambda: (fresh.values(stale) == [["0.000 MB"]]) == (variant != "stale"))
    assert fresh.values("list flashcache attributes status") == [["normal - flushing"]]
    assert {row[0] for row in fresh.values(disks)} == {"working"}
    assert fresh.says("drop flashcache").startswith("CELL-")
    fresh.clear()
    must_come(lambda: fresh.values("list flashcache attributes status") == [["normal - flushed"]])


def test_a_flash_disk_fails(bench: Bench) -> None:
    """flash-disk breaks a disk, its LUN and cell disk; cache and log are degraded; cleared, everything is normal."""
    bench.fault("flash-disk", disk="FD_03")
    assert bench.values("list physicaldisk where status != normal attributes name,status") == [["FLASH_1_3", "failed"]]
    assert bench.values("list lun where status != normal attributes cellDisk") == [["FD_03_exa1cel01"]]
    assert bench.values("list celldisk where status != normal") == [["FD_03_exa1cel01", "not present"]]
    for kind in ("flashcache", "flashlog"):
        columns = bench.values(f"list {kind} attributes status,degradedCelldisks")
        assert columns == [["warning - degraded", "FD_03_exa1cel01"]]
    ((size, effective),) = bench.values("list flashcache attributes size,effectiveCacheSize")
    assert size == "364.75G" and effective != size
    bench.clear()
    assert bench.values("list physicaldisk where status != normal") == []
    assert bench.values("list flashcache attributes status,effectiveCacheSize") == [["normal", size]]


def test_a_broken_flash_disk_raises_an_alert(fresh: Bench) -> None:
    """A flash disk that breaks raises a critical alert with its maker, place and cell disk, cleared when it is replaced."""
    fresh.fault("flash-disk", disk="FD_03")
    ((name, _, severity, message),) = fresh.values("list alerthistory")
    assert (name, severity) == ("1_1", "critical")
    facts = dict(re.findall(r"(\S+(?: \S+)*) *: (.*?)(?:  |\"$)", message.split("failed.  ")[1]))
    assert facts["Status"] == "FAILED" and facts["Manufacturer"] == "MARVELL" and facts["Size"] == "23GB"
    assert facts["Cell Disk"] == "FD_03_exa1cel01" and facts["Grid Disk"] == "Not configured"
    assert fresh.values(
        "list alerthistory attributes alertShortName,alertType,metricObjectName,metricValue,endTime"
    ) == [["Hardware", "Stateful", "FLASH_1_3", "", ""]]
    fresh.clear()
    names = fresh.values("list alerthistory attributes name,severity,alertSequenceID")
    assert names == [["1_1", "critical", "1"], ["1_2", "clear", "1"]]
    assert fresh.values("list alerthistory attributes name where endTime = ''") == []
    fresh.fault("flash-disk", disk="FD_03", status="warning - poor performance")
    assert "entered poor performance status.  " in fresh.says("list alerthistory 2_1")


def test_redo_that_only_the_flash_log_holds(fresh: Bench) -> None:
    """kept-redo fills FL_BY_KEEP at once and with each load; the log can't be dropped before disks have it, but by FORCE."""
    fresh.fault("kept-redo", bytes=60 * 1024)
    kept = "list metriccurrent FL_BY_KEEP attributes metricValue"
    must_come(lambda: fresh.values(kept) == [["61440"]])
    assert fresh.says("drop flashlog").startswith("CELL-02922:")
    control.load(fresh.home, "t1", redo=500, seconds=60.0)
    ((more,),) = fresh.values(kept)
    ((errors,),) = fresh.values("list metriccurrent FL_DISK_IO_ERRS attributes metricValue")
    count = int(errors.split()[0].replace(",", ""))
    assert int(more.replace(",", "")) == count * 6 * 1024 > 61_440
    fresh.clear()
    must_come(lambda: fresh.values(kept) == [["0"]])
    assert "successfully dropped" in fresh.says("drop flashlog")
    with pytest.raises(EmulatorError, match="has no flash log"):
        fresh.fault("kept-redo")
    fresh.says("create flashlog all")
    fresh.fault("kept-redo")
    assert "successfully dropped" in fresh.says("drop flashlog force")


def test_a_restart_ends_connections(fresh: Bench) -> None:
    """restart breaks every connection to its cell that is open, and none to another; new ones are taken at once."""
    with fresh.session(C1, "cat") as ended, fresh.session(C2, "cat") as kept:
        for session in (ended, kept):
            assert _echoes(session)
        fresh.fault("restart", down=600)
        assert ended.wait(timeout=300) == 255
        assert _echoes(kept) and kept.poll() is None
    assert fresh.ssh(C1, "true").returncode == 0


def _echoes(session: subprocess.Popen[bytes]) -> bool:
    assert session.stdin is not None and session.stdout is not None
    session.stdin.write(b"x\n")
    session.stdin.flush()
    return session.stdout.readline() == b"x\n"


def test_a_flash_disk_that_is_about_to_fail(bench: Bench) -> None:
    """flash-disk takes a status, and a disk by its physical name; two of them may be broken at the same time."""
    bench.fault("flash-disk", disk="FLASH_5_3", status="warning - predictive failure")
    bench.fault("flash-disk", disk="FD_00")
    rows = bench.values("list celldisk where status != normal")
    assert rows == [["FD_00_exa1cel01", "not present"], ["FD_15_exa1cel01", "proactive failure"]]
    assert bench.clear(kind="flash-disk") == 2


def test_grid_disks_go_with_their_flash_disk(fresh: Bench) -> None:
    """A grid disk on a failed flash disk is not present, and active again when the disk has been replaced."""
    fresh.says("alter flashcache all flush")
    fresh.says("drop flashcache")
    fresh.says("create griddisk all flashdisk prefix=ssd, size=1G")
    fresh.fault("flash-disk")
    assert fresh.values("list griddisk where name like 'ssd_FD_00_.*'") == [["ssd_FD_00_exa1cel01", "not present"]]
    assert fresh.says("create griddisk x celldisk=FD_00_exa1cel01, size=1G").startswith("CELL-02701:")
    fresh.clear()
    assert fresh.values("list griddisk where name like 'ssd_FD_00_.*'") == [["ssd_FD_00_exa1cel01", "active"]]


def test_a_full_disk(fresh: Bench) -> None:
    """disk-full lets ALL pass over that disk alone and succeed on others; on all flash disks no cache can be made."""
    fresh.says("alter flashcache all flush")
    fresh.says("drop flashcache")
    fresh.fault("disk-full", disk="FD_07")
    lines = fresh.says("create griddisk all flashdisk prefix=ssd, size=1G").splitlines()
    assert [line for line in lines if "successfully" not in line] == [
        "Cell disks were skipped because they had no freespace for grid disks: FD_07_exa1cel01."
    ]
    assert len(lines) == 16
    fresh.clear()
    fresh.fault("disk-full")
    assert fresh.says("create flashcache all size=100g").startswith("CELL-")
    assert fresh.says("create flashcache all").startswith("CELL-")
    fresh.clear()
    assert "successfully created" in fresh.says("create flashcache all size=100g")


def test_an_unguarded_cell(fresh: Bench) -> None:
    """Without its own guard a cell drops a write-back cache with dirty data; with it, it refuses."""
    assert fresh.says("drop flashcache").startswith("CELL-02912:")
    fresh.fault("unguarded")
    assert "successfully dropped" in fresh.says("drop flashcache")
    fresh.clear()
    assert fresh.says("drop flashcache", host=C2).startswith("CELL-02912:")


def test_the_host_key_changes(bench: Bench) -> None:
    """host-key offers a key that nobody knows: clients refuse it, open connections stay, and cleared the old one is back."""
    kept = bench.transport()
    assert bench.ask("list cell", over=kept).state is State.OK
    bench.fault("host-key")
    refused = bench.ask("list cell")
    assert refused.state is State.UNREACHABLE and "key" in refused.problem
    assert b"HOST IDENTIFICATION HAS CHANGED" in bench.ssh(C1, "true").stderr
    assert bench.ask("list cell", over=kept).state is State.OK
    assert bench.ask("list cell", host=C2).state is State.OK
    bench.clear()
    assert bench.ask("list cell").state is State.OK


def test_after_and_for(bench: Bench) -> None:
    """after= and for= are seconds of the rack's clock: a fault waits, acts, and is forgotten, though nobody looks."""
    # Long enough for a busy machine to look while it waits.
    row = bench.fault("host-key", after=7200.0, **{"for": "90s"})
    begins, ends = float(str(row["begins"])), float(str(row["ends"]))
    assert row["state"] == "waiting" and 3600 < begins <= 7200 and ends - begins == pytest.approx(90)
    assert bench.ssh(C1, "true").returncode == 0
    bench.fault("host-key", after=60.0, **{"for": "90s"})
    must_come(lambda: bench.rows() == ())
    # Begun and ended one by one: on a busy machine one ssh takes longer than a fault for= seconds.
    bench.fault("host-key", after=60.0)
    must_come(lambda: bench.ssh(C1, "true").returncode == 255)
    bench.fault("host-key", **{"for": "90s"})
    must_come(lambda: bench.ssh(C1, "true").returncode == 0)
    assert bench.rows() == ()


def test_faults_survive_a_restart_of_the_rack(fresh: Bench) -> None:
    """Faults, what they have counted, and what they have done to a cell are still there after stop and start."""
    fresh.fault("error", code="CELL-02559", match="flashlog", nth=2)
    fresh.says("list flashlog")
    fresh.fault("flash-disk", disk="FD_02")
    fresh.fault("host-key", host=C2)
    fresh.restart()
    assert [(row["host"], row["kind"], row["seen"]) for row in fresh.rows()] == [
        (C1, "error", 1),
        (C1, "flash-disk", 0),
        (C2, "host-key", 0),
    ]
    assert fresh.says("list flashlog").startswith("CELL-02559:")
    assert fresh.ssh(C2, "true").returncode == 255
    fresh.clear()
    assert fresh.values("list celldisk where status != normal") == []
    fresh.restart()
    assert fresh.rows() == () and fresh.ssh(C2, "true").returncode == 0


def test_a_fault_replaces_its_like(bench: Bench) -> None:
    """A second fault of a kind for the same statements takes the first one's place; for others it stands beside it."""
    bench.fault("error", code="CELL-00006")
    bench.fault("error", code="CELL-02559")
    bench.fault("error", code="CELL-02559", match="iorm")
    assert [row["options"] for row in bench.rows()] == [{"code": "CELL-02559"}, {"code": "CELL-02559"}]
    bench.fault("cellsrv-down")
    bench.fault("cellsrv-down", **{"for": 30.0})
    must_come(lambda: len(bench.rows()) == 2)
    assert bench.values("list cell attributes cellsrvStatus", host=C2) == [["running"]]
    bench.clear()
    assert bench.values("list cell attributes cellsrvStatus") == [["running"]]
    must_come(lambda: not bench.values("list griddisk where asmModeStatus != ONLINE attributes name"))


WRONG = [
    ("hangs", {}, "hangs is no kind of fault; there are refuse, hang"),
    ("hang", {"delay": 2}, "a hang fault takes no delay=; its options are after, every, for, match, nth"),
    ("slow", {"delay": "soon"}, "soon"),
    ("slow", {"delay": 0}, "delay=0 is not possible"),
    ("error", {}, "code= is no error of this host"),
    ("error", {"code": "ORA-15041"}, "code=ORA-15041 is no error of this host: CELL- and five digits"),
    ("error", {"code": "CELL-02559", "match": "("}, "match=( is no regular expression"),
    ("error", {"code": "CELL-02559", "nth": 0}, "nth=0 is no whole number from 1"),
    ("error", {"code": "CELL-02559", "nth": 2, "every": 2}, "nth= and every= exclude each other"),
    ("drop", {"bytes": -1}, "bytes=-1 is no whole number from 0"),
    ("flash-disk", {"disk": "CD_00"}, "exa1cel01 has no flash cell disk CD_00; it has FD_00_exa1cel01"),
    ("flash-disk", {"status": "sick"}, "status='sick' is none of a broken flash disk"),
    ("stuck-flush", {"variant": "x"}, "variant=x is no way to get stuck; there are stale, error, endless"),
    ("restart", {"for": 3}, "takes down="),
    ("ms-down", {"for": 0}, "for=0 is not possible"),
]


@pytest.mark.parametrize(("kind", "options", "message"), WRONG)
def test_wrong_faults_are_refused(bench: Bench, kind: str, options: dict[str, object], message: str) -> None:
    """What can't be injected is refused with the rule and the way out, and nothing is injected."""
    with pytest.raises(ExacellError, match=re.escape(message)):
        control.fault(bench.home, "t1", [C1], kind, **options)
    assert bench.rows() == ()


def test_faults_of_hosts_that_cannot_have_them(bench: Bench, tmp_path: Path) -> None:
    """Unknown hosts, cells' faults on database nodes, and stuck flushes without dirty data are refused."""
    with pytest.raises(EmulatorError, match=r"no host exa1cel09; it has exa1cel\[01-02\] and exa1db01"):
        control.fault(bench.home, "t1", [C1, "exa1cel09"], "hang")
    with pytest.raises(EmulatorError, match="ms-down is a fault of cells: exa1db01 is a database node"):
        bench.fault("ms-down", host="exa1db01")
    with pytest.raises(EmulatorError, match="no kind of fault"):
        bench.clear(kind="hangs")
    assert bench.rows() == ()
    control.start(tmp_path, "t1", options={"cells": 2, "dbnodes": 1, "mode": "writethrough"})
    try:
        with pytest.raises(EmulatorError, match="WriteThrough mode: there is no dirty data"):
            control.fault(tmp_path, "t1", [C1], "stuck-flush")
    finally:
        control.stop(tmp_path, "t1")
    with pytest.raises(EmulatorError, match="not running"):
        control.faults(tmp_path, "t1")
