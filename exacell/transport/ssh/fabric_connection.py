"""fabric's Connection without what it does anew for each host: one configuration serves all of an opener's connections.

fabric merges its levels of configuration for every connection and looks through all of an object's names whenever an
attribute is set, which takes 2.5 ms a host, as long as its key exchange. Imports fabric: import this module only where
a connection is about to be opened.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fabric
import paramiko
from paramiko.auth_strategy import AuthStrategy

_TOKENS = paramiko.SSHConfig.TOKENS_BY_CONFIG_KEY


class FabricConnection(fabric.Connection):  # type: ignore[misc]  # fabric publishes no types
    """A connection that logs in by a strategy of its own; made by :class:`FabricConnections`."""

    _logs_in_by: AuthStrategy | None = None

    def __setattr__(self, name: str, value: object) -> None:
        # Never into the configuration, which is shared.
        object.__setattr__(self, name, value)

    @property
    def authentication(self) -> SimpleNamespace:
        """What fabric asks about logging in."""
        strategy = self._logs_in_by
        return SimpleNamespace(strategy_class=None if strategy is None else lambda **_: strategy)

    def log_in(self, strategy: AuthStrategy, **how: object) -> Any:
        """Open the connection; ``how`` goes to :meth:`paramiko.SSHClient.connect`. Returns what that returns."""
        self._logs_in_by = strategy
        self.connect_timeout = None
        self.connect_kwargs = how
        return self.open()


class FabricConnections:
    """Makes connections that share one configuration. One thread at a time may do so: fabric's objects race."""

    def __init__(self) -> None:
        self._config = fabric.Config(lazy=True, ssh_config=paramiko.SSHConfig())

    def make(self, target: str, *, user: str | None, port: int | None, ssh_config: str) -> FabricConnection:
        """Return a connection to ``target`` that is not open yet.

        Args:
            ssh_config: the text that decides about the target.

        Raises:
            ConfigParseError, ValueError, KeyError: the text is wrong.
        """
        options = paramiko.SSHConfig.from_text(ssh_config)
        # paramiko finds out for each option what each token stands for, the own host's name by DNS; here only for what
        # stands in the text. Source: paramiko 5.1, config.py, _tokenize.
        options.TOKENS_BY_CONFIG_KEY = {
            key: [token for token in tokens if token in ssh_config] for key, tokens in _TOKENS.items()
        }
        self._config.base_ssh_config = options
        # An empty connect_kwargs would be the shared one.
        return FabricConnection(
            target, user=user, port=port, config=self._config, gateway=False, connect_kwargs={"compress": False}
        )
