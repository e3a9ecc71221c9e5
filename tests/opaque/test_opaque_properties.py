"""What holds for all texts, tried with generated ones. None of them is ever run."""

from __future__ import annotations

import shlex
from contextlib import suppress

from hypothesis import assume, given, strategies as st

from exacell.core.lookalikes import LookalikeError
from exacell.opaque.findings import UnreadError
from exacell.opaque.scan import command_findings, script_findings
from exacell.opaque.shell import Reading, read_shell

PIECES = [
    "uptime", "df -h", "ps -ef", "cat /etc/hosts", "cat /etc/*release", "grep x", "wc -l", "sort -k2n", "cellcli -e list cell",
    "cellcli <<EOF\nlist cell\nEOF\n", "cellcli <<'E'\nlist cell -\n detail\nE\n", "ls '/var/log'", 'grep "a b"', "head -5",
    "reboot", "sort -o", "x=1", "$x", "`", "\\", "(", ")", "{", "}", "[", "]", "!", "~", "^", "&", ";", ";", "|", "|", "&&",
    "||", "\n", "\n", " ", " ", "\t", "#", " # x", "'", '"', "<", ">", " >/dev/null", " 2>&1", " 2>/dev/null", " </dev/null",
    "<<EOF", "EOF", "=", "*", "?", "-", "--", "/", "..", ".", "\r", "\0", "\xe4", "\u2028", "drop flashcache",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
reads = st.lists(
    st.tuples(
        st.sampled_from([piece for piece in PIECES[:14] if "<<" not in piece]),
        st.sampled_from(["; ", "\n", " && ", "||", "|", " |\n", "\n\n\t", " 2>&1; ", " >/dev/null\n", " # x\n"]),
    ),
    min_size=1,
    max_size=8,
).map(lambda found: "".join(text + joint for text, joint in found))


def reading(text: str) -> Reading | None:
    """Return what is read of a text; None where it is unread."""
    try:
        return read_shell(text)
    except UnreadError:
        return None


@given(texts)
def test_every_text_is_read_or_named(text: str) -> None:
    """Whatever the text, it comes back as read, or with a phrase that names what was not; nothing else is ever raised than
    that CellCLI gets quotes, operators or blanks from a web page."""
    try:
        found = command_findings(text)
    except LookalikeError:
        assert "cellcli" in text and not text.isascii()
        return
    assert all(": " in phrase for phrase in found.unread)
    assert found.harmless is (not found.unread and not found.changes)
    if not found.unread:
        assert script_findings(text.encode(), "x.sh") == found
    with suppress(LookalikeError):
        script_findings(text.encode(), "x.scl")


@given(st.one_of(texts, reads))
def test_words_are_those_of_another_reader_of_shell_text(text: str) -> None:
    """Python's own splitter, which knows nothing of ours, cuts each text that is read into the same words."""
    found = reading(text)
    assume(found is not None and "<<" not in text and "\\" not in text)
    assert found is not None
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = list(lexer)
    ours = [word for pipeline in found.pipelines for command in pipeline for word in command.words]
    # Joints and redirections are tokens of their own there.
    theirs: list[str] = []
    skip = 0
    for word in words:
        if skip:
            skip -= 1
        elif word in (">", ">&", "<"):
            if theirs and theirs[-1] in ("1", "2") and f"{theirs[-1]}{word}" in text:
                theirs.pop()
            skip = 1
        elif set(word) - set(";|&"):
            theirs.append(word)
    assert theirs == ours


@given(reads)
def test_a_fair_share_of_plain_texts_is_read_the_same_with_a_line_feed_behind(text: str) -> None:
    """A line feed behind a text that is read, as our wrapping sets one, changes nothing of its meaning."""
    found = reading(text)
    if found is not None:
        assert reading(f"{text}\n") == found


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="'"), min_size=1))
def test_what_is_in_single_quotes_comes_out_as_it_was(text: str) -> None:
    """A word in single quotes is what stands between them, whatever that is."""
    assume(not text.startswith("-"))
    ((command,),) = read_shell(f"grep '{text}' /etc/hosts").pipelines
    assert command.words == ("grep", text, "/etc/hosts")
    assert not command.globs


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126, exclude_characters='"$`\\!'), min_size=1))
def test_what_is_in_double_quotes_comes_out_as_it_was(text: str) -> None:
    """A word in double quotes without the signs that shells look for there is what stands between them."""
    assume(not text.startswith("-"))
    ((command,),) = read_shell(f'grep "{text}" /etc/hosts').pipelines
    assert command.words == ("grep", text, "/etc/hosts")


@given(reads, st.integers(min_value=0), st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]))
def test_no_foreign_character_is_ever_read(text: str, place: int, character: str) -> None:
    """A text with one character that is no printable ASCII, wherever it stands, is unread or refused by its name."""
    assume(not " " <= character <= "~")
    at = place % (len(text) + 1)
    try:
        assert command_findings(text[:at] + character + text[at:]).unread
    except LookalikeError as error:
        column = at - (text[:at].rfind("\n") + 1) + 1
        assert f"U+{ord(character):04X}" in error.message and f"column {column} " in error.message


@given(reads, st.integers(min_value=0), st.sampled_from(list("`~(){}[]^!")))
def test_signs_of_expansion_are_read_in_quotes_and_comments_alone(text: str, place: int, sign: str) -> None:
    """Each sign with which shells replace text is unread wherever it stands outside of quotes and comments."""
    assume("#" not in text)
    at = place % (len(text) + 1)
    quoted = any(text[:at].count(quote) % 2 for quote in "'\"")
    assume(not quoted)
    assert command_findings(text[:at] + sign + text[at:]).unread
