"""What programs get: the real program on an emulated rack, held to docs/output.md."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import Done, InProcess, Program

DOC = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
FORMATS = ("table", "json", "jsonl", "csv", "tsv", "yaml", "md", "raw")
TITLED = ("table", "csv", "tsv", "md")
FLASHCACHE = "list flashcache attributes name,size,status"


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program and its rack o, with an alert and a quarantine on the second cell and two snapshots."""
    program = InProcess(tmp_path_factory.mktemp("output") / "home")
    program.ok("emulator", "start", "o")
    program.ok("emulator", "fault", "o", "exa1cel02", "quarantine")
    for statement in (
        "on exa1cel02 create threshold CL_FSUT comparison='>', warning=10, critical=20 -y",
        "snap flashlog as=a",
        "emulator load o db=SPOT redo=50 for=120",
        "snap flashlog as=b",
        "trace on db=SPOT -y",
        "emulator load o db=SPOT sessions=2 commits=5",
        "trace collect db=SPOT as=a",
        "trace off db=SPOT -y",
    ):
        program.ok("-r", "o", statement)
    yield program
    program.ok("emulator", "stop", "o")


def ask(rack: Program, form: str, statement: str, *options: str) -> Done:
    return rack("-r", "o", *options, "-o", form, statement)


def documented() -> dict[str, list[str]]:
    """Statement → keys, from the table 'Statements of exacell'."""
    rows = re.findall(r"^\| (`[^|]*?`|a plan \(`-n`\)) \| `(cell [^`]*)`", DOC, re.MULTILINE)
    return {statement.strip("`"): keys.split() for statement, keys in rows}


STATEMENTS = {
    "show flashcache": "show flashcache",
    "show xrmemcache": "show xrmemcache",
    "show griddisk": "show griddisk",
    "show celldisk": "show celldisk",
    "delta A B": "delta a b",
    "explain flashlog A B": "explain flashlog a b",
    "show health": "show health",
    "show alerts": "show alerts",
    "show services": "show services",
    "show versions": "show versions",
    "show quarantine": "show quarantine",
    "can offline": "can offline exa1cel01",
    "check patch": "check patch",
    "doctor": "doctor",
    "files": "files",
    "locate disk D": "locate disk FD_00_exa1cel01",
    "show flashcachecontent": "show flashcachecontent db=SPOT top=1",
    "racks": "racks",
    "trace list": "trace list",
    "a plan (`-n`)": "resize flashcache size=288g -n",
}
LOOSER = {"show diskgroup", "show iorm", "report verify FILE"}
"""Described with words between the keys, or of a file that another test makes (tests/measure/test_reports.py)."""


def test_every_statement_of_the_document_is_tried() -> None:
    """The table of docs/output.md and the table of this test name the same statements."""
    assert set(documented()) - LOOSER == set(STATEMENTS)


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_records_are_as_documented(rack: Program, name: str) -> None:
    """The keys of the records are those of docs/output.md, in that order, and cell is the first."""
    records = ask(rack, "json", STATEMENTS[name]).records
    keys = list(dict.fromkeys(key for record in records for key in record))
    said = documented()[name]
    if name == "delta A B":
        said = [*said, *[key for key in keys if key not in said]]  # Figures, deltas and passport are described behind.
    assert keys == said
    assert next(iter(records[0])) == "cell"


