"""Read the documents that fio writes as JSON: which of them belong to one run, and what their numbers mean. Pure.

With ``--status-interval`` fio writes its whole document again and again, the last one at its end; several runs in one file
follow each other. Source: reference measurement.md 9 (fio 3.33, measured); of 2.x its published output: times in µs under
``lat`` and ``clat``, ``io_bytes`` in KiB, no ``N``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.measure.importers.model import json_texts

DIRECTIONS = ("read", "write", "trim", "mixed")
_ALL = "All clients"

Part = Mapping[str, Any]
"""fio's data about one direction of a job."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """fio's output for one run.

    Attributes:
        body: its last document.
        notes: notes on the documents before it.
        warnings: notes on parts of the text that could not be read.
    """

    body: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """Return the jobs of all clients; fio's sum over them only if it is the only entry."""
        jobs = [job for job in self.body.get("client_stats", self.body.get("jobs", ())) if isinstance(job, dict)]
        return [job for job in jobs if job.get("jobname") != _ALL] or jobs

    @property
    def general(self) -> Mapping[str, str]:
        """Return the options that all jobs have."""
        found = self.body.get("global options", {})
        return found if isinstance(found, dict) else {}

    @property
    def clients(self) -> bool:
        """Return whether the jobs ran on servers that a client controlled."""
        return "client_stats" in self.body

    @property
    def elapsed(self) -> float:
        """Return the whole seconds since fio began; 0 if not known."""
        return max((_float(job.get("elapsed")) for job in self.jobs), default=0.0)

    @property
    def span(self) -> tuple[float, ...]:
        """Return begin and end of the run, in seconds since 1970; empty if not known."""
        end = _float(self.body.get("timestamp_ms")) / 1000 or _float(self.body.get("timestamp"))
        long = self.elapsed or max((runtime(job) for job in self.jobs), default=0.0)
        return (end - long, end) if end and long else ()


def documents(text: str, source: str) -> list[Document]:
    """Return the documents of a text, one per run.

    Raises:
        UnreadableError: no document is complete.
    """
    bodies, cut = json_texts(text, "fio version", source)
    runs: list[list[Document]] = []
    for body in bodies:
        found = Document(body=body)
        if runs and _goes_on(runs[-1][-1], found):
            runs[-1].append(found)
        else:
            runs.append([found])
    return [
        Document(
            body=run[-1].body,
            notes=(f"the last of {counted(len(run), 'document')} counts: the others tell of the run on its way",)
            if len(run) > 1
            else (),
            warnings=(*cut, *_unfinished(run[-1])) if run is runs[-1] else _unfinished(run[-1]),
        )
        for run in runs
    ]


def _goes_on(before: Document, after: Document) -> bool:
    """Return whether a document is a later one of the same run: the same jobs, from the same start, with more done."""
    if [_name(job) for job in before.jobs] != [_name(job) for job in after.jobs]:
        return False
    if any(done(a, way) > done(b, way) for a, b in zip(before.jobs, after.jobs, strict=True) for way in DIRECTIONS):
        return False
    if before.span and after.span:
        return abs(after.span[0] - before.span[0]) < abs(after.span[0] - before.span[1])
    if before.elapsed and after.elapsed:
        return before.elapsed < after.elapsed
    long = [max((runtime(job) for job in one.jobs), default=0.0) for one in (before, after)]
    return 0 < long[0] < 0.99 * long[1]


def _unfinished(found: Document) -> tuple[str, ...]:
    """Return a warning about a run that had not ended; an eta of 2147483647 s is fio's "not known"."""
    left = max((_float(job.get("eta")) for job in found.jobs), default=0.0)
    return (f"the run had not ended: {left:.0f} s were left",) if 0 < left < 2**31 - 1 else ()


def _name(job: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(job.get(key) for key in ("jobname", "groupid", "hostname", "port"))


def _float(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def part_of(job: Mapping[str, Any], way: str) -> Part:
    """Return a job's data about one direction; empty if there are none."""
    found = job.get(way)
    return found if isinstance(found, dict) else {}


def runtime(job: Mapping[str, Any]) -> float:
    """Return the seconds during which a job did I/O."""
    return max(_float(part_of(job, way).get("runtime")) for way in DIRECTIONS) / 1000


def done(job: Mapping[str, Any], way: str) -> float:
    """Return the number of I/Os of a job in one direction; before 2.2 it is calculated from their rate."""
    part = part_of(job, way)
    return _float(part.get("total_ios")) or _float(part.get("iops")) * _float(part.get("runtime")) / 1000


def times(part: Part, name: str) -> tuple[Mapping[str, Any], float]:
    """Return a part's ``lat`` or ``clat``, and the factor that converts its numbers to µs: 2.x writes µs, later releases ns."""
    for key, factor in ((f"{name}_ns", 1e-3), (name, 1.0)):
        if isinstance(part.get(key), dict):
            return part[key], factor
    return {}, 1.0


def measured(part: Part, name: str, ios: float) -> float:
    """Return the number of latencies behind a part's mean; 0 if no latency was measured (gtod_reduce, disable_lat).

    Before 3.18 there is no N; then it is the number of I/Os, unless even the largest latency is 0.
    """
    took, _ = times(part, name)
    if "N" in took:
        return _float(took["N"])
    return ios if _float(took.get("max")) or _float(took.get("mean")) else 0.0


_SIZE = re.compile(r"(0x[0-9a-f]+|\d+(?:\.\d+)?)\s*([kmgtp]?)(i?b?)", re.IGNORECASE)


def amount_of(text: str) -> float | None:
    """Return the number in an option of fio: ``32``, ``1k``, ``0x10``, ``8KiB``; None if it is not a number.

    A k is 1,024, which is the default of ``kb_base``. Source: fio's documentation, parameter types, int.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    number = float(int(match[1], 16)) if match[1].lower().startswith("0x") else float(match[1])
    return number * 1024.0 ** " kmgtp".index(match[2].lower() or " ")


def size_named(text: str) -> str:
    """Return a size, or a list or range of sizes, in one spelling: ``8192`` and ``8KiB`` become ``8k``."""
    return re.sub(r"[^,:/-]+", lambda one: _short(one[0]), text.strip().lower())


def _short(text: str) -> str:
    value = amount_of(text)
    if value is None or not value or value % 1:
        return text
    power = next(power for power in (4, 3, 2, 1, 0) if not value % 1024**power)
    return f"{value / 1024**power:.0f}{('', 'k', 'm', 'g', 't')[power]}"
