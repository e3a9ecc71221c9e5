"""Run long commands on hosts apart from the link, follow them to their end, and let resume follow them again.

Each host's output is fetched and journalled before its folder is removed. If nobody follows any more, the commands keep
running.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from exacell.change.dcli.output import UNREACHABLE, Outcome, split_lines
from exacell.change.dcli.record import outcome_of
from exacell.change.dcli.told import told
from exacell.change.lockwatch import Vigil
from exacell.change.racklock import lock_in
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode
from exacell.core.units import human_size
from exacell.journal.record import Row
from exacell.journal.rows import Planned
from exacell.output.result import Result, worst
from exacell.session.answers import problem_of
from exacell.session.artifacts import Keeping
from exacell.session.detached import Standing, Stands, output, remove, standing, start
from exacell.session.given import Services, Session
from exacell.session.recording import told_while_waiting
from exacell.transport.base import State

GIVEN_ANEW = "typed again"
"""The key under which a change's end counts targets on which a run's resume repeated the command as a separate change."""

_FIRST_LOOK = 0.1
"""Seconds before the second look; each later wait is twice as long, up to the rack's poll interval."""

Ended = Callable[[Outcome], None]
"""Takes the outcome of one host, before its folder there is removed."""


def begin(session: Session, services: Services, hosts: Sequence[str], folder: str, command: str) -> dict[str, str]:
    """Start the command on the hosts while we have the rack's lock; return host → why it failed, empty if it runs."""
    with Vigil(lock_in(session).still_mine) as vigil:
        return start(services.fleet, hosts, folder, command, ours=vigil.ours)


def follow(
    session: Session, services: Services, hosts: Sequence[str], folder: str, ended: Ended
) -> tuple[list[Outcome], dict[str, Standing]]:
    """Follow a command until it ends on each host or is interrupted; return the outcomes and the hosts where it is still open.

    Args:
        ended: called with the outcome of each host.
    """
    rack, fleet = session.need_rack(), services.fleet
    open_, wait = list(hosts), _FIRST_LOOK
    outcomes: list[Outcome] = []
    seen: dict[str, Standing] = {}

    def sentence() -> str:
        told = [f"{host} {_phrase(seen[host])}" for host in open_ if host in seen]
        return f"waiting for {fold(open_)}: {'; '.join(told[:4])}" if open_ else ""

    with told_while_waiting(sentence, services.console.waiting):
        while open_:
            seen |= standing(fleet, open_, folder)
            over = [host for host in open_ if seen[host].stands not in (Stands.RUNNING, Stands.SILENT)]
            for host in over:
                outcome = _outcome(services, host, folder, seen[host])
                if outcome is None:
                    continue  # The link is lost again; the output is still on the host.
                ended(outcome)
                outcomes.append(outcome)
                open_.remove(host)
                for name, why in remove(fleet, [host], folder).items() if seen[host].stands is not Stands.GONE else ():
                    services.console.say(f"{name}: {folder} was not removed: {why}")
            if not open_ or session.interrupted.wait(wait):
                break
            wait = min(2 * wait, rack.poll)
    return outcomes, {host: seen[host] for host in open_}


def _phrase(stands: Standing) -> str:
    if stands.stands is Stands.SILENT:
        return f"gives no answer ({stands.problem})"
    if stands.stands is Stands.GONE:
        return "has no folder for it: it did not start there, or the folder was removed"
    if stands.stands is not Stands.RUNNING:
        return f"has {stands.stands}"
    said = f"{human_size(stands.size)} of output" if stands.size else "no output yet"
    return f"runs as process {stands.number}, {said}"


