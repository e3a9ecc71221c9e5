"""On each release, and on cells that refuse nothing: what may lose data is refused, what is proven goes, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_rack import CELLS, MatrixRack, Said
from matrix_run import prepared, state_of
from matrix_verbs import OLD, PMEM, XRMEM

Options = tuple[tuple[str, str], ...]

RACKS: dict[str, Options] = {
    "11.2.3.2.1": OLD,
    "11.2.3.3.1": (("release", "11.2.3.3.1"),),
    "12.1.2": (("release", "12.1.2"),),
    "19.3": (),
    "22.1, PMEM": PMEM,
    "24.1, XRMEM": XRMEM,
    "26.1, X10M": (("model", "x10m"), ("release", "26.1")),
}
EVERYWHERE = (
    "drop flashcache -y",
    "alter flashcache all size=100g -y",
    "alter cell flashCacheMode=writethrough -y",
    "drop flashlog force -y",
    "drop celldisk all flashdisk -y",
    "drop celldisk all flashdisk force -y",
    "export celldisk all -y",
    "drop griddisk all prefix=DATA -y",
    "drop griddisk all prefix=DATA force -y",
    "alter griddisk all inactive -y",
    "alter cell eighthRack=true -y",
    "drop cell force -y",
    "release griddisk prefix=DATA -y",
)
MORE: dict[str, tuple[str, ...]] = {
    "11.2.3.3.1": ("alter cell flashCacheCompress=true -y",),
    "22.1, PMEM": (
        "drop pmemcache -y",
        "drop xrmemcache -y",
        "alter pmemcache all size=1g -y",
        "alter cell pmemCacheMode=writethrough -y",
        "alter cell pmemCacheMode=writethrough, flashCacheMode=writethrough -y",
        "drop pmemlog -y",
    ),
    "24.1, XRMEM": ("drop xrmemlog -y",),
}
"""What only one release has, or has in another way."""
GO: dict[str, tuple[str, ...]] = {
    "11.2.3.3.1": ("resize flashcache size=288g -y", "set flashcache mode=writethrough -y"),
    "12.1.2": ("flush flashcache -y", "drop flashlog -y", "create flashlog all -y"),
    "24.1, XRMEM": ("drop pmemcache -y", "create xrmemcache all -y", "flush xrmemcache -y"),
}
"""What is safe there, or is made so by exacell's own verbs."""


@pytest.mark.parametrize("name", RACKS)
def test_what_may_lose_data_is_refused(name: str, tmp_path: Path) -> None:
    """Without proof or acceptance none of these statements reaches a cell of this release, -y or not."""
    rack = MatrixRack(tmp_path / "rack", prepared((), RACKS[name]))
    before, operator = state_of(rack), rack.operator()
    said = [operator.do(statement) for statement in (*EVERYWHERE, *MORE.get(name, ()))]
    assert _wrong(said, 2) == [] and rack.sent == [] and state_of(rack) == before
    assert all("nothing was sent" in one.text for one in said)


@pytest.mark.parametrize("name", GO)
def test_what_is_safe_goes(name: str, tmp_path: Path) -> None:
    """What is provably safe on this release is not refused, and drops nothing that is dirty."""
    rack = MatrixRack(tmp_path / "rack", prepared((), RACKS[name]))
    operator = rack.operator()
    assert _wrong([operator.do(statement) for statement in GO[name]], 0) == []
    assert {host for host, _ in rack.sent} == set(CELLS) and rack.lost_dirty == 0
    assert operator.services.journal.verify() == ""


def _wrong(said: list[Said], code: int) -> list[str]:
    """Return those that ended with another exit code."""
    return [str(one) for one in said if one.code != code]
