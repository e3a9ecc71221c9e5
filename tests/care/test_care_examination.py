"""What doctor concludes from what it measured: each judge of exacell.care.examination by its limits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exacell.care import examination as e
from exacell.care.examination import Check, KeyFile
from exacell.care.health import Level
from exacell.output.care import doctor_lines
from exacell.output.style import plain
from tests.support.every import every

OK, WARN, BAD, UNKNOWN = Level.OK, Level.WARN, Level.BAD, Level.UNKNOWN


def folder(**other: object) -> Check:
    return e.folder("state", "/s", **{"problem": "", "mode": 0o700, "free": e.FREE, **other})  # type: ignore[arg-type]


def key(path: str = "/k", **other: object) -> KeyFile:
    return KeyFile(**{"path": path, "mode": 0o100600, **other})  # type: ignore[arg-type]


LOCKED = {"problem": "/k needs a passphrase", "way": "`ssh-add /k`"}


def only(checks: list[Check]) -> Check:
    (one,) = checks
    return one


# What was measured, how bad that is, what the reader sees of it, and what to type.
CASES: tuple[tuple[Callable[[], Check], Level, str, str], ...] = (
    (folder, OK, "/s, 256M free", ""),
    (lambda: folder(free=e.FREE - 1), WARN, "free", "make room"),
    (lambda: folder(mode=0o770), BAD, "others can write", "`chmod go-w /s`"),
    (lambda: folder(mode=0o702), BAD, "others can write", "`chmod go-w /s`"),
    (lambda: folder(mode=0o755), OK, "/s", ""),
    (lambda: folder(problem="Permission denied"), BAD, "/s: Permission denied", "EXACELL_HOME"),
    (lambda: e.agent("", 0, ""), OK, "SSH_AUTH_SOCK is not set", ""),
    (lambda: e.agent("/a", 1, ""), OK, "1 key", ""),
    (lambda: e.agent("/a", 0, "Connection refused"), WARN, "/a does not answer: Connection refused", "ssh-agent"),
    (lambda: only(e.keys([key()], 0)), OK, "/k", ""),
    (lambda: only(e.keys([key()], 2)), OK, "/k and 2 keys in the agent", ""),
    (lambda: only(e.keys([], 1)), OK, "1 key in the agent", ""),
    (lambda: only(e.keys([], 0)), BAD, "no key to log in with", "ssh-copy-id"),
    (lambda: only(e.keys([key(mode=0o100640)], 0)), WARN, "mode 640", "`chmod 600 /k`"),
    (lambda: only(e.keys([key(mode=0o100604)], 0)), WARN, "mode 604", "`chmod 600 /k`"),
    (lambda: only(e.keys([key(**LOCKED, in_agent=True)], 1)), OK, "/k", ""),
    (lambda: e.keys([key(**LOCKED)], 0)[0], BAD, "/k needs a passphrase", "`ssh-add /k`"),
    (lambda: e.keys([key(problem="/k is odd", way="take another"), key("/other")], 0)[0], WARN, "/k is odd", "take another"),
    (lambda: e.keys([key(problem="/k is odd", way="take another")], 1)[0], WARN, "/k is odd", "take another"),
    (lambda: e.descriptors(100, 100, 100, 3), OK, "3 hosts need about 100 open files; 100 are allowed", ""),
    (lambda: e.descriptors(101, 100, 200, 3), OK, "100 are allowed", ""),
    (lambda: e.descriptors(101, 100, 100, 1), BAD, "1 host need", "`ulimit -n 1024`"),
    (lambda: e.descriptors(2000, 64, 64, 9), BAD, "64 are allowed", "`ulimit -n 2000`"),
    (lambda: e.descriptors(101, None, None, 1), OK, "no limit", ""),
    (lambda: e.locale("utf-8", "C.UTF-8"), OK, "utf-8 (C.UTF-8)", ""),
    (lambda: e.locale("UTF8", ""), OK, "no LANG", ""),
    (lambda: e.locale("ascii", "C"), WARN, "ascii (C)", "`export LC_ALL=C.UTF-8`"),
    (lambda: e.terminal("xterm", (80, 24)), OK, "xterm, 80x24", ""),
    (lambda: e.terminal("xterm", (79, 24)), WARN, "80 columns", "widen"),
    (lambda: e.terminal("dumb", (80, 24)), WARN, "no colour", "`export TERM=xterm`"),
    (lambda: e.terminal("", (80, 24)), WARN, "TERM is not set", "`export TERM=xterm`"),
    (lambda: e.terminal("", None), OK, "no terminal", ""),
    (lambda: e.clock("c", 5.0, 0.0), OK, "within 5 s", ""),
    (lambda: e.clock("c", 5.1, 0.0), WARN, "5 s ahead of", "chronyc"),
    (lambda: e.clock("c", -3600.0, 0.5), WARN, "3,600 s behind", "chronyc"),
    (lambda: e.clock("c", 7.0, 2.0), OK, "within 5 s", ""),
    (lambda: e.clock("c", None, 0.0, "hangs"), UNKNOWN, "not read: hangs", "`date`"),
    (lambda: e.ssh_config("c", {}), OK, "`ssh -G` says the same", ""),
    (lambda: e.ssh_config("c", {}, "f:1: 'Match x' is read by ssh -G"), OK, "f:1: 'Match x' is read by ssh -G", ""),
    (lambda: e.ssh_config("c", {"Port": ("22", "")}), WARN, "Port: exacell 22, ssh none", "`ssh -G c`"),
    (lambda: e.login("c", "u", problem=""), OK, "works", ""),
    (lambda: e.login("c", "u", problem="", release="24.1"), OK, "works, release 24.1", ""),
    (lambda: e.releases({"c1": "24.1", "c2": "24.1", "c3": ""}), OK, "all 2 cells have 24.1", ""),
    (lambda: e.releases({"c1": "24.1", "c2": "25.1", "c3": "24.1"}), WARN, "c2 has 25.1; c[1,3] have 24.1", "`show versions`"),
    (lambda: e.login("c", "u", problem="refused", way="try"), BAD, "refused", "try"),
    (lambda: e.login("c", "u", problem="", falls_back="w"), WARN, "reads use w with `cellcli -m`", "`ssh-copy-id u@c`"),
)  # fmt: skip


@every(CASES, name=lambda case: f"{case[1]} {case[2]}")
def test_each_measure_has_its_verdict_and_its_way_out(
    make: Callable[[], Check], level: Level, found: str, way: str
) -> None:
    """Each measured value has the verdict, the words and the statement to type that its row names; what is OK has none."""
    check = make()
    assert check.level is level
    assert found in check.found
    assert way in check.way
    assert (level is OK) is not bool(check.way)


@pytest.mark.parametrize("color", [True, False])
def test_each_check_is_a_line_that_fits(color: bool) -> None:
    """At a terminal, in colour or without, each check begins a line with its verdict, none is wider than the terminal, and hosts
    whose checks differ in their names alone share one."""
    checks = [
        *(Check(check="a", level=level, found="found " * 20, way="way") for level in Level),
        *(Check(check="login", level=OK, found=f"{host} works", host=host) for host in ("c01", "c02", "c03")),
    ]
    shown = [plain(line) for line in doctor_lines(checks, 80, color=color)]
    assert all(len(line) <= 80 for line in shown)
    heads = [line.split()[0] for line in shown if not line.startswith(" ")]
    assert heads == ["ok", "unknown", "warn", "bad", "ok"]
    assert shown[-1].startswith("ok       c[01-03]: login:")


@pytest.mark.parametrize("level", Level)
def test_the_worst_counts(level: Level) -> None:
    """Of several checks the worst decides, wherever it stands; without any all is well."""
    one, well = Check(check="a", level=level, found=""), Check(check="b", level=OK, found="")
    assert e.worst([well, one, well]) is level
    assert e.worst([]) is OK
