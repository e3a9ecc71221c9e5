"""The weekly jobs on an emulated rack, by the real program: what is well, what is broken, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

C1, C2, C3 = "exa1cel01", "exa1cel02", "exa1cel03"


def test_a_well_rack_on_one_line(rack) -> None:
    """show health --fold folds well cells into one line and says so; can offline and check patch say yes."""
    done = rack.say("show health --fold")
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("exa1cel[01-03]")
    assert len(done.out.splitlines()) == 3
    assert "3 cells are well" in done.err
    assert {row["offline"] for row in rack.json("can offline")} == {"yes"}
    assert {row["verdict"] for row in rack.json("check patch")} == {"ok"}
    for statement in ("show services", "show versions"):
        assert len(rack.say(f"{statement} --fold").out.splitlines()) == 3


def test_broken_things_are_named_with_the_way_out(rack) -> None:
    """A failed flash disk and a quarantine show in the matrix, hold the other cells back, and fail check patch."""
    rack.fault(C1, "flash-disk", "status=failed")
    rack.fault(C3, "quarantine")
    try:
        done = rack.say("show health")
        assert done.code == 1
        assert f"on {C1} locate disk" in done.err
        rows = {row["cell"]: row for row in rack.json("show health")}
        assert rows[C1]["flash"] == "failed"
        assert rows[C2]["alerts"] == "ok"
        assert rows[C3]["alerts"] == "1 quarant."
        assert [row["cell"] for row in rack.json("show quarantine")] == [C3]
        offline = {row["cell"]: row["offline"] for row in rack.json("can offline")}
        assert offline == {C1: "yes", C2: "no", C3: "no"}
        assert rack.say("check patch").code == 1
    finally:
        rack.mend("care")
        rack.say(f"on {C3} drop quarantine all -y")
        rack.say(f"on {C3} ack alert all -y")


def test_a_cell_without_cellsrv_is_told_apart(rack) -> None:
    """With CELLSRV down the cell still answers what it can; the rest is ?, and the way out is named."""
    rack.fault(C2, "cellsrv-down")
    try:
        rows = {row["cell"]: row for row in rack.json("show health")}
        assert rows[C2]["services"] == "cellsrv stopped"
        assert rows[C2]["asm"] == "?"
        assert rows[C1]["services"] == "ok"
        done = rack.say(f"can offline {C2}")
        assert done.code == 1
        assert f"online cell {C2}" in done.err
    finally:
        rack.mend("care")


def test_an_alert_from_its_begin_to_its_acknowledgement(rack) -> None:
    """An alert is shown, acknowledged on its own cell, read back, and no longer in the matrix."""
    on = f"on {C2} create threshold CL_FSUT comparison='>', warning=10, critical=20 -y"
    assert rack.say(on).code == 0
    assert rack("emulator", "load", "care", "db=SPOT", "redo=1", "for=120").code == 0
    try:
        rows = rack.json("show alerts critical")
        assert [(row["cell"], row["severity"], row["examinedBy"]) for row in rows] == [(C2, "critical", None)]
        name = rows[0]["name"]
        done = rack.say(f"ack alert {name} by=eve -y")
        assert done.code == 0, done.err
        assert rack.json("show alerts")[0]["examinedBy"] == "eve"
        assert {row["alerts"] for row in rack.json("show health")} == {"ok"}
        again = rack.say(f"ack alert {name} -y")
        assert again.code == 2
        assert "no such unexamined alert" in again.err
    finally:
        rack.say(f"on {C2} drop threshold CL_FSUT -y")


def test_acknowledging_needs_an_answer(rack) -> None:
    """Without -y and without a terminal nothing is acknowledged; an unknown alert names what is open."""
    assert rack.say("ack alert 99_9 -y").code == 2


@pytest.mark.parametrize("name", ["FD_00_exa1cel02", "20:3", "DATA_CD_03_exa1cel01", "flash_1_0"])
def test_locate_disk_by_any_name(rack, name: str) -> None:
    """A disk is found by its own name, its cell disk's or a grid disk's, with slot and what is on it."""
    row = rack.json("locate disk " + name)[0]
    assert row["slotNumber"]
    assert row["cellDisk"]


def test_locate_disk_says_what_it_searched(rack) -> None:
    """A name that no cell knows is an error with the ways to find one."""
    done = rack.say("locate disk nix")
    assert done.code == 2
    assert "list physicaldisk" in done.err


def test_diagpack(rack) -> None:
    """diagpack makes one on each selected cell; hours outside of 1 to 6 are refused."""
    assert rack.say(f"on {C1} diagpack hours=2 -y").code == 0
    assert C1 in rack.say("list diagpack").out
    assert rack.say("diagpack hours=9 -y").code == 2


def test_cache_contents_have_names(rack) -> None:
    """The biggest objects come first, summed over the cells, with owner and name from the database."""
    rows = rack.json("show flashcachecontent db=SPOT top=3")
    assert [row["owner"] for row in rows] == ["APP"] * 3
    assert rows[0]["cachedSize"] > rows[1]["cachedSize"]
    assert rows[0]["cells"] == 3
    assert rows[0]["object"] == "ORDER_ITEMS"
    assert rack.json("show flashcachecontent db=SPOT top=1 names=no")[0]["owner"] is None


def test_sql_queries_answer(rack) -> None:
    """A query on ASM or on a database returns typed rows; an ORA- error is said with its text."""
    groups = rack.json('sql asm "select name, state, free_mb from v$asm_diskgroup order by name"')
    assert [(row["NAME"], row["STATE"]) for row in groups] == [("DATA", "MOUNTED"), ("RECO", "MOUNTED")]
    assert isinstance(groups[0]["FREE_MB"], int)
    assert rack.json('sql db=SPOT "select name from v$database"')[0]["NAME"] == "SPOT"
    assert "1 row from" in rack.say('sql db=SPOT "select name from v$database"').err
    wrong = rack.say('sql asm "select 1 / 0 from v$instance"')
    assert wrong.code == 1
    assert "ORA-01476" in wrong.err
    unread = rack.say('sql asm "select nix from v$instance"')
    assert unread.code == 2
    assert "nix: it is not a known column of v$instance" in unread.err
    assert "no instance of NIX" in rack.say('sql db=NIX "select 1 from dual"').err


def test_sql_changes_are_guarded(rack) -> None:
    """SQL that changes is planned where exacell has words for it, refused without acceptance, and never sent by -m."""
    voting = rack.say('sql asm "drop diskgroup DATA" -y')
    assert voting.code == 2
    assert "voting files" in voting.err
    refused = rack.say('sql db=SPOT "alter system switch logfile" -y')
    assert refused.code == 2
    assert "--accept-opaque" in refused.err
    assert rack("-r", "care", "-m", 'sql db=SPOT "alter system switch logfile" -y --accept-opaque').code == 2
    assert rack.say('sql db=SPOT "alter system switch logfile" --accept-opaque').code == 2, "nobody confirmed"
    assert rack.say('sql db=SPOT "alter system switch logfile" --accept-opaque -y').code == 0
    assert "alter system switch logfile" in rack.say("journal show").out
    assert "more after ;" in rack.say('sql asm "select 1 from dual; drop diskgroup DATA"').err


def test_asm_sql_is_planned_where_there_are_words_for_it(rack) -> None:
    """A mount is planned, also without acceptance; what nobody has words for is sent to ASM once it was accepted."""
    mounted = rack.say('sql asm "alter diskgroup RECO mount" -y')
    assert mounted.code == 0 and "--accept-opaque" not in mounted.err, mounted.err
    assert rack.say('sql asm "alter diskgroup RECO scrub" -y').code == 2
    sent = rack.say('sql asm "alter diskgroup RECO scrub" --accept-opaque -y')
    assert sent.code == 0 and "ASM on " in sent.err and " would get: alter diskgroup RECO scrub" in sent.err, sent.err


def test_sh_reads_and_is_guarded(rack) -> None:
    """sh shows each cell's answer behind its name, with --fold equal ones once; CellCLI in it is guarded; a read-only session
    runs only what is known to read."""
    done = rack.say("sh", "id -un")
    assert done.out.splitlines() == [f"{cell}: celladmin" for cell in (C1, C2, C3)], done.err
    assert rack("-r", "care", "--fold", "sh", "id -un").out.splitlines() == ["exa1cel[01-03]", "celladmin"]
    assert rack.json("sh hostname")[1]["text"] == C2
    assert rack.say("sh cellcli -e drop flashcache").code == 2
    assert rack("-r", "care", "-m", "sh hostname").code == 0
    assert rack("-r", "care", "-m", "sh touch x").code == 2


def test_copy(rack, tmp_path: Path) -> None:
    """copy brings a file to each cell; one that is not there, or that nobody accepted, is refused before anything is sent."""
    source = tmp_path / "note.txt"
    source.write_text("hello\n")
    assert rack.say(f"copy {source}").code == 2
    done = rack.say(f"copy {source} --accept-opaque")
    assert done.code == 0, done.err
    assert "hello" in rack.say("sh --accept-opaque cat note.txt").out
    assert rack.say("copy /nowhere/x").code == 2
    assert rack("-r", "care", "-m", f"copy {source}").code == 2
