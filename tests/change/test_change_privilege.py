"""What the write login can't do is said before anybody confirms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change.dcli.hosts import Group, target
from exacell.change.dcli.verdict import Judgement, agree
from exacell.change.execute import execute
from exacell.core.config import RackConfig
from exacell.core.errors import RefusedError
from exacell.language.line import parse_line
from exacell.plan.model import Plan, Stage, Step
from exacell.session.logins import refuse_login, refuse_restricted, refuse_writer
from exacell.session.request import Request as Asking
from exacell.transport.base import Capabilities, FleetResult, Pair, Reply, Request, Role, State, Upload
from exacell.transport.capabilities import (
    CLUSH,
    DCLI,
    EXACLI,
    OPENSSH,
    SSH,
    refuse_requests,
    refuse_statement,
    refuse_uploads,
)
from tests.support.worlds import Wall, new_world, session_on


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
    return SimpleNamespace(
        need_rack=lambda: rack, in_production=lambda targets: False, transport=transport, request=None
    )


def plan(*targets: str, asm: str = "") -> Plan:
    steps = tuple(Step(target=t, what="w", statement="S", asm=asm) for t in targets)
    return Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=steps),))


def test_a_login_that_is_refused_is_named_before_confirmation() -> None:
    """It should name the cell, the login, how many more, and the ways out."""
    with pytest.raises(RefusedError, match=r"c2: writes log in as celladmin: .*refused \(and 1 more\)") as refused:
        refuse_login(context(Transport("c2", "c3")), context(Transport("c2", "c3")), plan("c1", "c2", "c3"))
    assert "-l USER" in refused.value.hint and "t1.toml" in refused.value.hint


def test_the_way_out_of_a_refused_login_fits_who_chose_it() -> None:
    """What is to be changed for good is the rack's file, or the rack itself where it has none; who named the login himself
    is told of -l only."""
    rack = RackConfig(name="t1", cells=("c1",), write_user="celladmin")
    ctx: Any = SimpleNamespace(need_rack=lambda: rack, transport=Transport("c1"))
    with pytest.raises(RefusedError) as refused:
        refuse_writer(ctx, ctx, ("c1",))
    assert refused.value.hint == (
        "-l USER logs in as another user; to keep that, set write_user= in the rack's file (t1)"
    )
    for login in ("celladmin", "cellmonitor"):
        with pytest.raises(RefusedError) as refused:
            refuse_writer(ctx, ctx, ("c1",), login)
        assert refused.value.hint == "-l USER logs in as another user"


def test_a_readers_login_may_plan_what_changes_no_cell() -> None:
    """Where nothing is written on a cell it should not matter who would write there."""
    transport = Transport()
    refuse_login(context(transport, "cellmonitor"), context(transport, "cellmonitor"), plan())
    refuse_login(context(transport, "cellmonitor"), context(transport, "cellmonitor"), plan("db1", asm="main"))
    assert transport.asked == []


def test_only_the_cells_that_change_are_asked_as_writers() -> None:
    """It should log in for writes on the plan's cells only, and not where ASM does the work."""
    transport = Transport()
    refuse_login(context(transport), context(transport), plan("c1", "c3"))
    refuse_login(context(transport), context(transport), plan("db1", asm="main"))
    idle = replace(plan("c1").stages[0].steps[0], target="c2", statement="")
    whole = plan("c1", "c3")
    stages = (*whole.stages, Stage(title="t", steps=(idle,)))
    refuse_login(context(transport), context(transport), replace(whole, stages=stages))
    assert transport.asked == [(("c1", "c3"), Role.WRITE)] * 2


def test_a_readers_login_never_writes() -> None:
    """It should refuse writes as cellmonitor without asking any cell."""
    transport = Transport()
    with pytest.raises(RefusedError, match="writes would log in as cellmonitor, who may only read"):
        refuse_login(context(transport, "cellmonitor"), context(transport, "cellmonitor"), plan("c1"))
    assert transport.asked == []


RELEASES = {"c1": "26.1.0.0.0.260131", "c2": "25.2.0.0.0", "c3": "26.2.0.0.0"}


