"""Run dcli from its words to its exit code: checks in dcli's order, then batches of targets, then their output.

Source: reference dcli.md, sections 1 to 10, dcli 3.5. Different on purpose: a wrong pattern of ``-r`` is found before
anything is sent, output that is not UTF-8 does not run the command again, and Ctrl-C keeps the results so far.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from exacell.change.dcli.files import (
    TEMPORARY,
    Delivery,
    as_it_is_now,
    delivery_of,
    drop_command,
    make_directory,
    public_key,
    push_command,
)
from exacell.change.dcli.hosts import Group, Target, place_of, reached, target, targets_of
from exacell.change.dcli.leaving import Leaving
from exacell.change.dcli.options import (
    DcliExit,
    DcliOptions,
    SshOptions,
    check,
    is_program,
    parse_dcli,
    read_ssh_options,
    usage_error,
)
from exacell.change.dcli.output import (
    UNREACHABLE,
    LineGuard,
    Outcome,
    Style,
    Table,
    Watch,
    cut_off,
    exit_status,
    name_list,
    read_watch,
    report,
    said_lines,
    with_banner,
)
from exacell.change.dcli.record import Record
from exacell.change.dcli.verdict import Judgement, agree, judge, refuse_to_leave, single_change
from exacell.change.dcli.work import (
    UNLIMITED,
    Task,
    in_parallel,
    work_through,
)
from exacell.change.door import Work, current_rack
from exacell.change.here import held, pass_programs
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode
from exacell.core.paths import at_home
from exacell.core.values import dataclass, field, replace
from exacell.language.registry import Call, Value
from exacell.opaque.findings import Findings
from exacell.opaque.scan import arguments, carried, command_findings, script_findings, wrapped
from exacell.output.result import Column, Result
from exacell.session.given import Request, Services, Session
from exacell.session.logins import goes_bare, refuse_restricted, restricted_cells
from exacell.session.recording import since, told_while_waiting
from exacell.transport.capabilities import refuse_programs, refuse_uploads
from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named

_PRINTED = ("table", "raw")
"""Output formats in which dcli's own output appears; the other formats get one record per target."""


def run_dcli(session: Session, services: Services, request: Request, argv: Sequence[str], call: Call) -> Result:
    """Carry out a dcli command line; its output goes to the console at once, its stderr lines become the problems.

    Raises:
        RefusedError: a guard forbids the command, or it can't be read and was not accepted; nothing was sent.
    """
    if request.origin.startswith("resume "):
        # The effects of a broken-off command can't be read back, and a second run may do more harm than none.
        note = f"dcli is not repeated: look at what it has done, then type it again: {call.text}"
        return Result(notes=[note])
    shown = str(call.flags.get("format") or session.settings.format)
    run = _Run(session=session, services=services, request=request, call=call, printing=shown in _PRINTED)
    try:
        code = run.run(argv)
    except DcliExit as end:
        if end.out:
            services.console.data(f"{end.out}\n")
        return Result(problems=end.err.split("\n") if end.err else (), exit_code=ExitCode(end.status))
    return Result(
        records=run.records,
        columns=[Column(name) for name in ("cell", "exitStatus", "text")] if run.records else (),
        data=not run.printing,
        problems=run.problems,
        exit_code=code,
    )


