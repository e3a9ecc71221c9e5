"""The order in which pytest-xdist's workers take the tests: what takes long is begun first, so that all end together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

LONG: Mapping[str, float] = {
    "/daily/test_e2e_main_job": 3,
    "/daily/test_e2e_prompt": 5,
    "/daily/test_e2e_read_only": 4,
    "/daily/test_e2e_settings": 0.5,
    "/daily/": 1.5,
    "/e2e/care/": 1,
    "/e2e/dcli/": 0.4,
    "/e2e/emulator_": 0.7,
    "/e2e/live/": 4,
    "/e2e/opaque/": 0.8,
    "/e2e/programs/": 1,
    "/e2e/prompt/": 1.2,
    "/e2e/rehearsal/": 1.5,
    "/e2e/cli/": 2,
    "/e2e/test_completions_shells": 1.3,
    "/e2e/test_docs_installed": 20,
    "/e2e/test_docs_pictures": 8,
    "/e2e/test_e2e_corpus": 40,
    "/e2e/test_e2e_experiment": 8,
    "/e2e/test_e2e_recipes_on_racks": 15,
    "/e2e/test_e2e_streams": 1,
    "/e2e/test_output_": 1,
    "/e2e/test_recipes_": 1,
    "/e2e/": 3,
    "/faults/test_fault_endings": 6,
    "/faults/test_fault_matrix": 10,
    "/faults/test_fault_processes": 37,
    "/mission/": 0.4,
    "/referees/": 3.5,
}
"""Part of a module's path -> seconds that a test of it takes, roughly: those that drive running racks or many changes."""

TOGETHER = (
    "/layers/",
    "/docs/test_docs_architecture",
    "/output/test_output_theme",
    "/transport/test_transport_contract",
)
"""Parts of paths of modules that judge the package's whole text, which each process parses for itself: one worker has them."""

T = TypeVar("T")


def spread(items: Sequence[T], workers: int, *, module: Callable[[T], str]) -> list[T]:
    """Return the items so that each worker's part begins with its share of the long ones; the order is kept otherwise.

    ``--dist worksteal`` gives each worker so many items in a row, and who has ended takes from the end of another's part.
    Modules stay together, so that what a module sets up is set up once, except for those that the end of a part cuts; the
    modules of TOGETHER stand one after the other.

    Args:
        workers: how many take parts, one or more.
        module: returns the path of the module that an item is from.
    """
    long: list[tuple[float, list[T]]] = []
    short: list[T] = []
    together: list[T] = []
    for path, group in groupby(items, key=module):
        tests = list(group)
        each = next((seconds for part, seconds in LONG.items() if part in path), 0.0)
        if each:
            long.append((each * len(tests), tests))
        else:
            (together if any(part in path for part in TOGETHER) else short).extend(tests)
    short = [*together, *short]
    begins: list[tuple[float, list[T]]] = [(0.0, [])] * workers
    for seconds, tests in sorted(long, key=lambda found: found[0], reverse=True):
        begins.sort(key=lambda found: found[0])
        begins[0] = (begins[0][0] + seconds, [*begins[0][1], *tests])
    ordered: list[T] = []
    for number, (_, begin) in enumerate(begins):
        size = (len(items) - len(ordered)) // (workers - number)
        rest = max(0, size - len(begin))
        ordered += [*begin, *short[:rest]]
        del short[:rest]
    return ordered
