"""``doctor``: check whether this machine reaches the rack's cells, hosts and ASM, and say what to type if it does not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from exacell.care import examination
from exacell.care.examination import Check
from exacell.care.health import Level
from exacell.change.racklock import LockedError, lock_of
from exacell.core.background import Meanwhile
from exacell.core.config import RackConfig, load
from exacell.core.errors import ConfigError, ExacellError, ExitCode
from exacell.core.paths import at_home
from exacell.core.units import counted
from exacell.language.registry import Call
from exacell.output.care import doctor_lines
from exacell.output.result import Column, Result
from exacell.output.style import standard_output
from exacell.session import machine
from exacell.session.answers import problem_of
from exacell.session.bundle import pack
from exacell.session.given import Request, Services, Session
from exacell.session.holding import held_line, holder_of
from exacell.session.written import places
from exacell.transport.base import Reply, Request as Command, Role, State
from exacell.transport.held.steering import Stands

_CELL = "list cell attributes name, releaseVersion"
_NOW = "date +%s"
_COLUMNS = (Column("cell"), Column("check"), Column("verdict"), Column("found"), Column("next"))


def doctor(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per check; ``cell`` is the host of the check, null for this machine.

    Raises:
        RefusedError: the bundle's file exists, or can't be written.
    """
    checks, rack = _of_this_machine(session)
    if rack is not None:
        checks += _held(session, services)
        checks += _of_hosts(session, services, request, rack)
    notes = [_summary(checks)]
    if "bundle" in call.flags:
        name = call.flag_text("bundle") or f"exacell-bundle-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz"
        written = pack(at_home(name), session, checks, services.journal)
        notes.append(f"{written.path} holds {', '.join(written.members)}: look into it before you send it")
    rows = [
        {
            "cell": one.host or None,
            "check": one.check,
            "verdict": str(one.level),
            "found": one.found,
            "next": one.way or None,
        }
        for one in checks
    ]

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return doctor_lines(checks, width, color=color)

    failed = examination.worst(checks) is Level.BAD
    return Result(
        records=rows, columns=_COLUMNS, data=True, draw=draw, notes=notes,
        exit_code=ExitCode.FAILED if failed else ExitCode.DONE,
    )  # fmt: skip


def files(session: Session, call: Call) -> Result:
    """Return one record per place where exacell stores files; ``bytes`` is null if nothing is there."""
    racks = load(session.home, session.env).racks.values()
    rows = [
        {"cell": None, "path": str(place.path), "bytes": place.size, "what": place.what, "lost": place.lost or None}
        for place in places(session.home, [lock_of(rack, session.home.state_dir).path for rack in racks])
    ]
    columns = (Column("path"), Column("bytes", "size"), Column("what", "prose"))
    return Result(records=rows, columns=columns, data=True)


def _summary(checks: Sequence[Check]) -> str:
    bad = [one for one in checks if one.level is Level.BAD]
    doubtful = [one for one in checks if one.level in (Level.WARN, Level.UNKNOWN)]
    if bad:
        first = bad[0]
        about = f"{first.host}: " if first.host else ""
        return f"{len(bad)} of {len(checks)} checks failed; begin with {about}{first.check}"
    if doubtful:
        return f"nothing failed in {len(checks)} checks; {counted(len(doubtful), 'warning')}"
    return f"all well: {len(checks)} checks"


def _of_this_machine(session: Session) -> tuple[list[Check], RackConfig | None]:
    """Return the checks that need no host, and the rack; None if no rack is chosen."""
    rack: RackConfig | None = None
    try:
        rack = session.need_rack()
        where = rack.source or "the command line"
        found = f"rack {rack.name} ({where}): {counted(len(rack.cells), 'cell')}, {counted(len(rack.host_names), 'other host')}"
        configured = Check(check="configuration", level=Level.OK, found=found)
    except ConfigError as error:
        configured = Check(check="configuration", level=Level.BAD, found=error.message, way=error.hint)
    checks = [
        machine.check_versions(),
        configured,
        *machine.check_folders(session.home),
        *machine.check_surroundings(rack, session.env, standard_output()),
    ]
    return checks, rack


def _held(session: Session, services: Services) -> list[Check]:
    """Return the check of the rack's holder of connections; empty if none runs and none is configured."""
    found = holder_of(session, services)
    if found is None or (found[1].stands is Stands.NONE and found[0].seconds is None):
        return []
    if found[1].stands is Stands.SILENT:
        return [Check(check="hold", level=Level.WARN, found=held_line(found[1]), way="`hold off`, then `hold on`")]
    return [Check(check="hold", level=Level.OK, found=held_line(found[1]))]


