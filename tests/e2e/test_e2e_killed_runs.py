"""Runs of recipes that are killed by kill -9, and what resume alone makes of them, on an emulated rack over SSH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.emulator import control
from exacell.journal.record import Journal
from tests.support.patience import LONG_S, until
from tests.support.program import InProcess, Program, told

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")
SIZE, ELSE = 309237645312, 320 << 30
"""288g and 320g in bytes."""


class Operator:
    """Somebody who runs recipes on the module's rack, in processes that can be killed."""

    def __init__(self, program: Program) -> None:
        self.program, self.inside = program, InProcess(program.home)

    def write(self, **recipes: str) -> None:
        folder = self.program.home / "recipes"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in recipes.items():
            (folder / f"{name}.exa").write_text(text)

    def killed(
        self, statement: str, at: str, when: Callable[[], bool] | None = None, flags: tuple[str, ...] = ("-y",)
    ) -> None:
        """Run a statement whose process is killed by saying ``at``; with ``when``, as soon as that holds behind it, which has to
        go on holding."""
        if when is None:
            self.program.dies(at, "-r", "t1", statement, *flags)
            return
        process = subprocess.Popen(
            [sys.executable, "-m", "exacell", "-r", "t1", statement, *flags],
            env={**self.program.env, "WAIT_TOLD_AFTER": "0.5"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        said, reached = [], threading.Event()

        def read() -> None:
            for line in process.stderr or ():
                said.append(line)
                if at in line:
                    reached.set()
            reached.set()

        reader = threading.Thread(target=read)
        reader.start()
        try:
            assert reached.wait(LONG_S) and any(at in line for line in said), said[-9:]
            assert until(when)
        finally:
            process.kill()
            code = process.wait()
            reader.join()
        assert code == -9, said

    def sent(self) -> bool:
        """Whether the journal holds a change without an end."""
        return any("done" not in str(row["ended"]) for row in self.ask("journal"))

    def apart(self) -> bool:
        """Whether a command runs apart on both nodes."""
        return sum("exacell-" in str(row["text"]) for row in self.ask("on @db sh ls /tmp")) == 2

    def sent_to(self, change: int) -> set[str]:
        """Return the hosts to which a change has begun to send, as the journal has it."""
        rows = Journal(self.program.home / "journal.db").entries(rack="t1", change=change)
        return {row.target for row in rows if row.kind == "intent"}

    def ask(self, *words: str) -> list[dict[str, object]]:
        return self.inside.ok("-r", "t1", "-o", "json", *words).records

    def sizes(self) -> set[object]:
        return {row["size"] for row in self.ask("list flashcache attributes name, size")}

    def off(self) -> bool:
        """Whether ERP may not use the flash log."""
        return any(
            "name=erp,share=4,flashcache=off,flashlog=off" in str(row["dbPlan"]).lower()
            for row in self.ask("list iormplan attributes dbPlan")
        )

    def whole(self) -> None:
        """Nothing is pending and the journal is whole."""
        assert self.ask("pending") == []
        self.inside.ok("-r", "t1", "journal verify")


@pytest.fixture
def operator(outside: Program) -> Iterator[Operator]:
    found = Operator(outside)
    size = found.sizes()
    yield found
    found.inside("-r", "t1", "resume --abandon -y")
    if found.off():
        found.inside.ok("-r", "t1", "enable flashlog db=ERP -y")
    if found.sizes() != size:
        found.inside.ok("-r", "t1", f"resize flashcache size={size.pop()} -y")


def test_a_change_under_way_is_finished_and_the_rest_follows(
    operator: Operator, fault: Callable[..., None], shared: InProcess
) -> None:
    """The start behind the kill names the run and not its change; resume shows what is done and what will be, finishes the
    change that was under way, runs the other lines and finally, and leaves the rack as an unkilled run does."""
    operator.write(
        sized="let was = list flashcache.size of exa1cel01\nlist cell\nresize flashcache size=288g\ndisable "
        "flashlog db=ERP\n"
        "check all flashcache.status = normal\nfinally\nundo run\nend\n"
    )
    before = operator.sizes()
    for cell in CELLS:
        fault(cell, "hang", "match=(?i)all flush")

    def held() -> bool:
        """Whether each cell has its statement and none has answered."""
        faults = control.faults(shared.home, "t1")
        return {row["host"] for row in faults if row["kind"] == "hang" and row["struck"]} == set(CELLS)

    operator.killed("run sized", "[1/3] flush flashcache", held)
    for cell in CELLS:
        fault(cell, "clear")
    left = next(row for row in operator.ask("pending") if row["state"] == "unfinished")
    assert (left["state"], left["mend"], left["change"]) == ("unfinished", "resume", None)
    assert "run r1 (run sized) stopped after 1 of its lines" in str(left["says"])
    shown = operator.inside.ok("-r", "t1", "resume", "-n").err
    assert "1 of 5 lines done" in shown and "under way          2  resize flashcache size=288g" in shown
    assert "not answered on exa1cel[01-03]" in shown and "to do, finally     5  undo run" in shown
    assert operator.sizes() == before
    refused = operator.inside("-r", "t1", "resume")
    assert refused.code == 2 and "there is no terminal for the question; nothing was sent" in refused.err
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    assert "change 1: statements whose end was not recorded" in done.err or "resume 1: resize flashcache" in done.err
    assert operator.sizes() == before and not operator.off()
    assert [row["statement"] for row in operator.ask("journal")][:3] == [
        "resize flashcache size=288g",
        "resize flashcache size=288g",
        "disable flashlog db=ERP",
    ]
    operator.whole()


def test_what_the_run_itself_took_away_can_not_be_read_and_is_no_difference(operator: Operator) -> None:
    """Where a grid disk is gone whose size was read before the plan, and the run itself dropped it, it goes on with -y."""
    operator.write(
        gone="let was = list griddisk.size of q_FD_00_exa1cel01\nrelease griddisk prefix=q\nwait 1s\n"
        "carve griddisk prefix=q size=$was media=flash\n"
    )
    operator.inside.ok("-r", "t1", "resize flashcache size=288g -y")
    operator.inside.ok("-r", "t1", "carve griddisk prefix=q size=1G media=flash -y")
    operator.killed("run gone", "line 3: wait 1s")
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    assert "it can't be read now" in told(done.err) and "this run changed it" in told(done.err)
    rows = operator.ask("list griddisk attributes name, size where name = q_FD_00_exa1cel01")
    assert [row["size"] for row in rows] == [1 << 30]
    operator.inside.ok("-r", "t1", "release griddisk prefix=q -y")
    operator.whole()


def test_what_was_done_is_not_done_again_and_a_wait_goes_on(operator: Operator) -> None:
    """Lines that had ended make no change again; of a wait only the rest is waited for; a recipe within goes on inside."""
    operator.write(
        outer="disable flashlog db=ERP\n@within\nenable flashlog db=ERP\n",
        within="resize flashcache size=288g\nwait 30m\nfinally\nundo run\nend\n",
    )
    before = operator.sizes()
    operator.killed("run outer", "line 2: wait 30m")
    shown = operator.inside.ok("-r", "t1", "resume", "-n").err
    assert "2 of 5 lines done" in shown and "under way        2.2  wait 30m" in shown and "of it are left" in shown
    operator.write(within=operator.program.home.joinpath("recipes/within.exa").read_text().replace("30m", "1s"))
    done = operator.inside("-r", "t1", "resume --abandon -y")
    assert done.code == 0, done.err
    assert operator.sizes() == before and operator.off(), "the finally of the recipe within is carried out, and no more"
    assert [row["statement"] for row in operator.ask("journal")][:2] == [
        "disable flashlog db=ERP",
        "resize flashcache size=288g",
    ]
    assert len(operator.ask("journal")) == 3
    operator.whole()


def test_a_file_that_changed_since_does_not_count(operator: Operator) -> None:
    """The text and the matrix that were agreed to go on; the screen says that the file is a different file now."""
    operator.write(several="matrix db in ERP,SPOT\ndisable flashlog db=$db\nwait 2s\nenable flashlog db=$db\nend\n")
    operator.killed("run several", "line 3, db=ERP: wait 2s")
    operator.write(several="resize flashcache size=288g\n")
    before = operator.sizes()
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    assert "the recipe several has changed since: the run continues with the text that you confirmed" in done.err
    assert [row["statement"] for row in operator.ask("journal")] == [
        f"{verb} flashlog db={db}" for db in ("ERP", "SPOT") for verb in ("disable", "enable")
    ]
    assert operator.sizes() == before
    operator.whole()


def test_a_value_that_somebody_else_changed_is_asked_about(operator: Operator) -> None:
    """What was read before the plan and is another value now, though the run did not change it, is not passed over by -y; at a
    terminal it is asked, and the value of then counts. What the run itself changed is no difference."""
    operator.write(
        back="let was = list flashcache.size of exa1cel01\ndisable flashlog db=ERP\nwait 2s\n"
        "resize flashcache size=$was\nenable flashlog db=ERP\n"
    )
    (before,) = operator.sizes()
    operator.killed("run back", "line 3: wait 2s")
    operator.inside.ok("-r", "t1", "resize flashcache size=288g -y")
    refused = operator.inside("-r", "t1", "resume", "-y")
    assert refused.code == 2 and "which this run did not change" in told(refused.err)
    assert operator.sizes() == {SIZE}
    with operator.program.at_terminal("-r", "t1", "resume -y", columns=150) as terminal:
        terminal.child.expect_exact("continue with what you confirmed?")
        terminal.child.send("y\r")
        terminal.rest()
    assert operator.sizes() == {before}
    operator.whole()


def test_a_change_that_was_taken_back_is_asked_about(operator: Operator) -> None:
    """Who took back a change of the run since is not overruled by -y; --abandon ends the run with its finally."""
    operator.write(taken="disable flashlog db=ERP\nwait 1m\nlist cell\nfinally\nenable flashlog db=ERP\nend\n")
    operator.killed("run taken", "line 2: wait 1m")
    operator.inside.ok("-r", "t1", "undo 1 -y")
    refused = operator.inside("-r", "t1", "resume", "-y")
    assert refused.code == 2 and "its change 1 was taken back since" in refused.err
    operator.inside.ok("-r", "t1", "resume --abandon -y")
    operator.whole()


def test_a_command_that_runs_apart_is_picked_up_and_not_started_twice(operator: Operator, tmp_path: object) -> None:
    """The command goes on over the kill, its output is fetched, and it has run once on each node; the next line follows."""
    mark = f"m{os.getpid()}apart"
    gate = f"/tmp/gate-{mark}"
    waits = f"while [ ! -e {gate} ]; do sleep 0.2; done; echo {mark} >> /tmp/apart"
    operator.write(apart=f"needs opaque\non @db sh --detach {waits}\non @db sh uname -r\n")
    operator.killed("run apart --accept-opaque", "line 2: sh --detach", operator.apart)
    shown = told(operator.inside.ok("-r", "t1", "resume", "-n").err)
    assert "is not started again: exa1db01: runs as process" in shown
    operator.inside.ok("-r", "t1", f"on @db sh --accept-opaque touch {gate}")
    operator.inside.ok("-r", "t1", "resume", "-y")
    rows = operator.ask("--accept-opaque", "on @db sh cat /tmp/apart")
    assert [str(row["text"]).split().count(mark) for row in rows] == [1, 1]
    operator.whole()


def test_a_command_that_can_not_be_read_is_done_again_only_where_somebody_says_so(operator: Operator) -> None:
    """What was under way and can't be read is named; -y alone sends nothing; --accept-opaque carries it out again."""
    operator.write(
        unread="needs opaque\ndisable flashlog db=ERP\non @db sh sleep 3000; touch /tmp/unread\nfinally\nundo "
        "run\nend\n"
    )
    operator.killed("run unread --accept-opaque", "line 3: sh sleep", lambda: len(operator.sent_to(2)) == 2)
    refused = operator.inside("-r", "t1", "resume", "-y")
    assert refused.code == 2 and "exacell can't read what it did there; nothing was sent" in told(refused.err)
    assert operator.off()
    with operator.program.at_terminal("-r", "t1", "resume -y", columns=150) as terminal:
        terminal.child.expect_exact("run it again?")
        terminal.child.send("n\r")
        said = terminal.rest()
    assert "is not run again" in told(said) and not operator.off()
    operator.whole()


def test_two_killed_runs_end_the_newer_one_first(operator: Operator) -> None:
    """The newer run began from what the older had left, so it ends first; each shows its own screen."""
    operator.write(
        first="disable flashlog db=ERP\nwait 1s\nfinally\nundo run\nend\n",
        second="set iorm db=SPOT limit=50\nwait 1s\nfinally\nundo run\nend\n",
    )
    plan = operator.ask("list iormplan attributes dbPlan")
    operator.killed("run first", "line 2: wait 1s")
    operator.killed("run second", "line 2: wait 1s")
    assert len(operator.ask("pending")) == 2
    refused = operator.inside("-r", "t1", "undo run r2", "-y")
    assert refused.code == 2 and "run r2 (run second) has not ended; nothing was sent" in refused.err
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    assert done.err.index("run r2 of t1") < done.err.index("run r1 of t1")
    assert operator.ask("list iormplan attributes dbPlan") == plan
    operator.whole()


def test_a_run_to_confirm_waits_as_a_whole(operator: Operator) -> None:
    """The changes before and behind the kill are confirmed, or taken back, together."""
    operator.write(guarded="disable flashlog db=ERP\nwait 1s\nset iorm db=SPOT limit=50\n")
    plan = operator.ask("list iormplan attributes dbPlan")
    operator.killed("run guarded --confirm-within=1h", "line 2: wait 1s")
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    assert "changes 1 to 2 are taken back at" in told(done.err)
    operator.inside.ok("-r", "t1", "confirm 1")
    assert operator.ask("pending") == []
    for change in ("2", "1"):
        operator.inside.ok("-r", "t1", "undo", change, "-y")
    assert operator.ask("list iormplan attributes dbPlan") == plan


def test_nobody_goes_on_while_another_operator_has_the_rack(operator: Operator) -> None:
    """A lock of somebody else refuses resume before anything is asked or sent; when it is free again, the run goes on."""
    operator.write(locked="disable flashlog db=ERP\nwait 1s\nfinally\nundo run\nend\n")
    operator.killed("run locked", "line 2: wait 1s")
    lock = Path(str(operator.ask("show lock")[0]["file"]))
    before = lock.read_text()
    holder = {"user": "maria", "host": "elsewhere", "pid": "7", "since": "2026-01-01T00:00:00+00:00"}
    lock.write_text(json.dumps({"running": holder}))
    refused = operator.inside("-r", "t1", "resume", "-y")
    lock.write_text(before)
    assert refused.code == 2 and "is locked by maria on elsewhere" in told(refused.err)
    assert operator.off()
    operator.inside.ok("-r", "t1", "resume", "-y")
    assert not operator.off()
    operator.whole()


def test_a_living_run_is_not_gone_on_with(operator: Operator) -> None:
    """resume refuses a run whose process lives, names it, and tells nobody at a start of a run that goes well."""
    operator.write(living="disable flashlog db=ERP\nwait 1h\nfinally\nundo run\nend\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "t1", "run living -y"], env=operator.program.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert until(operator.off)
        assert operator.ask("pending") == []
        refused = operator.inside("-r", "t1", "resume", "-y")
        assert refused.code == 2 and f"is being run by process {process.pid}" in refused.err
    finally:
        process.terminate()
        process.wait()
    assert not operator.off(), "asked to stop, it carries out its finally"
    operator.whole()


def test_a_run_in_waves_that_was_killed_keeps_its_waves(operator: Operator) -> None:
    """Cells of waves that are done no longer are what ON named when the run began: resume goes on with the waves that were
    settled then, and sends nothing to those that are done."""
    operator.write(waves="on (where comment != w) rolling\n  alter cell comment=w\n  wait 1s\nend\n")
    operator.inside.ok("-r", "t1", "alter cell comment=''", "-y")
    before = len(operator.ask("journal"))
    operator.killed("run waves", "line 3, wave 2 of 3 (exa1cel02): wait 1s")
    shown = operator.inside.ok("-r", "t1", "resume", "-n").err
    assert "3 of 6 lines done" in shown
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    assert "wave 3 of 3 (exa1cel03): alter cell comment=w" in done.err and "wave 1 of 3" not in done.err
    rows = operator.ask("list cell attributes name, comment")
    assert {row["cell"]: row["comment"] for row in rows} == dict.fromkeys(CELLS, "w")
    assert len(operator.ask("journal")) == before + 3
    operator.whole()
    operator.inside.ok("-r", "t1", "alter cell comment=''", "-y")


def test_maintenance_that_was_killed_is_gone_on_with(operator: Operator) -> None:
    """Killed while the first cell's disks are offline: resume brings them back before those of the next cell go."""
    operator.killed("run cell_maintenance cell=exa1cel01,exa1cel02 for=2s", "wave 1 of 2 (exa1cel01): wait 2s")
    away = operator.ask("list griddisk attributes name where status = inactive")
    assert {row["cell"] for row in away} == {"exa1cel01"}
    done = operator.inside.ok("-r", "t1", "resume", "-y")
    order = [done.err.index(f"wave {n} of 2 (exa1cel0{n}): {verb} cell") for n, verb in ((1, "online"), (2, "offline"))]
    assert order == sorted(order) and "wave 1 of 2 (exa1cel01): offline cell" not in done.err
    assert operator.ask("list griddisk attributes name where asmModeStatus != ONLINE") == []
    operator.whole()


def noted(operator: Operator) -> dict[object, object]:
    rows = operator.ask("list cell attributes name, comment")
    return {row["cell"]: row["comment"] or "" for row in rows}


def test_what_somebody_changed_by_hand_before_resume_is_told_and_comes_back(
    operator: Operator, fault: Callable[..., None], shared: InProcess, tmp_path: Path
) -> None:
    """A run is killed while one cell has not answered; somebody else sets the same attribute there. resume warns of it, and
    what finally puts back is that value on that cell, and on the others what was there before the run."""
    operator.write(hand="alter cell comment=ours\nlist cell\nfinally\nundo run\nend\n")
    before = noted(operator)
    fault("exa1cel02", "hang", "match=(?i)alter.cell")
    others = {cell: "ours" for cell in CELLS if cell != "exa1cel02"}
    operator.killed("run hand", "send the statement", lambda: noted(operator) == {**before, **others})
    fault("exa1cel02", "clear")
    other = InProcess(tmp_path / "other").with_rack_of(shared)
    other.ok("-r", "t1", "on exa1cel02 alter cell comment=hand", "-y")
    shown = told(operator.inside.ok("-r", "t1", "resume", "-y").err)
    assert "exa1cel02: cell" in shown and "is hand now: somebody has changed it since; undo sets it to hand" in shown
    assert noted(operator) == {**before, "exa1cel02": "hand"}
    operator.whole()
    other.ok("-r", "t1", "undo", "-y")
    assert noted(operator) == before


def test_a_killed_command_apart_is_brought_from_each_node(operator: Operator) -> None:
    """kill -9 while a --detach command runs on both nodes: resume brings each one's whole output and exit status, once."""
    command = (
        "on @db sh --accept-opaque --detach echo one; while [ ! -e /tmp/gate ]; do sleep 0.2; done; echo two; exit 3"
    )
    operator.killed(command, "waiting for exa1db", operator.apart, flags=())
    (left,) = operator.ask("pending")
    assert str(left["mend"]).startswith("resume")
    shown = operator.inside("-r", "t1", "resume", "-n").err
    assert shown.count("runs as process") == 2
    operator.inside.ok("-r", "t1", "on @db sh --accept-opaque touch /tmp/gate")
    done = operator.inside("-r", "t1", "-o", "json", "resume", "-y")
    assert done.code == 1
    assert {(row["cell"], row["exitStatus"], row["text"]) for row in done.records} == {
        (host, 3, "one\ntwo") for host in ("exa1db01", "exa1db02")
    }
    assert not operator.apart()
    operator.inside.ok("-r", "t1", "on @db sh --accept-opaque rm /tmp/gate")
    operator.whole()


def test_a_run_that_was_killed_between_waves_asks_the_gate_again(operator: Operator) -> None:
    """A run that is killed while it pauses before wave 2 goes on with that pause and the gate, and is the same in the end."""
    operator.write(waves="rolling\n  alter cell comment=w\nend\n")
    operator.inside.ok("-r", "t1", "alter cell comment=''", "-y")
    operator.killed("run waves --pause=5m", "pause before wave 2 of 3")
    shown = operator.inside.ok("-r", "t1", "resume", "-n").err
    assert "1 of 3 lines done" in shown
    done = operator.inside.ok("-r", "t1", "resume --pause=1s", "-y")
    assert "wave 2 of 3 (exa1cel02): alter cell comment=w" in done.err and "wave 1 of 3" not in done.err
    assert {row["comment"] for row in operator.ask("list cell attributes name, comment")} == {"w"}
    operator.whole()
    operator.inside.ok("-r", "t1", "alter cell comment=''", "-y")


def test_a_final_line_that_failed_is_tried_again(
    operator: Operator, fault: Callable[..., None], shared: InProcess
) -> None:
    """Where finally could not put back what the run changed, the next start says so, and resume does it."""
    operator.write(
        final="disable flashlog db=ERP\nwait until all flashcache.status = odd for=1s\nfinally\nundo run\nend\n"
    )
    operator.killed("run final", "line 2: wait until")
    fault("exa1cel02", "refuse")
    failed = operator.inside("-r", "t1", "resume", "-y")
    assert failed.code != 0 and "`resume` tries the failed lines of its finally again" in failed.err
    shared.ok("emulator", "fault", "t1", "all", "clear")
    assert any("its finally failed" in str(row["says"]) for row in operator.ask("pending"))
    operator.inside.ok("-r", "t1", "resume", "-y")
    assert not operator.off()
    operator.whole()


def test_no_password_of_a_run_is_kept(operator: Operator) -> None:
    """A password among the parameters is in no file of the home; what is left of such a run is not carried out without it."""
    operator.write(keyed="param word : text\ndisable flashlog db=ERP\nwait 1m\ncreate user bob password=$word\n")
    operator.killed("run keyed word=Tiger4Tiger", "line 3: wait 1m")
    home = operator.program.home
    assert not [path for path in home.rglob("*") if path.is_file() and b"Tiger4Tiger" in path.read_bytes()]
    refused = operator.inside("-r", "t1", "resume", "-y")
    assert refused.code == 2 and "resume --abandon" in refused.err
