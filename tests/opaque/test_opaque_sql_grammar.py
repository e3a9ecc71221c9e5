"""The grammar of a query that only reads, clause by clause: what each takes, and what is not taken in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.sql import read_sql
from exacell.opaque.sqltokens import LONGEST, views
from tests.support.every import every

CLAUSES = (Path(__file__).parents[1] / "data/sql/clauses.sql").read_text(encoding="ascii").splitlines()
FROM_FILE = "select file_id from dba_free_space where {};"


@every(CLAUSES)
def test_each_clause_of_a_query_is_read(text: str) -> None:
    """Every form of every clause, as Oracle's SQL Language Reference writes it, is a read."""
    assert read_sql(text).query == text.removesuffix(";")


NAMES = {
    # What a name may be a function's for all that the query says.
    "a column that another name has now": ("with a (x) as (select 1 y from dual) select y from a;", "y"),
    "an order inside of a view": ("select 1 from (select 1 a from dual order by wipe);", "wipe"),
    "an order inside of a WITH": ("with a as (select 1 x from dual order by wipe) select x from a;", "wipe"),
    "an order of a whole query": ("select status from v$log union select status from v$log order by bytes;", "bytes"),
    "a value in that order": ("select bytes from v$log union select bytes from v$log order by -blocksize;", "blocksize"),
    "a view's own name beside its alias": ('select v$log.status from v$log "L";', '"L"'),
    "a table that is joined later": ("select 1 from v$log join v$logfile on wipe.enabled = 'x' join v$thread wipe on 1 = 1;",
                                     "wipe.enabled"),
    "a column that is joined later": ("select 1 from v$log join v$logfile on enabled = 'x' join v$thread on 1 = 1;", "enabled"),
    "a column that is joined later by its name": ("select 1 from v$log join v$logfile using (enabled) cross join v$thread;",
                                                  "enabled"),
    "a table beside a join": ("select 1 from v$thread t, v$log l join v$logfile on t.enabled = 'x';", "t.enabled"),
    "a table of SYS with the name of a WITH": ("with t as (select 1 x from dual) select x from sys.t;", "t"),
    "a WITH with a view's quoted name": ('with "V$LOG" as (select 1 x from dual) select status from v$log;', '"V$LOG"'),
    "a column of a quoted name": ('select l."wipe" from v$log l;', 'l."wipe"'),
    "a quoted name in a condition": (FROM_FILE.format('"wipe" = 1'), '"wipe"'),
    "a literal where a table stands": ("select 'a'.* from v$log;", "'a'.*"),
    "a quoted view": ('select status from "V$LOG";', '"V$LOG"'),
}  # fmt: skip
ORACLES = {
    # What Oracle refuses, and exacell sends nobody to try.
    "a word before a condition": (FROM_FILE.format("file_id wipe in (1)"), "wipe"),
    "NOT without what it turns round": (FROM_FILE.format("file_id not and 1 = 1"), "not"),
    "ANY without a comparison": (FROM_FILE.format("1 = 1 and any (1)"), "any"),
    "DATE without its text": ("select date wipe from dual;", "date"),
    "a text behind a word that is no type": ("select wipe 'x' from dual;", "'x'"),
    "three units": (FROM_FILE.format("sysdate > interval '1' day to hour to minute"), "to"),
    "AS without an alias": ("select status as, bytes from v$log;", ","),
    "AS with a word of SQL": ("select status as select from v$log;", "select"),
    "an alias that is a value": ("select 1 sysdate from dual;", "sysdate"),
    "a WITH that is a value": ("with user as (select 1 x from dual) select x from dual;", "user"),
    "a column that is a value": ("with a (rownum) as (select 1 x from dual) select 1 from a;", "rownum"),
    "a WITH in quotes": ('with "a" as (select 1 x from dual) select 1 from dual;', '"a"'),
    "rows of a window that are no number": ("select sum(file#) over (order by file# rows wipe preceding) from v$datafile;",
                                            "wipe"),
}  # fmt: skip


@every([*NAMES, *ORACLES])
def test_what_stands_in_the_place_of_a_clause_is_unread(what: str) -> None:
    """A name that is no column where it stands, and what no clause of Oracle's has there, make a query unread."""
    text, sign = {**NAMES, **ORACLES}[what]
    with pytest.raises(UnreadError) as raised:
        read_sql(text)
    assert raised.value.sign == sign


