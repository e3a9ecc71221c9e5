"""Many sessions of a database that change a row and commit, again and again: the work of minutes, done in seconds.

Nothing is parsed and no row is stored: each session's statements and waits take their time on the session's own clock, so that
counters and trace files are those that the statements would have made. It stands apart from the rack's servers, because only a
load needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heapreplace

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.instance import Asm
from exacell.emulator.asm.instances import Instance

MOST_SESSIONS, MOST_COMMITS = 500, 20_000_000
_TURN = 1000
"""Commits after which other tasks get a turn."""


def commit_load(asm: Asm, name: str, *, sessions: int, commits: int) -> Iterator[None]:
    """Let sessions on the first node of a database commit one change after the other, and yield now and then.

    Args:
        sessions: how many, all at the same time.
        commits: commits of each session.

    Raises:
        EmulatorError: ``sessions`` or ``commits`` is out of its range.
    """
    if not 0 < sessions <= MOST_SESSIONS or not 0 < commits * sessions <= MOST_COMMITS:
        raise EmulatorError(
            f"sessions={sessions} commits={commits} is not possible: up to {MOST_SESSIONS} sessions, and {MOST_COMMITS:,} "
            "commits together"
        )
    instance = Instance(asm=asm, node=0, database=asm.databases[name.upper()])
    desk = asm.rack.work.desk(instance)
    users = [desk.connect("commit load", service=name.upper()) for _ in range(sessions)]
    left = dict.fromkeys(range(sessions), commits)
    turns = [(0, number) for number in range(sessions)]
    heapify(turns)
    try:
        for done in range(sessions * commits):
            _, number = turns[0]
            user = users[number]
            user.execute(f"update commit_load set n = n + 1 where id = {number + 1}", 1)
            user.undo.append(_nothing)
            user.commit()
            left[number] -= 1
            heapreplace(turns, (user.clock if left[number] else 1 << 62, number))
            if done % _TURN == 0:
                yield
    finally:
        for user in users:
            user.close()


def _nothing() -> None:
    """Roll back nothing: the load has no rows."""
