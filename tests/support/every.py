"""A table of cases as one test that tells every case that does not hold: thousands of rows cost no set-up each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import update_wrapper
from inspect import signature
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def every(
    cases: Iterable[T] | Callable[[], Iterable[T]], *, name: Callable[[T], str] = ascii
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make a test of all cases out of a function that judges one; of several arguments a case is a tuple.

    It stands where ``pytest.mark.parametrize`` would, over functions that take no fixture.

    Args:
        cases: what is judged, one or more; a function that returns it is called when the test runs, not when it is collected.
        name: returns what a case is called where it does not hold.
    """

    def made(judge: Callable[..., None]) -> Callable[[], None]:
        several = len(signature(judge).parameters) > 1

        def test() -> None:
            found = list(cases() if callable(cases) else cases)
            assert found, "there is no case"
            wrong = [
                f"{name(case)}: {fault}" for case in found if (fault := _fault(judge, *(case if several else (case,))))
            ]
            assert not wrong, f"{len(wrong)} of {len(found)}:\n" + "\n".join(wrong)

        update_wrapper(test, judge)
        del test.__wrapped__  # type: ignore[attr-defined]  # Or pytest would look for a fixture of the case's name.
        return test

    return made


def _fault(judge: Callable[..., None], *case: Any) -> str:
    """Return what a case fails with; nothing where it holds. One that is left out fails: all after it would be, too."""
    try:
        judge(*case)
    except pytest.skip.Exception as left:
        return f"it was left out: {left}"
    except (Exception, pytest.fail.Exception) as error:
        return f"{type(error).__name__}: {error}"
    return ""
