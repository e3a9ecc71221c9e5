"""What a recipe's run has kept is imported, compared and reported by its name, and offered behind Tab."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from exacell.prompt.shells import candidates
from tests.support.program import InProcess

DATA = Path(__file__).parent.parent / "data" / "imports"
KEEP = """\
recipe "Keep what fio found"
param there : file
keep @db:${there}/fio.json as=both
keep exa1db01:${there}/fio.json as=Free
keep exa1db02:${there}/fio.json as=limited
keep exa1db01:${there}/*.json as=pair
keep list cell attributes name as=cells
"""


@pytest.fixture
def kept(inside: InProcess) -> InProcess:
    """The program with a run r1 that kept fio's figures of both database nodes, and r2 that kept the second node's as Free."""
    hosts = {"exa1db01": "fio-queue-1.json", "exa1db02": "fio-queue-limited-1.json"}
    for host, name in hosts.items():
        inside.ok("-r", "t1", f"on {host} copy {DATA / name} to=/tmp/fio.json -y --accept-opaque")
    inside.ok("-r", "t1", f"on exa1db01 copy {DATA / 'fio-queue-2.json'} to=/tmp/more.json -y --accept-opaque")
    folder = inside.home / "recipes"
    folder.mkdir(parents=True)
    (folder / "all.exa").write_text(KEEP)
    (folder / "again.exa").write_text('recipe "Again"\nkeep exa1db02:/tmp/fio.json as=free\n')
    inside.ok("-r", "t1", "run all there=/tmp")
    inside.ok("-r", "t1", "run again")
    return inside


def rate(inside: InProcess, words: str) -> list[float]:
    return [row["iops"] for row in inside.ok("-r", "t1", "-o", "json", *words.split()).records if "iops" in row]


def test_a_name_stands_where_a_file_does(kept: InProcess, tmp_path: Path) -> None:
    """The newest run's by the name alone in any case, an older one's behind its run, one host's before its host; the answer
    names the run; several files of one host are one set; an import of it is kept and read by its own name."""
    one, other = (
        rate(kept, f"import {DATA / 'fio-queue-1.json'}"),
        rate(kept, f"import {DATA / 'fio-queue-limited-1.json'}"),
    )
    assert one != other
    assert rate(kept, "import FREE") == other == rate(kept, "import limited") == rate(kept, "import both@exa1db02")
    assert rate(kept, "import r1:free") == one == rate(kept, "import both@exa1db01 as=own")
    assert "in own" in kept.ok("-r", "t1", "-o", "json", "compare own limited").records[0]["says"]
    assert rate(kept, "import both@exa1db01 both@exa1db02") == [pytest.approx(one[0] + other[0])]
    assert rate(kept, "import both") == rate(kept, "import r1:both") == [pytest.approx(one[0] + other[0])]
    sides = kept.ok("-r", "t1", "-o", "json", "compare r1:both both").records
    assert [(row["a"], row["b"]) for row in sides if row.get("figure") == "iops"] == [
        (pytest.approx(one[0] + other[0]),) * 2
    ]
    loads = kept("-r", "t1", "compare both limited")
    assert loads.code == 2 and "have no load in common" in loads.err, "two hosts are twice the load of one"
    kept.ok("-r", "t1", f"on @db copy from /tmp/fio.json {tmp_path}/got")
    assert rate(kept, f"import {tmp_path}/got/*/fio.json") == [pytest.approx(one[0] + other[0])]
    assert "2 files" in kept.ok("-r", "t1", "-o", "json", "import pair").out
    done = kept.ok("-r", "t1", "-o", "json", "compare r1:free free").records
    row = next(row for row in done if row.get("figure") == "iops")
    assert [row["a"], row["b"]] == [one[0], other[0]]
    assert "in r2:free@exa1db02" in done[0]["says"] and "in r1:Free@exa1db01" in done[0]["says"]
    kept.ok("-r", "t1", "report r1:free free html --evidence", f"to={tmp_path}/x.zip")
    with ZipFile(tmp_path / "x.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("files/")}
    assert packed == {
        "files/r1_Free_exa1db01": (DATA / "fio-queue-1.json").read_bytes(),
        "files/r2_free_exa1db02": (DATA / "fio-queue-limited-1.json").read_bytes(),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("import r2:limited", "r2:limited: no run has kept such a name; `results --all` lists the runs"),
        (
            "import nosuch",
            "nosuch: No such file or directory, and no run has kept such a name; `results --all` lists",
        ),
        ("import ./nosuch", "nosuch: No such file or directory"),
        ("import limited@exa1db01", "limited@exa1db01: no run has kept such a name"),
        ("compare nosuch limited", "nosuch is not the name of an import, a file, a run's result, a snapshot"),
        ("import cells", "r1:cells: exacell does not know the program that wrote it"),
    ],
)
def test_none_and_others_are_told(kept: InProcess, words: str, said: str) -> None:
    """No such name, a host that it was not kept of, and what no reader knows are each one line that names the way out."""
    done = kept("-r", "t1", *words.split())
    assert done.code == 2 and said in " ".join(done.err.split()), done.err
    assert "Traceback" not in done.err and done.out == ""


