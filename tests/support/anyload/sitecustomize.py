"""In each process that tests start, how old a look is, is told by the work that was done since, not by the host's clock.

exacell sends what can lose data only upon a look that is no older than 0.1 s, and gives up where it has no such look: on a
host that does eight other things as well it rightly does. What a test says of a change must not hang on that. The measure
stays and is kept; the seconds are those that the asking thread worked. So it is with the 0.02 s for which it counts that
the rack is ours. Tests that stop processes leave this out
(:func:`tests.support.surroundings.on_the_hosts_clock`), and exchange.py's own are given a clock.

A program without a terminal also writes a line about any wait of ten seconds. On a busy host each statement may wait so
long, and a test that compares what was written must not see that: here it takes the seconds that WAIT_TOLD_AFTER says.

Python imports a module of this name by itself from its path. Source: docs.python.org, library/site.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

CLOCKS = {
    "exacell.transport.exchange": ("Exchange", time.thread_time),
    "exacell.change.lockwatch": ("Vigil", time.process_time),
}
"""Module -> its class that measures a moment, and the seconds that it is given: a vigil is asked by another thread."""

PACES = {"exacell.output.terminal": ("WAIT_TOLD_AFTER", 3600.0)}
"""Module -> its constant of how long something takes until it is told, and what it is unless the environment says it."""


class Upon:
    """Gives what measures a moment its clock as soon as it is imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Return where the module lies, which the others know."""
        if name not in CLOCKS.keys() | PACES.keys():
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        spec = next(found for finder in others if (found := finder.find_spec(name, path, target)))
        execute = spec.loader.exec_module  # type: ignore[union-attr]

        def exec_module(module: Any) -> None:
            execute(module)
            give(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign, union-attr]
        return spec


def give(module: Any) -> None:
    """Give those who are told no clock the one of tests, and to what is told late the pace of tests."""
    if module.__name__ in CLOCKS:
        name, clock = CLOCKS[module.__name__]
        getattr(module, name).__init__.__kwdefaults__["clock"] = clock
    else:
        name, pace = PACES[module.__name__]
        vars(module).setdefault(f"OWN_{name}", getattr(module, name))  # For the tests of the constant itself.
        setattr(module, name, float(os.environ.get(name, pace)))


def install() -> None:
    """Do so now, or when the module is imported."""
    for name in (CLOCKS.keys() | PACES.keys()) & sys.modules.keys():
        give(sys.modules[name])
    # A worker of pytest-xdist has imported this by itself, under its short name, and again from the tests' folder.
    if not any(type(finder).__name__ == Upon.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, Upon())  # type: ignore[arg-type]


if __name__ == "sitecustomize":
    install()
