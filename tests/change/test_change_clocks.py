"""ASM's clocks before a text that takes its disks away: what is refused, what is warned of, and when nobody is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change import clocks
from exacell.change.clocks import against_clocks, refuse_absences
from exacell.core.errors import RefusedError
from exacell.opaque.findings import Absence
from exacell.plan.model import Check, Plan, Risk, Stage, Step
from tests.support.sessions import Session

SERVICE = Absence(words="systemctl stop celld", kind="")
REBOOT = Absence(words="reboot", kind="reboot")
LONG = {"disk_repair_time": "3.6h", "failgroup_repair_time": "24h"}


def group(name: str = "DATA", number: int = 1, **times: str) -> Any:
    return SimpleNamespace(name=name, number=number, attributes=times, compatible_asm="19.0.0.0.0")


class Bench:
    """A session, and an ASM that answers as it is told."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, *groups: Any, problems: tuple[str, ...] = ()
    ) -> None:
        self.found, self.asked = Session(folder), 0
        self.answer = ([SimpleNamespace(groups=groups)] if groups else None, list(problems))
        monkeypatch.setattr(clocks, "asm_facts", self._facts)

    def _facts(self, *_: object) -> Any:
        self.asked += 1
        return self.answer

    def judge(self, *absences: Absence, **more: Any) -> list[str]:
        found = self.found
        refuse_absences(found.session, found.services, found.request, absences, statement="sh x", **more)
        return found.console.said


def test_nobody_is_asked_for_what_takes_nothing_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an absence, without a rack, or for hosts beside cells, ASM is not asked and nothing is said."""
    bench = Bench(tmp_path, monkeypatch, group(disk_repair_time="0m"))
    assert bench.judge() == [] and bench.judge(SERVICE, beside=True) == []
    bench.found.session.rack = None
    assert bench.judge(SERVICE) == [] and bench.asked == 0


def test_a_text_for_elsewhere_counts_on_a_host_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a host's text does to cells is held against the clocks, though it goes to no cell."""
    away = Absence(words="reboot", kind="reboot", elsewhere=True)
    with pytest.raises(RefusedError, match="disk_repair_time of DATA is 0m"):
        Bench(tmp_path, monkeypatch, group(**{**LONG, "disk_repair_time": "0m"})).judge(away, beside=True)


def test_where_nobody_tells_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No ASM that is configured, one that does not answer, and a clock that is not told are warned of, each by its reason."""
    (none,) = Bench(tmp_path, monkeypatch).judge(REBOOT)
    assert none.startswith("Warning: exacell can't find out when ASM drops the disks") and "no database node" in none
    (silent,) = Bench(tmp_path, monkeypatch, problems=("db1: no answer",)).judge(REBOOT)
    assert silent.endswith("db1: no answer")
    (untold,) = Bench(tmp_path, monkeypatch, group(failgroup_repair_time="24h")).judge(REBOOT)
    assert "disk_repair_time of DATA is not told (Oracle's default is 3.6h)" in untold


def test_what_has_an_estimate_is_silent_where_there_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With clocks that leave time a reboot is not spoken of; what has no end by itself names when the disks go, a group each."""
    bench = Bench(tmp_path, monkeypatch, group(**LONG), group("RECO", **LONG), group("OLD", 0, disk_repair_time="0m"))
    assert bench.judge(REBOOT) == []
    said = bench.judge(SERVICE)
    assert [line.split(" for good")[0] for line in said] == [
        f"Warning: ASM drops the disks of {name}" for name in ("DATA", "RECO")
    ]
    assert len(bench.judge(Absence(words="offline", kind="", group="RECO"))) == 3


def test_a_short_clock_refuses_by_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal names the statement, what in it takes the disks away, the cells and the clock."""
    bench = Bench(tmp_path, monkeypatch, group(**{**LONG, "failgroup_repair_time": "45m"}))
    with pytest.raises(RefusedError, match=r"^sh x: 'reboot': refused: ASM would drop the disks of c1 for good"):
        bench.judge(REBOOT, where="c1")
    assert bench.judge(SERVICE, where="c1")


def test_a_plan_is_held_against_the_clocks_where_it_takes_disks_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that leaves ASM its disks is returned as it is, and ASM is not asked; one that takes some is of unknown risk where
    no ASM is configured."""
    bench = Bench(tmp_path, monkeypatch)
    found = bench.found
    keeps = Plan(
        statement="x",
        rack="r",
        stages=(Stage(title="t", key="k", steps=(Step(target="c1", what="x", statement="X"),)),),
    )
    assert against_clocks(found.session, found.services, found.request, keeps, {}) is keeps and not bench.asked
    asks = Check(object="griddisk", attribute="asmDeactivationOutcome", value="Yes", where={"name": "DATA_1"})
    away = Step(target="c1", what="x", statement="X", offline=True, needs=(asks,))
    takes = replace(keeps, stages=(replace(keeps.stages[0], steps=(away,)),))
    held = against_clocks(found.session, found.services, found.request, takes, {})
    assert held.risk is Risk.UNKNOWN and "no database node" in held.warnings[-1] and bench.asked == 1
