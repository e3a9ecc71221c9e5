"""What SQL, commands and files for somebody else must get past before anything is sent, on racks that only answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exacell.care.sqltext import ROWS
from exacell.change.racklock import lock_of
from exacell.commands.opaque import _unread
from exacell.core.config import AsmConfig
from exacell.core.errors import (
    ExacellError,
    ExitCode,
    JournalError,
    RefusedError,
    ReplyError,
    StatementError,
)
from exacell.plan.asmfacts import END
from exacell.session.request import Request
from exacell.transport.capabilities import CLUSH, EXACLI
from tests.support.sessions import Session

SQL = 'sql db=SPOT "alter system switch logfile"'


def session(folder: Path, **rack: Any) -> Session:
    """A session whose rack has a node where a database takes every change, and cells of a release that restricts logins."""
    asm = {"main": AsmConfig(name="main", nodes=("db1",), home="/grid")}
    found = Session(folder, **{"asm": asm, "write_user": "root", **rack})
    found.answers.rules += [
        ("releaseversion", lambda cell: f"\t {cell}\t 26.1.0.0.0.260131\n"),
        ("sqlplus", lambda node: f"{END}\n"),
    ]
    return found


@pytest.fixture
def opaque(tmp_path: Path) -> Session:
    """A rack that is neither in production nor emulated."""
    return session(tmp_path)


def test_sql_that_changes_runs_once_it_is_accepted_and_agreed_to(opaque: Session) -> None:
    """Neither --accept-opaque nor -y alone sends it; both do, and -n with them does not."""
    with pytest.raises(RefusedError, match=r"exacell can't tell what this does: .*; nothing was sent") as caught:
        opaque.say(f"{SQL} -y")
    assert "--accept-opaque" in caught.value.hint and opaque.console.questions == []
    with pytest.raises(RefusedError):
        opaque.say(f"{SQL} --accept-opaque")
    assert len(opaque.console.questions) == 1
    opaque.say(f"{SQL} --accept-opaque -y -n")
    assert opaque.written == []
    assert opaque.say(f"{SQL} --accept-opaque -y").exit_code is ExitCode.DONE
    assert opaque.written == ["db1"]


def test_plsql_passes_and_its_warning_is_a_failure(opaque: Session) -> None:
    """A block ends with a slash and is done when SQL*Plus came to its end; code that was kept with errors is a failure."""
    block = 'sql db=SPOT "begin dbms_x.y; end;" --accept-opaque -y'
    assert opaque.say(block).exit_code is ExitCode.DONE
    (sent,) = (request for request in opaque.answers.asked if "dbms_x" in (request.stdin or ""))
    assert "begin dbms_x.y; end;\n/\n" in (sent.stdin or "")
    opaque.answers.rules.insert(
        0, ("sqlplus", lambda node: f"Warning: Procedure created with compilation errors.\n{END}\n")
    )
    kept = opaque.say(block)
    assert kept.exit_code is ExitCode.FAILED and "created with compilation errors" in kept.problems[0]


def test_sql_that_does_not_come_to_its_end_says_so(opaque: Session) -> None:
    """Where SQL*Plus stopped early its last words are told, never the word ok."""
    opaque.answers.rules.insert(0, ("sqlplus", lambda node: "2 rows deleted.\n"))
    result = opaque.say(f"{SQL} --accept-opaque -y")
    assert result.problems == ["db1: SQL*Plus ended early; its last output: 2 rows deleted."]


@pytest.mark.parametrize("where", ["asm", "db=SPOT"])
def test_what_ends_with_its_session_is_sent_nowhere(opaque: Session, where: str) -> None:
    """alter session is refused on ASM and databases with the reason, before anybody is asked."""
    with pytest.raises(RefusedError, match="alter session lasts only for its session"):
        opaque.say(f'sql {where} "alter session set x=1" --accept-opaque -y')
    assert opaque.answers.asked == [] and opaque.console.questions == []


def test_a_production_rack_takes_no_sql_that_changes(tmp_path: Path) -> None:
    """set mode rw, --accept-opaque and -y together do not bring it there."""
    opaque = session(tmp_path, production=True)
    with pytest.raises(RefusedError, match=r"rack r is a production rack, .*; nothing was sent"):
        opaque.say(f"{SQL} --accept-opaque -y")
    assert opaque.answers.asked == []


def test_a_read_only_session_sends_no_sql_that_changes(opaque: Session) -> None:
    """It is refused before a node is looked for or anybody is asked, and a query is still answered."""
    opaque.services.set_mode(read_only=True)
    with pytest.raises(RefusedError, match="rack r is read-only"):
        opaque.say(f"{SQL} --accept-opaque")
    assert opaque.answers.asked == [] and opaque.console.questions == []


def test_a_disk_group_is_not_lost_because_its_sql_was_accepted(opaque: Session) -> None:
    """What takes a disk group's files needs its name, whatever else was accepted, also where PL/SQL executes it."""
    inside = (
        """sql db=SPOT "begin execute immediate 'alter diskgroup DATA drop file ''+DATA/x'''; end" --accept-opaque -y"""
    )
    for more in ("", " --accept-data-loss=RECO"):
        with pytest.raises(RefusedError, match=r"data would be lost on DATA \(DATA: it loses files\)"):
            opaque.say(inside + more)
    assert opaque.answers.asked == []
    assert opaque.say(f"{inside} --accept-data-loss=data").exit_code is ExitCode.DONE


