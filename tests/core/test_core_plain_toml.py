"""Configurations that are read without the TOML parser are read as the parser reads them."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from exacell.core.plain_toml import plain_toml

PLAIN = [
    "",
    "\n# a comment\n\n",
    "cells = \"exa1cel[01-14]\"\nread_user = 'cellmonitor' # who reads\n",
    'cells=["127.0.1.1","127.0.1.2", "c # no comment",]\n  fanout = 64\n\ttimeout = "90s"\nkeep = true\n',
    'hold = false # no\n[rack.exa1]\ncells = []\n[rack.exa2] # two\ncells = [ ]\n[rack.exa2.alias]\nx-1 = "a=b"\n[other]\n',
    "0 = 0\n1 = 10\n",
]
ODD = [
    'a = "b\\n"', 'a = """b"""', "a = '''b'''", "a = 1.5", "a = -1", "a = 1_000", "a = 1000000000000000000",
    "a = 0x1f", "a = 1979-05-27", "a = {b = 1}",
    'a = [\n"b",\n]', "a = [1, 2]", 'a.b = "c"', '"a" = 1', "[[a]]\nb = 1", '[a."b"]\n', "[a.b]\n[a]\nc = 1", 'a = "ü"',
    "a = 1\r\n", "a = [[\"b\"]]",
]  # fmt: skip
WRONG = [
    "a = 1\na = 2", "[a]\n[a]\n", "a = 1\n[a]\n", "a = 1\n[a.b]\n", "a", "a =", "= 1", 'a = "b', "a = b", "a = 01", 'a = "b" c',
    'a = ["b" "c"]', 'a = ["b"', 'a = [,]', "[a", "[a]b", "[]", "a b = 1", "a = tru", 'a = "b"\x01', "a = 1 2", "[a.]",
    "a = True",    "a = \"b\x7f\"", "# \x00", 'a = ["b",,"c"]', "a = [] b = 1",
]  # fmt: skip


def parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


@pytest.mark.parametrize("text", PLAIN)
def test_simple_configurations_need_no_parser(text: str) -> None:
    """A simple text gives what the parser gives, without the parser."""
    found = plain_toml(text)
    assert found is not None and repr(found) == repr(parsed(text))


@pytest.mark.parametrize("text", [*ODD, *WRONG])
def test_anything_else_is_left_to_the_parser(text: str) -> None:
    """What is not simple, or no TOML, is never read without the parser."""
    assert plain_toml(text) is None
    assert (parsed(text) is None) is (text in WRONG)


_PIECES = [
    "a", "b", " = ", "=", '"', "'", '"x"', "'y'", "[", "]", "[a]", "[a.b]", "\n", "\n", " ", "\t", "#", ",", "1", "0", "true",
    "false", ".", "-", 'a = "x"\n', 'b = ["x", "y"]\n', "\\", "{", "}", "ü", "\r", "c = 5 # five\n",
]  # fmt: skip


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_whatever_is_read_without_the_parser_the_parser_reads_too(text: str) -> None:
    """No text is read without the parser as anything else than the parser reads."""
    found = plain_toml(text)
    if found is not None:
        assert repr(found) == repr(parsed(text))
