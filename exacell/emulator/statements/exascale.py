"""The Exascale cluster and its nodes: the attributes that CellCLI shows and changes.

CREATE ESCLUSTER sets up the ExaROOT service on the cell; REGISTER ESNODE adds nodes to the cluster there. ALTER ESCLUSTER and
ALTER ESNODE set their attributes; there is no DROP. Public pages show only names of attributes and forms of statements: the
values and all output lines here are the emulator's own. Storage pools, vaults and volumes are not emulated.

Source: on-line HELP and DESCRIBE of a 24.x cell (reference cellcli.md 2 and 2.3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Pause
from exacell.emulator.cell.models import RUNNING, Cell, Record
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.settable import attribute_of, checked_values
from exacell.emulator.grammar.values import Row
from exacell.emulator.state.build import guid
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line

SERVICES = ("cell", "egs", "ers", "syseds", "usreds", "bsm", "bsw")
"""Services that a node may run. Source: on-line HELP of REGISTER ESNODE."""

_KEYS = ("adminpubkey1", "adminpubkey2", "adminpubkey3")
_REGISTERED = ("id", "name", "cellSecurityPubKey", "services")
_START_S = 5.0
_HIDDEN = "********"


def _kept(cell: Cell, kind: str) -> dict[str, Record]:
    return cell.records.setdefault(kind, {})


def _cluster(cell: Cell) -> Record:
    found = cell.records.get("ESCLUSTER", {})
    if not found:
        raise CellError(Code.OBJECT_MISSING, kind="Exascale cluster", name=f"(none on cell {cell.name})")
    return next(iter(found.values()))


def create(place: Place, statement: AdminStatement) -> Effects:
    """Create the cluster: this cell leads it, and starts ExaROOT."""
    cell, name = place.cell, (statement.names or ("",))[0]
    known = next(iter(cell.records.get("ESCLUSTER", {})), None)
    if known is not None:
        raise CellError(Code.OBJECT_EXISTS, kind="Exascale cluster", name=known)
    _kept(cell, "ESCLUSTER")[name] = {"name": name, "leaderHostName": cell.host, "leaderUrl": f"https://{cell.host}"}
    seed = f"{place.rack.spec.seed}|{cell.host}|esnode"
    own = {
        "id": guid(seed),
        "name": f"{cell.host}_esnode",
        "cellSecurityPubKey": hashlib.sha256(seed.encode()).hexdigest(),
        "services": "cell|egs",
    }
    _kept(cell, "ESNODE")[own["id"]] = own
    yield Pause(_START_S)
    cell.services["EGS"] = RUNNING
    yield line(f"Exascale cluster {name} successfully created")


def alter_cluster(place: Place, statement: AdminStatement) -> Effects:
    """Set the administrator's password or public keys; START boots the cluster in any case."""
    cell, found = place.cell, _cluster(place.cell)
    values: Record = {}
    for name, text in statement.values.items():
        if name in _KEYS:
            digest = hashlib.sha256(text.encode()).hexdigest()
            values[f"adminPubKeyFingerprint{name[-1]}"] = ":".join(digest[i : i + 2] for i in range(0, 32, 2))
            continue
        values[attribute_of("ESCLUSTER", name, place.rack.release.number).name] = _HIDDEN
    if statement.words:
        yield Pause(_START_S)
        cell.services["EGS"] = RUNNING
    found |= values
    yield line(f"Exascale cluster {found['name']} successfully altered")


def _own_node(place: Place) -> Record | None:
    """Return the node of this cell: the leader's own node, or the one that a leader has registered under this cell's name."""
    for leader in place.rack.cells.values():
        if leader.records.get("ESCLUSTER"):
            names = (place.cell.host.lower(), f"{place.cell.host}_esnode".lower())
            found = (node for node in leader.records.get("ESNODE", {}).values() if node["name"].lower() in names)
            node = next(found, None)
            if node is not None:
                return {**node, "rootUrl": f"https://{leader.host}", "cellHostNameList": leader.host}
    return None


def alter_node(place: Place, statement: AdminStatement) -> Effects:
    """Set attributes of this cell's node."""
    own = _own_node(place)
    if own is None:
        raise CellError(Code.OBJECT_MISSING, kind="Exascale node", name=f"(none on cell {place.cell.name})")
    values = checked_values("ESNODE", statement.values, place.rack.release.number)
    local = _kept(place.cell, "ESNODELOCAL").setdefault("local", {})
    local |= values
    yield line(f"Exascale node {own['name']} successfully altered")


def register(place: Place, statement: AdminStatement) -> Effects:
    """Add a node to the cluster that this cell leads: id, name, key and services must be given."""
    cell = place.cell
    _cluster(cell)
    node = _given(statement.values, _REGISTERED)
    unknown = next((part for part in node["services"].split("|") if part.strip().lower() not in SERVICES), None)
    if unknown is not None:
        rule = f"one or more of {', '.join(SERVICES)}, separated by |"
        raise CellError(Code.BAD_VALUE, value=unknown, attribute="services", rule=rule)
    nodes = _kept(cell, "ESNODE")
    for known in nodes.values():
        if node["id"] == known["id"] or node["name"].lower() == known["name"].lower():
            raise CellError(Code.OBJECT_EXISTS, kind="Exascale node", name=known["name"])
    nodes[node["id"]] = node
    yield line(f"Exascale node {node['name']} successfully registered")


def deregister(place: Place, statement: AdminStatement) -> Effects:
    """Remove a node from the cluster that this cell leads."""
    cell = place.cell
    _cluster(cell)
    wanted, nodes = _given(statement.values, ("id",))["id"], _kept(cell, "ESNODE")
    if wanted not in nodes:
        raise CellError(Code.OBJECT_MISSING, kind="Exascale node", name=wanted)
    name = nodes.pop(wanted)["name"]
    yield line(f"Exascale node {name} successfully deregistered")


def _given(values: Mapping[str, str], names: tuple[str, ...]) -> Record:
    by_lower = {name.lower(): name for name in names}
    unknown = next((name for name in values if name not in by_lower), None)
    if unknown is not None:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=unknown, object="ESNODE")
    missing = next((name for lower, name in by_lower.items() if not values.get(lower)), None)
    if missing is not None:
        raise CellError(Code.BAD_VALUE, value="''", attribute=missing, rule=f"{', '.join(names)} must be given")
    return {name: values[lower] for lower, name in by_lower.items()}


def cluster_rows(place: Place) -> list[Row]:
    """Return the row of LIST ESCLUSTER; only the leading cell and the cluster's nodes have one."""
    if place.cell.records.get("ESCLUSTER"):
        return [dict(_cluster(place.cell))]
    own = _own_node(place)
    leaders = (c for c in place.rack.cells.values() if own is not None and own["id"] in c.records.get("ESNODE", {}))
    return [dict(_cluster(leader)) for leader in leaders]


def node_rows(place: Place) -> list[Row]:
    """Return the row of LIST ESNODE, the node of this cell; empty if the cell belongs to no cluster."""
    own = _own_node(place)
    local = place.cell.records.get("ESNODELOCAL", {}).get("local", {})
    return [] if own is None else [{**own, **local}]
