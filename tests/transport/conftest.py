"""Servers that the transports are tried on."""

from tests.support.servers import *  # noqa: F403
