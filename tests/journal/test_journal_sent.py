"""What is told of a statement that was interrupted twice: whether anything of it has left, and what became of that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from exacell.journal.actor import actor
from exacell.journal.record import Journal, Row, Sent, sent_since
from tests.support.clocks import set_back

CASES: list[tuple[Sequence[tuple[str, str]], Sent]] = [
    # (kind and target of the rows behind the plan's, what is known)
    ([], Sent.NOTHING),
    ([("outcome", "cel01"), ("gate", "")], Sent.NOTHING),
    ([("intent", "cel01")], Sent.UNDER_WAY),
    ([("intent", "cel01"), ("outcome", "cel01")], Sent.ENDED),
    ([("intent", "cel01"), ("intent", "cel02"), ("outcome", "cel02")], Sent.UNDER_WAY),
    # What was sent twice and answered once is under way.
    ([("intent", "cel01"), ("outcome", "cel01"), ("intent", "cel01")], Sent.UNDER_WAY),
    ([("intent", "cel01"), ("end", "")], Sent.UNDER_WAY),
]


@pytest.mark.parametrize(("rows", "sent"), CASES)
def test_what_has_left(tmp_path: Path, rows: Sequence[tuple[str, str]], sent: Sent) -> None:
    """An intent without an outcome is under way, one with it has ended, and without any nothing has left."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s", **actor()})
    journal.append("t1", change, [Row(kind=kind, target=target, body={"what": "w"}) for kind, target in rows])
    assert sent_since(journal, 0) is sent
    assert sent_since(journal, change) is Sent.NOTHING


def test_a_clock_that_is_set_back_hides_nothing_that_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What left in a change behind the one that was the newest counts, whatever time its rows tell; what left before does not."""
    journal = Journal(tmp_path / "journal.db")
    intent = Row(kind="intent", target="cel01", body={"what": "w"})
    journal.append("t1", journal.begin("t1", {"statement": "s", **actor()}), [intent])
    newest = journal.newest_change()
    set_back(monkeypatch)
    change = journal.begin("t1", {"statement": "s", **actor()})
    assert sent_since(journal, newest) is Sent.NOTHING
    journal.append("t1", change, [intent])
    assert sent_since(journal, newest) is Sent.UNDER_WAY
    journal.append("t1", change, [Row(kind="outcome", target="cel01", body={"what": "w"})])
    assert sent_since(journal, newest) is Sent.ENDED
    assert journal.entries(change=change)[0].at < journal.entries(change=1)[0].at
    assert journal.verify() == ""


def test_what_another_process_answered_says_nothing_of_ours(tmp_path: Path) -> None:
    """Our statement is under way also when somebody else's change, which may have gone on with it, has an outcome alike."""
    journal = Journal(tmp_path / "journal.db")
    intent = Row(kind="intent", target="cel01", body={"what": "w"})
    journal.append("t1", journal.begin("t1", {"statement": "s", **actor()}), [intent])
    other = journal.begin("t1", {"statement": "s", **actor(), "pid": "1"})
    journal.append("t1", other, [intent, Row(kind="outcome", target="cel01", body={"what": "w"})])
    assert sent_since(journal, 0) is Sent.UNDER_WAY


def test_what_another_process_has_sent_is_not_ours(tmp_path: Path) -> None:
    """Somebody else's statement that is under way at the same time is not what our Ctrl-C leaves behind."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "s", **actor(), "pid": "1"})
    # That we took it back makes it none of ours.
    noted = Row(kind="undone", body=actor())
    journal.append("t1", change, [Row(kind="intent", target="cel01", body={"what": "w"}), noted])
    assert sent_since(journal, 0) is Sent.NOTHING


def test_without_a_journal_nothing_has_left(tmp_path: Path) -> None:
    """Nothing leaves that is not in the journal before."""
    assert sent_since(Journal(tmp_path / "journal.db"), 0) is Sent.NOTHING
