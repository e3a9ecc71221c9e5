"""A run of a recipe as it is kept: what was agreed to, and how each of its lines stands. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from exacell.core.values import dataclass
from exacell.recipes.parsing import Draft, read_draft

RUNNING, DONE, STOPPED, ABANDONED = "running", "done", "stopped", "abandoned"
"""States of a run: a final line of one that is ``stopped`` has failed, and resume tries it again; ``running`` without a living
process is one that was killed."""

BEGUN, FAILED = "begun", "failed"
"""States of a line besides ``done``; one that was not begun has none."""


@dataclass(frozen=True, kw_only=True)
class LineState:
    """How a line of a run stands.

    Attributes:
        at: since when, ISO 8601 UTC.
        said: why it failed.
        head: number of the journal's newest row when it was begun: what it sent stands behind it.
    """

    state: str
    at: str = ""
    said: str = ""
    head: int = 0


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run.

    Attributes:
        statement: as it was given.
        recipe: the recipe's name or path in it.
        began: ISO 8601 UTC.
        given: the parameters, as they were given.
        files: name of a recipe, as the run names it, → where its file is, absolute.
        texts: name of a recipe → its text.
        values: place of the line that runs a recipe (empty for the outermost) → name of what was read before the plan → value.
        targets: place of the line that runs a recipe → line of it → its cells or hosts, where waves depend on them.
        flags: those that hold for its lines, with ``yes`` where all was agreed to at once.
        cells: a set, where it goes to some of the rack's cells.
        folder: from where relative paths count.
        who: the process that carries it out or did so last.
        head: number of the journal's newest row when that process began.
    """

    name: str
    rack: str
    statement: str
    recipe: str
    began: str
    given: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)
    cells: str = ""
    folder: str = ""
    who: Mapping[str, str] = field(default_factory=dict)
    head: int = 0
    state: str = RUNNING

    @property
    def key(self) -> str:
        """What the journal says of its changes; no other run has it, also where the store was made anew."""
        return f"{self.name} {self.began}"

    def draft(self, name: str) -> Draft:
        """Return the recipe of that name as it was when the run began."""
        return read_draft(self.files[name].rpartition("/")[2].rpartition(".")[0], self.texts[name], self.files[name])


def to_json(run: Run) -> dict[str, Any]:
    """Return it as JSON takes it."""
    return asdict(run)


def from_json(data: Mapping[str, Any]) -> Run:
    """Return the run of which :func:`to_json` made ``data``."""
    return Run(**data)
