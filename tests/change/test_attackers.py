"""Lines of attackers, beside what has to come of each: tests/data/attackers.toml, which says by whom and how they were judged."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from test_doors import OLD, Door

from exacell.cellcli.secrets import holds_secret, masked
from exacell.change.execute import execute
from exacell.core.errors import ExacellError, RefusedError
from exacell.opaque.scan import command_findings
from exacell.output.console import SilentConsole
from exacell.plan.dbchange import AddLog, read_change
from exacell.plan.hostsettings import Found, companions, settings_plan, written_by
from exacell.plan.planners.database import database_plan
from exacell.session.request import Request
from tests.support.sessions import parsed
from tests.support.worlds import Wall, new_world, session_on

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "attackers.toml").read_text(encoding="utf-8"))
SECRET = "S3cret9x"
RISKS = ("none", "performance", "redundancy", "data", "unknown")


class Told(SilentConsole):
    """Keeps all that is said."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def say(self, text: str, *args: Any, **kwargs: Any) -> None:
        """Keep it."""
        self.text += f"{text}\n"

    def show_plan(self, plan: Any, *args: Any, **kwargs: Any) -> None:
        """Keep what the plan warns of."""
        self.text += "\n".join((*plan.warnings, *plan.notes)) + "\n"


RACKS: dict[str, tuple[Any, Any, Told]] = {}
"""The racks of this run, by what they were made with."""


def rack(group: Mapping[str, Any], folder: Path) -> tuple[Any, Any, Told]:
    """Return a session, its services and what it told, on an emulated rack in this process, with the group's clocks of DATA."""
    clocks, spec = group.get("clocks", {}), group.get("spec", {})
    if (name := repr((clocks, spec, folder.parent))) in RACKS:
        return RACKS[name]
    wall = Wall()
    world = new_world(wall, **spec)
    session, services, _ = session_on(world, folder, wall)
    services.console = console = Told()
    for attribute, value in clocks.items():
        say = f"sql asm \"alter diskgroup DATA set attribute '{attribute}'='{value}'\" -y"
        assert execute(session, services, Request(), parsed(say)).exit_code == 0
    return RACKS.setdefault(name, (session, services, console))


