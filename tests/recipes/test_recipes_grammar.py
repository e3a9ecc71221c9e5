"""Recipe files: the header, blocks and conditions, and values that never become syntax."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.cellcli.statement import List
from exacell.core.errors import RecipeError, StatementError
from exacell.core.paths import Home
from exacell.language.line import parse_line
from exacell.language.registry import Effect, Kind, Param
from exacell.language.shellwords import command_given
from exacell.language.words import split_words
from exacell.recipes.checker import check_recipe
from exacell.recipes.files import load_recipe, recipe_files, recipe_params, shipped
from exacell.recipes.filled import line_of, values_of
from exacell.recipes.parsing import Recipe, split_when
from exacell.recipes.values import holds, letters, substitute
from tests.support.every import every
from tests.support.judging.sandbox import Sandbox, missing, program
from tests.support.recipes import parse_recipe

FULL = """\
# a comment
recipe "Do it"
param  size : size|keep = keep  "how much"   -- and a comment
param  db   : db                "database"
param  how  : choice(fast|slow) = fast
param  free
risk   performance
needs  asm

check all flashcache.status = normal
resize flashcache size=$size when $size != keep
alter cell -
  comment='a # b' -
  -y

finally
  show flashcache
end
show griddisk
"""


def test_header_and_lines() -> None:
    """A recipe has a title, typed parameters, a ceiling, needs, and lines that know where they stand."""
    recipe = parse_recipe("r", FULL)
    assert (recipe.title, recipe.risk, recipe.needs) == ("Do it", "performance", ("asm",))
    size, db, how, free = recipe.params
    assert (size.kind, size.words, size.default, size.required, size.help) == (
        Kind.SIZE,
        ("keep",),
        "keep",
        False,
        "how much",
    )
    assert (db.kind, db.default, db.required) == (Kind.DB, None, True)
    assert (how.kind, how.choices, how.default) == (Kind.CHOICE, ("fast", "slow"), "fast")
    assert (free.kind, free.required) == (Kind.TEXT, True)
    assert [(line.number, line.when, line.final) for line in recipe.lines] == [
        (10, "", False),
        (11, "$size != keep", False),
        (12, "", False),
        (17, "", True),
        (19, "", False),
    ]
    assert recipe.lines[2].text.split() == ["alter", "cell", "comment='a", "#", "b'", "-y"]
    check_recipe(recipe)


def test_plain_statements_are_a_recipe() -> None:
    """A file of plain statements needs no header."""
    recipe = parse_recipe("r", "list cell\nshow flashcache\n")
    assert [line.text for line in recipe.lines] == ["list cell", "show flashcache"]
    assert parse_recipe("empty", "# nothing\n\n").lines == ()


@every(
    [
        ("param", 1, "the parameter has no name"),
        ("param 9x : size", 1, "'9x' can't be the name of a parameter"),
        ("\nparam a : size = 1g 2g", 2, "'2g' can't be part of the declaration of a"),
        ("param a : sizes", 1, "'sizes' is not a kind"),
        ("param a : choice()", 1, "choice needs its words"),
        ("param a : size\nparam a : int", 2, "declared twice"),
        ("risk huge", 1, "risk must be one of none, performance, redundancy, data"),
        ("needs oracle", 1, "needs takes asm"),
        ("finally\nlist cell\nend\nfinally\nlist cell\nend", 4, "one finally block"),
        ("finally\nfinally\nend\nend", 2, "one finally block"),
        ("list cell\nend", 2, "this end has no block to close"),
        ("finally\nlist cell\n", 1, "finally has no end"),
    ]
)
def test_header_errors_name_the_line(text: str, line: int, said: str) -> None:
    """A wrong header or block is an error with recipe, line and rule."""
    with pytest.raises(RecipeError, match=said) as caught:
        parse_recipe("r", text)
    assert caught.value.message.startswith(f"recipe r, line {line}: ")


def test_near_kind_is_suggested() -> None:
    """A misspelt kind suggests the right one."""
    with pytest.raises(RecipeError) as caught:
        parse_recipe("r", "param a : duratoin")
    assert caught.value.hint == "did you mean duration?"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("list cell\nlst griddisk", 2, "'lst' is not a statement"),
        ("list flashcach", 1, "flashcach"),
        ("resize flashcache size=$nix", 1, r"\$nix is not a parameter"),
        ("list cell\nlist cell | wc", 2, "not allowed here"),
        ("list cell > f", 1, "not allowed here"),
        ("!rm -rf x", 1, "not allowed here"),
        ("list cell\n\nexit", 3, "can't be used in a recipe"),
        ("list cell when $nix = 1", 1, r"\$nix is not a parameter"),
        ("list cell when size", 1, "is not a condition"),
        ("param a : int\nresize flashcache size=$a$a", 2, "not a size"),
        ("finally\n  lst\nend", 2, "not a statement"),
    ],
)
def test_wrong_lines_name_the_line(text: str, line: int, said: str) -> None:
    """A line that can't be a statement of a recipe is found without running anything, with its number."""
    with pytest.raises(RecipeError, match=said) as caught:
        check_recipe(parse_recipe("r", text))
    assert caught.value.message.startswith(f"recipe r, line {line}: ")


