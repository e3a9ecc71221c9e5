"""Lead from a step's kind to the module that works with it; a new kind has its line in DIRECT or OWNED."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from exacell.change.running import StepResult
from exacell.change.targets.asm import AsmClusters
from exacell.change.targets.base import DirectWay, Failed, Going, OwnedWay, Wanted, Way
from exacell.change.targets.cells import Cells
from exacell.change.targets.databases import Databases
from exacell.change.targets.hosts import Hosts
from exacell.plan.foreseen import Foreseen
from exacell.plan.model import Step
from exacell.plan.targets import ASM, CELL, DATABASE, HOST, KINDS, Kind, kind_of
from exacell.session.fleet import Fleet
from exacell.session.given import Services, Session

DIRECT: Mapping[Kind, type[DirectWay]] = {CELL: Cells, HOST: Hosts}
"""The module's class for each kind of target that is a host of the rack."""

OWNED: Mapping[Kind, type[OwnedWay]] = {ASM: AsmClusters, DATABASE: Databases}
"""The module's class for each kind with one state on all of its nodes: an owner has a client."""


def opened(
    session: Session,
    services: Services,
    steps: Iterable[Step],
    *,
    clusters: Iterable[str] = (),
    foreseen: Foreseen | None = None,
) -> dict[str, Any]:
    """Return owner → client for the ASM clusters and databases that steps change.

    Args:
        clusters: further ASM clusters, which gates ask.
        foreseen: the changes of databases to treat as already made; None for none.

    Raises:
        ConfigError: there is no ASM cluster of that name.
    """
    owners = dict.fromkeys([*(step.owner for step in steps if step.kind.shared), *map(ASM.written, clusters)])
    kinds = {owner: kind_of(owner, host=False) for owner in owners}
    return {o: OWNED[kind].opened(session, services, kind.name(o), foreseen) for o, kind in kinds.items()}


class Targets:
    """The targets of plans on one rack, each asked and sent to in the way of its kind.

    Args:
        clients: the clients that :func:`opened` has returned for the coming steps.
    """

    def __init__(self, fleet: Fleet, clients: Mapping[str, Any]) -> None:
        self._ways: dict[Kind, Way] = {kind: way(fleet) for kind, way in DIRECT.items()}
        for kind, owned in OWNED.items():
            self._ways[kind] = owned({o: c for o, c in clients.items() if kind_of(o, host=False) is kind})

    def failed(self, wanted: Wanted, cancel: threading.Event | None = None) -> Failed:
        """Return for each target the checks that fail: place of the check → reason; see :meth:`Way.failed`."""
        found: Failed = {}
        for kind, steps in _by_kind(step for step, _ in wanted.values()):
            found |= self._ways[kind].failed({step.target: wanted[step.target] for step in steps}, cancel)
        return found

    def moved(self, steps: Iterable[Step]) -> Failed:
        """Return for each target why the result of its step has changed, in the form of :meth:`failed`; empty if it has not."""
        return self.failed({step.target: (step, self._ways[step.kind].still(step)) for step in steps})

    def send(self, steps: Sequence[Step], going: Going) -> Iterator[StepResult]:
        """Send the statements of steps and yield how each ended; steps without a statement are left out.

        Raises:
            RefusedError: the transport is read-only.
        """
        for kind, own in _by_kind(step for step in steps if step.statement):
            yield from self._ways[kind].send(own, going)

    def far(self, step: Step) -> tuple[str, float, float] | None:
        """Return a wait's progress at the last look: a text, the done part (0 to 1), the seconds left; None if unknown."""
        return self._ways[step.kind].far(step)


def _by_kind(steps: Iterable[Step]) -> Iterator[tuple[Kind, list[Step]]]:
    """Yield each kind that steps have, in the order of KINDS, with its steps."""
    every = list(steps)
    for kind in KINDS:
        own = [step for step in every if step.kind is kind]
        if own:
            yield kind, own
