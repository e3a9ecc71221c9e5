"""What lines of a recipe keep with its run: files of hosts, answers, output of commands; listed with size and checksum."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from pathlib import Path

import pytest

from exacell.journal.record import Journal
from tests.support.program import InProcess

ALL = """\
recipe "Keep everything"
needs opaque
param file : file = "/etc/os-release"
matrix x in 1,2
  on @db keep sh printf '%s|' one $x "two  three" as=said_${x}
end
keep list flashcache attributes name, size as=caches
keep list flashcache attributes name, size -o csv as=table
keep sql db=SPOT "select name from v$database" as=named
keep @db:${file} as=file
keep as=kernel on exa1db01 sh uname -r
"""


def written(inside: InProcess, **recipes: str) -> None:
    folder = inside.home / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in recipes.items():
        (folder / f"{name}.exa").write_text(text)


def kept(inside: InProcess, *words: str) -> dict[tuple[str, str | None], Path]:
    """Return what a run has kept, by name and host."""
    rows = inside.ok("-r", "t1", "-o", "json", "results", *words).records
    for row in rows:
        data = Path(row["file"]).read_bytes()
        assert (row["bytes"], row["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    return {(row["name"], row["cell"]): Path(row["file"]) for row in rows}


def test_everything_is_kept_with_its_run(inside: InProcess) -> None:
    """Output of commands by host, answers as JSON or as -o says, files: each is listed, journalled, its owner's alone."""
    written(inside, all=ALL)
    assert "6 statements, well-formed" in inside.ok("-r", "t1", "check recipe all").err
    done = inside.ok("-r", "t1", "run all -y --accept-opaque")
    assert "kept with run r1 as file: 2 files of exa1db[01-02], " in done.err
    assert done.out == ""
    found = kept(inside)
    nodes = ("exa1db01", "exa1db02")
    for node in nodes:
        assert found["said_1", node].read_text() == "one|1|two  three|\n"
        assert found["said_2", node].read_text() == "one|2|two  three|\n"
        assert "NAME=" in found["file", node].read_text()
    assert [row["name"] for row in json.loads(found["caches", None].read_text())] == [
        f"exa1cel0{number}_FLASHCACHE" for number in (1, 2, 3)
    ]
    assert found["table", None].read_text().startswith("cell,name,size\n")
    assert json.loads(found["named", None].read_text()) == [{"cell": None, "NAME": "SPOT"}]
    assert found["kernel", "exa1db01"].read_text() == inside.ok("-r", "t1", "-o", "raw", "on exa1db01 sh uname -r").out
    assert len(found) == 10
    for folder in {path for file in found.values() for path in file.parents if inside.home in path.parents}:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert inside.ok("-r", "t1", "-o", "json", "journal verify").records[0]["whole"] is True
    changes = inside.ok("-r", "t1", "-o", "json", "journal").records
    assert {row["ended"] for row in changes} == {"exit 0"} and {row["recipe"] for row in changes} == {"all"}


def test_runs_are_apart(inside: InProcess) -> None:
    """Each run has what it kept; results without a name shows the newest, --all lists both."""
    written(inside, one='recipe "One"\nkeep list cell attributes name as=cells\n')
    for _ in range(2):
        inside.ok("-r", "t1", "@one")
    assert kept(inside) == kept(inside, "r2") != kept(inside, "r1")
    rows = inside.ok("-r", "t1", "-o", "json", "results --all").records
    assert [(row["name"], row["statement"]) for row in rows] == [("r1", "run one"), ("r2", "run one")]


