"""Facts that a recipe requires, judged by what cells answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from exacell.cellcli.condition import FactCheck, read_check, read_wait
from exacell.core.errors import ExitCode, RecipeError, StatementError
from exacell.session.checking import failures
from exacell.session.request import Request
from exacell.session.services import Services
from tests.support.every import every
from tests.support.sessions import Session

CACHES: dict[str, list[dict[str, Any]]] = {
    "c1": [{"name": "c1_FLASHCACHE", "status": "normal", "size": 288 << 30}],
    "c2": [{"name": "c2_FLASHCACHE", "status": "normal", "size": 288 << 30}],
    "c3": [{"name": "c3_FLASHCACHE", "status": "warning", "size": 144 << 30}],
}
DISKS: dict[str, list[dict[str, Any]]] = {
    "c1": [{"name": "DATA_c1", "asmModeStatus": "ONLINE"}],
    "c2": [{"name": "DATA_c2", "asmModeStatus": "OFFLINE"}, {"name": "RECO_c2", "asmModeStatus": "ONLINE"}],
}


def judged(
    text: str, rows: dict[str, list[dict[str, Any]]], *, silent: tuple[str, ...] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """Return what does not hold on cells that list these rows, and the statements that were asked."""
    asked: list[str] = []

    def query(statement: str, **_: Any) -> SimpleNamespace:
        asked.append(statement)
        good = {cell: SimpleNamespace(tables=[found]) for cell, found in rows.items()}
        return SimpleNamespace(good=good, problems=[f"{cell}: no answer" for cell in silent])

    services = cast("Services", SimpleNamespace(query=query))
    return failures(services, Request(), read_check(text)), asked


@pytest.mark.parametrize(
    ("text", "rows", "faulty"),
    [
        ("all flashcache.status = normal", CACHES, ["c3"]),
        ("ALL flashcache.size >= 144G", CACHES, []),
        ("all flashcache.size > 144G", CACHES, ["c3"]),
        ("all flashcache.size < 288G", CACHES, ["c1", "c2"]),
        ("all flashcache.size <= 288G", CACHES, []),
        ("no griddisk where asmModeStatus=OFFLINE", DISKS, ["c2"]),
        ("no griddisk where asmModeStatus=OFFLINE and name=RECO_c2", DISKS, []),
        ("all griddisk.asmModeStatus = ONLINE where name=RECO_c2", {"c2": DISKS["c2"]}, []),
    ],
)
def test_what_does_not_hold_is_told_with_its_cells(
    text: str, rows: dict[str, list[dict[str, Any]]], faulty: list[str]
) -> None:
    """Each reason names the cells on which the fact does not hold, and nothing is said where it holds on all."""
    found, _ = judged(text, rows)
    assert [cell for cells in found.values() for cell in cells] == faulty


def test_same_names_who_has_what() -> None:
    """Cells that differ in an attribute are told with their values, attribute by attribute; names of cells do not count."""
    found, asked = judged("same flashcache.size, flashcache.name", CACHES)
    assert list(found) == ["flashcache.size differs: c[1-2] has 288G; c3 has 144G"]
    assert asked == ["list flashcache attributes name, size", "list flashcache attributes name"]


def test_a_cell_that_gives_no_answer_fails_the_check() -> None:
    """A check that could not be made on a cell does not hold."""
    found, _ = judged("all flashcache.status = normal", {"c1": CACHES["c1"]}, silent=("c9",))
    assert found == {"c9: no answer": []}


def test_same_compares_only_the_rows_that_count() -> None:
    """A WHERE behind same leaves rows out on every cell before cells are compared."""
    assert judged("same griddisk.asmModeStatus", DISKS)[0]
    assert judged("same griddisk.asmModeStatus where asmModeStatus != OFFLINE", DISKS)[0] == {}


@every(
    [
        ("most flashcache.status = normal", "'most' can't begin a check; begin with all, no or same", "most"),
        ("", "a check is missing", ""),
        ("all flashcache", "an attribute is missing", "flashcache"),
        ("all flashcache.status", "a comparison is missing after status", ""),
        ("all flashcache.status ~ 5", "a comparison is missing after status", "~"),
        ("all flashcache.status = normal - flushed", "'-' can't follow the check", "-"),
        ("all flashcache.status = normal every", "'every' can't follow the check", "every"),
        ("same flashcache.status = normal", "same compares cells with each other", "="),
        ("all flashcache.color = red", "'color' is not an attribute of FLASHCACHE", "color"),
        ("all coffee.status = hot", "LIST has no object 'coffee'", "coffee"),
        ("no coffee", "LIST has no object 'coffee'", "coffee"),
        ("no griddisk.name", "`no` needs an object", "griddisk.name"),
        ("no griddisk where OFFLINE", "'OFFLINE' is not an attribute of GRIDDISK", "OFFLINE"),
        ("no griddisk where asmModeStaus=OFFLINE", "'asmModeStaus' is not an attribute of GRIDDISK", "asmModeStaus"),
        ("same flashcache.size, griddisk.size where effectiveCacheSize > 1G", "not an attribute of GRIDDISK", "where"),
        ("all flashcache.size = big", "'big' is not a size", "big"),
        ("all griddisk.errorCount = none", "errorCount needs a number, not 'none'", "none"),
        ("all flashcache.status = 'normal", "has no closing '", "'normal"),
    ]
)
def test_what_is_no_check_is_an_error_that_names_the_word(text: str, said: str, fault: str) -> None:
    """A check that is misspelt is refused with the word that is wrong and its place, before any cell is asked."""
    with pytest.raises(StatementError) as caught:
        judged(text, CACHES)
    assert said in caught.value.message
    assert text[caught.value.start : caught.value.end] == fault


def test_what_a_wait_is_for() -> None:
    """A duration is seconds; behind until stands a check; anything else, and every= without until, is an error."""
    assert read_wait("90s", bounded=False) == 90.0
    assert isinstance(read_wait("UNTIL no griddisk where asmModeStatus = OFFLINE", bounded=True), FactCheck)
    for text, bounded, said in (
        ("soon", False, "is not a duration"),
        ("unitl all flashcache.status = normal", False, "is not a duration"),
        ("90s", True, "every= and for= need until"),
        ("until", False, "a check is missing"),
    ):
        with pytest.raises(StatementError, match=said):
            read_wait(text, bounded=bounded)
    with pytest.raises(StatementError) as caught:
        read_wait("until all flashcache.staus = normal", bounded=False)
    assert "until all flashcache.staus"[caught.value.start :] == "staus"


@pytest.fixture
def rack(tmp_path: Path) -> Session:
    """A rack whose cells say of their flash cache what the first rule answers."""
    return Session(tmp_path)


def answered(*states: str) -> Callable[[str], str]:
    """Return what a cell answers: one state after the other, the last one from then on."""
    left: dict[str, list[str]] = {}

    def answer(cell: str) -> str:
        mine = left.setdefault(cell, list(states))
        state = mine.pop(0) if len(mine) > 1 else mine[0]
        return (
            f'<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="{cell}"/>\n'
            f"<flashcache><name>{cell}_FLASHCACHE</name><status>{state}</status></flashcache>\n</cli-output>\n"
        )

    return answer


def test_wait_until_looks_again_until_it_holds(rack: Session) -> None:
    """every= is the time between two looks: the wait ends with the look that finds the check to hold."""
    rack.answers.rules.append(("list flashcache", answered("warning", "warning", "normal")))
    rack.say("wait until all flashcache.status = normal every=0.1s for=20s")
    looks = [request for request in rack.answers.asked if "flashcache" in request.command.lower()]
    assert len(looks) == 3 * len({request.target for request in looks})


def test_wait_until_gives_up_when_its_time_is_over(rack: Session) -> None:
    """for= is how long it is waited: then the wait fails, says what is not so on which cells, and exits as a failure."""
    rack.answers.rules.append(("list flashcache", answered("warning")))
    with pytest.raises(RecipeError, match=r"^wait until all .*: status is warning, not normal after 0.3s$") as caught:
        rack.say("wait until all flashcache.status = normal every=0.1s for=0.3s")
    assert caught.value.exit_code is ExitCode.FAILED
