"""Decide which attributes of cells are read for a copy, and find the differences between copy and rack. Pure.

Both follow from the schema: an attribute that is declared as copied is read, and must be the same on the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from exacell.cellcli.directives import plan_in
from exacell.cellcli.fold import neutral_text
from exacell.cellcli.iorm import diff
from exacell.cellcli.reply import Record, values
from exacell.cellcli.schema import Attribute, ObjectType, metric, objects
from exacell.cellcli.secrets import masked
from exacell.core.errors import RefusedError
from exacell.core.values import replace
from exacell.plan.drift import Difference, Facts, from_baseline, neutral
from exacell.plan.facts import XRMEMCACHE

Objects = Mapping[str, Sequence[Record]]
"""A cell's answers: object type → one record for each object, with its attributes as LIST printed them."""

PLANS = ("dbPlan", "catPlan", "clusterPlan")
_HARDWARE = ("releaseVersion", "makeModel")
"""Attributes that decide the release and the hardware of a copy."""

_DISK_GROUPS = ("state", "type", "auSize", "disks", "failgroups", "compatibleAsm", "compatibleRdbms")
"""Attributes that the disk groups of a copy must share with those of its rack."""

_LISTED = 3
"""Number of differences that are listed one by one."""

_MADE_BY_SOMEBODY = frozenset(("CREATE", "ASSIGN", "REGISTER"))
"""Verbs of objects that exist only because somebody created them."""


def statements(*, described: bool = True) -> dict[str, str]:
    """Return, by object type in capitals, the LIST statement for each type that is copied at least in part.

    Args:
        described: ask for the attributes that DESCRIBE lists; if False, for the others, which a cell may not know.
    """
    found: dict[str, str] = {}
    for subject in objects().values():
        names = [a.name for a in subject.attributes.values() if a.copied and a.printed and a.described is described]
        if names and subject.name == "XRMEMCACHE":
            found[subject.name] = XRMEMCACHE  # Its attributes depend on the memory.
        elif names:
            own = ["name", *(_HARDWARE if subject.name == "CELL" and described else ())]
            named = [name for name in own if subject.attribute(name)]
            found[subject.name] = f"list {subject.name.lower()} attributes {', '.join(dict.fromkeys((*named, *names)))}"
    return found


def without_secrets(told: Objects) -> Objects:
    """Return the records without values that nobody else may read: these stay on the cell."""
    return {
        kind: [{name: masked(text) for name, text in record.items()} for record in found]
        for kind, found in told.items()
    }


def directives(told: Objects) -> dict[str, list[list[list[str]]]]:
    """Return the directives of a cell's IORM plans, each a list of [attribute, value]; an unreadable plan has none."""
    found: dict[str, list[list[list[str]]]] = {}
    for record in told.get("IORMPLAN", ()):
        for name in PLANS:
            plan = plan_in(record.get(name, ""))
            if plan is not None:
                found[name] = [[[a.name, a.value] for a in each.attributes] for each in plan.directives]
    return found


def neutral_facts(cell: str, told: Objects) -> dict[str, str]:
    """Return ``object|name|attribute`` → value from a cell's answers, as :func:`exacell.plan.drift.neutral` does.

    The attribute ``name`` shows that the object exists: a role without privileges has no other value.
    """
    facts: dict[str, str] = {}
    for kind, records in told.items():
        named = (neutral_text(_name(record), cell) for record in records)
        facts |= {f"{kind.lower()}|{name}|name": "there" for name in named}
        facts |= neutral(cell, [[values(record, kind) for record in records]], [kind.lower()])
    return {path: masked(value) for path, value in facts.items()}


_OF_THE_RELEASE = frozenset(("METRICDEFINITION", "OFFLOADGROUP"))
"""Object types whose objects come with the release."""


def unlike(here: Mapping[str, Objects], copy: Mapping[str, Objects], groups: Facts, copied_groups: Facts) -> list[str]:
    """Return lines about differences between a copy and its rack on which a plan may depend.

    Args:
        here: the answers of the rack's cells. ``copy``: those of the copy's cells, which may be fewer.
        groups: the disk groups of each of the rack's ASM clusters. ``copied_groups``: those of the copy.

    Raises:
        RefusedError: the copy lacks something that somebody has set on the rack, or has something that nobody has set.
    """
    set_there: list[Difference] = []
    found = from_baseline(groups, {name: copied_groups.get(name, {}) for name in groups})
    others = [_swapped(d) for d in found if d.attribute in _DISK_GROUPS]
    for cell, told in copy.items():
        of_set, of_rest = differences(cell, here[cell], told)
        set_there += of_set
        others += of_rest
    if set_there:
        more = f"; and {len(set_there) - _LISTED} more such differences" if len(set_there) > _LISTED else ""
        raise RefusedError(
            f"rehearse: a copy would differ from the rack: {'; '.join(map(_lacking, set_there[:_LISTED]))}{more}",
            hint="-n shows the plan",
        )
    lines = [f"the copy differs from the rack: {_otherwise(d)}" for d in others[:_LISTED]]
    return lines + ([f"… and {len(others) - _LISTED} more such differences"] if len(others) > _LISTED else [])


