"""Plan changes of the parameters of a database: for all its instances, or for one.

Source: Oracle SQL Language Reference, ALTER SYSTEM (alter_system_set_clause, alter_system_reset_clause, SCOPE, SID).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.core.errors import RefusedError, UnitError
from exacell.core.meant import ask_for
from exacell.core.units import parse_size
from exacell.core.values import dataclass
from exacell.plan.dbchange import SetParameter, is_speed, literal, quoted
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo
from exacell.plan.planners.smart_cache import PAIR, caveats, check_pair
from exacell.plan.targets import DATABASE

Records = Mapping[str, Sequence[Mapping[str, Any]]]
"""Records by object, as :mod:`exacell.session.dbrecords` reads them."""

OVERRIDE = "_disk_sector_size_override"


class ParameterMaker:
    """Makes the plans of parameters for one database and one statement."""

    def __init__(
        self, *, rack: str, records: Records, database: str, node: str, nodes: Sequence[str], statement: str
    ) -> None:
        self.rack, self.records, self.database = rack, records, database
        self.node, self.nodes, self.statement = node, nodes, statement

    def plan(self, *stages: Stage, node: str = "", inverse: Sequence[str] = (), **more: Any) -> Plan:
        """Return a plan; ``inverse`` is the SQL that takes it back, sent from ``node``."""
        plan = Plan(statement=self.statement, rack=self.rack, stages=stages, **more)
        back = tuple(f"sql db={self.database} {quoted(sql)}" for sql in inverse)
        return replace(plan, inverse={node or self.node: back} if back else {})

    def done(self, why: str) -> Plan:
        """Return a plan with nothing to do."""
        return Plan(statement=self.statement, rack=self.rack, done={self.node: why})

    def step(self, sql: str, what: str, *, node: str = "", **more: Any) -> Step:
        """Return a step for the database's instance on a node."""
        return Step(target=node or self.node, asm=DATABASE.written(self.database), statement=sql, what=what, **more)

    def parameter(self, change: SetParameter) -> Plan:
        """Return the plan of ALTER SYSTEM SET or RESET."""
        sid, node = self._instance(change)
        places = self._places(change, sid)
        name = f'"{change.name}"' if change.name.startswith("_") else change.name
        whose = "" if sid == "*" else f" of {sid}"
        wanted = _ways(change.value or "")
        memory = next((place.now for place in places if place.attribute == "memory"), {})
        if change.name in PAIR:
            check_pair(change, self.of, sid, memory, wanted[-1])
        if change.value is None:
            return self._reset(change, name, sid, node, places)
        if all(_is(value, wanted) for place in places for value in place.now.values()):
            said = " and ".join(place.attribute for place in places)
            caveat = _caveat(change) if change.name == OVERRIDE else ()
            return self.done("; ".join((f"{change.name}{whose} is {change.value} already ({said})", *caveat)))
        off = change.name == OVERRIDE and change.value.upper() == "FALSE"
        proven = {"op": Op.NE, "value": "TRUE"} if off else {"op": Op.IN, "value": tuple(wanted)}
        back, lost = _back(name, sid, places), _unsafe(change.name, places)
        step = self.step(
            f"ALTER SYSTEM SET {name}={_word(change.value)} SCOPE={change.scope} SID='{sid}'",
            f"set {change.name}{whose} = {change.value} ({' and '.join(place.attribute for place in places)})",
            node=node,
            needs=() if off else _as_seen(change.name, places),
            proves=tuple(
                Check(
                    object="db.parameter",
                    attribute=place.attribute,
                    where=_where(change.name, place.now),
                    why="a value for one instance (SID) has priority over SID='*'" if sid == "*" else "",
                    **proven,
                )
                for place in places
            ),
            risk=Risk.PERFORMANCE,
            undo=Undo.IMPOSSIBLE if lost else Undo.STATEMENT,
            inverse=lost or "; ".join(back),
            changes=tuple(_changed(change.name, sid, places, change.value, wanted)),
        )
        later = f"{'each instance' if sid == '*' else sid} uses it after its next start"
        return self.plan(
            Stage(title=f"set {change.name}{whose}", key="set", steps=(step,)),
            node=node,
            inverse=() if lost else back,
            warnings=(
                *(_caveat(change) if change.name == OVERRIDE else ()),
                *(caveats(change, memory, wanted[-1]) if change.name in PAIR else ()),
                *(self._exceptions(change) if sid == "*" else ()),
            ),
            notes=(later,) if change.scope == "SPFILE" else ("for all instances: each is read back",) * (sid == "*"),
        )

    def of(self, name: str) -> dict[str, Mapping[str, Any]]:
        """Return the records of a parameter by SID."""
        return {str(each["sid"]): each for each in self.records["db.parameter"] if each["parameter"] == name}

    def _instance(self, change: SetParameter) -> tuple[str, str]:
        """Return the SID of a statement in the instance's spelling, and the node to send it to: the instance's own.

        An instance can reset, and for some parameters set, only its own memory. Source: Oracle Database Error Messages,
        ORA-32009, ORA-32018.

        Raises:
            RefusedError: there is no such instance, or it does not run and its memory would be changed.
        """
        if change.sid == "*":
            return "*", self.node
        known = [sid for sid in self.of(change.name) if sid != "*"]
        sid = next((each for each in known if each.lower() == change.sid.lower()), "")
        if not sid:
            raise RefusedError(
                f"{self.database} has no instance {change.sid}: it has {', '.join(known)}; nothing was sent",
                hint=" ".join(filter(None, (ask_for(change.sid, known), "SID='*' means all of them"))),
            )
        host = next((str(each["host"]) for each in self.records["db.instance"] if each["name"] == sid), "")
        node = next((node for node in self.nodes if short(node) == short(host)), "")
        if node or change.scope == "SPFILE":
            return sid, node or self.node
        if not host:
            raise RefusedError(
                f"instance {sid} of {self.database} is not running, so its memory can't be changed; nothing was sent",
                hint="SCOPE=SPFILE sets the value for its next start",
            )
        raise RefusedError(
            f"instance {sid} runs on {host}, which is not a node of rack {self.rack}; nothing was sent",
            hint="add it to the rack's configuration: [racks.NAME.asm.…] nodes",
        )

    def _places(self, change: SetParameter, sid: str) -> tuple[_Place, ...]:
        """Return the places where the parameter is changed, memory first, with the present values.

        An entry for one instance has priority over the entry for all, so SID='*' changes only the memory of instances without
        an entry. Source: Oracle SQL Language Reference, ALTER SYSTEM, SID.

        Raises:
            RefusedError: nothing would change, because each instance has its own entry.
        """
        records, running = self.of(change.name), {str(each["name"]) for each in self.records["db.instance"]}
        default = "FALSE" if change.name == OVERRIDE and (change.value or "").upper() == "FALSE" else None
        places = []
        if change.scope != "SPFILE":
            of = [sid] if sid != "*" else [s for s in records if s in running and records[s]["spfile"] is None]
            if of:
                memory = {one: default if records[one]["memory"] is None else records[one]["memory"] for one in of}
                places.append(_Place(attribute="memory", now=memory))
            elif change.scope == "MEMORY":
                raise RefusedError(
                    f"each instance has its own {change.name} in the server parameter file, which has priority "
                    "over SID='*'; nothing was sent",
                    hint=f"SID='{min(running)}' sets it for one instance",
                )
        if change.scope != "MEMORY":
            places.append(_Place(attribute="spfile", now={sid: records[sid]["spfile"]}))
        return tuple(places)

    def _exceptions(self, change: SetParameter) -> list[str]:
        """Return warnings about instances with their own entry, which a statement for all does not change."""
        own = {sid: each["spfile"] for sid, each in self.of(change.name).items() if sid != "*" and each["spfile"]}
        return [f"{sid} has its own entry, {value}, which stays: SID='{sid}' changes it" for sid, value in own.items()]

    def _reset(self, change: SetParameter, name: str, sid: str, node: str, places: Sequence[_Place]) -> Plan:
        ((where, value),) = places[0].now.items()
        told = f"{change.name}{'' if sid == '*' else f' of {sid}'}"
        if value is None:
            return self.done(f"{told} is not in the server parameter file")
        back, lost = _back(name, sid, places), _unsafe(change.name, places)
        step = self.step(
            f"ALTER SYSTEM RESET {name} SCOPE=SPFILE SID='{sid}'",
            f"remove {told} from the server parameter file",
            node=node,
            needs=_as_seen(change.name, places),
            proves=(Check(object="db.parameter", attribute="spfile", value=None, where=_where(change.name, (where,))),),
            risk=Risk.PERFORMANCE,
            undo=Undo.IMPOSSIBLE if lost else Undo.STATEMENT,
            inverse=lost or "; ".join(back),
            changes=tuple(_changed(change.name, sid, places, "-")),
        )
        return self.plan(
            Stage(title=f"reset {told}", key="set", steps=(step,)),
            node=node,
            inverse=() if lost else back,
            notes=("memory keeps its value until the instance starts again",),
        )


