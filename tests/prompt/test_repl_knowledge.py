"""What is learned about a rack, how often words are used, and what history offers."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from exacell.cellcli.rows import TypedRows
from exacell.cellcli.tables import Table, TypedTable
from exacell.core import paths
from exacell.core.paths import Home
from exacell.journal.record import Journal
from exacell.language.registry import Kind
from exacell.session.answers import Answer, Answers
from exacell.session.completion import names
from exacell.session.completion.knowledge import files
from exacell.session.completion.learning import (
    SHOWN,
    STATEMENTS,
    learn_rack,
    observe,
    stale,
)
from exacell.session.completion.names import NameCache
from exacell.session.completion.stored_names import STORED, stored_names
from exacell.session.history import (
    Entry,
    Usage,
    append_history,
    may_change,
    offered_on,
    read_entries,
)
from exacell.session.saved import SavedPlan
from exacell.session.store import Store
from exacell.transport.base import Reply, State
from tests.support.every import every

TABLES: dict[str, list[dict[str, Any]]] = {
    "GRIDDISK": [
        {"name": "DATA_CD_00_c1", "asmDiskGroupName": "DATA", "status": "active", "cachingPolicy": "default"},
        {"name": "ssd_FD_01_c1", "asmDiskGroupName": None, "status": "inactive", "cachingPolicy": "none"},
    ],
    "CELLDISK": [{"name": "CD_00_c1", "diskType": "HardDisk", "status": "normal"}],
    "PHYSICALDISK": [{"name": "20:0", "diskType": "HardDisk", "status": "normal"}],
    "LUN": [{"name": "0_0", "status": "normal"}],
    "DATABASE": [{"name": "SPOT"}],
    "ALERTHISTORY": [
        {"cell": "c1", "name": "3_1", "severity": "critical", "alertMessage": "Flash disk failed."},
        {"cell": "c2", "name": "3_1", "severity": "warning", "alertMessage": "File system is 80% full."},
    ],
}


class FakeFleet:
    """Answers for c1 and not for c2."""

    def releases(self, cells: Sequence[str]) -> dict[str, str]:
        return {"c1": "19.3.2.0.0"}

    def query(self, cells: Sequence[str], statements: Sequence[str], **more: object) -> Answers:
        reply = Reply(target="c1", state=State.OK)
        described = [{"name": "FL_DISK_FIRST", "description": "redo writes on disk first"}]
        tables = tuple(tuple(t) for t in TABLES.values()) if len(statements) > 1 else (tuple(described),)
        answers = {"c1": Answer(cell="c1", tables=tables, reply=reply)}
        if "c2" in cells:
            answers["c2"] = Answer(cell="c2", problem="refused the connection", reply=reply)
        return Answers(answers=answers)


def test_what_is_kept_on_disk_is_offered_by_name(tmp_path: Path) -> None:
    """Plans and changes come with their statement, of this rack only, changes newest first; no file is made by asking."""
    home = Home.from_env({"EXACELL_HOME": str(tmp_path)})
    assert not any(stored_names(home, "t1", kind) for kind in STORED) and not list(tmp_path.iterdir())
    store = Store(tmp_path / "store.db")
    for rack, name in (("t1", "monday"), ("u2", "other")):
        store.save_plan(
            SavedPlan(name=name, rack=rack, statement=f"resize {name}", cells=(), facts={}, stages=[], made="2026")
        )
    store.save_baseline("t1", "golden", {})
    journal = Journal(tmp_path / "journal.db")
    for rack, statement in (("t1", "flush flashcache"), ("u2", "list cell"), ("t1", "undo 1")):
        journal.begin(rack, {"statement": statement})
    assert stored_names(home, "t1", Kind.PLAN) == [("monday", "resize monday")]
    assert [name for name, _ in stored_names(home, "t1", Kind.BASELINE)] == ["golden"]
    assert stored_names(home, "t1", Kind.CHANGE) == [("3", "undo 1"), ("1", "flush flashcache")]
    assert stored_names(home, "t1", Kind.SNAPSHOT) == []
    for rack, name in (("t1", "e1"), ("u2", "e9")):
        store.keep_experiment(rack, name, "2026", "done", {})
    assert stored_names(home, "t1", Kind.MEASURED) == [("e1", "experiment")]


def test_a_store_that_cannot_be_read_stops_no_key(tmp_path: Path) -> None:
    """A damaged file offers nothing, and one that another process is writing is not waited for."""
    home = Home.from_env({"EXACELL_HOME": str(tmp_path)})
    (tmp_path / "store.db").write_bytes(b"no database " * 100)
    assert stored_names(home, "t1", Kind.PLAN) == ()
    Journal(tmp_path / "journal.db").begin("t1", {"statement": "x"})
    with closing(sqlite3.connect(tmp_path / "journal.db")) as other:
        other.execute("begin exclusive")
        assert stored_names(home, "t1", Kind.CHANGE) == ()
        other.rollback()


def test_a_rack_is_learned_from_the_cells_that_answer(tmp_path: Path) -> None:
    """Names, prefixes, disk groups, values, releases and metric descriptions come from one reading of the rack."""
    cache = NameCache(tmp_path / "names" / "t1.json")
    assert stale(cache) and cache.age() == ""
    learn_rack(FakeFleet(), ("c1", "c2"), cache, cancel=threading.Event())  # type: ignore[arg-type]
    assert list(STATEMENTS) == list(TABLES)
    assert cache.get(Kind.GRIDDISK) == ("DATA_CD_00_c1", "ssd_FD_01_c1")
    assert (cache.get(Kind.PREFIX), cache.get(Kind.DISKGROUP)) == (("DATA", "ssd"), ("DATA",))
    assert cache.get(Kind.DB) == ("SPOT",) and cache.seen("GRIDDISK", "cachingPolicy") == ("default", "none")
    assert cache.releases() == {"c1": "19.3.2.0.0"}
    assert cache.vocabulary(Kind.METRIC).meta("FL_DISK_FIRST") == "redo writes on disk first"
    assert not stale(cache) and cache.age() == "just now"
    assert cache.vocabulary(Kind.DB).meta("SPOT") == "db, seen just now"


def test_age_is_told_in_words(tmp_path: Path) -> None:
    """How old the knowledge is reads like speech."""
    cache = NameCache(tmp_path / "t1.json")
    cache.learn({Kind.DB: ["A"]}, whole=True)
    at = cache.learned_at
    assert at is not None
    assert [cache.age(at + s) for s in (5, 130, 7300, 200_000)] == ["just now", "2m ago", "2h ago", "2d ago"]


def test_answers_that_pass_by_teach_too(tmp_path: Path) -> None:
    """A LIST adds names and values to what is known; it takes nothing away and does not make it young."""
    cache = NameCache(tmp_path / "t1.json")
    cache.learn({Kind.GRIDDISK: ["A"]})
    observe(cache, "GRIDDISK", [{"cell": "c1", "name": "B", "status": "active", "comment": "x" * 50}])
    assert cache.get(Kind.GRIDDISK) == ("A", "B") and cache.seen("griddisk", "status") == ("active",)
    assert cache.seen("griddisk", "comment") == () and cache.learned_at is None


def test_an_answer_in_xml_teaches_what_its_records_teach(tmp_path: Path) -> None:
    """Records that are stored by column add the names and values that they add as records."""
    names = ("name", "status", "size", "comment")
    texts = [("A", "active", "1G", ""), ("B", "inactive", "2G", "x" * 50), ("", "active", "2G", "a b")]
    tables = {"c1": TypedTable(Table(names, tuple(zip(*texts, strict=True))), "GRIDDISK")}
    rows = TypedRows.of(tables, ())
    assert rows is not None
    by_column, by_record = NameCache(tmp_path / "t1.json"), NameCache(tmp_path / "t2.json")
    observe(by_column, "GRIDDISK", rows)
    observe(by_record, "GRIDDISK", list(rows))
    assert by_column.get(Kind.GRIDDISK) == by_record.get(Kind.GRIDDISK) == ("A", "B")
    for name in names:
        assert by_column.seen("griddisk", name) == by_record.seen("griddisk", name)
    assert by_column.seen("griddisk", "status") == ("active", "inactive")


def test_alerts_are_known_by_number_with_what_they_are_about(tmp_path: Path) -> None:
    """Alerts come with cells, severity and message from a reading of the rack, and from show alerts what is new."""
    cache = NameCache(tmp_path / "t1.json")
    learn_rack(FakeFleet(), ("c1",), cache, cancel=threading.Event())  # type: ignore[arg-type]
    assert cache.vocabulary(Kind.ALERT).meta("3_1") == "c[1-2] critical: Flash disk failed"
    observe(cache, SHOWN["show alerts"], [{"cell": "c1", "name": "4", "severity": "info", "alertMessage": "Hello"}])
    observe(cache, "ALERTHISTORY", [{"cell": "c1", "name": "5"}, {"cell": "c1", "name": "4"}])
    assert cache.get(Kind.ALERT) == ("3_1", "4", "5")
    assert [cache.vocabulary(Kind.ALERT).meta(name) for name in ("3_1", "4", "5")] == [
        "c[1-2] critical: Flash disk failed",
        "c1 info: Hello",
        "",
    ]


def test_another_process_sees_what_was_learned(tmp_path: Path) -> None:
    """A cache is read again when its file has changed, and a damaged file is an empty one."""
    first, second = NameCache(tmp_path / "t1.json"), NameCache(tmp_path / "t1.json")
    assert second.get(Kind.DB) == ()
    first.learn({Kind.DB: ["SPOT"]})
    assert second.get(Kind.DB) == ("SPOT",)
    first.forget()
    assert second.get(Kind.DB) == () and first.forgotten == 1
    (tmp_path / "t1.json").write_text("[broken")
    assert first.get(Kind.DB) == ()


def test_what_this_process_learned_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its own write a cache parses nothing, and a kind of which nothing new was learned is not made ready again."""
    cache = NameCache(tmp_path / "t1.json")
    cache.learn({Kind.GRIDDISK: ["A"], Kind.DB: ["SPOT"]})
    before = cache.vocabulary(Kind.GRIDDISK)
    monkeypatch.setitem(sys.modules, "json", None)
    assert cache.get(Kind.GRIDDISK) == ("A",)
    monkeypatch.undo()
    cache.learn({Kind.DB: ["SPOT", "SALES"]}, values={"LUN.status": map(str, range(13))}, whole=True)
    assert cache.vocabulary(Kind.GRIDDISK) is before and list(cache.vocabulary(Kind.DB)) == ["SALES", "SPOT"]
    stamp = (tmp_path / "t1.json").stat().st_mtime_ns
    cache.learn({}, values={"LUN.status": map(str, range(13))})
    assert (tmp_path / "t1.json").stat().st_mtime_ns == stamp and cache.seen("lun", "status") == ()
    assert NameCache(tmp_path / "t1.json").vocabulary(Kind.DB).note == cache.vocabulary(Kind.DB).note


