"""SQL pasted where a statement is expected."""

from __future__ import annotations

import pytest

from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.pasted_sql import sql_error

CREATE = (
    "create diskgroup DATA2 normal redundancy disk 'o/*/DATA2_*' attribute 'compatible.asm'='19.0.0.0', "
    "'au_size'='4M', 'cell.smart_scan_capable'='TRUE'"
)


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        (CREATE, "create diskgroup DATA2 prefix=DATA2 redundancy=normal compatible.asm=19.0.0.0 au_size=4M"),
        (CREATE.upper(), "create diskgroup DATA2 prefix=DATA2 redundancy=normal compatible.asm=19.0.0.0 au_size=4M"),
        (
            "CREATE DISKGROUP x\n  HIGH REDUNDANCY DISK 'o/*/ssd_disk_*';",
            "create diskgroup x prefix=ssd_disk redundancy=high",
        ),
        (
            "on exa1cel01 create diskgroup X disk 'o/*/P_*'",
            "create diskgroup X prefix=P redundancy=normal",
        ),
        ("drop diskgroup X including contents", 'sql asm "drop diskgroup X including contents"'),
        ("alter diskgroup DATA add disk 'o/*/x_*'", "sql asm \"alter diskgroup DATA add disk 'o/*/x_*'\""),
        ("select name from v$asm_diskgroup", 'sql asm "select name from v$asm_diskgroup"'),
    ],
)
def test_what_to_type_instead_is_told_and_parses(typed: str, own: str) -> None:
    """Pasted SQL is refused with the statement that does it, which is one; the mark is at the SQL."""
    with pytest.raises(StatementError) as raised:
        parse_line(typed)
    assert f"type: {own}".lower() in raised.value.hint.lower()
    assert typed[raised.value.start : raised.value.end].split()[0].lower() == own.removeprefix('sql asm "').split()[0]
    assert parse_line(own) is not None


@pytest.mark.parametrize(
    "typed",
    [
        "create diskgroup X external redundancy failgroup a disk 'o/*/A_*' failgroup b disk 'o/*/B_*'",
        "create diskgroup X normal redundancy disk 'o/c1/A_*','o/c2/A_*'",
        "create diskgroup X flex redundancy disk 'o/*/A_*'",
    ],
)
def test_no_statement_is_made_up(typed: str) -> None:
    """SQL that says more than our statement can is answered with its form only."""
    error = sql_error(typed)
    assert error is not None and "type:" not in error.hint and "prefix=p" in error.hint


@pytest.mark.parametrize("typed", ["create diskgroup X norml", "drop diskgroup", "alter griddisk x", "selct x", ""])
def test_a_mistyped_statement_is_not_taken_for_sql(typed: str) -> None:
    """What is no SQL keeps its own error."""
    assert sql_error(typed) is None
