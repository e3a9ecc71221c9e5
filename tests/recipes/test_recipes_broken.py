"""Broken recipes: all that is wrong with each is listed, and no text makes the checker fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import RecipeError
from exacell.recipes.checker import check_recipe, problems_of
from exacell.recipes.files import shipped
from exacell.recipes.filled import line_of, values_of
from exacell.recipes.parsing import Problem, read_draft
from exacell.recipes.values import holds
from tests.support.every import every
from tests.support.recipes import parse_recipe

DATA = Path(__file__).parents[1] / "data/recipes/broken.txt"


def broken() -> dict[str, tuple[str, str]]:
    """Return the recipes of the file by what they show, each with the lines that tell what is wrong."""
    blocks = DATA.read_text(encoding="utf-8").split("\n=== ")[1:]
    found = {}
    for block in blocks:
        name, _, rest = block.partition("\n")
        text, _, problems = rest.partition("---\n")
        found[name] = (text, problems)
    return found


BROKEN = broken()


def told(problem: Problem) -> str:
    return f"{problem.number}: {problem.message}" + (f" | {problem.hint}" if problem.hint else "")


@every(BROKEN)
def test_all_that_is_wrong_is_listed(name: str) -> None:
    """Each broken recipe has exactly the problems that stand behind it, each with its line and way out."""
    text, problems = BROKEN[name]
    assert [told(problem) for problem in problems_of(read_draft("r", text))] == problems.splitlines()
    assert problems, "it is broken"


@every(BROKEN)
def test_a_broken_recipe_is_never_run(name: str) -> None:
    """What the checker finds wrong is refused by whatever would run it, with the first problem."""
    text, problems = BROKEN[name]
    with pytest.raises(RecipeError) as caught:
        check_recipe(parse_recipe("r", text))
    assert problems.startswith(caught.value.message.partition("line ")[2])


WHOLE = """\
recipe "Whole"
param size : size|keep = keep "how much"
param db   : db "database"
param how  : choice(flash|hard) = flash
param any  : name
param free : text = 'a b'
risk  data
needs asm
check all griddisk.asmModeStatus = ONLINE where name = DATA_* and size > 1G
check no metriccurrent where name = FC_BY_DIRTY and metricValue > 0
check same flashcache.size, cell.flashCacheMode
wait until all flashcache.status = 'normal - flushed' every=5s for=1h
resize flashcache size=$size --rolling when $size != keep
carve griddisk prefix=$any media=$how
create diskgroup $any prefix=$any compatible.rdbms=$free
show diskgroup $any
snap $any as=${any}_x
enable flashlog db=$db
list metriccurrent FC_BY_USED
list metriccurrent $any
list metrichistory where name like 'FL_.*' and objectType = FLASHLOG attributes name, metricValue
list griddisk where name = $any attributes name -o csv
alter cell comment=$free
alter iormplan dbplan=((name=$db,share=8),(name=default,share=1))
alter threshold FC_BY_DIRTY.x warning=1
on exa1cel[01-02] sh -- uptime --dry-run
on (where flashCacheMode=writeback) list cell
host $any
sql asm "select name from v$asm_diskgroup"
sql db=$db "begin null; end;"
prompt "done -y"
finally
  undo run
end
"""


def test_nothing_is_found_in_what_is_whole() -> None:
    """A recipe of every kind of line, and each shipped one, has no problem."""
    assert problems_of(read_draft("r", WHOLE)) == ()
    for place in shipped().values():
        assert problems_of(read_draft(place.name, place.read_text(encoding="utf-8"))) == ()


WORDS = [
    *(
        "list",
        "lst",
        "griddisk",
        "grididsk",
        "where",
        "attributes",
        "name",
        "szie",
        "=",
        "!=",
        ">",
        ",",
        "(",
        ")",
        "'",
        '"',
        "$",
    ),
    *(
        "$size",
        "${size}",
        "$nix",
        "when",
        "and",
        "finally",
        "finaly",
        "end",
        "rolling 2",
        "recipe",
        "param",
        "risk",
        "needs",
        ":",
    ),
    *(
        "|",
        "choice(",
        "choice(a|b)",
        "size|keep",
        "--",
        "--rolling",
        "-y",
        "-o",
        "-",
        "#",
        "REM",
        "@x",
        "!ls",
        ";",
        "> f",
        "| wc",
    ),
    *(
        "check all",
        "check no",
        "wait until",
        "every=5s",
        "for=",
        "sql asm",
        "host",
        "sh",
        "dcli",
        "snap",
        "undo run",
        "on",
        "use",
    ),
    *(
        "\n",
        "\t",
        "\\",
        "\x00",
        "é",
        "exa1cel[01-",
        "1",
        "288g",
        "[",
        "*",
        "%",
        "metriccurrent",
        "FC_BY_USD",
        "like '(.'",
        "alias x",
    ),
]
BASES = [WHOLE, *(text for text, _ in BROKEN.values())]


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A recipe with words of the language put in, taken out and doubled anywhere."""
    text = draw(st.sampled_from(BASES))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(text)))
        end = min(len(text), place + draw(st.integers(0, 12)))
        put = draw(st.sampled_from(WORDS) | st.text(max_size=3))
        blank = draw(st.sampled_from(["", " ", "\n"]))
        text = text[:place] + blank + put + blank + (text[end:] if draw(st.booleans()) else text[place:])
    return text


@given(mangled() | st.text(max_size=80))
def test_no_text_makes_the_checker_fail(text: str) -> None:
    """Whatever a file holds, it is a list of problems with lines that it has; where there is none, every line is a statement."""
    draft = read_draft("r", text)
    problems = problems_of(draft)
    last = max(1, len(text.splitlines()))
    assert all(1 <= problem.number <= last and problem.message for problem in problems)
    if problems:
        return
    recipe = parse_recipe("r", text)
    given_values = {
        param.name: "16m" if param.kind.value == "size" else "x1" for param in recipe.params if param.required
    }
    try:
        values = values_of(recipe, given_values)
        for line in recipe.lines:
            if holds(line.when, values):
                line_of(recipe, line, values)
    except RecipeError:
        return  # A value of another kind; told in one line.