def fleet_of(ctx: Any) -> Any:
    ctx.fleet = SimpleNamespace(releases=lambda cells: {c: RELEASES[c] for c in cells if c in RELEASES})
    return ctx


def test_scripts_and_copies_are_refused_where_the_release_lets_none() -> None:
    """It should name the cells from 26.1 on and their login before anybody confirms, and let the others alone."""
    with pytest.raises(RefusedError, match=r"copy f: c\[1,3\] run release 26\.1 or later, where celladmin") as refused:
        refuse_restricted(fleet_of(context(Transport())), fleet_of(context(Transport())), "copy f", ["c1", "c2", "c3"])
    assert "-l USER" in refused.value.hint
    refuse_restricted(
        fleet_of(context(Transport())), fleet_of(context(Transport())), "copy f", ["c2", "of unknown release"]
    )


def test_another_login_is_not_restricted() -> None:
    """It should leave a login alone of which the release says nothing."""
    refuse_restricted(
        fleet_of(context(Transport(), write_user="root")),
        fleet_of(context(Transport(), write_user="root")),
        "copy f",
        ["c1"],
    )
    refuse_restricted(fleet_of(context(Transport())), fleet_of(context(Transport())), "copy f", ["c1"], "root")


def test_of_no_cells_nothing_is_asked() -> None:
    """Work on database nodes alone should not ask for a release."""
    refuse_restricted(context(Transport()), context(Transport()), "copy f", [])


def test_the_login_that_is_restricted_is_named() -> None:
    """Whoever logs in by -l is told that it is he who may not, whoever writes otherwise."""
    for writer in ("root", "celladmin"):
        with pytest.raises(RefusedError, match="where cellmonitor may run only CellCLI and a few commands"):
            refuse_restricted(
                fleet_of(context(Transport(), write_user=writer)),
                fleet_of(context(Transport(), write_user=writer)),
                "copy f",
                ["c1"],
                "cellmonitor",
            )


def test_a_program_as_transport_reads_as_the_writer_first() -> None:
    """Where the transport can't log in ahead, a read with the login for writes should tell before anybody confirms."""
    asked: list[tuple[str, Role, str]] = []

    def run(requests: list[Request]) -> FleetResult:
        asked.extend((request.target, request.role, request.login) for request in requests)
        assert all("list cell" in request.command for request in requests)
        return Transport("c2").logins([request.target for request in requests], Role.READ)

    ctx = context(SimpleNamespace(logins=lambda *_: None))
    ctx.fleet = SimpleNamespace(run=run)
    with pytest.raises(RefusedError, match=r"c2: writes log in as celladmin: .*refused; nothing was sent"):
        refuse_login(ctx, ctx, plan("c1", "c2"))
    assert asked == [("c1", Role.READ, "celladmin"), ("c2", Role.READ, "celladmin")]
    refuse_login(ctx, ctx, plan("c1"))


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
    group = Group(session=ctx, services=ctx, request=Asking(), targets=(target("c1"), target("c2")))
    work = Judgement(plans=(plan("c1", "c2"), plan("c1")))
    for flags in ({}, {"yes": True}):
        with pytest.raises(RefusedError, match=f"^c1: writes log in as {asks}: login .*; nothing was sent"):
            agree(group, work, flags, login=login)
    assert asked == [asks] * (4 if login == "root" else 2)
    before = list(asked)
    agree(group, work, {"yes": True}, login="cellmonitor")  # Each cell says CELL-02913 itself, as it does to dcli.
    assert asked == before
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

    ctx = context(SimpleNamespace(logins=lambda *_: None))
    ctx.fleet = SimpleNamespace(run=run)
    refuse_login(ctx, ctx, plan("c1"))


