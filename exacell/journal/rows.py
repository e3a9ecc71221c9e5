"""Define the journal's rows as typed values, and the only parser that makes them from stored rows. Pure.

A row's body is a JSON object, which only this module reads: each kind of row is a data class, and a field is the body's value
of the same name in camel case (``exit_code`` from ``exitCode``). If a value is missing or has another type than the field, the
field has its default: rows of an older exacell contain less.
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
    """Who acted, as :func:`exacell.journal.actor.actor` writes it; fields that the row does not have are empty.

    Attributes:
        came_from: the client of the SSH session.
        started: distinguishes the process from a later one with the same number.
        version: exacell's version; empty in rows of versions that did not write it.
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
        return cls(**_fields_of(cls, body))

    @property
    def process(self) -> tuple[str, str, str]:
        """Return values that distinguish a process from every other one."""
        return (self.host, self.pid, self.started)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row. Rows of a kind with its own fields are instances of the classes below.

    Attributes:
        seq: 1 and up, without gaps.
        at: UTC, ISO 8601.
        change: the number of the change it belongs to; unique over all racks of this journal.
        kind: plan, intent, outcome, gate, end, observed (something that was seen on a cell, such as caching being on),
            undone, refused (unread work that was refused, so that no change was made), restart, or one of
            confirming.KINDS.
        target: cell or node; empty for plan and end.
        statement: the user's statement; in an intent, the statement that is sent.
        reason: the user's reason, or what was wrong.
        body: the JSON object as it is stored, to be shown or exported as a whole.
        damaged: the stored text of a body that can't be read.
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
        """Return who acted, if the row contains that."""
        return Actor.of(self.body)


@dataclass(frozen=True, kw_only=True)
class Headed(Entry):
    """A row that begins a change.

    Attributes:
        ticket: the user's ticket.
        origin: what caused the change: a recipe's name, ``resume 3``, ``retry 3``, ``undo 3``; empty for the user.
        risk: what may be lost.
    """

    ticket: str = ""
    origin: str = ""
    risk: str = ""

    @property
    def undoes(self) -> int:
        """Return the change that this one was made to take back; 0 for none."""
        verb, _, number = self.origin.partition(" ")
        return int(number) if verb == "undo" and number.isdecimal() else 0  # A recipe's name may be undo.


@dataclass(frozen=True, kw_only=True)
class Planned(Headed):
    """A plan's row.

    Attributes:
        finishes: the change that this one continues (resume, retry failed); 0 for none.
        flags: the statement's own flags.
        confirm_within: seconds within which it had to be confirmed; None if it did not have to be.
        detached: the folder on each host in which its command runs apart from us; empty for none.
        run: the recipe's run that it belongs to; empty for none.
        place: the place of its line in that run: ``3``, or ``3.2`` if line 3 runs a recipe.
        keeps: the name under which that run keeps its result; empty for none.
        plan: the plan in JSON form; None for work that exacell can't read, and for rows that carry out nothing.
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
        """Return the change that undo takes back and resume continues: the change that this one continues, or itself."""
        return self.finishes or self.change

    @cached_property
    def steps(self) -> tuple[tuple[Step, bool], ...]:
        """Return (step, whether it mends) for the plan's steps, in order; empty without a plan."""
        from exacell.plan.model import step_from_json  # Every start reads rows, and few need their steps.

        stages = (self.plan or _NOTHING).get("stages", ())
        return tuple((step_from_json(item), stage["gate"] == "mend") for stage in stages for item in stage["steps"])

    @property
    def wanted(self) -> list[Step]:
        """Return the steps that were to be done in any case; mending steps are left out."""
        return [step for step, mending in self.steps if not mending]

    @property
    def inverse(self) -> dict[str, tuple[str, ...]]:
        """Return, by target, the statements that take the change back."""
        return {target: tuple(found) for target, found in (self.plan or _NOTHING).get("inverse", {}).items()}

    @property
    def rolling(self) -> Rolling | None:
        """Return how its cells took turns; None if they did not."""
        from exacell.plan.model import rolling_from_json

        told = (self.plan or _NOTHING).get("rolling")
        return rolling_from_json(told) if told else None


@dataclass(frozen=True, kw_only=True)
class Kept(Headed):
    """A file that a recipe's run has kept.

    Its row belongs to the change that fetched the file. If no change fetched it, the row is a change of its own.

    Attributes:
        run: the run.
        place: the place of its line in that run.
        name: the name under which it is kept; several files may have the same.
        source: its path on the host; empty for an answer.
        file: its path relative to the journal's folder.
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
    """A row about a change that was refused before it began.

    Attributes:
        refused: the reason.
    """

    refused: str = ""


@dataclass(frozen=True, kw_only=True)
class Restarted(Headed):
    """The first row of a journal that replaced a damaged one.

    Attributes:
        old: the damaged file; None if the row does not name it.
        problem: what was wrong with it.
    """

    old: str | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class StepRow(Entry):
    """The common fields of intents and outcomes of a step.

    Attributes:
        what: the name of the step, unique for its target.
        caching_off, caching_on: its effect on the cache.
        cache: the cache; empty means the flash cache, in rows that name none.
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
        """Return (target, step), which an outcome shares with its intent within a change."""
        return self.target, self.what


