"""Guards on answers that lack something: what a cell does not tell, or tells oddly, is never taken for proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import ExacellError
from exacell.plan import facts as f, implausible as doubts
from exacell.plan.guards.already import reached
from exacell.plan.guards.choice import facts_needed, guard_plan
from exacell.plan.model import Op
from exacell.session.answers import Answer, Answers
from exacell.session.factreading import gather
from exacell.transport.base import Reply, State
from tests.support.every import every

ONE = "exa1cel01"
Tables = Mapping[str, list[dict[str, Any]]]

CELL = {
    "name": ONE,
    "releaseVersion": "22.1.9.0.0",
    "flashCacheMode": "WriteBack",
    "cellsrvStatus": "running",
    "makeModel": "X8M",
}
DISK = {"name": f"FD_00_{ONE}", "diskType": "FlashDisk", "size": 1 << 40, "freeSpace": 0, "status": "normal"}
GRID = {
    "name": f"DATA_FD_00_{ONE}",
    "cellDisk": f"FD_00_{ONE}",
    "diskType": "FlashDisk",
    "size": 1 << 39,
    "status": "active",
}
USED = {
    "asmDiskGroupName": "DATA",
    "asmModeStatus": "ONLINE",
    "asmDeactivationOutcome": "Yes",
    "availableTo": "",
    "cachingPolicy": "none",
}
CACHE = {"name": "c", "size": 1 << 40, "status": "normal", "degradedCelldisks": "", "cellDisk": (f"FD_00_{ONE}",)}
TABLES: Tables = {
    f.CELL: [CELL],
    f.CELL_PMEM: [{**CELL, "pmemCacheMode": "WriteBack"}],
    f.FLASHCACHE: [{**CACHE, "effectiveCacheSize": 1 << 40}],
    f.PMEMCACHE: [{"name": "p", "size": 1 << 40, "status": "normal"}],
    f.CELLDISK: [{**DISK, "flushStatus": "", "flushError": ""}],
    f.GRIDDISK: [{**GRID, **USED}],
    f.FLASHLOG: [{"name": "l", "size": 1 << 29, "status": "normal"}],
    f.FLASH_PHYSICALDISK: [{"name": "FLASH_1_1", "diskType": "FlashDisk", "status": "normal"}],
}
"""What a cell with write-back caches, dirty, and a disk group answers."""

LOSING = [
    "drop flashcache",
    "drop flashcache all",
    "alter flashcache all size=100G",
    f"alter flashcache celldisk='FD_00_{ONE}'",
    "alter cell flashCacheMode=writethrough",
    "drop pmemcache all",
    "alter cell pmemCacheMode=writethrough",
    "drop celldisk all flashdisk",
    "drop celldisk all force",
    "drop griddisk all prefix=DATA",
    "drop griddisk all prefix=DATA force",
    f"drop griddisk DATA_FD_00_{ONE}",
    "alter griddisk all size=10G",
    "export celldisk all",
]


def _spoilt(rows: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield what may be left of an answer: no rows, or rows in which an attribute is missing, blank or another word."""
    yield "no rows", []
    for name in rows[0]:
        yield f"{name} missing", [{key: value for key, value in row.items() if key != name} for row in rows]
        for odd in (None, "", "-", "unknown", "Write Back", 0):
            yield f"{name}={odd!r}", [{**row, name: odd} for row in rows]


def _let_through(statement: Change, wanted: list[str], tables: Tables) -> bool:
    """Whether a statement would leave that needs no more than that what was read stays as it was read."""
    try:
        fact = f.build(ONE, wanted, [tables.get(text, []) for text in wanted])
        if reached(statement, fact) or doubts.untold(fact, wanted):
            return False
        plan = guard_plan("t1", {ONE: fact}, statement, text="x", accepted=(), headers=None)
    except ExacellError:
        return False
    proven = [need for step in plan.steps for need in step.needs if need.value is not None or need.op is Op.ABSENT]
    return bool(plan.steps) and not proven


@every(LOSING)
def test_an_answer_that_lacks_something_is_no_proof(text: str) -> None:
    """Whatever one answer lacks, a statement that loses data should be refused, or need a fact that is read once more."""
    statement = parse(text)
    assert isinstance(statement, Change)
    wanted = f.statements_for(*facts_needed(statement), release=CELL["releaseVersion"])
    assert not _let_through(statement, wanted, TABLES)
    for spoilt in wanted:
        for what, rows in _spoilt(TABLES.get(spoilt, [{"name": "x"}])):
            assert not _let_through(statement, wanted, {**TABLES, spoilt: rows}), f"{spoilt}: {what}"