# -- conditions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "result"),
    [
        ("", True),
        ("$size = keep", True),
        ("$size=KEEP", True),
        ("$size != keep", False),
        ("$size!=keep", False),
        ("$size != 1g", True),
        ("$size!=1g", True),
        ("$n = 3 and $size = keep", True),
        ("$n = 3 AND $size = 1g", False),
        ("keep = $size", True),
        ("$SIZE = 'keep'", True),
    ],
)
def test_holds(condition: str, result: bool) -> None:
    """A condition compares as text without case, blanks or none around = and !=, joined by and."""
    assert holds(condition, {"size": "keep", "n": 3}) is result


@pytest.mark.parametrize("condition", ["$size", "$size == keep", "$size > 1", "$size = a b", "$size = keep and", "or"])
def test_no_condition(condition: str) -> None:
    """Anything else is no condition, and says what one is."""
    with pytest.raises(RecipeError, match="is not a condition"):
        holds(condition, {"size": "keep"})


@pytest.mark.parametrize("condition", ["$nix = 1", "$size.x = 1", "1 = ${size}"])
def test_unknown_parameter_in_a_condition(condition: str) -> None:
    """A $ that names no parameter is an error, never just another text."""
    with pytest.raises(RecipeError, match="is not a parameter"):
        holds(condition, {"size": "keep"})


@pytest.mark.parametrize(
    ("text", "statement", "when"),
    [
        ("list cell", "list cell", ""),
        ("list cell WHEN $a = b", "list cell", "$a = b"),
        ("alter cell comment='x when y' when $a = b", "alter cell comment='x when y'", "$a = b"),
        ("when x", "when x", ""),
        ("list cell when", "list cell", ""),
    ],
)
def test_split_when(text: str, statement: str, when: str) -> None:
    """when outside quotes and behind a statement begins its condition."""
    assert split_when(text) == (statement, when)


# -- values ----------------------------------------------------------------------------------------------------------


def recipe() -> Recipe:
    return parse_recipe("r", 'param size : size|keep = keep "cache"\nparam db : db "database"\nparam n : int = 3\n')


def test_values() -> None:
    """Values are checked by their kinds and kept as given; own words get their spelling; defaults fill up."""
    assert values_of(recipe(), {"DB": "SPOT", "size": "KEEP"}) == {"size": "keep", "db": "SPOT", "n": "3"}
    assert values_of(recipe(), {"db": "SPOT", "size": "288g"})["size"] == "288g"


@pytest.mark.parametrize(
    ("given_values", "said", "hint"),
    [
        ({}, "needs db=<db>: database", ""),
        ({"db": "x", "sise": "1g"}, "has no parameter sise", "did you mean size?"),
        ({"db": "x", "size": "big"}, r"recipe r: size: 'big' is not a size.*\(or keep\)", ""),
        ({"db": "a b"}, "is not a name", ""),
        ({"db": "x", "n": "1.5"}, "not a whole number", ""),
    ],
)
def test_wrong_values(given_values: dict[str, str], said: str, hint: str) -> None:
    """An unknown, missing or wrong value is refused before anything runs."""
    with pytest.raises(RecipeError, match=said) as caught:
        values_of(recipe(), given_values)
    assert hint in caught.value.hint


VALUES = {"a": "x y", "n": "3", "kw": "detail", "cells": "@up", "p": "DATA_1", "q": "it's", "neg": "-y", "u": "a;b"}


