"""What ssh_config says about reaching one target, as typed values: address, names of its host key, hops, deadlines."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from exacell.core.errors import ConfigError
from exacell.core.values import dataclass
from exacell.transport.ssh.hostkeys import lookup_names
from exacell.transport.ssh.patterns import expand_tokens

_USER_FILES = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
_GLOBAL_FILES = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_HOP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@/]+)@)?(?P<host>\[[^\]]+\]|[^:/]+)(?::(?P<port>[0-9]+))?/?")


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One gateway of a ProxyJump list; None where ssh_config decides."""

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
    """How to reach ``target``.

    Attributes:
        options: ssh_config's answer for the target, keys in lower case, as paramiko's parser gives it.
        hops: gateways to pass, first to last.
        connect_timeout: seconds for a TCP connection.
    """

    target: str
    host: str
    port: int
    user: str
    options: Mapping[str, object]
    hops: tuple[str, ...]
    connect_timeout: float

    @property
    def login_timeout(self) -> float:
        """Seconds for key exchange and authentication."""
        return 2 * self.connect_timeout

    @property
    def place(self) -> str:
        """The address, for messages."""
        return f"{self.host} port {self.port}"

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The names to look the host key up under, most specific first."""
        return lookup_names(self.host, self.port, alias=self.option("hostkeyalias"))

    @cached_property
    def user_known_hosts(self) -> tuple[Path, ...]:
        """The user's known_hosts files; ``trust`` writes the first."""
        return self._files("userknownhostsfile", _USER_FILES)

    @cached_property
    def known_hosts(self) -> tuple[Path, ...]:
        """All known_hosts files, the user's first."""
        return self.user_known_hosts + self._files("globalknownhostsfile", _GLOBAL_FILES)

    @cached_property
    def revoked_file(self) -> Path | None:
        """The RevokedHostKeys file, if any."""
        files = self._files("revokedhostkeys", "none")
        return files[0] if files else None

    def option(self, name: str, default: str = "") -> str:
        """Return an option as text; ``default`` when it is not set."""
        value = self.options.get(name)
        return default if value is None else str(value)

    def _files(self, option: str, default: str) -> tuple[Path, ...]:
        # paramiko has taken the quotes around a single path away, so a blank begins another path only where that
        # starts as paths do.
        words = [word.strip('"') for word in re.split(r'"?\s+"?(?=[/~%$])', self.option(option, default).strip())]
        if [word.lower() for word in words] == ["none"]:
            return ()
        home = os.path.expanduser("~")
        tokens = {
            "d": home,
            "h": self.host,
            "k": self.option("hostkeyalias") or self.host,
            "n": self.target,
            "p": str(self.port),
            "r": self.user,
            "u": os.environ.get("USER", ""),
        }
        return tuple(Path(os.path.expanduser(expand_tokens(word, tokens))) for word in words)


def jump_hops(text: str, *, host: str, target: str) -> tuple[str, ...]:
    """Return the hops of a ProxyJump value; none for ``none``, and none when the last hop is the host itself.

    The latter happens under ``Host *``, where the gateway, too, is told to go through the gateway.
    """
    hops = tuple(hop.strip() for hop in text.split(",") if hop.strip())
    if not hops or (len(hops) == 1 and hops[0].lower() == "none"):
        return ()
    return () if Hop.parse(hops[-1]).host in (host, target) else hops
