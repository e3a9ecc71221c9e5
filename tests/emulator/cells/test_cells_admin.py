"""Thresholds and alerts, metric definitions, cell disks, LUNs, physical disks, ports, calibration, spool and formats."""

from __future__ import annotations

import json

from cells_bench import STUCK, AsmStub, Bench

from exacell.emulator.basics.clock import RackClock
from exacell.emulator.rack.rack import Rack
from tests.support.every import every

HOT = "create threshold CL_TEMP comparison='>', warning=1, critical=100"


def _alerts(bench: Bench) -> list[list[str]]:
    return bench.values("list alerthistory attributes name, severity, examinedBy")


def test_a_crossed_threshold_raises_an_alert_that_ends_when_it_is_back(bench: Bench) -> None:
    """A crossing begins a stateful sequence, a change of severity goes on with it, and coming back clears it."""
    assert bench.e(HOT) == "Threshold CL_TEMP successfully created\n"
    assert _alerts(bench) == []
    bench.pass_time(60)
    assert _alerts(bench) == [["1_1", "warning", ""]]
    assert bench.one("list metriccurrent CL_TEMP attributes alertState") == "warning"
    bench.e("alter threshold CL_TEMP critical=2")
    bench.pass_time(60)
    assert [row[:2] for row in _alerts(bench)][-1][1] == "critical"
    bench.e("alter threshold CL_TEMP warning=900, critical=901")
    bench.pass_time(60)
    assert bench.one("list metriccurrent CL_TEMP attributes alertState") == "normal"
    assert [row[:2] for row in _alerts(bench)] == [["1_1", "warning"], ["1_2", "critical"], ["1_3", "clear"]]


def test_a_sequence_changes_severity_and_clears(bench: Bench) -> None:
    """One sequence goes warning, critical, clear; all its members then have an end."""
    bench.e("create threshold FL_IO_DB_BY_W_SEC comparison='>', warning=0.1, critical=5")
    end = bench.rack.start_load(db="SPOT", redo=50, seconds=180).end
    bench.pass_time(end - bench.rack.clock.now() - 119)
    bench.rack.start_load(db="SPOT", redo=3000, seconds=60)
    bench.pass_time(300)
    assert [row[:2] for row in _alerts(bench)] == [["1_1", "warning"], ["1_2", "critical"], ["1_3", "clear"]]
    ends = bench.values("list alerthistory attributes endTime")
    assert len({end[0] for end in ends}) == 1 and ends[0][0].endswith(":00+00:00")
    text = bench.e("list alerthistory 1_2")
    assert 'critical\t "The critical threshold of the following metric has been crossed. Metric Name     : FL' in text


def test_occurrences_in_a_row_are_needed(bench: Bench) -> None:
    """With occurrences=3 two crossings are no alert, three are one."""
    bench.e("create threshold CL_TEMP comparison='>=', critical=1, occurrences=3")
    bench.pass_time(120)
    assert _alerts(bench) == []
    bench.pass_time(60)
    assert _alerts(bench) == [["1_1", "critical", ""]]


def test_values_are_averaged_over_the_observation(bench: Bench) -> None:
    """With observation=5 the mean of the last five values is compared. Source: Oracle SAGUG, create-threshold."""
    name = "CL_TEMP"
    bench.e(f"create threshold {name} comparison='>', warning=9, observation=5")
    threshold = bench.cell.thresholds[name]
    owner = "exa1cel01"
    threshold.recent[owner] = [0.0, 3.0, 0.0, 5.0]
    bench.pass_time(60)
    assert threshold.recent[owner] == [0.0, 3.0, 0.0, 5.0, 25.0] and _alerts(bench) == []
    bench.pass_time(60)
    assert _alerts(bench) == [["1_1", "warning", ""]]


def test_cumulative_metrics_take_thresholds(bench: Bench) -> None:
    """A metric that only grows can be limited, as in Oracle's own example of one of a category."""
    assert bench.e("create threshold fl_io_w comparison='>' warning=1") == "Threshold FL_IO_W successfully created\n"
    bench.pass_time(60)
    assert _alerts(bench) == [["1_1", "warning", ""]]


def test_a_threshold_on_one_object_ignores_the_others(bench: Bench) -> None:
    """A threshold with an object's name alerts for that object alone, one without for each that crosses."""
    bench.e("create threshold CD_IO_ERRS_MIN.CD_03_exa1cel01 comparison='<', critical=1")
    bench.pass_time(60)
    assert bench.values("list alerthistory attributes metricObjectName") == [["CD_03_exa1cel01"]]
    bench.e("drop threshold all; drop alerthistory all; create threshold CD_IO_ERRS_MIN comparison='<', critical=1")
    bench.pass_time(60)
    assert len(_alerts(bench)) == 28


