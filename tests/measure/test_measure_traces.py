"""Waits of trace files are counted exactly, wherever a file is cut into pieces, and nothing else is taken for a wait."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.trace_files import waits, write_files
from exacell.commands.subjects import traced
from exacell.core.errors import RefusedError
from exacell.measure.histogram import Histogram
from exacell.measure.trace10046 import Fill, Traced, filling, summarize, together
from exacell.measure.tracesaid import rows, sentences
from exacell.session.tracefiles import read_files

SYNC = "log file sync"
FAKE = "WAIT #1: nam='log file sync' ela= 99 buffer#=1 p2=0 p3=0 obj#=-1 tim=1"
TEXT = f"""Trace file /u01/spot1_ora_7.trc
Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
Instance name: spot1
{FAKE.replace("99", "1").replace("WAIT", " WAIT")}
=====================
PARSING IN CURSOR #2 len=52 dep=0 uid=91 oct=6 lid=91 tim=1 hv=2 ad='9f' sqlid='0w2'
select '
{FAKE}
' from dual where note = 'nam=''log file sync'' ela= 5'
END OF STMT
PARSE #2:c=0,e=71,p=0,cr=3,cu=3,mis=0,r=1,dep=0,og=1,plh=19,tim=9
BINDS #2:
 Bind#0
  oacdty=01 mxl=32(08) mxlc=00 mal=00 scl=00 pre=00
  value="one line"
 Bind#1
  value="two
{FAKE}
lines"
EXEC #2:c=0,e=71,p=0,cr=3,cu=3,mis=0,r=1,dep=0,og=1,plh=19,tim=9
WAIT #2: nam='log file sync' ela= 512 buffer#=7701 sync scn=98765432103 p3=0 obj#=-1 tim=10
WAIT #140593871234568: nam='log file sync' ela=12 p1=77 p2=0 p3=0
WAIT #0: nam='SQL*Net message from client' ela= 7 driver id=1650815232 #bytes=1 p3=0 obj#=-1 tim=12
WAIT #0: nam='log file sync' ela= 512 buffer#=1 p2=0 p3=0 obj#=-1 tim=13
=====================
PARSING IN CURSOR #3 len=1 dep=0 uid=91 oct=3 lid=91 tim=1 hv=2 ad='9f' sqlid='0w3'
{FAKE}
END OF STMT
WAIT #3: nam='SQL*Net message to client' ela= 2 driver id=1650815232 #bytes=1 p3=0 obj#=-1 tim=14
""".encode()


def pieces(text: bytes, size: int) -> Fill:
    return filling(text[place : place + size] for place in range(0, len(text), size))


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("event", [SYNC, ""])
def test_a_file_cut_anywhere_has_the_same_waits(event: str, quick: bool) -> None:
    """Whole, byte by byte and in pieces of every size the same waits are found, and the same texts that look like one."""
    for size in [*range(1, 200), 10_000]:
        found = summarize(pieces(TEXT, size), event, "f", quick=quick)
        assert found.events[SYNC] == Histogram((12, 512), (1, 2)), size
        assert found.lookalikes == 3 and not found.broken, size
        others = {name: histogram.values for name, histogram in found.events.items() if name != SYNC}
        told = {"SQL*Net message from client": (7,), "SQL*Net message to client": (2,)}
        assert others == ({} if event else told), size
        assert size < 200 or found.headers["f"][1] == "Instance name: spot1"


LINES = st.one_of(
    st.builds(
        "WAIT #{}: nam='{}' ela={}{}{}".format,
        st.sampled_from(["0", "7", "1234567", "12345678", "140593871234568", "99999999999999999999", "", "x", "1405938712345x8"]),
        st.sampled_from(
            [SYNC, "log file syn", "log file sync ", "latch: x", "SQL*Net message from client", "Ä", "' ela= 4", "e" * 250, ""]
        ),
        st.sampled_from(["", " ", "  ", "\t"]),
        st.one_of(
            st.sampled_from(["0", "7", "512", "000512", "", "-5", "5x", "9999999:", "/1", "4294967295", "9" * 5000]),
            st.integers(1, 20).flatmap(lambda digits: st.integers(10 ** (digits - 1), 10**digits - 1).map(str)),
        ),
        st.sampled_from([" buffer#=7701 sync scn=98765432103 p3=0 obj#=-1 tim=10", "", "\r", " nam='log file sync' ela= 3"]),
    ),
    st.sampled_from(
        [
            "PARSING IN CURSOR #2 len=5", "END OF STMT", "PARSING", ' value="two', ' value="one"', 'lines"', '   value="', "",
            "EXEC #2:c=0,e=71,p=0", "WAIT", "WAIT #", "WAIT #1: nam='log file sync'", " WAIT #1: nam='log file sync' ela= 5",
            "PARSE ERROR #7:len=9 dep=0 err=942", "PARSE ERROR #7:len=90 dep=0 err=942", "PARSE ERROR #7:len=0", "PARSE ERROR #7",
            "  kxsbbbfp=7f  bln=32  avl=04  flg=05", "  kxsbbbfp=7f  bln=128  avl=90  flg=05", ' value="a "b" c"',
            "xWAIT #1: nam='log file sync' ela= 5", "*** 2011-11-30 11:06:40.123", "\0" * 9, "w" * 700,
        ]
    ),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(LINES, max_size=60),
    times=st.integers(1, 3),
    size=st.integers(1, 4000),
    end=st.sampled_from(["", "\n", "\r\n"]),
    event=st.sampled_from([SYNC, "", "latch: x", "e" * 250]),
    cut=st.integers(0, 60),
)
def test_numpy_finds_what_the_expression_finds(
    lines: list[str], times: int, size: int, end: str, event: str, cut: int
) -> None:
    """In any order of true, cut, odd and false lines, cut anywhere, both readers tell the same of a file."""
    text = ("\n".join(lines * times) + end).encode()
    text = text[: len(text) - cut]
    slow = summarize(pieces(text, size), event, "f", grouped=True)
    assert summarize(pieces(text, size), event, "f", grouped=True, quick=True) == slow


def test_numpy_reads_large_files_over_the_edges_of_its_memory() -> None:
    """Lines of many shapes, statements and long times over several fillings are counted as the expression counts them."""
    rng = np.random.default_rng(5)
    names = [SYNC, *(f"event {number} of many" for number in range(90))]
    cursors, parts = ["0", "31", "140593871234568"], []
    for number in range(60_000):
        name, cursor = names[int(rng.geometric(0.2)) % len(names)], cursors[number % 3]
        parts.append(
            f"WAIT #{cursor}: nam='{name}' ela= {int(rng.exponential(900) ** 1.7)} buffer#=1 p2=0 p3=0 obj#=-1 tim=1\n"
        )
        if number % 5_000 == 77:
            parts.append(TEXT.decode())
    text = "".join(parts).encode()
    for event in (SYNC, names[20], ""):
        slow = summarize(pieces(text, 1 << 20), event, "f")
        assert slow.events and summarize(pieces(text, 1 << 20), event, "f", quick=True) == slow
        assert slow.events == summarize(pieces(text, 99_991), event, "f", quick=True).events


@pytest.mark.parametrize("first", [1, 9_999_999, 10_000_000, 10_500_000, 123_456_789_012])
@pytest.mark.parametrize("event", [SYNC, ""])
def test_each_wait_counts_once_whatever_comes_first(first: int, event: str) -> None:
    """A first wait of any length is one wait, and those behind it are counted once, by numpy as without."""
    line = f"WAIT #140593871234568: nam='{SYNC}' ela= {{}} buffer#=1 sync scn=7 p3=0 obj#=-1 tim=1\n"
    text = (line.format(first) + line.format(512) * 4_000).encode()
    for size in (1 << 20, 9_001):
        plain, quick = (summarize(pieces(text, size), event, "f", quick=quick, grouped=True) for quick in (False, True))
        assert plain == quick
        assert plain.events[SYNC].n + plain.odd.get(SYNC, 0) == 4_001 and plain.events[SYNC].counts[-1] in (1, 4_000)


_SQL, _QUOTED = f"select '\n{FAKE}\n'", f'say "hi"\n{FAKE} "x"\n'
FREE = {
    "a statement that could not be parsed": f"PARSE ERROR #2:len={len(_SQL)} dep=0 uid=1 oct=3 lid=1 tim=1 err=942\n{_SQL}",
    "one whose text was cut": f"PARSE ERROR #2:len=4000 dep=0 uid=1 oct=3 lid=1 tim=1 err=942\nselect 'nam=''{SYNC}'' ela= 5'",
    "one of no length": "PARSE ERROR #2:len=0 dep=0 uid=1 oct=3 lid=1 tim=1 err=900\n",
    "a value with quotes in it": f'  kxs=1  bln=200  avl={len(_QUOTED)}  flg=05\n  value="{_QUOTED}"',
    "a value that a quote ends where its length is not known": f'  value="say "hi" there\n{FAKE}\n"',
    "a value with a quote in its line": f"""  kxs=1  bln=32  avl=09  flg=05\n  value="3" "x" 2"\n Bind#1\n  value="{FAKE}\"""",
}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("name", FREE)
def test_what_stands_in_a_free_text_is_no_wait(name: str, ends: str, quick: bool) -> None:
    """Text of statements and values is skipped to its end and no further, in a file cut anywhere and at its end, also where a
    file of Windows has two characters for each end of a line that its lengths count as one."""
    real = f"WAIT #2: nam='{SYNC}' ela= 7 buffer#=1 sync scn=5 p3=0\n"
    for behind in ("", real, f"EXEC #2:c=0,e=1\n{real}{real}"):
        text = f"{real}{FREE[name]}\n{behind}".replace("\n", ends).encode()
        for size in (1, 2, 5, 13, 59, 10_000):
            found = summarize(pieces(text, size), SYNC, "f", quick=quick, grouped=True)
            assert found.events == {SYNC: Histogram((7,), (1 + behind.count(real),))}, (behind, size)
            assert found.lookalikes == text.count(b"ela= 99") and not found.broken, (behind, size)


@pytest.mark.parametrize("quick", [False, True])
def test_times_that_cant_be_are_told_and_not_counted(quick: bool) -> None:
    """A wait of less than 0, of more than a day, or of 32 bits that were negative is named by its event."""
    lines = [
        f"WAIT #2: nam='{SYNC}' ela= {ela} sync scn=5"
        for ela in (
            7,
            -7,
            86_400_000_000,
            86_400_000_001,
            2**32 - 1,
            2**32 - 1_000_000,
            2**32 - 1_000_001,
            2**32,
            2**64 - 1,
        )
    ]
    found = summarize(pieces("\n".join([*lines, ""]).encode(), 99), SYNC, "f", quick=quick, grouped=True)
    assert found.events == {SYNC: Histogram((7, 2**32 - 1_000_001, 2**32, 86_400_000_000), (1, 1, 1, 1))}
    assert found.odd == {SYNC: 5} and sum(len(own) for own in found.writes.values()) == 1
    assert f"5 waits for {SYNC} have a time that can't be" in "\n".join(sentences(found, SYNC))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (TEXT, True),
        (b"WAIT #1: nam='x' ela= 5\n", True),
        (b"Trace file /u01/x.trc\nnothing here\n", True),
        (b"*** 2011-11-30 11:06:40.123\n", True),
        (b"EXEC #1:c=0,e=1\n", True),
        (b"", True),
        (b"hello\nworld\n", False),
        (b"<html><body>AWR</body></html>", False),
        (b"select 'WAIT #1: nam=''x'' ela= 5' from dual;\n", False),
    ],
)
def test_a_trace_file_is_known_by_its_head_or_a_record(text: bytes, known: bool) -> None:
    """Text with neither is not a trace file."""
    assert summarize(pieces(text, 10_000), SYNC, "f").recognised is known


def test_a_comparison_s_chart_has_the_mean_and_quantiles_of_both_sets() -> None:
    """Each set has a bar for its mean and for each quantile, in its own order, and the bars are as high as the figures."""
    sets = {"before": Histogram.of({100: 90, 900: 10}), "after": Histogram.of({50: 1})}
    chart = traced.chart_of("log file sync", sets)
    assert chart.names == ("mean", "p50", "p90", "p99", "p99.9")
    assert [series.name for series in chart.series] == ["before", "after"]
    for series, own in zip(chart.series, sets.values(), strict=True):
        assert [x for x, _ in series.points] == [0, 1, 2, 3, 4]
        assert [y for _, y in series.points] == [own.mean, *(own.quantile(p) for p in (0.5, 0.9, 0.99, 0.999))]


def test_without_numpy_large_files_are_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numpy is not installed the expression reads the whole file."""
    monkeypatch.setitem(sys.modules, "exacell.measure.waitlines", None)
    assert summarize(pieces(TEXT, 999), SYNC, "f", quick=True).events[SYNC] == Histogram((12, 512), (1, 2))


