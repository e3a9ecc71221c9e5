"""Two snapshots of a rack become a comparison and a report, with what the journal says was changed meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.program import InProcess


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
    assert refused.code == 2 and "not alike" in refused.err
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
    assert alone.code == 2 and "which say something in pairs only" in alone.err
