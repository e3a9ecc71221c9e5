"""Decide which outputs are parts of one run and which are separate runs: hosts that measured together are one run. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from exacell.measure.importers.blocks import SETTINGS
from exacell.measure.importers.model import Point, Run, at_once, named, whole

_HOST = re.compile(r"@([A-Za-z][\w.-]*?)(?=/|(?:\.(?:json|txt|out|csv|html?|log|lst|gz))*$)")
"""Host in a name: ``fio_1280@ini1``, as ``keep`` of several hosts writes it, and ``before@ini1.json``."""


_FOLDER = re.compile(r"^([A-Za-z][\w.-]*)/(?=[^/:@]+$)")
"""Host as a folder: ``ini1/before.json``, as ``copy from`` of several hosts writes it."""

_LOADS = ("fio", "orion")
"""Programs that run on several hosts at once, so that files of one name in several folders are from several hosts."""


def host_of(run: Run) -> str:
    """Return the host of a run, from the file's name, its text or its folder; empty if not known."""
    match = _HOST.search(run.source)
    folder = _FOLDER.match(run.source) if run.kind in _LOADS else None
    return match[1] if match else run.host or (folder[1] if folder else "")


def alone(source: str) -> str:
    """Return a file's name without the host in it."""
    return _FOLDER.sub("", _HOST.sub("", source))


def in_one(runs: Sequence[Run]) -> Run:
    """Return the runs in one file as one, each point with the number of its run; runs of several hosts become parts of one."""
    runs = parted(runs)
    if len(runs) == 1:
        return runs[0]
    points = tuple(replace(point, run=place) for place, run in enumerate(runs, 1) for point in run.points)
    return replace(
        runs[0],
        points=points,
        told=joined([run.told for run in runs]),
        same=joined([run.same for run in runs]),
        distributions=tuple(one for run in runs for one in run.distributions),
        notes=(f"{len(runs)} runs are in one file", *(note for run in runs for note in run.notes)),
        warnings=tuple(text for run in runs for text in run.warnings),
    )


def parted(runs: Sequence[Run]) -> list[Run]:
    """Return the runs; those that are parts of one run (of several hosts, or of the same time) are joined.

    The first run of one host belongs to the first run of another, unless the names of the files pair them. A host in a name is
    accepted; a host that only the text contains is a part only if the times agree.
    """
    groups: dict[object, list[Run]] = {}
    hosts = [host_of(run) for run in runs]
    if all(hosts) and len(set(hosts)) > 1:
        by_name = [alone(run.source) if alone(run.source) != run.source else "" for run in runs]
        paired = any(by_name.count(name) > 1 for name in by_name if name)
        for place, run in enumerate(runs):
            own = by_name[place] if paired and by_name[place] else hosts[:place].count(hosts[place])
            groups.setdefault(own, []).append(run)
        if len(groups) > 1:
            groups = {key: _lacking(group, hosts) for key, group in groups.items()}
    else:
        for place, run in enumerate(runs):
            at = next((key for key, group in groups.items() if any(_at_once(run, one) for one in group)), place)
            groups.setdefault(at, []).append(run)
    return _twins([one for group in groups.values() for one in _merged(group)])


def _lacking(runs: Sequence[Run], hosts: Sequence[str]) -> list[Run]:
    """Return the parts of a run, with a warning if it does not have all hosts of the other runs."""
    missing = [host for host in dict.fromkeys(hosts) if host not in map(host_of, runs)]
    if not missing:
        return [*runs]
    said = f"{named([host_of(run) for run in runs])} ran without {named(missing)}: it is no repetition of the runs of all hosts"
    return [replace(runs[0], warnings=(*runs[0].warnings, said)), *runs[1:]]


def _twins(runs: Sequence[Run]) -> list[Run]:
    """Return the runs, with a note at those with the time of another run; it is not known whether they are of several hosts,
    or copies.
    """
    spans = [run.span for run in runs]
    said = "carries the time of another file: taken for a further run; named NAME@HOST.json it is a part of one"
    return [
        replace(run, notes=(*run.notes, said)) if run.span and run.span in spans[:place] else run
        for place, run in enumerate(runs)
    ]


def _together(a: Run, b: Run) -> bool:
    """Return whether two runs overlapped for more than half of the shorter one.

    Files with the same time to the millisecond are copies of one file, with changed figures: no two hosts end at the same moment.
    """
    if not a.span or not b.span or a.span == b.span:
        return False
    common = min(a.span[1], b.span[1]) - max(a.span[0], b.span[0])
    return common > 0.5 * min(a.span[1] - a.span[0], b.span[1] - b.span[0]) > 0


