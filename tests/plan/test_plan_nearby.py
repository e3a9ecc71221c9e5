"""What is not there and nearly is: a slip is asked about, a sibling that is gone is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cell, rack, with_flash_grids
from plan_guarding import guard

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.core.meant import near, refuse_slip
from exacell.plan.guards.choice import guard_plan
from tests.support.every import every

SLIPS = {
    "DATA_SSDD": ("DATA_SSD",),
    "DATASSD": ("DATA_SSD",),
    "data_sdd": ("DATA_SSD",),
    "REC": ("RECO",),
    "DATA_SSD": (),
    "data_ssd": (),
    "FRA": (),
    "DATA_SSD2": (),
    "FLASH_B": (),
    "FLASH_AC": (),
    "FLASH_AC_X": (),
    "FLASH_SCRATCG": ("FLASH_SCRATCH",),
    "DATA": (),
    "CD_77_exa1cel01": (),
    "FD_00_exa1cel002": ("FD_00_exa1cel02", "FD_07_exa1cel03"),
    "FD_007_exa1cel03": ("FD_07_exa1cel03", "FD_00_exa1cel02"),
    "FD_00_exa1cell2": ("FD_00_exa1cel02", "FD_07_exa1cel03"),
}
THERE = (
    "DATA_SSD",
    "RECO",
    "FLASH_A",
    "FLASH_AB",
    "DATA1",
    "FLASH_SCRATCH",
    "ZZ_AB_Y",
    "FD_07_exa1cel03",
    "FD_00_exa1cel02",
)


@every(SLIPS.items())
def test_a_slip_is_told_from_a_sibling(name: str, found: tuple[str, ...]) -> None:
    """What is one or two letters away is a slip, whatever its case; what differs in a number or a letter of its own is none."""
    assert near(name, THERE) == found


def test_the_likeliest_comes_first_and_three_are_enough() -> None:
    """Several names that may be meant are told, the likeliest first."""
    assert near("DATA_FLASG", ["DATA_FLAT", "DATA_FLASH", "DATA_FLAGS", "DATA_FLASC", "X"])[0] in (
        "DATA_FLASH",
        "DATA_FLASC",
    )
    assert len(near("DATA_FLASG", ["DATA_FLAT", "DATA_FLASH", "DATA_FLAGS", "DATA_FLASC", "X"])) == 3
    with pytest.raises(RefusedError) as caught:
        refuse_slip("drop x", "thing", ["RECO", "DATA_SSDD"], THERE)
    assert caught.value.message == "drop x: there is no thing DATA_SSDD; nothing was sent"
    assert caught.value.hint == "did you mean DATA_SSD?"
    refuse_slip("drop x", "thing", ["RECO", "NIX"], THERE)


STATEMENTS = [
    ("drop griddisk ssd_FD_00_exa1cell01", "grid disk ssd_FD_00_exa1cell01", "ssd_FD_00_exa1cel01"),
    ("drop griddisk ssd_FD_00_exa1cel01,sd_FD_00_exa1cel01", "grid disk sd_FD_00_exa1cel01", "ssd_FD_00_exa1cel01"),
    ("alter griddisk sssd_FD_00_exa1cel02 comment=x", "grid disk sssd_FD", "ssd_FD_00_exa1cel02"),
    ("drop griddisk all prefix=scrach", "grid disk with the prefix scrach", "scratch"),
    ("drop griddisk all flashdisk prefix='ssd,scrach'", "grid disk with the prefix scrach", "scratch"),
    ("drop celldisk FDD_00_exa1cel01", "cell disk FDD_00_exa1cel01", "FD_00_exa1cel01"),
    ("alter celldisk CD00_exa1cel01 comment=x", "cell disk CD00_exa1cel01", "CD_00_exa1cel01"),
]
FACTS = [with_flash_grids(with_flash_grids(fact), "scratch") for fact in rack().values()]


@pytest.mark.parametrize(("text", "said", "meant"), STATEMENTS)
def test_a_slip_in_a_statement_is_asked_about(text: str, said: str, meant: str) -> None:
    """A disk, or a prefix, that no cell has and one nearly has is asked about before anything else."""
    with pytest.raises(RefusedError) as caught:
        guard(text, *FACTS, accepted=CELLS)
    assert said in caught.value.message and caught.value.hint.startswith(f"did you mean {meant}")


@pytest.mark.parametrize(
    "text",
    [
        "drop griddisk all prefix=ssd",
        "drop griddisk all prefix=SSD",
        "drop griddisk nix",
        "create griddisk sssd_FD_00_exa1cel01 celldisk=FD_00_exa1cel01",
        "drop griddisk ssd_FD_07_exa1cel01",
        "drop griddisk all prefix=scratch_FD",
        "alter physicaldisk FDD_00_exa1cel01 serviceled on",
    ],
)
def test_what_is_there_or_far_from_it_is_not_asked_about(text: str) -> None:
    """A prefix as CellCLI takes it, what is made only now, and what is nowhere near are left to the other guards."""
    assert guard(text, *FACTS)


def test_names_that_nobody_typed_are_no_slips() -> None:
    """What an earlier change named, or a text makes before, is never asked about."""
    text = "drop griddisk sssd_FD_00_exa1cel01"
    statement = parse(text)
    assert isinstance(statement, Change)
    facts = {fact.cell: fact for fact in FACTS}
    plan = guard_plan("t1", facts, statement, text=text, accepted=(), headers=None, exact=True)
    assert not plan.stages and set(plan.done) == set(CELLS)
    assert guard(text, replace(cell(), read_now=False)).done
