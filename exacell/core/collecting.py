"""Leave garbage collection off where it would find nothing. Pure."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class _Process:
    """This process.

    Attributes:
        excludes: whether it excludes what it loads from garbage collection. To ask gc takes 5 ms: it counts all objects.
    """

    excludes = False


def exclude_loaded() -> None:
    """Exclude all present objects from garbage collection and switch it on; only for a process that runs nothing but exacell."""
    _Process.excludes = True
    gc.freeze()
    gc.enable()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Switch garbage collection off for a while, if it is on."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def loading() -> Iterator[None]:
    """Switch garbage collection off while modules are loaded; it took 5 ms of the import of fabric.

    Loaded objects are excluded from later collections only in a process that has excluded those it loaded before: others, which
    use exacell as a library, decide that themselves.
    """
    with without_collecting():
        yield
        if _Process.excludes:
            gc.freeze()
