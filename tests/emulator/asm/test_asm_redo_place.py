"""Redo on a flash disk group costs what the posts measured, by the number of sessions and the size of redo blocks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asm_lab import Lab

from exacell.emulator.asm.instances import Instance
from exacell.emulator.database.load import commit_load

OVERRIDE = 'alter system set "_disk_sector_size_override"=true scope=memory;\n'


def elapsed(lab: Lab, sessions: int) -> float:
    """Let sessions of the first node commit, and return the microseconds in which all of them were done."""
    for _turn in commit_load(lab.asm, "SPOT", sessions=sessions, commits=600):
        pass
    desk = lab.rack.work.desk(Instance(asm=lab.asm, node=0, database=lab.asm.databases["SPOT"]))
    return desk.last - desk.began


def on_flash(lab: Lab, block: int) -> None:
    """Let the first thread write to a group on flash, with redo blocks of so many bytes."""
    lab.carve("ssd")
    lab.create("ssd", "ssd")
    lab.db(f"{OVERRIDE}alter database add logfile thread 1 group 31 ('+SSD') size 64m blocksize {block};\n")
    lab.db("alter system switch logfile;\n")
    (current,) = [group for group in lab.asm.databases["SPOT"].of_thread(1) if group.status == "CURRENT"]
    assert (current.number, current.block_size) == (31, block)


@pytest.mark.parametrize(
    ("block", "sessions", "times"), [(512, 1, 4.0), (512, 10, 20.0), (4096, 1, 1.2), (4096, 10, 1.2)]
)
def test_redo_on_old_flash_takes_as_many_times_as_published(
    new_lab: Callable[..., Lab], block: int, sessions: int, times: float
) -> None:
    """With blocks of 512 bytes commits take 4 times as long as on SAS disks with one session and 20 times with ten; with blocks
    of 4096 bytes nearly as long as on SAS disks."""
    lab = new_lab(model="x2")
    before = elapsed(lab, sessions)
    on_flash(lab, block)
    assert elapsed(lab, sessions) / before == pytest.approx(times, rel=0.12)


def test_newer_flash_writes_small_blocks_as_they_are(new_lab: Callable[..., Lab]) -> None:
    """On a model whose flash rewrites no pages redo of 512 bytes is no slower there."""
    lab = new_lab(release="19.3", model="x6")
    before = elapsed(lab, 10)
    on_flash(lab, 512)
    assert elapsed(lab, 10) / before == pytest.approx(1.0, rel=0.12)
