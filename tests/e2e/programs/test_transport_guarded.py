"""Over every transport the same is refused, the same is sent, the same is journalled, and nothing unflushed is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exacell.change.execute import execute
from exacell.core.config import TRANSPORTS, load
from exacell.core.errors import ExacellError
from exacell.core.paths import Home
from exacell.journal.record import Journal
from exacell.language.line import parse_line
from exacell.output.console import SilentConsole
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Options, Session

CELL = "exa1cel03"
WORDS = ("statement", "state", "reason", "caching", "cache", "exitCode")
"""What of a journal row does not depend on when and by whom it was written."""

REFUSED: dict[str, str] = {
    "drop flashcache -y": "may hold the only copy of data",
    "drop flashlog force -y": "FORCE throws away redo",
    "drop griddisk all prefix=DATA force -y": "disk group DATA uses it",
}
"""Statements that may lose data, and why each is refused."""
GOES: list[str] = [
    f"on {CELL} alter flashcache all flush -y",
    f"on {CELL} drop flashcache -n",
    f"on {CELL} drop flashcache -y",
    f"on {CELL} create flashcache all -y",
    f"on {CELL} drop flashcache -y",
]
"""Behind CREATE the cache is dirty again or may be: DROP is refused once more."""

Story = tuple[dict[str, tuple[int, str]], list[tuple[object, ...]]]
Tell = Callable[[str], Story]


class Operator:
    """Somebody at the rack over one transport."""

    def __init__(self, home: Path, journal: Path, transport: str) -> None:
        found, env = (
            Home.from_env({"EXACELL_HOME": str(home)}),
            {"EXACELL_HOME": str(home), "HOME": str(journal.parent)},
        )
        self.session = Session(home=found, config=load(found, env), options=Options(rack="t1"), env=env)
        self.services = Services(self.session, SilentConsole())
        self.services.journal = Journal(journal)
        self.do(f"set transport {transport}")

    def do(self, text: str) -> tuple[int, str]:
        """Return the exit code of a statement, and what it said of problems."""
        line = parse_line(text)
        assert line is not None
        try:
            result = execute(self.session, self.services, Request(), line)
        except ExacellError as error:
            return int(error.exit_code), error.message
        return int(result.exit_code), "; ".join(result.problems)


@pytest.fixture(scope="module")
def tell(rack_process: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Story]]:
    """Give the statements over a transport, once; return what each said, and what the journal holds."""
    folder, stories = tmp_path_factory.mktemp("guarded"), dict[str, Story]()

    def story(transport: str) -> Story:
        if transport not in stories:
            for cell in rack_process.config.cells:
                rack_process.fault(cell, "unguarded")
            stories[transport] = _story(Operator(rack_process.home, folder / f"{transport}.db", transport))
            rack_process.mend()
        return stories[transport]

    yield story


def _story(operator: Operator) -> Story:
    try:
        said = {text: operator.do(text) for text in REFUSED}
        said |= {f"{place}: {text}": operator.do(text) for place, text in enumerate(GOES)}
    finally:
        operator.services.close()
    rows = [(e.kind, e.target, *(e.body.get(word) for word in WORDS)) for e in operator.services.journal.entries()]
    assert operator.services.journal.verify() == ""
    return said, rows


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_the_cells_would_let_happen_is_refused(tell: Tell, transport: str) -> None:
    """On cells that refuse nothing, each statement that may lose data is refused over this transport, for its reason."""
    said, _ = tell(transport)
    assert {text: said[text][0] for text in REFUSED} == dict.fromkeys(REFUSED, 2)
    assert [text for text, why in REFUSED.items() if why not in said[text][1]] == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_journal_is_the_same_whatever_carried_it(tell: Tell, transport: str) -> None:
    """Plans, statements, outcomes and what was seen of caching are row for row those of the default transport; -n leaves none."""
    said, rows = tell(transport)
    assert said == tell("ssh")[0]
    assert [code for text, (code, _) in said.items() if text not in REFUSED] == [0, 0, 0, 0, 2]
    assert rows == tell("ssh")[1]
    sent = [row[2] for row in rows if row[0] == "intent"]
    assert sent == ["ALTER FLASHCACHE ALL FLUSH", "DROP FLASHCACHE", "CREATE FLASHCACHE ALL"]
