"""The stored form of an experiment: its design, the values measured so far, and the runs that are left. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from math import log
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.experiments.fairness import in_run
from exacell.measure.experiments.family import family
from exacell.measure.experiments.schedule import Run, schedule
from exacell.measure.experiments.verdict import Block, Finding, Verdict, judge, lopsided
from exacell.measure.histogram import Histogram


@dataclass(frozen=True, kw_only=True)
class Design:
    """The design of an experiment: the levels it compares, the number of blocks, and the work of each run.

    Attributes:
        factor, of: the thing that is switched: the text of ``factor=`` before and after its colon.
        said: the factor's name for display.
        levels: with two levels: the one that is tried, then the base; with three or more: the base, then the others.
        among: all levels of the experiment, if this design compares only two of them.
        db: the database whose waits are measured; empty if nothing of a database is measured.
        on: the hosts whose setting is switched; empty for other factors.
        pairs: number of pairs of runs at one level before the blocks (the A/A stretch), which show the values without a
            difference.
        matters: percent; a smaller difference is of no interest.
        measure: one of MEASURES.
        workload: the statements of a run while it is measured; without any, the run waits.
        seconds: length of a run without workload.
        settle: seconds to wait before each run is measured.
        reset: the statement that is carried out before each run; empty for none.
        limit: seconds that a redo write may take on a cell, on average; above it the experiment pauses. 0: no limit.
        warm: most passes of the workload before each run, until the hit rate of the flash cache is stable; 0: none.
    """

    factor: str
    levels: tuple[str, ...]
    db: str
    blocks: int
    order: str
    seed: int
    pairs: int
    matters: float
    measure: str
    workload: tuple[str, ...] = ()
    seconds: float = 0.0
    settle: float = 0.0
    reset: str = ""
    limit: float = 0.0
    warm: int = 0
    of: str = ""
    on: str = ""
    said: str = "flash log"
    among: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """Return the base: the level that the others are compared with."""
        return self.levels[1] if len(self.levels) == 2 else self.levels[0]

    @property
    def tried(self) -> tuple[str, ...]:
        """Return the levels that are compared with the base."""
        return self.levels[:1] if len(self.levels) == 2 else self.levels[1:]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The result of one run.

    Attributes:
        value: mean microseconds of a wait or request.
        count: number of waits or requests.
        at: time of its end, ISO 8601 UTC.
        began: time when its measurement began; empty if an older release stored it.
        redo: redo writes that the cells counted during the run, of all databases; None if no cell collected in between.
        outliers: how many of them reached the database as outliers.
        prevented: how many outliers the flash log prevented.
        sizes: (microseconds, number of waits shorter than that but not shorter than the size before), ascending; empty if not
            known.
        reads: the database's reads that the flash cache served, and all its reads; None if they were not counted.
    """

    number: int
    block: int
    pair: int
    level: str
    value: float
    count: int
    at: str
    began: str = ""
    redo: int | None = None
    outliers: int | None = None
    prevented: int | None = None
    sizes: tuple[tuple[int, int], ...] = ()
    reads: tuple[int, int] | None = None

    @property
    def group(self) -> tuple[int, int]:
        """Return the block and pair to which it belongs."""
        return self.block, self.pair


@dataclass(frozen=True, kw_only=True)
class Pause:
    """A pause before or after a run, to give way to production.

    Attributes:
        run: number of the run.
        seconds: its length.
        micros: mean microseconds of a redo write on the slowest cell when it began.
        again: whether the run was disturbed, so that its block or pair was repeated.
        level: the level at which redo writes took too long; empty if an older release stored it.
    """

    run: int
    seconds: float
    micros: float
    again: bool = False
    level: str = ""


