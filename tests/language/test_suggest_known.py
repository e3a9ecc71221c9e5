"""Completion with what is known of a rack: fuzzy, ranked by use, live names, values seen, releases."""

from __future__ import annotations

import time
from collections.abc import Sequence
from timeit import timeit

import pytest
from hypothesis import given, strategies as st

from exacell.core.config import FORMATS
from exacell.language.registry import Kind
from exacell.language.suggest import suggest
from exacell.language.suggestion import Fit, Known, Vocabulary, described_metrics, fit_of
from tests.support.every import every

DISKS = [f"{group}_CD_{n:02d}_exa1cel{c:02d}" for group in ("DATA", "RECO") for n in range(12) for c in (1, 2)]
ABOUT = {"FL_DISK_FIRST": "redo writes that disk finished first"}
LIVE = {
    Kind.GRIDDISK: Vocabulary(DISKS, note="griddisk, seen 5m ago"),
    Kind.METRIC: Vocabulary(ABOUT, about=ABOUT),
    Kind.DB: ("SPOT", "ERP"),
    Kind.CELL: ("exa1cel01", "exa1cel02"),
    Kind.CELLSET: ("@all", "@failed"),
    Kind.ALIAS: [("fd", "list griddisk attributes name,size")],
    Kind.PLAN: [("monday", "resize flashcache size=300g")],
    Kind.CHANGE: [("12", "flush flashcache")],
    Kind.BASELINE: ["golden"],
    Kind.IORM: ["before_test"],
    Kind.ASM: ["main"],
    Kind.ALERT: [("3_1", "exa1cel02 critical: hard disk failed")],
}


def names(kind: Kind) -> Sequence[str | tuple[str, str]]:
    return LIVE.get(kind, ())


def seen(subject: str, attribute: str) -> Sequence[str]:
    return {("CELL", "flashCacheMode"): ["WriteBack"]}.get((subject, attribute), ())


RACK = Known(names=names, seen=seen)


def offered(text: str, known: Known = RACK, **more: object) -> list[str]:
    return [text[: s.start] + s.text for s in suggest(text, known, fuzzy=True, **more)]  # type: ignore[arg-type]


@every([
        ("list griddisk DATA_CD_03", "list griddisk DATA_CD_03_exa1cel01"),
        ("list griddisk cd_05_exa1cel02", "list griddisk DATA_CD_05_exa1cel02"),
        ("list griddisk attributes mode", "list griddisk attributes asmModeStatus"),
        ("list metriccurrent disk_f", "list metriccurrent FL_DISK_FIRST"),
        ("list metriccurrent fldf", "list metriccurrent FL_DISK_FIRST"),
        ("alter griddisk RECO_CD_00", "alter griddisk RECO_CD_00_exa1cel01"),
        ("drop griddisk DATA_CD_00_exa1cel01,RECO_CD_11_exa1cel02", "drop griddisk DATA_CD_00_exa1cel01,RECO_CD_11_exa1cel02"),
        ("list griddisk where name = RECO_CD_07", "list griddisk where name = RECO_CD_07_exa1cel01"),
        ("on (where flashCacheM", "on (where flashCacheMode"),
        ("on (where flashCacheMode=w", "on (where flashCacheMode=WriteBack"),
        ("use +exa", "use +exa1cel01"),
        ("use not exa", "use not exa1cel01"),
        ("fd", "fd"),
        ("alias x list flashl", "alias x list flashlog"),
        ("set editing_mode v", "set editing_mode vi"),
        ("flush flashcache --roll", "flush flashcache --rolling"),
        ("flush flashcache --on-error=c", "flush flashcache --on-error=continue"),
        ("flush flashcache --canary=", "flush flashcache --canary=exa1cel01"),
        ("list cell --format=js", "list cell --format=json"),
        ("apply ", "apply monday"),
        ("undo 1", "undo 12"),
        ("ack alert 3", "ack alert 3_1"),
        ("list alerthistory ", "list alerthistory 3_1"),
        ("alter alerthistory 3", "alter alerthistory 3_1"),
        ("journal show 1", "journal show 12"),
        ("drift baseline=", "drift baseline=golden"),
        ("drop diskgroup D asm=", "drop diskgroup D asm=main"),
        ("restore iorm ", "restore iorm before_test"),
        ("set iorm db=SPOT flashl", "set iorm db=SPOT flashLog="),
        ("set iorm db=SPOT flashLog=", "set iorm db=SPOT flashLog=on"),
        ("unset iorm limit,flashL", "unset iorm limit,flashLog"),
    ])  # fmt: skip
def test_the_likeliest_comes_first(text: str, first: str) -> None:
    """What begins so, has a part that begins so, or has these letters in order is offered, the best fit first."""
    assert offered(text)[0] == first


def test_metrics_come_with_what_the_cells_say_about_them() -> None:
    """A metric's description stands beside it, its object and unit where no cell has described it."""
    found = {s.text: s.meta for s in suggest("list metriccurrent FL_", RACK)}
    assert found["FL_DISK_FIRST"] == ABOUT["FL_DISK_FIRST"] and found["FL_FLASH_FIRST"] == "FLASHLOG, IO requests"
    assert len(described_metrics(RACK)) >= 854


def test_live_names_tell_their_age() -> None:
    """A name that was learned says how long ago."""
    assert suggest("list griddisk DATA", RACK)[0].meta == "griddisk, seen 5m ago"


