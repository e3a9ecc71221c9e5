"""The script that runs public programs against an emulated rack, tried with small stand-ins of our own."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent

STAND_INS = {
    "cells.sh": 'dcli -g "$1" -l celladmin "cellcli -e list flashcache attributes name,status"\n',
    "space.sh": "asmcmd lsdg | awk '/DATA/ {print $NF, $2}'\n",
    "silent.sh": "exit 3\n",
}

DATA = r"""
[[referee]]
name = "cells.sh"
source = "of our own"
run = ["sh", "{file}", "{group}"]
needs = ["sh"]
expect = [{ what = "a line a cell", pattern = '^exa1cel0[1-3]: exa1cel0[1-3]_FLASHCACHE\s+normal$', count = 3 }]

[[referee]]
name = "space.sh"
source = "of our own"
run = ["sh", "{file}"]
expect = [{ what = "DATA and its redundancy", pattern = '^DATA/ NORMAL$' }]

[[referee]]
name = "silent.sh"
source = "of our own"
run = ["sh", "{file}"]
expect = [{ what = "anything", pattern = '.' }]

[[referee]]
name = "absent.sh"
source = "of our own"
run = ["sh", "{file}"]
expect = []

[[referee]]
name = "cells.sh"
case = "with a program that no machine has"
source = "of our own"
run = ["sh", "{file}"]
needs = ["no-such-program-anywhere"]
expect = []
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("referees_run", HERE / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of stand-ins, some deeper in it."""
    for name, text in STAND_INS.items():
        path = tmp_path / "kept" / name[0] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "data.toml").write_text(DATA)
    return tmp_path


def test_each_program_found_is_run_and_judged(
    script: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs reach the rack by the PATH alone, and each gets its verdict, its status and what it does not show."""
    code = script.main([str(folder / "kept"), "--data", str(folder / "data.toml")])
    assert capsys.readouterr().out.splitlines() == [
        "cells.sh: shows its tables, exit status 0",
        "space.sh: shows its tables, exit status 0",
        "silent.sh: does NOT show its tables, exit status 3",
        "    exit status 3 instead of 0",
        "    anything: 0 of 1 lines",
        "absent.sh: not in the folder",
        "cells.sh (with a program that no machine has): can't run here",
        "    needs no-such-program-anywhere",
    ]
    assert code == 1


def test_an_empty_folder_is_said(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with none of the programs ends with status 2 and starts no rack."""
    assert script.main([str(tmp_path)]) == 2
    assert "cell-status.sh" in capsys.readouterr().out


def test_any_command_runs_in_the_same_surroundings(script: ModuleType, tmp_path: Path) -> None:
    """--command runs what else somebody has, in front of a rack, and gives its exit status back."""
    line = "test $(ssh exa1db01 hostname) = exa1db01 && imageinfo -status | grep -q success && exit 7"
    assert script.main([str(tmp_path), "--command", line]) == 7


def test_what_is_shipped_can_be_read(script: ModuleType) -> None:
    """Every shipped description names its source and has expectations whose patterns compile and match no empty line."""
    referees = script.read_referees()
    assert {"cell-status.sh", "exadata_metrics.pl", "csv_exadata_metrics_history.pl", "dcli"} <= {
        r.name for r in referees
    }
    for referee in referees:
        assert referee.source and referee.expect, referee.name
        assert all(not re.search(expected.pattern, "") for expected in referee.expect), referee.name


def test_colors_are_not_part_of_a_table(script: ModuleType) -> None:
    """Escape sequences of colored tables are taken out before lines are compared."""
    (referee, *_) = script.read_referees()
    expected = script.Expectation(what="a row", pattern=r"^\| DATA \|$")
    plain = script.Referee(name="x", source="y", run=("x",), expect=(expected,))
    assert script.judge(plain, 0, "\x1b[1;37m| DATA |\x1b[m\n").verdict is script.Verdict.PASSED
    assert script.judge(plain, 1, "| DATA |\n").missed == ("exit status 1 instead of 0",)
    assert referee.title


def test_scripts_as_people_write_them_run_unchanged(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Pipelines, here-documents, loops over ssh, other logins and DBMCLI: each stand-in shows what it shows on a real rack."""
    code = script.main([str(HERE / "standins"), "--data", str(HERE / "standins.toml")])
    shown = capsys.readouterr().out.splitlines()
    assert code == 0, shown
    assert len(shown) == len(script.read_referees(HERE / "standins.toml")) >= 12


def test_the_conversion_to_write_back_converts(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """On a write-through rack the here-documents of the documented conversion change each cell's mode and cache again."""
    words = [
        "--data",
        str(HERE / "standins.toml"),
        "--only",
        "writeback",
        "--show",
        "--rack-option",
        "mode=writethrough",
    ]
    assert script.main([str(HERE / "standins"), *words]) == 0
    shown = capsys.readouterr().out
    assert shown.count("WriteThrough -> WriteBack") == shown.count("_FLASHCACHE successfully created") == 3
