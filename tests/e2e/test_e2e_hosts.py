"""Hosts beside cells: the database nodes of an emulated rack and groups that the configuration names, over real SSH."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.support.program import PROMPT


@pytest.fixture
def lab(inside):
    """The program with the emulated rack, and with its database nodes as the racks ``lab`` without cells and ``prod``."""
    folder = inside.home / "racks.d"
    ssh = tomllib.loads((folder / "t1.toml").read_text())["ssh_config"]
    group = '[hosts.initiators]\nnodes = "exa1db[01-02]"\nuser = "root"\n'
    (folder / "lab.toml").write_text(f'ssh_config = "{ssh}"\n{group}[hosts.first]\nnodes = "exa1db01"\nuser = "root"\n')
    (folder / "prod.toml").write_text(
        f'ssh_config = "{ssh}"\nproduction = true\n{group}allow_commands = ["mkdir", "rmdir"]\n'
    )
    return inside


def test_database_nodes_answer_as_cells_do(inside):
    """``on @db sh`` asks each database node once, as root, and its records say which host answered."""
    rows = inside.ok("-r", "t1", "-o", "json", "on @db sh id -un").records
    assert [(row["cell"], row["text"]) for row in rows] == [("exa1db01", "root"), ("exa1db02", "root")]


def test_a_host_is_named_by_its_end_and_equal_answers_are_folded(inside):
    """``on db01`` means the one host whose name ends so; with --fold both nodes share their answer."""
    assert inside.ok("-r", "t1", "on db01 sh hostname").out.strip() == "exa1db01"
    assert "exa1db[01-02]" in inside.ok("-r", "t1", "--fold", "on @db sh uname -r").out


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("on @db flush flashcache -y", "flush flashcache is for cells, but exa1db[01-02] are hosts"),
        ("on @db list griddisk", "are hosts; nothing was sent"),
        ("on @db drop griddisk all prefix=x -y", "are hosts; nothing was sent"),
        ("on @db,exa1cel01 sh uptime", "there are cells (exa1cel01) and hosts (exa1db[01-02])"),
        ("use @db", "exa1db[01-02] are not cells"),
        ("on @dbs sh uptime", "did you mean @db?"),
        ("on exa1db09 sh uptime", "exa1db09 is not in rack t1, which has exa1cel[01-03],exa1db[01-02]"),
        (
            "on @db sh --accept-opaque cellcli -e alter griddisk all inactive",
            "changes cells, but exa1db[01-02] are not cells",
        ),
    ],
)
def test_what_is_for_cells_never_reaches_hosts(inside, statement, said):
    """A statement for cells, a change of cells in a shell's text and an unknown host are refused in one line."""
    done = inside("-r", "t1", statement)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err


def test_unread_commands_need_consent_and_are_journalled(inside):
    """What exacell can't read is refused on hosts as on cells; accepted, it is a change with its targets in the journal."""
    refused = inside("-r", "t1", "on @db sh touch /tmp/there")
    assert refused.code == 2 and "--accept-opaque" in refused.err
    inside.ok("-r", "t1", "on @db sh --accept-opaque mkdir /tmp/hosts_e2e")
    inside.ok("-r", "t1", "on @db sh --accept-opaque rmdir /tmp/hosts_e2e")
    rows = inside.ok("-r", "t1", "-o", "json", "journal").records
    assert [(row["targets"], row["ended"]) for row in rows[-2:]] == [("exa1db01,exa1db02", "exit 0")] * 2


def test_undo_run_passes_over_the_only_change_where_that_is_unread(inside, tmp_path):
    """A run whose one change exacell can't read is over with its finally, which names that change; unaccepted, the recipe's own
    way to accept it is told."""
    recipe = tmp_path / "unread.exa"
    recipe.write_text(
        'recipe "Unread alone"\nneeds hosts=@db, opaque\nrisk performance\n\non db01 sh mkdir -p /tmp/hosts_unread\n\n'
        "finally\n  undo run\nend\n"
    )
    refused = inside("-r", "t1", f"run {recipe} -y")
    assert refused.code == 2 and "--accept-opaque` allows it" in refused.err
    done = inside("-r", "t1", f"run {recipe} -y --accept-opaque")
    assert done.code == 0 and "is not taken back: exacell can't read its text" in " ".join(done.err.split())
    assert not inside.ok("-r", "t1", "-o", "json", "pending").records


def test_a_read_only_session_changes_no_host(inside):
    """-m lets reads through to hosts and nothing else, whatever is accepted."""
    assert inside("-r", "t1", "-m", "on @db sh uptime").code == 0
    done = inside("-r", "t1", "-m", "on @db sh --accept-opaque touch /tmp/there")
    assert done.code == 2 and "read-only" in done.err


