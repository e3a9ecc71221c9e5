"""The sorts of data that can be compared and reported, and how to find the sort of a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.commands.subjects.experiments import EXPERIMENTS
from exacell.commands.subjects.imported import IMPORTS
from exacell.commands.subjects.snapshots import INTERVALS, SNAPSHOTS
from exacell.commands.subjects.sort import Asked, Sort
from exacell.commands.subjects.traced import TRACES
from exacell.core.errors import RefusedError
from exacell.measure.finding import Finding

SORTS: tuple[Sort, ...] = (TRACES, IMPORTS, SNAPSHOTS, INTERVALS, EXPERIMENTS)


def newest(asked: Asked) -> str:
    """Return the name of the item that is reported by default: the newest experiment.

    Raises:
        RefusedError: there is no experiment.
    """
    found = next((name for sort in SORTS if sort.newest is not None and (name := sort.newest(asked))), "")
    if not found:
        raise RefusedError(
            "this rack has no experiment to report",
            hint="name an import, a file, two snapshots or two sets of trace files; `imports` and `snaps` list them",
        )
    return found


def finding_of(asked: Asked, names: tuple[str, ...]) -> Finding:
    """Return the finding about one item, or about the comparison of several.

    Args:
        names: one name, or several of the same sort; a name with * is a pattern for stored names.

    Raises:
        RefusedError: a name is unknown or belongs to several sorts, or the names are of different sorts.
    """
    names = _all_meant(asked, names)
    known = [sort for sort in SORTS if all(sort.has(asked, name) for name in names)]
    if len(names) == 1 and known and all(sort.alone is None for sort in known):
        raise RefusedError(
            f"{names[0]} is one of the {known[0].title}; a report needs two of them", hint="name two of them"
        )
    if len(names) > 1 and known and all(sort.pair is None for sort in known):
        raise RefusedError(
            f"{_listed(names)} are {known[0].title}; a report has only one of them",
            hint=f"{_listed([f'report {name}' for name in names])} show each of them",
        )
    if len(names) > 2 and known and all(sort.several is None for sort in known):
        raise RefusedError(
            f"only two of the {known[0].title} can be compared at once, not {len(names)}",
            hint=f"{_listed([f'compare {names[0]} {name}' for name in names[1:]])} compare each pair",
        )
    fitting = [sort for sort in known if _way(sort, len(names)) is not None]
    if len(fitting) > 1:
        raise RefusedError(
            f"{_listed(names)} can be {' or '.join(sort.title for sort in fitting)}",
            hint="give one of them another name: `import as=NAME`, `snap as=NAME`; r1:NAME is what run r1 of a recipe kept",
        )
    if not fitting:
        raise RefusedError(_unknown(asked, names), hint="`imports`, `snaps` and `results --all` list the names")
    (sort,) = fitting
    if len(names) > 2 and sort.several is not None:
        return sort.several(asked, names)
    if len(names) == 2 and sort.pair is not None:
        return sort.pair(asked, names[0], names[1])
    assert sort.alone is not None
    return sort.alone(asked, names[0])


def _all_meant(asked: Asked, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in their order, each pattern replaced by the names that it matches; no name comes twice."""
    found: list[str] = []
    for name in names:
        meant = _meant(asked, name)
        found += [one for one in meant if one not in found] if "*" in name else meant
    return tuple(found)


def _meant(asked: Asked, name: str) -> Sequence[str]:
    """Return the names that match a pattern; the text itself if it is not a pattern, or matches no stored name."""
    found = [one for sort in SORTS if sort.fitting is not None and "*" in name for one in sort.fitting(asked, name)]
    return found or [name]


def _way(sort: Sort, things: int) -> Callable[..., Finding] | None:
    """Return the function of a sort for that number of items; None if it has no such function."""
    return sort.alone if things == 1 else sort.pair if things == 2 else sort.several


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def _unknown(asked: Asked, names: tuple[str, ...]) -> str:
    titles = {name: [sort.title for sort in SORTS if sort.has(asked, name)] for name in names}
    for name, found in titles.items():
        if not found:
            return (
                f"{name} is not the name of an import, a file, a run's result, a snapshot, an experiment "
                "or a set of trace files"
            )
    said = ", ".join(f"{name} is one of the {' or '.join(found)}" for name, found in titles.items())
    return f"only things of one kind can be compared: {said}"
