"""Keep experiments in the store, and find them there."""

from __future__ import annotations

from exacell.journal.actor import actor, alive
from exacell.journal.rows import Actor
from exacell.measure.experiments.record import RUNNING, STOPPED, Experiment, from_json, to_json
from exacell.session.store import Store, StoreError, none_of


def keep(store: Store, found: Experiment) -> None:
    """Keep an experiment in its present state; an older state is replaced."""
    store.keep_experiment(found.rack, found.name, found.began, found.state, to_json(found))


def experiments(store: Store, rack: str) -> list[Experiment]:
    """Return the experiments of a rack, oldest first."""
    return store.experiments(rack, from_json)


def unfinished(store: Store, rack: str) -> list[Experiment]:
    """Return the experiments that did not come to their end, oldest first."""
    return store.experiments(rack, from_json, RUNNING, STOPPED)


def find(store: Store, rack: str, name: str) -> Experiment:
    """Return the experiment with that name, or the newest one if the name is empty.

    Raises:
        StoreError: there is no such experiment; the message names the existing ones.
    """
    found = experiments(store, rack)
    for experiment in reversed(found):
        if not name or experiment.name.lower() == name.lower():
            return experiment
    if not found:
        raise StoreError(f"rack {rack} has no experiment", hint="type `experiment …` to begin one")
    raise none_of("experiment", name, [each.name for each in found], rack=rack, makes="experiment … as=NAME")


def conducted_elsewhere(found: Experiment) -> bool:
    """Return whether another living process carries an experiment out; a process of another host counts as living."""
    who = Actor.of(found.who)
    return found.state == RUNNING and who.process != Actor.of(actor()).process and alive(who)


def left_line(found: Experiment) -> str:
    """Return a line about an experiment that no process carries out any more, with the statements to continue or end it."""
    done = len(found.schedule) - len(found.left)
    kept = "" if found.given_back else ", and its factor may still be set for a run"
    return (
        f"experiment {found.name} stopped before its last run ({done} of {len(found.schedule)} done){kept}: "
        "`resume` continues it, `resume --abandon` resets the factor and ends it"
    )
