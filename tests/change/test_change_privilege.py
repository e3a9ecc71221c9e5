"""What the write login can't do is said before anybody confirms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from exacell.changing import refuse_login, refuse_restricted
from exacell.config import RackConfig
from exacell.errors import RefusedError
from exacell.plan.model import Plan, Stage, Step
from exacell.transport.base import FleetResult, Reply, Request, Role, State
from exacell.transport.capabilities import CLUSH, DCLI, EXACLI, OPENSSH, SSH, refuse_uploads


class Transport:
    """Logs in where it is told to, and remembers on whose behalf."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.asked: list[tuple[tuple[str, ...], Role]] = []

    def logins(self, targets: list[str], role: Role) -> FleetResult:
        self.asked.append((tuple(targets), role))
        replies = {
            t: Reply(target=t, state=State.UNREACHABLE, problem="login celladmin was refused")
            if t in self.refused
            else Reply(target=t, state=State.OK)
            for t in targets
        }
        return FleetResult(targets=tuple(targets), replies=replies)


def context(transport: object, write_user: str = "celladmin") -> Any:
    rack = RackConfig(name="t1", cells=("c1", "c2", "c3"), write_user=write_user, source="t1.toml")
    return SimpleNamespace(need_rack=lambda: rack, transport=transport)


def plan(*targets: str, asm: str = "") -> Plan:
    steps = tuple(Step(target=t, what="w", statement="S", asm=asm) for t in targets)
    return Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=steps),))


def test_a_login_that_is_refused_is_named_before_confirmation() -> None:
    """It should name the cell, the login, how many more, and the ways out."""
    with pytest.raises(RefusedError, match=r"c2: writes log in as celladmin: .*refused \(and 1 more\)") as refused:
        refuse_login(context(Transport("c2", "c3")), plan("c1", "c2", "c3"))
    assert "-l USER" in refused.value.hint and "t1.toml" in refused.value.hint


def test_only_the_cells_that_change_are_asked_as_writers() -> None:
    """It should log in for writes on the plan's cells only, and not where ASM does the work."""
    transport = Transport()
    refuse_login(context(transport), plan("c1", "c3"))
    refuse_login(context(transport), plan("db1", asm="main"))
    assert transport.asked == [(("c1", "c3"), Role.WRITE)]


def test_a_readers_login_never_writes() -> None:
    """It should refuse writes as cellmonitor without asking any cell."""
    transport = Transport()
    with pytest.raises(RefusedError, match="writes would log in as cellmonitor, which may only read"):
        refuse_login(context(transport, "cellmonitor"), plan("c1"))
    assert transport.asked == []


def test_a_transport_that_cannot_log_in_ahead_is_not_asked() -> None:
    """It should leave transports alone that have no login of their own."""
    refuse_login(context(object()), plan("c1"))


RELEASES = {"c1": "26.1.0.0.0.260131", "c2": "25.2.0.0.0", "c3": "26.2.0.0.0"}


def fleet_of(ctx: Any) -> Any:
    ctx.fleet = SimpleNamespace(releases=lambda cells: {c: RELEASES[c] for c in cells if c in RELEASES})
    return ctx


def test_scripts_and_copies_are_refused_where_the_release_lets_none() -> None:
    """It should name the cells from 26.1 on and their login before anybody confirms, and let the others alone."""
    with pytest.raises(RefusedError, match=r"copy f: c\[1,3\] run release 26\.1 or later, where celladmin") as refused:
        refuse_restricted(fleet_of(context(Transport())), "copy f", ["c1", "c2", "c3"])
    assert "-l USER" in refused.value.hint
    refuse_restricted(fleet_of(context(Transport())), "copy f", ["c2", "of unknown release"])


def test_another_login_is_not_restricted() -> None:
    """It should leave a login alone of which the release says nothing."""
    refuse_restricted(fleet_of(context(Transport(), write_user="root")), "copy f", ["c1"])


def test_a_program_as_transport_reads_as_the_writer_first() -> None:
    """Where the transport can't log in ahead, a read with the login for writes should tell before anybody confirms."""
    asked: list[tuple[str, Role, str]] = []

    def run(requests: list[Request]) -> FleetResult:
        asked.extend((request.target, request.role, request.login) for request in requests)
        assert all("list cell" in request.command for request in requests)
        return Transport("c2").logins([request.target for request in requests], Role.READ)

    ctx = context(SimpleNamespace(capabilities=EXACLI))
    ctx.fleet = SimpleNamespace(run=run)
    with pytest.raises(RefusedError, match=r"c2: writes log in as celladmin: .*refused; nothing was sent"):
        refuse_login(ctx, plan("c1", "c2"))
    assert asked == [("c1", Role.READ, "celladmin"), ("c2", Role.READ, "celladmin")]
    refuse_login(ctx, plan("c1"))


def test_what_copies_no_files_is_said_before_anybody_confirms() -> None:
    """It should refuse a copy over dcli, clush and exacli by the transport's name, and let ssh and openssh take it."""
    for able in (DCLI, CLUSH, EXACLI):
        with pytest.raises(RefusedError, match=f"copy f: the transport {able.name} copies no files; nothing was sent"):
            refuse_uploads(able, "copy f")
    for able in (SSH, OPENSSH):
        refuse_uploads(able, "copy f")
