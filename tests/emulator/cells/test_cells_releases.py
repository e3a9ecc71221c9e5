"""Releases and models: which go together, and what each can and cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_bench import IN_DATA, AsmStub, Bench

from exacell.emulator.basics.profiles import hardware_model, release_profile
from exacell.emulator.basics.store import RackFiles
from exacell.emulator.hosts.kinds import CELL
from exacell.emulator.hosts.shell import Host, Login
from exacell.emulator.server.ssh import refusal


@pytest.mark.parametrize(
    ("model", "asked", "found"),
    [
        ("x2", "12.1", "12.1.2"),
        ("x2", "11.2", "11.2.3.3.1"),
        ("x8m", "26", "26.1"),
        ("x6", "", "19.3"),
        ("x10m", "24", "24.1"),
    ],
)
def test_a_release_may_be_named_by_its_beginning(model: str, asked: str, found: str) -> None:
    """The beginning of a release's name means the newest that begins so and runs on the model."""
    assert release_profile(asked, hardware_model(model)).name == found


def test_the_first_release_with_a_flash_log_has_no_write_back(bench: Bench) -> None:
    """11.2.2.4: flash log, no flashCacheMode, no FLUSH, no shares; IORM is active or inactive; sizes end at G."""
    bench = Bench(release="11.2.2.4")
    assert bench.cell.mode == "WriteThrough"
    assert bench.one("list flashlog attributes size") == "512M"
    assert "CELL-02907" in bench.e("list cell attributes flashCacheMode")
    assert "CELL-01504" in bench.e("alter flashcache all flush")
    assert "share is not an attribute" in bench.e("alter iormplan dbplan=((name=SPOT,share=2))")
    assert bench.e("alter iormplan inactive") == "IORMPLAN successfully altered\n"
    assert bench.one("list iormplan attributes status") == "inactive"
    assert bench.e("drop flashcache") == "Flash cache exa1cel01_FLASHCACHE successfully dropped\n"
    assert "CELL-01504" in Bench().e("alter iormplan inactive")
    assert "Cell Efficiency Ratio: 128" in bench.run(tty=True, stdin=["exit"])
    assert bench.run("-e", "list metriccurrent FL_IO_W") != ""


@pytest.mark.parametrize(("release", "running"), [("11.2.3.2.1", False), ("11.2.3.3.1", True), ("19.3", True)])
def test_how_the_mode_is_changed(release: str, running: bool) -> None:
    """Up to 11.2.3.3.0 the mode changes only while CELLSRV is down, since then while it runs; there it is printed as written."""
    bench = Bench(release=release)
    bench.flush()
    bench.e("drop flashcache")
    change = "alter cell flashCacheMode=writethrough"
    if running:
        assert bench.e(change) == "Cell exa1cel01 successfully altered\n"
        return
    assert "CELL-02938" in bench.e(change) and bench.cell.mode == "WriteBack"
    bench.e("alter griddisk all inactive; alter cell shutdown services cellsrv")
    assert bench.e(change) == "Cell exa1cel01 successfully altered\n"
    bench.e("alter cell startup services cellsrv; alter griddisk all active; create flashcache all")
    assert bench.one("list cell attributes flashCacheMode") == "writethrough"
    assert bench.one("list flashcache attributes size") == "364.75G"


@pytest.mark.parametrize("release", ["11.2.3.3.1", "12.1.2"])
@pytest.mark.parametrize("mode", ["writeback", "WriteBack"])
def test_the_mode_of_a_stopped_cell(release: str, mode: str) -> None:
    """Up to 12.1 the mode may also be set while CELLSRV is down, and is printed as it was written; 19.3 does neither."""
    bench = Bench(release=release, mode="writethrough")
    newer = Bench(mode="writethrough")
    for each in (bench, newer):
        each.e("drop flashcache; alter cell shutdown services cellsrv")
    assert bench.e(f"alter cell flashCacheMode={mode}") == "Cell exa1cel01 successfully altered\n"
    assert newer.e(f"alter cell flashCacheMode={mode}").startswith("CELL-02559:")
    for each in (bench, newer):
        each.e("alter cell startup services cellsrv")
    newer.e(f"alter cell flashCacheMode={mode}")
    assert bench.one("list cell attributes flashCacheMode") == mode
    assert newer.one("list cell attributes flashCacheMode") == "WriteBack"
    assert bench.e("create flashcache all") == "Flash cache exa1cel01_FLASHCACHE successfully created\n"
    assert bench.cell.write_back


def test_extreme_flash_has_no_hard_disks() -> None:
    """On an EF cell grid disks lie on flash, the cache takes five percent, redo is on fast media, ALL means flash."""
    bench = Bench(model="x6ef")
    assert bench.e("list celldisk where diskType=harddisk") == ""
    sizes = bench.values("list celldisk attributes name, size, freeSpace")
    assert len(sizes) == 8
    cache = bench.cell.flash_cache
    assert cache is not None
    total = sum(disk.size_bytes for disk in bench.cell.cell_disks.values())
    assert cache.size_bytes == pytest.approx(total * 0.05, rel=0.01)
    assert len(bench.values("list griddisk where diskType=flashdisk")) == 16
    end = bench.rack.start_load(db="SPOT", redo=100, seconds=60).end
    bench.pass_time(end - bench.rack.clock.now() + 1)
    assert bench.metric("FL_IO_W") == 0 < bench.metric("FL_IO_W_SKIP_LOG_ON_FAST_DEV")


