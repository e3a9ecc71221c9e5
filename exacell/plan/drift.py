"""Find drift: attributes in which cells or other hosts differ from each other or from a saved baseline. Pure.

Ids, times and other attributes that differ on every cell are left out, and the cell's own name in a value does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from exacell.cellcli.fold import KEYS, OWN_NAME, VOLATILE, neutral_text
from exacell.core.cellset import folded_whole, grouped
from exacell.core.values import dataclass, replace

Facts = Mapping[str, Mapping[str, str]]
"""Cell → ``object name attribute`` → value, both in neutral form."""

STATEMENTS: Mapping[str, str] = {
    kind: f"list {kind} detail"
    for kind in (
        "cell", "flashcache", "flashlog", "iormplan", "celldisk", "griddisk", "physicaldisk", "lun", "threshold"
    )
}  # fmt: skip
"""The LIST statements for all objects that define a cell."""

OWN = VOLATILE | {"efficiency", "offset", "physicalDisk"}
"""Attributes that differ on every cell, or change by themselves: they are no drift."""

_OWN_ENDS = ("serial", "serialnumber", "time", "uuid", "macaddress")
"""Endings of further such names, in lower case."""

ASM = "ASM "
"""Prefix of an ASM cluster's name when it is used in place of a cell's name."""

ASM_ATTRIBUTES = (
    "state", "type", "auSize", "disks", "failgroups", "compatibleAsm", "compatibleRdbms", "mountedOn"
)  # fmt: skip
"""Attributes of a disk group that drift compares; its free space and files change by themselves."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One attribute of one object on one cell that is not as expected. Values are empty if the object is missing.

    For a disk group, ``cell`` is ``ASM`` and the cluster's name.

    Attributes:
        others: the other cells' values if no value is the most frequent one; then no value is expected.
    """

    cell: str
    object: str
    name: str
    attribute: str
    value: str
    expected: str
    others: tuple[str, ...] = ()


WORSE, BETTER, CHANGED, DIFFERS = "worse", "better", "changed", "differs"

_WELL = frozenset({"normal", "online", "active", "running", "success", "mounted", "yes", "up", "logged_in"})
"""Values of a status or state that mean "in order". Source: reference cellcli.md 3.3 and 6.5, asm.md 3; for hosts' network cards
and iSCSI sessions: Linux, Documentation/ABI, sysfs-class-net and sysfs-class-iscsi_session."""


def judgement(d: Difference) -> str:
    """Return the meaning of a difference: worse, better, or changed, which may be intended; differs if no value is expected.

    Worse means: an object is missing, a status is no longer in order, or more disks are degraded or have errors; without
    an expected value, than on another cell.
    """
    if d.others:
        meanings = {judgement(replace(d, expected=other, others=())) for other in d.others}
        return WORSE if WORSE in meanings else DIFFERS
    if d.attribute == "name":
        return CHANGED if d.value else WORSE
    if d.attribute in ("degradedCelldisks", "errorCount"):
        value, expected = (
            0 if text in ("", "0") else int(text) if text.isdigit() else 1 for text in (d.value, d.expected)
        )
        return WORSE if value > expected else BETTER if value < expected else CHANGED
    if not d.attribute.lower().endswith(("status", "state")):
        return CHANGED
    well, was = d.value.lower() in _WELL, d.expected.lower() in _WELL
    return CHANGED if well is was else BETTER if well else WORSE


def _is_own(attribute: str) -> bool:
    return attribute == "name" or attribute in OWN or attribute.lower().endswith(_OWN_ENDS)


def neutral(
    cell: str,
    tables: Sequence[Sequence[Mapping[str, object]]],
    kinds: Sequence[str] = tuple(STATEMENTS),
    *,
    leaves: Callable[[str], bool] = _is_own,
) -> dict[str, str]:
    """Return ``object|name|attribute`` → value for one cell's answers, with its own name replaced.

    If several rows have the same name, later ones get a mark, so that they are compared with the later ones of the other side.

    Args:
        tables: one table for each of ``kinds``, in that order.
        leaves: returns whether an attribute is left out.
    """
    found: dict[str, str] = {}
    for kind, rows in zip(kinds, tables, strict=True):
        names: set[str] = set()
        for row in rows:
            name = " ".join(dict.fromkeys(neutral_text(str(row[key]), cell) for key in KEYS if row.get(key)))
            while name in names:
                name += "'"
            names.add(name)
            for attribute, value in row.items():
                if attribute != "cell" and not leaves(attribute):
                    found[f"{kind}|{name}|{attribute}"] = neutral_text(_text(value), cell)
    return found


def _text(value: object) -> str:
    if isinstance(value, (tuple, list)):
        # Cells print lists in any order.
        return ",".join(sorted(map(str, value)))
    return "" if value is None else str(value)


def of_asm(groups: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return ``diskgroup|name|attribute`` → value for the disk groups of one ASM cluster."""
    return {
        f"diskgroup|{group['name']}|{attribute}": _text(group.get(attribute))
        for group in groups
        for attribute in ASM_ATTRIBUTES
    }


