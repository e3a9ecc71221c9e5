"""Grid disks that a change took offline are pending until they are brought back or seen ONLINE."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.change.pending import pending
from exacell.journal import left
from exacell.journal.actor import actor
from exacell.journal.left import CACHES, DISKS, GRID_DISKS, note_back
from exacell.journal.record import Journal, Row

ONE, TWO = "exa1cel01", "exa1cel02"


def both(cell: str, text: str, state: str = "done", *, offline: bool = False, what: str = "") -> list[Row]:
    statement = f"ALTER GRIDDISK {text}"
    body = {"what": what or statement[:60], "offline": offline}
    return [
        Row(kind="intent", target=cell, body={**body, "statement": statement}),
        *([Row(kind="outcome", target=cell, body={**body, "state": state})] if state else []),
    ]


def gone(cell: str, text: str = "ALL INACTIVE", state: str = "done") -> list[Row]:
    return both(cell, text, state, offline=True)


def told(cell: str = ONE, took: str = "took") -> str:
    return (
        f"change 1 {took} grid disks of {cell} offline: type `online cell {ONE}` to bring them online before "
        "ASM drops them (disk_repair_time)"
    )


BACK = both(ONE, "ALL ACTIVE")
NAMES = "A_CD_00,A_CD_01"
SHUT = [
    Row(kind="intent", target=ONE, body={"what": "s", "statement": "ALTER CELL SHUTDOWN SERVICES CELLSRV"}),
    Row(kind="outcome", target=ONE, body={"what": "s", "state": "done"}),
]
CASES: dict[str, tuple[list[Row], list[str]]] = {
    "nothing": ([], []),
    "taken offline": (gone(ONE), [told()]),
    "disks that nobody uses": (both(ONE, "ALL INACTIVE"), []),
    "killed before the answer": (gone(ONE, state=""), [told(took="may have taken")]),
    "answer lost": (gone(ONE, state="unknown"), [told(took="may have taken")]),
    "refused by the cell": (gone(ONE, state="failed"), []),
    "found not done": (gone(ONE, state="not done"), []),
    "not sent": (gone(ONE, state="refused"), []),
    "again, which the cell refused": ([*gone(ONE), *gone(ONE, "ALL INACTIVE", "failed")], [told()]),
    "brought back": ([*gone(ONE), *BACK], []),
    "not yet ONLINE": ([*gone(ONE), *both(ONE, "ALL ACTIVE", "unknown")], [told()]),
    "not brought back": ([*gone(ONE), *both(ONE, "ALL ACTIVE", "failed")], [told()]),
    "another cell brought back": ([*gone(ONE), *both(TWO, "ALL ACTIVE")], [told()]),
    "brought back by their names": ([*gone(ONE, f"{NAMES} INACTIVE"), *both(ONE, f"{NAMES.lower()} ACTIVE")], []),
    "a part brought back": ([*gone(ONE, f"{NAMES} INACTIVE"), *both(ONE, "A_CD_00 ACTIVE")], [told()]),
    "a part of all brought back": ([*gone(ONE), *both(ONE, "A_CD_00 ACTIVE")], [told()]),
    "a medium brought back of all": ([*gone(ONE), *both(ONE, "ALL HARDDISK ACTIVE")], [told()]),
    "a medium brought back": ([*gone(ONE, "ALL  HARDDISK INACTIVE"), *both(ONE, "all harddisk ACTIVE")], []),
    "all brought back of a medium": ([*gone(ONE, "ALL HARDDISK INACTIVE"), *BACK], []),
    "all brought back of some": ([*gone(ONE, f"{NAMES} INACTIVE"), *BACK], []),
    "one of two brought back, taken one by one": (
        [*gone(ONE, "A_CD_00 INACTIVE"), *gone(ONE, "A_CD_01 INACTIVE"), *both(ONE, "A_CD_01 ACTIVE")],
        [told()],
    ),
    "both brought back, one by one": (
        [
            *gone(ONE, "A_CD_00 INACTIVE"),
            *gone(ONE, "A_CD_01 INACTIVE"),
            *both(ONE, "A_CD_01 ACTIVE"),
            *both(ONE, "A_CD_00 ACTIVE"),
        ],
        [],
    ),
    "both brought back, one by one, taken together": (
        [*gone(ONE, f"{NAMES} INACTIVE"), *both(ONE, "A_CD_01 ACTIVE"), *both(ONE, "A_CD_00 ACTIVE")],
        [],
    ),
    "something else seen": ([*gone(ONE), Row(kind="observed", target=ONE, body={"caching": "on"})], [told()]),
    "no outcome": (
        [*gone(ONE, state=""), Row(kind="end", target=ONE, body={**gone(ONE)[1].body, "state": "failed"})],
        [told(took="may have taken")],
    ),
    "taken back": ([*gone(ONE), Row(kind="undone", body={})], []),
    "taken offline again": ([*gone(ONE), *BACK, *gone(ONE)], [told()]),
    "with CELLSRV stopped, which online cell starts": (
        [*gone(ONE), *SHUT],
        [f"change 1 left CELLSRV stopped on {ONE}: `online cell {ONE}` starts it and brings the grid disks online"],
    ),
}


@pytest.mark.parametrize(("rows", "lines"), CASES.values(), ids=list(CASES))
def test_what_was_taken_offline_is_pending_until_it_is_back(tmp_path: Path, rows: list[Row], lines: list[str]) -> None:
    """Disks that a change took offline are told with the statement that brings them back and what waits for them, until a
    change has brought all of them back; one line where CELLSRV is stopped as well."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "offline cell …", **actor()})
    journal.append("t1", change, [*rows, Row(kind="end", body={"exitCode": 0, "done": {"done": 1}})])
    found = pending(journal, "t1")
    assert [item.sentence for item in found] == lines
    assert {item.mend for item in found} <= {f"online cell {ONE}"}
    assert not pending(journal, "t2")


