"""Snapshots of the rows of any LIST statement, and what changed between two of them."""

from __future__ import annotations

import json
import sqlite3

import pytest

_LIST = "snap list griddisk attributes size,status,errorCount"
_KIND = "LIST GRIDDISK ATTRIBUTES name, size, status, errorCount"


def _edit(home, name, change):
    """Let ``change`` work on cell → rows of a kept snapshot."""
    with sqlite3.connect(home / "store.db") as connection:
        (text,) = connection.execute("select body from snapshot where name=?", (name,)).fetchone()
        body = json.loads(text)
        change(body["cells"])
        connection.execute("update snapshot set body=? where name=?", (json.dumps(body), name))


def _rows(inside, *line):
    return inside.ok("-r", "t1", "-o", "json", *line).records


def test_rows_that_came_went_and_changed_are_told_by_cell_and_object(inside):
    """A row only before went, one only after came, and an attribute stands with both values and a number's difference."""

    def change(cells):
        disk = "griddisk|DATA_CD_00_{cell}|"
        size = cells["exa1cel01"]["rows"][disk + "size"]
        cells["exa1cel01"]["rows"][disk + "size"] = str(int(size) + 1024)
        cells["exa1cel01"]["rows"][disk + "status"] = "inactive"
        gone = {path: value for path, value in cells["exa1cel02"]["rows"].items() if path.startswith(disk)}
        for path, value in gone.items():
            del cells["exa1cel02"]["rows"][path]
            cells["exa1cel03"]["rows"][path.replace("DATA_CD_00", "OLD")] = value

    kept = inside.ok("-r", "t1", "-o", "json", f"{_LIST} as=rows1").records
    assert {row["cell"] for row in kept} >= {"exa1cel01", "exa1cel02"} and all(row["rows"] > 1 for row in kept)
    inside.ok("-r", "t1", f"{_LIST} as=rows2")
    _edit(inside.home, "rows1", change)
    found = _rows(inside, "delta rows1 rows2")
    told = {(r["cell"], r["object"], r["change"], r["attribute"]): r for r in found}
    assert {*told} == {
        ("exa1cel01", "DATA_CD_00_exa1cel01", "changed", "size"),
        ("exa1cel01", "DATA_CD_00_exa1cel01", "changed", "status"),
        ("exa1cel02", "DATA_CD_00_exa1cel02", "came", None),
        ("exa1cel03", "OLD_exa1cel03", "went", None),
    }
    size = told["exa1cel01", "DATA_CD_00_exa1cel01", "changed", "size"]
    assert size["difference"] == -1024 == size["after"] - size["before"] and size["kind"] == _KIND
    status = told["exa1cel01", "DATA_CD_00_exa1cel01", "changed", "status"]
    assert (status["before"], status["after"], status["difference"]) == ("inactive", "active", None)


def test_what_changed_alike_on_all_cells_is_told_once(inside):
    """For eyes equal cells are one row, with sizes as people read them; a program gets each cell's."""

    def change(cells):
        for counters in cells.values():
            counters["rows"]["griddisk|DATA_CD_00_{cell}|size"] = str(1 << 30)

    for name in ("alike1", "alike2"):
        inside.ok("-r", "t1", f"snap list griddisk where name like 'DATA_CD_0.*' attributes name,size as={name}")
    _edit(inside.home, "alike1", change)
    cells = {row["cell"] for row in _rows(inside, "delta alike1 alike2")}
    assert len(cells) > 1
    lines = [line for line in inside.ok("-r", "t1", "--fold", "delta alike1 alike2").out.splitlines() if "1G" in line]
    assert len(lines) == 1 and "DATA_CD_00_{cell}" in lines[0] and "exa1cel[01-" in lines[0]


def test_a_change_of_the_cells_between_two_snapshots_is_found(inside):
    """What a statement changes on the cells stands in the delta of the rows before and behind it."""
    line = "snap list griddisk RECO_CD_05_exa1cel01 attributes comment"
    inside.ok("-r", "t1", f"on exa1cel01 {line} as=said1")
    inside.ok("-r", "t1", "on exa1cel01 alter griddisk RECO_CD_05_exa1cel01 comment='listed' -y")
    inside.ok("-r", "t1", f"on exa1cel01 {line} as=said2")
    inside.ok("-r", "t1", "on exa1cel01 alter griddisk RECO_CD_05_exa1cel01 comment='' -y")
    (row,) = _rows(inside, "delta said1 said2")
    assert (row["object"], row["attribute"], row["before"], row["after"]) == (
        *("RECO_CD_05_exa1cel01", "comment", None),
        "listed",
    )


def test_rows_without_a_name_are_told_apart_by_what_they_have(inside):
    """Metrics of one name are different rows for each of their objects."""
    for name in ("metric1", "metric2"):
        inside.ok("-r", "t1", f"snap list metriccurrent where name = 'CD_IO_RQ_R_SM' attributes metricValue as={name}")

    def change(cells):
        for path in list(cells["exa1cel01"]["rows"]):
            if path.endswith("CD_03_{cell}|metricValue"):
                cells["exa1cel01"]["rows"][path] = "-1"

    _edit(inside.home, "metric1", change)
    rows = [r for r in _rows(inside, "delta metric1 metric2") if r["before"] == -1]
    assert [row["object"] for row in rows] == ["CD_IO_RQ_R_SM CD_03_exa1cel01"]


def test_a_cell_that_one_snapshot_has_not_is_a_problem(inside):
    """A cell of which one snapshot alone has rows is named, with exit code 1, and no row of it is a change."""
    inside.ok("-r", "t1", "on exa1cel01 snap list lun as=few1")
    inside.ok("-r", "t1", "snap list lun as=few2")
    done = inside("-r", "t1", "-o", "json", "delta few1 few2")
    assert done.code == 1 and "exa1cel02: it is missing in the first snapshot" in done.err
    assert not [row for row in done.records if row["cell"] == "exa1cel02"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("snap list griddisk", "snap list needs as=<snapshot>"),
        ("snap list griddsk as=x", "did you mean griddisk?"),
        ("snap list griddisk attributes sise as=x", "did you mean size or sparse?"),
        ("snap list as=x", "snap list needs"),
    ],
)
def test_a_slip_is_told_before_a_cell_is_asked(inside, line, said):
    """What is no LIST statement, and a snapshot without a name, are refused with what is missing."""
    done = inside("-r", "t1", line)
    assert done.code == 2 and said in done.err


def test_snapshots_of_other_statements_have_nothing_in_common(inside):
    """delta of two snapshots of different LIST statements is refused, naming both; so is a report, which needs counters."""
    inside.ok("-r", "t1", "snap list flashlog as=other1")
    inside.ok("-r", "t1", "snap list flashcache as=other2")
    done = inside("-r", "t1", "delta other1 other2")
    assert done.code == 2 and "LIST FLASHLOG" in done.err and "nothing in common" in done.err
    inside.ok("-r", "t1", "snap list flashlog as=other2")
    done = inside("-r", "t1", "compare other1 other2")
    assert done.code == 2 and "delta other1 other2" in " ".join(done.err.split())