@every(
    [
        ("resize flashcache size=$n", "resize flashcache size=3"),
        ("alter cell comment=$a", "alter cell comment='x y'"),
        ("alter cell comment=$q", 'alter cell comment="it\'s"'),
        ("alter cell comment=$u", "alter cell comment='a;b'"),
        ("alter cell comment=run${n}b", "alter cell comment=run3b"),
        ("alter cell comment=run-${a}", "alter cell comment='run-x y'"),
        ("show diskgroup $p", "show diskgroup DATA_1"),
        ("list griddisk $kw", "list griddisk 'detail'"),
        ("list griddisk $neg", "list griddisk '-y'"),
        ("use $cells", "use '@up'"),
        ("$kw cell", "'detail' cell"),
        ("alter cell comment='$a ${n}'", "alter cell comment='$a ${n}'"),
        ('sql asm "select * from v$asm_disk"', 'sql asm "select * from v$asm_disk"'),
        ("sql asm select x from v$asm_disk", "sql asm select x from v$asm_disk"),
        ("x --reason=$a", "x --reason='x y'"),
        (
            "alter iormplan dbplan=((name=$p,share=${n}),(name=$q,share=1))",
            'alter iormplan dbplan=((name=DATA_1,share=3),(name="it\'s",share=1))',
        ),
        ("alter iormplan dbplan=((name=$u,share=1))", "alter iormplan dbplan=((name='a;b',share=1))"),
        ("alter iormplan dbplan=((name='$p',share=1))", "alter iormplan dbplan=((name='$p',share=1))"),
        ("$N x", "3 x"),
        ("", ""),
        ("keep", "keep"),
        ("on $q sh ls", 'on "it\'s" sh ls'),
        ("x '${n}'", "x '${n}'"),
        ("wait until sql asm 'x ${n}'.c=1", "wait until sql asm 'x 3'.c=1"),
        ("on $q check sql asm 'x ${n}'.c=1 '${n}'", "on \"it's\" check sql asm 'x 3'.c=1 '${n}'"),
        ("sql asm 'x ${n}'", "sql asm 'x 3'"),
        ("keep as=$n -y", "keep as=3 -y"),
        ("on $cells", "on '@up'"),
        ("x (y=' $p ')", "x (y=' $p ')"),
        ("alter iormplan dbplan=((name=$cells,share=1))", "alter iormplan dbplan=((name='@up',share=1))"),
        ("sh ls $a", "sh ls 'x y'"),
        ("on $n sh $q as=n", "on 3 sh 'it'\"'\"'s' as=n"),
        ("sh a'b c d'", "sh a'b c d'"),
        ("x (a` $n )", "x (a` 3 )"),
        ("sh -- $q", 'sh -- "it\'s"'),
        ("keep sh $q as=n", 'keep sh "it\'s" as=n'),
        ("keep as=n sh --timeout 5 $q", 'keep as=n sh --timeout 5 "it\'s"'),
        ("sh $neg ls", "sh '-y' ls"),
        ("sh 'ls -l'", "sh 'ls -l'"),
        ("sh ls${a}", "sh \"\"'lsx y'"),
        ("sh ls${n}", "sh ls3"),
        ("sh -q ls${a}", "sh -q 'lsx y'"),
        ("x 'y'=$n", "x 'y'=$n"),
        ("x /y=${a}", "x '/y=x y'"),
        ("keep as=$n sh $q $a", "keep as=3 sh 'it'\"'\"'s' 'x y'"),
        (
            "set setting /sys/block/sda/queue/nr_requests=$n on @db",
            "set setting /sys/block/sda/queue/nr_requests=3 on @db",
        ),
        ("set setting /proc/sys/vm/x=$a", "set setting /proc/sys/vm/x='x y'"),
        (
            "check show setting /proc/sys/vm/x on @db.value = $n 'why'",
            "check show setting /proc/sys/vm/x on @db.value=3 'why'",
        ),
        ("check list flashcache.size>=$n", "check list flashcache.size>=3"),
        (
            'check sql db=SPOT "select n from ${p}".n >= $n "few in ${p}"',
            'check sql db=SPOT "select n from DATA_1".n >= 3 "few in ${p}"',
        ),
        (
            "wait until on @db sql db=SPOT 'select n from ${p} where a=1'.n = \"${p}\" every=1s",
            "wait until on @db sql db=SPOT 'select n from DATA_1 where a=1'.n =\"${p}\" every=1s",
        ),
        ("check sql db=SPOT 'select n from ${p}'.n = $n", "check sql db=SPOT 'select n from DATA_1'.n= 3"),
        ('keep as=x sql db=SPOT "select n from ${p}"', 'keep as=x sql db=SPOT "select n from DATA_1"'),
        ("x 'y=$n' \"y=$n\" (y=1)=$n", "x 'y=$n' \"y=$n\" (y=1)=$n"),
    ]
)
def test_substitute(text: str, result: str) -> None:
    """$name as a whole value and ${name} inside one are replaced, in quotes where they could be read as something else."""
    assert substitute(text, VALUES) == result


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("check no griddisk where name like '$p.*'", ["$p"]),
        ('prompt "$A, ${n} and $nix cost 5$n"', ["$A", "${n}"]),
        ("alter iormplan dbplan=((name='$p',share=1))", ["$p"]),
        ("check no griddisk where name like ${p}.*", []),
        ('sql db=SPOT "select ${p} from v$n where x=$n"', ["$n"]),
        ('check sql db=SPOT "select ${p} from v$n".p > $n "few ${p}"', ["${p}"]),
        ('on @db sh "echo $a ${n}"', []),
    ],
)
def test_values_that_are_letters_in_quotes(text: str, found: list[str]) -> None:
    """A parameter's name in quotes is found where no value is put in; a shell's own words are left to it."""
    assert list(letters(text, VALUES)) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x y=$nix", r"\$nix is not a parameter"),
        ("x y=a${nix}", r"\$nix is not a parameter"),
        ("alter iormplan dbplan=((name=x${p},share=1))", "must be a whole item"),
        ("host show a'b $n c'", "is inside an open quote or `"),
        ('on @db sh show "\\" y=$n "\\"', "is inside an open quote or `"),
    ],
)
def test_substitute_refuses(text: str, said: str) -> None:
    """An unknown parameter, or one glued to others inside a list, is an error."""
    with pytest.raises(RecipeError, match=said):
        substitute(text, VALUES)


