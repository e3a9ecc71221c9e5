"""Prove from the journal that no two failure groups were away at once, and tell which cells a change has finished. Pure.

A cell counts as away from the moment at which the intent to take its disks offline was on disk, before the statement left,
until the journal holds evidence that ASM has them back: the verified outcome of the step that brings them online, or a
gate that was seen open (which reads every disk of every other cell). That a statement failed is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from exacell.values import dataclass


class Entry(Protocol):
    """A row of the journal, as far as a replay reads it."""

    @property
    def kind(self) -> str:
        """``plan``, ``intent``, ``outcome``, ``gate``, ``end`` …"""

    @property
    def target(self) -> str:
        """Cell or node; empty for rows about the whole change."""

    @property
    def body(self) -> Mapping[str, Any]:
        """The row's JSON object."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Two failure groups that may have been away together: the one whose turn it was, and those still away."""

    target: str
    away: tuple[str, ...]
    wave: int


def overlaps(entries: Iterable[Entry]) -> tuple[Overlap, ...]:
    """Return every moment at which a second failure group was taken offline; empty is the proof that there was none.

    Args:
        entries: rows of one rack in the journal's order, of as many changes as shall be judged together.
    """
    away: dict[str, None] = {}
    found = []
    for entry in entries:
        body = entry.body
        if entry.kind == "intent" and body.get("offline"):
            others = tuple(cell for cell in away if cell != entry.target)
            if others:
                found.append(Overlap(target=entry.target, away=others, wave=int(body.get("wave") or 0)))
            away[entry.target] = None
        elif entry.kind == "outcome" and body.get("online") and body.get("state") == "done":
            away.pop(entry.target, None)
        elif entry.kind == "gate" and body.get("open"):
            wave = set(body.get("cells") or ())
            away = {cell: None for cell in away if cell in wave}
    return tuple(found)


def finished_cells(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the targets on which every step of a change was done or not needed, mending ones left out."""
    plan = next((entry.body.get("plan") or {} for entry in entries if entry.kind == "plan"), {})
    wanted: dict[str, int] = {}
    for stage in plan.get("stages", ()):
        if stage["gate"] != "mend":
            for step in stage["steps"]:
                wanted[step["target"]] = wanted.get(step["target"], 0) + 1
    ended: dict[str, int] = {}
    for entry in entries:
        good = entry.kind == "outcome" and entry.body.get("state") in ("done", "not needed")
        if good and not entry.body.get("mending"):
            ended[entry.target] = ended.get(entry.target, 0) + 1
    return frozenset(target for target, count in wanted.items() if ended.get(target) == count)
