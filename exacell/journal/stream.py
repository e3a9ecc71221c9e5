"""A journal's rows for eyes, read some at a time: a long journal takes no more memory than a short one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from exacell.core.errors import JournalError
from exacell.journal.chain import Follower
from exacell.journal.reading import JournalReader
from exacell.journal.rows import Entry, change_number


class Stream:
    """The rows of whole changes, in order, as :meth:`JournalReader.all_entries` chooses them.

    The chain is followed meanwhile, from the first of these rows to the last, over those that are left out as well.

    Attributes:
        last: number of the last row of them; 0 when there are none.
    """

    def __init__(
        self, journal: JournalReader, *, rack: str | None = None, since: str = "", until: str = "", target: str = ""
    ) -> None:
        self._journal = journal
        self._rack = rack
        self._first, self.last, self._wanted = journal.span(rack=rack, since=since, until=until, target=target)
        self._follower = Follower(behind=self._first - 1)

    def choose(self, changes: Collection[int]) -> None:
        """Leave out the rows of all other changes from now on."""
        self._wanted = frozenset(changes)

    def __iter__(self) -> Iterator[Entry]:
        """Yield the rows; those that others write meanwhile are none of them.

        Raises:
            JournalError: the file is no journal, or another one took its place meanwhile.
        """
        behind = self._first - 1
        self._follower = Follower(behind=behind)
        if self.last < self._first:
            return
        for rows in self._journal.pieces(behind=behind, until=self.last, lenient=True):
            self._follower.follow(rows)
            for row in rows:
                if self._rack in (None, row[2]) and (self._wanted is None or change_number(row[3]) in self._wanted):
                    yield self._journal.for_eyes(row)

    @property
    def problem(self) -> str:
        """What is wrong with the chain as far as it was followed, or with what is kept of its end; empty when nothing is."""
        if self._follower.walked.problem:
            return self._follower.walked.problem
        try:
            self._journal.refuse_cut()
        except JournalError as error:
            return error.message
        return ""
