"""argv before the statement, and scripts."""

import pytest

from exacell.core.errors import StatementError
from exacell.language.options import read_argv, usage
from exacell.session.scripts import read_script


@pytest.mark.parametrize(
    "argv",
    [
        ["-r", "t1", "-o", "csv", "-c", "c1", "list", "griddisk"],
        ["list", "griddisk", "-r", "t1", "-o", "csv", "-c", "c1"],
        ["list", "-rt1", "griddisk", "--cells=c1", "-ocsv"],
        ["-r", "t0", "list", "griddisk", "-r", "t1", "--cells", "c1", "-o=csv"],
    ],
)
def test_options_stand_before_among_or_behind_the_statement(argv: list[str]) -> None:
    """Wherever they stand they mean the same, and the last one wins."""
    line = read_argv(argv)
    assert [line.value(name) for name in ("rack", "format", "cells")] == ["t1", "csv", "c1"]
    assert line.words == ("list", "griddisk")


def test_a_statement_keeps_its_own_flags() -> None:
    """-y, -n, --format and --help behind the statement are its own words; joined with an option -y is for all of it."""
    assert read_argv(["resize", "flashcache", "-y", "--format=csv"]).words == (
        "resize",
        "flashcache",
        "-y",
        "--format=csv",
    )
    assert read_argv(["flush", "flashcache", "--help"]).words == ("flush", "flashcache", "--help")
    joined = read_argv(["flush", "flashcache", "-yo", "csv"])
    assert joined.words == ("flush", "flashcache") and joined.flags == {"yes": None} and joined.value("format") == "csv"
    assert "monitor" in read_argv(["list", "cell", "-m"]).switches
    assert "no-header" in read_argv(["list", "cell", "--no-header"]).switches


@pytest.mark.parametrize(
    "words",
    [
        ["dcli", "-c", "a,b", "-l", "root", "uptime"],
        ["sh", "ls", "-l", "-r"],
        ["host", "grep", "-c", "x", "f"],
        ["alias", "x", "list", "cell", "-o", "csv"],
        ["on", "c1", "sh", "ls", "-l"],
        ["on", "(where", "status=x)", "sh", "ls", "-l"],
        ["!ls", "-l"],
        ["sh ls", "-l"],
        ["demo", "dcli", "-l", "root", "uptime"],
        ["SH", "ls", "-l"],
    ],
)
def test_all_words_are_the_commands(words: list[str]) -> None:
    """Behind dcli, sh, host, alias and ! nothing is an option of exacell's."""
    line = read_argv(["-r", "t1", *words])
    assert line.words == tuple(words) and line.values == {"rack": "t1"} and not line.switches
    if not words[1].startswith("-"):  # Directly behind -e and its text stand options, as before a statement.
        assert read_argv(["-e", *words]).words == tuple(words[1:])


def test_two_hyphens_end_the_options() -> None:
    """Behind -- every word is the statement's, before it and behind."""
    assert read_argv(["-r", "t1", "--", "-c"]).words == ("-c",)
    assert read_argv(["list", "griddisk", "--", "-o", "csv"]).words == ("list", "griddisk", "-o", "csv")


def test_what_stands_between_cellcli_and_its_statement_is_cellclis() -> None:
    """A pasted cellcli -e keeps its own options, and what is behind the statement is exacell's."""
    line = read_argv(["cellcli", "-m", "-e", "list", "cell", "-o", "csv"])
    assert line.words == ("cellcli", "-m", "-e", "list", "cell") and line.values == {"format": "csv"}


def test_an_execute_behind_a_statement_is_an_error() -> None:
    """-e behind a statement says that there would be two of them."""
    for argv in (["list", "cell", "-e", "list griddisk"], ["list", "cell", "--execute=list griddisk"]):
        with pytest.raises(StatementError, match="-e and a statement can't be given together"):
            read_argv(argv)


@pytest.mark.parametrize("argv", [["-rt1"], ["-r=t1"], ["--rack=t1"], ["--rack", "t1"], ["-nr", "t1"]])
def test_an_options_value_may_be_written_in_every_usual_way(argv: list[str]) -> None:
    """-rt1, -r=t1, --rack=t1 and --rack t1 mean the same, short switches may be joined."""
    assert read_argv([*argv, "cells"]).value("rack") == "t1"


