"""The grammar of one line: what is a flag, a pipe, a redirection, a comment; and what survives untouched."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import assume, given, strategies as st

from exacell.cellcli.statement import render
from exacell.core.errors import StatementError
from exacell.language.argv import argv_line
from exacell.language.calls import ONLY_CELLCLI
from exacell.language.line import Line, parse_line, with_flags
from exacell.language.registry import Effect, commands
from exacell.language.words import join_continued, needs_more, split_statements, split_words, strip_comment, unquote
from tests.support.every import every


def parse(text: str, *, shell: bool = True) -> Line:
    line = parse_line(text, shell=shell)
    assert line is not None
    return line


# text; CellCLI statement as it is sent; pipe; redirect
CELLCLI: list[tuple[str, str, str, str]] = [
    ("list griddisk where size > 1G", "LIST GRIDDISK WHERE size > 1G", "", ""),
    ("list griddisk where size > 1G > big.txt", "LIST GRIDDISK WHERE size > 1G", "", "big.txt"),
    ("list griddisk > big.txt", "LIST GRIDDISK", "", "big.txt"),
    ("list griddisk attributes name, size > 'my file'", "LIST GRIDDISK ATTRIBUTES name, size", "", "my file"),
    ("list griddisk where size < 1G | wc -l", "LIST GRIDDISK WHERE size < 1G", "wc -l", ""),
    ("list cell | grep a | wc -l", "LIST CELL", "grep a | wc -l", ""),
    ("list metriccurrent where name like 'a|b'", "LIST METRICCURRENT WHERE name LIKE 'a|b'", "", ""),
    (
        "list metriccurrent where name like 'FC_BY_(DIRTY|USED)' | cat",
        "LIST METRICCURRENT WHERE name LIKE 'FC_BY_(DIRTY|USED)'",
        "cat",
        "",
    ),
    ("create threshold x comparison='>', warning=5", "CREATE THRESHOLD x comparison='>', warning=5", "", ""),
    ("list cell;", "LIST CELL", "", ""),
    ("  LIST   cell ; ; ", "LIST CELL", "", ""),
    ("list cell -- all of them", "LIST CELL", "", ""),
    ("list cell detail --", "LIST CELL DETAIL", "", ""),
]


@every(CELLCLI)
def test_cellcli_survives(text: str, sent: str, pipe: str, redirect: str) -> None:
    """CellCLI's comparisons stay its own; a pipe or redirection counts only behind a complete statement."""
    line = parse(text)
    assert line.cellcli is not None
    assert (render(line.cellcli), line.pipe, line.redirect) == (sent, pipe, redirect)
    assert line.call is None
    assert not line.shell


@pytest.mark.parametrize(
    ("text", "cells", "redirect"),
    [
        ("use where griddisk.size > 1G", "where griddisk.size > 1G", ""),
        ("use where griddisk.size > 1G > /tmp/x", "where griddisk.size > 1G", "/tmp/x"),
        ("use exa1cel01 > /tmp/x", "exa1cel01", "/tmp/x"),
    ],
)
def test_a_comparison_of_cells_is_no_redirection(text: str, cells: str, redirect: str) -> None:
    """The > of a condition on cells is compared with, and one behind it is a redirection."""
    line = parse_line(text)
    assert line is not None and line.call is not None
    assert (line.call.args["cells"], line.redirect) == (cells, redirect)


@pytest.mark.parametrize(
    "text",
    ["use where griddisk.size", "on (where griddisk.size) list cell", "ON ( where griddisk.size) flush flashcache -y"],
)
def test_what_is_wrong_with_a_condition_on_cells_is_pointed_at(text: str) -> None:
    """An unfinished condition is refused where it stands, before anything is read."""
    with pytest.raises(StatementError, match="comparison is missing after size") as caught:
        parse_line(text)
    place = text.index("size") + len("size")
    assert (caught.value.start, caught.value.end) == (place, place)


