"""The configuration: settings, racks, and how each rack is reached, parsed from TOML into frozen values.

:class:`Reach` describes a transport other than exacell's own SSH: its name, and what its program needs.

:func:`load` reads ``config.toml`` and one file per rack in ``racks.d/``. Unknown keys are errors. ``docs/config.example.toml``
shows every key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType

from exacell.core.cellset import CellSet
from exacell.core.errors import ConfigError, why_unreadable
from exacell.core.formats import FORMATS
from exacell.core.hostgroups import DB, HostGroup, read_host_groups
from exacell.core.paths import Home
from exacell.core.patterns import pattern
from exacell.core.sharedfile import sure
from exacell.core.toml_table import TomlTable, parse_toml
from exacell.core.trust import Group, group_number, refuse_untrusted
from exacell.core.values import dataclass

AUTO = "auto"
"""The value of ``set transport`` that leaves the choice to each rack."""

TRANSPORTS = ("ssh", "openssh", "dcli", "exacli", "clush")


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The rack's keys about its transport.

    Attributes:
        transport: one of TRANSPORTS; empty means ssh.
        dcli, exacli: the program, as a path or as a name that is found in PATH.
        cookie_jar: exacli's cookie file; empty for exacli's own default.
        cloud: whether exacli's login belongs to a cloud customer, who may do less.
        gateways: hosts through which clush reaches the cells; empty with ``topology``.
        topology: a file in ClusterShell's topology format.
    """

    transport: str = ""
    dcli: str = "dcli"
    exacli: str = "exacli"
    cookie_jar: str = ""
    cloud: bool = False
    gateways: tuple[str, ...] = ()
    topology: str = ""


def read_reach(table: TomlTable) -> Reach:
    """Return how a rack is reached, from the rack's table.

    Raises:
        ConfigError: a value is wrong, or both gateways and topology are given.
    """
    reach = Reach(
        transport=table.choice("transport", "", ("", *TRANSPORTS)),
        dcli=table.text("dcli", Reach.dcli),
        exacli=table.text("exacli", Reach.exacli),
        cookie_jar=table.text("cookie_jar", ""),
        cloud=table.flag("cloud", False),
        gateways=table.names("gateways"),
        topology=table.text("topology", ""),
    )
    if reach.gateways and reach.topology:
        raise ConfigError(f"{table.where}: gateways and topology mean the same: keep one of them")
    return reach


def transport_name(reach: Reach, setting: str) -> str:
    """Return the transport for a rack: the session's setting, otherwise the rack's own, otherwise ssh."""
    return setting if setting != AUTO else reach.transport or "ssh"