def test_an_import_goes_first_and_a_file_of_the_name_is_asked_about(
    kept: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import of the name is what is meant; with a file of the name, both ways to say which are told, and work."""
    monkeypatch.chdir(tmp_path)
    kept.ok("-r", "t1", "import as=limited", str(DATA / "fio-queue-2.json"))
    assert kept.ok("-r", "t1", "-o", "json", "compare limited r1:limited").records[0]["says"].count("limited") == 2
    (tmp_path / "free").write_bytes((DATA / "fio-queue-3.json").read_bytes())
    done = kept("-r", "t1", "import free")
    assert done.code == 2 and "write ./free for the file, r2:free for what was kept" in " ".join(done.err.split())
    assert rate(kept, "import ./free") != rate(kept, "import r2:free")


def test_what_was_changed_since_is_not_read(kept: InProcess) -> None:
    """A kept file whose content is a different file now is named, and no figure comes from it."""
    rows = kept.ok("-r", "t1", "-o", "json", "results r2").records
    Path(rows[0]["file"]).write_bytes((DATA / "fio-queue-3.json").read_bytes())
    done = kept("-r", "t1", "import free")
    assert done.code == 2 and "was changed since; `results r2` checks each file" in " ".join(done.err.split())
    assert rate(kept, "import r1:free")


def test_kept_trace_files_are_trace_files(kept: InProcess, tmp_path: Path) -> None:
    """A trace file that was kept is compared by its waits, as one that is named."""
    for name, micros in (("a", 400), ("b", 900)):
        waits = "".join(
            f"WAIT #1: nam='log file sync' ela= {micros + n} buffer#=1 sync scn=1 p3=0 obj#=-1 tim={n}000\n"
            for n in range(50)
        )
        (tmp_path / f"{name}.trc").write_text(waits)
        kept.ok("-r", "t1", f"on exa1db01 copy {tmp_path / name}.trc to=/tmp/{name}.trc -y --accept-opaque")
    recipe = 'recipe "T"\nkeep exa1db01:/tmp/a.trc as=off\nkeep exa1db01:/tmp/b.trc as=on\ncompare off on\n'
    (kept.home / "recipes" / "t.exa").write_text(recipe)
    assert "log file sync" in kept.ok("-r", "t1", "@t").out
    rows = kept.ok("-r", "t1", "-o", "json", "compare off on").records
    assert (
        rows[0]["says"]
        == kept.ok("-r", "t1", "-o", "json", f"compare {tmp_path}/a.trc {tmp_path}/b.trc").records[0]["says"]
    )


def test_a_recipe_reads_what_it_kept(kept: InProcess) -> None:
    """A line of the same run reads it by its name; -n leaves that out and says why."""
    text = 'recipe "Both"\nkeep exa1db01:/tmp/fio.json as=a\nkeep exa1db02:/tmp/fio.json as=b\ncompare a b\nimport a\n'
    (kept.home / "recipes" / "both.exa").write_text(text)
    dry = kept.ok("-r", "t1", "@both -n")
    assert "a was not kept, so this is left out" in dry.err
    assert "in r3:b@exa1db02" in kept.ok("-r", "t1", "@both").out


def test_tab_offers_them(kept: InProcess) -> None:
    """Names of the newest run, older ones with their run, those of several hosts with their host; and files beside them."""
    env = {"EXACELL_HOME": str(kept.home)}

    def offered(*words: str) -> list[str]:
        return [text for text, _ in candidates(["-r", "t1", *words], env)]

    names = ["free", "cells", "pair", "limited", "r1:Free", "both@exa1db02", "both@exa1db01"]
    for words in (("import",), ("compare",), ("compare", "free"), ("report",), ("report", "free")):
        assert [name for name in names if name not in offered(*words, "")] == []
    assert offered("import", "r1:") == ["r1:Free"] and offered("import", "x", "lim") == ["limited"]
    assert offered("compare", f"{DATA}/fio-queue-l")[0] == f"{DATA}/fio-queue-limited-1.json"
    assert dict(candidates(["-r", "t1", "compare", "r1:F"], env)) == {"r1:Free": "kept with run r1 of all"}
