"""Traces are switched by DBMS_MONITOR for exactly those who are meant, proven by what the database tells, and taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from exacell.core.errors import RefusedError, StatementError
from exacell.plan.checks import failure
from exacell.plan.model import Plan, Risk
from exacell.plan.planners.tracing import Records, Whose, trace_plan

NODE = "dbn01"


def trace(kind: str, service: str = "-", module: str = "-", waits: str = "TRUE", instance: str = "-") -> dict[str, str]:
    """Return what DBA_ENABLED_TRACES tells of one."""
    own = {"type": kind, "service": service, "module": module, "action": "-", "waits": waits, "instance": instance}
    return {"name": kind, **own, "trace": "ENABLED"}


def session(sid: str, serial: str, state: str = "DISABLED", waits: str = "FALSE") -> dict[str, str]:
    """Return what V$SESSION tells of one."""
    return {"name": f"{sid},{serial}", "sid": sid, "serial": serial, "trace": state, "waits": waits, "module": "-"}


def told(*traces: Mapping[str, str], sessions: Sequence[Mapping[str, str]] = ()) -> Records:
    """Return what an instance tells."""
    return {"db.trace": list(traces), "db.session": list(sessions)}


def planned(records: Records, whose: Whose, *, on: bool = True) -> Plan:
    """Return the plan for SPOT."""
    return trace_plan("t1", records, on=on, database="spot", node=NODE, whose=whose, statement="trace")


CASES = [
    (
        Whose(),
        "database_trace_enable(waits => TRUE, binds => FALSE)",
        "database_trace_disable",
        "db=SPOT",
        trace("DATABASE"),
    ),
    (
        Whose(service="s"),
        "serv_mod_act_trace_enable(service_name => 's', waits => TRUE, binds => FALSE)",
        "serv_mod_act_trace_disable(service_name => 's')",
        "db=SPOT service=s",
        trace("SERVICE", "s"),
    ),
    (
        Whose(service="it's", module="m 1"),
        "serv_mod_act_trace_enable(service_name => 'it''s', module_name => 'm 1', waits => TRUE, binds => FALSE)",
        "serv_mod_act_trace_disable(service_name => 'it''s', module_name => 'm 1')",
        "db=SPOT service=\"it's\" module='m 1'",
        trace("SERVICE_MODULE", "it's", "m 1"),
    ),
    (
        Whose(session="137, 4711"),
        "session_trace_enable(session_id => 137, serial_num => 4711, waits => TRUE, binds => FALSE)",
        "session_trace_disable(session_id => 137, serial_num => 4711)",
        "db=SPOT session=137,4711 node=dbn01",
        session("137", "4711", "ENABLED", "TRUE"),
    ),
]


def before(whose: Whose) -> Records:
    """Return what is told while nothing is traced."""
    return told(sessions=[session("137", "4711"), session("138", "1")])


def after(whose: Whose, row: Mapping[str, str]) -> Records:
    """Return what is told once it is traced."""
    return told(sessions=[row, session("138", "1")]) if whose.session else told(row)


@pytest.mark.parametrize(("whose", "enable", "disable", "words", "row"), CASES)
def test_each_way_is_switched_proven_and_taken_back(
    whose: Whose, enable: str, disable: str, words: str, row: Mapping[str, str]
) -> None:
    """The call names exactly who is meant; its proof fails before and holds after; the inverse is the other call."""
    for on, call, other, start, end in (
        (True, enable, disable, before(whose), after(whose, row)),
        (False, disable, enable, after(whose, row), before(whose)),
    ):
        plan = planned(start, whose, on=on)
        (step,) = plan.steps
        assert (step.target, step.asm) == (NODE, "database SPOT")
        assert step.statement == f"BEGIN dbms_monitor.{call}; END"
        assert step.inverse == f"BEGIN dbms_monitor.{other}; END"
        assert plan.inverse == {NODE: (f"trace {'off' if on else 'on'} {words}",)}
        assert plan.risk is Risk.PERFORMANCE
        (proof,) = step.proves
        assert failure(proof, _rows(start, proof.object)) != ""
        assert failure(proof, _rows(end, proof.object)) == ""


def _rows(records: Records, name: str) -> Sequence[Mapping[str, Any]]:
    return records[name]


@pytest.mark.parametrize(("whose", "enable", "disable", "words", "row"), CASES)
def test_what_is_so_already_is_left(
    whose: Whose, enable: str, disable: str, words: str, row: Mapping[str, str]
) -> None:
    """A trace that is on, or off, already gives a plan without a step and without an inverse."""
    for on, records in ((True, after(whose, row)), (False, before(whose))):
        plan = planned(records, whose, on=on)
        assert not plan.steps and not plan.inverse
        assert f"trace is {'on' if on else 'off'} already" in plan.done[NODE]


@pytest.mark.parametrize(
    "others",
    [
        trace("SERVICE", "other"),
        trace("SERVICE_MODULE", "s", "m"),
        trace("SERVICE_MODULE_ACTION", "s", "m"),
        trace("DATABASE"),
        trace("SERVICE", "s", instance="SPOT2"),
    ],
)
def test_traces_of_others_are_not_taken_for_it(others: Mapping[str, str]) -> None:
    """A trace of another service, of a module or one instance of it, or of the whole database, is not the service's own."""
    assert len(planned(told(others), Whose(service="s")).steps) == 1


def test_a_session_that_has_ended_can_not_be_traced_and_needs_no_end() -> None:
    """trace on refuses a session that is not there; trace off finds that nothing is left to do."""
    with pytest.raises(RefusedError, match="there is no session 9,9"):
        planned(before(Whose()), Whose(session="9,9"))
    assert planned(before(Whose()), Whose(session="9,9"), on=False).done == {NODE: "session 9,9 has ended"}


def test_a_trace_without_waits_is_not_what_is_wanted() -> None:
    """What is traced without waits is refused with the way out, not taken for done."""
    with pytest.raises(RefusedError, match="without waits") as refused:
        planned(told(trace("DATABASE", waits="FALSE")), Whose())
    assert refused.value.hint == "type `trace off db=SPOT`, then this again"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"module": "m"}, "module= needs service="),
        ({"session": "1,2", "service": "s"}, "can't be given with service= or module="),
        ({"session": "137"}, "SID and serial number"),
        ({"session": "1,2); drop"}, "SID and serial number"),
    ],
)
def test_words_that_name_nobody_are_refused(words: dict[str, str], why: str) -> None:
    """What DBMS_MONITOR can't trace, or what is no session, is refused before anything is asked."""
    with pytest.raises(StatementError, match=why):
        Whose(**words)


def test_a_name_of_two_lines_never_becomes_a_statement() -> None:
    """Control characters in a service's name are refused."""
    with pytest.raises(StatementError, match="one line"):
        planned(told(), Whose(service="s'\n; drop"))
