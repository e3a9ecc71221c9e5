"""The programs that show an emulated host's networks: ip, ifconfig, ethtool, netstat and route, read-only.

The interfaces are those of LIST CELL and LIST DBSERVER (interconnect1, ipaddress1), with the management network on eth0.
Everything is up; nothing can be changed.

Source: ip(8), ifconfig(8), ethtool(8), netstat(8), route(8) and published outputs.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence

from exacell.emulator.basics.program import Out, Program
from exacell.emulator.programs.machine import Interface, Machine

Look = Callable[[], Machine]

_DENIED = "RTNETLINK answers: Operation not permitted\n"
_ROUTES = "Kernel IP routing table\nDestination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n"
_LISTENING = ((22, "sshd"), (8888, "java"))
"""Ports on which a cell's services listen. Source: published netstat of a cell; cellinit.ora's HTTP_PORT."""
_NODE_LISTENING = ((22, "sshd"), (1521, "tnslsnr"))


def _named(machine: Machine, name: str) -> Interface | None:
    return next((interface for interface in machine.interfaces if interface.name == name), None)


def _of(interface: Interface) -> ipaddress.IPv4Interface | None:
    return ipaddress.IPv4Interface(interface.address) if interface.address else None


def ip(look: Look, argv: Sequence[str]) -> Program:
    """Run ``ip [-4] [-o|-br] {addr|link|route} [show [dev] NAME]``."""
    machine, words = look(), [word for word in argv if not word.startswith("-")]
    one_line, brief = any(w in ("-o", "-oneline") for w in argv), any(w in ("-br", "-brief") for w in argv)
    kind, rest = (
        (words[0] if words else ""),
        [word for word in words[1:] if word not in ("show", "list", "ls", "dev", "s")],
    )
    if any(word in ("add", "del", "set", "flush", "change", "replace") for word in rest):
        yield Out(_DENIED, err=True)
        return 2
    if kind and "route".startswith(kind):
        yield Out(_ip_routes(machine))
        return 0
    with_addresses = bool(kind) and ("address".startswith(kind) or kind == "addr")
    if not with_addresses and not (kind and "link".startswith(kind)):
        yield Out("Usage: ip [ OPTIONS ] { address | link | route } [ show [ dev DEVICE ] ]\n", err=True)
        return 255
    if rest and _named(machine, rest[0]) is None:
        yield Out(f'Device "{rest[0]}" does not exist.\n', err=True)
        return 1
    for number, interface in enumerate(machine.interfaces, 1):
        if rest and interface.name != rest[0]:
            continue
        if brief:
            shown = interface.address if with_addresses else interface.hardware
            yield Out(f"{interface.name:<16} {'UNKNOWN' if interface.loopback else 'UP':<14} {shown} \n")
        elif one_line and with_addresses:
            yield Out(f"{number}: {interface.name}    {_inet(interface)}\n" if interface.address else "")
        else:
            yield Out(_block(number, interface, addresses=with_addresses))
    return 0


def _inet(interface: Interface) -> str:
    known = _of(interface)
    assert known is not None
    spread = "" if interface.loopback else f"brd {known.network.broadcast_address} "
    return f"inet {interface.address} {spread}scope {'host' if interface.loopback else 'global'} {interface.name}"


def _block(number: int, interface: Interface, *, addresses: bool) -> str:
    flags, kind, state = "BROADCAST,MULTICAST,UP,LOWER_UP", "ether", "UP"
    queue, spread = "mq", "ff:ff:ff:ff:ff:ff"
    if interface.loopback:
        flags, kind, state, queue, spread = (
            "LOOPBACK,UP,LOWER_UP",
            "loopback",
            "UNKNOWN",
            "noqueue",
            "00:00:00:00:00:00",
        )
    elif interface.infiniband:
        kind, spread = "infiniband", "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff"
    text = f"{number}: {interface.name}: <{flags}> mtu {interface.mtu} qdisc {queue} state {state} group default qlen 1000\n"
    text += f"    link/{kind} {interface.hardware} brd {spread}\n"
    if addresses and interface.address:
        text += f"    {_inet(interface)}\n       valid_lft forever preferred_lft forever\n"
    return text


def _ip_routes(machine: Machine) -> str:
    lines = [f"default via {machine.gateway} dev eth0 \n"]
    for interface in machine.interfaces:
        known = _of(interface)
        if known is not None and not interface.loopback:
            lines.append(f"{known.network} dev {interface.name} proto kernel scope link src {known.ip} \n")
    return "".join(lines)


def ifconfig(look: Look, argv: Sequence[str]) -> Program:
    """Run ``ifconfig [-a] [NAME]``."""
    machine, words = look(), [word for word in argv if word not in ("-a", "-v", "-s")]
    if len(words) > 1:
        yield Out("SIOCSIFFLAGS: Operation not permitted\n", err=True)
        return 1
    if words and _named(machine, words[0]) is None:
        yield Out(f"{words[0]}: error fetching interface information: Device not found\n", err=True)
        return 1
    for interface in machine.interfaces:
        if not words or interface.name == words[0]:
            yield Out(_ifconfig_block(interface))
    return 0


def _ifconfig_block(interface: Interface) -> str:
    flags = "73<UP,LOOPBACK,RUNNING>" if interface.loopback else "4163<UP,BROADCAST,RUNNING,MULTICAST>"
    text = f"{interface.name}: flags={flags}  mtu {interface.mtu}\n"
    known = _of(interface)
    if known is not None:
        spread = "" if interface.loopback else f"  broadcast {known.network.broadcast_address}"
        text += f"        inet {known.ip}  netmask {known.netmask}{spread}\n"
    if interface.loopback:
        return text + "        loop  txqueuelen 1000  (Local Loopback)\n\n"
    kind = "infiniband" if interface.infiniband else "ether"
    return (
        text
        + f"        {kind} {interface.hardware}  txqueuelen 1000  ({kind.capitalize().replace('Ether', 'Ethernet')})\n\n"
    )


def ethtool(look: Look, argv: Sequence[str]) -> Program:
    """Run ``ethtool [-i] NAME``."""
    words = [word for word in argv if word != "-i"]
    if len(words) != 1 or words[0].startswith("-"):
        yield Out("ethtool: bad command line argument(s)\nFor more information run ethtool -h\n", err=True)
        return 1
    interface = _named(look(), words[0])
    if interface is None or interface.loopback:
        yield Out(f"Settings for {words[0]}:\n" if interface else "")
        yield Out(
            "Cannot get device settings: No such device\n" if interface is None else "\tLink detected: yes\n",
            err=interface is None,
        )
        return 75 if interface is None else 0
    if "-i" in argv:
        yield Out(f"driver: {interface.driver}\nversion: \nfirmware-version: \nbus-info: \n")
        return 0
    port = "FIBRE" if interface.speed > 1000 else "Twisted Pair"
    yield Out(
        f"Settings for {interface.name}:\n\tSpeed: {interface.speed}Mb/s\n\tDuplex: Full\n\tPort: {port}\n"
        "\tAuto-negotiation: on\n\tLink detected: yes\n"
    )
    return 0


def netstat(look: Look, argv: Sequence[str]) -> Program:
    """Run ``netstat``: ``-r`` shows routes, ``-i`` interfaces, otherwise the ports on which the host's services listen."""
    machine = look()
    letters = "".join(word.lstrip("-") for word in argv if word.startswith("-"))
    if "r" in letters:
        yield Out(_ROUTES + "".join(_route_lines(machine)))
        return 0
    if "i" in letters:
        yield Out(
            "Kernel Interface table\nIface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
        )
        for interface in machine.interfaces:
            flag = "LRU" if interface.loopback else "BMRU"
            yield Out(
                f"{interface.name:<16}{interface.mtu:>5}{0:>9}{0:>7}{0:>7} {0:<6}{0:>9}{0:>7}{0:>7}{0:>7} {flag}\n"
            )
        return 0
    with_programs, listening = "p" in letters, "l" in letters or "a" in letters
    title = "Proto Recv-Q Send-Q Local Address           Foreign Address         State      "
    what = "(only servers)" if "l" in letters else "(servers and established)" if listening else "(w/o servers)"
    yield Out(f"Active Internet connections {what}\n{title}{' PID/Program name' if with_programs else ''}\n")
    for port, program in (
        (_LISTENING if machine.is_cell else _NODE_LISTENING) if listening and "u" not in letters else ()
    ):
        owner = f" {5000 + port}/{program}" if with_programs else ""
        yield Out(f"tcp        0      0 {f'0.0.0.0:{port}':<23} {'0.0.0.0:*':<23} LISTEN     {owner}\n")
    return 0


def route(look: Look, argv: Sequence[str]) -> Program:
    """Run ``route [-n]``."""
    if [word for word in argv if word not in ("-n", "-e", "-v")]:
        yield Out("SIOCADDRT: Operation not permitted\n", err=True)
        return 7
    yield Out(_ROUTES.replace("  MSS Window  irtt", " Metric Ref    Use"))
    for line in _route_lines(look()):
        yield Out(line.replace("     0 0          0 ", " 0      0        0 "))
    return 0


def _route_lines(machine: Machine) -> list[str]:
    rows = [("0.0.0.0", machine.gateway, "0.0.0.0", "UG", "eth0")]
    for interface in machine.interfaces:
        known = _of(interface)
        if known is not None and not interface.loopback:
            rows.append((str(known.network.network_address), "0.0.0.0", str(known.netmask), "U", interface.name))
    return [
        f"{to:<15} {over:<15} {mask:<15} {flags:<6}    0 0          0 {name}\n" for to, over, mask, flags, name in rows
    ]


NETWORK: Mapping[str, Callable[[Look, Sequence[str]], Program]] = {
    "ethtool": ethtool,
    "ifconfig": ifconfig,
    "ip": ip,
    "netstat": netstat,
    "route": route,
}
"""The programs by name."""
