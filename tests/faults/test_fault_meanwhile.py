"""Somebody changes the rack between what a statement was judged by and the moment at which it leaves, or between its waves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from matrix_rack import CELLS, NODES, Answering, MatrixRack, Operator, Said
from matrix_run import prepared
from matrix_verbs import CARVED, FLUSHED, PMEM

from exacell.transport.base import FleetResult, Request

ONE, TWO, THREE = CELLS
DROPPED = (*FLUSHED, "raw: drop flashcache")
THROUGH = (*DROPPED, "raw: alter cell flashCacheMode=writethrough", "raw: create flashcache all")
INACTIVE = (*CARVED, "raw: alter griddisk all flashdisk inactive")
TAKE = (NODES[0], "sql:create diskgroup QQ normal redundancy disk 'o/*/p_*'")
Other = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A statement, what the rack was like, what somebody else does before the answer, and which cells are then left out.

    Attributes:
        why: part of the reason that is given for the first of them.
    """

    statement: str
    prepare: tuple[str, ...]
    other: Other
    why: str
    out: tuple[str, ...] = (TWO,)
    rack: tuple[tuple[str, str], ...] = ()


UNPROVEN = "status is normal, not normal - flushed"
CASES = [
    Case(
        statement="drop flashcache",
        prepare=FLUSHED,
        other=((TWO, "alter flashcache all cancel flush"),),
        why=UNPROVEN,
    ),
    Case(
        statement="drop flashcache",
        prepare=FLUSHED,
        other=((TWO, "drop flashcache"), (TWO, "create flashcache all")),
        why=UNPROVEN,
    ),
    Case(
        statement="drop flashcache",
        prepare=FLUSHED,
        other=((TWO, "alter cell restart services cellsrv"),),
        why=UNPROVEN,
    ),
    Case(
        statement="drop flashcache",
        prepare=THROUGH,
        other=(
            (TWO, "drop flashcache"),
            (TWO, "alter cell flashCacheMode=writeback"),
            (TWO, "create flashcache all"),
        ),
        why="flashCacheMode is WriteBack, not writethrough",
    ),
    Case(
        statement="alter flashcache all size=288g",
        prepare=FLUSHED,
        other=((TWO, "drop flashcache"), (TWO, "create flashcache all")),
        why=UNPROVEN,
    ),
    Case(
        statement="alter cell flashCacheMode=writethrough",
        prepare=DROPPED,
        other=((TWO, "create flashcache all"),),
        why="the mode changes while there is no such cache",
    ),
    Case(
        statement="drop pmemcache",
        prepare=("raw: alter pmemcache all flush",),
        other=((TWO, "alter pmemcache all cancel flush"),),
        why=UNPROVEN,
        rack=PMEM,
    ),
    Case(
        statement="drop griddisk all flashdisk prefix=p",
        prepare=INACTIVE,
        other=(*((cell, "alter griddisk all flashdisk active") for cell in CELLS), TAKE),
        why="exacell never drops a grid disk that ASM uses",
        out=CELLS,
    ),
    Case(
        statement="release griddisk prefix=p",
        prepare=CARVED,
        other=(TAKE, (NODES[0], "sql:alter diskgroup QQ dismount")),
        why="asmModeStatus is UNKNOWN, not UNUSED or DROPPED",
        out=CELLS,
    ),
]


def answered(case_rack: MatrixRack, folder: Path, statement: str, meanwhile: Callable[[], object]) -> Said:
    """Give a statement on a rack that asks first, and answer when ``meanwhile`` has happened."""
    operator = case_rack.operator()
    operator.session.rack = replace(operator.session.need_rack(), emulated=False, lock=folder / "lock")
    operator.services.console = Answering(meanwhile)
    return operator.do(statement)


def all_of(rack: MatrixRack, other: Sequence[tuple[str, str]]) -> Callable[[], None]:
    """Return what does these statements as somebody else and lets time pass, in which what can get dirty does."""

    def do() -> None:
        for host, statement in other:
            text = rack.raw(host, statement)
            assert "CELL-" not in text and "ORA-" not in text, text
        rack.pass_time(240)

    return do


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.statement}, {case.other[-1][1]}")
def test_a_proof_holds_when_the_statement_leaves_or_it_does_not_leave(tmp_path: Path, case: Case) -> None:
    """The cells whose proof has gone since the plan are left out with the reason, the others are changed, nothing is lost."""
    rack = MatrixRack(tmp_path / "rack", prepared(case.prepare, case.rack))
    said = answered(rack, tmp_path, case.statement, all_of(rack, case.other))
    assert said.code == (2 if case.out == CELLS else 1), said
    assert f"{case.out[0]}: " in said.text and case.why in said.text, said
    assert {host for host, _ in rack.sent} == set(CELLS) - set(case.out) and rack.lost_dirty == 0


def behind_the_first(operator: Operator, cell: str, do: Callable[[], object]) -> None:
    """Let something happen when a cell has carried out its first changing statement."""
    transport: Any = operator.services.transport
    run, sent = transport.run, []

    def running(requests: Sequence[Request], **more: Any) -> FleetResult:
        result: FleetResult = run(requests, **more)
        if any(request.role.changes and request.target == cell for request in requests) and not sent:
            sent.append(True)
            do()
        return result

    transport.run = running


@pytest.mark.parametrize(("flag", "dropped"), [("continue", [ONE, THREE]), ("stop", [ONE])])
def test_a_wave_whose_proof_has_gone_lends_nobody_its_own(tmp_path: Path, flag: str, dropped: list[str]) -> None:
    """Wave by wave, a cell whose flush somebody cancels keeps its cache, and the next one goes by its own proof or not at all."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    operator = rack.operator()
    behind_the_first(operator, TWO, all_of(rack, ((TWO, "alter flashcache all cancel flush"),)))
    said = operator.do(f"resize flashcache size=288g --rolling --on-error={flag} --timeout=3m -y")
    assert said.code == 1 and f"{TWO}: " in said.text, said
    assert [host for host, statement in rack.sent if statement == "DROP FLASHCACHE"] == dropped
    assert rack.lost_dirty == 0 and rack.rack.cells[TWO].flash_cache is not None


def test_what_is_repeated_is_proven_anew(tmp_path: Path) -> None:
    """On cells that cache again since, retry failed and undo are refused, whatever the first attempt had proven there."""
    rack = MatrixRack(tmp_path / "rack", prepared(FLUSHED))
    cancel = all_of(rack, ((TWO, "alter flashcache all cancel flush"),))
    assert answered(rack, tmp_path, "drop flashcache", cancel).code == 1
    all_of(rack, ((ONE, "create flashcache all"),))()
    sent = list(rack.sent)
    said = [rack.operator().do(words) for words in ("retry failed -y", "undo -y")]
    assert [one.code for one in said] == [2, 2] and rack.sent == sent and rack.lost_dirty == 0, said
    assert "may hold the only copy of data" in said[0].text and "it has been changed since" in said[1].text, said