@pytest.mark.parametrize("edit", [lambda path: path.write_text("other"), Path.unlink])
def test_what_was_changed_or_is_gone_is_told(inside: InProcess, edit) -> None:
    """A file that is not as it was kept is named, and the exit code tells."""
    written(inside, one='recipe "One"\nkeep list cell attributes name as=cells\n')
    inside.ok("-r", "t1", "@one")
    (path,) = kept(inside).values()
    edit(path)
    done = inside("-r", "t1", "results r1")
    assert done.code == 1 and str(path) in done.err and ("was changed" in done.err or "is gone" in done.err)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keep list cell as=a\nkeep list griddisk as=A", "would keep A twice"),
        ("matrix x in 1,2\nkeep list cell as=a\nend", "would keep a twice"),
        ("keep list cell\nlist cell", "keep needs as=<name>"),
        ("keep as=a", "keep needs WHAT"),
        ("keep drop flashcache as=a", "needs a file on a host or a statement that only reads"),
        ("keep resize flashcache size=1g as=a", "needs a file on a host or a statement that only reads"),
        ("keep @look who=x as=a", "needs a file on a host or a statement that only reads"),
        ("keep watch 5 list cell as=a", "needs a file on a host or a statement that only reads"),
        ("keep list flashcach as=a", "flashcach"),
        ("keep /proc/kcore as=a", "can't be copied"),
        ("keep '@db:/etc/$(reboot)' as=a", "not an absolute path"),
        ("keep list cell as=a/b", "is not a name"),
        ("keep sql db=SPOT 'drop table x' as=a", "needs a file on a host or a statement that only reads"),
    ],
)
def test_nothing_runs_where_something_can_not_be_kept(inside: InProcess, text: str, said: str) -> None:
    """What can't be kept is told before the first line, and nothing is left anywhere."""
    written(inside, bad=f'recipe "Bad"\n{text}\n')
    done = inside("-r", "t1", "run bad -y --accept-opaque")
    assert done.code == 2 and said in " ".join(done.err.split()), done.err
    assert "[1/" not in done.err and not (inside.home / "runs").exists()


@pytest.mark.parametrize(
    "value", ["list cell", "/etc/passwd; reboot", "@db:/etc/../x", "drop flashcache", "a as=b", "-y"]
)
def test_a_value_is_never_a_statement(inside: InProcess, value: str) -> None:
    """A value that stands where the statement does is no statement, no further name and no flag: nothing is kept."""
    written(inside, put='recipe "Put"\nparam what : text\nkeep $what as=a\n')
    assert "well-formed" in inside.ok("-r", "t1", "check recipe put").err
    done = inside("-r", "t1", f"run put what='{value}' -y")
    assert done.code == 2, done.err
    assert inside("-r", "t1", "results").code != 0


def test_a_dry_run_keeps_nothing_and_says_what_it_would(inside: InProcess) -> None:
    """-n shows each line that would keep something; no file and no row is left."""
    written(inside, all=ALL)
    done = inside.ok("-r", "t1", "run all -n --accept-opaque")
    for name in ("said_1", "said_2", "caches", "table", "named", "file", "kernel"):
        assert f"would be kept as {name}" in done.err
    assert not (inside.home / "runs").exists()
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []


def test_output_of_a_command_that_failed_is_kept(inside: InProcess) -> None:
    """A command that ends with another status than 0 stops the recipe, and what it said is kept, with its change."""
    written(inside, bad='recipe "Bad"\nneeds opaque\non @db keep sh "echo why; exit 3" as=said\nlist cell\n')
    done = inside("-r", "t1", "run bad -y --accept-opaque")
    assert done.code == 1 and "exit status 3" in done.err and "[2/2]" not in done.err
    assert {path.read_text() for path in kept(inside).values()} == {"why\n"}
    rows = Journal(inside.home / "journal.db").entries()
    assert {row.change for row in rows if row.kind == "kept"} == {row.change for row in rows if row.kind == "intent"}


def test_a_program_that_refuses_is_quoted(inside: InProcess) -> None:
    """The error of a recipe's line has the program's last line in front of its exit status, kept or shown."""
    for line in ("on exa1db01 keep sh sg_vpd -p bl /dev/sda as=page", "on exa1db01 sh ls /nowhere"):
        written(inside, refused=f"needs opaque\n{line}\n")
        done = inside("-r", "t1", "run refused", "-y", "--accept-opaque")
        said = " ".join(done.err.split())
        assert done.code == 1
        assert re.search(
            r"exa1db01: (sg_vpd failed|ls: cannot access '/nowhere'): .+ \(exit status \d+\); `journal`", said
        ), said


def test_an_answer_in_which_a_cell_is_missing_is_not_kept(inside: InProcess, fault) -> None:
    """Where a cell does not answer, no file says less than all cells did: the line fails."""
    written(inside, one='recipe "One"\nkeep list cell attributes name as=cells\n')
    fault("exa1cel02", "refuse")
    done = inside("-r", "t1", "run one")
    assert done.code != 0 and "exa1cel02" in done.err
    assert inside("-r", "t1", "results").code != 0 and not list(inside.home.glob("runs/**/answer*"))


def test_at_the_prompt_it_says_what_is_used_instead(inside: InProcess) -> None:
    """Outside a recipe there is no run: copy from and > are named, and nothing is kept."""
    done = inside("-r", "t1", "keep list cell as=a")
    assert done.code == 2 and "copy from" in done.err and not (inside.home / "runs").exists()