FLAGS: list[tuple[str, dict[str, object]]] = [
    ("drop flashcache -y", {"yes": True}),
    ("drop -y flashcache", {"yes": True}),
    ("resize flashcache -n --yes size=1g", {"yes": True, "dry-run": True}),
    ("resize flashcache size=1g --dry-run --detailed-exitcode", {"dry-run": True, "detailed-exitcode": True}),
    ("flush flashcache --reason='to be cold' -y", {"reason": "to be cold", "yes": True}),
    ("flush flashcache --timeout=1m", {"timeout": 60.0}),
    ("drop diskgroup X --accept-data-loss=X", {"accept-data-loss": ("X",)}),
    ("list cell --format=json detail", {"format": "json"}),
]


@pytest.mark.parametrize(("text", "flags"), FLAGS)
def test_flags_stand_anywhere_behind_the_verb(text: str, flags: dict[str, object]) -> None:
    """Flags are found wherever they stand in a statement, and are no part of it."""
    line = parse(text)
    assert dict(line.flags) == flags
    assert "--" not in line.text
    assert " -y" not in line.text


@pytest.mark.parametrize(
    "text", ["-o csv -y list cell", "list cell -o csv -y", "-y list cell -o csv", "  -o csv list cell --format=csv -y"]
)
def test_flags_stand_before_or_behind(text: str) -> None:
    """-y, -n and -o in front of a statement mean what they mean behind it."""
    line = parse_line(text)
    assert line is not None and line.text.strip() == "list cell"
    assert line.flags == {"format": "csv", "yes": True}


def test_o_is_the_format_of_what_writes_its_own() -> None:
    """-o is never ignored by a command with formats of its own: it is one of them, in front and behind, or refused; what a
    statement says itself is nearer than what was asked for in front of all statements."""
    call = parse_line("journal export -o csv").call
    assert call is not None and call.args["format"] == "csv"
    plain = parse_line("journal export").call
    assert plain is not None and [plain.own_format(asked) for asked in ("csv", "", "yaml")] == ["csv", "jsonl", "jsonl"]
    nearer = parse_line("journal export format=jsonl").call
    assert nearer is not None and [nearer.own_format(asked) for asked in ("csv", "")] == ["jsonl", "jsonl"]
    for text in ("metrics export x -o json", "journal export format=jsonl -o csv"):
        with pytest.raises(StatementError, match="does not write -o") as caught:
            parse_line(text)
        assert "format=" in caught.value.hint


def test_a_name_that_runs_into_its_first_value_is_asked_about() -> None:
    """A recipe's name without the blank after it is read as a value; the error says where the blank may be missing."""
    with pytest.raises(StatementError, match="run needs NAME") as caught:
        parse_line("run flash_diskgroupcache=144g")
    assert caught.value.hint == "is a blank missing in 'flash_diskgroupcache=…'?"
    with pytest.raises(StatementError) as bare:
        parse_line("run")
    assert bare.value.hint == ""


def test_a_flag_in_front_needs_a_statement() -> None:
    """A flag alone is no statement, and the place of an error behind one stays true."""
    with pytest.raises(StatementError, match="a statement is missing"):
        parse_line("-y ")
    with pytest.raises(StatementError) as caught:
        parse_line("-o csv lst cell")
    assert (caught.value.start, caught.value.end) == (7, 10)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("check all flashcache.status = normal -o csv", "all flashcache.status = normal"),
        (
            "check -o csv all flashcache.status = normal where size > 1G",
            "all flashcache.status = normal where size > 1G",
        ),
        ("prompt 'say -y or -o csv' --format=csv", "'say -y or -o csv'"),
        ("use exa1cel01 -o csv", "exa1cel01"),
        ("confirm 12 -o csv", "12"),
        (
            "wait until no griddisk where asmModeStatus = OFFLINE -o csv",
            "until no griddisk where asmModeStatus = OFFLINE",
        ),
    ],
)
def test_flags_are_no_part_of_the_value_that_takes_all_words(text: str, value: str) -> None:
    """Where all words that are left are one value, a flag behind or among them is a flag; in quotes it is text."""
    line = parse_line(text)
    assert line is not None and line.call is not None
    assert list(line.call.args.values()) == [value]
    assert line.flags == {"format": "csv"}