RACK_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SID_NUMBER = pattern(r"(\D+)(\d+)")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that ``[settings]`` in the configuration and the statement ``set`` change.

    Attributes:
        timeout: seconds that a command may take from sending to its last byte; a rack may have another value.
        write_timeout: seconds that one changing statement of a plan may take on a cell or in ASM; after that, exacell checks what
            has become of it. A flush is sent with NOWAIT instead, and its progress is followed.
        connect_timeout: seconds for the TCP connection and for each further phase of a login.
        max_answer: most bytes of one target's answer; a larger answer is cut off, and the target counts as failed.
        fanout: how many targets get a statement at the same time.
        transport: the transport for all racks; ``auto`` leaves the choice to each rack.
        fold: whether equal cells share a row in a table: ``auto`` (on a terminal), ``on`` or ``off``.
        pager: ``auto``, ``never``, or a command such as ``less -FRX``.
        editing_mode: ``emacs`` or ``vi`` keys at the prompt.
        timing: ``on`` shows after each statement how long it took.
        patience: seconds after which the prompt comes back while a read continues.
    """

    format: str = "table"
    timeout: float = 60.0
    write_timeout: float = 900.0
    connect_timeout: float = 5.0
    max_answer: int = 2 << 30
    fanout: int = 32
    transport: str = AUTO
    fold: str = "auto"
    pager: str = "auto"
    editing_mode: str = "emacs"
    timing: str = "off"
    patience: float = 4.0

    def with_value(self, name: str, value: str) -> Settings:
        """Return the settings after ``set <name> <value>``.

        Raises:
            ConfigError: there is no such setting, or the value is not allowed for it.
        """
        return _settings(TomlTable({name.lower(): value}, "set"), self)


@dataclass(frozen=True, kw_only=True)
class AsmConfig:
    """One ASM cluster of a rack.

    Attributes:
        nodes: its database nodes; ``sid`` runs on the first one.
        home: the Grid Infrastructure home.
        sid: the instance on the first node; see :meth:`sid_on`.
        user: owner of the instance, as whom exacell logs in; with ``sudo``, the login changes to this user with ``sudo -n -u``.
        databases: names of the databases that use it.
    """

    name: str
    nodes: tuple[str, ...]
    home: str
    sid: str = "+ASM1"
    user: str = "grid"
    sudo: bool = False
    databases: tuple[str, ...] = ()

    def sid_on(self, node: str) -> str:
        """Return the SID on ``node``: ``+ASM1`` counts up along ``nodes``, a SID without number is the same everywhere.

        Raises:
            ConfigError: the cluster has no such node.
        """
        if node not in self.nodes:
            raise ConfigError(f"{node} is not a node of ASM cluster {self.name}: its nodes are {', '.join(self.nodes)}")
        match = _SID_NUMBER.fullmatch(self.sid)
        return f"{match[1]}{int(match[2]) + self.nodes.index(node)}" if match else self.sid


EMULATED_POLL = 0.2
"""Seconds between two reads of an emulated rack, whose clock runs faster than real time."""

POLL = 5.0
"""Seconds between two reads of a real cell: metrics change once a minute, and asm* attributes are slow to read."""


@dataclass(frozen=True, kw_only=True)
class RackConfig:
    """One rack and how to reach it.

    Attributes:
        cells: names in the order of the configuration, as ssh resolves them.
        groups: ``@name`` to cells.
        hosts: the groups of hosts that are configured; see :attr:`host_groups`.
        ssh_config: the file that replaces ~/.ssh/config and /etc/ssh/ssh_config.
        no_programs: why programs in ``ssh_config`` may not be started (those in the user's and the system's own files may); empty
            if they may.
        read_user, write_user: logins on cells for reads and writes.
        connect_timeout, command_timeout, fanout: override the settings of the same meaning; None leaves them.
        opaque: ``allow`` if opaque work needs no --accept-opaque; never on a production rack.
        reach: the transport and what its program needs to know.
        lock: the file that shows who changes the rack now; None means one shared place for all users of this host.
        hold: seconds for which a holder keeps connections for later command lines; None for no holder.
        source: the rack's file, or how the rack was found; for messages.
    """

    name: str
    cells: tuple[str, ...]
    dbnodes: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    hosts: Mapping[str, HostGroup] = field(default_factory=lambda: MappingProxyType({}))
    asm: Mapping[str, AsmConfig] = field(default_factory=lambda: MappingProxyType({}))
    ssh_config: Path | None = None
    no_programs: str = ""
    read_user: str = "cellmonitor"
    write_user: str = "celladmin"
    production: bool = False
    emulated: bool = False
    opaque: str = "ask"
    connect_timeout: float | None = None
    command_timeout: float | None = None
    fanout: int | None = None
    reach: Reach = field(default_factory=Reach)
    lock: Path | None = None
    hold: float | None = None
    source: str = ""

    @property
    def poll(self) -> float:
        """Return seconds between two reads of the progress of cells or ASM."""
        return EMULATED_POLL if self.emulated else POLL

    def asm_of(self, node: str) -> AsmConfig | None:
        """Return the ASM cluster of ``node``; None if it belongs to none."""
        return next((cluster for cluster in self.asm.values() if node in cluster.nodes), None)

    @property
    def host_groups(self) -> Mapping[str, HostGroup]:
        """Return the groups of hosts that are not cells, by name; the database nodes come first if the rack has any.

        exacell logs in to an emulated rack's database nodes as root if no user is configured.
        """
        if not self.dbnodes or DB in self.hosts:
            return self.hosts
        return {DB: HostGroup(name=DB, nodes=self.dbnodes, user="root" if self.emulated else ""), **self.hosts}

    @property
    def host_names(self) -> tuple[str, ...]:
        """Return the hosts that are not cells, each once, in the order of their groups."""
        return tuple(dict.fromkeys(host for group in self.host_groups.values() for host in group.nodes))

    def groups_of(self, host: str) -> tuple[HostGroup, ...]:
        """Return the groups of a host, which all have the same login; empty if it is in none."""
        return tuple(group for group in self.host_groups.values() if host in group.nodes)


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything configured: the default rack's name (empty: none), settings, and racks by name.

    Attributes:
        hold: seconds from EXACELL_HOLD, which replace those of the racks; 0 for off, None if it is not set.
        partial: racks that have a table in config.toml, but neither there nor in racks.d any cells.
        trusted_group: members of this group may have written a rack's file, recipe, alias or stored plan; empty for no group.
    """

    default_rack: str = ""
    trusted_group: str = ""
    settings: Settings = field(default_factory=Settings)
    racks: Mapping[str, RackConfig] = field(default_factory=lambda: MappingProxyType({}))
    hold: float | None = None
    partial: tuple[str, ...] = ()


