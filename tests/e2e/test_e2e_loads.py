"""Loads that drive runs on an emulated database: measured, kept, compared, broken off and gone on with."""

from __future__ import annotations

import re

from tests.support.program import InProcess, Program

QUERY = "select count(*) n from dba_tables where table_name = 'EXACELL_KEYS'"


def there(program: InProcess) -> int:
    """Return how many tables of a load there are."""
    (row,) = program.ok("-r", "t1", "-o", "json", "sql", "db=SPOT", QUERY).records
    return int(row["N"])


def test_figures_of_loads_are_kept_and_compared(inside: InProcess) -> None:
    """Time, rate and waits are told; as= keeps loads of one and four sessions as one set; compare has each beside the other."""
    for name in ("cold", "warm"):
        for sessions in (1, 4):
            words = ("db=SPOT", f"sessions={sessions}", "lookups=3000", "keys=30000", "keep=yes", f"as={name}")
            told = inside.ok("-r", "t1", "drive", "lookups", *words, "-y").err
            assert re.search(
                rf"{3000 * sessions:,} look-ups by {sessions} sessions? in [\d.]+ s, [\d,]+ a second", told
            )
            assert f"cell single block physical read: {3000 * sessions:,} waits of " in told
    assert there(inside) == 1
    rows = inside.ok("-o", "json", "compare", "cold", "warm").records
    ratios = {row["load"]: row["ratio"] for row in rows if row.get("figure") == "donePerS"}
    assert ratios[1] > 1.1 and set(ratios) == {1, 4}
    inside.ok("-r", "t1", "drive", "end", "db=SPOT", "-y")
    assert there(inside) == 0


def test_a_name_with_another_programs_figures_is_refused(inside: InProcess) -> None:
    """Figures of a load never replace an import; nothing is sent then."""
    inside.ok("import", "as=iet", "examples/data/iet_iops.csv")
    done = inside("-r", "t1", "drive", "scans", "db=SPOT", "as=iet", "-y")
    assert done.code == 2 and "an import of another program has this name already" in done.err
    assert there(inside) == 0


def test_a_load_that_is_killed_is_gone_on_with(shared: InProcess, outside: Program) -> None:
    """kill -9 while sessions read: resume lets all of them read again and drops the table that the load made."""
    inside = InProcess(outside.home)
    outside.dies("keys up on exa1db01", "-r", "t1", "drive", "lookups", "db=SPOT", "lookups=100000", "keys=5000", "-y")
    assert there(inside) == 1
    resumed = outside("-r", "t1", "resume", "-y")
    assert resumed.code == 0, resumed.err
    assert there(inside) == 0


def test_scans_are_waits_for_smart_scans(inside: InProcess) -> None:
    """A load of scans tells how long the sessions waited for the cells to scan."""
    told = inside.ok("-r", "t1", "drive", "scans", "db=SPOT", "scans=3", "keys=200000", "-y").err
    assert re.search(r"3 scans by 1 session in [\d.]+ s.*; cell smart table scan: [\d,]+ waits of [\d,]+ [µu]s", told)