@pytest.mark.parametrize(
    ("user", "statement", "refused"),
    [
        ("celladmin", "CALIBRATE FORCE", True),
        ("celladmin", "calibrate", True),
        ("root", "CALIBRATE FORCE", False),
        ("celladmin", "ALTER CELL comment='CALIBRATE'", False),
    ],
)
def test_calibrate_is_for_root_alone(user: str, statement: str, refused: bool) -> None:
    """CALIBRATE under another login is refused before any cell is asked; other statements do not ask who root is."""
    transport = Transport()
    ctx = context(transport, user)
    steps = tuple(
        Step(target=cell, what="w", statement=text) for cell, text in (("c1", "ALTER CELL x=1"), ("c2", statement))
    )
    made = Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=steps),))
    if refused:
        with pytest.raises(RefusedError, match=f"writes would log in as {user}; nothing was sent") as caught:
            refuse_login(ctx, ctx, made)
        assert caught.value.hint.startswith("-l root") and transport.asked == []
    else:
        refuse_login(ctx, ctx, made)
        assert transport.asked == [(("c1", "c2"), Role.WRITE)]


def test_a_host_is_no_cell_to_log_in_to() -> None:
    """It should not try the cells' login on hosts beside them."""
    transport = Transport()
    steps = (Step(target="c1", what="w", statement="S"), Step(target="db1", what="w", statement="S", host=True))
    refuse_login(
        context(transport), context(transport), Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=steps),))
    )
    assert transport.asked == [(("c1",), Role.WRITE)]


def test_what_no_transport_but_ssh_carries_is_refused_as_typed() -> None:
    """A statement that was typed is refused by the rule of the transport, before anything is asked; others are not."""
    with pytest.raises(RefusedError, match=r"'calibrate' can't go over the transport exacli: ExaCLI has no CALIBRATE"):
        refuse_statement(EXACLI, "calibrate")
    refuse_statement(EXACLI, "list griddisk")
    refuse_statement(SSH, "calibrate")


@pytest.mark.parametrize(
    ("role", "capabilities", "refused"),
    [
        (Role.WRITE, CLUSH, True),
        (Role.WRITE, SSH, False),
        # ASM's statements go to database nodes, past such a transport.
        (Role.ASM_WRITE, CLUSH, False),
    ],
)
def test_a_statement_that_goes_upon_a_look_goes_over_no_other_transport(
    role: Role, capabilities: Capabilities, refused: bool
) -> None:
    """Where a transport can't check and send a statement in one session it is refused, never sent without one."""
    made: Any = {"whole": lambda _: True, "judge": lambda _: None, "ours": lambda: ""}
    pair = Pair(program="p", look="list cell", statement="DROP FLASHCACHE", **made)
    request = Request(target="c1", command="cellcli", role=role, pair=pair)
    if refused:
        with pytest.raises(
            RefusedError, match="c1: the transport clush can't check and send a statement in one session"
        ):
            refuse_requests([request], capabilities)
    else:
        refuse_requests([request], capabilities)


@pytest.mark.parametrize(
    ("statement", "capabilities", "closed"),
    [
        ("alter cell accessLevelPerm=remoteLoginDisabled", SSH, "SSH"),
        ("alter cell exacliEnabled=FALSE", EXACLI, "ExaCLI"),
    ],
)
def test_a_typed_statement_does_not_close_the_way_that_carries_it(
    statement: str, capabilities: Capabilities, closed: str, tmp_path: Path
) -> None:
    """ALTER CELL that closes the present transport is refused before a cell is asked; over another transport it is planned."""
    session, services, transport = session_on(new_world(Wall(), cells=2), tmp_path)
    line = parse_line(f"{statement} -n")
    assert line is not None
    transport.capabilities = capabilities
    with pytest.raises(RefusedError, match=f"it closes {closed}, by which exacell reaches the cell"):
        execute(session, services, Asking(), line)
    transport.capabilities = EXACLI if capabilities is SSH else SSH
    planned = execute(session, services, Asking(), line)
    assert [row["outcome"] for row in planned.records] == ["planned"] * 2


@pytest.mark.parametrize("capabilities", [SSH, OPENSSH])
def test_a_copy_goes_over_ssh(capabilities: Capabilities) -> None:
    """Files are copied where the transport copies any."""
    upload = Upload(sources=(Path("f"),), destination="")
    refuse_requests([Request(target="c1", command="scp f", role=Role.WRITE, upload=upload)], capabilities)