@dataclass(frozen=True, kw_only=True)
class Intent(StepRow):
    """A step's statement, on disk before it is sent."""

    inverse: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome(StepRow):
    """How a step ended.

    Attributes:
        state: done, not needed, failed, refused, unknown, not done …
        reply: the target's text.
        mending: whether the step mends the effect of another one.
        settled: whether the outcome was read back later, because no answer had come.
    """

    state: str = ""
    reply: str = ""
    fingerprint: str = ""
    mending: bool = False
    settled: bool = False


@dataclass(frozen=True, kw_only=True)
class Gated(Entry):
    """Whether a wave has passed its gate.

    Attributes:
        cells: the cells of the wave.
        met: the states that the gate waited for.
    """

    wave: int = 0
    cells: tuple[str, ...] = ()
    open: bool = False
    met: str = ""


@dataclass(frozen=True, kw_only=True)
class Ended(Entry):
    """The end of a change.

    Attributes:
        exit_code: None if the row has none.
        done: outcome → number of steps.
        stopped: what stopped it between two statements; empty if nothing did.
    """

    exit_code: int | None = None
    done: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Observed(Entry):
    """A state that was seen on a cell later.

    Attributes:
        caching: ``on``, ``off``, ``unknown`` …; empty if something else was seen.
        cache: the cache; empty means the flash cache.
        services: the services that run.
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
        open: that run is not over yet.
    """

    until: str = ""
    within: float = 0.0
    run: int = 0
    open: bool = False


@dataclass(frozen=True, kw_only=True)
class Confirmed(Entry):
    """Somebody keeps a change that waited to be confirmed.

    Attributes:
        unguarded: no guardian was there to take it back.
    """

    unguarded: bool = False


@dataclass(frozen=True, kw_only=True)
class Reverted(Entry):
    """The guardian has tried to take a change back.

    Attributes:
        again: it will try again.
    """

    state: str = ""
    again: bool = False


_KINDS: Mapping[str, type[Entry]] = {
    "plan": Planned, "refused": Refused, "restart": Restarted, "intent": Intent, "outcome": Outcome, "gate": Gated,
    "end": Ended, "observed": Observed, "deadline": Waiting, "confirmed": Confirmed, "reverted": Reverted,
    "kept": Kept,
}  # fmt: skip
"""Kind → class; a row of another kind has no fields of its own."""

_JSON: Mapping[str, type | tuple[type, ...]] = {
    "str": str, "int": int, "bool": bool, "float": (float, int), "tuple": (list, tuple), "Mapping": Mapping,
}  # fmt: skip
"""Type of a field → the types that its value may have, in JSON or before the conversion to JSON."""


@cache
def _shape(made: type) -> tuple[tuple[str, str, type | tuple[type, ...]], ...]:
    """Return, for each field that comes from a body: its name, its name in the body, and its allowed types there."""
    own = [item for item in fields(made) if (item.default, item.default_factory) != (MISSING, MISSING)]
    return tuple((item.name, _named(item.name), _JSON[re.split(r"\W", str(item.type))[0]]) for item in own)


def _named(field: str) -> str:
    """Return the name of a field in the body."""
    first, *rest = field.split("_")
    return "from" if field == "came_from" else first + "".join(word.capitalize() for word in rest)


def _fields_of(made: type, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of ``made`` that a body contains."""
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
    """Return a row as an instance of the class of its kind."""
    made = _KINDS.get(columns.kind, Entry)
    return made(**columns._asdict(), **_fields_of(made, columns.body))


def read_row(stored: Sequence[Any]) -> Entry:
    """Return a row from its nine stored fields, in their order.

    Raises:
        ValueError: the row does not match its own hash, or its body is not a JSON object; the message says which. An edited
            row must not be acted on, and its values may be of any type.
    """
    if not is_whole(stored):
        raise ValueError("it was edited")
    body = json.loads(stored[6])
    if not isinstance(body, dict):
        raise ValueError("it is not an object")
    return _columns(stored, body)


def renamed(row: Entry, named: Callable[[str], str]) -> Entry:
    """Return a row with other names for its cells and hosts, also in its plan; names of their objects stay.

    Args:
        named: maps a name in the row to the new name.
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
"""The fields of a plan, besides its steps, that are keyed by target."""


def _names(plan: Mapping[str, Any]) -> set[str]:
    """Return the cells and hosts that a plan in JSON form names."""
    steps = {step["target"] for stage in plan.get("stages", ()) for step in stage["steps"]}
    return steps.union((plan.get("rolling") or _NOTHING).get("others", ()), *(plan.get(key, ()) for key in _BY_TARGET))


def _plan_renamed(plan: Mapping[str, Any], other: Mapping[str, str]) -> dict[str, Any]:
    """Return a plan in JSON form with other names for some of its cells and hosts."""
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
    """Return, for people, a row that :func:`read_row` refuses; the stored text of its body is in ``damaged``."""
    return _columns(stored, {"damaged": str(stored[6])})


def _columns(stored: Sequence[Any], body: Mapping[str, Any]) -> Entry:
    seq, at, rack, change, kind, target, _, prev, digest = stored
    return typed(
        Columns(
            int(seq), str(at), str(rack), change_number(change), str(kind), str(target), body, str(prev), str(digest)
        )
    )


def change_number(value: object) -> int:
    """Return the number of a change from its stored value; 0 if that was overwritten with something else."""
    return value if isinstance(value, int) else 0
