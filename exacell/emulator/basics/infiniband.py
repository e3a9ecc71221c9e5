"""Programs that show an emulated rack's InfiniBand fabric: ibhosts, ibswitches, ibnodes, ibstat, ibstatus, iblinkinfo, sminfo.

Each host has a card with two ports, one cable to each of the two leaf switches, and seven cables join the switches, as in
a single rack. All ports are up, and port states do not change. The switch ports of the hosts, numbers and identifiers are made
up.

Source: ibhosts(8), ibswitches(8), ibnodes(8), ibstat(8), ibstatus(8), iblinkinfo(8), sminfo(8) of infiniband-diags and
published outputs; Oracle DBMMN, RDMA network fabric of X2 to X8 (cabling of a single rack).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from exacell.emulator.basics.names import cell_address, node_address

FABRIC = ("ibhosts", "iblinkinfo", "ibnodes", "ibstat", "ibstatus", "ibswitches", "sminfo")
"""Programs that show an InfiniBand fabric; they are in /usr/sbin."""
_FIRST_GUID = 0x0021280001A0A000
_SWITCH_PORTS = 36
_JOINS = 7
"""Cables between two leaf switches, on their last ports."""
_UP = "==( 4X          10.0 Gbps Active/  LinkUp)==>"
_DOWN = "==(                Down/ Polling)==>"
_PORT = """\
Infiniband device 'mlx4_0' port {port} status:
\tdefault gid:\t fe80:0000:0000:0000:{guid}
\tbase lid:\t {lid:#x}
\tsm lid:\t\t 0x1
\tstate:\t\t 4: ACTIVE
\tphys state:\t 5: LinkUp
\trate:\t\t 40 Gb/sec (4X QDR)
\tlink_layer:\t IB
"""
CARD_FIRMWARE = "2.35.5532"
_CARD = """\
CA 'mlx4_0'
\tCA type: MT4099
\tNumber of ports: 2
\tFirmware version: {firmware}
\tHardware version: 1
\tNode GUID: {guid:#018x}
\tSystem image GUID: {image:#018x}
"""
_CARD_PORT = """\
\tPort {port}:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 40
\t\tBase lid: {lid}
\t\tLMC: 0
\t\tSM lid: 1
\t\tCapability mask: 0x02514868
\t\tPort GUID: {guid:#018x}
\t\tLink layer: InfiniBand
"""
_LIST_USAGE = "Usage: {name} [-h] [<topology-file> | -C ca_name -P ca_port -t timeout_ms]"
_USAGE = {
    "ibstatus": "Usage: ibstatus [-h] [devname[:portnum]]...",
    "ibstat": "Usage: ibstat [-l] [-s] [-p] [-h] <ca_name> [portnum]",
    "sminfo": "Usage: sminfo [-h] [sm_lid [modifier]]",
    "iblinkinfo": "Usage: iblinkinfo [--switches-only] [--cas-only] [-l] [-d] [-h]",
}


def has_infiniband(model: str) -> bool:
    """Return whether a rack of this model has InfiniBand: models before X8M have it; later ones have RoCE and no ibhosts."""
    return re.match(r"x[2-8](?!\d|m)", model) is not None


def places(hosts: Mapping[str, bool]) -> list[tuple[str, str, str]]:
    """Return name, kind (C for a cell, S for a database server) and address of each host, cells first.

    Args:
        hosts: by name, whether the host is a cell.
    """
    cells = [name for name, is_cell in hosts.items() if is_cell]
    nodes = [name for name, is_cell in hosts.items() if not is_cell]
    known = [(name, "C", cell_address(number)) for number, name in enumerate(cells, start=1)]
    return known + [(name, "S", node_address(number)) for number, name in enumerate(nodes, start=1)]


def switch_names(hosts: Mapping[str, bool]) -> dict[str, str]:
    """Return the addresses of the rack's two leaf switches by name; both are made up."""
    rack = re.sub(r"(?:cel|db)[0-9]+$", "", next(iter(hosts), ""))
    return {f"{rack}sw-ib{letter}01": f"10.1.0.{20 + number}" for number, letter in enumerate("ab", start=1)}


def card_port(number: int, port: int) -> tuple[int, int]:
    """Return GUID and LID of a port of the n-th host's card; hosts (cells first) and ports are counted from 1."""
    return _FIRST_GUID + 16 * number + port, 2 * number + port


@dataclass(frozen=True, kw_only=True)
class _Node:
    """A card or a switch: its GUID, name, and the LID of each of its ports (a switch has one LID)."""

    guid: int
    name: str
    lids: tuple[int, ...]

    def lid(self, port: int) -> int:
        return self.lids[port - 1] if len(self.lids) > 1 else self.lids[0]

    def port_guid(self, port: int) -> int:
        return self.guid + port if len(self.lids) > 1 else self.guid


class _Fabric:
    """The rack's cards and switches, and the cables between their ports."""

    def __init__(self, hosts: Mapping[str, bool]) -> None:
        self.switches = [
            _Node(
                guid=_FIRST_GUID + 0x10000 * number,
                name=f"SUN DCS 36P QDR {name} {address}",
                lids=(number,),
            )
            for number, (name, address) in enumerate(switch_names(hosts).items(), start=1)
        ]
        self.cards = [
            _Node(
                guid=card_port(number, 0)[0],
                name=f"{name} {kind} {address} HCA-1",
                lids=(card_port(number, 1)[1], card_port(number, 2)[1]),
            )
            for number, (name, kind, address) in enumerate(places(hosts), start=1)
        ]
        self._ends: dict[tuple[str, int], tuple[_Node, int]] = {}
        for side, switch in enumerate(self.switches, start=1):
            for port, card in enumerate(self.cards[: _SWITCH_PORTS - _JOINS], start=1):
                self._join(switch, port, card, side)
        for port in range(_SWITCH_PORTS - _JOINS + 1, _SWITCH_PORTS + 1):
            self._join(self.switches[0], port, self.switches[1], port)

    def _join(self, one: _Node, port: int, other: _Node, far: int) -> None:
        self._ends[one.name, port] = other, far
        self._ends[other.name, far] = one, port

    def links(self, node: _Node) -> Iterator[tuple[int, _Node | None, int]]:
        """Yield each port of a node with the node and port at the other end; None for a port without a cable."""
        for port in range(1, (_SWITCH_PORTS if node in self.switches else len(node.lids)) + 1):
            yield port, *self._ends.get((node.name, port), (None, 0))

    def line(self, node: _Node, port: int, other: _Node | None, far: int, *, whole: bool) -> str:
        """Return the line that shows a port.

        Args:
            whole: begin with the name and show all identifiers, as -l does.
        """
        near = f'0x{node.port_guid(port):016x} "{node.name:>30}" ' if whole else "      "
        if not whole and node in self.cards:
            near += f"0x{node.port_guid(port):016x} "
        near += f"{node.lid(port):>6} {port:>4}[  ] "
        guid = f" 0x{other.port_guid(far):016x}" if other is not None and whole else ""
        if other is None:
            return f'{near}{_DOWN}             [  ] "" ( )'
        return f'{near}{_UP} {guid} {other.lid(far):>6} {far:>4}[  ] "{other.name}" ( )'


def _links(fabric: _Fabric, nodes: Sequence[_Node], kind: str, *, whole: bool) -> list[str]:
    lines: list[str] = []
    for node in nodes:
        if not whole:
            lines.append(f"{kind}: {f'0x{node.guid:016x} ' if kind == 'Switch' else ''}{node.name}:")
        lines += [fabric.line(node, port, other, far, whole=whole) for port, other, far in fabric.links(node)]
    return lines


def _link_script(fabric: _Fabric) -> str:
    """Return the body of iblinkinfo: its options choose one of four prepared texts."""
    body = (
        "line=no only=all down=no\n"
        'for word; do case "$word" in -l|--line) line=yes ;; --switches-only) only=switch ;; --cas-only) only=ca ;;\n'
        "-d|--down) down=yes ;; esac; done\n"
        '[ "${EXACELL_EMU_LOGIN:-root}" = root ] || { echo "iblinkinfo: iberror: failed: can\'t open UMAD port" >&2; exit 1; }\n'
        "show() {\n"
    )
    for kind, word, nodes in (("CA", "ca", fabric.cards), ("Switch", "switch", fabric.switches)):
        for whole in (True, False):
            test = f"[ $only != {'switch' if word == 'ca' else 'ca'} ] && [ $line = {'yes' if whole else 'no'} ]"
            text = "\n".join(_links(fabric, nodes, kind, whole=whole))
            body += f"if {test}; then cat <<'E'\n{text}\nE\nfi\n"
    return body + "}\nif [ $down = yes ]; then show | grep -e Down -e '^Switch:'; else show; fi\n"


def fabric_scripts(hosts: Mapping[str, bool]) -> dict[str, str]:
    """Return the scripts that show the fabric: hosts, switches, both, the state of a host's two ports, all links.

    Args:
        hosts: by name, whether the host is a cell.
    """
    fabric = _Fabric(hosts)
    lines = [f'Ca\t: 0x{card.guid:016x} ports 2 "{card.name}"' for card in fabric.cards]
    switches = [
        f'Switch\t: 0x{switch.guid:016x} ports {_SWITCH_PORTS} "{switch.name}" enhanced port 0 lid {switch.lids[0]} lmc 0'
        for switch in fabric.switches
    ]
    shown = {"ibhosts": lines, "ibswitches": switches, "ibnodes": [*lines, *switches]}
    bodies = {name: "cat <<'E'\n" + "".join(f"{line}\n" for line in text) + "E\n" for name, text in shown.items()}
    bodies["iblinkinfo"] = _link_script(fabric)
    manager = fabric.switches[0]
    bodies["sminfo"] = (
        f"echo 'sminfo: sm lid {manager.lids[0]} sm guid {manager.guid:#x}, activity count 26263191 priority 5 state 3 "
        "SMINFO_MASTER'\n"
    )
    for name, text in (("ibstatus", _status), ("ibstat", _card)):
        cases = "".join(f"{card.name.split()[0]}) cat <<'E'\n{text(card)}E\n;;\n" for card in fabric.cards)
        bodies[name] = f'case "${{EXACELL_EMU_HOST:-{next(iter(hosts), "")}}}" in\n{cases}esac\n'
    return {name: _with_usage(name, body) for name, body in bodies.items()}


def _status(card: _Node) -> str:
    return "".join(_PORT.format(port=n, guid=f"{card.port_guid(n):016x}", lid=card.lid(n)) + "\n" for n in (1, 2))


def _card(card: _Node) -> str:
    ports = "".join(_CARD_PORT.format(port=n, lid=card.lid(n), guid=card.port_guid(n)) for n in (1, 2))
    return _CARD.format(firmware=CARD_FIRMWARE, guid=card.guid, image=card.guid + 3) + ports


def _with_usage(name: str, body: str) -> str:
    usage = _USAGE.get(name, _LIST_USAGE.format(name=name))
    return f'case " $* " in *" -h "*|*" --help "*) echo \'{usage}\' >&2; exit 255 ;; esac\n{body}'
