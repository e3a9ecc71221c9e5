"""The sorted files in which a completion call finds a rack's names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from exacell.language.registry import Kind
from exacell.language.suggestion import Fit
from exacell.session.completion.kept_names import KeptNames
from exacell.session.completion.names import NameCache

NAMES = ["DATA_CD_01_c1", "data_cd_00_c1", "DATA_CD_00_C2", "RECO_CD_00_c1", "İO_CD", "x"]
ABOUT = {"DATA_CD_01_c1": "the  first\none"}


@pytest.fixture
def cache(tmp_path: Path) -> KeptNames:
    """What was learned, with its sorted files already there."""
    NameCache(tmp_path / "t1.json").learn({Kind.GRIDDISK: NAMES, Kind.DB: ["SPOT"]}, whole=True)
    kept = KeptNames(tmp_path / "t1.json")
    kept.vocabulary(Kind.GRIDDISK)
    return kept


@pytest.mark.parametrize(
    "typed", ["", "d", "DATA_CD_0", "data_cd_00_c1", "x", "xx", "İ", "i", "zz", "_CD", "a\tb", "a\nb"]
)
@pytest.mark.parametrize("most", [1, 2, 300])
def test_a_sorted_file_finds_what_the_prompt_finds(typed: str, most: int, cache: KeptNames, tmp_path: Path) -> None:
    """Words that begin with what is typed are those that a search of everything finds, as many and in the same order."""
    wanted = NameCache(tmp_path / "t1.json").vocabulary(Kind.GRIDDISK).fitting(typed, most)
    found = KeptNames(tmp_path / "t1.json").vocabulary(Kind.GRIDDISK)
    assert [word.lower() for word, _ in found.fitting(typed, most)] == [
        word.lower() for word, fit in wanted if fit is Fit.PREFIX
    ]
    assert sorted(found) == sorted(NAMES) and len(found) == len(NAMES) and found[0] in NAMES
    assert found.meta("x") == "griddisk, seen just now"


def test_the_whole_of_what_was_learned_is_not_read(cache: KeptNames, tmp_path: Path) -> None:
    """Where a sorted file stands for what was learned last, the JSON file is not opened."""
    status = (tmp_path / "t1.json").stat()
    (tmp_path / "t1.json").write_text("-" * status.st_size)

    os.utime(tmp_path / "t1.json", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert KeptNames(tmp_path / "t1.json").vocabulary(Kind.GRIDDISK).fitting("re", 9) == [("RECO_CD_00_c1", Fit.PREFIX)]


def test_what_is_learned_later_is_found(cache: KeptNames, tmp_path: Path) -> None:
    """A sorted file of an older state does not count, nor does a damaged one; phrases are one line."""
    path = tmp_path / "t1.griddisk.txt"
    for damaged in (b"", b"\xff\xfe", b"1 2 3 x\nno", path.read_bytes()):
        path.write_bytes(damaged)
        NameCache(tmp_path / "t1.json").learn({Kind.GRIDDISK: [*NAMES, "NEW"]}, about={Kind.GRIDDISK: ABOUT})
        for _ in range(2):
            found = KeptNames(tmp_path / "t1.json").vocabulary(Kind.GRIDDISK)
            assert [word for word, _ in found.fitting("new", 9)] == ["NEW"]
    assert found.meta("DATA_CD_01_c1") == "the first one" and found.fitting("data_cd_01", 9)
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_where_nothing_was_learned(tmp_path: Path) -> None:
    """Completion leaves no file behind for a rack of which nothing is known, and a name that can't be shown is left out."""
    assert list(KeptNames(tmp_path / "t1.json").vocabulary(Kind.DB)) == [] and not list(tmp_path.iterdir())
    NameCache(tmp_path / "t1.json").learn({Kind.DB: ["A\x1b[2J", "B"]})
    for _ in range(2):
        found = list(KeptNames(tmp_path / "t1.json").vocabulary(Kind.DB))
    assert found == ["B"]
