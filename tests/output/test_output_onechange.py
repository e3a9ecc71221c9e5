"""journal show N for eyes: one change as a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, timezone
from typing import Any

import pytest

from exacell.journal.rows import Columns, typed
from exacell.output.onechange import change_page

PLAN = {
    "kind": "plan", "target": None, "user": "root", "sudoUser": "ann", "host": "adm1", "pid": "77", "risk": "performance",
    "statement": "flush flashcache", "reason": "cold start", "ticket": "CHG7", "origin": "",
}  # fmt: skip


def sent(cell: str, what: str = "flush", statement: str = "ALTER FLASHCACHE ALL FLUSH NOWAIT") -> dict[str, Any]:
    return {"kind": "intent", "target": cell, "what": what, "statement": statement}


def came(cell: str, state: str = "done", what: str = "flush", **more: object) -> dict[str, Any]:
    reply = f"Flash cache {cell}_FLASHCACHE altered successfully\n"
    return {"kind": "outcome", "target": cell, "what": what, "state": state, "reason": "", "reply": reply, **more}


def end(code: int, **more: object) -> dict[str, Any]:
    return {"kind": "end", "target": None, "exitCode": code, "done": {"done": 2}, **more}


def page(*rows: Mapping[str, Any], width: int | None = None, **more: Any) -> list[str]:
    timed = [entry(row, n) for n, row in enumerate(rows)]
    return list(change_page(timed, "t1", width=width, verified=lambda row: str(row.body.get("verified", "")), **more))


def entry(row: Mapping[str, Any], number: int) -> Any:
    """Return a row of a journal that says what ``row`` does."""
    body = {name: value for name, value in row.items() if name not in ("kind", "target", "at", "change")}
    at, change = row.get("at", f"2026-11-21T22:10:{number:02}.000+00:00"), row.get("change", 1)
    kind, target = row["kind"], row.get("target") or ""
    return typed(
        Columns(seq=number, at=at, rack="t1", change=change, kind=kind, target=target, body=body, prev="", hash="")
    )


def test_it_says_who_when_why_and_how_it_ended() -> None:
    """Statement, rack, the person behind sudo, host, times, reason, ticket and end each stand in a line of their own."""
    lines = page(PLAN, sent("c1"), came("c1"), end(0))
    assert lines[:5] == [
        "Change on t1: flush flashcache",
        "  By: ann as root on adm1, process 77",
        "  At: 2026-11-21 22:10:00 to 22:10:03 (3.0s)",
        "  Why: cold start; ticket CHG7",
        "  Risk: performance",
    ]
    assert lines[-1] == "  Ended: done (exit code 0); steps: 2 done"


def test_times_are_told_in_the_zone_that_is_asked_for() -> None:
    """A journal in UTC is read in the operator's time."""
    assert "2026-11-22 00:10:00" in page(PLAN, end(0), zone=timezone(timedelta(hours=2)))[2]


def test_cells_that_did_and_said_the_same_share_a_line() -> None:
    """Statement, outcome and answer of three cells take three lines, their own names masked."""
    cells = ["exa1cel01", "exa1cel02", "exa1cel03"]
    lines = page(PLAN, *map(sent, cells), *map(came, cells), end(0))
    assert lines[5:9] == [
        " 1. flush",
        "    on exa1cel[01-03]: ALTER FLASHCACHE ALL FLUSH NOWAIT",
        "        done",
        "        said: Flash cache {cell}_FLASHCACHE altered successfully",
    ]


def test_the_cell_on_which_it_failed_comes_last_with_its_reason() -> None:
    """A failed cell stands below those that are done, with reason and answer."""
    bad = came("exa1cel01", "failed", reason="CELL-02681: no") | {"reply": "CELL-02681: no\n"}
    text = "\n".join(page(PLAN, sent("exa1cel01"), sent("exa1cel02"), bad, came("exa1cel02"), end(1)))
    assert text.index("on exa1cel02:") < text.index("on exa1cel01: the same statement")
    assert "failed; CELL-02681: no" in text and "Ended: failed (exit code 1)" in text


def test_a_statement_without_an_outcome_is_told_as_unknown() -> None:
    """Of an intent whose end nobody recorded it is said that it may have happened, and that the change did not end."""
    text = "\n".join(page(PLAN, sent("c1")))
    assert "never recorded: it may have happened or not" in text and "Ended: it did not end" in text


