"""The time of a served rack: in slices, with turns for others, stored as it goes, and stopped at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from exacell.core.errors import EmulatorError
from exacell.emulator import control
from exacell.emulator.basics.store import Json, rack_files
from exacell.emulator.rack.timekeeper import PATIENCE_S, SLICE_S, TimeKeeper


class SlowRack:
    """A rack that has ``due`` minutes to play, each of which takes ``cost`` seconds of the test's own time."""

    def __init__(self, due: float, cost: float) -> None:
        self.due, self.cost, self.seconds = due, cost, 0.0
        self.slices: list[float] = []
        self.held = 0

    def play(self, enough: Callable[[], bool]) -> bool:
        begun = self.seconds
        while self.due > 0:
            self.due -= 1
            self.seconds += self.cost
            if enough():
                break
        self.slices.append(self.seconds - begun)
        return self.due <= 0

    def hold_back(self) -> None:
        self.held += 1
        self.due = 0

    def moved_parts(self) -> Mapping[str, Json]:
        return {"rack": {"held": self.held}}

    def to_state(self) -> Mapping[str, Json]:
        return {"rack": {"held": self.held}, "asm": {}}


def keeper(rack: SlowRack, saved: list[Mapping[str, Json]] | None = None) -> TimeKeeper:
    """Return what lets the rack's time pass, on the test's own clock."""
    return TimeKeeper(rack, 60.0, (saved if saved is not None else []).append, now=lambda: rack.seconds)


def test_time_that_is_due_is_played_in_slices_with_turns_between() -> None:
    """While a rack catches up, nobody waits for longer than a slice and the minute that ends it."""
    rack, turns = SlowRack(due=60, cost=0.004), 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def both() -> None:
        task = asyncio.ensure_future(other())
        await keeper(rack).catch_up()
        task.cancel()

    asyncio.run(both())
    assert rack.due == 0
    assert not rack.held
    assert max(rack.slices) <= SLICE_S + rack.cost
    assert turns >= len(rack.slices) - 1 > 5


def test_a_rack_that_can_not_catch_up_gets_slower() -> None:
    """Where time takes longer to play than to pass, the clock is held back instead of everybody."""
    rack = SlowRack(due=float("inf"), cost=0.01)
    asyncio.run(keeper(rack).catch_up())
    assert rack.held == 1
    assert rack.seconds <= PATIENCE_S + 2 * SLICE_S


def test_what_time_has_changed_is_stored_without_anybody_asking() -> None:
    """Every ten seconds, and never so often that storing takes more than a fiftieth of the time."""
    rack, saved = SlowRack(due=0, cost=0), list[Mapping[str, Json]]()
    time_keeper = keeper(rack, saved)
    for second in range(1, 31):
        rack.seconds = float(second)
        time_keeper.save_in_time()
    assert len(saved) == 3

    class Slow(list[Mapping[str, Json]]):
        def append(self, parts: Mapping[str, Json]) -> None:
            super().append(parts)
            rack.seconds += 1

    dear = Slow()
    costly = TimeKeeper(rack, 60.0, dear.append, now=lambda: rack.seconds)
    for _ in range(200):
        rack.seconds += 1
        costly.save_in_time()
    assert 4 <= len(dear) <= 5


def test_a_speed_that_the_size_does_not_allow_is_refused_at_start(tmp_path: Path) -> None:
    """Fourteen cells at 20,000 times the speed are refused with the speed that is possible, and nothing stays behind."""
    with pytest.raises(EmulatorError, match=r"speed=20000 is not possible.* 14 cells, at most 2571"):
        control.start(tmp_path, "t1", options={"cells": 14, "speed": 20_000})
    assert not rack_files(tmp_path, "t1").root.exists()


def test_a_large_fast_rack_keeps_its_load_and_stops_at_once(tmp_path: Path) -> None:
    """At the highest speed that a rack of 14 cells allows, a load is applied, a longer one is kept over stop and start."""
    control.start(tmp_path, "t1", options={"cells": 14, "dbnodes": 1, "speed": 2571})
    try:
        done = control.load(tmp_path, "t1", seconds=3600)
        assert done["seconds"] == 3600
        with pytest.raises(EmulatorError, match="does not answer"):
            from exacell.emulator.control import ask

            request: Json = {"op": "load", "db": "", "redo": None, "seconds": 4 * 86400.0, "profile": "redo"}
            ask(rack_files(tmp_path, "t1"), request, timeout=1.0)
        control.stop(tmp_path, "t1")
        (load,) = rack_files(tmp_path, "t1").read_state()["rack"]["loads"]  # type: ignore[misc, attr-defined]
        assert 0 < load["minutes_done"] < 4 * 1440
        control.start(tmp_path, "t1", options={})
    finally:
        control.stop(tmp_path, "t1")
    (later,) = rack_files(tmp_path, "t1").read_state()["rack"]["loads"]  # type: ignore[misc, attr-defined]
    assert later["minutes_done"] >= load["minutes_done"]


def test_a_full_disk_does_not_stop_the_time(caplog: pytest.LogCaptureFixture) -> None:
    """What can't be stored is logged; the rack's time goes on, and all of the state is stored when there is room."""
    rack, stored = SlowRack(due=0, cost=0), list[Mapping[str, Json]]()

    def save(parts: Mapping[str, Json]) -> None:
        if rack.seconds < 30:
            raise OSError(28, "No space left on device")
        stored.append(parts)

    time_keeper = TimeKeeper(rack, 60.0, save, now=lambda: rack.seconds)
    for second in (11.0, 12.0, 22.0, 33.0, 44.0):
        rack.seconds = second
        time_keeper.save_in_time()
    assert caplog.text.count("what time has changed is not stored") == 2
    assert [sorted(parts) for parts in stored] == [["asm", "rack"], ["rack"]]
