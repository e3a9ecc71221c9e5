"""The script that judges a site's own dcli, tried with the emulator's dcli program and with programs that do it wrong."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from exacell.emulator.hosts import dcli_program

HERE = Path(__file__).parent

STAND_IN = """\
#!/usr/bin/env python3
import os, sys
os.execv(sys.executable, [sys.executable, "-I", "-S", {program!r}, "/dev/null", *sys.argv[1:]])
"""

HELD = [
    "output comes target by target",
    "nothing to do is a usage error",
    "a target that can't be reached",
    "lines are stripped on both sides",
    "-n: the targets with status 0",
    "--maxlines: line N+1",
    "-x: a .scl is read",
    "behind a copy that failed",
    "a batch size of 0",
    "an empty name between commas",
    "a login that may only read",
    "--showbanner",
    "a carriage return inside a line",
    "is told twice",
    "a zero as well",
    "a status other than 0: what vmstat said",
]
"""Beginnings or parts of the claims that the stand-in is held against here; all of them are, by hand, in some minutes."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("dcli_verdict_script", HERE / "dcli_verdict.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def only(texts: list[str]) -> list[str]:
    """The options that choose claims."""
    return [f"--only={text}" for text in texts]


def program(path: Path, text: str) -> Path:
    """A dcli of that text."""
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_dcli_that_does_what_is_known_passes(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The emulator's dcli program, run as a site's own, does what is claimed, and exacell leaves the same bytes."""
    file = program(tmp_path / "dcli", STAND_IN.format(program=dcli_program.__file__))
    code = script.main([str(file), *only(HELD)])
    *_, last = shown = capsys.readouterr().out.splitlines()
    assert (code, shown[0].endswith(f"{file}: version 3.5")) == (0, True), shown
    assert last == f"{len(HELD)} claims: {len(HELD)} dcli as the reference says, {len(HELD)} exacell the same bytes"


WRONG = """\
#!/usr/bin/python3
import sys
if sys.argv[1:] == ["--version"]:
    print("version 3.5")
else:
    print("OK: exa1cel01")
    print("talk", file=sys.stderr)
    sys.exit(3)
"""


def test_what_is_otherwise_is_told_line_by_line(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dcli that does something else is told what was expected, and exacell in what it differs from that program."""
    file = program(tmp_path / "dcli", WRONG)
    assert script.main([str(file), "--only", "all did well: the list alone"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[1:] == [
        "6.2  all did well: the list alone",
        "    dcli: exit status 3 instead of 0",
        "    dcli: stdout: - OK: ['exa1cel01', 'exa1cel02', 'exa1cel03']",
        "    dcli: stdout: + OK: exa1cel01",
        "    dcli: stderr: + talk",
        "    exacell: exit status 0, and the dcli's 3",
        "    exacell: stdout: - OK: exa1cel01",
        "    exacell: stdout: + OK: ['exa1cel01', 'exa1cel02', 'exa1cel03']",
        "    exacell: stderr: - talk",
        "1 claims: 1 dcli NOT as the reference says, 1 exacell WRONG",
    ]


def test_without_a_dcli_exacell_alone_is_judged(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file the claims are exacell's to hold, and what it does otherwise on purpose is counted apart."""
    assert script.main(only(["an expression that is none", "--version", "dcli's own input"])) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "3 claims: 2 exacell as the reference says, 1 exacell different on purpose"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "is no file"),
        ("#!/usr/bin/python\nthis is no program in any Python (\n", "no Python here can read"),
        ("print('version 1.7')\n", "tries port 22 of each target itself"),
    ],
)
def test_what_can_t_be_run_is_said_before_a_rack_is_started(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, said: str
) -> None:
    """No file, no Python for it, or a version that no emulated rack can serve: one sentence and status 2."""
    file = tmp_path / "dcli"
    if text is not None:
        program(file, text)
    assert script.main([str(file)]) == 2
    assert said in capsys.readouterr().out


def test_the_python_is_the_one_that_can_read_the_file(script: ModuleType, tmp_path: Path) -> None:
    """The first line's Python is taken where it exists, else one whose grammar the file has; another program as it stands."""
    plain = program(tmp_path / "three", f"#!{sys.executable} -u\nprint(f'{{1}}')\n")
    assert script.interpreter_of(plain, None) == [sys.executable]
    gone = program(tmp_path / "gone", "#!/no/such/python\nprint(f'{1}')\n")
    assert script.interpreter_of(gone, None) == [sys.executable]
    old = program(tmp_path / "two", "#!/usr/bin/env python\nprint 'two'\n")
    two = script.find_python2()
    assert script.interpreter_of(old, None) == ([two] if two else None)
    assert script.interpreter_of(program(tmp_path / "sh", "#!/bin/sh -e\n:\n"), None) == ["/bin/sh", "-e"]
    assert script.interpreter_of(old, "python9") == ["python9"]


SETTLED = [
    ("pid", "Timeout expired for pid 12 to a...\n", "Timeout expired for pid 9 to a...\n", False),
    ("clock", "on Sat 10:11:12\n", "on Sat 10:11:14\n", False),
    ("numbers", "  a:1  22\n", "  a: 3 4\n", False),
    ("order", "x: ['b', 'a']\nb: 1\n", "b: 1\nx: ['a', 'b']\n", False),
    ("wording", "Error: there is nothing to do\n", "Error: no command\n", True),
    ("talk", "Error: x\nit was cut\n", "a was cut\nraise it\n", True),
    ("usage", "Usage: a\n\na: error: no such option: -Z\n", "Usage: b c\n\nb: error: no such option: -Z\n", True),
    ("ssh", "a:ssh: refused\nsee there\n\nb: x\n", "a:can't connect\n\nb: x\n", False),
    ("debug", "argv 1\nexa1cel01: x\n", "exa1cel01: x\n", False),
]


@pytest.mark.parametrize(("name", "one", "other", "error"), SETTLED, ids=[row[0] for row in SETTLED])
def test_only_what_varies_is_left_out(script: ModuleType, name: str, one: str, other: str, error: bool) -> None:
    """Each word of a claim makes two texts alike that differ in that alone, and without it they stay different."""
    assert script.settle(one, [name], error=error) == script.settle(other, [name], error=error)
    assert script.settle(one, [], error=error) == one != other
    changed = other.replace("x", "y").replace("-Z", "-Y").replace("a.", "b.").replace("on", "in").replace("a:", "c:")
    if name not in ("wording", "talk"):
        assert script.settle(changed, [name], error=error) != script.settle(one, [name], error=error)


def test_every_claim_is_of_a_section_and_can_be_judged(script: ModuleType) -> None:
    """Each claim names its section, its sentence is there once, its patterns compile, and what differs says why."""
    claims, files = script.read_claims()
    sentences = [claim.says for claim in claims]
    assert len(claims) > 120 and len(set(sentences)) == len(sentences)
    names = script.Names(cells=("exa1cel01", "exa1cel02", "exa1cel03"), group="g")
    nothing = script.Left("", "", 0)
    for claim in claims:
        assert claim.ref.split(".")[0].isdigit() and claim.runs and all(claim.runs)
        script.misses(claim.expected, nothing, names)
        assert bool(claim.differs) == (claim.ours != script.Expected()), claim.says
    assert {"script.sh", "list.scl", "mixed.grp"} <= set(files)


def test_what_claims_make_on_the_cells_is_a_runs_own(script: ModuleType) -> None:
    """Claims name no place under /tmp: two runs on the same cells have two paths."""
    claims, _ = script.read_claims()
    texts = [text for claim in claims for text in (claim.before, *(word for words in claim.runs for word in words))]
    assert [text for text in texts if "/tmp/" in text] == []
    assert sum("{own}" in text for text in texts) == 3
    names = script.Names(cells=("exa1cel01", "exa1cel02", "exa1cel03"), group="g")
    assert names.fill("rm {own}") == f"rm /tmp/dcli-claim-{os.getpid()}"
