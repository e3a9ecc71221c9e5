"""Signs in a cell's answer that would drive a terminal, or show something else than there is."""

from __future__ import annotations

import json
import sys
import unicodedata
from io import StringIO

import pytest

from exacell.output.render import lines, render
from exacell.output.result import Result
from exacell.output.style import printable

EVIL = "DATA\u202e1G0\u2066x\u200bz\x1b[2J\x9b\xad\ufeff\u2028\U000e0041"
SPELT = r"DATA\u202e1G0\u2066x\u200bz\x1b[2J\x9b\xad\ufeff\u2028\U000e0041"
GOOD = "größe 5\u00a0µs, 日本 ✓ e\u0301 😀"


class Terminal(StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def test_every_sign_of_unicode_that_is_not_seen_is_spelt_out() -> None:
    """No control, format, separator or unassigned sign should reach a terminal; letters, signs and blanks should."""
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        kind = unicodedata.category(sign)
        kept = sign in "\t\n" or kind[0] not in "CZ" or kind == "Zs"
        assert (printable(sign) == sign) is kept, hex(code)
        assert printable(sign).isprintable() or kept, hex(code)


def test_talk_and_tables_spell_it_out_and_keep_the_rest() -> None:
    """A table, a folded block, a text and a line of talk should show what is there, and other people's letters as such."""
    assert printable(EVIL) == SPELT and printable(GOOD) == GOOD
    for result in (
        Result(records=[{"cell": "c1", "comment": EVIL + GOOD}], data=True),
        Result(raw=[("c1", EVIL + GOOD)], fold=True),
        Result(text=EVIL.replace("\u2028", "") + GOOD),
    ):
        shown = "\n".join(lines(result, "table"))
        assert GOOD.replace("\u00a0", " ") in shown.replace("\u00a0", " ")
        assert r"\u202e" in shown and printable(shown) == shown


@pytest.mark.parametrize("name", ["json", "jsonl", "yaml"])
def test_json_and_yaml_keep_it_exact_by_escapes(name: str) -> None:
    """What a program reads should be what the cell said, and nothing in it should drive a terminal that shows it."""
    shown = "\n".join(lines(Result(records=[{"cell": "c1", "comment": EVIL + GOOD}], data=True), name))
    assert printable(shown) == shown and "größe" in shown and "😀" in shown
    if name == "yaml":
        assert r"\U000e0041" in shown and r"\u202e" in shown
        return
    found = json.loads(shown)
    assert (found[0] if name == "json" else found)["comment"] == EVIL + GOOD


@pytest.mark.parametrize("name", ["raw", "csv", "tsv", "md"])
def test_the_formats_without_escapes_are_exact_but_on_a_terminal(name: str) -> None:
    """A file or a program should get every sign as it is, a terminal the spelling, also in a pager."""
    result = Result(records=[{"cell": "c1", "comment": EVIL}], raw=[("c1", EVIL)], data=True)
    for stream, wanted, unwanted in ((StringIO(), EVIL, SPELT), (Terminal(), SPELT, EVIL)):
        render(result, name, stream)
        assert wanted in stream.getvalue() and unwanted not in stream.getvalue()
    assert SPELT in "\n".join(lines(result, name, width=80))
    assert EVIL in "\n".join(lines(result, name))
