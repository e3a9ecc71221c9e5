"""The metrics of database servers, as DBMCLI lists them: their definitions, their objects, and their values at a minute.

A server's network traffic is the traffic that the cells have counted with it; the other values are steady with some noise, as
on cells. Source of the definitions: ``data/dbm_metrics.tsv``; the objects are those of the similar metrics of cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from exacell.emulator.basics.clock import MINUTE, last_minute
from exacell.emulator.basics.infiniband import CARD_FIRMWARE, card_port
from exacell.emulator.basics.schema import (
    MetricDefinition,
    Release,
    metric_definitions,
    metrics_in,
    release_of,
    rows_of,
)
from exacell.emulator.grammar.reading import Filter, ListStatement
from exacell.emulator.grammar.values import Metric, Row, Time, passes
from exacell.emulator.metrics.ambient import ambient, noise
from exacell.emulator.metrics.metrics import HISTORY_S
from exacell.emulator.metrics.reader import rounded
from exacell.emulator.metrics.scene import IB_PORTS, INFINIBAND_PORTS, ROCE_PORTS
from exacell.emulator.metrics.words import description
from exacell.emulator.state.view import RackView

OBJECT_TYPES = ("METRICCURRENT", "METRICDEFINITION", "METRICHISTORY")

_AS_ON_CELLS = re.compile(r"(EXW_RDS|EXW_ROCE|N_IB|OS)_.*")
_DISK = "sda"
_FILE_SYSTEMS = ("/", "/boot", "/u01")
_QUEUES = (0, 5)
_PORT_MB = 4000.0
"""Megabytes a second that a port of QDR InfiniBand carries in one direction."""
_REQUESTS_PER_MB = 8.0
_BY_CELLS = ("N_MB_SENT", "N_MB_RECEIVED", "N_MB_SENT_SEC", "N_MB_RECEIVED_SEC")
"""Metrics that cells count of their traffic with a host."""
_DISK_IO: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "OS_IO_RQ_R_SEC": (1.2, 0.5),
        "OS_IO_RQ_W_SEC": (14.0, 4.0),
        "OS_IO_BY_R_SEC": (0.05, 0.02),
        "OS_IO_BY_W_SEC": (0.2, 0.08),
        "OS_IO_RQ_R_SZ": (40.0, 4.0),
        "OS_IO_RQ_W_SZ": (14.0, 2.0),
        "OS_IO_RQ_SZ": (16.0, 2.0),
        "OS_IO_UTIL_PCT": (1.0, 0.6),
        "OS_IO_WT_R_RQ": (4.0, 1.0),
        "OS_IO_WT_W_RQ": (1.5, 0.5),
        "OS_IO_WT_RQ": (1.7, 0.5),
        "OS_IO_TM_RQ": (1.0, 0.3),
        "OS_IO_AQU_SZ": (0.1, 0.1),
    }
)
"""Per metric of the system's own disk: value, and how far it varies. Made up."""


@cache
def _own() -> tuple[tuple[MetricDefinition, str], ...]:
    """Return the metrics that only database servers have, each with the similar metric of a cell."""
    found = []
    for name, kind, metric_type, unit, fine, streaming, retention, since, like in rows_of(
        "dbm_metrics.tsv", "emulator"
    ):
        definition = MetricDefinition(
            name=name,
            object_type=kind,
            metric_type=metric_type,
            unit=unit,
            fine_grained=fine,
            streaming=streaming,
            retention_policy=retention,
            since=None if since == "-" else release_of(since),
            until=None,
        )
        found.append((definition, "" if like == "-" else like))
    return tuple(found)


@cache
def definitions(release: Release) -> Mapping[str, MetricDefinition]:
    """Return the metric definitions of a database server of ``release`` by name, in name order."""
    shared = {name: d for name, d in metrics_in(release).items() if _AS_ON_CELLS.fullmatch(name)}
    own = {d.name: d for d, _like in _own() if d.exists_in(release)}
    return MappingProxyType(dict(sorted((shared | own).items())))


