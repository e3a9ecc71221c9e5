"""What happens between the judgement of a command and the moment at which it leaves: by then the proof may be gone."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, Answering, MatrixRack
from matrix_run import prepared

from exacell.change.dcli.hosts import target
from exacell.change.dcli.leaving import Leaving
from exacell.change.dcli.verdict import Judgement
from exacell.change.dcli.work import Task, work_through
from exacell.change.racklock import lock_of
from exacell.core.config import RackConfig
from exacell.core.errors import JournalError
from exacell.opaque.scan import command_findings
from exacell.transport.base import FleetResult, Reply, Request, State, Upload
from tests.support.transports import Open

ONE, TWO, THREE = CELLS
FLUSHED = "raw: alter flashcache all flush"
DROP = "cellcli -e drop flashcache"
SAFE = "cellcli -e alter cell comment=mine"
UNPROVEN = "may hold the only copy of data"


class Site:
    """An operator at a rack that asks before each change, and what another operator does meanwhile."""

    def __init__(self, folder: Path, *before: str) -> None:
        self.rack = MatrixRack(folder / "rack", prepared(before))
        self.operator = self.rack.operator()
        session = self.operator.session
        assert session.need_rack() is not None and session.rack is not None
        session.rack = replace(session.rack, emulated=False, lock=folder / "lock")

    def raw(self, cell: str, statement: str) -> None:
        """Do something on a cell as somebody else."""
        text = self.rack.raw(cell, statement)
        assert "CELL-" not in text, text

    def at_the_answer(self, do: Callable[[], object]) -> None:
        """Let something happen between the question and the answer."""
        self.operator.services.console = Answering(do)

    def behind_the_first(self, do: Callable[[], object]) -> None:
        """Let something happen when the first changing command has been carried out."""
        self.at_the_answer(lambda: None)
        transport: Any = self.operator.services.transport
        run, sent = transport.run, []

        def running(requests: Sequence[Request], **more: Any) -> FleetResult:
            result: FleetResult = run(requests, **more)
            if any(request.role.changes for request in requests) and not sent:
                sent.append(True)
                do()
            return result

        transport.run = running

    def states(self) -> dict[str, tuple[str, str]]:
        """Return what the journal says became of each target: state and reason."""
        with sqlite3.connect(self.rack.home / "journal.db") as connection:
            rows = connection.execute("select target, body from entry where kind = 'outcome'").fetchall()
        return {name: (body["state"], body["reason"]) for name, body in ((n, json.loads(text)) for n, text in rows)}

    @property
    def struck(self) -> list[str]:
        """The cells that a changing command reached, in order."""
        return [host for host, _ in self.rack.sent]


def cancelled(site: Site) -> Callable[[], object]:
    return lambda: site.raw(TWO, "alter flashcache all cancel flush")


@pytest.mark.parametrize("words", [f"dcli -c {','.join(CELLS)} {DROP}", f"sh {DROP}"])
def test_a_proof_that_goes_during_the_question_stops_the_cell(tmp_path: Path, words: str) -> None:
    """A flush that another operator cancels before the answer should keep DROP from that cell, and the journal say so."""
    site = Site(tmp_path, FLUSHED)
    site.at_the_answer(cancelled(site))
    said = site.operator.do(words)
    assert said.code == 1 and f"{TWO}: " in said.text and UNPROVEN in said.text
    assert said.text.count("nothing was sent") == 1
    assert sorted(site.struck) == [ONE, THREE] and site.rack.lost_dirty == 0
    states = site.states()
    assert {name: state for name, (state, _) in states.items()} == {ONE: "done", TWO: "refused", THREE: "done"}
    assert UNPROVEN in states[TWO][1] and site.operator.services.journal.verify() == ""


@pytest.mark.parametrize("words", [f"dcli -c {TWO} {DROP}", f"on {TWO} sh {DROP}"])
def test_work_that_leaves_for_nobody_was_not_executed(tmp_path: Path, words: str) -> None:
    """Where every target is refused at the last look, exit code 2 should say that nothing was executed."""
    site = Site(tmp_path, FLUSHED)
    site.at_the_answer(cancelled(site))
    assert (site.operator.do(words).code, site.struck) == (2, [])


@pytest.mark.parametrize("option", ["--serial", "--batchsize 1", "--batchsize 2"])
def test_each_turn_has_its_own_look(tmp_path: Path, option: str) -> None:
    """A proof that goes while an earlier target is at work should stop the later one when its turn comes."""
    site = Site(tmp_path, FLUSHED)
    site.behind_the_first(lambda: site.raw(THREE, "alter flashcache all cancel flush"))
    said = site.operator.do(f"dcli {option} -c {','.join(CELLS)} {DROP}")
    assert said.code == 1 and f"{THREE}: " in said.text and UNPROVEN in said.text
    assert sorted(site.struck) == [ONE, TWO] and site.rack.lost_dirty == 0


def test_who_lost_the_rack_sends_no_more(tmp_path: Path) -> None:
    """When the lock is taken over during the work, the targets that are still to come should be left out, whatever the work."""
    for place, words in enumerate((DROP, "cellcli -e list cell; touch x")):
        site = Site(tmp_path / str(place), FLUSHED)
        site.operator.session.options = replace(site.operator.session.options, flags={"accept-opaque": True})
        if place:
            site.operator.watch.rack.carry_out = lambda request: (0, "")  # type: ignore[method-assign]
        sent: list[str] = []

        def taken_over(site: Site = site, sent: list[str] = sent) -> None:
            sent.append("one")
            assert site.operator.do("unlock --takeover").code == 0

        site.behind_the_first(taken_over)
        said = site.operator.do(f"dcli --serial -c {','.join(CELLS)} {words}")
        assert said.code == 1 and said.text.count("the lock of rack t1 was taken over; nothing was sent there") == 2
        assert [state for state, _ in site.states().values()] == ["done", "refused", "refused"] and len(sent) == 1


def test_a_journal_that_fails_on_the_way_breaks_the_work_off(tmp_path: Path) -> None:
    """Where the outcome of a command can't be journalled, exit code 4 should say that work was under way, and none follow."""
    site = Site(tmp_path, FLUSHED)
    site.at_the_answer(lambda: None)
    journal: Any = site.operator.services.journal
    append = journal.append

    def failing(rack: str, change: int, rows: Sequence[Any]) -> None:
        if any(row.kind in ("outcome", "end") for row in rows):
            raise JournalError("the disk is full; no statement that changes cells is sent")
        append(rack, change, rows)

    journal.append = failing
    said = site.operator.do(f"dcli --batchsize 1 -c {','.join(CELLS)} {DROP}")
    assert (
        said.code == 4
        and "change 1 (dcli" in said.text
        and "stopped halfway: the disk is full; no more statements" in said.text
    )
    assert "look at the targets" in said.text and site.struck == [ONE]