def test_administrators_of_26_1_are_restricted() -> None:
    """From 26.1 on celladmin runs CellCLI and a few reading commands, no scripts and no pipes; root and older cells do."""
    files = RackFiles(Path("/nowhere"))
    new, old = (Host(files=files, name="exa1cel01", kind=CELL, restricted=flag) for flag in (True, False))
    admin, root = Login(host=new, user="celladmin"), Login(host=new, user="root")
    for command in ("cellcli -e list cell", "hostname", "cellcli -e 'list cell detail'"):
        assert refusal(admin, command) == ""
    for command in (
        "sh x.sh",
        "cellcli -e list cell | wc -l",
        "scp -t /tmp",
        "A=1 cellcli -e list cell",
        "( hostname )",
    ):
        assert "not allowed for celladmin" in refusal(admin, command)
        assert refusal(root, command) == refusal(Login(host=old, user="celladmin"), command) == ""


def test_capacity_optimized_flash_holds_the_data() -> None:
    """X10M EF: cache and log on performance-optimized flash, grid disks on the other, which ALL and FLASHDISK mean."""
    bench = Bench(model="x10mef")
    fast, large = ([f"FD_{n:02d}_exa1cel01" for n in numbers] for numbers in (range(4), range(4, 12)))
    cache, log = bench.cell.flash_cache, bench.cell.flash_log
    assert cache is not None and log is not None and sorted(cache.members) == sorted(log.members) == fast
    assert {row[0] for row in bench.values("list celldisk attributes diskType")} == {"FlashDisk"}
    assert {row[0] for row in bench.values("list griddisk attributes cellDisk")} == set(large)
    assert bench.one("list griddisk DATA_FD_04_exa1cel01 attributes cachedBy") == fast[0]
    for media, disks in (
        ("", large),
        ("flashdisk", large),
        ("capacityoptimized flashdisk", large),
        ("performanceoptimized flashdisk", fast),
    ):
        made = bench.e(f"create griddisk all {media} prefix=t size=1G").splitlines()
        assert [name for name in disks if any(name in line for line in made)] == disks
        # Cache and log own the fast disks, so that ALL passes over them in one line.
        assert len(made) == (1 if disks == fast else len(disks))
        bench.e("drop griddisk all flashdisk prefix=t force")
    load = bench.rack.start_load(db="SPOT", redo=2000, seconds=120)
    bench.pass_time(load.end - bench.rack.clock.now() + 1)
    written = dict(bench.values("list metriccurrent CD_IO_RQ_R_SM attributes metricObjectName, metricValue"))
    assert all(written[disk] != "0 IO requests" for disk in (*fast, *large))
    small = dict(bench.values("list metriccurrent DB_CF_IO_RQ_SM attributes metricObjectName, metricValue"))
    assert small["SPOT"] != "0 IO requests"
    assert bench.metric("FL_IO_W") > 0


@pytest.mark.parametrize(
    ("release", "statement", "has", "has_not"),
    [
        ("11.2.2.4", "list physicaldisk detail", ["errMediaCount", "id"], []),
        ("19.3", "list physicaldisk detail", ["errOtherCount"], ["errMediaCount", "id"]),
        ("11.2.3.2.1", "list griddisk detail", ["offset"], ["asmDiskGroupType", "asmDiskSize", "sparse"]),
        ("12.1.2", "list griddisk detail", ["offset"], ["asmDiskGroupType", "asmDiskSize", "sparse"]),
        ("19.3", "list griddisk detail", ["asmDiskGroupType", "asmDiskSize", "sparse"], ["offset"]),
        ("11.2.2.4", "list cell detail", ["bmcType", "offloadEfficiency"], ["accessLevelPerm", "httpsAccess", "rpmVersion"]),
        ("12.1.2", "list cell detail", ["accessLevelPerm", "rpmVersion"], ["bmcType", "httpsAccess", "metricCollection"]),
        ("19.3", "list cell detail", ["httpsAccess", "metricCollection"], ["offloadEfficiency", "usbStatus"]),
    ],
)  # fmt: skip
def test_detail_has_what_a_release_prints(release: str, statement: str, has: list[str], has_not: list[str]) -> None:
    """DETAIL prints the attributes that published sessions of that release or of one near it show, and not the others."""
    bench = Bench(release=release)
    bench.rack.asm = AsmStub(IN_DATA)
    labels = {line.split(":")[0].strip() for line in bench.e(statement).splitlines()}
    assert set(has) <= labels
    assert not set(has_not) & labels


def test_attributes_that_detail_leaves_out_can_be_named() -> None:
    """What DETAIL does not print any more still answers when it is named: a disk's id is its cell disk's physicalDisk."""
    bench = Bench()
    ids = bench.values("list physicaldisk attributes id where name = 20:3")
    assert ids == bench.values("list celldisk attributes physicalDisk where name = CD_03_exa1cel01")
    assert bench.one("list griddisk DATA_CD_03_exa1cel01 attributes offset") == "32M"
    assert "CELL-02907" in Bench(model="x10m", release="24.1").e("list physicaldisk attributes name, id")


@pytest.mark.parametrize(
    ("model", "release", "ports"), [("x6", "19.3", ["ib0", "ib1"]), ("x8m", "22.1", ["re0", "re1"])]
)
def test_interconnects_are_those_of_the_network(model: str, release: str, ports: list[str]) -> None:
    """A cell on InfiniBand has other interfaces than one on RoCE."""
    assert Bench(model=model, release=release).values("list cell attributes interconnect1, interconnect2") == [ports]