@pytest.mark.parametrize(
    "text",
    [
        "wait until all flashcache.status = normal every=5s for=1h",
        "wait every=5s for=1h until all flashcache.status = normal",
        "wait until every = 5s all flashcache.status = normal for = 60m -n",
    ],
)
def test_wait_takes_its_interval_and_its_limit_anywhere(text: str) -> None:
    """every= and for= are seconds, never a part of the value that is waited for."""
    line = parse_line(text)
    assert line is not None and line.call is not None
    assert line.call.args == {"every": 5.0, "for": 3600.0, "what": "until all flashcache.status = normal"}
    assert "for" in line.text and "every" in line.text and "-n" not in line.text


def test_a_command_for_the_shell_keeps_its_words() -> None:
    """Behind ! a flag of exacell's is pointed out, and -- in front of the command lets it through."""
    with pytest.raises(StatementError, match="--dry-run comes after"):
        parse_line("!rsync --dry-run a b")
    line = parse_line("!-- rsync --dry-run a b")
    assert line is not None and line.shell == "rsync --dry-run a b"
    plain = parse_line("! grep -n -y -o csv f")
    assert plain is not None and plain.shell == "grep -n -y -o csv f"


@every(
    [
        ("flush flashcache --frce", "not a flag", "--frce"),
        ("flush flashcache -z", "not a flag", "-z"),
        ("flush flashcache --yes=no", "takes no value", "--yes=no"),
        ("flush flashcache --reason", "needs a value", "--reason"),
        ("list cell --force", "not a flag", "--force"),
        ("list flashcach", "flashcach", "flashcach"),
        ("on exa1cel01 list flashcach", "flashcach", "flashcach"),
        ("  lst cell", "not a statement", "lst"),
        ("flush flashcash", "flush has no", "flashcash"),
        ("resize flashcache sise=1g", "not a parameter", "sise"),
        ("resize flashcache size=big", "not a size", "big"),
        ("resize flashcache size=1g size=2g", "given twice", "size=2g"),
        ("on exa1cel01 resize flashcache size=big", "not a size", "big"),
        ("show griddisk ssd", "not a parameter", "ssd"),
        ("connect t1 t2", "too many", "t2"),
        ("list cell |", "missing at |", "|"),
        ("| wc", "missing at |", "|"),
        ("list cell 'x", "never closed", "'x"),
    ]
)
def test_the_fault_is_underlined(text: str, said: str, fault: str) -> None:
    """An error's offsets cut exactly the faulty word out of the line that was given."""
    with pytest.raises(StatementError, match=said.replace("|", r"\|")) as caught:
        parse_line(text)
    error = caught.value
    assert error.start is not None
    assert text[error.start : error.end] == fault


@pytest.mark.parametrize("text", ["resize flashcache", "on exa1cel01 resize flashcache", "flush", "@"])
def test_something_missing_is_underlined_at_the_end(text: str) -> None:
    """Where a word is missing, the offsets stay inside the line or at its end."""
    with pytest.raises(StatementError) as caught:
        parse_line(text)
    assert caught.value.start is not None
    assert caught.value.end is not None
    assert 0 <= caught.value.start <= caught.value.end <= len(text)


