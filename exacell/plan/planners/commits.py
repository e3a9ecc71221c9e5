"""Plan a load that commits: each of its sessions of SQL*Plus on a database node updates a row and commits, again and again.

It uses plain SQL: in PL/SQL only the last commit of a call would wait. Source: reference measurement.md 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.core.errors import RefusedError, StatementError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo
from exacell.plan.planners.reads import TABLE as KEYS, drop_keys
from exacell.plan.targets import DATABASE

TABLE = "EXACELL_COMMITS"
"""The table that the load creates and drops; it has a row for each session."""

_DROP = f"DROP TABLE {TABLE} PURGE"

MODULE = "exacell commits"
"""V$SESSION.MODULE of the load's sessions."""

_COMMIT_S = 0.001
"""Rough number of seconds that a session takes for one commit. An assumption."""

MOST_SESSIONS, MOST_COMMITS = 200, 10_000_000

_TEXT = re.compile(
    rf"(\d+) x (\d+): UPDATE {TABLE} SET n = n \+ 1 WHERE id = <session>; COMMIT(?: \(TRACEFILE_IDENTIFIER (\w+)\))?"
)


@dataclass(frozen=True, kw_only=True)
class CommitLoad:
    """A number of sessions with a number of commits each; ``tag``: their TRACEFILE_IDENTIFIER, empty for none."""

    sessions: int
    commits: int
    tag: str = ""

    def __post_init__(self) -> None:
        """Raise StatementError if no load can have these values."""
        if not 1 <= self.sessions <= MOST_SESSIONS:
            raise StatementError(f"sessions={self.sessions} is not possible: 1 to {MOST_SESSIONS}")
        if not 1 <= self.commits <= MOST_COMMITS:
            raise StatementError(f"commits={self.commits} is not possible: 1 to {MOST_COMMITS:,} in each session")
        if self.tag and not re.fullmatch(r"[A-Za-z]\w{0,29}", self.tag, re.ASCII):
            raise StatementError(f"tag={self.tag} is not possible: a letter, then letters, digits and _, 30 at most")

    @property
    def text(self) -> str:
        """Return the text that a plan shows and a step stores."""
        tagged = f" (TRACEFILE_IDENTIFIER {self.tag})" if self.tag else ""
        return f"{self.sessions} x {self.commits}: UPDATE {TABLE} SET n = n + 1 WHERE id = <session>; COMMIT{tagged}"

    @classmethod
    def read(cls, text: str) -> CommitLoad | None:
        """Return the load that a step's text describes; None for another text."""
        match = _TEXT.fullmatch(text)
        return None if match is None else cls(sessions=int(match[1]), commits=int(match[2]), tag=match[3] or "")


def commit_plan(
    rack: str,
    records: Mapping[str, Sequence[Mapping[str, Any]]],
    load: CommitLoad,
    *,
    database: str,
    node: str,
    statement: str,
    goes_on: bool = False,
    sent: frozenset[str] = frozenset(),
) -> Plan:
    """Return the plan that creates the table, lets the sessions commit, proves that all have, and drops the table.

    Args:
        records: the present records of the instance on ``node``.
        goes_on: this continues a broken-off attempt: the table may exist, and all sessions start again from the beginning.
        sent: the statements that the attempt has sent.

    Raises:
        RefusedError: the table exists, or such a load runs.
    """
    name = database.upper()
    if records["db.commits"] and not goes_on:
        raise RefusedError(
            f"drive commits: {name} already has a table {TABLE}, from a load that did not end",
            hint=f"type `resume` or `undo`; `drive end db={name}` drops the table",
        )
    if any(record["module"] == MODULE for record in records["db.session"]):
        raise RefusedError(f"drive commits: sessions of such a load are running on {node}", hint="wait until they end")
    if not records["db.commits"] and _DROP in sent:
        return Plan(statement=statement, rack=rack, done={node: "all have committed, and the table is dropped"})
    stages = _stages(node, name, load)[_done(records["db.commits"], load) :]
    return Plan(
        statement=statement,
        rack=rack,
        stages=stages,
        inverse={node: (f"drive end db={name}",)},
        notes=(f"{load.sessions * load.commits:,} commits; each needs a redo write, or shares one",),
        risk=Risk.PERFORMANCE,
    )


def _stages(node: str, name: str, load: CommitLoad) -> tuple[Stage, ...]:
    """Return the stages of the whole work, one step each."""
    there = {"name": TABLE}
    idle = Check(
        object="db.session",
        op=Op.ABSENT,
        where={"module": MODULE},
        why="sessions of a load are running: wait until they end",
    )
    steps = (
        replace(
            _step(
                node,
                name,
                f"CREATE TABLE {TABLE} (id NUMBER PRIMARY KEY, n NUMBER NOT NULL)",
                f"make table {TABLE}",
                Check(object="db.commits", value=TABLE, where=there),
            ),
            undo=Undo.STATEMENT,
            inverse=_DROP,
            changes=(Change(object="table", name=TABLE, attribute="rows", before="-", after=str(load.sessions)),),
        ),
        _step(
            node,
            name,
            f"INSERT INTO {TABLE} SELECT LEVEL, 0 FROM dual CONNECT BY LEVEL <= {load.sessions}",
            "a row for each session",
            Check(object="db.commits", attribute="rows", value=load.sessions, where=there),
        ),
        replace(
            _step(
                node,
                name,
                load.text,
                f"{counted(load.sessions, 'session')} commit {load.commits:,} times each",
                Check(object="db.commits", attribute="total", value=load.sessions * load.commits, where=there),
            ),
            needs=(idle,),
            estimate=load.commits * _COMMIT_S,
        ),
        _drop(node, name),
    )
    titles = ("make the table", "fill it", "commit", "drop the table")
    return tuple(Stage(title=title, key=title, steps=(step,)) for title, step in zip(titles, steps, strict=True))


def _done(tables: Sequence[Mapping[str, Any]], load: CommitLoad) -> int:
    """Return how many of the steps a broken-off attempt has done.

    Raises:
        RefusedError: its table belongs to another load.
    """
    if not tables:
        return 0
    rows, total = tables[0]["rows"], tables[0]["total"]
    if rows not in (0, load.sessions):
        raise RefusedError(
            f"drive commits: {TABLE} has {rows} rows, not {load.sessions}: it belongs to another load",
            hint="`drive end` drops it",
        )
    return 1 if not rows else 3 if total == load.sessions * load.commits else 2


def end_plan(
    rack: str, records: Mapping[str, Sequence[Mapping[str, Any]]], *, database: str, node: str, statement: str
) -> Plan:
    """Return the plan that drops tables left by loads; a plan without steps if there are none."""
    name = database.upper()
    steps = [_drop(node, name)] if records["db.commits"] else []
    if records["db.keys"]:
        steps.append(drop_keys(node, name))
    if not steps:
        return Plan(statement=statement, rack=rack, done={node: f"there is no table {TABLE} and no {KEYS}"})
    stages = tuple(Stage(title=step.what, key=step.what, steps=(step,)) for step in steps)
    return Plan(statement=statement, rack=rack, stages=stages, risk=Risk.PERFORMANCE)


def _drop(node: str, database: str) -> Step:
    return _step(
        node,
        database,
        _DROP,
        f"drop table {TABLE}",
        Check(object="db.commits", op=Op.ABSENT, where={"name": TABLE}),
    )


def _step(node: str, database: str, statement: str, what: str, proof: Check) -> Step:
    return Step(
        target=node,
        asm=DATABASE.written(database),
        statement=statement,
        what=what,
        proves=(proof,),
        risk=Risk.PERFORMANCE,
    )
