"""What the test commands run: nothing is left out by all of them, and CI judges what is known to fail as failing."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REAL = {"real"}
"""Folders of ``make test-real``; ``make test-all`` skips what is in them, by name."""


def named(text: str) -> set[str]:
    """Return the folders of tests that a setting names."""
    return {Path(word).name for word in text.split() if not word.endswith(".py")}


def test_each_folder_is_run_by_one_command() -> None:
    """Each folder of tests stands either in testpaths, which make test takes, or in REST, which make test-all adds."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    daily = named(config["tool:pytest"]["testpaths"])
    found = re.search(r"^REST := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    rest = named(found[1])
    there = {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    assert not daily & rest
    assert there - daily - rest == REAL
    assert rest <= there


@pytest.mark.parametrize(
    ("good", "bad", "known", "code"),
    [
        ("a b", "", "", 0),
        ("a", "b", "", 1),
        ("a", "b", "b", 0),
        ("a b", "", "b", 1),
        ("a", "b c", "b", 1),
        ("a", "", "z", 1),
    ],
)
def test_what_is_known_to_fail_must_fail(tmp_path: Path, good: str, bad: str, known: str, code: int) -> None:
    """CI ends well only where what fails outside is exactly what is known to; a name that is not there is an error."""
    for name in ("bar", *good.split(), *bad.split()):
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "run").write_text(f'case " {good} " in *" $1 "*) exit 0 ;; *) exit 1 ;; esac\n')
    words = ["sh", str(ROOT / ".ci" / "acceptance"), str(tmp_path), *known.split()]
    assert subprocess.run(words, capture_output=True, check=False).returncode == code


def test_nothing_is_judged_where_nothing_stands_beside_the_checkout(tmp_path: Path) -> None:
    """Without the folder there is nothing to fail."""
    words = ["sh", str(ROOT / ".ci" / "acceptance"), str(tmp_path / "none"), "a"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
