"""What is said of a command whose time was over."""

from __future__ import annotations

import pytest

from exacell.transport.base import Request, Role
from exacell.transport.replies import no_end

CASES = [
    (Role.READ, None, "timeout"),
    (Role.READ, 90.0, "timeout"),
    (Role.WRITE, None, "timeout"),
    (Role.WRITE, 90.0, "write_timeout"),
    (Role.ASM_READ, 90.0, "timeout"),
    (Role.ASM_WRITE, 90.0, "write_timeout"),
]


@pytest.mark.parametrize(("role", "timeout", "setting"), CASES, ids=str)
def test_the_setting_that_gives_it_more_is_named(role: Role, timeout: float | None, setting: str) -> None:
    """A plan's statement, which changes something and has a limit of its own, has another setting than all else."""
    said = no_end(Request(target="a", command="x", role=role, timeout=timeout), 90.0)
    assert said == f"no end within 90s; the statement may still be running there (`set {setting}` raises the limit)"
