"""Read-only mode and production racks: every way of changing something is refused below the surface it came from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exacell.journal.record import Journal

GONE = 4194305
"""A process id that Linux never gives: the highest is 4194304."""

TOUCHED = f"/tmp/exacell-read-only-{os.getpid()}"
"""Emulated hosts share the machine's /tmp with whoever else tests there."""

TYPED = (
    "disable flashlog db=SPOT -y",
    "set iorm db=SPOT share=9 -y",
    "set iorm objective=basic -y",
    "unset iorm limit db=SPOT -y",
    "reset iorm -y",
    "restore iorm other -y",
    "flush flashcache -y",
    "resize flashcache size=288g -y",
    "set flashcache mode=writethrough -y",
    "carve griddisk prefix=ro media=hard size=1g -y",
    "release griddisk prefix=RECO -y",
    "resize griddisk prefix=RECO size=96g -y",
    "create diskgroup RO prefix=ro -y",
    "drop diskgroup RECO -y --accept-data-loss=RECO",
    "set rebalance power=2 diskgroup=RECO -y",
    "offline cell exa1cel01 -y",
    "restart service ms -y",
    "ack alert 1 -y",
)
"""Verbs of exacell's own."""

CELLCLI = (
    "alter iormplan objective=basic -y",
    "alter cell comment=changed -y",
    "on exa1cel01 alter cell comment=changed -y",
    "on (exa1cel01,exa1cel02) alter cell comment=changed -y",
    "on (where name=exa1cel01) alter cell comment=changed -y",
    "drop flashlog -y --accept-data-loss=exa1cel01,exa1cel02,exa1cel03",
    "alter griddisk all inactive -y",
    "create threshold CL_TEMP comparison='>' warning=99 -y",
)
"""CellCLI's statements."""

OPAQUE = (
    "sql asm 'alter diskgroup RECO rebalance power 2' -y",
    "sql asm 'alter diskgroup RECO check' -y --accept-opaque",
    "sql db=SPOT 'alter system checkpoint' -y --accept-opaque",
    f"sh --accept-opaque -y touch {TOUCHED}",
    "sh -y cellcli -e alter cell comment=changed",
    "copy /etc/hostname to=/tmp -y --accept-opaque",
    "dcli -c exa1cel01 cellcli -e alter cell comment=changed",
    f"dcli -c exa1cel01 touch {TOUCHED}",
    "dcli -c exa1cel01 -f /etc/hostname",
    "dcli -c exa1cel01 -k",
    f"dcli -c exa1db01 touch {TOUCHED}",
)
"""What carries text of other languages."""

LATER = (
    "run reset_cold -y",
    "run writes -y",
    "@writes -y",
    "apply kept -y",
    "undo -y",
    "undo 1 -y",
    "undo run -y",
    "resume -y",
    "retry failed -y",
    "confirm",
    "watch 1 disable flashlog db=SPOT -y",
    "disable flashlog db=SPOT -y --confirm-within=1h",
)
"""What repeats, takes back or goes on with changes made before, or lets another process do it."""

EVERY = (*TYPED, *CELLCLI, *OPAQUE, *LATER)


@pytest.fixture(scope="module")
def rack(program: Any) -> Iterator[Any]:
    """A rack with kept plans, a recipe, an alias, and a change in its journal for each way of going on with one.

    It is reached as ``t1``, and as the production rack ``prod``.
    """
    program.ok("emulator", "start", "t1", "speed=600")
    folder = program.home / "racks.d"
    text = (folder / "t1.toml").read_text()
    (folder / "prod.toml").write_text(text)
    recipes = program.home / "recipes"
    recipes.mkdir(exist_ok=True)
    (recipes / "writes.exa").write_text("set iorm objective=basic\n")
    for name in ("t1", "prod"):
        _past(program, name)
    (folder / "prod.toml").write_text(f"production = true\n{text}")
    yield program
    program.ok("emulator", "stop", "t1")


