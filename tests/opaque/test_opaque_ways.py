"""Every way to do something through a text that looks harmless is unread."""

from __future__ import annotations

from pathlib import Path

from exacell.opaque.findings import UnreadError
from exacell.opaque.scan import command_findings
from exacell.opaque.shell import read_shell
from tests.support.every import every

WAYS = Path(__file__).parents[1] / "data" / "opaque" / "ways.txt"


def ways() -> list[str]:
    """Return the texts of the corpus, each as a shell would get it."""
    lines = WAYS.read_text(encoding="ascii").splitlines()
    return [line.encode("ascii").decode("unicode_escape") for line in lines if line and not line.startswith("## ")]


@every(ways)
def test_way_is_unread(text: str) -> None:
    """No way that was ever found to do something behind a harmless look is taken for a read."""
    found = command_findings(text)
    assert found.unread
    assert not found.harmless


def test_the_shell_text_itself_names_what_was_not_read() -> None:
    """Where the words are at fault, and no statement in them, the reader says which sign, and a phrase begins with it."""
    for text in ways():
        try:
            read_shell(text)
        except UnreadError as error:
            assert error.sign, text
            assert error.why, text
            phrase = command_findings(text).unread[0]
            assert phrase.startswith(error.sign[:57]), text