RUNNING, STOPPED, DONE, ABANDONED = "running", "stopped", "done", "abandoned"
"""States of an experiment; resume continues the first two."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        statement: the statement as typed, completed with the defaults.
        began: ISO 8601 UTC.
        now: the level before it began.
        runs: the results, in order, without those of an unfinished pair or block.
        noticed: differences in conditions, before it began or during it; sentences without their full stops.
        who: the process that carries it out, or was the last to do so.
        keeps: whether it has taken the rack's lock and must give it back.
        given_back: whether the factor has its original value again.
        passports: cell → conditions under which the first run was measured.
        ended: ISO 8601 UTC, when it last stopped with the factor set back; empty until then.
        line: the recipe's run, and the place of the line in it that started the experiment; empty for none.
        pauses: the pauses for production.
        minded: how the cells' releases affect the comparison; sentences without their full stops.
    """

    name: str
    rack: str
    statement: str
    design: Design
    began: str
    now: str
    state: str = RUNNING
    runs: tuple[Measured, ...] = ()
    noticed: tuple[str, ...] = ()
    who: Mapping[str, str] = field(default_factory=dict)
    keeps: bool = False
    given_back: bool = True
    passports: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ended: str = ""
    line: str = ""
    pauses: tuple[Pause, ...] = ()
    minded: tuple[str, ...] = ()

    @property
    def same_level(self) -> str:
        """Return the level of the A/A stretch: the current one, or the base if the current one is not in the design."""
        return self.now if self.now in self.design.levels else self.design.base

    @property
    def origin(self) -> str:
        """Return the origin that the journal records for its changes."""
        return f"experiment {self.name}"

    @property
    def schedule(self) -> tuple[Run, ...]:
        """Return all its runs in order."""
        d = self.design
        return schedule(
            d.among or d.levels, blocks=d.blocks, order=d.order, seed=d.seed, pairs=d.pairs, now=self.same_level
        )

    @property
    def next(self) -> Run | None:
        """Return the first run that was not measured; None if all were."""
        done = {run.number for run in self.runs}
        return next((run for run in self.schedule if run.number not in done), None)

    @property
    def left(self) -> tuple[Run, ...]:
        """Return the runs that are left, in whole pairs and blocks."""
        done = set(self.groups)
        return tuple(run for run in self.schedule if (run.block, run.pair) not in done)

    def whole(self) -> Experiment:
        """Return the experiment without the runs of an unfinished pair or block, and without the notices about them."""
        return self.without(*({run.group for run in self.runs} - set(self.groups)))

    def without(self, *groups: tuple[int, int]) -> Experiment:
        """Return the experiment without the runs of these blocks or pairs and the notices about them; they are repeated."""
        numbers = {str(run.number) for run in self.schedule if (run.block, run.pair) in groups}
        return replace(
            self,
            runs=tuple(run for run in self.runs if run.group not in groups),
            noticed=tuple(line for line in self.noticed if in_run(line)[0] not in numbers),
        )

    @property
    def blocks(self) -> list[Block]:
        """Return the finished blocks of a comparison of two levels: the tried one against the base."""
        (tried,), base = self.design.tried, self.design.base
        found = []
        for _, runs in block_runs(self):
            values = {run.level: run.value for run in runs}
            found.append(Block(a=values[base], b=values[tried], b_first=runs[0].level == tried))
        return found

    @property
    def groups(self) -> dict[tuple[int, int], tuple[Measured, ...]]:
        """Return, in order, the pairs and blocks whose runs were all measured."""
        found: dict[tuple[int, int], list[Measured]] = {}
        for run in self.runs:
            found.setdefault(run.group, []).append(run)
        sizes = {True: len(self.design.levels), False: 2}
        return {group: tuple(runs) for group, runs in found.items() if len(runs) == sizes[bool(group[0])]}

    @property
    def comparisons(self) -> list[Experiment]:
        """Return one experiment for each tried level, with its runs and those of the base; itself for a single tried level."""
        design = self.design
        if len(design.levels) == 2:
            return [self]
        runs = [run for group in self.groups.values() for run in group]
        return [
            replace(
                self,
                design=replace(design, levels=(tried, design.base), among=design.levels),
                runs=tuple(run for run in runs if not run.block or run.level in (tried, design.base)),
            )
            for tried in design.tried
        ]

    @property
    def same(self) -> list[tuple[float, float]]:
        """Return the values of the finished pairs of the A/A stretch."""
        return [(runs[0].value, runs[1].value) for (_, pair), runs in self.groups.items() if pair]

    @property
    def gave_way(self) -> dict[str, tuple[int, int]]:
        """Return level → number of pauses around a block at that level, and how many of these runs were repeated."""
        scheduled = {run.number: run for run in self.schedule}
        found = dict.fromkeys(self.design.levels, (0, 0))
        for pause in self.pauses:
            run = scheduled.get(pause.run)
            level = pause.level or (run.level if run is not None else "")
            if run is not None and run.block and level in found:
                times, again = found[level]
                found[level] = times + 1, again + pause.again
        return found

    def verdict(self) -> Verdict:
        """Return the verdict so far; with several levels, the one about the level whose difference is most certain."""
        return min(self.verdicts().values(), key=lambda found: 2.0 if found.p is None else found.p)

    def verdicts(self) -> dict[str, Verdict]:
        """Return level → verdict so far, for each level that is tried.

        There is no finding if pauses came far more often at one level than at the other. With several levels, p is that of all
        comparisons together.
        """
        pairs, design = self.comparisons, self.design
        together: Mapping[str, float] = {}
        if len(pairs) > 1 and (blocks := [runs for _, runs in block_runs(self)]):
            logs = [{run.level: log(run.value) for run in runs} for runs in blocks]
            together = family(logs, design.base, design.order, seed=design.seed)
        found = {}
        for pair in pairs:
            (tried,) = pair.design.tried
            own = judge(
                pair.blocks, order=design.order, matters=design.matters, same=self.same, seed=design.seed,
                family=together.get(tried),
            )  # fmt: skip
            if own.finding is not Finding.NOT_ENOUGH and lopsided(*pair.gave_way.values()):
                own = replace(own, finding=Finding.LOPSIDED, low=None, high=None, p=None, detectable=None)
            found[tried] = own
        return found


