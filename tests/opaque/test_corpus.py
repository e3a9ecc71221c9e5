"""The corpus of every way found: unread, or taken by six shells as it was read."""

from __future__ import annotations

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.scan import command_findings
from exacell.opaque.shell import read_shell
from tests.support.every import every
from tests.support.judging.fuzzing import Judge
from tests.support.judging.sandbox import missing
from tests.support.ways import Way, ways

LEAST = 80
"""The corpus has at least so many ways."""


def test_the_corpus_is_whole() -> None:
    """It has more than 80 ways, none of them twice, each with its reason."""
    found = [way for way in ways() if not way.read]
    assert len(found) >= LEAST and all(way.why and way.about for way in found)
    assert len({way.text for way in ways()}) == len(ways())


@every(lambda: [way for way in ways() if not way.read], name=lambda way: ascii(way.text))
def test_what_may_do_something_else_is_no_read(way: Way) -> None:
    """A text of the corpus is unread, or a CellCLI change is found in it: it never passes as one that only reads."""
    findings = command_findings(way.text)
    assert not findings.harmless, way.why
    assert all(findings.unread)


@every(lambda: [way for way in ways() if way.read], name=lambda way: ascii(way.text))
def test_what_only_looks_like_it_is_read(way: Way) -> None:
    """A text that only looks like one of the others is read, and does nothing."""
    assert command_findings(way.text).harmless


@pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")
def test_shells_take_the_corpus_as_it_was_read() -> None:
    """Of every text of the corpus that the reader follows, six shells start exactly what it named."""
    judged, differences = 0, []
    with Judge() as judge:
        for way in ways():
            try:
                reading = read_shell(way.text)
            except UnreadError:
                continue
            judged += 1
            differences += judge.differences(way.text, reading)
    assert judged >= len([way for way in ways() if way.read])
    assert not differences, "\n".join(map(str, differences))


@pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")
def test_every_text_arrives_whole_at_sh() -> None:
    """Wrapped for /bin/sh, each text of the corpus arrives there byte for byte from each of six login shells."""
    with Judge() as judge:
        texts = [way.text for way in ways() if "\0" not in way.text]
        differences = [found for text in texts for found in judge.differences_of_arguments(text)]
    assert not differences, "\n".join(map(str, differences[:5]))
