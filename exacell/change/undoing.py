"""Take journalled changes back: run the inverse statements of each plan, newest change first.

An inverse is a statement like any other: it is planned from the present state, guarded, shown, confirmed and journalled.
Before that, the state that the change left must still be there; if somebody changed it since, undo refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from exacell.cellcli.fold import for_cell, has_own_name, neutral_text
from exacell.cellcli.statement import Change
from exacell.change.bringing_back import activate_again, bring_back, start_and_mount
from exacell.change.changing import refuse_to_ask, refuse_to_begin
from exacell.change.consent import ask, is_asked
from exacell.change.earlier import attempts, older_to_undo, refuse_running, root_of
from exacell.change.execute import execute
from exacell.change.probe import again
from exacell.change.settling import drops_to_come, settle
from exacell.change.targets.base import NO_ANSWER
from exacell.change.targets.kinds import Targets, opened
from exacell.core.cellset import fold, grouped
from exacell.core.errors import (
    ExitCode,
    MovedError,
    RefusedError,
    StatementError,
)
from exacell.core.values import dataclass, field, replace
from exacell.journal.actor import actor
from exacell.journal.confirming import note_reverted
from exacell.journal.left import CACHES
from exacell.journal.record import Row
from exacell.journal.rows import Entry
from exacell.journal.state import OPEN, by_change
from exacell.language.line import Line, parse_line, with_call_flags
from exacell.language.registry import Kind, Value
from exacell.output.console import SilentConsole
from exacell.output.result import Result, together
from exacell.plan.alike import Agreed, may_be_covered
from exacell.plan.foreseen import Foreseen
from exacell.plan.guards.targets import takes_own_name
from exacell.plan.model import Plan, Step, Undo
from exacell.plan.rolling import flags_again
from exacell.session.given import Request, Services, Session


@dataclass(frozen=True, kw_only=True)
class Done:
    """The real effects of a change.

    Attributes:
        steps: by target, the steps that were done, in order.
        touched: the targets on which something was left behind, or may have been: done, refused by the target half-way,
            or sent without an answer.
        sure: the targets whose last sent step was done and not mended, so that its proof must still hold. Of an ASM
            cluster's nodes only the one that was used last: ASM has one state, so that earlier proofs no longer count.
        inverse: by target, the statements that take the change back.
        rolling: the flags of its rolling, so that it is taken back in the same way.
        hosts: the targets that ON can choose beside the cells of the rack.
        within: earlier changes that this one has cancelled by setting their values back.
    """

    change: int
    statement: str
    steps: Mapping[str, tuple[Step, ...]]
    touched: tuple[str, ...] = ()
    sure: frozenset[str] = frozenset()
    inverse: Mapping[str, tuple[str, ...]]
    rolling: Mapping[str, Value] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    within: frozenset[int] = frozenset()


def read_change(entries: Sequence[Entry]) -> Done:
    """Return the real effects of one change from its rows, which include those of the changes that finished it.

    Raises:
        RefusedError: the rows contain no plan.
    """
    states = by_change(entries).values()
    first = next((state.plan for state in states if state.plan is not None), None)
    if first is None or first.plan is None:
        number = entries[0].change if entries else "?"
        told = f"change {number}" if first is None else f"change {number} ({first.statement})"
        raise RefusedError(
            f"{told} has no plan with the old values in the journal, so it can't be taken back; nothing was sent",
            hint=f"`journal show {number}` shows what it did; take it back by hand",
        )
    steps: dict[str, list[Step]] = {}
    last: dict[str, str] = {}
    spoken: dict[str, str] = {}
    inverse: dict[str, tuple[str, ...]] = {}
    for change in states:
        for step, state in change.carried:
            if state not in _SENT or not step.statement:
                continue
            if state == "done":
                steps.setdefault(step.target, []).append(step)
                if step.kind.shared:
                    spoken[step.owner] = step.target
            if state == "done" or step.undo is not Undo.NOTHING:
                last[step.target] = state
        inverse |= change.plan.inverse if change.plan is not None else {}
    mended = {target for change in states for target in change.mended}
    nodes = {step.target for found in steps.values() for step in found if step.kind.shared}
    return Done(
        change=first.change,
        statement=first.statement,
        steps={target: tuple(found) for target, found in steps.items()},
        touched=tuple(last),
        sure=frozenset(target for target, state in last.items() if state == "done" and target not in mended)
        - (nodes - set(spoken.values())),
        inverse=inverse,
        rolling=flags_again(first.rolling),
        hosts=frozenset(step.target for change in states for step, _ in change.carried if step.chosen(())),
    )


_SENT = ("done", "failed", "unknown", OPEN, "not done")
"""States of a step whose statement was sent, or may have been."""


def undo(
    session: Session,
    services: Services,
    request: Request,
    changes: Sequence[int],
    flags: Mapping[str, Value],
    *,
    whole: bool = False,
) -> Result:
    """Take back the changes with these numbers, newest first, and return the outcomes.

    Args:
        whole: these are all changes of a run or a session: one that left nothing behind, such as a flush, is named and
            skipped.

    Raises:
        RefusedError: the session is read-only; or a change can't be taken back, or the state that it left has changed;
            nothing was sent for that one.
    """
    dry = bool(flags.get("dry-run") or session.options.dry_run)
    if not dry:
        refuse_to_begin(session, services)
    if not changes:
        return Result(
            notes=["this made no change, so there is nothing to take back; undo takes back the newest change"]
        )
    found = list(_settled(session, services, changes, wait=not dry, whole=whole))
    if not found:
        return Result(notes=["nothing is left to take back"])
    for done in [done for done in found if whole and _left_nothing(done)]:
        services.console.say(f"change {done.change} ({done.statement}) left nothing that can be taken back")
        found.remove(done)
    if whole and (back := _put_back(found)) is not None:
        _refuse_moved(session, services, back)
        gone = [done for done in found if done.change in back.within]
        numbers = ", ".join(str(done.change) for done in reversed(gone))
        services.console.say(
            f"changes {numbers} ({gone[-1].statement} … {gone[0].statement}): later ones of them restored the "
            "old values"
            f"{f' on {fold(back.steps)}, and it is so now' if back.steps else ''}; nothing is left to take back"
        )
        for done in gone:
            _note_undone(session, services, done, flags)
        found = [done for done in found if done not in gone]
    for done in found:
        _refuse_impossible(done, partial(older_to_undo, session, services, done.change))
    if dry:
        request = replace(request, foreseen=request.foreseen or Foreseen())
    results: list[Result] = []
    for done in found:
        if not _take_back(session, services, request, done, flags, results):
            break
    return replace(together(results), fold=True)


def _put_back(found: Sequence[Done]) -> Done | None:
    """Find changes that cancel each other; return the newest of them, with only those last steps that no other change followed.

    A later step cancels an earlier one on the same target if its statement is the inverse, or if it swaps back each value that
    the earlier one changed. A change counts only if all of its steps are cancelled or cancel others, and the same holds for every
    change that it is paired with. Return None if no changes cancel each other.

    Args:
        found: newest first.
    """
    open_steps: dict[str, list[tuple[int, Step]]] = {}
    pairs: list[tuple[int, int]] = []
    for done in reversed(found):
        for target, steps in done.steps.items():
            left = open_steps.setdefault(target, [])
            for step in (step for step in steps if step.undo is not Undo.NOTHING):
                if left and _puts_back(step, left[-1][1]):
                    pairs.append((left.pop()[0], done.change))
                else:
                    left.append((done.change, step))
    more = {change for left in open_steps.values() for change, _ in left}
    more |= {done.change for done in found if not done.sure.issuperset(done.touched)}
    while grown := {change for pair in pairs if more.intersection(pair) for change in pair} - more:
        more |= grown
    gone = [done for done in found if done.change not in more and any(done.change in pair for pair in pairs)]
    if not gone:
        return None
    newest = {target: done for done in reversed(found) for target in done.steps}
    # The effects of a later change of the same run on other targets are proven when that change is undone.
    last = {target: done.steps[target][-1:] for target, done in newest.items() if done in gone}
    within = frozenset(done.change for done in gone)
    return replace(gone[0], steps=last, sure=frozenset(last), within=within, inverse={})


def _puts_back(step: Step, before: Step) -> bool:
    """Return whether a step undoes the step before it, as the journal records both."""
    if before.undo is Undo.STATEMENT:
        return step.statement == before.inverse
    swapped = tuple(replace(change, before=change.after, after=change.before) for change in before.changes)
    return bool(swapped) and swapped == step.changes


def _settled(
    session: Session, services: Services, changes: Sequence[int], *, wait: bool, whole: bool = False
) -> Iterator[Done]:
    """Yield the real effects of these changes, newest first, after settling the outcome of each step.

    Args:
        whole: these are all changes of a run: those without a plan are named and skipped, even if there is only one.

    Raises:
        RefusedError: one still runs or is undone already, or the only one has no plan.
    """
    rack = session.need_rack().name
    roots = dict.fromkeys(root_of(services.journal, rack, number) for number in sorted(changes, reverse=True))
    for number in roots:
        refuse_running(services.journal, rack, number)
        state = services.journal.whole_state(rack, number)
        if len(roots) > 1 and (state.undone or any(plan.undoes for plan in state.plans)):
            continue  # Among all changes of a run or a session: one that is undone already, or that is an undo.
        if state.undone:
            asked = f"change {number} of rack {rack} is"
            if number not in changes:
                asked = f"change {changes[0]} of rack {rack} continued change {number}, which is"
            raise RefusedError(f"{asked} already undone; nothing was sent", hint=f"journal show {number}")
        for attempt in attempts(services.journal, rack, number):
            refuse_running(services.journal, rack, attempt.change)
            settle(session, services, attempt.change, wait=wait)
        settle(session, services, number, wait=wait)
        if (whole or len(roots) > 1) and all(plan.plan is None for plan in state.plans):
            # Unreadable work can't be undone; the other changes of the run can.
            statement = next((plan.statement for plan in state.plans), "")
            services.console.say(f"change {number} ({statement}) is not taken back: exacell can't read its text")
            continue
        yield read_change(services.journal.chain(rack, number))


def _take_back(
    session: Session,
    services: Services,
    request: Request,
    done: Done,
    flags: Mapping[str, Value],
    results: list[Result],
) -> bool:
    """Take one change back, add the result to ``results``, and return whether the next one may begin.

    Raises:
        MovedError: the state that the change left has been changed since; nothing was sent.
        RefusedError: that state can't be read; nothing was sent.
    """
    statements = [*_caching_again(session, services, done), *_statements(session, done)]
    if not statements:
        services.console.say(
            f"change {done.change} ({done.statement}) changed nothing, so there is nothing to take back"
        )
        _note_undone(session, services, done, flags)
        return True
    _refuse_moved(session, services, done, request.foreseen)
    origin = f"undo {done.change}"  # Also for statements that have to run first: if one is interrupted, the undo is.
    held_up = start_and_mount(session, services, request, done.change, flags, origin) or activate_again(
        session, services, request, done.change, flags, origin
    )
    if held_up is not None:
        results.append(held_up)
        return False
    for told in drops_to_come(services.journal.whole_state(session.need_rack().name, done.change)):
        services.console.say(told)
    for reason, targets in _lost(done).items():
        services.console.say(
            f"undo change {done.change} ({done.statement}): not everything can be taken back on "
            f"{fold(targets)}: {reason}"
        )
    lines = [
        with_call_flags(statement, {**({} if flags.get("no-rolling") else done.rolling), **flags})
        for statement in statements
    ]
    request = replace(request, origin=origin)
    agreed = _agreed(session, services, request, done, statements, lines)
    # A statement that begins clears an earlier interruption.
    while statements and not session.interrupted.is_set():
        number = len(lines) - len(statements)
        services.console.say(f"undo change {done.change} ({done.statement}): {statements.pop(0)}")
        own = request if agreed is None else replace(request, agreed=agreed.at(number, ""))
        result = execute(session, services, own, lines[number])
        results.append(result)
        if result.exit_code not in (ExitCode.DONE, ExitCode.CHANGES) and not (
            statements and session.interrupted.is_set()
        ):
            return False
    if statements:
        note = f"interrupted: nothing more was started; `undo {done.change}` continues"
        results.append(Result(notes=[note], exit_code=ExitCode.INTERRUPTED))
        return False
    if request.foreseen is not None:
        request.foreseen.moved.update(done.steps)
    _note_undone(session, services, done, flags)
    brought = bring_back(session, services, request, done.change, flags, f"after undo {done.change}")
    if brought is not None:
        results.append(brought)
    return True


def _agreed(
    session: Session,
    services: Services,
    request: Request,
    done: Done,
    statements: Sequence[str],
    lines: Sequence[Line],
) -> Agreed | None:
    """Show the plans of all statements that take a change back, ask once, and return the plans that were agreed to.

    Each statement is planned and checked again before it is sent. If its plan is not the same then, or if it would lose data,
    the user is asked about it.

    Returns:
        None if there is at most one question anyhow, or if one of the statements can't be planned yet.

    Raises:
        RefusedError: nobody agreed, or a plan can't be carried out; nothing was sent.
    """
    flags = session.options.over(lines[0].flags) if lines else {}
    if len(lines) < 2 or flags.get("dry-run") or flags.get("yes") or request.agreed is not None:
        return None
    shown: list[tuple[str, Plan, Sequence[str]]] = []
    foreseen = Foreseen()
    for statement, line in zip(statements, lines, strict=True):
        console = SilentConsole()
        beside, aside = services.aside(services.fleet, same_interruption=True, console=console)
        try:
            dry = with_call_flags(statement, {**line.flags, "dry-run": True})
            planned = execute(beside, aside, replace(request, foreseen=foreseen), dry, inside=True).planned
        except RefusedError:
            return None  # It may be possible later, or is refused then.
        if planned is not None:
            shown.append((statement, planned.plan, console.said))
    plans = [plan for _, plan, _ in shown if is_asked(plan, flags) and may_be_covered(plan)]
    if len(plans) < 2 or session.interrupted.is_set():
        return None
    for statement, plan, said in shown:
        services.console.say(f"undo change {done.change} ({done.statement}): {statement}")
        services.console.show_plan(plan, brief=True)
        for text in said:
            services.console.say(text)
        refuse_to_ask(session, services, request, plan)
    ask(
        services.console,
        f"undo {done.change}",
        plans=[plan for _, plan, _ in shown],
        hint="-y answers yes; -n shows only the plans",
    )
    agreed = Agreed(exact=True)
    for statement, plan, _ in shown:
        agreed.at(statements.index(statement), "").add(plan)
    return agreed


def _lost(done: Done) -> dict[str, list[str]]:
    """Return reason → targets for done work that can't be taken back."""
    return grouped(
        (reason, target)
        for target, steps in done.steps.items()
        for reason in dict.fromkeys(step.inverse for step in steps if step.undo is Undo.IMPOSSIBLE and step.inverse)
    )