def block_runs(experiment: Experiment) -> Iterator[tuple[int, tuple[Measured, ...]]]:
    """Yield number and runs, in order, of each finished block."""
    for (block, _), runs in experiment.groups.items():
        if block:
            yield block, runs


def sizes_at(experiment: Experiment, level: str) -> Histogram:
    """Return a histogram of the lengths of a level's waits in whole blocks, by upper ends of bins; empty if a run has no
    lengths.
    """
    runs = [run for _, own in block_runs(experiment) for run in own if run.level == level]
    counts: dict[int, int] = {}
    for size, count in (pair for run in runs for pair in run.sizes):
        counts[size] = counts.get(size, 0) + count
    return Histogram.of(counts if all(run.sizes for run in runs) else {})


def hits_at(experiment: Experiment) -> dict[str, float]:
    """Return level → share of reads that the flash cache served in whole blocks; empty if a run did not count them."""
    runs = [run for _, own in block_runs(experiment) for run in own]
    found: dict[str, float] = {}
    for level in experiment.design.levels:
        own = [run.reads for run in runs if run.level == level]
        known = [reads for reads in own if reads is not None]
        total = sum(count for _, count in known)
        if len(known) < len(own) or not total:
            return {}
        found[level] = sum(served for served, _ in known) / total
    return found


def _sizes(run: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    return tuple((int(size), int(count)) for size, count in run.get("sizes", ()))


def _reads(run: Mapping[str, Any]) -> tuple[int, int] | None:
    found = run.get("reads")
    return None if found is None else (int(found[0]), int(found[1]))


def to_json(experiment: Experiment) -> dict[str, Any]:
    """Return the experiment as a dictionary that can be stored as JSON."""
    return asdict(experiment)


def from_json(data: Mapping[str, Any]) -> Experiment:
    """Return the experiment that :func:`to_json` converted to ``data``."""
    given = data["design"].get("workload") or ()
    work = (given,) if isinstance(given, str) else tuple(given)
    return Experiment(
        **{
            **data,
            "design": Design(
                **{**data["design"], "levels": tuple(data["design"]["levels"]), "among": (), "workload": work}
            ),
            "runs": tuple(Measured(**{**run, "sizes": _sizes(run), "reads": _reads(run)}) for run in data["runs"]),
            "noticed": tuple(data["noticed"]),
            "minded": tuple(data.get("minded", ())),
            "pauses": tuple(Pause(**pause) for pause in data.get("pauses", ())),
        }
    )
