"""Find the parts of a statement that a cell's release does not have.

The grammar accepts a statement that any known release has; this is the second check, when the cell's release is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from exacell.cellcli.nodes import Change, List, Media, Statement, Verb
from exacell.cellcli.schema import Lifetime, find_object
from exacell.cellcli.statement import parse, render

_ORDERED = Lifetime(since="12.1.2.1")
_MEDIA = Lifetime(since="24.1")
_ACTIONS: Mapping[tuple[str, str], Lifetime] = {
    ("FLASHCACHE", "FLUSH"): Lifetime(since="11.2.3.2.0"),
    ("FLASHCACHE", "CANCEL FLUSH"): Lifetime(since="11.2.3.2.0"),
    ("CELLDISK", "FLUSH"): Lifetime(since="11.2.3.2.0"),
    ("CELLDISK", "CANCEL FLUSH"): Lifetime(since="11.2.3.2.0"),
    ("GRIDDISK", "FLUSH"): Lifetime(since="11.2.3.2.0"),
    ("GRIDDISK", "CANCEL FLUSH"): Lifetime(since="11.2.3.2.0"),
    ("IORMPLAN", "ACTIVE"): Lifetime(until="11.2.3.2.0"),
    ("IORMPLAN", "INACTIVE"): Lifetime(until="11.2.3.2.0"),
    ("CELL", "DISABLE SERVICES"): Lifetime(since="25.1"),
}
"""Source: Oracle SAGUG, what's new passages of alter-flashcache, alter-iormplan, alter-cell."""


def missing(statement: Statement, release: str) -> tuple[str, ...]:
    """Return the parts of ``statement`` that ``release`` does not have, one line each; empty if it has all of them."""
    return tuple(_missing(statement, release))


def ended_action(statement: Change, release: str) -> str:
    """Return one line if ``release`` no longer has the action of a statement; empty if it has it, or if only a later release
    has it.
    """
    action = _ACTIONS.get((statement.object, statement.action))
    if action is None or not action.until or action.includes(release):
        return ""
    return _line(f"{statement.verb} {statement.object} {statement.action}", action, release)


@lru_cache(maxsize=1024)
def fitted(statement: str, release: str) -> str | None:
    """Return the LIST ``statement`` without the attributes that ``release`` does not have; None if it does not have the object.

    Other parts that the release may not have (a condition, an order) are kept, so that the cell itself reports them. A
    statement that needs no change is returned as it is.
    """
    listed = parse(statement)
    found = find_object(listed.object)
    if not isinstance(listed, List) or found is None:
        return statement
    if not found.lifetime.includes(release):
        return None
    known = tuple(
        name
        for name in listed.attributes
        if (attribute := found.attribute(name)) is None or attribute.lifetime.includes(release)
    )
    return statement if known == listed.attributes else render(replace(listed, attributes=known))


def _missing(statement: Statement, release: str) -> Iterator[str]:
    found = find_object(statement.object)
    if found is None:
        return
    if not found.lifetime.includes(release):
        yield _line(found.name, found.lifetime, release)
        return
    for name in _attributes(statement):
        attribute = found.attribute(name)
        if attribute is not None and not attribute.lifetime.includes(release):
            yield _line(f"{found.name} {attribute.name}", attribute.lifetime, release)
    if isinstance(statement, List) and not _ORDERED.includes(release):
        if statement.order_by:
            yield _line("ORDER BY", _ORDERED, release)
        if statement.limit is not None:
            yield _line("LIMIT", _ORDERED, release)
    if isinstance(statement, Change):
        action = _ACTIONS.get((statement.object, statement.action))
        if action is not None and not action.includes(release):
            yield _line(f"{statement.verb} {statement.object} {statement.action}", action, release)
        if statement.media in (Media.PERFORMANCE, Media.CAPACITY) and not _MEDIA.includes(release):
            yield _line(statement.media.value, _MEDIA, release)


def _attributes(statement: Statement) -> dict[str, None]:
    names: list[str] = []
    if isinstance(statement, List):
        names += [*statement.attributes, *(order.attribute for order in statement.order_by)]
    if isinstance(statement, List | Change):
        names += [condition.attribute for condition in statement.filters]
    if isinstance(statement, Change) and statement.verb in (Verb.ALTER, Verb.CREATE):
        names += [setting.attribute for setting in statement.settings]
    return dict.fromkeys(names)


def _line(what: str, lifetime: Lifetime, release: str) -> str:
    if lifetime.since and not Lifetime(since=lifetime.since).includes(release):
        return f"{what} exists from release {lifetime.since} on; the cell runs {release}"
    return f"{what} does not exist any more from release {lifetime.until} on; the cell runs {release}"