def _of_hosts(session: Session, services: Services, request: Request, rack: RackConfig) -> list[Check]:
    """Return the checks of the lock and, for each host, of its ssh_config, its logins and its clock."""
    chosen = session.selection.hosts
    cells = () if len(chosen) else session.cells() if rack.cells else ()
    narrowed = len(chosen) > 0 or (rack.cells and len(cells) < len(rack.cells))
    hosts = tuple(chosen) if len(chosen) else () if narrowed else rack.host_names
    timeout = request.read_timeout
    clusters = [] if narrowed else list(rack.asm)
    asking = Meanwhile(partial(_asm, services, clusters, timeout))
    over_ssh = cells if services.transport.capabilities.known_hosts else ()
    reached = [*((cell, rack.read_user) for cell in over_ssh), *((host, _user_of(rack, host)) for host in hosts)]
    configured, answers = machine.check_ssh_config(rack, reached)
    checks = [_lock(session, rack), *machine.check_keys(answers), *configured]
    if cells:
        checks += _cells(services, rack, cells, timeout)
    seconds, gone = _clocks(services, cells, hosts, timeout)
    checks += [
        examination.login(host, _user_of(rack, host) or "of ssh_config", problem=gone.get(host, "")) for host in hosts
    ]
    if rack.emulated:
        checks.append(
            Check(check="clock", level=Level.OK, found="not compared: an emulated rack has a clock of its own")
        )
    else:
        checks += [
            examination.clock(host, *seconds[host])
            if host in seconds
            else examination.clock(host, None, 0.0, gone[host])
            for host in (*cells, *hosts)
            if host in seconds or host in gone
        ]
    return [*checks, *asking.result()]


def _user_of(rack: RackConfig, host: str) -> str:
    return next((group.user for group in rack.groups_of(host) if group.user), "")


def _lock(session: Session, rack: RackConfig) -> Check:
    lock = lock_of(rack, session.home.state_dir)
    check = machine.check_lock(lock.path)
    if check.level is not Level.OK:
        return check
    try:
        holder = lock.holder()
    except LockedError as error:
        return Check(check="lock", level=Level.BAD, found=error.message, way=error.hint)
    return check if holder is None else Check(check="lock", level=Level.OK, found=f"held by {holder} ({lock.path})")


def _cells(services: Services, rack: RackConfig, cells: Sequence[str], timeout: float | None) -> list[Check]:
    """Return the checks of the logins for reads and writes on each cell, and whether all cells have the same release.

    If both logins of a cell fail in the same way, that is one check.
    """
    read = services.fleet.query(cells, [_CELL], timeout=timeout)
    fell_back = services.transport.read_fallback
    tried = services.transport.logins(cells, Role.WRITE) if rack.write_user != rack.read_user else None
    problems = {} if tried is None else {cell: _problem(reply) for cell, reply in tried.replies.items()}
    readers, writers = [], []
    releases: dict[str, str] = {}
    for cell, answer in read.answers.items():
        releases[cell] = str(answer.tables[0][0].get("releaseVersion", "")) if any(answer.tables) else ""
        both = answer.problem != "" and problems.get(cell) == answer.problem
        readers.append(
            examination.login(
                cell,
                f"{rack.read_user}, {rack.write_user}" if both else rack.read_user,
                problem=answer.problem,
                release=releases[cell],
                falls_back=rack.write_user if cell in fell_back and not answer.problem else "",
            )
        )
        if cell in problems and not both:
            writers.append(examination.login(cell, rack.write_user, problem=problems[cell]))
    if tried is None and rack.write_user != rack.read_user:
        said = f"the transport {services.transport.capabilities.name} can't log in without running something"
        writers = [Check(check=f"login {rack.write_user}", level=Level.UNKNOWN, found=f"not tried: {said}")]
    alike = examination.releases(releases)
    return [*readers, *writers, *([] if alike is None else [alike])]


def _problem(reply: Reply) -> str:
    return "" if reply.state is State.OK else problem_of(reply)


ClockOffsets = Mapping[str, tuple[float, float]]
"""Host → seconds by which its clock is ahead of this machine's, and the largest error of that."""


def _clocks(
    services: Services, cells: Sequence[str], hosts: Sequence[str], timeout: float | None
) -> tuple[ClockOffsets, Mapping[str, str]]:
    """Return the offsets of the clocks, and host → why it did not answer. Cells on which only CellCLI can be run are left out."""
    asked = [Command(target=host, command=_NOW, role=Role.HOST_READ, timeout=timeout) for host in hosts]
    if services.transport.capabilities.programs:
        asked += [Command(target=cell, command=_NOW, role=Role.READ, timeout=timeout) for cell in cells]
    found: dict[str, tuple[float, float]] = {}

    def note(reply: Reply) -> None:
        text = reply.stdout.strip()
        if reply.state is State.OK and text.isascii() and text.isdigit():
            # Add half a second for the fraction that date omits, and half of the round trip for the way back.
            found[reply.target] = int(text) + 0.5 - (time.time() - reply.seconds / 2), 0.5 + reply.seconds / 2

    replies = services.fleet.run(asked, on_reply=note).replies if asked else {}
    gone = {
        host: problem_of(reply) if reply.state is not State.OK else f"`{_NOW}` says {reply.stdout.strip()[:40]!r}"
        for host, reply in replies.items()
        if host not in found
    }
    return found, gone


def _asm(services: Services, clusters: Sequence[str], timeout: float | None) -> list[Check]:
    """Return the check whether ASM answers, for each node of the clusters."""
    checks = []
    for name in clusters:
        try:
            client = services.asm(name)
            problems = client.problems(timeout=timeout)
        except ExacellError as error:
            checks.append(Check(check=f"ASM {name}", level=Level.BAD, found=error.message, way=error.hint))
            continue
        for node, problem in problems.items():
            sid, user = client.config.sid_on(node), client.config.user
            checks.append(
                Check(
                    host=node,
                    check=f"ASM {sid}",
                    level=Level.BAD if problem else Level.OK,
                    found=problem or f"answers to {user}",
                    way=f"check home, sid and user of [asm.{name}] in the rack's file" if problem else "",
                )
            )
    return checks