@pytest.mark.parametrize(
    "text", ["x $v", "x y=$v", "x y${v}", "x (y=$v)", "sh ls $v", "sh ls y=$v", "host ls y${v}", "sh (ls $v)"]
)
@pytest.mark.parametrize(
    ("value", "said"),
    [("a\nlist cell", "can't be printed"), ("a\x1b[2J", "can't be printed"), ("a'\"b", "both kinds of quotes")],
)
def test_what_can_not_be_one_word_is_refused(text: str, value: str, said: str) -> None:
    """A line feed or a control sign is put in nowhere; both kinds of quotes only where a shell reads them."""
    if "quotes" in said and text.startswith(("sh", "host")):
        assert parse_line(substitute(text, {"v": value}), shell=False) is not None
        return
    with pytest.raises(RecipeError, match=said):
        substitute(text, {"v": value})


ANY = st.text(max_size=16)


@pytest.mark.parametrize("left", ["key", "/sys/block/sd*/queue/x", "@db.value", "--reason", "list.size>"])
@given(value=ANY)
def test_a_value_is_one_word(left: str, value: str) -> None:
    """Whatever a value holds, it is one word with that value where it was put, or a RecipeError: never syntax."""
    try:
        text = substitute(f"first {left}=$x last", {"x": value})
    except RecipeError:
        assert ("'" in value and '"' in value) or not value.isprintable()
        return
    words = split_words(text)
    assert len(words) == 3
    key, _, raw = words[1].raw.partition("=")
    assert key == left
    assert split_words(f"z {raw}")[1].value == value if raw else value == ""


@given(ANY)
def test_a_bare_value_is_one_word_and_no_keyword(value: str) -> None:
    """A value that stands alone is one word, never a flag, verb, recipe or comment, and never ends the statement."""
    try:
        text = substitute("first $x last", {"x": value})
    except RecipeError:
        return
    words = split_words(text)
    assert [word.value for word in words] == ["first", value, "last"]
    assert words[1].quoted or not (value.isalpha() or value.startswith(("-", "@", "#", "!")))


@given(ANY)
def test_a_value_never_changes_the_statement(value: str) -> None:
    """A name put into a CellCLI statement is that name: no value adds a clause, a flag or another statement."""
    try:
        line = parse_line(substitute("list griddisk $x", {"x": value}), shell=False)
    except (RecipeError, StatementError):
        return
    assert line is not None
    assert isinstance(line.cellcli, List)
    assert line.cellcli.names == (value,)
    assert line.flags == {}
    assert not line.cellcli.detail


