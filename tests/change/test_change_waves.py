"""Waves of a recipe's rolling: which cells and hosts lines are for, what is asked of waves, and the gate before each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from exacell.change.waves import Targets, Wave, asked_of_waves, own_turns, pass_gate
from exacell.core.errors import CellSetError, ExacellError, ExitCode, InterruptedByUserError, RecipeError, RefusedError
from exacell.output.console import Progress
from exacell.plan.rolling import Asked
from exacell.recipes.parsing import RecipeLine
from exacell.recipes.rolling import Turns
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options
from exacell.transport.base import FleetResult, Request
from tests.support.every import every
from tests.support.sessions import Asked as Person, parsed
from tests.support.worlds import Wall, WorldTransport, new_world, session_on

ONE, TWO, THREE = CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")
NODES = ("exa1db01", "exa1db02")
FLUSH = "ALTER FLASHCACHE ALL FLUSH NOWAIT"
TURNS = Turns(number=4)


class Somebody(Person):
    """Who is at the terminal; ``shown`` is where waits stood, ``yes`` the answer."""

    def __init__(self, *, yes: bool = True) -> None:
        super().__init__()
        self.yes, self.shown = yes, list[Progress]()

    def confirm(self, question: str, details: Any = None) -> bool:
        self.questions.append(question)
        return self.yes

    def progress(self, progress: Progress | None) -> None:
        self.shown += [progress] if progress is not None else []


@dataclass
class Watched(WorldTransport):
    """An emulated rack in this process; ``asked`` is what was sent to its hosts so far."""

    asked: list[Request] = field(default_factory=list)

    def run(self, requests: Sequence[Request], **more: Any) -> FleetResult:
        self.asked += requests
        return super().run(requests, **more)


class Rack:
    """A session on an emulated rack; ``rack`` are fields of its configuration."""

    def __init__(self, folder: Path, **rack: Any) -> None:
        world = new_world(Wall(), cells=3, dbnodes=2)
        self.session, _, _ = session_on(world, folder)
        self.transport, self.console = Watched(world, folder), Somebody()
        self.services = Services(self.session, self.console, self.transport)
        self.session.rack = replace(self.session.config.racks["t1"], **rack)
        self.asked = self.transport.asked

    def targets(self, **more: Any) -> Targets:
        return Targets(self.session, self.services, Asking(), **more)

    def waves(self, on: str = "", most: int = 1, *, run_on: str = "") -> tuple[tuple[str, ...], ...]:
        """Return the waves of a rolling that begins on line 4, of a recipe that a line runs for ``run_on``."""
        targets = self.targets(on=run_on)
        assert targets.waves(TURNS, most, on) == len(targets.settled["4"])
        return wave_of(targets).all

    def gate(self, wave: Wave, *, unread: bool = False, **turns: Any) -> None:
        pass_gate(self.session, self.services, wave, Asked(**{"within": 0.0, **turns}), unread=unread)


@pytest.fixture
def rack(tmp_path: Path) -> Rack:
    return Rack(tmp_path)


@pytest.fixture
def hosts(tmp_path: Path) -> Rack:
    """A rack of hosts alone."""
    return Rack(tmp_path, cells=(), asm={})


def wave_of(targets: Targets, number: int = 1) -> Wave:
    found = targets.wave(RecipeLine(number=5, text="list cell", turns=TURNS), {"wave": str(number)})
    assert found is not None
    return found


def told(targets: Targets, text: str, wave: Wave | None = None, number: int = 5) -> str | None:
    """Return the cells or hosts that a line is for, None where it is left out."""
    line = targets.line(RecipeLine(number=number, text=text), parsed(text), wave)
    return None if line is None else line.on


# -- which waves -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on", "own", "waves"),
    [
        ("", "", ((ONE,), (TWO,), (THREE,))),
        (TWO, "", ((TWO,),)),
        ("", f"{ONE},{THREE}", ((ONE,), (THREE,))),
        (TWO, f"{ONE},{THREE}", ((TWO,),)),
        ("@db", "", tuple((node,) for node in NODES)),
        ("", "@db", tuple((node,) for node in NODES)),
    ],
    ids=["all", "its on", "the line that runs it", "its on wins", "hosts", "hosts of the line that runs it"],
)
def test_waves_are_of_the_nearest_set(rack: Rack, on: str, own: str, waves: tuple[tuple[str, ...], ...]) -> None:
    """A rolling is of what its ON names, else of what the line that runs the recipe does, else of the cells in use."""
    assert rack.waves(on, run_on=own) == waves


def test_a_run_for_hosts_rolls_over_them(rack: Rack) -> None:
    """ON @db in front of a run makes waves of the hosts, and no cell is asked for their order."""
    with rack.session.selection.on("@db"):
        assert rack.waves(most=2) == (NODES,)
    assert rack.asked == []


def test_cells_that_hold_gates_closed_go_first(rack: Rack) -> None:
    """A cell because a flush there stays in force has the first wave, whatever its name is."""
    rack.transport.cellcli(THREE, FLUSH)
    assert rack.waves(most=2) == ((THREE,), (ONE, TWO))


def test_a_rack_without_cells_has_no_waves_of_cells(hosts: Rack) -> None:
    """A rolling without ON on a rack of hosts alone says that there are no cells."""
    with pytest.raises(CellSetError, match="rack t1 has no cells"):
        hosts.targets().waves(TURNS, 1, "")


def test_a_run_that_goes_on_asks_nothing(rack: Rack) -> None:
    """Kept waves and sets count, though the cells would say otherwise by now; no cell is asked."""
    began = rack.targets()
    assert began.waves(TURNS, 2, "where name != exa1cel03") == 1
    line = "on (where name = exa1cel02) list cell"
    assert told(began, line, wave_of(began)) == TWO
    rack.asked.clear()
    rack.session.selection.use(THREE)
    again = rack.targets(kept=began.settled)
    assert again.waves(TURNS, 1, "where name != exa1cel03") == 1
    assert wave_of(again).all == ((ONE, TWO),)
    assert told(again, line, wave_of(again)) == TWO
    assert rack.asked == []
    assert again.settled == began.settled


def test_each_time_that_a_line_is_written_out_keeps_its_own_set(rack: Rack) -> None:
    """A line whose ON is another cell for each value of a matrix, or in each wave, goes to the same ones when the run goes on."""
    texts = [f"on {cell} run inner" for cell in (TWO, ONE, THREE)]
    began = rack.targets()
    assert [told(began, text) for text in texts] == [TWO, ONE, THREE]
    again = rack.targets(kept=began.settled)
    assert [told(again, text) for text in texts] == [TWO, ONE, THREE]


@pytest.mark.parametrize(
    ("on", "limit"), [("", None), (TWO, TWO), ("@db", None)], ids=["nothing", "cells", "hosts: they are not asked"]
)
def test_what_is_read_before_the_plan_is_of_the_cells_of_its_line(rack: Rack, on: str, limit: str | None) -> None:
    """Cells that the line names are those in use while the recipe reads its values; hosts and nothing change none."""
    with rack.targets(on=on).in_use():
        now = rack.session.selection.limit
        assert (str(now) if now is not None else None) == limit
        assert rack.session.cells() == ((TWO,) if limit else CELLS)


# -- which lines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "on", "rolled", "expected"),
    [
        ("list cell", "", False, ""),
        ("list cell", f"{ONE},{TWO}", False, "exa1cel[01-02]"),
        ("list cell", f"{ONE},{TWO}", True, "exa1cel[01-02]"),
        ("on exa1cel[02-03] list cell", "", False, "exa1cel[02-03]"),
        ("on (where name = exa1cel03) list cell", ONE, False, "where name = exa1cel03"),
        ("on cel03 run inner", ONE, False, THREE),
        ("on exa1cel[02-03] list cell", f"{ONE},{TWO}", True, TWO),
        ("on exa1cel03 list cell", f"{ONE},{TWO}", True, None),
        ("on @db sh uptime", ONE, True, "exa1db[01-02]"),
        ("prompt hello", ONE, False, ""),
        ("undo run", ONE, False, ""),
    ],
)
def test_a_line_is_for_the_cells_of_its_run(rack: Rack, text: str, on: str, rolled: bool, expected: str | None) -> None:
    """A line without ON is for what its run is for; its own ON counts, within those of a wave that the run is in."""
    assert told(rack.targets(on=on, rolled=rolled), text) == expected


@pytest.mark.parametrize("text", ["on exa1cel01 list cell", "on (where name = exa1cel01) list cell"])
def test_only_runs_of_recipes_are_settled_outside_of_waves(rack: Rack, text: str) -> None:
    """The set of a line outside of waves is judged when its turn comes; that of a recipe which it runs before the plan."""
    targets = rack.targets()
    told(targets, text)
    assert (targets.settled, rack.asked) == ({}, [])
    told(targets, text.replace("list cell", "run inner"), number=7)
    assert targets.settled == {"7": (ONE,)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sh uptime", NODES[0]),
        ("run inner", NODES[0]),
        ("list dbserver", NODES[0]),
        ("describe dbserver", NODES[0]),
        ("alter dbserver pendingcoreCount=8", NODES[0]),
        ("list cell", ""),
        ("list griddisk", ""),
        ("snap cell as=x", ""),
        ("on exa1cel01 alter cell comment=x", ONE),
        ("on exa1db02 sh uptime", None),
    ],
)
def test_lines_in_waves_of_hosts(rack: Rack, text: str, expected: str | None) -> None:
    """What goes to hosts goes to those of the wave; what reads cells goes to all in use."""
    targets = rack.targets()
    targets.waves(TURNS, 1, "@db")
    assert told(targets, text, wave_of(targets)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("alter cell comment=x", "alter cell comment=x is for cells, but the waves are of hosts (exa1db01)"),
        ("resize flashcache size=1g", "resize flashcache is for cells, but the waves are of hosts (exa1db01)"),
    ],
)
def test_what_changes_cells_needs_some_in_waves_of_hosts(rack: Rack, text: str, said: str) -> None:
    """A change of cells without ON is refused there."""
    targets = rack.targets()
    targets.waves(TURNS, 1, "@db")
    with pytest.raises(RecipeError) as caught:
        told(targets, text, wave_of(targets))
    assert caught.value.message == said


def test_a_line_outside_of_waves_is_in_none(rack: Rack) -> None:
    """A line of no rolling has no wave, though the recipe has waves elsewhere."""
    targets = rack.targets()
    targets.waves(TURNS, 1, "")
    assert targets.wave(RecipeLine(number=9, text="list cell"), {}) is None
    assert wave_of(targets, 2).targets == (TWO,)


def test_a_line_of_a_rolling_holds_no_other(rack: Rack) -> None:
    """A recipe that a line of a rolling runs may have neither waves nor an experiment."""
    targets = rack.targets(on=ONE, rolled=True)
    with pytest.raises(RecipeError, match="rolling can't contain rolling"):
        targets.waves(TURNS, 1, "")
    with pytest.raises(RecipeError, match="rolling can't contain experiment"):
        told(targets, "experiment factor=flashlog db=ERP blocks=1 aa=0 workload=cells")
    assert told(rack.targets(on=ONE), "experiment factor=flashlog db=ERP blocks=1 aa=0 workload=cells") == ONE


# -- what is asked of waves --------------------------------------------------------------------------------------------

TOMORROW = (datetime.now().astimezone() + timedelta(days=1)).replace(second=0, microsecond=0)
EARLY, LATE = (moment.isoformat(timespec="minutes") for moment in (TOMORROW, TOMORROW + timedelta(hours=1)))


@every(
    [
        ({}, {}, {}),
        ({"pause": 60.0}, {}, {"pause": 60.0}),
        ({"ask": True}, {}, {"ask": True}),
        ({"pause": 60.0}, {"pause": 5.0}, {"pause": 5.0}),
        ({"ask": True}, {"pause": 5.0}, {"pause": 5.0}),
        ({"ask": True}, {"pause": 0.0}, {"pause": 0.0}),
        ({"pause": 60.0}, {"pause": "ask"}, {"ask": True}),
        ({"within": 60.0}, {}, {"within": 60.0}),
        ({"within": 60.0}, {"timeout": 5.0}, {"within": 5.0}),
        ({"within": 60.0}, {"timeout": 0.0}, {"within": 0.0}),
        ({}, {"timeout": 5.0}, {"within": 5.0}),
        ({"not_after": LATE}, {}, {"not_after": LATE}),
        ({}, {"not-after": LATE}, {"not_after": LATE}),
        ({"not_after": LATE}, {"not-after": EARLY}, {"not_after": EARLY}),
        ({"not_after": EARLY}, {"not-after": LATE}, {"not_after": EARLY}),
    ]
)
def test_a_line_that_runs_a_recipe_has_its_own_say(
    outer: Mapping[str, Any], flags: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    """What the line says of pauses and gates counts, else what the run says; of two last moments the earlier one."""
    assert own_turns(Asked(**outer), flags) == Asked(**expected)


def test_last_moments_are_compared_as_moments() -> None:
    """One with another offset from UTC is earlier where its moment is, not where its text is."""
    eastern = TOMORROW.astimezone(datetime.fromisoformat("2026-01-01T00:00+14:00").tzinfo)
    early = (eastern - timedelta(hours=1)).isoformat(timespec="minutes")
    for outer, own in ((early, EARLY), (EARLY, early)):
        assert own_turns(Asked(not_after=outer), {"not-after": own}).not_after == early


@pytest.mark.parametrize(
    ("flags", "rolls", "before", "expected"),
    [
        ({}, True, {}, {}),
        ({"pause": 5.0, "timeout": 9.0}, True, {}, {"pause": 5.0, "within": 9.0}),
        ({"pause": "ask"}, True, {}, {"ask": True}),
        ({"timeout": 9.0}, False, {}, {"within": 9.0}),
        ({"not-after": LATE}, True, {"pause": 3.0}, {"pause": 3.0, "not_after": LATE}),
        ({"pause": 5.0}, True, {"pause": 3.0}, {"pause": 5.0}),
    ],
)
def test_what_a_run_says_of_its_waves(
    rack: Rack, flags: Mapping[str, Any], rolls: bool, before: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    """Flags of a run, and those in front of all statements, hold between its waves; its own win."""
    rack.session.options = Options(flags=before)
    assert asked_of_waves(rack.session, flags, rolls=rolls) == Asked(**expected)


@pytest.mark.parametrize(
    ("flags", "rolls", "said"),
    [
        *(
            ({name: value}, rolls, f"--{name} is a flag for one change")
            for name, value in (("rolling", 2), ("no-rolling", True), ("canary", ONE), ("on-error", "stop"))
            for rolls in (True, False)
        ),
        ({"pause": 5.0}, False, "--pause is for waves, but this recipe has no rolling block"),
        ({"not-after": LATE}, False, "--not-after is for waves"),
        ({"not-after": "2020-01-01 05:00"}, True, "is in the past"),
    ],
)
def test_what_no_run_takes(rack: Rack, flags: Mapping[str, Any], rolls: bool, said: str) -> None:
    """A change's flags are refused, and so is what is about waves where there are none, or is past."""
    with pytest.raises(RefusedError) as caught:
        asked_of_waves(rack.session, flags, rolls=rolls)
    assert said in caught.value.message and "nothing was sent" in caught.value.message


