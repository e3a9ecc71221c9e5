"""The schema of CellCLI: its objects, attributes and metrics, and the types of their values.

The tables under ``data/`` are read on first use. They hold the union of all known releases; ``since`` and ``until`` show which
releases have a name, so that a statement can be checked without a connection, and once more when the cell's release is known.
They also give the texts of a record their types: sizes become integer bytes, metric values numbers with a unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache, lru_cache
from types import MappingProxyType

from exacell.core.errors import UnitError
from exacell.core.packaged import data_beside
from exacell.core.patterns import pattern
from exacell.core.units import parse_size
from exacell.core.values import dataclass

_ABSENT = "-"
_UNDESCRIBED = frozenset("uw")
_HIDDEN = _UNDESCRIBED | {"h"}


class Kind(StrEnum):
    """How an attribute's text is read."""

    STRING = "string"
    TEXT = "text"
    """Free text, printed in double quotes if it has blanks."""
    ENUM = "enum"
    SIZE = "size"
    INT = "int"
    NUMBER = "number"
    PERCENT = "percent"
    TIME = "time"
    LIST = "list"
    BOOL = "bool"


def release_key(release: str) -> tuple[int, ...]:
    """Return ``release`` as a tuple that compares as releases do: ``(19, 3, 2)`` for ``19.3.2.0.0``.

    Trailing zeros do not count, so that 24.1 and 24.1.0.0.0 are equal; what follows the digits and dots is ignored.
    """
    numbers: list[int] = []
    for part in release.strip().split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


@dataclass(frozen=True, kw_only=True)
class Lifetime:
    """The releases in which something exists. ``since`` is the first one that has it, ``until`` the first one that no longer
    has it.

    Each is empty if it is unknown or there is no such limit.
    """

    since: str = ""
    until: str = ""

    def includes(self, release: str) -> bool:
        """Return whether ``release`` (for example ``19.3.2.0.0``) has it."""
        key = release_key(release)
        return not (self.since and key < release_key(self.since)) and not (
            self.until and key >= release_key(self.until)
        )


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One attribute of an object type.

    Attributes:
        modifiable: whether ALTER takes it.
        created: whether it is given with CREATE and can't be changed later.
        hidden: whether it is printed only if it is named.
        described: whether DESCRIBE shows it.
        printed: whether cells print it; False for a write-only attribute.
        values: its possible values; empty if they are not known, or if any value of its kind is possible.
        default: what cells print if it was not set; may be empty.
        secret: ``value``, ``clause``, or the secret names within its parentheses, separated by commas; empty for none.
        copied: whether a copy of a rack takes over its value.
        uncopied: why a copy can't take it over; empty if the value follows from other attributes.
        note: may be empty.
    """

    object: str
    name: str
    kind: Kind
    modifiable: bool
    created: bool
    hidden: bool
    described: bool
    printed: bool
    lifetime: Lifetime
    values: tuple[str, ...]
    default: str
    secret: str
    copied: bool
    uncopied: str
    note: str

    @property
    def settable(self) -> bool:
        """Return whether a user can set it, with ALTER or with CREATE."""
        return self.modifiable or self.created

    @property
    def about(self) -> str:
        """Return a text about its values: the list of them, and a note; empty if nothing is known."""
        return "; ".join(part for part in (", ".join(self.values), self.note) if part)


@dataclass(frozen=True, kw_only=True)
class ObjectType:
    """One object type.

    Attributes:
        name: in capitals, ``GRIDDISK``.
        element: its tag in XML output.
        verbs: the verbs that take it, in capitals.
        list_name, list_names, list_filter: whether LIST takes one name, several names, a WHERE.
        default_columns: the columns of LIST without ATTRIBUTES.
        attributes: in DESCRIBE order, keyed by the lower-case name.
    """

    name: str
    element: str
    verbs: frozenset[str]
    list_name: bool
    list_names: bool
    list_filter: bool
    default_columns: tuple[str, ...]
    lifetime: Lifetime
    attributes: Mapping[str, Attribute] = field(repr=False)

    @property
    def open(self) -> bool:
        """Return whether its attributes are not published, so that any name may be an attribute."""
        return len(self.attributes) < 2

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute called ``name`` (in any case); None if there is none."""
        return self.attributes.get(name.lower())

    def canonical(self, name: str) -> str:
        """Return ``name`` as CellCLI prints it (camelCase); unchanged if it is not known."""
        found = self.attributes.get(name.lower())
        return found.name if found else name


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric's definition; ``unit`` is ``Number`` for plain counts."""

    name: str
    object_type: str
    metric_type: str
    unit: str
    fine_grained: str
    streaming: str
    retention_policy: str


