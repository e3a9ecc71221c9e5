"""Roles bind callers of ExaCLI. Source: reference cellcli.md 1.5, 1.6 and 2.3; Oracle DBMMN, grant-privilege."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from cells_bench import Bench

from exacell.emulator.basics.beneath import OwnFiles
from exacell.emulator.basics.program import Ask, Out
from exacell.emulator.grammar.privileges import needed_by
from exacell.emulator.programs.exacli import exacli

PASSWORD = "uq==A*2D$_18"
DENIED = "CELL-02913"


def _exacli(bench: Bench, home: Path, *argv: str, typed: Sequence[str] = (PASSWORD,)) -> tuple[int, str]:
    """Return the exit status and the output of one run of exacli."""
    program = exacli(
        bench.rack,
        argv,
        env={"HOME": str(home)},
        files=OwnFiles(str(home)),
        has_stdin=bool(typed),
        read=lambda name: None,
    )
    shown: list[str] = []
    lines = iter(typed)
    answer: str | None = None
    while True:
        try:
            event = program.send(answer)
        except StopIteration as end:
            return int(end.value), "".join(shown)
        answer = next(lines, None) if isinstance(event, Ask) else None
        shown += [event.text] if isinstance(event, Out) else []


@pytest.fixture
def bench() -> Bench:
    """A cell with users fred (no role), mona (monitor), dora (diskadmin) and boss (admin)."""
    bench = Bench(cells=2)
    bench.e("create role admin, monitor, diskadmin")
    bench.e("grant privilege all actions on all objects to role admin")
    bench.e("grant privilege list on griddisk attributes name,size,status with options detail,order by to role monitor")
    bench.e("grant privilege list on celldisk to role monitor")
    bench.e("grant privilege all actions on griddisk to role diskadmin")
    bench.e("grant privilege alter on cell attributes comment to role diskadmin")
    for user in ("fred", "mona", "dora", "boss"):
        bench.e(f"create user {user} password='{PASSWORD}'")
    bench.e("grant role monitor to user mona; grant role diskadmin to user dora; grant role admin to user boss")
    return bench


@pytest.mark.parametrize(
    ("user", "statement", "allowed"),
    [
        ("fred", "list cell", False),
        ("fred", "list nothing", True),
        ("mona", "list griddisk", True),
        ("mona", "LIST GRIDDISK attributes name, size detail", True),
        ("mona", "list griddisk attributes name, size order by size", True),
        ("mona", "list griddisk detail", False),
        ("mona", "list griddisk attributes name, cellDisk", False),
        ("mona", "list griddisk where name='x'", False),
        ("mona", "list griddisk limit 2", False),
        ("mona", "list celldisk where freeSpace > 1M attributes all", True),
        ("mona", "list cell", False),
        ("mona", "alter griddisk all comment='x'", False),
        ("dora", "alter griddisk all comment='x'", True),
        ("dora", "drop griddisk DATA_CD_00_exa1cel01 force", True),
        ("dora", "alter cell comment='x'", True),
        ("dora", "alter cell comment='x', location='y'", False),
        ("dora", "alter celldisk all comment='x'", False),
        ("dora", "list griddisk attributes all detail", True),
        ("boss", "alter celldisk all comment='x'", True),
        ("boss", "drop flashlog force", True),
        ("boss", "create user eve password=Secret123", False),
        ("boss", "list user", False),
        ("boss", "alter cell restart services ms", False),
        ("boss", "describe cell", False),
        ("cellmonitor", "list cell", True),
        ("cellmonitor", "alter cell comment='x'", False),
        ("celladmin", "alter cell comment='x'", True),
    ],
)
def test_a_user_may_what_one_privilege_covers(
    bench: Bench, tmp_path: Path, user: str, statement: str, allowed: bool
) -> None:
    """Verb, object, attributes and options of a statement must be covered by one privilege; else it is not carried out."""
    before = bench.e("list griddisk detail; list celldisk detail; list cell attributes comment, location")
    status, text = _exacli(bench, tmp_path, "-c", f"{user}@exa1cel01", "-e", statement)
    assert status == 0 and (DENIED in text) != allowed, text
    if not allowed:
        assert bench.e("list griddisk detail; list celldisk detail; list cell attributes comment, location") == before


def test_who_is_no_user_cannot_log_in(bench: Bench, tmp_path: Path) -> None:
    """Users log in with their own password on the cell that has them; a cookie is worth nothing when the user is gone."""
    call = ("-l", "dora", "--cookie-jar", str(tmp_path / "jar"), "-e", "list griddisk")
    assert _exacli(bench, tmp_path, "-c", "exa1cel01", *call, typed=("wrong",))[0] == 1
    assert _exacli(bench, tmp_path, "-c", "exa1cel02", *call)[0] == 1
    assert _exacli(bench, tmp_path, "-c", "exa1cel01", "-l", "nobody", "-e", "list cell")[0] == 1
    assert _exacli(bench, tmp_path, "-c", "exa1cel01", *call)[0] == 0
    assert _exacli(bench, tmp_path, "-c", "exa1cel01", *call, typed=())[0] == 0
    bench.e("drop user dora")
    assert _exacli(bench, tmp_path, "-c", "exa1cel01", *call, typed=())[0] == 1


def test_what_is_revoked_is_gone(bench: Bench, tmp_path: Path) -> None:
    """Revoking a privilege or a role, or dropping it, takes effect with the next statement."""
    call = ("-c", "dora@exa1cel01", "-e", "list griddisk attributes name limit 1")
    assert DENIED not in _exacli(bench, tmp_path, *call)[1]
    bench.e("revoke privilege all actions on griddisk from role diskadmin")
    assert DENIED in _exacli(bench, tmp_path, *call)[1]
    bench.e("grant role admin to user dora")
    assert DENIED not in _exacli(bench, tmp_path, *call)[1]
    bench.e("drop role admin force")
    assert DENIED in _exacli(bench, tmp_path, *call)[1]


@pytest.mark.parametrize(
    "privilege", ["create on user", "drop on role", "grant on role", "revoke on all objects", "grant on privilege"]
)
def test_some_privileges_cannot_be_granted(bench: Bench, privilege: str) -> None:
    """GRANT and REVOKE, and making and dropping users and roles, stay with the cell's own logins."""
    answer = bench.e(f"grant privilege {privilege} to role admin")
    assert "CELL-02917" in answer and "cannot be granted" in answer


def test_cellcli_on_the_cell_is_not_bound(bench: Bench) -> None:
    """Whoever runs cellcli on the cell is known by the login of the operating system alone."""
    assert DENIED not in bench.e("alter celldisk all comment='x'", login="celladmin")


def test_what_statements_need() -> None:
    """Attributes are those shown, set, filtered and sorted by; options are the words of the clauses."""
    need = needed_by("list griddisk attributes name where size > 1G order by status limit 2", (19, 3))
    assert need.attributes == {"name", "size", "status"} and need.options == {"where", "order by", "limit"}
    need = needed_by("drop griddisk all prefix=p erase=1pass force nowait", (19, 3))
    assert (need.verb, need.object_name) == ("drop", "griddisk") and need.options == {"erase", "force", "nowait"}
    assert needed_by("create griddisk g celldisk=c, size=1g", (19, 3)).attributes == {"celldisk", "size"}
