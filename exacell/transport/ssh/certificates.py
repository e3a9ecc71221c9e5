"""Read a host certificate and decide whether it confirms a host, by the rules of OpenSSH.

Form: OpenSSH's PROTOCOL.certkeys. Rules: sshkey.c (sshkey_cert_check_authority, sshkey_cert_check_host) and ssh_config(5),
CASignatureAlgorithms, of OpenSSH 9.2.
"""

from __future__ import annotations

import base64
import time

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificate,
    SSHCertificateType,
    load_ssh_public_identity,
)

from exacell.core.values import dataclass
from exacell.transport.ssh.hostkeys import HostKey

_FOREVER = (1 << 64) - 1
_SHA_2 = (b"rsa-sha2-512", b"rsa-sha2-256")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The certificate that a host showed with its key.

    Attributes:
        authority: the key that signed it; None if it can't be read.
        fault: why it confirms no host at all; empty if it may confirm one.
        names: the names that it is for; empty means all hosts. A pattern does not count as a name.
        after, before: the seconds since 1970 between which it is valid.
    """

    authority: HostKey | None
    fault: str = ""
    names: tuple[str, ...] = ()
    after: int = 0
    before: int = _FOREVER

    @classmethod
    def read(cls, blob: bytes) -> Certificate:
        """Return the certificate in ``blob``, its SSH wire form. Never raises."""
        try:
            kind = HostKey.from_blob(blob).key_type.encode("ascii")
            found = load_ssh_public_identity(kind + b" " + base64.b64encode(blob))
        except (ValueError, UnsupportedAlgorithm) as error:
            return cls(authority=None, fault=f"it can't be read ({error})")
        if not isinstance(found, SSHCertificate):
            return cls(authority=None, fault="it is a plain key")
        try:
            signer = found.signature_key()
            text = signer.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
            authority = HostKey.from_blob(base64.b64decode(text.split()[1]))
        except (ValueError, UnsupportedAlgorithm) as error:
            return cls(authority=None, fault=f"the key of its authority can't be read ({error})")
        return cls(
            authority=authority,
            fault=_fault(found, blob, signer.key_size if isinstance(signer, rsa.RSAPublicKey) else 0),
            names=tuple(name.decode("utf-8", "backslashreplace") for name in found.valid_principals),
            after=found.valid_after,
            before=found.valid_before,
        )

    def problem(self, name: str, now: float) -> str:
        """Return why it does not confirm the host ``name`` at ``now`` (seconds since 1970); empty if it does."""
        if self.fault:
            return self.fault
        if now < self.after:
            return f"it is not valid before {_day(self.after)}"
        if now >= self.before:
            return f"it was valid until {_day(self.before)}"
        if self.names and name.lower() not in self.names:
            return f"it is for {', '.join(self.names)}, not for {name}"
        return ""


def _fault(found: SSHCertificate, blob: bytes, rsa_bits: int) -> str:
    """Return the fault of a certificate that makes it invalid for every host; empty without one.

    Args:
        rsa_bits: the size of the authority's key if that is an RSA key, else 0.
    """
    if found.type is not SSHCertificateType.HOST:
        return "it is for users, not for hosts"
    if found.critical_options:
        options = ", ".join(name.decode("utf-8", "backslashreplace") for name in found.critical_options)
        return f"it has options that no host certificate can have ({options})"
    if rsa_bits and not _signed_with_sha_2(blob, (rsa_bits + 7) // 8):
        return "it is signed with SHA-1, which is no longer safe"
    try:
        found.verify_cert_signature()
    except (InvalidSignature, ValueError, UnsupportedAlgorithm):
        return "its signature is wrong"
    return ""


def _signed_with_sha_2(blob: bytes, size: int) -> bool:
    """Return whether the RSA signature of ``size`` bytes at the end of a certificate is one over SHA-2."""
    head = blob[: -size - 4]
    return any(head.endswith(len(name).to_bytes(4, "big") + name) for name in _SHA_2)


def _day(seconds: int) -> str:
    """Return a moment in this machine's time."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (OverflowError, OSError, ValueError):
        return f"second {seconds} since 1970"
