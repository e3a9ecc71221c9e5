"""What is waited for beside the cells: ASM, SQL on a database, and the targets of dcli."""

from __future__ import annotations

import pytest

from exacell.output.terminal import TerminalConsole
from exacell.session import recording


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show diskgroup",), "waiting for exa1db01, "),
        (("snap flashlog as=late",), "waiting for exa1"),
        (("save iorm as=late",), "waiting for exa1"),
        (("create diskgroup LATE prefix=RECO au_size=4m -n",), "waiting for exa1"),
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
        assert done.code == (2 if "diskgroup LATE" in words[0] else 0), done.err
    finally:
        rack.mend("care")
    assert any(text and text.startswith(said) for text in told), told
    assert told[-1] is None


def test_nobody_is_interrupted_by_the_silence_of_a_statement(capsys: pytest.CaptureFixture[str]) -> None:
    """Where somebody speaks, or a question is open, the statement itself says nothing; a line of others is not taken away."""
    console = TerminalConsole()
    silence = recording.Silence(console, lambda: "waiting for exa1db01")
    console.spoke = silence._since = recording.time.monotonic() - 5
    assert silence.sentence() == "waiting for exa1db01, 5s"
    silence.tell(silence.sentence())
    assert silence.sentence(), "what it said itself does not count"
    console.say("a line of somebody else")
    assert silence.sentence() == ""
    console.spoke = float("inf")
    assert silence.sentence() == ""
