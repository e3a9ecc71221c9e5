"""Each verb once, on emulated racks over SSH: what it does is read back from the cells, and what takes it back does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from exacell.language.registry import Effect, commands
from tests.support.program import InProcess

CARVED = ("resize flashcache size=288g", "carve griddisk prefix=ssddisk")
GROUPED = (*CARVED, "create diskgroup DATA_SSD prefix=ssddisk redundancy=normal au_size=4m")

TAKEN_BACK = (
    GROUPED,
    ("set flashcache mode=writethrough",),
    ("resize griddisk prefix=RECO size=96g",),
    ("set iorm db=SPOT share=16 limit=50", "unset iorm limit db=SPOT"),
    ("reset iorm",),
    ("disable flashlog db=SPOT", "enable flashlog db=SPOT"),
    ("create griddisk TST_{cell} celldisk=CD_05_{cell}, size=1G", "release griddisk name=TST_{cell}"),
    ("trace on db=SPOT service=spot_batch", "trace off db=SPOT service=spot_batch"),
)
"""Statements of which undo, once for each, brings back what was there."""

BY_ITSELF = (
    ("flush flashcache",),
    (*GROUPED, "drop diskgroup DATA_SSD", "release griddisk prefix=ssddisk regrow=yes"),
    ("save iorm as=before", "set iorm db=SPOT share=16", "restore iorm before"),
    ("offline cell exa1cel02", "online cell exa1cel02"),
    ("restart service ms",),
    ("set rebalance power=4 diskgroup=RECO",),
    ("drive commits db=SPOT sessions=2 commits=5", "drive end db=SPOT"),
    ("drive lookups db=SPOT lookups=50 keys=100", "drive scans db=SPOT scans=2 keys=100"),
    ("disable flashlog db=SPOT", "undo"),
    ("resume",),
)
"""Statements behind which everything is as it was before them."""

ELSEWHERE = {
    "experiment": "below: its load comes from the emulator of the home that it runs in",
    "retry failed": "test_e2e_wording.py, where something has failed",
    "flush pmemcache": "below, on a rack with PMEM",
    "flush xrmemcache": "below, on a rack with a memory cache",
    "ack alert": "below, on a cell that has an alert",
    "diagpack": "below: what it makes stays on the cell",
    "apply": "test_e2e_change_control.py keeps plans and applies them",
    "undo run": "test_e2e_recipe_library.py",
    "set setting": "test_e2e_settings.py, on a real kernel",
}
"""Verb -> where it is tried."""

LOOKS = (
    "list flashcache attributes name, size, status",
    "list cell attributes name, flashCacheMode, status",
    "list griddisk attributes name, size, status, asmModeStatus",
    "show iorm",
    "show diskgroup",
)
"""What shows that a rack is as it was."""


State = list[list[dict[str, object]]]


def state(program: InProcess) -> State:
    """Return what the rack says of what verbs change."""
    found = [program.ok("-r", "t1", "-o", "json", look).records for look in LOOKS]
    return [[{key: row[key] for key in row if key not in ("freeMb", "usableMb")} for row in rows] for rows in found]


@pytest.fixture(scope="module")
def seen() -> list[State]:
    """What the last test saw of the module's rack at its end, where nothing has been done there since; empty otherwise."""
    return []


@contextmanager
def as_before(program: InProcess, seen: list[State]) -> Iterator[None]:
    """Hold that a rack is afterwards as it was before; what a test sees at its end is what the next one begins with."""
    before = seen.pop() if seen else state(program)
    yield
    after = state(program)
    assert after == before
    seen.append(after)


def test_every_verb_has_its_place() -> None:
    """Each command that changes something stands in one of the tables."""
    verbs = {found.name for found in commands().values() if found.effect is Effect.WRITE}
    typed = [statement for story in (*TAKEN_BACK, *BY_ITSELF) for statement in story]
    assert verbs == {verb for verb in verbs if any(f"{one} ".startswith(f"{verb} ") for one in typed)} | set(ELSEWHERE)


@pytest.mark.parametrize("story", TAKEN_BACK, ids=lambda story: story[-1])
def test_undo_takes_a_verb_back(inside: InProcess, seen: list[State], story: tuple[str, ...]) -> None:
    """Each statement changes something on the cells, and undone one by one they leave the rack as before."""
    with as_before(inside, seen):
        for statement in story:
            assert "nothing to do" not in inside.ok("-r", "t1", f"{statement} -y").err
        for _ in story:
            inside.ok("-r", "t1", "undo -y")


@pytest.mark.parametrize("story", BY_ITSELF, ids=lambda story: story[-1])
def test_verbs_leave_everything_as_it_was(inside: InProcess, seen: list[State], story: tuple[str, ...]) -> None:
    """The statements end well, and the rack is as it was before the first."""
    with as_before(inside, seen):
        for statement in story:
            inside.ok("-r", "t1", f"{statement} -y")


def test_an_experiment_gives_its_factor_back(shared: InProcess, seen: list[State]) -> None:
    """Two runs of a second are no verdict, which is said; the flash log is on again, and the rest as it was."""
    words = "experiment factor=flashlog levels=on,off db=SPOT blocks=1 aa=0 seed=24 for=1s -y"
    with as_before(shared, seen):
        done = shared("-r", "t1", words)
        assert done.code == 0 and "Not enough data" in done.out + done.err


@pytest.mark.parametrize(
    ("options", "statement"),
    [
        (("model=x8m", "release=22.1", "pmem=writeback"), "flush pmemcache"),
        (("model=x8m", "release=24.1"), "flush xrmemcache"),
    ],
)
def test_a_cache_in_memory_is_flushed(alone: InProcess, options: tuple[str, ...], statement: str) -> None:
    """The flush is made and proven on all cells."""
    alone.ok("emulator", "start", "t1", "speed=600", *options)
    alone.ok("-r", "t1", f"{statement} -y")


def test_an_alert_is_acknowledged(inside: InProcess, seen: list[State], fault: Callable[..., None]) -> None:
    """The alert of a failed disk is examined by who said so, and a package for support is made beside it."""
    seen.clear()
    fault("exa1cel02", "flash-disk")
    alerts = inside("-r", "t1", "-o", "json", "on exa1cel02 list alerthistory attributes name").records
    inside.ok("-r", "t1", f"on exa1cel02 ack alert {alerts[0]['name']} -y")
    inside.ok("-r", "t1", "on exa1cel02 diagpack hours=2 -y")