def test_a_takeover_says_from_whom(tmp_path: Path) -> None:
    """unlock --takeover should free a damaged lock and say so; the reason for a lock is in the journal and not in the lock."""
    site = Site(tmp_path)
    operator = site.operator
    assert operator.do("lock --reason='until noon' --ticket=CHG1").code == 0
    row = operator.services.journal.entries(change=1)[0].body
    assert (row["statement"], row["reason"], row["ticket"]) == ("lock", "until noon", "CHG1")
    assert operator.do("unlock").code == 0 and operator.do("lock reason=mine").code == 0
    assert operator.services.journal.entries(change=2)[0].body["reason"] == "mine"
    assert not re.search("noon|mine|CHG1", (tmp_path / "lock").read_text())
    (tmp_path / "lock").write_text("garbage")
    assert "can't be read" in operator.do("unlock").text
    said = operator.do("unlock --takeover")
    assert (
        said.code == 0
        and "rack t1 was locked by somebody (its file is damaged, the name is lost); the lock is removed" in said.text
    )
    assert (
        operator.services.journal.entries(change=3)[0].body["statement"].startswith("unlock --takeover from somebody")
    )
    assert "is not locked" in operator.do("unlock").text and operator.do("lock").code == 0


def test_who_holds_the_rack_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    """A change of a rack that somebody else keeps should be refused before the question, not behind it; over dcli too."""
    site = Site(tmp_path)
    operator = site.operator
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUDO_USER", "maria")
        operator.must("lock --reason='until noon'")
    asked: list[bool] = []
    site.at_the_answer(lambda: asked.append(True))
    sql = "sql asm 'BEGIN mine; END;' --accept-opaque"
    for statement in ("disable flashlog db=ERP", sql, f"dcli -c {','.join(CELLS)} {SAFE}"):
        said = operator.do(statement)
        assert said.code == 2 and "locked by maria" in said.text and not asked, said
    assert operator.do("disable flashlog db=ERP -n").code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUDO_USER", "maria")
        assert operator.do("disable flashlog db=ERP").code == 0 and asked


