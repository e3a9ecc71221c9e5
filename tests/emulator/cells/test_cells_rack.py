"""Racks: what they can be made of, storing them, clocks, and who may import whom."""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path

import pytest
from cells_bench import MORNING, Bench

import exacell.emulator as emulator
from exacell.core.errors import EmulatorError, RackFormatError
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.profiles import models, releases
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.rack.rack import Rack
from exacell.emulator.server.rack_world import RackWorld
from tests.support.every import every

PURE = (
    "basics/clock",
    "basics/messages",
    "basics/profiles",
    "basics/schema",
    "cell/models",
    "cell/space",
    "cellcli/help",
    "cellcli/program",
    "grammar/changes",
    "grammar/changing",
    "grammar/reading",
    "grammar/tokens",
    "grammar/values",
    "io/workload",
    "metrics/metrics",
    "rack/minutes",
    "rack/rack",
    "state/build",
    "statements/objects",
    "statements/printer",
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cells": 1}, "cells=1 is not possible"),
        ({"dbnodes": 0}, "dbnodes=0 is not possible"),
        ({"db": ()}, "names no database"),
        ({"db": ("1X",)}, "db=1X is not a database name"),
        ({"db": ("A", "a")}, "names a database twice"),
        ({"model": "x99"}, "model=x99 cannot be emulated; there are x2, x6, x6ef, x8m, x10m"),
        ({"release": "9.9"}, "release=9.9 cannot be emulated; there are 11.2.2.4, 11.2.3.2.1"),
        ({"model": "x10m", "release": "19.3"}, "release 19.3 does not run on model x10m; for that use release=24.1"),
        ({"mode": "sideways"}, "mode=sideways is no flash cache mode"),
        ({"speed": 0}, "speed=0 is not possible"),
        ({"cellcli_start": -1}, "cellcli-start=-1 is no time"),
    ],
)
def test_impossible_racks_are_refused(options: dict[str, object], message: str) -> None:
    """A rack that cannot be is refused with the value, the rule and the way out."""
    with pytest.raises(EmulatorError, match=message):
        RackSpec(**{"name": "t1", **options})  # type: ignore[arg-type]


def test_the_release_follows_the_model() -> None:
    """Without a release a rack gets its model's: 19.3 for the default x2."""
    assert RackSpec(name="t").release == "19.3"
    assert RackSpec(name="t", model="X10M").release == "24.1"


@every([(model, release.name) for release in releases().values() for model in release.models])
def test_every_model_and_release_that_go_together_work(model: str, release: str) -> None:
    """Each pair of the tables makes a rack whose cells list their cache and take the main statements."""
    assert model in models()
    bench = Bench(model=model, release=release, cells=2)
    assert bench.one("list cell attributes releaseVersion").startswith(release)
    assert bench.one("list flashcache attributes status") == "normal"
    bench.flush()
    assert "CELL-" not in bench.e("drop flashcache; create flashcache all size=100g; alter iormplan objective=basic")


def test_a_rack_is_stored_and_restored_whole(bench: Bench) -> None:
    """What is stored, restored and stored again is the same, and the restored rack answers as the first did."""
    bench.e("alter flashcache all flush nowait; alter cell comment='x'; alter iormplan dbplan=((name=a,share=1))")
    bench.rack.start_load(db="SPOT", redo=10, seconds=600)
    bench.pass_time(100)
    state = json.loads(json.dumps(bench.rack.to_state()))
    statements = (
        "list cell detail; list flashcache detail; list griddisk detail; list metriccurrent; list iormplan detail"
    )
    answer = bench.e(statements)
    restored = Bench()
    restored.wall = bench.wall
    clock = RackClock(speed=60, wall=lambda: restored.wall, rack_start=bench.rack.clock.now())
    restored.rack = Rack.from_state(state, clock)
    assert json.loads(json.dumps(restored.rack.to_state())) == state
    assert restored.e(statements) == answer


def test_another_format_is_not_read(bench: Bench) -> None:
    """A state of another format is refused with the way out."""
    with pytest.raises(RackFormatError, match="another exacell") as refused:
        Rack.from_state({**bench.rack.to_state(), "format": 0}, bench.rack.clock)
    assert "reset=yes" in refused.value.hint