def rows_of(form: str, text: str) -> list[dict[str, object]]:
    """Read records back with a reader of the format that is not exacell's."""
    lines = text.splitlines()
    if form == "json":
        return json.loads(text)
    if form == "jsonl":
        return [json.loads(line) for line in lines]
    if form in ("csv", "tsv"):
        return list(csv.DictReader(io.StringIO(text), delimiter="," if form == "csv" else "\t"))
    if form == "md":
        table = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
        return [dict(zip(table[0], row, strict=True)) for row in table[2:]]
    records: list[dict[str, object]] = []
    for line in lines:
        key, _, value = line[2:].partition(": ")
        if line.startswith("- "):
            records.append({})
        records[-1][key] = json.loads(value)
    return records


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "tsv", "yaml", "md"])
def test_values_are_exact_in_every_format(rack: Program, form: str) -> None:
    """Sizes are integer bytes, to the last one; cell is the first column; nothing is folded; no talk on stderr."""
    done = ask(rack, form, FLASHCACHE)
    rows = rows_of(form, done.out)
    assert (done.code, done.err) == (0, "")
    assert [row["cell"] for row in rows] == ["exa1cel01", "exa1cel02", "exa1cel03"]
    assert all(next(iter(row)) == "cell" for row in rows)
    sizes = [row["size"] for row in rows]
    assert sizes == [391647330304] * 3 if form in ("json", "jsonl", "yaml") else ["391647330304"] * 3


@pytest.mark.parametrize("form", FORMATS)
def test_titles_are_left_out_where_there_are_any(rack: Program, form: str) -> None:
    """--no-header leaves out the titles of table, csv, tsv and md, and changes nothing else in any format."""
    whole, bare = ask(rack, form, FLASHCACHE).out, ask(rack, form, FLASHCACHE, "--no-header").out
    titles = {"table": 2, "csv": 1, "tsv": 1, "md": 2}.get(form, 0)
    assert bare.splitlines() == whole.splitlines()[titles:]
    assert (bare != whole) == (form in TITLED)


@pytest.mark.parametrize("form", FORMATS)
def test_quiet_leaves_the_data_alone(rack: Program, form: str) -> None:
    """--quiet silences the talk, never the data, a problem or a plan."""
    loud, quiet = ask(rack, form, "show quarantine"), ask(rack, form, "show quarantine", "--quiet")
    assert quiet.out == loud.out != ""
    assert "drop quarantine" in loud.err
    assert quiet.err == ""


@pytest.mark.parametrize("form", FORMATS)
def test_a_reader_that_leaves_is_no_error_in_any_format(rack: Program, form: str) -> None:
    """| head -1 in a shell and behind a statement: one line, exit code 0, nothing on standard error."""
    outside = f"set -o pipefail; {sys.executable} -m exacell -r o -o {form} list metriccurrent | head -n 1"
    done = subprocess.run(
        ["bash", "-c", outside], env=rack.env, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_pipes_and_files_behind_a_statement(rack: Program, tmp_path: Path) -> None:
    """| grep with quotes and > file get the answer cell by cell, as programs read it; > inside a condition is a comparison."""
    rack = Program(rack.home)  # A pipe needs a standard output of the system.
    found = ask(
        rack, "table", "list griddisk attributes name,size where size > 1G | grep 'DATA_CD_0[12]' | head -n 2"
    ).out
    assert [line.split()[1] for line in found.splitlines()] == [f"DATA_CD_0{n}_exa1cel01" for n in (1, 2)]
    target = tmp_path / "a file.json"
    assert ask(rack, "json", f"{FLASHCACHE} > '{target}'").out == ""
    assert json.loads(target.read_text()) == ask(rack, "json", FLASHCACHE).records
    head = ask(rack, "jsonl", "list metriccurrent | head -n 1")
    assert (head.code, head.err, len(head.out.splitlines())) == (0, "", 1)


def test_spool_appends_and_refuses_what_is_there(rack: Program, tmp_path: Path) -> None:
    """spool append adds to the file, create refuses it, replace begins anew; a refused one stops the script."""
    target = tmp_path / "spooled"
    one, two = "show services", "show versions"
    for word, statement in (("", one), ("append", two)):
        rack("-r", "o", stdin=f"spool {target} {word}\n{statement}\nspool off\n")
    text = target.read_text()
    assert "cellsrvStatus" in text
    assert "kernel" in text
    refused = rack("-r", "o", stdin=f"spool {target} create\n{one}\n")
    assert refused.code == 2
    assert str(target) in refused.err
    assert target.read_text() == text
    rack("-r", "o", stdin=f"spool {target} replace\n{one}\n")
    assert "kernel" not in target.read_text()