def test_use_is_counted_for_each_first_word_and_kept(tmp_path: Path) -> None:
    """Words count behind their verb, in any case; values in quotes do not; the counts outlive the session."""
    usage = Usage(tmp_path / "usage.json")
    for statement in ("list griddisk attributes name,size", "LIST GRIDDISK", "on c1 list griddisk", "alter x c='list'"):
        usage.note(statement)
    again = Usage(tmp_path / "usage.json")
    assert (again.count("list", "griddisk"), again.count("list", "size"), again.count("", "list")) == (3, 1, 3)
    assert again.count("alter", "list") == 0


@every(
    [
        ("list griddisk", False),
        ("on c1 list griddisk where size > 1G", False),
        ("show flashcache; racks", False),
        ("flush flashcache", True),
        ("racks; flush flashcache", True),
        ("drop griddisk all prefix=x", True),
        ("!rm -rf x", True),
        ("nonsense", True),
        ("run reset_cold", True),
        ("@reset_cold", True),
        ("start weekly.scl", True),
        ("plan resize flashcache size=1g", False),
        ("on (where a=b) list cell", True),
    ]
)
def test_what_may_change_something(text: str, may: bool) -> None:
    """Only what certainly reads is taken for harmless."""
    assert may_change(text) is may


def test_history_belongs_to_a_rack(tmp_path: Path) -> None:
    """Entries keep their rack; another rack is offered the reads only, and lines of older files belong to no rack."""
    path = tmp_path / "history"
    path.write_text("flush flashcache\nlist cell\n")
    append_history(path, "drop flashcache\tall", "prod")
    append_history(path, "list lun", "prod")
    assert read_entries(path)[2] == Entry(rack="prod", text="drop flashcache\tall")
    assert offered_on("t1", read_entries(path)) == ["list cell", "list lun"]
    assert offered_on("prod", read_entries(path)) == ["list cell", "drop flashcache\tall", "list lun"]


