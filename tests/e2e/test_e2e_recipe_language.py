"""What recipes are made of besides statements, run on an emulated rack: let, matrix, checks of readings, recipes in recipes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exacell.runner import Runner
from tests.support.program import InProcess

SIZES = """\
recipe "The cache in several sizes"
needs release>=11.2, mode=writeback, media=hard
param sizes : text = "288g,320g" "sizes to try"
let was = list flashcache.size of exa1cel01
matrix size in $sizes
  resize flashcache size=$size
  check list flashcache.size <= $size "it did not get smaller"
  @look who=$size
end
finally
  resize flashcache size=$was
end
"""
LOOK = 'recipe "Look"\nparam who : text\nlist flashcache attributes name, size when $who != none\n'


def written(inside: InProcess, **recipes: str) -> None:
    folder = inside.home / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in recipes.items():
        (folder / f"{name}.exa").write_text(text)


def sizes(inside: InProcess) -> set[int]:
    return {row["size"] for row in inside.ok("-r", "t1", "-o", "json", "list flashcache attributes name, size").records}


def test_a_matrix_runs_its_lines_for_each_value_and_puts_back_what_was_read(inside: InProcess) -> None:
    """The value is read before anything changes; each size is made, checked and looked at by the recipe inside; then it is as
    it was."""
    written(inside, sizes=SIZES, look=LOOK)
    before = sizes(inside)
    assert "4 statements, well-formed" in inside.ok("-r", "t1", "check recipe sizes").err
    done = inside.ok("-r", "t1", "-o", "json", "run sizes", "-y")
    outline = done.err.partition("[1/7]")[0].partition("The cache in several sizes")[2].splitlines()
    assert [line.split(None, 1)[1] for line in outline if "resize" in line] == [
        "resize flashcache size=288g  (size=288g)",
        "resize flashcache size=320g  (size=320g)",
        f"resize flashcache size={before.copy().pop()}  (finally)",
    ], "all of it is shown before anything runs"
    assert [row["size"] for row in done.records] == [309237645312] * 3 + [343597383680] * 3
    assert f"was = {before.copy().pop()} (364.8G): list flashcache.size of exa1cel01" in done.err
    assert sizes(inside) == before


def test_a_dry_run_shows_every_size_and_judges_no_check_behind_a_change(inside: InProcess) -> None:
    """-n plans each of the changes, says which checks it can't judge, and changes nothing."""
    written(inside, sizes=SIZES, look=LOOK)
    before = sizes(inside)
    done = inside("-r", "t1", "run sizes sizes=16g,32g", "-n")
    assert done.code == 0, done.err
    for size in ("16g", "32g"):
        assert f"Plan on t1: resize flashcache size={size}" in done.out + done.err
    assert done.err.count("but -n runs none, so this line is not checked") == 2
    assert sizes(inside) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("needs release>=26.1\nlist cell", "needs release>=26.1: exa1cel[01-03] has 19.3"),
        ("needs mode=writethrough\nlist cell", "needs mode=writethrough: exa1cel[01-03] has WriteBack"),
        ("needs media=pmem\nlist cell", "needs media=pmem: exa1cel[01-03] has no PMEM"),
        ("needs hosts=initiators\nlist cell", "needs hosts=initiators: rack t1 has db"),
        ("needs hosts=@initiators\nlist cell", "needs hosts=initiators: rack t1 has db"),
        ("list cell\nfinally\n  on @initiators list cell\nend", "@initiators is not a group of rack t1"),
        ("on exa1cel09 list cell", "exa1cel09 is not in rack t1"),
        ("let a = list griddisk.size\nlist cell", "let a: list griddisk.size is not one value but"),
        ("let a = list flashcache.size of nobody\nlist cell", "has no row for nobody"),
        ("@again\nlist cell", "recipe again calls itself: again -> again"),
        ("@missing\nlist cell", "there is no recipe missing"),
        ("@look which=1\nlist cell", "recipe look has no parameter which: it takes who"),
        ("matrix x in $none\nlist cell\nend", "$none is not a parameter"),
    ],
)
def test_nothing_runs_where_something_is_not_there(inside: InProcess, text: str, said: str) -> None:
    """What is needed, read or run inside is judged before the first line; the refusal names it and no line is run."""
    written(inside, again=f'recipe "Again"\n{text}\n', look=LOOK)
    done = inside("-r", "t1", "run again", "-y")
    assert done.code in (1, 2) and said in done.err.replace("\n", " ")
    assert "[1/" not in done.err and done.out == ""