@every(
    [
        ("create threshold nope comparison='>' warning=1", "Metric does not exist: nope"),
        ("create threshold CL_TEMP warning=1", "comparison and at least one of"),
        ("create threshold CL_TEMP comparison='~' warning=1", "Invalid value ~ for comparison"),
        ("create threshold CL_TEMP comparison='>' warning=hot", "Invalid value hot for warning: a number."),
        ("create threshold CL_TEMP comparison='>' warning=1 colour=red", "colour is not an attribute of THRESHOLD"),
        ("create threshold CL_TEMP", "CELL-01504"),
        ("alter threshold CL_FANS warning=1", "Threshold does not exist: CL_FANS"),
        ("drop alerthistory 9_1", "Alert does not exist: 9_1"),
        ("alter alerthistory all severity=clear", "Attribute severity of ALERTHISTORY cannot be altered."),
        ("alter metricdefinition CL_TEMP unit=K", "Attribute unit of METRICDEFINITION cannot be altered."),
        ("create celldisk all pmem harddisk", "CELL-01504"),
        ("alter lun 0_3 reenable", "LUN 0_3 is normal"),
        ("alter physicaldisk 20:3 reenable", "is not dropped for replacement: its status is normal"),
        ("drop celldisk CD_03_exa1cel01", "CELL-02550"),
        ("drop celldisk FD_03_exa1cel01", "is used by exa1cel01_FLASHCACHE"),
        ("create celldisk X lun=0_3", "CELL-02526: Pre-existing cell disk: CD_03_exa1cel01"),
        ("alter softwareupdate upgrade", "No software update can be read from store ''"),
    ]
)
def test_refusals_name_what_is_wrong(statement: str, answer: str) -> None:
    """What cannot be done is refused with its code and with the name or value that is wrong, and changes nothing."""
    bench = Bench(release="22.1", model="x6") if "metricdefinition" in statement else Bench()
    before = json.dumps(bench.rack.to_state())
    assert answer.replace("20:3", "8:3") in bench.e(statement)
    after = bench.rack.to_state()
    assert json.dumps(after["cells"]) == json.dumps(json.loads(before)["cells"])


def test_alerts_are_examined_and_dropped_together(bench: Bench) -> None:
    """Examining names who did; a member of a sequence cannot go without the others."""
    bench.e("create threshold FL_IO_DB_BY_W_SEC comparison='>', warning=0.1")
    end = bench.rack.start_load(db="SPOT", redo=500, seconds=60).end
    bench.pass_time(end - bench.rack.clock.now() + 61)
    assert bench.e("alter alerthistory 1_1 examinedby=jdoe") == "Alert 1_1 successfully altered\n"
    assert [row[2] for row in _alerts(bench)] == ["jdoe", ""]
    assert "belongs to a sequence: drop it together with 1_2" in bench.e("drop alerthistory 1_1")
    assert bench.e("drop alerthistory 1_1, 1_2").count("successfully dropped") == 2
    assert _alerts(bench) == []


def test_thresholds_and_alerts_survive_a_stop(bench: Bench) -> None:
    """A stored rack comes back with its thresholds, open sequences and alerts."""
    bench.e(HOT)
    bench.pass_time(60)
    shown = bench.e("list threshold detail; list alerthistory detail")
    state = json.loads(json.dumps(bench.rack.to_state()))
    bench.rack = Rack.from_state(state, RackClock(speed=60, wall=lambda: bench.wall, rack_start=bench.rack.now()))
    assert bench.e("list threshold detail; list alerthistory detail") == shown
    assert "critical:          \t 100.0" in shown


def test_an_older_state_loads_with_defaults(bench: Bench) -> None:
    """A state without the newer fields is read, and they have their defaults."""
    state = json.loads(json.dumps(bench.rack.to_state()))
    for cell in state["cells"].values():
        for name in ("thresholds", "alerts", "open_alerts", "metric_settings", "port_resets", "alert_sequences"):
            del cell[name]
    for metrics in state["metrics"].values():
        del metrics["past"], metrics["server_epoch"]
        metrics["collections"] = [row[:4] for row in metrics["collections"]]
    rack = Rack.from_state(state, RackClock(speed=60, wall=lambda: bench.wall, rack_start=bench.rack.now()))
    bench.rack = rack
    assert bench.e("list threshold; list alerthistory") == ""
    assert len(bench.values("list metrichistory fl_io_w")) == 61


