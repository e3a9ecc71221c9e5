"""Garbage collection is off only for a while, and excludes loaded objects only where the process wants that."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from exacell.core.collecting import without_collecting

LOADED = (
    "import gc\n{before}\nfrom exacell.core.collecting import loading\nwith loading():\n    kept = [[] for _ in range(9)]\n"
    "    assert not gc.isenabled()\nprint(gc.isenabled(), any(kept is one for one in gc.get_objects()))"
)


def test_whoever_collects_nothing_goes_on_so() -> None:
    """Where collecting was off before it stays off, and an error switches it on again where it was on."""
    with pytest.raises(ZeroDivisionError), without_collecting():
        _ = 1 // 0
    assert gc.isenabled()
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("before", "collected"),
    [("", True), ("from exacell.core.collecting import exclude_loaded\nexclude_loaded()", False)],
)
def test_loaded_objects_are_excluded_only_where_others_were(before: str, collected: bool) -> None:
    """A process that uses exacell as a library has each of its objects collected; exacell's own excludes what it loaded."""
    code = LOADED.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == f"True {collected}\n", done.stderr
