"""Where a running plan stands, as lines: folded over targets in the same state. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from exacell.cellset import fold
from exacell.console import Progress
from exacell.units import format_duration

_BAR = 16


def progress_lines(progress: Progress, width: int) -> Iterator[str]:
    """Yield a title line and one line for each state, cut at ``width`` columns; targets that failed come last."""
    eta = "" if progress.eta is None else f", about {format_duration(progress.eta)} left"
    yield _cut(f"[{progress.number}/{progress.of}] {progress.stage}{eta}", width)
    groups: dict[tuple[str, int | None], list[str]] = {}
    for target, state in progress.states.items():
        fraction = progress.fraction.get(target)
        percent = None if fraction is None else round(100 * min(max(fraction, 0.0), 1.0))
        groups.setdefault((state, percent), []).append(target)
    for (state, percent), targets in sorted(groups.items(), key=lambda group: group[0][0].startswith("failed")):
        bar = "" if percent is None or percent >= 100 else f" {_bar(percent)} {percent:3d}%"
        yield _cut(f"  {fold(targets)}{bar}  {state}", width)


def stage_line(progress: Progress) -> str:
    """Return the one line that a log shows when a stage begins."""
    return f"[{progress.number}/{progress.of}] {progress.stage} on {fold(progress.states)}"


def _bar(percent: int) -> str:
    done = _BAR * percent // 100
    return "[" + "#" * done + "." * (_BAR - done) + "]"


def _cut(text: str, width: int) -> str:
    return text if len(text) < width else text[: max(width - 2, 1)] + "~"
