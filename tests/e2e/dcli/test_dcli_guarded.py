"""What dcli carries to emulated racks is guarded, confirmed and journalled like a typed statement."""

from __future__ import annotations

from pathlib import Path

import pytest
from dcli_bench import CELLS, SHORT, Dcli, caches, flushcache, journalled

from exacell.cli import main


@pytest.mark.parametrize("mark", [True, False])
def test_the_flush_script_runs_on_a_write_through_rack(dcli: Dcli, home: Path, mark: bool) -> None:
    """The script of the blog post should run as it is, with and without its closing mark, key and all."""
    flushcache(mark=mark)
    before = {row["id"] for row in caches(home, "wt")}
    done = dcli("-c", CELLS, "--serial", "-k", "-l", "celladmin", "-x", "flushcache.sh", rack="wt")
    assert done.code == 0, done.err
    for cell in CELLS.split(","):
        ours = [line for line in done.lines if line.startswith(f"{cell}: ")]
        assert ours[0] == f"{cell}: ssh key added" or ours[0] == f"{cell}: ssh key already exists"
        assert sum("successfully dropped" in line for line in ours) == 1
        assert sum("successfully created" in line for line in ours) == 1
    assert [line.partition(":")[0] for line in done.lines] == sorted(line.partition(":")[0] for line in done.lines)
    after = caches(home, "wt")
    assert {row["status"] for row in after} == {"normal"} and not before & {row["id"] for row in after}


def test_the_flush_script_is_refused_on_dirty_write_back_caches(dcli: Dcli, home: Path) -> None:
    """With dirty data in the cache nothing should be sent, exit 2, and every cell be named with the reason."""
    flushcache().rename("refused.sh")
    before = caches(home, "wb")
    done = dcli("-c", CELLS, "--serial", "-k", "-l", "celladmin", "-x", "refused.sh")
    assert (done.code, done.out) == (2, "")
    assert "drop flashcache: refused on exa1cel[01-03]" in done.err and "only copy of data" in done.err
    assert caches(home, "wb") == before
    assert "refused.sh" not in dcli("-c", CELLS, "ls").out


@pytest.mark.parametrize(
    "words",
    [
        ("cellcli -e drop flashcache",),
        ("cellcli", "-e", "drop", "flashcache"),
        ("echo drop flashcache | cellcli",),
        ("cellcli -e 'alter cell flashCacheMode=writethrough'",),
        ("CMD='drop flashcache'; cellcli -e $CMD",),
    ],
)
def test_a_change_in_a_command_is_guarded_like_a_typed_one(dcli: Dcli, home: Path, words: tuple[str, ...]) -> None:
    """However a dangerous CellCLI change is wrapped, it should be refused with 2 before anything is sent."""
    before = caches(home, "wb")
    done = dcli("-c", CELLS, *words)
    assert (done.code, done.out) == (2, "") and "refused on" in done.err and caches(home, "wb") == before


def test_accepted_loss_lets_it_through(dcli: Dcli, home: Path) -> None:
    """Naming every cell should send what the guard refuses; the cell then has its own say."""
    done = dcli("-c", "exa1cel03", "cellcli -e drop flashcache", before=("--accept-data-loss=exa1cel03",))
    assert "refused on" not in done.err and done.out.startswith("exa1cel03: CELL-")


def test_a_scl_script_is_guarded_too(dcli: Dcli) -> None:
    """A .scl file should be run by cellcli, and refused when a line of it is."""
    path = Path("a.scl")
    path.write_text("list cell attributes name\nREM end\n")
    path.chmod(0o755)
    done = dcli("-c", SHORT, "-x", "a.scl")
    assert (done.code, done.lines) == (0, ["exa1cel01: exa1cel01", "exa1cel02: exa1cel02"])
    path.write_text("list cell\ndrop flashcache all\n")
    assert dcli("-c", SHORT, "-x", "a.scl").code == 2


def test_opaque_work_is_journalled_and_reads_are_not(dcli: Dcli, home: Path) -> None:
    """A command that can't be read should leave plan, intent, outcome and end; a read nothing."""
    dcli("-c", "exa1cel01", "touch marker-of-this-test")
    rows = journalled(home, "dcli -c exa1cel01 'touch marker-of-this-test'")
    assert [kind for kind, _, _ in rows] == ["plan", "intent", "outcome", "end"]
    assert (
        rows[0][2]["opaque"] == ["touch: not in the table of commands that only read"] and rows[2][2]["state"] == "done"
    )
    dcli("-c", "exa1cel01", "uname")
    assert not journalled(home, "dcli -c exa1cel01 uname")


