"""A statement that a cell carries out when nobody waits for it any more."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import MatrixRack
from matrix_run import prepared, reference, state_of
from matrix_verbs import VERBS, Verb

from exacell.change import settling
from exacell.change.settling import LATE_LOOKS
from exacell.core.config import EMULATED_POLL

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
    assert any(f"{statement} was not answered and may still happen" in item.sentence for item in operator.pending())
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
    assert (
        len(told) == 1
        and "it drops the cache that is there at that time" in told[0]
        and "restart service ms" in told[0]
    )
    operator.must("undo -y" if way == "retry failed" else "resize flashcache size=288g -y")
    assert sum(line.startswith("DROP FLASHCACHE was not answered") for line in operator.console.said) == 1


@pytest.mark.parametrize(("way", "size"), [("retry failed", "288G"), ("undo", "373504M")])
def test_a_drop_that_is_on_its_way_is_waited_for(
    way: str, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who goes on right after a DROP whose answer was lost waits a little for it: it is not sent a second time, and nothing that
    would meet it is sent before it has come. A dry run does not wait."""
    verb = _verb("resize flashcache (smaller)")
    rack = MatrixRack(tmp_path / "rack", prepared(verb.prepare, verb.rack))
    operator = rack.operator(Mishap(Kind.HANG, Moment(Phase.SEND, 2), how="late"))
    assert operator.do(verb.statement).code == 1
    operator = rack.operator()
    wait, pauses = rack.pause, []

    def pause(event: threading.Event, seconds: float) -> bool:
        pauses.append(seconds)
        if len(pauses) == 3:
            rack.mend()
        return wait(event, seconds)

    monkeypatch.setattr(rack, "pause", pause)
    operator.do(f"{way} -n")
    assert not pauses
    sent = len(rack.sent)
    operator.must(f"{way} -y")
    texts = [text.rpartition("-e ")[2] for host, text in rack.sent[sent:] if host == "exa1cel02"]
    assert texts == ["DROP FLASHCACHE", f"CREATE FLASHCACHE ALL size={size}"]  # The one that was on its way.
    assert sum("whether it still happens" in line for line in operator.console.said) == 1 and rack.lost_dirty == 0
    goal = reference(verb).original if way == "undo" else reference(verb).intended
    assert state_of(rack) == goal and not operator.pending()


def test_a_drop_that_does_not_come_is_waited_for_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait has an end by the looks, none where the statement is older, and ends with an interruption."""
    verb = _verb("resize flashcache (smaller)")
    rack = MatrixRack(tmp_path / "rack", prepared(verb.prepare, verb.rack))
    operator = rack.operator(Mishap(Kind.HANG, Moment(Phase.SEND, 2), how="never"))
    assert operator.do(verb.statement).code == 1
    intents = [row for row in operator.services.journal.entries(change=1) if row.kind == "intent"]
    (drop,) = (row for row in intents if row.target == "exa1cel02" and row.body["what"].startswith("drop flashcache"))
    sent = datetime.fromisoformat(drop.at)
    counts = []

    def looks(age: float, interrupted: int) -> int:
        pauses: list[float] = []

        def pause(event: threading.Event, seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == interrupted:
                desk.session.interrupted.set()

        class Later(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:
                return sent + timedelta(seconds=age)

        desk = rack.operator()
        monkeypatch.setattr(settling, "_pause", pause)
        monkeypatch.setattr(settling, "datetime", Later)
        with monkeypatch.context() as patch:
            patch.setattr(desk.services.journal, "append", lambda *_: None)
            settling.settle(desk.session, desk.services, 1)
        return len(pauses)

    for age, interrupted in ((0.0, 0), (5 * EMULATED_POLL, 0), (3600.0, 0), (-3600.0, 0), (0.0, 2)):
        counts.append(looks(age, interrupted))
    assert counts == [LATE_LOOKS, LATE_LOOKS - 5, 0, LATE_LOOKS, 2]
