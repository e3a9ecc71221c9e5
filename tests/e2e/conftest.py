"""The program and its emulated racks, as all that runs end to end has them."""

from tests.support.racks import *  # noqa: F403
