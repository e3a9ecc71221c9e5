"""The journal's rows as values with types, and the one parser that makes them of what is stored. Pure.

A row's body is a JSON object. What it says is read here and nowhere else: each kind of row is a data class, and a field is
the body's value of the same name in camel case (``exit_code`` of ``exitCode``). A value that is missing, or of another type
than the field's, is the field's default: rows of an older exacell say less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, fields
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from exacell.core.values import dataclass
from exacell.journal.chain import is_whole

if TYPE_CHECKING:
    from exacell.plan.model import Rolling, Step

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who acted, as :func:`exacell.journal.actor.actor` writes it; empty for what the row does not say.

    Attributes:
        came_from: where the session came from by SSH.
        started: tells the process from a later one of the same number.
        version: of exacell; empty in rows of versions that did not write it.
    """

    user: str = ""
    sudo_user: str = ""
    host: str = ""
    came_from: str = ""
    pid: str = ""
    started: str = ""
    version: str = ""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Actor:
        """Return who acted, from a row's body."""
        return cls(**_told(cls, body))

    @property
    def process(self) -> tuple[str, str, str]:
        """What tells one process from every other one."""
        return (self.host, self.pid, self.started)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row. Those of a kind that says something of its own are of one of the classes below.

    Attributes:
        seq: 1 and up, without gaps.
        at: UTC, ISO 8601.
        change: the number of the change it belongs to; unique over all racks of this journal.
        kind: plan, intent, outcome, gate, end, observed (something that was seen on a cell, such as caching being on),
            undone, refused (a change that was none: unread work that the door turned away), restart, or one of
            confirming.KINDS.
        target: cell or node; empty for plan and end.
        statement: the user's; of an intent, what is sent.
        reason: why: the user's, or what was wrong.
        body: the JSON object as it is stored, for showing and handing on as a whole.
        damaged: what stands in the body's place where that can't be read.
    """

    seq: int
    at: str
    rack: str
    change: int
    kind: str
    target: str
    body: Mapping[str, Any] = field(repr=False)
    prev: str
    hash: str
    statement: str = ""
    reason: str = ""
    damaged: str = ""

    @cached_property
    def who(self) -> Actor:
        """Who acted, where the row says it."""
        return Actor.of(self.body)


@dataclass(frozen=True, kw_only=True)
class Headed(Entry):
    """A row that begins a change.

    Attributes:
        ticket: the user's.
        origin: on whose behalf: a recipe's name, ``resume 3``, ``retry 3``, ``undo 3``; empty for nobody's.
        risk: what may be lost.
    """

    ticket: str = ""
    origin: str = ""
    risk: str = ""

    @property
    def undoes(self) -> int:
        """The change that this one was made to take back; 0 for none."""
        verb, _, number = self.origin.partition(" ")
        return int(number) if verb == "undo" and number.isdecimal() else 0  # A recipe may be named undo.


@dataclass(frozen=True, kw_only=True)
class Planned(Headed):
    """A plan's row.

    Attributes:
        finishes: the change that this one goes on with (resume, retry failed); 0 for none.
        flags: the statement's own ones.
        confirm_within: seconds within which it had to be confirmed; None when it had not.
        detached: the folder on each host in which its command runs apart from us; empty for none.
        run: the recipe's run that it belongs to; empty for none.
        place: of its line in that run: ``3``, or ``3.2`` where line 3 runs a recipe.
        keeps: the name under which that run keeps what it brings; empty for none.
        plan: the plan as JSON made it; None for work that exacell can't read, and for what carries nothing out.
    """

    finishes: int = 0
    flags: Mapping[str, Any] = field(default_factory=dict)
    confirm_within: float | None = None
    detached: str = ""
    run: str = ""
    place: str = ""
    keeps: str = ""
    plan: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def root(self) -> int:
        """The change that undo takes back and resume goes on with: the one that this one goes on with, or itself."""
        return self.finishes or self.change

    @cached_property
    def steps(self) -> tuple[tuple[Step, bool], ...]:
        """The plan's steps in order, each with whether it mends; none where there is no plan."""
        from exacell.plan.model import step_from_json  # Every start reads rows; few ask for steps.

        stages = (self.plan or _NOTHING).get("stages", ())
        return tuple((step_from_json(item), stage["gate"] == "mend") for stage in stages for item in stage["steps"])

    @property
    def wanted(self) -> list[Step]:
        """The steps that were to be done in any case: those that mend are left out."""
        return [step for step, mending in self.steps if not mending]

    @property
    def inverse(self) -> dict[str, tuple[str, ...]]:
        """Per target the statements that take the change back."""
        return {target: tuple(found) for target, found in (self.plan or _NOTHING).get("inverse", {}).items()}

    @property
    def rolling(self) -> Rolling | None:
        """How its cells took turns; None when they did not."""
        from exacell.plan.model import rolling_from_json

        told = (self.plan or _NOTHING).get("rolling")
        return rolling_from_json(told) if told else None


