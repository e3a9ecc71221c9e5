"""Read known_hosts, judge each key that a host offers, and write the line that trusts one.

Understands plain, wildcard, negated and hashed names, ``[host]:port``, ``@revoked`` and ``@cert-authority``. A line
that cannot be read stops nothing: it is noted and skipped. Names are looked up as OpenSSH does: ``[host]:port``
first if the port is not 22, then the bare name; for the bare name only a match counts. Sources: sshd(8), SSH_KNOWN_HOSTS FILE
FORMAT; ssh(1), VERIFYING HOST KEYS; OpenSSH sshconnect.c, check_host_key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import struct
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from exacell.core.errors import ConfigError, TransportError, why_unreadable
from exacell.core.values import dataclass
from exacell.transport.ssh.sshconfig import is_literal, matches_list

_REVOKED = "@revoked"
_AUTHORITY = "@cert-authority"
_KRL_MAGIC = b"SSHKRL\n\0"


@dataclass(frozen=True, kw_only=True)
class HostKey:
    """One public key. ``blob`` is its SSH wire form, by which keys are compared."""

    key_type: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """Return ``SHA256:…`` as ssh-keygen -l prints it."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode("ascii").rstrip("=")

    @classmethod
    def from_blob(cls, blob: bytes) -> HostKey:
        """Return the key in ``blob``; its type is the blob's own first string.

        Raises:
            ValueError: ``blob`` is not an SSH public key.
        """
        if len(blob) < 4:
            raise ValueError("too short for a key")
        (length,) = struct.unpack(">I", blob[:4])
        name = blob[4 : 4 + length]
        if not name or len(name) != length or not name.isascii():
            raise ValueError("no key type in it")
        return cls(key_type=name.decode("ascii"), blob=blob)