@pytest.mark.parametrize(
    ("text", "on", "statement"),
    [
        ("on exa1cel01 list cell", "exa1cel01", "list cell"),
        ("ON exa1cel[01-03]!exa1cel02 list cell;", "exa1cel[01-03]!exa1cel02", "list cell"),
        ("on (a, b not c) list cell detail", "a, b not c", "list cell detail"),
        ("on '@up' list cell", "@up", "list cell"),
        ("on (a)b list cell", "(a)b", "list cell"),
        ("on a(b) list cell", "a(b)", "list cell"),
        ("On @failed flush flashcache -y", "@failed", "flush flashcache"),
    ],
)
def test_on(text: str, on: str, statement: str) -> None:
    """ON takes one word, or anything in parentheses, and the statement follows."""
    line = parse(text)
    assert (line.on, line.text) == (on, statement)


@every(
    [
        ("facts on @db", "on @db facts"),
        ("FACTS --diff ON @db", "on @db FACTS --diff"),
        ("facts block,net on exa1db01,exa1db02 -o json", "on exa1db01,exa1db02 facts block,net -o json"),
        ("facts on (@db not exa1db02) block", "on (@db not exa1db02) facts block"),
        ("facts on '@db' | grep sda", "on @db facts | grep sda"),
        ("facts on @db > facts.txt", "on @db facts > facts.txt"),
        ("show setting on @db /sys/block/sd*/queue/scheduler", "on @db show setting /sys/block/sd*/queue/scheduler"),
        ("show setting /proc/sys/vm/swappiness on @db", "on @db show setting /proc/sys/vm/swappiness"),
        ("set setting /sys/x=on on @db -y --reason on", "on @db set setting /sys/x=on -y --reason on"),
        ("set setting /a=1 on @db /b=2", "on @db set setting /a=1 /b=2"),
        ("set setting /a = 1 on @db;", "on @db set setting /a = 1"),
        ("-y set setting /a='x y' on @db", "on @db set setting -y /a='x y'"),
        ("drift on (where name=exa1cel01) baseline=b", "on (where name=exa1cel01) drift baseline=b"),
        ("save baseline as=b on @db", "on @db save baseline as=b"),
    ]
)
def test_on_behind_a_statement_for_hosts_is_the_same_as_in_front(text: str, same: str) -> None:
    """FACTS, SHOW SETTING, SET SETTING, DRIFT and SAVE BASELINE take ON anywhere behind their name; nothing else differs."""
    one, other = parse(text), parse(same)
    assert one.call is not None and other.call is not None
    assert (one.on, one.call.args, one.flags, one.pipe, one.redirect) == (
        other.on, other.call.args, other.flags, other.pipe, other.redirect
    )  # fmt: skip
    assert one.on and one.text == other.text


@pytest.mark.parametrize(
    ("text", "said", "fault"),
    [
        ("on @db facts on @ini", "ON is given twice", "on"),
        ("facts on @db block on @ini", "ON is given twice", "on"),
        ("facts on", "ON needs cells or hosts: facts on @db", ""),
        ("facts on --diff @db", "ON needs cells or hosts", ""),
        ("set setting /a=1 on", "ON needs cells or hosts: set setting on @db", ""),
        ("save baseline on @db", "save baseline needs as=", ""),
        ("save baseline on @db sa=x", "not a parameter", "sa"),
        ("save baseline sa=x on @db", "not a parameter", "sa"),
        ("facts on @db --dif", "not a flag", "--dif"),
        ("drift on (where name ~ x)", "a comparison is missing", "~"),
    ],
)
def test_what_is_wrong_with_an_on_behind_is_pointed_at(text: str, said: str, fault: str) -> None:
    """The place is that in the line as typed."""
    with pytest.raises(StatementError, match=said) as caught:
        parse_line(text)
    error = caught.value
    assert error.start is not None and error.end is not None
    assert text[error.start : error.end] == fault and error.end <= len(text)


