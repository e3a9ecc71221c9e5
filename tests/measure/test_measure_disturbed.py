"""What disturbs an experiment is looked for around each run, and named with its runs; what a release makes of it, before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exacell.change.factors import factor_and_subject
from exacell.measure.experiments import fairness
from exacell.measure.experiments.said import sentences
from tests.support.trials import PASSPORT, cells, measured

QUIET = fairness.Around(
    requests={"cel01": {"SPOT": 1000.0, "ERP": 100.0}}, collected={"cel01": 60_000}, rates={"SPOT": 90.0}
)
LATER = replace(QUIET, requests={"cel01": {"SPOT": 7000.0, "ERP": 100.0}}, collected={"cel01": 120_000})
_CELLS_BEFORE = {f"cel0{cell}": {"SPOT": 0.0, "ERP": 0.0} for cell in (1, 2, 3)}
_CELLS_AFTER = {f"cel0{cell}": {"SPOT": 6000.0, "ERP": 6000.0} for cell in (1, 2, 3)}
ALERT = {("cel01", "3_1"): "Hard disk failed."}
CAME = [
    ("nothing", QUIET, LATER, []),
    (
        "a load in between, gone when it is looked for again",
        QUIET, replace(LATER, requests={"cel01": {"SPOT": 7000.0, "ERP": 6100.0}}),
        ["other databases have 50% of the requests to the cells (ERP 100/s)"],
    ),
    (
        "no collection in between: the cells' own rates",
        QUIET, replace(QUIET, rates={"SPOT": 100.0, "ERP": 300.0}),
        ["other databases have 75% of the requests to the cells (ERP 300/s)"],
    ),
    (
        "counters that began anew: what came since then",
        QUIET,
        replace(LATER, requests={"cel01": {"SPOT": 10.0, "ERP": 3600.0}}, rates={"SPOT": 60.0}),
        ["other databases have 100% of the requests to the cells (ERP 60/s)"],
    ),
    (
        "one of two cells collected",
        QUIET,
        replace(
            LATER,
            requests={"cel01": {"SPOT": 7000.0, "ERP": 6100.0}, "cel02": {"ERP": 9e9}},
            collected={"cel01": 120_000, "cel02": 9},
        ),
        ["other databases have 50% of the requests to the cells (ERP 100/s)"],
    ),
    ("a flush at its begin", replace(QUIET, flushing=("cel01",)), LATER, ["the flash cache of cel01 is being flushed"]),
    ("a flush at its end", QUIET, replace(LATER, flushing=("cel01",)), ["the flash cache of cel01 is being flushed"]),
    ("a rebalance", QUIET, replace(LATER, moving=("disk group DATA is being rebalanced (REBAL)",)),
     ["disk group DATA is being rebalanced (REBAL)"]),
    ("a new alert", QUIET, replace(LATER, alerts=ALERT), ["an alert on cel01: Hard disk failed."]),
    ("an alert that was there", replace(QUIET, alerts=ALERT), replace(LATER, alerts=ALERT), []),
    (
        "an alert of several lines",
        QUIET,
        replace(LATER, alerts={("cel01", "3_1"): "Hard disk failed.  Status : FAILED  Size : 559GB"}),
        ["an alert on cel01: Hard disk failed."],
    ),
    (
        "a flush that began and ended in between",
        replace(QUIET, used={"cel01": 300 * 2**30, "cel02": 300 * 2**30}),
        replace(LATER, used={"cel01": 20 * 2**30, "cel02": 290 * 2**30}),
        ["the flash cache of cel01 was emptied (300G in use before, 20G after)"],
    ),
    (
        "a clock that was set forward: what others did is no smaller by it",
        replace(QUIET, requests=_CELLS_BEFORE, collected=dict.fromkeys(_CELLS_BEFORE, 60_000)),
        replace(
            LATER, requests=_CELLS_AFTER, collected={"cel01": 120_000, "cel02": 3_720_000, "cel03": 120_000}
        ),
        [
            "other databases have 50% of the requests to the cells (ERP 300/s)",
            "the clock of cel02 was set, or its MS stopped: between its collections are 3,660 s by it, and 60 s on the other "
            "cells",
        ],
    ),
    (
        "a clock that was set back",
        replace(QUIET, requests=_CELLS_BEFORE, collected=dict.fromkeys(_CELLS_BEFORE, 60_000)),
        replace(LATER, requests=_CELLS_AFTER, collected={"cel01": 120_000, "cel02": -540_000, "cel03": 120_000}),
        [
            "other databases have 50% of the requests to the cells (ERP 300/s)",
            "the clock of cel02 was set, or its MS stopped: between its collections are -600 s by it, and 60 s on the other "
            "cells",
        ],
    ),
    (
        "cells that are asked a minute apart",
        replace(QUIET, collected={"cel01": 60_000, "cel02": 120_000, "cel03": 60_000}),
        replace(LATER, collected={"cel01": 720_000, "cel02": 660_000, "cel03": 660_000}),
        [],
    ),
    ("no answer", QUIET, replace(LATER, unread=("cel02: gone",)), ["cel02: gone: whether it is busy is not known"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "lines"), [case[1:] for case in CAME], ids=[case[0] for case in CAME])
def test_what_disturbs_a_run_is_looked_for_around_it(
    before: fairness.Around, after: fairness.Around, lines: list[str]
) -> None:
    """Other databases' load over the whole run, a flush, a rebalance and new alerts are each named; what was there is not."""
    assert fairness.came(before, after, "SPOT") == lines