WORDS = (
    "on",
    "ON",
    "on @ini",
    "@db",
    "(@db)",
    "where x=1",
    "-y",
    "--diff",
    "as=c",
    "/b=1 on @ini",
    "; facts on @ini",
    "a\n",
    "'",
    "> f",
    "-- b",
)
VALUE = st.one_of(ANY, st.sampled_from(WORDS))


@pytest.mark.parametrize(
    ("behind", "front"),
    [
        ("facts $x on $y", "on $y facts $x"),
        ("facts on $y $x --reason=$x", "on $y facts $x --reason=$x"),
        ("set setting /a=$x on $y /b=$x", "on $y set setting /a=$x /b=$x"),
        ("show setting /sys/block/${x} on $y -o json", "on $y show setting /sys/block/${x} -o json"),
        ("drift baseline=$x on $y", "on $y drift baseline=$x"),
        ("save baseline as=$x on $y", "on $y save baseline as=$x"),
    ],
)
@given(x=VALUE, y=VALUE)
def test_values_never_send_a_line_to_other_hosts(behind: str, front: str, x: str, y: str) -> None:
    """Whatever the values are, a line goes to the hosts that its own ON names, or is refused, and gets no flag from a value."""
    try:
        line = parse_line(substitute(behind, {"x": x, "y": y}), shell=False)
    except (RecipeError, StatementError):
        with pytest.raises((RecipeError, StatementError)):
            parse_line(substitute(front, {"x": x, "y": y}), shell=False)
        return
    same = parse_line(substitute(front, {"x": x, "y": y}), shell=False)
    assert line is not None and same is not None and line.call is not None and same.call is not None
    assert (line.on, line.text, line.call.args, line.flags) == (same.on, same.text, same.call.args, same.flags)
    assert line.on in (y, y[1:-1].strip()) and line.on
    assert line.flags.keys() <= {"reason", "format"}
    assert not line.pipe and not line.redirect


@given(ANY)
def test_a_value_never_becomes_the_verb(value: str) -> None:
    """A value at the beginning of a line is no verb and no recipe, whatever it is."""
    try:
        text = substitute("$x flashcache", {"x": value})
        line = parse_line(text, shell=False)
    except (RecipeError, StatementError):
        return
    assert line is None, f"{value!r} became {line}"


