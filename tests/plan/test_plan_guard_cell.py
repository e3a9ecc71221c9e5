"""CellCLI's own statements on the cell: its services and its modes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cache, cell, grid
from plan_guarding import flushed, guard, only, pmem

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.plan.guards.cell import refuse_locked_out, refuse_taken
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Op, Risk, Undo
from tests.support.every import every


@pytest.mark.parametrize("verb", ["shutdown", "restart"])
@pytest.mark.parametrize("service", ["cellsrv", "CELLSRV", "all"])
def test_stopping_cellsrv_asks_asm(verb: str, service: str) -> None:
    """CELLSRV stops only where ASM can spare the cell's disks, on one cell at a time, and that is read again."""
    text = f"alter cell {verb} services {service}"
    if verb == "shutdown":
        with pytest.raises(RefusedError, match="failure group"):
            guard(text)
    else:
        # A restart brings the disks back: the cells take turns.
        assert all(step.offline and step.online and step.proves for step in guard(text).steps)
    step = only(guard(text, cell()))
    assert step.offline
    assert step.risk is Risk.REDUNDANCY
    assert step.needs[0].attribute == "asmDeactivationOutcome"
    with pytest.raises(RefusedError, match="must not go offline"):
        guard(text, cell(grid_disks=(grid("CD_00_x", deactivation="No"),)))


def test_a_service_that_is_not_said_is_all_of_them() -> None:
    """A statement without a service, whoever built it, is guarded as one for all services."""
    statement = parse("alter cell shutdown services cellsrv")
    assert isinstance(statement, Change)
    plan = guard_plan("t1", {CELLS[0]: cell()}, replace(statement, argument=""), text="x", accepted=(), headers=None)
    assert only(plan).offline
    assert only(plan).needs


def test_ignore_redundancy_never_stops_two_cells() -> None:
    """Accepting it for one cell is possible, for two failure groups at once it is not."""
    text = "alter cell shutdown services cellsrv ignore redundancy"
    with pytest.raises(RefusedError, match=r"disks of exa1cel\[01-03\] offline together"):
        guard(text, accepted=CELLS)


