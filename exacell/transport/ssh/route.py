"""Hold the way to one target by ssh_config, as typed values: address, names of its host key, hops, timeouts;
and find the keys that log in there."""

from __future__ import annotations

import base64
import binascii
import copy
import os
import re
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from paramiko.auth_strategy import AuthFailure, AuthSource, AuthStrategy, InMemoryPrivateKey

from exacell.core.errors import ConfigError
from exacell.core.values import dataclass
from exacell.transport.local_process import is_locale
from exacell.transport.ssh.hostkeys import lookup_names
from exacell.transport.ssh.programs import Program
from exacell.transport.ssh.sshconfig import matches
from exacell.transport.ssh.wire import CERTIFICATE

if TYPE_CHECKING:
    from exacell.care.examination import KeyFile

_HOP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@/]+)@)?(?P<host>\[[^\]]+\]|[^:/]+)(?::(?P<port>[0-9]+))?/?")


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One gateway of a ProxyJump list; None for values that ssh_config decides."""

    host: str
    user: str | None
    port: int | None

    @classmethod
    def parse(cls, text: str) -> Hop:
        """Return the hop in ``[user@]host[:port]`` or the same as an ssh:// URI.

        Raises:
            ConfigError: it has another form.
        """
        match = _HOP.fullmatch(text)
        if match is None:
            raise ConfigError(f"ProxyJump '{text}' is not of the form [user@]host[:port]")
        port = int(match["port"]) if match["port"] else None
        return cls(host=match["host"].strip("[]"), user=match["user"], port=port)


@dataclass(frozen=True, kw_only=True)
class Route:
    """The way to ``target``.

    Attributes:
        options, lists: ssh_config's settings for the target, see :class:`exacell.transport.ssh.resolving.Answer`.
        hops: gateways to pass, first to last.
        connect_timeout: seconds for a TCP connection.
        proxy: the ProxyCommand, if any.
    """

    target: str
    host: str
    port: int
    user: str
    options: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]]
    hops: tuple[str, ...]
    connect_timeout: float
    proxy: Program | None = None

    @property
    def login_timeout(self) -> float:
        """Return the seconds for key exchange and authentication."""
        return 2 * self.connect_timeout

    @property
    def place(self) -> str:
        """Return the address, for messages."""
        return f"{self.host} port {self.port}"

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """Return the names under which to look up the host key, most specific first."""
        return lookup_names(self.host, self.port, alias=self.option("hostkeyalias"))

    @cached_property
    def user_known_hosts(self) -> tuple[Path, ...]:
        """Return the user's known_hosts files; ``trust`` writes to the first."""
        return tuple(map(Path, self.lists.get("userknownhostsfile", ())))

    @cached_property
    def known_hosts(self) -> tuple[Path, ...]:
        """Return all known_hosts files, the user's first."""
        return self.user_known_hosts + tuple(map(Path, self.lists.get("globalknownhostsfile", ())))

    @cached_property
    def revoked_file(self) -> Path | None:
        """Return the RevokedHostKeys file; None if there is none."""
        name = self.option("revokedhostkeys", "none")
        return None if name.lower() == "none" else Path(name)

    @cached_property
    def locale(self) -> tuple[tuple[str, str], ...]:
        """Return the operator's LANG and LC_* that SendEnv names.

        Source: ssh_config(5), SendEnv, also for patterns after ``-``.
        """
        found: dict[str, str] = {}
        for pattern in self.lists.get("sendenv", ()):
            if pattern.startswith("-"):
                found = {name: value for name, value in found.items() if not matches(pattern[1:], name)}
            else:
                named = (name for name in os.environ if is_locale(name) and matches(pattern, name))
                found.update((name, os.environ[name]) for name in sorted(named))
        return tuple(found.items())

    def option(self, name: str, default: str = "") -> str:
        """Return an option as text; ``default`` if it is not set."""
        return self.options.get(name, default)


def jump_hops(text: str, *, host: str, target: str) -> tuple[str, ...]:
    """Return the hops of a ProxyJump value; empty for ``none``, and if the last hop is the host itself.

    That happens under ``Host *``, where the setting applies to the gateway too.
    """
    hops = tuple(hop.strip() for hop in text.split(",") if hop.strip())
    if not hops or (len(hops) == 1 and hops[0].lower() == "none"):
        return ()
    return () if Hop.parse(hops[-1]).host in (host, target) else hops


DEFAULT_FILES = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")