SIGNS = st.text("ab '\"$`()\\*?[]{}~!#&|;<>=-@/", min_size=1, max_size=12)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A place where a shell runs and can do nothing; its only program, show, tells with which words it was started."""
    if missing():
        pytest.skip(missing())
    with Sandbox(["show"], ["/etc"], ["passwd"]) as place:
        yield place


def command_of(text: str) -> str:
    """Return the command for a shell that a line of a recipe holds, itself or behind KEEP."""
    line = parse_line(text, shell=False)
    assert line is not None and line.call is not None
    return command_given(line.call, {})[0] if "what" not in line.call.args else command_of(line.call.text_arg("what"))


@pytest.mark.parametrize(
    "text",
    [
        *("on @db sh show $x", "host show x${x}", "on @db sh (show $x)", "-y sh show $x", "-o json host show $x"),
        *(
            "-n on @db sh show $x",
            "keep -y sh show $x as=f",
            "keep as=f on (a, b) sh show $x",
            "on '@db' sh show $x -n",
        ),
    ],
)
@given(value=SIGNS)
def test_a_value_is_one_word_of_a_shell(text: str, value: str, sandbox: Sandbox) -> None:
    """A real shell gets a value as that one word: nothing of it is expanded, ends the command or begins another one."""
    command = command_of(substitute(text, {"x": value}))
    words = ("-n",) if text.endswith("-n") else ()
    for run in sandbox.run(command, [name for name in ("dash", "bash") if program(name)]):
        assert [started.argv for started in run.started] == [
            ("show", value if "$x" in text else f"x{value}", *words)
        ], command


@pytest.mark.parametrize(
    "text", ["host show${x}", "host $x -n", "sh as=f $x", "sh $x as=f", "sh -q $x", "keep sh $x -n as=f"]
)
@given(value=st.one_of(SIGNS, st.just("'$(show)")))
def test_a_value_in_the_name_of_a_program_is_no_command(text: str, value: str, sandbox: Sandbox) -> None:
    """Where a value is not all of a command, it is a word of it or the name of its program: nothing else is started."""
    for run in sandbox.run(
        command_of(substitute(text, {"x": value})), [name for name in ("dash", "bash") if program(name)]
    ):
        assert not run.started and (
            run.ended in ("126", "127") or "show" not in text
        )  # A name may be the shell's own: [


QUOTING = (
    *("show", "a", "'", '"', "a'b", "c'", 'a"b', 'c"', '\\"', "\\'", "`", "$(", ")", "(", "${v", "}", '"$(', ')"'),
    *("#", ";", "|", "k=", "$'"),
)
PIECES = st.lists(st.sampled_from(QUOTING), max_size=5).map(" ".join)
ENDS_QUOTES = st.sampled_from(
    ("'; show hit; '", '"; show hit; "', "$(show hit)", "`show hit`", "'$(show hit)", "\\", "' b", "${v}")
)


@given(
    before=PIECES, after=PIECES, word=st.sampled_from(("$x", "${x}", "k=$x", "y${x}", "(show $x)")), value=ENDS_QUOTES
)
@example(before="show a'b", after="c'", word="$x", value="$(show hit)")
@example(before='show "\\"', after='"\\"', word="$x", value="$(show hit)")
@example(before="show `", after="`", word="$x", value="`show hit`")
@example(before='show "$( "a"b"', after='"c)"', word="$x", value="$(show hit)")
@example(before="show $'a\\'", after="", word="$x", value="$(show hit)")
@example(before=";", after="", word='(show "\\" $x ")', value="$(show hit)")
@example(before=";", after="", word="(show `show $x `)", value="`show hit`")
@example(before="show", after="", word="`k=$x", value="`show hit`")
def test_a_value_runs_nothing_whatever_a_recipe_quotes(
    before: str, after: str, word: str, value: str, sandbox: Sandbox
) -> None:
    """However a recipe's own text is quoted, real shells start the same programs with any value in it, or it is refused."""
    try:
        with_it, plain = (
            command_of(substitute(f"host show {before} {word} {after}", {"x": x})) for x in (value, "w0w")
        )
    except (RecipeError, StatementError):
        return
    shells = [name for name in ("dash", "bash") if program(name)]
    for run, benign in zip(sandbox.run(with_it, shells), sandbox.run(plain, shells), strict=True):
        assert not any("hit" in started.argv[1:2] for started in run.started), with_it
        assert len(run.started) == len(benign.started), with_it


def test_a_value_that_is_all_of_a_command_is_one() -> None:
    """A parameter that stands alone behind sh or host holds a whole command, as its kind command says."""
    load = {"load": "fio --name='a b' x.fio"}
    for text in ("host $load", "on @db sh --detach $load"):
        line = parse_line(substitute(text, load), shell=False)
        assert line is not None and line.call is not None
        assert command_given(line.call, {})[0] == load["load"]


@given(ANY.filter(bool))
@example("a,b")
def test_a_value_in_a_list_is_one_item(value: str) -> None:
    """A value inside an IORM plan stays one value of it."""
    try:
        text = substitute("alter iormplan dbplan=((name=$x,share=1))", {"x": value})
        line = parse_line(text, shell=False)
    except (RecipeError, StatementError):
        return
    assert line is not None
    assert line.effect is Effect.WRITE
    plan = parse_iorm(text.partition("dbplan=")[2])
    assert [d.name for d in plan.directives] == [value]
    assert plan.directives[0].get("share") == "1"


# -- the shipped ones and the user's ---------------------------------------------------------------------------------


