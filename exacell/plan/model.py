"""Describe plans as values: the statements for each target, their effects, their proofs, and their undo.

A plan is ordered stages; the steps of one stage run side by side on their targets, and the next stage starts when all
of them have ended. A step sends at most one statement to one target. All of these values can be printed, compared,
stored and read back; nothing here talks to a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

from exacell.core.units import exact_size
from exacell.core.values import dataclass, field, replace
from exacell.plan.facts import CellFacts
from exacell.plan.targets import Kind, kind_of

FactValue = str | int | float | bool | tuple[str | int, ...] | None
"""The types of value to which a fact can be compared."""


class Risk(StrEnum):
    """What may be lost, judged from the state of the rack, not from the verb. Ordered from harmless to worst."""

    NONE = "none"
    PERFORMANCE = "performance"
    REDUNDANCY = "redundancy"
    DATA = "data"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """Return 0 for NONE up to 4 for UNKNOWN."""
        return list(Risk).index(self)


def highest(risks: Iterable[Risk]) -> Risk:
    """Return the worst of ``risks``; NONE if there are none."""
    return max(risks, key=lambda risk: risk.rank, default=Risk.NONE)


class Op(StrEnum):
    """How a fact's value is compared with the wanted value."""

    EQ = "="
    NE = "!="
    IN = "in"
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"
    NOT_ABOVE = "not above"
    """At most that, or missing: an attribute that the release or the state does not have refuses nothing."""
    ABSENT = "absent"
    """No record matches."""
    COUNT = "count"
    """Exactly this number of records match."""


_SIZES = ("size", "Size", "freeSpace")
"""Endings of attributes whose values are bytes."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A fact that must hold on a target.

    Attributes:
        object: the CellCLI object type (``flashcache``, ``celldisk``, ``griddisk``, ``metriccurrent`` …), or
            ``asm.diskgroup`` / ``asm.disk`` on a database node.
        attribute: compared case-insensitively when it is text; ignored for ABSENT and COUNT.
        value: the wanted value; sizes in bytes; a tuple for IN.
        where: attribute values that select the records, compared as text without case; the check must hold for all of them.
            A tuple means any of its values; a value that ends with ``*`` is a prefix.
        why: the reason for the rule, a phrase that completes "… because".
    """

    object: str
    attribute: str = "name"
    op: Op = Op.EQ
    value: FactValue = None
    where: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    why: str = ""

    @property
    def sentence(self) -> str:
        """Return the check as text, such as ``celldisk flushStatus in complete, completed where diskType=FlashDisk``."""
        where = " and ".join(f"{k}={','.join(v) if isinstance(v, tuple) else v}" for k, v in self.where.items())
        tail = f" where {where}" if where else ""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        value = ", ".join(map(self._text_of, values))
        op = Op.EQ if self.op is Op.IN and len(values) == 1 else self.op
        match op:
            case Op.ABSENT:
                return f"no {self.object}{tail}"
            case Op.COUNT:
                return f"{value} {self.object}{tail}"
            case _:
                return f"{self.object} {self.attribute} {op} {value or 'empty'}{tail}"

    def _text_of(self, value: FactValue) -> str:
        if isinstance(value, int) and self.attribute.endswith(_SIZES) and self.op is not Op.COUNT:
            return exact_size(value)
        return "" if value is None else str(value)


class Watch(StrEnum):
    """A long wait that is judged by more than one fact (see plan.watch)."""

    FLUSH = "flush"
    """Every flash cell disk complete without flushError, status flushed, FC_BY_DIRTY 0 in a later collection."""