def test_only_what_answered_is_called_not_done() -> None:
    """A statement without an answer whose effect was looked for and is not there may come yet: it was not found done."""
    looked = came("c1", "not done", reason="the cache is there", settled=True, reply="")
    text = "\n".join(page(PLAN, sent("c1", "drop", "DROP FLASHCACHE"), {**looked, "what": "drop"}, end(4)))
    assert "its answer never came, and a later check did not find it done; the cache is there" in (
        " ".join(text.split())
    )
    assert " not done" not in text
    said = came("c1", "not done", reason="the cache is there")
    assert "        not done; the cache is there" in page(PLAN, sent("c1"), said, end(1))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"kind": "gate", "wave": 2, "open": False, "reason": "RECO is rebalancing"}, "Gate before wave 2: "
                                                                                      "stayed closed: RECO"),
        ({"kind": "gate", "wave": 2, "open": True}, ""),
        ({"kind": "deadline", "within": 1800.0, "until": "2026-11-21T22:40:00+00:00"}, "30m00s, until 2026-11-21 22:40:00"),
        ({"kind": "confirmed", "user": "bob", "host": "adm2"}, "Confirmed: 2026-11-21 22:10:01 by bob on adm2"),
        ({"kind": "reverted", "state": "failed", "reason": "no key"}, "by itself: 2026-11-21 22:10:01: failed: no key"),
        ({"kind": "undone", "user": "bob"}, "Undone: 2026-11-21 22:10:01 by bob"),
        ({"kind": "observed", "target": "c1", "services": ["ms"]}, "Seen later: ms running on c1"),
        ({"kind": "observed", "target": "c1", "caching": "off"}, "Seen last: flashcache caching off on c1"),
        ({"kind": "observed", "target": "c1", "caching": "on"}, ""),
    ],
)  # fmt: skip
def test_what_happened_beside_the_steps_is_told(row: dict[str, Any], told: str) -> None:
    """Gates that stayed closed, confirmations, undoing and caches seen off have a line; what is as it should be has none."""
    lines = page(PLAN, row, end(0))
    if told:
        assert any(told in line for line in lines)
    else:
        assert lines[3:] == page(PLAN, {"kind": "guardian"}, end(0))[3:]


def test_why_it_was_stopped_is_told_once() -> None:
    """A gate that ended the change is told by the end alone."""
    text = "\n".join(page(PLAN, {"kind": "gate", "wave": 2, "reason": "no power"}, end(4, stopped="no power")))
    assert text.count("no power") == 1 and "interrupted (exit code 4); no power" in text


def test_long_answers_and_marks_of_our_own_are_cut() -> None:
    """Three lines of an answer are shown and how many more there are; what marks its end is not the cell's."""
    reply = "\n".join(f"row {n}" for n in range(9)) + "\n__EXACELL_OK__\n"
    text = "\n".join(page(PLAN, sent("c1"), came("c1") | {"reply": reply}, end(0)))
    assert "row 2" in text and "row 3" not in text and "(6 more lines: --format=json)" in text and "EXACELL" not in text


@pytest.mark.parametrize("width", [60, 80, 132])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Long statements and answers are broken between words or behind commas."""
    long = "ALTER IORMPLAN dbplan=(" + ",".join(f"(name=DB{n},share=8)" for n in range(40)) + ")"
    answer = came("c1", verified=long) | {"reply": long}
    lines = page(PLAN, sent("c1", statement=long), answer, end(0), width=width)
    assert max(map(len, lines)) <= width


def test_it_names_the_changes_that_went_on_with_it_and_took_it_back() -> None:
    """Who looks at a change that failed learns which changes finished it and undid it."""
    plans = [
        {"kind": "plan", "change": 6, "origin": "retry 5", "statement": "flush flashcache"},
        {"kind": "plan", "change": 7, "origin": "undo 5", "statement": "set flashcache mode=writeback"},
    ]
    later = [entry(row, 9) for row in plans]
    assert page(PLAN, end(1), later=later)[-2:] == [
        "  Gone on with by change 6: flush flashcache",
        "  Taken back by change 7: set flashcache mode=writeback",
    ]


def test_attempts_of_a_guardian_that_met_the_same_are_told_once() -> None:
    """Six attempts that failed alike are one line, the last; another reason and the one that did it have lines of their own."""
    failed = {"kind": "reverted", "state": "failed", "reason": "locked"}
    rows = [failed, failed, {**failed, "reason": "no answer"}, {"kind": "reverted", "state": "done", "reason": ""}]
    assert [line for line in page(PLAN, end(0), *rows) if "by itself" in line] == [
        "  Not taken back by itself: 2026-11-21 22:10:03: failed: locked",
        "  Not taken back by itself: 2026-11-21 22:10:04: failed: no answer",
        "  Taken back by itself: 2026-11-21 22:10:05: done",
    ]
