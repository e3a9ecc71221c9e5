"""A plan in brief: what stands on the screen with its question."""

import io
import re

import pytest

from exacell.core.units import parse_size
from exacell.output.briefplan import brief_lines
from exacell.output.draw import Look
from exacell.output.plans import rounded
from exacell.output.terminal import TerminalConsole
from exacell.plan.model import Change, Gate, Plan, Risk, Rolling, Stage, Step, Undo

CELLS = tuple(f"exa1cel{n:02}" for n in range(1, 4))
MANY = tuple(f"exa1cel{n:02}" for n in range(1, 15))
LOOK = Look(80)


def size_change(cell: str, before: str, after: str) -> Change:
    return Change(object="flashcache", name=f"{cell}_FLASHCACHE", attribute="size", before=before, after=after)


def resize(cells: tuple[str, ...] = CELLS, old: tuple[str, ...] = (), **extra: object) -> Plan:
    """Return the plan of a resize to 288G, from sizes that may differ."""
    olds = dict(zip(cells, old or ("364.75G",) * len(cells), strict=True))
    flush = tuple(Step(target=c, statement="ALTER FLASHCACHE ALL FLUSH NOWAIT", what="flush flashcache") for c in cells)
    drop = tuple(
        Step(target=c, statement="DROP FLASHCACHE", what="drop flashcache", risk=Risk.PERFORMANCE, undo=Undo.IMPOSSIBLE,
             inverse="the cached blocks are gone", changes=(size_change(c, olds[c], "-"),))
        for c in cells
    )  # fmt: skip
    create = tuple(
        Step(target=c, statement="CREATE FLASHCACHE ALL size=288G", what="create flashcache",
             changes=(size_change(c, "-", "288G"),))
        for c in cells
    )  # fmt: skip
    mend = tuple(Step(target=c, statement="ALTER FLASHCACHE ALL CANCEL FLUSH", what="mend") for c in cells)
    given = {
        "statement": "resize flashcache size=288g",
        "rack": "t1",
        "stages": (
            Stage(title="flush flashcache", key="flush", steps=flush),
            Stage(title="drop flashcache", key="drop", steps=drop),
            Stage(title="create flashcache", key="create", steps=create),
            Stage(title="switch caching on again", gate=Gate.MEND, mends="flush", unless="drop", steps=mend),
        ),
        "notes": ("288G = 16 flash disks × 18G",),
        "warnings": ("the cache starts empty",),
        "inverse": dict.fromkeys(cells, ("resize flashcache size=373504M",)),
        "estimate": 150.0,
        **extra,
    }
    return Plan(**given)  # type: ignore[arg-type]


def test_one_line_says_what_three_stages_do() -> None:
    """Title, warnings, one line for what is done to one object, what is lost, what undo does, risk, time; nothing else."""
    assert brief_lines(resize(), LOOK) == [
        "Plan on t1: resize flashcache size=288g",
        "  Warning: the cache starts empty",
        "  1 flush · 2 drop · 3 create flashcache  364.75G → 288G  on exa1cel[01-03]",
        "  Lost: the cached blocks are gone",
        "  Undo: resize flashcache size=364.75G (exa1cel[01-03])",
        "  Risk: performance only: answers may be slower for a while",
        "  Time: roughly 2m30s when nothing fails",
    ]


def test_few_unlike_cells_have_a_line_each_and_many_share_one() -> None:
    """Up to three kinds of change are told apart; more are summed up by the sizes between which they lie."""
    few = brief_lines(resize(old=("364.75G", "364.75G", "200G")), LOOK)
    assert few[2:4] == [
        "  1 flush · 2 drop · 3 create flashcache  364.75G → 288G  on exa1cel[01-02]",
        "    200G → 288G  on exa1cel03",
    ]
    many = brief_lines(resize(MANY, tuple(f"{300 + n}G" for n in range(14))), LOOK)
    told = " ".join(line.strip() for line in many[2:4])
    assert told.startswith(
        "1 flush · 2 drop · 3 create flashcache  300G to 313G → 288G (d shows each)  on exa1cel[01-14]"
    )


