"""Characters of web pages: refused by name wherever a quote, an operator, a dash or a blank stands; left alone in quotes."""

from __future__ import annotations

import sys
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from exacell.care.sqltext import one_line
from exacell.cellcli.condition import parse_condition
from exacell.cellcli.statement import parse, render
from exacell.cellcli.tokens import tokenize
from exacell.core.cellset import CellSet
from exacell.core.errors import CellSetError, StatementError
from exacell.core.lookalikes import LookalikeError, ascii_of, is_lookalike
from exacell.language.argv import argv_line
from exacell.language.line import parse_line
from exacell.language.words import split_words
from exacell.opaque.scan import command_findings, script_findings
from exacell.session.scripts import read_script, script_at
from tests.support.every import every

MEANT = {
    "'": "‘’‚‛′´ʹʼ\uff07",
    '"': "“”„‟″«»\uff02",
    "-": "‐‑‒–—―−\uff0d﹣",
    "!=": "≠",
    ">=": "≥",
    "<=": "≤",
    "=": "\uff1d",
    ">": "\uff1e",
    "<": "\uff1c",
    ",": "\uff0c、",
    ";": "\uff1b\u037e",
    "(": "\uff08",
    ")": "\uff09",
    "|": "\uff5c",
    "*": "∗×\uff0a",
    "a blank": "\u00a0\u1680\u2000\u2003\u2007\u2009\u202f\u205f\u3000",
    "a line end": "\u0085\u2028\u2029",
    "A": "\uff21𝐀Ⓐ",
    "7": "\uff17𝟕⑦٧",
}
UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\u200e\u202a\u2066\ufe0f\u3164\u115f\U000e0041"

lookalike = st.one_of(
    st.sampled_from("".join(MEANT.values()) + UNSEEN),
    st.characters(min_codepoint=128, exclude_categories=["Cs"]).filter(is_lookalike),
)
STATEMENTS = [
    "list griddisk where asmDeactivationOutcome = 'No' and asmModeStatus != 'ONLINE'",
    "list metriccurrent attributes name, metricValue where name like 'FC_BY_DIRTY.*' and metricValue > 5",
    "alter griddisk all availableTo='asm', comment=\"a b\"",
    "drop griddisk DATAC1_CD_00_exa1cel01 force",
    "alter iormplan dbplan=((name='SPOT', share=8), (name=other, share=1))",
    "on exa1cel[01-03] list cell detail",
    "resize flashcache size = 288g -y --rolling",
    "check all flashcache.status = normal",
    "use exa1cel01, exa1cel02 not exa1cel01",
    "drop diskgroup DATA; ",
    "sh cellcli -e list cell detail",
    "dcli -c exa1cel01 cellcli -e list cell detail",
    "alias off list griddisk where status = 'active'",
    "cellcli -e list cell detail",
]


def outside(text: str) -> list[int]:
    """Return the places of a text between which no ASCII quote is open; none directly behind a letter that a quote follows."""
    places, quote = [], ""
    for place, char in enumerate(text):
        if not quote:
            places.append(place)
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
    return [*places, len(text)] if not quote else places


@given(st.sampled_from(STATEMENTS), st.integers(min_value=0), lookalike, st.booleans())
def test_outside_of_quotes_it_is_refused_by_name_and_place(text: str, number: int, char: str, instead: bool) -> None:
    """Wherever it stands outside of quotes, beside a sign or in its place, the line is refused with character and column."""
    places = outside(text)
    at = places[number % len(places)]
    replaced = instead and at < len(text) and text[at] not in "'\""
    given_ = text[:at] + char + text[at + replaced :]
    assume(not (unicodedata.combining(char) and at and given_[at - 1].isalpha()))
    with pytest.raises(LookalikeError) as caught:
        parse_line(given_)
    error = caught.value
    assert (error.start, error.end) == (at, at + 1)
    assert f"column {at + 1} " in error.message and f"U+{ord(char):04X}" in error.message
    assert not char.isprintable() or char in error.message
    assert error.hint.endswith("in ASCII quotes, where every character is kept") or error.hint.endswith(
        "within ASCII quotes every character is kept"
    )


@every([(meant, char) for meant, chars in MEANT.items() for char in chars])
def test_what_to_type_is_named(meant: str, char: str) -> None:
    """Each character of a web page is named with the one of ASCII that is meant."""
    with pytest.raises(LookalikeError) as caught:
        parse_line(f"list cell {char}detail")
    assert f"where {meant} should" in caught.value.message or (
        meant == "-" and "where -- should" in caught.value.message
    )
    assert caught.value.hint.startswith(f"type {meant}")


@every(UNSEEN)
def test_what_nobody_sees_is_to_be_taken_out(char: str) -> None:
    """A character that shows nothing is named by its number, with the way out."""
    for text in (f"list{char} cell", f"{char}list cell", f"list cell{char}"):
        with pytest.raises(LookalikeError, match=f"U\\+{ord(char):04X}"):
            parse_line(text)


@given(st.text(st.characters(min_codepoint=128, exclude_categories=["Cs"]), max_size=8), st.sampled_from("'\""))
def test_in_ascii_quotes_every_character_stays(inside: str, quote: str) -> None:
    """What stands in ASCII quotes is sent as it was typed, in statements of CellCLI and of exacell."""
    line = parse_line(f"alter cell comment={quote}a {inside}{quote}")
    assert line is not None and line.cellcli is not None
    assert render(line.cellcli).endswith(f"='a {inside}'")
    own = parse_line(f"list griddisk where name like {quote}{inside}.*{quote}")
    assert own is not None and own.cellcli is not None and f"'{inside}.*'" in render(own.cellcli)
    assert split_words(f"say {quote}{inside} x{quote}")[1].value == f"{inside} x"


