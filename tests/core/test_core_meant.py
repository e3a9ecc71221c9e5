"""What was probably meant: words that are alike, whoever asks."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given, strategies as st

from exacell.core.meant import absent, closest, near, no_such, unknown


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("SPTO", ["ERP", "SPOT"], ("SPOT",)),
        ("exa1cel0l", ["exa1cel01", "exa1cel02"], ("exa1cel01",)),
        ("scratch_FD_0l", ["scratch_FD_02", "scratch_FD_01"], ("scratch_FD_01",)),
        ("cel", ["celldisk", "cell", "lun"], ("cell", "celldisk")),
        ("timout", ["timeout", "connect_timeout"], ("timeout",)),
        ("xyz", ["timeout"], ()),
        ("", ["timeout"], ()),
    ],
)
def test_the_nearest_words_come_first(word: str, known: list[str], found: tuple[str, ...]) -> None:
    """Swapped letters, letters that look like figures and a word cut short are found; what is far is not."""
    assert closest(word, known) == found


_WORD = st.text(alphabet="abcel01lio_É", max_size=12)


@given(word=_WORD, known=st.lists(_WORD, max_size=6, unique_by=str.lower), alike=st.sampled_from((0.3, 0.6, 0.8)))
def test_no_similar_word_is_passed_over(word: str, known: list[str], alike: float) -> None:
    """Each word that difflib finds similar enough is found, unless one is almost or exactly the word."""
    found = closest(word, known, limit=len(known), alike=alike)
    ratios = {other: SequenceMatcher(None, word.lower(), other.lower()).ratio() for other in known}
    similar = {other for other, ratio in ratios.items() if word and ratio >= alike}
    assert set(found) >= similar or any(ratios[other] >= 0.9 or _alike(word, other) for other in found)


def _alike(one: str, other: str) -> bool:
    return one.lower().translate(_FIGURES) == other.lower().translate(_FIGURES)


_FIGURES = str.maketrans("lio", "110")


def test_a_name_that_only_looks_like_another_is_a_slip_for_that_one_alone() -> None:
    """A letter read as a figure leaves one name, not its neighbours with other numbers."""
    assert near("CD_00_exa1cel0l", ["CD_00_exa1cel01", "CD_00_exa1cel02"]) == ("CD_00_exa1cel01",)
    assert near("SPTO", ["SPOT", "STOP2"]) == ("SPOT",)


def test_what_makes_a_sibling() -> None:
    """Numbers of one or two figures number siblings alike; a name that lacks a whole part of another is a slip for it."""
    assert near("DATA_SSD10", ["DATA_SSD9"]) == ()
    assert near("DATA_SSD010", ["DATA_SSD09"]) == ("DATA_SSD09",)
    assert near("FLASH_SCRATCH", ["FLASH_SCRATCH_A"]) == ("FLASH_SCRATCH_A",)


def test_where_something_is_near_the_list_of_all_is_left_out() -> None:
    """The names that there are stand in the message only where none is near; an empty list says so."""
    assert unknown("no plan x", "mondy", ["monday", "other"], hint="make one") == ("no plan x", "did you mean monday?")
    assert unknown("no plan x", "zzz", ["b", "a"], hint="make one") == ("no plan x; there are: a, b", "make one")
    assert unknown("no plan x", "zzz", [], hint="make one") == ("no plan x; there are: none", "make one")


@pytest.mark.parametrize(
    ("name", "known", "why"),
    [
        ("DATB", ["DATA", "RECO"], "it is not there; did you mean DATA?"),
        ("XYZ", ["DATA", "RECO"], "it is not there; there are: DATA, RECO"),
        ("XYZ", [], "it is not there"),
        ("data", ["DATA", "RECO"], "it is not there"),
        ("XYZ", [f"D{n}" for n in range(6)], "it is not there; there are: D0, D1, D2, D3, D4, D5"),
        ("XYZ", [f"D{n}" for n in range(7)], "it is not there"),
    ],
)
def test_what_is_absent_is_told_with_the_nearest(name: str, known: list[str], why: str) -> None:
    """What can't be dropped because it is not there is told with the nearest that is, else with all where they are few."""
    assert absent("it is not there", [name], known) == why


@pytest.mark.parametrize(
    ("names", "known", "hint"),
    [
        (["SPTO"], ["SPOT", "STOP2"], "did you mean SPOT?"),
        (["DATA_SSD10"], ["DATA_SSD9", "RECO"], "did you mean DATA_SSD9?"),
        (["zzz"], ["SPOT"], ""),
        (["SPTO", "zzz"], ["SPOT"], "did you mean SPOT?"),
    ],
)
def test_a_refusal_of_names_offers_slips_first_then_what_is_alike(
    names: list[str], known: list[str], hint: str
) -> None:
    """Names for which it may be a slip, else the nearest one."""
    error = no_such("alter griddisk x", "grid disk", "exa1cel01", names, known)
    assert error.hint == hint and "exa1cel01 has no such grid disk" in error.message


def test_letters_that_look_like_digits_are_those_digits() -> None:
    """A name that differs from a known one only in letters that look like digits means it, even where no letter is the same."""
    assert closest("lil", ["111"]) == ("111",)


def test_each_similar_name_is_offered_for_an_object_that_is_not_there() -> None:
    """A refusal of a name that does not exist offers every name for which it may be a slip."""
    refused = no_such("drop griddisk flashlogg", "grid disk", "c1", ["flashlogg"], ["flashlog", "flashlogs", "data"])
    assert refused.hint == "did you mean flashlog or flashlogs?"