def test_a_cache_that_somebody_makes_is_seen(tmp_path: Path) -> None:
    """Where there was no cache at the judgement and there is one now, DROP should need that one's proof."""
    site = Site(tmp_path, FLUSHED, "raw: drop flashcache")
    site.at_the_answer(lambda: site.raw(TWO, "create flashcache all"))
    said = site.operator.do(f"dcli -c {TWO} {DROP}")
    assert (said.code, site.struck) == (2, []) and UNPROVEN in said.text


def test_more_than_was_confirmed_is_refused(tmp_path: Path) -> None:
    """Disks that ASM missed at the judgement and uses now should not be taken offline by what was confirmed before."""
    site = Site(tmp_path)
    site.raw(TWO, "alter griddisk all inactive")
    site.at_the_answer(lambda: site.raw(TWO, "alter griddisk all active"))
    said = site.operator.do(f"dcli -c {TWO} cellcli -e alter griddisk all inactive")
    assert said.code == 2 and site.struck == []
    assert "its risk is now redundancy; it was performance when you confirmed it" in said.text


def test_a_cell_that_stops_answering_gets_nothing(tmp_path: Path) -> None:
    """A cell whose proof can't be read when its turn comes should be refused with what is wrong with it."""
    site = Site(tmp_path, FLUSHED)
    away = Mishap(kind=Kind.LINK, at=Moment(Phase.SETTLE, 1, 1), everywhere=True)
    site.operator.watch.mishaps = (away,)
    site.at_the_answer(lambda: None)
    said = site.operator.do(f"dcli -c {TWO} {DROP}")
    assert site.operator.watch.struck == [away]
    assert (said.code, site.struck) == (2, []) and "no route to host; nothing was sent there" in said.text


def test_a_cell_whose_services_are_down_is_told_to_start_them(tmp_path: Path) -> None:
    """Starting services needs no look at a cell that answers nothing, neither before the question nor behind it."""
    site = Site(tmp_path)
    site.at_the_answer(lambda: None)
    site.rack.world.inject((TWO,), "ms-down", {"for": 86400})
    reads: list[str] = []
    carry_out = site.rack.carry_out

    def counted(request: Request) -> tuple[int, str]:
        reads.extend([] if request.role.changes else [request.command])
        return carry_out(request)

    site.rack.carry_out = counted  # type: ignore[method-assign]
    assert site.operator.do(f"dcli -c {TWO} cellcli -e alter cell startup services all").code == 0
    assert site.struck == [TWO] and len(reads) == 1 and "releaseVersion" in reads[0]


def test_an_accepted_loss_needs_no_proof_when_it_leaves(tmp_path: Path) -> None:
    """A cell whose loss was accepted by name should get the command though its proof is gone by then."""
    site = Site(tmp_path, FLUSHED)
    site.operator.session.options = replace(site.operator.session.options, flags={"accept-data-loss": TWO})
    site.at_the_answer(cancelled(site))
    assert site.operator.do(f"dcli -c {TWO} {DROP}").code == 0
    assert site.struck == [TWO]


def test_unsaved_redo_holds_a_flash_log_back(tmp_path: Path) -> None:
    """DROP FLASHLOG in a command should wait for redo that is saved on flash only, as the typed statement does."""
    site = Site(tmp_path)
    site.at_the_answer(lambda: None)
    log = site.rack.rack.cells[TWO].flash_log
    assert log is not None
    log.kept_bytes = 5 << 20
    site.rack.pass_time(120)
    said = site.operator.do(f"dcli -c {TWO} cellcli -e drop flashlog")
    assert (said.code, site.struck) == (2, []) and "redo is saved on flash only" in said.text
    log.kept_bytes = 0
    site.rack.pass_time(120)
    assert site.operator.do(f"dcli -c {TWO} cellcli -e drop flashlog").code == 0