def _at_once(a: Run, b: Run) -> bool:
    """Return whether two runs without known hosts made one load together; reports of one instance never did."""
    return a.kind in _LOADS and _together(a, b)


def _merged(runs: Sequence[Run]) -> list[Run]:
    """Return the parts of one run as one; unchanged if they can't be joined."""
    if len(runs) == 1:
        return [*runs]
    names = [host_of(run) or run.source for run in runs]
    apart = any(a.span and b.span and a.span != b.span and not _together(a, b) for a, b in combinations(runs, 2))
    believed = all(_HOST.search(run.source) for run in runs)
    if all(map(host_of, runs)) and len(set(names)) < len(names):
        return [*runs]
    if apart and not believed and not all(run.host for run in runs):
        return [*runs]  # Folders of runs.
    if apart and not believed:
        # A run on another host at another time is neither a part nor a repetition.
        return [_on(run, name) for run, name in zip(runs, names, strict=True)]
    if runs[0].kind in SETTINGS and all(map(host_of, runs)):
        return _settings(runs, names)
    series = dict.fromkeys((point.series, point.run) for run in runs for point in run.points)
    points, uneven = [], []
    of_runs = [_by_series(run) for run in runs]
    for name, number in series:
        lists = [found[name, number] for found in of_runs if (name, number) in found]
        if len({len(one) for one in lists}) > 1:
            uneven.append(name)
            if runs[0].samples:
                lists = [[replace(one[0], figures=whole(one), seconds=None)] for one in lists]
        points += [_of_parts(parts) for parts in _lots(lists)]
    who = named(names) if len(set(names)) > 1 else f"{len(names)} outputs of the same time"
    said = f"{who} are parts of one run: their rates are added"
    notes = [f"not measured as often in all of its parts: {named(uneven)}"] if uneven else []
    late = [f"{named(names)} did not run at the same time, by the times in their files: a sum is none of one moment"]
    return [
        replace(
            runs[0],
            points=tuple(points),
            host=", ".join(names),
            source=runs[0].source if len({run.source for run in runs}) == 1 else f"{runs[0].source} and others",
            told=joined([run.told for run in runs]),
            same=joined([run.same for run in runs]),
            distributions=tuple(
                replace(one, name=f"{name} {one.name}")
                for name, run in zip(names, runs, strict=True)
                for one in run.distributions
            ),
            notes=(said, *notes, *dict.fromkeys(note for run in runs for note in run.notes)),
            warnings=(*(late if apart else ()), *(text for run in runs for text in run.warnings)),
        )
    ]


def _settings(runs: Sequence[Run], names: Sequence[str]) -> list[Run]:
    """Return limits and settings of hosts, which can't be added: once if they are the same, otherwise host by host."""
    if all((run.points, run.told, run.notes) == (runs[0].points, runs[0].told, runs[0].notes) for run in runs):
        return [replace(runs[0], host=", ".join(names), notes=(f"{named(names)} report the same", *runs[0].notes))]
    return [_on(run, name) for run, name in zip(runs, names, strict=True)]


def _by_series(run: Run) -> dict[tuple[str, int], list[Point]]:
    found: dict[tuple[str, int], list[Point]] = {}
    for point in run.points:
        found.setdefault((point.series, point.run), []).append(point)
    return found


def _on(run: Run, host: str) -> Run:
    return replace(run, points=tuple(replace(point, on=f"{host} {point.on}".strip()) for point in run.points))


def _lots(lists: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """Return the first points of all lists, then the second ones, and so on."""
    longest = max(map(len, lists))
    return [[one[place] for one in lists if place < len(one)] for place in range(longest)]


def _of_parts(points: Sequence[Point]) -> Point:
    """Return one point for parts that were measured at the same time; its load is the sum of their loads."""
    loads = [point.load for point in points]
    if len(points) == 1:
        return points[0]
    known = [load for load in loads if load is not None]
    return replace(
        points[0],
        figures=at_once(points),
        load=sum(known) if len(known) == len(loads) else None,
        spread={},
        on=", ".join(dict.fromkeys(point.on for point in points if point.on)),
        seconds=max(point.seconds or 0.0 for point in points) or None,
        weights={
            name: sum(point.weights.get(name, 0.0) for point in points) for point in points for name in point.weights
        },
    )


def joined(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return name → all of its values, each once."""
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            found.setdefault(name, {})[value] = None
    return {name: ", ".join(values) for name, values in found.items()}
