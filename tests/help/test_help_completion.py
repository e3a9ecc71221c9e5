"""Tab behind help offers what help knows."""

from __future__ import annotations

import pytest

from exacell.commands.help import page
from exacell.language.suggest import suggest
from exacell.language.suggestion import Known


def known() -> Known:
    return Known(names=lambda kind: ())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("help fl", "flush"),
        ("help flush ", "flashcache"),
        ("help list gr", "griddisk"),
        ("help gri", "griddisk"),
        ("help metric FL_DISK_F", "FL_DISK_FIRST"),
        ("help attribute gri", "griddisk"),
        ("help attribute griddisk asmM", "asmModeStatus"),
        ("help CELL-02", "CELL-02559"),
        ("help sa", "safety"),
        ("help show he", "health"),
        ("help o", "on"),
    ],
)
def test_topics_are_offered(text: str, word: str) -> None:
    """Statements, objects, attributes, metrics, codes and topics complete, and what is completed has a page."""
    found = [item.text for item in suggest(text, known())]
    assert word in found
    start = text[: len(text) - len(text.split(" ")[-1])]
    if text not in ("help fl", "help attribute gri"):
        assert page((start + word).split()[1:])
