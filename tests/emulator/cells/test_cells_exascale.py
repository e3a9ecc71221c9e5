"""Exascale's cluster and nodes in CellCLI. Source: on-line HELP and DESCRIBE of a 24.x cell (reference cellcli.md 2)."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.emulator.basics.clock import RackClock
from exacell.emulator.rack.rack import Rack

NODE = "register esnode id='n2', name='exa1cel02_esnode', cellSecurityPubKey='k', services='ers|bsm'"


@pytest.fixture(params=[("x10mef", "26.1"), ("x8m", "24.1")], ids=" ".join)
def bench(request: pytest.FixtureRequest) -> Bench:
    """Two cells of an EF rack and of an older one that may have Exascale."""
    model, release = request.param
    return Bench(model=model, release=release, cells=2)


def test_a_cluster_is_created_once_and_starts_its_root_service(bench: Bench) -> None:
    """CREATE ESCLUSTER takes one name, starts EGS, and makes this cell a node; a second cluster is refused."""
    assert bench.e("list escluster; list esnode") == ""
    assert bench.e("create escluster pond") == "Exascale cluster pond successfully created\n"
    assert bench.values("list escluster attributes name, leaderHostName") == [["pond", "exa1cel01"]]
    assert bench.one("list cell attributes egsStatus") == "running"
    assert bench.one("list esnode attributes services") == "cell|egs"
    assert "CELL-02927" in bench.e("create escluster lake")
    assert "CELL-01504" in bench.e("create escluster") and "CELL-01504" in bench.e("create escluster a, b")


def test_nodes_are_registered_and_leave(bench: Bench) -> None:
    """REGISTER ESNODE needs id, name, key and known services; the other cell is a node then, until DEREGISTER ESNODE."""
    assert "CELL-02906" in bench.e(NODE)
    bench.e("create escluster pond")
    assert bench.e("list esnode", cell="exa1cel02") == ""
    assert bench.e(NODE) == "Exascale node exa1cel02_esnode successfully registered\n"
    assert "CELL-02927" in bench.e(NODE)
    assert bench.values("list esnode attributes name, id, services", cell="exa1cel02") == [
        ["exa1cel02_esnode", "n2", "ers|bsm"]
    ]
    assert bench.one("list escluster", cell="exa1cel02") == "pond"
    assert "CELL-02917" in bench.e(NODE.replace("n2", "n3").replace("ers|bsm", "ers|cellsrv"))
    assert "cellSecurityPubKey" in bench.e("register esnode id=n4, name=x, services=egs")
    assert "CELL-02907" in bench.e("register esnode id=n4, nme=x")
    assert "CELL-02906" in bench.e("deregister esnode id=n9")
    assert bench.e("deregister esnode id=n2") == "Exascale node exa1cel02_esnode successfully deregistered\n"
    assert bench.e("list esnode; list escluster", cell="exa1cel02") == ""


def test_cluster_and_node_have_attributes_that_can_be_altered(bench: Bench) -> None:
    """Passwords are never shown, of public keys there are fingerprints, and what is not modifiable is refused."""
    for nothing in ("alter escluster start", "alter esnode restBackend=true"):
        assert "CELL-02906" in bench.e(nothing)
    bench.e("create escluster pond")
    assert bench.e("alter escluster adminPassword='Secret1'") == "Exascale cluster pond successfully altered\n"
    bench.e("alter escluster adminPubKey1='one', adminPubKey2='two'")
    shown = bench.e("list escluster detail")
    assert "Secret1" not in shown and shown.count("adminPubKeyFingerprint") == 2
    assert bench.e("alter esnode ersip='10.1.1.1', frontendPriority=2, restBackend=true").endswith("altered\n")
    assert bench.values("list esnode attributes ersip, frontendPriority, restBackend") == [["10.1.1.1", "2", "TRUE"]]
    for wrong, code in (
        ("alter escluster leaderUrl=x", "CELL-02908"),
        ("alter escluster colour=x", "CELL-02907"),
        ("alter escluster", "CELL-01504"),
        ("alter esnode id=x", "CELL-02908"),
        ("alter esnode frontendPriority=high", "CELL-02917"),
        ("alter esnode restBackend=maybe", "CELL-02917"),
        ("drop escluster", "CELL-01504"),
        ("drop esnode", "CELL-01504"),
        ("list escluster pond", "CELL-01504"),
        ("list esnode where id='n'", "CELL-01504"),
    ):
        assert code in bench.e(wrong), wrong


def test_start_boots_the_cluster_again(bench: Bench) -> None:
    """ALTER ESCLUSTER START brings EGS back; ALL of ALTER CELL includes services in use, and none that is disabled."""
    bench.e("create escluster pond; alter cell shutdown services egs")
    assert bench.one("list cell attributes egsStatus") == "stopped"
    bench.e("alter escluster start")
    assert bench.one("list cell attributes egsStatus") == "running"
    bench.e("alter cell shutdown services all ignore redundancy; alter cell startup services ms")
    bench.e("alter cell startup services rs; alter cell startup services ms")
    assert bench.one("list cell attributes egsStatus") == "stopped"
    bench.e("alter cell startup services all")
    assert bench.values("list cell attributes egsStatus, bsmStatus") == [["running", "stopped"]]
    if bench.rack.release.number >= (25, 1):
        bench.e("alter cell disable services egs; alter cell restart services all ignore redundancy")
        assert bench.one("list cell attributes egsStatus") == "disabled"
        bench.e("alter cell startup services egs")
        assert bench.one("list cell attributes egsStatus") == "running"


def test_the_cluster_is_stored(bench: Bench) -> None:
    """Cluster and nodes are there again after the rack was stored and read; reading them changes nothing."""
    bench.e("create escluster pond; alter esnode trustStore='t'")
    bench.e(NODE)
    before = bench.e("list escluster detail; list esnode detail")
    state = bench.rack.to_state()
    assert bench.rack.to_state() == state
    bench.rack = Rack.from_state(state, RackClock(speed=60, wall=lambda: bench.wall, rack_start=bench.rack.clock.now()))
    assert bench.e("list escluster detail; list esnode detail") == before
