"""The main job as scripts do it: one process a change, on the default emulated rack; what is there then is read in this one."""

from __future__ import annotations

import json

from tests.support.patience import until
from tests.support.program import InProcess

CELLS = ["exa1cel01", "exa1cel02", "exa1cel03"]
FULL = 391647330304
SMALL = 309237645312


def test_the_main_job_runs_from_the_command_line(fast):
    """It should reset, carve, group, measure, toggle and give everything back, each step with the numbers of an X2."""
    on, look = ("-r", "t1"), InProcess(fast.home)
    records = look.ok(*on, "-o", "json", "list", "flashcache", "attributes", "name,size,status").records
    assert [(r["cell"], r["size"], r["status"]) for r in records] == [(c, FULL, "normal") for c in CELLS]

    fast.ok(*on, "flush", "flashcache", "-y")
    for record in look.ok(*on, "-o", "json", "show", "flashcache").records:
        assert (record["caching"], record["dirty"], record["mode"]) == ("on", 0, "writeback")
        assert record["used"] < 1 << 30

    fast.ok(*on, "resize", "flashcache", "size=288g", "-y")
    assert {r["size"] for r in look.ok(*on, "-o", "json", "show", "flashcache").records} == {SMALL}
    free = look.ok(*on, "-o", "json", "list celldisk attributes name,freeSpace where diskType=flashdisk").records
    assert (len(free), {r["freeSpace"] for r in free}) == (48, {4912 << 20})

    fast.ok(*on, "carve", "griddisk", "prefix=ssddisk", "-y")
    disks = look.ok(*on, "-o", "json", "list griddisk attributes name,size where diskType=flashdisk").records
    assert {r["size"] for r in disks} == {5150605312}
    assert {r["name"] for r in disks} == {f"ssddisk_FD_{n:02}_{cell}" for n in range(16) for cell in CELLS}

    fast.ok(*on, "create", "diskgroup", "DATA_SSD", "prefix=ssddisk", "redundancy=normal", "au_size=4m", "-y")
    (group,) = look.ok(*on, "-o", "json", "show", "diskgroup", "DATA_SSD").records
    wanted = {
        "cell": None, "state": "MOUNTED", "type": "NORMAL", "auSize": 4194304, "disks": 48, "failgroups": 3,
        "totalMb": 235776,
    }  # fmt: skip
    assert {key: group[key] for key in wanted} == wanted

    fast.ok(*on, "snap", "flashlog", "as=before")
    fast.ok("emulator", "load", "t1", "db=SPOT", "redo=2000", "for=60")
    fast.ok(*on, "snap", "flashlog", "as=after")
    deltas = look.ok(*on, "-o", "json", "delta", "before", "after").records
    assert [r["cell"] for r in deltas] == [*CELLS, None]
    assert deltas[-1]["diskFirst"] + deltas[-1]["flashFirst"] == 240000
    for key in ("FL_DISK_FIRST", "FL_FLASH_FIRST", "FL_PREVENTED_OUTLIERS"):
        assert sum(r["deltas"][key] for r in deltas[:-1]) == deltas[-1]["deltas"][key]
    assert 0 < deltas[-1]["flashWinPercent"] < 100

    fast.ok(*on, "disable", "flashlog", "db=SPOT", "-y")
    plan = look.ok(*on, "-o", "json", "show", "iorm").records
    for cell in CELLS:
        spot, erp, default = (
            {k: v for k, v in r.items() if k not in ("cell", "objective")} for r in plan if r["cell"] == cell
        )
        assert {k.lower(): v for k, v in spot.items()} == {
            "name": "SPOT",
            "share": "8",
            "limit": "80",
            "flashlog": "off",
        }
        assert erp == {"name": "ERP", "share": "4", "flashcache": "off"}
        assert default == {"name": "default", "share": "1"}

    before = look.ok(*on, "-o", "json", "list griddisk attributes name,size,status").records
    refused = fast(*on, "drop", "griddisk", "all", "flashdisk", "prefix=ssddisk", "-y")
    assert refused.code == 2 and "DATA_SSD" in refused.err
    refused = fast(*on, "release", "griddisk", "prefix=ssddisk", "-y")
    assert refused.code == 2 and "drop diskgroup DATA_SSD" in refused.err
    refused = fast(*on, "drop", "diskgroup", "DATA", "-y")
    assert refused.code == 2 and "files" in refused.err
    assert look.ok(*on, "-o", "json", "list griddisk attributes name,size,status").records == before

    fast.ok(*on, "drop", "diskgroup", "DATA_SSD", "-y")
    fast.ok(*on, "release", "griddisk", "prefix=ssddisk", "regrow=yes", "-y")
    assert {r["size"] for r in look.ok(*on, "-o", "json", "show", "flashcache").records} == {FULL}

    answer = fast.ok(*on, "-o", "json", "run", "reset_cold", "size=288g", "-y").records
    assert [(r["cell"], r["size"], r["caching"], r["dirty"]) for r in answer] == [(c, SMALL, "on", 0) for c in CELLS]

    refused = fast(*on, "resize", "flashcache", "size=9t", "-y")
    assert refused.code == 2
    assert "364.75G (391647330304 bytes) on exa1cel[01-03]" in refused.err
    wrong = fast(*on, "list", "flashcach")
    assert wrong.code == 2 and "flashcache" in wrong.err and "^^^^^^^^^" in wrong.err

    changes = look.ok(*on, "-o", "json", "journal", "show").records
    assert all(c["ended"] == "exit 0" for c in changes) and len(changes) >= 8
    assert look.ok(*on, "-o", "json", "journal", "verify").records[0]["whole"] is True


