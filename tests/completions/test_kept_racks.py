"""The configured racks that a completion call reads from a kept file."""

from __future__ import annotations

import marshal
import sys
from pathlib import Path

import pytest

from exacell.core import config, racks
from exacell.core.errors import ConfigError
from exacell.core.paths import Home
from exacell.session.completion.kept import CELLIP, kept_racks


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with the racks t1 and u2, without a default one."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-02]"\n[groups]\nfront = "exa1cel01"\n')
    (tmp_path / "config.toml").write_text('[racks.u2]\ncells = "other[1-2]"\n')
    return Home.from_env({"EXACELL_HOME": str(tmp_path)})


def env(home: Home, **more: str) -> dict[str, str]:
    return {"HOME": str(home.state_dir), **more}


def test_the_cell_list_of_a_database_node_is_looked_for_in_one_place() -> None:
    """The kept racks know the same cellip.ora as the configuration."""
    assert str(racks.CELLIP_PATH) == CELLIP


def test_kept_racks_are_those_of_the_configuration(home: Home) -> None:
    """The first and the second reading give the names, cells and groups that the configuration has."""
    for _ in range(2):
        found = kept_racks(home, env(home))
        assert {name: rack.cells for name, rack in found.racks.items()} == {
            name: rack.cells for name, rack in config.load(home, {}).racks.items()
        }
        assert list(found.racks["t1"].groups) == ["front"] and found.chosen("t1") is found.racks["t1"]
        assert found.chosen("") is None


def test_the_second_reading_needs_no_toml(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the sources are as they were, the configuration is not read."""
    kept_racks(home, env(home))
    monkeypatch.setitem(sys.modules, "exacell.core.config", None)
    assert list(kept_racks(home, env(home)).racks) == ["u2", "t1"]


def test_a_changed_source_is_read_again(home: Home) -> None:
    """A rack file that was added, changed or removed is noticed at once, and so is the configuration file."""
    kept_racks(home, env(home))
    (home.racks_dir / "v3.toml").write_text('cells = "new1"\n')
    (home.racks_dir / "t1.toml").write_text('cells = "exa1cel[01-14]"\n')
    found = kept_racks(home, env(home))
    assert found.racks["v3"].cells == ("new1",) and len(found.racks["t1"].cells) == 14
    (home.racks_dir / "v3.toml").unlink()
    home.config_file.write_text('default_rack = "t1"\n')
    found = kept_racks(home, env(home))
    assert list(found.racks) == ["t1"] and found.chosen("") is found.racks["t1"]


def test_a_broken_configuration_is_an_error_each_time(home: Home) -> None:
    """What can't be read is not kept."""
    home.config_file.write_text("= broken")
    for _ in range(2):
        with pytest.raises(ConfigError):
            kept_racks(home, env(home))


@pytest.mark.parametrize("damaged", [b"", marshal.dumps([]), marshal.dumps({"stamp": 1}), b"{", b"[\xff"])
def test_a_damaged_kept_file_is_written_anew(damaged: bytes, home: Home) -> None:
    """A kept file that is no list of racks is as good as none; others may not write it."""
    kept_racks(home, env(home))
    path = home.cache_dir / "racks.marshal"
    path.write_bytes(damaged)
    assert set(kept_racks(home, env(home)).racks) == {"t1", "u2"} and path.read_bytes() != damaged
    path.chmod(0o666)
    kept_racks(home, env(home))
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_environment_and_the_host_say_which_rack(home: Home, tmp_path: Path) -> None:
    """EXACELL_RACK goes before the host's own cell list, which counts when nothing else is configured."""
    kept_racks(home, env(home))
    assert kept_racks(home, env(home, EXACELL_RACK="u2")).chosen("") == kept_racks(home, env(home)).racks["u2"]
    (home.state_dir / "cell_group").write_text("near1\nnear2\n")
    found = kept_racks(home, env(home)).chosen("")
    assert found is not None and found.name == "cell_group" and found.cells == ("near1", "near2")
    cellip = tmp_path / "cellip.ora"
    cellip.write_text('cell="192.168.10.1"\ncell="192.168.10.2"\n')
    found = kept_racks(home, env(home), str(cellip)).chosen("")
    assert found is not None and found.name == "cellip" and len(found.cells) == 2


def test_what_an_older_exacell_kept_is_read_anew(home: Home) -> None:
    """A kept file of another form, though its sources are as they were, is no obstacle."""
    kept_racks(home, env(home))
    path = home.cache_dir / "racks.marshal"
    kept = marshal.loads(path.read_bytes())
    kept["stamp"] = kept["stamp"][1:]
    for rack in kept["racks"].values():
        del rack["host_names"]
    path.write_bytes(marshal.dumps(kept))
    assert sorted(kept_racks(home, env(home)).racks) == ["t1", "u2"]