def test_a_rack_without_cells_is_a_rack(lab):
    """A rack of hosts alone is listed, asked by group, and says which groups it has where cells are meant."""
    rows = lab.ok("-r", "lab", "-o", "json", "hosts").records
    assert [(row["cell"], row["groups"]) for row in rows] == [
        ("exa1db01", ["@initiators", "@first"]),
        ("exa1db02", ["@initiators"]),
    ]
    assert lab.ok("-r", "lab", "on @first sh hostname").out.strip() == "exa1db01"
    done = lab("-r", "lab", "list cell")
    assert done.code == 2 and "rack lab has no cells: it has hosts, @initiators, @first" in done.err


def test_a_group_may_be_put_over_the_file_of_a_rack(inside):
    """``[racks.t1.hosts.…]`` in config.toml adds a group to a rack that has a file of its own, and keeps its cells."""
    (inside.home / "config.toml").write_text('[racks.t1.hosts.ini]\nnodes = "exa1db02"\nuser = "root"\n')
    assert inside.ok("-r", "t1", "on @ini sh hostname").out.strip() == "exa1db02"
    assert len(inside.ok("-r", "t1", "-o", "json", "list cell").records) == 3


def test_production_hosts_take_named_commands_alone(lab):
    """On a production rack only programs of ``allow_commands`` may be accepted, only read-write, and nothing around them."""
    for text, said in {
        "touch /tmp/x": "production rack",
        "mkdir /tmp/x; touch /tmp/x/y": "touch: it is not in allow_commands of these hosts",
        "mkdir $(touch /tmp/x)": "besides it, only plain words, quotes, |, ;, && and || are allowed",
        "mkdir /tmp/hosts_prod": "read-only",
    }.items():
        done = lab("-r", "prod", f"on @initiators sh --accept-opaque {text}")
        assert done.code == 2 and said in done.err, text
    with lab.at_terminal("-r", "prod", columns=160) as terminal:
        terminal.ready()
        terminal.child.send("set mode rw\r")
        terminal.child.expect_exact("read-write: ")
        terminal.child.send("prod\r")
        for command, said in (("mkdir", "done"), ("rmdir", "done"), ("touch", "production rack")):
            terminal.child.expect_exact("RW")
            terminal.child.expect_exact(PROMPT)
            terminal.child.send(f"on @initiators sh --accept-opaque {command} /tmp/hosts_prod\r")
            terminal.child.expect_exact(said)


def test_dbmcli_answers_as_cellcli_does(inside):
    """LIST and DESCRIBE of DBMCLI's objects go to database nodes, typed and with DBMCLI's errors; no cell gets DBSERVER."""
    rows = inside.ok("-r", "t1", "-o", "json", "on @db list dbserver attributes name,status,coreCount").records
    assert [(row["cell"], row["name"], row["status"]) for row in rows] == [
        ("exa1db01", "exa1db01", "online"),
        ("exa1db02", "exa1db02", "online"),
    ]
    (metric,) = inside.ok("-r", "t1", "-o", "json", "on db01 list metriccurrent DS_TEMP").records
    assert isinstance(metric["metricValue"], float) and metric["unit"] == "C"
    assert "coreCount:" in inside.ok("-r", "t1", "on db01 list dbserver detail").out
    assert inside.ok("-r", "t1", "-o", "json", "on db01 describe dbserver").records[0]["name"] == "name"
    done = inside("-r", "t1", "on db01 list physicaldisk nosuch")
    assert done.code == 1 and "exa1db01: DBM-02906" in done.err
    done = inside("-r", "t1", "list dbserver")
    assert done.code == 2 and "on @db list dbserver" in done.err


def test_a_silent_host_hides_no_other(inside, fault):
    """A host that can't be reached is a problem by its name, and the other one's answer has its name, too."""
    fault("exa1db01", "refuse")
    done = inside("-r", "t1", "on @db sh hostname")
    assert done.code == 1 and done.out == "exa1db02: exa1db02\n" and re.search(r"exa1db01: ", done.err)
    assert inside("-r", "t1", "--fold", "on @db sh hostname").out == "exa1db02\nexa1db02\n"


def test_tab_offers_groups_and_hosts_behind_on(inside):
    """Behind ``on @`` and ``on ex`` completion has the groups and the hosts beside the cells."""
    with inside.at_terminal("-r", "t1", columns=160) as terminal:
        terminal.ready()
        terminal.child.send("on @d\t")
        terminal.child.expect("@db")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("on @db alter dbserver comment='x'", "`on HOST sh --accept-opaque dbmcli"),
        (
            "on @db alter dbserver shutdown services ms",
            "exacell can only read DBSERVER, not change it; nothing was sent",
        ),
        ("on @db alter dbserver led on", "exacell can only read DBSERVER, not change it; nothing was sent"),
        ("alter dbserver location='x'", "on @db alter dbserver location='x'"),
        ("on @db alter cell comment='x'", "are hosts; nothing was sent"),
    ],
)
def test_what_dbmcli_alters_is_refused_with_the_way_out(inside, statement, said):
    """exacell reads DBSERVER and changes nothing of it: a change is refused before a node is asked."""
    done = inside("-r", "t1", statement, "-y")
    assert done.code == 2 and said in " ".join(done.err.split()), done.err
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []
