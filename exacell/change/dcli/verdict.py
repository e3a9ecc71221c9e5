"""Judge dcli's work: its CellCLI changes like typed ones, unreadable work by the rules of the rack.

Unread work is refused if the rack says so, and the journal records the refusal. A command that is one ``cellcli -e`` with
one statement whose proof may become stale is carried out like a typed one: its CellCLI looks first and then gets the
statement. In any other text a shell starts CellCLI later, so that seconds pass between the last look and the statement. A
production rack refuses that; elsewhere it is shown before the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.care.sqltext import refuse_losses
from exacell.change.changing import refuse_read_only
from exacell.change.clocks import against_clocks, refuse_absences
from exacell.change.consent import UNKNOWN_NEEDS, accepted_loss, ask
from exacell.change.dcli.hosts import Group
from exacell.change.dcli.sequence import left_away, plans_in_order
from exacell.change.door import Work, door_of, journal_refusal, refuse_unread
from exacell.change.racklock import lock_in
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.values import dataclass
from exacell.language.registry import Call, Value
from exacell.opaque.findings import Findings, FoundStatement, UnreadError
from exacell.opaque.lexing import Redirection, lex
from exacell.opaque.shell import read_shell
from exacell.plan.ageing import ages
from exacell.plan.facts import CellFacts
from exacell.plan.guards.cell import refuse_locked_out, refuse_taken
from exacell.plan.guards.choice import facts_needed
from exacell.plan.model import Plan, Risk, highest
from exacell.session.factreading import facts_with_cellsrv_stopped, headers_if_needed, read_facts, with_asm_sizes
from exacell.session.logins import READERS, refuse_writer

_SILENT = frozenset(("-n", "-x"))
"""Options of CellCLI that do not change its output to a program. Source: SAGUG, "Invoking CellCLI"."""


def single_change(text: str) -> str:
    """Return the command's only CellCLI statement if its proof may become stale; empty for any other command."""
    try:
        reading = read_shell(text)
    except UnreadError:
        return ""
    tokens, _ = lex(text)
    commands = [command for pipeline in reading.pipelines for command in pipeline]
    if len(commands) != 1 or any(isinstance(token, Redirection) for token in tokens):
        return ""
    (command,) = commands
    if command.document is not None or len(command.statements) != 1:  # Only calls of cellcli have statements.
        return ""
    options = command.words[1 : command.words.index("-e")]
    statement = command.statements[0]
    return statement if _SILENT.issuperset(options) and ages(statement) else ""


def stale_by_then(findings: Findings) -> tuple[str, ...]:
    """Return the changes in a text whose proof may become stale before they are carried out."""
    return tuple(found.text for found in findings.changes if ages(found.statement))


def why_wide(statement: str) -> str:
    """Return a sentence about the time that passes between the last look at a cell and a statement in a text."""
    return (
        f"'{statement}' is part of a text: after the last check of a cell, a shell and CellCLI start there and the "
        f"text before the statement runs; in these seconds the cell may change"
    )


