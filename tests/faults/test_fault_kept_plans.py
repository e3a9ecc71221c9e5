"""A kept plan is applied as it was shown or not at all, and what has moved since is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from matrix_rack import CELLS, MatrixRack
from matrix_run import prepared, state_of
from matrix_verbs import GROUPED


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[MatrixRack]:
    """The default rack."""
    yield MatrixRack(tmp_path / "rack", prepared(()))


MOVES = [
    (
        "disable flashlog db=SPOT",
        "alter iormplan objective=basic",
        "plan p: exa1cel02: iormplan objective was auto and is basic; nothing was sent",
    ),
    (
        "resize flashcache size=288g",
        "alter cell comment=theirs",
        "",
    ),
    (
        "resize flashcache size=288g",
        "alter griddisk DATA_CD_00_exa1cel02 cachingPolicy=none",
        "plan p: exa1cel02: griddisk DATA_CD_00_exa1cel02 cachingPolicy was default and is none; nothing was sent",
    ),
    (
        "alter cell comment=mine",
        "alter cell comment=theirs",
        "would now do something else: 'send the statement' on exa1cel02 has different changes; nothing was sent",
    ),
    (
        "alter cell comment=mine",
        "alter cell comment=mine",
        "would now do something else: 'send the statement' on exa1cel02 is no longer needed; nothing was sent",
    ),
]


@pytest.mark.parametrize(("statement", "other", "said"), MOVES, ids=[f"{s}, {o}" for s, o, _ in MOVES])
def test_what_has_moved_is_named(rack: MatrixRack, statement: str, other: str, said: str) -> None:
    """It should refuse a kept plan naming cell, attribute, old and new value, and carry it out when nothing it read moved."""
    operator = rack.operator()
    operator.must(f"plan as=p {statement}")
    rack.raw(CELLS[1], other)
    before = state_of(rack)
    answer = rack.operator().do("apply p -y")
    if not said:
        assert answer.code == 0, answer
        return
    assert (answer.code, said in answer.text) == (2, True), answer
    assert state_of(rack) == before


def test_a_disk_group_that_got_files_is_not_dropped_by_an_older_plan(tmp_path: Path) -> None:
    """It should refuse to drop by a kept plan what would lose data now, and say which step is another one and in what."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    rack.operator().must("plan as=p drop diskgroup PP")
    groups = rack.rack.asm.groups
    groups["PP"].files.append(replace(groups["DATA"].files[0], database="GONE"))  # Of a database that does not run.
    answer = rack.operator().do("apply p -y --accept-data-loss=PP")
    assert (
        answer.code == 2
        and "'drop the disk group' on exa1db01: statement was DROP DISKGROUP PP and is DROP DISKGROUP PP INCLUDING"
        in answer.text
    )
    assert "PP" in groups


def test_applying_twice_says_that_there_is_nothing_to_do(rack: MatrixRack) -> None:
    """It should find the goal of a kept plan reached the second time, though what it was made from has moved by itself."""
    operator = rack.operator()
    operator.must("plan as=p disable flashlog db=SPOT")
    operator.must("apply p -y")
    assert operator.do("apply p -n --detailed-exitcode").code == 0
    operator.must("apply p -y")
    assert operator.session.changes == [1]
    rack.raw(CELLS[1], "alter iormplan objective=basic")
    operator.must("apply p -y")
    assert operator.session.changes == [1]


@pytest.mark.parametrize("statement", ["run cold", "dcli -c exa1cel01 cellcli -e drop flashcache", "list cell"])
def test_what_no_plan_can_hold(rack: MatrixRack, statement: str) -> None:
    """It should keep no plan of what is not a single change, and not say of it that it changes nothing."""
    answer = rack.operator().do(f"plan as=p {statement}")
    assert answer.code == 2
    assert ("changes nothing" in answer.text) is (statement == "list cell")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("plan as=p disable flashlog db=SPOT", "nothing was sent; kept as p: apply p carries it out"),
        ("plan disable flashlog db=SPOT", "nothing was sent"),
        ("disable flashlog db=SPOT -n", "-n: nothing was sent"),
    ],
)
def test_what_was_only_planned_says_what_became_of_it(rack: MatrixRack, statement: str, said: str) -> None:
    """It should say of -n only where somebody gave it, and of a plan that was kept that apply carries it out."""
    assert [line for line in rack.operator().do(statement).text.splitlines() if "nothing was sent" in line] == [said]
