"""Keys, users, roles, quarantines, diagnostic packages, moved cell disks, and what else ALTER CELL can do."""

from __future__ import annotations

import re

import pytest
from cells_bench import IN_DATA, STUCK, AsmStub, Bench

from exacell.emulator.basics.clock import RackClock
from exacell.emulator.rack.rack import Rack
from exacell.emulator.state.fault_book import make_fault

KEY = "66e12adb996805358bf82258587f5050"


def test_keys_are_assigned_listed_by_type_and_taken_away(bench: Bench) -> None:
    """A key is made at random, belongs to clients in any case of letters, has a type, and goes with an empty value."""
    first, second = bench.e("create key"), bench.e("create key")
    assert re.fullmatch(r"\t [0-9a-f]{32}\n", first) and first != second
    assert bench.e(f"assign key for db1='{KEY}', 'db2'='{KEY}'") == (
        "Key for db1 successfully created\nKey for db2 successfully created\n"
    )
    assert bench.e(f"assign key for asmcluster 'asm1'='{KEY}'") == "Key for asm1 successfully created\n"
    assert bench.e(f"assign key for cell '{KEY}'") == "Key for CELL successfully created\n"
    assert bench.e(f"assign key for DB1='{KEY[::-1]}'") == "Key for DB1 successfully updated\n"
    assert bench.values("list key for asmcluster") == [["asm1", KEY, "ASMCLUSTER"]]
    assert bench.values("list key for cell") == [["", KEY, "CELL"]]
    assert bench.values("list key db2 attributes key") == [[KEY]]
    assert bench.e("assign key for db2=''") == "Key for db2 successfully dropped\n"
    assert "CELL-02906" in bench.e("assign key for db2=''")
    assert "CELL-02917" in bench.e("assign key for db3='short'") and len(bench.values("list key")) == 3


def test_roles_and_users(bench: Bench) -> None:
    """Privileges go to roles and roles to users; what is granted can be listed and revoked; passwords follow the rule."""
    assert bench.e("create role admin, monitor").count("successfully created") == 2
    assert "CELL-02927" in bench.e("create role ADMIN")
    assert bench.e("grant privilege all actions on all objects to role admin") == "Role admin successfully altered\n"
    bench.e("grant privilege list on griddisk attributes name,size with options detail to role monitor")
    shown = bench.one("list role monitor attributes privileges")
    assert shown == "object=griddisk, verb=list, attributes=name,size, options=detail"
    for password in ("Short1", "nodigitsHere", "nocapitals11", "*"):
        assert "CELL-02917" in bench.e(f"create user fred password='{password}'")
    assert bench.e("create user fred password='uq==A*2D$_18'") == "User fred successfully created\n"
    assert "CELL-02917" in bench.e("alter user fred password='uq==A*2D$_18'")
    assert "successfully" in bench.e("alter user fred password='uq==A*2D$_19'")
    assert bench.e("grant role all to user fred") == "User fred successfully altered\n"
    assert bench.values("list user") == [["fred"]] and bench.one("list user fred attributes roles") == "admin,monitor"
    assert "CELL-02944" in bench.e("drop role admin")
    assert bench.e("revoke role monitor from user fred") == "User fred successfully altered\n"
    assert "CELL-02945" in bench.e("revoke role monitor from user fred")
    assert "CELL-02906" in bench.e("grant role nobody to user fred")
    assert bench.e("drop role all force").count("successfully dropped") == 2
    assert bench.one("list user attributes roles") == ""
    assert bench.e("drop user all") == "User fred successfully dropped\n" and bench.e("list user") == ""


@pytest.mark.parametrize(
    "statement",
    [
        "grant privilege fly on griddisk to role r",
        "grant privilege list on nothing to role r",
        "grant privilege list on griddisk from role r",
        "revoke role r to user u",
        "assign key for db1",
        "assign key db1='x'",
    ],
)
def test_what_is_no_grant_is_a_syntax_error(bench: Bench, statement: str) -> None:
    """Verbs, objects and prepositions of grants are checked."""
    assert "CELL-01504" in bench.e(statement)


