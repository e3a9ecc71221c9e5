"""A statement that a cell carries out when nobody waits for it any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import MatrixRack
from matrix_run import prepared, reference, state_of
from matrix_verbs import VERBS, Verb

DROPS = [
    ("resize flashcache (smaller)", 2, "DROP FLASHCACHE"),
    ("set flashcache mode", 2, "DROP FLASHCACHE"),
    ("set flashcache mode, PMEM", 2, "DROP PMEMCACHE"),
    ("set flashcache mode, PMEM", 6, "DROP FLASHCACHE"),
    ("resize flashcache, PMEM", 3, "DROP FLASHCACHE"),
]


def _verb(name: str) -> Verb:
    return next(verb for verb in VERBS if verb.name == name)


@pytest.mark.parametrize("way", ["retry failed", "undo"])
@pytest.mark.parametrize(("name", "stage", "statement"), DROPS, ids=[f"{case[0]} {case[1]}" for case in DROPS])
def test_a_drop_without_an_answer_finds_nothing_dirty(
    name: str, stage: int, statement: str, way: str, tmp_path: Path
) -> None:
    """Where a DROP was not answered the flush stays in force, so that minutes later it drops a cache that is clean; that it
    may still come is told, and who goes on behind it reaches the intended or the original state."""
    verb = _verb(name)
    rack = MatrixRack(tmp_path / "rack", prepared(verb.prepare, verb.rack))
    operator = rack.operator(Mishap(Kind.HANG, Moment(Phase.SEND, stage), how="late"))
    said = operator.do(verb.statement)
    assert said.code == 1 and "unknown" in said.text
    assert any(f"{statement} was not answered and may still come" in item.sentence for item in operator.pending())
    rack.pass_time(600)
    rack.mend()
    assert rack.lost_dirty == 0
    operator = rack.operator()
    if verb.undo or way != "undo":
        operator.must(f"{way} -y")
    rack.pass_time(60)
    goal = reference(verb).original if verb.undo and way == "undo" else reference(verb).intended
    if verb.undo or way != "undo":
        assert state_of(rack) == goal and not operator.pending()


@pytest.mark.parametrize("way", ["retry failed", "undo"])
def test_who_goes_on_before_it_came_is_told(way: str, tmp_path: Path) -> None:
    """Retry and undo tell, before they ask, on which cell a DROP was not answered, what it would do, and what ends it."""
    verb = _verb("resize flashcache (smaller)")
    rack = MatrixRack(tmp_path / "rack", prepared(verb.prepare, verb.rack))
    operator = rack.operator(Mishap(Kind.HANG, Moment(Phase.SEND, 2), how="never"))
    assert operator.do(verb.statement).code == 1
    operator = rack.operator()
    operator.must(f"{way} -y")
    told = [line for line in operator.console.said if line.startswith("DROP FLASHCACHE was not answered on exa1cel0")]
    assert len(told) == 1 and "it drops the cache that is there then" in told[0] and "restart service ms" in told[0]
    operator.must("undo -y" if way == "retry failed" else "resize flashcache size=288g -y")
    assert len([line for line in operator.console.said if "was not answered" in line]) == 1
