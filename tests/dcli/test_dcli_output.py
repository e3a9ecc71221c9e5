"""What dcli prints: prefixes, -n, -r, --maxlines, banners."""

from __future__ import annotations

import re

from exacell.change.dcli.output import (
    LineGuard,
    Outcome,
    Style,
    cut_off,
    decoded,
    exit_status,
    report,
    said_lines,
    split_lines,
    with_banner,
)

A = Outcome(target="a", lines=("\t  name:  x\ty  ", "", "x normal", "normal"))
B = Outcome(target="b", lines=("normal", "bad"), status=3)
C = Outcome(target="c")


def test_lines_are_stripped_and_prefixed_in_order() -> None:
    """Blanks at both ends should go, those inside and tabs stay, empty lines keep the prefix and its blank."""
    assert report([A, B, C], Style()) == [
        "a: name:  x\ty", "a: ", "a: x normal", "a: normal", "b: normal", "b: bad",
    ]  # fmt: skip


def test_preserved_blanks_stay_on_the_left() -> None:
    """--preserve-spaces should strip the right side only."""
    assert report([A], Style(preserve=True))[0] == "a: \t  name:  x\ty"


def test_n_names_the_good_and_prints_the_others() -> None:
    """-n should print a list of all targets with status 0, then the output of the rest."""
    assert report([C, B, A], Style(abnormal=True)) == ["OK: ['c', 'a']", "b: normal", "b: bad"]
    assert report([B], Style(abnormal=True)) == ["b: normal", "b: bad"]


def test_r_hides_matching_lines_and_names_their_targets() -> None:
    """-r should match from the start of a stripped line, not further inside."""
    assert report([A, B, C], Style(pattern=re.compile("normal"))) == [
        "normal: ['a', 'b']", "a: name:  x\ty", "a: ", "a: x normal", "b: bad",
    ]  # fmt: skip
    assert report([C, B], Style(pattern=re.compile("zzz")))[0] == "b: normal"


def test_too_many_lines_cut_a_target_off() -> None:
    """With several targets the lines up to the limit and one should be printed at once, and the target fail."""
    guard = LineGuard(limit=2, pieces=False)
    now, left = guard.take(Outcome(target="a", lines=tuple("1234")), Style())
    assert now == ["a: 1", "a: 2", "a: 3"] and (left.lines, left.status) == ((), 1) and guard.cut == ["a"]
    now, left = guard.take(Outcome(target="b", lines=("1", "2")), Style())
    assert now == [] and left.lines == ("1", "2") and guard.cut == ["a"]


def test_with_n_only_an_ok_line_shows_of_a_cut_target() -> None:
    """The pieces should be filtered as if their status were 0."""
    guard = LineGuard(limit=1, pieces=False)
    now, _ = guard.take(Outcome(target="a", lines=("1", "2")), Style(abnormal=True))
    assert now == ["OK: ['a']"]


def test_one_target_or_serial_loses_no_line() -> None:
    """Full pieces should be printed at once and the rest kept for the end."""
    guard = LineGuard(limit=2, pieces=True)
    now, left = guard.take(Outcome(target="a", lines=tuple("12345678"), status=4), Style())
    assert now == [f"a: {n}" for n in "123456"] and left.lines == ("7", "8") and left.status == 4


def test_what_ssh_said_stands_without_a_blank_and_with_an_empty_line() -> None:
    """Each line from ssh itself stands behind the target's name and a colon, then comes an empty line; nothing for none."""
    assert said_lines(Outcome(target="a", said="refused\n")) == ["a:refused", ""]
    assert said_lines(Outcome(target="a", said="one\r\n\n two\n")) == ["a:one", "", "a:", "", "a: two", ""]
    assert said_lines(Outcome(target="a", said="one\ntwo")) == ["a:one", "", "a:two", ""]
    assert said_lines(Outcome(target="a", said="\n")) == ["a:", ""]
    assert said_lines(Outcome(target="a")) == []


def test_a_copy_that_failed_is_told_twice() -> None:
    """What scp said should come twice, each line with its empty line."""
    assert said_lines(Outcome(target="a", said="scp: no\n", status=1, twice=True)) == ["a:scp: no", ""] * 2
    twice = Outcome(target="a", said="scp: no\nscp: failed\n", status=1, twice=True)
    assert said_lines(twice) == ["a:scp: no", "", "a:scp: failed", ""] * 2


def test_a_cut_off_target_is_told_with_the_way_out() -> None:
    """An empty line, the error with the target and the limit, and a hint should stand on stderr, in this order."""
    first, error, hint = cut_off("a", 7)
    assert first == "" and error.startswith("Error: a ") and " 7 lines" in error and "--maxlines" in hint


def test_a_banner_stands_between_two_lines() -> None:
    """--showbanner should put ssh's text in front of the output, an empty one too, but none of who can't be reached."""
    shown = with_banner(Outcome(target="a", said="hello\n", lines=("x",)))
    assert shown == ("******BANNER******", "hello", "******BANNER******", "x")
    assert with_banner(Outcome(target="a", lines=("x",))) == ("******BANNER******", "******BANNER******", "x")
    assert with_banner(Outcome(target="a", said="no\n", status=255)) == ()
    assert with_banner(Outcome(target="a", status=1, ran=False)) == ()


def test_a_last_line_needs_no_end() -> None:
    """Lines should be cut at line feeds and at carriage returns."""
    assert split_lines("a\nb") == ("a", "b") and split_lines("a\n\n") == ("a", "") and split_lines("") == ()
    assert split_lines("a\rb\r\nc\r") == ("a", "b", "c")


def test_bytes_that_are_no_utf_8_are_latin_1() -> None:
    """A wrong byte should be shown, and never run the command again."""
    assert decoded(b"\xe9t\xe9") == "été" and decoded("é".encode()) == "é"


def test_the_exit_status_is_0_or_1() -> None:
    """Any other status, and a target without an end, should make 1."""
    assert (exit_status([A, C]), exit_status([A, B]), exit_status([Outcome(target="x", ran=False)])) == (0, 1, 1)