class Trust(StrEnum):
    """The verdict of known_hosts on an offered key."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    REVOKED = "revoked"
    CA_ONLY = "only a certificate authority confirms it"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement on one offered key.

    Attributes:
        name: the name under which it was looked up first, ``host``, ``[host]:port`` or the HostKeyAlias.
        where: ``file:line`` of the lines that decided; empty when nothing was found.
        others: key types that are known for the host, without the offered one.
        files: the known_hosts files that were read, first the one to which ``trust`` writes.
        certificate: why the certificate that the host showed does not confirm it; empty if it showed none.
    """

    trust: Trust
    name: str
    key: HostKey
    where: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    certificate: str = ""

    def problem(self, target: str, *, scan: str = "") -> str:
        """Return one line with the fingerprint and the way out; empty when the key is known.

        Args:
            target: the user's name for the host, for ``trust <target>``.
            scan: an ssh-keyscan command that fetches the key, empty when there is none.
        """
        offered = f"{self.key.key_type} {self.key.fingerprint}"
        lines = ", ".join(self.where)
        signed = f", and its certificate is not accepted ({self.certificate})" if self.certificate else ""
        if self.trust is Trust.KNOWN:
            return ""
        if self.trust is Trust.REVOKED:
            return f"host key {offered} of {self.name} is revoked by {lines}: refused; give the host a new key"
        if self.trust is Trust.CHANGED:
            return (
                f"host key of {self.name} has CHANGED: it offers {offered}, but {lines} has another one{signed}; refused. If "
                f"the host was re-imaged, remove it with `{self._forget()}`, then `trust {target}`"
            )
        if self.trust is Trust.CA_ONLY:
            why = f"its certificate is not accepted: {self.certificate}" if self.certificate else "it shows none"
            return (
                f"host key {offered} of {self.name} needs a certificate of a certificate authority ({lines}), and {why}; give "
                f"the host a valid one (ssh-keygen -s CA -h, HostCertificate), or accept the key itself with `trust {target}`"
            )
        known = f" (only its {', '.join(self.others)} key is)" if self.others else ""
        by_hand = f", or: {scan} >> {self.files[0]}" if scan and self.files else ""
        return (
            f"host key of {self.name} is unknown{known}{signed}: {offered}; compare it on the host (ssh-keygen -lf "
            f"/etc/ssh/{_host_key_file(self.key.key_type)}), then `trust {target}`{by_hand}"
        )

    def _forget(self) -> str:
        file = self.where[0].rsplit(":", 1)[0] if self.where else "~/.ssh/known_hosts"
        return f"ssh-keygen -R '{self.name}' -f {file}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One usable line of a known_hosts file."""

    marker: str
    patterns: tuple[str, ...]
    key: HostKey
    where: str


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A certificate that came with a host key.

    Attributes:
        authority: the key that signed it; None if it can't be read.
        problem: why it does not confirm the host; empty if it does, provided that its authority is trusted.
    """

    authority: HostKey | None
    problem: str


class KnownHosts:
    """Parsed known_hosts lines, indexed by name. Immutable after construction, so threads share it."""

    def __init__(self, lines: Iterable[Line] = (), *, files: Sequence[str] = (), notes: Sequence[str] = ()) -> None:
        self.files = tuple(files)
        self.notes = tuple(notes)
        """One ``file:line: why`` for each line that could not be read."""
        self._exact: dict[str, list[Line]] = {}
        self._hashed: list[tuple[bytes, bytes, Line]] = []
        self._patterned: list[Line] = []
        self._order: dict[int, int] = {}
        self._lines = tuple(lines)
        for number, line in enumerate(self._lines):
            self._order[id(line)] = number
            self._index(line)

    def _index(self, line: Line) -> None:
        if len(line.patterns) == 1 and line.patterns[0].startswith("|1|"):
            _, _, salt, digest = line.patterns[0].split("|")
            self._hashed.append((base64.b64decode(salt), base64.b64decode(digest), line))
        elif all(is_literal(pattern) for pattern in line.patterns):
            for name in line.patterns:
                self._exact.setdefault(name.lower(), []).append(line)
        else:
            self._patterned.append(line)

    @classmethod
    def parse(cls, text: str, file: str) -> KnownHosts:
        """Return the lines of one file's ``text``; ``file`` is its name for messages. Never raises."""
        lines, notes = _parse(text, file)
        return cls(lines, files=(file,), notes=notes)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> KnownHosts:
        """Return the lines of all files at ``paths``; a missing file counts as empty, an unreadable one is noted."""
        lines: list[Line] = []
        notes: list[str] = []
        for path in paths:
            try:
                text = path.read_text(encoding="utf-8", errors="surrogateescape")
            except FileNotFoundError:
                continue
            except OSError as error:
                notes.append(f"{path}: {error.strerror or error}")
                continue
            more, why = _parse(text, str(path))
            lines += more
            notes += why
        return cls(lines, files=tuple(str(path) for path in paths), notes=notes)

    def lines_for(self, name: str) -> tuple[Line, ...]:
        """Return the lines whose names match ``name``, in file order."""
        wanted = name.lower()
        found = list(self._exact.get(wanted, ()))
        octets = wanted.encode("utf-8", "surrogateescape")
        found += [line for salt, digest, line in self._hashed if hmac.digest(salt, octets, "sha1") == digest]
        found += [line for line in self._patterned if matches_list((p.lower() for p in line.patterns), wanted)]
        return tuple(sorted(found, key=lambda line: self._order[id(line)]))

    def key_types(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the types of the known keys of the first of ``names`` that has any, to ask the host for them."""
        for name in names:
            types = tuple(dict.fromkeys(line.key.key_type for line in self.lines_for(name) if not line.marker))
            if types:
                return types
        return ()

    def has_authority(self, names: Sequence[str]) -> bool:
        """Return whether a certificate authority is named for a host."""
        return any(line.marker == _AUTHORITY for name in names for line in self.lines_for(name))

    @cached_property
    def fingerprints(self) -> frozenset[str]:
        """Return the fingerprints of all keys that the files hold for a name."""
        return frozenset(line.key.fingerprint for line in self._lines if not line.marker)

    def pins(self, names: Sequence[str]) -> tuple[HostKey, ...]:
        """Return the keys of the first of ``names`` that has any; patterns, which match other hosts too, don't count."""
        for name in names:
            lines = [line for line in self.lines_for(name) if not line.marker and line not in self._patterned]
            if lines:
                return tuple(line.key for line in lines)
        return ()

    def judge(self, names: Sequence[str], key: HostKey, shown: Shown | None = None) -> Verdict:
        """Return the verdict on ``key`` for a host.

        Args:
            names: the names to look up, most specific first: ``[host]:port``, then ``host``. In all but the first
                only revocation, an equal key and an authority count.
            shown: the certificate that came with the key; None if none came. A certificate that is not accepted has no effect.
        """
        found = [self.lines_for(name) for name in names]
        every = [line for lines in found for line in lines]

        authorities = [line for line in every if line.marker == _AUTHORITY]
        signer = shown.authority if shown is not None else None
        signing = [line for line in authorities if line.key == signer]
        why = ""

        def verdict(trust: Trust, lines: Iterable[Line] = (), others: Iterable[str] = ()) -> Verdict:
            where = tuple(line.where for line in lines)
            return Verdict(
                trust=trust,
                name=names[0],
                key=key,
                where=where,
                others=tuple(others),
                files=self.files,
                certificate=why,
            )

        revoked = [line for line in every if line.marker == _REVOKED and line.key in (key, signer)]
        if revoked:
            return verdict(Trust.REVOKED, revoked)
        if shown is not None:
            why = (
                shown.problem if signing or signer is None else f"{signer.fingerprint}, which signed it, is not trusted"
            )
            if signing and not why:
                return verdict(Trust.KNOWN, signing)
        equal = [line for line in every if not line.marker and line.key.blob == key.blob]
        if equal:
            return verdict(Trust.KNOWN, equal)
        pinned = [line for line in found[0] if not line.marker]
        differing = [line for line in pinned if line.key.key_type == key.key_type]
        if differing:
            return verdict(Trust.CHANGED, differing)
        if pinned:
            return verdict(Trust.UNKNOWN, pinned, dict.fromkeys(line.key.key_type for line in pinned))
        return verdict(Trust.CA_ONLY, authorities) if authorities else verdict(Trust.UNKNOWN)


class KnownHostsCache:
    """Returns parsed files, and reads them again only when one has changed on disk. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[tuple[Path, ...], tuple[tuple[object, ...], KnownHosts]] = {}

    @property
    def places(self) -> frozenset[Path]:
        """Return the files that were asked for, even if they don't exist."""
        with self._lock:
            return frozenset(path for paths in self._read for path in paths)

    def get(self, paths: Sequence[Path]) -> KnownHosts:
        """Return the present content of the files."""
        key = tuple(paths)
        stamp = tuple(_stamp(path) for path in key)
        with self._lock:
            cached = self._read.get(key)
            if cached is None or cached[0] != stamp:
                cached = (stamp, KnownHosts.read(key))
                self._read[key] = cached
            return cached[1]


def is_revoked_by(path: Path, key: HostKey) -> bool:
    """Return whether the RevokedHostKeys file ``path`` lists ``key``.

    Raises:
        ConfigError: the file cannot be read or is a binary revocation list, so no key can be trusted.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"RevokedHostKeys {path} can't be read, so no host key is trusted: {why_unreadable(error)}"
        ) from error
    if content.startswith(_KRL_MAGIC):
        raise ConfigError(f"RevokedHostKeys {path} is a binary KRL, which is not supported: list public keys as text")
    return base64.b64encode(key.blob) in content.split()


def lookup_names(host: str, port: int, *, alias: str = "") -> tuple[str, ...]:
    """Return the names under which a host's key is looked up, most specific first."""
    if alias:
        return (alias,)
    return (host,) if port == 22 else (f"[{host}]:{port}", host)


def append_key(path: Path, name: str, key: HostKey, *, hashed: bool = False) -> str:
    """Append a line that trusts ``key`` for ``name`` and return it; creates file (0600) and directory (0700).

    Args:
        hashed: whether to write the name as HashKnownHosts does.

    Raises:
        TransportError: the file can't be written.
    """
    shown = _hash_name(name) if hashed else name
    line = f"{shown} {key.key_type} {base64.b64encode(key.blob).decode('ascii')}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            unfinished = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
            file.write(f"{chr(10) if unfinished else ''}{line}\n".encode("ascii", "surrogateescape"))
    except OSError as error:
        raise TransportError(
            f"{path} cannot be written, so the key of {name} is not trusted: {why_unreadable(error)}"
        ) from error
    return line


def _hash_name(name: str) -> str:
    salt = os.urandom(20)
    digest = hmac.digest(salt, name.lower().encode("utf-8", "surrogateescape"), "sha1")
    return f"|1|{base64.b64encode(salt).decode('ascii')}|{base64.b64encode(digest).decode('ascii')}"


def _host_key_file(key_type: str) -> str:
    kind = {"ssh-rsa": "rsa", "ssh-ed25519": "ed25519"}.get(key_type, "ecdsa" if key_type.startswith("ecdsa") else "*")
    return f"ssh_host_{kind}_key.pub"


def own_host_keys(folder: Path = Path("/etc/ssh")) -> frozenset[str]:
    """Return the fingerprints of this machine's own host keys, from the public files that can be read."""
    found = set()
    for path in folder.glob("ssh_host_*_key.pub"):
        with suppress(OSError, ValueError, IndexError):
            found.add(HostKey.from_blob(base64.b64decode(path.read_text("ascii").split()[1])).fingerprint)
    return frozenset(found)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError as error:
        return error.errno
    return status.st_mtime_ns, status.st_size, status.st_ino


def _parse(text: str, file: str) -> tuple[list[Line], list[str]]:
    lines: list[Line] = []
    notes: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        fields = raw.split()
        if not fields or fields[0].startswith("#"):
            continue
        try:
            lines.append(_parse_line(fields, f"{file}:{number}"))
        except ValueError as error:
            notes.append(f"{file}:{number}: {error}")
    return lines, notes


def _parse_line(fields: list[str], where: str) -> Line:
    marker = ""
    if fields[0].startswith("@"):
        marker, fields = fields[0], fields[1:]
        if marker not in (_REVOKED, _AUTHORITY):
            raise ValueError(f"marker {marker} is unknown")
    if len(fields) < 3:
        raise ValueError("a line has names, key type and key")
    try:
        key = HostKey.from_blob(base64.b64decode(fields[2], validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"the key cannot be read ({error})") from error
    if key.key_type != fields[1]:
        raise ValueError(f"it gives {fields[1]}, but its key is {key.key_type}")
    patterns = tuple(pattern for pattern in fields[0].split(",") if pattern)
    if not patterns:
        raise ValueError("it names no host")
    if patterns[0].startswith("|"):
        _check_hash(fields[0])
        patterns = (fields[0],)
    return Line(marker=marker, patterns=patterns, key=key, where=where)


def _check_hash(text: str) -> None:
    parts = text.split("|")
    if len(parts) != 4 or parts[1] != "1":
        raise ValueError("a hashed name has the form |1|salt|hash")
    try:
        base64.b64decode(parts[2], validate=True), base64.b64decode(parts[3], validate=True)
    except binascii.Error as error:
        raise ValueError("the hashed name is not base64") from error