@pytest.mark.parametrize("words", ["sh df -h | tail -1", f"dcli -c {TWO} 'df -h | tail -1'"])
def test_what_a_restricted_login_cannot_run_is_not_tried(tmp_path: Path, words: str) -> None:
    """From 26.1 on a pipe, also of commands that only read, should be refused by name instead of failing on each cell."""
    options = (("model", "x10m"), ("release", "26.1"))
    rack = MatrixRack(tmp_path / "rack", prepared((), options))
    said = rack.operator().do(words)
    assert (said.code, rack.sent) == (2, [])
    assert "run release 26.1 or later, where celladmin may run only CellCLI and a few commands" in said.text
    assert "nothing was sent" in said.text


# -- scripts that are copied first ---------------------------------------------------------------------------------------


@dataclass
class Wire(Open):
    """Connections that take everything and answer nothing."""

    sent: list[str] = field(default_factory=list)

    def run(self, requests: Sequence[Request], **_: Any) -> FleetResult:
        self.sent += [request.command for request in requests]
        replies = {r.target: Reply(target=r.target, state=State.OK, exit_status=0) for r in requests}
        return FleetResult(targets=tuple(replies), replies=replies)


def steps_of(script: Path) -> list[Task]:
    upload = Upload(sources=(script,), destination="")
    return [Task(command="mkdir"), Task(command="scp", upload=upload), Task(command="./s.sh", carries=True)]


def worked(why_not: Callable[[str], str], steps: Sequence[Task]) -> tuple[list[str], str]:
    wire = Wire()
    group: Any = SimpleNamespace(
        hosts=False,
        transport=wire,
        session=SimpleNamespace(interrupted=None),
        services=SimpleNamespace(interrupted=None),
    )
    vigil = SimpleNamespace(ours=lambda: "")
    leaving: Any = SimpleNamespace(why_not=why_not, vigil=lambda: nullcontext(vigil), lost="")
    outcome = work_through(group, target("c1"), steps, login="", pid=1, live=None, leaving=leaving)
    assert outcome.ran == (not outcome.refused) and outcome.status == bool(outcome.refused)
    return wire.sent, outcome.refused


LOOKS: list[tuple[list[str], list[str], str]] = [
    (["", ""], ["mkdir", "scp", "./s.sh"], ""),
    (["gone"], [], "gone; nothing was sent there"),
    (["", "gone"], ["mkdir", "scp"], "gone; it was not run there"),
]


@pytest.mark.parametrize(("answers", "sent", "refused"), LOOKS)
def test_a_script_is_looked_at_before_it_is_copied_and_before_it_runs(
    tmp_path: Path, answers: list[str], sent: list[str], refused: str
) -> None:
    """-x should look before the first thing that it sends and again behind the copy, when the script is to run."""
    left = list(answers)
    assert worked(lambda host: left.pop(0), steps_of(tmp_path / "s.sh")) == (sent, refused)
    assert not left


def test_what_only_reads_is_not_looked_at() -> None:
    """A command that changes nothing should go without a look, also behind one that does."""
    asked: list[str] = []
    reads = Task(command="list", reads=True, carries=True)
    assert worked(lambda host: asked.append(host) or "", [Task(command="key"), reads])[0] == ["key", "list"]  # type: ignore[func-returns-value]
    assert asked == ["c1"]
    assert worked(lambda host: "never", [reads]) == (["list"], "")


def test_a_host_that_is_no_cell_is_asked_nothing(tmp_path: Path) -> None:
    """CellCLI in a command that also goes to a database node should be judged on the cells alone."""
    rack = RackConfig(name="r", cells=("c1",), lock=tmp_path / "lock")
    ctx = SimpleNamespace(need_rack=lambda: rack, home=SimpleNamespace(state_dir=tmp_path))
    group: Any = SimpleNamespace(session=ctx, services=ctx, cells=("c1",))
    changes = tuple(command_findings("cellcli -e drop flashcache").changes)
    leaving = Leaving(group=group, judgement=Judgement(changes=changes))
    with lock_of(rack, tmp_path).held():
        assert len(changes) == 1 and leaving.why_not("db1") == ""
