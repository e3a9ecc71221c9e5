"""The file ``databasemachine.xml`` of an emulated rack: the place of each server, switch and power unit in its cabinet.

The deployment leaves it in ``/opt/oracle.SupportTools/onecommand`` of the database servers, and inventory programs read the
model, the cells and the service processors from it. Names and addresses of hosts are the rack's. The addresses of service
processors, switches and power units are made up, and so are the places in the cabinet: cells from the bottom and the top,
database servers in the middle around the switches.

Source: published layouts of the file (freddenis/oracle-scripts, exa-racklayout.sh; nomakcooper/exa_facts, a rack of
X5-2); Oracle DBMSO, multi-rack and single-rack layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from exacell.emulator.basics.names import node_address
from exacell.emulator.basics.profiles import HardwareModel

FILE = "opt/oracle.SupportTools/onecommand/databasemachine.xml"
_SHELVES = 42
_CELL_SHELVES = (*range(2, 16, 2), *range(29, 43, 2))
_NODE_SHELVES = (*range(16, 20), *range(24, 28))
_SWITCH_SHELVES = (20, 22)
_ADMIN_SHELF = 21
_KINDS = {" High Performance": "HP", " High Capacity": "HC", " Extreme Flash": "EF"}
_MACHINE_TYPE = 487
_TB = 1000**4


def machine_type(model: HardwareModel) -> str:
    """Return the file's name for a rack of a model: ``X8M-2 Elastic Rack HC 14TB``."""
    kind = next((short for long, short in _KINDS.items() if model.make_model.endswith(long)), "HC")
    rack = f"{model.name.removesuffix('ef').upper()}-2 Elastic Rack"
    if not model.hard.disks:
        return f"{rack} EF"
    size = model.hard.physical / _TB
    return f"{rack} {kind} {f'{size:.0f}TB' if size >= 1 else f'{size * 1000:.0f}GB'}"


def database_machine(cells: Mapping[str, str], nodes: Sequence[str], model: HardwareModel) -> str:
    """Return the text of the file.

    Args:
        cells: the addresses of the rack's cells by name.
        nodes: the database nodes.
    """
    racks = max(-(-len(cells) // len(_CELL_SHELVES)), -(-len(nodes) // len(_NODE_SHELVES)))
    kind = "ib" if model.infiniband else "roce"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<ORACLE_CLUSTER>", "<PAGE0>", f"<RACKCOUNT>{racks}</RACKCOUNT>"]
    lines.append("<RACKS>")
    for number in range(1, racks + 1):
        items = list(_items(number, cells, nodes, kind))
        lines += [f'<RACK ID="{number}">', f"<MACHINETYPE>{_MACHINE_TYPE}</MACHINETYPE>"]
        lines += [f"<MACHINETYPES>{escape(machine_type(model))}</MACHINETYPES>", "<RACK_SERIAL>00000000</RACK_SERIAL>"]
        lines += [f"<MACHINEUSIZE>{_SHELVES}</MACHINEUSIZE>", f"<ITEMS>{len(items)}</ITEMS>"]
        for place, item in enumerate(items, start=1):
            fields = (f"<{name}>{escape(value)}</{name}>" for name, value in item.items())
            lines += [f'<ITEM ID="{place}">', *fields, "</ITEM>"]
        lines.append("</RACK>")
    return "\n".join((*lines, "</RACKS>", "</PAGE0>", "</ORACLE_CLUSTER>")) + "\n"


def _items(number: int, cells: Mapping[str, str], nodes: Sequence[str], kind: str) -> Iterator[dict[str, str]]:
    """Yield the items in the n-th cabinet: cells, database servers, switches, power units."""
    first = (number - 1) * len(_CELL_SHELVES)
    for (name, address), shelf in zip(list(cells.items())[first:], _CELL_SHELVES, strict=False):
        yield _server("cellnode", name, address, shelf, height=2)
    first = (number - 1) * len(_NODE_SHELVES)
    for place, (name, shelf) in enumerate(zip(nodes[first:], _NODE_SHELVES, strict=False), start=first + 1):
        yield _server("computenode", name, node_address(place), shelf, height=1)
    rack = next(iter(cells)).partition("cel")[0]
    leaf = "ib" if kind == "ib" else "roce"
    for letter, shelf in zip("ab", _SWITCH_SHELVES, strict=True):
        name = f"{rack}sw-{leaf}{letter}{number:02d}"
        yield _item(kind, name, f"10.1.0.{19 + 2 * number + (letter == 'b')}", shelf, height=1)
    yield _item("cisco", f"{rack}sw-adm{number:02d}", f"10.1.1.{10 + number}", _ADMIN_SHELF, height=1)
    for letter in "ab":
        address = f"10.1.2.{19 + 2 * number + (letter == 'b')}"
        yield _item("pdu", f"{rack}sw-pdu{letter}{number:02d}", address, 0, height=0)


def _item(kind: str, name: str, address: str, shelf: int, *, height: int) -> dict[str, str]:
    return {"TYPE": kind, "ADMINNAME": name, "ADMINIP": address, "ULOCATION": str(shelf), "UHEIGHT": str(height)}


def _server(kind: str, name: str, address: str, shelf: int, *, height: int) -> dict[str, str]:
    ilom = "10.2." + address.split(".", 2)[2]
    return {**_item(kind, name, address, shelf, height=height), "ILOMNAME": f"{name}-ilom", "ILOMIP": ilom}
