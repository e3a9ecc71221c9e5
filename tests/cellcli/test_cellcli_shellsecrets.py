"""Secrets in what shells run, in addresses and in wrong statements about keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from exacell.cellcli import secrets, shellsecrets
from exacell.cellcli.secrets import holds_secret, masked, masked_data, may_hold, without
from exacell.core.errors import RefusedError
from exacell.core.packaged import data_beside
from exacell.session.history import is_secret
from exacell.session.vault import refuse_forgotten
from tests.support.every import every

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "secret_texts.toml").read_text(encoding="utf-8"))
SECRET = "S3cret9x"


@every(DATA["secret"])
def test_a_secret_is_shown_and_kept_nowhere(text: str) -> None:
    """A password, a key or a token leaves neither a message, nor the journal, nor the history; its mask stays as it is."""
    assert SECRET not in masked(text) and "***" in masked(text) and masked(masked(text)) == masked(text)
    assert holds_secret(text) and may_hold(text) and is_secret(text)
    assert SECRET not in str(masked_data({"statement": text, "opaque": [text]}))
    assert SECRET not in without(text, f"'{SECRET}' is one word too many")
    with pytest.raises(RefusedError, match="does not keep"):
        refuse_forgotten(masked(text))


@every(DATA["plain"])
def test_what_is_no_secret_stays(text: str) -> None:
    """Options, addresses and sentences without a secret are shown as they are."""
    assert masked(text) == text and not holds_secret(text)


SOUGHT = (secrets._hinted(), shellsecrets._NAMED, shellsecrets._LOGON, shellsecrets._KEYS, shellsecrets._programs()[0])
HINTS = SOUGHT[:1]


def _commands() -> Iterator[str]:
    """Yield a command for each program and each place of the table, with the secret there."""
    table = data_beside(shellsecrets.__spec__, "options.tsv")
    for row in [line for line in table.splitlines() if not line.startswith("#")][1:]:
        what, places = row.split("\t")
        programs, *words = what.replace("*", "x").split()
        for program in programs.split(","):
            for place in places.split():
                if place.startswith("#"):
                    said = " ".join(["-v", *["word"] * (abs(int(place[1:])) - 1), SECRET])
                elif place[0] == "+":
                    said = f"-{place[1:]}{SECRET}"
                else:
                    said = (
                        f"{place[1:] if place[0] == '*' else place.replace('=', '-')}{' ' * (place[0] != '/')}{SECRET}"
                    )
                yield " ".join([program, *words, said])


@every(_commands)
def test_each_place_of_the_table_is_masked(text: str) -> None:
    """Whatever program and place the table names, the secret that stands there is masked."""
    assert SECRET not in masked(text)
    on_lines = text.replace(" ", " \\\n  ")
    assert SECRET not in masked(f"sudo /usr/bin/{on_lines} && id")


EVERY_WAY = (
    "x --api-key=abc", "x --token abc", "x --secret abc", "x --passphrase abc", "x --access-key abc", "API_TOKEN=abc",
    "MY_SECRET=abc", "APIKEY=abc", "ACCESS_KEY=abc", "MY_PASSPHRASE=abc", "DB_PASS=abc", "apwd=abc", "pasw=abc", "passwt=abc",
    "http://h/?sig=abc", "http://h/?signature=abc", "http://h/?access_key=abc", "{'token': 'abc'}", "set password abc",
    "vault login abc", "echo abc | passwd joe", "echo abc | sudo -S ls", "kinit joe <<< abc", "sudo -S ls <<< abc",
    "mkstore -createEntry name abc", "mkstore -modifyEntry name abc", "curl -H 'X-Auth: abc'", "curl --header 'my-key: abc'",
    "identified by old replace abc", "mkstore -createCredential db joe abc", "joe:abc | chpasswd", "Authorization: Basic abc",
    "Bearer abcdefghijklmnopqrst", "X-Vault-Token: abc", "Cookie: abc", "sqlplus joe/abc@db", "sqlcl joe/abc@db",
    "rman joe/abc@db", "impdp joe/abc@db", "expdp joe/abc@db", "sqlldr joe/abc@db", "dgmgrl joe/abc@db", "conn joe/abc@db",
    "connect joe/abc@db", "target joe/abc@db", "catalog joe/abc@db", "auxiliary joe/abc@db", "userid=joe/abc@db",
    "assign key for abc123", "drop keys abc123", "alter key abc123",
)  # fmt: skip
"""A text for each way of the patterns in which a secret, abc, may stand."""


@every(EVERY_WAY)
def test_each_way_is_looked_for(text: str) -> None:
    """A text with a secret is found by its words, in upper and lower case where the way takes both."""
    assert any(hint.pattern.search(text) for hint in SOUGHT[1:]), "no pattern takes it"
    for hint in SOUGHT:
        for said in (text, text.upper(), text.lower(), text.replace("s", "\u017f").replace("k", "\u212a")):
            for around in ("{}", "list cell\n{}", "{} {}"):
                whole = around.format(said, said)
                assert [*map(_span, hint.finditer(whole))] == [*map(_span, hint.pattern.finditer(whole))]
                assert hint.found_in(whole) is bool(hint.pattern.search(whole))


def _span(match: re.Match[str]) -> tuple[int, int]:
    return match.span()


@given(st.lists(st.sampled_from([*DATA["secret"], *DATA["plain"], *EVERY_WAY]), max_size=3), st.text(max_size=8))
def test_what_is_looked_for_by_words_is_what_the_patterns_find(texts: list[str], between: str) -> None:
    """In texts of all kinds, with any sign between them, nothing is found less or more."""
    text = between.join(texts)
    for hint in SOUGHT:
        assert [*map(_span, hint.finditer(text))] == [*map(_span, hint.pattern.finditer(text))]


@given(st.data())
@settings(max_examples=20)
def test_no_hint_is_missed_where_none_of_its_words_seems_to_stand(data: st.DataObject) -> None:
    """Whatever a way of the pattern finds, in whatever case and in letters that are another case of ASCII ones, is found."""
    for hint in HINTS:
        for way in hint.pattern.pattern.split("|"):
            text = data.draw(st.from_regex(re.compile(way, re.IGNORECASE), fullmatch=True))
            assert hint.found_in(text) and hint.found_in(text.upper())
            assert hint.found_in(text.replace("s", "\u017f").replace("k", "\u212a"))


@given(st.text())
def test_nothing_is_taken_for_a_hint_because_of_a_word_alone(text: str) -> None:
    """A word of a hint in a text finds what the pattern finds."""
    for hint in HINTS:
        for word in hint.words:
            assert hint.found_in(text + word + text) is bool(hint.pattern.search(text + word + text))
