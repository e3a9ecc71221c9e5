from __future__ import annotations

from pathlib import Path

import pytest
from engine_desk import Desk
from engine_fakes import Bench

from exacell.change import bringing_back, reciperun as run, resuming, undoing
from exacell.change.execute import execute
from exacell.language.line import Line
from exacell.output.result import Result
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would carry a statement out on a Desk hands it to the Desk, which keeps it."""

    def carried(session: Session, services: Services, request: Request, line: Line) -> Result:
        if isinstance(services, Desk):
            return services.execute(line, request)
        return execute(session, services, request, line)

    for module in (resuming, bringing_back, undoing, run):
        monkeypatch.setattr(module, "execute", carried)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh rack of three fake cells with an engine and a journal."""
    return Bench(tmp_path)
