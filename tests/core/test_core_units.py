"""Sizes and durations: parsed exactly, printed exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import UnitError
from exacell.core.units import (
    ALLOCATION_UNIT,
    GIB,
    KIB,
    MIB,
    TIB,
    exact_size,
    format_duration,
    format_size,
    format_wait,
    human_size,
    parse_duration,
    parse_size,
    round_down,
    size_text,
    sizes_apart,
    whole_size,
)
from tests.support.every import every

SIZES = st.integers(min_value=0, max_value=1 << 60)


@given(SIZES)
def test_no_size_that_somebody_reads_has_more_than_four_decimals(size: int) -> None:
    """Neither a rounded one nor an exact one, which is the whole size and can be typed as it stands."""
    for shown in (size_text(size), exact_size(size)):
        assert len(shown.strip("BKMGT").partition(".")[2]) <= 4, shown
    assert parse_size(exact_size(size)) == size


@given(SIZES, st.sampled_from(["G", "T"]))
def test_format_size_round_trips(size: int, largest: str) -> None:
    """A printed size reads back as exactly the same number of bytes, whatever the largest suffix is."""
    assert parse_size(format_size(size, largest=largest)) == size


@given(SIZES)
def test_whole_size_round_trips_without_a_fraction(size: int) -> None:
    """A size in a statement is a whole number and reads back as the same bytes."""
    text = whole_size(size)
    assert "." not in text
    assert parse_size(text) == size


@every(
    [
        ("288g", 309237645312),
        ("364.75G", 391647330304),
        ("5.82122802734375T", 6400507904000),
        ("1.5K", 1536),
        (".5k", 512),
        ("0", 0),
        (" 16 MB ", 16 * MIB),
        ("4GiB", 4 * GIB),
        ("1024", 1024),
        ("100b", 100),
        ("0.36t", 395824185999),
        ("1.0001k", 1024),
    ]
)
def test_parse_size_accepts(text: str, size: int) -> None:
    """K, M, G and T are powers of 1024 in either case, a bare number is bytes, and a part of a byte is rounded down."""
    assert parse_size(text) == size


@every(["", "g", "-1g", "1e3", "12x", "1 2g", "0x10", "1.5", "1.5b", "1,5g", "٣g", "1gg"])
def test_parse_size_refuses(text: str) -> None:
    """What is no size, or a part of a byte, is refused and quoted back."""
    with pytest.raises(UnitError, match="is not a") as caught:
        parse_size(text)
    assert f"'{text}'" in caught.value.message


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0"), (1, "1"), (1023, "1023"), (KIB, "1K"), (391647330304, "364.75G"), (TIB, "1T"), (-GIB, "-1G")],
)
def test_format_size_is_cellclis(size: int, text: str) -> None:
    """A size is printed in the largest unit that leaves at least 1, without rounding."""
    assert format_size(size) == text


def test_largest_suffix_of_old_releases() -> None:
    """Up to 11.2 a terabyte is printed in G."""
    assert format_size(2 * TIB, largest="G") == "2048G"


@given(SIZES, st.integers(min_value=1, max_value=1 << 40))
def test_round_down_is_the_largest_multiple(size: int, unit: int) -> None:
    """Rounding down gives a multiple that is not above the size and less than one unit below it."""
    rounded = round_down(size, unit)
    assert rounded % unit == 0
    assert rounded <= size < rounded + unit


def test_round_down_takes_allocation_units() -> None:
    """Without a unit, sizes round down to 16M."""
    assert round_down(ALLOCATION_UNIT * 3 - 1) == ALLOCATION_UNIT * 2


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0"), (512, "512B"), (1536, "1.5K"), (-GIB, "-1G"), (391647330304, "364.8G"), (1500 * TIB, "1500T")],
)
def test_human_size(size: int, text: str) -> None:
    """A size for eyes has at most four digits and keeps its sign."""
    assert human_size(size) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5s", 1.5), ("30m", 1800), ("1h30m", 5400), ("250ms", 0.25), ("7d", 604800), ("2H", 7200)],
)
def test_parse_duration_accepts(text: str, seconds: float) -> None:
    """A duration is a number of seconds or parts with ms, s, m, h and d."""
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "1h 30m", "1h30", "m5", "-1s", "1w"])
def test_parse_duration_refuses(text: str) -> None:
    """What is no duration is refused and quoted back."""
    with pytest.raises(UnitError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0s"), (1.6, "2s"), (9.4, "9s"), (9.5, "10s"), (9.7, "10s"), (59.6, "1m00s"), (200, "3m20s")],
)
def test_format_wait(seconds: float, text: str) -> None:
    """How long something is waited for has no tenths, which would flicker."""
    assert format_wait(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.44, "0.4s"), (12, "12s"), (59.6, "1m00s"), (200, "3m20s"), (3599.7, "1h00m"), (7500, "2h05m")],
)
def test_format_duration(seconds: float, text: str) -> None:
    """A duration for eyes never shows sixty of anything."""
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("sizes", "texts"),
    [
        ((288 * GIB, 391647330304), ["288G", "364.75G"]),
        ((25604246634496, 288 * GIB), ["23.29T", "288G"]),
        ((25604246634496, 25604246634496), ["23.29T", "23.29T"]),
        ((25604246634496, 25604246634496 + MIB), ["25604246634496 bytes", "25604247683072 bytes"]),
    ],
)
def test_unlike_sizes_never_look_alike(sizes: tuple[int, ...], texts: list[str]) -> None:
    """Sizes side by side are short for eyes, and in bytes where rounding would make two unlike ones the same."""
    assert sizes_apart(*sizes) == texts
