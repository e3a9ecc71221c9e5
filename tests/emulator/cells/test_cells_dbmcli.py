"""DBMCLI of an emulated database node: the server's own attributes, and nothing that it does not know."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cells_bench import Bench

from exacell.emulator.dbmcli import dbm_object_types, dbmcli, server_row
from exacell.emulator.program import Ask, Out
from exacell.emulator.rack import Rack

DOCUMENTED = """
    name bbuStatus cpuCount diagHistoryDays fanCount fanStatus httpsAccess id interconnectCount ipaddress1 kernelVersion
    locatorLEDStatus makeModel metricHistoryDays msVersion powerCount powerStatus releaseImageStatus releaseVersion
    releaseTrackingBug status temperatureReading temperatureStatus upTime msStatus rsStatus
"""
"""What LIST DBSERVER DETAIL shows in Oracle's documentation. Source: Oracle DBMMN, list-dbserver."""


def shown(bench: Bench, *argv: str, stdin: Sequence[str] | None = None) -> tuple[int, str]:
    """Return the exit status and what a run of dbmcli on the first node prints."""
    lines = iter(stdin or ())
    texts: list[str] = []
    program = dbmcli(bench.rack, "exa1db01", argv, tty=False, has_stdin=stdin is not None)
    answer: str | None = None
    while True:
        try:
            event = program.send(answer)
        except StopIteration as end:
            return int(end.value), "".join(texts)
        answer = next(lines, None) if isinstance(event, Ask) else None
        texts += [event.text] if isinstance(event, Out) else []


@pytest.mark.parametrize("model", ["x2", "x6", "x6ef", "x8m", "x10m", "x10mef"])
def test_every_model_has_a_server_with_the_documented_attributes(model: str) -> None:
    """LIST DBSERVER DETAIL of each model's rack has a line for each attribute of the documented example, in CellCLI's layout."""
    status, text = shown(Bench(model=model), "-e", "list", "dbserver", "detail")
    labels = {line[2:].split(":")[0] for line in text.splitlines()}
    assert status == 0 and labels >= set(DOCUMENTED.split())
    assert text.startswith("\t name:              \t exa1db01\n")


DONE = "DBServer exa1db01 successfully altered\n"
REBOOT = f"{DONE.strip()}. Please reboot the system to make the new pendingCoreCount effective.\n"
STOPPED = "Stopping MS services...\nThe SHUTDOWN of MS services was successful.\n"
ANSWERS = [
    ("list dbserver", "\t exa1db01\t online\n"),
    ("LIST DBSERVER exa1db01 ATTRIBUTES name,fanCount,msStatus", "\t exa1db01\t 16/16\t running\n"),
    ("list dbserver where status = 'offline'", ""),
    ("list alerthistory where endTime=null and alertType=stateful", ""),
    ("list dbserver; list dbserver attributes powerStatus", "\t exa1db01\t online\n\t normal\n"),
    ("list cell", "     ^\nDBM-01504: Invalid command syntax.\n"),
    ("create dbserver", "^\nDBM-01504: Invalid command syntax.\n"),
    ("alter physicaldisk 252:0 comment=x", "^\nDBM-01504: Invalid command syntax.\n"),
    (
        "alter dbserver shutdown services egs",
        "                                 ^\nDBM-01504: Invalid command syntax.\n",
    ),
    ("alter dbserver validate configuration", "DBServer exa1db01 successfully altered\n"),
    ("alter dbserver smtpToAddr='dba@example.com', comment='a b'; alter dbserver validate mail", f"{DONE}{DONE}"),
    ("alter dbserver led on; list dbserver attributes locatorLEDStatus", f"{DONE}\t on\n"),
    ("alter dbserver pendingCoreCount = 6 force; list dbserver attributes pendingCoreCount", f"{REBOOT}\t 6\n"),
    ("alter dbserver shutdown services ms; list dbserver attributes msStatus", f"{STOPPED}\t stopped\n"),
    ("drop alerthistory all", ""),
    ("list physicaldisk attributes name,diskType,status where status=normal limit 1", "\t 252:0\t HardDisk\t normal\n"),
]
REFUSED = {
    "alter dbserver pendingCoreCount=99": "DBM-02917: ",
    "alter dbserver cpuCount=4": "DBM-02908: ",
    "alter dbserver nonsense=4": "DBM-02907: ",
    "alter dbserver validate snmp type=asr": "DBM-02947: SNMP of cell exa1db01 cannot be validated: snmpSubscriber is not set.",
}


@pytest.mark.parametrize(("statement", "text"), ANSWERS)
def test_statements(statement: str, text: str) -> None:
    """LIST takes filters, attributes and batches as CellCLI's does; what is not emulated is a syntax error."""
    assert shown(Bench(), "-e", statement) == (0, text)


@pytest.mark.parametrize("statement", REFUSED)
def test_what_cannot_be_altered_is_refused(statement: str) -> None:
    """A wrong value, a fixed attribute and an unknown one change nothing and are said with DBMCLI's prefix."""
    bench = Bench()
    assert shown(bench, "-e", statement)[1].startswith(REFUSED[statement])
    assert not bench.rack.server_settings.get("exa1db01")


def test_services_come_back_and_settings_last() -> None:
    """RESTART SERVICES ALL tells the states, and what was set is there when the rack is stored and read again."""
    bench = Bench()
    shown(bench, "-e", "alter dbserver shutdown services rs; alter dbserver location='row 7'")
    text = shown(bench, "-e", "alter dbserver restart services all")[1]
    assert text.splitlines()[-1] == "Getting the state of MS services...  running"
    again = Rack.from_state(bench.rack.to_state(), bench.rack.clock)
    assert server_row(again, "exa1db01") | {"upTime": ""} == server_row(bench.rack, "exa1db01") | {"upTime": ""}
    assert server_row(again, "exa1db01")["location"] == "row 7"


def test_an_unknown_server_and_an_unknown_attribute_are_named() -> None:
    """Wrong names are said with DBMCLI's prefix."""
    assert shown(Bench(), "-e", "list dbserver exa1db09")[1].startswith("DBM-02906: ")
    assert shown(Bench(), "-e", "list dbserver attributes flashCacheMode")[1].startswith("DBM-02907: ")


def test_a_script_on_standard_input() -> None:
    """Without -n and -x banner and prompts are there; with them, only answers."""
    bench = Bench()
    _, text = shown(bench, stdin=["list dbserver attributes name", "exit"])
    assert text.startswith("\nDBMCLI: Release 19.3.2.0.0 - Production on ") and "DBMCLI> \t exa1db01\n" in text
    assert shown(bench, "-n", "-x", stdin=["list dbserver attributes name"]) == (0, "\t exa1db01\n")


def test_releases_before_it_have_none() -> None:
    """Before 12.1.2 there is no such program, and wrong options show how it is called."""
    assert shown(Bench(release="11.2.3.3.1"), "-e", "list dbserver") == (127, "dbmcli: command not found\n")
    assert shown(Bench(), "--what")[0] == 1


def test_describe_has_every_attribute_that_a_row_has() -> None:
    """No row has an attribute that DESCRIBE DBSERVER does not name, and those of newer releases are not in older ones."""
    bench = Bench(model="x10m")
    owner = dbm_object_types()["DBSERVER"]
    names = [a.name for a in owner.attributes_in(bench.rack.release.number)]
    assert set(server_row(bench.rack, "exa1db01")) <= set(names)
    assert "egsStatus" in names and "egsStatus" not in shown(Bench(), "-e", "describe dbserver")[1]
