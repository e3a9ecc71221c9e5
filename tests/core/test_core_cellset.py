"""Cell sets: what is printed about cells is accepted as input."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given, strategies as st

from exacell.core.cellset import MOST, CellSet, fold, known_as, natural_key
from exacell.core.errors import CellSetError

NAMES = st.builds(
    lambda stem, number, width, tail: f"{stem}{number:0{width}d}{tail}",
    st.sampled_from(["exa1cel", "dm-01cel", "a", "x9.y"]),
    st.integers(min_value=0, max_value=120),
    st.integers(min_value=1, max_value=3),
    st.sampled_from(["", "", "-adm", ".example.com"]),
)
SETS = st.sets(NAMES, min_size=1, max_size=12).map(CellSet)


@given(SETS)
def test_fold_round_trips(cells: CellSet) -> None:
    """A folded set reads back as the same set."""
    assert CellSet.parse(cells.fold()) == cells


@given(st.lists(st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,3}){2,4}", fullmatch=True), min_size=1, max_size=3))
def test_addresses_are_names_as_cluster_shell_reads_them(addresses: list[str]) -> None:
    """An address is one name, read without ClusterShell as with it, wherever it stands in a set."""
    expected: set[str] = set()
    for address in addresses:
        expected |= set(NodeSet(address, resolver=RESOLVER_NOGROUP))
    assert set(CellSet.parse(", ".join(addresses))) == expected


@given(SETS, SETS)
def test_operators_are_the_algebra(left: CellSet, right: CellSet) -> None:
    """The written operators mean what the set operations do, and do not change their operands."""
    before = left.fold()

    def parse(text: str) -> CellSet:
        return CellSet.parse(text, groups=lambda name: {"left": left, "right": right}[name])

    assert parse("@left,@right") == left | right
    assert parse("@left & @right") == left & right
    assert parse("@left^@right") == left ^ right
    assert parse("@left!@right") == left - right == parse("@left not @right")
    assert left.fold() == before


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("exa1cel[01-03]", ["exa1cel01", "exa1cel02", "exa1cel03"]),
        ("exa1cel[01-03]!exa1cel02", ["exa1cel01", "exa1cel03"]),
        ("exa1cel[01-03] NOT exa1cel[02-03]", ["exa1cel01"]),
        ("a,b!a,a", ["a", "b"]),
        ("c[1,3]", ["c1", "c3"]),
        ("@half,a", ["a", "h1", "h2"]),
        ("@half not h1", ["h2"]),
        ("10.0.0.1", ["10.0.0.1"]),
    ],
)
def test_parse(text: str, names: list[str]) -> None:
    """Operators work from left to right, commas in brackets belong to the range, @groups are resolved."""

    def groups(name: str) -> Iterable[str]:
        assert name == "half"
        return ("h1", "h2")

    assert list(CellSet.parse(text, groups=groups)) == names


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ""),
        ("  ", ""),
        ("a,,b", "a,,b"),
        ("a!", "a!"),
        ("a b", "a b"),
        ("exa1cel[01-", "exa1cel[01-"),
        ("a,c[3-1]", "c[3-1]"),
        ("a;b", "a;b"),
        ("$(ls)", "$(ls)"),
        ("@nosuch", "@nosuch"),
    ],
)
def test_parse_refuses_and_names_the_piece(text: str, part: str) -> None:
    """What is no set of cells is refused, and the error keeps the faulty piece."""
    with pytest.raises(CellSetError) as caught:
        CellSet.parse(text)
    assert caught.value.part == part


def test_natural_order() -> None:
    """Cells are iterated in natural order."""
    assert list(CellSet(["cel10", "cel2", "cel1"])) == ["cel1", "cel2", "cel10"]
    assert natural_key("cel2") < natural_key("cel10")


def test_empty_and_single_sets_fold() -> None:
    """No cell folds to nothing and one cell to its name."""
    assert fold([]) == ""
    assert fold(["cel01"]) == "cel01"
    assert str(CellSet(["cel01", "cel02"])) == "cel[01-02]"


def test_membership_and_equality() -> None:
    """A set holds its names, equals one of the same names, and hashes alike."""
    cells = CellSet(["a1", "a2"])
    assert "a1" in cells
    assert "a3" not in cells
    assert cells == CellSet(["a2", "a1"])
    assert hash(cells) == hash(CellSet(["a2", "a1"]))
    assert len(cells) == 2


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("exa1cel01", ["exa1cel01.example.com", "exa1cel02.example.com"], "exa1cel01.example.com"),
        ("exa1cel01.example.com", ["exa1cel01", "exa1cel02"], "exa1cel01"),
        ("EXA1CEL01", ["exa1cel01"], "exa1cel01"),
        ("exa1cel01.a.com", ["exa1cel01.b.com"], "exa1cel01.a.com"),
        ("exa1cel01", ["exa1cel01.a.com", "exa1cel01.b.com"], "exa1cel01"),
        ("192.168.10.3", ["192.168.10.4", "192"], "192.168.10.3"),
        ("exa1cel010", ["exa1cel01"], "exa1cel010"),
        ("exa1cel01.example.com", ["exa1cel01", "exa1cel01.example.com"], "exa1cel01.example.com"),
    ],
)
def test_short_and_full_name_are_one_cell(name: str, known: list[str], found: str) -> None:
    """A cell is known by its name with or without its domain; two domains are two cells, and an address is itself alone."""
    assert known_as(name, known) == found


@pytest.mark.parametrize(
    "text", ["c[0-999999999]", "a[0-999]b[0-999]", "a[1-9000],b[1-9000]", "a[0-99999/2]", "x[1-20000]y"]
)
def test_a_set_of_too_many_names_is_refused_at_once(text: str) -> None:
    """A set that stands for more than 10,000 names is refused before the names are made, with the way out."""
    with pytest.raises(CellSetError, match=f"means more than {MOST:,} names") as caught:
        CellSet.parse(text)
    assert caught.value.hint == "give fewer, such as exa1cel[01-14]"


@pytest.mark.parametrize("text", [f"c[1-{'9' * 5000}]", "[----]", "c[1-[2]"])
def test_a_range_that_cannot_be_read_is_refused(text: str) -> None:
    """A range with a number of thousands of digits, or with more than two ends, is an error about cells and no other."""
    with pytest.raises(CellSetError):
        CellSet.parse(text)


def test_names_with_endless_numbers_are_sorted() -> None:
    """Names with thousands of digits, or with digits that are no decimal number, have an order."""
    assert sorted(["a2", "a" + "1" * 5000, "a1", "a²"], key=natural_key)[:2] == ["a1", "a2"]


def test_names_that_differ_in_many_numbers_fold_at_once() -> None:
    """Thousands of names that differ in more than three numbers are folded in their last one, and read back as the same set."""
    cells = CellSet.parse("a[0-2].b[0-2].c[0-2].d[0-2].e[0-2].f[0-2].g[0-2]")
    assert len(cells) == 3**7
    folded = cells.fold()
    assert "a0.b0.c0.d0.e0.f0.g[0-2]" in folded
    assert CellSet.parse(folded) == cells