def test_words_used_more_often_come_first_among_equals() -> None:
    """Use ranks words that fit alike; it never puts a worse fit before a better one."""

    def used(first: str, word: str) -> int:
        return {("list", "lun"): 9, ("show", "settings"): 3}.get((first, word), 0)

    assert offered("list l", used=used)[0] == "list lun"
    assert offered("show ", used=used)[0] == "show settings"
    assert offered("list flashc", used=used)[0] == "list flashcache"


def test_what_the_release_does_not_have_is_not_offered() -> None:
    """Attributes and objects of other releases are left out once the selected cells' release is known."""
    old = Known(names=names, release="11.2.3.2.0")
    assert "list griddisk attributes asmDiskSize" not in offered("list griddisk attributes asmDiskS", old)
    assert "list griddisk attributes asmDiskSize" in offered("list griddisk attributes asmDiskS")


@pytest.mark.parametrize(
    ("word", "typed", "fit"),
    [
        ("flashCacheMode", "flash", Fit.PREFIX),
        ("flashCacheMode", "FLASHC", Fit.PREFIX),
        ("flashCacheMode", "mode", Fit.PART),
        ("flashCacheMode", "fcm", Fit.LETTERS),
        ("flashCacheMode", "lash", None),
        ("FL_DISK_FIRST", "disk", Fit.PART),
        ("anything", "", Fit.PREFIX),
    ],
)
def test_how_a_word_fits(word: str, typed: str, fit: Fit | None) -> None:
    """A prefix is best, then the beginning of a part, then letters in order that begin at a part."""
    assert fit_of(word, typed) is fit


@given(
    st.lists(st.text(alphabet="abAB_1", min_size=1, max_size=8), max_size=30), st.text(alphabet="abAB_1", max_size=4)
)
def test_a_vocabulary_finds_what_looking_at_each_word_finds(words: list[str], typed: str) -> None:
    """The fast search gives the same words with the same fit as judging them one by one."""
    expected = {(word, fit) for word in words if (fit := fit_of(word, typed)) is not None}
    if any(fit < Fit.LETTERS for _, fit in expected):
        expected = {(word, fit) for word, fit in expected if fit < Fit.LETTERS}
    assert set(Vocabulary(words).fitting(typed, 1000)) == expected


def test_the_last_of_too_many_names_is_among_those_found() -> None:
    """A shell that writes what all candidates begin with writes nothing that only the first ones begin with."""
    many = Vocabulary(f"DATA{number:03d}" for number in range(1000))
    found = [word for word, _ in many.fitting("da", 10)]
    assert len(found) == 10 and found[0] == "DATA000" and found[-1] == "DATA999"


def test_ten_thousand_names_are_searched_between_two_keys() -> None:
    """With 10,000 grid disks known a completion takes a few milliseconds of work."""
    many = Vocabulary(f"DATA{p}_CD_{n:02d}_exa1cel{c:02d}" for p in range(10) for n in range(16) for c in range(64))
    known = Known(names=lambda kind: many if kind is Kind.GRIDDISK else ())
    suggest("list griddisk x", known)

    def complete() -> None:
        for text in ("list griddisk ", "list griddisk DATA3_CD", "list griddisk cd_07", "list griddisk d9cel63"):
            assert suggest(text, known, fuzzy=True)

    # Of this thread alone, and without the garbage of other tests, which timeit does not look for.
    assert timeit(complete, timer=time.thread_time, number=1) / 4 < 0.03


def test_formats_are_those_of_the_configuration() -> None:
    """--format completes every format that the settings know."""
    assert [line.partition("=")[2] for line in offered("list cell --format=")] == list(FORMATS)


def test_flags_of_changes_are_for_changes() -> None:
    """What reads is offered no flag that only a change has."""
    flags = ("format=", "timeout=", "fold", "no-fold", "diff")
    assert set(offered("show flashcache --")) == {f"show flashcache --{flag}" for flag in flags}


@every(
    [
        ("dcli -", "dcli -c"),
        ("dcli --bat", "dcli --batchsize"),
        ("dcli --ser", "dcli --serial"),
        ("dcli -c exa", "dcli -c exa1cel01"),
        ("dcli -c exa1cel01,", "dcli -c exa1cel01,exa1cel02"),
        ("dcli -n -c @", "dcli -n -c @all"),
        ("dcli -l cellm", "dcli -l cellmonitor"),
        ("dcli -c exa1cel01 ", "dcli -c exa1cel01 cellcli"),
        ("dcli -c exa1cel01 cellcli ", "dcli -c exa1cel01 cellcli -e"),
        ("dcli -c exa1cel01 cellcli -e list gridd", "dcli -c exa1cel01 cellcli -e list griddisk"),
        ("dcli --maxlines=5 -c exa", "dcli --maxlines=5 -c exa1cel01"),
        ("on exa1cel01 dcli --hid", "on exa1cel01 dcli --hidestderr"),
    ]
)
def test_dcli_offers_its_own_options(text: str, wanted: str) -> None:
    """Behind dcli come dcli's options, cells behind -c, logins behind -l, and CellCLI behind cellcli -e."""
    assert wanted in offered(text)


def test_dclis_short_options_come_first() -> None:
    """A menu that shows a part only shows -c, -g and -l, which are used most."""
    found = offered("dcli -")
    assert found.index("dcli -c") < found.index("dcli -l") < found.index("dcli --batchsize")


@pytest.mark.parametrize("text", ["dcli -c exa1cel01 hostname -", "dcli uptime -", "dcli -n cellcli -e list cell --"])
def test_dcli_offers_no_options_behind_the_command(text: str) -> None:
    """What stands behind the command belongs to it: dcli's options end at the first word that is none."""
    assert not any(line.endswith(("-c", "--serial")) for line in offered(text))
