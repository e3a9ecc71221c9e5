"""Keep snapshots, plans, baselines, IORM plans and more in one SQLite file; names match in upper or lower case."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from exacell.care.since import Past, Told
from exacell.cellcli.secrets import masked_data
from exacell.core.belonging import Identity, Place
from exacell.core.cellset import called_now
from exacell.core.errors import ExacellError, ExitCode
from exacell.core.meant import unknown
from exacell.core.sharedfile import sure
from exacell.measure.collected import Collected, collected_from_state, collected_to_state
from exacell.measure.snapshot import Snapshot, from_json, named, to_json
from exacell.recipes.record import LineState
from exacell.session.saved import SavedPlan

T = TypeVar("T")

_SCHEMA = """
create table if not exists snapshot (
    rack text not null, name text not null, kind text not null, taken text not null, body text not null,
    primary key (rack, name, kind)
);
create table if not exists plan (
    rack text not null, name text not null, made text not null, body text not null, primary key (rack, name)
);
create table if not exists baseline (
    rack text not null, name text not null, taken text not null, body text not null, primary key (rack, name)
);
create table if not exists iorm (
    rack text not null, name text not null, taken text not null, body text not null, primary key (rack, name)
);
create table if not exists imported (
    rack text not null, name text not null, taken text not null, body text not null, primary key (rack, name)
);
create table if not exists traces (
    rack text not null, name text not null, taken text not null, body text not null, primary key (rack, name)
);
create table if not exists health (
    rack text not null, cell text not null, at real not null, body text not null, primary key (rack, cell, at)
);
create table if not exists experiment (
    rack text not null, name text not null, began text not null, state text not null, body text not null,
    primary key (rack, name)
);
create table if not exists run (
    rack text not null, name text not null, began text not null, state text not null, body text not null,
    primary key (rack, name)
);
create table if not exists identity (
    rack text not null, host text not null, seen text not null, body text not null, primary key (rack, host)
);
create table if not exists run_line (
    rack text not null, run text not null, place text not null, state text not null, at text not null, said text not null,
    head integer not null, primary key (rack, run, place)
);
"""

_HEALTH_DAYS = 100
"""How many days of findings on cells are kept."""


class StoreError(ExacellError):
    """A snapshot is unknown, or the store can't be read or written."""

    exit_code = ExitCode.NOT_EXECUTED


def none_of(what: str, name: str, known: Iterable[str], *, rack: str = "", makes: str) -> StoreError:
    """Return the error for a name that is not in the store; it lists similar names, or else all names of that kind.

    Args:
        what: the kind of thing, such as ``snapshot``.
        makes: the statement that keeps one.
    """
    message, hint = unknown(
        f"there is no {what} {name}" + (f" of rack {rack}" if rack else ""), name, known, hint=f"`{makes}` keeps one"
    )
    return StoreError(message, hint=hint)