def test_a_check_recipe_looks_into_the_recipes_inside(inside: InProcess) -> None:
    """check recipe finds what is wrong in a recipe that is run, at the line that runs it, without running anything."""
    written(inside, outer='recipe "Outer"\nlist cell\n@inner a=1\n', inner="param a : int\nlst cell $a\n")
    done = inside("-r", "t1", "check recipe outer")
    assert done.code == 2 and "line 3: recipe inner, line 2:" in done.out


def test_undo_behind_a_run_takes_the_whole_run_back(inside: InProcess, tmp_path: Path) -> None:
    """undo alone means the run that the newest change is part of, says so, and takes nothing back twice; a number means one
    change. The journal names the recipe."""
    recipe = tmp_path / "comments.exa"
    comments = [f'alter griddisk DATA_CD_0{number}_exa1cel01 comment="run"\n' for number in (0, 1)]
    recipe.write_text('recipe "two comments"\n' + "".join(comments))
    noted = ("-r", "t1", "-o", "json", "on exa1cel01 list griddisk where comment = 'run' attributes name")
    inside.ok("-r", "t1", "alter griddisk DATA_CD_02_exa1cel01 comment=before", "-y")
    inside.ok("-r", "t1", f"run {recipe}", "-y")
    assert len(inside.ok(*noted).records) == 2
    assert "comments: alter griddisk DATA_CD_01_exa1cel01" in inside.ok("-r", "t1", "journal").out
    numbers = [row["change"] for row in inside.ok("-r", "t1", "-o", "json", "journal").records]
    said = f"(run {recipe}); to take back only change {numbers[-1]}, type `undo {numbers[-1]}`"
    assert said in inside.ok("-r", "t1", "undo", "-n").err and len(inside.ok(*noted).records) == 2
    assert said in inside.ok("-r", "t1", "undo", "-y").err and inside.ok(*noted).records == []
    left = inside.ok("-r", "t1", "undo", "-y")
    assert "the whole run" not in left.err and f"undo of {numbers[-3]}" in inside.ok("-r", "t1", "journal").out


def test_undo_run_of_a_recipe_inside_takes_back_its_own_changes_alone(inside: InProcess) -> None:
    """What the outer recipe changed stays; what the inner one changed is back when it ends, whatever its risk allows."""
    written(
        inside,
        outer='recipe "Outer"\non exa1cel01 alter cell comment=outer\n@inner\nlist cell attributes name, comment\n',
        inner='recipe "Inner"\non exa1cel02 alter cell comment=inner\nfinally\n  undo run\nend\n',
    )
    done = inside.ok("-r", "t1", "-o", "json", "run outer", "-y")
    told = {row["name"]: row["comment"] for row in done.records if row.get("comment")}
    assert told.get("exa1cel01") == "outer" and "exa1cel02" not in told
    inside.ok("-r", "t1", "on exa1cel01 alter cell comment=''", "-y")


def test_a_line_that_is_refused_tells_its_way_out(inside: InProcess) -> None:
    """What ends a run says what to do as the same statement at the prompt does."""
    alone = inside("-r", "t1", "carve griddisk prefix=hint media=flash size=20g").err.removeprefix("exacell: ").strip()
    assert "makes room" in alone
    written(inside, full="carve griddisk prefix=hint media=flash size=20g\n")
    done = inside("-r", "t1", "run full", "-y")
    assert done.code != 0 and alone in done.err


def test_the_lower_ceiling_of_risk_counts(inside: InProcess) -> None:
    """A recipe that may not touch performance runs none that does."""
    written(inside, outer='recipe "Outer"\nrisk none\n@sizes\n', sizes=SIZES, look=LOOK)
    before = sizes(inside)
    done = inside("-r", "t1", "run outer", "-y")
    assert done.code != 0 and "risk" in done.err
    assert sizes(inside) == before