def _outcome(services: Services, host: str, folder: str, stands: Standing) -> Outcome | None:
    """Return the outcome of the command on a host where it no longer runs; None if its output can't be fetched now."""
    if stands.stands is Stands.GONE:
        said = f"its folder {folder} and its output were removed"
        return Outcome(target=host, ran=False, status=1, said=said)
    reply = output(services.fleet, host, folder)
    if reply.state is not State.OK:
        services.console.say(f"{host}: it ended, but its output can't be fetched: {problem_of(reply)}")
        return None
    lines = split_lines(reply.stdout)
    if stands.stands is Stands.LOST:
        said = f"process {stands.number} ended without an exit status: it was killed, or the host was restarted"
        return Outcome(target=host, lines=lines, status=1, said=said, fingerprint=reply.fingerprint)
    return Outcome(target=host, lines=lines, status=stands.number, fingerprint=reply.fingerprint)


def still_there(change: int, left: Mapping[str, Standing]) -> list[str]:
    """Return the lines about hosts on which a command was not followed to its end."""
    running = [f"{host} (process {s.number})" for host, s in left.items() if s.stands is Stands.RUNNING]
    silent = [host for host, s in left.items() if s.stands is not Stands.RUNNING]
    told = [f"it still runs on {', '.join(running)}"] if running else []
    told += [f"it may still run on {fold(silent)}"] if silent else []
    return [f"{'; '.join(told)}: `resume {change}` fetches the result"] if told else []


def standings(services: Services, row: Planned) -> dict[str, Standing]:
    """Return, by host, the present state of a change's command on the hosts where its end is unknown."""
    open_ = dict.fromkeys(target for target, _ in services.journal.state(row.rack, row.change).unsettled)
    return standing(services.fleet, list(open_), row.detached) if open_ else {}


def phrases(stands: Mapping[str, Standing]) -> list[str]:
    """Return a phrase for each host: ``ini1: runs as process 812, 3K of output``."""
    return [f"{host}: {_phrase(each)}" for host, each in stands.items()]


def pick_up(
    session: Session, services: Services, row: Planned, *, dry: bool, but: Sequence[str] = (), printing: bool = False
) -> Result:
    """Follow a change's command on the hosts where its end is unknown, and return the outcomes.

    Args:
        dry: only show the present state.
        but: hosts that get the command again.
        printing: show the output as ``sh`` prints it, not as records.
    """
    journal, rack = services.journal, session.need_rack()
    state = journal.state(rack.name, row.change)
    open_ = [host for host in dict.fromkeys(target for target, _ in state.unsettled) if host not in but]
    if dry:
        return Result(notes=phrases(standings(services, row)))
    with lock_in(session).held():
        record = partial(_recorded, session, services, row)
        outcomes, left = follow(session, services, open_, row.detached, record)
        result = told(outcomes, printing=printing, hosts=True)
        # Outcomes of other hosts that an earlier process saw count too.
        earlier = [ExitCode.FAILED for told_before in state.states.values() if told_before == "failed"]
        code = ExitCode.INTERRUPTED if left else worst([result.exit_code, *earlier])
        anew = {"done": {GIVEN_ANEW: len(but)}} if but else {}
        journal.append(rack.name, row.change, [Row(kind="end", body={"exitCode": int(code), **anew})])
    return replace(result, notes=[*result.notes, *still_there(row.change, left)], exit_code=code)


def keep_output(keeping: Keeping, outcome: Outcome, change: int) -> None:
    """Keep a command's output on a host with the run, for any exit status; keep nothing if the command did not run.

    Args:
        change: number of the command's change; 0 if it only read.
    """
    if outcome.ran and outcome.status != UNREACHABLE:
        keeping.text(outcome.target, "output.txt", "".join(f"{line}\n" for line in outcome.lines), change=change)


def _recorded(session: Session, services: Services, row: Planned, outcome: Outcome) -> None:
    """Journal a host's outcome under the step of its intent, and keep its output if a run asked for that."""
    if row.keeps:
        keeping = Keeping(
            journal=services.journal,
            folder=session.home.state_dir,
            rack=row.rack,
            run=row.run,
            name=row.keeps,
            said={"statement": row.statement, "origin": row.origin, "place": row.place},
        )
        keep_output(keeping, outcome, row.change)
    body = {"what": "sh", "statement": row.statement, **outcome_of(outcome)}
    services.journal.append(row.rack, row.change, [Row(kind="outcome", target=outcome.target, body=body)])
