"""Recipes made by chance: none makes the checker or the layout fail, and a layout changes nothing but the layout."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from exacell.core.errors import ExacellError
from exacell.language.line import Line, parse_line
from exacell.language.reading import read_fact, read_until
from exacell.language.registry import Kind
from exacell.language.words import split_words, strip_comment
from exacell.recipes.checker import problems_of
from exacell.recipes.files import shipped
from exacell.recipes.layout import laid_out
from exacell.recipes.parsing import Problem, Recipe, physical_lines, read_draft
from exacell.recipes.values import conditions, substitute
from tests.support.maderecipes import made_recipe, whole_recipe

MADE = 200
"""Recipes of one run; ``python benchmarks/recipes.py`` makes 10,000."""


def meaning(recipe: Recipe) -> Any:
    """Return what a recipe says, without how it is set: its header, and each statement as it is parsed."""
    named = (*(p.name for p in recipe.params), *(each.name for each in recipe.lets), "x", "y", "wave")
    values = dict.fromkeys(named, "x")
    lines = [
        (
            conditions(line.when),
            line.final,
            line.matrix and line.matrix.axes,
            line.turns and (line.turns.size, parsed(f"on {line.turns.on} list cell", values)),
            bool(line.experiment),
            parsed(line.text, values),
        )
        for line in recipe.lines
    ]
    lets = [(let.name, let.reading) for let in recipe.lets]
    return recipe.title, recipe.params, recipe.risk, recipe.needs, lets, lines


def parsed(text: str, values: dict[str, str]) -> Any:
    """Return a statement as the parser has it, without its spelling; its words where it is none."""
    try:
        line = parse_line(substitute(text, values), shell=False)
    except ExacellError:
        return [word.raw for word in split_words(text)]
    return line and unspelt(line)


def unspelt(line: Line) -> Any:
    """Return a line without its text, and the checks in it read."""
    if line.call is None:
        return replace(line, text="")
    args = dict(line.call.args)
    checks = [
        (read_fact if param.kind is Kind.FACT else partial(read_until, bounded=False))(str(args.pop(param.name)))
        for param in line.call.command.params
        if param.kind in (Kind.FACT, Kind.UNTIL) and param.name in args
    ]
    return replace(line, text="", call=None), line.call.command.name, args, line.call.extra, line.call.flags, checks


def comments(text: str) -> Counter[str]:
    """Return the comments of a recipe."""
    found: Counter[str] = Counter()
    for _, lines in physical_lines(text):
        if len(lines) == 1:
            try:
                found[lines[0][len(strip_comment(lines[0])) :].strip()] += 1
            except ExacellError:
                continue  # A quote is open to the end.
    found.pop("", None)
    return found


def plainly(problem: Problem) -> str:
    """Return what is said of a recipe's line without blanks and columns, which a layout moves."""
    said = re.sub(r" in column \d+", "", f"{problem.message}|{problem.hint}")
    return "".join(said.lower().split())


def judged(text: str) -> tuple[bool, str]:
    """Return whether nothing is wrong with a recipe, and what its layout broke; empty where it kept all.

    Whatever the checker or the layout raises is a failure of theirs, and comes through.
    """
    draft, out = read_draft("r", text), laid_out(text)
    problems, after = problems_of(draft), problems_of(read_draft("r", out))
    said = [Counter(map(plainly, found)) for found in (problems, after)]
    broken = [
        *(["it is not the same when it is laid out again"] if laid_out(out) != out else []),
        *(["other problems"] if said[0] != said[1] else []),
        *(
            ["another meaning"]
            if not problems and meaning(draft.recipe) != meaning(read_draft("r", out).recipe)
            else []
        ),
        *(["other comments"] if comments(text) != comments(out) else []),
    ]
    return not problems, ", ".join(broken)


def test_a_layout_keeps_meaning_problems_and_comments() -> None:
    """Recipes made by chance mean the same when they are laid out, have the same problems, and stay so laid out again."""
    found = {seed: judged(made_recipe(Random(seed))) for seed in range(MADE)}
    assert {seed: broken for seed, (_, broken) in found.items() if broken} == {}
    whole = sum(good for good, _ in found.values())
    assert MADE // 4 < whole < MADE * 3 // 4, "both kinds are among them"


def test_whole_ones_are_whole() -> None:
    """What is made as a whole recipe has no problem, however it is set."""
    assert {seed: problems_of(read_draft("r", whole_recipe(Random(seed)))) for seed in range(40)} == dict.fromkeys(
        range(40), ()
    )


@pytest.mark.parametrize("place", shipped().values(), ids=lambda place: place.stem)
def test_shipped_ones_keep_their_meaning(place: Any) -> None:
    """A shipped recipe that is laid out says the same."""
    good, broken = judged(place.read_text(encoding="utf-8"))
    assert good and not broken


LOOSE = """\


# above
recipe   'Cold'
param size:size|keep=keep "how much"   -- of each cell
param  longer_name   :  choice( a | b )
let a=list flashcache.size of exa1cel01
needs asm,release >= 19.3
risk  Performance ;
# of the first line
  list   griddisk   where name like 'A  B'
resize flashcache size=$size when $size!=keep
\tenable  flashlog db=SPOT   when  $longer_name = a and $size=keep  -- why


matrix   x in 1 , 2   y in 'a , b',c
alter cell -
comment='a   b' -
   -y
finally
  # inside
on @db  sh   echo  'a   b'   c
end
"""

SET = """\
# above
recipe "Cold"
param  size        : size|keep = keep  "how much"  -- of each cell
param  longer_name : choice(a|b)
let    a = list flashcache.size of exa1cel01
needs  asm, release>=19.3
risk   performance

# of the first line
list griddisk where name like 'A  B'
resize flashcache size=$size  when $size != keep
enable flashlog db=SPOT       when $longer_name = a and $size = keep  -- why

matrix x in 1,2 y in 'a , b',c
  alter cell -
    comment='a   b' -
    -y
  finally
    # inside
    on @db  sh   echo  'a   b'   c
  end
"""


def test_the_usual_layout() -> None:
    """One blank between words, columns of parameters and conditions, deeper blocks, an empty line behind the header."""
    assert laid_out(LOOSE) == SET