def of_host(host: str, facts: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return ``kind|name|attribute`` → value for the facts of one host that is not a cell, with its own name replaced."""
    return {
        f"{fact['kind']}|{fact['name']}|{attribute}": neutral_text(_text(value), host)
        for fact in facts
        for attribute, value in fact.items()
        if attribute not in ("kind", "name")
    }


def between_cells(facts: Facts) -> list[Difference]:
    """Return the differences of each cell from the value that most cells have.

    If several values are on equally many cells, no value is the norm: each cell's value is returned. If as many cells have an
    object as lack it, only the cells that lack it differ.
    """
    found = []
    objects = {cell: {path.rpartition("|")[0] for path, value in own.items() if value} for cell, own in facts.items()}
    for path in dict.fromkeys(path for own in facts.values() for path in own):
        values = {cell: own.get(path, "") for cell, own in facts.items()}
        counts = Counter(values.values())
        most = max(counts.values())
        usual, *equals = (value for value, count in counts.items() if count == most)
        if equals:
            lacking = {cell for cell in values if path.rpartition("|")[0] not in objects[cell]}
            found += _without_norm(path, values, (usual, *equals), lacking)
        else:
            found += [_difference(cell, path, value, usual) for cell, value in values.items() if value != usual]
    return found


def _without_norm(
    path: str, values: Mapping[str, str], usual: Sequence[str], lacking: Collection[str]
) -> list[Difference]:
    """Return the differences in an attribute, if several of its values are on equally many cells.

    Args:
        usual: those values.
        lacking: the cells that do not have the object.
    """
    held = dict.fromkeys(value for cell, value in values.items() if cell not in lacking)
    found = []
    for cell, value in values.items():
        if cell in lacking:
            found.append(_difference(cell, path, value, next(each for each in usual if each)))
        elif len(held) > 1:
            others = tuple(other for other in held if other != value)
            found.append(replace(_difference(cell, path, value, ""), others=others))
    return found


def from_baseline(baseline: Facts, facts: Facts) -> list[Difference]:
    """Return the differences of each cell from its baseline; a cell without a baseline differs in all of its attributes."""
    return [
        _difference(cell, path, own.get(path, ""), before.get(path, ""))
        for cell, own in facts.items()
        for before in (baseline.get(cell, {}),)
        for path in dict.fromkeys([*before, *own])
        if own.get(path, "") != before.get(path, "")
    ]


def told(found: Sequence[Difference], facts: Facts, baseline: Facts | None = None) -> list[Difference]:
    """Return the differences in a form for people.

    Attributes that one of the two releases does not have are left out: ``releaseVersion`` shows that. A missing or additional
    object is one difference, in its name; so is a cell that the baseline does not have.

    Args:
        baseline: the baseline of ``found``; None if cells were compared with each other.
    """
    new = [cell for cell in facts if baseline is not None and cell not in baseline]
    kept = [d for d in found if d.cell not in new and not _of_another_release(d, facts, baseline)]
    objects = grouped(((d.cell, d.object, d.name), d) for d in kept)
    rows = [row for (cell, _, _), items in objects.items() for row in _as_one(items, facts[cell])]
    return [*rows, *(_whole(cell, "cell", cell, value=cell) for cell in new)]


def gone(baseline: Facts, cells: Sequence[str]) -> list[Difference]:
    """Return one difference for each cell of a baseline that the rack no longer has.

    Args:
        cells: all cells of the rack.
    """
    lost = [cell for cell in baseline if cell not in cells and not cell.startswith(ASM)]
    return [_whole(cell, "cell", cell, expected=cell) for cell in lost]


def folded(found: Sequence[Difference]) -> list[Difference]:
    """Return differences for people: equal ones of several objects, then of several cells, become one.

    Names and cells are folded like cell sets (``DATA_CD_[00-11]_{cell}``), with nothing left out and nothing added. If no value
    of an attribute is expected, its values follow each other.
    """
    objects = grouped(((d.cell, d.object, d.attribute, *_sides(d), d.others), d.name) for d in found)
    cells: dict[Difference, list[str]] = {}
    for (cell, kind, attribute, value, expected, others), names in objects.items():
        one = _named(names)
        value, expected = (one if side == _NAME else side for side in (value, expected))
        shared = Difference(
            cell="", object=kind, name=one, attribute=attribute, value=value, expected=expected, others=others
        )
        cells.setdefault(shared, []).append(cell)
    rows = [replace(shared, cell=_named(some)) for shared, some in cells.items()]
    first: dict[tuple[str, str, str], int] = {}
    places = [first.setdefault((d.object, d.name, d.attribute), n) if d.others else n for n, d in enumerate(rows)]
    return [rows[n] for n in sorted(range(len(rows)), key=lambda n: places[n])]


def _sides(d: Difference) -> tuple[str, str]:
    """Return value and expected value; an object's own name is replaced by a mark, so that objects can be folded."""
    if d.attribute != "name":
        return d.value, d.expected
    return (_NAME if d.value == d.name else d.value), (_NAME if d.expected == d.name else d.expected)


_NAME = "\0name"
"""Placeholder for the name of a missing or additional object."""

_OWN_WORD = "ownname"
"""Placeholder for a cell's own name in a name while it is folded: braces would prevent folding."""


def _named(names: Sequence[str]) -> str:
    """Return names in folded form if that loses nothing, else as a list."""
    plain = [name.replace(OWN_NAME, _OWN_WORD) for name in names]
    if len(names) == 1 or not all(re.fullmatch(r"[A-Za-z0-9_.:+-]+", name) for name in plain):
        return ",".join(names)
    return folded_whole(plain).replace(_OWN_WORD, OWN_NAME) or ",".join(names)


def _as_one(items: Sequence[Difference], own: Mapping[str, str]) -> Sequence[Difference]:
    """Return the one difference for an object that is missing or additional; else the given ones."""
    first = items[0]
    begin = f"{first.object}|{first.name}|"
    held = {path for path, value in own.items() if value and path.startswith(begin)}
    if len(items) > 1 and not held:
        return (_whole(first.cell, first.object, first.name, expected=first.name),)
    if len(items) > 1 and len(held) == len(items) and not any(item.expected or item.others for item in items):
        return (_whole(first.cell, first.object, first.name, value=first.name),)
    return items


def _whole(cell: str, kind: str, name: str, *, value: str = "", expected: str = "") -> Difference:
    return Difference(cell=cell, object=kind, name=name, attribute="name", value=value, expected=expected)


def _of_another_release(difference: Difference, facts: Facts, baseline: Facts | None) -> bool:
    """Return whether an attribute is empty on one side because that side's release never prints it."""
    if difference.value and difference.expected:
        return False
    own = facts[difference.cell]
    others = list(facts.values()) if baseline is None else [baseline.get(difference.cell, {})]
    others = [other for other in others if other.get(_RELEASE) != own.get(_RELEASE)]
    lacking = others if difference.value else [own] if others else []
    return any(_knows_not(side, difference.object, difference.attribute) for side in lacking)


def _knows_not(own: Mapping[str, str], kind: str, attribute: str) -> bool:
    """Return whether objects of this kind exist, but no object has the attribute."""
    printed = {path.rpartition("|")[2] for path in own if path.startswith(f"{kind}|")}
    return bool(printed) and attribute not in printed


_RELEASE = "cell|{cell}|releaseVersion"


def _difference(cell: str, path: str, value: str, expected: str) -> Difference:
    kind, name, attribute = path.split("|", 2)
    return Difference(cell=cell, object=kind, name=name, attribute=attribute, value=value, expected=expected)
