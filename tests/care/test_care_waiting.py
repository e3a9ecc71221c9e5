"""What is waited for beside the cells: ASM, SQL on a database, and the targets of dcli."""

from __future__ import annotations

import pytest

from exacell.output.terminal import TerminalConsole
from exacell.session import recording


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show diskgroup",), "waiting for the answer, "),
        (("sql asm 'select name from v$asm_diskgroup'",), "waiting for ASM, "),
        (("sql 'select 1 from dual' db=SPOT",), "waiting for SPOT, "),
        (("dcli", "-c", "exa1cel01,exa1cel02", "hostname"), "waiting for exa1cel[01-02]: 0 of 2 ended, "),
    ],
)
def test_each_wait_is_told(rack, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str) -> None:
    """A node or a cell that answers late is waited for with a line that says so, and that is taken away at the end."""
    told: list[str | None] = []
    monkeypatch.setattr(TerminalConsole, "waiting", lambda self, text: told.append(text))
    monkeypatch.setattr(recording, "TELL_AFTER", 0.0)
    monkeypatch.setattr(recording, "TELL_EVERY", 0.02)
    rack.fault("exa1db01", "slow", "delay=0.5")
    rack.fault("exa1cel01", "slow", "delay=0.5")
    rack.fault("exa1cel02", "slow", "delay=0.5")
    try:
        done = rack.say(*words)
        assert done.code == 0, done.err
    finally:
        rack.mend("care")
    assert any(text and text.startswith(said) for text in told), told
    assert told[-1] is None
