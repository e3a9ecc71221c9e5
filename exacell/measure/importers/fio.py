"""Import fio's JSON: ``--output-format=json`` and ``json+``, alone and as client of servers, also with unified_rw_reporting.

Source: reference measurement.md 9 (fio 3.33, measured) and fio's own runs in tests/data/imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram
from exacell.measure.importers.fiojson import (
    DIRECTIONS,
    Document,
    Part,
    amount_of,
    documents,
    done,
    measured,
    part_of,
    runtime,
    size_named,
    times,
)
from exacell.measure.importers.model import Binned, Point, Run, UnreadableError, at_once, named
from exacell.measure.importers.parts import in_one

KIND = "fio"
_SAME = ("bs", "bsrange", "bssplit", "rw", "direct", "fdatasync", "fsync", "ioengine", "rwmixread", "size")
"""Options that must be equal for two runs to be comparable; the depth and the number of jobs are the load."""

_SIZES = ("bs", "bsrange", "bssplit", "size")

_SYNC = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "ftruncate", "falloc", "filecreate", "filestat",
         "filedelete", "dev-dax", "libpmem", "pmemblk", "gfapi", "http", "")  # fmt: skip
"""Engines that wait for each I/O, whatever iodepth is; fio's default is psync. Source: fio's documentation,
ioengine and iodepth ("Note that increasing iodepth beyond 1 will not affect synchronous ioengines")."""


def claims(text: str) -> bool:
    """Return whether a text is fio's JSON."""
    return '"fio version"' in text


def read(text: str, source: str) -> Run:
    """Return one point for each kind of jobs that ran together, and each direction.

    Jobs of a group run at the same time, also on several clients, so their rates are added; fio's own sum over all clients is
    left out. Jobs that differ in rw or bs are separate points.

    Raises:
        UnreadableError: the JSON is incomplete, or none of its jobs did an I/O.
    """
    with _as_fio_writes(source):
        runs = [_run(one, source) for one in documents(text, source)]
    if not any(run.points for run in runs):
        why = named([text for run in runs for text in run.warnings])
        raise UnreadableError(f"{source}: none of its jobs did an I/O{f' ({why})' if why else ''}")
    return in_one([run for run in runs if run.points or run.warnings])


def waited(text: str) -> tuple[int, float]:
    """Return the number of I/Os in all jobs and runs, including syncs, and the sum of their latencies in microseconds.

    Raises:
        UnreadableError: the JSON is incomplete, or none of its jobs did an I/O.
    """
    count, micros = 0.0, 0.0
    with _as_fio_writes("fio"):
        for job in (job for one in documents(text, "fio") for job in one.jobs):
            for name in (*DIRECTIONS, "sync"):
                part = part_of(job, name)
                took, factor = times(part, "lat")
                many = measured(part, "lat", done(job, name))
                count += many if name != "sync" else 0
                micros += many * float(took.get("mean", 0.0)) * factor
    if not count:
        raise UnreadableError("fio: no job measured the latency of an I/O")
    return int(count), micros


@contextmanager
def _as_fio_writes(source: str) -> Iterator[None]:
    """Raise UnreadableError for JSON in a form that fio does not write: a word in place of a number, a list in place of an
    object.
    """
    try:
        yield
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise UnreadableError(f"{source}: its JSON is not as fio writes it ({error})") from error


_AS_LONG = 0.9
"""Share of the longest job's time that the others must have run, so that their sum is the rate of the whole time."""


def _run(found: Document, source: str) -> Run:
    points, bins, notes = list[Point](), list[Binned](), list[str]()
    groups = _groups(found, notes)
    for group in groups:
        kinds: dict[str, list[_Job]] = {}
        for job in group:
            kinds.setdefault(job.name, []).append(job)
        if len(kinds) > 1:
            notes.append(f"at the same time ran: {named(list(kinds))}")
        for name, jobs in kinds.items():
            lasted = sorted(runtime(job.body) for job in jobs)
            if lasted[0] < _AS_LONG * lasted[-1]:
                notes.append(
                    f"{name}: its jobs ran for {lasted[0]:g} to {lasted[-1]:g} s, and their rates are added: this "
                    f"rate was reached only while all of them ran"
                )
            made, kept = _together(name, jobs)
            points += made
            bins += kept
    jobs = [job for group in groups for job in group]
    if any(
        done(job.body, way) and not measured(part_of(job.body, way), "lat", 1) for job in jobs for way in DIRECTIONS
    ):
        notes.append("fio did not measure the latency of all I/Os (gtod_reduce or disable_lat)")
    notes += dict.fromkeys(note for job in jobs for note in job.notes)
    options = [job.options for job in jobs]
    form = ("json+" if bins else "json") + (", from clients" if found.clients else "")
    return Run(
        kind=KIND,
        form=form,
        source=source,
        load="I/Os outstanding",
        points=tuple(points),
        distributions=tuple(bins),
        same=_common(options, _SAME),
        told={"fio version": str(found.body["fio version"]), **_common(options, ("runtime", "filename", "numjobs"))},
        notes=(*found.notes, *notes),
        span=found.span,
        host=", ".join(sorted({str(job.body["hostname"]) for job in jobs if job.body.get("hostname")})),
        warnings=(*found.warnings, *_troubles(jobs)),
    )


