"""Find the targets that a dcli command line names, and the connections over which they are reached.

They keep dcli's order: first the group file, then ``-c``; of equal names the first counts. Besides dcli's plain names,
folded names (``exa1cel[01-14]``) and the rack's groups (``@all``) are accepted.

The current rack's hosts are reached over its connections, others over connections made for them. A host that a configured
rack names always counts as part of that rack: its production mark holds here too.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from exacell.change.dcli.options import DcliOptions, SshOptions, environment_error
from exacell.core.cellset import CellSet, known_as
from exacell.core.config import RackConfig, Reach
from exacell.core.errors import CellSetError, ConfigError, why_unreadable
from exacell.core.paths import at_home
from exacell.core.racks import parse_group_file
from exacell.core.values import dataclass, replace
from exacell.session.services import Services
from exacell.session.state import Session
from exacell.transport.ssh.sshconfig import SYSTEM_CONFIG, USER_CONFIG

if TYPE_CHECKING:
    from exacell.session.request import Request
    from exacell.transport.base import Transport


_HOST = re.compile(r"[A-Za-z0-9_.:@%-]+")


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target: ``label`` is the name as written, printed before its lines; ``host`` is the name to connect to.

    The host is empty if a name is missing between commas: such a target can't be reached.
    """

    label: str
    host: str


def targets_of(options: DcliOptions, resolve: Callable[[str], Iterable[str]]) -> tuple[Target, ...]:
    """Return the targets in order without repeats; empty if no target is named.

    Args:
        resolve: returns the members of ``@group``.

    Raises:
        DcliExit: the group file can't be read, or a name is not a host name.
    """
    try:
        labels = [*_from_file(options.group_file), *_from_list(options.hosts, resolve)]
    except (ConfigError, CellSetError) as error:
        raise environment_error(error.message) from error
    return tuple(Target(label=label, host=_host(label)) for label in dict.fromkeys(labels))


def target(name: str) -> Target:
    """Return the target for the single name ``name``."""
    return Target(label=name, host=_host(name))


def _host(label: str) -> str:
    # The login of -l has priority over the one in user@host, as with ssh. Source: reference dcli.md, section 3.
    return label.rpartition("@")[2]


def _from_file(name: str) -> tuple[str, ...]:
    if not name:
        return ()
    try:
        text = at_home(name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise ConfigError(f"the group file {name} can't be read: {why_unreadable(error)}") from error
    lines = [line.strip() for line in text.splitlines()]
    return parse_group_file(text, name, logins=True) if any(line and not line.startswith("#") for line in lines) else ()


def _from_list(values: Iterable[str], resolve: Callable[[str], Iterable[str]]) -> Iterator[str]:
    for value in filter(None, values):
        for item in (item.strip() for item in re.split(r",(?![^\[]*\])", value)):
            if not item:
                yield item
            elif item.startswith("@"):
                yield from resolve(item)
            elif "[" in item and not _is_address(item):
                yield from CellSet.parse(item)
            elif _HOST.fullmatch(item):
                yield item
            else:
                raise ConfigError(
                    f"'{item}' is not a host name",
                    hint="letters, digits, - and . or an address; user@ may stand in front",
                )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class Group:
    """Targets that one session reaches. ``hosts``: all are hosts of the rack's groups, none is a cell."""

    session: Session
    services: Services
    request: Request
    targets: tuple[Target, ...]
    hosts: bool = False

    @property
    def rack(self) -> RackConfig:
        """Return the rack of the targets; a made-up rack for hosts that belong to none."""
        return self.session.need_rack()

    @property
    def transport(self) -> Transport:
        """Return the transport that reaches these targets."""
        return self.services.transport

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the hosts that are cells, each once."""
        nodes = self.rack.host_names
        return tuple(dict.fromkeys(target.host for target in self.targets if target.host not in nodes))

    @property
    def login(self) -> str:
        """Return the user that logs in if ``-l`` gives none; empty if each host's group gives one."""
        return "" if self.hosts else self.rack.write_user


@contextmanager
def reached(
    session: Session,
    services: Services,
    request: Request,
    targets: Sequence[Target],
    *,
    options: SshOptions,
    connect_timeout: int | None,
) -> Iterator[tuple[Group, ...]]:
    """Yield the targets in groups that share connections; connections made for this command are closed at the end.

    Args:
        connect_timeout: seconds; None and 0 mean the rack's own limit.
    """
    with ExitStack() as stack:
        own = bool(options.settings or options.config_file or connect_timeout)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="exacell-"))) if options.settings else None
        sorted_in: dict[str, tuple[RackConfig, list[Target]]] = {}
        for target in targets:
            rack = place_of(session, target.host)[0] or _made_up(session, targets)
            sorted_in.setdefault(rack.name, (rack, []))[1].append(target)
        groups = []
        for rack, members in sorted_in.values():
            if rack is session.rack and not own:
                groups.append(Group(session=session, services=services, request=request, targets=tuple(members)))
                continue
            changed = replace(
                rack,
                ssh_config=_ssh_config(rack, options, folder),
                no_programs=session.no_programs(rack) if options.config_file else rack.no_programs,
                connect_timeout=float(connect_timeout) if connect_timeout else rack.connect_timeout,
            )
            child_session, child_services = _child(session, services, changed, keep_mode=rack is session.rack)
            stack.callback(child_services.close)
            groups.append(
                Group(session=child_session, services=child_services, request=request, targets=tuple(members))
            )
        yield tuple(groups)


