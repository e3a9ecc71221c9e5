"""An experiment over the real chain: what is planted is found, what is not there is not, and the factor always comes back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from tests.support.program import Done, InProcess, Program, plain, told

AB = ("experiment", "factor=flashlog", "db=SPOT", "seed=24")
"""The seed draws on off, off on, and so on: in its second run and the third the flash log is off."""


@pytest.fixture(scope="module")
def lab(shared: InProcess) -> Iterator[InProcess]:
    """The module's rack, where SPOT's loads have a true effect of the flash log: 6 % more time."""
    shared.ok("emulator", "truth", "t1", "db=SPOT", "adds=6", "prevents=20")
    yield shared
    shared.ok("emulator", "truth", "t1", "db=SPOT", "--forget")


@pytest.fixture
def rack(lab: InProcess) -> Iterator[InProcess]:
    """The program; what it leaves of the IORM plan is what was there."""
    before = plans(lab)
    yield lab
    assert plans(lab) == before
    assert "is not locked" in lab("-r", "t1", "unlock").err


def plans(program: Program) -> Any:
    return program.ok("-r", "t1", "-o", "json", "list iormplan attributes dbPlan, objective").records


def says(done: Done) -> list[str]:
    return [row["says"] for row in done.records if "says" in row]


def verdict(done: Done) -> dict[str, Any]:
    (found,) = [row for row in done.records if "finding" in row]
    return found


def near_six(found: dict[str, Any]) -> bool:
    """Whether an experiment of seven blocks, ``for=4m`` each run, is about the planted 6 %.

    The effect of such an experiment has a standard deviation of 0.3 (by the emulator's spreads, and by 14 experiments), so the
    bounds are further away than chance goes: six and more of them. How often the interval holds the truth is judged by
    benchmarks/verdicts.py.
    """
    half = (found["highPercent"] - found["lowPercent"]) / 2
    return bool(abs(found["effectPercent"] - 6) < 2 and half < 3)


def blocks(done: Done) -> list[dict[str, Any]]:
    return [row for row in done.records if "block" in row]


def test_a_planted_effect_is_named_with_an_interval_that_holds_it(rack: InProcess, tmp_path: Path) -> None:
    """Seven blocks name the planted 6 %, show each block, keep what they found, and leave the plan as it was; the report has the
    verdict and each switch with the journal's hash."""
    done = rack.ok("-r", "t1", "-o", "json", *AB, "for=4m", "as=planted", "-y")
    found = verdict(done)
    assert says(done)[0].startswith(
        "Experiment planted: There is a difference: with flash log on, log file sync of SPOT takes"
    )
    assert found["finding"] == "different" and near_six(found)
    assert len(blocks(done)) == 7 and all(row["onUs"] > row["offUs"] for row in blocks(done))
    assert "redo writes over 500 ms in place of" in says(done)[0]
    assert found["outliersLow"] <= found["outliers"] - found["outliersBase"] <= found["outliersHigh"] < 0
    (tail,) = [line for line in says(done) if line.startswith("Outliers (over 500 ms)")]
    on, off = (int(part.split()[0].replace(",", "")) for part in tail.partition("databases: ")[2].split(", "))
    assert off > on and "more were prevented" in tail and tail.count("6,720,000 redo writes") == 2
    sizes = [row for row in done.records if "shorterThanUs" in row]
    slow = {
        level: sum(row[f"{level}Waits"] for row in sizes if row["shorterThanUs"] > 1 << 19) for level in ("on", "off")
    }
    # A commit waits for one write of two copies, and 0.9 of all writes are waited for.
    assert slow["off"] > slow["on"] and slow["off"] == pytest.approx(off * 0.9 / 2, abs=6)
    both = sum(row["onWaits"] + row["offWaits"] for row in sizes)
    assert both == sum(row["count"] for row in blocks(done))
    (shape,) = [line for line in says(done) if line.startswith("Single waits by powers of two")]
    assert f"{slow['off']:,} of 3,024,000 took half a second or more" in shape
    assert "A/A stretch: 6 runs at on" in done.err and "A/A stretch: two runs at on spread by" in done.err
    assert rack.ok("-r", "t1", "-o", "json", "results", "planted").out == done.out
    page = tmp_path / "planted.json"
    rack.ok("-r", "t1", "report", "planted", "json", f"to={page}")
    report = json.loads(page.read_text())
    assert report["verdict"] == says(done)[0].removeprefix("Experiment planted: ")
    rows = [json.loads(line) for line in rack.ok("-r", "t1", "journal", "export", "format=jsonl").out.splitlines()]
    last = {str(row["change"]): row["hash"] for row in rows}
    told = {change["statement"]: change["chained"] == last[change["id"]] for change in report["changes"]}
    assert told["disable flashlog db=SPOT"] and told["enable flashlog db=SPOT"] and all(told.values())
    archive = tmp_path / "planted.zip"
    seal = rack.ok("-r", "t1", "-o", "json", "report", "planted", "--evidence", f"to={archive}").records[0]["seal"]
    proved = rack.ok("-r", "t1", "-o", "json", "report", "verify", str(archive)).records[0]
    assert proved["whole"] and proved["seal"] == seal
    with zipfile.ZipFile(archive) as packed:
        kept = [json.loads(line) for line in packed.read("files/journal.jsonl").splitlines()]
        runs = packed.read("files/runs.csv").decode().splitlines()
        csv = packed.read("distributions/flash_log_off.csv").decode().splitlines()
    assert csv[0] == "value,count"
    assert csv[1:] == [f"{row['shorterThanUs']},{row['offWaits']}" for row in sizes if row["offWaits"]]
    assert kept == [row for row in rows if str(row["change"]) in {change["id"] for change in report["changes"]}]
    assert len(runs) == 21 and runs[0].startswith("run,part,level,us,count,")
    twice = rack("-r", "t1", "compare", "planted", "planted")
    assert twice.code == 2 and "a report has only one of them" in twice.err
    again = rack("-r", "t1", *AB, "as=PLANTED", "-y")
    assert again.code == 2 and "there is an experiment PLANTED already" in again.err


def test_where_no_effect_is_planted_none_larger_than_what_matters_is_found(rack: InProcess) -> None:
    """With a true effect of 0 the verdict rules out a difference that matters, by the other wait of the database."""
    rack.ok("emulator", "truth", "t1", "adds=0", "prevents=0")
    try:
        done = rack.ok("-r", "t1", "-o", "json", *AB, "for=10m", "measure=redo", "matters=3", "aa=1", "-y")
    finally:
        rack.ok("emulator", "truth", "t1", "adds=6", "prevents=20")
    # One time in twenty chance makes a small difference; it does not matter, either.
    ruled_out = (
        "There is no difference larger than 3 % on average",
        "There is a difference, but it is too small to matter on average (less than 3 %)",
    )
    assert any(f"{said}: with flash log on, log file parallel write" in says(done)[0] for said in ruled_out)
    assert -3 < verdict(done)["lowPercent"] < verdict(done)["highPercent"] < 3


def test_five_blocks_are_not_enough_and_are_said_to_be_before_the_question(rack: InProcess) -> None:
    """Fewer blocks than a verdict needs are told in the schedule and in the verdict, whatever they show."""
    done = rack.ok("-r", "t1", "-o", "json", *AB, "blocks=5", "aa=0", "levels=off,on", "measure=flashlog", "-y")
    assert "Can detect: nothing: a verdict needs 6 blocks at least" in done.err
    assert "Not enough data: 5 blocks, and a verdict needs 6 at least" in says(done)[0]
    assert verdict(done)["effectPercent"] < 0 and verdict(done)["p"] is None


def start(rack: Program, *words: str) -> subprocess.Popen[str]:
    """Start an experiment in a process of its own, and return when its first block has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "t1", *AB, "aa=1", *words, "-y"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=rack.env, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "block 1, " in line:
            return process
    raise AssertionError("no block began")


def switched(rack: Program) -> bool:
    """Whether the flash log of SPOT is off on the cells."""
    return "flashlog=off" in json.dumps(plans(rack)).lower()


def test_a_killed_experiment_is_told_and_gone_on_with(rack: InProcess) -> None:
    """After kill -9 each start tells of it, resume does what is left only, and the verdict has all blocks."""
    rack.dies("block 1, ", "-r", "t1", *AB, "aa=1", "as=killed", "for=4m", "-y")
    assert "experiment killed stopped before its last run" in rack("-r", "t1", "cells").err
    assert [row["mend"] for row in rack.ok("-r", "t1", "-o", "json", "pending").records if not row["change"]] == [
        "resume"
    ]
    done = rack.ok("-r", "t1", "-o", "json", "resume", "-y")
    assert "A/A pair" not in done.err and "Experiment killed: There is a difference" in says(done)[0]
    assert len(blocks(done)) == 7 and near_six(verdict(done))
    assert "experiment killed" not in rack("-r", "t1", "cells").err


def test_resume_of_a_run_goes_on_with_its_experiment(rack: InProcess) -> None:
    """Killed in the middle of an experiment that a recipe holds, the run goes on with that very experiment, and only then with
    the lines behind it and with finally."""
    folder = rack.home / "recipes"
    folder.mkdir(exist_ok=True)
    text = (
        "list cell\nexperiment factor=flashlog db=SPOT blocks=6 aa=0 seed=24 as=within for=5s\ndisable "
        "flashlog db=ERP\n"
    )
    (folder / "measured.exa").write_text(f"{text}finally\nundo run\nend\n")
    rack.dies("block 1, ", "-r", "t1", "run", "measured", "-y")
    assert "`resume` continues it, `resume --abandon` runs only its finally" in rack("-r", "t1", "cells").err
    done = rack.ok("-r", "t1", "-o", "json", "resume", "-y")
    behind = done.err.partition("[12/12] block 6")[2]
    assert "Plan on t1: disable flashlog db=ERP" in behind
    found = [row for row in rack.ok("-r", "t1", "-o", "json", "results --all").records if row["name"] == "within"]
    assert [(row["state"], row["blocks"]) for row in found] == [("done", "6 of 6")]
    assert rack.ok("-r", "t1", "-o", "json", "pending").records == []


def test_what_disturbs_a_run_is_named_with_it(rack: InProcess) -> None:
    """Another database's load and a start of CELLSRV within runs are found in the cells' counters, told with the runs, and the
    outliers of these runs are in no sum."""
    folder = rack.home / "recipes"
    folder.mkdir(exist_ok=True)
    runs = (
        "emulator load t1 db=ERP for=3m\nemulator load t1 db=SPOT for=1m\non exa1cel02 alter cell restart "
        "services cellsrv"
    )
    text = f"experiment factor=flashlog db=SPOT blocks=1 aa=0 seed=24 as=disturbed\n{runs}\nend\n"
    (folder / "disturbed.exa").write_text(f'recipe "Disturbed"\nrisk data\n{text}')
    done = rack("-r", "t1", "run", "disturbed", "-y")
    assert done.code == 0, done.err
    told = " ".join(says(rack.ok("-r", "t1", "-o", "json", "results", "disturbed")))
    assert "in runs 1, 2: other databases have " in told and "(ERP " in told
    assert "in runs 1, 2: CELLSRV of exa1cel02 was restarted" in told
    assert "Outliers were not counted in runs 1, 2 " in told


def test_an_interrupted_experiment_gives_the_factor_back_at_once(rack: InProcess) -> None:
    """Ctrl-C ends with exit code 4 and the plan as it was; resume shows what is left, and --abandon ends it."""
    before = plans(rack)
    process = start(rack, "as=interrupted", "for=10m")
    assert until(lambda: switched(rack))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 4 and "the factor has its old value again" in err and plans(rack) == before
    dry = rack.ok("-r", "t1", "resume", "-n").err
    assert "Experiment interrupted on t1" in dry and "A/A stretch" not in dry.partition("blocks, random")[0]
    assert "Not enough data" in rack.ok("-r", "t1", "resume", "--abandon", "-y").out
    assert [row["state"] for row in rack.ok("-r", "t1", "-o", "json", "results", "--all").records][-1] == "abandoned"
    assert "nothing is unfinished" in rack.ok("-r", "t1", "resume", "-y").err


def test_a_lost_link_stops_it_and_resume_goes_on_and_gives_back(rack: InProcess) -> None:
    """Without a cell neither the runs nor the way back go on, and that is told; when it is there again, resume ends it."""
    process = start(rack, "as=lost", "for=30m")
    assert until(lambda: switched(rack))
    for kind in ("drop bytes=0", "refuse"):
        rack.ok("emulator", "fault", "t1", "exa1cel02", *kind.split())
    _, err = process.communicate(timeout=300)
    rack.ok("emulator", "fault", "t1", "all", "clear")
    assert process.returncode == 1 and "the factor could not be reset" in err and "exa1cel02" in err
    assert "its factor may still be set for a run" in rack("-r", "t1", "cells").err
    done = rack.ok("-r", "t1", "-o", "json", "resume", "-y")
    assert verdict(done)["finding"] == "different" and len(blocks(done)) == 7


def test_abandoning_a_killed_experiment_gives_the_factor_back(rack: InProcess) -> None:
    """A process that was killed while the flash log was off leaves it off; resume --abandon switches it on again."""
    process = start(rack, "as=left", "for=30m")
    assert until(lambda: switched(rack))
    process.kill()
    process.communicate()
    assert switched(rack)
    done = rack.ok("-r", "t1", "resume", "--abandon", "-y")
    assert "the factor has its old value again" in done.err and not switched(rack)


def test_nobody_else_goes_on_with_an_experiment_that_runs(rack: InProcess) -> None:
    """While a process carries it out no start tells of it, and resume refuses."""
    process = start(rack, "as=alive", "for=30m")
    try:
        assert "experiment alive" not in rack("-r", "t1", "cells").err
        done = rack("-r", "t1", "resume", "-y")
        assert done.code == 2 and "is being run by process" in done.err
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    rack.ok("-r", "t1", "resume", "--abandon", "-y")


STOPPED = [
    (
        "workload='prompt nothing'",
        1,
        "measured nothing: SPOT had no log file sync; give a load for the runs with workload=",
    ),
    ("workload='check all flashcache.status = broken'", 1, "run 1 of 14: check all flashcache.status = broken"),
    ("reset='check no griddisk'", 1, "check no griddisk"),
]


@pytest.mark.parametrize(("option", "code", "message"), STOPPED)
def test_a_run_that_fails_stops_the_experiment(rack: InProcess, option: str, code: int, message: str) -> None:
    """What a run carries out may fail, or bring no load: the reason is told, and the factor is as it was."""
    done = rack("-r", "t1", f"{' '.join(AB)} aa=1 {option} -y")
    assert done.code == code, done.err
    assert message.partition(": ")[2] in told(done.err) and "runs are left: `resume` continues" in told(done.err)
    rack.ok("-r", "t1", "resume", "--abandon", "-y")


REFUSED = [
    ("levels=on,on", "levels=on,on: give two to 6 different levels"),
    ("levels=on,maybe", "levels=on,maybe: flash log can be on, off"),
    ("levels=on,off,on", "levels=on,off,on: give two to 6 different levels"),
    ("blocks=0", "blocks= may be 1 to 200"),
    ("matters=0", "matters=0: percent, above 0"),
    ("as='1 2'", "'1 2' is not a name"),
    ("workload=nonsense", "workload='nonsense': "),
    ("reset='undo'", "undo can't be used in an experiment"),
    ("workload=cells load='x'", "workload= and load= both give"),
    ("--confirm-within=1h", "--confirm-within is not allowed"),
    ("db=NONE", "no cell knows a database NONE"),
]


@pytest.mark.parametrize(("option", "message"), REFUSED)
def test_what_no_experiment_can_be_is_one_clear_line(rack: InProcess, option: str, message: str) -> None:
    """Wrong values are refused before anything is read or sent."""
    words = f"experiment factor=flashlog {'' if 'db=' in option else 'db=SPOT '}{option} -y"
    done = rack("-r", "t1", words)
    assert done.code == 2 and message in told(done.err), done.err


def test_dry_runs_and_nobody_at_the_terminal_send_nothing(rack: InProcess) -> None:
    """-n shows the schedule alone; without -y and a terminal the answer is no."""
    dry = rack.ok("-r", "t1", *AB, "-n").err
    assert "7 blocks, random, seed " in dry and "gives the same schedule again" in dry and "Unfair" not in dry
    done = rack("-r", "t1", *AB)
    assert done.code == 2 and "there is no terminal for the question" in done.err


def test_the_shipped_recipe_is_found_by_tab_and_ends_in_its_report(rack: InProcess, tmp_path: Path) -> None:
    """@flashlog_ab typed with Tab at the prompt asks once, names the difference, and ends with the page that says it first."""
    page = tmp_path / "ab.html"
    page.write_text("an older one")
    with rack.at_terminal("-r", "t1", rows=50, columns=160).ready() as terminal:
        child = terminal.child
        child.send("@flashlog_a")
        child.expect_exact("Measure what the flash log does")
        child.send(f"\tdb=SPOT report={page}\r")
        child.expect_exact("proceed?")
        assert "7 blocks, random" in plain(child.before)
        child.send("y\r")
        child.expect("There is a difference: with flash log on", timeout=300)
        child.expect_exact("exacell> ")
        assert "differencePercent" in plain(child.before)
    assert 'class="verdict">There is a difference: with flash log on' in page.read_text()