@dataclass(frozen=True, kw_only=True)
class _Job:
    """One entry of fio's list of jobs.

    Attributes:
        name: its work: ``randread 8k``.
        clones: number of jobs that the entry stands for; None if it is not known.
        depth: number of outstanding I/Os of each job; None if it is not known.
    """

    body: Mapping[str, Any]
    options: Mapping[str, str]
    name: str
    clones: int | None
    depth: int | None
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def load(self) -> float | None:
        """Return the total number of outstanding I/Os; None if it is not known."""
        return None if self.clones is None or self.depth is None else float(self.clones * self.depth)

    @property
    def title(self) -> str:
        """Return the name of the job, and of its client."""
        host = self.body.get("hostname")
        return f"{self.body.get('jobname', 'a job')}{f' on {host}' if host else ''}"


def _groups(found: Document, notes: list[str]) -> list[list[_Job]]:
    """Return the jobs that ran at the same time, group by group.

    fio gives a new group number to jobs that wait for the group before (stonewall), but also with new_group, which does not
    wait; new_group is recognized if all groups together took longer than fio ran.
    """
    bodies: dict[Any, list[dict[str, Any]]] = {}
    for body in found.jobs:
        bodies.setdefault(body.get("groupid", 0), []).append(body)
    lasted = [max(runtime(body) for body in group) for group in bodies.values()]
    groups = [*bodies.values()]
    if len(groups) > 1 and found.elapsed and sum(lasted) > found.elapsed + 1:
        if max(lasted) + 2 >= found.elapsed:
            groups = [found.jobs]
        else:
            notes.append("some of its groups ran at the same time; the file does not show which")
    return [[_job(body, group, found.general) for body in group] for group in groups]


def _job(body: Mapping[str, Any], group: Sequence[Mapping[str, Any]], general: Mapping[str, str]) -> _Job:
    own = body.get("job options")
    options = {**general, **(own if isinstance(own, dict) else {})}
    options = {name: str(value) for name, value in options.items() if value is not None}
    alike = sum(1 for one in group if _place(one) == _place(body))
    # With group_reporting one entry stands for all jobs of a group; without it each clone has its own entry.
    told = amount_of(options.get("numjobs", "1")) if alike == 1 else 1.0
    clones = None if told is None else int(told)
    notes = []
    if clones is None:
        notes.append(f"numjobs={options['numjobs']} is not a number: the load is unknown")
    busy, long = float(body.get("job_runtime") or 0), 1000 * runtime(body)
    ratio = busy / long if long else 0.0
    # A job that reads back its own writes is busy in both directions, one after the other.
    several = clones is not None and ratio > clones + 0.5 and not options.get("verify")
    known = own is not None or bool(general)
    name = _named(options) if known else ""
    if several or (name and not _fits(body, options, several=several)):
        many = round(ratio) if abs(ratio - round(ratio)) < 0.15 else None
        if not name or not _fits(body, options, several=True):
            name, clones = f"{body.get('jobname', 'jobs')} and others", None
            notes.append(
                f"{body.get('jobname', 'a group')}: group_reporting combined different jobs into one: the file does "
                f"not show what each job did, nor its depth"
            )
        else:
            clones = many
    depth, why = _depth(body, options) if known else (None, "")
    if why:
        notes.append(f"{body.get('jobname', 'a job')}: {why}")
    if not name:
        name = str(body.get("jobname", "jobs"))
        notes.append("the file does not have the options of its jobs: rw, bs and load are unknown")
    return _Job(body=body, options=options, name=name, clones=clones, depth=depth, notes=tuple(notes))


def _place(job: Mapping[str, Any]) -> tuple[str, str]:
    return str(job.get("jobname")), f"{job.get('hostname', '')}:{job.get('port', '')}"