# -- the gate ----------------------------------------------------------------------------------------------------------


def wave(number: int = 1, *of: tuple[str, ...]) -> Wave:
    return Wave(line=4, number=number, all=of or tuple((cell,) for cell in CELLS))


def stopped(rack: Rack, passing: Wave, *, unread: bool = False, **turns: Any) -> ExacellError:
    """Return with what a gate ends a run."""
    with pytest.raises(ExacellError) as caught:
        rack.gate(passing, unread=unread, **turns)
    return caught.value


@pytest.mark.parametrize(("own", "expected"), [(7.0, 7.0), (None, 20.0)], ids=["the rack's", "the setting's"])
def test_each_look_has_the_time_of_a_command(rack: Rack, own: float | None, expected: float) -> None:
    """All cells are asked, and each has as long for an answer as a command has."""
    rack.session.rack = replace(rack.session.need_rack(), command_timeout=own)
    rack.session.settings = replace(rack.session.settings, timeout=20.0)
    rack.gate(wave(), within=600.0)
    asked = [request for request in rack.asked if "griddisk" in request.command.lower()]
    assert {request.target for request in asked} == set(CELLS)
    assert {request.timeout for request in asked} == {expected}


@pytest.mark.parametrize("of", [(), ((NODES[0],), (NODES[1],))], ids=["cells", "hosts"])
def test_a_cell_that_caches_nothing_holds_the_gate(rack: Rack, of: tuple[tuple[str, ...], ...]) -> None:
    """Waves of cells and of hosts wait alike for all cells of the rack; where others are is shown."""
    rack.transport.cellcli(THREE, FLUSH)
    error = stopped(rack, wave(1, *of))
    assert isinstance(error, RecipeError) and error.exit_code is ExitCode.FAILED
    assert "the gate before wave 1 stayed closed" in error.message and THREE in error.message


