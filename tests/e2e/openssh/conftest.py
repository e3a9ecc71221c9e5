"""Real servers of OpenSSH, which ssh and exacell ask alike."""

from tests.support.servers import *  # noqa: F403