def _way_out(error: Exception) -> str:
    """Return the hint for an error of the store's file."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # The primary code, without the extended part.
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full: free space; the data in the store is unchanged"
    if code == sqlite3.SQLITE_IOERR:
        return "its disk may be full or failing; the older data in the store is unchanged"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another exacell is writing to it: try again"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) or isinstance(error, OSError):
        return "exacell needs permission to read and write it and its directory"
    return "repair it or move it to another place: it has snapshots, kept plans and baselines, but not the journal"


class Store:
    """The store in one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in (self._path, Path(f"{self._path}-journal")):
                sure(path)
            os.close(
                os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            )  # SQLite would let others read it.
            connection = sqlite3.connect(self._path, timeout=30)
            try:
                connection.executescript(_SCHEMA)
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the store {self._path} can't be used: {error}", hint=_way_out(error)) from error

    @contextmanager
    def _reading(self, what: str, name: str, again: str) -> Iterator[None]:
        """Raise an error that names the stored thing if the block can't read it, because somebody edited its text.

        Raises:
            StoreError: the block can't read it.
        """
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"the {what} {name} in {self._path} is damaged", hint=f"{again} replaces it") from error

    def save(self, snapshot: Snapshot) -> bool:
        """Keep a snapshot, and return whether it replaced one with the same name and kind."""
        key = (snapshot.rack, snapshot.name, snapshot.kind)
        with self._open() as connection:
            gone = connection.execute("delete from snapshot where rack=? and lower(name)=lower(?) and kind=?", key)
            connection.execute("insert into snapshot values (?,?,?,?,?)", (*key, snapshot.taken, to_json(snapshot)))
        return gone.rowcount > 0

    def snapshots(self, rack: str) -> list[Snapshot]:
        """Return all snapshots of a rack, oldest first."""
        query = "select name, body, 'snap ' || kind || ' as=' || name from snapshot where rack=? order by taken, name"
        return self._all("snapshot", query, rack, from_json)

    def snapshot_names(self, rack: str) -> tuple[str, ...]:
        """Return the names of a rack's snapshots, each once, sorted."""
        return tuple(sorted({snapshot.name for snapshot in self.snapshots(rack)}))

    def find(self, rack: str, name: str, hosts: Iterable[str] = ()) -> list[Snapshot]:
        """Return the snapshots with that name, one per kind.

        Args:
            hosts: as for :meth:`find_baseline`.

        Raises:
            StoreError: there is none; the message names the existing ones.
        """
        known = tuple(hosts)
        found = [named(s, known) for s in self.snapshots(rack) if s.name.lower() == name.lower()]
        if not found:
            raise none_of("snapshot", name, self.snapshot_names(rack), rack=rack, makes="snap flashlog as=NAME")
        return found

    def save_plan(self, plan: SavedPlan) -> None:
        """Keep a plan; a plan with the same name is replaced."""
        self._keep("plan", plan.rack, plan.name, json.dumps(asdict(plan)), at=plan.made)

    def plans(self, rack: str) -> list[SavedPlan]:
        """Return the kept plans of a rack, oldest first."""
        query = "select name, body, 'plan as=' || name || ' <statement>' from plan where rack=? order by made, name"
        return self._all("kept plan", query, rack, lambda body: SavedPlan(**{**body, "cells": tuple(body["cells"])}))

    def _all(self, what: str, query: str, rack: str, made_of: Callable[[Any], T]) -> list[T]:
        """Return the things of a rack that ``query`` selects: name, body, and the statement that would replace it.

        Raises:
            StoreError: one is damaged; the hint names that statement.
        """
        if not self._path.exists():
            return []
        with self._open() as connection:
            rows = connection.execute(query, (rack,)).fetchall()
        found = []
        for name, body, again in rows:
            with self._reading(what, name, f"`{again}`"):
                found.append(made_of(json.loads(body)))
        return found

    def find_plan(self, rack: str, name: str, hosts: Iterable[str] = ()) -> SavedPlan:
        """Return the kept plan with that name.

        Args:
            hosts: as for :meth:`find_baseline`.

        Raises:
            StoreError: there is none; the message names the existing ones.
        """
        found = self.plans(rack)
        for plan in found:
            if plan.name.lower() == name.lower():
                return plan.named(hosts)
        raise none_of("plan", name, [plan.name for plan in found], rack=rack, makes="plan as=NAME <statement>")

    def keep_identities(self, rack: str, found: Mapping[str, Identity]) -> None:
        """Keep the identities of a production rack's hosts; older identities of these hosts are replaced."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [
            (rack, host, at, json.dumps({"keys": sorted(one.keys), "id": one.id, "addresses": sorted(one.addresses)}))
            for host, one in found.items()
        ]
        with self._open() as connection:
            connection.executemany("insert or replace into identity values (?,?,?,?)", rows)

    def identities(self, racks: Sequence[str]) -> dict[Place, Identity]:
        """Return the kept identities of the hosts of some racks, by rack and host.

        Raises:
            StoreError: they can't be read.
        """
        if not self._path.exists():
            return {}
        marks = ",".join("?" * len(racks))
        with self._open() as connection:
            rows = connection.execute(
                f"select rack, host, body from identity where rack in ({marks})", racks
            ).fetchall()
        found = {}
        for rack, host, body in rows:
            with self._reading("identity of", host, f"`refresh` on rack {rack}"):
                kept = json.loads(body)
                found[rack, host] = Identity(
                    keys=frozenset(kept["keys"]), id=kept["id"], addresses=frozenset(kept["addresses"])
                )
        return found

    def keep_experiment(self, rack: str, name: str, began: str, state: str, body: Mapping[str, Any]) -> None:
        """Keep an experiment in its present state; an older state is replaced."""
        row = (rack, name, began, state, json.dumps(body))
        with self._open() as connection:
            connection.execute("insert or replace into experiment values (?,?,?,?,?)", row)

    def experiments(self, rack: str, made_of: Callable[[Any], T], *states: str) -> list[T]:
        """Return the experiments of a rack, oldest first; only those in one of ``states``, if any are given."""
        only = f" and state in ({','.join(map(repr, states))})" if states else ""
        query = f"select name, body, 'a new one' from experiment where rack=?{only} order by began, name"
        return self._all("experiment", query, rack, made_of)

    def keep_run(self, rack: str, name: str, began: str, state: str, body: Mapping[str, Any]) -> None:
        """Keep a recipe's run in its present state; an older state is replaced. Its lines are kept apart from it."""
        row = (rack, name, began, state, json.dumps(masked_data(body)))
        with self._open() as connection:
            connection.execute("insert or replace into run values (?,?,?,?,?)", row)

    def runs(self, rack: str, made_of: Callable[[Any], T], *states: str) -> list[T]:
        """Return the recipe runs of a rack, oldest first; only those in one of ``states``, if any are given."""
        only = f" and state in ({','.join(map(repr, states))})" if states else ""
        query = f"select name, body, 'a new run' from run where rack=?{only} order by began, name"
        return self._all("run", query, rack, made_of)

    def keep_line(self, rack: str, run: str, place: str, state: LineState) -> None:
        """Keep the state of a line of a run."""
        row = (rack, run, place, state.state, state.at, state.said, state.head)
        with self._open() as connection:
            connection.execute("insert or replace into run_line values (?,?,?,?,?,?,?)", row)

    def run_lines(self, rack: str, run: str) -> dict[str, LineState]:
        """Return place → state, for each line of a run that was begun."""
        query = "select place, state, at, said, head from run_line where rack=? and run=?"
        with self._open() as connection:
            rows = connection.execute(query, (rack, run)).fetchall()
        return {place: LineState(state=state, at=at, said=said, head=head) for place, state, at, said, head in rows}

    def save_baseline(self, rack: str, name: str, facts: Mapping[str, Mapping[str, str]]) -> None:
        """Keep a baseline; one with the same name is replaced."""
        self._keep("baseline", rack, name, _unsecret(facts))

    def find_baseline(self, rack: str, name: str, hosts: Iterable[str] = ()) -> dict[str, dict[str, str]]:
        """Return the baseline with that name.

        Args:
            hosts: the present names of the rack's cells and hosts; the baseline may hold their short or their full names.

        Raises:
            StoreError: there is none; the message names the existing ones.
        """
        kept = self._kept("baseline", rack, name, what="baseline", makes="save baseline as=NAME")
        return called_now(kept, hosts)

    def save_iorm(self, rack: str, name: str, plans: Mapping[str, Mapping[str, str]]) -> None:
        """Keep cell → ``dbPlan`` and ``objective``; older ones with the same name are replaced."""
        self._keep("iorm", rack, name, _unsecret(plans))

    def find_iorm(self, rack: str, name: str, hosts: Iterable[str] = ()) -> dict[str, dict[str, str]]:
        """Return cell → ``dbPlan`` and ``objective`` as kept under that name.

        Args:
            hosts: as for :meth:`find_baseline`.

        Raises:
            StoreError: there is nothing; the message names the existing ones.
        """
        return called_now(self._kept("iorm", rack, name, what="IORM plan", makes="save iorm as=NAME"), hosts)

    def save_import(self, name: str, taken: str, body: str) -> None:
        """Keep an import, a JSON text that holds its ``name``; it belongs to no rack. One with the same name is replaced."""
        self._keep("imported", "", name, body, at=taken)

    def imports(self) -> list[dict[str, Any]]:
        """Return the bodies of all imports, oldest first."""
        query = "select name, body, 'import FILE… as=' || name from imported where rack=? order by taken, name"
        return self._all("import", query, "", dict)

    def find_import(self, name: str) -> dict[str, Any]:
        """Return the body of the import with that name.

        Raises:
            StoreError: there is none; the message names the existing ones.
        """
        found = self.imports()
        for body in found:
            if str(body["name"]).lower() == name.lower():
                return body
        raise none_of("import", name, [str(body["name"]) for body in found], makes="import FILE… as=NAME")

    def save_traces(self, rack: str, found: Collected) -> None:
        """Keep a collection of trace files; one with the same name is replaced."""
        self._keep("traces", rack, found.name, json.dumps(collected_to_state(found)), at=found.taken)

    def traces(self, rack: str) -> list[Collected]:
        """Return all collections of trace files, oldest first."""
        query = "select name, body, 'trace collect as=' || name from traces where rack=? order by taken, name"
        return self._all("collection of traces", query, rack, collected_from_state)

    def find_traces(self, rack: str, name: str) -> Collected | None:
        """Return the collection of trace files with that name; None if there is none."""
        return next((found for found in self.traces(rack) if found.name.lower() == name.lower()), None)

    def keep_health(self, rack: str, at: float, told: Mapping[str, Told]) -> None:
        """Keep the findings on cells at a moment, epoch seconds, for the cells whose findings have changed."""
        with self._open() as connection:
            was = self._health(connection, rack, at)
            rows = [
                (rack, cell, at, json.dumps(found))
                for cell, found in told.items()
                if cell not in was or was[cell].told != found
            ]
            connection.executemany("insert or replace into health values (?,?,?,?)", rows)
            oldest = at - _HEALTH_DAYS * 86400
            connection.execute(
                "delete from health where rack=? and at<? and exists"
                " (select 1 from health as later where later.rack=health.rack and later.cell=health.cell"
                " and later.at>health.at and later.at<=?)",
                (rack, oldest, oldest),
            )

    def health_at(self, rack: str, moment: float, hosts: Iterable[str] = ()) -> dict[str, Past]:
        """Return the findings on each cell at ``moment``, epoch seconds; if all kept findings are later, the first ones.

        Args:
            hosts: as for :meth:`find_baseline`.
        """
        known = tuple(hosts)
        with self._open() as connection:
            first, then = (
                self._health(connection, rack, float("inf"), first=True),
                self._health(connection, rack, moment),
            )
        ages = (
            sorted(first.items(), key=lambda entry: -entry[1].at),
            sorted(then.items(), key=lambda entry: entry[1].at),
        )
        oldest, newest = (called_now(dict(age), known) for age in ages)
        return oldest | newest

    def _health(
        self, connection: sqlite3.Connection, rack: str, until: float, *, first: bool = False
    ) -> dict[str, Past]:
        pick = "min" if first else "max"  # SQLite takes the body from the row with the minimum or maximum.
        query = f"select cell, {pick}(at), body from health where rack=? and at<=? group by cell"
        found = {}
        for cell, at, body in connection.execute(query, (rack, until)):
            with self._reading("kept health of", cell, "`show health`"):
                found[cell] = Past(at=at, told=tuple((str(area), str(text)) for area, text in json.loads(body)))
        return found

    def _keep(self, table: str, rack: str, name: str, text: str, *, at: str = "") -> None:
        at = at or datetime.now(UTC).isoformat(timespec="seconds")
        with self._open() as connection:
            connection.execute(f"delete from {table} where rack=? and lower(name)=lower(?)", (rack, name))
            connection.execute(f"insert into {table} values (?,?,?,?)", (rack, name, at, text))

    def _kept(self, table: str, rack: str, name: str, *, what: str, makes: str) -> dict[str, dict[str, str]]:
        with self._open() as connection:
            rows = connection.execute(f"select name, body from {table} where rack=?", (rack,)).fetchall()
        for known, body in rows:
            if known.lower() == name.lower():
                with self._reading(what, known, f"`{makes.replace('NAME', known)}`"):
                    return {str(cell): dict(own) for cell, own in json.loads(body).items()}
        raise none_of(what, name, [row[0] for row in rows], rack=rack, makes=makes)


def _unsecret(body: Mapping[str, Mapping[str, str]]) -> str:
    """Return cells' attributes as JSON, with the communities and passwords in them masked."""
    return json.dumps(masked_data(body))