@pytest.mark.parametrize(
    ("text", "fault", "hint"),
    [
        ("list cell on @db", "on @db", "on @db list cell"),
        ("list griddisk on exa1cel01 detail", "on exa1cel01", "on exa1cel01 list griddisk detail"),
        ("flush flashcache on exa1cel01 -y", "on exa1cel01", "on exa1cel01 flush flashcache -y"),
        ("  show flashcache on (a, b)", "on (a, b)", "on (a, b) show flashcache"),
    ],
)
def test_an_on_behind_what_takes_it_in_front_is_told_where_it_stands(text: str, fault: str, hint: str) -> None:
    """What takes ON in front alone is refused with it behind, and the hint is the statement that is meant."""
    with pytest.raises(StatementError) as caught:
        parse_line(text)
    error = caught.value
    assert text[error.start : error.end] == fault and error.hint == f"ON comes first: {hint}"
    assert parse(hint).on


@pytest.mark.parametrize("text", ["facts 'on' @db", "set setting /a=1 'on' @db"])
def test_an_on_in_quotes_is_a_value(text: str) -> None:
    """A value can never become an ON: quotes, which recipes put around values, make it a word like others."""
    assert parse(text).on == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("on '' flush flashcache -y", "''"),
        ("on () flush flashcache -y", "()"),
        ('on " " list cell', '" "'),
        ("-n on '()' list cell", "'()'"),
        ("facts on ''", "''"),
        ("set setting /a=1 on ( ) -y", "( )"),
    ],
)
def test_an_on_that_names_nothing_is_refused(text: str, fault: str) -> None:
    """Where a value is empty that names the cells, ON never means all of them."""
    with pytest.raises(StatementError, match="is neither a cell nor a host") as caught:
        parse_line(text)
    assert text[caught.value.start : caught.value.end] == fault


@pytest.mark.parametrize(
    "on", ["", "exa1cel01,exa1cel03", "exa1cel01, exa1cel03", "@all not exa1cel02", "where name = 'a b'"]
)
def test_what_tells_a_statement_with_its_cells_can_be_typed(on: str) -> None:
    """Kept plans, recorded recipes and outlines of runs write ON so that it names the same cells when it is read again."""
    line = parse(replace(parse("flush flashcache"), on=on).whole)
    assert (line.on, line.text) == (on, "flush flashcache")


ON_AFTER = sorted({command.words for command in commands().values() if command.on_after})
WORDS = st.sampled_from(
    (
        "kernel", "block,net", "/a=1", "/b='x y'", "/c=on", "/d = 2", "'/e=1 on @ini'", '"on"', "'on' ", "(on)", "on=1", "as=b",
        "baseline=on", "of='list lun on x'", "--diff", "--reason on", "--reason=on", "--reason 'on @ini'", "-y", "-n", "-o json",
        "--timeout 5", "--rolling", "--rolling=2", "--fold", "--partial", "--on-error=stop", "-x", "=3", "it's",
    )
)  # fmt: skip
NAMED = st.sampled_from(
    ("@db", "exa1db01,exa1db02", "( @db not exa1db02 )", "'@db'", "(where name = 'on')", "()", "a=1")
)
LEADS, TAILS = ("", "-y ", "-o json -n "), ("", ";", " ; ", " | grep on", " > on.txt", " -- on @ini")


def outcome(text: str) -> object:
    """Return all that a line says, or what is said of it."""
    try:
        line = parse(text)
    except StatementError as error:
        assert error.start is None or error.end is None or error.start <= error.end <= len(text)
        return error.message
    return (
        line.on,
        line.call and (line.call.command.words, line.call.args),
        line.flags,
        line.pipe,
        line.redirect,
        line.text,
    )


@given(
    command=st.sampled_from(ON_AFTER),
    words=st.lists(WORDS, max_size=4),
    named=NAMED,
    place=st.integers(0, 4),
    lead=st.sampled_from(LEADS),
    tail=st.sampled_from(TAILS),
)
def test_on_goes_to_the_same_hosts_wherever_it_stands(
    command: tuple[str, ...], words: list[str], named: str, place: int, lead: str, tail: str
) -> None:
    """Whatever stands around it, ON behind says what ON in front says, or both are refused: no other hosts, values or flags."""
    name, before, after = " ".join(command), words[:place], words[place:]
    assume(not " ".join(after).startswith("="))  # Which would belong to the hosts, as in front.
    front = outcome(f"{lead}on {named} {' '.join((name, *words))}{tail}")
    behind = outcome(f"{lead}{' '.join((name, *before, 'on', named, *after))}{tail}")
    assert behind == front or (isinstance(behind, str) and isinstance(front, str))