@pytest.mark.parametrize("value", ["a'b", 'x"y', "; drop flashcache", "$(touch /tmp/x)", "-n", "a | wc", "$size"])
def test_a_value_of_a_matrix_is_one_word(inside: InProcess, value: str) -> None:
    """What stands in a parameter's value arrives as that value, and nothing of it is syntax."""
    written(inside, words="param v : text\nmatrix x in $v\n  on exa1cel01 alter cell comment=$x\nend\n")
    quoted = f'"{value}"' if '"' not in value else f"'{value}'"
    inside.ok("-r", "t1", f"run words v={quoted}", "-y")
    (row,) = inside.ok("-r", "t1", "-o", "json", "on exa1cel01 list cell attributes name, comment").records
    assert row["comment"] == value
    inside.ok("-r", "t1", "on exa1cel01 alter cell comment=''", "-y")


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("check sql asm \"select state from v$asm_diskgroup where name = 'DATA'\".state = MOUNTED", 0, ""),
        (
            "check sql asm \"select name, state from v$asm_diskgroup\".state of DATA = DISMOUNTED 'no'",
            1,
            "state is MOUNTED",
        ),
        ('check sql db=SPOT "select name, open_mode from v$database".open_mode = "READ WRITE"', 0, ""),
        ('check sql asm "drop diskgroup DATA".name = x', 2, "not a statement that reads"),
        ("check list metriccurrent FC_BY_DIRTY.metricValue < 0m", 1, "MB, not < 0m"),
        ("check list metriccurrent FC_BY_DIRTY.metricValue < 900g", 0, ""),
        ('check sql db=SPOT "select group# from v$log where 1=2".group# = 1 "why"', 1, "there is no group#; why"),
        (
            'wait until sql asm "select state from v$asm_diskgroup".state of X = MOUNTED for=1s',
            1,
            "no row for X after 1",
        ),
        ("check show diskgroup.freeMb of DATA > 10g", 0, ""),
        ("check show diskgroup.freeMb of DATA < 1g", 1, "MB, not < 1g"),
        ("check all flashcache.size < 2t", 0, ""),
        ("check all flashcache.size < 1g", 1, "not below 1G"),
        ("check list cell.name = exa1cel01", 1, "exa1cel02: name is exa1cel02, not = exa1cel01"),
    ],
)
def test_checks_of_statements(inside: InProcess, text: str, code: int, said: str) -> None:
    """SQL that only asks is checked as cells are, metrics in their units; SQL that changes something is not sent."""
    done = inside("-r", "t1", text)
    assert done.code == code and said in " ".join(done.err.split()), done.err


def test_records_of_a_matrix_say_what_was_chosen(inside: InProcess) -> None:
    """What a reading line answers in a matrix carries the values that it was written out with."""
    written(inside, pairs="matrix x in 1,2 y in a,b\n  on exa1cel01 list cell attributes name when $y = a\nend\n")
    rows = inside.ok("-r", "t1", "-o", "json", "run pairs").records
    assert [(row["x"], row["y"], row["name"]) for row in rows] == [("1", "a", "exa1cel01"), ("2", "a", "exa1cel01")]


def test_undo_run_passes_over_what_nobody_read(inside: InProcess) -> None:
    """A command that exacell does not read stands between two changes: the changes are taken back, and it is named."""
    written(
        inside,
        mixed='recipe "Mixed"\nneeds opaque\non exa1cel01 alter cell comment=one\non exa1cel01 sh "eval true"\n'
        "on exa1cel02 alter cell comment=two\nfinally\n  undo run\nend\n",
    )
    before = inside.ok("-r", "t1", "-o", "json", "list cell attributes name, comment").records
    done = inside("-r", "t1", "run mixed", "-y", "--accept-opaque")
    assert done.code == 0, done.err
    assert "is not taken back: exacell can't read its text" in done.err
    assert inside.ok("-r", "t1", "-o", "json", "list cell attributes name, comment").records == before


BLOCKS = """\
recipe "Keep a table in the cache, or keep it out"
param db   : db = SPOT
param warm : choice(yes|no) = no
matrix level in keep,none
  experiment factor=cell_flash_cache:app.customers levels=${level},default db=$db blocks=1 aa=0 seed=24 as=clause_${level}
    @look who=$level
    emulator load t1 db=$db for=1m
    emulator load t1 db=$db for=9m when $warm = yes
  end
end
finally
  list cell attributes name
end
"""


