"""All metric definitions of all releases: each has values on some rack, and all but an explained few move."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace

import pytest
from cells_bench import IN_DATA, AsmStub, Bench

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.schema import metric_definitions, metrics_in
from exacell.emulator.faults.disks import check_fault
from exacell.emulator.faults.effects import end
from exacell.emulator.state.fault_book import Fault, make_fault

RACKS: tuple[dict[str, object], ...] = (
    {"model": "x6ef", "release": "12.1.2"},
    {"model": "x6", "release": "12.1.2"},
    {"model": "x6ef", "release": "19.3", "pdb": ("SPOT.A",)},
    {"model": "x8m", "release": "22.1", "pdb": ("SPOT.A",), "clusters": 2},
    {"model": "x10m", "release": "24.1", "pdb": ("SPOT.A",), "clusters": 2, "vault": ("V1",)},
    {"model": "x10mef", "release": "26.1", "pdb": ("SPOT.A",), "clusters": 2, "vault": ("V1",)},
)

STILL = {
    "what fast file initialization takes: not public": r"CL_FFI_.*",
    "swap and pools of memory, which are large enough": r"CL_SWAP_.*|OS_SWAP_BY_USED|EXW_MEM_.*_FAILURES(_SEC)?",
    "kinds of processor time that storage servers do not have": r"OS_CPU_(GNICE|GUEST|NICE|STEAL)_PCT",
    "ageing of lines and media recovery, which no load has": (r"EXW_FC_IO_.*_AGING(_SEC)?|FC_IO_(BY|RQ)_W_LG_MRCV"),
    "third mirrors: ASM's choice of the one to cache is not played": r"FC_IO_(BY|RQ)_[RW]_SKIP_NCMIRROR",
    "flash logging that is disabled for a grid disk: no statement does that": r"FL_IO_W_SKIP_DISABLED_GD",
    "reads that flash disks have to try again": r"GD_NVM_READ_RETRIES",
}
"""Why metrics stay 0 whatever the loads do: a pattern for each reason."""

FIXED = (
    r"CL_(CPU_COUNT|FANS|FSUT|BBU_CHARGE|MEMUT|MEMUT_CS|VIRTMEM_[CM]S)|OS_(MEM|SWAP)_BY_(TOTAL|FREE)|EXW_CELLMEM_.*"
    r"|EXW_MEM_.*"
)
"""What has a value that is the same all the time: sizes, counts, and memory pools, which are all reserved at the start."""


class _Watch:
    """Notes the values of all metrics of a rack's first cell, and which of them were not always the same."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, str, str], float] = {}
        self.names: set[str] = set()
        self.moved: set[str] = set()
        self.above_zero: set[str] = set()

    def look(self, bench: Bench) -> None:
        release = bench.rack.release.number
        moment = bench.rack.collection_time(bench.cell)
        for reading in bench.rack.reader(bench.cell).readings(moment, metrics_in(release).values()):
            name = reading.definition.name
            self.names.add(name)
            if reading.number:
                self.above_zero.add(name)
            if self.seen.setdefault((id(bench), name, reading.object_name), reading.number) != reading.number:
                self.moved.add(name)


