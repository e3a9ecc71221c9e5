"""Build the parts of every guarded CellCLI statement: its step on each cell, its proof, and its undo. Pure.

ALTER of plain attributes, which LIST prints as they were given, is proved by their new values. Its undo sets the values that
the cells had before, if LIST showed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from exacell.cellcli.schema import Kind, attributes_of, typed_value
from exacell.cellcli.statement import Change as CellChange, Scalar, Statement, render
from exacell.core.cellset import grouped
from exacell.core.values import dataclass, replace
from exacell.plan.facts import CellFacts
from exacell.plan.model import Change, Check, Gate, Op, Plan, Risk, Stage, Step, Undo, highest

Checks = Mapping[str, tuple[Check, ...]]
"""Checks by cell; a cell without an entry has none."""

NO_INVERSE = "exacell has no undo for this CellCLI statement"
"""The default reason why one of CellCLI's own statements can't be undone."""


def guarded_step(cell: str, statement: Statement, risk: Risk, **more: object) -> Step:
    """Return the step that sends the statement to one cell; ``more`` are Step's own keywords."""
    values: dict[str, object] = {
        "target": cell,
        "statement": render(statement),
        "what": render(statement)[:60],
        "risk": risk,
        "expect": 0,
        "undo": Undo.IMPOSSIBLE,
        "inverse": NO_INVERSE,
        **more,
    }
    return Step(**values)  # type: ignore[arg-type]  # the keywords are Step's own


def guarded_plan(rack: str, text: str, steps: Sequence[Step], **more: object) -> Plan:
    """Return the plan of one stage; ``more`` are Plan's own keywords."""
    stage = Stage(title="send the statement", key="send", steps=tuple(steps))
    return Plan(statement=text, rack=rack, stages=(stage,), **more)  # type: ignore[arg-type]  # the keywords are Plan's own


def simple(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: Statement,
    text: str,
    risk: Risk,
    *,
    proves: tuple[Check, ...] = (),
) -> Plan:
    """Return the plan of a statement without preconditions."""
    return guarded_plan(rack, text, [guarded_step(cell, statement, risk, proves=proves) for cell in facts])


@dataclass(frozen=True, kw_only=True)
class ByCell:
    """The parts of a step, by cell, in a plan that removes something.

    Attributes:
        needs: checks right before the statement, only on cells where the user does not have to accept a loss.
        always: checks right before the statement on all cells, even if a loss was accepted.
        proves: checks after the statement.
        changes: the values before and after that the plan shows.
    """

    needs: Checks = field(default_factory=dict)
    always: Checks = field(default_factory=dict)
    proves: Checks = field(default_factory=dict)
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)


def lossy(
    rack: str,
    facts: Mapping[str, CellFacts],
    statement: Statement,
    text: str,
    reasons: Mapping[str, str],
    by_cell: ByCell | None = None,
    **more: object,
) -> Plan:
    """Return the plan in which the user must accept each cell in ``reasons`` by its name."""
    own = by_cell or ByCell()
    steps = [
        guarded_step(
            cell,
            statement,
            Risk.DATA if cell in reasons else Risk.PERFORMANCE,
            needs=own.always.get(cell, ()) + (() if cell in reasons else own.needs.get(cell, ())),
            proves=own.proves.get(cell, ()),
            changes=own.changes.get(cell, ()),
            **more,
        )
        for cell in facts
    ]
    return guarded_plan(
        rack,
        text,
        steps,
        loss=tuple(reasons),
        loss_reasons=dict(reasons),
    )


_AS_GIVEN = frozenset(
    (
        "availableto",
        "cachingpolicy",
        "comment",
        "diaghistorydays",
        "location",
        "metriccollection",
        "metrichistorydays",
        "rackname",
        "sitename",
        "smtpfrom",
        "smtpfromaddr",
        "smtpport",
        "smtpserver",
        "smtpusessl",
    )
)
"""Attributes that cells print in the spelling in which they were given, as far as is known."""


_WORDS = _AS_GIVEN - {"availableto", "cachingpolicy", "metriccollection", "metrichistorydays"}
"""Those of them that only reports, mails and people read."""


def only_words(statement: CellChange) -> bool:
    """Return whether a statement only sets attributes that affect no data, no redundancy and no I/O."""
    names = {setting.attribute.lower() for setting in statement.settings}
    return not statement.action and not names - _WORDS


def settings_proof(statement: CellChange, names: Sequence[str] = ()) -> tuple[Check, ...]:
    """Return the checks after a statement that sets attributes; none for attributes that LIST may print in another form.

    Args:
        names: the disks that it means on the cell; empty for the cell itself.
    """
    known, where = attributes_of(statement.object), {"name": tuple(names)} if names else {}
    found = []
    for setting in statement.settings:
        name, value = setting.attribute.lower(), setting.value
        if not isinstance(value, Scalar):
            continue
        if name == "name" and len(names) == 1:
            found.append(Check(object=statement.object.lower(), op=Op.COUNT, value=1, where={"name": value.text}))
            where = {"name": (value.text,)}
        elif name in _AS_GIVEN:
            attribute = known[name]
            found.append(
                Check(
                    object=statement.object.lower(),
                    attribute=attribute.name,
                    value=typed_value(value.text, attribute.kind),
                    where=where,
                )
            )
    return tuple(found)


_TEXT = frozenset((Kind.STRING, Kind.TEXT))
"""Kinds whose values are written in quotes, and may be set to an empty text."""

_BARE = frozenset((Kind.ENUM, Kind.INT, Kind.NUMBER, Kind.BOOL))