def test_other_events_in_texts_do_not_count_for_one() -> None:
    """A text that looks like another event is none of this one."""
    assert summarize(pieces(TEXT, 999), "SQL*Net message to client").lookalikes == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TEXT + b"WAIT #2: nam='log file sync' ela= 51", "its last line is cut"),
        (TEXT + b"*** DUMP FILE SIZE IS LIMITED TO 5242880 BYTES ***\n", "its size was limited"),
        (TEXT + b"PARSING IN CURSOR #3 len=99\nselect '\n" + FAKE.encode() + b"\n", "within the text of a statement"),
        (TEXT, ""),
        (b"", ""),
    ],
)
def test_files_that_are_no_whole_sample_say_so(text: bytes, why: str) -> None:
    """A cut line is no wait, a limited file is told, and what follows the begin of an unfinished statement counts for nothing."""
    for size in (7, 100, 10_000):
        found = summarize(pieces(text, size), SYNC, "f")
        assert found.broken == ({} if not why else found.broken) and why in found.broken.get("f", "")
        assert found.events.get(SYNC, Histogram((), ())).n == (3 if text else 0)


def test_made_files_have_the_waits_that_were_made(tmp_path: Path) -> None:
    """Three sessions' files hold exactly their waits, by one process or several; a missing one is named."""
    paths = write_files(tmp_path, 3, 400)
    made = Counter(ela for number in range(3) for _, ela, _ in waits(400, number))
    for processors in (1, 3):
        found = together(read_files(paths, SYNC, processors=processors))
        assert found.events == {SYNC: Histogram.of(made)} and found.files == 3
    with pytest.raises(RefusedError, match=r"nosuch\.trc: No such file"):
        read_files([*paths, tmp_path / "nosuch.trc"])