def test_nobody_is_asked_about_sql_while_the_rack_is_locked(opaque: Session) -> None:
    """Whose lock it is, is said instead of the question."""
    holder = {"user": "maria", "host": "elsewhere", "pid": "77", "since": "2026-01-01T00:00:00+00:00", "why": "resize"}
    lock = lock_of(opaque.session.need_rack(), opaque.session.home.state_dir)
    lock.path.write_text(json.dumps({"kept": {**holder, "kept": True}}))
    with pytest.raises(RefusedError, match="rack r is locked by maria"):
        opaque.say(f"{SQL} --accept-opaque")
    assert opaque.console.questions == [] and opaque.written == []


def test_nobody_is_asked_about_sql_that_no_journal_can_take(opaque: Session) -> None:
    """A damaged journal is said instead of the question."""
    opaque.say(f"{SQL} --accept-opaque -y")
    opaque.services.journal.head_path.unlink()
    with pytest.raises(JournalError, match=r"its kept head .* is missing"):
        opaque.say(f"{SQL} --accept-opaque")
    assert opaque.console.questions == [] and opaque.written == ["db1"]


def test_a_transport_of_cellcli_alone_carries_no_commands(opaque: Session, tmp_path: Path) -> None:
    """Over exacli sh and copy are refused by what it carries, before a cell is asked anything."""
    opaque.answers.capabilities = EXACLI  # type: ignore[attr-defined]
    source = tmp_path / "note"
    source.write_text("x")
    for statement, name in (("sh uptime", "sh"), (f"copy {source}", "copy")):
        with pytest.raises(RefusedError, match=f"^{name} needs command lines on the hosts"):
            opaque.say(statement)
    assert opaque.answers.asked == []


def test_a_transport_without_copies_takes_commands_only(opaque: Session, tmp_path: Path) -> None:
    """Over clush a copy is refused by its name and nothing is sent; sh goes its way."""
    opaque.answers.capabilities = CLUSH  # type: ignore[attr-defined]
    source = tmp_path / "note"
    source.write_text("x")
    with pytest.raises(RefusedError, match=f"^copy {str(source)[:40]}.*: the transport clush copies no files"):
        opaque.say(f"copy {source} --accept-opaque")
    assert opaque.answers.asked == []
    assert opaque.say("sh uptime").exit_code is ExitCode.DONE


def test_a_restricted_login_is_told_before_a_script_or_a_copy_goes(tmp_path: Path) -> None:
    """celladmin on release 26.1 gets neither there, however they were accepted; one command that only shows something is
    sent bare, and root is not restricted."""
    source = tmp_path / "note"
    source.write_text("x")
    opaque, root = session(tmp_path, write_user="celladmin"), session(tmp_path)
    scripts = ("sh --accept-opaque touch x", "sh uptime; hostname", f"copy {source} --accept-opaque")
    for statement in scripts:
        told = rf"^{statement[:14]}.*: c\[1-2\] run release 26\.1 or later, where celladmin may run only CellCLI"
        with pytest.raises(RefusedError, match=told):
            opaque.say(statement)
        assert root.say(statement).exit_code is ExitCode.DONE
    assert opaque.written == [] and sorted(root.written) == ["c1", "c1", "c2", "c2"]
    root.say("sh uptime")
    assert {request.command for request in root.answers.asked[-2:]} == {"/bin/sh -c '(uptime\n) 2>&1'"}
    opaque.say("sh uptime")
    assert {request.command for request in opaque.answers.asked[-2:]} == {"uptime"}


