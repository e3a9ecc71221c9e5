"""What the emulated rack gave once and is kept as a fixture."""

from __future__ import annotations

import json
from pathlib import Path

from exacell.measure.experiments.record import Experiment, from_json
from exacell.measure.experiments.reported import finding
from exacell.measure.finding import Change, Finding

_FILE = Path(__file__).parent.parent / "data" / "reports" / "experiment.json"


def kept_experiment() -> Experiment:
    """Return an experiment of six blocks that was interrupted after the second one and gone on with 81 seconds later."""
    return from_json(json.loads(_FILE.read_text(encoding="utf-8"))["experiment"])


def kept_finding() -> Finding:
    """Return what it came to, with the changes that the journal had of it."""
    changes = json.loads(_FILE.read_text(encoding="utf-8"))["changes"]
    return finding(kept_experiment(), [Change(**change) for change in changes])
