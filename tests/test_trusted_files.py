"""Configuration, rack, recipe, alias and plan files are believed only where others can't write them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.core import config, packaged
from exacell.core.config import Config, load
from exacell.core.errors import ConfigError, ExacellError
from exacell.core.paths import Home
from exacell.output.console import SilentConsole
from exacell.recipes.files import load_recipe, recipe_files, recipe_params
from exacell.session.history import Aliases
from exacell.session.services import Services
from exacell.session.state import Options, Session

RACK = 'cells = "exa1cel01"\nssh_config = "ssh_config"\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    folder = Home.from_env({"EXACELL_HOME": str(tmp_path)})
    folder.racks_dir.mkdir(mode=0o700)
    folder.recipes_dir.mkdir(mode=0o700)
    texts = {
        "config.toml": "",
        "racks.d/r1.toml": RACK,
        "racks.d/ssh_config": "",
        "recipes/mine.exa": "list cell\n",
        "aliases": "lc list cell\n",
        "store.db": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    return folder


def _session(home: Home) -> tuple[Session, Services]:
    session = Session(home=home, config=Config(), options=Options(), env={})
    return session, Services(session, SilentConsole())


READERS: dict[str, Callable[[Home], object]] = {
    "config.toml": lambda home: load(home, {}),
    "racks.d/r1.toml": lambda home: load(home, {}),
    "racks.d/ssh_config": lambda home: _session(home)[1].connect("r1"),
    "recipes/mine.exa": lambda home: load_recipe(home, "mine"),
    "aliases": lambda home: Aliases(home).all(),
    "store.db": lambda home: _session(home)[1].store(),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("mode", [0o660, 0o602])
def test_a_file_that_others_can_write_is_refused(home: Home, name: str, mode: int) -> None:
    """Each of them should be refused with the file and the command that mends it, and be read once that was done."""
    READERS[name](home)
    path = home.config_dir / name
    path.chmod(mode)
    with pytest.raises(ExacellError, match=f"{path} is not trusted: it is writable by") as caught:
        READERS[name](home)
    assert caught.value.hint.startswith(f"type `chmod go-w {path}`")
    path.chmod(0o600)
    READERS[name](home)


@pytest.mark.parametrize("name", READERS)
def test_a_trusted_group_may_write_all_but_the_file_that_names_it(
    home: Home, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the operators' group can write is trusted where config.toml names it; config.toml itself must be one's own."""
    path = home.config_dir / name
    number = path.stat().st_gid
    monkeypatch.setattr(config, "group_number", {"": None, "dba": number, "web": number + 1}.get)
    path.chmod(0o660)
    for group, good in (("web", False), ("dba", name != "config.toml")):
        home.config_file.write_text(f'trusted_group = "{group}"\n')
        if good:
            READERS[name](home)
        else:
            with pytest.raises(ExacellError, match=f"{path} is not trusted: it is writable by group"):
                READERS[name](home)


def test_a_folder_on_the_way_counts(home: Home) -> None:
    """Who can write a folder can put files of their own into the place of ours."""
    home.racks_dir.chmod(0o777)
    with pytest.raises(ConfigError, match=f"its folder {home.racks_dir} is writable by everybody") as caught:
        load(home, {})
    assert caught.value.hint == f"type `chmod go-w {home.racks_dir}`"


def test_a_shipped_recipe_is_trusted_as_the_program_is(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recipe of the package is believed as its code is, however it was installed; the same file elsewhere is not."""
    (tmp_path / "package").mkdir()
    shipped = tmp_path / "package" / "recipes"
    shutil.copytree(packaged.packaged_folder("recipes"), shipped)
    (shipped / "reset_cold.exa").chmod(0o666)
    assert not recipe_params(home, str(shipped / "reset_cold.exa"))
    monkeypatch.setattr(packaged, "_DATA", str(tmp_path / "package"))
    assert recipe_files(home)["reset_cold"].parent == shipped
    assert load_recipe(home, "reset_cold").name == "reset_cold" and recipe_params(home, "reset_cold")
