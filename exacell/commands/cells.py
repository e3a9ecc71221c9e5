"""Trusting a cell's host key. CellCLI's own statements are in exacell.passthrough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.errors import RefusedError, StatementError
from exacell.language.registry import Call
from exacell.output.result import Result
from exacell.transport.capabilities import capabilities_of
from exacell.transport.hostkeys import Trust
from exacell.transport.ssh import SshTransport

if TYPE_CHECKING:
    from exacell.context import Context


def trust(ctx: Context, call: Call) -> Result:
    """Return one record with the fingerprint that is trusted now.

    Raises:
        RefusedError: the key has changed or was revoked, or nobody agreed.
    """
    rack = ctx.need_rack()
    name = call.text_arg("cell")
    if name not in (*rack.cells, *rack.dbnodes):
        raise StatementError(f"{name} is neither a cell nor a database node of rack {rack.name}")
    transport = ctx.transport
    if not isinstance(transport, SshTransport):
        if capabilities_of(transport).name not in ("openssh", "clush", "dcli"):
            raise RefusedError(f"{name}: host keys belong to transports over SSH; this one is no such")
        # The others' programs read the same known_hosts as ours.
        transport = SshTransport(rack, ctx.settings)
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
