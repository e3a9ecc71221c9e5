"""fio's JSON: ``--output-format=json`` and ``json+``, alone and as client of servers, also with unified_rw_reporting.

Source: reference measurement.md 9 (fio 3.33, measured) and fio's own runs in tests/data/imports.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from exacell.measure.histogram import Histogram
from exacell.measure.importers.model import Binned, Point, Run, UnreadableError

KIND = "fio"
_DIRECTIONS = ("read", "write", "trim", "mixed")
_ALL = "All clients"
_SAME = ("bs", "rw", "direct", "fdatasync", "fsync", "ioengine", "rwmixread", "size")
"""Options that make two runs unlike when they differ; the depth and the number of jobs are the load."""


def claims(text: str) -> bool:
    """Whether the text is fio's JSON."""
    return '"fio version"' in text[:5000]


def read(text: str, source: str) -> Run:
    """Return one point per group of jobs and direction.

    Jobs of a group run at the same time, also on several clients, so their rates are added; the sum that fio itself adds
    for all clients is left out.

    Raises:
        UnreadableError: the JSON is cut, or holds no job that did an I/O.
    """
    found = _decoded(text, source)
    clients = "client_stats" in found
    jobs = _jobs(found)
    general: Mapping[str, str] = found.get("global options", {})
    groups: dict[int, list[dict[str, Any]]] = {}
    for job in jobs:
        groups.setdefault(int(job.get("groupid", 0)), []).append(job)
    points, bins = [], []
    for group in groups.values():
        made, kept = _group(group, general)
        points += made
        bins += kept
    if not points:
        raise UnreadableError(f"{source}: no job in it did an I/O")
    wrong = sorted({f"{job['jobname']}: error {job['error']}" for job in jobs if job.get("error")})
    options = [{**general, **job.get("job options", {})} for job in jobs]
    form = ("json+" if bins else "json") + (", from clients" if clients else "")
    return Run(
        kind=KIND,
        form=form,
        source=source,
        load="I/Os outstanding",
        points=tuple(points),
        distributions=tuple(bins),
        same=_common(options, _SAME),
        told={"fio version": str(found["fio version"]), **_common(options, ("runtime", "filename", "numjobs"))},
        notes=tuple(wrong),
    )


def waited(text: str) -> tuple[int, float]:
    """Return how many I/Os fio made in all jobs, and the microseconds of all of them, with those of the syncs behind them.

    Raises:
        UnreadableError: the JSON is cut, or holds no job that did an I/O.
    """
    count, micros = 0, 0.0
    for job in _jobs(_decoded(text, "fio")):
        for name in (*_DIRECTIONS, "sync"):
            took = job.get(name, {}).get("lat_ns", {})
            count += int(took.get("N", 0)) if name != "sync" else 0
            micros += int(took.get("N", 0)) * float(took.get("mean", 0.0)) / 1000
    if not count:
        raise UnreadableError("fio: no job in its output did an I/O")
    return count, micros


def _decoded(text: str, source: str) -> dict[str, Any]:
    try:
        # A client writes a line in front, and warnings may stand there, too; servers' talk may follow.
        found: dict[str, Any]
        found, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except ValueError as error:
        raise UnreadableError(f"{source}: its JSON is cut or damaged ({error})") from error
    return found


def _jobs(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the jobs of all clients, without the sum that fio adds for them."""
    return [job for job in found.get("client_stats", found.get("jobs", ())) if job.get("jobname") != _ALL]


def _common(options: Iterable[Mapping[str, str]], names: Sequence[str]) -> dict[str, str]:
    """Return the options by name, of all jobs; those that no job gives are left out."""
    found: dict[str, dict[str, None]] = {}
    for given in options:
        for name in names:
            if name in given:
                found.setdefault(name, {})[given[name] or "yes"] = None
    return {name: ", ".join(values) for name, values in found.items()}


def _group(jobs: Sequence[Mapping[str, Any]], general: Mapping[str, str]) -> tuple[list[Point], list[Binned]]:
    load = 0.0
    alone = {name: sum(1 for job in jobs if _place(job) == name) for name in map(_place, jobs)}
    for job in jobs:
        options = {**general, **job.get("job options", {})}
        # With group_reporting one entry stands for all clones of a job, without it each has its own.
        clones = int(options.get("numjobs", "1")) if alone[_place(job)] == 1 else 1
        load += int(options.get("iodepth", "1")) * clones
    options = {**general, **jobs[0].get("job options", {})}
    name = " ".join(filter(None, (options.get("rw", "read"), options.get("bs", "4k"))))
    points, bins = [], []
    for direction in _DIRECTIONS:
        parts = [job[direction] for job in jobs if job.get(direction, {}).get("total_ios")]
        if parts:
            point, binned = _rates(f"{name} {direction}", load, parts)
            points.append(point)
            bins += binned
    # fdatasync's total_ios stays 0 in 3.33 though its latencies are counted.
    syncs = [job["sync"] for job in jobs if job.get("sync", {}).get("lat_ns", {}).get("N")]
    if syncs:
        took = [part["lat_ns"] for part in syncs]
        points.append(Point(series=f"{name} sync", load=load, figures=_latencies(took, took)))
    return points, bins


def _place(job: Mapping[str, Any]) -> tuple[str, str]:
    return str(job.get("jobname")), f"{job.get('hostname', '')}:{job.get('port', '')}"


def _rates(series: str, load: float, parts: Sequence[Mapping[str, Any]]) -> tuple[Point, list[Binned]]:
    figures = {
        "iops": sum(float(part["iops"]) for part in parts),
        "mibPerS": sum(float(part.get("bw_bytes", 1024 * part.get("bw", 0))) for part in parts) / (1 << 20),
    }
    clat = [part.get("clat_ns", {}) for part in parts]
    figures |= _latencies([part.get("lat_ns", {}) for part in parts], clat)
    only = parts[0]
    spread = {}
    if len(parts) == 1 and int(only.get("iops_samples", 0)) > 1:
        spread["iops"] = (float(only["iops_stddev"]), int(only["iops_samples"]))
    counts: dict[int, int] = {}
    for part in clat:
        for value, count in part.get("bins", {}).items():
            counts[int(value)] = counts.get(int(value), 0) + int(count)
    bins = []
    if counts:
        histogram = Histogram.of(counts)
        figures |= {
            name: histogram.quantile(p) / 1000 for name, p in (("p50Us", 0.5), ("p99Us", 0.99), ("p99.9Us", 0.999))
        }
        bins = [Binned(name=f"{series} at {load:g}", what="completion latency", unit="ns", counts=histogram)]
    return Point(series=series, load=load, figures=figures, spread=spread), bins


_PERCENTILES = {"50.000000": "p50Us", "99.000000": "p99Us", "99.900000": "p99.9Us"}


def _latencies(whole: Sequence[Mapping[str, Any]], shares: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return latencies in µs; percentiles only of a single part, since those of several can't be put together."""
    counted = [part for part in whole if part.get("N", 1) and "mean" in part]
    if not counted:
        return {}
    weights = [float(part.get("N", 1)) for part in counted]
    found = {
        "latencyUs": sum(w * float(part["mean"]) for w, part in zip(weights, counted, strict=True))
        / sum(weights)
        / 1000,
        "maxUs": max(float(part["max"]) for part in counted) / 1000,
    }
    if len(shares) == 1:
        told = shares[0].get("percentile", {})
        found |= {name: float(told[key]) / 1000 for key, name in _PERCENTILES.items() if key in told}
    return found