def _past(program: Any, name: str) -> None:
    """Make, on a rack that may still be written to: something done, something that failed, something that never ended."""
    program.ok("-r", name, "save", "iorm", "as=before")
    program.ok("-r", name, "set", "iorm", "db=SPOT", "share=3", "-y")
    program.ok("-r", name, "save", "iorm", "as=other")
    program.ok("-r", name, "restore", "iorm", "before", "-y")
    program.ok("-r", name, "plan", "as=kept", "set", "iorm", "db=SPOT", "share=5")
    program.ok("emulator", "fault", "t1", "exa1cel02", "error", "code=CELL-02559", "match=comment=tried", "nth=1")
    assert program("-r", name, "alter", "cell", "comment=tried", "-y").code == 1
    program.ok("emulator", "fault", "t1", "exa1cel02", "clear")
    journal = Journal(program.home / "journal.db")
    plan = next(row for row in journal.entries(rack=name) if row.kind == "plan")
    journal.begin(name, {**plan.body, "pid": str(GONE)})


def held(program: Any) -> str:
    """Everything that the statements could change, as one text."""
    listed = [
        program.ok("-r", "t1", "-o", "json", *words).out
        for words in (
            ("list", "cell", "attributes", "name,comment,flashCacheMode,cellsrvStatus"),
            ("show", "iorm"),
            ("list", "flashcache", "attributes", "size,status,creationTime"),
            ("list", "flashlog", "attributes", "size,creationTime"),
            ("list", "griddisk", "attributes", "name,size,status,asmModeStatus,creationTime"),
            ("list", "threshold"),
            ("show", "diskgroup"),
            ("list", "physicaldisk", "attributes", "name,status"),
        )
    ]
    return "\n".join(listed)


def written(program: Any) -> int:
    """How many changes and statements the journal says were begun."""
    return sum(1 for row in Journal(program.home / "journal.db").entries() if row.kind in ("plan", "intent"))


@pytest.mark.parametrize(
    "way",
    [("-m", "-r", "t1"), ("-r", "prod"), ("-r", "t1")],
    ids=["-m", "production", "the same cells by another name"],
)
def test_nothing_is_changed_by_any_way(rack: Any, way: tuple[str, ...]) -> None:
    """Read-only with -m, or on a production rack whose name nobody typed, each statement is refused and sends nothing; so it
    is on another rack that names the same cells, once the production rack was used."""
    rack.ok("-r", "prod", "list", "cell")
    before, rows = held(rack), written(rack)
    let_through = []
    for statement in EVERY:
        done = rack(*way, "-e", statement)
        if done.code == 0 or written(rack) != rows:
            let_through.append((statement, done.code, done.out, done.err))
            rows = written(rack)
    assert let_through == [], "\n".join(map(str, let_through))
    assert held(rack) == before
    assert not Path(TOUCHED).exists()


def test_the_same_statements_are_no_nonsense(rack: Any) -> None:
    """Where writing is allowed the verbs among them plan a change: it is the mode that refuses them, not the grammar."""
    for statement in (*TYPED[:8], *CELLCLI[:6]):
        done = rack("-r", "t1", "-n", "--detailed-exitcode", "-e", statement.removesuffix(" -y"))
        assert done.code == 3, (statement, done.err)


def test_the_production_rack_is_refused_for_what_can_not_be_read(rack: Any) -> None:
    """On a production rack --accept-opaque does not help, and the line says which rack it is."""
    done = rack("-r", "prod", "-e", f"sh --accept-opaque -y touch {TOUCHED}")
    assert done.code == 2 and "prod" in done.err and "nothing was sent" in done.err


def test_reads_go_on(rack: Any) -> None:
    """Read-only is about writing: lists, plans and queries answer as ever."""
    for words in (
        ("list", "cell"),
        ("show", "iorm"),
        ("sql asm 'select name from v$asm_diskgroup'",),
        ("sh", "uptime"),
    ):
        assert rack("-m", "-r", "t1", *words).code == 0, words
    planned = rack("-r", "prod", "-n", "-o", "json", "set", "iorm", "db=SPOT", "share=5")
    assert {row["outcome"] for row in json.loads(planned.out)} == {"planned"}