def test_the_block_of_an_experiment_is_what_each_run_carries_out(shared: InProcess) -> None:
    """It is shown whole before anything runs, carried out in every run and no other time, and only where when lets it be."""
    written(shared, blocks=BLOCKS, look=LOOK)
    assert "5 statements, well-formed" in shared.ok("-r", "t1", "check recipe blocks").err
    warm = shared.ok("-r", "t1", "run blocks warm=yes", "-n").err
    assert "for=1m - emulator load t1 db=SPOT for=9m" in warm
    dry = shared.ok("-r", "t1", "run blocks", "-n").err
    planned = shared.ok("-r", "t1", "plan run blocks").err
    assert planned.count("Experiment clause_") == 2 and "Each run: @look who=keep - emulator load" in planned
    done = shared.ok("-r", "t1", "-o", "json", "run blocks", "-y")
    for told in (dry, done.err):
        outline = [line.strip() for line in told.partition("[1/3]")[0].splitlines()]
        assert outline.count("each run:") == 2
        assert outline.count("2  emulator load t1 db=SPOT for=1m  (level=keep)") == 1
        assert "1  list flashcache attributes name, size" in outline and "for=9m" not in told
        assert "Each run: @look who=keep - emulator load t1 db=SPOT for=1m" in told
    assert len([row for row in done.records if "block" in row]) == 2
    runs = shared.ok("-r", "t1", "-o", "json", "results clause_none").records
    (reads,) = [row["count"] for row in runs if "block" in row]
    assert reads > 0


def test_a_block_that_fails_gives_back_what_its_experiment_switched(inside: InProcess) -> None:
    """A check in it that does not hold ends the run; the factor is as it was, and what is final runs."""
    text = BLOCKS.replace("emulator load t1 db=$db for=1m", "check list flashcache.size < 1g")
    written(inside, blocks=text, look=LOOK)
    clause = "sql db=SPOT \"select cell_flash_cache c from dba_tables where table_name = 'CUSTOMERS'\""
    before = inside.ok("-r", "t1", "-o", "json", clause).records
    done = inside("-r", "t1", "-o", "json", "run blocks", "-y")
    assert done.code == 1 and "size is" in done.err and "the factor has its old value again" in done.err
    assert inside.ok("-r", "t1", "-o", "json", clause).records == before
    assert [row["name"] for row in done.records if "name" in row][-3:] == ["exa1cel01", "exa1cel02", "exa1cel03"]
    inside.ok("-r", "t1", "resume", "--abandon", "-y")


def test_on_behind_a_statement_for_hosts_is_taken_in_a_recipe_too(inside: InProcess) -> None:
    """LET, CHECK and KEEP read the hosts that ON names behind FACTS and SHOW SETTING, also where a parameter names them."""
    text = (
        'recipe "Kernels"\nneeds hosts=db\nparam where : cellset = @db "nodes"\n'
        "let was = show setting /proc/sys/vm/overcommit_memory on exa1db01.value\n"
        'check show setting /proc/sys/vm/overcommit_memory on @db.value = $was "they differ"\n'
        "keep facts kernel on $where as=kernels\nfacts kernel on $where\n"
    )
    written(inside, kernels=text)
    done = inside.ok("-r", "t1", "-o", "json", "run kernels", "-y")
    assert [row["cell"] for row in done.records] == ["exa1db01", "exa1db02"]
    assert "was = 0" in done.err
    assert inside.ok("-r", "t1", "-o", "json", "run kernels where=exa1db02", "-y").records[0]["cell"] == "exa1db02"


def test_on_a_condition_is_judged_where_its_line_stands(inside: InProcess) -> None:
    """A line of a recipe, of one inside it, and of a rolling may go to the cells for which something holds by then; the list of
    the run shows it as it can be typed."""
    written(
        inside,
        where="on exa1cel02 alter cell comment=chosen\non (where comment=chosen) list cell attributes name\n@inner\n"
        "on (where comment=chosen) alter cell comment=''\n",
        inner="on (where comment=chosen) list cell attributes comment\n",
    )
    done = inside.ok("-r", "t1", "-o", "json", "run where", "-y")
    assert [row.get("name") or row["comment"] for row in done.records] == ["exa1cel02", "chosen"]
    assert "  2  on (where comment=chosen) list cell attributes name\n" in done.err
    none = inside("-r", "t1", "run inner")
    assert none.code == 2 and "'where comment=chosen' is not true on any of exa1cel[01-03]" in none.err