def test_a_verb_that_has_nothing_to_do_says_so_and_exits_0(outside):
    """It should change nothing when the cells are already as asked, and say that."""
    size = "size=364.75g"
    done = outside.ok("-r", "t1", "resize", "flashcache", size, "-y")
    assert "already" in done.out and not outside.ok("-r", "t1", "-o", "json", "journal", "show").records


def test_a_killed_flush_is_reported_at_the_next_start_and_mended(t1):
    """It should warn after a kill in the middle of a flush, with the statement that mends it, until caching is back."""
    import subprocess
    import sys

    # A flush that ends would be over on a busy machine before anybody has seen it on all cells.
    t1.ok("emulator", "fault", "t1", "exa1cel[01-03]", "stuck-flush", "variant=endless")
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "t1", "flush", "flashcache", "-y"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=t1.env,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if b"Risk:" in line:
            break

    def under_way() -> bool:
        shown = t1("-r", "t1", "-o", "json", "list", "flashcache", "attributes", "name,status")
        return all("flush" in row["status"] for row in shown.records)

    assert until(under_way)
    process.kill()
    process.wait()
    process.stderr.close()
    warned = t1.ok("-r", "t1", "-o", "json", "show", "flashcache")
    assert "left flash caching off" in warned.err and "flush flashcache" in warned.err
    assert {r["caching"] for r in warned.records} == {"off"}
    t1.ok("emulator", "fault", "t1", "all", "clear")
    t1.ok("-r", "t1", "flush", "flashcache", "-y")
    after = t1.ok("-r", "t1", "-o", "json", "show", "flashcache")
    assert {r["caching"] for r in after.records} == {"on"} and "caching off" not in after.err


def test_the_demo_without_a_terminal_resets_the_rack(exacell):
    """It should run reset_cold when standard input ends without a statement, exit 0, and stop its rack."""
    done = exacell("demo", stdin="")
    assert done.code == 0 and "reset_cold" in done.err
    assert [r["running"] for r in exacell("-o", "json", "emulator", "status").records] == [False]


def test_a_rack_stored_by_another_version_is_refused_and_the_demo_begins_anew(exacell):
    """It should refuse to go on from state of another format, naming the way out; the demo takes that way itself."""
    assert exacell("demo", stdin="list cell\n").code == 0
    stored = exacell.home / "emulator/demo/state/rack.json"
    stored.write_text(json.dumps(json.loads(stored.read_text()) | {"format": 1}))
    refused = exacell("emulator", "start", "demo")
    assert refused.code == 2 and "another exacell" in refused.err and "emulator start demo reset=yes" in refused.err
    anew = exacell("-o", "json", "demo", stdin="list cell attributes name\n")
    assert anew.code == 0 and "it is created again" in anew.err
    assert [r["name"] for r in anew.records] == CELLS


def test_the_demo_runs_a_script_from_standard_input(exacell):
    """It should run exactly the statements on standard input."""
    done = exacell("-o", "json", "demo", stdin="list cell attributes name\n")
    assert done.code == 0 and "reset_cold" not in done.err
    assert [r["name"] for r in done.records] == CELLS


def test_starting_a_running_rack_says_so(shared):
    """It should exit 0 and say that the rack runs already."""
    done = shared.ok("emulator", "start", "t1")
    assert "already" in done.err


def test_cells_named_with_c_limit_the_statement(outside):
    """It should ask only the cells that -c names, in a set that may be folded."""
    done = outside.ok("-r", "t1", "-c", "exa1cel[02-03]", "-o", "json", "list", "cell", "attributes", "name")
    assert [r["cell"] for r in done.records] == ["exa1cel02", "exa1cel03"]


def test_nothing_is_sent_without_a_yes(outside):
    """It should refuse a change when there is no terminal for the question and -y was not given, with exit code 2."""
    refused = outside("-r", "t1", "flush", "flashcache")
    assert refused.code == 2 and "-y" in refused.err
    assert {r["status"] for r in outside.ok("-r", "t1", "-o", "json", "show", "flashcache").records} == {"normal"}


def test_a_plan_only_run_changes_nothing_and_says_whether_it_would(outside):
    """It should exit 3 with -n --detailed-exitcode when the plan has changes, and leave the rack as it was."""
    done = outside("-r", "t1", "-o", "json", "resize", "flashcache", "size=288g", "-n", "--detailed-exitcode")
    assert done.code == 3 and {r["outcome"] for r in done.records} == {"planned"}
    assert {r["size"] for r in outside.ok("-r", "t1", "-o", "json", "show", "flashcache").records} == {FULL}
    done = outside("-r", "t1", "resize", "flashcache", "size=364.75g", "-n", "--detailed-exitcode")
    assert done.code == 0


def test_read_only_refuses_before_anything_is_sent(outside):
    """It should refuse every change with -m, CellCLI's own included."""
    for statement in ("flush flashcache -y", "alter iormplan dbplan='' -y", "drop diskgroup RECO -y"):
        refused = outside("-r", "t1", "-m", statement)
        assert refused.code == 2, statement
    assert not outside.ok("-r", "t1", "-o", "json", "journal", "show").records


def test_a_home_with_a_blank_in_its_path_works(exacell, tmp_path):
    """It should reach an emulated rack whose files lie below a directory with a blank in its name."""
    program = type(exacell)(tmp_path / "my home")
    program.ok("emulator", "start", "t1", "cells=2")
    try:
        assert len(program.ok("-r", "t1", "-o", "json", "list", "cell").records) == 2
    finally:
        program.ok("emulator", "stop", "t1")