PACKED = {
    "gzip": gzip.compress(TEXT),
    "gzip in two parts": gzip.compress(TEXT[:900]) + gzip.compress(TEXT[900:]),
    "UTF-16": TEXT.decode().encode("utf-16"),
    "UTF-16 without a mark": TEXT.decode().encode("utf-16-le"),
    "UTF-16 of other machines": TEXT.decode().encode("utf-16-be"),
    "UTF-8 with a mark": TEXT.decode().encode("utf-8-sig"),
    "gzip of UTF-16": gzip.compress(TEXT.decode().encode("utf-16")),
}
REFUSED = {
    b"hello\n": "is not a trace file",
    b"TKPROF: Release 19.0.0.0.0\n": "not the output of tkprof",
    gzip.compress(TEXT)[:-20]: "`gzip -t` checks whether it is complete",
    bz2.compress(TEXT): "is compressed by bzip2; exacell reads only gzip",
    lzma.compress(TEXT): "is compressed by xz",
    b"PK\x03\x04" + TEXT: "is compressed by zip",
    b"\0" * 257 + b"ustar" + TEXT: "is a tar archive",
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_and_recoded_files_have_the_same_waits(tmp_path: Path, name: str) -> None:
    """A file that gzip packed, or that a Windows program wrote as UTF-16, is read as the trace itself."""
    path = tmp_path / "x.trc"
    path.write_bytes(PACKED[name])
    (found,) = read_files([path], SYNC)
    assert found.events[SYNC] == Histogram((12, 512), (1, 2)) and found.lookalikes == 3


@pytest.mark.parametrize("content", REFUSED, ids=REFUSED.values())
def test_what_is_no_trace_file_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    """The refusal names the file and what it is, or what to do."""
    path = tmp_path / "x.trc"
    path.write_bytes(content)
    with pytest.raises(RefusedError, match=r"x\.trc") as refused:
        read_files([path], SYNC)
    assert REFUSED[content] in f"{refused.value} {refused.value.hint}"


def test_several_processes_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files shared out over processes have the sums of one process, their troubles and texts too."""
    monkeypatch.setattr("exacell.session.tracefiles._WORTH", 1)
    paths = write_files(tmp_path, 3, 50)
    cut = tmp_path / "cut.trc"
    cut.write_bytes(TEXT + b"WAIT")
    apart = together(read_files([*paths, cut], SYNC, processors=3, grouped=True))
    alone = together(read_files([*paths, cut], SYNC, processors=1, grouped=True))
    assert apart.events == alone.events and apart.lookalikes == alone.lookalikes == 3
    assert apart.writes == alone.writes and apart.writes
    assert apart.broken == alone.broken == {str(cut): "its last line is cut"} and apart.size == alone.size


def test_what_is_wrong_with_a_sample_is_said_before_its_figures() -> None:
    """Broken files, look-alikes and a cut tail are sentences; rows have R's quantiles and the waits above each limit."""
    cut = Histogram.of({**dict.fromkeys(range(400, 600), 1000), **dict.fromkeys(range(3960, 4000), 1)})
    found = Traced(events={SYNC: cut}, lookalikes=2, broken={"a.trc": "its last line is cut"}, files=2, size=1 << 20)
    text = "\n".join(sentences(found, SYNC))
    assert text.startswith("200,040 waits for log file sync in 2 files (1M).")
    assert "Not a whole sample: a.trc: its last line is cut." in text
    assert "2 texts inside of statements or bind values look like waits" in text
    assert "The tail of log file sync was cut: the longest wait is 3,999 µs, just under 4,000" in text
    (row,) = rows(found)
    assert row["over1ms"] == 40 and row["over5ms"] == 0 and row["median"] == 500.0
    assert row["summary"].endswith("3999.0")


def test_events_stand_in_the_order_of_their_time() -> None:
    """What took most time comes first, and files merge."""
    one = Traced(events={"a": Histogram((5,), (3,)), "b": Histogram((100,), (1,))}, files=1)
    two = Traced(events={"a": Histogram((5, 50), (1, 2))}, files=1)
    assert [(row["event"], row["waits"]) for row in rows(together([one, two]))] == [("a", 6), ("b", 1)]
