"""Ed25519 by the cryptography library is what PyNaCl's is to paramiko, and stays strict."""

from __future__ import annotations

import os
import subprocess
import sys

import nacl.signing
import pytest

from exacell.transport import ed25519

SEED = bytes(range(32))
MESSAGE = b"session"
SIGNED = nacl.signing.SigningKey(SEED).sign(MESSAGE).signature
ORDER = 2**252 + 27742317777372353535851937790883648493
"""Of the group; a signature's second half is below it. Source: RFC 8032, 5.1."""
UNREDUCED = SIGNED[:32] + (int.from_bytes(SIGNED[32:], "little") + ORDER).to_bytes(32, "little")


def test_signatures_are_the_same() -> None:
    """The same seed gives the same public key and the same signature as PyNaCl's."""
    ours, theirs = ed25519.SigningKey(SEED), nacl.signing.SigningKey(SEED)
    assert ours.verify_key.encode() == bytes(ours.verify_key) == theirs.verify_key.encode()
    assert ours.sign(MESSAGE).signature == SIGNED


def test_a_right_signature_is_accepted() -> None:
    """What PyNaCl has signed is verified."""
    assert ed25519.SigningKey(SEED).verify_key.verify(MESSAGE, SIGNED) == MESSAGE


@pytest.mark.parametrize(
    ("message", "signature"),
    [
        (b"session!", SIGNED),
        (MESSAGE, SIGNED[:-1]),
        (MESSAGE, SIGNED + b"\0"),
        (MESSAGE, b""),
        (MESSAGE, b"\0" * 64),
        (MESSAGE, bytes((SIGNED[0] ^ 1,)) + SIGNED[1:]),
        (MESSAGE, UNREDUCED),
    ],
    ids=["other message", "short", "long", "empty", "zeros", "a bit", "the same number, not reduced"],
)
def test_a_wrong_signature_is_refused(message: bytes, signature: bytes) -> None:
    """Any other message or signature raises, a second form of the right one too."""
    with pytest.raises(ed25519.BadSignatureError):
        ed25519.SigningKey(SEED).verify_key.verify(message, signature)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_keys_have_32_bytes(size: int) -> None:
    """A key or a seed of another size is no key."""
    for make in (ed25519.VerifyKey, ed25519.SigningKey):
        with pytest.raises(ValueError):
            make(os.urandom(size))


def test_keys_are_compared_by_value() -> None:
    """Two keys of the same bytes are equal and have one hash; others are not equal."""
    one, same, other = (ed25519.SigningKey(bytes((n,)) * 32).verify_key for n in (1, 1, 2))
    assert one == same and hash(one) == hash(same) and one != other and one != bytes(one)


CODE = """
import io, sys
from exacell.transport.lean import import_fabric
import_fabric()
import paramiko, paramiko.ed25519key
from paramiko.message import Message
text = sys.stdin.read()
key = paramiko.Ed25519Key.from_private_key(io.StringIO(text))
signed = key.sign_ssh_data(b"data").asbytes()
public = paramiko.Ed25519Key(data=key.asbytes())
print(key.fingerprint, public == key, hash(public) == hash(key), public.can_sign())
print(public.verify_ssh_sig(b"data", Message(signed)), public.verify_ssh_sig(b"dat", Message(signed)))
print(public.verify_ssh_sig(b"data", Message(signed[:-1] + bytes([signed[-1] ^ 1]))), "nacl" in sys.modules)
import nacl.signing
print(nacl.signing.VerifyKey(public.asbytes()[-32:]).verify(b"data", signed[-64:]))
"""


def test_paramiko_works_with_it(tmp_path: object) -> None:
    """paramiko reads, signs, verifies and compares Ed25519 keys by it, and PyNaCl itself is there afterwards."""
    name = f"{tmp_path}/id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name], check=True)
    shown = subprocess.run(["ssh-keygen", "-lf", name], capture_output=True, text=True, check=True).stdout.split()[1]
    with open(name, encoding="ascii") as text:
        done = subprocess.run([sys.executable, "-c", CODE], stdin=text, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        f"{shown} True True False",
        "True False",
        "False False",
        "b'data'",
    ], done.stderr