def _named(options: Mapping[str, str]) -> str:
    """Return the work of a job by its options; a missing option has fio's default."""
    size = next((options[name] for name in ("bssplit", "bsrange", "bs") if options.get(name)), "4k")
    return f"{options.get('rw') or 'read'} {size_named(size)}"


def _fits(body: Mapping[str, Any], options: Mapping[str, str], *, several: bool) -> bool:
    """Return whether an entry's counts can come from one job with its options: in directions and, with several jobs, in size."""
    rw = (options.get("rw") or "read").partition(":")[0]
    ways = {
        "read": ["read"],
        "write": ["write"],
        "trim": ["trim"],
        "trimwrite": ["trim", "write"],
        "readwrite": ["read", "write"],
        "rw": ["read", "write"],
    }.get(rw.removeprefix("rand"), [*DIRECTIONS])
    if options.get("verify"):
        ways = [*ways, "read"]  # It reads back its own writes.
    if any(done(body, way) for way in ("read", "write", "trim") if way not in ways):
        return False
    odd = any(options.get(name) for name in ("bssplit", "bsrange", "kb_base"))
    size = None if odd else amount_of(options.get("bs", "4k"))
    parts = [(part_of(body, way), done(body, way)) for way in DIRECTIONS]
    sizes = [float(part["io_bytes"]) / ios for part, ios in parts if ios and "io_kbytes" in part]
    return not several or size is None or all(abs(one / size - 1) < 0.01 for one in sizes)


_LEVELS = (("1", 1, 1), ("2", 2, 3), ("4", 4, 7), ("8", 8, 15), ("16", 16, 31), ("32", 32, 63), (">=64", 64, 1 << 31))
"""The steps of iodepth_level: name, smallest and largest depth."""


