"""Carry out one case of the fault matrix and judge what is left."""

from __future__ import annotations

import functools
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matrix_cases import Case, Way, boundaries, killed_twice, single, while_mending
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, NODES, MatrixRack, Operator, Prepared, Said
from matrix_verbs import TWO, VERBS, Verb

from exacell.change.resuming import unfinished
from exacell.core.errors import ExitCode
from exacell.emulator.rack.rack import Rack

State = dict[str, Any]
ROUNDS = 4
"""So many statements the operator gives at most until all is well again."""

_MEMORY = Path("/dev/shm")


def scratch() -> Path:
    """Return a new directory, in memory where there is one: every journal row is synced."""
    return Path(tempfile.mkdtemp(prefix="exacell-faults-", dir=_MEMORY if _MEMORY.is_dir() else None))


@functools.cache
def prepared(statements: tuple[str, ...], options: tuple[tuple[str, str], ...] = ()) -> Prepared:
    """Return the rack after these statements, with a load on it that makes dirty data wherever data is cached."""
    folder = scratch()
    try:
        rack = MatrixRack(folder / "rack", prepared(statements[:-1], options) if statements else None, dict(options))
        if not statements:
            rack.rack.start_load(db="SPOT", redo=200, seconds=6 * 86400, profile="oltp")
            rack.pass_time(180)
            return rack.prepared()
        last = statements[-1]
        if last.startswith("raw: "):
            statement = last.removeprefix("raw: ")
            for host in NODES[:1] if statement.startswith("sql:") else CELLS:
                text = rack.raw(host, statement)
                assert "CELL-" not in text, text
                assert "ORA-" not in text, text
        else:
            rack.operator().must(last)
        rack.pass_time(180)
        return rack.prepared()
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class Reference:
    """A row without any mishap: the rack before and after, and the moments on the way; ``later`` those of further plans."""

    original: State
    intended: State
    moments: tuple[Moment, ...]
    later: dict[int, list[Moment]]


def _rack_of(verb: Verb, folder: Path) -> MatrixRack:
    """Return the rack that a row starts from, with an operator who says yes."""
    rack = MatrixRack(folder / "rack", prepared(verb.prepare, verb.rack))
    rack.yes = True
    return rack


@functools.cache
def reference(verb: Verb) -> Reference:
    """Return what a row does when nothing goes wrong."""
    folder = scratch()
    try:
        rack = _rack_of(verb, folder)
        original = state_of(rack)
        operator = rack.operator()
        operator.must(verb.statement)
        rack.pass_time(60)
        return Reference(original, state_of(rack), tuple(operator.watch.seen), operator.watch.later)
    finally:
        shutil.rmtree(folder)


@functools.cache
def interfered(verb: Verb) -> tuple[State, ...]:
    """Return the states to which a second operator may lead: his change before, after, or instead of ours."""
    found: list[State] = []
    for order in ("before", "after"):
        folder = scratch()
        try:
            rack = _rack_of(verb, folder)
            if order == "after":
                rack.operator().must(verb.statement)
            for host, statement in verb.other:
                rack.raw(host, statement)
            found.append(state_of(rack))
            if order == "before":
                # Where he has made the cells differ, ours may still go on top of his on his cell alone.
                bare = verb.statement.removeprefix(f"on {TWO} ")
                alone = [f"on {host} {bare}" for host, _ in verb.other if host in CELLS]
                for statement in (verb.statement, *alone):
                    if rack.operator().do(statement).code == ExitCode.DONE:
                        found.append(state_of(rack))
        finally:
            shutil.rmtree(folder)
    return tuple(found)


