"""Show the progress of a running plan as lines, with targets in the same state folded. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exacell.core.cellset import fold
from exacell.core.units import format_duration, format_wait
from exacell.output.console import Progress
from exacell.output.style import hung

_BAR = 16

TOLD_EVERY = 60.0
"""Seconds after which a log shows again the states of a stage that has not ended."""


def progress_lines(
    progress: Progress, width: int, height: int | None = None, *, unicode: bool = False
) -> Iterator[str]:
    """Yield a title line and one line for each state, cut at ``width`` columns; failed targets come last, then, if there is
    room, one line for the cells of other waves. A state that waits for a gate may take several lines if there is room.

    Args:
        height: the most lines; if there are more states, the targets that are furthest share the last line with their
            percentages, so that slow and failed ones keep their own lines. None: as many lines as there are states.
        unicode: whether bars are drawn with block characters.
    """
    eta = "" if progress.eta is None else f", about {format_duration(progress.eta)} left"
    waited = f", {format_wait(int(progress.waited))}" if progress.waited >= 1 else ""
    yield _cut(f"[{progress.number}/{progress.of}] {progress.stage}{waited}{eta}", width)
    groups: dict[tuple[str, int | None], list[str]] = {}
    for target, state in progress.states.items():
        fraction = progress.fraction.get(target)
        percent = None if fraction is None else round(100 * min(max(fraction, 0.0), 1.0))
        groups.setdefault((state, percent), []).append(target)
    shown = sorted(groups.items(), key=lambda group: group[0][0].startswith("failed"))
    room = len(shown) if height is None else max(height - 1, 1)
    rest: list[tuple[tuple[str, int | None], list[str]]] = []
    if len(shown) > room:
        shown.sort(key=lambda group: _far(*group[0]))
        shown, rest = shown[: room - 1], shown[room - 1 :]
    free = 0 if height is None or rest else height - 1 - len(shown)
    told = bool(progress.others) and (height is None or free > 0) and not rest
    free -= told
    for (state, percent), targets in shown:
        bar = "" if percent is None or percent >= 100 else f" {_bar(percent, unicode=unicode)} {percent:3d}%"
        line = f"  {fold(targets)}{bar}  {state}"
        rows = hung(line, width - 1, after="      ") if state.startswith("waiting") and len(line) >= width else [line]
        if len(rows) - 1 > free:
            rows = [line]
        free -= len(rows) - 1
        yield from (_cut(row, width) for row in rows)
    if told:
        yield _cut(f"  {progress.others}", width)
    if rest:
        known = [percent for (_, percent), _ in rest if percent is not None]
        far = f", {min(known)} to {max(known)}%" if known else ""
        others = [target for _, targets in rest for target in targets]
        yield _cut(f"  {len(others)} more{far}: {fold(others)}", width)


def _far(state: str, percent: int | None) -> int:
    """Return the sort value of targets in a state: failed ones first, done ones last."""
    if state.startswith("failed"):
        return -1
    if percent is not None:
        return percent
    return 101 if state.startswith(("done", "proven")) else 0


def stage_line(progress: Progress) -> str:
    """Return the one line that a log shows when a stage begins."""
    return f"[{progress.number}/{progress.of}] {progress.stage} on {fold(progress.states)}"


class ProgressLog:
    """Makes the lines of a running plan for a log: one when a stage begins, one for each failure, and lines about waits.

    The reason for a failure is shown once, at the end, with all failures together.
    A wait, above all for a closed gate between two waves, is shown at once, and all states again each minute.
    """

    def __init__(self) -> None:
        self._shown: Progress | None = None
        self._told = 0.0
        self._waits = False

    def lines(self, progress: Progress, now: float) -> list[str]:
        """Return the lines to write for ``progress``, none if nothing is new; ``now`` in seconds of any clock."""
        before = self._shown
        found: list[str] = []
        if before is None or (before.number, before.stage) != (progress.number, progress.stage):
            found.append(stage_line(progress))
            before, self._told, self._waits = None, now, False
        known = {} if before is None else before.states
        for target, state in progress.states.items():
            if state.startswith("failed") and known.get(target) != state:
                found.append(f"  {target}: failed")
        waiting = any(state.startswith("waiting") for state in progress.states.values())
        if (waiting and not self._waits) or now - self._told >= TOLD_EVERY:
            own = replace(progress, others="")  # A log has already shown the other waves.
            found += [line for line in list(progress_lines(own, _UNCUT))[1:] if "  failed" not in line]
            self._told, self._waits = now, True
        self._shown = progress
        return found


_UNCUT = 10_000
"""The width of a log's line, in columns: no line reaches it."""


def _bar(percent: int, *, unicode: bool) -> str:
    done = _BAR * percent // 100
    return "█" * done + "░" * (_BAR - done) if unicode else "[" + "#" * done + "." * (_BAR - done) + "]"


def _cut(text: str, width: int) -> str:
    return text if len(text) < width else text[: max(width - 2, 1)] + "~"
