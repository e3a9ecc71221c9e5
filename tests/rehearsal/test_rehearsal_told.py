"""What a rehearsal tells of the copy before and after the statement."""

from __future__ import annotations

from exacell.commands.rehearsal.trial import told

BEFORE = {
    "exa1cel01": {
        "griddisk|DATA_CD_00_{cell}|size": str(423 << 30),
        "griddisk|DATA_CD_00_{cell}|comment": "",
        "griddisk|DATA_CD_01_{cell}|size": str(423 << 30),
        "griddisk|DATA_CD_01_{cell}|comment": "",
        "threshold|CL_TEMP|comparison": ">",
        "threshold|CL_TEMP|warning": "40",
        "alerthistory|1_1|severity": "warning",
        "alerthistory|1_1|examinedBy": "",
    }
}


def rows(**after: str) -> list[tuple[object, ...]]:
    """What is told when the paths of ``after`` are other ones; an empty object's name takes all of it away."""
    now = dict(BEFORE["exa1cel01"])
    for path, value in after.items():
        if value == "GONE":
            now = {known: text for known, text in now.items() if not known.startswith(path)}
        else:
            now[path] = value
    found = told(BEFORE, {"exa1cel01": now}, together=True)
    return [(r["object"], r["name"], r["attribute"], r["before"], r["after"]) for r in found]


def test_nothing_is_told_of_nothing() -> None:
    """A copy that is as it was has no rows."""
    assert rows() == []


def test_one_change_of_several_objects_is_one_row() -> None:
    """Objects to which the same happens are folded, and a value that was not set is empty."""
    changed = {f"griddisk|DATA_CD_0{number}_{{cell}}|comment": "x" for number in range(2)}
    assert rows(**changed) == [("griddisk", "DATA_CD_[00-01]_{cell}", "comment", None, "x")]


def test_an_object_that_comes_or_goes_is_one_row() -> None:
    """A threshold, a role or a grid disk is told once, with its size where it has one, however few attributes it has."""
    assert rows(**{"threshold|CL_TEMP": "GONE"}) == [("threshold", "CL_TEMP", None, "there", "gone")]
    assert rows(**{"griddisk|DATA_CD_01_{cell}": "GONE"}) == [("griddisk", "DATA_CD_01_{cell}", None, "423G", "gone")]
    assert rows(**{"role|reader|name": "there"}) == [("role", "reader", None, None, "made")]
    assert rows(**{"griddisk|NEW|size": "1073741824"}) == [("griddisk", "NEW", None, None, "made, 1G")]


def test_alerts_that_come_by_themselves_are_not_told() -> None:
    """An alert that was dropped or examined is told; one that has come meanwhile is not what the statement did."""
    assert rows(**{"alerthistory|2_1|severity": "critical"}) == []
    assert rows(**{"alerthistory|1_1": "GONE"}) == [("alerthistory", "1_1", None, "there", "gone")]
    assert rows(**{"alerthistory|1_1|examinedBy": "ann"}) == [("alerthistory", "1_1", "examinedBy", None, "ann")]


def test_each_object_has_a_record_in_its_cells_own_name() -> None:
    """What a program reads has one record an object, with no {cell} in it."""
    path = "griddisk|DATA_CD_00_{cell}|comment"
    found = told(BEFORE, {"exa1cel01": {**BEFORE["exa1cel01"], path: "x", path.replace("00", "01"): "x"}})
    assert [row["name"] for row in found] == ["DATA_CD_00_exa1cel01", "DATA_CD_01_exa1cel01"]