@pytest.mark.parametrize("text", ["on", "on exa1cel01", "on (a b)"])
def test_on_needs_a_statement(text: str) -> None:
    """ON alone is refused and shows how it is written."""
    with pytest.raises(StatementError, match="ON needs cells, or hosts, and a statement"):
        parse_line(text)


@pytest.mark.parametrize(
    "text",
    ["", "   ", ";", "# list cell", "  #x", "rem list cell", "REM", "REMARK this", "-- list cell", "--list cell", "--"],
)
def test_nothing_to_do(text: str) -> None:
    """An empty line and a whole-line comment mean nothing."""
    assert parse_line(text) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("list cell -- now", "list cell "),
        ("list cell '-- not a comment'", "list cell '-- not a comment'"),
        ("list cell --format=json", "list cell --format=json"),
        ("a--b", "a--b"),
        ("list cell --", "list cell "),
        ("remove x", "remove x"),
        ("list cell # x", "list cell # x"),
    ],
)
def test_comments(text: str, kept: str) -> None:
    """Two hyphens are a comment only before a blank or the end, and never inside quotes."""
    assert strip_comment(text) == kept


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("list cell; list griddisk ;", ["list cell", "list griddisk"]),
        ("alter cell comment='a;b'; list cell", ["alter cell comment='a;b'", "list cell"]),
        ("on (a; b) list cell; list lun", ["on (a; b) list cell", "list lun"]),
        (" ;; ", []),
        ("!ls; pwd", ["!ls; pwd"]),
        ("dcli -l root 'a; b'; c", ["dcli -l root 'a; b'; c"]),
        ("host a; b", ["host a; b"]),
        ("show; list cell", ["show", "list cell"]),
    ],
)
def test_split_statements(text: str, pieces: list[str]) -> None:
    """Statements are separated by ; outside quotes and parentheses; raw tails keep theirs."""
    assert split_statements(text) == pieces


def test_local_shell() -> None:
    """! hands the rest of the line to the local shell, and not where shells are not allowed."""
    line = parse("!ls | wc -l")
    assert (line.shell, line.effect) == ("ls | wc -l", Effect.OPAQUE)
    with pytest.raises(StatementError, match="missing after !"):
        parse_line("! ")


@pytest.mark.parametrize("text", ["!ls", "list cell | wc", "list cell > f", "flush flashcache > f", "snaps | cat"])
def test_no_shell_where_it_is_not_allowed(text: str) -> None:
    """In recipes and from argv words neither !, | nor > reach a shell or a file."""
    with pytest.raises(StatementError, match="not allowed here"):
        parse_line(text, shell=False)


@pytest.mark.parametrize(
    ("text", "words", "name"),
    [
        ("@reset_cold", ("run",), "reset_cold"),
        ("@reset_cold size=288g -y", ("run",), "reset_cold"),
        ("  @reset_cold", ("run",), "reset_cold"),
        ("@./mine.exa", ("run",), "./mine.exa"),
        ("@/tmp/mine.EXA size=288g -y", ("run",), "/tmp/mine.EXA"),
    ],
)
def test_recipe_call(text: str, words: tuple[str, ...], name: str) -> None:
    """@name, and @path of a file that is called .exa, run a recipe as run does, with its values and flags."""
    line = parse(text)
    assert line.call is not None
    assert (line.call.command.words, line.call.args["name"]) == (words, name)
    if "size" in text:
        assert dict(line.call.extra) == {"size": "288g"}
        assert line.call.flags == {"yes": True}