class Undo(StrEnum):
    """How a step can be taken back."""

    STATEMENT = "statement"
    """``undo`` sends ``Step.inverse``."""
    NOTHING = "nothing"
    """There is nothing to take back."""
    IMPOSSIBLE = "impossible"
    """It can't be undone; ``Step.inverse`` has the reason."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One attribute before and after, as a cell prints it."""

    object: str
    name: str
    attribute: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One statement for one target, with what must hold before and after.

    Attributes:
        target: the host to which the statement goes; ``kind`` says what it is.
        statement: CellCLI text, SQL or settings, as ``kind`` has them; empty for a step that only waits or proves.
        what: one phrase for progress lines and the journal.
        only_if: checked right before; if one does not hold, the step is not needed and counts as done.
        needs: checked again right before the statement is sent; if one does not hold, the step is refused.
        proves: checked afterwards, again and again for up to ``within`` seconds.
        hopes: while one of these does not hold, waiting for the proofs is useless; after a minute of that the wait ends.
        watch: a long wait after the statement, in addition to ``proves``.
        expect: how many objects the reply must report as done; 0 if they are not counted.
        undo, inverse: see Undo.
        asm: for SQL, the ASM cluster's name, or ``database SPOT`` (:meth:`exacell.plan.targets.Kind.written`). Journals and kept
            plans have this field and ``host``; for what a step changes, use ``kind`` and ``owner``.
        host: the target is a host that is not a cell; the values that the step proves are the ones it writes.
        caching_off: this step leaves a cache not caching, until a later step switches it on.
        caching_on: this step switches caching on again.
        cache: the cache of ``caching_off`` and ``caching_on``: flashcache, pmemcache or xrmemcache.
        offline: this step takes grid disks that ASM uses offline, until a step with ``online`` has proven them back.
        forced: the step is ``offline`` although ASM may need the disks: somebody accepted that, so no gate asks ASM.
        online: this step brings the target's disks back; its ``proves`` show that ASM has all of them ONLINE.
        limit: seconds that ``watch`` may take; None for no limit.
        estimate: rough number of seconds that the step may take (see plan.estimate); None if unknown.
    """

    target: str
    statement: str = ""
    what: str
    only_if: tuple[Check, ...] = ()
    needs: tuple[Check, ...] = ()
    proves: tuple[Check, ...] = ()
    within: float = 30.0
    hopes: tuple[Check, ...] = ()
    watch: Watch | None = None
    expect: int = 0
    risk: Risk = Risk.NONE
    undo: Undo = Undo.NOTHING
    inverse: str = ""
    changes: tuple[Change, ...] = ()
    asm: str = ""
    host: bool = False
    caching_off: bool = False
    caching_on: bool = False
    cache: str = "flashcache"
    offline: bool = False
    forced: bool = False
    online: bool = False
    limit: float | None = None
    estimate: float | None = None

    @property
    def kind(self) -> Kind:
        """Return the kind of what the step changes."""
        return kind_of(self.asm, host=self.host)

    @property
    def owner(self) -> str:
        """Return whose state the step changes: the ASM cluster or database in ``asm``, else the target itself."""
        return self.asm or self.target

    def chosen(self, cells: Collection[str]) -> bool:
        """Return whether ON can choose the target: a host, or one of the rack's ``cells``; never an ASM cluster or a database."""
        return not self.kind.shared and (not self.kind.listed or self.target in cells)


class Gate(StrEnum):
    """Which targets take part in a stage."""

    EACH = "each"
    """Each target whose own earlier steps succeeded."""
    ALL = "all"
    """All targets, if every target's earlier steps succeeded; else none."""
    MEND = "mend"
    """Only after a failure: targets on which ``mends`` was started and not finished by ``unless``."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Steps that run side by side.

    Attributes:
        title: a phrase, ``flush the flash cache``.
        key: the stage's name in ``mends`` and ``unless``.
        mends: for a MEND stage, the key of the stage whose effect it takes back.
        unless: for a MEND stage, the key of the stage after which it is no longer needed.
        unsure: for a MEND stage, the key of the stage whose statement may still be carried out on a target without an answer:
            nothing is mended there: mending would change the state that was proven for that statement.
    """

    title: str
    steps: tuple[Step, ...]
    key: str = ""
    gate: Gate = Gate.EACH
    mends: str = ""
    unless: str = ""
    unsure: str = ""


def staged(title: str, steps: Iterable[Step | None], key: str, **more: Any) -> list[Stage]:
    """Return a list with the stage of these steps; empty without steps. A step of None is left out."""
    made = tuple(step for step in steps if step is not None)
    return [Stage(title=title, key=key, steps=made, **more)] if made else []


GATE_WITHIN = 7200.0
"""Seconds to wait for a closed gate between two waves, unless the user gives another time."""


