"""What an installation without the checkout has: recipes, the pages of docs/, and no word about files that it lacks."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import exacell

ROOT = Path(__file__).parents[2]
SOURCE = ("exacell", "recipes", "docs", "completions", "setup.cfg", "pyproject.toml", "README.md", "LICENSE")
RECIPES = sorted(path.stem for path in (ROOT / "recipes").glob("*.exa"))
PAGES = sorted(path.stem for path in (ROOT / "docs").iterdir() if path.suffix in (".md", ".toml"))


def _copied(folder: Path) -> Path:
    """Copy what a release holds, so that building leaves nothing in the checkout."""
    for name in SOURCE:
        source, to = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, to, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(source, to)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package as pip puts it below site-packages, or below what --target names."""
    source = _copied(tmp_path_factory.mktemp("source"))
    lib = tmp_path_factory.mktemp("lib")
    done = subprocess.run(
        [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "build", "--build-lib", str(lib)],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(source)
    return lib


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new virtual environment in which a wheel of the package was installed."""
    if importlib.util.find_spec("wheel") is None:
        pytest.skip("wheel is not installed, and nothing is fetched for a test")
    source, dist = _copied(tmp_path_factory.mktemp("source")), tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    # pip asks programs for their versions, and some leave something at home.
    env = {**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))}
    new = (str(source), "--no-deps", "--no-index", "--no-build-isolation", "-w", str(dist))
    subprocess.run([*pip, "wheel", *new], check=True, timeout=300, env=env)
    shutil.rmtree(source)
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    (made,) = dist.glob("*.whl")
    subprocess.run(
        [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(made)],
        check=True,
        timeout=300,
        env=env,
    )
    return python


def _said(python: str, path: list[str], home: Path, *words: str) -> str:
    """Run exacell of an installation, with what it depends on from this one; return its output."""
    needed = sysconfig.get_paths()["purelib"]
    done = subprocess.run(
        [python, "-m", "exacell", *words],
        env={"PATH": os.environ["PATH"], "EXACELL_HOME": str(home), "PYTHONPATH": os.pathsep.join([*path, needed])},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout + done.stderr


def _has_everything(python: str, path: list[str], home: Path) -> None:
    """Recipes, their check and their text, and every page of the documentation are there."""
    listed = _said(python, path, home, "recipes")
    assert all(name in listed for name in RECIPES) and RECIPES
    for name in RECIPES:
        assert "well-formed" in _said(python, path, home, "check", "recipe", name)
        assert (ROOT / "recipes" / f"{name}.exa").read_text().strip() in _said(
            python, path, home, "show", "recipe", name
        )
    pages = _said(python, path, home, "help", "docs")
    assert all(re.search(rf"^  {re.escape(name)}\b", pages, re.MULTILINE) for name in PAGES) and PAGES
    for name in ("reliability", "config.example"):
        (page,) = (file for file in (ROOT / "docs").iterdir() if file.stem == name)
        assert _said(python, path, home, "help", "docs", name).strip() == page.read_text(encoding="utf-8").strip()


def test_a_folder_of_packages_has_recipes_and_pages(built: Path, tmp_path: Path) -> None:
    """What pip puts into any folder (--target, --user, root's) has recipes and pages, without the checkout."""
    assert not any(path.is_symlink() for path in built.rglob("*"))
    _has_everything(sys.executable, [str(built)], tmp_path)


def test_a_zip_has_recipes_and_pages(built: Path, tmp_path: Path) -> None:
    """exacell in a zip (a zipapp) finds its tables, recipes and pages in there."""
    made = tmp_path / "exacell.pyz"
    with zipfile.ZipFile(made, "w") as archive:
        for path in sorted(built.rglob("*")):
            if path.is_file():
                archive.write(path, str(path.relative_to(built)))
    home = tmp_path / "home"
    home.mkdir()
    _has_everything(sys.executable, [str(made)], home)


def test_an_installed_wheel_has_recipes_and_pages(wheel: Path, tmp_path: Path) -> None:
    """A wheel that was installed into a new virtual environment (pipx does the same) has recipes and pages."""
    _has_everything(str(wheel), [], tmp_path)


def test_an_unknown_page_is_told(tmp_path: Path) -> None:
    """A page that there is none of is an error that names near ones, or how to list them; one may be named as a file."""
    here = [str(ROOT)]
    assert _said(sys.executable, here, tmp_path, "help", "docs", "docs/journal.md").startswith("# The journal")
    for name, way in (("jurnal", "did you mean journal?"), ("zzz", "help docs lists them")):
        done = subprocess.run(
            [sys.executable, "-m", "exacell", "help", "docs", name],
            env={**os.environ, "EXACELL_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 2
        assert f"the documentation has no page '{name}'" in done.stderr and way in done.stderr


def _strings(path: Path) -> set[str]:
    """Return a module's texts but its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    loose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | loose
    }


def test_no_text_names_a_file_of_the_checkout() -> None:
    """Nothing that exacell prints names a file which only a checkout has: pages are named as help docs shows them."""
    named = re.compile(r"\bdocs/\w|README|CHANGELOG|\brecipes/\w|\bcompletions/\w|\bbenchmarks/\w|\btests/\w")
    folder = Path(exacell.__file__).parent
    found = {
        (path.relative_to(folder).as_posix(), text)
        for path in folder.rglob("*.py")
        for text in _strings(path)
        if named.search(text)
    }
    assert found == set()
