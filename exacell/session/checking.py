"""Judge whether the facts of a check hold, from the answers of the cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.cellcli.condition import passes
from exacell.cellcli.nodes import Filter, Operator
from exacell.cellcli.schema import Kind, find_object
from exacell.core.cellset import fold
from exacell.core.units import sizes_apart
from exacell.plan.checks import failure
from exacell.plan.model import Check, Op

if TYPE_CHECKING:
    from exacell.cellcli.condition import Fact, FactCheck
    from exacell.session.request import Request
    from exacell.session.services import Services

Rows = Sequence[Mapping[str, Any]]


def failures(services: Services, request: Request, check: FactCheck) -> dict[str, list[str]]:
    """Return reason → cells for everything in a check that does not hold; empty if all of it holds.

    A cell without an answer is a reason too.
    """
    found: dict[str, list[str]] = {}
    for fact in check.facts:
        columns = dict.fromkeys(
            ["name", *([fact.attribute] if fact.attribute else []), *(each.attribute for each in check.filters)]
        )
        answers = services.query(f"list {fact.object} attributes {', '.join(columns)}", timeout=request.read_timeout)
        for problem in answers.problems:
            found.setdefault(problem, [])
        tables = {cell: _that_count(fact, check.filters, answer.tables[0]) for cell, answer in answers.good.items()}
        if check.what == "same":
            _same(found, fact, tables)
            continue
        wanted = _wanted(check, fact)
        for cell, rows in tables.items():
            reason = failure(wanted, rows)
            if reason:
                found.setdefault(reason.replace(cell, "{cell}"), []).append(cell)
    return found


def _that_count(fact: Fact, filters: Sequence[Filter], rows: Rows) -> Rows:
    return [row for row in rows if all(_passes(each, row, fact.object) for each in filters)]


def _passes(condition: Filter, row: Mapping[str, Any], subject: str) -> bool:
    text = condition.value.text
    if condition.operator is Operator.EQUAL and text.endswith("*"):  # name=DATA_* matches the beginning of a name.
        begins = str(row.get(condition.attribute, "")).lower().startswith(text[:-1].lower())
        return begins is not condition.negated
    return passes(condition, row, subject)


def _wanted(check: FactCheck, fact: Fact) -> Check:
    """Return the fact as a check of a plan; its ``where`` is only there to show which rows were counted."""
    where = {
        each.attribute: each.value.text
        for each in check.filters
        if each.operator is Operator.EQUAL and not each.negated
    }
    if check.what == "no":
        return Check(object=fact.object, attribute="name", op=Op.ABSENT, value=None)
    return Check(object=fact.object, attribute=fact.attribute, op=Op(fact.operator), value=fact.value, where=where)


def _same(found: dict[str, list[str]], fact: Fact, tables: Mapping[str, Rows]) -> None:
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell, rows in tables.items():
        values = tuple(sorted(str(row.get(fact.attribute)).replace(cell, "{cell}") for row in rows))
        groups.setdefault(values, []).append(cell)
    if len(groups) > 1:
        shown = _spoken(fact, {value for values in groups for value in values})
        said = "; ".join(
            f"{fold(cells)} has {', '.join(shown[value] for value in values) or 'none'}"
            for values, cells in groups.items()
        )
        found.setdefault(f"{fact.object}.{fact.attribute} differs: {said}", [])


def _spoken(fact: Fact, values: Collection[str]) -> dict[str, str]:
    """Return value → its text to show: sizes get a unit, and two different sizes never look alike."""
    kind = find_object(fact.object)
    attribute = kind.attribute(fact.attribute) if kind is not None else None
    if attribute is None or attribute.kind is not Kind.SIZE:
        return {value: value for value in values}
    sizes = [value for value in values if value.isdecimal()]
    shown = sizes_apart(*map(int, sizes))
    return {value: value for value in values} | dict(zip(sizes, shown, strict=True))
