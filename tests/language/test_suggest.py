"""What may come next in a half-typed line."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.forms import FORMS
from exacell.cellcli.schema import find_object
from exacell.cellcli.statement import parse
from exacell.core.errors import StatementError
from exacell.language.registry import Kind, Param, commands
from exacell.language.suggest import needed_word, suggest
from exacell.language.suggestion import Known, pieces
from tests.support.every import every

KNOWN = {
    Kind.CELL: ["exa1cel01", "exa1cel02"],
    Kind.CELLSET: ["@all", "@failed", "exa1db01"],
    Kind.DB: ["SPOT", "ERP"],
    Kind.RACK: ["t1"],
    Kind.RECIPE: ["reset_cold", "flashlog_ab"],
    Kind.SNAPSHOT: ["before", "after"],
    Kind.MEASURED: ["before", "after"],
    Kind.DISKGROUP: ["DATA"],
    Kind.PREFIX: ["ssddisk"],
    Kind.SETTING: ["/proc/sys/vm/swappiness", "/sys/block/*/queue/scheduler"],
}
PARAMS = (Param(name="size", kind=Kind.SIZE, words=("keep",), default="keep", help="flash-cache size per cell"),)


def names(kind: Kind) -> Sequence[str]:
    return KNOWN.get(kind, ())


RACK = Known(
    names=names,
    recipe_params=lambda name: PARAMS if name == "reset_cold" else (),
    hosts_of=lambda rack: ["other1", "other2", "otherdb1"] if rack == "other" else (),
)


def offered(text: str) -> list[str]:
    """The whole lines that the suggestions make."""
    found = suggest(text, RACK)
    return [text[: s.start] + s.text for s in found]


@every(
    [
        ("li", ["list"]),
        ("list griddisk -o js", ["list griddisk -o json", "list griddisk -o jsonl"]),
        ("flush flashcache --on-error st", ["flush flashcache --on-error stop"]),
        ("wait until all cell.status = online ev", ["wait until all cell.status = online every="]),
        ("LI", ["list"]),
        ("list flashc", ["list flashcache", "list flashcachecontent"]),
        ("flush f", ["flush flashcache"]),
        ("list cell; list flashl", ["list cell; list flashlog"]),
        ("alter cell comment=don't; list flashl", ["alter cell comment=don't; list flashlog"]),
        ("on exa1cel01,exa1cel02 list flashl", ["on exa1cel01,exa1cel02 list flashlog"]),
        (
            "on exa1cel01,",
            [f"on exa1cel01,{each}" for each in ("@all", "@failed", "exa1cel02", "exa1db01")],
        ),
        ("on @f", ["on @failed"]),
        ("on exa1d", ["on exa1db01"]),
        ("can offline exa1d", []),
        ("on @db set setting /proc/sys/vm/sw", ["on @db set setting /proc/sys/vm/swappiness="]),
        (
            "on @db set setting /proc/sys/vm/x=1 /sys/b",
            ["on @db set setting /proc/sys/vm/x=1 /sys/block/*/queue/scheduler="],
        ),
        ("facts o", ["facts on"]),
        ("on @db facts o", []),
        ("facts on @f", ["facts on @failed"]),
        ("facts on exa1d", ["facts on exa1db01"]),
        ("facts on exa1db01 blo", ["facts on exa1db01 block"]),
        ("facts on exa1db01 o", []),
        ("facts on exa1db01 --dif", ["facts on exa1db01 --diff"]),
        ("set setting /proc/sys/vm/x=1 on exa1d", ["set setting /proc/sys/vm/x=1 on exa1db01"]),
        ("set setting on exa1db01 /proc/sys/vm/sw", ["set setting on exa1db01 /proc/sys/vm/swappiness="]),
        ("plan set setting on exa1d", ["plan set setting on exa1db01"]),
        ("drift on exa1db01 b", ["drift on exa1db01 baseline="]),
        ("on @db show setting /sys/b", ["on @db show setting /sys/block/*/queue/scheduler"]),
        ("list flashcache attributes name,si", ["list flashcache attributes name,size"]),
        ("list flashcache attributes name, SI", ["list flashcache attributes name, size"]),
        ("list griddisk where asmmodes", ["list griddisk where asmModeStatus"]),
        ("list griddisk where asmModeStatus=onl", ["list griddisk where asmModeStatus=ONLINE"]),
        ("list griddisk where asmModeStatus = onl", ["list griddisk where asmModeStatus = ONLINE"]),
        (
            "list griddisk where size > 1G a",
            ["list griddisk where size > 1G and", "list griddisk where size > 1G attributes"],
        ),
        ("list griddisk where name like 'x' order ", ["list griddisk where name like 'x' order by"]),
        ("list metriccurrent fl_disk_f", ["list metriccurrent FL_DISK_FIRST"]),
        ("list metriccurrent where name = fl_disk_f", ["list metriccurrent where name = FL_DISK_FIRST"]),
        ("list database s", ["list database SPOT"]),
        ("describe gri", ["describe griddisk"]),
        ("alter flashcache all can", ["alter flashcache all cancel"]),
        ("alter flashcache all cancel fl", ["alter flashcache all cancel flush"]),
        ("alter cell flashcachem", ["alter cell flashCacheMode="]),
        ("create griddisk all flashdisk pre", ["create griddisk all flashdisk prefix="]),
        ("create griddisk all performanceoptimized f", ["create griddisk all performanceoptimized flashdisk"]),
        ("resize flashcache s", ["resize flashcache size="]),
        ("enable flashlog db=s", ["enable flashlog db=SPOT"]),
        ("connect ", ["connect t1"]),
        ("run res", ["run reset_cold"]),
        ("run reset_cold s", ["run reset_cold size="]),
        ("run reset_cold size=", ["run reset_cold size=keep"]),
        ("@res", ["@reset_cold"]),
        ("@reset_cold si", ["@reset_cold size="]),
        ("resize flashcache size=288g --dry", ["resize flashcache size=288g --dry-run"]),
        ("set mode ", ["set mode ro", "set mode rw"]),
        ("emulator fault other o", [f"emulator fault other {host}" for host in ("other1", "other2", "otherdb1")]),
        ("emulator fault other other1,other2", ["emulator fault other other1,other2"]),
        ("emulator fault t1 e", []),
        ("set format js", ["set format json", "set format jsonl"]),
        ("delta be", ["delta before"]),
        ("delta before ", ["delta before before", "delta before after"]),
        ("!ls ", []),
        ("# list ", []),
        ("list cell | gr", []),
        ("nonsense ", []),
    ]
)
def test_suggestions(text: str, wanted: list[str]) -> None:
    """What is offered is exactly what may come next, in its canonical spelling."""
    assert offered(text) == wanted


def test_every_command_can_be_reached_word_by_word() -> None:
    """Typing any command's words one after another, each one is offered."""
    for words in commands():
        for count in range(len(words)):
            text = " ".join(words[:count]) + (" " if count else "")
            assert " ".join(words[: count + 1]) in offered(text), words


