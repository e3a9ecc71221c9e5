"""The weekly round of cell care as a person types it: 14 cells, a terminal of 80 by 24, each answer on one screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.program import Program, Terminal, told

ROWS, COLUMNS = 24, 80
C2, C5, C11 = "exa1cel02", "exa1cel05", "exa1cel11"


@pytest.fixture(scope="module")
def fourteen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A home in which the emulated rack w of 14 cells runs."""
    program = Program(tmp_path_factory.mktemp("weekly") / "home")
    program.ok("emulator", "start", "w", "cells=14")
    yield program
    program.ok("emulator", "stop", "w")


@pytest.fixture
def session(fourteen: Program) -> Iterator[Terminal]:
    """The prompt on that rack; what a test broke is mended behind it."""
    with fourteen.at_terminal("-r", "w", rows=ROWS, columns=COLUMNS) as terminal:
        yield terminal.ready()
    fourteen.mend("w")


def screen(terminal: Terminal, statement: str) -> str:
    """Enter a statement and return its answer, which must have fitted on the screen together with the prompt."""
    # On a machine with much else to do fourteen new connections take their time.
    terminal.enter("set patience 60s")
    answer = terminal.enter(statement)
    # Whom it waited for is gone from the screen by now.
    lines = [line for line in answer.splitlines()[1:] if line.strip() and not line.startswith("waiting for ")]
    assert len(lines) < ROWS, answer
    assert max(map(len, lines)) <= COLUMNS, answer
    return answer


def test_health_of_well_cells_is_a_line_a_check(session: Terminal) -> None:
    """Of fourteen well cells each check has a line, and the answer says that nothing is to be done."""
    answer = screen(session, "show health")
    assert "disks in ASM  ok" in answer
    assert "14 cells are well" in answer


def test_health_of_a_bad_week_is_one_screen(fourteen: Program) -> None:
    """Five things broken at once still fit, each with the cell and the statement that comes next; nobody is lost."""
    broken = {C2: "cellsrv-down", "exa1cel03": "ms-down", C5: "refuse", C11: "flash-disk", "exa1cel12": "quarantine"}
    for cell, fault in broken.items():
        fourteen.ok("emulator", "fault", "w", cell, fault)
    try:
        with fourteen.at_terminal("-r", "w", rows=ROWS, columns=COLUMNS) as session:
            answer = screen(session.ready(), "show health")
            for line in (
                f"flash disks failed {C11}, others ok",
                "cells no answer exa1cel",
                f"{C2}: cellsrvStatus is stopped: ASM drops 24 offline disks for good, the first in ",
                f": online cell {C2}",
                f"and with it: cell disk not present, cache warning, log degraded: on {C11} locate disk FLASH_1_0",
                "exa1cel12: 1 quarantine: smart scan or more is off for some SQL: show quarantine",
                "exa1cel03: MS is not running: type `on exa1cel03 restart service ms`",
                f"{C5}: ",
            ):
                assert line in told(answer)
            # What the answer says is what mends it.
            assert "verified" in session.enter("on exa1cel03 restart service ms -y")
            assert "online" in session.enter("on exa1cel03 list cell")
    finally:
        fourteen.mend("w")
        fourteen.ok("-r", "w", "on exa1cel12 drop quarantine all -y")
        fourteen("-r", "w", "on exa1cel12 ack alert all -y")


def test_alerts_are_seen_and_acknowledged(session: Terminal, fourteen: Program) -> None:
    """An open alert is shown with the way to acknowledge it; after that everybody sees who has looked at it."""
    assert "no alert is open" in screen(session, "show alerts")
    session.enter(f"on {C2} create threshold CL_FSUT comparison='>', warning=10, critical=20 -y")
    fourteen.ok("emulator", "load", "w", "db=SPOT", "redo=1", "for=120")
    try:
        answer = told(screen(session, "show alerts critical"))
        name = answer.partition("ack alert ")[2].split()[0].rstrip("`")
        assert f"`on {C2} list alerthistory {name} detail` shows what to" in answer
        session.child.send(f"on {C2} ack alert {name} by=eve\r")
        session.child.expect_exact("proceed? [y/N/d]")
        assert "verified" in session.enter("y")
        assert "eve" in screen(session, "show alerts open")
        assert "no such unexamined alert" in told(session.enter(f"on {C2} ack alert {name} -y"))
    finally:
        fourteen.ok("-r", "w", f"on {C2} drop threshold CL_FSUT -y")


def test_whether_a_cell_can_go_offline_and_why_not(session: Terminal, fourteen: Program) -> None:
    """On a well rack it says how; where another cell is away every cell says no, with the cell that is in the way."""
    answer = screen(session, f"can offline {C2}")
    assert f"{C2}  yes" in answer
    assert f"`offline cell {C2}` takes it offline; `online cell {C2}` brings it back" in told(answer)
    fourteen.ok("emulator", "fault", "w", C5, "cellsrv-down")
    try:
        answer = told(screen(session, "can offline"))
        assert f"`online cell {C5}` starts it and brings the disks online" in answer
        assert "Cannot de-activate due to other offline disks in the diskgroup" in answer
    finally:
        fourteen.mend("w")


def test_quarantines_are_told_and_lifted(session: Terminal, fourteen: Program) -> None:
    """The quarantine is shown with the statement that lifts it, and is gone behind it."""
    assert "nothing is in quarantine" in screen(session, "show quarantine")
    fourteen.ok("emulator", "fault", "w", C5, "quarantine")
    answer = told(screen(session, "show quarantine"))
    assert "SPOT" in answer
    lift = answer.partition("when the cause is patched, type `")[2].partition("`")[0]
    assert lift.startswith(f"on {C5} drop quarantine ")
    session.enter(f"{lift} -y")
    session.enter(f"on {C5} ack alert all -y")
    assert "nothing is in quarantine" in screen(session, "show quarantine")


def test_versions_and_whether_the_rack_can_be_patched(session: Terminal, fourteen: Program) -> None:
    """One release on all cells and ASM's beside it; ready on a well rack, else which check failed and what comes next."""
    assert "ASM main: " in screen(session, "show versions")
    assert "ready: 12 checks passed" in told(screen(session, "check patch"))
    fourteen.ok("emulator", "fault", "w", C11, "flash-disk")
    try:
        answer = told(screen(session, "check patch"))
        assert f"bad flash disks, cache and log normal: {C11}: physical disk FLASH_1_0: status is failed" in answer
        assert f"begin with: on {C11} locate disk FLASH_1_0" in answer
    finally:
        fourteen.mend("w")


def test_what_fills_the_cache_by_owner_and_name(session: Terminal) -> None:
    """The biggest objects are named by the database's dictionary, over all cells."""
    answer = screen(session, "show flashcachecontent db=SPOT top=3")
    assert "SPOT  APP    ORDER_ITEMS" in answer


def test_a_disk_is_located_and_diagnostics_are_packed(session: Terminal) -> None:
    """A disk is found by any of its names with slot and serial number; diagpack asks first and says where it can be
    fetched."""
    answer = screen(session, f"locate disk FD_00_{C2}")
    assert "PCI Slot" in answer
    assert f"`on {C2} alter cell led on` switches the cell's own LED on" in told(answer)
    session.child.send(f"on {C2} diagpack hours=2\r")
    session.child.expect_exact("proceed? [y/N/d]")
    assert "`list diagpack` shows when it is ready" in told(session.enter("y"))
    assert C2 in screen(session, f"on {C2} list diagpack")