def _depth(body: Mapping[str, Any], options: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the number of outstanding I/Os (None if it is not known), and a note about it.

    The options give the largest possible number, iodepth_level the actual one, which decides.
    """
    given = amount_of(options.get("iodepth", "1"))
    sync = options.get("ioengine", "") in _SYNC
    asked = 1 if sync else None if given is None else int(given)
    levels = body.get("iodepth_level")
    shares = {name: float(share) for name, share in levels.items()} if isinstance(levels, dict) else {}
    if not any(shares.values()):
        said = "" if asked is not None else f"iodepth={options['iodepth']} is not a number: the load is unknown"
        return asked, said
    name, least, most = max(_LEVELS, key=lambda level: shares.get(level[0], 0.0))
    share = shares.get(name, 0.0)
    if share >= 50:
        for depth in (asked, None if given is None else int(given), 1):
            if depth is not None and least <= depth <= most:
                said = f"iodepth={options.get('iodepth', '1')}, but {share:.0f} % of its I/Os were alone"
                return depth, "" if asked == depth else f"{said}: its load is 1" if depth == 1 else ""
    spread = ", ".join(f"{one}: {shares[one]:.3g} %" for one, _, _ in _LEVELS if shares.get(one))
    return None, f"iodepth={options.get('iodepth', '1')}, but outstanding were {spread}: the load is unknown"


def _troubles(jobs: Sequence[_Job]) -> Iterator[str]:
    """Yield warnings: jobs that ended with an error, did nothing, or lost I/Os."""
    for job in jobs:
        error = job.body.get("error") or job.body.get("first_error")
        failed = int(job.body.get("total_err") or 0)
        if error:
            said = f"{error}{_ERRORS.get(error, '')}" + (f", {counted(failed, 'error')} in all" if failed > 1 else "")
            yield f"{job.title} ended with error {said}: its figures are not those of a whole run"
        elif failed:
            yield f"{job.title} had {counted(failed, 'error')}"
        if not any(done(job.body, way) for way in DIRECTIONS) and not measured(part_of(job.body, "sync"), "lat", 0):
            yield f"{job.title} did no I/O"
        for key, what in (("short_ios", "short"), ("drop_ios", "dropped")):
            lost = sum(int(part_of(job.body, way).get(key) or 0) for way in DIRECTIONS)
            if lost:
                yield f"{job.title}: {counted(lost, 'I/O')} {what}"


_ERRORS = {5: " (I/O error)", 11: " (try again)", 12: " (out of memory)", 22: " (invalid argument)", 28: " (no space left)",
           84: " (verify failed)", 110: " (timed out)", 121: " (remote I/O error)"}  # fmt: skip
"""errno of Linux → the text of strerror, shortened."""


def _common(options: Iterable[Mapping[str, str]], names: Sequence[str]) -> dict[str, str]:
    """Return option → its values in all jobs; options that no job has are left out."""
    found: dict[str, dict[str, None]] = {}
    for given in options:
        for name in names:
            if name in given:
                text = size_named(given[name]) if name in _SIZES else given[name]
                found.setdefault(name, {})[text or "yes"] = None
    return {name: ", ".join(values) for name, values in found.items()}


def _together(name: str, jobs: Sequence[_Job]) -> tuple[list[Point], list[Binned]]:
    """Return the points of jobs with one name that ran at the same time."""
    loads = [job.load for job in jobs]
    known = [load for load in loads if load is not None]
    load = sum(known) if len(known) == len(loads) else None
    on = ", ".join(dict.fromkeys(job.options.get("filename", "") for job in jobs))
    points, bins = [], []
    for way in DIRECTIONS:
        own = [(job, part_of(job.body, way), done(job.body, way)) for job in jobs]
        parts = [(part, ios, job.clones) for job, part, ios in own if ios]
        if parts:
            point, binned = _rates(f"{name} {way}", load, parts)
            points += [replace(point, on=on)] if point.figures else []
            bins += binned
    # In 3.33 total_ios of fdatasync stays 0 although its latencies are counted.
    syncs = [part for job in jobs if measured(part := part_of(job.body, "sync"), "lat", 0)]
    if syncs:
        took = [_latencies(part, "lat", measured(part, "lat", 0)) for part in syncs]
        figures = at_once(took)
        count = sum(one.weights["latencyUs"] for one in took)
        points.append(Point(series=f"{name} sync", load=load, figures=figures, on=on, weights={"latencyUs": count}))
    return points, bins


def _rates(
    series: str, load: float | None, parts: Sequence[tuple[Part, float, int | None]]
) -> tuple[Point, list[Binned]]:
    """Return the point of several jobs in one direction; each part has its number of I/Os and of jobs."""
    points, counts = [], dict[int, int]()
    for part, ios, _ in parts:
        speed = float(part.get("bw_bytes", 1024 * part.get("bw", 0))) / (1 << 20)
        latencies = _latencies(part, "clat", measured(part, "lat", ios))
        rates = {"iops": float(part.get("iops", 0)), "mibPerS": speed} if part.get("runtime") else {}
        figures = {**rates, **latencies.figures}
        points.append(Point(series=series, figures=figures, weights=latencies.weights))
        took, factor = times(part, "clat")
        for value, count in took.get("bins", {}).items() if factor < 1 else ():
            counts[int(value)] = counts.get(int(value), 0) + int(count)
    figures = at_once(points)
    only, _, clones = parts[0]
    spread = {}
    if len(parts) == 1 and clones == 1 and int(only.get("iops_samples", 0)) > 1:
        # The spread of a group is that of its single jobs, not of their sum.
        spread["iops"] = (float(only["iops_stddev"]), int(only["iops_samples"]))
    bins = []
    if counts:
        histogram = Histogram.of(counts)
        figures |= {
            name: histogram.quantile(p) / 1000 for name, p in (("p50Us", 0.5), ("p99Us", 0.99), ("p99.9Us", 0.999))
        }
        name = series if load is None else f"{series} at {load:g}"
        bins = [Binned(name=name, what="completion latency", unit="ns", counts=histogram)]
    point = Point(
        series=series,
        load=load,
        figures=figures,
        spread=spread,
        seconds=max(float(part.get("runtime", 0)) for part, _, _ in parts) / 1000 or None,
        weights={"latencyUs": sum(point.weights.get("latencyUs", 0.0) for point in points)},
    )
    return point, bins


_PERCENTILES = {"50.000000": "p50Us", "99.000000": "p99Us", "99.900000": "p99.9Us"}


def _latencies(part: Part, shares: str, count: float) -> Point:
    """Return latencies in µs, weighted by their number; a point without figures if no latency was measured.

    Args:
        shares: the name of fio's times that has the percentiles; it changes with lat_percentiles.
    """
    took, factor = times(part, "lat")
    if not count or "mean" not in took:
        return Point(series="", figures={})
    figures = {"latencyUs": float(took["mean"]) * factor, "maxUs": float(took["max"]) * factor}
    for name in ("lat", shares):
        of, by = times(part, name)
        told = of.get("percentile", {})
        figures |= {figure: float(told[key]) * by for key, figure in _PERCENTILES.items() if key in told}
    return Point(series="", figures=figures, weights={"latencyUs": count})
