"""What DBMCLI changes on an emulated database node: attributes of DBSERVER, its services MS and RS, its light, its alerts.

Values are kept and shown and have no other effect: nothing restarts a node, so pendingCoreCount stays pending.
Source: Oracle DBMMN, alter-dbserver, drop-alerthistory; the line of a changed pendingCoreCount is a published one, the others
follow it and CellCLI's.
"""

from __future__ import annotations

from collections.abc import Iterator

from exacell.emulator.grammar_changes import values_at
from exacell.emulator.messages import CellError, Code
from exacell.emulator.models import RUNNING, STOPPED
from exacell.emulator.rack import Rack
from exacell.emulator.schema import ObjectType
from exacell.emulator.tokens import TokenStream

_SERVICES = ("RS", "MS")
_DONE = "DBServer {node} successfully altered"
_REBOOT = f"{_DONE}. Please reboot the system to make the new pendingCoreCount effective."
_NEEDED = {"MAIL": "smtpToAddr", "SNMP": "snmpSubscriber"}
"""What must be set before notifications can be tried."""


def change(rack: Rack, node: str, owner: ObjectType, verb: str, stream: TokenStream, cores: int) -> Iterator[str]:
    """Carry out the statement whose verb and object ``stream`` is behind, and yield the lines that it prints.

    Args:
        owner: DBSERVER for ALTER, ALERTHISTORY for DROP.
        cores: of the server.

    Raises:
        CellError: DBMCLI does not know the statement, or it can't be done.
    """
    if verb == "DROP":  # ALERTHISTORY, of which there is none
        stream.expect_word("ALL")
        stream.expect_end()
        return
    action = stream.accept_word("VALIDATE", "SHUTDOWN", "STARTUP", "RESTART", "LED")
    settings = rack.server_settings.setdefault(node, {})
    if action == "VALIDATE":
        _validate(node, settings, stream)
        yield _DONE.format(node=node)
    elif action == "LED":
        state = stream.expect_word("ON", "OFF")
        stream.expect_end()
        settings["locatorLEDStatus"] = state.lower()
        yield _DONE.format(node=node)
    elif action is not None:
        yield from _serve(settings, action, stream)
    else:
        yield _set(rack, node, owner, stream, cores)


def _validate(node: str, settings: dict[str, str], stream: TokenStream) -> None:
    what = stream.expect_word("MAIL", "SNMP", "CONFIGURATION")
    if what == "SNMP" and stream.accept_word("TYPE"):
        stream.expect_symbol("=")
        stream.expect_value()
    stream.expect_end()
    needed = _NEEDED.get(what)
    if needed is not None and not settings.get(needed):
        raise CellError(Code.VALIDATION, what=what, cell=node, reason=f"{needed} is not set")


def _serve(settings: dict[str, str], action: str, stream: TokenStream) -> Iterator[str]:
    """Stop and start services; DBMCLI itself goes on, because it is MS that answers it only on real servers."""
    stream.expect_word("SERVICES")
    service = stream.expect_word(*_SERVICES, "ALL")
    stream.expect_end()
    chosen = _SERVICES if service == "ALL" else (service,)
    named = "the RS and MS services..." if service == "ALL" else f"{service} services..."
    if action in ("SHUTDOWN", "RESTART"):
        yield f"Stopping {named}"
        settings |= {f"{name.lower()}Status": STOPPED for name in chosen}
        yield f"The SHUTDOWN of {'' if service == 'ALL' else service + ' '}services was successful."
    if action in ("STARTUP", "RESTART"):
        yield f"Starting {named}"
        settings |= {f"{name.lower()}Status": RUNNING for name in chosen}
        if service == "ALL":
            yield from (f"Getting the state of {name} services...  {RUNNING}" for name in chosen)
        else:
            yield f"The STARTUP of {service} services was successful."


def _set(rack: Rack, node: str, owner: ObjectType, stream: TokenStream, cores: int) -> str:
    values = values_at(stream, stop=("FORCE",))
    forced = stream.accept_word("FORCE") is not None
    stream.expect_end()
    if not values or (forced and "pendingcorecount" not in values):
        raise stream.error()
    settings: dict[str, str] = {}
    for name, text in values.items():
        attribute = owner.attribute(name, rack.release.number)
        if attribute is None:
            raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=name, object=owner.name)
        if not attribute.modifiable:
            raise CellError(Code.READ_ONLY, attribute=attribute.name, object=owner.name)
        if attribute.name == "pendingCoreCount" and not (text.isdecimal() and 1 <= int(text) <= cores):
            rule = f"a whole number from 1 to {cores}, the cores of this server"
            raise CellError(Code.BAD_VALUE, value=text, attribute=attribute.name, rule=rule)
        settings[attribute.name] = text
    rack.server_settings[node] |= settings
    return (_REBOOT if "pendingCoreCount" in settings else _DONE).format(node=node)
