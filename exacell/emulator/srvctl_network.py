"""What ``srvctl`` says of listeners, SCANs, virtual addresses and services; it starts and stops none of them.

Source: Oracle Real Application Clusters Administration Guide, "SRVCTL Command Reference"; published sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from exacell.emulator.asm.instance import Asm
from exacell.emulator.asm.rows import cluster_name


def _scan(asm: Asm) -> str:
    return f"{cluster_name(asm)}-scan"


def _status(asm: Asm, noun: str, nodes: Sequence[str]) -> str:
    listed = ",".join(asm.nodes)
    vips = "".join(f"VIP {node}-vip is enabled\nVIP {node}-vip is running on node: {node}\n" for node in nodes)
    texts = {
        "listener": f"Listener LISTENER is enabled\nListener LISTENER is running on node(s): {listed}\n",
        "scan": f"SCAN VIP scan1 is enabled\nSCAN VIP scan1 is running on node {asm.nodes[0]}\n",
        "scan_listener": (
            f"SCAN Listener LISTENER_SCAN1 is enabled\nSCAN listener LISTENER_SCAN1 is running on node {asm.nodes[0]}\n"
        ),
        "vip": vips,
        "ons": f"ONS is enabled\nONS daemon is running on node: {listed}\n",
        "nodeapps": (
            f"{vips}Network is enabled\nNetwork is running on node: {listed}\n"
            f"ONS is enabled\nONS daemon is running on node: {listed}\n"
        ),
        "service": "",
        "cvu": f"CVU is enabled and running on node {asm.nodes[0]}\n",
    }
    return texts[noun]


def _config(asm: Asm, noun: str, nodes: Sequence[str]) -> str:
    network = "Network 1 exists\nSubnet IPv4: 10.1.0.0/255.255.0.0/bondeth0, static\nSubnet IPv6:\n"
    vips = "".join(
        f"VIP exists: network number 1, hosting node {node}\nVIP Name: {node}-vip\nVIP is enabled.\n" for node in nodes
    )
    texts = {
        "listener": (
            "Name: LISTENER\nType: Database Listener\nNetwork: 1, Owner: grid\nHome: <CRS home>\n"
            "End points: TCP:1521\nListener is enabled.\n"
        ),
        "scan": f"SCAN name: {_scan(asm)}, Network: 1\nSCAN 1 IPv4 VIP: {_scan(asm)}\nSCAN VIP is enabled.\n",
        "scan_listener": "SCAN Listeners for network 1:\nSCAN Listener LISTENER_SCAN1 exists. Port: TCP:1521\n",
        "vip": vips,
        "ons": "ONS exists: Local port 6100, remote port 6200, EM port 2016, Uses SSL true\n",
        "nodeapps": f"{network}{vips}ONS exists: Local port 6100, remote port 6200, EM port 2016, Uses SSL true\n",
        "service": "",
        "cvu": "CVU is configured to run once every 360 minutes\n",
        "network": network,
    }
    return texts[noun]


_NOUNS = ("listener", "scan", "scan_listener", "vip", "ons", "nodeapps", "service", "cvu")
_VERBS: Mapping[str, tuple[Callable[[Asm, str, Sequence[str]], str], tuple[str, ...]]] = {
    "status": (_status, _NOUNS),
    "config": (_config, (*_NOUNS, "network")),
}


def network_text(asm: Asm, verb: str, noun: str, nodes: Sequence[str]) -> str | None:
    """Return what ``srvctl verb noun`` prints; None when it is about something else.

    Args:
        nodes: the nodes that were named, all where none was.
    """
    if verb not in _VERBS or noun not in _VERBS[verb][1]:
        return None
    return _VERBS[verb][0](asm, noun, nodes)