def test_quarantines_are_made_by_hand_and_by_crashes(bench: Bench) -> None:
    """A quarantine gets the next number, keeps its attributes, has a comment and can be dropped; a fault makes one too."""
    made = "create quarantine quarantineType=SQLID, quarantinePlan='SYSTEM', dbUniqueName=SPOT"
    assert bench.e(f"{made}, sqlid='5xnjp4cutc1s7'") == "Quarantine 1 successfully created\n"
    assert "CELL-02917" in bench.e("create quarantine quarantineType=SQLID, dbUniqueName=SPOT")
    assert "CELL-02917" in bench.e(made.replace("SYSTEM", "MINE"))
    assert "CELL-02908" in bench.e(f"{made}, incidentID=3")
    bench.rack.faults.put(make_fault("exa1cel01", "quarantine", {}, is_cell=True, now=bench.rack.now()))
    bench.pass_time(1)
    rows = bench.values("list quarantine attributes name, quarantineReason, dbUniqueName, remoteHostName")
    assert rows == [["1", "Manual", "SPOT", ""], ["2", "Crash", "SPOT", "exa1db01"]]
    assert bench.values("list alerthistory attributes severity, alertType where alertShortName='ADR'") != []
    assert bench.e("alter quarantine 2 comment='bug 17'") == "Quarantine 2 successfully altered\n"
    assert bench.values("list quarantine where comment like 'bug.*'") == [["2"]]
    assert "CELL-02908" in bench.e("alter quarantine 2 sqlid=x")
    assert bench.e("drop quarantine all").count("successfully dropped") == 2
    assert bench.e(made) == "Quarantine 3 successfully created\n"


def test_diagnostic_packages_take_some_minutes(bench: Bench) -> None:
    """A package is named after cell and time, is processed first, and has its own layout."""
    first = bench.e("create diagpack packStartTime=now, durationInHrs=2").splitlines()
    assert first == ["Processing: exa1cel01_diag_2020_09_13T12_26_40_1", "Use 'list diagpack' for detail."]
    assert bench.e("list diagpack") == "exa1cel01_diag_2020_09_13T12_26_40_1\t(Processing...)\n"
    bench.pass_time(420)
    assert bench.e("list diagpack") == "exa1cel01_diag_2020_09_13T12_26_40_1.tar.bz2\t(7 minutes ago)\n"
    assert bench.e("list diagpack detail").splitlines()[2] == "Type:               Custom package"
    for wrong in ("packStartTime=2030_01_01T00_00_00", "packStartTime=now, durationInHrs=7", "packStartTime=noon"):
        assert "CELL-02917" in bench.e(f"create diagpack {wrong}")
    assert "CELL-02906" in bench.e("create diagpack alertName=9_9")


def test_cell_disks_are_exported_and_imported(bench: Bench) -> None:
    """An exported cell disk needs an import and hides its grid disks from ASM; those of a cache or of ASM's need stay."""
    asm = AsmStub(default=IN_DATA)
    bench.rack.asm = asm
    assert bench.e("export celldisk CD_03_exa1cel01") == "CellDisk CD_03_exa1cel01 successfully exported\n"
    assert bench.values("list celldisk CD_03_exa1cel01") == [["CD_03_exa1cel01", "importRequired"]]
    assert ("exa1cel01", "DATA_CD_03_exa1cel01", "inactive") in asm.told
    assert "CELL-02701" in bench.e("create griddisk g celldisk=CD_03_exa1cel01, size=16M")
    assert "CELL-02932" in bench.e("export celldisk FD_00_exa1cel01")
    assert "CELL-02931" in bench.e("export celldisk CD_03_exa1cel01") and "CELL-02906" in bench.e("export celldisk X")
    asm.default = STUCK
    assert "CELL-02915" in bench.e("export celldisk CD_04_exa1cel01")
    assert "CELL-02931" in bench.e("import celldisk CD_05_exa1cel01")
    assert bench.e("import celldisk CD_NEW lun=0_3, comment='moved'") == "CellDisk CD_NEW successfully imported\n"
    assert bench.values("list celldisk CD_NEW attributes comment, status") == [["moved", "normal"]]
    assert bench.one("list griddisk DATA_CD_03_exa1cel01 attributes cellDisk") == "CD_NEW"
    assert ("exa1cel01", "DATA_CD_03_exa1cel01", "active") in asm.told
    assert bench.e("import celldisk all") == ""