def test_shipped_recipes_are_well_formed() -> None:
    """Every shipped recipe has a title, help for each parameter, a ceiling, and lines that parse."""
    files = shipped()
    assert set(files) >= {"reset_cold", "flash_diskgroup", "flashlog_ab"}
    for path in files.values():
        found = parse_recipe(path.stem, path.read_text(encoding="utf-8"), str(path))
        check_recipe(found)
        assert found.title
        assert found.risk
        assert all(param.help != "no help" for param in found.params), path.stem


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("reset_cold", {}),
        ("reset_cold", {"size": "288g"}),
        ("flash_diskgroup", {"name": "DETAIL", "cache": "288g", "redundancy": "high"}),
        ("flashlog_ab", {"db": "all", "load": "fio job.fio --x='y z'"}),
    ],
)
def test_shipped_recipes_take_their_values(name: str, values: dict[str, str]) -> None:
    """Shipped recipes make statements of the values that they are given."""
    path = shipped()[name]
    found = parse_recipe(name, path.read_text(encoding="utf-8"))
    known = values_of(found, values)
    for line in found.lines:
        if holds(line.when, known):
            assert line_of(found, line, known) is not None


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with one recipe of the user's own and one that shadows a shipped one."""
    home = Home(config_dir=tmp_path, state_dir=tmp_path, cache_dir=tmp_path)
    home.recipes_dir.mkdir()
    (home.recipes_dir / "mine.exa").write_text('recipe "Mine"\nparam a : int "count"\nlist cell\n')
    (home.recipes_dir / "reset_cold.exa").write_text("list cell\n")
    (home.recipes_dir / "broken.exa").write_text("param ?\n")
    (home.recipes_dir / "notes.txt").write_text("no recipe")
    return home


def test_own_recipes_win(home: Home) -> None:
    """The user's recipes stand beside the shipped ones, and win over those of the same name."""
    assert {"mine", "reset_cold", "flashlog_ab"} <= set(recipe_files(home))
    assert "notes" not in recipe_files(home)
    assert recipe_files(home)["reset_cold"].parent == home.recipes_dir
    assert load_recipe(home, "MINE").title == "Mine"
    assert [p.name for p in recipe_params(home, "mine")] == ["a"]


def test_unknown_and_broken_recipes(home: Home) -> None:
    """An unknown recipe suggests near ones; completion gets nothing of a broken one."""
    with pytest.raises(RecipeError, match="there is no recipe mini") as caught:
        load_recipe(home, "mini")
    assert "did you mean mine" in caught.value.hint
    with pytest.raises(RecipeError, match="recipe broken, line 1"):
        load_recipe(home, "broken")
    assert recipe_params(home, "broken") == ()
    assert recipe_params(home, "nix") == ()


def test_unreadable_recipe(home: Home) -> None:
    """A file that is no text is an error with its path."""
    (home.recipes_dir / "binary.exa").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match=r"binary\.exa can't be read"):
        load_recipe(home, "binary")


def test_a_file_of_another_system_is_read(home: Home) -> None:
    """A mark of UTF-8 at the beginning and ends of lines of two characters are no part of the text."""
    (home.recipes_dir / "notepad.exa").write_bytes(b'\xef\xbb\xbfrecipe "Noted"\r\nlist cell\r\n')
    recipe = load_recipe(home, "notepad")
    assert (recipe.title, [line.text for line in recipe.lines]) == ("Noted", ["list cell"])


def test_check_uses_samples_for_any_kind() -> None:
    """A recipe is checked with a sample for each kind of parameter, given a default or not."""
    kinds = [
        "size",
        "int",
        "duration",
        "name",
        "db",
        "cellset",
        "command",
        "file",
        "text",
        "number",
        "diskgroup",
        "prefix",
    ]
    for kind in kinds:
        found = parse_recipe("r", f"param a : {kind}\nalter cell comment=$a\n")
        check_recipe(found)
        assert found.params[0] == Param(name="a", kind=Kind(kind), help="no help", required=True)


BLOCK = """\
matrix x in on,off
  experiment factor=flashlog db=SPOT
    list cell
    list griddisk when $x = on
  end
  experiment factor=flashlog db=ERP
end
experiment factor=flashlog db=CRM
finally
  experiment factor=flashlog db=HR
end
experiment factor=flashlog db=DWH;
  # what each run carries out
  list lun
END
"""


def test_an_end_that_nothing_else_needs_closes_an_experiment() -> None:
    """Statements up to such an end belong to the runs of the experiment; without one it stands alone."""
    lines = parse_recipe("r", BLOCK).lines
    assert [(line.text.split()[-1].rstrip(";"), line.experiment) for line in lines] == [
        ("db=SPOT", 0), ("cell", 2), ("griddisk", 2), ("db=ERP", 0), ("db=CRM", 0), ("db=HR", 0), ("db=DWH", 0), ("lun", 12),
    ]  # fmt: skip
    assert [line.when for line in lines if line.experiment] == ["", "$x = on", ""]
    assert [line.matrix is not None for line in lines] == [True] * 4 + [False] * 4