def test_metric_definitions_are_switched(bench: Bench) -> None:
    """Streaming is switched for one metric, and for all that allow it; METRICSTREAM lists those that stream."""
    bench = Bench(release="22.1", model="x6")
    assert bench.e("alter metricdefinition CL_CPUT streaming=disabled") == (
        "Metric Definition CL_CPUT successfully altered\n"
    )
    assert bench.one("list metricdefinition CL_CPUT attributes streaming") == "Disabled"
    assert not any(row[0] == "CL_CPUT" for row in bench.values("list metricstream"))
    text = bench.e("alter metricdefinition all streaming=enabled where objectType='CELL'")
    assert text.count("successfully altered") >= 20
    assert "CL_CPUT\t" in bench.e("list metricstream CL_CPUT")


def test_a_cell_disk_is_dropped_and_made_anew(bench: Bench) -> None:
    """Without grid disks a cell disk goes; CREATE CELLDISK ALL HARDDISK brings it back with all of its space."""
    assert bench.e("drop celldisk CD_04_exa1cel01 force") == "CellDisk CD_04_exa1cel01 successfully dropped\n"
    assert "CD_04" not in bench.e("list celldisk; list griddisk")
    assert bench.one("list lun 0_4 attributes cellDisk") == ""
    assert bench.e("create celldisk all harddisk") == "CellDisk CD_04_exa1cel01 successfully created\n"
    assert bench.one("list celldisk CD_04_exa1cel01 attributes freeSpace") == "557.8125G"
    assert bench.e("create celldisk all harddisk") == ""


def test_renamed_disks_keep_what_lies_on_them(bench: Bench) -> None:
    """A renamed cell disk still carries its grid disks, and its part of the flash cache and log."""
    space = bench.one("list flashcache attributes size")
    assert bench.e("alter celldisk FD_00_exa1cel01 name=FAST") == "CellDisk FD_00_exa1cel01 successfully altered\n"
    assert bench.e("alter celldisk CD_05_exa1cel01 name='SLOW', comment='a b'").endswith("altered\n")
    assert "FAST" in bench.one("list flashcache attributes cellDisk")
    assert "FAST" in bench.one("list flashlog attributes cellDisk")
    assert bench.one("list flashcache attributes size") == space
    assert bench.one("list griddisk DATA_CD_05_exa1cel01 attributes cellDisk") == "SLOW"
    assert bench.one("list celldisk SLOW attributes comment") == '"a b"'
    assert "already exists" in bench.e("alter celldisk CD_06_exa1cel01 name=SLOW")
    bench.flush()
    assert bench.one("list celldisk FAST attributes flushStatus") == "complete"
    assert bench.e("alter cell name=newname") == "Cell newname successfully altered\n"
    assert bench.one("list cell attributes name") == "newname"
    assert bench.one("list flashcache attributes name") == "exa1cel01_FLASHCACHE"


def test_a_disk_is_dropped_for_replacement_and_comes_back(bench: Bench) -> None:
    """The disk, its LUN, cell disk and grid disks go together and come back together; ASM hears of it."""
    bench.rack.asm = asm = AsmStub()
    text = bench.e("alter physicaldisk 20:3 drop for replacement")
    assert text == "Physical disk 20:3 was dropped for replacement.\n"
    assert bench.one("list physicaldisk 20:3 attributes status") == "normal - dropped for replacement"
    assert bench.one("list celldisk CD_03_exa1cel01 attributes status") == "not present"
    assert ("exa1cel01", "DATA_CD_03_exa1cel01", "inactive") in asm.told
    bench.e("alter physicaldisk 20:3 reenable")
    assert bench.values("list physicaldisk 20:3 attributes name,status; list griddisk DATA_CD_03_exa1cel01") == [
        ["20:3", "normal"],
        ["DATA_CD_03_exa1cel01", "active"],
    ]
    bench.rack.asm = AsmStub(STUCK)
    assert "cannot be deactivated" in bench.e("alter physicaldisk 20:3 drop for replacement")


def test_ports_count_and_are_reset(bench: Bench) -> None:
    """The two ports of an InfiniBand card count what a load sends, and start anew when told to; RoCE has none."""
    end = bench.rack.start_load(db="SPOT", redo=500, seconds=60).end
    bench.pass_time(end - bench.rack.clock.now() + 1)
    statement = "list ibport attributes name, status, xmtData"
    assert [row[:2] for row in bench.values(statement)] == [["HCA-1:1", "Active"], ["HCA-1:2", "Active"]]
    assert all(int(row[2]) > 0 for row in bench.values(statement))
    assert bench.e("alter ibport 'HCA-1:1' reset counters") == "IBPort HCA-1:1 successfully altered\n"
    assert [int(row[2]) > 0 for row in bench.values(statement)] == [False, True]
    assert Bench(model="x8m").e("list ibport") == ""