def place_of(session: Session, host: str) -> tuple[RackConfig | None, str]:
    """Return the rack that contains a host, and the host's name there, short or in full; (None, the name itself) if no rack does.

    A rack that has exactly this name is preferred to a rack that has its other form.
    """
    racks = [session.rack] if session.rack is not None else []
    # An emulated rack may have the names of a real one: it counts only while it is the current rack.
    racks += [rack for rack in session.config.racks.values() if not rack.emulated]
    hosts = [(rack, (*rack.cells, *rack.host_names)) for rack in racks]
    for rack, names in hosts:
        if host in names:
            return rack, host
    return next(((rack, found) for rack, names in hosts if (found := known_as(host, names)) in names), (None, host))


def _made_up(session: Session, targets: Sequence[Target]) -> RackConfig:
    hosts = tuple(dict.fromkeys(target.host for target in targets if place_of(session, target.host)[0] is None))
    config = at_home(session.options.ssh_config) if session.options.ssh_config else None
    # The transport that the session has chosen needs its program for these hosts, too.
    known = session.rack.reach if session.rack is not None else Reach()
    programs = Reach(dcli=known.dcli, exacli=known.exacli, cookie_jar=known.cookie_jar)
    rack = RackConfig(name="cells", cells=hosts, ssh_config=config, source="dcli -c/-g", reach=programs)
    login = session.options.login
    return replace(rack, read_user=login, write_user=login) if login else rack


def _child(session: Session, services: Services, rack: RackConfig, *, keep_mode: bool) -> tuple[Session, Services]:
    options = replace(session.options, rack="", cells="", group_file="")
    child_session = Session(home=session.home, config=session.config, options=options, env=session.env)
    child_services = Services(child_session, services.console)
    child_session.settings = session.settings
    child_session.rack = rack
    own = session.options.monitor or rack.production or session.chose_read_only
    child_session.read_only = session.read_only if keep_mode else own
    child_session.opened = set(session.opened)
    if session.rack is not None and session.rack.production and not session.read_only:
        child_session.opened.add(session.rack.name)
    child_session.interrupted = session.interrupted
    child_services.while_changing = services.while_changing
    return child_session, child_services


def _ssh_config(rack: RackConfig, options: SshOptions, folder: Path | None) -> Path | None:
    """Return the ssh_config for a rack: its own file, or a copy that begins with these settings, so that they have priority."""
    base = at_home(options.config_file) if options.config_file else rack.ssh_config
    if folder is None:
        return base
    files = [str(base)] if base is not None else [os.path.expanduser(USER_CONFIG), SYSTEM_CONFIG]
    lines = [*options.settings, *(f'Include "{os.path.abspath(file)}"' for file in files)]
    path = folder / f"{rack.name}.ssh_config"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
