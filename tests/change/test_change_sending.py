"""How far a copy is, and how far ASM's work that a step waits for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exacell.change.sending import Sending, size_of
from exacell.change.targets.kinds import Targets
from exacell.output.console import Progress, SilentConsole
from exacell.plan.asmfacts import AsmFacts, Operation
from exacell.plan.model import Check, Op, Step


class Console(SilentConsole):
    """Keeps what progress is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[Progress | None] = []

    def progress(self, progress: Progress | None) -> None:
        self.shown.append(progress)


def test_a_copy_shows_percent_and_time_left_per_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a second each cell has its share and the slowest decides the time left; a quick copy shows nothing."""
    clock = [0.0]
    monkeypatch.setattr("exacell.change.sending.monotonic", lambda: clock[0])
    console = Console()
    sending = Sending(console, "scp x", ["c1", "c2"], 1000)
    sending.sent("c1", 100)
    assert console.shown == []
    clock[0] = 2.0
    sending.sent("c1", 100)
    sending.sent("c2", 500)
    now = console.shown[-1]
    assert now is not None and now.fraction == {"c1": 0.2, "c2": 0.5} and now.eta == 8.0
    assert now.states["c1"].endswith("of 1000B") or " of " in now.states["c1"]
    sending.ended("c2", "done")
    sending.over()
    assert console.shown[-2] is not None and console.shown[-2].states["c2"] == "done" and console.shown[-1] is None
    quick = Console()
    Sending(quick, "scp x", ["c1"], 10).over()
    assert quick.shown == []


def test_a_cell_without_sftp_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a cell that scp copies to no percent is known, which is said with and without percents of others."""
    clock = [0.0]
    monkeypatch.setattr("exacell.change.sending.monotonic", lambda: clock[0])
    console = Console()
    sending = Sending(console, "scp x", ["c1", "c2", "c3"], 1000)
    sending.tells_nothing("c3")
    assert sending.apart(["c1", "c2"]) == "" and sending.apart(["c1", "c3"]).startswith("; c3: copied by scp")
    clock[0] = 2.0
    sending.sent("c1", 100)
    sending.tells_nothing("c2")
    now = console.shown[-1]
    assert now is not None and set(now.fraction) == {"c1"}
    assert now.states["c2"] == now.states["c3"] and "without a percentage" in now.states["c2"]


def test_the_size_of_a_copy_counts_directories(tmp_path: Path) -> None:
    """All files in a directory are sent, so all count."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"123")
    assert size_of([tmp_path / "d", tmp_path / "b"]) == 8


def test_a_wait_for_a_rebalance_tells_percent_and_time_left() -> None:
    """What the last look at ASM told of the disk group that a step waits for; nothing for others or before a look."""
    running = Operation(
        inst_id="1", diskgroup="DATA", kind="REBAL", state="RUN", power=4, sofar=45, work=100, minutes=12
    )
    facts = AsmFacts(cluster="main", node="n1", instances=(), groups=(), disks=(), operations=1, running=(running,))

    class Client:
        def facts(self, *, first: str = "") -> AsmFacts:
            return facts

    targets = Targets(None, {"main": Client()})  # type: ignore[arg-type]

    def step(group: str) -> Step:
        check = Check(object="asm.operation", op=Op.ABSENT, where={"diskgroup": group})
        values: dict[str, Any] = {"target": "n1", "asm": "main", "what": "wait", "proves": (check,)}
        return Step(**values)

    assert targets.far(step("DATA")) is None
    assert targets.failed({"n1": (step("DATA"), step("DATA").proves)})["n1"]
    assert targets.far(step("DATA")) == ("rebalance of DATA runs with power 4: 45%, 12 minutes left", 0.45, 720.0)
    assert targets.far(step("RECO")) is None
