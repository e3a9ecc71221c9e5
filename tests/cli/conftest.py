"""A rack whose cells answer from a table, without any connection."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.sessions import TableTransport


def _as_xml(cell: str) -> str:
    return (
        f'<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="{cell}"/>\n'
        f"<cell> <name>{cell}</name>\n<status>online</status>\n</cell>\n</cli-output>\n"
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh EXACELL_HOME with one rack of three cells, t1."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-03]"\n')
    (tmp_path / "racks.d" / "prod.toml").write_text('cells = "prod[1-2]"\nproduction = true\n')
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("EXACELL_") and name != "EXACELL_HOME"]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def rack(home: Path, monkeypatch: pytest.MonkeyPatch) -> TableTransport:
    """The transport that every context gets."""
    import exacell.session.services as module

    transport = TableTransport()
    transport.rules.append(("releaseversion", lambda cell: f"\t {cell}\t 19.3.2.0.0.190918\n"))
    transport.rules.append(("-xml", _as_xml))
    transport.rules.append(("list cell", lambda cell: f"\t {cell}\t online\n"))
    original = module.Services.__init__

    def init(self: module.Services, session: Any, console: Any, given: object = None) -> None:
        original(self, session, console, transport)

    monkeypatch.setattr(module.Services, "__init__", init)
    return transport
