"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import importlib
import pickle
import re

import pytest

from exacell.core.patterns import Late, pattern
from tests.support import sources


def _late() -> list[Late]:
    """Return every such pattern of the product's modules."""
    found = []
    for path in sources.trees():
        name = ".".join(path.relative_to(sources.ROOT.parent).with_suffix("").parts)
        if name.endswith("__main__") or ".emulator" in name:
            continue
        found += [value for value in vars(importlib.import_module(name)).values() if isinstance(value, Late)]
    return found


def test_every_pattern_is_one() -> None:
    """Each text that stands for a pattern compiles, with its flags."""
    found = _late()
    assert len(found) > 50
    for each in found:
        assert isinstance(each.match, type(re.compile("").match))


@pytest.mark.parametrize("text", ["a1", "b", "A12 a3", ""])
def test_it_does_what_a_compiled_one_does(text: str) -> None:
    """What is asked of it, is answered as by the compiled pattern."""
    late, compiled = pattern(r"a(\d+)", re.IGNORECASE), re.compile(r"a(\d+)", re.IGNORECASE)
    assert late.findall(text) == compiled.findall(text) and late.sub("x", text) == compiled.sub("x", text)
    assert (late.match(text) is None) == (compiled.match(text) is None)
    assert (late.pattern, late.flags, late.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert pickle.loads(pickle.dumps(pattern("b"))).search("ab") is not None