@dataclass(frozen=True, kw_only=True)
class Rolling:
    """How a plan's cells take turns: each wave goes through all of the cells' stages before the next one begins.

    Attributes:
        waves: the cells of each wave, in order; every cell with a step is in exactly one wave.
        canary: the cell that goes first and alone; empty for none.
        pause: seconds between two waves.
        ask: ask the user before each further wave; without a user the answer is no.
        go_on: after a wave in which a step failed, the next one begins all the same if its gate is open.
        others: the cells that a gate checks: all cells of the rack.
        clusters: the ASM clusters in which no rebalance or resync may run.
        within: seconds to wait for a closed gate.
        not_after: the last moment at which a wave may begin, ISO 8601 with the host's offset; empty for none.
    """

    waves: tuple[tuple[str, ...], ...]
    canary: str = ""
    pause: float = 0.0
    ask: bool = False
    go_on: bool = False
    others: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    within: float = GATE_WITHIN
    not_after: str = ""

    def __post_init__(self) -> None:
        cells = [cell for wave in self.waves for cell in wave]
        if len(set(cells)) != len(cells) or not all(self.waves):
            raise ValueError("each cell of a rolled plan is in one wave, and no wave is empty")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that one statement would do.

    Attributes:
        statement: the user's statement, one line.
        rack: the rack's name.
        stages: in order; without steps if there is nothing to do.
        notes: arithmetic and other facts behind the plan, one line each, shown with it.
        warnings: what the reader must not overlook (irreversible, slow, caching off in between).
        done: by target, why nothing needs to be done there.
        skipped: by target, why the statement is not applicable there.
        risk: judged from the state of the rack; at least the highest risk of the steps.
        loss: the names that must be typed, or given to --accept-data-loss, if risk is DATA.
        loss_reasons: by name, why data would be lost there.
        estimate: rough number of seconds, without the stages in ``untimed``; None if not estimated yet.
        untimed: titles of the stages whose time is unknown.
        inverse: by target, the statements of exacell that take the change back there, in order. They are planned and
            guarded like any other when ``undo`` runs them. A target without an entry can't be undone.
        rolling: how the cells take turns; None if all of them do each stage together.
    """

    statement: str
    rack: str
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    done: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    risk: Risk = Risk.NONE
    loss: tuple[str, ...] = ()
    loss_reasons: Mapping[str, str] = field(default_factory=dict)
    estimate: float | None = None
    untimed: tuple[str, ...] = ()
    inverse: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rolling: Rolling | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "risk", highest((self.risk, *(step.risk for step in self.steps))))
        for stage in self.stages:
            targets = [step.target for step in stage.steps]
            if len(set(targets)) != len(targets):
                raise ValueError(f"stage '{stage.title}' has two steps for one target")

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return all steps in order, including mending ones."""
        return tuple(step for stage in self.stages for step in stage.steps)

    @property
    def targets(self) -> tuple[str, ...]:
        """Return every target with a step, in order of first appearance."""
        return tuple(dict.fromkeys(step.target for step in self.steps))

    def each(self, made: Callable[[Step], Step]) -> Plan:
        """Return the plan with each step replaced by ``made(step)``."""
        return replace(self, stages=tuple(replace(s, steps=tuple(map(made, s.steps))) for s in self.stages))

    @property
    def changes_something(self) -> bool:
        """Return whether any statement would be sent outside of mending."""
        return any(step.statement for stage in self.stages if stage.gate is not Gate.MEND for step in stage.steps)


@dataclass(frozen=True)
class Planned:
    """A changing statement as it is before anything is sent: its plan and what belongs to it.

    Attributes:
        facts: the facts that were read for the plan, by cell; empty if it needs none.
        afterwards: text to print after the plan was carried out or shown.
        keeps: the name under which the figures of a load are kept; empty for none.
    """

    plan: Plan
    facts: Mapping[str, CellFacts] = field(default_factory=dict)
    afterwards: str = ""
    keeps: str = ""


def as_data(value: Any) -> Any:
    """Return a plan, or a part of it, as dicts, tuples and plain values, for the journal.

    The result is that of ``dataclasses.asdict``, in a fraction of the time, which matters with the steps of hundreds of cells.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: as_data(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(as_data(item) for item in value)
    return {name: as_data(item) for name, item in vars(value).items()}


def rolling_from_json(data: Mapping[str, Any]) -> Rolling:
    """Return the waves of a plan from the JSON form of :func:`as_data`."""
    known = {name: data[name] for name in Rolling.__annotations__ if name in data}
    lists = {name: tuple(known.get(name, ())) for name in ("others", "clusters")}
    return Rolling(**{**known, **lists, "waves": tuple(map(tuple, data["waves"]))})


FORMER = frozenset({"shell"})
"""Former fields of steps in journals and kept plans, which are ignored."""


def step_from_json(data: Mapping[str, Any]) -> Step:
    """Return the step from the JSON form of :func:`as_data`, even if an older exacell wrote it with more fields."""

    def check(item: Mapping[str, Any]) -> Check:
        value = item["value"]
        return Check(
            object=item["object"],
            attribute=item["attribute"],
            op=Op(item["op"]),
            value=tuple(value) if isinstance(value, list) else value,
            where={k: tuple(v) if isinstance(v, list) else v for k, v in item["where"].items()},
            why=item["why"],
        )

    return Step(
        **{
            **{name: value for name, value in data.items() if name not in FORMER},
            "only_if": tuple(check(c) for c in data["only_if"]),
            "needs": tuple(check(c) for c in data["needs"]),
            "proves": tuple(check(c) for c in data["proves"]),
            "hopes": tuple(check(c) for c in data.get("hopes", ())),
            "watch": Watch(data["watch"]) if data["watch"] else None,
            "risk": Risk(data["risk"]),
            "undo": Undo(data["undo"]),
            "changes": tuple(Change(**c) for c in data["changes"]),
        }
    )
