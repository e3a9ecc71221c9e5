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
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.core.packaged import shown_page

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
def pip(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """What runs pip with the given words; it asks programs for their versions, and some leave something at home."""
    env = {**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))}

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words]
        subprocess.run(command, check=True, timeout=300, env=env)

    return run


@pytest.fixture(scope="module")
def wheel(pip: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the package."""
    if importlib.util.find_spec("wheel") is None:
        pytest.skip("wheel is not installed, and nothing is fetched for a test")
    source, dist = _copied(tmp_path_factory.mktemp("source")), tmp_path_factory.mktemp("dist")
    pip("wheel", str(source), "--no-deps", "--no-index", "--no-build-isolation", "-w", str(dist))
    shutil.rmtree(source)
    (made,) = dist.glob("*.whl")
    return made


def _said(python: str, path: list[str], home: Path, *words: str) -> str:
    """Run exacell of an installation, with what it depends on from this one; return its output."""
    needed = sysconfig.get_paths()["purelib"]
    done = subprocess.run(
        [python, "-m", "exacell", *words],
        env={"PATH": os.environ["PATH"], "EXACELL_HOME": str(home), "PYTHONPATH": os.pathsep.join([*path, needed])},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout + done.stderr


def _has_everything(python: str, path: list[str], home: Path) -> None:
    """Recipes, their check and their text, and every page of the documentation are there."""
    listed = _said(python, path, home, "recipes")
    assert all(name in listed for name in RECIPES) and RECIPES
    lines = home / "lines"
    lines.write_text("".join(f"check recipe {name}\nshow recipe {name}\n" for name in RECIPES))
    told = _said(python, path, home, "-f", str(lines))
    assert all(re.search(rf"^recipe {name}: .*well-formed", told, re.MULTILINE) for name in RECIPES), told
    assert all((ROOT / "recipes" / f"{name}.exa").read_text().strip() in told for name in RECIPES)
    pages = _said(python, path, home, "help", "docs")
    assert all(re.search(rf"^  {re.escape(name)}\b", pages, re.MULTILINE) for name in PAGES) and PAGES
    for name in ("reliability", "config.example"):
        (page,) = (file for file in (ROOT / "docs").iterdir() if file.stem == name)
        written = shown_page(page.read_text(encoding="utf-8"), source=False)
        assert _said(python, path, home, "help", "docs", name).strip() == written.strip()


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
    start = [sys.executable, "-P", "-m", "exacell", "emulator", "start", "t1"]
    environment = {**os.environ, "PYTHONPATH": str(made), "EXACELL_HOME": str(home)}
    done = subprocess.run(start, env=environment, cwd=home, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert f"exacell runs from a zip ({made})" in done.stderr and "install exacell by pip" in done.stderr
    assert not (home / "emulator" / "t1").exists()


def test_an_installed_wheel_has_recipes_and_pages(wheel: Path, pip: Callable[..., None], tmp_path: Path) -> None:
    """A wheel that was installed into a new virtual environment (pipx does the same) has recipes and pages."""
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=False)
    python = str(folder / "bin" / "python")
    pip("--python", python, "install", "--no-deps", "--no-index", str(wheel))
    _has_everything(python, [], tmp_path)


@pytest.mark.parametrize("option", ["--target", "--prefix"])
def test_a_folder_that_pip_fills_has_recipes_and_pages(
    option: str, wheel: Path, pip: Callable[..., None], tmp_path: Path
) -> None:
    """pip install --target, and a prefix as that of --user and of root's pip, hold recipes and pages."""
    folder = tmp_path / "there"
    pip(
        "install",
        option,
        str(folder),
        "--no-deps",
        "--no-index",
        "--ignore-installed",
        "--no-warn-script-location",
        str(wheel),
    )
    (package,) = folder.rglob("exacell/__init__.py")
    _has_everything(sys.executable, [str(package.parents[1])], tmp_path)


def test_an_unknown_page_is_told(tmp_path: Path) -> None:
    """A page that there is none of is an error that names near ones, or how to list them; one may be named as a file."""
    here = [str(ROOT)]
    assert _said(sys.executable, here, tmp_path, "help", "docs", "docs/journal.md").startswith("# The journal")
    for name, way in (("jurnal", "did you mean journal?"), ("zzz", "`help docs` lists them")):
        done = subprocess.run(
            [sys.executable, "-m", "exacell", "help", "docs", name],
            env={**os.environ, "EXACELL_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
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


_FOLDERS = ("benchmarks", "completions", "docs", "examples", "recipes", "tests", ".ci")
_FILES = ("README", "CHANGELOG", "Makefile", "setup.cfg", "pyproject.toml", "ruff.toml")
"""What stands beside the package in the source tree, and in no installation."""

_LACKING = re.compile(
    rf"(?<![\w/.~-])(?:(?:{'|'.join(map(re.escape, _FOLDERS))})/[\w*]|(?:{'|'.join(map(re.escape, _FILES))})\b"
    r"|make (?:demo|faults|fuzz|install|lint|man|mutants|races|test)\b)"
)
_OWN = re.compile(r"(?<![\w/.~-])exacell/[\w./*-]*\w")
"""A file or folder of the package."""
_PAGE = re.compile(r"(?<![\w/.~-])[\w-]+\.(?:md|svg)\b")
"""A page of the documentation by its file's name, or a picture in it."""

_PRINT_ALL = """
import sys
from exacell.cellcli.codes import CODES
from exacell.cellcli.schema import metrics, objects
from exacell.cellcli.nodes import Verb
from exacell.commands.help import page
from exacell.core.packaged import packaged_files
from exacell.core.errors import StatementError
from exacell.language.registry import commands
from exacell.language.options import usage
from exacell.core.packaged import packaged_folder

print(usage())
topics = [[], ["safety"], ["flags"], ["man"], ["docs"], *(list(words) for words in commands())]
topics += [["docs", name] for name in packaged_files("docs", ".md", ".toml")]
topics += [[code] for code in CODES]
topics += [[name] for name in objects()]
topics += [[verb.value.lower(), name.lower()] for verb in Verb for name, found in objects().items() if verb.value in found.verbs]
topics += [["metric", name] for name in list(metrics())[::50]]
for topic in topics:
    try:
        text = "\\n".join(page(topic))
    except StatementError as error:
        text = f"{error.message} {error.hint}"
    print(f"@@ help {' '.join(topic)}")
    print(text)
for place in packaged_folder("completions").iterdir():
    print(f"@@ {place.name}")
    print(place.read_text())
"""


def _named(text: str, place: str, package: Path) -> set[tuple[str, str]]:
    """Return the files that a text names and the installation of the package lacks, each with the place of the text."""
    wrong = {(place, match[0]) for match in _LACKING.finditer(text)} | {(place, m[0]) for m in _PAGE.finditer(text)}
    for match in _OWN.finditer(text):
        if not any(package.parent.glob(match[0].rstrip("."))):
            wrong.add((place, match[0]))
    return wrong


def test_nothing_that_is_printed_names_a_file_that_is_not_there(built: Path, tmp_path: Path) -> None:
    """Help of every statement, object, code and metric, the man page, every page of the documentation and the files of the
    shells, printed by an installation, name none of the source tree's files, and of the package's only those that it has."""
    done = subprocess.run(
        [sys.executable, "-c", _PRINT_ALL],
        env={
            "PATH": os.environ["PATH"],
            "EXACELL_HOME": str(tmp_path),
            "PYTHONPATH": os.pathsep.join([str(built), sysconfig.get_paths()["purelib"]]),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pieces = done.stdout.split("@@ ")
    assert {"exacell.bash", "_exacell", "exacell.fish"} <= {piece.partition("\n")[0] for piece in pieces}
    assert len(pieces) > 300 and all(any(piece.startswith(f"help docs {name}\n") for piece in pieces) for name in PAGES)
    found: set[tuple[str, str]] = set()
    for piece in pieces:
        place, _, text = piece.partition("\n")
        found |= _named(text, place, built / "exacell")
    assert found == set()


def test_no_error_names_a_file_that_is_not_there(built: Path) -> None:
    """No text in the code of an installation, of which errors and notes are made, names a file that it lacks."""
    found: set[tuple[str, str]] = set()
    for path in (built / "exacell").rglob("*.py"):
        if path.name == "pages.py":
            continue  # The patterns that take such names out.
        for text in _strings(path):
            found |= _named(text, path.relative_to(built).as_posix(), built / "exacell")
    assert found == set()


@pytest.mark.parametrize(
    ("text", "there", "lacking"),
    [
        ("see [security.md](security.md).", "see `help docs security`.", None),
        ("[the door](reliability.md#the-door) is", "the door (`help docs reliability`) is", None),
        ("[below](#the-door)", "below", None),
        ("(docs/transports.md: `x`)", "(`help docs transports`: `x`)", None),
        ("![a top](pictures/top.svg)", "(a picture: a top)", None),
        ("(`tests/x`, `make races`)", "(`tests/x`, `make races`)", "(a test in exacell's source, make in "
                                                                   "exacell's source)"),
        ("python benchmarks/x.py  # all", "python benchmarks/x.py  # all", "(a benchmark in exacell's source: "
                                                                           "x)  # all"),
        ("as tests/x says", "as tests/x says", "as a test in exacell's source says"),
        ("`make` and makes do", "`make` and makes do", None),
    ],
)  # fmt: skip
def test_a_page_is_shown_without_names_that_lead_nowhere(text: str, there: str, lacking: str | None) -> None:
    """Links become the statement that shows the page; files of the source tree are named only where that is there."""
    assert shown_page(text, source=True) == there
    assert shown_page(text, source=False) == (there if lacking is None else lacking)


@pytest.mark.parametrize(
    "text",
    [
        "see docs/journal.md",
        "`benchmarks/races.py`",
        "the README",
        "(make faults)",
        "journal.md",
        "exacell/no/such.py",
        "recipes/x",
    ],
)
def test_a_file_that_is_not_there_is_found(text: str, tmp_path: Path) -> None:
    """What looks for names of lacking files finds them; files of users and of the package are none."""
    package = tmp_path / "exacell"
    (package / "core").mkdir(parents=True)
    (package / "core" / "there.py").touch()
    assert _named(text, "x", package)
    assert not _named(
        "~/.config/exacell/config.toml, exacell/core/there.py, exacell/*/there.py, make and tests", "x", package
    )
