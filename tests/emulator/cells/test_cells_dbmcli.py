"""DBMCLI of an emulated database node: the server's own attributes, and nothing that it does not know."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cells_bench import Bench

from exacell.emulator.basics.program import Ask, Out
from exacell.emulator.programs.dbmcli import dbm_object_types, dbmcli, server_row
from tests.support.every import every

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


ANSWERS = [
    ("list dbserver", "\t exa1db01\t online\n"),
    ("LIST DBSERVER exa1db01 ATTRIBUTES name,fanCount,msStatus", "\t exa1db01\t 16/16\t running\n"),
    ("list dbserver where status = 'offline'", ""),
    ("list alerthistory where endTime=null and alertType=stateful", ""),
    ("list dbserver; list dbserver attributes powerStatus", "\t exa1db01\t online\n\t normal\n"),
    ("list cell", "     ^\nDBM-01504: Invalid command syntax.\n"),
    ("create dbserver", "^\nDBM-01504: Invalid command syntax.\n"),
    ("alter physicaldisk 252:0 comment=x", "^\nDBM-01504: Invalid command syntax.\n"),
    ("alter dbserver led on", "^\nDBM-01504: Invalid command syntax.\n"),
    ("list physicaldisk attributes name,diskType,status where status=normal limit 1", "\t 252:0\t HardDisk\t normal\n"),
]


@every(ANSWERS)
def test_statements(statement: str, text: str) -> None:
    """LIST takes filters, attributes and batches as CellCLI's does; the rest is a syntax error."""
    assert shown(Bench(), "-e", statement) == (0, text)


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


@pytest.mark.parametrize(
    ("release", "model", "metrics"),
    [("12.1.2", "x2", 24), ("19.3", "x6", 24), ("24.1", "x8m", 92), ("24.1", "x10m", 92)],
)
def test_metrics_of_a_server(release: str, model: str, metrics: int) -> None:
    """Each metric of a release is described, those of 24.1 are the 92 of a published list, and no other one has a value."""
    bench = Bench(release=release, model=model)
    defined = rows(bench, "list metricdefinition attributes name,description,objectType,unit")
    assert len(defined) == metrics if release == "24.1" else len(defined) >= metrics
    assert all(description for _name, description, _kind, _unit in defined)
    current = rows(bench, "list metriccurrent")
    assert {name for name, _object, _value in current} <= {name for name, *_ in defined}
    assert {"DS_CPUT", "DS_TEMP", "N_HCA_MB_RCV_SEC"} <= {name for name, _object, _value in current}
    assert {"exa1db01", "/"} <= {name for _metric, name, _value in current}


def test_a_load_shows_on_the_server_as_on_the_cells() -> None:
    """What the cells send to a server in a minute is what the server receives, on its ports and in all."""
    bench = Bench()
    bench.rack.start_load(seconds=600, profile="dw")
    bench.pass_time(400)
    sent = "list metriccurrent N_MB_SENT_SEC attributes metricValue where metricObjectName = exa1db01"
    cells = sum(amount(bench.one(sent, cell=host)) for host in bench.rack.cells)
    ((_name, _node, received),) = rows(bench, "list metriccurrent N_HCA_MB_RCV_SEC")
    ports = [amount(value) for _name, _port, value in rows(bench, "list metriccurrent N_IB_MB_RCV_SEC")]
    assert cells > 1.0 and amount(received) == pytest.approx(cells, rel=0.01) == pytest.approx(sum(ports), rel=0.01)


def test_the_history_of_a_server() -> None:
    """A history has a row a minute, oldest first, up to the current value; filters on time pick minutes."""
    bench = Bench()
    bench.pass_time(600)
    history = rows(bench, "list metrichistory DS_TEMP where ageInMinutes < 6")
    assert 5 <= len(history) <= 6
    assert [row[3] for row in history] == sorted(row[3] for row in history)
    assert history[-1][:3] == rows(bench, "list metriccurrent DS_TEMP")[0]
    assert rows(bench, f"list metrichistory DS_TEMP where collectionTime > '{history[-2][3]}'") == history[-1:]


def test_ports_and_plan_of_a_server() -> None:
    """Servers with InfiniBand have two ports and those with RoCE none; an I/O plan is empty, and unknown from 24.1 on."""
    bench, newer = Bench(), Bench(release="24.1", model="x8m")
    assert rows(bench, "list ibport") == [["HCA-1:1", "Active"], ["HCA-1:2", "Active"]]
    assert rows(newer, "list ibport") == []
    assert rows(bench, "list iormplan") == [["exa1db01_IORMPLAN", "active"]]
    assert shown(newer, "-e", "list iormplan")[1].endswith("DBM-01504: Invalid command syntax.\n")
    assert shown(bench, "-e", "list metriccurrent CL_CPUT")[1] == "DBM-02906: Metric does not exist: CL_CPUT\n"


def rows(bench: Bench, statement: str) -> list[list[str]]:
    """Return the columns of what ``dbmcli -e`` prints."""
    status, text = shown(bench, "-e", statement)
    assert status == 0
    return [[column.strip() for column in line.split("\t")[1:]] for line in text.splitlines()]


def amount(value: str) -> float:
    """Return the number of ``1,234 MB/sec``."""
    return float(value.split()[0].replace(",", ""))
