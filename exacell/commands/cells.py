"""Trust a cell's host key. CellCLI's own statements are in exacell.change.passthrough."""

from __future__ import annotations

from exacell.core.cellset import known_as
from exacell.core.errors import RefusedError, StatementError
from exacell.core.meant import ask_for
from exacell.language.registry import Call
from exacell.output.result import Result
from exacell.session.given import Services, Session
from exacell.transport.factory import over_ssh
from exacell.transport.ssh.hostkeys import Trust


def trust(session: Session, services: Services, call: Call) -> Result:
    """Return one record with the fingerprint that is now trusted.

    Raises:
        RefusedError: the key has changed or was revoked, or the user did not agree.
    """
    rack = session.need_rack()
    known = (*rack.cells, *rack.host_names)
    name = known_as(call.text_arg("cell"), known)
    if name not in known:
        raise StatementError(
            f"{name} is neither a cell nor a host of rack {rack.name}",
            hint=ask_for(name, known) or "`cells` lists them",
        )
    if not services.transport.capabilities.known_hosts:
        raise RefusedError(f"{name}: host keys need SSH, and this transport does not use it")
    transport = over_ssh(services.transport, rack, session.settings)
    offer = transport.host_key(name)
    key = offer.verdict.key
    if offer.verdict.trust in (Trust.CHANGED, Trust.REVOKED):
        raise RefusedError(
            f"{name}: {offer.problem}",
            hint="ask the host's administrator; if the new key is right, `ssh-keygen -R` removes the old key "
            "from known_hosts",
        )
    if offer.verdict.trust is not Trust.KNOWN:
        services.console.say(f"{name} offers {key.key_type} key {key.fingerprint}")
        if not (call.flag("yes") or session.options.yes) and not services.console.confirm("trust it?"):
            raise RefusedError(
                f"{name}: the key was not accepted; known_hosts is unchanged",
                hint="compare it with ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub on the host's console",
            )
        transport.trust(offer)
    row = {"cell": name, "keyType": key.key_type, "fingerprint": key.fingerprint, "knownHosts": str(offer.trust_file)}
    return Result(records=[row])
