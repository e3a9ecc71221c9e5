"""Find statements that would change nothing on their targets, as a separate LIST shows. Pure.

Statements that the planners' usual facts can judge are in :mod:`exacell.plan.guards.already`. A statement counts as unchanged
only if that is certain; every other statement is sent as typed.

LIST ROLE shows a privilege as ``object=griddisk, verb=list, attributes=all attributes, options=all options``. Source: Oracle
DBMMN, "LIST ROLE", whose example has one. The form for several privileges is not published, so a text that does not consist
of such parts only is not used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.iorm import diff, parse
from exacell.cellcli.schema import Kind, attributes_of, release_key, typed_value
from exacell.cellcli.statement import Change, Grant, Scalar, Setting, Statement, Verb, render, render_value
from exacell.core.errors import ExacellError
from exacell.core.meant import absent
from exacell.core.units import format_size
from exacell.plan.facts import CellFacts
from exacell.plan.guards.targets import DISKS
from exacell.plan.model import Change as Moved, Plan, Undo

_OBJECTS = frozenset(("CELL", "CELLDISK", "GRIDDISK", "THRESHOLD"))
"""Objects whose settings LIST prints as they were given."""

_NAMED = frozenset(("THRESHOLD", "ROLE", "USER"))
"""Objects whose DROP only removes the object with that name."""

_DOES = frozenset(("events",))
"""Attributes that have an effect each time they are set."""

_STATUS = {"RS": "rsStatus", "MS": "msStatus", "CELLSRV": "cellsrvStatus"}
"""Service of every cell → the attribute of LIST CELL with its state."""

_EXASCALE = {
    "EGS": "egsStatus",
    "ERS": "ersStatus",
    "SYSEDS": "sysEdsStatus",
    "USREDS": "usrEdsStatus",
    "BSM": "bsmStatus",
    "BSW": "bswStatus",
    "IFD": "ifdStatus",
}
"""The same for services of Exascale, from release 24.1 on. Whether ALL includes one that does not run is not documented."""

_LIGHTS = {"LED": "locatorLEDStatus", "DONOTSERVICELED": "doNotServiceLEDStatus"}
"""Light → the attribute of LIST CELL with its state. Source: Oracle SAGUG, alter-cell and describe-cell."""

_SERVICES = f"list cell attributes name, {', '.join((*_STATUS.values(), *_EXASCALE.values()))}, releaseVersion"

_ROLES = "list user attributes name, roles"

_MORE_SERVICES, _NEWEST = "24.1", "99"

_ANY_CASE = frozenset(("flashcachemode", "pmemcachemode", "cachingpolicy", "status"))
"""Attributes whose values are words of CellCLI, which may be printed in another case than typed."""


def told_by(statement: Statement) -> str:
    """Return the LIST that shows whether a statement changes anything; empty if no LIST does.

    It exists for ALTER of plain attributes, DROP by name, CREATE ROLE, USER and THRESHOLD, roles granted to users, one privilege
    granted in full, a cell's lights, and services that are started or stopped; not for a stop of MS, which must answer LIST.
    Exascale's services also have a state. For DROP QUARANTINE the LIST only shows which quarantines exist. CREATE KEY makes
    another key each time, so that it has no such LIST.
    """
    if isinstance(statement, Grant):
        if statement.object == "PRIVILEGE":
            return _privileges_told_by(statement)
        return _ROLES if "ALL" not in (*statement.granted, *statement.recipients) else ""
    if not isinstance(statement, Change):
        return ""
    if statement.object == "CELL" and _services(statement):
        return _SERVICES
    if statement.object == "CELL" and statement.action in _LIGHTS:
        return f"list cell attributes name, {_LIGHTS[statement.action]}"
    if _drops(statement) or _makes(statement) or _frees(statement):
        return f"list {statement.object.lower()} attributes name"
    if statement.object not in _OBJECTS or not _plain(statement):
        return ""
    known = attributes_of(statement.object)
    names = [setting.attribute.lower() for setting in statement.settings]
    if any(name in _DOES or name not in known for name in names):
        return ""
    spelled = [known[name].name for name in names]
    medium = ["diskType"] if statement.all and statement.object in DISKS else []
    return f"list {statement.object.lower()} attributes {', '.join(dict.fromkeys(['name', *medium, *spelled]))}"


def holds_already(statement: Change | Grant, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the statement has nothing to do: every object has its values; for DROP or REVOKE, none exists any more.

    Args:
        statement: one for which :func:`told_by` returns a LIST.
        rows: a cell's answer to :func:`told_by`. With ALL every object in them counts; of disks only those that
            :func:`exacell.plan.guards.targets.rows_meant` returns.
    """
    if isinstance(statement, Grant):
        judge = _holds_privilege if statement.object == "PRIVILEGE" else _granted
        return judge(statement, rows)
    if _services(statement):
        return _serve(statement, rows)
    if statement.action in _LIGHTS:
        return bool(rows) and all(
            str(row.get(_LIGHTS[statement.action])).lower() == statement.argument.lower() for row in rows
        )
    there = {str(row.get("name")).lower() for row in rows}
    if _makes(statement):
        return _lower(statement.names) <= there
    if statement.verb == "DROP":
        return _drops(statement) and not there & _lower(statement.names)
    meant = _meant(statement, rows)
    if not meant or (statement.names and len(meant) != len(_lower(statement.names))):
        return False
    return all(_has_one(statement, setting, row) for row in meant for setting in statement.settings)