def load(home: Home, env: Mapping[str, str] | None = None) -> Config:
    """Return the configuration in ``home``; a missing file counts as an empty one.

    A table of config.toml without cells overrides keys of the rack's own file, such as that of an emulated rack. A file that
    others can write is refused.

    Args:
        env: EXACELL_RACK in it replaces ``default_rack``, EXACELL_HOLD the racks' ``hold``. Default: the process
            environment.

    Raises:
        ConfigError: a file can't be read, can be written by others, is not TOML, or has an unknown key or a wrong value.
    """
    variables = os.environ if env is None else env
    refuse_untrusted(home.config_file)
    text = _read(home.config_file)
    config, over = _parsed(text, str(home.config_file)) if text is not None else (Config(), {})
    racks = dict(config.racks)
    for path in sorted(home.racks_dir.glob("*.toml")) if home.racks_dir.is_dir() else ():
        refuse_untrusted(path, lambda: group_number(config.trusted_group))
        content = _read(path)
        if content is None:
            continue  # The rack was stopped, which removed the file after it was listed.
        if path.stem in racks:
            raise ConfigError(
                f"rack {path.stem} is defined twice, in {racks[path.stem].source} and in {path}: rename or remove one"
            )
        extra = over.pop(path.stem, None)
        if extra is None:
            racks[path.stem] = parse_rack(path.stem, content, str(path))
        else:
            racks[path.stem] = _rack(path.stem, parse_toml(content, str(path)).under(extra), str(path))
    for name in [name for name, table in over.items() if "hosts" in table.keys]:  # A rack with hosts only.
        racks[name] = _rack(name, over.pop(name), str(home.config_file))
    default = variables.get("EXACELL_RACK") or config.default_rack
    hold = _hold_said(variables.get("EXACELL_HOLD", ""))
    return replace(config, default_rack=default, racks=MappingProxyType(racks), hold=hold, partial=tuple(over))


def _hold_said(text: str) -> float | None:
    """Return the seconds in EXACELL_HOLD; 0 for ``off``, None if it is empty.

    Raises:
        ConfigError: it is neither a number of seconds nor ``off``.
    """
    if not text or text.lower() == "off":
        return None if not text else 0.0
    return TomlTable({"EXACELL_HOLD": text}, "the environment").seconds("EXACELL_HOLD", None)


def _parsed(text: str, source: str) -> tuple[Config, dict[str, TomlTable]]:
    """Return the configuration in a ``config.toml``, and its tables about racks whose cells are in another file, by name."""
    top = parse_toml(text, source)
    default_rack = top.text("default_rack", "")
    trusted_group = top.text("trusted_group", "")
    settings_table = top.table("settings")
    settings = _settings(settings_table, Settings()) if settings_table else Settings()
    racks: dict[str, RackConfig] = {}
    over: dict[str, TomlTable] = {}
    for name, table in top.tables("racks").items():
        if "cells" in table.keys:
            racks[name] = _rack(name, table, source)
            continue
        for key in ("ssh_config", "lock"):
            path = table.text(key, "")
            table = table.with_text(key, str(_beside(path, source))) if path else table
        over[name] = table
    top.finish()
    config = Config(
        default_rack=default_rack, trusted_group=trusted_group, settings=settings, racks=MappingProxyType(racks)
    )
    return config, over


def trusted_group(home: Home) -> Group:
    """Return a function that returns the number of the group in ``trusted_group`` of config.toml.

    The function refuses config.toml if a group can write it: members of any such group could otherwise enter their own group.
    """

    def number() -> int | None:
        refuse_untrusted(home.config_file)
        text = _read(home.config_file)
        return group_number(parse_toml(text or "", str(home.config_file)).text("trusted_group", ""))

    return number


def parse_rack(name: str, text: str, source: str) -> RackConfig:
    """Return the rack ``name`` from the text of its own file; its top-level keys are those of ``[racks.<name>]``.

    Raises:
        ConfigError: as for :func:`load`.
    """
    return _rack(name, parse_toml(text, source), source)