def test_what_is_offered_as_a_value_is_one() -> None:
    """Each value that is offered for a setting, or for an attribute after WHERE, is read as that value: with quotes where it
    needs some."""
    lines = []
    for verb, name in FORMS:
        subject = find_object(name) if name else None
        for attribute in subject.attributes if subject is not None else ():
            lines.append(f"{verb.value.lower()} {name.lower()} X {attribute}=")
            lines.append(f"list {name.lower()} where {attribute} = ")
    found = [line for text in lines for line in offered(text) if line.rstrip() != text.rstrip()]
    assert len(found) > 500

    def wrong(line: str) -> bool:
        try:
            parse(line)
        except StatementError as error:
            return "value" in error.message
        return False

    assert wrong("alter threshold X comparison=<") and wrong("list threshold where comparison = <")
    assert [line for line in found if wrong(line)] == []


def test_a_threshold_is_named_after_a_metric() -> None:
    """CREATE THRESHOLD offers metrics as soon as a letter is typed."""
    assert "create threshold CD_IO_ERRS_MIN" in offered("create threshold cd_io_err")


def test_a_parameter_is_offered_once() -> None:
    """A parameter that has been given is not offered again."""
    assert "resize flashcache size=1g size=" not in offered("resize flashcache size=1g ")


def test_attributes_that_were_named_are_not_offered_again() -> None:
    """ATTRIBUTES name, … does not offer name a second time."""
    assert not any(line.endswith(",name") for line in offered("list cell attributes name,"))


def test_flags_of_changes_are_not_offered_for_reads() -> None:
    """show flashcache takes no --yes, flush flashcache does."""
    assert "show flashcache --yes" not in offered("show flashcache --")
    assert "flush flashcache --yes" in offered("flush flashcache --")


def test_descriptions_say_units_and_kinds() -> None:
    """Metrics come with their unit, attributes with their kind."""
    metric = suggest("list metriccurrent FL_DISK_FIRST", RACK)[0]
    attribute = suggest("list flashcache attributes siz", RACK)[0]
    assert "IO requests" in metric.meta and "size" in attribute.meta


@given(st.text(alphabet="list grdkwhe=,;'\"()@!-|>$\n", max_size=40))
def test_nothing_that_is_typed_breaks_it(text: str) -> None:
    """Whatever stands before the cursor, suggestions start inside it and begin with what is typed there."""
    for suggestion in suggest(text, RACK):
        assert 0 <= suggestion.start <= len(text)


@given(st.text(alphabet="ab c'\"()=\t", max_size=30))
def test_pieces_keep_their_places(text: str) -> None:
    """Each piece is found in the line at its own offset, and the last one reaches the cursor."""
    found = pieces(text)
    assert all(text[p.start : p.start + len(p.text)] == p.text for p in found)
    assert found[-1].start + len(found[-1].text) == len(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("can ", "offline"),
        ("racks; on c1 can ", "offline"),
        ("can", ""),
        ("can offline ", ""),
        ("show ", ""),
        ("cells ", ""),
        ("list ", ""),
        ("on c1 ", ""),
        ("", ""),
    ],
)
def test_the_only_word_that_may_follow_is_known(text: str, word: str) -> None:
    """Where a statement of ours can go on in one way alone that word is known, and nowhere else."""
    assert needed_word(text) == word


@pytest.mark.parametrize(
    ("text", "offered"), [("run reset_cold --y", True), ("racks --y", False), ("start x.scl --y", True)]
)
def test_what_runs_a_recipe_has_the_flags_of_changes(text: str, offered: bool) -> None:
    """A recipe's changes can be agreed to and rehearsed from the line that runs it; what changes nothing needs neither."""
    found = [each.text for each in suggest(text, Known(names=lambda kind: ()))]
    assert ("--yes" in found) is offered


def test_a_list_that_is_kept_completes_as_a_list_does():
    """Behind snap list stands what LIST takes, and as= anywhere, also behind the statement."""
    known = Known(names=lambda kind: ())
    assert "griddisk" in {found.text for found in suggest("snap list gridd", known)}
    assert "attributes" in {found.text for found in suggest("snap list griddisk attr", known)}
    assert "size" in {found.text for found in suggest("snap list griddisk attributes name,siz", known)}
    assert "as=" in {found.text for found in suggest("snap list griddisk attributes name a", known)}
    assert "as=" not in {found.text for found in suggest("snap list griddisk as=x a", known)}