def test_ignore_redundancy_is_a_loss() -> None:
    """IGNORE REDUNDANCY needs the loss accepted by the cell's name."""
    text = "alter cell shutdown services cellsrv ignore redundancy"
    with pytest.raises(RefusedError, match="IGNORE REDUNDANCY stops the cell"):
        guard(text, cell())
    assert guard(text, cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_drop_cell_is_a_loss() -> None:
    """DROP CELL takes everything away."""
    with pytest.raises(RefusedError, match="deletes everything on the cell"):
        guard("drop cell", cell())
    assert guard("drop cell", cell(), accepted=[CELLS[0]]).risk is Risk.DATA


def test_mode_changes_without_a_cache_only() -> None:
    """flashCacheMode changes where there is no cache, which is looked at again; a cache must go first."""
    text = "alter cell flashCacheMode=writeback"
    step = only(guard(text, cell(flash_cache=None)))
    assert [(n.object, n.op) for n in step.needs] == [("flashcache", Op.ABSENT)]
    with pytest.raises(RefusedError, match="may hold the only copy"):
        guard(text, cell())
    with pytest.raises(RefusedError, match="still has a flash cache: drop it first"):
        guard(text, cell(mode="writethrough"))
    with pytest.raises(RefusedError, match="still has a flash cache: drop it first"):
        guard(text, flushed())


def test_modes_change_only_without_caches() -> None:
    """flashCacheMode and pmemCacheMode are asked for by name while a cache of the kind is left, or PMEM needs it."""
    with pytest.raises(RefusedError, match="still has a PMEM cache"):
        guard("alter cell pmemCacheMode=writethrough", pmem())
    with pytest.raises(RefusedError, match="needs a write-back flash cache"):
        guard("alter cell flashCacheMode=writethrough", pmem(flash_cache=None))
    with pytest.raises(RefusedError, match="still has a PMEM cache"):
        # One mode may change, the other may not.
        guard("alter cell flashCacheMode=writeback, pmemCacheMode=writethrough", pmem(flash_cache=None))
    step = only(guard("alter cell flashCacheMode=writethrough", cell(flash_cache=None)))
    assert (step.needs[0].op, step.proves[0].value) == (Op.ABSENT, "writethrough")


@pytest.mark.parametrize("verb", ["shutdown", "restart"])
def test_cellsrv_does_not_stop_under_a_flush(verb: str) -> None:
    """A flush that is in force would be over without CELLSRV, and with it the proof that it gives."""
    for status in ("normal - flushing", "normal - flushed"):
        with pytest.raises(RefusedError, match="stopping CELLSRV would end that"):
            guard(f"alter cell {verb} services cellsrv", replace(flushed(), flash_cache=cache(CELLS[0], status=status)))
    assert guard(f"alter cell {verb} services ms", flushed()).steps


def test_an_eighth_rack_is_made_of_empty_cells_only() -> None:
    """A cell with disks in use should not give half of them up unless that is accepted."""
    text = "alter cell eighthRack=true"
    with pytest.raises(RefusedError, match="as an eighth rack it loses half of them"):
        guard(text, cell())
    with pytest.raises(RefusedError, match="as an eighth rack it loses half of them"):
        guard(text, cell(grid_disks=()))
    with pytest.raises(RefusedError, match="as an eighth rack it loses half of them"):
        guard(text, cell(flash_cache=None))
    assert guard(text, cell(), accepted=[CELLS[0]]).risk is Risk.DATA
    assert guard(text, cell(grid_disks=(), flash_cache=None)).risk is Risk.PERFORMANCE
    assert guard("alter cell eighthRack=false", cell()).risk is Risk.PERFORMANCE


def test_attributes_and_services_are_two_statements() -> None:
    """A mode or another attribute should not ride on a statement that stops services, nor the other way round."""
    for text in (
        "alter cell shutdown services all flashCacheMode=writethrough",
        "alter cell comment=x restart services ms",
    ):
        with pytest.raises(RefusedError, match="one statement sets attributes, another one stops or starts services"):
            guard(text, cell(flash_cache=None))


def test_calibrate_only_measures_unless_it_is_forced() -> None:
    """CALIBRATE takes nothing away, wants CELLSRV stopped, and leaves nothing to undo; FORCE runs it beside the databases and
    should be accepted."""
    plan = guard("calibrate", cell(cellsrv="stopped"))
    assert plan.risk is Risk.PERFORMANCE and all(step.undo is Undo.NOTHING for step in plan.steps)
    with pytest.raises(RefusedError, match=r"CELLSRV is running on .*, but CALIBRATE needs it stopped"):
        guard("calibrate", cell(cellsrv="running"))
    with pytest.raises(RefusedError, match="CALIBRATE FORCE saturates every disk"):
        guard("calibrate force", cell())


def test_services_of_exascale_stop_on_one_cell_at_a_time() -> None:
    """Services of which nothing tells whether the others can spare them should not stop on several cells together."""
    for action in ("shutdown", "restart"):
        with pytest.raises(RefusedError, match="EGS of Exascale would stop on"):
            guard(f"alter cell {action} services egs")
        assert guard(f"alter cell {action} services egs", cell()).risk is Risk.PERFORMANCE
    assert guard("alter cell startup services egs").steps
    assert guard("alter cell restart services ms").steps


@pytest.mark.parametrize("value", ["true", "false"])
def test_compression_waits_until_no_cache_is_left(value: str) -> None:
    """Flash cache compression changes where there is no flash cache, which is looked at again, or with the loss accepted."""
    text = f"alter cell flashCacheCompress={value}"
    with pytest.raises(RefusedError, match="may hold the only copy"):
        guard(text, cell())
    with pytest.raises(RefusedError, match="it still has a flash cache"):
        guard(text, flushed())
    (need,) = only(guard(text, cell(flash_cache=None))).needs
    assert (need.object, need.op) == ("flashcache", Op.ABSENT)
    accepted = only(guard(text, cell(), accepted=CELLS[:1]))
    assert accepted.risk is Risk.DATA and not accepted.needs


UNKNOWN: list[tuple[str, str, str]] = [
    ("alter flashcache all flush", "11.2.2.4.2", "ALTER FLASHCACHE FLUSH exists from release 11.2.3.2.0 on"),
    ("alter flashcache all flush", "11.2.3.2.1", ""),
    ("create xrmemcache all", "22.1.9.0.0", "XRMEMCACHE exists from release 23.1 on"),
    ("create xrmemcache all", "23.1.0.0.0", ""),
    ("create pmemcache all", "18.1.5.0.0", "PMEMCACHE exists from release 19.3 on"),
    ("alter cell flashCacheMode=writeback", "11.2.2.4.2", "CELL flashCacheMode exists from release 11.2.3.2.0 on"),
    ("alter cell comment=x", "11.2.2.4.2", ""),
    ("alter flashcache all flush", "", ""),
]


@pytest.mark.parametrize(("text", "release", "said"), UNKNOWN)
def test_what_a_release_does_not_know_is_said_with_the_plan(text: str, release: str, said: str) -> None:
    """A plan names the cells whose release has not what the statement says, and why, before anybody confirms it."""
    facts = [cell(name, release=release, flash_cache=None) for name in CELLS[:2]]
    facts.append(cell(CELLS[2], release="19.3.2.0.0" if "xrm" not in text else "24.1.4.0.0", flash_cache=None))
    plan = guard(text, *facts, accepted=CELLS)
    lines = [line for line in plan.warnings if "exists from" in line]
    assert lines == ([f"exa1cel[01-02]: {said}; the cell runs {release}"] if said else [])


@pytest.mark.parametrize(
    "setting", ["name=x", "ipaddress1='192.168.10.9/22'", "ipAddress2='192.168.10.9/22', comment=x"]
)
def test_one_name_or_address_is_one_cell_s(setting: str) -> None:
    """Several cells never get the same; alone it is a risk for the mirrors that lie there, since ASM knows the cell by it."""
    with pytest.raises(RefusedError, match="would all have the same"):
        guard(f"alter cell {setting}", cell(CELLS[0]), cell(CELLS[1]))
    plan = guard(f"alter cell {setting}", cell())
    assert plan.risk is Risk.REDUNDANCY and "ASM and the databases know the cell by it" in plan.warnings[-1]


def test_two_addresses_of_a_cell_differ() -> None:
    """One that is taken away is none."""
    with pytest.raises(RefusedError, match="would be two addresses of one cell"):
        guard("alter cell ipaddress1='10.0.0.1/22', ipaddress2='10.0.0.1/22'", cell())
    assert guard("alter cell ipaddress1='10.0.0.1/22', ipaddress2='10.0.0.2/22'", cell()).steps
    assert guard("alter cell name='10.0.0.1', ipaddress2='10.0.0.1'", cell()).steps, "a name is no address"
    assert guard("alter cell ipaddress3='', ipaddress4=''", cell(CELLS[0]), cell(CELLS[1])).steps


@pytest.mark.parametrize("setting", ["interconnect1=ib0", "realmName=x"])
def test_what_asm_finds_a_cell_by_is_a_risk_for_mirrors(setting: str) -> None:
    """The interface and the realm may be alike on several cells; what can be read back is."""
    (proof,) = only(guard(f"alter cell {setting}, comment=y", cell())).proves
    assert (proof.attribute, proof.value) == ("comment", "y")
    assert guard(f"alter cell {setting}", cell(CELLS[0]), cell(CELLS[1])).risk is Risk.REDUNDANCY


@pytest.mark.parametrize("setting", ["events='immediate cellsrv.x()'", "offloadGroupEvents='x', comment=y"])
def test_events_are_of_unknown_risk(setting: str) -> None:
    """Nobody documents what they do."""
    assert guard(f"alter cell {setting}", cell()).risk is Risk.UNKNOWN
    assert guard("alter cell traceLevel=FINE", cell()).risk is Risk.PERFORMANCE
    (proof,) = only(guard(f"alter cell {setting.partition(',')[0]}, comment=y", cell())).proves
    assert (proof.attribute, proof.value) == ("comment", "y"), "what can be read back is"


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("alter cell name=exa1cel02", "exa1cel02"),
        ("alter cell name='EXA1CEL03.lab.example.com'", "exa1cel03.example.com"),
        ("alter cell comment=exa1cel02", ""),
        ("alter cell name=exa1cel01", ""),
        ("alter cell name=exa1cel04", ""),
        ("alter flashcache all size=1g", ""),
        ("alter griddisk DATA_CD_00 name=exa1cel02", ""),
        ("list cell attributes name", ""),
    ],
)
def test_no_cell_gets_the_name_of_another_one_of_its_rack(text: str, taken: str) -> None:
    """Names count without their domain, as the configuration has them; its own name a cell may be given."""
    others = ("exa1cel01", "exa1cel02", "exa1cel03.example.com")
    if not taken:
        refuse_taken(parse(text), text, ["exa1cel01"], others)
        return
    with pytest.raises(RefusedError, match=f"exa1cel01 would have the name of {taken}, but each cell needs its own"):
        refuse_taken(parse(text), text, ["exa1cel01"], others)


