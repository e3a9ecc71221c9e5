"""Identities of metrics at every minute, whatever a cell went through. Source: reference cellcli.md 4.1 and 4.2."""

from __future__ import annotations

from collections.abc import Iterator

from cells_bench import Bench
from hypothesis import given, settings, strategies as st

from exacell.emulator.basics.schema import metrics_in

KINDS = [("x2", "19.3"), ("x8m", "22.1"), ("x10mef", "26.1"), ("x6", "12.1.2"), ("x6ef", "19.3")]
EVENTS = st.sampled_from(
    [
        "",
        "alter iormplan dbplan=((name=SPOT,flashlog=off),(name=other,flashcache=off))",
        "alter iormplan dbplan=''",
        "alter flashcache all flush; alter flashcache all cancel flush",
        "alter flashcache all flush; drop flashcache; create flashcache all",
        "drop flashlog",
        "alter iormplan dbplan=((name=SPOT,share=8,limit=5),(name=other,share=1)), objective=low_latency",
        "create flashlog all size=64M",
        "alter cell restart services cellsrv ignore redundancy",
    ]
)
LOADS = st.tuples(
    st.sampled_from(["mixed", "dw", "oltp", "batch", "redo"]), st.sampled_from(["SPOT", "ERP"]), st.integers(30, 240)
)
Values = dict[str, dict[str, float]]


def _minutes(bench: Bench, moments: list[float]) -> Iterator[Values]:
    reader, names = bench.rack.reader(bench.cell), ("FL_", "FC_", "CD_", "DB_", "SIO_")
    wanted = [d for n, d in metrics_in(bench.rack.release.number).items() if n.startswith(names)]
    for moment in moments:
        values: Values = {}
        for reading in reader.readings(moment, wanted):
            values.setdefault(reading.definition.name, {})[reading.object_name] = reading.number
        yield values


def _holds(values: Values) -> None:
    """Make sure of what is true at any one minute."""
    one = {name: next(iter(objects.values())) for name, objects in values.items() if name.startswith(("FL_", "FC_"))}
    skips = {n: v for n, v in one.items() if n.startswith("FL_IO_W_SKIP_") and not n.endswith(("_MIN", "_FLASH"))}
    if "FL_IO_W_SKIP_LOG_ON_FAST_DEV" not in one:
        skips["FL_IO_W_SKIP_LOG_ON_FLASH"] = one["FL_IO_W_SKIP_LOG_ON_FLASH"]
    assert one["FL_DISK_FIRST"] + one["FL_FLASH_FIRST"] == one["FL_IO_W"]
    assert one["FL_IO_W"] + sum(skips.values()) == one["FL_RQ_W"]
    assert one["FC_IO_RQ_W_FIRST"] + one["FC_IO_RQ_W_OVERWRITE"] == one["FC_IO_RQ_W"]
    for kind in "RW":
        assert (
            one[f"FC_IO_RQ_{kind}_SKIP"] >= one[f"FC_IO_RQ_{kind}_SKIP_LG"] + one[f"FC_IO_RQ_{kind}_SKIP_FC_THROTTLE"]
        )
    tried = {end: one[f"FC_IO_RQ_REPLACEMENT_{end}"] for end in ("ATTEMPTED", "FAILED")}
    ends = {end: sum(one[f"FC_IO_RQ_REPLACEMENT_{k}_{end}"] for k in ("OLTP", "DW")) for end in ("FAILED", "SUCCEEDED")}
    assert ends["FAILED"] == tried["FAILED"] and sum(ends.values()) == tried["ATTEMPTED"]
    if "FC_COL_BY_USED" in one:
        assert one["FC_COL_IO_BY_R"] + one["FC_COL_IO_BY_SAVED"] <= one["FC_COL_IO_BY_R_ELIGIBLE"]
        assert one["FC_COL_BY_USED"] <= one["FC_BY_USED"]
    sio = {name: next(iter(objects.values())) for name, objects in values.items() if name.startswith("SIO_")}
    assert sio["SIO_IO_EL_OF"] == sum(sio[f"SIO_IO_{part}"] for part in ("SI_SV", "RD_FC", "RD_HD", "RD_FC_HD"))
    assert one["FC_BY_DIRTY"] + one.get("FC_BY_SYNCED", 0) <= one["FC_BY_ALLOCATED_DIRTY"]
    assert one["FC_BY_DIRTY"] <= one["FC_BY_ALLOCATED_DIRTY"] <= one["FC_BY_ALLOCATED"] >= one["FC_BY_USED"]
    assert abs(sum(values["CD_BY_FC_DIRTY"].values()) - one["FC_BY_DIRTY"]) < 1e-3


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(KINDS), st.lists(st.tuples(EVENTS, LOADS), min_size=1, max_size=4), st.integers(1, 6))
def test_identities_hold_at_every_minute(
    kind: tuple[str, str], plays: list[tuple[str, tuple[str, str, int]]], days: int
) -> None:
    """Races, skips, writes and dirty bytes add up at each minute; counters only fall where they start anew; rates follow."""
    bench = Bench(model=kind[0], release=kind[1], cells=2)
    definitions = metrics_in(bench.rack.release.number)
    counted = [n for n, d in definitions.items() if d.metric_type == "Cumulative" and f"{n}_SEC" in definitions]
    for statement, (profile, database, seconds) in plays:
        bench.e(statement)
        bench.rack.start_load(profile=profile, db=database, seconds=seconds)
        bench.pass_time(seconds + 120)
    last = bench.rack.collection_time(bench.cell)
    metrics = bench.rack.metrics["exa1cel01"]
    for end in (last, last - days * 86_400):
        moments = [end - 60 * back for back in range(20, -1, -1)]
        before: Values = {}
        for moment, values in zip(moments, _minutes(bench, moments), strict=True):
            _holds(values)
            same = metrics.at(moment).epochs == metrics.at(moment - 60).epochs
            for name in (n for n in counted if n in values and n in before and same):
                for owner, number in values[name].items():
                    growth = number - before[name].get(owner, 0)
                    assert growth >= 0, (name, owner)
                    assert abs(values[f"{name}_SEC"][owner] - growth / 60) < 0.02, (name, owner)
            before = values