def with_changes(plan: Plan, statement: Statement, told: Mapping[str, Sequence[Mapping[str, Any]]]) -> Plan:
    """Return the plan whose steps show the values before and after an ALTER of plain attributes or of services.

    Undo drops an object, such as a threshold, that CREATE makes because it does not exist.

    Args:
        told: cell → its answer to :func:`told_by`; cells without a usable answer are left out.
    """
    if isinstance(statement, Change) and statement.verb == "CREATE" and statement.object in _NAMED and statement.names:
        return _with_drops(plan, statement, told)
    if not isinstance(statement, Change) or statement.verb != "ALTER":
        return plan
    return plan.each(lambda s: replace(s, changes=_changes(statement, told[s.target])) if s.target in told else s)


def _with_drops(plan: Plan, statement: Change, told: Mapping[str, Sequence[Mapping[str, Any]]]) -> Plan:
    """Return the plan with a DROP as inverse, on cells whose answer shows that the object does not exist."""
    made = {name.lower() for name in statement.names}
    cells = [cell for cell, rows in told.items() if not made & {str(row.get("name")).lower() for row in rows}]
    drop = render(Change(verb=Verb.DROP, object=statement.object, names=statement.names))
    back = {cell: (drop,) for cell in plan.targets if cell in cells}
    taken = plan.each(lambda s: replace(s, undo=Undo.STATEMENT, inverse=drop) if s.target in back else s)
    return replace(taken, inverse={**taken.inverse, **back})


def _changes(statement: Change, rows: Sequence[Mapping[str, Any]]) -> tuple[Moved, ...]:
    """Return each changed attribute, per object; also the states of services that start or stop, and of lights."""
    after = "running" if statement.action == "STARTUP SERVICES" else "stopped"
    lights = (_LIGHTS[statement.action],) if statement.action in _LIGHTS else ()
    if lights:
        after = statement.argument.lower()
    if services := _services(statement) or lights:
        return tuple(
            Moved(object="cell", name=str(row.get("name")), attribute=name, before=str(row[name]), after=after)
            for row in rows
            for name in services
            if row.get(name) and str(row[name]).lower() != after
        )
    known = attributes_of(statement.object)
    return tuple(
        Moved(
            object=statement.object.lower(),
            name=str(row.get("name")),
            attribute=known[setting.attribute.lower()].name,
            before=_shown(row.get(known[setting.attribute.lower()].name), known[setting.attribute.lower()].kind),
            after=setting.value.text or "-",
        )
        for row in _meant(statement, rows)
        for setting in statement.settings
        if isinstance(setting.value, Scalar) and not _has_one(statement, setting, row)
    )


def _shown(value: object, kind: Kind) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if kind is Kind.SIZE and isinstance(value, int):
        return format_size(value)
    text = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
    return text or "-"


def _meant(statement: Change, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if not statement.names or str(row.get("name")).lower() in _lower(statement.names)]


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
    """Return whether the statement only sets attributes; so does CREATE THRESHOLD for an existing one."""
    odd = statement.action or statement.flags or statement.filters
    sets = statement.verb == "ALTER" or (statement.verb == "CREATE" and statement.object == "THRESHOLD")
    return sets and bool(statement.settings) and not odd


def _drops(statement: Change) -> bool:
    return statement.verb == "DROP" and statement.object in _NAMED and bool(statement.names) and not statement.flags


def _frees(statement: Change) -> bool:
    """Return whether it is DROP QUARANTINE by name; each cell has its own numbers, and reports a missing one itself."""
    return statement.verb == "DROP" and statement.object == "QUARANTINE" and bool(statement.names)


