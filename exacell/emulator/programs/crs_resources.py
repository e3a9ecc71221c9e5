"""The resources of an emulated cluster's clusterware and their states: disk groups, databases, listeners, addresses.

Names and types of resources are Oracle's; the emulator has those that every Exadata's cluster has. Databases,
listeners and addresses always run; a disk group's resource follows where the group is mounted.

Source: Oracle Clusterware Administration and Deployment Guide, "CRSCTL Utility Reference" (status resource, filters) and
"Oracle Clusterware Resource Reference"; reference asm.md 9 (``ora.NAME.dg``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.names import DATABASE_HOME
from exacell.emulator.database.asm_rows import cluster_name
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.values import from_epoch

ONLINE, OFFLINE = "ONLINE", "OFFLINE"


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One place where a resource runs or could run.

    Attributes:
        server: the node; empty for an offline cluster resource.
        details: the details of the state, without STABLE.
    """

    server: str
    online: bool = True
    details: str = ""
    since: float = 0.0

    @property
    def state(self) -> str:
        """Return ``ONLINE`` or ``OFFLINE``."""
        return ONLINE if self.online else OFFLINE

    @property
    def placed(self) -> str:
        """Return the state with the server, as the column STATE shows it."""
        return f"{ONLINE} on {self.server}" if self.online else OFFLINE


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource.

    Attributes:
        local: whether it has an instance on each node; otherwise it is a cluster resource with numbered instances.
        profile: its attributes besides NAME and TYPE, in order.
    """

    name: str
    kind: str
    local: bool
    instances: tuple[Instance, ...]
    profile: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def attributes(self, at: Instance, number: int) -> dict[str, str]:
        """Return the attributes of one instance; those of the state come first."""
        stamp = format_date(from_epoch(at.since), "MM/DD/YYYY HH24:MI:SS")
        return {
            "NAME": self.name,
            "TYPE": self.kind,
            "LAST_SERVER": at.server,
            "STATE": at.placed,
            "TARGET": at.state,
            **({"USR_ORA_OPEN_MODE": "open"} if self.kind == "ora.database.type" else {}),
            "CARDINALITY_ID": at.server if self.local else str(number),
            "RESTART_COUNT": "0",
            "FAILURE_COUNT": "0",
            "FAILURE_HISTORY": "",
            "ID": f"{self.name} {at.server if self.local else number} 1",
            "INCARNATION": "1",
            "LAST_RESTART": stamp,
            "LAST_STATE_CHANGE": stamp,
            "STATE_DETAILS": at.details,
            "INTERNAL_STATE": "STABLE",
        }


def resources(asm: Asm) -> Iterator[Resource]:
    """Yield the resources of a cluster: the local ones first, then the cluster's, each by name."""
    started = asm.started
    everywhere = tuple(Instance(server=node, since=started) for node in asm.nodes)
    yield _local("ora.LISTENER.lsnr", "ora.listener.type", everywhere, ENDPOINTS="TCP:1521")
    for name in sorted(asm.resources):
        group = asm.groups.get(name)
        instances = tuple(
            Instance(server=node, online=group is not None and number in group.mounted, since=started)
            for number, node in enumerate(asm.nodes)
        )
        yield _local(f"ora.{name}.dg", "ora.diskgroup.type", instances)
    at = tuple(Instance(server=node, details="Started", since=started) for node in asm.nodes)
    yield _local("ora.asm", "ora.asm.type", at)
    yield _local("ora.net1.network", "ora.network.type", everywhere)
    yield _local("ora.ons", "ora.ons.type", everywhere)
    yield _cluster("ora.LISTENER_SCAN1.lsnr", "ora.scan_listener.type", everywhere[:1], ENDPOINTS="TCP:1521")
    yield _cluster("ora.cvu", "ora.cvu.type", everywhere[:1])
    yield from sorted((*_nodes(asm), *_databases(asm)), key=lambda resource: resource.name)
    yield _cluster("ora.scan1.vip", "ora.scan_vip.type", everywhere[:1], USR_ORA_VIP=f"{cluster_name(asm)}-scan")


def _nodes(asm: Asm) -> Iterator[Resource]:
    for node in asm.nodes:
        at = (Instance(server=node, since=asm.started),)
        yield _cluster(f"ora.{node}.vip", "ora.cluster_vip_net1.type", at, USR_ORA_VIP=f"{node}-vip")