def test_a_plan_for_cells_where_something_holds_is_kept_as_it_can_be_typed(inside: InProcess) -> None:
    """plan as=NAME on (where …) is a plan that apply can take up."""
    inside.ok("-r", "t1", "plan as=conditional on (where flashCacheMode=writeback) alter cell comment=kept")
    done = inside.ok("-r", "t1", "apply conditional", "-n")
    assert "ALTER CELL comment=kept" in done.out


def test_a_line_with_nothing_to_do_says_so(inside: InProcess) -> None:
    """A recipe that is run again tells of each change that is made already, cells alike in one line; so does its plan."""
    written(inside, again="enable flashlog db=SPOT\nfinally\nundo run\nend\n")
    said = "exa1cel[01-03]: nothing to do: flashLog is on for SPOT already"
    for statement in ("run again", "plan @again"):
        assert said in inside.ok("-r", "t1", statement, "-y").err, statement
    dry = inside.ok("-r", "t1", "run again", "-n")
    assert said in dry.err and "-n: `undo run` would take back what the run changed up to this line" in dry.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('prompt "it was" $a', "it was 288 GB"),
        ('prompt $a "behind"', "288 GB behind"),
        ('prompt "it was $a"', "it was $a"),
        ("prompt don't stop", "don't stop"),
    ],
)
def test_what_prompt_says_has_values_and_no_quotes(inside: InProcess, text: str, said: str) -> None:
    """Words in quotes and values stand beside each other without quotes; in quotes $ is a letter."""
    written(inside, says=f'recipe "Says"\nparam a : text = "288 GB"\n{text}\n')
    assert inside.ok("-r", "t1", "run says").err.endswith(f"\n{said}\n")


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ("list flashcache.size of exa1cel01", r"a = (\d{12}) \(\d+(\.\d+)?G\): list flash"),
        ("show diskgroup.freeMb of DATA", r"a = \d{7} \(\d\.\d+T\): show disk"),
        ("list metriccurrent FL_IO_TM_W.metricValue of exa1cel01", r"a = \d+: list metric"),
    ],
)
def test_a_value_is_shown_as_a_size_only_where_it_is_one(inside: InProcess, reading: str, said: str) -> None:
    """What LET has read stands there as it goes into lines, and beside it as people read it: bytes and MB, no counters."""
    written(inside, shown=f"let a = {reading}\nprompt $a\n")
    assert re.match(said, inside.ok("-r", "t1", "run shown").err)


def test_a_run_is_taken_back_by_its_name_from_another_session(inside: InProcess) -> None:
    """undo run NAME puts back all that an ended run has changed, once; alone it names the newest run; a run that is none is
    refused with those that there are; in a recipe it takes no name."""
    written(
        inside,
        pair="alter cell comment=paired\ndisable flashlog db=SPOT\n",
        names="list cell\nfinally\nundo run r1\nend\n",
    )
    assert "none has changed anything yet" in inside("-r", "t1", "undo run r1").err
    before = inside.ok("-r", "t1", "-o", "json", "list cell attributes name, comment").records
    inside.ok("-r", "t1", "run pair", "-y")
    assert "`undo run r1` takes back the newest run (run pair)" in inside.ok("-r", "t1", "undo run").err
    dry = inside("-r", "t1", "undo run R1", "-n")
    assert "undo change 2 (disable flashlog db=SPOT)" in dry.err and "nothing was sent" in dry.err
    done = inside.ok("-r", "t1", "-o", "json", "undo run r1", "-y")
    assert [row["outcome"] for row in done.records] == ["done"] * 6
    assert inside.ok("-r", "t1", "-o", "json", "list cell attributes name, comment").records == before
    assert "nothing is left to take back" in inside.ok("-r", "t1", "undo run r1", "-y").err
    refused = inside("-r", "t1", "undo run r2", "-y")
    assert refused.code == 2 and "rack t1 has no recipe run r2; the newest are r1" in refused.err
    wrong = inside("-r", "t1", "check recipe names")
    assert wrong.code != 0 and "takes no name" in wrong.out