def test_what_became_of_sql_is_told_and_journalled(opaque: Session) -> None:
    """What passed is done; what the instance refuses has failed, with its words; where no answer came it is not known."""

    def lost(node: str) -> str:
        opaque.answers.down.add(node)  # From now on: whoever looks for the instance finds it still.
        return f"{END}\n"

    outcomes = (
        (lambda node: f"{END}\n", ExitCode.DONE, "done", "done", ""),
        (lambda node: "ORA-01109: database not open\n", ExitCode.FAILED, "failed", "failed", "db1: ORA-01109: database not open"),
        (lost, ExitCode.FAILED, "failed", "unknown", "db1: connection refused"),
    )  # fmt: skip
    for answer, code, outcome, state, problem in outcomes:
        opaque.answers.rules[-1] = ("sqlplus", answer)
        result = opaque.say(f"{SQL} --accept-opaque -y")
        assert (result.exit_code, result.problems) == (code, [problem] if problem else [])
        assert list(result.records) == [{"cell": None, "where": "SPOT on db1", "outcome": outcome}]
        assert "SPOT on db1 would get: alter system switch logfile" in opaque.console.said
        rows = [row.body for row in opaque.services.journal.entries(rack="r") if row.kind == "outcome"]
        assert rows[-1]["state"] == state


def test_asm_sql_that_exacell_has_words_for_is_said_in_them(opaque: Session) -> None:
    """A disk group's drop is guarded as a typed one whatever was accepted, on the cluster that was named; a new one is
    refused with the statement that makes it."""
    for cluster, means in (
        ("", "this is: drop diskgroup DATA"),
        (" asm=main", "this is: drop diskgroup DATA asm=main"),
    ):
        with pytest.raises(ExacellError):  # Nothing answers for ASM here, and a plan needs that.
            opaque.say(f'sql asm "drop diskgroup DATA"{cluster} --accept-opaque -y')
        assert opaque.console.said[-1] == means
    with pytest.raises(RefusedError, match="exacell has its own create diskgroup") as caught:
        opaque.say("sql asm \"CREATE DISKGROUP X external redundancy failgroup a disk 'o/*/X*'\" --accept-opaque -y")
    assert caught.value.hint.startswith("create diskgroup NAME")
    assert opaque.written == []


def test_a_recipes_command_is_not_done_again_by_resume(opaque: Session) -> None:
    """What a command or a copy has done there can't be read back: resume names it and sends nothing."""
    opaque.request = Request(origin="resume r")
    (note,) = opaque.say("sh --accept-opaque touch x").notes
    assert note.startswith("sh is not repeated: check what it did, then type it again: `sh")
    assert opaque.answers.asked == []


def test_a_dry_run_of_sh_names_what_cannot_be_read(opaque: Session) -> None:
    """sh -n sends nothing that could change something, and journals nothing."""
    notes = opaque.say("sh -n --accept-opaque touch x").notes
    assert notes == ["can't be read: touch: not in the table of commands that only read", "-n: nothing was sent"]
    assert opaque.answers.asked == [] and not opaque.services.journal.exists


def test_only_what_may_change_something_is_journalled(opaque: Session) -> None:
    """sh leaves no row for a command that only shows something, and cells where it failed are @failed then."""
    opaque.answers.down.add("c2")
    assert opaque.say("sh uptime").exit_code is ExitCode.FAILED
    assert not opaque.services.journal.exists and list(opaque.session.selection.resolve("@failed")) == ["c2"]
    assert opaque.say("sh --accept-opaque touch x").exit_code is ExitCode.FAILED
    states = {
        row.target: row.body["state"] for row in opaque.services.journal.entries(rack="r") if row.kind == "outcome"
    }
    assert states == {"c1": "done", "c2": "unknown"}
    opaque.answers.down.clear()
    opaque.say("sh --accept-opaque touch x")
    assert list(opaque.session.selection.resolve("@down")) == ["c2"]  # Reads alone tell that.


def test_text_for_hosts_changes_no_cells_and_tells_nothing_of_them(tmp_path: Path) -> None:
    """A change of cells in a text for hosts is refused before anything is sent, and a silent host is none of @down's cells."""
    hosts = session(tmp_path, dbnodes=("db1",))
    with pytest.raises(RefusedError, match="'drop flashcache' changes cells, but db1 is not a cell; nothing was sent"):
        hosts.say("on db1 sh --accept-opaque cellcli -e drop flashcache")
    assert hosts.answers.asked == [] and not hosts.services.journal.exists
    hosts.answers.down.add("db1")
    assert hosts.say("on db1 sh uptime").problems == ["db1: connection refused"]
    assert not len(hosts.session.selection.targets("@down"))


