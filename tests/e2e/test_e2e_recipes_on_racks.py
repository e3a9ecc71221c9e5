"""Each shipped recipe on racks of three ages: checked, planned, rehearsed, run, run again, taken back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.recipes.files import shipped
from tests.e2e.recipes_on_racks import CASES, ELSEWHERE, RACKS, Case
from tests.support.program import InProcess

LOOKS = (
    "list flashcache attributes name, size, status",
    "list flashlog attributes name, size, status",
    "list griddisk attributes name, size, status, asmDiskgroupName, asmModeStatus",
    "list cell attributes name, cellsrvStatus",
    "list iormplan attributes name, dbPlan, objective",
)
"""What may not differ between a rack before and after."""


Racks = Callable[[str], InProcess]


def started(home: Path, rack: str) -> InProcess:
    """Start a rack, named t1 whatever its age, and return the program with its home."""
    program = InProcess(home)
    program.ok("emulator", "start", "t1", "speed=3000", *RACKS[rack])
    return program


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Racks]:
    """Racks that serve the cases that need none of their own: each is started when the first one asks for it."""
    running: dict[str, InProcess] = {}

    def of(rack: str) -> InProcess:
        if rack not in running:
            running[rack] = started(tmp_path_factory.mktemp(rack) / "home", rack)
        return running[rack]

    yield of
    for program in running.values():
        program.ok("emulator", "stop", "t1")


@pytest.fixture
def program(case: Case, rack: str, racks: Racks, tmp_path: Path) -> Iterator[InProcess]:
    """The program with a home, so a journal, of its own, and a running rack, its own where something is made on it."""
    home = tmp_path / "home"
    if not case.before and not case.own:
        yield InProcess(home).with_rack_of(racks(rack))
        return
    own = started(home, rack)
    yield own
    own.ok("emulator", "stop", "t1")


def look(program: InProcess) -> dict[str, object]:
    """Return what cells and ASM have; sizes in whole GB, since a cache comes back in whole 16M a disk."""
    found: dict[str, object] = {text: program.ok("-r", "t1", "-o", "json", text).records for text in LOOKS}
    for row in (row for records in found.values() for row in records if "size" in row):
        row["size"] >>= 30
    groups = program.ok("-r", "t1", "-o", "json", "show diskgroup").records
    shown = program.ok("-r", "t1", "-o", "json", "show flashcache").records
    found["modes"] = [(cell["cell"], cell["mode"], cell["caching"]) for cell in shown]
    asked = (
        "select thread#, group#, bytes, blocksize from v$log order by group#",
        "select table_name, cell_flash_cache from dba_tables where owner = 'APP' order by table_name",
    )
    for query in asked:
        found[query] = program.ok("-r", "t1", "-o", "json", f'sql db=SPOT "{query}"').records
    found["disk groups"] = sorted((group["name"], group["type"], group["disks"]) for group in groups)
    return found


def rows() -> Iterator[object]:
    """Yield a case on a rack each; without TEST_REAL each recipe on one."""
    for case in CASES:
        for rack in case.racks if os.environ.get("TEST_REAL") else case.racks[:1]:
            yield pytest.param(case, rack, id=f"{case.run.removeprefix('run ')} on {rack}")


@pytest.mark.parametrize(("case", "rack"), list(rows()))
def test_a_recipe_from_its_check_to_its_undo(
    program: InProcess, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is well-formed; -n and rehearse change nothing; it runs to its end and leaves what it promises; run again it does the
    same or nothing; undo run gives the rack back as it was."""
    monkeypatch.chdir(tmp_path)  # Some write a report where they are run.
    program.ok("check", "recipe", case.name)
    for statement in case.before:
        program.ok("-r", "t1", statement, "-y")
    before = look(program)
    login = (*(("-l", case.login) if case.login else ()), *case.flags)
    program.ok("-r", "t1", *login, case.run, "-n")
    if case.rehearsed:
        assert "nothing was sent to the rack" in program.ok("-r", "t1", *f"rehearse {case.run}".split()).err
    assert look(program) == before
    script = tmp_path / "statements"
    script.write_text(_twice(case))
    done = program("-r", "t1", *login, "-f", str(script))
    assert done.code == 0, done.err
    once, again, undone = done.err.split(f"{MARK}\n")
    for told in re.findall(r"\[\d+/(\d+)\] line ", once):
        prompts = re.findall(rf'^ +{told}  prompt "(.+)"$', once, re.M)
        ended = f"\n{prompts[0]}\n" if prompts else f"[{told}/{told}] line "
        assert ended in once, "it ended before its last line"
    if case.again == "nothing":
        assert "\nchange " in once and "\nchange " not in again
    assert look(program) == before, undone


def test_every_shipped_recipe_is_run_by_a_test() -> None:
    """Each recipe that is shipped is run here, or by the test that is named for it."""
    inside = {"calibrate_cell"}
    assert {case.name for case in CASES} | set(ELSEWHERE) | inside == set(shipped())
    tests = Path(__file__).parents[1]
    assert [name for name, path in ELSEWHERE.items() if f"run {name}" not in (tests / path).read_text()] == []


MARK = "====="


def _twice(case: Case) -> str:
    mark = f'prompt "{MARK}"\n'
    return (
        f"{case.run} -y\n{case.holds}\n{mark}{case.run} -y\n{case.holds}\n{mark}{'' if case.kept else 'undo run -y'}\n"
    )
