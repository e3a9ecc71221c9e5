"""Read the facts that planners need from the selected cells: fresh, and from all of them or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from exacell.cellcli.statement import Change, Statement
from exacell.core.background import unless_interrupted
from exacell.core.cellset import fold
from exacell.core.errors import (
    ExacellError,
    InterruptedByUserError,
    RefusedError,
    ReplyError,
)
from exacell.core.units import and_more
from exacell.plan import facts as f, implausible as doubts
from exacell.plan.asmspace import headers_over, sizes_over
from exacell.plan.guards.cell import STOPPED_FACTS, may_be_stopped
from exacell.session.answers import problem_of
from exacell.session.hung import MUTE
from exacell.session.recording import Recording, told_while_waiting

if TYPE_CHECKING:
    from exacell.plan.asmfacts import AsmFacts
    from exacell.session.answers import Answers
    from exacell.session.fleet import Fleet
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session
    from exacell.transport.base import Reply


def gather(
    fleet: Fleet,
    query: Callable[[Sequence[str], Sequence[str]], Answers],
    statements: Sequence[str],
    cells: Sequence[str],
    *,
    others: Sequence[str] = (),
) -> tuple[dict[str, f.CellFacts], dict[str, Reply]]:
    """Return the facts of the cells that answer, and for each other cell its reply with its problem.

    Args:
        others: all cells of the rack; an answer that carries another cell's name is a problem.
        fleet: knows the releases of the cells, so that each is asked only for what its release has; a cell that does not answer
            is not asked again.
        query: asks cells for the records of LIST statements, in one round trip per cell.
    """
    if not statements:
        return {cell: f.CellFacts(cell=cell) for cell in cells}, {}
    remembered = set(cells) - set(fleet.strangers(cells))
    found, replies, bad = _ask(fleet, query, statements, cells)
    if doubtful := [cell for cell in cells if cell in remembered and _may_be_patched(fleet, cell, found, bad)]:
        before = fleet.releases(doubtful)
        fleet.forget(doubtful)
        now = fleet.releases(doubtful)
        patched = [cell for cell in doubtful if now.get(cell) != before.get(cell)]
        for cell in patched:
            found.pop(cell, None)
            bad.pop(cell, None)
        for old, new in zip((found, replies, bad), _ask(fleet, query, statements, patched), strict=True):
            old |= new  # type: ignore[operator]  # each of its own kind
    for cell, why in doubts.mistaken(found, others).items():
        bad[cell] = replace(
            replies[cell], problem=f"{why}: correct its name or address in the rack's configuration, DNS or ssh_config"
        )
        del found[cell]
    return found, bad


def _ask(
    fleet: Fleet,
    query: Callable[[Sequence[str], Sequence[str]], Answers],
    statements: Sequence[str],
    cells: Sequence[str],
) -> tuple[dict[str, f.CellFacts], dict[str, Reply], dict[str, Reply]]:
    """Return the facts of the cells that answer, their replies, and for each other cell its reply with its problem."""
    bad = fleet.greet(cells)
    known = fleet.releases([cell for cell in cells if cell not in bad])
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        if cell not in bad:
            groups.setdefault(tuple(f.statements_for(*statements, release=known.get(cell, ""))), []).append(cell)
    found: dict[str, f.CellFacts] = {}
    replies: dict[str, Reply] = {}
    for wanted, group in groups.items():
        answers = query(group, wanted)
        bad |= {cell: replace(a.reply, problem=a.problem) for cell, a in answers.answers.items() if a.problem}
        for cell, answer in answers.good.items():
            try:
                fact = f.build(cell, wanted, answer.tables)
            except ReplyError as error:
                bad[cell] = replace(answer.reply, problem=error.message)
                continue
            why = doubts.untold(fact, wanted)
            if why:
                bad[cell] = replace(answer.reply, problem=why)
            else:
                found[cell], replies[cell] = fact, answer.reply
    return found, replies, bad


def _may_be_patched(fleet: Fleet, cell: str, found: Mapping[str, f.CellFacts], bad: Mapping[str, Reply]) -> bool:
    """Return whether a cell may run another release than the remembered one, by which its statements were chosen.

    Only some transports notice the restart of a cell.
    """
    if cell in bad:
        return bad[cell].state not in MUTE
    release = found[cell].release
    return bool(release) and release != fleet.releases([cell]).get(cell, release)


def read_facts(
    session: Session, services: Services, request: Request, *statements: str, cells: Sequence[str] = ()
) -> dict[str, f.CellFacts]:
    """Return fresh facts from LIST statements, of ``cells`` or of every selected cell, in order.

    While a kept plan is applied, the facts that have changed since are noted. In a preview, the facts are as its earlier
    statements will leave them.

    Raises:
        RefusedError: a cell gave no answer, since a plan needs them all.
        InterruptedByUserError: the operator interrupted while a cell did not answer.
    """
    cells = tuple(cells) or session.cells()
    if not statements:
        return {cell: f.CellFacts(cell=cell) for cell in cells}
    if request.foreseen is not None:  # What the statement frees or takes, later ones must see.
        statements = tuple(dict.fromkeys((*statements, f.CELLDISK)))
    found, bad = _gathered(session, services, request, statements, cells)
    if bad:
        session.selection.remember(bad, bad)
        problems = [f"{cell}: {problem_of(bad[cell])}" for cell in cells if cell in bad]
        raise RefusedError(
            f"{problems[0]}{and_more(len(problems))}; nothing was sent",
            hint=session.not_running(problems)
            or _stopped(services, [cell for cell in cells if cell in bad and bad[cell].state not in MUTE])
            or _left_out([cell for cell in cells if cell not in bad]),
        )
    facts = {cell: found[cell] for cell in cells}
    if request.expected is not None:
        request.expected.judge(facts)
    return facts if request.foreseen is None else request.foreseen.on_cells(facts)


def _gathered(
    session: Session, services: Services, request: Request, statements: Sequence[str], cells: Sequence[str]
) -> tuple[dict[str, f.CellFacts], dict[str, Reply]]:
    """Return the same as :func:`gather`; show for which cells it waits; Ctrl-C ends the wait at once."""
    recording = Recording(services.fleet)
    beside_session, beside_services = services.aside(recording, same_interruption=True)

    def query(cells: Sequence[str], statements: Sequence[str]) -> Answers:
        return beside_services.query(*statements, cells=cells, timeout=request.read_timeout)

    look = partial(gather, recording, query, statements, cells, others=session.need_rack().cells)
    with told_while_waiting(recording.sentence, services.console.waiting):
        found = unless_interrupted(look, session.interrupted)
    if found is None:
        raise InterruptedByUserError(f"interrupted, with no answer of {recording.waiting_for} yet: nothing was sent")
    session.selection.take_over(beside_session.selection)
    return found


def _left_out(others: Sequence[str]) -> str:
    """Return the hint when cells gave no answer: run the statement on the ``others``, if there are any."""
    why = "a change needs facts of every selected cell"
    return f"{why}: repair it, or leave it out: `on {fold(others)} <statement>`" if others else why


def _stopped(services: Services, errant: Sequence[str]) -> str:
    """Return the hint if a cell reports an error because its CELLSRV is stopped; empty for other reasons."""
    asked = (f.CELL,)
    for cell, answer in services.fleet.query(errant, asked).good.items() if errant else ():
        if f.build(cell, asked, answer.tables).cellsrv.lower() == "stopped":
            return f"CELLSRV of {cell} is stopped: `online cell {cell}` starts it and brings its grid disks online"
    return ""


def planning_asm(services: Services, request: Request, name: str) -> AsmFacts:
    """Return the facts of an ASM cluster for a plan: in a preview as its earlier statements will leave them.

    Args:
        name: the cluster; empty for the rack's only one.
    """
    return services.asm(name).foreseeing(request.foreseen).facts()


def asm_facts(
    session: Session, services: Services, timeout: float | None = None
) -> tuple[list[AsmFacts] | None, list[str]]:
    """Return the facts of each ASM cluster (None if the rack has no cluster), and why a cluster can't be asked."""
    found, problems = [], []
    for name in session.need_rack().asm:
        try:
            found.append(services.asm(name).facts(timeout=timeout))
        except ExacellError as error:
            problems.append(error.message)
    return (found or None), problems