def test_several_executes_are_one_batch() -> None:
    """-e may be given more than once, in order."""
    assert read_argv(["-e", "a", "-e", "b", "-o", "json"]).value("execute") == "a; b"


def test_long_options_that_are_not_ours_belong_to_the_statement() -> None:
    """--reason=x before the statement is the statement's flag."""
    assert read_argv(["--reason=x", "--detailed-exitcode", "flush"]).flags == {"reason": "x", "detailed-exitcode": None}


def test_a_flag_before_the_statement_takes_its_value_as_it_does_behind_it() -> None:
    """--confirm-within 30m and --confirm-within=30m mean the same there; --rolling takes a number only behind =."""
    for argv in (["--confirm-within", "30m"], ["--confirm-within=30m"]):
        line = read_argv([*argv, "disable", "flashlog", "db=SPOT"])
        assert line.flags == {"confirm-within": "30m"} and line.words == ("disable", "flashlog", "db=SPOT")
    assert read_argv(["--rolling", "flush", "flashcache"]).words == ("flush", "flashcache")
    assert read_argv(["--detailed-exitcode", "flush", "flashcache"]).words == ("flush", "flashcache")


@pytest.mark.parametrize("argv", [["-r"], ["-z", "cells"], ["--version=1"], ["-e"], ["list", "cell", "-o"]])
def test_a_wrong_option_is_an_error(argv: list[str]) -> None:
    """An unknown option or a missing value is a usage error."""
    with pytest.raises(StatementError):
        read_argv(argv)


@pytest.mark.parametrize(
    "argv",
    [
        ["-c", "", "flush", "flashcache"],
        ["--cells=", "flush", "flashcache"],
        ["flush", "flashcache", "-c", " "],
        ["-r", "", "flush", "flashcache"],
        ["-g", "", "flush", "flashcache"],
        ["-e", ""],
    ],
)
def test_an_option_with_an_empty_value_is_an_error(argv: list[str]) -> None:
    """What a shell's variable says that is not set is never all cells, or the default rack."""
    with pytest.raises(StatementError, match="needs a value, not an empty one"):
        read_argv(argv)


def test_the_help_page_fits_one_screen() -> None:
    """--help has at most 24 lines of 80 columns and names every first word of our own statements; plan[s] is plan and plans,
    [un]lock is lock and unlock."""
    from exacell.language.registry import commands

    page = usage().splitlines()
    assert len(page) <= 24 and max(map(len, page)) <= 80
    shown = "\n".join(page).split()
    words = {word.replace("[un]", un).replace("[s]", s) for word in shown for un in ("", "un") for s in ("", "s")}
    assert {key[0] for key in commands()} <= words


SCRIPT = """\
# a comment
-- another
rem one more
list cell; list flashcache

list griddisk -
  where size > 1G -
  attributes name
alter iormplan dbplan=((name=SPOT, share=8),
  (name=default, share=1))
"""


def test_a_script_is_statements_with_their_lines() -> None:
    """Comments and empty lines are dropped, ; separates, - and open parentheses continue, numbers are kept."""
    found = list(read_script(SCRIPT.splitlines(keepends=True)))
    assert [(s.number, " ".join(s.text.split())) for s in found] == [
        (4, "list cell"),
        (4, "list flashcache"),
        (6, "list griddisk where size > 1G attributes name"),
        (9, "alter iormplan dbplan=((name=SPOT, share=8), (name=default, share=1))"),
    ]


def test_statements_arrive_as_soon_as_they_are_complete() -> None:
    """A program that feeds a script line by line gets each statement run before it writes the next line."""
    lines = iter(["list cell\n", "list flashcache\n"])
    script = read_script(lines)
    assert next(script).text == "list cell" and next(lines) == "list flashcache\n"


def test_a_script_that_ends_inside_a_statement_is_an_error() -> None:
    """An open parenthesis at the end names the line where the statement began."""
    with pytest.raises(StatementError, match="starts on line 2 never ends"):
        list(read_script(["list cell", "alter iormplan dbplan=((name=a"]))


def test_a_last_line_that_continues_into_nothing_still_counts() -> None:
    """A - at the very end of a script does not swallow the statement."""
    assert [s.text for s in read_script(["list cell -"])] == ["list cell"]