@dataclass(frozen=True)
class _Moved:
    """Megabytes that a server received and sent: since the cells count them, and per second in the last minute."""

    received: float
    sent: float
    received_rate: float
    sent_rate: float

    def part(self, name: str, share: float) -> float:
        """Return a metric's value for an object that has ``share`` of the traffic: MB, or MB a second for ``_SEC`` metrics."""
        rate = name.endswith("_SEC")
        if "RCV" in name or "_RX_" in name:
            return (self.received_rate if rate else self.received) * share
        return (self.sent_rate if rate else self.sent) * share


class DbmReader:
    """Computes the metrics of one database server."""

    def __init__(self, rack: RackView, node: str, *, cores: int, memory_gb: int, fans: int) -> None:
        """Args: ``cores``, ``memory_gb``, ``fans``: of the database server."""
        self._rack, self._node = rack, node
        self._cpus, self._memory_gb, self._fans = 2 * cores, memory_gb, fans
        self._like = {definition.name: like for definition, like in _own()}
        self._cells = [rack.reader(cell) for cell in rack.cells.values()]
        self._sent = [metric_definitions()[name] for name in _BY_CELLS]
        self._last: tuple[float, _Moved] | None = None

    @property
    def definitions(self) -> Mapping[str, MetricDefinition]:
        """Return the server's metric definitions by name."""
        return definitions(self._rack.release.number)

    def objects(self, kind: str) -> tuple[str, ...]:
        """Return the objects of one type; a server without virtual machines has no guests."""
        infiniband = self._rack.model.infiniband
        ports = INFINIBAND_PORTS if infiniband else ROCE_PORTS
        queues = tuple(f"{port}.{queue}" for port in ROCE_PORTS for queue in _QUEUES)
        return {
            "DBSERVER": (self._node,),
            "SERVER": (self._node,),
            "DBSERVER_FILESYSTEM": _FILE_SYSTEMS,
            "DISK": (_DISK,),
            "IBPORT": tuple(IB_PORTS) if infiniband else (),
            "DEVICE": () if infiniband else tuple(ROCE_PORTS),
            "NETDEV_QUEUE": () if infiniband else queues,
            "NET_INTERFACE": tuple(sorted(("eth0", *ports))),
        }.get(kind, ())

    def rows(self, moment: float, statement: ListStatement) -> Iterator[Row]:
        """Yield the rows of all metrics that a statement names, with their values at the collection of ``moment``."""
        wanted = {name.upper() for name in statement.names}
        facts = [f for f in statement.filters if f.attribute.name in ("name", "objectType", "metricType")]
        chosen = [d for d in self.definitions.values() if (not wanted or d.name in wanted) and _fits(d, facts)]
        steady, moved = self._steady(moment), self._moved(moment) if any(_is_moved(d.name) for d in chosen) else None
        for definition in chosen:
            objects = self.objects(definition.object_type)
            values = [self._value(definition, name, moment, steady, moved) for name in objects]
            for name, value in zip(objects, rounded(definition, values), strict=True):
                yield {
                    "name": definition.name,
                    "alertState": "normal",
                    "collection": "default",
                    "collectionTime": Time(moment),
                    "ageInMinutes": int((self._rack.now() - moment) // MINUTE),
                    "metricObjectName": name,
                    "metricType": definition.metric_type,
                    "metricValue": Metric(value, definition.unit),
                    "objectType": definition.object_type,
                }

    def definition_rows(self, names: tuple[str, ...]) -> Iterator[Row]:
        """Yield the rows of LIST METRICDEFINITION."""
        wanted = {name.upper() for name in names}
        for definition in self.definitions.values():
            if not wanted or definition.name in wanted:
                yield {
                    "name": definition.name,
                    "description": description(definition),
                    "fineGrained": definition.fine_grained,
                    "metricType": definition.metric_type,
                    "objectType": definition.object_type,
                    "persistencePolicy": definition.retention_policy,
                    "retentionPolicy": definition.retention_policy,
                    "streaming": definition.streaming,
                    "unit": definition.unit,
                }

    def minutes(self, statement: ListStatement) -> Iterator[float]:
        """Yield the moments of the collections that pass a statement's filters on time, oldest first."""
        now = self._rack.now()
        last = last_minute(now)
        timely = [f for f in statement.filters if f.attribute.name in ("collectionTime", "ageInMinutes")]
        for minutes in range(int(HISTORY_S // MINUTE), -1, -1):
            moment = last - minutes * MINUTE
            facts: Row = {"collectionTime": Time(moment), "ageInMinutes": int((now - moment) // MINUTE)}
            if all(passes(facts[f.attribute.name], f) for f in timely):
                yield moment

    def ports(self) -> list[Row]:
        """Return the rows of LIST IBPORT: two ports of one card; empty on RoCE."""
        moved = self._moved(last_minute(self._rack.now()))
        number = len(self._rack.cells) + list(self._rack.dbnodes).index(self._node) + 1
        return [
            {
                "name": port,
                "activePort": index == 0,
                "dataRate": "40 Gbps",
                "hcaFWVersion": CARD_FIRMWARE,
                "id": f"{card_port(number, index + 1)[0]:#018x}",
                "lid": str(card_port(number, index + 1)[1]),
                "physLinkState": "LinkUp",
                "portNumber": index + 1,
                "status": "Active",
                "rcvData": int(moved.received * (1 << 20) / 4 / len(IB_PORTS)),
                "xmtData": int(moved.sent * (1 << 20) / 4 / len(IB_PORTS)),
                **dict.fromkeys(_NO_ERRORS, 0),
            }
            for index, port in enumerate(self.objects("IBPORT"))
        ]

    # -- values --------------------------------------------------------------------------------------------------

    def _value(
        self,
        definition: MetricDefinition,
        owner: str,
        moment: float,
        steady: Mapping[str, float],
        moved: _Moved | None,
    ) -> float:
        name, kind = definition.name, definition.object_type
        if moved is not None and _is_moved(name) and not (kind == "NET_INTERFACE" and owner == "eth0"):
            objects = [one for one in self.objects(kind) if one != "eth0"]
            if "UTIL" in name:
                rate = moved.received_rate if name.endswith("RCV") else moved.sent_rate
                return 100.0 * rate / len(objects) / _PORT_MB
            return moved.part(name, 1.0 / len(objects))
        if name in _DISK_IO:
            value, spread = _DISK_IO[name]
            return max(0.0, value + spread * noise(f"{self._key(moment)}|{name}"))
        if name == "DS_FSUT":
            return steady["CL_FSUT"] + 7.0 * _FILE_SYSTEMS.index(owner)
        return steady.get(self._like.get(name) or name, 0.0)

    def _key(self, moment: float) -> str:
        return f"{self._rack.spec.seed}|{self._node}|{int(moment)}"

    def _steady(self, moment: float) -> dict[str, float]:
        moved = self._moved(moment)
        requests = (moved.received_rate + moved.sent_rate) * _REQUESTS_PER_MB
        return ambient(
            self._key(moment),
            cpus=self._cpus,
            memory_gb=self._memory_gb,
            fans=self._fans,
            objective="basic",
            requests_per_second=requests,
        )

    def _moved(self, moment: float) -> _Moved:
        """Return the traffic between the cells and this server."""
        if self._last is not None and self._last[0] == moment:
            return self._last[1]
        totals = dict.fromkeys(_BY_CELLS, 0.0)
        for cell in self._cells:
            for reading in cell.readings(moment, self._sent):
                if reading.object_name == self._node:
                    totals[reading.definition.name] += reading.number
        found = _Moved(*totals.values())
        self._last = moment, found
        return found


_NO_ERRORS = (
    *("excBufOverrunErrs", "linkDowned", "linkIntegrityErrs", "linkRecovers", "rcvConstraintErrs", "rcvErrs"),
    *(
        "rcvRemotePhysErrs",
        "rcvSWRelayErrs",
        "symbolErrs",
        "vl15Dropped",
        "xmtConstraintErrs",
        "xmtDiscards",
        "xmtWait",
    ),
)


_MOVED = re.compile(r"N_HCA_MB_.*|N_IB_(MB|UTIL)_.*|EXW_ROCE_(PORT_(RCV|XMIT)|RX|TX)_BY.*|OS_NET_[RT]X_BY_SEC")


def _is_moved(name: str) -> bool:
    return _MOVED.fullmatch(name) is not None


def _fits(definition: MetricDefinition, facts: list[Filter]) -> bool:
    values = {"name": definition.name, "objectType": definition.object_type, "metricType": definition.metric_type}
    return all(passes(values[f.attribute.name], f) for f in facts)