def test_ids_and_names_are_unique(bench: Bench) -> None:
    """No two objects of a rack share an id, no two grid disks a name, no two cells an address."""
    ids = [d.id for c in bench.rack.cells.values() for d in (*c.cell_disks.values(), *c.grid_disks.values())]
    names = [name for c in bench.rack.cells.values() for name in c.grid_disks]
    assert len(ids) == len(set(ids)) == 3 * 52
    assert len(names) == len(set(names))
    many = Bench(cells=300)
    assert len({cell.ip for cell in many.rack.cells.values()}) == 300


def test_the_clock_runs_faster_than_the_wall() -> None:
    """A rack clock starts at wall time, or where it is told, and passes speed seconds in one."""
    wall = 100.0
    clock = RackClock(speed=60, wall=lambda: wall)
    later = RackClock(speed=2, wall=lambda: wall, rack_start=5000)
    wall = 101.0
    assert (clock.now(), later.now()) == (160.0, 5002.0)
    with pytest.raises(EmulatorError, match="must be above 0"):
        RackClock(speed=0)


@pytest.mark.parametrize("years", [-30, 30])
def test_a_wall_clock_that_jumps_changes_nothing(years: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When this machine's date is set by years either way, a rack's time goes on as if nothing had happened."""
    today = MORNING
    monkeypatch.setattr(time, "time", lambda: today)
    clock = RackClock(speed=60)
    world = RackWorld.create("t1", {"cells": 2, "dbnodes": 1}, today=lambda: today)
    before = clock.now()
    today += years * 365 * 86400
    world.advance()
    assert 0 <= clock.now() - before < 3600
    stored = world.to_state()
    assert 0 <= float(str(stored["rack"]["advanced"])) - MORNING < 3600
    again = RackWorld.from_state(stored)
    again.advance()
    assert 0 <= float(str(again.to_state()["rack"]["advanced"])) - MORNING < 7200


def test_time_is_played_in_slices_that_add_up() -> None:
    """A load that is played minute by minute moves the counters as one that is played at once, and is gone at its end."""
    whole, parted = Bench(), Bench()
    for bench in (whole, parted):
        bench.rack.start_load(seconds=1800, profile="mixed")
        bench.wall += 2000 / 60
    whole.rack.advance()
    assert parted.rack.load_end(1) is not None
    calls = 1
    while not parted.rack.play(lambda: True):
        calls += 1
    assert calls > 30
    assert parted.rack.load_end(1) is None
    assert parted.rack.to_state() == whole.rack.to_state()
    assert parted.rack.take_moved() == set(parted.rack.cells)
    assert parted.rack.take_moved() == set()


def test_a_clock_that_is_held_back_goes_on_from_what_was_played() -> None:
    """Time that can't be played never happens: nothing waits for it, and none of a load is lost."""
    bench = Bench()
    bench.rack.start_load(seconds=3600)
    begun = bench.rack.now()
    bench.wall += 7200 / 60
    assert not bench.rack.play(lambda: True)
    bench.rack.hold_back()
    bench.rack.advance()
    assert bench.rack.now() - begun < 120
    assert bench.rack.load_end(1) is not None
    bench.pass_time(7200)
    assert bench.rack.load_end(1) is None


@pytest.mark.parametrize(("cells", "most"), [(2, 18000), (14, 2571), (300, 120), (512, 70)])
def test_larger_racks_run_slower(cells: int, most: int) -> None:
    """The highest speed goes down with the number of cells; the default is possible for every size."""
    RackSpec(name="t1", cells=cells)
    RackSpec(name="t1", cells=cells, speed=most)
    with pytest.raises(EmulatorError, match=f"for {cells} cells, at most {most}"):
        RackSpec(name="t1", cells=cells, speed=most + 1)


def test_long_silence_costs_nothing() -> None:
    """A large rack is brought over a quiet week by one collection a cell, and not by ten thousand."""
    bench = Bench(cells=100)
    bench.pass_time(7 * 86400)
    assert len(bench.rack.metrics["exa1cel01"].collections) == 1


def test_the_cells_import_nothing_of_the_client() -> None:
    """The emulated cells know errors, units, their schema data and themselves; no sockets, files or event loops."""
    root = Path(emulator.__file__).parent
    files = [root / f"{name}.py" for name in PURE] + sorted((root / "statements").glob("*.py"))
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.split(".")[0] not in ("asyncio", "socket", "os", "threading", "subprocess", "asyncssh")
                if name.startswith("exacell"):
                    assert name.startswith(("exacell.emulator", "exacell.core.errors", "exacell.core.units")), (
                        path.name,
                        name,
                    )
