"""A delta over anything that makes counters begin anew is no figure, whoever did it and however large the load behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Done, InProcess

CELLS = ["exa1cel01", "exa1cel02", "exa1cel03"]
KINDS = ("flashlog", "flashcache")


@pytest.fixture
def somebody(shared: InProcess, tmp_path: Path) -> InProcess:
    """Another operator of the same rack, whose journal is not ours."""
    return InProcess(tmp_path / "somebody").with_rack_of(shared)


def snap(program: InProcess, name: str) -> None:
    for kind in KINDS:
        program.ok("-r", "t1", "snap", kind, f"as={name}")


def load(shared: InProcess, redo: int) -> None:
    shared.ok("emulator", "load", "t1", "db=SPOT", f"redo={redo}", "for=60")


def void(done: Done) -> dict[tuple[str, str | None], str]:
    """Return (kind, cell) → why its row is void, of those that are."""
    rows: list[dict[str, Any]] = done.records
    bare = [row for row in rows if not row["valid"]]
    assert all(not row["deltas"] and "writes" not in row and "redoWrites" not in row for row in bare)
    return {(row["kind"], row["cell"]): row["void"] for row in bare}


def test_a_load_between_two_snapshots_is_a_figure(shared: InProcess, inside: InProcess) -> None:
    """Where nothing was reset, every cell and the rack have figures, and nothing is said of what was not asked."""
    load(shared, 10)
    snap(inside, "before")
    load(shared, 500)
    snap(inside, "after")
    done = inside.ok("-r", "t1", "-o", "json", "delta", "before", "after")
    assert void(done) == {} and done.err == ""
    assert done.records[3]["redoWrites"] == 500 * 60 * 2
    assert "void" not in done.records[0] and "unlike" not in done.records[0]


OTHERS = [
    ("flush flashcache", ("flashcache",), "says the cell's metric history"),
    ("alter cell restart services cellsrv", KINDS, "CELLSRV was started at"),
]


@pytest.mark.parametrize(("statement", "kinds", "why"), OTHERS, ids=[case[0] for case in OTHERS])
def test_what_other_hands_reset_is_seen(
    shared: InProcess, inside: InProcess, somebody: InProcess, statement: str, kinds: tuple[str, ...], why: str
) -> None:
    """A flush or restart that our journal knows nothing of voids its cell and the rack, though all counters grew."""
    load(shared, 10)
    snap(inside, "before")
    somebody.ok("-r", "t1", "-c", "exa1cel02", "-y", *statement.split())
    load(shared, 20_000)
    snap(inside, "after")
    done = inside("-r", "t1", "-o", "json", "delta", "before", "after")
    found = void(done)
    assert done.code == 1
    assert set(found) == {(kind, cell) for kind in kinds for cell in ("exa1cel02", None)}
    assert all(why in text for (_, cell), text in found.items() if cell)
    assert all(found[kind, None] == "no figure for the rack: exa1cel02" for kind in kinds)


def test_what_the_journal_knows_is_named(shared: InProcess, inside: InProcess) -> None:
    """Our own flush in between is named by its change."""
    load(shared, 10)
    snap(inside, "before")
    inside.ok("-r", "t1", "-c", "exa1cel01", "-y", "flush", "flashcache")
    load(shared, 20_000)
    snap(inside, "after")
    done = inside("-r", "t1", "-o", "json", "delta", "before", "after")
    assert void(done)["flashcache", "exa1cel01"] == "change 1 flushed, or ended a flush in the meantime"
    assert "flashlog: no figure" not in done.err and ("flashlog", "exa1cel01") not in void(done)


def test_a_flush_before_the_first_snapshot_is_not_in_between(shared: InProcess, inside: InProcess) -> None:
    """A snapshot behind a flush begins with what is counted behind it: flush, snap, load, snap is the usual order."""
    inside.ok("-r", "t1", "-y", "flush", "flashcache")
    snap(inside, "before")
    load(shared, 100)
    snap(inside, "after")
    assert void(inside.ok("-r", "t1", "-o", "json", "delta", "before", "after")) == {}


def test_snapshots_that_are_not_alike_are_refused(shared: InProcess, inside: InProcess) -> None:
    """A delta over a change of the IORM plan is refused with what differs; --anyway shows it, each row marked."""
    snap(inside, "before")
    inside.ok("-r", "t1", "-y", "disable", "flashlog", "db=SPOT")
    try:
        load(shared, 100)
        snap(inside, "after")
    finally:
        inside.ok("-r", "t1", "-y", "undo")
    refused = inside("-r", "t1", "delta", "before", "after")
    said = "exa1cel[01-03]: IORM dbPlan: SPOT flashlog: not set → off"
    assert refused.code == 2 and refused.out == ""
    told = refused.err.replace("->", "→")  # A plain locale has no such arrow.
    assert f"before and after differ in more than the load: {said}" in told and "--anyway" in told
    marked = inside.ok("-r", "t1", "-o", "json", "delta", "before", "after", "--anyway")
    assert [row["cell"] for row in marked.records] == [*CELLS, None] * 2
    assert all(row["valid"] and row["unlike"] == [said] for row in marked.records)
    table = inside.ok("-r", "t1", "delta", "before", "after", "--anyway")
    assert said in table.err.replace("->", "→") and table.out.splitlines()[0].split()[-1] == "unlike"


def test_explain_says_it_in_sentences(shared: InProcess, inside: InProcess) -> None:
    """A person reads sentences above the figures, a program both as records; what differs between the snapshots comes first."""
    snap(inside, "before")
    load(shared, 500)
    snap(inside, "after")
    text = inside.ok("-r", "t1", "explain", "flashlog", "before", "after").out
    assert text.startswith("Flash answered first in ") and "\n\nfigure " in text
    rows = inside.ok("-r", "t1", "-o", "json", "explain", "flashcache", "before", "after").records
    assert rows[0]["says"].startswith("The flash cache had ")
    assert next(row["value"] for row in rows if row.get("figure") == "smallReads") > 0
    refused = inside("-r", "t1", "explain", "flashlog", "before", "nosuch")
    assert refused.code == 2 and "there is no snapshot nosuch" in refused.err
