"""What the write login can't do is said before anybody confirms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from exacell.config import RackConfig
from exacell.dcli.judge import Judgement, agree
from exacell.dcli.reach import Group
from exacell.dcli.targets import target
from exacell.errors import RefusedError
from exacell.logins import refuse_login, refuse_restricted
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


@pytest.mark.parametrize(("login", "asks"), [("", "celladmin"), ("celladmin", "celladmin"), ("root", "root")])
def test_a_commands_login_is_tried_before_the_question(login: str, asks: str) -> None:
    """dcli and sh should be refused before anybody is asked when the login of their CellCLI changes does not get in."""
    asked: list[str] = []
    transport = Transport("c1")
    logins = transport.logins

    def tried(targets: list[str], role: Role) -> FleetResult:
        asked.append("celladmin")
        return logins(targets, role)

    def run(requests: list[Request]) -> FleetResult:
        asked.extend(str(request.login) for request in requests)
        return logins([request.target for request in requests], Role.READ)

    transport.logins = tried  # type: ignore[method-assign]
    transport.capabilities = SSH  # type: ignore[attr-defined]
    ctx = context(transport)
    ctx.fleet = SimpleNamespace(run=run)
    group = Group(ctx=ctx, targets=(target("c1"), target("c2")))
    work = Judgement(plans=(plan("c1", "c2"), plan("c1")))
    for flags in ({}, {"yes": True}):
        with pytest.raises(RefusedError, match=f"^c1: writes log in as {asks}: login .*; nothing was sent"):
            agree(group, work, flags, login=login)
    assert asked == [asks] * (4 if login == "root" else 2)
    with pytest.raises(RefusedError, match="writes would log in as cellmonitor, which may only read"):
        agree(group, work, {"yes": True}, login="cellmonitor")
    agree(group, Judgement(opaque=("reboot",)), {}, login=login)
    agree(group, Judgement(plans=(plan("c2"),)), {"yes": True}, login=login)


def test_a_cell_without_its_services_takes_the_login() -> None:
    """A writer to whom CellCLI says that its services are down did get in: it is he who starts them."""
    down = "CELL-01509: Restart Server (RS) not responding.\n"

    def run(requests: list[Request]) -> FleetResult:
        replies = {
            r.target: Reply(target=r.target, state=State.FAILED, problem="exit status 1", stdout=down, exit_status=1)
            for r in requests
        }
        return FleetResult(targets=tuple(replies), replies=replies)

    ctx = context(SimpleNamespace(capabilities=OPENSSH))
    ctx.fleet = SimpleNamespace(run=run)
    refuse_login(ctx, plan("c1"))
