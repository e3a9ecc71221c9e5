"""Facts that a recipe requires: ``all flashcache.status = normal``, ``no griddisk where …``, ``same flashcache.size``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.cellcli.schema import find_object
from exacell.cellset import fold
from exacell.errors import StatementError, UnitError
from exacell.plan.checks import failure
from exacell.plan.model import Check, FactValue, Op
from exacell.units import parse_size

if TYPE_CHECKING:
    from exacell.context import Context

_CHECK = re.compile(r"(?P<what>all|no|same)\s+(?P<facts>.+?)(?:\s+where\s+(?P<where>.+))?", re.IGNORECASE | re.DOTALL)
_FACT = re.compile(r"(?P<object>[A-Za-z]+)\.(?P<attribute>[A-Za-z]\w*)(?:\s*(?P<op>!=|>=|<=|=|>)\s*(?P<value>.+))?")
_WHERE = re.compile(r"(?P<attribute>[A-Za-z]\w*)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\S+)")


def failures(ctx: Context, text: str, *, example: str) -> dict[str, list[str]]:
    """Return reason → cells for everything in ``text`` that does not hold; empty when all of it does.

    Raises:
        StatementError: ``text`` is no check; ``example`` is shown as the way out.
    """
    match = _CHECK.fullmatch(text)
    if match is None:
        raise StatementError(f"'{text}' is not a check, such as: {example}")
    return _judge(ctx, match["what"].lower(), match["facts"], _where(match["where"]))


def _where(text: str | None) -> dict[str, str | tuple[str, ...]]:
    if not text:
        return {}
    found: dict[str, str | tuple[str, ...]] = {}
    for part in re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE):
        match = _WHERE.fullmatch(part.strip())
        if match is None:
            raise StatementError(f"'{part}' is not a condition of a check: attribute=value")
        found[match["attribute"]] = match["value"].strip("'\"")
    return found


def _judge(ctx: Context, what: str, facts: str, where: Mapping[str, str | tuple[str, ...]]) -> dict[str, list[str]]:
    """Return reason → cells for everything that does not hold."""
    failures: dict[str, list[str]] = {}
    for part in facts.split(",") if what == "same" else [facts]:
        kind, attribute, op, value = _fact(what, part.strip())
        columns = dict.fromkeys(["name", *([attribute] if attribute else []), *where])
        answers = ctx.query(f"list {kind} attributes {', '.join(columns)}")
        for problem in answers.problems:
            failures.setdefault(problem, [])
        tables = {cell: answer.tables[0] for cell, answer in answers.good.items()}
        if what == "same":
            _same(failures, kind, attribute, tables)
            continue
        wanted = Check(object=kind, attribute=attribute or "name", op=op, value=value, where=where)
        for cell, rows in tables.items():
            reason = failure(wanted, rows)
            if reason:
                failures.setdefault(reason.replace(cell, "{cell}"), []).append(cell)
    return failures


def _fact(what: str, text: str) -> tuple[str, str, Op, FactValue]:
    if what == "no":
        kind = find_object(text)
        if kind is None:
            raise StatementError(f"'{text}' is not an object that LIST knows")
        return kind.name.lower(), "", Op.ABSENT, None
    match = _FACT.fullmatch(text)
    if match is None or (what == "all") != (match["op"] is not None):
        raise StatementError(f"'{text}' is not a fact: flashcache.status = normal, or flashcache.size after same")
    kind = find_object(match["object"])
    if kind is None:
        raise StatementError(f"'{match['object']}' is not an object that LIST knows")
    attribute = kind.attributes.get(match["attribute"].lower())
    if attribute is None:
        raise StatementError(f"{match['attribute']} is not an attribute of {kind.name}: describe {kind.name.lower()}")
    if what == "same":
        return kind.name.lower(), attribute.name, Op.EQ, None
    return kind.name.lower(), attribute.name, Op(match["op"]), _wanted(match["value"].strip(), attribute.kind)


def _wanted(text: str, kind: str) -> FactValue:
    bare = text.strip("'\"")
    if kind == "size":
        try:
            return parse_size(bare)
        except UnitError as error:
            raise StatementError(error.message) from error
    if kind in ("int", "number", "percent") and re.fullmatch(r"\d+(\.\d+)?", bare):
        return float(bare) if "." in bare else int(bare)
    return bare


def _same(
    failures: dict[str, list[str]], kind: str, attribute: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell, rows in tables.items():
        values = tuple(sorted(str(row.get(attribute)).replace(cell, "{cell}") for row in rows))
        groups.setdefault(values, []).append(cell)
    if len(groups) > 1:
        said = "; ".join(f"{fold(cells)} has {', '.join(values) or 'none'}" for values, cells in groups.items())
        failures.setdefault(f"{kind}.{attribute} differs: {said}", [])