@pytest.mark.parametrize(
    ("production", "text", "said"),
    [
        (True, "touch x", "what this does: touch: it is not in allow_commands of these hosts"),
        (True, "sysctl -w vm.swappiness=1", "what this does: -w: not among the options of sysctl that exacell reads"),
        (False, "touch x", "touch: not in the table of commands"),
    ],
)
def test_what_hosts_refuse_names_the_program_and_whose_table_lacks_it(
    tmp_path: Path, production: bool, text: str, said: str
) -> None:
    """Only on hosts of a production rack a program is missing in allow_commands; what shows something runs on both."""
    hosts = session(tmp_path, dbnodes=("db1",), production=production)
    with pytest.raises(RefusedError, match=said):
        hosts.say(f"on db1 sh {text}")
    assert hosts.answers.asked == []
    assert hosts.say("on db1 sh uptime").exit_code is ExitCode.DONE


def test_what_goes_on_without_its_link_is_for_hosts_and_journalled_so(tmp_path: Path) -> None:
    """sh --detach leaves nothing on cells: it is refused there; on hosts the journal names the folder where resume looks."""
    hosts = session(tmp_path, dbnodes=("db1",))
    with pytest.raises(StatementError, match="sh --detach is for hosts only: exacell leaves nothing running on a cell"):
        hosts.say("sh --accept-opaque --detach touch x")
    assert hosts.answers.asked == [] and not hosts.services.journal.exists
    hosts.answers.down.add("db1")
    hosts.say("on db1 sh --accept-opaque --detach touch x")
    (plan,) = [row.body for row in hosts.services.journal.entries(rack="r") if row.kind == "plan"]
    assert plan["detached"].startswith("/tmp/exacell-")


def test_programs_get_what_was_printed_in_records(opaque: Session) -> None:
    """With -o json in front the text of each cell is in its record, and nothing is printed beside."""
    assert [set(row) for row in opaque.say("-o json sh uptime").records] == [{"cell", "exitStatus", "text"}] * 2
    assert [set(row) for row in opaque.say("sh uptime").records] == [{"cell", "outcome"}] * 2


SETS = "alter system set optimizer_mode=all_rows scope=both"


def test_a_change_of_a_database_is_planned_for_its_owner_alone(opaque: Session) -> None:
    """What exacell plans goes as the owner of the software; under another login it is text that nobody can read."""
    with pytest.raises(RefusedError, match=r"exacell can't tell what this does: alter: "):
        opaque.say(f'sql db=SPOT user=app "{SETS}" -y')
    # As the owner it is read what there is now, which this rack does not tell.
    with pytest.raises(ReplyError, match="answers"):
        opaque.say(f'sql db=SPOT "{SETS}" -y --accept-opaque')
    assert opaque.written == []


def test_an_answer_that_did_not_come_is_not_taken_for_no_rows(opaque: Session) -> None:
    """SQL*Plus that came to its end without the answer to a query is told as that, and never as a query without rows."""
    query = 'sql db=SPOT "select name from v$database"'
    with pytest.raises(ReplyError, match=r"db1: SQL\*Plus gave only 0 of 1 answers"):
        opaque.say(query)
    opaque.answers.rules.append(("sqlplus", lambda node: f"{ROWS}\n{END}\n"))
    opaque.answers.rules.reverse()
    assert opaque.say(query).notes == ["0 rows from db1"]


@pytest.mark.parametrize("sql", ["alter system switch logfile", "begin dbms_x.y; end;"])
def test_what_would_be_sent_is_shown_whole(opaque: Session, sql: str) -> None:
    """A statement is shown as it was typed, and a block with the semicolon that is its own."""
    opaque.say(f'sql db=SPOT "{sql}" --accept-opaque -n')
    assert opaque.console.said == [f"SPOT on db1 would get: {sql}"]


@pytest.mark.parametrize(
    ("sql", "sign"),
    [
        ("alter system set open_cursors=0", "open_cursors"),
        ('ALTER SYSTEM RESET "_x$y" scope=spfile', "_x$y"),
        ("alter  system set a=1 b=2", "a"),
        ("alter system flush buffer_cache", "alter"),
        ("alter session set x=1", "alter"),
        ("alter system set optimizer_mode=all_rows", "alter"),  # Judged, but for a login that is not the owner's.
    ],
)
def test_a_parameter_that_is_not_judged_is_named(sql: str, sign: str) -> None:
    """ALTER SYSTEM of a parameter that exacell does not judge is refused by its name; other statements by their verb."""
    unread = _unread(sql)
    assert unread is not None and unread.sign == sign