def test_what_resume_brings_back_is_told_once(tmp_path: Path) -> None:
    """A change that died while a cell's disks were away is told as unfinished alone: resume brings the disks back."""
    journal = Journal(tmp_path / "journal.db")
    dead = {"statement": "restart service cellsrv", **actor(), "pid": 4_194_305, "plan": {"stages": []}}
    journal.append("t1", journal.begin("t1", dead), gone(ONE))
    assert [item.state for item in pending(journal, "t1")] == ["unfinished"]
    assert [item.cells for item in DISKS.left(journal, "t1")] == [(ONE,)]


def test_what_is_seen_online_is_told_no_more(tmp_path: Path) -> None:
    """Disks that somebody else brought back are pending until their cell is seen with all of them ONLINE; what was seen says
    nothing of caches."""
    journal = Journal(tmp_path / "journal.db")
    flushing = {"what": "flush", "cachingOff": True, "cache": "flashcache", "statement": "ALTER FLASHCACHE ALL FLUSH"}
    rows = [*gone(ONE), *gone(TWO), Row(kind="intent", target=ONE, body=flushing)]
    journal.append("t1", journal.begin("t1", {"statement": "s"}), rows)
    (both_away,) = DISKS.left(journal, "t1")
    assert "exa1cel[01-02]" in both_away.sentence and "and so on, one cell at a time, to bring" in both_away.sentence
    assert note_back(journal, "t1", DISKS, {}) == note_back(journal, "t1", DISKS, {"exa1cel03": (GRID_DISKS,)}) == ""
    assert note_back(journal, "t1", DISKS, {ONE: (GRID_DISKS,)}) == ""
    assert [item.cells for item in DISKS.left(journal, "t1")] == [(TWO,)]
    assert [item.sure for item in CACHES.left(journal, "t1")] == [False]
    journal.head_path.write_text("1 0000")
    assert "journal" in note_back(journal, "t1", DISKS, {TWO: (GRID_DISKS,)})
    assert note_back(journal, "t1", DISKS, {}) == ""


def test_where_nothing_was_seen_online_nothing_is_written(tmp_path: Path) -> None:
    """Who only looks at cells whose disks are still away needs no journal that can be written."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), gone(ONE))
    turns = journal.path.with_suffix(".lock")
    turns.unlink()
    turns.mkdir()
    assert note_back(journal, "t1", DISKS, {TWO: (GRID_DISKS,)}) == ""
    assert "can't be written" in note_back(journal, "t1", DISKS, {ONE: (GRID_DISKS,)})


def test_an_undo_brings_back_what_its_own_change_took(tmp_path: Path) -> None:
    """Disks that another change took offline are told on when one was taken back."""
    journal = Journal(tmp_path / "journal.db")
    for cell in (ONE, TWO):
        journal.append("t1", journal.begin("t1", {"statement": "s"}), gone(cell))
    journal.append("t1", 2, [Row(kind="undone", body={})])
    assert [(item.change, item.cells) for item in DISKS.left(journal, "t1")] == [(1, (ONE,))]


def test_a_cell_that_was_left_offline_is_told_after_a_round_over_the_others(tmp_path: Path) -> None:
    """Each of a rack's other cells may have been taken offline and brought back since, by changes of its own."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), gone(ONE))
    for number in range(2, 19):
        for rows in (gone(f"exa1cel{number:02}"), both(f"exa1cel{number:02}", "ALL ACTIVE")):
            journal.append("t1", journal.begin("t1", {"statement": "s"}), rows)
    assert [item.cells for item in DISKS.left(journal, "t1")] == [(ONE,)]


def test_only_the_newest_switches_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a start reads of a long journal is bounded: the newest changes that switched disks."""
    monkeypatch.setattr(left, "LOOKED_BACK", 5)
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "s"}), gone(TWO))
    for number in range(5):
        assert [item.cells for item in DISKS.left(journal, "t1")] == [(TWO,)], number
        journal.append("t1", journal.begin("t1", {"statement": "s"}), [*gone(ONE), *BACK])
        journal.append("t1", journal.begin("t1", {"statement": "s"}), SHUT)
    assert DISKS.left(journal, "t1") == ()


def test_undo_of_one_disk_forgets_no_other(tmp_path: Path) -> None:
    """A disk that an earlier change took offline stays pending when a later change, of another disk, is taken back."""
    journal = Journal(tmp_path / "journal.db")
    for name in NAMES.split(","):
        change = journal.begin("t1", {"statement": f"alter griddisk {name} inactive", **actor()})
        journal.append("t1", change, [*gone(ONE, f"{name} INACTIVE"), Row(kind="end", body={"exitCode": 0})])
    journal.append("t1", change, [Row(kind="undone", body={})])
    assert [item.change for item in pending(journal, "t1")] == [1]
    assert DISKS.each(journal, "t1") == {ONE: {"a_cd_00"}}