def test_an_update_of_the_software_takes_one_cell_away_and_is_accepted_by_its_name() -> None:
    """UPGRADE is no work for two failure groups at once, and nothing judges what comes back."""
    with pytest.raises(RefusedError, match="offline together"):
        guard("alter softwareupdate upgrade", cell(CELLS[0]), cell(CELLS[1]), accepted=CELLS)
    with pytest.raises(RefusedError, match="can't know the state of the cell afterwards"):
        guard("alter softwareupdate upgrade force", cell())
    step = only(guard("alter softwareupdate upgrade", cell(), accepted=CELLS))
    assert (step.offline, step.online, step.forced, step.risk) == (True, True, True, Risk.DATA)


def test_what_only_prepares_an_update_takes_no_disk_away() -> None:
    """VALIDATE and the update's settings are no UPGRADE: no disk goes offline, and several cells may have them at once."""
    checks = guard("alter softwareupdate validate prereq", cell(CELLS[0]), cell(CELLS[1]))
    setting = guard("alter softwareupdate frequency=weekly", cell(CELLS[0]), cell(CELLS[1]))
    for plan, risk in ((checks, Risk.PERFORMANCE), (setting, Risk.UNKNOWN)):
        assert plan.targets == CELLS[:2] and not any(step.offline or step.online for step in plan.steps)
        assert {step.risk for step in plan.steps} == {risk}