def short(host: str) -> str:
    """Return a host's name without its domain, lower case."""
    return host.partition(".")[0].lower()


def _word(value: str) -> str:
    """Return a value in the form that ALTER SYSTEM accepts."""
    return value if re.fullmatch(r"[A-Za-z0-9_]+", value) else literal(value)


def _ways(value: str) -> list[str]:
    """Return the forms in which V$PARAMETER may print a value; a size also in bytes."""
    try:
        size = str(parse_size(value)) if re.fullmatch(r"\d+[KMGTkmgt]", value) else ""
    except UnitError:
        size = ""
    return [value, *([size] if size else [])]


def _is(now: str | None, wanted: Sequence[str]) -> bool:
    return (now or "").lower() in (each.lower() for each in wanted)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A place where a parameter is changed: ``memory`` or ``spfile``, with the present value by SID; None for no value."""

    attribute: str
    now: Mapping[str, str | None]

    def alike(self) -> dict[str | None, list[str]]:
        """Return value → the SIDs that have it."""
        found: dict[str | None, list[str]] = {}
        for sid, value in self.now.items():
            found.setdefault(value, []).append(sid)
        return found


def _where(name: str, sids: Iterable[str]) -> dict[str, str | tuple[str, ...]]:
    one = tuple(sids)
    # In a check a star matches any SID; the record for all instances is selected by the parameter's own name.
    return {"parameter": name, **({"name": name} if one == ("*",) else {"sid": one})}


def _as_seen(name: str, places: Sequence[_Place]) -> tuple[Check, ...]:
    return tuple(
        Check(
            object="db.parameter",
            attribute=place.attribute,
            value=value,
            where=_where(name, sids),
            why="somebody has changed it since it was read",
        )
        for place in places
        for value, sids in place.alike().items()
    )


def _changed(name: str, sid: str, places: Sequence[_Place], after: str, wanted: Sequence[str] = ()) -> Iterator[Change]:
    """Yield the change of each value that is not the wanted one; instances are named if they differ or if only one is meant."""
    for place in places:
        alike = place.alike()
        for before, sids in alike.items():
            if not _is(before, wanted):
                told = name if sid == "*" and len(alike) == 1 else f"{name} of {', '.join(sids)}"
                yield Change(
                    object="parameter", name=told, attribute=place.attribute, before=before or "-", after=after
                )


def _unsafe(name: str, places: Sequence[_Place]) -> str:
    """Return why a present value can't be restored by undo; empty if exacell would set it."""
    found = next((v for place in places for v in place.now.values() if v is not None and not is_speed(name, v)), None)
    return "" if found is None else f"{name}={found} affects more than speed, so exacell does not set it"