def _otherwise(one: Difference) -> str:
    if one.attribute == "name":
        return _lacking(one).replace("would be", "is")
    what = f"{one.cell}: {one.object} {one.name} {one.attribute}"
    return f"{what} is {one.expected or 'empty'} there, {one.value or 'empty'} here"


def _lacking(one: Difference) -> str:
    what = f"{one.cell}: {one.object} {one.name}".rstrip()
    if one.attribute == "name":
        return f"{what} {'would be missing' if one.value else 'would be there, but is not on the rack'}"
    return f"{what} {one.attribute} is '{one.value}', and would be '{one.expected}'"


def differences(cell: str, here: Objects, copy: Objects) -> tuple[list[Difference], list[Difference]]:
    """Return two lists of differences between a copy and its cell: those in values that somebody has set, and all others.

    Values are the cell's own, expected values are those of the copy.
    """
    set_there: list[Difference] = []
    others: list[Difference] = []
    for kind, records in here.items():
        subject = objects()[kind]
        there = {_name(record): record for record in copy.get(kind, ())}
        for record in records:
            found = there.get(_name(record))
            if found is None:
                if _was_made(subject, record):
                    set_there.append(_whole(cell, subject, record))
                elif kind not in _OF_THE_RELEASE:
                    others.append(_whole(cell, subject, record))
                continue
            for attribute in _copied(subject, (*record, *found)):
                mine, its = record.get(attribute.name, ""), found.get(attribute.name, "")
                if not _same(cell, attribute, mine, its):
                    told = _difference(cell, kind, _name(record), attribute.name, masked(mine), masked(its))
                    (set_there if attribute.settable else others).append(told)
        names = {_name(record) for record in records}
        invented = [record for name, record in there.items() if name not in names]
        set_there += [_swapped(_whole(cell, subject, record)) for record in invented if _was_made(subject, record)]
    return set_there, others


def _copied(subject: ObjectType, names: Iterable[str]) -> Iterator[Attribute]:
    for name in dict.fromkeys(names):
        attribute = subject.attribute(name)
        if attribute is not None and attribute.copied:
            yield attribute


def _name(record: Record) -> str:
    return record.get("name", "")


def _same(cell: str, attribute: Attribute, mine: str, its: str) -> bool:
    """Return whether two texts of an attribute mean the same; an empty one counts as the default that cells print."""
    mine, its = mine or attribute.default, its or attribute.default
    if mine == its:
        return True
    if attribute.name in PLANS:
        plan, other_plan = plan_in(mine), plan_in(its)
        return plan is not None and other_plan is not None and not diff(plan, other_plan)
    one, other = (_meaning(cell, attribute, masked(text)) for text in (mine, its))
    return one == other


def _meaning(cell: str, attribute: Attribute, text: str) -> object:
    (value,) = values({attribute.name: text}, attribute.object).values()
    if isinstance(value, tuple):
        return sorted(value)
    return neutral_text(value, cell).lower() if isinstance(value, str) else value


def _was_made(subject: ObjectType, record: Record) -> bool:
    """Return whether somebody created an object or set something in it; other objects come with the release and are no loss."""
    if _MADE_BY_SOMEBODY & subject.verbs:
        return True
    for attribute in _copied(subject, record):
        value = record[attribute.name]
        if attribute.name != "name" and attribute.settable and value and value != _usual(attribute, record):
            return True
    return False


def _usual(attribute: Attribute, record: Record) -> str:
    if attribute.object != "METRICDEFINITION":
        return attribute.default
    known = metric(_name(record))
    usual = {"fineGrained": known.fine_grained, "streaming": known.streaming} if known else {}
    return usual.get(attribute.name, record[attribute.name])


def _whole(cell: str, subject: ObjectType, record: Record) -> Difference:
    return _difference(cell, subject.name, _name(record), "name", _name(record) or subject.name.lower(), "")


def _swapped(one: Difference) -> Difference:
    return replace(one, value=one.expected, expected=one.value)


def _difference(cell: str, kind: str, name: str, attribute: str, value: str, expected: str) -> Difference:
    return Difference(cell=cell, object=kind.lower(), name=name, attribute=attribute, value=value, expected=expected)