def _note_undone(session: Session, services: Services, done: Done, flags: Mapping[str, Value]) -> None:
    """Record that the change is taken back, so that neither undo nor resume offers it again."""
    if flags.get("dry-run") or session.options.dry_run:
        return
    rack = session.need_rack().name
    rows = [Row(kind="undone", body=actor())]
    if not _has_ended(session, services, done.change):
        body = {"exitCode": int(ExitCode.INTERRUPTED), "done": {"undone": len(done.touched)}}
        # Add this first: the last row decides the state of the change, and an end by interruption could be resumed.
        rows.insert(0, Row(kind="end", body=body))
    services.journal.append(rack, done.change, rows)
    later = dict.fromkeys(
        services.journal.finishing(rack, done.change), "taken back together with the change that it continued"
    )
    later |= {attempt.change: "finished by a later undo" for attempt in attempts(services.journal, rack, done.change)}
    for number, why in later.items():
        if not _has_ended(session, services, number):
            # Do not record an interruption: resume would offer the change again.
            body = {"exitCode": int(ExitCode.DONE), "done": {why: 1}}
            services.journal.append(rack, number, [Row(kind="end", body=body)])
    note_reverted(services.journal, rack, done.change)


def _has_ended(session: Session, services: Services, change: int) -> bool:
    return services.journal.state(session.need_rack().name, change).end is not None


