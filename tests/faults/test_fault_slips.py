"""A name that is not there and nearly is: asked about, wherever it stands; an undo or a resume names what it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_rack import MatrixRack
from matrix_run import prepared
from matrix_verbs import GROUPED

from exacell.session.request import Request

SLIPS = [
    ("drop diskgroup DATAA", "disk group DATAA", "DATA"),
    ("drop diskgroup REC", "disk group REC", "RECO"),
    ("release griddisk prefix=recoo", "grid disk with the prefix recoo", "RECO"),
    ("drop threshold cd_io_erros", "threshold cd_io_erros", "CD_IO_ERRS"),
    ("drop griddisk all prefix=recco", "grid disk with the prefix recco", "RECO"),
]


@pytest.mark.parametrize(("statement", "said", "meant"), SLIPS)
def test_a_slip_is_asked_about(tmp_path: Path, statement: str, said: str, meant: str) -> None:
    """What is to go and is nowhere, while something of nearly that name is, is no 'nothing to do'."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.must("create threshold CD_IO_ERRS comparison='>', critical=5 -y")
    said_ = operator.do(f"{statement} -y")
    assert said_.code == 2 and f"there is no {said}" in said_.text
    assert f"did you mean {meant}?".lower() in said_.text.lower()


@pytest.mark.parametrize(
    "statement", ["drop diskgroup FRA", "drop diskgroup DATA2", "release griddisk prefix=zz", "drop threshold xy"]
)
def test_what_is_gone_needs_nothing(tmp_path: Path, statement: str) -> None:
    """What is nowhere, and nothing like it, needs nothing done."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.must("create threshold CD_IO_ERRS comparison='>', critical=5 -y")
    operator.must(f"{statement} -y")


@pytest.mark.parametrize("statement", [f"{text} -y" for text, _, _ in SLIPS])
def test_what_an_earlier_change_names_is_no_slip(tmp_path: Path, statement: str) -> None:
    """Undo and resume find what they name gone already, and nothing to do; a recipe's statement was typed by somebody."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.must("create threshold CD_IO_ERRS comparison='>', critical=5 -y")
    operator.request = Request(origin="teardown")
    assert operator.do(statement).code == 2
    for origin in ("resume 1", "undo 1"):
        operator.request = Request(origin=origin)
        operator.must(statement)
