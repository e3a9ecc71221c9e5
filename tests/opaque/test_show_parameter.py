"""SHOW PARAMETER of SQL*Plus, which sql takes as the query that it asks."""

from __future__ import annotations

import pytest

from exacell.care.sqltext import one_line
from exacell.opaque.findings import UnreadError
from exacell.opaque.sql import read_sql


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("show parameter cell", "cell"),
        ("SHOW PARAMETERS Cell_Offload;", "cell_offload"),
        ("sho parameter", ""),
        ("show parameter db_$x#", "db_$x#"),
    ],
)
def test_it_is_a_query_that_is_read(text: str, part: str) -> None:
    """It comes out as one query of v$parameter for names that hold the word, and that query only reads."""
    query = one_line(text)
    assert query.startswith("select name, ") and f"like '%{part}%'" in query
    if "#" not in part:
        assert read_sql(f"{query};").views == ("V$PARAMETER",)


@pytest.mark.parametrize(
    "text", ["show parameter a b", "show parameter 'x", "show spparameter cell", "show sga", "show parameter x' or 1=1"]
)
def test_nothing_else_of_show_is(text: str) -> None:
    """Other texts that begin with SHOW stay what they are, so that they are not read."""
    with pytest.raises(Exception) as caught:
        read_sql(f"{one_line(text)};")
    assert isinstance(caught.value, UnreadError) or "quote is open" in str(caught.value)