def _makes(statement: Change) -> bool:
    """Return whether it is CREATE ROLE or USER by name; an existing user is never created again, with any password."""
    return statement.verb == "CREATE" and statement.object in ("ROLE", "USER") and bool(statement.names)


def _services(statement: Change) -> tuple[str, ...]:
    """Return the attributes that show whether STARTUP or SHUTDOWN SERVICES changes anything; empty if no attribute can."""
    service = statement.argument.upper()
    one = _STATUS.get(service) or _EXASCALE.get(service)
    names = tuple(_STATUS.values()) if service == "ALL" else tuple(filter(None, (one,)))
    tells = {"STARTUP SERVICES": True, "SHUTDOWN SERVICES": "msStatus" not in names}
    return names if tells.get(statement.action) else ()


def services_of(statement: Statement) -> tuple[str, ...]:
    """Return the services, in lower case, that a statement starts and whose state LIST CELL shows; else empty."""
    if not isinstance(statement, Change) or statement.action != "STARTUP SERVICES":
        return ()
    names = _services(statement)
    return tuple(service.lower() for service, name in _STATUS.items() if name in names)


def doubt(statement: Statement, told: Mapping[str, Sequence[Mapping[str, Any]]], cells: Collection[str]) -> str:
    """Return a line for a plan whose statement may change nothing, as far as exacell knows, or names no existing object.

    Empty in all other cases.

    Args:
        told: cell → its answer to :func:`told_by`.
        cells: the cells that get the statement.
    """
    if isinstance(statement, Change) and statement.action == "STARTUP SERVICES" and statement.argument.upper() == "ALL":
        return _doubt_all([row for cell in cells for row in told.get(cell, ())])
    if isinstance(statement, Change) and statement.verb in ("ALTER", "DROP"):
        return _doubt_names(statement, [row for cell in cells for row in told.get(cell, ())], told, cells)
    if not isinstance(statement, Grant) or statement.object != "PRIVILEGE":
        return ""
    sure = all(cell in told and _tells_privilege(statement, told[cell]) for cell in cells)
    return "" if sure else _doubt_privilege(statement)


def _doubt_names(
    statement: Change, rows: Sequence[Mapping[str, Any]], told: Collection[str], cells: Collection[str]
) -> str:
    """Return a line for names that no cell has, with the most similar existing ones; empty if a cell did not answer."""
    known = [str(row.get("name")) for row in rows]
    missing = [name for name in statement.names if name.lower() not in _lower(known)]
    if not missing or not set(cells) <= set(told):
        return ""
    return absent(f"there is no {statement.object.lower()} {', '.join(missing)}", missing, known)