def test_lights_checks_and_battery(bench: Bench) -> None:
    """LEDs and battery show in LIST CELL; checks name what is missing; the management controller takes its time."""
    for statement, attribute, value in (
        ("alter cell led on", "locatorLEDStatus", "on"),
        ("alter cell donotserviceled on", "doNotServiceLEDStatus", "on"),
        ("alter cell donotserviceled off force", "doNotServiceLEDStatus", "off"),
        ("alter cell bbu drop for replacement", "bbuStatus", "dropped for replacement"),
        ("alter cell bbu reenable", "bbuStatus", "normal"),
    ):
        assert "CELL-" not in bench.e(statement)
        assert bench.one(f"list cell attributes {attribute}") == value
    assert "smtpToAddr is not set" in bench.e("alter cell validate mail")
    bench.e("alter cell mailServer='mx', smtpToAddr='dba@example.com'")
    assert "successfully" in bench.e("alter cell validate mail")
    assert "snmpSubscriber is not set" in bench.e("alter cell validate snmp type=ASR")
    assert "successfully" in bench.e("alter cell validate configuration")
    assert "successfully" in bench.e("alter cell validate syslogconf auth.info")
    assert "CELL-02917" in bench.e("alter cell validate syslogconf nonsense")
    assert "successfully" in bench.e("alter cell restart bmc") and bench.pauses[-1].seconds == 90


def test_services_of_exascale() -> None:
    """From 24.1 on Exascale's services start and stop; from 25.1 on they can be disabled."""
    bench = Bench(model="x10m", release="26.1")
    assert bench.one("list cell attributes egsStatus") == "stopped"
    bench.e("alter cell startup services egs")
    assert bench.one("list cell attributes egsStatus") == "running"
    assert "successful" in bench.e("alter cell disable services egs")
    assert bench.one("list cell attributes egsStatus") == "disabled"


def test_a_cell_is_dropped_and_made_again(bench: Bench) -> None:
    """A cell with caches stays; without them FORCE takes everything off it, and CREATE CELL makes it anew."""
    assert "CELL-02946" in bench.e("drop cell force")
    bench.flush()
    bench.e("drop flashcache; drop flashlog")
    assert "12 cell disks" not in bench.e("drop cell") and "28 cell disks" in bench.e("drop cell")
    assert bench.e("drop cell force") == "Cell exa1cel01 successfully dropped\n"
    assert bench.e("list cell") == "" == bench.e("list celldisk") == bench.e("list griddisk")
    assert bench.e("create cell").startswith("Cell exa1cel01 successfully created\n")
    assert "CELL-02927" in bench.e("create cell")
    assert bench.e("create celldisk all").count("successfully created") == 28


def test_what_only_cellcli_keeps_is_stored(bench: Bench) -> None:
    """Keys, users and quarantines are there again after the rack was stored and read."""
    bench.e(f"assign key for db1='{KEY}'; create user fred password='uq==A*2D$_18'")
    bench.e("create quarantine quarantineType=SQLID, quarantinePlan='SYSTEM', dbUniqueName=SPOT")
    before = [bench.e(f"list {kind} detail") for kind in ("key", "user", "quarantine")]
    clock = RackClock(speed=60, wall=lambda: bench.wall, rack_start=bench.rack.clock.now())
    bench.rack = Rack.from_state(bench.rack.to_state(), clock)
    assert [bench.e(f"list {kind} detail") for kind in ("key", "user", "quarantine")] == before and all(before)
