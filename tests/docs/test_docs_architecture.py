"""The page that tells a developer where things are names what there is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks import draw_house
from tests.support import sources
from tests.support.every import every

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WAY = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
PACKAGES = sorted(path.parent.name for path in (ROOT / "exacell").glob("*/__init__.py"))


@every(PACKAGES)
def test_every_package_is_on_the_page(package: str) -> None:
    """Each package of exacell is in the table of packages."""
    assert f"`exacell/{package}/`" in PAGE


@every(sorted(set(re.findall(r"`((?:\w+/)*\w+\.py)`", PAGE + WAY))))
def test_every_module_on_the_pages_exists(name: str) -> None:
    """A module that the two pages name is a file of the tree, below exacell where no other folder is said."""
    assert (ROOT / name).is_file() or list((ROOT / "exacell").rglob(name)), name


@every(re.findall(r"`(?:exacell/)?((?:\w+/)*\w+\.py)`, `(?:\w+\.)?(\w+)`", WAY))
def test_every_step_of_the_way_names_a_function_of_its_module(module: str, name: str) -> None:
    """A function that a step of a change is said to be in is defined in the module that stands beside it."""
    assert f"def {name}(" in (ROOT / "exacell" / module).read_text(encoding="utf-8")


@every(sorted(path.name for path in (ROOT / "exacell").glob("[a-z]*.py")))
def test_every_module_beside_the_packages_is_on_the_page(name: str) -> None:
    """Each module that stands in no package is in the table of modules."""
    assert f"`{name}`" in PAGE


def test_the_picture_is_drawn_from_the_imports() -> None:
    """docs/pictures/architecture.svg is what ``python benchmarks/draw_house.py`` draws now."""
    assert draw_house.PICTURE.read_text(encoding="utf-8") == draw_house.drawn(sources.modules())


TOP = frozenset(
    (".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "benchmarks", "completions", "docs", "exacell",
     "examples", "pyproject.toml", "recipes", "ruff.toml", "setup.cfg", "tests")
)  # fmt: skip


def test_nothing_else_lies_at_the_top() -> None:
    """The tree's top level has what was agreed and nothing that a run left there."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.partition("/")[0] for line in listed.splitlines()} == TOP