def _serve(statement: Change, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a cell's services have the wanted state.

    From 24.1 on ALL may include Exascale's services, which must have it too.
    """
    wanted = "running" if statement.action == "STARTUP SERVICES" else "stopped"
    names = _services(statement)
    return bool(rows) and all(
        all(str(row.get(name)).lower() == wanted for name in names) and not (len(names) > 1 and _down(row))
        for row in rows
    )


def _down(row: Mapping[str, Any]) -> list[str]:
    """Return the services of Exascale that a cell may have and that do not run or do not show their state."""
    if release_key(str(row.get("releaseVersion") or _NEWEST)) < release_key(_MORE_SERVICES):
        return []
    return [service for service, name in _EXASCALE.items() if str(row.get(name)).lower() != "running"]


def _doubt_all(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for STARTUP SERVICES ALL on cells where only services of Exascale do not run; empty if there are none."""
    ours = [row for row in rows if all(str(row.get(name)).lower() == "running" for name in _STATUS.values())]
    down = sorted({service for row in ours for service in _down(row)})
    if not down:
        return ""
    do, them = ("do", "them") if len(down) > 1 else ("does", "it")
    return (
        f"RS, MS and CELLSRV already run; {', '.join(down)} {do} not, and cells don't show whether ALL starts "
        f"{them}: it is sent each time"
    )


def _granted(statement: Grant, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether each user of a GRANT ROLE has all of the roles; for REVOKE, whether no user has any of them."""
    users = _lower(statement.recipients)
    held = {str(row.get("name")).lower(): _lower(_several(row.get("roles"))) for row in rows}
    if users - held.keys():
        return False
    roles = _lower(statement.granted)
    return all(roles <= held[u] if statement.verb == "GRANT" else roles.isdisjoint(held[u]) for u in users)


def _several(value: object) -> tuple[str, ...]:
    """Return the items of a value that LIST prints as one text, with commas or empty."""
    if isinstance(value, tuple):
        return tuple(map(str, value))
    return tuple(part.strip() for part in str(value or "").split(",") if part.strip())


def _lower(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _has_one(statement: Change, setting: Setting, row: Mapping[str, Any]) -> bool:
    held = {name.lower(): value for name, value in row.items()}
    name, wanted = setting.attribute.lower(), setting.value
    if name not in held or not isinstance(wanted, Scalar):
        return False
    # A cell removes blanks around a text.
    value, typed = held[name], typed_value(wanted.text.strip(), attributes_of(statement.object)[name].kind)
    words = isinstance(value, str) and name in _ANY_CASE and value.lower() == wanted.text.lower()
    return value == typed or words


_PRIVILEGES = "list role attributes name, privileges"

_ONE = re.compile(
    r"\s*object=\s*(?P<on>[\w ,]*?)\s*,\s*verb=\s*(?P<verb>[\w ,]*?)\s*,\s*attributes=\s*(?P<attributes>[\w ,]*?)\s*,\s*"
    r"options=\s*(?P<options>[\w ,]*?)\s*(?:[;,\n]\s*(?=object=)|\s+(?=object=)|[;,]?\s*$)",
    re.IGNORECASE,
)
_ALL = frozenset(("all",))


def _privileges_told_by(statement: Grant) -> str:
    """Return the LIST that may show whether GRANT or REVOKE PRIVILEGE changes anything; empty if no LIST can.

    It is not published how LIST ROLE shows several actions or objects at once, or a privilege without attributes and options.
    """
    alone = len(statement.granted) == len(statement.on) == 1
    said = bool(statement.attributes and statement.options)
    return _PRIVILEGES if alone and said and "ALL" not in statement.recipients else ""


def _holds_privilege(statement: Grant, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether each role has the granted privilege already; for REVOKE, whether no role has a privilege on that object.

    Args:
        statement: one for which :func:`_privileges_told_by` returns a LIST.
        rows: a cell's answer to it.
    """
    held = {str(row.get("name")).lower(): _read(row.get("privileges")) for row in rows}
    wanted = _privilege(statement)
    for role in statement.recipients:
        privileges = held.get(role.lower())
        if privileges is None:
            return False
        if statement.verb == "GRANT":
            same = wanted in privileges
        else:
            same = not any(_touch(wanted, other) for other in privileges)
        if not same:
            return False
    return True


def _tells_privilege(statement: Grant, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a cell's answer can be read for each of the roles that it has."""
    roles = {role.lower() for role in statement.recipients}
    return all(_read(row.get("privileges")) is not None for row in rows if str(row.get("name")).lower() in roles)


def _doubt_privilege(statement: Grant) -> str:
    """Return a line for a plan if exacell can't know whether a privilege exists already; its statement is sent each time."""
    return (
        f"LIST ROLE does not show for certain whether {statement.verb} PRIVILEGE changes anything for role "
        f"{', '.join(statement.recipients)}: it is sent each time"
    )


_Privilege = tuple[frozenset[str], ...]
"""(object, verb, attributes, options) in lower case; ``all`` for all of them."""


def _read(value: object) -> tuple[_Privilege, ...] | None:
    """Return the privileges that LIST ROLE shows; None if a part of the text is not one."""
    parts = tuple(map(str, value)) if isinstance(value, (tuple, list)) else (str(value or ""),)
    found: list[_Privilege] = []
    for part in parts:
        place = 0
        while place < len(part.rstrip()):
            match = _ONE.match(part, place)
            if match is None:
                return None
            found.append(tuple(_words(match[name]) for name in ("on", "verb", "attributes", "options")))
            place = match.end()
    return tuple(found)


def _words(text: str) -> frozenset[str]:
    words = frozenset(" ".join(word.lower().split()) for word in text.split(",") if word.strip())
    return _ALL if words in (frozenset((f"all {noun}",)) for noun in _NOUNS) else words


_NOUNS = ("objects", "actions", "attributes", "options")


def _privilege(statement: Grant) -> _Privilege:
    parts = (statement.on, statement.granted, statement.attributes, statement.options)
    return tuple(frozenset(" ".join(word.lower().split()) for word in part) for part in parts)


def _touch(one: _Privilege, other: _Privilege) -> bool:
    """Return whether two privileges may be about the same action on the same object."""
    return all(a & b or _ALL in (a, b) for a, b in zip(one[:2], other[:2], strict=True))