_ON_OFF = ("on", "off")

_ACTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cellsrvStatus": ("STARTUP SERVICES CELLSRV", ("running",)),
    "rsStatus": ("STARTUP SERVICES RS", ("running",)),
    "locatorLEDStatus": ("LED {}", _ON_OFF),
    "doNotServiceLEDStatus": ("DONOTSERVICELED {}", _ON_OFF),
}
"""Attribute of a cell → the action of ALTER CELL that restores it, and the earlier values that this action can restore."""

_NEVER = frozenset(("name", "availableTo", "eighthRack", "flashCacheCompress"))
"""Attributes that decide who finds an object or may use it, or which disks a cell has; exacell never sets them back."""


def with_inverse(plan: Plan) -> Plan:
    """Return the plan in which each step that sets plain attributes has the statement that restores the old values.

    Only steps that show the change of each attribute, and have no other inverse, get one.
    """
    back: dict[str, tuple[str, ...]] = {}
    taken = plan.each(lambda step: _step(step, back))
    return replace(taken, inverse={**back, **plan.inverse}) if back else plan


def _step(step: Step, back: dict[str, tuple[str, ...]]) -> Step:
    """Return a step with its inverse, which is also added to ``back``; the given step if there is none."""
    statements = _statements(step.changes) if step.inverse == NO_INVERSE else ()
    if not statements:
        return step
    back[step.target] = statements
    return replace(step, undo=Undo.STATEMENT, inverse="; ".join(statements))


def _statements(changes: Sequence[Change]) -> tuple[str, ...]:
    """Return one statement for all objects that get the same values back; empty if a value can't be restored as it was shown."""
    settings = grouped(((change.object, change.name), _setting(change)) for change in changes)
    if not all(text for texts in settings.values() for text in texts):
        return ()
    alike = grouped(((kind, ", ".join(texts)), name) for (kind, name), texts in settings.items())
    return tuple(
        f"ALTER {kind.upper()} {'' if kind == 'cell' else ','.join(names) + ' '}{text}"
        for (kind, text), names in alike.items()
    )


def _setting(change: Change) -> str:
    """Return ``attribute=value`` with the earlier value, or the action that restores it; empty if there is none."""
    attribute = attributes_of(change.object)[change.attribute.lower()]
    value = "" if change.before == "-" else change.before
    if change.object == "cell" and attribute.name in _ACTIONS:
        action, before = _ACTIONS[attribute.name]
        return action.format(value.upper()) if value.lower() in before else ""
    if attribute.name in _NEVER or "'" in value or not attribute.modifiable:
        return ""
    if attribute.kind in _TEXT:
        return f"{attribute.name}='{value}'"
    return f"{attribute.name}={value}" if attribute.kind in _BARE and value else ""


@dataclass(frozen=True, kw_only=True)
class Back:
    """The undo of a step.

    Attributes:
        undo: the statements of exacell that ``undo`` carries out on the step's target; empty if ``undo`` can't do anything.
        but: the part that it does not restore; without ``undo``, why nothing can be taken back.
        by_hand: the statement of CellCLI or SQL that takes the step back, if ``undo`` does not.
    """

    undo: str = ""
    but: str = ""
    by_hand: str = ""

    def __str__(self) -> str:
        if self.by_hand:
            return f"by hand: {self.by_hand}; undo does not send it"
        if not self.undo:
            return f"cannot be undone: {self.but}"
        return f"{self.undo}, but {self.but}" if self.but else self.undo


def taken_back(plan: Plan, step: Step) -> Back | None:
    """Return the undo of a step of the plan; None if nothing is to be taken back, or nothing is known about it."""
    undo = "; ".join(plan.inverse.get(step.target, ()))
    alike = (other.target for other in plan.steps if (other.kind, other.owner) == (step.kind, step.owner))
    if step.undo is Undo.STATEMENT and step.kind.shared and not undo and any(plan.inverse.get(node) for node in alike):
        return None  # The undo for a disk group is one statement for all nodes.
    if step.undo is Undo.IMPOSSIBLE:
        return Back(undo=undo, but=step.inverse or step.what)
    if step.undo is Undo.NOTHING or not (undo or step.inverse):
        return None
    if undo:
        return Back(undo=undo)
    return None if _reversed(plan, step) else Back(by_hand=step.inverse)


def _reversed(plan: Plan, step: Step) -> bool:
    """Return whether another step of the plan on the same target takes this one back, or is taken back by it: a restart sets
    the grid disks INACTIVE and then ACTIVE again."""
    return any(
        (step.offline and other.online) or (step.online and other.offline) or other.statement == step.inverse
        for stage in plan.stages
        if stage.gate is not Gate.MEND
        for other in stage.steps
        if other.target == step.target and other is not step
    )


def all_taken_back(plan: Plan) -> Iterator[tuple[str, Back]]:
    """Yield (target, undo of a step there) for all steps that are carried out unless one fails; each undo once per target."""
    told: set[tuple[str, Back]] = set()
    for stage in plan.stages:
        for step in stage.steps if stage.gate is not Gate.MEND else ():
            back = taken_back(plan, step)
            if back is not None and (step.target, back) not in told:
                told.add((step.target, back))
                yield step.target, back


def risk_of(plan: Plan, step: Step) -> Risk:
    """Return a step's risk; if the plan's risk is higher than the risk of every step outside of mending, return the plan's."""
    sent = highest(s.risk for stage in plan.stages if stage.gate is not Gate.MEND for s in stage.steps)
    return step.risk if plan.risk is sent else plan.risk
