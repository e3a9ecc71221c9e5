"""Kept plans, resume, drift and baselines, by the real program on the default emulated rack."""

from __future__ import annotations

import pytest

from exacell.journal.record import Journal

SMALL = 309237645312


@pytest.fixture
def t1(inside):
    """The program with the module's rack; each test leaves it as it was."""
    return inside


def test_a_kept_plan_is_applied_as_it_was_shown(t1):
    """It should carry out a kept plan when nothing has moved, find its goal reached afterwards, and refuse it when something
    else was made meanwhile, naming what has moved."""
    planned = t1.ok("-r", "t1", "-o", "json", "plan", "as=small", "resize", "flashcache", "size=288g").records
    assert {r["outcome"] for r in planned} == {"planned"}
    t1.ok("-r", "t1", "apply", "small", "-y")
    assert {r["size"] for r in t1.ok("-r", "t1", "-o", "json", "show", "flashcache").records} == {SMALL}
    assert "nothing to do" in t1.ok("-r", "t1", "apply", "small", "-y").out
    t1.ok("-r", "t1", "on", "exa1cel01", "resize", "flashcache", "size=256g", "-y")
    refused = t1("-r", "t1", "apply", "small", "-y")
    assert refused.code == 2
    assert "exa1cel01" in refused.err and "was" in refused.err and "nothing was sent" in refused.err
    t1.ok("-r", "t1", "undo", "-y")
    t1.ok("-r", "t1", "undo", "-y")


def test_a_kept_plan_rolls_as_it_was_planned(t1):
    """It should go through the cells in the waves that it was kept with, by another session, and so should its undo."""
    t1.ok("-r", "t1", "plan as=waves on exa1cel[01-02] disable flashlog db=SPOT --canary=exa1cel02")
    assert "Rolling:" not in t1.ok("-r", "t1", "apply", "waves", "--no-rolling", "-n").err
    t1.ok("-r", "t1", "apply", "waves", "-y")
    undone = t1.ok("-r", "t1", "undo", "-y")
    assert "2 waves: exa1cel[01-02], one cell at a time" in undone.err
    rows = Journal(t1.home / "journal.db").entries()
    assert [row.target for row in rows if row.kind == "intent"] == ["exa1cel02", "exa1cel01", "exa1cel01", "exa1cel02"]


def test_a_killed_resize_is_resumed_to_its_end(t1):
    """It should say at the next start that a change never ended, and finish it with resume, once."""
    t1.dies("[2/3] ", "-r", "t1", "resize", "flashcache", "size=288g", "-y")
    assert any(row.kind == "intent" for row in Journal(t1.home / "journal.db").entries())
    assert "resume finishes it" in t1.ok("-r", "t1", "show", "flashcache").err
    t1.ok("-r", "t1", "resume", "-y")
    after = t1.ok("-r", "t1", "-o", "json", "show", "flashcache")
    assert {(r["size"], r["caching"]) for r in after.records} == {(SMALL, "on")}
    assert "resume finishes it" not in after.err
    assert "nothing is unfinished" in t1.ok("-r", "t1", "resume", "-y").err
    t1.ok("-r", "t1", "undo", "-y")


def test_drift_names_the_odd_cell_and_its_attribute(t1):
    """It should exit 0 on equal cells, and 5 with cell, attribute, value and what was expected when one differs."""
    t1.ok("-r", "t1", "save", "baseline", "as=golden")
    assert t1.ok("-r", "t1", "-o", "json", "drift").records == []
    t1.ok("-r", "t1", "on exa1cel02 alter iormplan objective=basic -y")
    for statement in ("drift", "drift baseline=golden"):
        drifted = t1("-r", "t1", "-o", "json", statement)
        assert drifted.code == 5
        assert [(r["cell"], r["attribute"], r["value"], r["expected"]) for r in drifted.records] == [
            ("exa1cel02", "objective", "basic", "auto")
        ]
    t1.ok("-r", "t1", "on exa1cel02 alter iormplan objective=auto -y")


def test_changes_are_undone_in_reverse(t1):
    """It should bring sizes, grid disks, disk groups and IORM plans back, and refuse an undo of what has moved since."""
    before = t1.ok("-r", "t1", "-o", "json", "show", "flashcache").records
    plan = t1.ok("-r", "t1", "-o", "json", "show", "iorm").records
    statements = (
        "resize flashcache size=288g -y; carve griddisk prefix=ssd -y; create diskgroup FL prefix=ssd -y; "
        "disable flashlog db=SPOT -y"
    )
    t1.ok("-r", "t1", "-e", statements)
    refused = t1("-r", "t1", "undo", "1", "-y")
    assert refused.code == 2 and "nothing was sent" in refused.err
    for _ in range(4):
        t1.ok("-r", "t1", "undo", "-y")
    after = t1.ok("-r", "t1", "-o", "json", "show", "flashcache").records
    assert [r["size"] for r in after] == [r["size"] for r in before]
    assert t1.ok("-r", "t1", "-o", "json", "show", "iorm").records == plan
    assert t1.ok("-r", "t1", "-o", "json", "list griddisk where diskType=flashdisk").records == []
    nothing = t1("-r", "t1", "undo", "-y")
    assert nothing.code == 2 and "no change" in nothing.err
