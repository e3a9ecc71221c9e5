"""The emulator's own reader of the schema data that it shares with the client.

Objects, attributes and metric definitions are data (``exacell/cellcli/data/*.tsv``); the code here that uses them belongs to
the emulator alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from types import MappingProxyType

Release = tuple[int, ...]
"""A release as numbers, ``(19, 3, 2)``; longer is later."""


def release_of(text: str) -> Release:
    """Return ``19.3.2`` as ``(19, 3, 2)``."""
    return tuple(int(part) for part in text.split("."))


def _bound(text: str) -> Release | None:
    return None if text == "-" else release_of(text)


def _within(release: Release, since: Release | None, until: Release | None) -> bool:
    return (since is None or release >= since) and (until is None or release < until)


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """One attribute of an object type, as its line in the table declares it.

    Attributes:
        modifiable: ALTER can change it; ``modifiable_since`` is the first release whose DESCRIBE shows this, None if all do.
        created: CREATE sets it, and it can't be changed.
        hidden: not in DETAIL, but may be named in ATTRIBUTES.
        described: in DESCRIBE; an attribute that is not is hidden too. ``described_until`` is the first release whose DESCRIBE
            leaves it out.
        written_only: it is never printed.
        values: its possible values; with ``several`` any of them, separated by commas. Empty if it may be any value of its kind.
        range: its smallest and its largest whole number, None for no limit; None if it is not a whole number.
        default: the value that is printed if none was set; empty for none.
        secret: it is never shown in full.
        copied: a copy of a rack gets the rack's value.
        titled_since, titled_until: of the releases that have it, those whose DETAIL prints it.
        detail_before: the attribute before which DETAIL of old releases prints it; empty if it has its usual place.
        detail_end: the group at the end in which they print it, 1 before 2; 0 if it has its usual place.
    """

    name: str
    kind: str
    modifiable: bool
    hidden: bool
    since: Release | None
    until: Release | None
    modifiable_since: Release | None = None
    created: bool = False
    described: bool = True
    described_until: Release | None = None
    written_only: bool = False
    values: tuple[str, ...] = ()
    several: bool = False
    range: tuple[int, int | None] | None = None
    default: str = ""
    secret: bool = False
    copied: bool = False
    titled_since: Release | None = None
    titled_until: Release | None = None
    detail_before: str = ""
    detail_end: int = 0

    def described_in(self, release: Release) -> bool:
        """Return whether DESCRIBE of a release lists it."""
        return self.described and _within(release, None, self.described_until)

    def described_modifiable(self, release: Release) -> bool:
        """Return whether DESCRIBE of a release shows it as modifiable."""
        return self.modifiable and _within(release, self.modifiable_since, None)

    def titled_in(self, release: Release) -> bool:
        """Return whether DETAIL prints it on a release that has it."""
        return not self.hidden and _within(release, self.titled_since, self.titled_until)

    @property
    def quoted(self) -> bool:
        """Return whether values with blanks are printed in double quotes."""
        return self.kind == "text"


@dataclass(frozen=True, kw_only=True)
class ObjectType:
    """One object type: its verbs, the clauses after LIST, its XML element, and its attributes in DESCRIBE order."""

    name: str
    element: str
    verbs: frozenset[str]
    list_forms: frozenset[str]
    default_columns: tuple[str, ...]
    since: Release | None
    until: Release | None
    attributes: tuple[Attribute, ...]

    def exists_in(self, release: Release) -> bool:
        """Return whether a cell of ``release`` knows this object type."""
        return _within(release, self.since, self.until)

    def attributes_in(self, release: Release) -> tuple[Attribute, ...]:
        """Return the attributes of this type in ``release``, in DESCRIBE order."""
        return tuple(a for a in self.attributes if _within(release, a.since, a.until))

    def attribute(self, name: str, release: Release) -> Attribute | None:
        """Return the attribute of that name (upper or lower case); None if ``release`` has none."""
        return next((a for a in self._by_name.get(name.lower(), ()) if _within(release, a.since, a.until)), None)

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Attribute]]:
        """Return the attributes of all releases by lower-case name; an attribute may differ between releases."""
        found: dict[str, list[Attribute]] = {}
        for attribute in self.attributes:
            found.setdefault(attribute.name.lower(), []).append(attribute)
        return found


@dataclass(frozen=True, kw_only=True)
class MetricDefinition:
    """One metric with the releases that have it: a row of metrics.tsv, or of the metrics that a 24.x cell no longer has."""

    name: str
    object_type: str
    metric_type: str
    unit: str
    fine_grained: str
    streaming: str
    retention_policy: str
    since: Release | None
    until: Release | None

    def exists_in(self, release: Release) -> bool:
        """Return whether a cell of ``release`` has this metric."""
        return _within(release, self.since, self.until)


def rows_of(name: str, folder: str = "cellcli") -> Iterator[list[str]]:
    """Yield the fields of each line of a data file, without its header and its comments."""
    text = resources.files("exacell").joinpath(folder, "data", name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    next(lines)
    for line in lines:
        yield line.split("\t")


def _words(field: str) -> tuple[str, ...]:
    return () if field == "-" else tuple(field.split(","))


def _attribute(row: Sequence[str]) -> Attribute:
    name, kind, written, since, until, values, default, secret, copied, detail, _note = row
    flags, _, undescribed = written.partition("!")
    flags, _, modifiable_since = flags.partition("@")
    undescribed_too = "u" in flags or "w" in flags
    several, ends = "+" in values, values.split("..") if ".." in values else None
    parts = () if ends or values == "-" else values.replace("+", "|").split("|")
    looks = _words(detail)
    titled = next((look.split("..") for look in looks if ".." in look), ("", ""))
    return Attribute(
        name=name,
        kind=kind,
        modifiable="m" in flags,
        created="c" in flags,
        hidden="h" in flags or undescribed_too,
        described=not undescribed_too,
        described_until=release_of(undescribed) if undescribed else None,
        written_only="w" in flags,
        since=_bound(since),
        until=_bound(until),
        modifiable_since=release_of(modifiable_since) if modifiable_since else None,
        values=tuple(parts),
        several=several,
        range=(int(ends[0]), int(ends[1]) if ends[1] else None) if ends else None,
        default="" if default == "-" else default,
        secret=secret == "value",
        copied=copied == "yes",
        titled_since=_bound(titled[0] or "-"),
        titled_until=_bound(titled[1] or "-"),
        detail_before=next((look[1:] for look in looks if look.startswith("<")), ""),
        detail_end=next((int(look[3:]) for look in looks if look.startswith("end")), 0),
    )


@cache
def object_types() -> Mapping[str, ObjectType]:
    """Return all object types of all releases by upper-case name."""
    attributes: dict[str, list[Attribute]] = {}
    for owner, *row in rows_of("attributes.tsv"):
        attributes.setdefault(owner, []).append(_attribute(row))
    return MappingProxyType(
        {
            name: ObjectType(
                name=name,
                element=element,
                verbs=frozenset(_words(verbs)),
                list_forms=frozenset(_words(forms)),
                default_columns=_words(columns),
                since=_bound(since),
                until=_bound(until),
                attributes=tuple(attributes.get(name, ())),
            )
            for name, element, verbs, forms, columns, since, until in rows_of("objects.tsv")
        }
    )


@cache
def metric_definitions() -> Mapping[str, MetricDefinition]:
    """Return the metric definitions of all releases by name, in name order."""
    spans = [
        (re.compile(pattern), _bound(since), _bound(until))
        for pattern, since, until, _source in rows_of("metric_releases.tsv", "emulator")
    ]
    rows = [*rows_of("metrics.tsv"), *rows_of("metrics_former.tsv")]

    def span(name: str) -> tuple[Release | None, Release | None]:
        return next(((since, until) for pattern, since, until in spans if pattern.fullmatch(name)), (None, None))

    found = (
        MetricDefinition(
            name=name,
            object_type=object_type,
            metric_type=metric_type,
            unit=unit,
            fine_grained=fine_grained,
            streaming=streaming,
            retention_policy=retention,
            since=span(name)[0],
            until=span(name)[1],
        )
        for name, object_type, metric_type, unit, fine_grained, streaming, retention in rows
    )
    return MappingProxyType({d.name: d for d in sorted(found, key=lambda d: d.name)})


@cache
def metrics_in(release: Release) -> Mapping[str, MetricDefinition]:
    """Return the metric definitions of a cell of ``release`` by name, in name order."""
    return MappingProxyType({name: d for name, d in metric_definitions().items() if d.exists_in(release)})