def test_what_is_lost_is_said_once_whatever_undo_sends_where() -> None:
    """Cells that get different sizes back lose the same blocks: that is one line, and many statements are counted."""
    few = resize(inverse={cell: (f"resize flashcache size={n}G",) for n, cell in enumerate(CELLS, 1)})
    shown = "\n".join(brief_lines(few, LOOK))
    assert shown.count("Lost:") == 1 and "Undo: resize flashcache size=3G (exa1cel03)" in shown
    many = resize(MANY, inverse={cell: (f"resize flashcache size={n}G",) for n, cell in enumerate(MANY, 1)})
    shown = "\n".join(brief_lines(many, LOOK))
    assert (
        shown.count("Lost:") == 1
        and "Undo: 14 statements, each for the cells that had the same (d shows them)" in shown
    )


@pytest.mark.parametrize("width", [40, 80, 100, 160])
@pytest.mark.parametrize("unicode", [True, False])
def test_any_window_has_all_of_it(width: int, unicode: bool) -> None:
    """At every width each line fits, no word is lost, and ASCII is enough where the terminal knows no more."""
    wide = " ".join(brief_lines(resize(), Look(400, unicode=unicode))).split()
    shown = brief_lines(resize(), Look(width, unicode=unicode), height=40)
    assert max(map(len, shown)) <= width and " ".join(shown).split() == wide
    assert all(line.isascii() for line in shown) is not unicode


def test_a_long_plan_leaves_room_for_its_question() -> None:
    """On 24 rows thirty stages are cut in the middle and counted; warnings, risk and time always stand."""
    stages = tuple(
        Stage(title=f"rebalance G{n}", steps=(Step(target="n1", statement="S", what="s"),)) for n in range(30)
    )
    shown = brief_lines(resize(stages=stages, inverse={}), LOOK, height=24)
    assert len(shown) <= 21 and shown[1] == "  Warning: the cache starts empty"
    assert any(re.search(r"\d+ more lines: d shows all steps", line) for line in shown)
    assert "  1  rebalance G0  on n1" in shown and "  30 rebalance G29  on n1" in shown
    assert shown[-1].startswith("  Time:")


def test_what_undo_cannot_bring_back_is_said_in_the_words_of_the_whole_plan() -> None:
    """Without an inverse it cannot be undone; where data goes the loss and its risk are named in red."""
    lost = {"DATA": "DATA holds 3 files"}
    plan = resize(inverse={}, risk=Risk.DATA, loss=("DATA",), loss_reasons=lost)
    shown = brief_lines(plan, Look(80, True))
    text = "\n".join(shown)
    assert "Cannot be undone: the cached blocks are gone (exa1cel[01-03])" in text
    assert "\x1b[1;38;5;196mDATA: DATA holds 3 files\x1b[0m" in text
    assert "\x1b[1;38;5;196mDATA WILL BE LOST\x1b[0m" in text


def test_waves_and_idle_cells_are_told() -> None:
    """How cells take turns, where it is so already, and where it does not apply, each in a line."""
    rolling = Rolling(waves=tuple((cell,) for cell in CELLS))
    shown = brief_lines(resize(rolling=rolling, done={"c4": "c4 has it"}, skipped={"c5": "no flash", "c6": "XT"}), LOOK)
    assert "  Rolling: 3 waves: exa1cel[01-03], one cell at a time" in shown
    assert "  Already as wanted: c4: c4 has it" in shown
    assert "  Not applicable: c[5-6] (d says why)" in shown


def test_a_statement_that_is_sent_as_typed_is_the_step() -> None:
    """CellCLI's own statement is shown itself; a disk group is named, its sizes have units; directives keep their names."""
    restart = Step(target="c1", statement="ALTER CELL RESTART SERVICES MS", what="send")
    group = Step(target="n1", statement="DROP DISKGROUP FAST", what="drop", asm="main", changes=(
        Change(object="asm.diskgroup", name="FAST on n1", attribute="state", before="MOUNTED", after=""),))  # fmt: skip
    shrink = Step(target="n1", statement="S", what="shrink", asm="main", changes=(
        Change(object="asm.diskgroup", name="DATA", attribute="totalMb", before="614400", after="491520"),))  # fmt: skip
    iorm = Step(target="c1", statement="ALTER IORMPLAN", what="iorm", changes=(
        Change(object="iormplan", name="SPOT", attribute="share", before="8", after="9"),
        Change(object="iormplan", name="ERP", attribute="limit", before="", after="50"),
        Change(object="iormplan", name="X", attribute="limit", before="5", after=""),))  # fmt: skip
    stages = (
        Stage(title="send the statement", key="send", steps=(restart,)),
        Stage(title="drop the disk group", steps=(group,)),
        Stage(title="shrink the disk group", steps=(shrink,)),
        Stage(title="replace the dbplan", steps=(iorm,)),
    )
    assert brief_lines(Plan(statement="s", rack="", stages=stages), LOOK)[:5] == [
        "Plan: s",
        "  1 ALTER CELL RESTART SERVICES MS  on c1",
        "  2 drop the disk group  FAST  on n1",
        "  3 shrink the disk group  total 600G → 480G  on n1",
        "  4 replace the dbplan  SPOT share 8 → 9, ERP limit 50, 1 more  on c1",
    ]


