"""Change and compare IORM plans: the attributes of a database, changes of one directive, differences of two plans.

ALTER IORMPLAN replaces a plan as a whole, so a tool that changes one directive must send all others unchanged. Only the
changed parts are validated. Source: Oracle SAGUG, alter-iormplan and its pages on dbplan, share, allocation-and-level, limit,
name, role, type, asmcluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from exacell.cellcli.directives import (
    ALLOCATION,
    CACHES,
    DATABASE,
    IDENTITY,
    QUOTAS,
    Directive,
    DirectiveAttribute,
    DirectiveName,
    IormPlan,
    find,
    parse,
    render,
)
from exacell.core.errors import RefusedError, StatementError, UnitError
from exacell.core.units import parse_size
from exacell.core.values import dataclass

__all__ = [
    "DEFAULT",
    "OTHER",
    "Directive",
    "DirectiveAttribute",
    "DirectiveChange",
    "DirectiveName",
    "IormPlan",
    "against_rules",
    "diff",
    "find",
    "inherited",
    "over_allocated",
    "parse",
    "remove",
    "render",
    "set_attributes",
]

DEFAULT = "default"
"""The directive in share plans for databases without their own."""
OTHER = "other"
"""The directive in allocation plans for databases without their own."""

_SWITCHES = ("flashcache", "flashlog", "pmemcache", "pmemlog", "xrmemcache", "xrmemlog")
_RANGES: Mapping[str, tuple[int, int]] = {"share": (1, 32), "limit": (1, 100), "level": (1, 8), "allocation": (0, 100)}
_SMALLEST_SIZE = 4 << 20
_WORDS: Mapping[str, tuple[str, ...]] = {
    "role": ("primary", "standby"),
    "type": ("database", "profile"),
    **dict.fromkeys(_SWITCHES, ("on", "off")),
}


@dataclass(frozen=True, kw_only=True)
class DirectiveChange:
    """One difference between two plans. ``attribute`` is empty if a whole directive was added or removed.

    ``before`` and ``after`` are values of the attribute or texts of the directive; None if there was no value before, or is
    none after.
    """

    directive: str
    attribute: str
    before: str | None
    after: str | None


_WHOLE = 100
"""Percent that the directives of one level may have together: a cell answers CELL-00006 to more."""


def over_allocated(plan: IormPlan) -> str:
    """Return, as text, the level with more than 100 % allocated and its directives; empty if there is no such level.

    Directives with a role count together with those without one. Source: reference cellcli.md 1.7 (CELL-00006) and 7.1.
    """
    roles = dict.fromkeys(directive.get("role") for directive in plan.directives)
    for role in roles:
        shares: dict[str, list[tuple[str, int]]] = {}
        for directive in plan.directives:
            level, percent = directive.get("level"), directive.get("allocation") or ""
            if level and percent.isdecimal() and directive.get("role") in (None, role):
                shares.setdefault(level, []).append((directive.label, int(percent)))
        for level, given in sorted(shares.items()):
            total = sum(percent for _, percent in given)
            if total > _WHOLE:
                whose = ", ".join(f"{name} {percent}" for name, percent in given)
                return f"level {level} has {total} % allocated ({whose}); the most is {_WHOLE} %"
    return ""


def against_rules(new: IormPlan, old: IormPlan) -> str:
    """Return the rule of shares and allocations that a new value breaks; empty if no rule is broken.

    Values that a cell already has are never judged. Source: reference cellcli.md 1.7 (CELL-00023) and 7.1.
    """
    held = {directive.identity: directive for directive in old.directives}
    least, most = _RANGES["share"]
    for directive in new.directives:
        share, parts = directive.get("share"), [key for key in ALLOCATION if directive.get(key) is not None]
        before = held.get(directive.identity)
        level = directive.get("level")
        if level is not None and (before is None or before.get("level") != level) and not re.fullmatch("[1-8]", level):
            return f"{directive.label}: level is {level}; it must be 1 to 8"
        shares = share is not None and (before is None or before.get("share") != share)
        divides = [key for key in parts if before is None or before.get(key) is None]
        if shares and not (share and share.isascii() and share.isdecimal() and least <= int(share) <= most):
            return f"{directive.label}: share is {share}; it must be a whole number from {least} to {most} (CELL-00023)"
        if share is not None and parts and (shares or divides):
            return f"{directive.label}: share and {' and '.join(parts)} exclude each other"
        if shares and new.by_allocation:
            return f"{directive.label} has a share, but the plan uses level and allocation; a plan can use only one of the two"
        if divides and new.by_share:
            return f"{directive.label} has {' and '.join(parts)}, but the plan uses share: a plan can use only one of the two"
    return ""


def inherited(plan: IormPlan) -> Mapping[str, DirectiveAttribute]:
    """Return attribute (lower case) → its value for a database without a directive of its own: DEFAULT's, else OTHER's."""
    found: dict[str, DirectiveAttribute] = {}
    for name in (DEFAULT, OTHER):
        for directive in (found for found in plan.named(name) if found.identity[2] == DATABASE):
            for attribute in directive.attributes:
                if attribute.key not in IDENTITY:
                    found.setdefault(attribute.key, attribute)
    return found


def set_attributes(plan: IormPlan, wanted: DirectiveName, settings: Mapping[str, str | None]) -> IormPlan:
    """Return the plan with attributes of one directive changed (None removes one) and everything else unchanged.

    A database that gets its first own directive no longer gets the attributes of DEFAULT or OTHER, so they are copied to the new
    directive first; in a share plan without DEFAULT that is share=1.

    Raises:
        StatementError: an attribute cannot have that value, or can't be combined with another attribute of the plan.
        RefusedError: it is not clear which directive is meant, or inherited attributes cannot be copied, because databases share
            them: an allocation of OTHER, or a cache quota.
    """
    for attribute, value in settings.items():
        _check(attribute, value)
    own = find(plan, wanted)
    if own is None:
        return _check_plan(_with_new(plan, wanted, settings), settings)
    changed = tuple(_changed(found, settings) if found is own else found for found in plan.directives)
    return _check_plan(IormPlan(directives=changed), settings)


def remove(plan: IormPlan, wanted: DirectiveName) -> IormPlan:
    """Return the plan without one directive; its database then gets the attributes of DEFAULT or OTHER.

    Raises:
        RefusedError: there is no such directive, or it is not clear which one is meant.
    """
    own = find(plan, wanted)
    if own is None:
        raise RefusedError(f"the plan has no directive for {wanted.label}", hint="`show iorm` lists its directives")
    return IormPlan(directives=tuple(found for found in plan.directives if found is not own))


def diff(old: IormPlan, new: IormPlan) -> list[DirectiveChange]:
    """Return the differences of two plans, in the order of ``old``, then new directives; empty if the plans mean the same.

    The order of directives and attributes, the case of names and words, quotes, and the spelling of sizes are ignored.
    """
    before = {found.identity: found for found in old.directives}
    after = {found.identity: found for found in new.directives}
    changes: list[DirectiveChange] = []
    for identity, directive in before.items():
        if identity in after:
            changes += _attribute_changes(directive, after[identity])
        else:
            changes.append(DirectiveChange(directive=directive.label, attribute="", before=str(directive), after=None))
    for identity, directive in after.items():
        if identity not in before:
            changes.append(DirectiveChange(directive=directive.label, attribute="", before=None, after=str(directive)))
    return changes


def _attribute_changes(old: Directive, new: Directive) -> Iterable[DirectiveChange]:
    names = dict.fromkeys(found.key for found in (*old.attributes, *new.attributes) if found.key not in IDENTITY)
    for name in names:
        before, after = old.find(name), new.find(name)
        if (before.meaning if before else None) != (after.meaning if after else None):
            yield DirectiveChange(
                directive=new.label,
                attribute=(after or before or DirectiveAttribute(name=name, value="")).name,
                before=before.value if before else None,
                after=after.value if after else None,
            )


def _with_new(plan: IormPlan, wanted: DirectiveName, settings: Mapping[str, str | None]) -> IormPlan:
    given = {attribute.lower() for attribute, value in settings.items() if value is not None}
    db = wanted.name
    own = [DirectiveAttribute(name=key, value=value, quote=_quote(value)) for key, value in wanted.identity]
    special = db.lower() in (DEFAULT, OTHER)
    gets = {} if special else inherited(plan)
    for attribute in gets.values():
        if attribute.key in given:
            continue
        if attribute.key in QUOTAS:
            raise RefusedError(
                f"{db} has no directive of its own: it shares {attribute.name}={attribute.value} with all databases"
                " that have none, and its own part is not known",
                hint=f"give its part: `set iorm db={db} {attribute.name}=…`",
            )
        if attribute.key in ALLOCATION:
            continue
        own.append(attribute)
    if plan.by_allocation and not special and not set(ALLOCATION) <= given:
        raise RefusedError(
            f"{db} has no directive of its own: in this allocation plan it would leave OTHER, whose allocation would"
            " have to be split",
            hint=f"give its part: `set iorm db={db} level=… allocation=…`",
        )
    if plan.by_share and "share" not in given and "share" not in gets:
        own.append(DirectiveAttribute(name="share", value="1"))
    directive = _changed(Directive(attributes=tuple(own)), settings)
    if all(attribute.key in IDENTITY for attribute in directive.attributes):
        return plan
    # DEFAULT and OTHER are written last.
    place = next((i for i, d in enumerate(plan.directives) if d.name.lower() in (DEFAULT, OTHER)), len(plan.directives))
    if special:
        place = len(plan.directives)
    return IormPlan(directives=(*plan.directives[:place], directive, *plan.directives[place:]))


def _quote(value: str) -> str:
    """Return the quotes for a typed name: none if it consists of letters, digits and _ only."""
    return "" if re.fullmatch(r"\w+", value, re.ASCII) else '"' if "'" in value else "'"


def _changed(directive: Directive, settings: Mapping[str, str | None]) -> Directive:
    for attribute, value in settings.items():
        directive = directive.with_value(attribute, value)
    return directive


def _check(attribute: str, value: str | None) -> None:
    key = attribute.lower()
    if key == "name":
        raise StatementError("the name of a directive cannot be changed", hint="remove it and set a new one")
    if value is None:
        return
    if key in _WORDS and value.lower() not in _WORDS[key]:
        raise StatementError(f"{attribute}={value} is not possible; it can be {' or '.join(_WORDS[key])}")
    if key in _RANGES:
        low, high = _RANGES[key]
        if not (value.isascii() and value.isdigit()) or not low <= int(value) <= high:
            raise StatementError(f"{attribute}={value} is not possible; it must be a whole number from {low} to {high}")
    if key in QUOTAS:
        try:
            size = parse_size(value)
        except UnitError as error:
            raise StatementError(f"{attribute}={value} is not possible: {error.message}") from error
        if size < _SMALLEST_SIZE:
            raise StatementError(f"{attribute}={value} is not possible: the smallest is 4M")


def _check_plan(plan: IormPlan, settings: Mapping[str, str | None]) -> IormPlan:
    """Return ``plan``; raise StatementError if an attribute that was set can't be combined with another one in it."""
    given = {attribute.lower() for attribute, value in settings.items() if value is not None}
    if (given & {"share"} and plan.by_allocation) or (given & set(ALLOCATION) and plan.by_share):
        raise StatementError("a plan can't have both share and level/allocation", hint="reset the plan first")
    for directive in plan.directives:
        for cache in CACHES:
            parts = [
                f"{cache}{part}" for part in ("min", "limit", "size") if directive.get(f"{cache}{part}") is not None
            ]
            if not given & {cache, *parts}:
                continue
            if parts and (directive.get(cache) or "").lower() == "off":
                raise StatementError(f"{directive.label}: it can have only one of {cache}=off and {', '.join(parts)}")
            if f"{cache}size" in parts and f"{cache}limit" in parts:
                raise StatementError(f"{directive.label}: it can have only one of {cache}size and {cache}limit")
    return plan