@pytest.mark.parametrize("text", ["@/tmp/x.scl", "@x.SCL"])
def test_at_a_script_is_start(text: str) -> None:
    """@path of any other file and @file.scl keep CellCLI's meaning: START."""
    line = parse(text)
    assert line.call is not None
    assert line.call.command.words == ("start",)


@pytest.mark.parametrize("text", ["@ x", "@"])
def test_at_needs_a_name(text: str) -> None:
    """A lone @ is an error."""
    with pytest.raises(StatementError, match="missing after @"):
        parse_line(text)


def test_quoted_words_are_no_verbs() -> None:
    """Quotes protect a word from being a command."""
    with pytest.raises(StatementError, match="not a statement"):
        parse_line("'flush' flashcache")
    with pytest.raises(StatementError, match="in quotes, so it is a value"):
        parse_line("flush 'flashcache'")


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("list cell -", True),
        ("-", True),
        ("alter iormplan dbplan=((name=a,", True),
        ("alter cell comment='a", True),
        ("list cell", False),
        ("list cell detail-", False),
        ("list griddisk where name = 'a-' -", True),
        ("list cell (a))", False),
    ],
)
def test_continuation(text: str, more: bool) -> None:
    """A line goes on after a last hyphen, an open parenthesis or an open quote."""
    assert needs_more(text) is more


def test_continued_lines_join() -> None:
    """The hyphens at the ends of all lines but the last one go, and a blank stands for each break."""
    assert join_continued(["list cell -", "  attributes -", "name -y"]).split() == [
        "list",
        "cell",
        "attributes",
        "name",
        "-y",
    ]
    assert join_continued(["list cell"]) == "list cell"


# -- argv ------------------------------------------------------------------------------------------------------------


@every(
    [
        (["list", "cell"], "list cell"),
        (["resize", "flashcache", "size=288g", "-y"], "resize flashcache size=288g -y"),
        (["list cell; list lun"], "list cell; list lun"),
        (["list griddisk", "detail"], "list griddisk detail"),
        (["list", "griddisk", "where", "size", ">", "1G"], "list griddisk where size > 1G"),
        (["alter", "cell", "comment=a b"], "alter cell comment='a b'"),
        (["alter", "cell", "comment=it's a b"], 'alter cell comment="it\'s a b"'),
        (["list", "cell", "|", "wc"], "list cell '|' wc"),
        (["list", "cell", "a;b"], "list cell 'a;b'"),
        (["flush", "flashcache", "--reason=for a > b"], "flush flashcache --reason='for a > b'"),
        (
            ["alter", "iormplan", "dbplan=((name=a, share=1),(name=b,share=2))"],
            "alter iormplan dbplan=((name=a, share=1),(name=b,share=2))",
        ),
        (["cellcli", "-e", "list", "cell"], "list cell"),
        (["cellcli", "-x", "-e", "list cell detail"], "list cell detail"),
        (["dcli", "-l", "root", "a;", "b"], "dcli -l root 'a;' b"),
        (["host", "a;", "b"], "host a; b"),
        (["on", "c1", "sh", "--", "a 'b' \"c\"; d"], "on c1 sh -- a 'b' \"c\"; d"),
        (["on", "(a b)", "sh", "--", "ls"], "on (a b) sh -- ls"),
        (["-y", "on", "@up", "dcli", "-l", "root", "a;", "b"], "-y on @up dcli -l root 'a;' b"),
        (["demo", "sh", "ls", ">", "x"], "demo sh ls > x"),
        (["on", "sh", "list", "a;b"], "on sh list 'a;b'"),
        (["list", "sh", "a;b"], "list sh 'a;b'"),
        (["on", "(a b)", "list", "cell"], "on (a b) list cell"),
        (["on", "(a", "b)", "list"], "on '(a' 'b)' list"),
        (["snap", ""], "snap ''"),
        (["snap", "(a) (b)"], "snap '(a) (b)'"),
        (["snap", "'a' 'b'"], "snap \"'a' 'b'\""),
        (["snap", "#x"], "snap '#x'"),
        (["snap", "--"], "snap '--'"),
    ]
)
def test_argv_line(argv: list[str], line: str) -> None:
    """Command-line words become one line in which each is one token; a first word with blanks is a line already."""
    assert argv_line(argv) == line


