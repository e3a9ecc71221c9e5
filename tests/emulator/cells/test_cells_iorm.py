"""ALTER IORMPLAN: what it accepts, what it refuses, and that a plan that is given replaces the old one."""

from __future__ import annotations

import pytest
from cells_bench import Bench

DEFAULT = "((name=SPOT,share=8,limit=80),(name=ERP,share=4,flashcache=off),(name=default,share=1))"


@pytest.mark.parametrize(
    "plan",
    [
        DEFAULT,
        "((name=other,share=1),(name=default,flashlog=off))",
        "((name=a,level=1,allocation=60),(name=b,level=1,allocation=40),(name=other,level=2,allocation=100))",
        "((name=a,level=1,allocation=100),(name=other,level=2,allocation=100),(name=DEFAULT,flashcache=off,flashlog=off))",
        "((name=a,share=2,role=primary),(name=a,share=1,role=standby))",
        "((name=gold,share=9,type=profile),(name=gold,share=2))",
        "((name=a,flashcachemin=1g,flashcachelimit=4g))",
        "((name=a,share=1,asmcluster=c1),(name=a,share=2,asmcluster=c2))",
        "((name='two words',limit=100))",
        '((name="it\'s",limit=100))',
        "((name=not_a_database,flashlog=off))",
    ],
)
def test_plans_round_trip(bench: Bench, plan: str) -> None:
    """What ATTRIBUTES dbplan prints can be sent back as it is."""
    assert bench.e(f"alter iormplan dbplan={plan}") == "IORMPLAN successfully altered\n"
    printed = bench.one("list iormplan attributes dbplan")
    assert printed == plan
    bench.e("alter iormplan dbplan=''")
    assert bench.one("list iormplan attributes dbplan") == ""
    bench.e(f"alter iormplan dbplan={printed}")
    assert bench.one("list iormplan attributes dbplan") == printed


def test_quotes_and_case_of_attributes_are_normalised(bench: Bench) -> None:
    """Attribute names print in lower case and names without needless quotes; values stay as they were."""
    bench.e("alter iormplan dbplan = ( ( name = 'SPOT' , flashLog = off ) , ( name=other,flashlog=on ) )")
    assert bench.one("list iormplan attributes dbplan") == "((name=SPOT,flashlog=off),(name=other,flashlog=on))"


def test_what_is_not_given_stays(bench: Bench) -> None:
    """Changing the objective keeps the plans, changing a plan keeps the objective."""
    bench.e("alter iormplan objective=low_latency")
    assert bench.values("list iormplan attributes dbplan,objective") == [[DEFAULT, "low_latency"]]
    bench.e("alter iormplan dbplan=((name=a,share=1))")
    assert bench.values("list iormplan attributes dbplan,objective") == [["((name=a,share=1))", "low_latency"]]


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        ("((name=a,share=0))", "CELL-00023"),
        ("((name=a,share=33))", "CELL-00023"),
        ("((name=a,share=x))", "CELL-00023"),
        ("((name=a,level=1,allocation=101),(name=other,level=2,allocation=1))", "CELL-02918"),
        ("((name=a,level=2,allocation=99),(name=other,level=2,allocation=2))", "CELL-00006: .* at level 2"),
        ("((name=a,level=1,allocation=50))", "CELL-02918: .*OTHER"),
        ("((name=a,share=1),(name=other,level=1,allocation=50))", "CELL-02918: .*mixed"),
        ("((name=a,share=1,level=1,allocation=5),(name=other,level=1,allocation=5))", "CELL-02918"),
        ("((name=a,level=1),(name=other,level=1,allocation=50))", "CELL-02918: .*together"),
        ("((name=a))", "CELL-02918: .*no attribute"),
        ("((share=1,name=a))", "CELL-02918: .*first"),
        ("((name=_a,share=1))", "CELL-02918: .*start with _"),
        ("((name=a,share=1),(name=A,share=2))", "CELL-02918: .*twice"),
        ("((name=a,share=1,share=2))", "CELL-02918: .*twice"),
        ("((name=a,limit=0))", "CELL-02918: .*limit"),
        ("((name=a,limit=101))", "CELL-02918: .*limit"),
        ("((name=a,flashlog=maybe))", "CELL-02918: .*on or off"),
        ("((name=a,colour=red))", "CELL-02918: .*colour"),
        ("((name=a,xrmemcache=off))", "CELL-02918: .*xrmemcache"),
        ("((name=a,flashcache=off,flashcachemin=1g))", "CELL-02918: .*flashcachemin"),
        ("((name=a,flashcachesize=1g,flashcachelimit=2g))", "CELL-02918"),
        ("((name=a,flashcachemin=2g,flashcachelimit=1g))", "CELL-02918: .*larger"),
        ("((name=a,flashcachemin=1m))", "CELL-02918: .*4M"),
        ("((name=default,share=1,role=primary))", "CELL-02918: .*role or type"),
    ],
)
def test_plans_that_break_a_rule_change_nothing(bench: Bench, plan: str, line: str) -> None:
    """Each rule of directives is enforced, with the code that is known for it, and the old plan stays."""
    import re

    assert re.match(line, bench.e(f"alter iormplan dbplan={plan}, objective=balanced"))
    assert bench.values("list iormplan attributes dbplan,objective") == [[DEFAULT, "auto"]]


