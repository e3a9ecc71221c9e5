"""The rack care, as all tests of care that need one have it."""

from tests.support.carerack import *  # noqa: F403
