"""The promise of rolling: whatever fails, no two failure groups are away at once, and the journal proves it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from exacell.core.errors import ExitCode, RefusedError
from exacell.journal.state import ChangeState
from exacell.plan.model import Rolling
from exacell.plan.planners.availability import restart_plan
from exacell.plan.rolling import Asked
from tests.engine.rolling_world import MemoryJournal, World, make_world
from tests.support.overlaps import overlaps

PLANS = 1000


def asked(rng: random.Random, names: list[str]) -> Asked:
    """Return random options: a size that is allowed, a canary, going on after errors."""
    return Asked(
        size=rng.choice((None, 1)),
        canary=rng.choice((*names, "", "", "")),
        on_error=rng.choice(("", "stop", "continue")),
        within=rng.choice((1200.0, 7200.0)),
    )


def attempt(world: World, names: list[str], options: Asked, journal: MemoryJournal) -> str:
    try:
        plan = restart_plan("t1", world.facts(names), service="cellsrv", statement="restart service cellsrv")
        return world.run(plan, options, journal).exit_code.name
    except RefusedError:
        return "REFUSED"


def test_a_thousand_random_rolling_plans() -> None:
    """In 1,000 random rolling plans with mishaps no two failure groups were offline at once, and a replay proves it."""
    ends: Counter[str] = Counter()
    resumed = 0
    for seed in range(PLANS):
        rng = random.Random(seed)
        world = make_world(rng, trouble=rng.choice((0.0, 0.1, 0.3, 0.6)))
        names, journal = list(world.cells), MemoryJournal()
        chosen = rng.sample(names, rng.randint(1, len(names)))
        ends[attempt(world, chosen, asked(rng, chosen), journal)] += 1
        left = ChangeState.of(journal.rows).left
        rest = [cell for cell in chosen if cell in left]
        if rest and rng.random() < 0.7:
            # What a session does after a failure: the same on the cells that are left.
            resumed += 1
            ends[attempt(world, rest, Asked(size=1), journal)] += 1
        assert overlaps(journal.rows) == (), f"seed {seed}: {world.log}"
        assert world.worst <= 1, f"seed {seed}: {world.log}"
    assert ends["DONE"] > 100
    assert ends["FAILED"] > 100
    assert ends["INTERRUPTED"] > 20
    assert resumed > 100
    assert ExitCode.DONE.name in ends


def test_the_proof_would_notice() -> None:
    """A plan that takes two cells offline in one wave is seen by the simulated rack and by the replay."""
    world, journal = make_world(random.Random(7), trouble=0.0), MemoryJournal()
    names = list(world.cells)[:2]
    plan = restart_plan("t1", world.facts(names), service="cellsrv", statement="x")
    world.carry_out(replace(plan, rolling=Rolling(waves=(tuple(names),), others=tuple(world.cells))), journal)
    assert world.worst == 2
    assert [(overlap.target, overlap.away) for overlap in overlaps(journal.rows)] == [(names[1], (names[0],))]