@pytest.mark.parametrize(
    ("whole", "before", "inner", "deepest"),
    [("{};", "select * from\n(", "select * from dual", 59), ("select {} from dual;", "(", "1", 58)],
    ids=["queries", "values"],
)
def test_a_query_is_read_to_its_deepest(whole: str, before: str, inner: str, deepest: int) -> None:
    """Sixty queries and values within each other are read, and one more is refused in a sentence: no depth of a text ends
    the reader itself."""

    def text(deep: int) -> str:
        return whole.format(f"{before * deep}{inner}{')' * deep}")

    assert read_sql(text(deepest)).query
    for deep in (deepest + 1, 1000):
        with pytest.raises(UnreadError, match="too deep"):
            read_sql(text(deep))


def test_the_longest_line_is_read() -> None:
    """A line of as many characters as the oldest SQL*Plus takes is read, and one of one more is not."""
    line = f"select '{'x' * (LONGEST - len('select  from dual;') - 2)}' from dual;"
    assert len(line) == LONGEST and read_sql(line).query
    with pytest.raises(UnreadError, match="leave out a line"):
        read_sql(line.replace("from", " from"))


WHYS = {
    "select ) from dual;": "does not read it in this place",
    "select 1 from dual where": "no ; at the end",
    "select ;": "does not read it in this place",
    "select x from dual; drop x;": "one query at a time",
    "select 1 from dual where dummy = :x;": "a variable of SQL*Plus",
    "select wipe from (select 1 a from dual);": "not a known column of the query in FROM",
    "select wipe from v$log l, dual;": "not a known column of dual, l",
    "select 1 from dual union select wipe from v$log;": "not a known column of v$log",
    "select 1 a from dual union select 1 from dual order by dummy;": "not a known column of the query in FROM",
    "select app.wipe(1) from dual;": "a function of a package",
    "-- x\nselect dummy from dual;": "a comment may end or hide",
    "/* x\nselect dummy from dual;": "a comment may end or hide",
    "remark x\nselect dummy from dual;": "a comment may end or hide",
    "remove x\nselect dummy from dual;": "only SET, COLUMN, one SELECT",
    "drop x;": "only SET, COLUMN, one SELECT",
}  # fmt: skip


@pytest.mark.parametrize("text", WHYS, ids=ascii)
def test_the_reason_is_told(text: str) -> None:
    """A refusal tells what is the matter with the word or sign that it names."""
    with pytest.raises(UnreadError) as raised:
        read_sql(text)
    assert WHYS[text] in raised.value.why


def test_a_variable_has_a_way_out() -> None:
    """Who writes a variable of SQL*Plus is told to write its value."""
    with pytest.raises(UnreadError) as raised:
        read_sql("select 1 from dual where dummy = :x;")
    assert raised.value.instead == "write the value itself"


def test_views_have_all_their_names() -> None:
    """A view is there under each name that Oracle gives it: of all instances with the instance's number, of all containers
    with the container's, of what a user may see; one that has no other name has none here."""
    found = views()
    assert found["GV$LOG"] == found["V$LOG"] | {"INST_ID"}
    assert found["CDB_DATA_FILES"] == found["DBA_DATA_FILES"] | {"CON_ID"}
    assert found["ALL_TABLES"] == found["DBA_TABLES"]
    assert not [name for name in found if name.startswith(("-", "GV$GV$", "GDBA_")) or name.endswith("-")]


@pytest.mark.parametrize(
    "line",
    [
        "set colsep |",
        "set null '(null)'",
        'set null "none"',
        "set null none",
        "column dummy heading a|b",
        "col x null 'a b'",
    ],
)
def test_the_text_of_a_setting_is_plain_or_quoted(line: str) -> None:
    """The text of a setting is read in quotes, or as one plain word."""
    assert read_sql(f"{line}\nselect dummy from dual;").commands == (line,)


@pytest.mark.parametrize(
    ("line", "sign"), [("set null (null)", "null (null)"), ('set null "none', '"'), ("set null 'none", "'")]
)
def test_no_other_text_of_a_setting_is_read(line: str, sign: str) -> None:
    """Signs outside of quotes are unread, and an open quote is named by its own sign."""
    with pytest.raises(UnreadError) as raised:
        read_sql(f"{line}\nselect dummy from dual;")
    assert raised.value.sign == sign
