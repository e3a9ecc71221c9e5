"""Two snapshots of a rack become a comparison and a report, with what the journal says was changed meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.program import InProcess, told


def test_snapshots_are_compared_and_reported(shared: InProcess, inside: InProcess, tmp_path: Path) -> None:
    """compare says what explain says, of all kinds; the report has the cells, the passports that differ, and the change with
    the hash that the journal has."""
    for name in ("one", "two"):
        for kind in ("flashlog", "flashcache"):
            inside.ok("-r", "t1", "snap", kind, f"as={name}")
        shared.ok("emulator", "load", "t1", "db=SPOT", "redo=50", "for=60")
        if name == "one":
            inside.ok("-r", "t1", "set", "iorm", "db=SPOT", "share=4", "-y")
    refused = inside("-r", "t1", "compare", "one", "two")
    assert refused.code == 2 and "differ in more than the load" in refused.err
    compared = inside.ok("-r", "t1", "-o", "json", "compare", "one", "two", "--anyway").records
    says = [row["says"] for row in compared if "says" in row]
    explained = inside.ok("-r", "t1", "-o", "json", "explain", "flashlog", "one", "two", "--anyway").records
    assert {row["says"] for row in explained if "says" in row} <= set(says)
    path = tmp_path / "report.json"
    inside.ok("-r", "t1", "report", "one", "two", "json", f"to={path}", "--anyway")
    report = json.loads(path.read_text())
    (change,) = report["changes"]
    assert change["statement"] == "set iorm db=SPOT share=4" and change["outcome"] == "exit 0"
    kept = inside.ok("-r", "t1", "journal", "export", "format=jsonl").out.splitlines()
    rows = [json.loads(line) for line in kept]
    assert change["chained"] == [row["hash"] for row in rows if str(row["change"]) == change["id"]][-1]
    assert report["sides"][0]["passport"]["IORM dbPlan"] != report["sides"][1]["passport"]["IORM dbPlan"]
    assert [row["cell"] for row in report["tables"][0]["rows"]][-1] == "rack"
    alone = inside("-r", "t1", "report", "one")
    assert alone.code == 2 and "a report needs two of them" in alone.err


def test_two_intervals_stand_side_by_side(shared: InProcess, inside: InProcess, tmp_path: Path) -> None:
    """With the flash log and without it: the mean of a redo write, what flash won, and the plan as what differs; the report has
    both switches, and unlike names are refused."""
    for place, verb in enumerate(("enable", "disable")):
        inside.ok("-r", "t1", verb, "flashlog", "db=SPOT", "-y")
        inside.ok("-r", "t1", "snap", "flashlog", f"as=from{place}")
        shared.ok("emulator", "load", "t1", "db=SPOT", "redo=200", "for=60")
        inside.ok("-r", "t1", "snap", "flashlog", f"as=to{place}")
    both = ("from0..to0", "from1..to1")
    found = inside.ok("-r", "t1", "-o", "json", "compare", *both).records
    says = [row["says"] for row in found if "says" in row]
    assert says[0].startswith("A redo write took") and "In from1..to1 no redo write used the flash log." in says
    assert any("IORM dbPlan: SPOT flashlog" in line and "off" in line for line in says)
    (races,) = [row for row in found if row.get("figure") == "races"]
    assert races["a"] > 0 and races["b"] == 0
    path = tmp_path / "both.json"
    inside.ok("-r", "t1", "report", *both, "json", f"to={path}")
    report = json.loads(path.read_text())
    assert report["verdict"] == says[0] and [side["name"] for side in report["sides"]] == list(both)
    alone = inside.ok("-r", "t1", "report", "from1..to1", "md", f"to={tmp_path / 'one.md'}")
    assert "none of them used the flash log" in alone.out
    for name in ("c1", "c2"):
        inside.ok("-r", "t1", "snap", "flashcache", f"as={name}")
    other = inside("-r", "t1", "compare", "from0..to0", "c1..c2")
    assert (
        other.code == 2
        and "c1..c2 has flashcache: nothing in common; also take `snap flashlog` at the beginning" in told(other.err)
    )
    mixed = inside("-r", "t1", "compare", "from0", "from1..to1")
    assert mixed.code == 2 and "only things of one kind can be compared" in mixed.err
    inside.ok("-r", "t1", "enable", "flashlog", "db=SPOT", "-y")
