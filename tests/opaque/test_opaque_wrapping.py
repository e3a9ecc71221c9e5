"""How a text is wrapped and quoted for a shell."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
from hypothesis import given, strategies as st

from exacell.opaque.scan import arguments, carried, wrapped

HARD = [
    "",
    " ",
    "'",
    "''",
    "\\",
    "\\'",
    "!",
    "a'b!c\\d",
    "$x `x` $(x) ${x}",
    "a\nb",
    "x # y",
    '"',
    "\t*?[a]~{a,b}",
    "-e",
    "%s\\n",
    "'\\''",
    "\\\\!!''",
]


@given(st.text(alphabet=st.characters(min_codepoint=1, max_codepoint=126)))
def test_a_quoted_text_is_one_word_again(text: str) -> None:
    """Whatever the text, a shell gets it as the third word, byte for byte."""
    assert shlex.split(arguments(text)) == ["/bin/sh", "-c", text]


@given(st.text(alphabet="'!\\ab\n$\"` "))
def test_signs_that_shells_read_between_quotes_stand_outside_of_them(text: str) -> None:
    """What stands between the quotes holds no quote, no exclamation mark and no backslash."""
    line = arguments(text).removeprefix("/bin/sh -c ")
    assert not set(re.sub(r"'\\['!\\]'", "", line[1:-1])) & set("'!\\")


@pytest.mark.parametrize("text", HARD, ids=ascii)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_real_shells_give_the_text_on(shell: str, text: str) -> None:
    """A real shell hands the quoted text on as it was, here to printf, which only prints it."""
    word = arguments(text).removeprefix("/bin/sh -c ")
    done = subprocess.run([shell, "-c", f"printf %s {word}"], capture_output=True, text=True, check=True)
    assert done.stdout == text


def test_a_text_is_closed_on_a_line_of_its_own() -> None:
    """A line feed stands before the parenthesis, which no comment and no here-document can swallow then."""
    assert wrapped("uptime # x") == "(uptime # x\n) 2>&1"
    assert wrapped("cellcli <<EOF\nlist cell\nEOF") == "(cellcli <<EOF\nlist cell\nEOF\n) 2>&1"
    assert wrapped("uptime", errors="2>/dev/null") == "(uptime\n) 2>/dev/null"


def test_a_leading_parenthesis_begins_no_arithmetic() -> None:
    """Two parentheses never meet at the beginning, nor a parenthesis and a comment."""
    assert wrapped("(uptime)") == "( (uptime)\n) 2>&1"
    assert wrapped("# x\nuptime") == "( # x\nuptime\n) 2>&1"


@pytest.mark.parametrize("text", ["true # x", ": <<EOF\nx\nEOF", "(true)", "true;", "true\n"], ids=ascii)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_wrapped_text_is_whole_in_real_shells(shell: str, text: str) -> None:
    """A comment, a here-document and a parenthesis at the edge leave the wrapping whole."""
    done = subprocess.run([shell, "-n", "-c", wrapped(text)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_was_not_read_goes_to_the_shell_of_the_account() -> None:
    """A text that was read goes through the shell for which it was read, any other as it is, as dcli sends it."""
    assert carried("df 'a'", read=True) == arguments("df 'a'")
    assert carried("df 'a'", read=False) == "df 'a'"
