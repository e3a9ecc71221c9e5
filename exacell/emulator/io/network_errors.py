"""Errors on a cell's RDMA network while a fault makes it lose packets: drops, retransmissions, and waits.

A network without such a fault loses nothing. Counters are of the cell; ports and hosts have equal shares of them.
Source: names of metrics and of LIST IBPORT's attributes, reference cellcli.md 3.3 and 4.3. The amounts are made up.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.units import KIB
from exacell.emulator.io.device_io import RECEIVED, SENT, Counters, share

LOST_KB, LOST = "NET.LOST_KB", "NET.LOST"
"""Counters of the lost KB, and of the packets that they made up."""

_LOST_SHARE = 0.002
_PACKET_KB = 4

_OF_HOSTS: Mapping[str, tuple[str, float]] = {
    "N_MB_DROP": (LOST_KB, 0.5 / KIB),
    "N_MB_RDMA_DROP": (LOST_KB, 0.4 / KIB),
    "N_MB_RESENT": (LOST_KB, 1.0 / KIB),
    "N_RDMA_RETRY_TM": (LOST, 0.5),
}
_OF_PORTS: Mapping[str, float] = {
    "N_IB_XMIT_DISCARDS": 1.0,
    "N_IB_XMIT_WAIT": 8.0,
    "OS_NET_RX_CRC_ERROR": 0.2,
    "OS_NET_RX_DRP": 0.5,
    "OS_NET_RX_FRAME_ERROR": 0.1,
    "OS_NET_TX_DRP": 0.3,
    "EXW_ROCE_LOCAL_ACK_TIMEOUT_ERR": 0.1,
    "EXW_ROCE_RNR_NAK_RETRY_ERR": 0.05,
    "EXW_ROCE_NP_CNP_SENT": 0.6,
    "EXW_ROCE_NP_ECN_MARKED_ROCE_PACKETS": 0.8,
    "EXW_ROCE_RP_CNP_HANDLED": 0.55,
    "EXW_ROCE_RP_CNP_IGNORED": 0.05,
    "EXW_ROCE_PAUSE": 0.3,
}
_OF_SERVER: Mapping[str, float] = {
    "EXW_RDS_CONG_SEND_BLOCKED": 0.2,
    "EXW_RDS_CONG_SEND_ERROR": 0.01,
    "EXW_RDS_CONN_RESET": 0.001,
    "EXW_RDS_IB_TX_STALLED": 0.1,
    "EXW_RDS_IB_MR_1M_POOL_DEPLETED": 0.002,
    "EXW_RDS_IB_RDMA_MR_8K_POOL_DEPLETED": 0.02,
}
"""The amount of each for one lost packet; for hosts, for the errors named."""


def lose(counters: Counters, before: Mapping[str, float]) -> None:
    """Count the packets lost in the network traffic since the last collection.

    Args:
        before: the counters at the last collection.
    """
    moved = sum(counters.get(name, 0) - before.get(name, 0) for name in (SENT, RECEIVED))
    lost = int(max(0.0, moved) * _LOST_SHARE) // _PACKET_KB
    if lost:
        counters[LOST] = counters.get(LOST, 0) + lost
        counters[LOST_KB] = counters.get(LOST_KB, 0) + lost * _PACKET_KB


def host_errors(values: Mapping[str, float], index: int, count: int) -> dict[str, float]:
    """Return the base values of one of ``count`` hosts."""
    return {
        name: share(values.get(of, 0), index, count) * each
        if name.startswith("N_MB")
        else int(share(values.get(of, 0), index, count) * each)
        for name, (of, each) in _OF_HOSTS.items()
    }


def port_errors(values: Mapping[str, float], index: int, count: int) -> dict[str, float]:
    """Return the base values of one of ``count`` ports, or of the interface or queue on it."""
    return _whole(_OF_PORTS, share(values.get(LOST, 0), index, count))


def server_errors(values: Mapping[str, float]) -> dict[str, float]:
    """Return the base values of RDS on the cell."""
    return _whole(_OF_SERVER, int(values.get(LOST, 0)))


def _whole(shares: Mapping[str, float], packets: int) -> dict[str, float]:
    return {name: int(packets * each) for name, each in shares.items()} if packets else {}