def test_category_plans(bench: Bench) -> None:
    """A catplan has levels and allocations only, and stands beside the dbplan."""
    plan = "((name=oltp,level=1,allocation=80),(name=other,level=2,allocation=100))"
    assert bench.e(f"alter iormplan catplan={plan}") == "IORMPLAN successfully altered\n"
    assert bench.values("list iormplan attributes catplan,dbplan") == [[plan, DEFAULT]]
    assert bench.e("alter iormplan catplan=((name=oltp,share=1))").startswith("CELL-02918")


def test_the_objective_is_one_of_five(bench: Bench) -> None:
    """Unknown objectives are refused."""
    assert bench.e("alter iormplan objective=fast").startswith("CELL-02918")
    assert "altered" in bench.e("alter iormplan objective='basic'")


def test_plans_are_per_cell(bench: Bench) -> None:
    """Changing one cell's plan leaves the others alone."""
    bench.e("alter iormplan dbplan=''")
    assert bench.one("list iormplan attributes dbplan", cell="exa1cel02") == DEFAULT


SHARES = [
    ("dbplan=''", (50, 50)),
    ("dbplan=((name=SPOT,share=8),(name=ERP,flashcache=off))", (100, 0)),
    ("dbplan=((name=SPOT,flashcachelimit={tenth}),(name=ERP,share=4))", (10, 90)),
    ("dbplan=((name=SPOT,share=1),(name=ERP,flashcachemin={most}))", (20, 80)),
    ("dbplan=((name=SPOT,flashcachesize={tenth}),(name=ERP,flashcachesize={tenth}))", (10, 10)),
    ("dbplan=((name=default,flashcachelimit={tenth}))", (10, 10)),
]


@pytest.mark.parametrize(("plan", "wanted"), SHARES)
def test_the_plan_decides_what_a_database_has_of_the_cache(bench: Bench, plan: str, wanted: tuple[int, int]) -> None:
    """Limits, guarantees and sizes of the plan show in DB_FC_BY_ALLOCATED and in the sums of FLASHCACHECONTENT."""

    def megabytes(text: str) -> float:
        return float(text.split()[0].replace(",", ""))

    held = megabytes(bench.one("list metriccurrent FC_BY_ALLOCATED attributes metricValue"))
    sizes = {"tenth": f"{round(held / 10)}M", "most": f"{round(held * 0.8)}M"}
    answer = bench.e("alter iormplan " + plan.format(**sizes))
    assert answer == "IORMPLAN successfully altered\n"
    rows = dict(bench.values("list metriccurrent DB_FC_BY_ALLOCATED attributes metricObjectName,metricValue"))
    parts = tuple(megabytes(rows[name]) / held * 100 for name in ("SPOT", "ERP"))
    assert parts == pytest.approx(wanted, abs=0.5)
    content = bench.values("list flashcachecontent attributes dbUniqueName,cachedSize")
    spot, both = (sum(int(size) for name, size in content if name in names) for names in (("SPOT",), ("SPOT", "ERP")))
    assert spot / both * 100 == pytest.approx(wanted[0] / sum(wanted) * 100, abs=3)