def test_the_disk_map_has_titles(bench: Bench) -> None:
    """LIST DISKMAP prints a line of titles and every physical disk with what lies on it."""
    rows = bench.values("list diskmap")
    assert rows[0] == [
        *("Name", "PhysicalSerial", "SlotNumber", "Status", "PhysicalSize", "CellDisk", "DevicePartition", "GridDisks")
    ]
    assert len(rows) == 29
    assert rows[3][-1] == '"DATA_CD_02_exa1cel01, RECO_CD_02_exa1cel01"'


def test_other_objects_answer(bench: Bench) -> None:
    """Offload groups, software and alert definitions are listed; stopping CELLSRV stops the groups."""
    names = [row[0] for row in bench.values("list offloadgroup")]
    assert names == ["SYS_121220_191119", "SYS_122110_191119", "SYS_191000_191119"]
    assert bench.e(f"alter offloadgroup {names[0]} comment='mine'") == f"OffloadGroup {names[0]} successfully altered\n"
    assert bench.one(f"list offloadgroup {names[0]} attributes comment") == "mine"
    assert bench.e("list softwareupdate").startswith("\t unknown")
    assert bench.e("alter softwareupdate store='https://depot/'") == "Software Update successfully altered.\n"
    assert bench.one("list softwareupdate attributes store") == "https://depot/"
    assert len(bench.values("list alertdefinition")) > 250 < len(Bench(model="x10m").values("list alertdefinition"))
    bench.e("alter cell shutdown services cellsrv ignore redundancy")
    assert {row[0] for row in bench.values("list offloadgroup attributes runtimeState")} == {"stopped"}


def test_calibrate_needs_root_and_a_stopped_cellsrv(bench: Bench) -> None:
    """Only root calibrates, and only with CELLSRV down or FORCE; LUNs come in the text order of their names."""
    assert "CELL-02913" in bench.e("calibrate force")
    assert "CELL-01556" in bench.e("calibrate", login="root")
    text = bench.e("calibrate harddisk force", login="root")
    lines = text.splitlines()
    assert lines[0] == "Calibration will take a few minutes..."
    assert lines[1].startswith("Aggregate random read throughput across all hard disk LUNs: 1")
    assert lines[3] == "Calibrating hard disks (read only) ..."
    assert [line.split()[1] for line in lines[4:8]] == ["0_0", "0_1", "0_10", "0_11"]
    assert lines[4].startswith("LUN 0_0  on drive [20:0 ] random read throughput: 1")
    assert bench.pauses[-1].seconds == 600
    assert text == Bench().e("calibrate harddisk force", login="root")


def test_spool_copies_what_is_printed() -> None:
    """A spool file has what came after SPOOL, replaces or appends, and CREATE spares one that exists."""
    bench, files = Bench(), {"old": "mine\n"}

    def write(name: str, text: str, append: bool) -> bool:
        if name == "/etc/nope":
            return False
        files[name] = (files.get(name, "") if append else "") + text
        return True

    def run(*lines: str) -> str:
        return bench.run("-n", "-x", stdin=lines, read_file=files.get, write_file=write)

    shown = run("spool new", "list cell", "spool off", "list flashcache")
    assert files["new"] == "\t exa1cel01\t online\n" and shown.startswith(files["new"])
    assert run("spool") == "not spooling currently\n"
    assert "CELL-02936" in run("spool old create") and files["old"] == "mine\n"
    run("spo old app", "list cell")
    assert files["old"] == "mine\n\t exa1cel01\t online\n"
    assert "CELL-02937: Unable to write file /etc/nope." in run("spool /etc/nope")
    assert "CELL-01504" in run("spool old sideways")


def test_local_dates_last_for_the_session(bench: Bench) -> None:
    """SET DATEFORMAT LOCAL prints times in the host's form until the session ends."""
    statement = "list flashcache attributes creationTime"
    plain, local = bench.run("-n", "-x", stdin=[statement, "set dateformat local", statement]).splitlines()
    assert plain.endswith("+00:00") and local.split()[0] in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def test_json_is_known_from_24_1_on() -> None:
    """--json prints one document a statement on 24.1, with numbers as numbers; older releases do not know it."""
    bench = Bench(model="x10m")
    found = json.loads(bench.run("--json", "-e", "list metriccurrent FL_IO_W"))
    assert found["context"] == {"cell": "exa1cel01"}
    assert found["metric"][0]["name"] == "FL_IO_W" and found["metric"][0]["metricValue"] > 0
    assert Bench().run("--json", "-e", "list cell").startswith("Usage: ")
