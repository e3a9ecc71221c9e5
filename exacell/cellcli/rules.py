"""Rules for names and values that hold in every release, checked before anything is sent.

Only rules that Oracle states are here; whatever a cell might accept is left to the cell. Each check returns what is
wrong as one line, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.cellcli.nodes import Group, Value, Verb
from exacell.cellcli.schema import Kind
from exacell.core.errors import UnitError
from exacell.core.units import parse_size

LONGEST_GRIDDISK_NAME = 30
"""Characters. Source: Oracle SAGUG, restrictions-values-common-attributes."""

_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("CELL", "flashCacheMode"): ("writeback", "writethrough"),
    ("IORMPLAN", "objective"): ("basic", "auto", "low_latency", "balanced", "high_throughput"),
    ("GRIDDISK", "cachingPolicy"): ("default", "none"),
    ("THRESHOLD", "comparison"): ("<", "<=", "=", ">=", ">"),
    ("METRICDEFINITION", "fineGrained"): ("enabled", "disabled"),
    ("METRICDEFINITION", "streaming"): ("enabled", "disabled"),
    ("CELL", "erase"): ("1pass", "3pass", "7pass"),
    ("CELLDISK", "erase"): ("1pass", "3pass", "7pass"),
    ("GRIDDISK", "erase"): ("1pass", "3pass", "7pass"),
}
"""Values that an attribute takes, in any case. Source: Oracle SAGUG, alter-cell, alter-iormplan, create-griddisk,
create-threshold, alter-metricdefinition, drop-celldisk."""


def check_name(verb: Verb, subject: str, name: str) -> str:
    """Return what is wrong with ``name`` for an object that ``verb`` creates; empty when nothing is."""
    if not name:
        return "a name cannot be empty"
    if verb is Verb.CREATE and subject == "GRIDDISK" and len(name) > LONGEST_GRIDDISK_NAME:
        return f"'{name}' has {len(name)} characters; the name of a grid disk has at most {LONGEST_GRIDDISK_NAME}"
    return ""


def check_value(verb: Verb, subject: str, attribute: str, kind: Kind, value: Value) -> str:
    """Return what is wrong with ``value`` for ``attribute`` of ``subject``; empty when nothing is."""
    if isinstance(value, Group):
        return f"{attribute} takes a size, not a list in parentheses" if kind is Kind.SIZE else ""
    choices = _CHOICES.get((subject, attribute))
    if choices and value.text.lower() not in choices:
        return f"'{value.text}' is not a value of {attribute}: it is {', '.join(choices[:-1])} or {choices[-1]}"
    if kind is not Kind.SIZE:
        return ""
    # A prefix list has one size for each prefix. Source: Oracle SAGUG, create-griddisk.
    sizes = value.text.split(",") if subject == "GRIDDISK" and verb is Verb.CREATE else [value.text]
    for size in sizes:
        try:
            parse_size(size)
        except UnitError as error:
            return error.message
    return ""
