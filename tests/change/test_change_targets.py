"""Kinds of target at work: each is asked and sent to in its own way."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change.running import Outcome, StepResult
from exacell.change.targets import kinds
from exacell.change.targets.base import DirectWay, Failed, Going, OwnedWay, Wanted, Way
from exacell.change.targets.kinds import DIRECT, OWNED, Targets, opened
from exacell.plan.gate import UNMOUNTED
from exacell.plan.model import Check, Op, Step
from exacell.plan.targets import ASM, CELL, DATABASE, HOST, KINDS

CHECK = Check(object="celldisk", attribute="status", value="normal")
STEPS = {
    "c1": Step(target="c1", what="w", statement="ALTER X", proves=(CHECK,)),
    "h1": Step(target="h1", what="w", statement="set setting", host=True, proves=(CHECK,)),
    "db1": Step(target="db1", what="w", statement="ALTER DISKGROUP X", asm="main", proves=(CHECK,)),
    "db2": Step(target="db2", what="w", statement="ALTER SYSTEM", asm="database SPOT", proves=(CHECK,)),
}


def test_every_kind_has_its_way() -> None:
    """There is no kind of target that exacell can plan for and not work with; those with one state on all nodes have owners."""
    assert list(DIRECT) == [kind for kind in KINDS if not kind.shared]
    assert list(OWNED) == [kind for kind in KINDS if kind.shared]


def test_no_way_has_what_it_cannot_do() -> None:
    """Only what has owners is opened, only what has none is reached by the rack's fleet; nothing that a way has is a stub."""
    fleet, clients = SimpleNamespace(), {"main": 1}
    for kind in DIRECT.values():
        way = kind(fleet)  # type: ignore[arg-type]
        assert way.fleet is fleet and not hasattr(way, "opened") and not hasattr(way, "clients")
    for owned in OWNED.values():
        assert owned(clients).clients is clients and not hasattr(owned(clients), "fleet")
        assert "opened" in vars(owned)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, list[str]]]:
    """(kind, what was done, targets) of each way that was used."""
    found: list[tuple[str, str, list[str]]] = []

    class Told(Way):
        word: str

        def failed(self, wanted: Wanted, cancel: threading.Event | None) -> Failed:
            found.append((self.word, "failed", list(wanted)))
            return {target: {0: self.word} for target in wanted}

        def send(self, steps: Sequence[Step], going: Going) -> list[StepResult]:
            found.append((self.word, "send", [step.target for step in steps]))
            return [StepResult(step=step, outcome=Outcome.DONE, said=self.word) for step in steps]

    def direct(of: str) -> type[DirectWay]:
        class ToldDirectly(Told, DirectWay):
            word = of

        return ToldDirectly

    def owned(of: str) -> type[OwnedWay]:
        class ToldByOwner(Told, OwnedWay):
            word = of

            def __init__(self, clients: Mapping[str, Any]) -> None:
                super().__init__(clients)
                found.append((of, "clients", list(clients)))

            @staticmethod
            def opened(session: Any, services: Any, name: str, foreseen: Any) -> Any:
                return f"{of} {name}"

        return ToldByOwner

    monkeypatch.setattr(kinds, "DIRECT", {kind: direct(kind.word) for kind in DIRECT})
    monkeypatch.setattr(kinds, "OWNED", {kind: owned(kind.word) for kind in OWNED})
    return found


WAY_OF = {"c1": CELL, "h1": HOST, "db1": ASM, "db2": DATABASE}


def test_each_target_is_asked_in_the_way_of_its_kind(told: list[tuple[str, str, list[str]]]) -> None:
    """Checks go to the way of the step's kind, and all targets of a kind together."""
    targets = Targets(SimpleNamespace(), {"main": 1, "database SPOT": 2})  # type: ignore[arg-type]
    other = Step(target="c2", what="w")
    wanted = {target: (step, step.proves) for target, step in [*STEPS.items(), ("c2", other)]}
    failed = targets.failed(wanted)
    assert failed == {**{target: {0: kind.word} for target, kind in WAY_OF.items()}, "c2": {0: "cell"}}
    assert [targets for _, what, targets in told if what == "clients"] == [["main"], ["database SPOT"]]
    assert ("cell", "failed", ["c1", "c2"]) in told


def test_each_statement_leaves_in_the_way_of_its_kind(told: list[tuple[str, str, list[str]]]) -> None:
    """A statement goes to the way of the step's kind; a step without one is sent nowhere."""
    targets = Targets(SimpleNamespace(), {})  # type: ignore[arg-type]
    waiting = Step(target="c2", what="w")
    results = list(targets.send([*STEPS.values(), waiting], SimpleNamespace()))  # type: ignore[arg-type]
    assert {result.step.target: result.said for result in results} == {t: kind.word for t, kind in WAY_OF.items()}


def test_what_has_one_state_on_all_nodes_is_opened_once(told: list[tuple[str, str, list[str]]]) -> None:
    """Each ASM cluster and database of the steps gets one client, as do the clusters that gates ask; cells and hosts get none."""
    more = Step(target="db3", what="w", asm="main")
    found = opened(*[SimpleNamespace()] * 2, [*STEPS.values(), more], clusters=("main", "other"))  # type: ignore[arg-type]
    assert found == {"main": "asm main", "database SPOT": "database SPOT", "other": "asm other"}


def test_disks_of_a_dismounted_group_have_not_been_changed() -> None:
    """Of disks that a step took offline, ASM may show nothing later; of other proofs nothing else is good enough."""
    mode = Check(object="griddisk", attribute="asmModeStatus", value="OFFLINE")
    cells = DIRECT[CELL](SimpleNamespace())  # type: ignore[arg-type]
    step = Step(target="c1", what="w", proves=(mode, CHECK), offline=True)
    ours, other = cells.still(step)
    assert (ours.op, ours.value, other) == (Op.IN, ("OFFLINE", UNMOUNTED), CHECK)
    assert cells.still(Step(target="c1", what="w", proves=(mode,))) == (mode,)