STARTS = [
    ("nothing", {}, []),
    ("CELLSRV as XML says", {"started": 70}, ["CELLSRV of cel02 was restarted"]),
    ("CELLSRV by what only it resets", {"marks": {"SIO_X": 1.0}}, ["CELLSRV of cel02 was restarted"]),
    (
        "the flash log",
        {"passport": {**PASSPORT, "created": "later"}},
        ["the counters of the flash log of cel02 restarted"],
    ),
    ("a counter that fell", {"values": {"FL_RQ_W": 5.0}}, ["the counters of the flash log of cel02 restarted"]),
]


@pytest.mark.parametrize(("other", "lines"), [case[1:] for case in STARTS], ids=[case[0] for case in STARTS])
def test_counters_that_began_anew_in_a_run_are_told_and_make_no_sum(other: dict[str, object], lines: list[str]) -> None:
    """However it shows that CELLSRV or a flash log was started anew in a run, it is named and the run has no outliers to add."""
    values = dict.fromkeys(("FL_RQ_W", "FL_SKIP_OUTLIERS", "FL_ACTUAL_OUTLIERS", "FL_PREVENTED_OUTLIERS"), 10.0)
    first = {
        cell: replace(
            found,
            collected=50,
            values=values,
            started=7,
            marks={"SIO_X": 5.0},
            passport={**PASSPORT, "created": "once"},
        )
        for cell, found in cells({}, {}).items()
    }
    second = {cell: replace(found, collected=100) for cell, found in first.items()}
    second["cel02"] = replace(second["cel02"], **other)  # type: ignore[arg-type]
    assert fairness.starts(first, second) == lines
    assert fairness.outliers(first, second) == ((0, 0, 0) if not lines else (None, None, None))


RELEASES = [
    ("23.1.0.0.0", "cell_flash_cache:app.orders", "19.0.0.0.0", []),
    ("24.1.0.0.0", "cell_flash_cache:app.orders", "23.5.0.24.7", ["from 24.1 on (cel02) a 23ai database loads tables with KEEP"]),
    ("24.1.0.0.0", "cell_flash_cache:app.orders", "19.0.0.0.0", []),
    ("24.1.0.0.0", "cell_flash_cache:app.orders", "", ["from 24.1 on (cel02) a 23ai database, if it is one, loads"]),
    ("25.2.0.0.0", "cell_flash_cache:app.orders", "19.0.0.0.0", ["from 25.2 on (cel02) a flash cache that is more than half"]),
    ("25.2.0.0.0", "iorm:flashCacheMin", "", ["from 25.2 on (cel02)", "from 24.1 on (cel02) a database on Exascale"]),
    ("24.1.0.0.0", "flashlog", "", ["from 24.1 on (cel02) a database on Exascale"]),
    ("24.1.0.0.0", "iorm:flashLog", "", ["from 24.1 on (cel02) a database on Exascale"]),
    ("26.1.0.0.0", "iorm:flashCache", "", [
        "from 25.2 on (cel02)", "from 24.1 on (cel02) a database on Exascale", "from 26.1 on (cel02) the XRMEM cache also keeps",
    ]),
    ("26.1.0.0.0", "parameter:open_cursors", "", []),
    ("", "flashlog", "", []),
]  # fmt: skip


@pytest.mark.parametrize(("release", "factor", "version", "begins"), RELEASES)
def test_what_a_release_makes_of_a_comparison_is_known_before_it(
    release: str, factor: str, version: str, begins: list[str]
) -> None:
    """Each release that spoils a comparison of some factor is named with its cells for that factor, and for no other."""
    name, of = factor_and_subject(factor)
    found = fairness.by_release(name, of, "commits", cells({}, {"release": release}), version)
    assert len(found) == len(begins) and all(line.startswith(start) for line, start in zip(found, begins, strict=True))


def test_what_was_noticed_is_told_with_its_runs() -> None:
    """Loads of other databases are one line with their runs and the highest share, whatever the shares in between are."""
    noticed = [
        *(f"run {n}: other databases have {20 + n}% of the requests to the cells (ERP {n}/s)" for n in range(2, 18)),
        "run 14: CELLSRV of cel02 was restarted",
        "run 3: cel01: IORM dbPlan: SPOT share: 8 → 4",
        "run 5: cel01: IORM dbPlan: SPOT share: 8 → 4",
        "run 6: cel01: IORM dbPlan: SPOT share: 8 → 2",
    ]
    told = list(sentences(replace(measured(530, 500), noticed=tuple(noticed))))[1]
    assert told == (
        "This was not a fair comparison: in runs 2 to 17: other databases have 37% of the requests to the cells (ERP 17/s); "
        "in run 14: CELLSRV of cel02 was restarted; "
        "another condition in runs 3, 5 than in the first: cel01: IORM dbPlan: SPOT share: 8 → 4; "
        "another condition in run 6 than in the first: cel01: IORM dbPlan: SPOT share: 8 → 2."
    )
    assert fairness.new_among(["other databases have 9% of the requests to the cells (ERP 9/s)"], noticed) == []
