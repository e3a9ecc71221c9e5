"""Trusting a cell's host key. CellCLI's own statements are in exacell.change.passthrough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.core.errors import RefusedError, StatementError
from exacell.language.registry import Call
from exacell.output.result import Result
from exacell.transport.factory import over_ssh
from exacell.transport.ssh.hostkeys import Trust

if TYPE_CHECKING:
    from exacell.session.context import Context


def trust(ctx: Context, call: Call) -> Result:
    """Return one record with the fingerprint that is trusted now.

    Raises:
        RefusedError: the key has changed or was revoked, or nobody agreed.
    """
    rack = ctx.need_rack()
    name = call.text_arg("cell")
    if name not in (*rack.cells, *rack.dbnodes):
        raise StatementError(f"{name} is neither a cell nor a database node of rack {rack.name}")
    if not ctx.transport.capabilities.known_hosts:
        raise RefusedError(f"{name}: host keys belong to transports over SSH; this one is no such")
    transport = over_ssh(ctx.transport, rack, ctx.settings)
    offer = transport.host_key(name)
    key = offer.verdict.key
    if offer.verdict.trust in (Trust.CHANGED, Trust.REVOKED):
        raise RefusedError(f"{name}: {offer.problem}")
    if offer.verdict.trust is not Trust.KNOWN:
        ctx.console.say(f"{name} offers {key.key_type} key {key.fingerprint}")
        if not (call.flag("yes") or ctx.options.yes) and not ctx.console.confirm("trust it?"):
            raise RefusedError(f"{name}: the key was not accepted; known_hosts is unchanged")
        transport.trust(offer)
    row = {"cell": name, "keyType": key.key_type, "fingerprint": key.fingerprint, "knownHosts": str(offer.trust_file)}
    return Result(records=[row])