def _databases(asm: Asm) -> Iterator[Resource]:
    details = f"Open,HOME={DATABASE_HOME}" if asm.version >= (12, 2) else "Open"
    for database in asm.databases.values():
        at = tuple(Instance(server=node, details=details, since=database.started) for node in asm.nodes)
        named = {
            f"GEN_USR_ORA_INST_NAME@SERVERNAME({node})": f"{database.name}{number}"
            for number, node in enumerate(asm.nodes, start=1)
        }
        yield Resource(
            name=f"ora.{database.name.lower()}.db",
            kind="ora.database.type",
            local=False,
            instances=at,
            profile={
                "ACL": "owner:oracle:rwx,pgrp:oinstall:r--,other::r--,group:dba:r-x,user:grid:r-x",
                "DATABASE_TYPE": "RAC",
                "DB_UNIQUE_NAME": database.name,
                "ENABLED": "1",
                "GEN_USR_ORA_INST_NAME": f"{database.name}1",
                **named,
                "ORACLE_HOME": DATABASE_HOME,
                "ROLE": "PRIMARY",
            },
        )


def _local(name: str, kind: str, instances: tuple[Instance, ...], **more: str) -> Resource:
    return Resource(name=name, kind=kind, local=True, instances=instances, profile=_profile(more))


def _cluster(name: str, kind: str, instances: tuple[Instance, ...], **more: str) -> Resource:
    return Resource(name=name, kind=kind, local=False, instances=instances, profile=_profile(more))


def _profile(more: Mapping[str, str]) -> dict[str, str]:
    return {"ACL": "owner:grid:rwx,pgrp:oinstall:rw-,other::r--", "ENABLED": "1", **more}


_FILTER_TOKEN = re.compile(r"[()]|'[^']*'|\"[^\"]*\"|!=|>=|<=|[=<>]|[^\s()=!<>]+")
_OPERATORS: Mapping[str, Callable[[str, str], bool]] = MappingProxyType(
    {
        "=": lambda value, wanted: value == wanted,
        "!=": lambda value, wanted: value != wanted,
        "CO": lambda value, wanted: wanted in value,
        "NC": lambda value, wanted: wanted not in value,
        "ST": lambda value, wanted: value.startswith(wanted),
        "EN": lambda value, wanted: value.endswith(wanted),
        ">": lambda value, wanted: value > wanted,
        "<": lambda value, wanted: value < wanted,
        ">=": lambda value, wanted: value >= wanted,
        "<=": lambda value, wanted: value <= wanted,
    }
)


class FilterError(ValueError):
    """A filter that can't be parsed; the text is the filter."""


def matcher(text: str) -> Callable[[Mapping[str, str]], bool]:
    """Return a function that checks whether attributes match the filter of ``-w``.

    ``filter := term {(AND|OR) term}``, ``term := [NOT] ( filter ) | attribute operator value``; AND binds more tightly.

    Raises:
        FilterError: the filter has another form.
    """
    words: list[str] = [match[0] for match in _FILTER_TOKEN.finditer(text)]

    def take() -> str:
        if not words:
            raise FilterError(text)
        return words.pop(0)

    def term() -> Callable[[Mapping[str, str]], bool]:
        word = take()
        if word.upper() == "NOT":
            inner = term()
            return lambda attributes: not inner(attributes)
        if word == "(":
            inner = alternatives()
            if take() != ")":
                raise FilterError(text)
            return inner
        operator, wanted = _OPERATORS.get(take().upper()), take().strip("'\"")
        if operator is None or word == ")":
            raise FilterError(text)
        return lambda attributes: operator(attributes.get(word.upper(), ""), wanted)

    def chain(
        word: str, part: Callable[[], Callable[[Mapping[str, str]], bool]], join: Callable[[Sequence[bool]], bool]
    ) -> Callable[[Mapping[str, str]], bool]:
        parts = [part()]
        while words and words[0].upper() == word:
            words.pop(0)
            parts.append(part())
        return lambda attributes: join([each(attributes) for each in parts])

    def alternatives() -> Callable[[Mapping[str, str]], bool]:
        return chain("OR", lambda: chain("AND", term, all), any)

    found = alternatives()
    if words:
        raise FilterError(text)
    return found