def test_argv_with_both_quotes_is_refused() -> None:
    """A word with both kinds of quotes has no spelling, and that is said."""
    with pytest.raises(StatementError, match="both kinds of quotes"):
        argv_line(["alter", "cell", "comment=a'b \"c"])


@given(st.lists(st.text(max_size=10), max_size=5))
def test_argv_words_stay_one_token_each(words: list[str]) -> None:
    """Whatever a shell passes as one word reaches the grammar as one token with that value, comments included."""
    assume(not any("'" in word and '"' in word for word in words))
    # Operators, and words that end or begin with =, mean what they mean in CellCLI.
    assume(not any(word in ("!", "<", ">", "!=") or word.startswith("=") or word.endswith("=") for word in words))
    # A blank outside of ASCII is refused when the line is read, see test_typography.
    assume(not any(char.isspace() and not char.isascii() for word in words for char in word))
    found = split_words(strip_comment(argv_line(["x", *words])))
    assert [_value(word.raw) for word in found] == ["x", *(_value(word) for word in words)]


def _value(word: str) -> str:
    key, equals, value = word.partition("=")
    return f"{key}={unquote(value)}" if equals and key.isidentifier() else unquote(word)


@given(st.lists(st.text(max_size=10), min_size=1, max_size=5))
def test_argv_never_reaches_a_shell(words: list[str]) -> None:
    """No command-line word makes a pipe, a redirection or a shell command, whatever is in it."""
    assume(not any(char.isspace() for char in words[0].strip()))
    try:
        line = parse_line(argv_line(["list", "cell", *words]), shell=False)
    except StatementError:
        return
    assert line is not None
    assert (line.pipe, line.redirect, line.shell) == ("", "", "")


@given(st.text(alphabet="list cel'\"()=;|>-#@! griddsk$y", max_size=24))
def test_any_text_is_a_line_or_a_statement_error(text: str) -> None:
    """No text makes the parser fail in another way, and every error's place is inside the text."""
    try:
        parse_line(text)
    except StatementError as error:
        if error.start is not None:
            assert error.end is not None
            assert 0 <= error.start <= error.end <= len(text)


def test_cellcli_alone_has_these_verbs() -> None:
    """No command of exacell's own begins with a verb that is looked for in CellCLI alone."""
    assert not ONLY_CELLCLI & {words[0] for words in commands()}


def test_a_read_imports_no_command() -> None:
    """A LIST is parsed without importing the modules of exacell's own commands, a tenth of what it costs otherwise."""
    code = (
        "import sys; from exacell.language.line import parse_line; parse_line('list griddisk attributes name,size');"
        "print([name for name in sys.modules if name.startswith('exacell.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_order_of_commands_is_always_the_same() -> None:
    """Commands stand in the order of their modules, whichever of these was imported first by itself."""
    code = "from exacell.language.registry import commands; print([found.name for found in commands().values()])"
    orders = {
        subprocess.run([sys.executable, "-c", first + code], capture_output=True, text=True, check=True).stdout
        for first in ("", "import exacell.commands.help, exacell.commands.dcli; ")
    }
    assert len(orders) == 1


def test_flags_before_a_file_are_those_of_its_commands_for_the_shell() -> None:
    """A ``!`` line has the flags that every statement has, and whether it was accepted; what only another one has it leaves."""
    line = parse_line("!./load.sh")
    assert line is not None
    given = {"dry-run": None, "reason": "why", "accept-opaque": None, "top": "3"}
    assert with_flags(line, given).flags == {"dry-run": True, "reason": "why", "accept-opaque": True}