def _back(name: str, sid: str, places: Sequence[_Place]) -> tuple[str, ...]:
    """Return the statements that restore the present values."""
    before = {place.attribute: place.alike() for place in places}
    if len(before) == 2 and len(before["memory"]) == 1 and [*before["memory"]] == [*before["spfile"]] != [None]:
        return (_set(name, next(iter(before["spfile"])), "BOTH", sid),)
    back = [
        f"ALTER SYSTEM RESET {name} SCOPE=SPFILE{_sid(name, sid)}"
        if value is None
        else _set(name, value, "SPFILE", sid)
        for value in before.get("spfile", ())
    ]
    for value, sids in before.get("memory", {}).items():
        # The only hidden parameter that is set here shows no value until it is set: FALSE is its default.
        told = value if value is not None else "FALSE" if OVERRIDE in name else ""
        apart = sids if len(before["memory"]) > 1 else [sid]
        back += [_set(name, told, "MEMORY", one) for one in apart]
    return tuple(back)


def _set(name: str, value: str | None, scope: str, sid: str) -> str:
    return f"ALTER SYSTEM SET {name}={_word(value or '')} SCOPE={scope}{_sid(name, sid)}"


def _sid(name: str, sid: str) -> str:
    # Without SID all instances are meant too, and a quoted name allows no other quotes in undo's statement.
    return "" if name.startswith('"') and sid == "*" else f" SID='{sid}'"


def _caveat(change: SetParameter) -> tuple[str, ...]:
    if (change.value or "").upper() != "TRUE":
        return ()
    return (
        f"{OVERRIDE} lets redo logs have blocks that differ from the disks' sectors: only for flash that shows "
        "512 bytes but writes 4096; undo this when the groups exist",
    )
