"""ALTER IORMPLAN: the rules of its directives. A new plan replaces the old one as a whole.

Source: reference cellcli.md 7; Oracle SAGUG, alter-iormplan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exacell.core.units import MIB
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import Release
from exacell.emulator.cell.iorm_models import Directive
from exacell.emulator.grammar.changes import (
    AlterIormPlan,
)
from exacell.emulator.grammar.changing import size_of
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, require_cellsrv

OBJECTIVES = ("basic", "auto", "low_latency", "balanced", "high_throughput")
_CATCH_ALL = ("default", "other")
_MAX_SHARED, _MAX_ALLOCATED, _MAX_SHARES = 1024, 32, 32768
_MIN_CACHE = 4 * MIB
_MAX_PROFILES, _PROFILES_UNTIL = 8, (12, 2)
"""A dbplan of 12.1 has at most eight profiles. Source: reference cellcli.md 7.1."""


def alter(place: Place, statement: AlterIormPlan) -> Effects:
    """Replace the objective and the plans in the statement; nothing changes if one of them breaks a rule."""
    cell, release = place.cell, place.rack.release.number
    require_cellsrv(cell)
    objective = cell.iorm.objective
    if statement.objective is not None:
        objective = statement.objective.lower()
        if objective not in OBJECTIVES:
            rule = f"objective must be one of {', '.join(OBJECTIVES)}"
            raise CellError(Code.IORM_RULE, rule=rule)
    plans = {name: check_plan(name, plan, release) for name, plan in statement.plans.items()}
    db_plan = plans.get("dbplan", cell.iorm.db_plan)
    cat_plan = plans.get("catplan", cell.iorm.cat_plan)
    _check_profiles(db_plan, cat_plan, release)
    cell.iorm.objective = objective
    cell.iorm.active = cell.iorm.active if statement.active is None else statement.active
    cell.iorm.db_plan, cell.iorm.cat_plan = db_plan, cat_plan
    cell.iorm.cluster_plan = plans.get("clusterplan", cell.iorm.cluster_plan)
    yield line("IORMPLAN successfully altered")


def _broken(rule: str) -> CellError:
    return CellError(Code.IORM_RULE, rule=rule)


def _check_profiles(db_plan: tuple[Directive, ...], cat_plan: tuple[Directive, ...], release: Release) -> None:
    """Raise CellError if profiles are used beside a catplan, or if there are too many. Source: reference cellcli.md 7.1."""
    profiles = [d for d in db_plan if (d.get("type") or "").lower() == "profile"]
    if profiles and cat_plan:
        raise _broken(f"profile {profiles[0].name} in dbplan cannot be combined with a catplan")
    if release < _PROFILES_UNTIL and len(profiles) > _MAX_PROFILES:
        raise _broken(f"dbplan has more than {_MAX_PROFILES} profiles")


def _share(name: str, text: str) -> None:
    if not text.isdecimal() or not 1 <= int(text) <= 32:
        raise CellError(Code.IORM_SHARE, value=text)


def _within(low: int, high: int) -> Callable[[str, str], None]:
    def check(name: str, text: str) -> None:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise _broken(f"{name} must be a whole number from {low} to {high}, not {text}")

    return check


def _one_of(*words: str) -> Callable[[str, str], None]:
    def check(name: str, text: str) -> None:
        if text.lower() not in words:
            raise _broken(f"{name} must be {' or '.join(words)}, not {text}")

    return check


def _cache_size(name: str, text: str) -> None:
    if size_of(text, name) < _MIN_CACHE:
        raise _broken(f"{name} must be at least 4M, not {text}")


def _any(name: str, text: str) -> None:
    if not text:
        raise _broken(f"{name} has no value")


_SWITCH = _one_of("on", "off")
_ATTRIBUTES: dict[str, tuple[Callable[[str, str], None], Release, Release | None]] = {
    "share": (_share, (11, 2, 3, 1), None),
    "level": (_within(1, 8), (11, 2), None),
    "allocation": (_within(0, 100), (11, 2), None),
    "limit": (_within(1, 100), (11, 2), None),
    "flashcache": (_SWITCH, (11, 2), None),
    "flashlog": (_SWITCH, (11, 2), None),
    "role": (_one_of("primary", "standby"), (11, 2), None),
    "type": (_one_of("database", "profile"), (12, 1, 2), None),
    "flashcachemin": (_cache_size, (12, 1, 2), None),
    "flashcachelimit": (_cache_size, (12, 1, 2), None),
    "flashcachesize": (_cache_size, (12, 2, 1, 1), None),
    "asmcluster": (_any, (19, 1), None),
    "pmemcache": (_SWITCH, (19, 3), None),
    "pmemlog": (_SWITCH, (19, 3), None),
    "pmemcachemin": (_cache_size, (19, 3), None),
    "pmemcachelimit": (_cache_size, (19, 3), None),
    "pmemcachesize": (_cache_size, (19, 3), None),
    "xrmemcache": (_SWITCH, (23, 1), None),
    "xrmemlog": (_SWITCH, (23, 1), None),
    "xrmemcachemin": (_cache_size, (23, 1), None),
    "xrmemcachelimit": (_cache_size, (23, 1), None),
    "xrmemcachesize": (_cache_size, (23, 1), None),
}
_ALLOWED = {
    "dbplan": frozenset(_ATTRIBUTES),
    "catplan": frozenset(("level", "allocation")),
    "clusterplan": frozenset(
        (
            "share",
            "limit",
            *("flashcachemin", "flashcachelimit", "flashcachesize"),
            *("xrmemcachemin", "xrmemcachelimit", "xrmemcachesize"),
        )
    ),
}


def check_plan(name: str, plan: tuple[Directive, ...], release: Release) -> tuple[Directive, ...]:
    """Return ``plan`` if it meets all rules of the plan called ``name``.

    Raises:
        CellError: CELL-00006 for allocations over 100 % on a level, CELL-00023 for a share, else an emulated code that
            names the rule.
    """
    if not plan:
        return plan
    for directive in plan:
        _check_directive(name, directive, release)
    identities = [_identity(directive) for directive in plan]
    for identity in identities:
        if identities.count(identity) > 1:
            raise _broken(f"directive {identity[0]} occurs twice in {name}")
    shared = [directive for directive in plan if directive.get("share") is not None]
    allocated = [directive for directive in plan if directive.get("level") is not None]
    if shared and allocated:
        raise _broken(f"share and level with allocation cannot be mixed in {name}")
    if allocated or name == "catplan":
        _check_allocations(name, plan, allocated)
    elif len(plan) > _MAX_SHARED or sum(int(d.get("share") or 1) for d in plan) > _MAX_SHARES:
        raise _broken(f"{name} has more than {_MAX_SHARED} directives or {_MAX_SHARES} shares")
    return plan


def _identity(directive: Directive) -> tuple[str, str, str, str]:
    found = dict(directive.attributes)
    return (
        found["name"].lower(),
        found.get("role", "").lower(),
        found.get("type", "database").lower(),
        found.get("asmcluster", "").lower(),
    )


def _check_allocations(name: str, plan: tuple[Directive, ...], allocated: list[Directive]) -> None:
    if not any(directive.name.lower() == "other" for directive in plan):
        raise _broken(f"{name} with allocations needs a directive for OTHER")
    if len(plan) > _MAX_ALLOCATED:
        raise _broken(f"{name} with allocations has more than {_MAX_ALLOCATED} directives")
    totals: dict[str, int] = {}
    for directive in allocated:
        level = directive.get("level") or ""
        totals[level] = totals.get(level, 0) + int(directive.get("allocation") or 0)
    for level, total in sorted(totals.items()):
        if total > 100:
            raise CellError(Code.IORM_ALLOCATION, level=level)


def _check_directive(plan: str, directive: Directive, release: Release) -> None:
    names = [name for name, _value in directive.attributes]
    if names[0] != "name":
        raise _broken("name must be the first attribute of a directive")
    if not directive.name or directive.name.startswith("_"):
        raise _broken(f"'{directive.name}' is not a name: it may not be empty or start with _")
    if len(names) < 2:
        raise _broken(f"directive {directive.name} has no attribute besides its name")
    if len(set(names)) < len(names):
        raise _broken(f"directive {directive.name} has an attribute twice")
    for name, text in directive.attributes[1:]:
        known = _ATTRIBUTES.get(name)
        if known is None or release < known[1] or name not in _ALLOWED[plan]:
            raise _broken(f"{name} is not an attribute of a {plan} directive")
        known[0](name, text)
    _check_together(directive, dict(directive.attributes))


def _check_together(directive: Directive, found: Mapping[str, str]) -> None:
    name = directive.name
    if ("level" in found) != ("allocation" in found):
        raise _broken(f"directive {name} needs level and allocation together")
    if "share" in found and "level" in found:
        raise _broken(f"directive {name} cannot have share and level")
    if name.lower() in _CATCH_ALL and ("role" in found or "type" in found):
        raise _broken(f"directive {name} cannot have role or type")
    sizes = [a for a in ("flashcachemin", "flashcachelimit", "flashcachesize") if a in found]
    if found.get("flashcache", "on").lower() == "off" and sizes:
        raise _broken(f"directive {name} cannot have {sizes[0]} with flashcache=off")
    if "flashcachesize" in found and "flashcachelimit" in found:
        raise _broken(f"directive {name} cannot have flashcachesize and flashcachelimit")
    upper = next((found[a] for a in ("flashcachesize", "flashcachelimit") if a in found), None)
    if upper is not None and "flashcachemin" in found and size_of(found["flashcachemin"]) > size_of(upper):
        raise _broken(f"flashcachemin of directive {name} is larger than {upper}")
