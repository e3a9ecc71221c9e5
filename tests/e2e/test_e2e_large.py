"""Answers that are read from disk look as those that are held in memory, through the whole program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.change import passthrough
from exacell.output import folding as apart
from exacell.session import largelist
from exacell.transport import capture
from tests.support.program import InProcess, Program

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "yaml", "md", "raw")
STATEMENTS = (
    "list metriccurrent",
    "list metriccurrent attributes all",
    "list metrichistory where ageInMinutes < 3",
    "list griddisk attributes name,size,cachedBy,comment",
    "list griddisk detail",
    "list alerthistory",
    "--diff list griddisk",
)


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = InProcess(tmp_path_factory.mktemp("large") / "home")
    program.ok("emulator", "start", "l", "speed=1")
    program.ok("emulator", "fault", "l", "exa1cel02", "quarantine")
    yield program
    program.ok("emulator", "stop", "l")


def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every answer count as large."""
    monkeypatch.setattr(capture, "SPILL", 16)
    monkeypatch.setattr(capture, "_PIECE", 1000)
    monkeypatch.setattr(largelist, "LARGE", 0)
    monkeypatch.setattr(largelist, "FEW", 0)
    monkeypatch.setattr(apart, "MOST_FOLDED", 0)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every answer of a test count as large."""
    all_are_large(monkeypatch)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_format_is_the_same_from_disk(
    rack: Program, monkeypatch: pytest.MonkeyPatch, statement: str, form: str
) -> None:
    """Each LIST in each format is the same text, talk and exit code, whether its answers are held or read from disk."""
    if "--diff" in statement and form == "raw":
        return
    words = ("-r", "l", "-o", form, "--no-fold", statement.replace("--diff ", "") + " --diff" * ("--diff" in statement))
    large: list[object] = []
    before = rack(*words)
    with monkeypatch.context() as patched:
        for name in ("_large", "_large_xml"):
            whole = getattr(passthrough, name)
            patched.setattr(passthrough, name, lambda *a, whole=whole: large.append(a) or whole(*a))
        all_are_large(patched)
        from_disk = rack(*words)
    behind = rack(*words)
    assert before.code == 0, before.err
    held_always = "detail" in statement or "alerthistory" in statement
    assert bool(large) is not ("--diff" in statement or (held_always and form != "raw"))
    if behind == before:  # Else a collection came between them.
        assert (from_disk.code, from_disk.out.split(), from_disk.err) == (before.code, before.out.split(), before.err)


def test_pipes_files_and_a_spool_get_large_answers(rack: Program, tiny: None, tmp_path: Path) -> None:
    """A large answer goes into a pipe, a file and a spool file as to standard output; a reader that leaves ends nothing."""
    rack = Program(rack.home)
    whole = rack.ok("-r", "l", "-o", "csv", "list griddisk attributes name,size").out
    target = tmp_path / "f"
    rack.ok("-r", "l", "-o", "csv", "--accept-opaque", f"list griddisk attributes name,size > {target}")
    assert target.read_text() == whole
    assert rack.ok("-r", "l", "-o", "csv", "list griddisk attributes name,size | head -n 2").out == "".join(
        whole.splitlines(keepends=True)[:2]
    )


def test_a_cell_whose_answer_is_too_large_is_told_and_the_others_stand(rack: Program) -> None:
    """At max_answer one cell's answer is broken off: a line names it and the setting, the exit code is 1, the rest is there."""
    wide = "x" * 200
    rack.ok("-r", "l", "-c", "exa1cel02", "-y", f"alter griddisk all comment='{wide}'")
    script = "set max_answer 2000\nlist griddisk attributes name,comment\n"
    for form in ("table", "jsonl"):
        done = rack("-r", "l", "-o", form, "-f", "-", stdin=script)
        assert done.code == 1
        assert "exa1cel02: its answer is larger than 1.953K: it was cut off" in done.err.replace("6000 bytes", "5.859K")
        assert "`set max_answer` raises the limit" in done.err
        cells = [json.loads(row)["cell"] if form == "jsonl" else row.split()[0] for row in done.out.splitlines()]
        assert set(cells) - {"cell", "---------"} == {"exa1cel01", "exa1cel03"}