@functools.cache
def cases_of(verb: Verb) -> tuple[Case, ...]:
    """Return every case of a row: its moments are found by carrying it out, and again with a stage that fails."""
    seen = reference(verb).moments
    found = [*single(verb, seen), *killed_twice(verb, seen)]
    for plan, moments in reference(verb).later.items() if verb.again else ():
        for case in single(verb, moments):
            found.append(replace(case, mishaps=tuple(replace(mishap, plan=plan) for mishap in case.mishaps)))
    for moment in boundaries(seen):
        if moment.phase is Phase.SEND:
            fails = Mishap(Kind.ERROR, moment)
            folder = scratch()
            try:
                rack = _rack_of(verb, folder)
                operator = rack.operator(fails)
                operator.do(verb.statement)
                found += while_mending(verb, fails, operator.watch.seen)
            finally:
                shutil.rmtree(folder)
    return tuple(dict.fromkeys(found))


def sample(verb: Verb, column: str, *, step: int) -> list[Case]:
    """Return each ``step``-th case of one column of a row, and at least one; other rows begin at other ones."""
    own = [case for case in cases_of(verb) if case.column == column]
    return own[VERBS.index(verb) % step % max(len(own), 1) :: step]


def state_of(rack: MatrixRack) -> State:
    """Return what a rack in this process is configured to be."""
    rack.rack.advance()
    rack.raw(NODES[0], "sql:select count(*) from v$asm_disk")  # ASM's own work is played when somebody looks.
    return configured(rack.rack)


def configured(rack: Rack) -> State:
    """Return what a rack is configured to be: per cell, and for ASM; what only time moves is left out."""
    state: State = {}
    for host, cell in rack.cells.items():
        cache = cell.flash_cache
        state[host] = {
            "mode": cell.mode.lower(),  # Old releases print it as it was written; what it means counts.
            "flash cache": {n: m.size_bytes for n, m in cache.members.items()} if cache else None,
            "caching": bool(cache) and not any(m.flush_from is not None for m in cache.members.values()),
            "pmem": (
                cell.pmem_mode,
                {n: m.size_bytes for n, m in cell.pmem_cache.members.items()} if cell.pmem_cache else None,
            ),
            "pmem caching": bool(cell.pmem_cache)
            and not any(m.flush_from is not None for m in cell.pmem_cache.members.values()),
            "objective": cell.iorm.objective,
            "flash log": dict(cell.flash_log.members) if cell.flash_log else None,
            "grid disks": {
                n: (g.cell_disk, g.size_bytes, g.status, tuple(g.available_to), g.caching_policy, g.comment)
                for n, g in cell.grid_disks.items()
            },
            "dbplan": [d.attributes for d in cell.iorm.db_plan],
            "other plans": [d.attributes for d in (*cell.iorm.cat_plan, *cell.iorm.cluster_plan)],
            "services": dict(cell.services),
            "settings": {name: value for name, value in cell.settings.items() if value},
        }
    asm = rack.asm
    groups = getattr(asm, "groups", {})
    state["ASM"] = {
        name: {
            "redundancy": str(group.redundancy),
            "disks": {d.grid_disk: (str(d.mode), d.size_mb, d.fail_group) for d in group.disks.values()},
            "files": len(group.files),
            "mounted": sorted(group.mounted),
            "attributes": dict(group.attributes),
            "rebalance is stopped": group.operation is not None and group.operation.power == 0,
        }
        for name, group in groups.items()
    }
    return state


