"""Caching comes back after a fault, by resume or by undo; neither ends with 0 while a cell does not cache."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, MatrixRack
from matrix_run import prepared, state_of
from matrix_verbs import CARVED

RESIZE = "resize flashcache size=288g -y"
REGROW = "release griddisk prefix=p regrow=yes -y"
PUT_BACK, GROWN_AGAIN = "run put_back -y", "run grown_again -y"
ROUNDS = 4
"""So many statements the operator gives at most; each cell caches then."""


def kill(phase: Phase, stage: int, how: str, plan: int = 1) -> Mishap:
    return Mishap(Kind.KILL, Moment(phase, stage), how=how, plan=plan)


def cut(stage: int, how: str, plan: int = 1) -> Mishap:
    return Mishap(Kind.LINK, Moment(Phase.SEND, stage), how=how, lasting=True, plan=plan)


DROP, CREATE = 2, 3
"""Stages of a resize, behind its flush."""

CASES = [
    (RESIZE, kill(Phase.SEND, DROP, "some")),
    (RESIZE, kill(Phase.SEND, DROP, "sent")),
    (RESIZE, kill(Phase.SEND, CREATE, "unsent")),
    (RESIZE, kill(Phase.SEND, CREATE, "some")),
    (RESIZE, kill(Phase.OUTCOME, DROP, "after")),
    (RESIZE, cut(CREATE, "unsent")),
    (REGROW, kill(Phase.SEND, DROP, "some")),
    (REGROW, kill(Phase.SEND, 4, "some")),
    (REGROW, kill(Phase.OUTCOME, 4, "after")),
    (REGROW, cut(5, "unsent")),
    (PUT_BACK, kill(Phase.SEND, DROP, "some")),
    (PUT_BACK, kill(Phase.SEND, DROP, "some", plan=3)),
    (PUT_BACK, cut(DROP, "sent", plan=3)),
    (GROWN_AGAIN, kill(Phase.SEND, CREATE, "some", plan=3)),
]
"""A statement from a rack with room on flash, and what strikes it; the last plans of the recipes are their finally's."""


@pytest.mark.parametrize("way", ["resume -y", "undo -y"])
@pytest.mark.parametrize(("statement", "mishap"), CASES, ids=str)
def test_caching_returns_by_what_ends_well(statement: str, mishap: Mishap, way: str, tmp_path: Path) -> None:
    """No resume and no undo ends with 0 while a cell's cache is off, whatever struck the change; one that ends otherwise says
    something, and repeated, or followed by retry failed, it brings every cache back."""
    rack = MatrixRack(tmp_path / "rack", prepared(CARVED if statement == REGROW else ()))
    operator = rack.operator(mishap)
    said = operator.do(statement)
    assert mishap in operator.watch.struck, operator.watch.seen
    rack.mend()
    rack.pass_time(600)
    operator.watch.mishaps = ()
    if said.killed:
        operator = rack.operator()
    told = [str(said)]
    for statement in (way, way, "retry failed -y", way)[:ROUNDS]:
        said = operator.do(statement)
        told.append(str(said))
        off = [cell for cell in CELLS if not state_of(rack)[cell]["caching"]]
        assert not off or (said.code and said.text), told
        if not off and not said.code:
            break
        rack.pass_time(600)
    assert not off and not rack.lost_dirty and not operator.services.journal.verify(), told