def _settings(table: TomlTable, base: Settings) -> Settings:
    result = replace(
        base,
        format=table.choice("format", base.format, FORMATS),
        timeout=table.seconds("timeout", base.timeout),
        write_timeout=table.seconds("write_timeout", base.write_timeout),
        connect_timeout=table.seconds("connect_timeout", base.connect_timeout),
        max_answer=table.size("max_answer", base.max_answer),
        fanout=table.count("fanout", base.fanout),
        transport=table.choice("transport", base.transport, (AUTO, *TRANSPORTS)),
        fold=table.choice("fold", base.fold, ("auto", "on", "off")),
        pager=table.text("pager", base.pager),
        editing_mode=table.choice("editing_mode", base.editing_mode, ("emacs", "vi")),
        timing=table.choice("timing", base.timing, ("off", "on")),
        patience=table.seconds("patience", base.patience),
    )
    table.finish()
    return result


def _rack(name: str, table: TomlTable, source: str) -> RackConfig:
    if not RACK_NAME.fullmatch(name):
        raise ConfigError(f"{table.where}: '{name}' can't be a rack's name: use letters, digits, '.', '_' and '-'")
    cells = table.names("cells")
    if not cells and "hosts" not in table.keys:
        raise ConfigError(f'{table.where}: rack {name} has no cells: set cells = "exa1cel[01-03]"')
    dbnodes = table.names("dbnodes")
    groups_table = table.table("groups")
    groups = {key: groups_table.names(key) for key in groups_table.keys} if groups_table else {}
    for group, members in groups.items():
        strangers = CellSet(members) - CellSet(cells)
        if strangers:
            raise ConfigError(
                f"{table.where}: group {group} has {strangers}, which is not among the cells of rack {name}",
                hint="add them to the rack's cells, or take them out of the group",
            )
    hosts = read_host_groups(table.tables("hosts"), dbnodes=dbnodes, cells=cells, groups=groups)
    asm = {key: _asm(key, cluster, dbnodes) for key, cluster in table.tables("asm").items()}
    ssh_config = table.text("ssh_config", "")
    lock = table.text("lock", "")
    rack = RackConfig(
        name=name,
        cells=cells,
        dbnodes=dbnodes,
        groups=MappingProxyType(groups),
        hosts=hosts,
        asm=MappingProxyType(asm),
        ssh_config=_beside(ssh_config, source) if ssh_config else None,
        read_user=table.text("read_user", RackConfig.read_user),
        write_user=table.text("write_user", RackConfig.write_user),
        production=table.flag("production", False),
        emulated=table.flag("emulated", False),
        opaque=table.choice("opaque", RackConfig.opaque, ("ask", "allow")),
        connect_timeout=table.seconds("connect_timeout", None),
        command_timeout=table.seconds("command_timeout", None),
        fanout=table.count("fanout", None),
        reach=read_reach(table),
        lock=_beside(lock, source) if lock else None,
        hold=table.seconds("hold", None),
        source=source,
    )
    if groups_table:
        groups_table.finish()
    table.finish()
    if rack.production and rack.opaque == "allow":
        raise ConfigError(
            f'{table.where}: rack {name} is a production rack, so opaque = "allow" is not allowed: '
            "what exacell can't read is always refused there"
        )
    return rack


def _asm(name: str, table: TomlTable, dbnodes: tuple[str, ...]) -> AsmConfig:
    nodes = table.names("nodes") or dbnodes
    if not nodes:
        raise ConfigError(f'{table.where}: ASM cluster {name} has no nodes: set nodes = "exa1db[01-02]" (or dbnodes)')
    home = table.text("home", "")
    if not home:
        raise ConfigError(f'{table.where}: ASM cluster {name} has no home: set home = "/u01/app/19.0.0.0/grid"')
    cluster = AsmConfig(
        name=name,
        nodes=nodes,
        home=home,
        sid=table.text("sid", "+ASM1"),
        user=table.text("user", "grid"),
        sudo=table.flag("sudo", False),
        databases=table.texts("databases"),
    )
    table.finish()
    return cluster


def _beside(path: str, source: str) -> Path:
    """Return ``path`` with ~ expanded; a relative path starts at the directory of the file that names it."""
    return Path(os.path.join(os.path.dirname(os.path.abspath(source)), os.path.expanduser(path)))


def _read(path: Path) -> str | None:
    try:
        return sure(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {why_unreadable(error)}") from error
