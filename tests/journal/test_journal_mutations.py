"""Whatever is done to a journal's rows behind its back, verify finds it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from exacell.journal.chain import walk
from exacell.journal.record import Journal, Row
from tests.support.forging import forging

COUNT = 12
FIELDS = ("at", "rack", "change", "kind", "target", "body", "prev", "hash")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of twelve rows."""
    folder = tmp_path_factory.mktemp("template")
    journal = Journal(folder / "journal.db")
    for number in range(3):
        change = journal.begin("t1", {"statement": f"flush {number}"})
        journal.append("t1", change, [Row(kind="intent", target="c1", body={"n": number})])
        journal.append("t1", change, [Row(kind="outcome", target="c1", body={"n": number}), Row(kind="end", body={})])
    return folder


edits = st.tuples(
    st.just("edit"),
    st.integers(1, COUNT),
    st.sampled_from(FIELDS),
    st.one_of(st.text(max_size=8), st.integers(0, 99), st.just('{"n":0}')),
)
mutations = st.one_of(
    edits,
    st.tuples(st.just("remove"), st.integers(1, COUNT)),
    st.tuples(st.just("swap"), st.integers(1, COUNT), st.integers(1, COUNT)),
    st.tuples(st.just("cut"), st.integers(0, COUNT - 1)),
    st.tuples(st.just("copy"), st.integers(1, COUNT)),
    st.tuples(st.just("renumber"), st.integers(1, COUNT)),
)


def apply(connection: sqlite3.Connection, mutation: tuple[Any, ...]) -> None:
    match mutation:
        case ("edit", seq, name, value):
            connection.execute(f"update entry set {name} = ? where seq = ?", (value, seq))
        case ("remove", seq):
            connection.execute("delete from entry where seq = ?", (seq,))
        case ("swap", one, two):
            for old, new in ((one, -1), (two, one), (-1, two)):
                connection.execute("update entry set seq = ? where seq = ?", (new, old))
        case ("cut", last):
            connection.execute("delete from entry where seq > ?", (last,))
        case ("copy", seq):
            names = ", ".join(FIELDS)
            connection.execute(f"insert into entry select {COUNT + 1}, {names} from entry where seq = ?", (seq,))
        case ("renumber", seq):
            connection.execute("delete from entry where seq = ?", (seq,))
            connection.execute("update entry set seq = seq - 1 where seq > ?", (seq,))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(todo=st.lists(mutations, min_size=1, max_size=3))
def test_any_mutation_is_found(template: Path, tmp_path: Path, todo: list[tuple[Any, ...]]) -> None:
    """It should find every edited, removed, moved, copied or cut-off row, and nothing where nothing differs."""
    path = tmp_path / "journal.db"
    for name in ("journal.db", "journal.head"):
        shutil.copy(template / name, tmp_path / name)
    before = Journal(path).stored()
    try:
        with forging(path) as connection:
            for mutation in todo:
                apply(connection, mutation)
    except sqlite3.IntegrityError:
        return  # SQLite itself refuses a second row of one number.
    journal = Journal(path)
    after = journal.stored()
    problem = journal.verify()
    if after == before:
        assert problem == ""
    else:
        assert problem
        good = walk(after).good
        assert after[:good] == before[:good]  # Everything up to the place it names is as it was written.
