"""The journal's rows with types: what each kind's body says, and what it says when it says nothing or nonsense."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from exacell.journal.chain import GENESIS, digest
from exacell.journal.rows import (
    Actor,
    Columns,
    Confirmed,
    Ended,
    Entry,
    Gated,
    Intent,
    Observed,
    Outcome,
    Planned,
    Refused,
    Restarted,
    Reverted,
    Waiting,
    change_number,
    damaged_row,
    read_row,
    typed,
)
from exacell.plan.model import Plan, Risk, Rolling, Stage, Step, as_data
from tests.support.every import every


def stored(kind: str, body: object, target: str = "", **instead: object) -> list[Any]:
    """Return a row as it is stored, its hash made of what it says."""
    fields = [1, "2026-11-21T22:10:00.000+00:00", "t1", 3, kind, target, json.dumps(body)]
    return [*fields, GENESIS, instead.get("hash", digest(GENESIS, fields))]


def row(kind: str, **body: object) -> Any:
    return read_row(stored(kind, body, "c1"))


SAID: dict[str, tuple[Entry, type[Entry], dict[str, object]]] = {
    "a plan's row": (
        row("plan", statement="flush flashcache", reason="r", ticket="t", origin="undo 7", risk="none", finishes=2,
            flags={"size": 1}, confirmWithin=60, plan={}),
        Planned,
        {"statement": "flush flashcache", "reason": "r", "ticket": "t", "origin": "undo 7", "risk": "none", "finishes": 2,
         "flags": {"size": 1}, "confirm_within": 60, "plan": {}, "undoes": 7, "root": 2},
    ),
    "a refusal": (row("refused", statement="s", refused="no"), Refused, {"statement": "s", "refused": "no"}),
    "a restart": (row("restart", old="/j", problem="p", reason="r"), Restarted, {"old": "/j", "problem": "p", "reason": "r"}),
    "an intent": (
        row("intent", what="drop", statement="DROP", cachingOff=True, cache="pmemcache", offline=True, wave=2, inverse="i"),
        Intent,
        {"what": "drop", "statement": "DROP", "caching_off": True, "caching_on": False, "cache": "pmemcache", "offline": True,
         "wave": 2, "inverse": "i", "key": ("c1", "drop")},
    ),
    "an outcome": (
        row("outcome", what="drop", state="failed", reason="CELL-1", reply="no", fingerprint="SHA", mending=True, settled=True,
            cachingOn=True, online=True),
        Outcome,
        {"state": "failed", "reason": "CELL-1", "reply": "no", "fingerprint": "SHA", "mending": True, "settled": True,
         "caching_on": True, "online": True, "key": ("c1", "drop")},
    ),
    "a gate": (
        row("gate", wave=1, cells=["c1", "c2"], open=False, met="m", reason="closed"),
        Gated,
        {"wave": 1, "cells": ("c1", "c2"), "open": False, "met": "m", "reason": "closed"},
    ),
    "an end": (
        row("end", exitCode=4, done={"done": 1}, stopped="by hand"),
        Ended,
        {"exit_code": 4, "done": {"done": 1}, "stopped": "by hand"},
    ),
    "something seen": (
        row("observed", caching="on", cache="flashcache", services=["ms"], online=True),
        Observed,
        {"caching": "on", "cache": "flashcache", "services": ("ms",), "online": True},
    ),
    "a deadline": (
        row("deadline", until="2026", within=60.0, statement="s", run=2, open=True),
        Waiting,
        {"until": "2026", "within": 60.0, "statement": "s", "run": 2, "open": True},
    ),
    "a confirmation": (row("confirmed", unguarded=True), Confirmed, {"unguarded": True}),
    "a guardian's try": (
        row("reverted", state="failed", reason="r", again=True),
        Reverted,
        {"state": "failed", "reason": "r", "again": True},
    ),
    "a kind of a later exacell": (row("blessed", statement="s"), Entry, {"kind": "blessed", "statement": "s"}),
}  # fmt: skip


@every(SAID)
def test_what_a_row_says(name: str) -> None:
    """Each kind of row is of its own class, and its fields are what its body says."""
    found, made, said = SAID[name]
    assert type(found) is made
    assert {field: getattr(found, field) for field in said} == said
    assert (found.seq, found.rack, found.change, found.target, found.prev) == (1, "t1", 3, "c1", GENESIS)


@pytest.mark.parametrize(
    "kind", ["plan", "intent", "outcome", "gate", "end", "observed", "deadline", "reverted", "restart"]
)
@pytest.mark.parametrize("value", [None, {"x": 1}, ["x"], "x", 1.5])
def test_a_value_of_another_type_is_the_default(kind: str, value: object) -> None:
    """What a body says in another type than it is written in counts as not said, and no row is refused for it."""
    plain = row(kind)
    for field in (field for field in dataclasses.fields(plain) if field.name != "kind"):
        first, *rest = field.name.split("_")
        found = getattr(row(kind, **{first + "".join(map(str.capitalize, rest)): value}), field.name)
        default = getattr(plain, field.name)
        assert default is None or type(found) is type(default)


def test_who_acted_is_a_value() -> None:
    """Any row tells who acted, and which process that was; empty for what it does not say."""
    told = {"user": "root", "sudoUser": "ann", "host": "adm1", "from": "10.0.0.1", "pid": "7", "started": "99"}
    who = row("undone", **told).who
    assert who == Actor(user="root", sudo_user="ann", host="adm1", came_from="10.0.0.1", pid="7", started="99")
    assert who.process == ("adm1", "7", "99")
    assert row("end").who == Actor()


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (stored("plan", {"a": 1}, hash="0"), "it was edited"),
        ([*stored("plan", {})[:3], "3", *stored("plan", {})[4:]], "it was edited"),
        (stored("plan", [1]), "it is not an object"),
        (stored("plan", 7), "it is not an object"),
    ],
)
def test_a_row_that_is_not_what_was_written_is_refused(stored: list[Any], why: str) -> None:
    """An edited row, and one whose body is no object, is nothing to act on; for eyes it shows what stands there."""
    with pytest.raises(ValueError, match=why):
        read_row(stored)
    shown = damaged_row(stored)
    assert (shown.damaged, shown.body) == (str(stored[6]), {"damaged": str(stored[6])})


def test_a_number_that_was_written_over_is_none() -> None:
    """The number of a change is 0 where something else stands in its place."""
    assert [change_number(value) for value in (7, "7", None, b"7")] == [7, 0, 0, 0]


def test_a_plan_comes_back_as_it_was_written() -> None:
    """Steps, what mends, the inverse and the waves are read from the row as the plan had them."""
    steps = [Step(target=cell, what="flush", statement="ALTER FLASHCACHE ALL FLUSH") for cell in ("c1", "c2")]
    mend = Step(target="c1", what="mend", statement="ALTER FLASHCACHE ALL CANCEL FLUSH")
    plan = Plan(
        statement="s",
        rack="t1",
        risk=Risk.NONE,
        stages=(Stage(title="a", steps=tuple(steps)), Stage(title="b", steps=(mend,), gate="mend")),  # type: ignore[arg-type]
        inverse={"c1": ("x", "y")},
        rolling=Rolling(waves=(("c1",), ("c2",)), canary="c1", pause=2.0, others=("c3",)),
    )
    found = row("plan", plan=json.loads(json.dumps(as_data(plan))))
    assert found.steps == ((steps[0], False), (steps[1], False), (mend, True)) and found.wanted == steps
    assert found.inverse == {"c1": ("x", "y")} and found.rolling == plan.rolling


def test_a_row_without_a_plan_has_no_steps() -> None:
    """Work that exacell can't read has a row and no plan: no steps, no inverse, no waves."""
    found = row("plan", statement="dcli -g all uptime")
    assert (found.plan, found.steps, found.inverse, found.rolling) == (None, (), {}, None)


@pytest.mark.parametrize(
    ("origin", "undoes"), [("", 0), ("undo 7", 7), ("undo", 0), ("undo me", 0), ("resume 7", 0), ("weekly", 0)]
)
def test_which_change_is_taken_back(origin: str, undoes: int) -> None:
    """Only `undo N`` takes a change back: a recipe may be named undo, or have a name that begins with it."""
    assert row("plan", origin=origin).undoes == undoes


def test_rows_made_in_memory_are_the_same() -> None:
    """A row is the same whether its body was stored or made a moment ago: tuples count as lists."""
    kept = typed(
        Columns(seq=1, at="", rack="", change=1, kind="gate", target="", body={"cells": ("c1",)}, prev="", hash="")
    )
    assert isinstance(kept, Gated) and kept.cells == ("c1",)