def _left_nothing(done: Done) -> bool:
    """Return whether nothing that a change did has to be taken back: it measured, or emptied caches that exist as before."""
    left = [[step for step in steps if step.undo is not Undo.NOTHING] for steps in done.steps.values()]
    return bool(left) and not done.inverse and all(not steps or _only_emptied(steps) for steps in left)


def _only_emptied(steps: Sequence[Step]) -> bool:
    """Return whether steps on one cell only dropped a cache and created it again, so that only its content is lost."""
    return steps[0].caching_off and steps[-1].caching_on and all(step.undo is Undo.IMPOSSIBLE for step in steps)


def _refuse_impossible(done: Done, way: Callable[[], str] = str) -> None:
    """Raise RefusedError if the change has no inverse, as a whole or on a cell on which it left something.

    Args:
        way: returns the statement that takes back another change instead.
    """
    if not done.steps:
        return
    left = {target: [s for s in steps if s.undo is not Undo.NOTHING] for target, steps in done.steps.items()}
    # The inverse for a disk group is one statement for all nodes.
    bare = [t for t, steps in left.items() if t not in done.inverse and any(not s.kind.shared for s in steps)]
    if done.inverse and not bare:
        return
    steps = [step for target in bare or left for step in left[target]]
    reason = next((step.inverse for step in steps if step.undo is Undo.IMPOSSIBLE and step.inverse), "")
    if not steps:
        reason = "there is nothing to take back"
    where = f" on {fold(bare)}" if done.inverse else ""
    raise RefusedError(
        f"change {done.change} ({done.statement}) cannot be undone{where}: {reason or 'no statement takes it back'}; "
        "nothing was sent",
        hint=way() or (f"`journal show {done.change}` shows what it did" if steps else ""),
    )


