"""Judge checks: whether one holds for the records that a target returned; and build the check that many plans ask of ASM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from exacell.cellcli.directives import parse as parse_iorm
from exacell.cellcli.schema import Kind, find_object
from exacell.core.errors import ExacellError
from exacell.core.units import sizes_apart
from exacell.plan.facts import GridDisk
from exacell.plan.model import Check, FactValue, Op

Record = Mapping[str, Any]

PLAIN = "plain "
"""Prefix of an object: only those attributes that a cell shows while its CELLSRV is stopped."""


def group_check(name: str, attribute: str, value: FactValue, *, why: str = "") -> Check:
    """Return the check that an attribute of the disk group ``name`` has a value."""
    return Check(object="asm.diskgroup", attribute=attribute, value=value, where={"name": name}, why=why)


def on_disks(grids: Iterable[GridDisk], attribute: str, value: FactValue, **more: Any) -> tuple[Check, ...]:
    """Return the check of an attribute of these grid disks, empty without disks; ``more`` are Check's own keywords."""
    names = tuple(grid.name for grid in grids)
    check = {"object": "griddisk", "attribute": attribute, "value": value, "where": {"name": names}, **more}
    return (Check(**check),) if names else ()


def selects(check: Check, record: Record) -> bool:
    """Return whether ``check.where`` selects ``record``."""
    return all(_matches(_get(record, name), wanted) for name, wanted in check.where.items())


def _get(record: Record, name: str) -> Any:
    if name in record:
        return record[name]
    lower = name.lower()
    return next((value for key, value in record.items() if key.lower() == lower), None)


def _matches(value: Any, wanted: str | tuple[str, ...]) -> bool:
    text = _text(value)
    for want in wanted if isinstance(wanted, tuple) else (wanted,):
        lowered = want.lower()
        if text == lowered or (lowered.endswith("*") and text.startswith(lowered[:-1])):
            return True
    return False


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower()


def failure(check: Check, records: Sequence[Record]) -> str:
    """Return why ``check`` does not hold, with object, attribute and value; empty if it holds."""
    chosen = [record for record in records if selects(check, record)]
    noun = check.object.removeprefix(PLAIN)
    if check.op is Op.ABSENT:
        if not chosen:
            return ""
        told = _get(chosen[0], "told")
        if told:  # ASM's operations have no name.
            return _because(check, str(told))
        names = ", ".join(str(_get(r, "name")) for r in chosen[:3]) + (" …" if len(chosen) > 3 else "")
        return _because(check, f"{noun} {names} exists")
    if check.op is Op.COUNT:
        return "" if len(chosen) == check.value else _because(check, f"{len(chosen)} {noun} instead of {check.value}")
    if not chosen:
        where = ", ".join(f"{k}={v}" for k, v in check.where.items())
        return _because(check, f"there is no {noun}{' with ' + where if where else ''}")
    for record in chosen:
        value = _get(record, check.attribute)
        if not _holds(check, value):
            shown, wished = _side_by_side(noun, check, value)
            name = _get(record, "name")
            wanted = "which must not be" if check.op is Op.NE else f"not {wished}"
            return _because(check, f"{noun} {name}: {check.attribute} is {shown}, {wanted}")
    return ""


def _side_by_side(noun: str, check: Check, value: Any) -> tuple[str, str]:
    """Return the present and the wanted value for people: sizes have a unit, and two different ones never look equal."""
    kind = find_object(noun)
    attribute = kind.attribute(check.attribute) if kind is not None and check.attribute else None
    sized = attribute is not None and attribute.kind is Kind.SIZE
    if sized and isinstance(value, int) and isinstance(check.value, int):
        read, wished = sizes_apart(value, check.value)
        return read, _wanted(check, wished)
    if sized and isinstance(value, int):
        return sizes_apart(value)[0], _wanted(check)
    if sized and isinstance(check.value, int):
        return _shown(value), _wanted(check, sizes_apart(check.value)[0])
    return _shown(value), _wanted(check)


def _shown(value: Any) -> str:
    text = ", ".join(str(v) for v in value) if isinstance(value, tuple) else "" if value is None else str(value)
    return text or "empty"


def _wanted(check: Check, text: str = "") -> str:
    """Return the wanted value of a check as text; ``text`` replaces the value if Python's form of it is not suitable."""
    value = text or check.value
    text = " or ".join(str(v) for v in value) if isinstance(value, tuple) else str(value)
    return {
        Op.AT_LEAST: f"at least {text}",
        Op.AT_MOST: f"at most {text}",
        Op.ABOVE: f"above {text}",
        Op.BELOW: f"below {text}",
        Op.NOT_ABOVE: f"at most {text}",
    }.get(check.op, text if value not in (None, "", ()) else "empty")


def _because(check: Check, text: str) -> str:
    return f"{text}; {check.why}" if check.why else text


def _holds(check: Check, value: Any) -> bool:
    wanted = check.value
    match check.op:
        case Op.EQ if check.attribute.lower() in PLANS:
            return _same_plan(_text(value), _text(wanted))
        case Op.EQ:
            return _same(value, wanted)
        case Op.NE:
            return not _same(value, wanted)
        case Op.IN:
            options = wanted if isinstance(wanted, tuple) else (wanted,)
            return any(_same(value, option) for option in options)
        case Op.AT_LEAST | Op.AT_MOST | Op.ABOVE | Op.BELOW:
            if not isinstance(value, (int, float)) or not isinstance(wanted, (int, float)):
                return False
            if check.op in (Op.ABOVE, Op.BELOW):
                return value > wanted if check.op is Op.ABOVE else value < wanted
            return value >= wanted if check.op is Op.AT_LEAST else value <= wanted
        case Op.NOT_ABOVE:
            numbers = isinstance(value, (int, float)) and isinstance(wanted, (int, float))
            return not numbers or value <= wanted
        case _:
            raise ValueError(f"{check.op} compares no value")


PLANS = ("dbplan", "catplan", "clusterplan")
"""Attributes whose values are IORM plans, in lower case."""


def _same_plan(value: str, wanted: str) -> bool:
    """Return whether two IORM plans mean the same, however they are written; an unreadable plan equals only itself."""
    try:
        return parse_iorm(value).means(parse_iorm(wanted))
    except ExacellError:
        return value == wanted


def _same(value: Any, wanted: Any) -> bool:
    """Return whether two values mean the same: the order of a list, the case of a word and outer blanks do not count."""
    if isinstance(value, (int, float)) and isinstance(wanted, (int, float)):
        return value == wanted
    if isinstance(value, tuple) or isinstance(wanted, tuple):
        return _items(value) == _items(wanted)
    return _text(value).strip() == _text(wanted).strip()


def _items(value: Any) -> list[str]:
    """Return the items of a list, which a cell may print as one text, in sorted order."""
    items = value if isinstance(value, tuple) else _text(value).split(",")
    return sorted(text for item in items if (text := _text(item).strip()))