def headers_if_needed(
    session: Session, services: Services, request: Request, facts: Mapping[str, f.CellFacts]
) -> Mapping[str, str] | None:
    """Return grid disk → header_status over all ASM clusters of the rack; None if that is not needed or not possible.

    It is needed only if a grid disk still names a disk group that it may have left (asmModeStatus UNUSED or DROPPED).
    """
    doubtful = [
        grid
        for fact in facts.values()
        for grid in fact.grid_disks
        if grid.asm_group and grid.asm_mode in ("UNUSED", "DROPPED")
    ]
    rack = session.need_rack()
    if not doubtful or not rack.asm:
        return None
    clusters = []
    for name in rack.asm:
        try:
            clusters.append(planning_asm(services, request, name))
        except ExacellError as error:
            services.console.say(f"ASM cluster {name}: {error.message}")
            return None
    return headers_over(clusters, doubtful)


def facts_with_cellsrv_stopped(
    services: Services, statements: Sequence[Statement], cells: Sequence[str]
) -> tuple[str, ...]:
    """Return the LIST statements for a change of the flash cache's mode if CELLSRV is stopped on all cells.

    The result is empty if the statements do anything else, CELLSRV of a cell runs, or a cell does not report its state.
    """
    if not cells or len(statements) != 1 or not may_be_stopped(statements[0]):
        return ()
    answers = services.fleet.query(list(cells), [f.CELL]).good
    told = [f.build(cell, [f.CELL], answer.tables).cellsrv.lower() for cell, answer in answers.items()]
    return STOPPED_FACTS if len(told) == len(cells) and set(told) == {"stopped"} else ()


def with_asm_sizes(
    session: Session, services: Services, facts: Mapping[str, f.CellFacts], statements: Iterable[Statement]
) -> dict[str, f.CellFacts]:
    """Return the facts with ASM's size of each grid disk in use, if a statement resizes grid disks.

    Disks whose size in ASM is unknown keep None.
    """
    rack = session.need_rack()
    resizes = any(_resizes(statement) for statement in statements)
    used = [grid for fact in facts.values() for grid in fact.grid_disks if grid.asm_mode == "ONLINE"]
    if not resizes or not used or not rack.asm:
        return dict(facts)
    clusters = []
    for name in rack.asm:
        try:
            asm = services.asm(name).facts()
            clusters.append((asm, services.asm(name).sizes(asm.node)))
        except ExacellError as error:
            services.console.say(f"ASM cluster {name}: {error.message}")
            return dict(facts)
    sizes = sizes_over(clusters, used)
    return {
        cell: replace(
            fact,
            grid_disks=tuple(replace(grid, asm_size=sizes.get(grid.name.lower())) for grid in fact.grid_disks),
        )
        for cell, fact in facts.items()
    }


def _resizes(statement: Statement) -> bool:
    return isinstance(statement, Change) and statement.object == "GRIDDISK" and statement.setting("size") is not None