@dataclass
class Verdict:
    """What became of a case."""

    case: Case
    story: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused: bool = False
    """Whether exacell refused to go on or back, naming the reason, with nothing left in between."""
    expelled: bool = False
    """Whether ASM had dropped disks for good before anybody came back, so that nothing about them is guaranteed."""

    @property
    def survived(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join([str(self.case), *(f"  {line}" for line in self.story), *(f"  ! {p}" for p in self.problems)])


def carry_out(case: Case) -> Verdict:
    """Run one case to its end and judge it."""
    verb, verdict = case.verb, Verdict(case)
    expected = reference(verb)
    folder = scratch()
    try:
        rack = _rack_of(verb, folder)
        rack.other = verb.other
        first = rack.operator(*case.mishaps)
        said = first.do(verb.statement)
        verdict.story.append(str(said))
        missed = [m for m in case.mishaps if m not in first.watch.struck]
        if missed:
            seen = ", ".join(map(str, first.watch.seen))
            verdict.problems.append(f"never came to: {', '.join(map(str, missed))} (moments: {seen})")
            return verdict
        rack.mend()
        # ASM brings the disks of a cell up to date in the rack's own time; nothing else needs as long.
        rack.pass_time(600 if any(m.kind is Kind.CELLSRV for m in case.mishaps) else 120)
        first.watch.mishaps = ()
        operator, goal = _go_on(rack, first, said, case, expected, verdict)
        rack.pass_time(60)
        judge(rack, operator, case, goal, verdict)
        return verdict
    finally:
        shutil.rmtree(folder)


def _go_on(
    rack: MatrixRack, operator: Operator, said: Said, case: Case, expected: Reference, verdict: Verdict
) -> tuple[Operator, State]:
    """Let the operator do what exacell tells, until all is well or he gives up.

    Returns:
        His last process, and the state that has to be reached.
    """
    if said.killed:
        operator = rack.operator(*([case.again] if case.again else []))
    verdict.story += [f"a new start says: {item.sentence}" for item in operator.pending()]
    back = case.way is Way.UNDO
    if back:
        operator, said = _try(rack, operator, "undo -y", verdict)
    for _ in range(ROUNDS):
        statement = _next(operator, said, case, back=back)
        if not statement:
            break
        before = said
        if before.code == ExitCode.NOT_EXECUTED:
            # What is in the way, such as a rebalance, has an end: nobody asks again at once.
            rack.pass_time(3600)
        operator, said = _try(rack, operator, statement, verdict)
        if not back and said.code == before.code == ExitCode.NOT_EXECUTED and case.verb.undo:
            # What can't be continued is taken back: that is the other good end.
            back = True
            operator, said = _try(rack, operator, "undo -y", verdict)
    if case.verb.again and not back:
        operator, said = _try(rack, operator, case.verb.statement, verdict)
        while (statement := _next(operator, said, case, back=back)) and len(verdict.story) < 3 * ROUNDS:
            operator, said = _try(rack, operator, statement, verdict)
    began = bool(operator.services.journal.entries())
    return operator, expected.original if back or not began else expected.intended


def _try(rack: MatrixRack, operator: Operator, statement: str, verdict: Verdict) -> tuple[Operator, Said]:
    """Let the operator say a statement; a process that is killed by it is followed by one that says it again."""
    said = operator.do(statement)
    verdict.story.append(str(said))
    if said.killed:
        operator = rack.operator()
        said = operator.do(statement)
        verdict.story.append(str(said))
    return operator, said


def _next(operator: Operator, said: Said, case: Case, *, back: bool) -> str:
    """Return what the operator does next; empty when all is well as far as he is told."""
    # Disks that are away on purpose are told, too: nobody brings them back for that.
    left = [item for item in operator.pending() if item.state != "disks offline"]
    told = left if case.verb.caching or back else []
    if told and told[0].mend.endswith("--abandon"):
        return f"{told[0].mend} -y"
    # What was stopped before anything was sent may be gone on with, but who takes it back has nothing to do.
    if operator.services.journal.unfinished("t1") if back else unfinished(operator.session, operator.services):
        return "resume -y"
    if said.code != ExitCode.DONE and not said.killed and not back:
        return "retry failed -y"
    return f"{told[0].mend} -y" if told else ""


def judge(rack: MatrixRack, operator: Operator, case: Case, goal: State, verdict: Verdict) -> None:
    problems = verdict.problems
    found = state_of(rack)
    if case.column == Kind.OTHER:
        ends = (goal, reference(case.verb).original, *interfered(case.verb))
        problems += [f"{where} is nobody's: {value}" for where, value in _nobodys(found, ends)]
        problems += [f"disk group {name} is not as the second operator left it" for name in rack.harmed()]
    elif _expelled(found, reference(case.verb).original):
        # What docs/reliability.md does not guarantee: the cell hung for longer than disk_repair_time with its disks offline.
        # What is guaranteed is that it is told.
        verdict.expelled = True
        if not any("ASM dropped" in line or "ASM has dropped" in line for line in verdict.story):
            problems.append("ASM dropped disks for good, and nobody was told")
    elif found != goal and not _refused_well(case, found, verdict):
        problems.append(f"the rack is not as it has to be: {differences(goal, found)}")
    wrong = operator.services.journal.verify()
    if wrong:
        problems.append(f"journal: {wrong}")
    if rack.lost_dirty:
        problems.append(f"{rack.lost_dirty} dirty bytes were dropped")
    # Between the last look and the statement nobody can stand in the way of a second failure.
    between = any(
        m.kind in (Kind.CELLSRV, Kind.OTHER) and m.at.phase in (Phase.INTENT, Phase.SEND) for m in case.mishaps
    )
    if rack.offline > 1 and not between:
        problems.append(f"{rack.offline} cells had disks offline at once")
    # A damaged journal tells nobody what is pending.
    left = () if wrong else operator.pending()
    away = {
        cell for cell in CELLS if any(status == "inactive" for _, _, status, *_ in found[cell]["grid disks"].values())
    }
    problems += [
        f"told, and not so: {item.sentence}"
        for item in left
        if item.state == "disks offline" and item.mend.split()[-1] not in away and not verdict.expelled
    ]
    told = [item.sentence for item in left if item.state != "disks offline"]
    off = [cell for cell in CELLS if goal[cell]["caching"] and not found[cell]["caching"]]
    if off and case.verb.caching:
        problems.append(f"caching is off on {off}; told: {told}")
    memory = any("pmemcache" in sentence or "xrmemcache" in sentence for sentence in told)
    if told and all(found[cell]["caching"] and (found[cell]["pmem caching"] or not memory) for cell in CELLS):
        problems.append(f"still told at the next start: {told}")


def _expelled(found: State, original: State) -> bool:
    """Whether disk groups that were there before have lost disks."""
    return any(
        set(group["disks"]) - set(found["ASM"][name]["disks"])
        for name, group in original["ASM"].items()
        if name in found["ASM"]
    )


def _refused_well(case: Case, found: State, verdict: Verdict) -> bool:
    """Whether exacell refused to go on, saying why, and left nothing in between.

    An undo may be refused when the whole change is in place. A statement of CellCLI's own, which has no undo, may be
    refused on the cells where its proof is gone; each cell is then as it was or as intended.
    """
    ends = reference(case.verb)
    if not any("refused" in line or "nothing was sent" in line for line in verdict.story[1:]):
        return False
    verdict.refused = True
    if case.way is Way.UNDO:
        return found == ends.intended
    original, intended = _without_caching(ends.original), _without_caching(ends.intended)
    now = _without_caching(found)
    return not case.verb.undo and all(now[host] in (original[host], intended[host]) for host in now)


def _without_caching(state: State) -> State:
    """Return the state without whether the caches cache: a restart of CELLSRV ends a flush, which no cell forbids."""
    told = ("caching", "pmem caching")
    return {host: {key: value for key, value in values.items() if key not in told} for host, values in state.items()}


def _nobodys(found: State, ends: tuple[State, ...]) -> list[tuple[str, str]]:
    """Return what is neither as it was, nor as we or the second operator wanted it."""
    odd = []
    for host, values in found.items():
        for key in dict.fromkeys((*values, *(key for end in ends for key in end[host]))):
            if all(end[host].get(key) != values.get(key) for end in ends):
                odd.append((f"{host} {key}", _short(values.get(key))))
    return odd


def differences(goal: State, found: State) -> str:
    """Return where two states differ, as text."""
    parts = []
    for host in goal:
        for key in sorted({*goal[host], *found[host]}):
            if goal[host].get(key) != found[host].get(key):
                parts.append(f"{host} {key}: {_short(found[host].get(key))} instead of {_short(goal[host].get(key))}")
    return "; ".join(parts)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 160 else text[:160] + "…"