def _day(bench: Bench, watch: _Watch) -> None:
    """Let a cell go through every load, a flush, a rebalance, redo that the log does not take, and faults."""

    def load(profile: str, seconds: float = 60) -> None:
        load = bench.rack.start_load(db="SPOT", redo=9000, seconds=seconds, profile=profile)
        bench.pass_time(load.end - bench.rack.clock.now() + 0.001)
        watch.look(bench)

    watch.look(bench)
    bench.rack.asm = AsmStub(replace(IN_DATA, rebalance=(4, 0.0)))
    bench.e("alter iormplan catplan=((name=A,level=1,allocation=80),(name=OTHER,level=2,allocation=100))")
    bench.e("alter iormplan objective=low_latency")
    bench.rack.cache_clauses["SPOT"] = (0.3, 0.2)
    watch.look(bench)
    bench.pass_time(60)
    bench.rack.asm = AsmStub(IN_DATA)
    for profile in ("oltp", "dw", "mixed", "batch"):
        load(profile, 120)
    bench.e("create griddisk all harddisk prefix=SP, size=1G, virtualsize=10G")
    _outermost_sparse(bench)
    bench.e("alter cell hardDiskScrubInterval=daily")
    bench.e("alter cell hardDiskScrubStartTime=now")
    bench.pass_time(121)
    watch.look(bench)
    bench.flush()
    bench.e("drop flashcache")
    bench.e("create flashcache all size=64G")
    load("dw", 120)
    load("dw")
    load("redo", 60)
    bench.e("alter iormplan dbplan=((name=SPOT,limit=1,xrmemcache=off),(name=other,share=1))")
    load("batch", 120)
    bench.rack.start_load(db="SPOT", redo=2_000_000, seconds=60, profile="redo")
    bench.pass_time(120)
    watch.look(bench)
    bench.e("alter cell shutdown services cellsrv ignore redundancy", cell="exa1cel02")
    load("oltp")
    bench.e("alter cell startup services cellsrv", cell="exa1cel02")
    bench.e("alter flashcache all flush nowait")
    bench.pass_time(61)
    watch.look(bench)
    bench.flush()
    load("mixed")
    bench.e("alter flashcache all cancel flush")
    faults = _break(bench)
    load("redo")
    load("redo")
    bench.pass_time(2 * 86400)
    watch.look(bench)
    for fault in faults:
        end(bench.rack, fault)
        bench.rack.faults.remove(fault)
    bench.e("alter iormplan dbplan=((name=SPOT,flashlog=off),(name=other,share=1))")
    load("redo")
    bench.e("drop flashlog")
    load("redo")


def _outermost_sparse(bench: Bench) -> None:
    """Put a sparse grid disk to the edge of the first hard disk, where its I/O goes."""
    for disk in bench.cell.hard_disks()[:1]:
        first, *_others, last = bench.cell.grid_disks_on(disk.name)
        first.offset, last.offset = last.offset, first.offset


def _break(bench: Bench) -> list[Fault]:
    """Let go wrong what a cell counts, as far as it has what can go wrong."""
    made = []
    host, other = bench.cell.host, "exa1cel03"
    broken = [(host, kind) for kind in ("stuck-flush", "kept-redo", "flash-disk", "lossy-network", "bad-sector")]
    for name, kind in [*broken, (other, "flash-disk")]:
        options = {"bytes": 1 << 24} if kind == "kept-redo" else {}
        fault = make_fault(name, kind, options, is_cell=True, now=bench.rack.clock.now())
        with suppress(EmulatorError):
            check_fault(bench.rack.cells[name], fault)
            bench.rack.faults.put(fault)
            made.append(fault)
    bench.rack.advance()
    return made


@pytest.fixture(scope="module")
def watch() -> _Watch:
    """What was seen of four racks, which between them have every object that has metrics."""
    found = _Watch()
    benches = [Bench(**options) for options in RACKS]
    for bench in benches:
        _day(bench, found)
    return found


def test_every_metric_has_an_object(watch: _Watch) -> None:
    """Each of the definitions, of all releases, has values on a rack that a release and the options of start make."""
    assert set(metric_definitions()) - watch.names == set()


def test_every_metric_moves_but_those_with_a_reason(watch: _Watch) -> None:
    """What is always 0 stands in the list with its reason, what never changes is a size; everything else moves."""
    zero = watch.names - watch.above_zero
    explained: dict[str, set[str]] = defaultdict(set)
    for reason, pattern in STILL.items():
        explained[reason] = {name for name in metric_definitions() if re.fullmatch(pattern, name)}
    assert sorted(zero - set().union(*explained.values())) == []
    assert {reason: names - zero for reason, names in explained.items() if names - zero} == {}
    constant = watch.above_zero - watch.moved
    assert {name for name in constant if not re.fullmatch(FIXED, name)} == set()
