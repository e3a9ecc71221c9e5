"""One place that holds configuration, transport, selection and policy, and carries out parsed lines.

The surfaces (command line, prompt, recipes) decide only where lines come from and how results leave; confirming,
read-only mode, the journal and exit codes are decided here, so that they cannot drift apart.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.cellset import CellSet
from exacell.config import Config, RackConfig, Settings, load, named_cells, trusted_group, which_rack
from exacell.core.trust import refuse_untrusted
from exacell.errors import CellSetError, ExitCode, JournalError, RefusedError, StatementError
from exacell.fallbacks import Fallbacks
from exacell.interruption import Interruption
from exacell.opened import Opened, cluster_of
from exacell.paths import Home
from exacell.selection import Selection
from exacell.values import dataclass
from exacell.vault import refuse_forgotten

if TYPE_CHECKING:
    # Imported where they are used: the prompt stands before most of this is loaded.
    from exacell.asm import AsmClient
    from exacell.change.confirming import WaitingRun
    from exacell.change.racklock import RackLock
    from exacell.completion.names import NameCache
    from exacell.console import Console
    from exacell.fleet import Answers, Fleet
    from exacell.journal.record import Journal
    from exacell.language.line import Line
    from exacell.language.registry import Call, Value
    from exacell.output.result import Result
    from exacell.plan import facts as f
    from exacell.plan.model import Plan
    from exacell.plan.saved import SavedPlan
    from exacell.store import Store
    from exacell.transport.base import Transport


@dataclass(frozen=True, kw_only=True)
class Options:
    """What stood before the statement on the command line.

    Attributes:
        yes, dry_run, flags: apply to every statement of the run.
    """

    rack: str = ""
    cells: str = ""
    group_file: str = ""
    login: str = ""
    ssh_config: str = ""
    format: str = ""
    monitor: bool = False
    yes: bool = False
    dry_run: bool = False
    quiet: bool = False
    flags: Mapping[str, Value] = field(default_factory=dict)


class Context:
    """A session: one rack at a time, its connections, and everything that statements share."""

    def __init__(
        self,
        *,
        home: Home,
        config: Config,
        console: Console,
        options: Options,
        env: Mapping[str, str] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.home = home
        self.config = config
        self.console = console
        self.options = options
        self.env: Mapping[str, str] = os.environ if env is None else env
        self.settings: Settings = config.settings
        if options.format:
            self.settings = self.settings.with_value("format", options.format)
        self.rack: RackConfig | None = None
        self.read_only = options.monitor
        self.chose_read_only = False
        """Whether ``set mode ro`` was given on this rack: then other hosts get nothing from here either."""
        self.interrupted = Interruption()
        self.origin = ""
        """The recipe whose line is being carried out, for the journal."""
        self.finishing = 0
        """The change that the present statement goes on with (resume, retry failed); 0 for none."""
        self.read_timeout: float | None = None
        """Seconds that each cell has for what the present statement reads (--timeout); None for the setting's."""
        self.waiting_run: WaitingRun | None = None
        """While a recipe runs that is to be confirmed as a whole: its changes."""
        self.changes: list[int] = []
        """Numbers of the changes made by this session, oldest first."""
        self.last_plan: Plan | None = None
        """The plan that was made last, for ``plan as=``."""
        self.last_facts: dict[str, f.CellFacts] = {}
        """What was read for it."""
        self.expected: SavedPlan | None = None
        """While a saved plan is applied: what it was made from."""
        self.moved: RefusedError | None = None
        """And what refuses it, because something of that has moved; None while nothing has."""
        self.risk_ceiling = ""
        """The highest risk that the recipe being run declares; empty for none."""
        self.run_nested: Callable[[str], ExitCode] = _nowhere
        """Runs a statement, or opens what the surface opens without one; set by the surface."""
        self.companion: Callable[[Line, ExitCode], Sequence[str]] = no_companion
        """Told of every statement that has ended; what it returns is said below the answer. The tutorial's."""
        self.while_changing: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered while a plan is carried out; the surface decides what a signal to end then does."""
        self.told_to_end = False
        """Whether such a signal came: the surface ends behind the statement."""
        self.more_to_come = False
        """Whether this session's cells will be read more than once, so that a CellCLI on each is worth keeping."""
        self._opened = Opened(transport)
        self._leads = ""
        """What the ssh_config of an emulated rack said when it was connected."""
        self._selection: Selection | None = None
        self._fallbacks = Fallbacks()
        self._learned: dict[str, NameCache] = {}

    @cached_property
    def journal(self) -> Journal:
        """The durable record of changes."""
        from exacell.journal.record import Journal

        return Journal(self.home.state_dir / "journal.db")

    def store(self) -> Store:
        """Return the kept plans, snapshots and IORM plans, for somebody who acts upon what they say.

        Raises:
            ConfigError: others can write them.
        """
        from exacell.store import Store

        path = self.home.state_dir / "store.db"
        refuse_untrusted(path, trusted_group(self.home))
        return Store(path)

    # -- the rack ------------------------------------------------------------------------------------------------

    def connect(self, name: str) -> RackConfig:
        """Make ``name`` the current rack; its connections open on first use.

        Raises:
            ConfigError: there is no such rack, or a cell named by -c is not in it.
        """
        self.config = replace(load(self.home, self.env), settings=self.config.settings)
        self._take(which_rack(self.config, rack=name, env=self.env, ssh_config=self._ssh_config(), login=self._login()))
        assert self.rack is not None
        return self.rack

    def choose_rack(self) -> None:
        """Find the rack that options, environment and configuration mean; leave none when there is none.

        Raises:
            ConfigError: what was asked for does not exist.
        """
        group = Path(self.options.group_file).expanduser() if self.options.group_file else None
        cells = self.options.cells or None
        rack = which_rack(
            self.config,
            rack=self.options.rack or None,
            cells=cells,
            group_file=group,
            env=self.env,
            login=self._login(),
            ssh_config=self._ssh_config(),
        )
        self._take(rack)
        if cells or group:
            self._selection = Selection(rack, named_cells(cells, group), changed=self._changed)

    def _login(self) -> str | None:
        return self.options.login or None

    def _ssh_config(self) -> Path | None:
        return Path(self.options.ssh_config).expanduser() if self.options.ssh_config else None

    def _take(self, rack: RackConfig) -> None:
        if rack.ssh_config is not None:
            refuse_untrusted(
                rack.ssh_config, trusted_group(self.home)
            )  # It names programs that are run to reach cells.
        self.close()
        self.rack = rack
        self._leads = _text_of(rack.ssh_config) if rack.emulated else ""
        self._selection = None
        self.read_only = self.options.monitor or rack.production
        self.chose_read_only = False

    def leave(self) -> None:
        """Be on no rack."""
        self.close()
        self.rack, self._selection = None, None

    def need_rack(self) -> RackConfig:
        """Return the current rack, choosing it on first need.

        Raises:
            ConfigError: none is chosen; names the ways to choose one.
        """
        if self.rack is None:
            self.choose_rack()
        assert self.rack is not None
        return self.rack

    @property
    def transport(self) -> Transport:
        """The connections of the current rack, opened on first use."""
        rack = self.need_rack()
        return self._opened.transport(rack, self.settings, read_only=self.read_only, more_to_come=self.more_to_come)

    @property
    def fleet(self) -> Fleet:
        """Statements to the cells of the current rack."""
        return self._opened.fleet(self.transport)

    def aside(self, fleet: Fleet, *, same_interruption: bool = False) -> Context:
        """Return a session beside this one for a single statement: over ``fleet``, with a selection and (unless it is to
        end with this one's) an interruption of its own, so that neither disturbs the other."""
        other = copy.copy(self)
        other._opened = self._opened.over(fleet)
        other._selection = copy.copy(self.selection)
        if not same_interruption:
            other.interrupted = Interruption()
        return other

    def asm(self, name: str = "") -> AsmClient:
        """Return the ASM cluster ``name``, or the rack's only one.

        Raises:
            ConfigError: there is none of that name, none at all, or several and none was named.
        """
        cluster = cluster_of(self.need_rack(), name)
        return self._opened.asm(cluster, self.transport, self.console)

    def warm(self) -> None:
        """Begin to open the connections of the selected cells in the background; problems wait for the first use."""
        if self._opened.given or self.rack is None:
            return
        from exacell.transport.base import Role

        transport = self.transport
        warm = getattr(transport, "warm", None)
        if warm is not None:
            warm(tuple(self.selected()), Role.READ)

    def close(self) -> None:
        """End the connections; the next statement opens them anew."""
        self._opened.close()

    # -- cells ---------------------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """The selected cells of the current rack."""
        if self._selection is None:
            self._selection = Selection(self.need_rack(), changed=self._changed)
        return self._selection

    def selected(self) -> CellSet:
        """Return the cells that statements go to now."""
        self.need_rack()
        return self.selection.now

    def cells(self) -> tuple[str, ...]:
        """Return the selected cells in natural order.

        Raises:
            CellSetError: no cell is selected.
        """
        cells = tuple(self.selected())
        if not cells:
            raise CellSetError("no cell is selected", hint="use @all")
        return cells

    def use(self, text: str) -> CellSet:
        """Select cells for the statements to come; see :meth:`Selection.use`. ``where …`` is judged by a fresh reading."""
        self.need_rack()
        from exacell.cellcli.condition import is_condition

        bare = text.strip().removeprefix("(").removesuffix(")").strip()
        if is_condition(bare):
            from exacell.wherecells import cells_where

            text = ",".join(cells_where(self, bare, strict=False))
        return self.selection.use(text)

    def resolve(self, text: str) -> CellSet:
        """Return the cells of the rack that ``text`` names; see :meth:`Selection.resolve`."""
        self.need_rack()
        return self.selection.resolve(text)

    def remember(self, asked: Iterable[str], failed: Iterable[str]) -> None:
        """Keep which of the cells ``asked`` failed, for ``@down`` and ``@failed``."""
        self.selection.remember(asked, failed)

    def _changed(self) -> Mapping[str, Iterable[str]]:
        """Return how the rack's newest change ended, whichever process made it, for ``@ok`` and ``@failed``."""
        from exacell.change.lastchange import last_change

        last = last_change(self.journal, self.need_rack().name)
        return {"ok": last.ok, "failed": last.failed}

    # -- reading -------------------------------------------------------------------------------------------------

    def query(
        self, *statements: str, cells: Sequence[str] | None = None, exact: bool = False, in_pieces: bool = False
    ) -> Answers:
        """Return typed records for LIST statements from the selected cells, one round trip a cell.

        ``exact`` is for statements that the user typed, ``in_pieces`` for answers that may be large; see :meth:`Fleet.query`.
        """
        answers = self.fleet.query(
            cells or self.cells(), statements, timeout=self.read_timeout, exact=exact, in_pieces=in_pieces,
            cancel=self.interrupted,
        )  # fmt: skip
        good = answers.good
        self.remember(answers.answers, [c for c in answers.answers if c not in good])
        self._fallbacks.tell(self.transport, self.need_rack(), self.console)
        return answers

    def facts(self, *statements: str, cells: Sequence[str] = ()) -> dict[str, f.CellFacts]:
        """Return fresh facts of ``cells``, of every selected cell when none is named, for planning.

        Raises:
            RefusedError: a selected cell gave no answer: a plan needs them all.
        """
        from exacell.factreading import read_facts

        return read_facts(self, statements, tuple(cells) or self.cells())

    # -- changing ------------------------------------------------------------------------------------------------

    def change(self, plan: Plan, call: Call) -> Result:
        """Show a plan, have it confirmed, carry it out and return one record per target.

        Raises:
            RefusedError: nobody agreed, or the plan needs more than that; nothing was sent.
        """
        from exacell.change.changing import carry_out

        return carry_out(self, plan, call)

    def flags_of(self, call: Call) -> dict[str, Value]:
        """Return the flags of a statement together with those given once for all statements; its own win."""
        flags = {**self.options.flags, **call.flags}
        if self.options.yes:
            flags["yes"] = True
        if self.options.dry_run:
            flags["dry-run"] = True
        return flags

    def accepted_loss(self, call: Call) -> tuple[str, ...]:
        """Return the names whose loss of data was accepted with the statement."""
        from exacell.change.consent import accepted_loss

        return accepted_loss(self.flags_of(call))

    def lock(self) -> RackLock:
        """Return the lock of the current rack."""
        from exacell.change.racklock import lock_of

        return lock_of(self.need_rack(), self.home.state_dir)

    # -- lines ---------------------------------------------------------------------------------------------------

    def execute(self, line: Line) -> Result:
        """Carry one parsed line out and return its result; rendering, pipe and redirection are the surface's.

        Raises:
            ExacellError: whatever went wrong; one line, with the way out.
        """
        from exacell.language.registry import Effect, handler_of
        from exacell.output.result import Result

        self.interrupted.clear()
        refuse_forgotten(line.text)
        if line.flags.get("confirm-within"):
            from exacell.change.confirming import refuse_ungathered

            refuse_ungathered(line)
        with self.selection.on(self._cells_of(line)) if line.on else nullcontext():
            if line.call is not None:
                command = line.call.command
                if command.effect is Effect.WRITE:
                    self.need_rack()
                if not command.dry_runs and self.flags_of(line.call).get("dry-run"):
                    return Result(notes=(f"-n: {command.name} was not carried out",))
                with self._within(line):
                    result: Result = handler_of(command)(self, line.call)
            elif line.cellcli is not None:
                from exacell.passthrough import pass_through

                result = pass_through(self, line)
            else:
                raise StatementError("the line holds no statement")
        hint = self.not_running(result.problems) if result.exit_code is ExitCode.NOT_EXECUTED else ""
        return replace(result, notes=(*result.notes, hint)) if hint else result

    @contextmanager
    def _within(self, line: Line) -> Iterator[None]:
        """Give what one of exacell's own reading statements asks cells the deadline of its --timeout while it is entered."""
        from exacell.language.registry import Effect

        seconds = line.flags.get("timeout")
        before = self.read_timeout
        if line.effect is Effect.READ and isinstance(seconds, (int, float)):
            self.read_timeout = float(seconds)
        try:
            yield
        finally:
            self.read_timeout = before

    def _cells_of(self, line: Line) -> str:
        """Return the cells of ON as a set; a condition is judged by a fresh reading."""
        from exacell.cellcli.condition import is_condition
        from exacell.language.registry import Effect

        if not is_condition(line.on):
            return line.on
        from exacell.wherecells import cells_where

        return ",".join(cells_where(self, line.on, strict=line.effect is not Effect.READ))

    def not_running(self, problems: Sequence[str]) -> str:
        """Return the way out when an emulated rack refuses connections because it does not run, or runs elsewhere by now."""
        rack = self.rack
        if rack is None or not rack.emulated or not problems:
            return ""
        leads = _text_of(rack.ssh_config)
        if leads and leads != self._leads:
            return f"{rack.name} was made anew since this session connected to it, at other ports: connect {rack.name}"
        if not any("refused the connection" in problem for problem in problems):
            return ""
        return f"{rack.name} is an emulated rack and does not run: exacell emulator start {rack.name}"

    def interrupt(self) -> None:
        """Let what is in flight finish and start no more (Ctrl-C once)."""
        self.interrupted.set()

    def set_mode(self, *, read_only: bool) -> None:
        """Switch between read-only and read-write; enforced in the transport.

        Raises:
            RefusedError: -m was given, or a production rack's name was not typed.
        """
        if not read_only:
            if self.options.monitor:
                raise RefusedError("-m was given: this session stays read-only")
            rack = self.need_rack()
            if rack.production and self.read_only:
                answer = self.console.ask(f"{rack.name} is a production rack: type its name for read-write: ")
                if answer is None or answer.strip() != rack.name:
                    raise RefusedError(f"{rack.name} stays read-only: its name was not typed")
        self.read_only = self.chose_read_only = read_only
        self._opened.set_mode(read_only=read_only)

    # -- talk ----------------------------------------------------------------------------------------------------

    @property
    def replaying(self) -> bool:
        """Whether the statement comes from an earlier change (``undo 3``, ``resume 3``), so that nobody typed its names now."""
        return " " in self.origin

    def pending(self, *, warn: bool = False) -> tuple[str, ...]:
        """Return one line for each thing that an earlier change left behind, with the statement that mends it.

        Args:
            warn: the line is a warning of what the journal knows; it says so where other hands may have mended it since.
        """
        if self.rack is None or not any(
            (self.home.state_dir / name).exists() for name in ("journal.db", "journal.head")
        ):
            return ()
        from exacell.change.pending import pending

        try:
            left = pending(self.journal, self.rack.name)
            found = tuple(item.warning if warn else item.sentence for item in left)
            if not found:
                self._left_nothing()
            return found
        except JournalError as error:
            # Reads go on; a change is refused with the same words when it is asked for.
            return (f"{error.message}; what earlier changes left behind is not known: {error.hint}",)

    def unnoted(self, problem: str) -> tuple[str, ...]:
        """Return the line for an observation that could not be journalled; none where :meth:`pending` says why, which the
        surface tells before or behind every statement."""
        return () if not problem or any(line.startswith(problem) for line in self.pending()) else (problem,)

    def _left_nothing(self) -> None:
        """Tell the other operators no more that this one left something behind."""
        from exacell.change.racklock import LockedError

        with suppress(LockedError):  # Said when a change takes the lock.
            self.lock().leave(0)

    @property
    def learned(self) -> NameCache:
        """What was learned from the current rack, on disk."""
        name = self.rack.name if self.rack is not None else ""
        if name not in self._learned:
            from exacell.completion.knowledge import name_cache

            self._learned[name] = name_cache(self.home, self.rack)
        return self._learned[name]


def no_companion(line: Line, code: ExitCode) -> Sequence[str]:
    """Say nothing: a session without a tutorial."""
    return ()


def _nowhere(text: str) -> ExitCode:
    raise StatementError("there is no surface to run it on")


def _text_of(file: Path | None) -> str:
    """Return what a file says; empty where there is none, or it can't be read."""
    try:
        return "" if file is None else file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
