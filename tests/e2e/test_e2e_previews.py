"""-n of each shipped recipe and example, on an emulated rack on which it can run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.recipes_on_racks import CASES, RACKS, Case
from tests.support.program import Done, InProcess

EXAMPLES = Path(__file__).parents[2] / "examples"
STORY = ("release=11.2.2.4", "dbcache=16g")
"""The rack of exadata_flash."""
GIVEN = {"exadata_flash": "db=SPOT lookups=20000 keys=100000 commits=150"}
NO_RACK = {"block_limits": "it measures block devices of hosts; no emulated host has one"}
"""Examples for what no emulated rack has, and why."""

Racks = Callable[[tuple[str, ...]], InProcess]


def started(home: Path, options: tuple[str, ...]) -> InProcess:
    program = InProcess(home)
    program.ok("emulator", "start", "t1", "speed=3000", *options)
    return program


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Racks]:
    """Racks that no preview changes, each started when it is needed first."""
    running: dict[tuple[str, ...], InProcess] = {}

    def of(options: tuple[str, ...]) -> InProcess:
        if options not in running:
            running[options] = started(tmp_path_factory.mktemp("rack") / "home", options)
        return running[options]

    yield of
    for program in running.values():
        program.ok("emulator", "stop", "t1")


def reaches_its_end(done: Done) -> None:
    """Fail unless a recipe and those inside it were shown up to their last lines, without a refusal."""
    assert done.code == 0, done.err
    totals = re.findall(r"^\[1/(\d+)\] line ", done.err, re.M)
    assert totals, done.err
    for total in totals:
        prompts = re.findall(rf'^ +{total}  prompt "(.+)"$', done.err, re.M)
        last = f"\n{prompts[0]}\n" if prompts else f"[{total}/{total}] line "
        assert last in done.err, "it ended before its last line"


def statements(text: str) -> list[str]:
    """Return the lines of all plans in a text which say what is sent where."""
    plans = re.findall(r"^Plan on t1: (.*?)^ +(?:Risk|Cannot)", text, re.M | re.S)
    return [" ".join(line.split()) for plan in plans for line in plan.splitlines() if re.match(r" +on | {20}", line)]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.run.removeprefix("run ")) for case in CASES])
def test_a_preview_of_a_recipe_reaches_its_last_line(
    case: Case, racks: Racks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of a shipped recipe is planned by -n, also a line that needs what earlier ones free, make or set."""
    monkeypatch.chdir(tmp_path)
    options, own = RACKS[case.racks[0]], bool(case.before)
    program = started(tmp_path / "home", options) if own else InProcess(tmp_path / "home").with_rack_of(racks(options))
    try:
        for statement in case.before:
            program.ok("-r", "t1", statement, "-y")
        login = ("-l", case.login) if case.login else ()
        reaches_its_end(program("-r", "t1", *login, *case.flags, case.run, "-n"))
    finally:
        if own:
            program.ok("emulator", "stop", "t1")


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.exa") if path.stem not in NO_RACK))
def test_a_preview_of_an_example_reaches_its_last_line(name: str, racks: Racks, tmp_path: Path) -> None:
    """Each line of an example is planned by -n: disk groups, tablespaces and redo logs on flash that does not exist yet."""
    program = InProcess(tmp_path / "home").with_rack_of(racks(STORY))
    data = EXAMPLES / "data"
    reaches_its_end(program("-r", "t1", f"run {EXAMPLES / name}.exa {GIVEN.get(name, '')} data={data}", "-n"))


def test_a_preview_has_the_plans_of_the_run(alone: InProcess) -> None:
    """What -n shows for flash of a disk group, there and back and taken back, is what is then sent, statement by statement."""
    alone.ok("emulator", "start", "t1", "speed=3000", *RACKS["x6"])
    for text in ("run flash_diskgroup cache=160g", "run flash_diskgroup_release", "undo run"):
        if text == "undo run":
            text = re.findall(r"undo run r\d+", alone("-r", "t1", "undo run").err)[0]
        planned = statements(alone.ok("-r", "t1", text, "-n").err)
        assert planned and planned == statements(alone.ok("-r", "t1", text, "-y").err)
