"""Hold the state of a session: its rack, the selected cells, its settings and its mode."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.background import Interruption
from exacell.core.belonging import Owner
from exacell.core.cellset import CellSet, fold, known_as
from exacell.core.config import Config, RackConfig, Settings, load, trusted_group
from exacell.core.errors import CellSetError, ExacellError, RefusedError
from exacell.core.paths import Home, at_home
from exacell.core.racks import named_cells, which_rack
from exacell.core.trust import refuse_untrusted
from exacell.core.values import dataclass
from exacell.session.selection import Selection

if TYPE_CHECKING:
    from exacell.language.registry import Value
    from exacell.recipes.recorded import Recorded


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options before the statement on the command line.

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

    def over(self, flags: Mapping[str, Value]) -> dict[str, Value]:
        """Return a statement's flags together with the flags for all statements; the statement's own flags have priority."""
        found = {**self.flags, **flags}
        if self.yes:
            found["yes"] = True
        if self.dry_run:
            found["dry-run"] = True
        return found


class Session:
    """The state that statements share, with one rack at a time. It holds no open connection or file."""

    def __init__(
        self,
        *,
        home: Home,
        config: Config,
        options: Options,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.config = config
        self.options = options
        self.env: Mapping[str, str] = os.environ if env is None else env
        self.settings: Settings = config.settings
        if options.format:
            self.settings = self.settings.with_value("format", options.format)
        self.rack: RackConfig | None = None
        self.read_only = options.monitor
        self.chose_read_only = False
        """Whether ``set mode ro`` was given on this rack; then other hosts get no changes from here either."""
        self.owners: dict[str, Owner] = {}
        """The targets of this rack that were recognised as hosts of other production racks."""
        self.opened: set[str] = set()
        """The production racks whose names were typed to allow read-write on this rack."""
        self.interrupted = Interruption()
        self.told_to_end = False
        """Whether a signal to end came; the surface ends after the statement."""
        self.recorded: Recorded | None = None
        """The recipe that records what is typed; None while nothing is recorded."""
        self.refused: tuple[str, ExacellError] | None = None
        """The newest statement that failed before anything was done, and its error; None for none."""
        self.changes: list[int] = []
        """Numbers of the changes made by this session, oldest first."""
        self.changed: Callable[[str], Mapping[str, Iterable[str]]] = lambda rack: {}
        """Returns how the newest change of a rack ended: ``ok`` and ``failed`` → names. The session's services set it."""
        self._leads = ""
        """The content of an emulated rack's ssh_config when the session connected to it."""
        self._selection: Selection | None = None

    # -- the rack ------------------------------------------------------------------------------------------------

    def connect(self, name: str) -> RackConfig:
        """Make ``name`` the current rack and return it.

        Raises:
            ConfigError: there is no such rack, or a cell named by -c is not in it.
        """
        self.config = replace(load(self.home, self.env), settings=self.config.settings)
        return self._take(
            which_rack(self.config, rack=name, env=self.env, ssh_config=self._ssh_config(), login=self._login())
        )

    def choose_rack(self) -> RackConfig:
        """Choose the rack that options, environment and configuration name, and return it.

        Raises:
            ConfigError: the rack or cell asked for does not exist.
        """
        group = at_home(self.options.group_file) if self.options.group_file else None
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
            hosts = (*rack.cells, *rack.host_names)
            named = [known_as(name, hosts) for name in named_cells(cells, group)]
            self._selection = Selection(rack, named, changed=self._ended)
        return rack

    def _login(self) -> str | None:
        return self.options.login or None

    def _ssh_config(self) -> Path | None:
        return at_home(self.options.ssh_config) if self.options.ssh_config else None

    def _take(self, rack: RackConfig) -> RackConfig:
        if rack.ssh_config is not None:
            # It may name programs that are run to reach cells.
            refuse_untrusted(rack.ssh_config, trusted_group(self.home))
        if self.options.ssh_config:
            rack = replace(rack, no_programs=self.no_programs(rack))
        self.rack = rack
        self._leads = _text_of(rack.ssh_config) if rack.emulated else ""
        self._selection = None
        self.read_only = self.options.monitor or rack.production
        self.chose_read_only = False
        self.owners, self.opened = {}, set()
        return rack

    # -- production ------------------------------------------------------------------------------------------------

    def owner(self, targets: Iterable[str] | None = None) -> Owner | None:
        """Return the production rack of one of the targets, if one is recognised; ``targets`` None means the whole rack."""
        owners = dict(self.owners)
        return next((owners[target] for target in (owners if targets is None else targets) if target in owners), None)

    def closed(self, targets: Iterable[str] | None = None) -> Owner | None:
        """Return the production rack of a target, unless its name was typed here; ``targets`` None means the whole rack."""
        owners = dict(self.owners)
        found = (owners[target] for target in (owners if targets is None else targets) if target in owners)
        return next((owner for owner in found if owner.rack not in self.opened), None)

    def in_production(self, targets: Iterable[str] | None = None) -> bool:
        """Return whether production rules apply: the rack is marked ``production``, or a target belongs to a production rack."""
        return self.need_rack().production or self.owner(targets) is not None

    @property
    def changes_nothing(self) -> bool:
        """Return whether a part of the selection may not be changed now; for the prompt."""
        return self.read_only or self.closed(self.chosen()) is not None

    def refuse_closed(self, targets: Iterable[str] | None = None) -> None:
        """Raise RefusedError if a target is recognised as a host of a production rack that is read-only here.

        Raises:
            RefusedError: the message names the rack, the hint shows how to allow read-write.
        """
        owner = self.closed(targets)
        if owner is not None:
            raise RefusedError(
                f"{owner.phrase}, a production rack, which is read-only here; nothing was sent",
                hint=f"type `connect {owner.rack}`; or `set mode rw`, which asks for the name {owner.rack}",
            )

    def no_programs(self, rack: RackConfig) -> str:
        """Return why an ssh_config named for a rack may start no programs; empty if it may."""
        if self.options.monitor:
            return "-m was given"
        if rack.production:
            return f"rack {rack.name} is a production rack"
        owner = self.owner() if rack is self.rack else None
        return f"rack {owner.named} is a production rack" if owner is not None else ""

    def leave(self) -> None:
        """Deselect the rack."""
        self.rack, self._selection = None, None

    def need_rack(self) -> RackConfig:
        """Return the current rack; choose it first if no rack is chosen yet.

        Raises:
            ConfigError: no rack can be chosen; the hint names the ways to choose one.
        """
        return self.rack if self.rack is not None else self.choose_rack()

    def not_running(self, problems: Sequence[str]) -> str:
        """Return the hint if an emulated rack refuses connections because it is not running, or was created again."""
        rack = self.rack
        if rack is None or not rack.emulated or not problems:
            return ""
        leads = _text_of(rack.ssh_config)
        if leads and leads != self._leads:
            return (
                f"{rack.name} was created again after this session connected, with other ports: type "
                f"`connect {rack.name}`"
            )
        if not any("refused the connection" in problem for problem in problems):
            return ""
        return f"{rack.name} is an emulated rack and is not running: type `exacell emulator start {rack.name}`"

    def set_mode(self, *, read_only: bool, ask: Callable[[str], str | None]) -> None:
        """Switch between read-only and read-write.

        Args:
            ask: asks the user a question and returns the answer; None if nobody can answer.

        Raises:
            RefusedError: -m was given, or the name of a production rack was not typed: this rack's name, or the name of the
                production rack to which a host of this rack belongs.
        """
        if not read_only:
            if self.options.monitor:
                raise RefusedError("-m was given: this session stays read-only")
            rack = self.need_rack()
            if rack.production and self.read_only:
                answer = ask(f"{rack.name} is a production rack: type its name for read-write: ")
                if answer is None or answer.strip() != rack.name:
                    raise RefusedError(f"{rack.name} stays read-only: its name was not typed")
            while (owner := self.closed()) is not None:
                answer = ask(f"{owner.phrase}, a production rack: type {owner.rack} for read-write: ")
                if answer is None or answer.strip() != owner.rack:
                    raise RefusedError(f"{owner.rack} stays read-only: its name was not typed")
                self.opened.add(owner.rack)
        else:
            self.opened.clear()
        self.read_only = self.chose_read_only = read_only

    # -- cells ---------------------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """Return the selection of the current rack's cells."""
        if self._selection is None:
            self._selection = Selection(self.need_rack(), changed=self._ended)
        return self._selection

    def _ended(self) -> Mapping[str, Iterable[str]]:
        return self.changed(self.need_rack().name)

    def selected(self) -> CellSet:
        """Return the cells that statements go to now."""
        return self.selection.now

    def cells(self) -> tuple[str, ...]:
        """Return the selected cells in natural order.

        Raises:
            CellSetError: no cell is selected, or ON names hosts.
        """
        if len(self.selection.hosts):
            raise CellSetError(
                f"{fold(self.selection.hosts)}: these are hosts, but this statement is for cells",
                hint="hosts take `facts`, `show setting`, `sh` and `copy`; for cells, type `on @all` first",
            )
        cells = tuple(self.selected())
        if not cells:
            rack = self.need_rack()
            if not rack.cells:
                groups = ", ".join(f"@{name}" for name in rack.host_groups)
                raise CellSetError(
                    f"rack {rack.name} has no cells: it has hosts, {groups}",
                    hint="type for example `on @GROUP sh uptime`",
                )
            raise CellSetError("no cell is selected", hint="use @all")
        return cells

    def targets(self) -> tuple[str, ...]:
        """Return the targets of the present statement, in natural order: ON's hosts if it names hosts, else the cells.

        Raises:
            CellSetError: there is no target.
        """
        return tuple(self.selection.hosts) or self.cells()

    def chosen(self) -> tuple[str, ...]:
        """Return the selected cells or ON's hosts; empty if there are none, or without a rack."""
        if self.rack is None:
            return ()
        return tuple(self.selection.hosts) or tuple(self.selected())

    def beside(self, *, same_interruption: bool) -> Session:
        """Return a copy of the session for one statement.

        The copy has its own selection and, unless ``same_interruption``, its own interruption, so that neither session disturbs
        the other.
        """
        other = copy.copy(self)
        other._selection = copy.copy(self.selection)
        if not same_interruption:
            other.interrupted = Interruption()
        return other


def _text_of(file: Path | None) -> str:
    """Return the content of a file; empty if it is missing or can't be read."""
    try:
        return "" if file is None else file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
