"""The programs of the table themselves, watched by strace where they could write: they read, and do nothing else."""

from __future__ import annotations

import shutil

import pytest

from exacell.opaque.table import table
from tests.support.judging import sampling
from tests.support.judging.real import watch
from tests.support.judging.sandbox import missing

LACKING = missing() or ("" if shutil.which("strace") else "strace is not installed: no program of the table is watched")

pytestmark = pytest.mark.skipif(bool(LACKING), reason=LACKING or "a sandbox is there")

NOT_HERE = sorted(name for name in table().rows if not shutil.which(name))


@pytest.mark.parametrize("row", [name for name in sampling.names() if name not in NOT_HERE])
def test_the_program_of_a_row_only_reads(row: str) -> None:
    """With each of its options and operands it writes nothing but to /dev/null, sets nothing, ends no process, reaches
    nobody but whom its row needs, and leaves standard input alone.
    """
    texts = sampling.texts_of(row)
    assert texts, f"no text of {row} is read"
    done = watch(row, texts)
    assert all(one.calls for one in done), f"strace saw nothing of {row}"
    assert not [(one.text, one.faults) for one in done if one.faults]


def test_programs_that_are_not_here_are_named() -> None:
    """What this machine does not have is not watched, and is named by the test that is skipped."""
    if NOT_HERE:
        pytest.skip(f"not installed here, so not watched: {', '.join(NOT_HERE)}")


WRITERS = {
    "a file": ("sort", "sort -o /tmp/x /etc/hosts", "/tmp/x for writing"),
    "a file that is there": ("sort", "sort -o /etc/hosts /etc/hosts", "/etc/hosts for writing"),
    "a removed file": ("find", "find /etc/hosts -delete", "unlink"),
    "another program": ("find", "find /etc/hosts -exec id ;", "starts"),
    "the clock": ("date", "date -s 2000-01-01", "clock_settime"),
    "the name": ("hostname", "hostname x", "sethostname"),
    "another process": ("date", "date; kill -9 1", "kill 1"),
    "standard input": ("cat", "cat", "standard input"),
    "a link": ("cat", "ln -s /etc/hosts /tmp/x", "symlink"),
    "a mount": ("mount", "mount -t tmpfs x /tmp", "mount"),
}
"""What is done -> the row, a text that is no read, and what has to be told of it."""


@pytest.mark.parametrize("what", WRITERS)
def test_what_does_more_is_noticed(what: str) -> None:
    """A command that changes something is told to, also where the system refused it."""
    row, text, told = WRITERS[what]
    (done,) = watch(row, [text.replace(";", "\\;") if "-exec" in text else text])
    assert any(told in fault for fault in done.faults), done