@pytest.mark.parametrize("asked", [f.CELL, f.CELL_PMEM])
def test_a_cell_that_tells_nothing_of_itself_is_an_error(asked: str) -> None:
    """An empty answer to LIST CELL should stop a plan, for nothing tells then what may be dirty."""

    def why(*rows: dict[str, Any], statements: tuple[str, ...] = (asked,)) -> str:
        return doubts.untold(f.build(ONE, [asked], [rows]), statements)

    for rows in ((), ({"name": ONE},), ({"name": ONE, "releaseVersion": "", "flashCacheMode": None},)):
        assert why(*rows) == "LIST CELL showed neither releaseVersion nor flashCacheMode"
    assert (
        why({"releaseVersion": "11.2.2.4.2"})
        == why({"flashCacheMode": "WriteBack"})
        == why(statements=(f.GRIDDISK,))
        == ""
    )


def test_what_a_cell_does_not_tell_of_itself_is_its_problem() -> None:
    """Such a cell should be among those that gave no answer, with the reason, and the others have their facts."""

    class Fleet:
        def strangers(self, cells: Sequence[str]) -> list[str]:
            return list(cells)

        def greet(self, cells: Sequence[str]) -> dict[str, Reply]:
            return {}

        def releases(self, cells: Sequence[str]) -> dict[str, str]:
            return {}

    def query(cells: Sequence[str], statements: Sequence[str]) -> Answers:
        rows = {"a": ({"releaseVersion": "19.3.2"},), "b": ()}
        reply = Reply(target="b", state=State.OK)
        return Answers(answers={c: Answer(cell=c, tables=(rows[c],), reply=reply) for c in cells})

    found, bad = gather(cast(Any, Fleet()), query, [f.CELL], ("a", "b"))
    assert list(found) == ["a"] and {c: r.problem for c, r in bad.items()} == {
        "b": "LIST CELL showed neither releaseVersion nor flashCacheMode"
    }


class Patched:
    """A cell that was patched or went back behind a transport that did not notice, and the fleet that remembers it."""

    def __init__(self, before: str, now: str, *, knows: str = "", lost: bool = False) -> None:
        self.known, self.now, self.knows, self.lost = {"a": before}, now, knows, lost
        self.asked: list[tuple[str, ...]] = []

    def strangers(self, cells: Sequence[str]) -> list[str]:
        """Return the cells whose release is not remembered."""
        return [cell for cell in cells if cell not in self.known]

    def greet(self, cells: Sequence[str]) -> dict[str, Reply]:
        """Learn what is not remembered."""
        self.known |= dict.fromkeys(self.strangers(cells), self.now)
        return {}

    def releases(self, cells: Sequence[str]) -> dict[str, str]:
        """Return what is known."""
        self.greet(cells)
        return {cell: self.known[cell] for cell in cells}

    def forget(self, cells: Sequence[str]) -> None:
        """Forget it."""
        for cell in cells:
            self.known.pop(cell, None)

    def query(self, cells: Sequence[str], statements: Sequence[str]) -> Answers:
        """Answer with the release it has now; what that does not know is an error."""
        self.asked.append(tuple(statements))
        rows = {f.CELL: {"releaseVersion": self.now}, f.CELL_PMEM: {"releaseVersion": self.now}}
        tables = tuple((rows[s],) if s in rows else ({"name": "p", "status": "normal"},) for s in statements)
        reply = Reply(target="a", state=State.UNREACHABLE if self.lost else State.OK)
        problem = "CELL-01504: Invalid command syntax." if self.knows and self.knows in statements else ""
        return Answers(answers={"a": Answer(cell="a", tables=tables, problem=problem, reply=reply)})


PATCHED: list[tuple[str, str, str, int, bool, str]] = [
    ("19.3.2", "19.3.2", "", 1, True, ""),
    ("18.1.5", "19.3.2", "", 2, True, ""),
    ("22.1.9", "24.1.4", f.PMEMCACHE, 2, False, ""),
    ("24.1.4", "24.1.4", f.FLASHCACHE, 1, False, "CELL-01504: Invalid command syntax."),
]


