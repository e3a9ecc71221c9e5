"""What operators do in benchmarks/races.py: statements that lose data when their proof is stale, and what comes between."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from exacell.emulator.cell.models import Cell

if TYPE_CHECKING:
    from races_rack import RacesRack

X2: Mapping[str, object] = MappingProxyType({})
PMEM: Mapping[str, object] = MappingProxyType({"model": "x8m", "release": "22.1", "pmem": "writeback"})
XRMEM: Mapping[str, object] = MappingProxyType({"model": "x8m", "release": "24.1"})
RACKS: Mapping[str, Mapping[str, object]] = MappingProxyType({"x2": X2, "pmem": PMEM, "xrmem": XRMEM})

ROOM = ("resize flashcache size=288g",)
CARVED = (*ROOM, "carve griddisk prefix=p")
GROUPED = (*CARVED, "create diskgroup PP prefix=p redundancy=normal")
INACTIVE = (*CARVED, "raw: alter griddisk all flashdisk inactive")
CELLS = "exa1cel01,exa1cel02,exa1cel03"


@dataclass(frozen=True)
class Verb:
    """A statement, and the rack that it finds.

    Attributes:
        state: name of the prepared state; ``prepare`` makes it, ``raw:`` for what is typed on each cell.
        flushes: it flushes first, so that nothing can be stale before a cache is flushed.
        done: whether a cell is as the statement was to make it.
        harm: what somebody else does that the statement must not meet: ``cache`` or ``disks`` or ``files``.
        weight: how often it is drawn.
    """

    kind: str
    rack: str
    statement: str
    state: str
    prepare: tuple[str, ...]
    done: Callable[[RacesRack, Cell], bool]
    flushes: bool = False
    harm: str = "cache"
    weight: float = 1.0


def _resized(rack: RacesRack, cell: Cell) -> bool:
    return cell.flash_cache is not None and abs(cell.flash_cache.size_bytes / (288 << 30) - 1) < 0.01


def _resized_pmem(rack: RacesRack, cell: Cell) -> bool:
    return cell.flash_cache is not None and abs(cell.flash_cache.size_bytes / (20 << 40) - 1) < 0.01


def _no_cache(rack: RacesRack, cell: Cell) -> bool:
    return cell.flash_cache is None


def _no_pmem(rack: RacesRack, cell: Cell) -> bool:
    return cell.pmem_cache is None


def _through(rack: RacesRack, cell: Cell) -> bool:
    return not cell.write_back


def _no_disks(rack: RacesRack, cell: Cell) -> bool:
    return not any(name.startswith("p_") for name in cell.grid_disks)


def _no_group(rack: RacesRack, cell: Cell) -> bool:
    return "PP" not in getattr(rack.world.inner._rack.asm, "groups", {})


FLUSHED = ("raw: alter flashcache all flush",)
PMEM_FLUSHED = ("raw: alter pmemcache all flush",)
VERBS = (
    Verb("resize", "x2", "resize flashcache size=288g", "new", (), _resized, flushes=True, weight=3),
    Verb("resize rolling", "x2", "resize flashcache size=288g --rolling", "new", (), _resized, flushes=True),
    Verb("mode", "x2", "set flashcache mode=writethrough", "new", (), _through, flushes=True, weight=2),
    Verb("drop", "x2", "drop flashcache", "flushed", FLUSHED, _no_cache, weight=3),
    Verb("alter size", "x2", "alter flashcache all size=288g", "flushed", FLUSHED, _resized, weight=1.5),
    Verb("dcli", "x2", f"dcli -c {CELLS} cellcli -e drop flashcache", "flushed", FLUSHED, _no_cache, weight=2),
    Verb("sh", "x2", "sh cellcli -e drop flashcache", "flushed", FLUSHED, _no_cache, weight=1.5),
    Verb("pmem resize", "pmem", "resize flashcache size=20t", "new", (), _resized_pmem, flushes=True, weight=2),
    Verb("pmem mode", "pmem", "set flashcache mode=writethrough", "new", (), _through, flushes=True),
    Verb("pmem drop", "pmem", "drop pmemcache", "flushed", PMEM_FLUSHED, _no_pmem, weight=2),
    Verb("xrmem drop", "xrmem", "drop xrmemcache", "new", (), _no_pmem, weight=0.5),
    Verb("griddisk", "x2", "drop griddisk all prefix=p", "inactive", INACTIVE, _no_disks, harm="disks"),
    Verb("release", "x2", "release griddisk prefix=p", "carved", CARVED, _no_disks, harm="disks"),
    Verb("diskgroup", "x2", "drop diskgroup PP", "grouped", GROUPED, _no_group, harm="files", weight=1.5),
)


@dataclass
class Script:
    """What happens in one race.

    Attributes:
        victim: the cell on which somebody else is at work.
        look: with which of the reads on the victim it begins, counted from when something could be stale.
        trigger: ``look``, ``intent`` (a row of the journal) or ``time``.
        offset: seconds from there.
        keeps: what makes our process take longer: nothing, ``slow``, ``hung``, ``own`` (the victim itself is slow),
            ``late`` (its answers are), ``stop`` (SIGSTOP).
        lasting: for how long, seconds.
        between: ``cancel``, ``restart``, ``reboot``, ``operator`` (another exacell cancels), ``takeover``.
        shared: whether the rack's file names the lock, so that both homes have it in any case.
    """

    verb: Verb
    victim: str
    neighbour: str
    trigger: str
    look: int
    offset: float
    keeps: str
    lasting: float
    between: str
    size: int
    shared: bool

    def __str__(self) -> str:
        when = {"look": f"look {self.look}", "intent": "the intent", "time": "the start"}[self.trigger]
        held = f", {self.keeps} for {self.lasting:.2f}s" if self.keeps else ""
        return f"{self.verb.statement}: {self.between} on {self.victim} {self.offset:.3f}s after {when}{held}"


def draw(rng: random.Random, verb: Verb, cells: tuple[str, ...], looks: int, seconds: float) -> Script:
    """Return what happens in a race.

    Args:
        looks: so many reads a cell gets before the statement when nobody disturbs it.
        seconds: so long that takes.
    """
    victim = rng.choice(cells)
    neighbour = rng.choice([cell for cell in cells if cell != victim])
    keeps = rng.choices(("", "slow", "hung", "own", "late", "stop"), (2, 4, 1, 1.5, 1, 4))[0]
    trigger = rng.choices(("look", "intent", "time"), (6, 4, 1))[0]
    if keeps == "late":
        trigger = "look"
    # The last looks are those that count.
    look = max(1, looks - min(int(rng.expovariate(0.4)), looks - 1))
    lasting = rng.choice((0.3, 0.5, 0.8, 1.5)) * rng.uniform(0.7, 1.3) if keeps else 0.0
    far = rng.random()
    if trigger == "time":
        offset = far * seconds
    else:
        offset = 0.0 if far < 0.3 else rng.uniform(0, 0.05) if far < 0.6 else rng.uniform(0, max(0.1, lasting))
    if verb.harm == "cache":
        between = rng.choices(("cancel", "restart", "reboot", "operator", "takeover"), (4, 2, 1, 2, 3))[0]
    else:
        between = rng.choices(("cancel", "takeover"), (4, 2))[0]
    if between in ("operator", "takeover") and keeps in ("", "own", "late"):
        keeps, lasting = "stop", rng.uniform(0.3, 1.5)  # Otherwise it is over before the other one is there.
    size = rng.choice((1, 3, 9)) << 30
    return Script(verb, victim, neighbour, trigger, look, offset, keeps, lasting, between, size, rng.random() < 0.7)