def clock(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Plan a statement on the rack; nothing is sent but texts, which no program of the rack takes."""
    session, services, console = rack(group, folder)
    console.text = ""
    dry = "" if "dcli" in line or " sh " in line else " -n"
    try:
        result = execute(session, services, Request(), parsed(line.removesuffix(" -y") + dry))
    except ExacellError as error:
        assert group["comes"] == "refused", error.message
        assert isinstance(error, RefusedError), f"{type(error).__name__}: {error.message}"
        assert group.get("says", "") in error.message, error.message
        return
    risks = {row["risk"] for row in result.records if "risk" in row}
    assert group["comes"] != "refused", f"goes on: {risks} {result.records[:1]}"
    assert max(risks, key=RISKS.index) in RISKS[RISKS.index(group["comes"]) :], risks
    assert group.get("warns", "") in console.text, console.text
    assert all(group.get("undo", "") in row["undo"] for row in result.records)


def text(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Look for what a text does that nobody reads."""
    found = command_findings(line)
    assert found.unread
    comes = group["comes"]
    if comes == "nothing":
        assert not found.losses and not found.absences, (found.losses, found.absences)
    elif comes == "loss":
        assert "DATA" in found.losses, found.losses
    elif comes == "DATA":
        assert [absence.group for absence in found.absences] == ["DATA"], found.absences
    else:
        kinds = [absence.kind for absence in found.absences]
        assert ("" if comes == "away" else comes) in kinds, kinds


def door(folder: Path, by: str, on: str) -> Door:
    """Return a door with more files than it has."""
    folder.mkdir(parents=True)
    found = Door(folder, by, on)
    (folder / "script").write_text(f"!touch {folder / 'ran'}\n")
    (folder / "link").symlink_to(folder / "old")
    return found


def given(line: str, found: Door) -> int:
    """Run a line with the files of a door in it."""
    names = ("ran", "old", "cfg", "plain", "script", "link")
    files = {name: found.folder / name for name in names}
    codes = [int(found.runner.run_text(each.format(**files))) for each in line.split("\n")]
    found.runner.console.spool(None)
    return codes[-1]


def here(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Give a line by each way on each kind of rack: it ends with 2, nothing starts, and no file is replaced."""
    for by in group["by"]:
        for on in group["on"]:
            found = door(folder / f"{by}-{on}", by, on)
            code = given(line, found)
            said = found.err.getvalue()
            assert not found.ran and found.old == OLD, f"{by} {on}: it ran: {said}"
            if group.get("comes") == "ignored":
                assert code or "without effect here" in said, f"{by} {on}: exit code {code}: {said}"
                continue
            assert code == 2 and "Traceback" not in said, f"{by} {on}: exit code {code}: {said}"
            assert found.found.answers.asked == [], f"{by} {on}: it was sent"


def config(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Name a file with that text behind dcli -s -F."""
    for by, on in (("file", "lab"), ("typed", "production"), ("typed", "monitor")):
        found = door(folder / f"{by}-{on}", by, on)
        names = {key: found.folder / key for key in ("ran", "cfg", "script")}
        (found.folder / "mine").write_text(line.format(**names))
        code = given(f"dcli -c c1 -s '-F {found.folder / 'mine'}' uptime", found)
        said = found.err.getvalue()
        assert not found.ran, f"{by} {on}: it ran: {said}"
        if on == "lab":
            assert code == 2, f"{by} {on}: exit code {code}: {said}"


def secret(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Give a line where nothing of it is carried out; the secret is nowhere in what is told and kept."""
    for by, on in (("file", "monitor"), ("typed", "production")):
        found = door(folder / on, by, on)
        assert found.runner.run_text(f"spool {found.folder / 'spooled'}") == 0
        given(line, found)
        (folder / "typed").write_text("set echo on\n" + line.format(ran=found.folder / "ran") + "\n")
        given(f"start {folder / 'typed'}", found)
        told = found.err.getvalue() + found.out.getvalue()
        assert SECRET not in told, f"{on}: it is shown: {told}"
        kept = [path for path in found.folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
        assert not kept, f"{on}: it is kept in {kept}"


def plain(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Look for secrets where there are none."""
    assert masked(line) == line, masked(line)
    assert not holds_secret(line)


VM = "/proc/sys/vm/"


def setting(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Plan settings of a host that has these values."""
    files = {VM + name: Found(path=VM + name, mode="-rw-r--r--", text=value) for name, value in group["has"].items()}
    wanted = [(VM + name, value) for name, _, value in (word.partition("=") for word in line.split())]
    patterns = {path for pattern, _ in wanted for path in (pattern, *companions(pattern))}
    found = {pattern: [file for path, file in files.items() if fnmatchcase(path, pattern)] for pattern in patterns}
    if group["comes"] == "refused":
        with pytest.raises(RefusedError, match=r"give one of them|can't be set to 0"):
            settings_plan("lab", "x", wanted, {"h1": found})
        return
    plan = settings_plan("lab", "x", wanted, {"h1": found})
    (step,) = plan.steps
    others = {
        path: VM + name
        for path in files
        for name in group["has"]
        if name.rpartition("_")[0] == path[len(VM) :].rpartition("_")[0] and VM + name != path
    }
    for path, _ in written_by(step):
        told = {str(check.where["name"]) for check in step.proves}
        assert {path, others[path]} <= told, told
        assert "_bytes=" not in plan.inverse["h1"][0], plan.inverse


def change(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Read SQL for a database."""
    assert read_change(line) is None, read_change(line)


def log(line: str, group: Mapping[str, Any], folder: Path) -> None:
    """Plan a redo log group."""
    read = read_change(line)
    if read is None:
        return
    assert isinstance(read, AddLog)
    records = {
        "db.log": [
            {
                "name": str(n),
                "type": "log",
                "thread": n % 2 + 1,
                "bytes": 4 << 30,
                "blockSize": 512,
                "status": "INACTIVE",
                "diskgroups": ("DATA",),
            }
            for n in range(4)
        ],
        "db.instance": [{"name": f"S{n}", "thread": n, "host": f"exa1db0{n}"} for n in (1, 2)],
        "db.diskgroup": [{"name": "DATA", "sectorSize": 512, "usableMb": 100000}],
    }
    with pytest.raises(RefusedError, match="4"):
        database_plan("t1", read, records, database="spot", node="exa1db01", nodes=("exa1db01",), statement=line)


JUDGES = {f.__name__: f for f in (clock, text, here, config, secret, plain, setting, change, log)}


def cases() -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield each line with its judge's name and its group."""
    yield from ((kind, group, line) for kind in JUDGES for group in DATA[kind] for line in group["lines"])


def fault(kind: str, group: Mapping[str, Any], line: str, folder: Path) -> str:
    """Return what is wrong with what comes of a line; empty where it is what has to come, or fails as its group says."""
    try:
        JUDGES[kind](line, group, folder)
    except (Exception, pytest.fail.Exception) as error:
        return "" if group.get("fails") else f"{type(error).__name__}: {error}"
    return "it holds now: its group's fails goes" if group.get("fails") else ""


def test_what_has_to_come_of_an_attack(tmp_path: Path) -> None:
    """No line starts, loses, shows or passes what it is after."""
    found = [
        (kind, line, fault(*case, tmp_path / str(n))) for n, case in enumerate(cases()) for kind, _, line in (case,)
    ]
    RACKS.clear()
    wrong = [f"{kind}: {line!r}: {why}" for kind, line, why in found if why]
    assert not wrong, f"{len(wrong)} of {len(found)}:\n" + "\n".join(wrong)


def test_there_are_lines_enough() -> None:
    """Together with doors.toml there are three hundred lines and more, none twice under one heading."""
    lines = [(kind, group["about"], line) for kind, group, line in cases()]
    assert len(lines) > 250 and len(set(lines)) == len(lines)
