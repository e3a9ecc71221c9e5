"""Values of settings are of the kind that the schema gives their attribute, before anything is planned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.change import check_value
from exacell.cellcli.nodes import Group, Scalar, Verb
from exacell.cellcli.schema import Kind, objects
from exacell.cellcli.statement import parse
from exacell.core.errors import StatementError

GOOD = {
    Kind.BOOL: ("TRUE", "false", "True"),
    Kind.INT: ("0", "7", "-1", ""),
    Kind.NUMBER: ("0", "1.5", ".5", "-2", "1e6", ""),
    Kind.SIZE: ("8G", "557.859375G", "16M"),
}
BAD = {
    Kind.BOOL: ("maybe", "", "yes", "1", "TRUE,FALSE", "TRUE "),
    Kind.INT: ("seven", "1.5", "7d", "1,2", "0x7"),
    Kind.NUMBER: ("high", "10M", "1,5", "nan", "inf"),
    Kind.SIZE: ("large", "", "8GG"),
}


def settings() -> Iterator[tuple[str, str, Kind]]:
    """Yield each attribute that somebody can set and whose kind has a form."""
    for owner in objects().values():
        for attribute in owner.attributes.values():
            if attribute.settable and attribute.kind in GOOD:
                yield owner.name, attribute.name, attribute.kind


def test_a_value_of_another_kind_is_refused_in_one_line() -> None:
    """Of every attribute that can be set: what is not of its kind is refused, naming it and the value; what is, passes."""
    found = list(settings())
    assert {kind for _, _, kind in found} == set(GOOD)
    for owner, name, kind in found:
        for text in GOOD[kind]:
            assert not check_value(Verb.ALTER, owner, name, kind, Scalar(text=text)), (owner, name, text)
        for text in BAD[kind]:
            said = check_value(Verb.ALTER, owner, name, kind, Scalar(text=text))
            assert said and "\n" not in said and f"'{text}'" in said, (owner, name, text, said)
        assert "list" in check_value(Verb.ALTER, owner, name, kind, Group(items=(Scalar(text="1"),))), (owner, name)


@given(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_one(whole: int, number: float) -> None:
    """Whole numbers and numbers pass however they are written."""
    assert not check_value(Verb.ALTER, "CELL", "smtpPort", Kind.INT, Scalar(text=str(whole)))
    assert not check_value(Verb.ALTER, "THRESHOLD", "warning", Kind.NUMBER, Scalar(text=str(number)))


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("alter cell enableSmartStorage=maybe", "enableSmartStorage needs TRUE or FALSE, not 'maybe'"),
        ("alter cell name=x, smtpPort=mail", "smtpPort needs a whole number, not 'mail'"),
        ("create threshold x comparison='>', warning=high", "warning needs a number, not 'high'"),
    ],
)
def test_a_statement_with_such_a_value_is_no_statement(statement: str, said: str) -> None:
    """It is refused where it is read, so no plan is made of it."""
    with pytest.raises(StatementError) as caught:
        parse(statement)
    assert said in caught.value.message


def test_what_oracle_writes_passes() -> None:
    """Booleans and numbers in quotes, and in any case of letters."""
    for text in ("smtpUseSSL=TRUE", "smtpUseSSL='false'", 'metricHistoryDays="7"', "eighthRack=True", "smtpPort=''"):
        parse(f"alter cell {text}")