def test_a_long_statement_of_cellcli_is_begun_where_the_change_beside_it_is_told() -> None:
    """The plan of 30 databases stays on a screen; where nothing says what a statement changes, it is all there."""
    directives = ",".join(f"(name=DB{number:02},share=1)" for number in range(30))
    statement = f"ALTER IORMPLAN dbPlan=({directives})"
    gone = Change(object="iormplan", name="DB07", attribute="limit", before="5", after="")

    def lines(*changes: Change) -> list[str]:
        step = Step(target="c1", statement=statement, what="send", changes=changes)
        stage = Stage(title="send the statement", key="send", steps=(step,))
        return brief_lines(Plan(statement=statement, rack="t1", stages=(stage,)), LOOK)

    assert lines(gone)[:2] == [
        "Plan on t1: ALTER IORMPLAN dbPlan=((name=DB00,share=1),…",
        "  1 ALTER IORMPLAN dbPlan=((name=DB00,share=1),…  DB07 limit 5 → gone  on c1",
    ]
    assert "".join(line.strip() for line in lines()).count("(name=DB29,share=1)") == 2
    idle = brief_lines(Plan(statement=statement, rack="t1", stages=()), LOOK)
    assert "(name=DB29,share=1)" in "".join(line.strip() for line in idle)


def test_an_idle_plan_says_so() -> None:
    """A plan without steps has nothing to do and names no risk."""
    shown = brief_lines(Plan(statement="x", rack="t1", done={"c1": "it is so already"}), LOOK)
    assert "  Nothing to do." in [f"  {line.strip()}" for line in shown] and not any("Risk" in line for line in shown)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("size=373504M", "size=364.75G"),
        ("288G", "288G"),
        ("23.28692626953125T", "23.287T"),
        ("357121M", "357121M"),
        ("4912M", "4912M"),
        ("DATA_1024M_x", "DATA_1024M_x"),
    ],
)
def test_a_size_is_as_a_person_reads_it(given: str, shown: str) -> None:
    """Whole megabytes become the larger unit where that is exact and short; names and what is short already stay."""
    assert rounded(given) == shown
    if given[0].isdigit() and "." not in shown:
        assert parse_size(shown) == parse_size(given)


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_d_shows_the_whole_plan_and_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first screen is brief; d shows statements, branches and notes and asks again; then yes is yes."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    err = _Terminal()
    answers, asked = ["d", "y"], []

    def read(question: str) -> str:
        asked.append(question)
        return answers.pop(0)

    console = TerminalConsole(err=err, stdin=io.StringIO(), read_line=read)
    console.show_plan(resize(), brief=True)
    brief = err.getvalue()
    assert "CANCEL FLUSH" not in brief and "16 flash disks" not in brief and "1 flush" in brief
    assert console.confirm("proceed?", lambda: console.show_plan(resize())) is True
    whole = err.getvalue().removeprefix(brief)
    for part in ("ALTER FLASHCACHE ALL FLUSH NOWAIT", "CANCEL FLUSH", "Note: 288G = 16 flash disks", "Undo:", "Risk:"):
        assert part in whole
    assert asked == ["proceed? [y/N/d] "] * 2


def test_nobody_to_ask_gets_the_whole_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off a terminal, and where nobody can answer, a plan is complete at once."""
    err = io.StringIO()
    TerminalConsole(err=err, stdin=io.StringIO()).show_plan(resize(), brief=True)
    assert "CANCEL FLUSH" in err.getvalue()