def test_settings_of_an_update_say_what_they_bring_about() -> None:
    """What a cell installs by itself later is an unknown risk, and the plan says why."""
    plan = guard("alter softwareupdate store='https://depot', name='24.1.5'", cell())
    assert "may install the update by itself at the time that is set" in " ".join(plan.warnings)


LOCKED_OUT = [
    ("accessLevelPerm=remoteLoginDisabled", "celladmin", True, "closes SSH, by", "set transport exacli"),
    ("comment=x, accesslevelperm='REMOTELOGINDISABLED'", "celladmin", True, "closes SSH, by", "set transport exacli"),
    (
        "accessLevelTemp=((accessLevel='remoteLoginDisabled',startTime='now',duration='2h'))",
        "celladmin",
        True,
        "closes SSH, by",
        "set transport exacli",
    ),
    ("accessLevelPerm=remoteLoginEnabledRootLoginDisabled", "root", True, "closes SSH for root", "-l celladmin"),
    ("accessLevelTemp=(accessLevel=REMOTELOGINDISABLED,reason=x)", "u", True, "closes SSH, by", "set transport exacli"),
    ("accessLevelPerm=(remoteLoginDisabled)", "u", True, "closes SSH, by", "set transport exacli"),
    ("httpsAccess=(NONE)", "u", False, "closes ExaCLI", "set transport ssh"),
    ("httpsAccess=none", "u", False, "closes ExaCLI", "set transport ssh"),
    ("exacliEnabled=FALSE", "u", False, "closes ExaCLI", "set transport ssh"),
]

STILL_REACHED = [
    ("accessLevelPerm=remoteLoginDisabled", "celladmin", False),
    ("accessLevelPerm=remoteLoginEnabled", "root", True),
    ("accessLevelPerm=remoteLoginEnabledRootLoginDisabled", "celladmin", True),
    ("accessLevelTemp=((accessLevel='remoteLoginEnabled',startTime='now',duration='2h'))", "root", True),
    ("accessLevelTemp=((accessLevel=remoteLoginEnabled,reason='remoteLoginDisabled since May'))", "root", True),
    ("comment=remoteLoginDisabled", "root", True),
    ("httpsAccess=none", "celladmin", True),
    ("httpsAccess='192.168.10.0/24'", "u", False),
    ("exacliEnabled=TRUE", "u", False),
]


@every(LOCKED_OUT)
def test_the_way_to_a_cell_is_not_closed_over_itself(setting: str, user: str, ssh: bool, said: str, way: str) -> None:
    """A statement that closes the way by which exacell reaches the cell is refused, with another way."""
    text = f"alter cell {setting}"
    with pytest.raises(RefusedError, match=said) as refused:
        refuse_locked_out(parse(text), text, user=user, ssh=ssh)
    assert way in (refused.value.hint or "")


@every(STILL_REACHED)
def test_a_cell_that_stays_reachable_is_changed(setting: str, user: str, ssh: bool) -> None:
    """What closes another way, or opens one, goes through."""
    refuse_locked_out(parse(f"alter cell {setting}"), "", user=user, ssh=ssh)


def test_a_statement_on_something_else_closes_nothing() -> None:
    """Only ALTER CELL closes a way."""
    closing = parse("alter cell accessLevelPerm=remoteLoginDisabled")
    assert isinstance(closing, Change)
    for other in (replace(closing, object="CELLDISK"), parse("list cell"), parse("drop alerthistory all")):
        refuse_locked_out(other, "", user="root", ssh=True)
