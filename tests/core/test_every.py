"""One test of many cases fails as each of them would, and tells which."""

from __future__ import annotations

import pytest

from tests.support.every import every


def test_each_case_that_does_not_hold_is_told() -> None:
    """Whatever a case fails with, the cases behind it are judged as well, and all that fail are named."""

    @every([1, 2, 3, 4, 5])
    def judged(case: int) -> None:
        if case == 2:
            raise KeyError("gone")
        if case == 4:
            with pytest.raises(ValueError):
                int("4")
        assert case != 5

    with pytest.raises(AssertionError) as caught:
        judged()
    told = str(caught.value).splitlines()
    assert told[0] == "3 of 5:"
    assert [line[:2] for line in told[1:] if line[1:2] == ":"] == ["2:", "4:", "5:"]


def test_cases_that_all_hold_pass_and_none_do_not() -> None:
    """It passes over good cases, which a function may find when the test runs; a table without a case is a fault."""
    every([1, 2])(lambda case: None)()
    every(lambda: [3])(lambda case: None)()
    with pytest.raises(AssertionError, match="no case"):
        every([])(lambda case: None)()


def test_a_case_of_several_arguments_is_a_tuple() -> None:
    """Each of its values is one argument."""
    seen = []

    @every([(1, "a"), (2, "b")])
    def judged(number: int, text: str) -> None:
        seen.append(text * number)

    judged()
    assert seen == ["a", "bb"]


def test_pytest_sees_a_test_without_arguments() -> None:
    """The docstring and the name stay, and no fixture is asked for."""

    def judged(case: int) -> None:
        """Hold."""

    made = every([1])(judged)
    assert (made.__name__, made.__doc__, hasattr(made, "__wrapped__")) == ("judged", "Hold.", False)


def test_a_case_that_is_left_out_leaves_out_no_other() -> None:
    """A case that asks to be skipped is told, and those after it are judged."""
    judged = []

    @every([1, 2, 3])
    def left_out(case: int) -> None:
        judged.append(case)
        if case == 2:
            pytest.skip("not here")

    with pytest.raises(AssertionError, match="1 of 3:\n2: it was left out: not here"):
        left_out()
    assert judged == [1, 2, 3]
