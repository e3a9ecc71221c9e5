"""The waits for one event, collected from the trace files of a database and stored under a name. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram
from exacell.measure.logwrites import LogWrites, OfSize
from exacell.measure.trace10046 import Traced


@dataclass(frozen=True, kw_only=True)
class Collected:
    """A collection of waits.

    Attributes:
        database: in upper case.
        taken: time of the collection, ISO 8601 UTC.
        files: the files that have a wait for the event or are incomplete; each name begins with its node and a colon.
        others: number of other files that were read.
        size: bytes of all files.
        writes: the log writes that several waits share, if the files show them.
    """

    name: str
    database: str
    event: str
    taken: str
    files: Sequence[Traced]
    others: int
    size: int
    writes: LogWrites

    @property
    def waits(self) -> list[Histogram]:
        """Return the waits of each file that has some."""
        return [file.events[self.event] for file in self.files if self.event in file.events]


def collected_to_state(found: Collected) -> dict[str, Any]:
    """Return the collection as data that can be stored as JSON."""
    files = []
    for file in found.files:
        waits = file.events.get(found.event, Histogram((), ()))
        (name, head), broken = next(iter(file.headers.items())), next(iter(file.broken.values()), "")
        odd = file.odd.get(found.event, 0)
        files.append(
            [name, file.size, file.lookalikes, broken, list(head), list(waits.values), list(waits.counts), odd]
        )
    sizes = {size: [own.groups, own.total, own.squares] for size, own in found.writes.by_size.items()}
    return {
        "name": found.name,
        "database": found.database,
        "event": found.event,
        "taken": found.taken,
        "files": files,
        "others": found.others,
        "size": found.size,
        "writes": sizes,
    }


def collected_from_state(state: Mapping[str, Any]) -> Collected:
    """Return the collection that :func:`collected_to_state` converted; KeyError, TypeError or ValueError for other data."""
    event = state["event"]
    files = []
    for name, size, lookalikes, broken, head, values, counts, *odd in state["files"]:
        files.append(
            Traced(
                events={event: Histogram(tuple(values), tuple(counts))} if values else {},
                lookalikes=lookalikes,
                odd={event: odd[0]} if odd and odd[0] else {},
                broken={name: broken} if broken else {},
                headers={name: tuple(head)},
                files=1,
                size=size,
            )
        )
    writes = LogWrites({int(size): OfSize(*own) for size, own in state["writes"].items()})
    return Collected(
        name=state["name"],
        database=state["database"],
        event=event,
        taken=state["taken"],
        files=files,
        others=state["others"],
        size=state["size"],
        writes=writes,
    )
