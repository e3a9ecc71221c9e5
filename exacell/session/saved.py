"""Hold saved plans: the facts a plan was made from, and whether they have changed since. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any

from exacell.core.cellset import as_known
from exacell.core.errors import RefusedError
from exacell.core.units import and_more, size_text, sizes_apart
from exacell.core.values import dataclass, replace
from exacell.plan.facts import CellFacts
from exacell.plan.model import FORMER, Plan, as_data
from exacell.plan.rolling import with_given

if TYPE_CHECKING:
    from exacell.language.registry import Value

_MOVING = ("metrics", "cached_by", "redo", "comment")
"""Facts that change by themselves, and steps that depend on them read them again right before they run; and comments, which
only undo needs."""

_REPEATED = ("cell", "iorm")
"""Facts that another fact repeats in Oracle's own words: the directives of an IORM plan are in its text."""


@dataclass(frozen=True, kw_only=True)
class SavedPlan:
    """A statement with its plan and the facts from which the plan was made.

    Attributes:
        statement: with ON if it was planned for only some of the rack's cells, without flags.
        flags: the flags of it that also hold when it is applied: how it rolls, its limits, its reason.
        cells: the cells it was planned for.
        facts: ``cell`` → path of an attribute → value, as text.
        stages: the stages as canonical JSON.
        made: when it was made, ISO 8601 UTC.
    """

    name: str
    rack: str
    statement: str
    cells: tuple[str, ...]
    facts: Mapping[str, Mapping[str, str]]
    stages: str
    made: str
    flags: Mapping[str, Value] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """Return the statement with its flags, as somebody would type it."""
        given = [f"--{name}" if value is True else f"--{name}={_typed(value)}" for name, value in self.flags.items()]
        return " ".join((self.statement, *given))

    @property
    def again(self) -> str:
        """Return a hint: the statement that makes a plan from the present facts, under the same name."""
        return f"plan it again: plan as={self.name} {self.line}"

    def named(self, hosts: Iterable[str]) -> SavedPlan:
        """Return the plan with the present names of its cells and hosts.

        Args:
            hosts: the present names, short or in full.
        """
        stages = json.loads(self.stages)
        steps = [step for stage in stages for step in stage["steps"]]
        now = as_known({*self.cells, *self.facts, *(step["target"] for step in steps)}, hosts)
        for step in steps:
            step["target"] = now[step["target"]]
        return replace(
            self,
            cells=tuple(now[cell] for cell in self.cells),
            facts={now[cell]: facts for cell, facts in self.facts.items()},
            stages=_canonical(stages),
        )

    def flags_with(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """Return the flags to apply it with; flags in ``given`` have priority."""
        return with_given(self.flags, given)


_NOT_KEPT = frozenset({"yes", "dry-run", "detailed-exitcode", "accept-data-loss", "accept-opaque", "format", "diff"})
"""Flags that hold for one run only: nobody can confirm, or accept a loss, in advance."""


def kept_flags(flags: Mapping[str, Value]) -> dict[str, Value]:
    """Return the flags that a kept plan remembers."""
    return {name: value for name, value in flags.items() if name not in _NOT_KEPT and value not in (None, False)}


def _typed(value: Value) -> str:
    text = str(value)
    if isinstance(value, float):
        return f"{value:g}s"
    return f"'{text}'" if " " in text else text


def stages_json(plan: Plan) -> str:
    """Return a plan's stages as canonical JSON, without estimates and notes, whose figures change by themselves."""
    stages = as_data(plan)["stages"]
    for step in (step for stage in stages for step in stage["steps"]):
        del step["estimate"]
    return _canonical(stages)


def _canonical(stages: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(stages, sort_keys=True, separators=(",", ":"))


def flatten(fact: CellFacts) -> dict[str, str]:
    """Return path → value as text for every fact that does not change by itself."""
    flat: dict[str, str] = {}
    for name, value in asdict(fact).items():
        if name not in _MOVING and name not in _REPEATED:
            _walk(name, value, flat)
    return flat


def _walk(path: str, value: Any, flat: dict[str, str]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _MOVING:
                _walk(f"{path}.{key}", item, flat)
    elif isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
        flat[path] = ",".join(sorted(value))  # Cells print lists in any order.
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            if isinstance(item, tuple) and len(item) == 2:
                _walk(f"{path}[{item[0]}]", item[1], flat)
                continue
            name = item.get("name") if isinstance(item, Mapping) else None
            _walk(f"{path}[{name or place}]", item, flat)
    else:
        flat[path] = "" if value is None else str(value)


def moved(saved: SavedPlan, facts: Mapping[str, CellFacts]) -> RefusedError | None:
    """Return an error if a fact has changed since the plan was made: cell, attribute, old and new value; else None."""
    for cell, fact in facts.items():
        before, now = saved.facts.get(cell), flatten(fact)
        if before is None:
            return RefusedError(f"plan {saved.name} was not made for {cell}; nothing was sent", hint=saved.again)
        other = [path for path in {*before, *now} if before.get(path, "absent") != now.get(path, "absent")]
        for path in sorted(
            other, key=lambda path: (path.endswith(".free"), path)
        ):  # Free space only follows other changes.
            what, (was, now_is) = _spoken(path, before.get(path, "absent"), now.get(path, "absent"))
            more = and_more(len(other))
            return RefusedError(
                f"plan {saved.name}: {cell}: {what} was {was} and is {now_is}{more}; nothing was sent", hint=saved.again
            )
    return None


class Expected:
    """A saved plan that is being applied, and whether its facts have changed.

    Attributes:
        saved: the plan, with the facts it was made from.
        moved: the error to raise because a fact has changed; None if no fact has changed.
    """

    def __init__(self, saved: SavedPlan) -> None:
        self.saved = saved
        self.moved: RefusedError | None = None

    def judge(self, facts: Mapping[str, CellFacts]) -> None:
        """Compare the facts that were read for the statement with the plan's; the first change found is kept."""
        self.moved = self.moved or moved(self.saved, facts)


def _spoken(path: str, *values: str) -> tuple[str, list[str]]:
    """Return a fact's path and its values in Oracle's words: ``celldisk FD_00_cel01 freeSpace``, sizes with their unit."""
    head, _, tail = path.partition(".")
    kind, *inner = head.replace("]", "").split("[")
    attribute = tail.partition("[")[0]
    words = _OBJECTS.get(kind, kind)
    if inner and not inner[0].isdigit():
        words += f" {inner[0]}"
    if attribute:
        words += f" {_ATTRIBUTES.get(attribute, attribute)}"
    sized = (attribute or kind) in _SIZES
    if sized and all(v.isdecimal() for v in values):
        return words, sizes_apart(*map(int, values))
    return words, [size_text(int(v)) if sized and v.isdecimal() else v or "empty" for v in values]


_OBJECTS = {
    "release": "cell releaseVersion",
    "mode": "cell flashCacheMode",
    "pmem_mode": "cell pmemCacheMode",
    "cellsrv": "cell cellsrvStatus",
    "model": "cell makeModel",
    "flash_cache": "flashcache",
    "pmem_cache": "pmemcache",
    "flash_log": "flashlog size",
    "cell_disks": "celldisk",
    "grid_disks": "griddisk",
    "luns": "lun",
    "flash_physical": "physicaldisk",
    "iorm_text": "iormplan dbPlan",
    "objective": "iormplan objective",
    "databases": "database",
}
_ATTRIBUTES = {
    "free": "freeSpace",
    "flash": "diskType",
    "pmem": "diskType",
    "flush_status": "flushStatus",
    "flush_error": "flushError",
    "cell_disk": "cellDisk",
    "cell_disks": "cellDisk",
    "degraded": "degradedCelldisks",
    "available_to": "availableTo",
    "caching_policy": "cachingPolicy",
    "asm_group": "asmDiskGroupName",
    "asm_mode": "asmModeStatus",
    "deactivation": "asmDeactivationOutcome",
}
"""The CellCLI name of each fact. Source: reference cellcli.md 3.3."""

_SIZES = ("size", "free", "flash_log")


def refuse_other_plan(saved: SavedPlan, plan: Plan) -> None:
    """Raise RefusedError if the statement would do something else now than when it was saved.

    Raises:
        RefusedError: the steps differ; the message names the first step that differs, and the difference.
    """
    now, before = json.loads(stages_json(plan)), json.loads(saved.stages)
    for step in (step for stage in before for step in stage["steps"]):
        for name in FORMER & step.keys():
            del step[name]
    if now != before:
        why = _difference(_by_place(before), _by_place(now))
        raise RefusedError(
            f"plan {saved.name}: '{saved.statement}' would now do something else: {why}; nothing was sent",
            hint=saved.again,
        )


def _by_place(stages: Sequence[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (stage's title, target) → the fields of a step and its gate, in order."""
    return {(g["title"], step["target"]): {**step, "gate": g["gate"]} for g in stages for step in g["steps"]}


def _difference(before: Mapping[tuple[str, str], dict[str, Any]], now: Mapping[tuple[str, str], dict[str, Any]]) -> str:
    """Return the first difference between two plans' steps."""
    for place in (*before, *now):
        step = f"'{place[0]}' on {place[1]}"
        if place not in now:
            return f"{step} is no longer needed"
        if place not in before:
            return f"{step} is needed in addition"
        for name in dict.fromkeys(("statement", "risk", *before[place])):
            was, would_be = before[place][name], now[place].get(name)
            if was != would_be:
                told = isinstance(was, str)
                return f"{step}: {name} was {was} and is {would_be}" if told else f"{step} has different {name}"
    return "its steps are in another order"
