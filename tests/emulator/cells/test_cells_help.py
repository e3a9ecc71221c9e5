"""HELP of LIST for each object type. Source: on-line HELP of a 24.x cell; a published HELP LIST of 11.2 and 11.2.3."""

from __future__ import annotations

import pytest
from cells_bench import Bench

USAGES = [
    ("19.3", "CELL", "[<attribute_list>] [DETAIL]"),
    ("19.3", "GRIDDISK", "[<name> | <filters>] [<attribute_list>] [DETAIL]"),
    ("19.3", "FLASHCACHECONTENT", "[<filters>] [<attribute_list>] [DETAIL]"),
    ("19.3", "SOFTWAREHISTORY", "[<filters>] [<attribute_list>] [DETAIL]"),
    ("19.3", "METRICCURRENT", "[<name1>[, <name2>]... ] [<filters>] [<attribute_list>] [DETAIL]"),
    ("19.3", "DIAGPACK", "[DETAIL]"),
    ("12.1.2", "KEY", "[<name> | <filters>] [<attribute_list>] [DETAIL]"),
]


@pytest.mark.parametrize(("release", "name", "form"), USAGES)
def test_help_shows_what_may_follow_list(release: str, name: str, form: str) -> None:
    """HELP LIST says for each object type whether it takes a name, several names or filters."""
    order = "" if name == "DIAGPACK" else " [ORDER BY <order_list>] [LIMIT <number>]"
    assert f"\n  Usage: LIST {name} {form}{order}\n\n" in Bench(release=release).e(f"help list {name}")


def test_help_knows_the_clauses_of_its_release() -> None:
    """ORDER BY came with 12.1.2.1, LIST KEY FOR with 12.2: HELP of older releases does not have them."""
    old = Bench(release="11.2.3.2.1")
    assert "ORDER BY" not in old.e("help list griddisk")
    assert "FOR {" not in Bench(release="12.1.2").e("help list key")
    assert "LIST KEY [FOR {ASMCLUSTER | CELL | LOCAL CELL | REMOTE CELL}] [DETAIL]" in Bench().e("help list key")


def test_help_of_a_verb_names_its_object_types() -> None:
    """HELP and a verb that many objects have lists them as HELP does: 11.2.3.2.1 has no ALTER FLASHCACHE, no DISKMAP."""
    old = Bench(release="11.2.3.2.1")
    types = (
        "ALERTHISTORY | CELL | CELLDISK | GRIDDISK | IBPORT | IORMPLAN | LUN | PHYSICALDISK | QUARANTINE | THRESHOLD"
    )
    assert f"    <object_type>:  {{{types}}}\n" in old.e("help alter")
    assert "{ACTIVEREQUEST | ALERTDEFINITION | " in old.e("help list")
    assert "DISKMAP" not in old.e("help list")


def test_help_explains_what_the_usage_names() -> None:
    """Every placeholder of a usage is explained below it, and nothing else is."""
    text = Bench().e("help list cell")
    assert "    <attribute_list>: ATTRIBUTES {ALL | attribute [, attribute]...}\n" in text
    assert "<name>" not in text and "<filters>" not in text
