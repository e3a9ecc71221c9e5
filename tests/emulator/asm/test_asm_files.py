"""asmcmd on files, and what disks count."""

from __future__ import annotations

import pytest
from asm_lab import Lab


def test_du_adds_up_what_is_below(lab: Lab) -> None:
    """DU prints the megabytes of a directory, once and with all copies, under its two headings."""
    lines = lab.run("asmcmd", "du", "DATA/SPOT").out.splitlines()
    assert lines[0] == "Used_MB      Mirror_used_MB"
    used, mirrored = (int(word) for word in lines[1].split())
    files = [file for file in lab.asm.groups["DATA"].files if file.database == "SPOT"]
    assert used == round(sum(file.size_bytes for file in files) / 2**20)
    assert mirrored == sum(file.units(4 << 20) * 4 for file in files)
    assert lab.run("asmcmd", "--nocp", "du", "-H", "+DATA/SPOT/").out == lines[1] + "\n"


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["ls"], "DATA/"),
        (["ls", "-l"], "State    Type    Rebal  Name"),
        (["ls", "data/spot"], "CONTROLFILE/"),
        (["ls", "-l", "DATA/SPOT/DATAFILE"], "Type      Redund  Striped  Time             Sys  Name"),
        (["ls", "-s", "DATA/SPOT/CONTROLFILE"], "Block_Size  Blocks     Bytes     Space  Name"),
        (["ls", "-d", "+DATA/SPOT"], "SPOT/"),
        (["lsdg", "DATA"], "State    Type"),
    ],
)
def test_what_is_shown_first(lab: Lab, words: list[str], first: str) -> None:
    """Each command begins with the heading or the entry that it should."""
    ran = lab.run("asmcmd", *words)
    assert ran.status == 0 and ran.out.splitlines()[0].startswith(first)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["du"], "ASMCMD-8004"),
        (["du", "NOSUCH"], "ASMCMD-8001"),
        (["du", "DATA/NOSUCH"], "ASMCMD-8002"),
        (["ls", "--nonsense"], "ASMCMD-8201"),
        (["rm", "+RECO/SPOT/ARCHIVELOG/*"], "ASMCMD-8022"),
        (["frobnicate"], "ASMCMD-8022"),
    ],
)
def test_refusals(lab: Lab, words: list[str], error: str) -> None:
    """What is missing, wrong or not emulated fails with a message of asmcmd and a status that is not 0."""
    ran = lab.run("asmcmd", *words)
    assert ran.status != 0 and ran.err.startswith(error)


def test_disks_count_what_the_databases_read_and_write(lab: Lab) -> None:
    """A load's requests are in V$ASM_DISK of the group with the data files, every write once for each copy, and nowhere else."""

    def counted(group: str) -> tuple[int, int]:
        query = "select d.reads, d.writes from v$asm_disk d, v$asm_diskgroup g where d.group_number = g.group_number"
        rows = [[int(word) for word in row.split()] for row in lab.rows(f"{query} and g.name = '{group}'")]
        return sum(reads for reads, _ in rows), sum(writes for _, writes in rows)

    spot = lab.asm.statistics(lab.asm.databases["SPOT"])
    before = {name: counted(name) for name in ("DATA", "RECO")}
    names = ("physical read total IO requests", "physical write total IO requests")
    then = [spot.get(name, 0) for name in names]
    lab.rack.start_load(seconds=60, profile="oltp", db="SPOT")
    lab.pass_time(120)
    lab.rack.advance()
    spot = lab.asm.statistics(lab.asm.databases["SPOT"])
    reads, writes = (spot[name] - earlier for name, earlier in zip(names, then, strict=True))
    assert reads > 1000 and counted("RECO") == before["RECO"]
    after = counted("DATA")
    assert after[0] - before["DATA"][0] == pytest.approx(reads, abs=2)
    assert after[1] - before["DATA"][1] == pytest.approx(2 * writes, abs=4)
