"""The same with the real thing: the program is killed, over real SSH, at the moment at which a cell has its statement."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect
import pytest
from matrix_audit import audited, read_audit, second_failure_groups, unannounced
from matrix_rack import MatrixRack
from matrix_run import configured, differences, prepared, scratch, state_of

from exacell.emulator import control
from exacell.emulator.basics.store import rack_files
from exacell.emulator.server.rack_world import RackWorld
from exacell.journal.left import CACHES
from exacell.journal.record import Journal
from tests.support.patience import must_come
from tests.support.program import Program

CELL, NODE, OTHER_NODE = "exa1cel02", "exa1db01", "exa1db02"


@dataclass(frozen=True)
class Blow:
    """One step of the night: a statement, the moment at which it is struck, and how the operator goes on.

    Attributes:
        fault: ``hang`` holds the host's statement until the program is killed by its process id; ``drop`` cuts the link
            behind a statement that was carried out; ``error`` and ``ms-down`` let it fail. All but hang leave the program.
        match: expression that the struck statement contains; ``nth`` of them.
        endless: the flush that is struck has no end of its own: the rack's time goes on while our process waits for its turn.
        then: what the operator says afterwards, each of which has to end well.
        done: whether the statement is in force in the end, or taken back.
    """

    statement: str
    fault: str
    match: str
    host: str = CELL
    nth: int = 1
    endless: bool = False
    then: tuple[str, ...] = ("resume -y",)
    done: bool = True


MENDS = "flush flashcache -y"
"""What a new start tells to say where caching was left off."""

NIGHT = (
    Blow("flush flashcache", "hang", "alter flashcache all flush"),
    Blow("flush flashcache", "hang", "metriccurrent", nth=3, endless=True),
    Blow("flush flashcache", "hang", "cancel flush"),
    Blow("resize flashcache size=288g", "hang", "alter flashcache all flush", then=("undo -y", MENDS), done=False),
    Blow("resize flashcache size=288g", "hang", "drop flashcache", then=("undo -y",), done=False),
    Blow("resize flashcache size=288g", "error", "drop flashcache", then=("retry failed -y",)),
    Blow("resize flashcache size=320g", "hang", "create flashcache"),
)
"""Each step starts from where the one before it ended."""

OTHER_NIGHT = (
    Blow("resize flashcache size=288g", "hang", "create flashcache"),
    Blow("carve griddisk prefix=p", "hang", "create griddisk", then=("undo -y",), done=False),
    Blow("carve griddisk prefix=p", "drop", "create griddisk", then=()),
    Blow("create diskgroup PP prefix=p redundancy=normal", "hang", "create diskgroup", host=NODE),
    Blow("drop diskgroup PP", "hang", "dismount", host=OTHER_NODE, then=("undo -y",), done=False),
    Blow("drop diskgroup PP", "hang", "drop diskgroup", host=NODE),
    Blow("disable flashlog db=SPOT", "hang", "alter iormplan", then=("undo -y",), done=False),
    Blow("disable flashlog db=SPOT", "hang", "alter iormplan"),
    Blow("release griddisk prefix=p regrow=yes", "hang", "inactive", then=("undo -y",), done=False),
    Blow("release griddisk prefix=p regrow=yes", "hang", "drop griddisk", then=("undo -y",), done=False),
    Blow("release griddisk prefix=p regrow=yes", "hang", "create flashcache"),
)
"""The same, on a rack of its own."""


class Night:
    """A running rack, the program in its own home, and the same rack in this process, to which nothing happens."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.journal = Journal(home / "journal.db")
        self.peaceful = MatrixRack(folder / "rack", prepared(()))
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        self.env = {**kept, "EXACELL_HOME": str(home), "HOME": str(home)}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the program with one statement, or with the words of a command line."""
        command = [sys.executable, "-m", "exacell", "-r", "t1", *words]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=self.env, text=True, **streams)  # type: ignore[call-overload, no-any-return]

    def run(self, statement: str) -> tuple[int, str]:
        """Run the program and return its exit code and what it said."""
        process = self.start(statement)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def strike(self, blow: Blow) -> str:
        """Let a blow fall on its statement, and return what was told; the program is dead or has ended then."""
        options: dict[str, Any] = {"match": blow.match, "nth": blow.nth}
        if blow.fault == "error":
            options["code"] = "CELL-02559"
        control.fault(self.home, "t1", [blow.host], blow.fault, **options)
        if blow.endless:
            control.fault(self.home, "t1", [blow.host], "stuck-flush", variant="endless")
        process = self.start(f"{blow.statement} -y")
        if blow.fault == "hang":
            must_come(lambda: self._struck(blow) or process.poll() is not None)
            assert process.poll() is None, process.communicate()[0]
            process.kill()
        said, _ = process.communicate(timeout=300)
        control.clear_faults(self.home, "t1", [blow.host], blow.fault)
        if blow.endless:
            control.clear_faults(self.home, "t1", [blow.host], "stuck-flush")
        return said

    def _struck(self, blow: Blow) -> bool:
        rows = control.faults(self.home, "t1")
        return any(row["host"] == blow.host and row["kind"] == blow.fault and row["struck"] for row in rows)

    def parts(self) -> Mapping[str, Any]:
        """Return the rack's stored state."""
        return rack_files(self.home, "t1").read_state()


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    """A running rack whose cells refuse nothing by themselves."""
    with audited(tmp_path / "audit"):
        info, _ = control.start(tmp_path, "t1", options={"speed": 600})
    control.fault(tmp_path, "t1", list(info.cells), "unguarded")
    folder = scratch()
    try:
        yield Night(tmp_path, folder)
    finally:
        control.stop(tmp_path, "t1")
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


