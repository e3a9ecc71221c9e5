"""Experiments as subjects of a report; each has two levels that are compared with each other."""

from __future__ import annotations

from exacell.commands.subjects.sort import Asked, Sort
from exacell.core.errors import ConfigError
from exacell.journal.auditing import as_jsonl
from exacell.measure.experiments.record import Experiment
from exacell.measure.experiments.reported import finding
from exacell.measure.finding import Artifact, Finding
from exacell.session.journalled import changes_in
from exacell.session.trials import experiments, find


def _kept(asked: Asked) -> list[Experiment]:
    try:
        rack = asked.session.need_rack().name
    except ConfigError:
        return []
    return experiments(asked.services.store(), rack)


def _has(asked: Asked, name: str) -> bool:
    return name.lower() in {each.name.lower() for each in _kept(asked)}


def _newest(asked: Asked) -> str:
    return next((each.name for each in reversed(_kept(asked))), "")


def _alone(asked: Asked, name: str) -> Finding:
    found = find(asked.services.store(), asked.session.need_rack().name, name)
    journal = asked.services.journal
    until = found.ended or (found.runs[-1].at if found.runs else found.began)
    changes = changes_in(journal, found.rack, found.began, until)
    rows = [row for one in changes for row in journal.all_entries(rack=found.rack, change=int(one.id))]
    log = "".join(f"{line}\n" for line in as_jsonl(sorted(rows, key=lambda row: row.seq)))
    return finding(found, changes, [Artifact(name="journal.jsonl", content=log.encode())] if changes else [])


EXPERIMENTS = Sort(title="experiments", has=_has, alone=_alone, pair=None, newest=_newest)