@dataclass
class _Run:
    session: Session
    services: Services
    request: Request
    call: Call
    printing: bool
    options: DcliOptions = field(default_factory=DcliOptions)
    style: Style = field(default_factory=Style)
    ssh: SshOptions = field(default_factory=SshOptions)
    delivery: Delivery | None = None
    leavings: Mapping[str, Leaving] = field(default_factory=dict)
    bare: bool = False
    problems: list[str] = field(default_factory=list)
    records: list[Mapping[str, Any]] = field(default_factory=list)

    def run(self, argv: Sequence[str]) -> ExitCode:
        self.options = options = parse_dcli(argv)
        check(options)
        targets = self._targets()
        if not targets:
            raise usage_error("there is no target: name hosts with -c, or a file of them with -g")
        self.ssh = read_ssh_options(options.ssh, options.scp)
        self.delivery = delivery_of(options, self.ssh)
        self.style = Style(pattern=self._pattern(), abnormal=options.abnormal, preserve=options.preserve_spaces)
        watch = read_watch(options.vmstat) if options.vmstat is not None else None
        self._verbose(f"options: {options}", f"argv: {list(argv)}")
        if options.list_targets:
            self.print([f"Target hosts: {name_list([t.label for t in targets])}"])
        self._tell_ignored()
        if not (options.words or self.delivery or watch or self.options.keys):
            return ExitCode.DONE
        with ExitStack() as kept:
            if self.delivery is not None and self.delivery.script is not None:
                folder = kept.enter_context(TemporaryDirectory(prefix="exacell-"))
                self.delivery = as_it_is_now(self.delivery, Path(folder))
            return self._reach(targets, watch)

    def _reach(self, targets: Sequence[Target], watch: Watch | None) -> ExitCode:
        """Judge the work on all targets, ask, and do it."""
        options = self.options
        findings = self._findings()
        there = [where for where in targets if where.host]
        with reached(
            self.session, self.services, self.request, there, options=self.ssh, connect_timeout=options.connect_timeout
        ) as groups:
            flags = self.session.options.over(self.call.flags)
            self._pass_programs(groups, flags)
            for group in groups:
                able = group.transport.capabilities
                refuse_programs(able, "dcli")
                if self.delivery is not None:
                    refuse_uploads(able, self._text[:60])
                if options.live and not able.streaming:
                    self.services.console.say(f"--live: with {able.name} a target's lines are shown when it has ended")
            judged = [
                (g, judge(g, findings, self.call, serial=self.options.in_turn, flags=flags, paired=bool(self._change)))
                for g in groups
            ]
            if flags.get("dry-run"):
                return self._dry(judged, findings, flags)
            for group in groups:
                refuse_to_leave(group, self._left(group), flags, self._text)
            self._refuse_restricted(groups, findings)
            for group, judgement in judged:
                agree(group, judgement, flags, login=options.user(group.login), left=self._left(group))
            tasks = list(self._tasks(watch, findings))
            self.leavings = {
                where.label: Leaving(group=group, judgement=judgement)
                for group, judgement in judged
                for where in group.targets
            }
            with ExitStack() as stack:
                records = [
                    stack.enter_context(Record(group, judgement, self._text, flags=flags).open())
                    for group, judgement in judged
                    if not all(task.reads for task in tasks)
                ]
                if watch is not None and watch.periodic:
                    return self._watch(watch, groups, targets)
                return self._batches(groups, targets, tasks, records)

    # -- before anything is sent ---------------------------------------------------------------------------------

    def _pass_programs(self, groups: Sequence[Group], flags: Mapping[str, Value]) -> None:
        """Raise RefusedError if the programs that ``-s`` names may not be started on this machine.

        Raises:
            RefusedError: they may not; nothing was sent.
        """
        named = [f"-o {setting}" for setting in self.ssh.settings if is_program(setting)]
        file = at_home(self.ssh.config_file) if self.ssh.config_file else None
        of_file = [f"-F {named}" for named in programs_named(SshConfigFiles.read(file))] if file is not None else []
        for group in groups:
            # Where programs of a file may not be started, the transport starts none either.
            more = [] if self.session.no_programs(group.rack) else of_file
            work = Work(
                statement=self._text, flags=flags, accept="--accept-opaque before dcli lets it",
                instead="name it in ~/.ssh/config" if held(group.session, group.request) else "",
            )  # fmt: skip
            pass_programs(group.session, group.services, group.request, [*named, *more], work)

    def _targets(self) -> tuple[Target, ...]:
        rack = current_rack(self.session, self.services)
        named = targets_of(self.options, lambda group: self.session.selection.resolve(group))
        named = tuple(replace(where, host=place_of(self.session, where.host)[1]) for where in named)
        limit = self.session.selection.limit if rack is not None else None
        if limit is not None:
            named = tuple(t for t in named if t.host in limit)
        if named or self.options.hosts or self.options.group_file or rack is None:
            return named
        # Cells that were selected outside of dcli's words: with exacell -c, use or ON.
        selected = tuple(self.session.selected())
        return tuple(target(cell) for cell in selected) if set(selected) != set(rack.cells) else ()

    def _pattern(self) -> re.Pattern[str] | None:
        if self.options.pattern is None:
            return None
        try:
            return re.compile(self.options.pattern)
        except re.error as error:
            # dcli finds this only after the work, discards the answers, and ends with a traceback and status 1.
            why = f"Error: -r {self.options.pattern} is no regular expression: {error}; nothing was sent"
            raise DcliExit(1, err=why) from error

    def _tell_ignored(self) -> None:
        if self.ssh.ignored:
            self.problems.append(f"ssh options without effect here: {', '.join(self.ssh.ignored)}")
        if self.options.prompt:
            self.problems.append("--prompt has no effect: exacell asks for no passwords and no host keys (trust CELL)")
        if self.options.one_password:
            self.problems.append("no password is asked for: the targets must take one of your keys already")

    @property
    def _change(self) -> str:
        """Return the CellCLI change if the work is exactly one such change; else empty."""
        options = self.options
        more = options.keys or self.delivery is not None or options.root_temporary or options.timeout is not None
        return "" if more else single_change(options.command)

    def _left(self, group: Group) -> list[str]:
        """Return the things that stay on the targets of a group apart from CellCLI's work, one sentence each."""
        options, where = self.options, name_list([target.label for target in group.targets])
        file = f"authorized_keys of {options.user(group.login)}"
        found = []
        if options.push_key or options.one_password:
            found.append(
                f"{where}: your public key is added to {file}, where it is not there; dcli --unkey takes it away"
            )
        if self.delivery is not None:
            names = " ".join(path.name for path in self.delivery.upload.sources)
            found.append(f"{where}: {names} is copied to {options.destination or 'the home directory'} and stays there")
        if options.drop_key:
            found.append(
                f"{where}: your public key is removed from {file}; whoever logs in only with it can't any more"
            )
        return found

    @property
    def _text(self) -> str:
        return f"dcli {shlex.join(self.options.argv)}"

    def _findings(self) -> Findings:
        """Return the effects of the command or script; copied files are never read, so they are opaque."""
        if self.delivery is not None and self.delivery.script is not None:
            return script_findings(self.delivery.script.read_bytes(), self.delivery.script.name)
        findings = command_findings(self.options.command) if self.options.words else Findings()
        if self.delivery is not None:
            names = " ".join(path.name for path in self.delivery.upload.sources)
            findings.unread.insert(0, f"copy {names} to {self.options.destination or 'the home directory'}")
        return findings

    def _refuse_restricted(self, groups: Sequence[Group], findings: Findings) -> None:
        """Find out whether the logins of some cells run single commands only, and refuse any work beyond that.

        Raises:
            RefusedError: the cells' release does not let the login do this work.
        """
        # Without a command nothing can be sent as a single command; a copy with one can't be read.
        single = not findings.unread and not self.options.keys and self.options.timeout is None
        for group in groups:
            login = self.options.user(group.login)
            closed = restricted_cells(group.session, group.services, group.cells, login)
            if single and goes_bare(self.options.command, closed):
                self.bare = True
            else:
                refuse_restricted(group.session, group.services, self._text[:60], closed, login)

    def _tasks(self, watch: Watch | None, findings: Findings) -> Iterator[Task]:
        """Yield the tasks of the work on each target, in order."""
        options = self.options
        line = ""
        if self.options.keys:
            pushes = options.push_key or options.one_password
            line, made = public_key(at_home("~/.ssh"), make=pushes)
            if made:
                self.problems.append(made)
            if pushes:
                yield self._task(push_command(line))
        if self.delivery is not None:
            if self.delivery.directory:
                yield self._task(make_directory(self.delivery.directory))
            names = " ".join(path.name for path in self.delivery.upload.sources)
            yield self._task(f"scp {names}", upload=self.delivery.upload)
            if self.delivery.run:
                yield self._task(self.delivery.run, limited=True, carries=True)
        if watch is not None:
            yield self._task(watch.command(1), reads=True, limited=True, carries=True)
        if options.words:
            before = f"cd {TEMPORARY}; " if options.root_temporary else ""
            errors = "2>/dev/null" if options.hide_stderr else "2>&1"
            command = options.command
            text = command if self.bare else carried(wrapped(before + command, errors), read=not findings.unread)
            kind = {"change": self._change, "grid": findings.asks_asm}
            yield self._task(text, reads=findings.harmless, limited=True, carries=True, **kind)
        if options.drop_key:
            yield self._task(drop_command(line))

    def _task(self, command: str, *, reads: bool = False, limited: bool = False, **more: Any) -> Task:
        limit = self.options.timeout if limited else None
        if limit is not None:
            command = f"timeout {limit:g}s {arguments(command)}"
        given = self.call.flags.get("timeout")
        deadline = float(given) if isinstance(given, (int, float)) else UNLIMITED
        return Task(command=command, reads=reads, limit=limit, deadline=deadline, **more)

    def _dry(
        self, judged: Sequence[tuple[Group, Judgement]], findings: Findings, flags: Mapping[str, Value]
    ) -> ExitCode:
        for group, judgement in judged:
            labels = [t.label for t in group.targets]
            for plan in judgement.plans:
                self.services.console.show_plan(plan)
            for phrase in judgement.opaque:
                self.services.console.say(f"{name_list(labels)}: can't be read: {phrase}")
            for sentence in self._left(group):
                self.services.console.say(sentence)
        self.services.console.say("-n: nothing was sent")
        changes = not findings.harmless or self.options.keys or self.delivery is not None
        return ExitCode.CHANGES if changes and flags.get("detailed-exitcode") else ExitCode.DONE

    # -- the targets ---------------------------------------------------------------------------------------------

    def _batches(
        self, groups: Sequence[Group], targets: Sequence[Target], tasks: Sequence[Task], records: Sequence[Record]
    ) -> ExitCode:
        size = self.options.batch_size or len(targets)
        every: list[Outcome] = []
        for start in range(0, len(targets), size):
            batch = targets[start : start + size]
            for record in records:
                record.intend(batch)
            outcomes = self._batch(groups, batch, tasks, records)
            for record in records:
                record.ended(outcomes)
            every += outcomes
        if not records:
            self._remember(every)
        if every and all(outcome.refused for outcome in every):
            return ExitCode.NOT_EXECUTED
        return ExitCode(exit_status(every))

    def _batch(
        self, groups: Sequence[Group], batch: Sequence[Target], tasks: Sequence[Task], records: Sequence[Record]
    ) -> list[Outcome]:
        """Do the work of one batch, print its output, and return the outcomes, without the lines that were printed early."""
        live = self.options.live and not self.style.abnormal and self.printing
        guard = LineGuard(limit=self.options.max_lines, pieces=self.options.in_turn or len(batch) == 1)
        bad: list[str] = []
        left: dict[str, Outcome] = {}

        def ended(outcome: Outcome) -> None:
            left[outcome.target] = outcome  # do this first: a second Ctrl-C may come at any point after it
            self._verbose(f"end of {outcome.target}: status {outcome.status}")
            if outcome.status == UNREACHABLE:
                bad.append(outcome.target)
            self.print(said_lines(outcome))
            if self.options.show_banner:
                outcome = replace(outcome, lines=with_banner(outcome))
            if not live:
                cut = len(guard.cut)
                now, outcome = guard.take(outcome, self.style)
                self.print(now)
                if len(guard.cut) > cut:
                    self.problems.extend(cut_off(outcome.target, guard.limit))
            left[outcome.target] = outcome

        try:
            whole = self._work(groups, batch, tasks, ended, live=live)
        except KeyboardInterrupt:
            self._detach(batch, left, live=live, records=records)
            raise
        outcomes = [left[t.label] for t in batch]
        if live:
            headers = [o for o in outcomes if any(self.style.hides(line) for line in o.lines)]
            if headers and self.style.pattern is not None:
                self.print([f"{self.style.pattern.pattern}: {name_list([o.target for o in headers])}"])
        else:
            self.print(report(outcomes, self.style))
        if not self.printing:
            self.records += [
                {"cell": o.target, "exitStatus": o.status, "text": "\n".join(self.style.strip(n) for n in o.lines)}
                for o in whole
                if o.ran and o.status != UNREACHABLE
            ]
        self.problems += [f"{o.target}: {o.refused}" for o in outcomes if o.refused]
        never = [o.target for o in outcomes if not o.ran and not o.refused]
        if bad:
            self.problems.append(f"Unable to connect to hosts: {name_list(bad)}")
        if never:
            self.problems.append(f"No result from hosts: {name_list(never)}")
        return outcomes

    def _detach(
        self, batch: Sequence[Target], left: Mapping[str, Outcome], *, live: bool, records: Sequence[Record]
    ) -> None:
        """Print and record the targets that have ended, when nobody waits for the others any more."""
        outcomes = [left[t.label] for t in batch if t.label in left]
        if not live:
            self.print(report(outcomes, self.style))
        for record in records:
            record.ended(outcomes)
        rest = [t.label for t in batch if t.label not in left]
        self.services.console.say(f"No result from hosts: {name_list(rest)}")

    def _work(
        self,
        groups: Sequence[Group],
        batch: Sequence[Target],
        tasks: Sequence[Task],
        ended: Callable[[Outcome], None],
        *,
        live: bool,
    ) -> list[Outcome]:
        """Return the outcomes of one batch, in its order; each is passed to ``ended`` at once."""
        of = {t.label: group for group in groups for t in group.targets}
        widest = max((g.rack.fanout or self.session.settings.fanout for g in groups), default=1)
        limit = 1 if self.options.in_turn else widest

        def work(where: Target) -> Outcome:
            if not where.host:
                return Outcome(target=where.label, status=UNREACHABLE, said="a name is missing here\n")
            group = of[where.label]
            for task in tasks:
                self._verbose(f"execute on {where.label}: {task.command}")
            login = self.options.user(group.login)
            printing = self._live_line if live else None
            leaving = self.leavings[where.label]
            return work_through(group, where, tasks, login=login, pid=os.getpid(), live=printing, leaving=leaving)

        open_ = {t.label for t in batch}

        def over(outcome: Outcome) -> None:
            open_.discard(outcome.target)
            ended(outcome)

        waited = since("")

        def sentence() -> str:
            told, left = waited(), list(open_)
            return (
                f"waiting for {fold(left)}: {len(batch) - len(left)} of {len(batch)} ended{told}"
                if told and left
                else ""
            )

        with nullcontext() if live else told_while_waiting(sentence, self.services.console.waiting):
            return in_parallel([partial(work, t) for t in batch], limit=limit, on_end=over)

    def _live_line(self, name: str, line: str) -> None:
        if not self.style.hides(line):
            self.print([self.style.prefixed(name, line)])

    def _watch(self, watch: Watch, groups: Sequence[Group], targets: Sequence[Target]) -> ExitCode:
        """Show vmstat round by round until its count is reached, a round fails, or Ctrl-C."""
        size = self.options.batch_size or len(targets)
        tables = {
            start: Table(watch, [t.label for t in targets[start : start + size]])
            for start in range(0, len(targets), size)
        }
        number = 0
        while True:
            number += 1
            for start, table in tables.items():
                batch = targets[start : start + size]
                task = self._task(watch.command(number), reads=True)
                outcomes = self._work(
                    groups, batch, [task], lambda outcome: self.print(said_lines(outcome)), live=False
                )
                if self.session.interrupted.is_set():
                    return ExitCode.FAILED
                bad = [o.target for o in outcomes if o.status == UNREACHABLE]
                if bad:
                    self.problems.append(f"Unable to connect to hosts: {name_list(bad)}")
                if exit_status(outcomes):
                    self.print(report(outcomes, self.style))
                    return ExitCode.FAILED
                texts = {o.target: "\n".join(o.lines) for o in outcomes}
                try:
                    lines = table.lines(texts, time.strftime("%H:%M:%S"))
                except ValueError as error:
                    self.print(report(outcomes, self.style))
                    self.problems.append(f"--vmstat: {error}")
                    return ExitCode.FAILED
                self.print(lines)
            if not watch.goes_on(number):
                return ExitCode.DONE

    def _remember(self, outcomes: Sequence[Outcome]) -> None:
        rack = self.session.rack
        if rack is None:
            return
        known = set(rack.cells)
        asked = [o for o in outcomes if o.target in known]
        self.session.selection.remember([o.target for o in asked], [o.target for o in asked if o.status or not o.ran])

    # -- printing ------------------------------------------------------------------------------------------------

    def print(self, lines: Sequence[str]) -> None:
        """Print lines as dcli's output, unless records were asked for."""
        if lines and self.printing:
            self.services.console.data("".join(f"{line}\n" for line in lines))

    def _verbose(self, *lines: str) -> None:
        if self.options.verbose:
            self.print(lines)
