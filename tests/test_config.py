"""Configuration files, where they are, and which rack is meant."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from exacell.core.config import Config, RackConfig, Settings, load, parse_rack
from exacell.core.errors import CellSetError, ConfigError
from exacell.core.paths import (
    Home,
    ensure_dir,
)
from exacell.core.racks import Nearby, named_cells, parse_cellip, parse_group_file, which_rack
from exacell.output.console import SilentConsole
from exacell.session.services import Services
from exacell.session.state import Options, Session

EXAMPLE = Path(__file__).parents[1] / "docs" / "config.example.toml"

T1 = """
cells = "exa1cel[01-03]"
dbnodes = "exa1db[01-02]"
ssh_config = "/abs/path/ssh_config"
emulated = true
[asm.main]
nodes = "exa1db[01-02]"
home = "/u01/app/19.0.0.0/grid"
sid = "+ASM1"
user = "grid"
databases = ["SPOT","ERP"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.from_env({"EXACELL_HOME": str(tmp_path / "home")})


def put(path: Path, text: str) -> None:
    ensure_dir(path.parent)
    path.write_text(text)


def test_exacell_home_moves_everything(tmp_path: Path) -> None:
    """It should put all of our directories at EXACELL_HOME, made absolute, and create none by itself."""
    env = {"EXACELL_HOME": str(tmp_path / "h"), "XDG_CONFIG_HOME": "/x"}
    assert {Home.from_env(env).config_dir, Home.from_env(env).state_dir, Home.from_env(env).cache_dir} == {
        tmp_path / "h"
    }
    assert not (tmp_path / "h").exists()
    assert Home.from_env({"EXACELL_HOME": "rel"}).config_file == Path.cwd() / "rel" / "config.toml"


def test_xdg_directories() -> None:
    """It should follow XDG without EXACELL_HOME, ignoring relative values."""
    env = {"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "relative", "EXACELL_HOME": ""}
    assert Home.from_env(env).config_dir == Path("/h/.config/exacell")
    assert Home.from_env(env).state_dir == Path("/s/exacell")
    assert Home.from_env(env).cache_dir == Path("/h/.cache/exacell")


def test_directories_are_private(tmp_path: Path) -> None:
    """It should create missing directories for their owner only and leave existing ones alone."""
    tmp_path.chmod(0o755)
    deep = ensure_dir(tmp_path / "a" / "b")
    assert [stat.S_IMODE(p.stat().st_mode) for p in (tmp_path, tmp_path / "a", deep)] == [0o755, 0o700, 0o700]
    assert ensure_dir(deep) == deep


def test_nothing_configured(home: Home) -> None:
    """It should give defaults when there is no file at all."""
    assert load(home, {}) == Config()
    assert Config().settings == Settings(format="table", timeout=60.0, connect_timeout=5.0, fanout=32)


def test_shipped_example(home: Home) -> None:
    """It should read the commented example, which shows every key there is."""
    text = EXAMPLE.read_text()
    put(home.config_file, text)
    config = load(home, {})
    assert config.settings == Settings()
    rack = config.racks[config.default_rack]
    assert (len(rack.cells), len(rack.dbnodes), rack.production, rack.fanout) == (14, 4, True, 14)
    assert (rack.connect_timeout, rack.command_timeout) == (10.0, 120.0)
    assert rack.groups["left"] == rack.cells[:7]
    assert rack.asm["test"].sudo and rack.asm["main"].databases == ("SPOT", "ERP")
    for name in [*Settings.__dataclass_fields__, *RackConfig.__dataclass_fields__]:
        assert name in ("name", "source", "no_programs") or name in text


def test_rack_file(home: Home) -> None:
    """It should read one rack a file in racks.d, as the emulator writes them."""
    put(home.racks_dir / "t1.toml", T1)
    rack = load(home, {}).racks["t1"]
    assert (rack.name, rack.cells) == ("t1", ("exa1cel01", "exa1cel02", "exa1cel03"))
    assert (rack.ssh_config, rack.emulated, rack.production) == (Path("/abs/path/ssh_config"), True, False)
    assert (rack.read_user, rack.write_user) == ("cellmonitor", "celladmin")
    asm = rack.asm["main"]
    assert [asm.sid_on(node) for node in asm.nodes] == ["+ASM1", "+ASM2"]
    assert rack.asm_of("exa1db02") is asm and rack.asm_of("exa1cel01") is None
    with pytest.raises(ConfigError, match="exa1cel01 is not a node"):
        asm.sid_on("exa1cel01")


def test_sid_without_number() -> None:
    """It should use a SID without number on every node, and count from the first node's number."""
    for sid, expected in (("+ASM", ["+ASM", "+ASM"]), ("+ASM3", ["+ASM3", "+ASM4"])):
        rack = parse_rack("x", T1.replace("+ASM1", sid), "f")
        assert [rack.asm["main"].sid_on(node) for node in rack.dbnodes] == expected


def test_asm_defaults() -> None:
    """It should take all database nodes and the usual owner when an ASM cluster names none."""
    asm = parse_rack("x", 'cells = "c1"\ndbnodes = "d[1-2]"\n[asm.a]\nhome = "/g"\n', "f").asm["a"]
    assert (asm.nodes, asm.sid, asm.user, asm.sudo) == (("d1", "d2"), "+ASM1", "grid", False)


def test_relative_ssh_config(tmp_path: Path) -> None:
    """It should take a relative ssh_config from beside the file that names it."""
    assert parse_rack("x", 'cells="c"\nssh_config="s"', str(tmp_path / "f")).ssh_config == tmp_path / "s"


WRONG = [
    ("x = [", "is not TOML"),
    ('default_rock = "x"', "unknown key 'default_rock'; allowed are default_rack, racks, settings"),
    ("[settings]\nfanout = 0", r"\[settings\]: fanout must be a whole number, 1 or greater, not 0"),
    ("[settings]\nfanout = true", "fanout must be"),
    ('[settings]\ntimeout = "soon"', "timeout: 'soon' is not a duration"),
    ("[settings]\ntimeout = -1", "timeout must be a time greater than 0"),
    ('[settings]\nformat = "xml"', "format must be one of table, json"),
    ("[settings]\npager = 3", "pager must be text in quotes"),
    ("settings = 3", "settings must be a table"),
    ('[racks.x]\ncells = "c[1"', r"\[racks.x\]: cells: 'c\[1' is not a cell name"),
    ("[racks.x]\ncells = 3", "cells must be"),
    ("[racks.x]\ncells = [3]", "cells must be"),
    ('[racks.x]\ncells = "c"\nemulated = "yes"', "emulated must be true or false"),
    ('[racks.x]\ncells = "c"\ncell = "d"', "unknown key 'cell'"),
    ('[racks."a b"]\ncells = "c"', "can't be a rack's name"),
    ('[racks.x]\ncells = "c[1-2]"\n[racks.x.groups]\ng = "c[2-3]"', "group g has c3"),
    ('[racks.x]\ncells = "c"\n[racks.x.asm.a]\nhome = "/g"', "ASM cluster a has no nodes"),
    ('[racks.x]\ncells = "c"\n[racks.x.asm.a]\nnodes = "d"', r"\[asm.a\]: ASM cluster a has no home"),
    ('[racks.x]\ncells = "c"\n[racks.x.asm.a]\nnodes = "d"\nhome = "/g"\nport = 1', "unknown key 'port'"),
    ('[racks.x]\ncells = "c"\n[racks.x.asm.a]\nnodes = "d"\nhome = "/g"\ndatabases = "A"', "databases must be a list"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_configuration(home: Home, text: str, message: str) -> None:
    """It should name file, table, key and rule of what is wrong."""
    put(home.config_file, text)
    with pytest.raises(ConfigError, match=message) as caught:
        load(home, {})
    assert caught.value.message.startswith(str(home.config_file))


def test_rack_without_cells() -> None:
    """It should say that a rack's own file names no cells, and how they are named."""
    with pytest.raises(ConfigError, match=r"x\.toml: rack x has no cells: set cells = "):
        parse_rack("x", 'dbnodes = "d"', "x.toml")


def test_unknown_key_suggests(home: Home) -> None:
    """It should suggest the key that was meant."""
    put(home.config_file, 'defalt_rack = "x"')
    with pytest.raises(ConfigError) as caught:
        load(home, {})
    assert caught.value.hint == "did you mean default_rack?"


def test_rack_defined_twice(home: Home) -> None:
    """It should refuse a rack that is in config.toml and in racks.d, naming both files."""
    put(home.config_file, '[racks.t1]\ncells = "c"')
    put(home.racks_dir / "t1.toml", T1)
    with pytest.raises(ConfigError, match=r"t1 is defined twice, in .*config\.toml and in .*t1\.toml"):
        load(home, {})


def test_a_table_without_cells_is_put_over_the_racks_file(home: Home) -> None:
    """It should merge what config.toml says of a rack that is defined in racks.d, its own keys winning."""
    put(home.racks_dir / "t1.toml", T1)
    plain = load(home, {}).racks["t1"]
    put(home.config_file, '[racks.t1]\nproduction = true\nwrite_user = "root"\nlock = "here.lock"')
    merged = load(home, {}).racks["t1"]
    assert (merged.production, merged.write_user) == (True, "root")
    assert merged.lock == home.config_file.parent / "here.lock"
    assert (merged.cells, merged.asm, merged.ssh_config, merged.source) == (
        plain.cells,
        plain.asm,
        plain.ssh_config,
        plain.source,
    )
    put(home.config_file, "[racks.t1]\nproductoin = true")
    with pytest.raises(ConfigError, match=r"t1\.toml, with .*config\.toml \[racks\.t1\]: unknown key 'productoin'"):
        load(home, {})


def test_a_table_without_cells_waits_for_its_rack(home: Home) -> None:
    """It should let other racks be while that rack has no file, and say what is missing when it is asked for."""
    put(home.config_file, '[racks.e1]\nproduction = true\n[racks.t2]\ncells = "c"')
    found = load(home, {})
    assert (list(found.racks), found.partial) == (["t2"], ("e1",))
    with pytest.raises(ConfigError, match="mentions rack e1, but its cells are neither") as caught:
        which_rack(found, rack="e1", env={}, **NOWHERE)
    assert "emulator start e1" in caught.value.hint


def test_unreadable_files(home: Home) -> None:
    """It should say which file cannot be read and why."""
    home.config_file.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"config\.toml can't be read: Is a directory"):
        load(home, {})
    home.config_file.rmdir()
    home.config_file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(home, {})


def test_settings_at_the_prompt() -> None:
    """It should change one setting from text, as `set` does, or say what is wrong with it."""
    assert Settings().with_value("timeout", "2m").timeout == 120
    assert Settings().with_value("FANOUT", "7").fanout == 7
    assert Settings().with_value("format", "JSON").format == "json"
    for name, value, message in (("fanout", "many", "whole number"), ("speed", "9", "unknown key 'speed'")):
        with pytest.raises(ConfigError, match=message):
            Settings().with_value(name, value)


NOWHERE = {"nearby": Nearby(cellip=Path("/nonexistent/cellip.ora"), cell_group=Path("/nonexistent/cell_group"))}


def config(default: str = "") -> Config:
    racks = {name: parse_rack(name, T1.replace("exa1", name), f"{name}.toml") for name in ("t1", "t2")}
    return Config(default_rack=default, racks=racks)


def real(default: str = "") -> Config:
    racks = {name: replace(rack, emulated=False) for name, rack in config().racks.items()}
    return Config(default_rack=default, racks=racks)


def test_rack_by_option_environment_default() -> None:
    """It should take -r before EXACELL_RACK before default_rack."""
    env = {"EXACELL_RACK": "t2"}
    assert which_rack(config("t1"), rack="t1", env=env, **NOWHERE).name == "t1"
    assert which_rack(config("t1"), env=env, **NOWHERE).name == "t2"
    assert which_rack(config("t1"), env={}, **NOWHERE).name == "t1"


def test_unknown_rack() -> None:
    """It should name the racks there are, and the closest."""
    with pytest.raises(ConfigError, match="no rack t3; configured racks: t1, t2") as caught:
        which_rack(config(), rack="t3", env={}, **NOWHERE)
    assert "t" in caught.value.hint
    with pytest.raises(ConfigError, match="no rack is configured") as caught:
        which_rack(Config(), rack="t1", env={}, **NOWHERE)
    assert "exacell emulator start t1" in caught.value.hint


def test_no_way_at_all() -> None:
    """It should name every way to choose a rack, and exacell demo."""
    with pytest.raises(ConfigError) as caught:
        which_rack(Config(), env={}, **NOWHERE)
    for way in ("-r", "EXACELL_RACK", "default_rack", "-c", "-g", "cellip.ora", "cell_group"):
        assert way in caught.value.message
    assert "exacell demo" in caught.value.hint


def test_cells_alone_make_a_rack(tmp_path: Path) -> None:
    """It should take -g then -c as a rack without database nodes, each name once, in that order."""
    group = tmp_path / "g"
    group.write_text("# mine\n\n cel05 \ncel01\ncel05\n")
    rack = which_rack(config(), cells="cel[01-02]", group_file=group, env={}, **NOWHERE)
    assert (rack.cells, rack.dbnodes, dict(rack.asm)) == (("cel05", "cel01", "cel02"), (), {})
    assert named_cells(None, None) == ()


def test_cells_of_the_default_rack() -> None:
    """It should stay with the default rack when all cells named are its own, and leave it otherwise."""
    assert which_rack(config("t1"), cells="t1cel02", env={}, **NOWHERE).name == "t1"
    assert which_rack(config("t1"), cells="other[1-2]", env={}, **NOWHERE).cells == ("other1", "other2")
    assert which_rack(config("gone"), cells="other", env={}, **NOWHERE).cells == ("other",)


@pytest.mark.parametrize("default", ["", "t2", "gone"])
def test_named_cells_are_their_racks(default: str, tmp_path: Path) -> None:
    """It should take the configured rack that has the named cells, whatever the default is, so that its marks hold."""
    group = tmp_path / "g"
    group.write_text("t1cel02\n")
    assert which_rack(real(default), cells="t1cel02", env={}, **NOWHERE).name == "t1"
    assert which_rack(real(default), group_file=group, env={}, **NOWHERE).name == "t1"
    assert which_rack(config(default), cells="t1cel02", env={}, **NOWHERE).name == "cells"


def test_named_cells_of_no_one_rack() -> None:
    """It should refuse cells that are of two racks, of a rack and of none, or of racks that share their names."""
    with pytest.raises(ConfigError, match=r"t1cel02 is in rack t1, other is not") as caught:
        which_rack(real("t1"), cells="t1cel02,other", env={}, **NOWHERE)
    assert caught.value.hint == "-c 't1cel02' and -c 'other', one after the other"
    with pytest.raises(ConfigError, match=r"t\[1-2\]cel02 belong to several racks: t1, t2"):
        which_rack(real(), cells="t1cel02,t2cel02", env={}, **NOWHERE)
    twins = Config(racks={name: replace(real().racks["t1"], name=name) for name in ("a", "b")})
    with pytest.raises(ConfigError, match="t1cel02 belong to several racks: a, b") as caught:
        which_rack(twins, cells="t1cel02", env={}, **NOWHERE)
    assert caught.value.hint == "choose one: -r RACK"


def test_a_nodes_files_may_name_a_configured_rack(tmp_path: Path) -> None:
    """It should take the configured rack whose cells a database node's file names, and refuse a part of one."""
    group = tmp_path / "cell_group"
    group.write_text("t1cel02\nt1cel01\nt1cel03\n")
    where = {"nearby": replace(NOWHERE["nearby"], cell_group=group)}
    assert which_rack(real(), env={}, **where).name == "t1"
    group.write_text("t1cel02\n")
    with pytest.raises(ConfigError, match="names t1cel02, which is not all of rack t1") as caught:
        which_rack(real(), env={}, **where)
    assert caught.value.hint == "for the whole rack, give -r t1"


def test_cells_outside_the_rack_asked_for() -> None:
    """It should refuse cells that the rack given with -r does not have."""
    with pytest.raises(ConfigError, match=r"rack t1 has no other\[1-2\]; its cells are t1cel\[01-03\]"):
        which_rack(config(), rack="t1", cells="other[1-2],t1cel01", env={}, **NOWHERE)
    with pytest.raises(CellSetError):
        which_rack(config(), rack="t1", cells="[", env={}, **NOWHERE)


def test_found_on_a_database_node(tmp_path: Path) -> None:
    """It should fall back to cellip.ora, then to ~/cell_group."""
    cellip, group = tmp_path / "cellip.ora", tmp_path / "cell_group"
    group.write_text("cel01\n")
    assert which_rack(Config(), env={"HOME": str(tmp_path)}, nearby=Nearby(cellip=cellip)).cells == ("cel01",)
    cellip.write_text('cell="192.168.10.3"\ncell="192.168.10.5;192.168.10.6"\n')
    rack = which_rack(Config(), env={}, nearby=Nearby(cellip=cellip, cell_group=group))
    assert (rack.cells, rack.source) == (("192.168.10.3", "192.168.10.5"), str(cellip))


def test_login_and_ssh_config_options() -> None:
    """It should log in everywhere as -l says and use --ssh-config instead of the rack's own."""
    rack = which_rack(config(), rack="t1", login="root", ssh_config=Path("/c"), env={}, **NOWHERE)
    assert (rack.read_user, rack.write_user, rack.ssh_config) == ("root", "root", Path("/c"))


@pytest.mark.parametrize("line", ["cel04 # spare", "celladmin@cel01", "cel01;reboot", "$(x)", "cel[1-"])
def test_group_file_rejects_what_is_no_host(line: str) -> None:
    """It should refuse a line that is no host name, naming file and line."""
    with pytest.raises(ConfigError, match="g:2: "):
        parse_group_file(f"cel01\n{line}\n", "g")


def test_group_file_ranges_and_emptiness() -> None:
    """It should accept folded names and refuse a file that names nobody."""
    assert parse_group_file("cel[01-02]\nfe80::1\n", "g") == ("cel01", "cel02", "fe80::1")
    with pytest.raises(ConfigError, match="names no cell"):
        parse_group_file("# none\n", "g")


@pytest.mark.parametrize("text", ["cel01\n", 'cell=""\n', 'cell="a b"\n', "\n"])
def test_cellip_of_another_form(text: str) -> None:
    """It should refuse a cellip.ora that it does not understand."""
    with pytest.raises(ConfigError, match="cellip"):
        parse_cellip(text, "cellip.ora")


def test_a_session_on_a_rack_that_was_made_anew_is_told_the_way(home: Home) -> None:
    """Where an emulated rack's ports are others by now it is to be connected again; where they are the same it does not run."""
    ports = home.state_dir / "ssh_config"
    put(ports, "Host exa1cel01\n Port 4001\n")
    put(home.racks_dir / "t1.toml", T1.replace("/abs/path/ssh_config", str(ports)))
    env = {"EXACELL_HOME": str(home.state_dir)}
    session = Session(home=home, config=load(home, env), options=Options(), env=env)
    services = Services(session, SilentConsole())
    services.connect("t1")
    refused = ["exa1cel01: 127.0.0.1 port 4001 refused the connection: sshd does not run there"]
    stopped = "t1 is an emulated rack and is not running: type `exacell emulator start t1`"
    assert (session.not_running(refused), session.not_running(["exa1cel01: no answer"])) == (stopped, "")
    put(ports, "Host exa1cel01\n Port 4002\n")
    assert session.not_running(refused).endswith("with other ports: type `connect t1`")
    services.connect("t1")
    assert session.not_running(refused) == stopped
    ports.unlink()
    assert session.not_running(refused) == stopped and session.not_running([]) == ""


def test_hold_is_the_racks_or_the_environments(home: Home) -> None:
    """hold of a rack is a time; EXACELL_HOLD comes before it, also to switch it off; what is neither is an error."""
    put(home.racks_dir / "t1.toml", T1 + "\n")
    put(home.config_file, '[racks.t1]\nhold = "10m"\n')
    config = load(home, {})
    assert (config.racks["t1"].hold, config.hold) == (600.0, None)
    assert [load(home, {"EXACELL_HOLD": said}).hold for said in ("90s", "off", "OFF", "")] == [90.0, 0.0, 0.0, None]
    for wrong in ("soon", "-1", "0s"):
        with pytest.raises(ConfigError, match="EXACELL_HOLD"):
            load(home, {"EXACELL_HOLD": wrong})


@pytest.mark.parametrize("text", [f"a = {'[' * 5000}", f"a = {'9' * 5000}"])
def test_a_file_that_is_nested_too_deep_or_has_an_endless_number_is_refused(text: str) -> None:
    """TOML that Python's reader fails at is a configuration error that names the file."""
    with pytest.raises(
        ConfigError, match=r"r\.toml can't be read: a number in it has thousands of digits, or its lists"
    ):
        parse_rack("r", text, "r.toml")