def test_only_what_is_not_read_is_asked_about(inside: InProcess) -> None:
    """A command for a shell that exacell reads needs nobody's yes; one that it does not read is told with where it goes, and
    where nobody is there to agree, no line runs."""
    written(inside, asked='recipe "Asked"\nneeds opaque\non @db sh uname -r\non exa1cel01 sh "eval true"\n')
    done = inside("-r", "t1", "run asked", stdin="")
    assert (
        done.code == 2
        and done.out == ""
        and done.err.startswith(
            "recipe asked runs commands that exacell can't read and can't guard:\n  on exa1cel01 sh \"eval true\"\n"
            "exacell: recipe asked: there is no terminal for the question; nothing was run; `run "
        )
    )
    written(inside, alone='recipe "Alone"\nneeds opaque\non @db sh uname -r\n')
    assert "can't guard" not in inside.ok("-r", "t1", "run alone").err


def test_what_a_recipe_imports_it_shows(inside: InProcess) -> None:
    """The figures of an import stand among the answers of the run, as when it is typed alone."""
    file = Path(__file__).parent.parent / "data" / "imports" / "fio-queue-1.json"
    written(inside, figures=f'recipe "Figures"\nimport {file}\n')
    alone = inside.ok("-r", "t1", "-o", "json", f"import {file}").records
    shown = inside.ok("-r", "t1", "-o", "json", "run figures").records
    assert [row["iops"] for row in shown if "iops" in row] == [row["iops"] for row in alone if "iops" in row] != []


def test_use_for_one_line_says_so(inside: InProcess) -> None:
    """A choice that ends with its line is told with the way to choose for a statement; where more follows it is not."""
    assert (
        "holds for this line only; to choose cells for one statement, type `on exa1cel01 list cell`"
        in inside.ok("-r", "t1", "use exa1cel01").err
    )
    assert "this line only" not in inside.ok("-r", "t1", "-e", "use exa1cel01; list cell").err
    assert [
        row["cell"] for row in inside.ok("-r", "t1", "-o", "json", "on exa1cel01 list cell attributes name").records
    ] == ["exa1cel01"]


def test_what_can_not_be_drawn_stops_no_line(inside: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in drawing an answer between two lines leaves all lines carried out, and what was answered comes at the end."""

    def broken(result: object) -> None:
        raise IndexError(result)

    monkeypatch.setattr(Runner, "_shows", lambda self, line: broken)
    final = "finally\n  on exa1cel02 alter cell comment=last\nend\n"
    written(inside, drawn=f'recipe "Drawn"\nlist cell attributes name\non exa1cel01 alter cell comment=one\n{final}')
    done = inside("-r", "t1", "-o", "json", "run drawn", "-y")
    assert done.code == 0 and [row["name"] for row in done.records if "name" in row] == [
        f"exa1cel0{n}" for n in (1, 2, 3)
    ]
    found = inside.ok("-r", "t1", "-o", "json", "list cell attributes comment").records
    assert [row["comment"] for row in found][:2] == ["one", "last"]
    inside.ok("-r", "t1", "on exa1cel[01-02] alter cell comment=''", "-y")


def test_a_run_that_changed_nothing_names_no_way_back(inside: InProcess, tmp_path: Path) -> None:
    """A line that only reads and fails as the first one ends the run with its reason, and undo is not named; after a change it
    is."""
    fails = "on @db show setting /sys/block/sda/queue/nothing_here"
    recipe = tmp_path / "reads.exa"
    recipe.write_text(f'recipe "Reads"\nrisk none\n\n{fails}\n', encoding="utf-8")
    done = inside("-r", "t1", f"run {recipe} -y")
    assert done.code and "the run has changed nothing" in done.err and "undo" not in done.err
    recipe.write_text(
        f'recipe "Sets"\nrisk performance\n\nsql db=SPOT "alter system set open_cursors=454 scope=memory"\n{fails}\n',
        encoding="utf-8",
    )
    done = inside("-r", "t1", f"run {recipe} -y")
    assert done.code and "takes it back" in done.err
    inside.ok("-r", "t1", "undo", "-y")
