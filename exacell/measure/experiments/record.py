"""An experiment as it is kept: what it is to find out, what was measured so far, and what is left to do. Pure."""

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
    """What an experiment compares, how often, and how a run goes.

    Attributes:
        factor, of: what is switched, as ``factor=`` names it before and behind its colon.
        said: how people call it.
        levels: of the factor: of two the one that is tried, then the one that it is compared with; of more the one that each
            other is compared with, then the others.
        among: all levels of the experiment, where these two are one comparison of several.
        db: whose waits are measured; empty where nothing of a database is.
        on: the hosts whose setting is switched; empty for other factors.
        pairs: of two runs at one level that come before the blocks, so that they show what no difference looks like.
        matters: percent; a smaller difference is of no interest.
        measure: one of MEASURES.
        workload: the statements that a run carries out while it is measured; without any it waits.
        seconds: for so long, where there is no workload.
        settle: seconds that are waited before each run is measured.
        reset: the statement that is carried out before each run; empty for none.
        limit: seconds that a redo write may take on a cell, on average, before the experiment gives way; 0: any.
        warm: passes of the workload before each run at most, until the hit rate of the flash cache stays; 0: none.
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
        """The level that is compared with."""
        return self.levels[1] if len(self.levels) == 2 else self.levels[0]

    @property
    def tried(self) -> tuple[str, ...]:
        """The levels that are compared with it."""
        return self.levels[:1] if len(self.levels) == 2 else self.levels[1:]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run came to.

    Attributes:
        value: microseconds of one wait or request, on average.
        count: how many there were.
        at: when it ended, ISO 8601 UTC.
        began: when its measurement began; empty where an older release kept it.
        redo: redo writes that the cells counted meanwhile, of all databases; None where no cell collected in between.
        outliers: how many of them reached the database as outliers.
        prevented: how many more the flash log prevented.
        sizes: (microseconds, how many of the waits were shorter and in no smaller size), ascending; empty where nothing tells.
        reads: how many reads of the database the flash cache served, and how many there were; None where that was not asked.
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
        """The pair or block to which it belongs."""
        return self.block, self.pair


@dataclass(frozen=True, kw_only=True)
class Pause:
    """Giving way to production before or after a run.

    Attributes:
        run: its number.
        seconds: how long it lasted.
        micros: how long a redo write took on average on the slowest cell when it began.
        again: the run lay in it, so that its block or pair was made anew.
        level: that held when redo writes took too long; empty where an older release kept it.
    """

    run: int
    seconds: float
    micros: float
    again: bool = False
    level: str = ""


RUNNING, STOPPED, DONE, ABANDONED = "running", "stopped", "done", "abandoned"
"""States of an experiment; resume goes on with the first two."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        statement: as it was given, with what was left out in it.
        began: ISO 8601 UTC.
        now: the level before it began.
        runs: what was measured, in order; those of a pair or block that did not come to its end are left out.
        noticed: what was not alike, before it began or on the way; a sentence each without its stop.
        who: the process that carries it out or did so last.
        keeps: it has taken the rack's lock, and is to give it back.
        given_back: the factor is as it was before.
        passports: cell → under which conditions the first run was measured.
        ended: ISO 8601 UTC, when it last came to rest, the factor given back; empty until then.
        line: the recipe's run and the place in it of the line that made it; empty for none.
        pauses: in which it gave way.
        minded: what the cells' releases make of such a comparison; a sentence each without its stop.
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
        """The level of the A/A stretch: the one that holds now, or the one that is compared with where it is neither."""
        return self.now if self.now in self.design.levels else self.design.base

    @property
    def origin(self) -> str:
        """On whose behalf the journal says that its changes were made."""
        return f"experiment {self.name}"

    @property
    def schedule(self) -> tuple[Run, ...]:
        """All its runs."""
        d = self.design
        return schedule(
            d.among or d.levels, blocks=d.blocks, order=d.order, seed=d.seed, pairs=d.pairs, now=self.same_level
        )

    @property
    def next(self) -> Run | None:
        """The first run that was not measured; None when all were."""
        done = {run.number for run in self.runs}
        return next((run for run in self.schedule if run.number not in done), None)

    @property
    def left(self) -> tuple[Run, ...]:
        """The runs still to do, whole pairs and blocks."""
        done = set(self.groups)
        return tuple(run for run in self.schedule if (run.block, run.pair) not in done)

    def whole(self) -> Experiment:
        """Return it without runs of a pair or block that did not come to its end, and without what was noticed in them."""
        return self.without(*({run.group for run in self.runs} - set(self.groups)))

    def without(self, *groups: tuple[int, int]) -> Experiment:
        """Return it without the runs of such blocks or pairs, which are made anew, and without what was noticed in them: the
        runs that take their place are looked at again."""
        numbers = {str(run.number) for run in self.schedule if (run.block, run.pair) in groups}
        return replace(
            self,
            runs=tuple(run for run in self.runs if run.group not in groups),
            noticed=tuple(line for line in self.noticed if in_run(line)[0] not in numbers),
        )

    @property
    def blocks(self) -> list[Block]:
        """The blocks that came to their end, of two levels: the one that is tried against the other one."""
        (tried,), base = self.design.tried, self.design.base
        found = []
        for _, runs in block_runs(self):
            values = {run.level: run.value for run in runs}
            found.append(Block(a=values[base], b=values[tried], b_first=runs[0].level == tried))
        return found

    @property
    def groups(self) -> dict[tuple[int, int], tuple[Measured, ...]]:
        """The pairs and blocks of which all runs were measured, in order."""
        found: dict[tuple[int, int], list[Measured]] = {}
        for run in self.runs:
            found.setdefault(run.group, []).append(run)
        sizes = {True: len(self.design.levels), False: 2}
        return {group: tuple(runs) for group, runs in found.items() if len(runs) == sizes[bool(group[0])]}

    @property
    def comparisons(self) -> list[Experiment]:
        """It with the runs of two levels, for each level that is tried; itself where it has no more."""
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
        """The pairs of the A/A stretch that came to their end."""
        return [(runs[0].value, runs[1].value) for (_, pair), runs in self.groups.items() if pair]

    @property
    def gave_way(self) -> dict[str, tuple[int, int]]:
        """Level → how often it gave way around a block while that level held, and how many of these runs were made anew."""
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
        """Return what was found so far, of many levels about the one whose difference is surest."""
        return min(self.verdicts().values(), key=lambda found: 2.0 if found.p is None else found.p)

    def verdicts(self) -> dict[str, Verdict]:
        """Return what was found so far of each level that is tried; none where it gave way at one level far more often than at
        the other. Of many levels p is of all comparisons together."""
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
    """Yield number and runs, in order, of each block that came to its end."""
    for (block, _), runs in experiment.groups.items():
        if block:
            yield block, runs


def sizes_at(experiment: Experiment, level: str) -> Histogram:
    """Return how long the waits of a level were in whole blocks: upper ends of sizes; empty where not every run tells."""
    runs = [run for _, own in block_runs(experiment) for run in own if run.level == level]
    counts: dict[int, int] = {}
    for size, count in (pair for run in runs for pair in run.sizes):
        counts[size] = counts.get(size, 0) + count
    return Histogram.of(counts if all(run.sizes for run in runs) else {})


def hits_at(experiment: Experiment) -> dict[str, float]:
    """Return the share of reads that the flash cache served at each level in whole blocks; empty where not every run has it."""
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
    """Return it as JSON takes it."""
    return asdict(experiment)


def from_json(data: Mapping[str, Any]) -> Experiment:
    """Return the experiment of which :func:`to_json` made ``data``."""
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
