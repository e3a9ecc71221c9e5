"""Groups of hosts in the configuration."""

from __future__ import annotations

import pytest

from exacell.core.config import parse_rack
from exacell.core.errors import ConfigError

CELLS = 'cells = "exa1cel[01-03]"\ndbnodes = "exa1db[01-02]"\n'


def test_database_nodes_are_a_group_of_their_own() -> None:
    """Every rack with database nodes has ``db``; its user is ssh's own until the configuration names one."""
    rack = parse_rack("x", CELLS, "x.toml")
    assert rack.host_groups["db"].nodes == ("exa1db01", "exa1db02") and rack.host_groups["db"].user == ""
    named = parse_rack("x", CELLS + '[hosts.db]\nuser = "root"\n', "x.toml")
    assert named.host_groups["db"].nodes == ("exa1db01", "exa1db02") and named.host_groups["db"].user == "root"


def test_a_rack_may_be_hosts_alone() -> None:
    """Without cells a rack needs a group of hosts."""
    rack = parse_rack("lab", '[hosts.ini]\nnodes = "ini[1-2]"\nsudo = true\nuser = "root"\n', "lab.toml")
    assert rack.cells == () and rack.host_names == ("ini1", "ini2") and rack.host_groups["ini"].sudo


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no cells"),
        ("[hosts.ini]\n", 'set nodes = "ini[1-2]"'),
        (CELLS + '[hosts.all]\nnodes = "a"\n', "@all is a group of cells already"),
        (CELLS + '[groups]\nleft = "exa1cel01"\n[hosts.left]\nnodes = "a"\n', "@left is a group of cells already"),
        (CELLS + '[hosts.ini]\nnodes = "exa1cel02"\n', "exa1cel02 is a cell of the rack"),
        (CELLS + '[hosts.db]\nnodes = "other"\n', "always means the dbnodes"),
        ('[hosts.a]\nnodes = "h"\nuser = "x"\n[hosts.b]\nnodes = "h"\n', "which log in differently"),
        ('[hosts.a]\nnodes = "h"\nsudo = true\n', "needs a user to become"),
        ('[hosts.a]\nnodes = "h"\nport = 22\n', "unknown key 'port'"),
    ],
)
def test_what_can_not_be_meant_is_refused(text: str, said: str) -> None:
    """Each mistake in a group is one line with the rule."""
    with pytest.raises(ConfigError) as error:
        parse_rack("x", text, "x.toml")
    assert said in f"{error.value.message} {error.value.hint}"