@dataclass(frozen=True, kw_only=True)
class Kept(Headed):
    """A file that a recipe's run has kept, of the change that brought it; where no change did, the row begins one.

    Attributes:
        run: the run.
        place: of its line in that run.
        name: under which it is kept; several files may have the same.
        source: its path on the host; empty for an answer.
        file: where it lies, from the journal's folder on.
        size: bytes.
    """

    run: str = ""
    place: str = ""
    name: str = ""
    source: str = ""
    file: str = ""
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class Refused(Headed):
    """A row about a change that was none.

    Attributes:
        refused: why.
    """

    refused: str = ""


@dataclass(frozen=True, kw_only=True)
class Restarted(Headed):
    """The first row of a journal that began behind a damaged one.

    Attributes:
        old: the damaged file; None where the row does not say.
        problem: what was wrong with it.
    """

    old: str | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class StepRow(Entry):
    """What intents and outcomes both say of a step.

    Attributes:
        what: which step of its target it is.
        caching_off, caching_on: what it does to the cache.
        cache: which one; empty for the flash cache, in rows that name none.
        offline, online: whether it takes grid disks offline, or brings them back.
    """

    what: str = ""
    caching_off: bool = False
    caching_on: bool = False
    cache: str = ""
    offline: bool = False
    online: bool = False
    wave: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Target and step: what an outcome has in common with its intent, within a change."""
        return self.target, self.what


@dataclass(frozen=True, kw_only=True)
class Intent(StepRow):
    """On disk before a step's statement leaves."""

    inverse: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome(StepRow):
    """How a step ended.

    Attributes:
        state: done, not needed, failed, refused, unknown, not done …
        reply: what the target said.
        mending: whether the step mends what another one did.
        settled: whether somebody looked afterwards, because no answer had come.
    """

    state: str = ""
    reply: str = ""
    fingerprint: str = ""
    mending: bool = False
    settled: bool = False


@dataclass(frozen=True, kw_only=True)
class Gated(Entry):
    """Return whether a wave was let pass.

    Attributes:
        cells: the wave's.
        met: what the gate waited for.
    """

    wave: int = 0
    cells: tuple[str, ...] = ()
    open: bool = False
    met: str = ""


@dataclass(frozen=True, kw_only=True)
class Ended(Entry):
    """The end of a change.

    Attributes:
        exit_code: None where the row does not say.
        done: how many steps ended how.
        stopped: what stopped it between two statements; empty when nothing did.
    """

    exit_code: int | None = None
    done: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Observed(Entry):
    """Something that was seen on a cell later.

    Attributes:
        caching: ``on``, ``off``, ``unknown`` …; empty when something else was seen.
        cache: which one; empty for the flash cache.
        services: that run.
        online: all grid disks are ONLINE.
    """

    caching: str = ""
    cache: str = ""
    services: tuple[str, ...] = ()
    online: bool = False


@dataclass(frozen=True, kw_only=True)
class Waiting(Entry):
    """A change waits to be confirmed.

    Attributes:
        until: UTC, ISO 8601.
        within: seconds.
        run: the first change of the recipe's run to which it belongs; 0 for none.
        open: that run goes on.
    """

    until: str = ""
    within: float = 0.0
    run: int = 0
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class Confirmed(Entry):
    """Somebody keeps a change that waited.

    Attributes:
        unguarded: nobody was there to take it back.
    """

    unguarded: bool = False


@dataclass(frozen=True, kw_only=True)
class Reverted(Entry):
    """The guardian has tried to take a change back.

    Attributes:
        again: it means to try again.
    """

    state: str = ""
    again: bool = False


_KINDS: Mapping[str, type[Entry]] = {
    "plan": Planned, "refused": Refused, "restart": Restarted, "intent": Intent, "outcome": Outcome, "gate": Gated,
    "end": Ended, "observed": Observed, "deadline": Waiting, "confirmed": Confirmed, "reverted": Reverted,
    "kept": Kept,
}  # fmt: skip
"""Kind → class; a row of another kind says nothing of its own."""

_JSON: Mapping[str, type | tuple[type, ...]] = {
    "str": str, "int": int, "bool": bool, "float": (float, int), "tuple": (list, tuple), "Mapping": Mapping,
}  # fmt: skip
"""Type of a field → the types that its value may have in JSON, and before it becomes JSON."""


@cache
def _shape(made: type) -> tuple[tuple[str, str, type | tuple[type, ...]], ...]:
    """Return of each field that a body tells: its name, the body's name for it, and the types that it may have there."""
    own = [item for item in fields(made) if (item.default, item.default_factory) != (MISSING, MISSING)]
    return tuple((item.name, _named(item.name), _JSON[re.split(r"\W", str(item.type))[0]]) for item in own)


def _named(field: str) -> str:
    """Return the body's name for a field."""
    first, *rest = field.split("_")
    return "from" if field == "came_from" else first + "".join(word.capitalize() for word in rest)


def _told(made: type, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a body says of the fields of ``made``."""
    found = {}
    for name, key, kind in _shape(made):
        value = body.get(key)
        if isinstance(value, kind):
            found[name] = tuple(value) if isinstance(value, list) else value
    return found


class Columns(NamedTuple):
    """The columns of a row, in the order in which they are stored."""

    seq: int
    at: str
    rack: str
    change: int
    kind: str
    target: str
    body: Mapping[str, Any]
    prev: str
    hash: str


def typed(columns: Columns) -> Entry:
    """Return a row as the class of its kind."""
    made = _KINDS.get(columns.kind, Entry)
    return made(**columns._asdict(), **_told(made, columns.body))


def read_row(stored: Sequence[Any]) -> Entry:
    """Return a row from the nine fields that are stored, in their order.

    Raises:
        ValueError: it is not the row that its own hash was made of, or its body is no JSON object: what an edited row says
            is nothing to act on, and may be of any type. Says which.
    """
    if not is_whole(stored):
        raise ValueError("it was edited")
    body = json.loads(stored[6])
    if not isinstance(body, dict):
        raise ValueError("it is not an object")
    return _columns(stored, body)


def renamed(row: Entry, named: Callable[[str], str]) -> Entry:
    """Return a row with its cells and hosts called otherwise, also in its plan; what is said of their objects stays.

    Args:
        named: returns the name for one that stands in the row.
    """
    plan = row.plan if isinstance(row, Planned) else None
    cells = row.cells if isinstance(row, Gated) else ()
    other = {name: now for name in {row.target, *cells, *_names(plan or _NOTHING)} if (now := named(name)) != name}
    if not other:
        return row
    body = {**row.body}
    if cells:
        body["cells"] = [other.get(cell, cell) for cell in cells]
    if plan is not None:
        body["plan"] = _plan_renamed(plan, other)
    target = other.get(row.target, row.target)
    return typed(Columns(row.seq, row.at, row.rack, row.change, row.kind, target, body, row.prev, row.hash))


_BY_TARGET = ("done", "skipped", "inverse")
"""What a plan says target by target, beside its steps."""


def _names(plan: Mapping[str, Any]) -> set[str]:
    """Return the cells and hosts that a plan as JSON names."""
    steps = {step["target"] for stage in plan.get("stages", ()) for step in stage["steps"]}
    return steps.union((plan.get("rolling") or _NOTHING).get("others", ()), *(plan.get(key, ()) for key in _BY_TARGET))


def _plan_renamed(plan: Mapping[str, Any], other: Mapping[str, str]) -> dict[str, Any]:
    """Return a plan as JSON with other names for some of its cells and hosts."""
    found = {**plan, "stages": []}
    for stage in plan.get("stages", ()):
        steps = [{**step, "target": other.get(step["target"], step["target"])} for step in stage["steps"]]
        found["stages"].append({**stage, "steps": steps})
    for key in _BY_TARGET:
        found[key] = {other.get(target, target): said for target, said in plan.get(key, _NOTHING).items()}
    if rolling := plan.get("rolling"):
        found["rolling"] = {
            **rolling,
            "waves": [[other.get(cell, cell) for cell in wave] for wave in rolling["waves"]],
            "others": [other.get(cell, cell) for cell in rolling.get("others", ())],
            "canary": other.get(rolling.get("canary", ""), rolling.get("canary", "")),
        }
    return found


def damaged_row(stored: Sequence[Any]) -> Entry:
    """Return for eyes a row that :func:`read_row` refuses: what stands in place of its body is told as ``damaged``."""
    return _columns(stored, {"damaged": str(stored[6])})


def _columns(stored: Sequence[Any], body: Mapping[str, Any]) -> Entry:
    seq, at, rack, change, kind, target, _, prev, digest = stored
    return typed(
        Columns(
            int(seq), str(at), str(rack), change_number(change), str(kind), str(target), body, str(prev), str(digest)
        )
    )


def change_number(value: object) -> int:
    """Return the number of a change as it is stored; 0 for what was written over it."""
    return value if isinstance(value, int) else 0
