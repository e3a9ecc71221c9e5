"""DBMS_MONITOR and event 10046: they switch traces on and off.

Source: Oracle PL/SQL Packages and Types Reference, DBMS_MONITOR; reference measurement.md 1.1 for the levels of the event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.values import Value, to_number, to_text
from exacell.emulator.storage.tracing import EnabledTrace
from exacell.emulator.work.sessions import UserSession

ANY_MODULE, ANY_ACTION = "###ALL_MODULES", "###ALL_ACTIONS"
"""The constants for every module and every action."""

_SWITCHED = ("waits", "binds")
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "SESSION_TRACE_ENABLE": ("session_id", "serial_num", *_SWITCHED, "plan_stat"),
    "SESSION_TRACE_DISABLE": ("session_id", "serial_num"),
    "SERV_MOD_ACT_TRACE_ENABLE": (
        "service_name",
        "module_name",
        "action_name",
        *_SWITCHED,
        "instance_name",
        "plan_stat",
    ),
    "SERV_MOD_ACT_TRACE_DISABLE": ("service_name", "module_name", "action_name", "instance_name"),
    "DATABASE_TRACE_ENABLE": (*_SWITCHED, "instance_name", "plan_stat"),
    "DATABASE_TRACE_DISABLE": ("instance_name",),
}
MONITOR = tuple(f"DBMS_MONITOR.{name}" for name in _PARAMETERS)
NAMING = ("DBMS_APPLICATION_INFO.SET_MODULE", "DBMS_APPLICATION_INFO.SET_ACTION")
"""Procedures that set a session's names, by which it may be traced."""


def call_monitor(user: UserSession, name: str, values: Sequence[Value | bool], names: Sequence[str]) -> None:
    """Carry out one of :data:`MONITOR` or :data:`NAMING`.

    Args:
        names: the parameter name of each argument; empty for an argument given by its place.

    Raises:
        OraError: ORA-06553 for wrong arguments, ORA-00030 if there is no such session, ORA-13852 or 13853 if the trace is off or
            on already.
    """
    if name in NAMING:
        texts = [to_text(value) or "" for value in values if not isinstance(value, bool)]
        if name.endswith("MODULE"):
            user.module, user.action = (*texts, "", "")[:2]
        else:
            user.action = (*texts, "")[0]
        return
    procedure = name.partition(".")[2]
    given = _given(procedure, values, names)
    trace = EnabledTrace(
        kind=_kind(procedure, given),
        service=_text(given, "service_name"),
        module=_text(given, "module_name", ANY_MODULE),
        action=_text(given, "action_name", ANY_ACTION),
        waits=_flag(given, "waits", True),
        binds=_flag(given, "binds", False),
        instance=_text(given, "instance_name"),
    )
    if procedure.startswith("SESSION"):
        found = _session(user, given)
        found.traced = trace if procedure.endswith("ENABLE") else None
        if found.traced is None:
            found.end_trace()
        return
    _switch(user, trace, on=procedure.endswith("ENABLE"))


def _given(procedure: str, values: Sequence[Value | bool], names: Sequence[str]) -> dict[str, Value | bool]:
    parameters = _PARAMETERS[procedure]
    found: dict[str, Value | bool] = {}
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        known = name.lower() or (parameters[place] if place < len(parameters) else "")
        if known not in parameters:
            raise OraError(ora(6553, procedure))
        found[known] = value
    return found


def _kind(procedure: str, given: Mapping[str, Value | bool]) -> str:
    if not procedure.startswith("SERV"):
        return procedure.partition("_")[0]
    named = [_text(given, name, every) for name, every in (("module_name", ANY_MODULE), ("action_name", ANY_ACTION))]
    return "SERVICE_MODULE_ACTION" if named[1] else "SERVICE_MODULE" if named[0] else "SERVICE"


def _text(given: Mapping[str, Value | bool], name: str, every: str = "") -> str:
    value = given.get(name)
    text = "" if isinstance(value, bool) else to_text(value) or ""
    return "" if text == every else text


def _flag(given: Mapping[str, Value | bool], name: str, default: bool) -> bool:
    value = given.get(name)
    return value if isinstance(value, bool) else default


def _session(user: UserSession, given: Mapping[str, Value | bool]) -> UserSession:
    sid, serial = (given.get(name) for name in ("session_id", "serial_num"))
    if sid is None:
        return user
    numbers = [None if isinstance(value, bool) else to_number(value) for value in (sid, serial)]
    found = user.desk.sessions.get(int(numbers[0] or 0))
    if found is None or (numbers[1] is not None and numbers[1] != found.serial):
        raise OraError(ora(30))
    return found


def _switch(user: UserSession, trace: EnabledTrace, *, on: bool) -> None:
    database = user.instance.database
    assert database is not None
    there = [known for known in database.traces if known.key == trace.key]
    of_service = trace.kind != "DATABASE"
    if of_service and bool(there) == on:
        raise OraError(ora(13853 if on else 13852, trace.service))
    database.traces = [known for known in database.traces if known not in there] + ([trace] if on else [])
    if not on:
        for session in user.desk.sessions.values():
            session.end_trace()


def trace_by_event(user: UserSession, event: str) -> None:
    """Switch the session's own trace on or off, by ``10046 trace name context forever, level n`` or ``… context off``; other
    events do nothing here.
    """
    words = event.lower().split()
    if words[:4] != ["10046", "trace", "name", "context"]:
        return
    level = re.search(r"level\s+(\d+)", event.lower())
    number = int(level[1]) if level is not None else 1
    if "off" in words or not number:
        user.traced = None
        user.end_trace()
    else:
        user.traced = EnabledTrace(kind="SESSION", waits=bool(number & 8), binds=bool(number & 4))
