"""Ed25519 keys in PyNaCl's form, as paramiko asks for them, by the library that it has loaded for everything else.

PyNaCl and its bindings are 23 modules, 6 ms, to sign and verify what cryptography signs and verifies too. Imports
cryptography: import this module only where paramiko is about to be imported.
Source: PyNaCl 1.5, nacl.signing; RFC 8032.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.backends.openssl.backend import backend
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


class BadSignatureError(Exception):
    """A signature was forged or damaged."""


class VerifyKey:
    """A public key.

    Args:
        key: its 32 bytes.

    Raises:
        ValueError: they are not 32.
    """

    def __init__(self, key: bytes) -> None:
        self._bytes = bytes(key)
        self._key = Ed25519PublicKey.from_public_bytes(self._bytes)

    def __bytes__(self) -> bytes:
        return self._bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerifyKey) and other._bytes == self._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def encode(self) -> bytes:
        """Return the 32 bytes."""
        return self._bytes

    def verify(self, message: bytes, signature: bytes) -> bytes:
        """Return ``message`` when the signature is right.

        Raises:
            BadSignatureError: it is not.
        """
        try:
            self._key.verify(signature, message)
        except InvalidSignature as error:
            raise BadSignatureError("Signature was forged or corrupt") from error
        return message


class SigningKey:
    """A private key.

    Args:
        seed: its 32 bytes.

    Raises:
        ValueError: they are not 32.
    """

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(bytes(seed))
        self.verify_key = VerifyKey(self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> SimpleNamespace:
        """Return an object whose ``signature`` is that of ``message``, 64 bytes."""
        return SimpleNamespace(signature=self._key.sign(message), message=message)


def supported() -> bool:
    """Return whether cryptography knows such keys here: before 40.0, or where only certified algorithms are, it may not."""
    return hasattr(Ed25519PublicKey, "public_bytes_raw") and bool(backend.ed25519_supported())


def modules() -> dict[str, ModuleType]:
    """Return ``nacl`` and what paramiko uses of it, by name, as modules made of this one."""
    package, signing, exceptions = (ModuleType(name) for name in ("nacl", "nacl.signing", "nacl.exceptions"))
    signing.__dict__.update(SigningKey=SigningKey, VerifyKey=VerifyKey)
    exceptions.__dict__["BadSignatureError"] = BadSignatureError
    package.__dict__.update(signing=signing, exceptions=exceptions)
    return {module.__name__: module for module in (package, signing, exceptions)}
