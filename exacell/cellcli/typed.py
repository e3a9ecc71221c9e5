"""Gives the texts of a record their types: sizes in integer bytes, metric values as numbers with a unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from exacell.cellcli.schema import Kind, find_object, metric
from exacell.core.errors import UnitError
from exacell.core.units import parse_size

Value = str | int | float | bool | tuple[str, ...] | None
"""A typed value; None when the cell printed nothing."""

METRIC_VALUES = ("metricValue", "metricValueAvg", "metricValueMax", "metricValueMin")
"""Attributes that are a number and a unit."""

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_METRIC = re.compile(rf"({_NUMBER.pattern})(?:\s+(\S.*))?")
_MILLISECONDS = re.compile(r"\d{12,14}")


def values(record: Mapping[str, str], object_type: str) -> dict[str, Value]:
    """Return ``record`` with typed values, by the kinds that the schema gives the attributes of ``object_type``.

    Sizes become bytes, INT and NUMBER numbers, BOOL bools, lists tuples, times ISO 8601 (the milliseconds of XML in
    UTC), an empty text None. A metric's value becomes a number, and ``unit`` is added right after it. A text that is
    not of its kind, or an attribute that the schema does not know, stays text.
    """
    typed: dict[str, Value] = {}
    for name, text in record.items():
        if name in METRIC_VALUES and text:
            typed[name], unit = metric_value(text)
            typed.setdefault("unit", unit or known_unit(record.get("name", "")))
        else:
            typed[name] = typed_value(text, kind_of(object_type, name))
    return typed


@lru_cache(maxsize=4096)
def kind_of(object_type: str, name: str) -> Kind:
    """Return the kind of an attribute; asked for each value of each record, mostly the same few."""
    found = find_object(object_type)
    attribute = found.attribute(name) if found is not None else None
    return attribute.kind if attribute is not None else Kind.STRING


def typed_value(text: str, kind: Kind) -> Value:
    """Return ``text`` as what ``kind`` says, None when it is empty, and ``text`` itself when it is not of that kind."""
    if not text:
        return None
    match kind:
        case Kind.SIZE:
            try:
                return parse_size(text)
            except UnitError:
                return text
        case Kind.INT | Kind.NUMBER | Kind.PERCENT:
            number = text.removesuffix("%").rstrip()
            return _number(number) if _NUMBER.fullmatch(number) else text
        case Kind.BOOL:
            return {"true": True, "false": False}.get(text.lower(), text)
        case Kind.LIST:
            return tuple(item.strip() for item in text.replace("\n", ",").split(",") if item.strip())
        case Kind.TIME:
            return _iso_time(text) if _MILLISECONDS.fullmatch(text) else text
    return text


def metric_value(text: str) -> tuple[Value, str]:
    """Return the number and the unit of ``3,418 IO requests``; the unit is empty when none is printed, as in XML.

    A text that does not begin with a number stays as it is.
    """
    match = _METRIC.fullmatch(text.strip())
    return (_number(match[1]), match[2] or "") if match else (text, "")


def known_unit(name: str) -> str:
    """Return the unit of a metric; empty when it is not known."""
    known = metric(name)
    return known.unit if known else ""


def _number(text: str) -> int | float:
    digits = text.replace(",", "")
    return int(digits) if digits.lstrip("+-").isdigit() else float(digits)


def _iso_time(milliseconds: str) -> str:
    from datetime import UTC, datetime, timedelta  # only for XML

    moment = datetime.fromtimestamp(0, tz=UTC) + timedelta(milliseconds=int(milliseconds))
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