def test_files_are_completed(tmp_path: Path) -> None:
    """Paths that begin with what is typed are offered, directories with a slash, hidden files when asked for."""
    (tmp_path / "check.scl").touch()
    (tmp_path / "checks").mkdir()
    (tmp_path / ".hidden").touch()
    assert files(f"{tmp_path}/che") == [f"{tmp_path}/check.scl", f"{tmp_path}/checks/"]
    assert f"{tmp_path}/.hidden" not in files(f"{tmp_path}/") and files(f"{tmp_path}/.h") == [f"{tmp_path}/.hidden"]
    assert files(f"{tmp_path}/none/x") == []


def test_two_threads_that_learn_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one thread learns in the moment in which another one keeps something is known afterwards, and so is that."""
    cache = NameCache(tmp_path / "names.json")
    replace = paths.os.replace
    other = threading.Thread(target=lambda: cache.learn({Kind.GRIDDISK: ["DATA_CD_00"]}))

    def meanwhile(source: Path, target: Path) -> None:
        if not other.ident:
            other.start()
            other.join(0.2)
        replace(source, target)

    monkeypatch.setattr(paths.os, "replace", meanwhile)
    cache.learn({Kind.CELL: ["exa1cel01"]})
    other.join(300)
    for known in (cache, NameCache(tmp_path / "names.json")):
        assert (known.get(Kind.CELL), known.get(Kind.GRIDDISK)) == (("exa1cel01",), ("DATA_CD_00",))


def test_names_are_found_while_they_are_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A completion that is made while new names arrive has the names of before, or the new ones, and never fails."""
    cache = NameCache(tmp_path / "names.json")
    cache.learn({Kind.CELL: ["exa1cel01"]})
    made = names.Vocabulary

    def meanwhile(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(names, "Vocabulary", made)
        learner = threading.Thread(
            target=lambda: (cache.learn({Kind.CELL: ["exa1cel02"]}), cache.vocabulary(Kind.GRIDDISK))
        )
        learner.start()
        learner.join(300)
        return made(*given, **more)

    monkeypatch.setattr(names, "Vocabulary", meanwhile)
    assert "exa1cel01" in cache.vocabulary(Kind.CELL)
    assert "exa1cel02" in cache.vocabulary(Kind.CELL)
