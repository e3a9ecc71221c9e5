"""A recipe's run before it runs: plan @r shows each line's plan, rehearse @r carries out on a copy what one can have."""

from __future__ import annotations

import pytest

from tests.support.program import InProcess

SIZES = """\
recipe "Sizes"
param sizes : text = "288g,320g"
risk performance
let was = list flashcache.size of exa1cel01
check all flashcache.status = normal
matrix size in $sizes
  resize flashcache size=$size
  check list flashcache.size <= $size
  keep list flashcache attributes name, size as=sizes_${size}
end
@inner
on @db sh uname -r
on @db keep sh eval true as=done
sql db=SPOT "select name from v$database"
finally
  resize flashcache size=$was
  undo run
end
"""
INNER = 'recipe "Inner"\ncarve griddisk prefix=p\nlist cell attributes name\n'


def written(inside: InProcess, **recipes: str) -> None:
    folder = inside.home / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in recipes.items():
        (folder / f"{name}.exa").write_text(text)


def state(inside: InProcess) -> object:
    cells = inside.ok("-r", "t1", "-o", "json", "list flashcache attributes name, size").records
    return cells, inside.ok("-r", "t1", "-o", "json", "list griddisk attributes name").records


def test_a_plan_of_a_run_shows_every_line(inside: InProcess) -> None:
    """Each line, those of the matrix written out and those of the recipe inside: the steps of what changes something, what it is
    of the others, and what can't be planned yet; nothing is sent, kept or journalled."""
    written(inside, sizes=SIZES, inner=INNER)
    before = state(inside)
    done = inside.ok("-r", "t1", "-o", "json", "plan @sizes sizes=288g,16g")
    rows = {row["line"]: row for row in done.records}
    assert [rows[line]["does"].split("  (")[0] for line in sorted(rows)] == [
        "check all flashcache.status=normal",
        "resize flashcache size=288g",
        "check list flashcache.size <= 288g",
        "keep list flashcache attributes name, size as=sizes_288g",
        "resize flashcache size=16g",
        "check list flashcache.size <= 16g",
        "keep list flashcache attributes name, size as=sizes_16g",
        "carve griddisk prefix=p",
        "list cell attributes name",
        "on @db sh uname -r",
        "on @db keep sh eval true as=done",
        'sql db=SPOT "select name from v$database"',
        f"resize flashcache size={before[0][0]['size']}",
        "undo run",
    ]
    steps = [row for row in done.records if row["line"] == 5]
    assert {row["statement"] for row in steps} >= {"DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=16G"}
    assert {row["cell"] for row in steps} == {"exa1cel01", "exa1cel02", "exa1cel03"}
    told = {line: rows[line]["outcome"] for line in rows}
    assert told[1] == "holds now" and told[3].startswith("checked during the run, because line 2 ")
    carved = {row["statement"] for row in done.records if row["line"] == 8}
    assert carved == {"CREATE GRIDDISK ALL FLASHDISK PREFIX=p, size=22320M"}, "room that the line before makes"
    assert (told[9], told[10], told[12]) == ("reads", "reads", "reads") and told[11] == "keeps it as done, unread"
    assert told[13].startswith("can't be planned before line 2 is carried out") and "does not fit" in told[13]
    assert "takes back" in told[14]
    assert done.err.count("Plan on t1: resize flashcache") == 2
    assert state(inside) == before and inside.ok("-r", "t1", "-o", "json", "journal").records == []
    assert not (inside.home / "runs").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("check all flashcache.status = broken\nlist cell", "the run would stop here"),
        ("risk none\nresize flashcache size=288g\nlist cell", "risk"),
        ("carve griddisk prefix=p\nlist cell", "0 is free"),
    ],
)
def test_where_a_run_would_stop_is_told_and_the_rest_is_planned(inside: InProcess, text: str, said: str) -> None:
    """What would end the run at once is a problem with exit code 2; the lines behind it are shown all the same."""
    written(inside, bad=f'recipe "Bad"\n{text}\n')
    done = inside("-r", "t1", "-o", "json", "plan @bad")
    assert done.code == 2 and said in done.err
    assert done.records[-1]["outcome"] == "reads"


def test_a_plan_of_a_run_is_not_kept(inside: InProcess) -> None:
    """plan as=NAME is for one change: for a recipe the way out is named, and nothing is kept."""
    written(inside, inner=INNER)
    done = inside("-r", "t1", "plan as=x @inner")
    assert done.code == 2 and "`plan run inner` shows all of them" in done.err
    assert inside.ok("-r", "t1", "-o", "json", "plans").records == []


def test_a_kept_plan_names_its_cells_with_blanks_too(inside: InProcess) -> None:
    """What ON names in parentheses is kept so: apply goes to the cells that were planned."""
    inside.ok("-r", "t1", "plan as=two on (@all not exa1cel02) disable flashlog db=SPOT")
    assert "exa1cel[01,03]" in inside.ok("-r", "t1", "--fold", "apply two -n").err


def test_what_a_copy_does_not_have_is_named_first(inside: InProcess) -> None:
    """Lines for hosts, databases and commands are named, also those inside a check or a recipe, before a copy is made."""
    written(
        inside,
        all='recipe "All"\nneeds opaque\n@more\ncheck sql db=SPOT "select name from v$database".name = '
        "SPOT\nlist cell\n",
        more='recipe "More"\nhost uptime\non exa1db01 sh uname\nkeep @db:/etc/hosts as=x\n',
    )
    done = inside("-r", "t1", "rehearse @all")
    assert done.code == 2 and "making a copy" not in done.err
    told = " ".join(done.err.split())
    assert "a copy of a rack has no commands and no hosts and no databases: line 2 (host uptime)" in told
    assert "rehearse without=commands,hosts,databases" in told
    done = inside("-r", "t1", "rehearse without=hosts,databases @all")
    assert done.code == 2 and "rehearse without=hosts,databases,commands" in " ".join(done.err.split())
    assert inside("-r", "t1", "rehearse without=kernels @all").code == 2


def test_the_rest_is_rehearsed_with_values_of_the_rack(inside: InProcess) -> None:
    """What is left out is told, the other lines are carried out on a copy, and the rack stays as it is."""
    written(inside, sizes=SIZES.replace("finally", "@inner\nfinally").replace("@inner", "", 1), inner="list cell\n")
    before = state(inside)
    done = inside.ok("-r", "t1", "rehearse without=hosts,databases @sizes sizes=288g")
    assert "left out, because the copy does not have it: line 12: on @db sh uname -r" in done.err
    assert "3 lines left out" in done.err and "rehearsal: kept with run rehearsal as sizes_288g" in done.err
    assert "it would change nothing on cells and disk groups" in done.err
    assert state(inside) == before and inside.ok("-r", "t1", "-o", "json", "journal").records == []