@pytest.mark.parametrize(("before", "now", "knows_not", "asked", "pmem", "problem"), PATCHED)
def test_a_cell_with_another_release_is_asked_anew(
    before: str, now: str, knows_not: str, asked: int, pmem: bool, problem: str
) -> None:
    """A cell that runs another release than is remembered should be asked for what that one has, once, and judged by it."""
    cell = Patched(before, now, knows=knows_not)
    found, bad = gather(cast(Any, cell), cell.query, [f.CELL, f.PMEMCACHE, f.FLASHCACHE], ("a",))
    assert len(cell.asked) == asked and {name: reply.problem for name, reply in bad.items()} == (
        {"a": problem} if problem else {}
    )
    if not problem:
        assert (found["a"].release, found["a"].pmem_cache is not None) == (now, pmem)


def test_a_cell_that_says_nothing_is_not_asked_for_its_release() -> None:
    """A cell that can't be reached should not be waited for once more because its release may be another one."""
    cell = Patched("18.1.5", "19.3.2", knows=f.FLASHCACHE, lost=True)
    _, bad = gather(cast(Any, cell), cell.query, [f.CELL, f.FLASHCACHE], ("a",))
    assert (list(bad), len(cell.asked), cell.known) == (["a"], 1, {"a": "18.1.5"})


def test_a_time_that_is_none_is_long_ago() -> None:
    """A metric whose collectionTime can't be read should count as collected before anything that is waited for."""
    rows = [{"name": "FC_BY_DIRTY", "metricValue": 0, "collectionTime": "yesterday"}]
    assert f.metric_values(rows) == {"FC_BY_DIRTY": (0.0, 0)}


MISTAKEN: list[tuple[dict[str, str], tuple[str, ...], dict[str, str]]] = [
    # A cell's own name need not be its host's, and an answer without one tells nothing.
    ({"a": "a", "b": "B"}, ("a", "b"), {}),
    ({"10.0.0.1": "dm01cel01", "b-priv": "dm01cel02"}, ("10.0.0.1", "b-priv"), {}),
    ({"a": "", "b": ""}, ("a", "b"), {}),
    ({"a.example.com": "a"}, ("a.example.com", "b.example.com"), {}),
    # Two names of one cell, with and without the true one among them.
    (
        {"a": "a", "b": "A", "c": "c"},
        ("a", "b", "c"),
        {"a": "it and b are the same cell, A", "b": "it and a are the same cell, A"},
    ),
    (
        {"x": "dm01", "y": "dm01"},
        ("x", "y"),
        {"x": "it and y are the same cell, dm01", "y": "it and x are the same cell, dm01"},
    ),
    # One cell alone, whose name leads to another one of the rack.
    ({"a": "b"}, ("a", "b"), {"a": "the cell at this address is b, another cell of the rack"}),
    (
        {"a": "B"},
        ("a", "b.example.com"),
        {"a": "the cell at this address is B, another cell of the rack"},
    ),
]


@pytest.mark.parametrize(("names", "rack", "found"), MISTAKEN)
def test_a_cell_is_who_it_says_it_is(names: dict[str, str], rack: tuple[str, ...], found: dict[str, str]) -> None:
    """Two names that lead to one cell, and a name that leads to another cell of the rack, are mistakes, told for each."""
    facts = {cell: f.CellFacts(cell=cell, name=name) for cell, name in names.items()}
    assert doubts.mistaken(facts, rack) == found


def test_a_mistaken_cell_gives_no_facts() -> None:
    """A cell that says it is another one of the rack should be among those that gave no answer, with the way out."""

    class Fleet:
        def strangers(self, cells: Sequence[str]) -> list[str]:
            return list(cells)

        def greet(self, cells: Sequence[str]) -> dict[str, Reply]:
            return {}

        def releases(self, cells: Sequence[str]) -> dict[str, str]:
            return {}

    def query(cells: Sequence[str], statements: Sequence[str]) -> Answers:
        rows = ({"name": "b", "releaseVersion": "19.3.2"},)
        reply = Reply(target="a", state=State.OK)
        return Answers(answers={c: Answer(cell=c, tables=(rows,), reply=reply) for c in cells})

    found, bad = gather(cast(Any, Fleet()), query, [f.CELL], ("a",), others=("a", "b"))
    assert not found and "is b" in bad["a"].problem and "correct its name or address" in bad["a"].problem
