"""Racks for the tests of ASM and the databases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asm_lab import Lab


@pytest.fixture
def lab() -> Lab:
    """A default rack."""
    return Lab()


@pytest.fixture
def carved(lab: Lab) -> Lab:
    """A default rack with 48 flash grid disks ``ssd_…``."""
    lab.carve()
    return lab


@pytest.fixture
def new_lab() -> Callable[..., Lab]:
    """Makes racks of another kind: keyword arguments as RackSpec takes them."""
    return lambda **spec: Lab(spec=spec)