@cache
def objects() -> Mapping[str, ObjectType]:
    """Return every object type, keyed by its name in capitals, in alphabetical order."""
    attributes: dict[str, list[list[str]]] = {}
    for row in _rows("attributes.tsv"):
        attributes.setdefault(row[0], []).append(row)
    found: dict[str, ObjectType] = {}
    for name, element, verbs, forms, columns, since, until in _rows("objects.tsv"):
        found[name] = ObjectType(
            name=name,
            element=element,
            verbs=frozenset(_items(verbs)),
            list_name="name" in _items(forms),
            list_names="names" in _items(forms),
            list_filter="filter" in _items(forms),
            default_columns=_items(columns),
            lifetime=_lifetime(since, until),
            attributes=_Attributes(attributes.get(name, [])),
        )
    return MappingProxyType(found)


class _Attributes(Mapping[str, Attribute]):
    """One object type's attributes by their lower-case names; created on first use, because a statement uses one object of 60."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows, self._made = rows, dict[str, Attribute]()

    def __getitem__(self, name: str) -> Attribute:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._rows)

    def _all(self) -> dict[str, Attribute]:
        if not self._made:
            self._made = {row[1].lower(): _attribute(*row) for row in self._rows}
        return self._made


def _attribute(
    owner: str,
    name: str,
    kind: str,
    flags: str,
    since: str,
    until: str,
    values: str,
    *rest: str,
) -> Attribute:
    """Return the attribute of a row of attributes.tsv."""
    default, secret, copied, _detail, note = rest
    return Attribute(
        object=owner,
        name=name,
        kind=Kind(kind),
        modifiable="m" in flags,
        created="c" in flags,
        hidden=not _HIDDEN.isdisjoint(flags),
        described=_UNDESCRIBED.isdisjoint(flags),
        printed="w" not in flags,
        lifetime=_lifetime(since, until),
        values=() if values == _ABSENT or ".." in values else tuple(values.replace("+", "|").split("|")),
        default=_text(default),
        secret=_text(secret),
        copied=copied == "yes",
        uncopied=copied.removeprefix("no: ") if copied.startswith("no: ") else "",
        note=_text(note),
    )


DBSERVER = "DBSERVER"
"""The object type of a database server; DBMCLI has it, cells don't."""

ON_NODES = frozenset(
    (
        DBSERVER,
        *("ALERTDEFINITION", "ALERTHISTORY", "DIAGPACK", "IBPORT", "IORMPLAN", "LUN", "METRICCURRENT"),
        *("METRICDEFINITION", "METRICHISTORY", "PHYSICALDISK", "ROLE", "THRESHOLD", "USER"),
    )
)
"""Object types that DBMCLI lists on a database node. Source: Oracle DBMMN, dbmcli-command-reference, list."""


@cache
def _dbserver() -> ObjectType:
    attributes = {
        name.lower(): Attribute(
            object=DBSERVER,
            name=name,
            kind=Kind(kind),
            modifiable="m" in flags,
            created=False,
            hidden=False,
            described=True,
            printed=True,
            lifetime=_lifetime(since, until),
            values=(),
            default="",
            secret="",
            copied=False,
            uncopied="",
            note="",
        )
        for name, kind, flags, since, until in _rows("dbserver.tsv")
    }
    return ObjectType(
        name=DBSERVER,
        element="dbserver",
        verbs=frozenset(("LIST", "DESCRIBE", "ALTER")),
        list_name=True,
        list_names=False,
        list_filter=True,
        default_columns=("name", "status"),
        lifetime=_lifetime("-", "-"),
        attributes=MappingProxyType(attributes),
    )


def find_object(word: str) -> ObjectType | None:
    """Return the object type that ``word`` names exactly (in any case); None if there is none.

    This includes DBMCLI's DBSERVER, which :func:`objects` does not contain, because cells don't have it.
    """
    name = word.upper()
    return _dbserver() if name == DBSERVER else objects().get(name)


def attributes_of(word: str) -> Mapping[str, Attribute]:
    """Return the attributes of an object type by their names in lower case; empty for an unknown type."""
    found = find_object(word)
    return found.attributes if found is not None else {}


def objects_of(verb: str) -> tuple[ObjectType, ...]:
    """Return the object types that ``verb`` takes, in alphabetical order; empty for an unknown verb."""
    return tuple(found for found in objects().values() if verb.upper() in found.verbs)


