"""A machine without a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.core import localshell
from exacell.core.errors import ConfigError, RefusedError
from exacell.core.paths import Home


def test_a_machine_without_a_shell_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no /bin/sh, a command for it is refused in a sentence; where there is one, it is not."""
    localshell.need_shell("head -3")
    monkeypatch.setattr(localshell, "SHELL", str(tmp_path / "sh"))
    with pytest.raises(RefusedError, match="so `head -3` can't be run"):
        localshell.need_shell("head -3")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without HOME, and without an entry for the user in passwd, no path is made up: the way out is EXACELL_HOME."""
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(ConfigError, match="no home") as refused:
        Home.from_env({})
    assert "EXACELL_HOME" in refused.value.hint
    assert Home.from_env({"EXACELL_HOME": "/x"}).state_dir == Path("/x")