def _refuse_moved(session: Session, services: Services, done: Done, foreseen: Foreseen | None = None) -> None:
    """Raise MovedError if a proof of the last step of a target does not hold any more.

    If an earlier undo of the change began and did not end, the difference came from that undo, and nothing is refused.

    Args:
        foreseen: in a preview, the state after newer changes are taken back first; objects that they change are not judged.
    """
    rack = session.need_rack()
    tried = attempts(services.journal, rack.name, done.change)
    ours = {target for attempt in tried for target in services.journal.state(rack.name, attempt.change).targets}
    every = (step for steps in done.steps.values() for step in steps)
    targets = Targets(services.fleet, opened(session, services, every, foreseen=foreseen))
    last = {target: steps[-1] for target, steps in done.steps.items() if target in done.sure - ours}
    if foreseen is not None:
        last = {target: step for target, step in last.items() if step.kind.shared or target not in foreseen.moved}
    failures = targets.moved([step for step in last.values() if step.kind.shared or step.chosen(rack.cells)])
    # A changed value counts more than an unreadable one: it ends a guardian's attempts.
    for target, failed in sorted(failures.items(), key=lambda item: NO_ANSWER in item[1]):
        if not failed:
            continue
        begin = f"undo of change {done.change} ({done.statement}): {target}: {next(iter(failed.values()))}"
        if NO_ANSWER in failed:
            raise RefusedError(
                f"{begin}; exacell can't read whether it was changed since; nothing was sent",
                hint=f"type `undo {done.change}` when it answers",
            )
        raise MovedError(
            f"{begin}; it has been changed since; nothing was sent",
            hint="undo the later change first, or make the new change by hand",
        )