@given(st.text(st.characters(min_codepoint=128, exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_a_value_is_rendered_so_that_it_is_read_again(value: str) -> None:
    """A quoted value keeps its quotes where it holds a character that must not stand outside of them."""
    statement = parse(f"alter cell comment='{value}'")
    assert parse(render(statement)) == statement


def test_letters_of_other_languages_stay_outside_of_quotes() -> None:
    """Only letters may lie outside of ASCII outside of quotes, with the accents that belong to them."""
    for value in ("Größe", "données", "e\u0301te\u0301", "продажи", "データ".replace("ー", "")):
        line = parse_line(f"alter cell comment={value}")
        assert line is not None and line.cellcli is not None and value in render(line.cellcli)


def test_every_character_is_a_letter_or_refused() -> None:
    """The list is one of what is allowed: letters that no form of ASCII is; an accent only behind a letter."""
    for code in (*range(128, 0x3400), *range(0xA000, 0xA100), *range(0xF900, 0xFFFF), *range(0x1D400, 0x1D800)):
        char = chr(code)
        if not is_lookalike(char):
            assert unicodedata.category(char) in ("Lu", "Ll", "Lt", "Lo"), hex(code)
            assert not ascii_of(char), hex(code)
    assert is_lookalike("\u0338", "=") and not is_lookalike("\u0301", "e") and not is_lookalike("x")


DOORS = {
    "a condition on cells": lambda text: parse_condition(f"where griddisk.asmDeactivationOutcome = {text}"),
    "CellCLI's lexer": lambda text: tokenize(f"list griddisk where name = {text}"),
    "words of the command line": lambda text: parse_line(argv_line(["list", "griddisk", "where", "name", "=", text])),
    "the shell's cellcli": lambda text: command_findings(f'cellcli -e "list griddisk where name = {text}"'),
    "its words": lambda text: command_findings(f"cellcli -e list griddisk where name = {text}"),
    "its here-document": lambda text: command_findings(f"cellcli <<EOF\nlist griddisk where name = {text}\nEOF\n"),
    "a loop that is not read": lambda text: command_findings(
        f'for i in 1; do cellcli -e "list x where y = {text}"; done'
    ),
    "a script for the shell": lambda text: script_findings(
        f"#!/bin/sh\ncellcli <<EOF\nlist x where y = {text}\nEOF\n".encode(), "a.sh"
    ),
    "a script for CellCLI": lambda text: script_findings(f"list griddisk where name = {text}\n".encode(), "a.scl"),
    "SQL": lambda text: one_line(f"select name from v$asm_disk where state = {text}"),
    "ON with a condition": lambda text: parse_line(f"on (where status = {text}) list cell"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", ["‘No’", "“No”", "′No′", "'No’", "\u00a0'No'"])
def test_at_every_door(door: str, text: str) -> None:
    """Wherever a statement comes in, it is refused by name."""
    with pytest.raises(LookalikeError, match=r"U\+"):
        DOORS[door](text)


@pytest.mark.parametrize("door", DOORS)
def test_in_quotes_at_every_door(door: str) -> None:
    """In ASCII quotes the same characters are none of its business."""
    if door == "its words":
        pytest.skip("the shell takes these quotes, and CellCLI gets none")
    try:
        DOORS[door]("'the “No” – of it’s\u00a0disk'")
    except StatementError as error:
        assert not isinstance(error, LookalikeError)


def test_a_word_with_blanks_of_the_command_line_was_quoted_there() -> None:
    """A word that holds a blank was in the shell's quotes, and stays; one without may have been pasted."""
    line = parse_line(argv_line(["alter", "cell", "comment=it’s here"]))
    assert line is not None and line.cellcli is not None and "it’s here" in render(line.cellcli)
    with pytest.raises(LookalikeError):
        parse_line(argv_line(["alter", "cell", "comment=it’s"]))


@pytest.mark.parametrize(
    "text", ["exa1cel０1", "exa1cel01–exa1cel03", "exa1cel01\u00a0", "‘exa1cel01’", "exa1cel[01–03]"]
)
def test_cells(text: str) -> None:
    """A set of cells is refused with the character and its column, as every other text is."""
    with pytest.raises(CellSetError, match=r"U\+.* in column \d+ "):
        CellSet.parse(text)


def test_comments_stay() -> None:
    """A comment is for people: nothing in it is looked at."""
    assert parse_line("-- Müller’s “list” –") is None and parse_line("# ‘x’") is None
    line = parse_line("list cell -- Müller’s “list”")
    assert line is not None and line.cellcli is not None


def test_a_script_names_its_line(tmp_path: Path) -> None:
    """A quote that a web page's was to close is told with the line of the file, and so is a character of a statement."""
    path = tmp_path / "a.cli"
    path.write_text("list cell\nlist griddisk where name = 'No’\nlist cell\n", encoding="utf-8")
    with pytest.raises(StatementError, match=r"a\.cli: line 2: ’ .*column 31 "):
        script_at(path)
    statements = list(read_script(["list cell\n", "list griddisk where name = (‘a’,\n", "b)\n"]))
    assert [each.number for each in statements] == [1, 2]  # What it goes on with is never a statement of its own.


def test_line_ends_of_web_pages_end_no_line_of_a_recipe() -> None:
    """Only line feeds and carriage returns end the lines of a recipe."""
    from exacell.recipes.parsing import physical_lines

    assert [lines for _, lines in physical_lines("a\u2028b\u0085c\r\nd\re\n")] == [["a\u2028b\u0085c"], ["d"], ["e"]]


def test_the_table_has_each_character_once() -> None:
    """No character is meant for two."""
    chars = sorted("".join(MEANT.values()))
    assert all(one != other for one, other in pairwise(chars)) and sys.maxunicode > max(map(ord, chars))
