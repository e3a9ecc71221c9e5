"""In each process that tests start, how old a look is, is told by the work that was done since, not by the host's clock.

exacell sends what can lose data only upon a look that is no older than 0.1 s, and gives up where it has no such look: on a
host that does eight other things as well it rightly does. What a test says of a change must not hang on that. The measure
stays and is kept; the seconds are those that the asking thread worked. Tests that stop processes leave this out
(:func:`tests.support.surroundings.on_the_hosts_clock`), and exchange.py's own are given a clock.

Python imports a module of this name by itself from its path. Source: docs.python.org, library/site.
"""

from __future__ import annotations

import sys
import time
from typing import Any

EXCHANGE = "exacell.transport.exchange"


class Upon:
    """Gives what measures a look its clock as soon as it is imported, and is gone then."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Return where the module lies, which the others know."""
        if name != EXCHANGE:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = next(found for finder in sys.meta_path if (found := finder.find_spec(name, path, target)))
        execute = spec.loader.exec_module  # type: ignore[union-attr]

        def exec_module(module: Any) -> None:
            execute(module)
            give(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign, union-attr]
        return spec


def give(module: Any, clock: Any = time.thread_time) -> Any:
    """Give exchanges that are told no clock another one, and return the one that they had."""
    defaults = module.Exchange.__init__.__kwdefaults__
    before = defaults["clock"]
    defaults["clock"] = clock
    return before


def install() -> None:
    """Do so now, or when the module is imported."""
    if EXCHANGE in sys.modules:
        give(sys.modules[EXCHANGE])
    else:
        sys.meta_path.insert(0, Upon())  # type: ignore[arg-type]


if __name__ == "sitecustomize":
    install()
