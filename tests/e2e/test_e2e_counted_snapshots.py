"""Snapshots of every kind of counters: what is kept of cells and of a database, and what two of them mean."""

from __future__ import annotations

import json
import sqlite3

import pytest

from exacell.cellcli.schema import metrics
from exacell.commands.declared.metrics import COUNTED, KINDS
from exacell.measure.delta import FIGURED
from exacell.measure.snapshot import SYSSTAT


def test_every_kind_is_one_that_cells_count():
    """What snap takes beside sysstat are objectTypes whose metrics hold counters."""
    counting = {m.object_type.lower() for m in metrics().values() if m.metric_type == "Cumulative" and m.unit != "%"}
    known = counting | {"iorm_category", "ibport"}  # Told by cells, without definitions in our tables.
    assert not set(COUNTED) - {SYSSTAT} - known and set(KINDS) < set(COUNTED) and KINDS == FIGURED


def _kept(home, kind, name):
    """Return a kept snapshot."""
    with sqlite3.connect(home / "store.db") as connection:
        (text,) = connection.execute("select body from snapshot where kind=? and name=?", (kind, name)).fetchone()
    return json.loads(text)


def _moved(home, kind, name, *, by, collected=0):
    """Take ``by`` from every counter of a kept snapshot, and milliseconds from when it was collected."""
    body = _kept(home, kind, name)
    with sqlite3.connect(home / "store.db") as connection:
        for counters in body["cells"].values():
            counters["values"] = {key: value - by for key, value in counters["values"].items()}
            counters["collected"] -= collected
        connection.execute(
            "update snapshot set body=? where kind=? and name=?", (json.dumps(body), kind, name)
        )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "metric", "of_cell", "of_rack"),
    [
        ("iorm_database", "DB_IO_RQ_SM", "SPOT", "SPOT"),
        ("celldisk", "CD_IO_RQ_R_SM", "CD_00_exa1cel01", None),
        ("smartio", "SIO_IO_EL_OF", "SMARTIO", "SMARTIO"),
    ],
)
def test_each_counter_is_a_row_with_rate_and_share(inside, kind, metric, of_cell, of_rack):
    """A counter's difference stands by cell and object; over the rack a cell's own disks are one sum, shared names stay apart."""
    for name in ("a", "b"):
        inside.ok("-r", "t1", f"snap {kind} as={name}{kind} fresh=no")
    _moved(inside.home, kind, f"a{kind}", by=7, collected=60_000)
    rows = inside.ok("-r", "t1", "-o", "json", f"delta a{kind} b{kind}").records
    one = next(r for r in rows if (r["cell"], r["metric"], r["object"]) == ("exa1cel01", metric, of_cell))
    times = [_kept(inside.home, kind, f"{name}{kind}")["cells"]["exa1cel01"]["collected"] for name in "ab"]
    assert one["difference"] == 7 and one["perSecond"] == round(7 / ((times[1] - times[0]) / 1000), 3)
    own = {r["object"] for r in rows if r["cell"] == "exa1cel01" and r["metric"] == metric}
    (rack,) = (r for r in rows if r["cell"] is None and r["metric"] == metric and r["object"] == of_rack)
    cells = len({r["cell"] for r in rows} - {None})
    assert cells > 1 and rack["difference"] == 7 * cells * (1 if of_rack else len(own))


def test_a_counter_that_did_not_move_is_told_to_programs_and_counted_for_eyes(inside):
    """The table leaves unmoved counters away and says how many; -o json has each with 0."""
    for name in ("still", "too"):
        inside.ok("-r", "t1", f"snap iorm_database as={name} fresh=no")
    _moved(inside.home, "iorm_database", "still", by=0, collected=60_000)
    done = inside.ok("-r", "t1", "delta still too")
    rows = inside.ok("-r", "t1", "-o", "json", "delta still too").records
    assert not done.out and f"{len(rows)} counters did not change" in done.err
    assert rows and {row["difference"] for row in rows} == {0}


def test_a_database_counts_by_instance(inside):
    """Each instance of the database has its own statistics, and levels are none of them."""
    inside.ok("-r", "t1", "snap sysstat db=SPOT as=db1")
    inside.ok("-r", "t1", "snap sysstat db=SPOT as=db2")
    done = inside("-r", "t1", "compare db1 db2")
    assert done.code == 2 and "`delta db1 db2` shows each counter that changed" in " ".join(done.err.split())
    _moved(inside.home, SYSSTAT, "db1", by=3, collected=60_000)
    rows = inside.ok("-r", "t1", "-o", "json", "delta db1 db2").records
    assert {row["cell"] for row in rows} == {"SPOT1", "SPOT2", None}
    assert not any(row["metric"].endswith("current") for row in rows)
    reads = next(row for row in rows if row["cell"] == "SPOT1" and row["metric"] == "physical read total IO requests")
    assert reads["difference"] >= 3 and reads["object"] is None


def test_a_database_that_was_restarted_in_between_has_no_difference(inside):
    """An instance that was started behind the first snapshot is void, and says so."""
    inside.ok("-r", "t1", "snap sysstat db=SPOT as=up1")
    inside.ok("-r", "t1", "snap sysstat db=SPOT as=up2")
    _moved(inside.home, SYSSTAT, "up1", by=3, collected=10 * 365 * 86_400_000)
    done = inside("-r", "t1", "delta up1 up2")
    assert done.code == 1 and "SPOT1: the instance on exa1db01 was started at" in done.err


@pytest.mark.parametrize("line", ["snap sysstat as=x", "snap celldisk db=SPOT as=x", "snap sysstat db=NOSUCH as=x"])
def test_a_database_is_named_where_one_is_asked(inside, line):
    """sysstat needs the database, other kinds take none, and one that does not run is told."""
    assert inside("-r", "t1", line).code == 2