def _caching_again(session: Session, services: Services, done: Done) -> list[str]:
    """Return the statements that end flushes which the change began; a cache that was not dropped need not be created again."""
    rack = session.need_rack().name
    own = {entry.change for entry in services.journal.chain(rack, done.change)}
    left = [item for item in CACHES.left(services.journal, rack) if item.change in own and not item.dropped]
    off = grouped((item.cache, cell) for item in left for cell in item.cells)
    return [f"on {fold(cells)} {again(cache)}" for cache, cells in off.items()]


def _statements(session: Session, done: Done) -> Iterator[str]:
    """Yield the inverse statements in order, with ON for the cells on which the change was done.

    Statements that differ only in the cell's own name become one, so that nobody is asked once per cell.
    """
    cells = (*session.need_rack().cells, *done.hosts)
    back = {target: statements for target, statements in done.inverse.items() if target in done.touched}
    groups = grouped(
        (tuple(_for_all(statement, target) for statement in statements) if target in cells else statements, target)
        for target, statements in back.items()
    )
    for statements, targets in groups.items():
        on = [target for target in targets if target in cells]
        if len(on) == 1:  # The full name is easier to read.
            statements = tuple(for_cell(statement, on[0]) for statement in statements)
        yield from [f"on {fold(on)} {statement}" if on else statement for statement in statements]


def _for_all(statement: str, cell: str) -> str:
    """Return a statement with ``{cell}`` in its disk names; unchanged if the cell would not get exactly the same statement."""
    neutral = neutral_text(statement, cell)
    if neutral == statement or for_cell(neutral, cell) != statement:
        return statement
    try:
        line = parse_line(neutral)
    except StatementError:
        return statement  # Statements that name one cell, such as online cell.
    return neutral if line is not None and _takes_own_name(line) else statement


def _takes_own_name(line: Line) -> bool:
    """Return whether each ``{cell}`` in a line is replaced by each cell's own name."""
    if line.call is None:
        return isinstance(line.cellcli, Change) and takes_own_name(line.cellcli)
    params = line.call.command.params
    others = [line.call.args.get(param.name) for param in params if param.kind is not Kind.GRIDDISK]
    return not has_own_name(f"{others} {line.call.extra}")
