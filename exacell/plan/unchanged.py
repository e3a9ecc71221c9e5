"""Whether CellCLI's own ALTER would change anything: judged from what the cells hold now. Pure.

Only what can be told for certain counts as unchanged; everything else is sent as it was typed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.cellcli.iorm import diff, parse
from exacell.cellcli.schema import objects
from exacell.cellcli.statement import Change, Scalar, Statement, render_value
from exacell.cellcli.typed import typed_value
from exacell.errors import ExacellError
from exacell.plan.facts import CellFacts

_OBJECTS = frozenset(("CELL", "CELLDISK", "GRIDDISK"))
"""Whose settings LIST prints as they were given."""

_DOES = frozenset(("events",))
"""Attributes that do something each time they are set."""

_ANY_CASE = frozenset(("flashcachemode", "pmemcachemode", "cachingpolicy", "status"))
"""Attributes whose values are words of CellCLI, printed in another case than they are typed."""


def told_by(statement: Statement) -> str:
    """Return the LIST that tells whether an ALTER of plain attributes changes anything; empty when none tells it."""
    if not isinstance(statement, Change) or statement.object not in _OBJECTS or not _plain(statement):
        return ""
    known = objects()[statement.object].attributes
    names = [setting.attribute.lower() for setting in statement.settings]
    if any(name in _DOES or name not in known for name in names):
        return ""
    spelled = [known[name].name for name in names]
    return f"list {statement.object.lower()} attributes {', '.join(dict.fromkeys(['name', *spelled]))}"


def holds_already(statement: Change, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether every object that the statement means has its values already.

    Args:
        statement: one that :func:`told_by` has a LIST for.
        rows: what a cell answered to :func:`told_by`. With ALL every object counts, also of another medium.
    """
    meant = [row for row in rows if not statement.names or str(row.get("name")).lower() in _lower(statement.names)]
    if not meant or (statement.names and len(meant) != len(_lower(statement.names))):
        return False
    return all(_has(statement, row) for row in meant)


def nothing_to_drop(statement: Statement, fact: CellFacts) -> str:
    """Return why a DROP of the cell's flash cache or flash log would change nothing; empty when it would, or may."""
    if statement.verb != "DROP" or not fact.release:
        return ""
    if statement.object == "FLASHCACHE" and fact.flash_cache is None:
        return "it has no flash cache"
    if statement.object == "FLASHLOG" and not fact.flash_log:
        return "it has no flash log"
    return ""


def same_iorm_plan(statement: Statement, fact: CellFacts) -> bool:
    """Return whether ALTER IORMPLAN would leave the cell's dbplan and objective as they are."""
    if not isinstance(statement, Change) or statement.object != "IORMPLAN" or not _plain(statement):
        return False
    for setting in statement.settings:
        match setting.attribute.lower():
            case "objective" if isinstance(setting.value, Scalar):
                same = setting.value.text.lower() == fact.objective.lower()
            case "dbplan" if fact.iorm is not None:
                try:
                    text = setting.value.text if isinstance(setting.value, Scalar) else render_value(setting.value)
                    same = not diff(fact.iorm, parse(text))
                except ExacellError:
                    return False
            case _:
                return False
        if not same:
            return False
    return True


def _plain(statement: Change) -> bool:
    """Whether it only sets attributes."""
    odd = statement.action or statement.flags or statement.filters
    return statement.verb == "ALTER" and bool(statement.settings) and not odd


def _lower(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _has(statement: Change, row: Mapping[str, Any]) -> bool:
    known = objects()[statement.object].attributes
    held = {name.lower(): value for name, value in row.items()}
    for setting in statement.settings:
        name, wanted = setting.attribute.lower(), setting.value
        if name not in held or not isinstance(wanted, Scalar):
            return False
        value, typed = held[name], typed_value(wanted.text, known[name].kind)
        words = isinstance(value, str) and name in _ANY_CASE and value.lower() == wanted.text.lower()
        if value != typed and not words:
            return False
    return True