@dataclass(frozen=True, kw_only=True)
class Secret:
    """A name whose value must not be shown or stored.

    Attributes:
        place: ``attribute``, ``inside`` (in the parentheses of an attribute), or ``clause`` (after ASSIGN KEY FOR).
    """

    object: str
    name: str
    place: str


@cache
def secrets() -> tuple[Secret, ...]:
    """Return the names whose values are secret, in the table's order.

    Every statement is searched for them, so only the necessary columns of the table are read.
    """
    found = ((row[0], row[1], row[8]) for row in _rows("attributes.tsv"))
    return tuple(
        Secret(object=owner, name=part, place=place)
        for owner, name, secret in found
        if secret != _ABSENT
        for place, part in _secret_names(name, secret)
    )


_WHOLE = {"value": "attribute", "clause": "clause"}


def _secret_names(name: str, secret: str) -> list[tuple[str, str]]:
    """Return (place, name) for an attribute's secrets according to the table: the whole value, or names in its parentheses."""
    return [(_WHOLE[secret], name)] if secret in _WHOLE else [("inside", part) for part in secret.split(",")]


@cache
def metrics() -> Mapping[str, Metric]:
    """Return the definition of every metric of a known release, keyed by its name in capitals.

    Those of a 24.x cell come first, in the table's order, then those that only earlier releases have.
    """
    return MappingProxyType(
        {
            name: Metric(
                name=name,
                object_type=object_type,
                metric_type=metric_type,
                unit=unit,
                fine_grained=fine_grained,
                streaming=streaming,
                retention_policy=retention,
            )
            for table in ("metrics.tsv", "metrics_former.tsv")
            for name, object_type, metric_type, unit, fine_grained, streaming, retention in _rows(table)
        }
    )


def metric(name: str) -> Metric | None:
    """Return the metric called ``name`` (in any case); None if no known release has it."""
    return metrics().get(name.upper())


def _rows(file: str) -> Iterator[list[str]]:
    yield from (line.split("\t") for line in data_beside(__spec__, file).splitlines()[1:] if not line.startswith("#"))


def _items(text: str) -> tuple[str, ...]:
    return () if text == _ABSENT else tuple(text.split(","))


def _text(text: str) -> str:
    return "" if text == _ABSENT else text


@cache
def _lifetime(since: str, until: str) -> Lifetime:
    return Lifetime(since=_text(since), until=_text(until))


Value = str | int | float | bool | tuple[str, ...] | None
"""A typed value; None when the cell printed nothing."""

METRIC_VALUES = ("metricValue", "metricValueAvg", "metricValueMax", "metricValueMin")
"""Attributes that are a number and a unit."""

_NUMBER = pattern(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_METRIC = pattern(rf"({_NUMBER.pattern})(?:\s+(\S.*))?")
_MILLISECONDS = pattern(r"\d{12,14}")


def values(record: Mapping[str, str], object_type: str) -> dict[str, Value]:
    """Return ``record`` with typed values, by the kinds that the schema gives the attributes of ``object_type``.

    Sizes become bytes, INT and NUMBER numbers, BOOL bools, lists tuples, times ISO 8601 (the milliseconds of XML in
    UTC), an empty text None. A metric's value becomes a number, and ``unit`` is added right after it. A text that does not fit
    its kind stays text, and so does an unknown attribute.
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
    """Return the kind of an attribute; STRING if it is unknown."""
    found = find_object(object_type)
    attribute = found.attribute(name) if found is not None else None
    return attribute.kind if attribute is not None else Kind.STRING


def typed_value(text: str, kind: Kind) -> Value:
    """Return ``text`` as a value of ``kind``; None if it is empty, and ``text`` itself if it does not fit the kind."""
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
    """Return the number and the unit of ``3,418 IO requests``; the unit is empty if it is not printed, as in XML.

    A text that does not begin with a number is returned unchanged.
    """
    match = _METRIC.fullmatch(text.strip())
    return (_number(match[1]), match[2] or "") if match else (text, "")


def known_unit(name: str) -> str:
    """Return the unit of a metric; empty if it is not known."""
    known = metric(name)
    return known.unit if known else ""


def _number(text: str) -> int | float:
    digits = text.replace(",", "")
    return int(digits) if digits.lstrip("+-").isdigit() else float(digits)


def _iso_time(milliseconds: str) -> str:
    from datetime import UTC, datetime, timedelta  # only for XML

    moment = datetime.fromtimestamp(0, tz=UTC) + timedelta(milliseconds=int(milliseconds))
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
