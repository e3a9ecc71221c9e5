"""The tables of the reference, row by row, against what emulated cells of every release and model answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells_bench import Bench

from exacell.emulator.basics.profiles import releases
from exacell.emulator.basics.schema import object_types
from tests.support.every import every

DATA = Path(__file__).parents[2] / "data"
KINDS = [(release.name, model) for release in releases().values() for model in release.models]


def _rows(name: str) -> list[list[str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")][1:]


VERBS = {verb: objects.split() for verb, objects in _rows("cellcli_verbs.tsv")}


def _bench(release: str, model: str = "") -> Bench:
    return Bench(release=release, model=model or releases()[release].models[0], mode="writethrough", cells=2)


def test_help_of_a_24_x_cell_has_the_topics_of_a_real_one() -> None:
    """Every verb and object of the reference's table is a topic of HELP, and there are no others.

    A real one lists some verbs by themselves, and neither DISKMAP nor what only ends a session. Source: DonChu7/exacopilot.
    """
    lines = _bench("24.1", "x10m").e("help").splitlines()
    assert [line.strip() for line in lines[:3]] == ["", "HELP [topic]", "Available Topics:"]
    topics = {line.strip() for line in lines[3:]}
    expected = {f"{verb} {name}" for verb, objects in VERBS.items() for name in objects} - {"LIST DISKMAP"}
    expected |= {"ALTER", "CREATE", "DEREGISTER", "DROP", "GRANT", "LIST", "REGISTER", "REVOKE"}
    assert topics == expected | {"CALIBRATE", "DESCRIBE", "SET", "SPOOL", "START"}


@pytest.mark.parametrize(("release", "model"), KINDS)
def test_every_object_type_answers_on_every_cell(release: str, model: str) -> None:
    """LIST in every form, DESCRIBE and HELP answer for what the release has, and are syntax errors for what it has not."""
    bench = _bench(release, model)
    number = bench.rack.release.number
    for name, owner in object_types().items():
        known = owner.exists_in(number)
        statements = [f"describe {name}"] if "DESCRIBE" in owner.verbs else []
        if "LIST" in owner.verbs:
            # Thousands of rows of all metrics are another test's business.
            only = " where name='CL_CPUT'" if name.startswith("METRIC") else ""
            only += " and ageInMinutes < 5" if name == "METRICHISTORY" else ""
            statements += [f"list {name}{only}{form}" for form in ("", " detail", " attributes all")]
        for statement in statements:
            answer = bench.e(statement)
            assert ("CELL-" not in answer) if known else ("CELL-01504" in answer), statement
        forgotten = name.startswith("PMEM") and number >= (23, 1)
        for verb in owner.verbs - {"DESCRIBE"}:
            answer = bench.e(f"help {verb} {name}")
            assert ("Usage: " in answer) == (known and not forgotten), f"{verb} {name}"


@every(_rows("cellcli_release_changes.tsv"))
def test_objects_came_when_the_reference_says(name: str, without: str, having: str) -> None:
    """The last release profile without an object refuses DESCRIBE, the first with it answers."""
    assert "CELL-01504" in _bench(without).e(f"describe {name}")
    assert "CELL-01504" not in _bench(having).e(f"describe {name}")


@pytest.mark.parametrize(
    ("release", "options", "accepted"),
    [
        ("11.2.3.3.1", ["9999", "-n", "-m", "-xml", "-v", "-x"], True),
        ("19.3", ["9999", "-n", "-vvv"], True),
        ("22.1", ["-n", "-m", "-xml", "-x"], True),
        ("22.1", ["9999"], False),
        ("22.1", ["-v"], False),
        ("22.1", ["--json"], False),
        ("24.1", ["-n", "-m", "-x", "--json"], True),
        ("19.3", ["--xml"], False),
        ("24.1", ["--xml"], True),
        ("24.1", ["9999"], False),
    ],
)
def test_the_command_line_is_the_releases(release: str, options: list[str], accepted: bool) -> None:
    """cellcli takes the options of its release and answers others with its usage."""
    answer = _bench(release).run(*options, "-e", "list cell")
    assert answer.startswith("Usage:") != accepted


@every(
    [
        ("22.1", "alter cell startup services egs", False),
        ("19.3", "alter metricdefinition FC_BY_DIRTY fineGrained=enabled", False),
        ("22.1", "alter metricdefinition FC_BY_DIRTY fineGrained=enabled", True),
        ("24.1", "alter cell startup services egs", True),
        ("24.1", "alter cell disable services bsm", False),
        ("26.1", "alter cell disable services bsm", True),
        ("19.3", "list griddisk order by name limit 2", True),
        ("11.2.3.3.1", "list griddisk order by name", False),
        ("24.1", "alter iormplan catplan=''", True),
        ("26.1", "alter iormplan catplan=''", False),
        ("19.3", "alter iormplan clusterplan=''", False),
        ("22.1", "alter iormplan clusterplan=''", True),
        ("11.2.2.4", "alter iormplan active", True),
        ("12.1.2", "alter iormplan active", False),
        ("11.2.2.4", "alter flashcache all flush nowait", False),
        ("11.2.3.2.1", "alter flashcache all flush nowait", True),
        ("12.1.2", "list key for asmcluster", False),
        ("19.3", "list key for remote cell detail", True),
        ("22.1", "create griddisk all performanceoptimized flashdisk prefix=p", False),
        ("24.1", "drop griddisk all harddisk prefix=none prepare", True),
        ("22.1", "drop griddisk all harddisk prefix=none prepare", False),
        ("12.1.2", "create user u password=Secret123", True),
        ("11.2.3.3.1", "create user u password=Secret123", False),
        ("19.3", "alter cell led on", True),
        ("12.1.2", "list griddisk DATA-1", False),
        ("12.1.2", 'list griddisk "DATA-1"', True),
        ("12.1.2", "drop griddisk a-b", False),
        ("12.1.2", "create griddisk a-b celldisk=X", False),
        ("12.1.2", "drop role a-b", False),
        ("19.3", "list griddisk DATA-1", True),
        ("12.1.2", "alter physicaldisk 8:1 drop for replacement maintain redundancy", False),
        ("19.3", "alter physicaldisk 8:1 drop for replacement maintain redundancy nowait", True),
        ("11.2.2.4", "alter physicaldisk 20:1 serviceled on", True),
        ("24.1", "create escluster x", True),
        ("22.1", "create escluster x", False),
        ("24.1", "create celldisk ((name=a, lun=0_1), (name=b, lun=0_2))", True),
        ("24.1", "create celldisk ((lun=0_1))", False),
        ("24.1", "create celldisk ((name=a, lun=0_1)", False),
    ]
)
def test_statements_of_releases(release: str, statement: str, accepted: bool) -> None:
    """A statement is a syntax error on the releases that do not know it, and on no others."""
    assert ("CELL-01504" not in _bench(release).e(statement)) == accepted