def refuse_wide(rack: str, statement: str) -> RefusedError:
    """Return the RefusedError with which a production rack refuses such a statement."""
    return RefusedError(
        f"rack {rack} is a production rack, and {why_wide(statement)}; nothing was sent",
        hint=f"type it in exacell, which checks and sends with one CellCLI: `{statement}`",
    )


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The result of judging the work on one group.

    Attributes:
        plans: one for each CellCLI change, in order.
        opaque: the unreadable parts, in phrases.
        changes: the CellCLI changes themselves, to be judged again right before they are sent.
        accepted: the names whose loss was accepted.
        wide: changes whose proof may become stale, though their CellCLI can't look right before them.
    """

    plans: tuple[Plan, ...] = ()
    opaque: tuple[str, ...] = ()
    changes: tuple[FoundStatement, ...] = ()
    accepted: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()

    @property
    def risk(self) -> str:
        """Return the risk for the journal: unknown, or the risk of the worst plan."""
        return "unknown" if self.opaque else str(highest(plan.risk for plan in self.plans))

    def risk_of(self, cell: str) -> Risk:
        """Return the worst risk of the changes on one cell."""
        return highest(step.risk for plan in self.plans for step in plan.steps if step.target == cell)

    @property
    def caches(self) -> dict[str, bool]:
        """Return, for each cache that the changes switch off or on, whether its last change switches it on."""
        steps = [step for plan in self.plans for step in plan.steps if step.caching_off or step.caching_on]
        return {step.cache: step.caching_on for step in steps}

    @property
    def cache(self) -> str:
        """Return the cache for the journal: the first one that is left off, else the first one changed."""
        caches = sorted(self.caches, key=lambda cache: self.caches[cache])
        return caches[0] if caches else "flashcache"

    @property
    def caching_off(self) -> bool:
        """Return whether a change switches that cache off."""
        return any(step.caching_off and step.cache == self.cache for plan in self.plans for step in plan.steps)

    @property
    def caching_on(self) -> bool:
        """Return whether the last change of that cache switches caching on again."""
        return self.caches.get(self.cache, False)


def _accepting(what: str, *, recipe: bool) -> str:
    """Return how to accept the opaque work of a statement that begins with ``what``, typed or in a recipe."""
    if recipe:
        return "`run … --accept-opaque` allows it"
    # Words after dcli belong to dcli.
    typed = f"exacell --accept-opaque {what} …" if what == "dcli" else f"{what} --accept-opaque …"
    return f"{typed} runs it without a guard"


def judge(
    group: Group,
    findings: Findings,
    call: Call,
    *,
    serial: bool,
    flags: Mapping[str, Value],
    what: str = "dcli",
    paired: bool = False,
    named: bool = False,
) -> Judgement:
    """Return the judgement of the work if it may be done on the group; nothing that changes anything is sent.

    Args:
        serial: whether each cell's work ends before the next begins.
        flags: the statement's.
        what: its first word, for messages.
        paired: the work is one change, and its own CellCLI looks right before it if the transport can do that.
        named: see :class:`Work`.

    Raises:
        RefusedError: a guard forbids a change; a production rack refuses one whose proof may become stale; the rack is
            read-only; or an unreadable part was not accepted.
    """
    session, services, request, rack = group.session, group.services, group.request, group.rack
    if findings.harmless:
        return Judgement()
    targets = tuple(target.host for target in group.targets)
    services.recognition.recognise(targets)
    work = Work(
        statement=call.text,
        flags=flags,
        where=fold(group.cells or tuple(target.label for target in group.targets)),
        accept=_accepting(what, recipe=bool(request.origin)),
        instead=findings.instead,
        named=named,
        targets=targets,
    )
    refuse_unread(session, services, request, findings.unread, work)
    try:
        if session.read_only:
            raise RefusedError(
                f"rack {rack.name} is read-only, and '{findings.changes[0].text}' changes cells; nothing was sent",
                hint="set mode rw",
            )
        session.refuse_closed(targets)
    except RefusedError as closed:
        journal_refusal(session, services, request, closed, (), statement=call.text, flags=flags)
        raise
    accepted = accepted_loss(session.options.over(call.flags))
    if findings.losses:
        refuse_losses(findings.unread[0], findings.losses, tuple(accepted))
    cells, absences = fold(group.cells), findings.absences
    refuse_absences(
        session, services, request, absences, statement=call.text, where=cells, beside=group.hosts or not group.cells
    )
    plans, facts = _plans(group, findings, accepted, serial=serial)
    plans = tuple(against_clocks(session, services, request, plan, facts) for plan in plans)
    wide = () if paired and group.transport.capabilities.pairs else stale_by_then(findings)
    if wide and plans and session.in_production(targets):
        refusal = refuse_wide(door_of(session, targets).rack, wide[0])
        journal_refusal(session, services, request, refusal, (), statement=call.text, flags=flags)
        raise refusal
    return Judgement(
        plans=plans,
        wide=wide if plans else (),
        opaque=tuple(findings.unread),
        changes=tuple(findings.changes),
        accepted=tuple(accepted),
    )


def facts_for(changes: Sequence[FoundStatement]) -> tuple[str, ...]:
    """Return the LIST statements whose answers are needed to judge the changes; none for starting services."""
    return tuple(dict.fromkeys(need for found in changes for need in facts_needed(found.statement)))


def _plans(
    group: Group, findings: Findings, accepted: Sequence[str], *, serial: bool
) -> tuple[tuple[Plan, ...], Mapping[str, CellFacts]]:
    """Return the plan of each CellCLI change, and by cell the facts read now from which they were planned."""
    session, services, request, cells = group.session, group.services, group.request, group.cells
    if not cells:
        return (), {}
    for found in findings.changes:
        refuse_taken(found.statement, found.text, cells, group.rack.cells)
        refuse_locked_out(found.statement, found.text, user=session.options.login or group.rack.write_user, ssh=True)
    statements = [found.statement for found in findings.changes]
    needed = facts_with_cellsrv_stopped(services, statements, cells) or facts_for(findings.changes)
    facts = with_asm_sizes(session, services, read_facts(session, services, request, *needed, cells=cells), statements)
    headers = headers_if_needed(session, services, request, facts)

    def plan(cells: Sequence[str]) -> tuple[Plan, ...]:
        known = {cell: facts[cell] for cell in cells}
        return plans_in_order(group.rack.name, known, findings.changes, accepted=accepted, headers=headers)

    try:
        return plan(cells), facts
    except RefusedError as error:
        if not serial:
            raise
        together = error
    try:
        # Each cell ends before the next begins: changes that are forbidden on all cells at once are allowed this way.
        alone = [plan([cell]) for cell in cells]
    except RefusedError as error:
        raise together from error
    if any(left_away(plans) for plans in alone[:-1]):
        raise together
    return tuple(found for plans in alone for found in plans), facts


def refuse_to_leave(group: Group, left: Sequence[str], flags: Mapping[str, Value], statement: str) -> None:
    """Raise RefusedError if the things in ``left`` may not stay on a group's targets, and journal that refusal.

    Args:
        left: the things that stay, in sentences; if empty, nothing is checked.
        statement: as it was given.

    Raises:
        RefusedError: the rack is read-only, or a target belongs to a production rack that is read-only.
    """
    if not left:
        return
    hosts = [target.host for target in group.targets]
    group.services.recognition.recognise(hosts)
    try:
        refuse_read_only(group.session, hosts)
    except RefusedError as closed:
        journal_refusal(group.session, group.services, group.request, closed, (), statement=statement, flags=flags)
        raise


def agree(
    group: Group,
    judgement: Judgement,
    flags: Mapping[str, Value],
    what: str = "dcli",
    *,
    login: str = "",
    left: Sequence[str] = (),
) -> None:
    """Ask for agreement to the CellCLI changes, and on a production rack to the things that stay there.

    On another rack with ``opaque = "allow"`` in its configuration nobody is asked about these things.

    Args:
        login: the user that logs in for the changes; empty for the rack's login for writes. If another login may only read,
            each cell itself reports that.
        left: the things that stay on the targets apart from CellCLI's work, in sentences: a key, a file.

    Raises:
        RefusedError: the login fails, the rack's own login may only read, or nobody agreed.
    """
    production = group.session.in_production([target.host for target in group.targets])
    left = left if production else ()
    if not judgement.plans and not left:
        return
    cells = dict.fromkeys(step.target for plan in judgement.plans for step in plan.steps)
    chosen = "" if login == group.login else login
    if chosen not in READERS:
        refuse_writer(group.session, group.services, tuple(cells), chosen)
    if group.rack.opaque == "allow" and not production:
        return
    for statement in judgement.wide:
        group.services.console.say(f"Warning: {why_wide(statement)}")
    unknown = any(plan.risk is Risk.UNKNOWN for plan in judgement.plans)
    if flags.get("yes") and not unknown:
        return
    for sentence in left:
        group.services.console.say(sentence)
    for plan in judgement.plans:
        group.services.console.show_plan(plan, brief=True)
    lock_in(group.session).refuse_held()  # Refuse before the question, not after it.
    group.services.journal.refuse_damaged()
    ask(
        group.services.console,
        judgement.plans[0].statement if judgement.plans else f"{what} on a production rack",
        plans=judgement.plans,
        hint=UNKNOWN_NEEDS if unknown else f"exacell -y {what} … answers yes",
    )
