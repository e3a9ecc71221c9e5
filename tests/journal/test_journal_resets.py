"""What the journal tells of counters that began anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.journal.record import Journal, Row
from exacell.journal.rows import Columns, typed
from exacell.journal.state import FLASHCACHE, FLASHLOG, resets

BOTH = (FLASHCACHE, FLASHLOG)

STATEMENTS = [
    ("ALTER FLASHCACHE ALL FLUSH NOWAIT", (FLASHCACHE,)),
    ("ALTER FLASHCACHE ALL CANCEL FLUSH", (FLASHCACHE,)),
    ("alter  celldisk FD_00_c1 flush", (FLASHCACHE,)),
    ("CREATE FLASHCACHE ALL size=288G", (FLASHCACHE,)),
    ("DROP FLASHCACHE", (FLASHCACHE,)),
    ("ALTER FLASHCACHE ALL size=288G", (FLASHCACHE,)),
    ("ALTER CELL flashCacheMode=writethrough", (FLASHCACHE,)),
    ("DROP FLASHLOG", (FLASHLOG,)),
    ("CREATE FLASHLOG ALL size=1G", (FLASHLOG,)),
    ("ALTER CELL RESTART SERVICES CELLSRV", BOTH),
    ("ALTER CELL SHUTDOWN SERVICES ALL", BOTH),
    ("dcli -c exa1cel01 -l root 'service celld restart'", BOTH),
    ("dcli -l root cellcli -e alter cell startup services cellsrv", BOTH),
    ("systemctl restart celld", BOTH),
    ("reboot", BOTH),
    ("ALTER CELL RESTART SERVICES MS", ()),
    ("ALTER CELL comment='flashcache'", ()),
    ("ALTER IORMPLAN dbplan=((name=SPOT,flashlog=off))", ()),
    ("CREATE GRIDDISK ALL FLASHDISK PREFIX=x", ()),
    ("dcli -l root cellcli -e list flashcache", ()),
]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.db")


def sent(journal: Journal, statement: str, state: str = "done", cell: str = "c1") -> int:
    change = journal.begin("t1", {"statement": statement})
    row = {"what": "step", "statement": statement}
    journal.append("t1", change, [Row(kind="intent", target=cell, body=row)])
    if state:
        journal.append("t1", change, [Row(kind="outcome", target=cell, body={"what": "step", "state": state})])
    return change


@pytest.mark.parametrize(("statement", "kinds"), STATEMENTS, ids=[case[0] for case in STATEMENTS])
def test_which_counters_a_statement_resets(journal: Journal, statement: str, kinds: tuple[str, ...]) -> None:
    """A flush and a new cache reset the cache's counters, a new log the log's, a start of CELLSRV those of all, others none."""
    change = sent(journal, statement)
    found = resets(journal.of_time("t1", "2000", "3000"))
    assert [(reset.change, reset.cell, reset.kinds) for reset in found] == ([(change, "c1", kinds)] if kinds else [])
    assert all(reset.of_all is (kinds == BOTH) for reset in found)


@pytest.mark.parametrize(
    ("state", "counts"),
    [("done", 1), ("", 1), ("unknown", 1), ("failed", 0), ("not done", 0), ("refused", 0), ("not needed", 0)],
)
def test_what_a_cell_refused_resets_nothing(journal: Journal, state: str, counts: int) -> None:
    """A statement counts unless it is known to have done nothing; one without an answer may have been carried out."""
    sent(journal, "DROP FLASHCACHE", state)
    assert len(resets(journal.of_time("t1", "2000", "3000"))) == counts


def test_only_rows_of_the_time_and_the_rack_count(journal: Journal) -> None:
    """Rows before, behind and of another rack are not among those of a time."""
    sent(journal, "DROP FLASHCACHE")
    rows = journal.of_time("t1", "2000", "3000")
    first, last = rows[0].at, rows[-1].at
    assert [row.kind for row in rows] == ["intent", "outcome"]
    assert journal.of_time("t1", first, last) == rows
    assert journal.of_time("t2", "2000", "3000") == []
    assert journal.of_time("t1", "2000", "2001") == []


def test_a_flush_whose_answer_came_within_the_time_counts(journal: Journal) -> None:
    """A statement that left before the first snapshot and was answered behind it is in between."""
    change = journal.begin("t1", {"statement": "x"})
    body = {"what": "ALTER CELL RESTART SERVICES CELLSRV", "state": "done"}
    journal.append("t1", change, [Row(kind="outcome", target="c1", body=body)])
    (found,) = resets(journal.of_time("t1", "2000", "3000"))
    assert str(found) == f"change {change} stopped or started CELLSRV in the meantime"


def test_only_steps_reset_counters() -> None:
    """The end of a change stands behind its steps and resets nothing, whatever it says."""
    end = typed(Columns(1, "", "t1", 1, "end", "", {"stopped": "reboot"}, "", ""))
    assert resets([end]) == []


def test_an_outcome_without_an_intent_resets_nothing_when_it_was_not_needed(journal: Journal) -> None:
    """A step that was found done already, so that nothing was written before it, resets nothing either."""
    change = journal.begin("t1", {"statement": "flush flashcache"})
    row = {"what": "switch caching on again", "statement": "ALTER FLASHCACHE ALL CANCEL FLUSH", "state": "not needed"}
    journal.append("t1", change, [Row(kind="outcome", target="c1", body=row)])
    assert resets(journal.of_time("t1", "2000", "3000")) == []
