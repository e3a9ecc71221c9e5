"""Which cells the journal says are without caching, and whether their cache is gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exacell.journal.left import CACHES, CachingOff
from exacell.journal.record import Journal, Row

OFF: dict[str, object] = {"cachingOff": True}
ON: dict[str, object] = {"cachingOn": True}
LOOKED: dict[str, object] = {**OFF, "settled": True}
DROPPED = "Flash cache c1_FLASHCACHE successfully dropped\n"


def flush(cell: str) -> Row:
    return Row(kind="intent", target=cell, body={**OFF, "statement": "ALTER FLASHCACHE ALL FLUSH NOWAIT"})


def drop(cell: str) -> Row:
    return Row(kind="intent", target=cell, body={**OFF, "statement": "drop flashcache"})


def cancel(cell: str) -> Row:
    return Row(kind="intent", target=cell, body={**ON, "statement": "ALTER FLASHCACHE ALL CANCEL FLUSH"})


def dcli(cell: str) -> Row:
    return Row(kind="intent", target=cell, body={**OFF, "statement": "dcli -x /home/x/work.sh"})


def ended(cell: str, state: str, flags: dict[str, object]) -> Row:
    return Row(kind="outcome", target=cell, body={**flags, "state": state})


def replaced(cell: str, what: str, state: str) -> Row:
    """The outcome of another step than the one whose intent was written."""
    return Row(kind="outcome", target=cell, body={**OFF, "what": what, "state": state})


def seen(cell: str, caching: str) -> Row:
    return Row(kind="observed", target=cell, body={"caching": caching})


def of(cache: str, row: Row) -> Row:
    return Row(kind=row.kind, target=row.target, body={**row.body, "cache": cache})


def left(*cells: str, dropped: bool = False, cache: str = "flashcache") -> CachingOff:
    return CachingOff(change=1, cells=cells, dropped=dropped, cache=cache)


def maybe(*cells: str, dropped: bool = False, cache: str = "flashcache") -> CachingOff:
    """What nobody has seen carried out; a DROP among that may still come."""
    return replace(left(*cells, dropped=dropped, cache=cache), sure=False, comes=dropped)


FOLLOWED = Row(kind="intent", target="c1", body={**OFF, "statement": ""})

CASES: list[tuple[list[Row], tuple[CachingOff, ...]]] = [
    ([], ()),
    ([flush("c1")], (maybe("c1"),)),
    ([flush("c1"), ended("c1", "unknown", OFF)], (maybe("c1"),)),
    ([flush("c1"), ended("c1", "done", OFF)], (left("c1"),)),
    # A statement whose look failed never left: what was left off before it still is, and no more.
    ([drop("c1"), ended("c1", "refused", OFF)], ()),
    ([flush("c1"), ended("c1", "done", OFF), drop("c1"), ended("c1", "refused", OFF)], (left("c1"),)),
    ([flush("c1"), ended("c1", "unknown", OFF), drop("c1"), ended("c1", "refused", OFF)], (maybe("c1"),)),
    # What was to bring caching back and never left mends nothing; what never left takes nothing back that was seen since.
    ([flush("c1"), ended("c1", "done", OFF), cancel("c1"), ended("c1", "refused", ON)], (left("c1"),)),
    ([drop("c1"), seen("c1", "on"), ended("c1", "refused", OFF)], ()),
    # One that was refused before its intent was written takes nothing back of an earlier one.
    ([flush("c1"), ended("c1", "done", OFF), replaced("c1", "drop", "refused")], (left("c1"),)),
    (
        [
            flush("c1"),
            ended("c1", "unknown", {**OFF, "reply": "Flash cache c1_FLASHCACHE altered successfully\n"}),
        ],
        (left("c1"),),
    ),
    ([flush("c1"), ended("c1", "done", ON)], ()),
    ([flush("c1"), ended("c1", "done", OFF), ended("c1", "failed", ON)], (left("c1"),)),
    ([flush("c1"), seen("c1", "off")], (left("c1"),)),
    ([flush("c1"), seen("c1", "on")], ()),
    # A flush that was under way and is only followed was off before.
    ([FOLLOWED], (left("c1"),)),
    # Losing it from sight does not bring it back.
    ([FOLLOWED, ended("c1", "unknown", OFF)], (left("c1"),)),
    ([FOLLOWED, ended("c1", "failed", OFF)], (left("c1"),)),
    ([flush("c1"), ended("c1", "failed", OFF)], (maybe("c1"),)),
    ([drop("c1")], (maybe("c1", dropped=True),)),
    ([drop("c1"), ended("c1", "unknown", OFF)], (maybe("c1", dropped=True),)),
    ([drop("c1"), ended("c1", "done", OFF)], (left("c1", dropped=True),)),
    # Seen off it may be flushed as well as gone.
    ([drop("c1"), ended("c1", "unknown", OFF), seen("c1", "off")], (maybe("c1", dropped=True),)),
    ([drop("c1"), ended("c1", "unknown", OFF), ended("c1", "done", OFF)], (left("c1", dropped=True),)),
    # What was refused, or found not to have happened, dropped nothing: the flush before it is what is left.
    ([drop("c1"), ended("c1", "failed", OFF)], (left("c1"),)),
    ([drop("c1"), ended("c1", "not done", OFF)], (left("c1"),)),
    # What was read later, without an answer, is no proof that it will not come.
    ([drop("c1"), ended("c1", "unknown", OFF), ended("c1", "not done", LOOKED)], (replace(left("c1"), comes=True),)),
    ([drop("c1"), ended("c1", "not done", LOOKED)], (replace(left("c1"), comes=True),)),
    ([drop("c1"), ended("c1", "unknown", OFF), ended("c1", "done", LOOKED)], (left("c1", dropped=True),)),
    ([drop("c1"), ended("c1", "unknown", {**OFF, "reply": DROPPED})], (left("c1", dropped=True),)),
    ([flush("c1"), ended("c1", "not done", LOOKED)], (maybe("c1"),)),
    # That the cache could not be made again does not bring the old one back.
    ([drop("c1"), ended("c1", "done", OFF), ended("c1", "failed", ON)], (left("c1", dropped=True),)),
    ([drop("c1"), ended("c1", "failed", {})], (maybe("c1", dropped=True),)),
    # A statement that a cell refuses has done nothing to a cache that is not there, or has no flush.
    ([flush("c1"), ended("c1", "failed", OFF), seen("c1", "gone")], ()),
    ([flush("c1"), ended("c1", "failed", OFF), seen("c1", "untold")], ()),
    ([flush("c1"), ended("c1", "failed", OFF), seen("c1", "off")], (left("c1"),)),
    ([flush("c1"), ended("c1", "done", OFF), seen("c1", "gone")], (left("c1"),)),
    ([flush("c1"), ended("c1", "unknown", OFF), seen("c1", "untold")], (maybe("c1"),)),
    ([drop("c1"), ended("c1", "failed", OFF), seen("c1", "gone")], (left("c1"),)),
    (
        [flush("c1"), ended("c1", "done", OFF), dcli("c1"), ended("c1", "failed", OFF), seen("c1", "gone")],
        (left("c1"),),
    ),
    ([dcli("c1"), ended("c1", "failed", OFF), seen("c1", "gone")], (left("c1"),)),
    # What was left off before it still is.
    (
        [drop("c1"), ended("c1", "done", OFF), flush("c1"), ended("c1", "failed", OFF), seen("c1", "gone")],
        (left("c1", dropped=True),),
    ),
    # Seen caching before the statement was settled: nothing is left to mend.
    ([drop("c1"), seen("c1", "on"), ended("c1", "not done", OFF)], ()),
    ([flush("c1"), drop("c2"), flush("c3")], (maybe("c1", "c3"), maybe("c2", dropped=True))),
    ([drop("c1"), drop("c2"), ended("c2", "failed", OFF)], (left("c2"), maybe("c1", dropped=True))),
    ([drop("c1"), drop("c2"), ended("c2", "done", OFF)], (maybe("c1", dropped=True), left("c2", dropped=True))),
    # Each cache of a cell is off, dropped and back by itself; a row that names none speaks of the flash cache.
    ([flush("c1"), of("pmemcache", ended("c1", "done", ON))], (maybe("c1"),)),
    ([flush("c1"), of("pmemcache", flush("c1")), ended("c1", "done", ON)], (maybe("c1", cache="pmemcache"),)),
    ([of("pmemcache", flush("c1")), of("pmemcache", seen("c1", "on"))], ()),
    ([of("pmemcache", drop("c1"))], (maybe("c1", cache="pmemcache"),)),
]


@pytest.mark.parametrize(("rows", "found"), CASES)
def test_cells_without_caching(tmp_path: Path, rows: list[Row], found: tuple[CachingOff, ...]) -> None:
    """A cell counts from the intent to switch caching off until it is seen back, and as dropped while that may be so; it is sure
    when its statement was seen carried out."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s"})
    journal.append("t1", change, rows)
    assert CACHES.left(journal, "t1") == found
