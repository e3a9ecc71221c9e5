"""Group files, lists and the order of targets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exacell.change.dcli.hosts import Target, place_of, targets_of
from exacell.change.dcli.options import DcliExit, parse_dcli
from exacell.core.config import RackConfig


def labels(*argv: str) -> list[str]:
    return [t.label for t in targets_of(parse_dcli([*argv, "ls"]), lambda group: {"@all": ("x1", "x2")}[group])]


def test_the_group_file_comes_first_and_the_first_of_equals_wins(tmp_path: Path) -> None:
    """Targets should stand in the order of the file, then of -c, each once."""
    file = tmp_path / "group"
    file.write_text("  c2\n# c9\n\nc1  \nc2\n")
    assert labels("-g", str(file), "-c", "c3,c1", "-c", "c0") == ["c2", "c1", "c3", "c0"]


def test_items_of_a_list_are_stripped_and_may_be_folded() -> None:
    """Blanks around names should not count, and our folded names and groups be taken."""
    assert labels("-c", " a , b,c[01-02,04]") == ["a", "b", "c01", "c02", "c04"]
    assert labels("-c", "@all") == ["x1", "x2"]


def test_an_empty_item_is_a_target_that_nobody_can_reach() -> None:
    """A name that is missing between commas should be a target without a host, once; an empty list should name none."""
    assert labels("-c", "a,, ,b,") == ["a", "", "b"] and labels("-c", ",") == [""] and labels("-c", "") == []
    assert [t.host for t in targets_of(parse_dcli(["-c", ",", "ls"]), lambda group: ())] == [""]


def test_a_login_in_the_name_is_shown_but_not_used() -> None:
    """user@host should connect to the host as -l says, and stand before the lines as written."""
    (found,) = targets_of(parse_dcli(["-c", "root@cel01", "ls"]), lambda group: ())
    assert found == Target(label="root@cel01", host="cel01")


def test_an_address_of_version_6_is_a_target() -> None:
    """Colons should not be taken for a port."""
    assert labels("-c", "fe80::1") == ["fe80::1"]


def test_an_empty_group_file_names_nobody(tmp_path: Path) -> None:
    """A file of comments should add no target and be no error by itself."""
    file = tmp_path / "group"
    file.write_text("# none\n")
    assert labels("-g", str(file)) == []


@pytest.mark.parametrize("text", ["a;b", "$(x)", "a b"])
def test_a_name_that_a_shell_would_read_is_refused(text: str) -> None:
    """What is no host name should be refused with 2: dcli would hand it to a shell."""
    with pytest.raises(DcliExit) as end:
        labels("-c", text)
    assert end.value.status == 2 and end.value.out == "" and text in end.value.err


def test_a_missing_group_file_is_an_environment_error(tmp_path: Path) -> None:
    """The error line should stand alone, without the option list."""
    with pytest.raises(DcliExit) as end:
        labels("-g", str(tmp_path / "none"))
    assert (end.value.status, end.value.out) == (2, "") and end.value.err.startswith("Error: ")


@pytest.mark.parametrize(
    ("host", "current", "found"),
    [
        ("cel01", None, ("real", "cel01.example.com")),
        ("CEL01.example.com", None, ("real", "cel01.example.com")),
        ("cel02.example.com", None, ("real", "cel02")),
        ("emu01", None, (None, "emu01")),
        ("emu01.example.com", "emulated", ("emulated", "emu01")),
        ("db01.example.com", None, ("real", "db01")),
        ("nobody", "emulated", (None, "nobody")),
    ],
)
def test_a_cell_is_its_rack_s_under_both_forms_of_its_name(
    host: str, current: str | None, found: tuple[str | None, str]
) -> None:
    """Short or in full it is one cell, and called as its rack calls it; an emulated rack's counts only on that rack."""
    real = RackConfig(name="real", cells=("cel01.example.com", "cel02"), dbnodes=("db01",))
    emulated = RackConfig(name="emulated", cells=("emu01",), emulated=True)
    racks = {rack.name: rack for rack in (real, emulated)}
    session: Any = SimpleNamespace(config=SimpleNamespace(racks=racks), rack=racks.get(current or ""))
    rack, name = place_of(session, host)
    assert (rack and rack.name, name) == found
