"""LIST ACTIVEREQUEST: what smart scans have open on a cell."""

from __future__ import annotations

import pytest
from cells_bench import Bench


@pytest.mark.parametrize(("model", "release"), [("x2", "12.1.2"), ("x2", "19.3"), ("x10m", "24.1")])
def test_a_scan_has_requests_while_it_runs(model: str, release: str) -> None:
    """A load that scans has requests of its database on every cell, on its grid disks; before and after it has none."""
    bench = Bench(model=model, release=release)
    assert bench.e("list activerequest") == ""
    bench.rack.start_load(seconds=600, profile="dw", db="ERP")
    bench.pass_time(90)
    for host in bench.rack.cells:
        columns = "dbName,ioType,ioReason,ioGridDisk,requestState,ioBytes,ioBytesSofar"
        requests = bench.values(f"list activerequest attributes {columns}", cell=host)
        assert requests
        assert {(row[0], row[1]) for row in requests} == {("ERP", "predicate pushing")}
        assert {row[3] for row in requests} <= set(bench.rack.cells[host].grid_disks)
        assert all(0 <= int(row[6]) < int(row[5]) for row in requests)
    names = [row[0] for row in bench.values("list activerequest")]
    assert len(names) == len(set(names))
    assert bench.values(f"list activerequest where name = {names[0]} attributes dbName") == [["ERP"]]
    assert bench.e("list activerequest where dbName = SPOT") == ""
    bench.pass_time(900)
    assert bench.e("list activerequest") == ""


def test_redo_alone_scans_nothing() -> None:
    """A load of redo has no requests, nor has a cell whose CELLSRV is down an answer."""
    bench = Bench()
    bench.rack.start_load(seconds=600, profile="redo")
    bench.pass_time(90)
    assert bench.e("list activerequest") == ""
    bench.e("alter cell shutdown services cellsrv")
    assert bench.e("list activerequest").startswith("CELL-02559:")


@pytest.mark.parametrize("profile", ["dw", "mixed", "oltp"])
def test_a_request_for_each_session(profile: str) -> None:
    """There are as many requests as EXW_SIO_SESSIONS_CURRENT counts sessions that scan."""
    bench = Bench(model="x10m", release="24.1")
    bench.rack.start_load(seconds=600, profile=profile)
    bench.pass_time(200)
    for host in bench.rack.cells:
        sessions = bench.one("list metriccurrent EXW_SIO_SESSIONS_CURRENT attributes metricValue", cell=host)
        assert str(len(bench.values("list activerequest", cell=host))) == sessions