@pytest.mark.parametrize("blows", [NIGHT, OTHER_NIGHT], ids=["caches", "disks"])
def test_a_night_of_bad_luck(
    night: Night, blows: tuple[Blow, ...], record_property: Callable[[str, object], None]
) -> None:
    """After each kill -9, lost link or error the next words bring the rack to where it has to be, and lose nothing; each
    statement that a host was told has an intent of its own in the journal before it."""
    for number, blow in enumerate(blows, 1):
        story = [f"{number}: {blow}", night.strike(blow)]
        for statement in blow.then:
            code, said = night.run(statement)
            story.append(f"{statement}: {code}: {said}")
            assert code == 0, "\n".join(story)
        if blow.done:
            night.peaceful.operator().must(f"{blow.statement} -y")
        parts = night.parts()
        found = configured(RackWorld.from_state(parts)._rack)
        wanted = state_of(night.peaceful)
        assert found == wanted, "\n".join([*story, differences(wanted, found)])
        lost = [part["cell"]["lost_dirty_bytes"] for name, part in parts.items() if name.startswith("cell-")]
        assert not any(lost), story
        assert night.journal.verify() == "", story
    told = read_audit(night.home / "audit")
    intents = [entry for entry in night.journal.entries() if entry.kind == "intent"]
    assert len([row for row in told if row["kind"] == "told"]) > len(blows)
    assert unannounced(told, intents) == [] and second_failure_groups(told) == []
    # Where one intent is missing, it is noticed; the last may be of a statement that never left, or left again later.
    assert any(len(unannounced(told, [*intents[:n], *intents[n + 1 :]])) == 1 for n in range(len(intents)))
    code, said = night.run("pending")
    assert code == 0 and "never ended" not in said and "caching off" not in said, said
    row = f"the real program over SSH, {'caches' if blows is NIGHT else 'disks'}"
    record_property("faults", (row, "kill -9", len(blows), len(blows)))


ENDINGS = (signal.SIGTERM, signal.SIGQUIT)


@pytest.mark.parametrize("statement", ["resize flashcache size=288g", "run put_back"])
def test_sigquit_at_the_prompt_ends_a_change_as_sigterm_does(night: Night, statement: str) -> None:
    """A change, or a recipe's run, that is under way at the prompt ends by either signal with the same exit code: caching is
    back, its end is in the journal, the lock is free, and resume finishes it."""
    shutil.copytree(Path(__file__).parent / "recipes", night.home / "recipes", dirs_exist_ok=True)
    ended = []
    for number in ENDINGS:
        control.fault(night.home, "t1", ["exa1cel02"], "stuck-flush", variant="endless")
        before = len(night.journal.entries())
        with Program(night.home).at_terminal("-r", "t1", columns=150) as terminal:
            terminal.child.expect_exact("exacell> ")
            terminal.child.send(f"{statement} -y\r")
            must_come(lambda rows=before: any(row.kind == "intent" for row in night.journal.entries()[rows:]))
            terminal.child.kill(number)
            terminal.child.expect_exact(f"asked to stop ({number.name})")
            terminal.child.expect(pexpect.EOF)
            terminal.child.wait()
        ended.append((terminal.child.exitstatus, terminal.child.signalstatus))
        kinds = [row.kind for row in night.journal.entries()[before:]]
        assert "end" in kinds and not CACHES.left(night.journal, "t1")
        control.clear_faults(night.home, "t1", ["exa1cel02"], "stuck-flush")
        code, said = night.run("resume -y")
        assert code == 0, said
        night.run("undo -y")
    assert ended[0] == ended[1] and night.journal.verify() == ""


def test_sigquit_at_an_idle_prompt_ends_the_program_as_sigterm_does(night: Night) -> None:
    """With nothing under way either signal ends the program in the same way, and the terminal is given back."""
    ended = []
    for number in ENDINGS:
        with Program(night.home).at_terminal("-r", "t1", columns=150) as terminal:
            terminal.child.expect_exact("exacell> ")
            terminal.child.kill(number)
            terminal.child.expect(pexpect.EOF)
            terminal.child.wait()
        ended.append((terminal.child.exitstatus, terminal.child.signalstatus))
    assert ended[0] == ended[1]


@pytest.mark.parametrize("number", ENDINGS)
def test_sigterm_in_a_flush_leaves_caching_on(night: Night, number: signal.Signals) -> None:
    """A change that is asked to stop does as after the first Ctrl-C: caching is back, its end is in the journal, what stands
    behind it in the script is not run, and resume finishes it."""
    control.fault(night.home, "t1", ["exa1cel02"], "stuck-flush", variant="endless")
    process = night.start("-y", "-e", "flush flashcache; list cell")
    must_come(lambda: any(row.kind == "intent" for row in night.journal.entries()) or process.poll() is not None)
    process.send_signal(number)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 4, said
    assert f"asked to stop ({number.name})" in said and "online" not in said
    assert night.journal.entries()[-1].kind == "end" and not CACHES.left(night.journal, "t1")
    control.clear_faults(night.home, "t1", ["exa1cel02"], "stuck-flush")
    code, said = night.run("pending")
    assert code == 0 and "resume 1" in said and "caching off" not in said
    code, said = night.run("resume -y")
    assert code == 0, said