def test_a_real_rack_needs_opaque_work_to_be_accepted(dcli: Dcli) -> None:
    """Elsewhere than on an emulated rack the unreadable should need --accept-opaque before dcli, and reads nothing."""
    assert dcli("-c", "exa1cel01", "hostname", rack="real").code == 0
    done = dcli("-c", "exa1cel01", "touch x", rack="real")
    assert (done.code, done.out) == (2, "") and "--accept-opaque" in done.err
    assert dcli("-c", "exa1cel01", "touch x", rack="real", before=("--accept-opaque",)).code == 0


def test_a_real_rack_asks_before_a_cellcli_change(dcli: Dcli) -> None:
    """A change that the guard lets pass should need a yes like a typed one."""
    words = ("-c", "exa1cel01", "cellcli -e alter iormplan objective=basic")
    done = dcli(*words, rack="real")
    assert (done.code, done.out) == (2, "") and "-y" in done.err and "ALTER IORMPLAN" in done.err
    assert dcli(*words, rack="real", before=("-y",)).code == 0


def test_sh_asks_before_a_cellcli_change_as_dcli_does(
    dcli: Dcli, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """exacell sh with a change in it should need a yes on a rack that is not emulated, and journal nothing without."""
    words = "cellcli -e alter iormplan objective=low_latency"
    assert main(["-r", "real", "sh", words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "there is no terminal for the question" in said.err and "-y" in said.err
    assert not journalled(home, f"sh {words}")
    assert main(["-r", "real", "sh", f"-y {words}"]) == 0


def test_production_and_read_only_racks_refuse_the_unreadable(dcli: Dcli) -> None:
    """Neither -y nor --accept-opaque should let opaque work on a production rack, nor -m anything but reads."""
    for rack, cell, before in (("prod", "exa1cel04", ("--accept-opaque", "-y")), ("wb", "exa1cel03", ("-m",))):
        done = dcli("-c", cell, "touch x", rack=rack, before=before)
        assert (done.code, done.out) == (2, ""), rack
        assert dcli("-c", cell, "cellcli -e list cell", rack=rack, before=before).code == 0
        done = dcli("-c", cell, "-k", rack=rack, before=before)
        assert (done.code, done.out) == (2, ""), rack


def test_a_copy_beside_a_command_is_judged_too(dcli: Dcli) -> None:
    """-f with a command that only shows something should be refused as the copy alone is."""
    Path("one").write_text("x")
    for rack, cell, before in (
        ("prod", "exa1cel04", ("--accept-opaque", "-y")),
        ("wb", "exa1cel03", ("-m",)),
        ("real", "exa1cel03", ("-y",)),
    ):
        done = dcli("-c", cell, "-f", "one", "hostname", rack=rack, before=before)
        assert (done.code, done.out) == (2, "") and "copy one to the home directory" in done.err, rack
    done = dcli("-c", "exa1cel03", "-f", "one", "hostname", rack="wb")
    assert (done.code, done.out) == (0, "exa1cel03: exa1cel03\n")


def test_a_production_cell_is_known_without_its_rack(
    dcli: Dcli, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Naming a host of a production rack without -r should not get around the rack's mark."""
    assert main(["--accept-opaque", "dcli", "-c", "exa1cel04", "touch x"]) == 2
    assert "prod" in capsys.readouterr().err


def test_plan_only_sends_nothing(dcli: Dcli) -> None:
    """-n before dcli should show what was found and send nothing, with 3 where that is asked for."""
    done = dcli("-c", "exa1cel01", "touch never-made", before=("-n", "--detailed-exitcode"))
    assert (done.code, done.out) == (3, "") and "can't be read: touch: not in the table" in done.err
    assert dcli("-c", "exa1cel01", "ls never-made").code == 1


AT_ONCE = [
    "alter cell restart services cellsrv",
    "alter cell shutdown services all",
    "alter griddisk all inactive",
]


@pytest.mark.parametrize("serial", [(), ("--serial",)])
@pytest.mark.parametrize("change", AT_ONCE)
def test_two_failure_groups_never_go_together(dcli: Dcli, change: str, serial: tuple[str, ...]) -> None:
    """What takes disks of several cells offline is refused before anything is sent, one after the other as well unless each
    cell has its disks back before the next one."""
    done = dcli("-c", SHORT, *serial, f"cellcli -e {change}", before=("-y",))
    assert done.code == 2
    assert "offline together; each cell is a failure group; nothing was sent" in done.err