def test_where_others_are_is_shown_while_a_gate_is_closed(rack: Rack) -> None:
    """The display of the wait names the cells that are done and those that wait, and no group without any."""
    rack.transport.cellcli(THREE, FLUSH)
    rack.session.rack = replace(rack.session.need_rack(), emulated=True)
    for number, others in ((1, "exa1cel[01-03] waiting"), (2, "exa1cel01 done; exa1cel[02-03] waiting")):
        rack.console.shown.clear()
        stopped(rack, wave(number), within=0.1)
        assert {shown.others for shown in rack.console.shown} == {others}


def test_what_is_not_read_may_take_disks_offline(rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    """ASM must be able to spare the disks of a wave that gets something which exacell does not read, and only of that."""
    spare = "asmDeactivationOutcome"
    answer = rack.transport.program

    def unable(host: str, login: str, argv: Sequence[str], **more: Any) -> tuple[int, str, str]:
        status, out, err = answer(host, login, argv, **more)
        return status, out.replace(f"<{spare}>Yes<", f"<{spare}>No<"), err

    monkeypatch.setattr(rack.transport, "program", unable)
    rack.gate(wave())
    assert f"{spare} is No, not Yes" in stopped(rack, wave(), unread=True).message
    rack.gate(wave(1, *((node,) for node in NODES)), unread=True)


def test_a_pause_is_shown_and_none_is_made_before_the_first_wave(rack: Rack) -> None:
    """A pause counts down before a further wave, and its gate has its usual time."""
    rack.gate(wave(1), within=None, pause=0.01)
    assert rack.console.shown == []
    rack.gate(wave(2), within=None, pause=0.01)
    assert [shown.stage for shown in rack.console.shown] == ["pause before wave 2 of 3"]


def test_somebody_is_asked_before_a_further_wave(rack: Rack) -> None:
    """--pause=ask puts one question before each but the first; a no ends the run, and no cell is asked then."""
    rack.gate(wave(1), ask=True)
    assert rack.console.questions == []
    rack.gate(wave(2), ask=True)
    assert rack.console.questions == [
        "exa1cel01 done; exa1cel[02-03] waiting; now wave 2 of 3 on exa1cel02: continue?",
    ]
    rack.console.yes = False
    rack.asked.clear()
    error = stopped(rack, wave(3), ask=True)
    assert isinstance(error, InterruptedByUserError) and error.message == "you said no before wave 3"
    assert rack.asked == []


def test_hosts_without_cells_have_a_gate_without_cells(hosts: Rack) -> None:
    """On a rack of hosts alone nothing is asked, and a wave begins; not behind the last moment, nor behind Ctrl-C."""
    turns = [wave(number, *((node,) for node in NODES)) for number in (1, 2)]
    for passing in turns:
        hosts.gate(passing)
    past = (datetime.now().astimezone() - timedelta(minutes=2)).isoformat()
    for passing in turns:
        error = stopped(hosts, passing, not_after=past, pause=600.0)
        assert isinstance(error, InterruptedByUserError) and "no wave begins after" in error.message
    hosts.session.interrupted.set()
    for passing in turns:
        assert "interrupted at the gate" in stopped(hosts, passing, pause=600.0).message
    assert hosts.asked == []
