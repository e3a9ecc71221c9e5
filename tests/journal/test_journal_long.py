"""A long journal is read and told without work that grows faster than its rows."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from exacell.core.cellset import natural_key
from exacell.core.collecting import without_collecting
from exacell.journal import auditing
from exacell.journal.auditing import Common, as_csv, outlines_of, row_record, summary
from exacell.journal.record import Journal, Row
from exacell.journal.rows import Entry
from exacell.plan import model

CELLS = [f"c{number}" for number in range(1, 8)]
CHANGES = 60


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """Many changes, each on the same cells."""
    journal = Journal(tmp_path_factory.mktemp("long") / "journal.db")
    check = {"object": "cell", "attribute": "comment", "op": "=", "value": "x", "where": {}, "why": ""}
    steps: list[dict[str, Any]] = [
        {
            "target": cell, "statement": "ALTER CELL comment=x", "what": "send it", "only_if": [], "needs": [],
            "proves": [check], "within": 30.0, "watch": None, "expect": 1, "risk": "none", "undo": "statement",
            "inverse": "back", "changes": [], "asm": "", "shell": False, "caching_off": False, "caching_on": False,
        }
        for cell in CELLS
    ]  # fmt: skip
    body = {"statement": "alter cell comment=x", "plan": {"stages": [{"gate": "each", "steps": steps}], "inverse": {}}}
    for _ in range(CHANGES):
        change = journal.begin("t1", body)
        done = [Row(kind="outcome", target=cell, body={"what": "send it", "state": "done"}) for cell in CELLS]
        journal.append("t1", change, [*done, Row(kind="end", body={"exitCode": 0})])
    return journal


def test_reading_many_rows_looks_for_no_garbage(journal: Journal) -> None:
    """Between the first row and the last no collection runs, which would look through all rows read so far; after it they do."""
    seen: list[str] = []

    def collecting(phase: str, info: object) -> None:
        seen.append(phase)

    gc.callbacks.append(collecting)
    threshold = gc.get_threshold()
    try:
        gc.set_threshold(50, 5, 5)
        with without_collecting():
            del seen[:]
            rows = journal.all_entries()
            assert len(rows) == CHANGES * (len(CELLS) + 2) and not seen
        assert gc.isenabled()
        del seen[:]
        many = [[number] for number in range(1000)]
        assert seen and many
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(collecting)


def test_each_set_of_targets_is_sorted_once(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of changes on the same cells put their names in order once, and write each of them out."""
    keyed: list[str] = []
    auditing._named.cache_clear()
    monkeypatch.setattr(auditing, "natural_key", lambda name: keyed.append(name) or natural_key(name))
    changes = outlines_of(journal.all_entries())
    assert {summary(change)["targets"] for change in changes.values()} == {"c1,c2,c3,c4,c5,c6,c7"}
    assert len(changes) == CHANGES and len(keyed) == 7


def test_a_page_or_a_csv_reads_each_step_of_a_plan_once_a_row_at_most(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many rows a change has, its plan's steps are read once for all of them."""
    read: list[object] = []
    one = model.step_from_json
    monkeypatch.setattr(model, "step_from_json", lambda item: read.append(item["target"]) or one(item))
    rows: list[Entry] = journal.all_entries(change=1)
    common = Common(rows)
    verified = [row_record(row, common)["verified"] for row in rows if row.kind == "outcome"]
    assert verified == ["cell comment = x"] * len(CELLS)
    assert read == CELLS
    del read[:]
    rows = journal.all_entries(change=1)
    assert "".join(as_csv(rows, journal.plans_of)).count("cell comment = x") == len(CELLS)
    assert read == CELLS