def certificates(files: Sequence[Path], named: Sequence[str]) -> Iterator[tuple[Path, bytes]]:
    """Yield the users' certificates that can be read, each with the key that it is for, in SSH wire form.

    Args:
        files: the private keys; each may have a certificate beside it.
        named: the files of CertificateFile, which come first.
    """
    beside = [file.with_name(f"{file.name}{end}") for file in files for end in ("-cert.pub", "-cert")]
    for path in dict.fromkeys((*map(Path, named), *beside)):
        try:
            kind, blob = path.read_text("ascii").split()[:2]
            if not kind.endswith(CERTIFICATE):
                continue
            key = paramiko.PKey.from_type_string(kind.removesuffix(CERTIFICATE), base64.b64decode(blob, validate=True))
        except (OSError, ValueError, binascii.Error, paramiko.SSHException, paramiko.pkey.UnknownKeyType):
            continue  # As ssh does: the key itself may log in without it.
        yield path, key.asbytes()


class KeyRing:
    """Private keys by file, each loaded once while it does not change. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: dict[Path, tuple[int, paramiko.PKey | str]] = {}

    def load(self, path: Path) -> paramiko.PKey | str | None:
        """Return the key in ``path``, one line about why it cannot be used, or None if there is no such file."""
        try:
            stamp = path.stat().st_mtime_ns
        except OSError:
            return None
        with self._lock:
            known = self._loaded.get(path)
            if known is None or known[0] != stamp:
                known = (stamp, _load(path))
                self._loaded[path] = known
            return known[1]


_LOCKED = "needs a passphrase"


def _load(path: Path) -> paramiko.PKey | str:
    try:
        key = paramiko.PKey.from_path(path)
        # paramiko would offer the key only with the certificate beside it, which may have expired.
        key.public_blob = None
        return key
    except (paramiko.PasswordRequiredException, TypeError):
        # cryptography raises TypeError if a key is encrypted and no password is given.
        return f"{path} {_LOCKED}: ssh-add it"
    except OSError as error:
        return f"{path} can't be read ({error.strerror})"
    except (ValueError, UnsupportedAlgorithm, paramiko.SSHException, paramiko.pkey.UnknownKeyType) as error:
        return f"{path} is not a usable private key ({' '.join(str(error).split()) or type(error).__name__})"


def _copied(key: paramiko.PKey) -> paramiko.PKey:
    """Return another object for the same private key, which may get a certificate of its own."""
    # copy.copy would ask a half-made AgentKey for its inner key without end.
    return paramiko.AgentKey(key.agent, key.blob) if isinstance(key, paramiko.AgentKey) else copy.copy(key)


def key_file(path: Path, held: frozenset[bytes]) -> KeyFile | None:
    """Return the properties of a private key; None if there is no such file.

    Args:
        held: the public halves of the agent's keys.
    """
    from exacell.care.examination import KeyFile  # It imports the modules that judge cells; only doctor looks at keys.

    loaded = KeyRing().load(path)
    if loaded is None:
        return None
    mode = path.stat().st_mode
    if isinstance(loaded, paramiko.PKey):
        return KeyFile(path=str(path), mode=mode, in_agent=bytes(loaded) in held)
    in_agent = not held.isdisjoint(public_blobs([path]))
    locked = f"{path} {_LOCKED}"
    if loaded.startswith(locked):
        return KeyFile(path=str(path), mode=mode, problem=locked, way=f"`ssh-add {path}`", in_agent=in_agent)
    way = "set IdentityFile in ssh_config to another key"
    return KeyFile(path=str(path), mode=mode, problem=loaded, way=way, in_agent=in_agent)


AGENT_S = 5.0
"""The longest time, in seconds, in which an agent must list its keys."""


def agent_keys() -> tuple[frozenset[bytes], str]:
    """Return the public halves of the keys in the agent of SSH_AUTH_SOCK, and why it can't be asked (empty if it
    can)."""
    found: list[frozenset[bytes]] = []
    problem: list[str] = []

    def ask() -> None:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as there:
                there.connect(os.environ["SSH_AUTH_SOCK"])
            agent = paramiko.Agent()
            found.append(frozenset(bytes(key) for key in agent.get_keys()))
            agent.close()
        except (OSError, paramiko.SSHException) as error:
            problem.append(getattr(error, "strerror", "") or str(error) or type(error).__name__)

    asking = threading.Thread(target=ask, name="exacell agent", daemon=True)
    asking.start()
    asking.join(AGENT_S)
    if found:
        return found[0], ""
    return frozenset(), problem[0] if problem else f"no answer within {AGENT_S:g} s"


def public_blobs(files: Sequence[Path]) -> set[bytes]:
    """Return the public halves in the ``.pub`` files beside private keys."""
    blobs = set()
    for path in files:
        try:
            blobs.add(base64.b64decode(Path(f"{path}.pub").read_bytes().split()[1], validate=True))
        except (OSError, IndexError, binascii.Error):
            continue  # No public half, or no valid one: the agent's keys are then tried without preference.
    return blobs


class KeyStrategy(AuthStrategy):
    """Tries every key that OpenSSH would try, and never asks a question.

    Attributes:
        tried: the keys offered, for the message if none is accepted.
        notes: why keys that were configured could not be offered.
    """

    def __init__(self, *, ring: KeyRing, route: Route, username: str) -> None:
        super().__init__(ssh_config=paramiko.SSHConfig())
        self.username = username
        self.tried: list[str] = []
        self.notes: list[str] = []
        self._ring = ring
        named = route.lists.get("identityfile") or DEFAULT_FILES
        self._files = [Path(os.path.expanduser(name)) for name in named if name.lower() != "none"]
        self._certificates = list(certificates(self._files, route.lists.get("certificatefile", ())))
        self._only = route.option("identitiesonly") == "yes"
        self._agent = route.option("identityagent").lower() != "none"

    @staticmethod
    def was_refused(failure: AuthFailure) -> bool:
        """Return whether the server refused (or there was no key to offer), and not just the connection broke."""
        results = [item.result for item in failure.result]
        said_no = [
            (isinstance(result, paramiko.AuthenticationException) and "Authentication failed." in str(result))
            or isinstance(result, paramiko.BadAuthenticationType)
            for result in results
        ]
        return not results or any(said_no)

    def refusal(self, route: Route, *, second_factor: bool = False) -> str:
        """Return one line about why the login failed, with the way out."""
        where = f"{route.user}@{route.target}"
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        if second_factor:
            return (
                f"login {where} needs more than a key, and exacell can give only a key: allow it to log in by key alone"
            )
        if not self.tried:
            return (
                f"there is no key to log in as {where}{notes}: set IdentityFile in ssh_config, or type "
                "`ssh-add` in a shell"
            )
        keys = ", ".join(self.tried)
        return f"login {where} was refused, tried {keys}{notes}: install a key with `ssh-copy-id {where}`"

    def get_sources(self) -> Iterator[AuthSource]:
        """Yield the keys in the order in which to try them."""
        files = list(self._file_keys())
        agent = paramiko.Agent() if self._agent and os.environ.get("SSH_AUTH_SOCK") else None
        try:
            offered: Sequence[paramiko.PKey] = agent.get_keys() if agent is not None else ()
            named = {bytes(key) for key in files} | public_blobs(self._files)
            first = [key for key in offered if bytes(key) in named]
            rest = [] if self._only else [key for key in offered if bytes(key) not in named]
            held = {bytes(key) for key in offered}
            for key in (*first, *rest):
                yield from self._sources(key, "agent")
            for key in files:
                if bytes(key) not in held:
                    yield from self._sources(key, "file")
        finally:
            if agent is not None:
                agent.close()

    def _sources(self, key: paramiko.PKey, origin: str) -> Iterator[AuthSource]:
        """Yield a key with each of its certificates, and then alone."""
        for path, owner in self._certificates:
            if owner == bytes(key):
                signed = _copied(key)
                signed.load_certificate(str(path))
                yield self._source(signed, f"{origin}, certificate {path}")
        if key.public_blob is None:
            # The agent lists an RSA certificate beside its key; paramiko would offer the key under the certificate's name.
            key.public_blob = getattr(getattr(key, "inner_key", None), "public_blob", None)
        yield self._source(key, f"{origin}, certificate" if key.get_name().endswith(CERTIFICATE) else origin)

    def _source(self, key: paramiko.PKey, origin: str) -> AuthSource:
        self.tried.append(f"{key.fingerprint} ({origin})")
        return InMemoryPrivateKey(username=self.username, pkey=key)

    def _file_keys(self) -> Iterator[paramiko.PKey]:
        for path in self._files:
            key = self._ring.load(path)
            if isinstance(key, paramiko.PKey):
                yield key
            elif key is not None:
                self.notes.append(key)
