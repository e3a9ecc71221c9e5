"""The stored form of a run of a recipe: the agreed texts and values, and the state of each line. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from exacell.core.values import dataclass
from exacell.recipes.parsing import Draft, read_draft

RUNNING, DONE, STOPPED, ABANDONED = "running", "done", "stopped", "abandoned"
"""States of a run. A ``stopped`` run with a failed final line: resume tries that line again. A ``running`` run without a
living process was killed.
"""

BEGUN, FAILED = "begun", "failed"
"""States of a line besides ``done``; a line that has not begun has no state."""


@dataclass(frozen=True, kw_only=True)
class LineState:
    """The state of one line of a run.

    Attributes:
        at: time of this state, ISO 8601 UTC.
        said: why the line failed.
        head: number of the journal's newest row when the line began; the rows of its statements have higher numbers.
    """

    state: str
    at: str = ""
    said: str = ""
    head: int = 0


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run.

    Attributes:
        statement: the statement as typed.
        recipe: the recipe's name or path in that statement.
        began: ISO 8601 UTC.
        given: the parameters as typed.
        files: name of a recipe, as the run uses it, → absolute path of its file.
        texts: name of a recipe → its text.
        values: place of the line that runs a recipe (empty for the outermost) → name of a let → its value, read before the plan.
        targets: place of the line that runs a recipe → line of that recipe → its cells or hosts, if waves depend on them.
        flags: the flags for its lines, with ``yes`` if all was agreed to at once.
        cells: the set of cells, if the run is not for all cells of the rack.
        folder: the folder that relative paths refer to.
        who: the process that carries the run out, or was the last to do so.
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
        """Return the mark of this run in the journal; unique even if the store is deleted and run names start again."""
        return f"{self.name} {self.began}"

    def draft(self, name: str) -> Draft:
        """Return the recipe of that name as it was when the run began, with its problems."""
        return read_draft(self.files[name].rpartition("/")[2].rpartition(".")[0], self.texts[name], self.files[name])


def to_json(run: Run) -> dict[str, Any]:
    """Return the run as a dictionary that can be stored as JSON."""
    return asdict(run)


def from_json(data: Mapping[str, Any]) -> Run:
    """Return the run that :func:`to_json` converted to ``data``."""
    return Run(**data)
