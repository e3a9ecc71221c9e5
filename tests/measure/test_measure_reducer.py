"""The awk that reduces trace files on a node gives exactly what the reader here gives of the same files."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from exacell.core.errors import ReplyError
from exacell.measure.logwrites import LogWrites
from exacell.measure.reducer import Reduced, lacks_awk, read_reduced, script
from exacell.measure.trace10046 import Traced, filling, summarize, together

SYNC = "log file sync"
HEAD = (
    "Trace file {path}\nOracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production\nNode name:\tdbn01\n"
    "Instance name: spot1\nUnix process pid: {pid}, image: oracle@dbn01\n\n*** 2022-11-24T18:08:38.247276+05:00\n"
)
AWKS = [name for name in ("mawk", "gawk", "original-awk", "busybox") if shutil.which(name)]


def fragment(rng: random.Random) -> str:
    """Return some lines of a trace: waits, calls, statements and bind values whose text looks like waits."""
    wait = f"WAIT #{rng.choice((0, 3, 140593871234568))}: nam='{{}}' ela={rng.choice(('', ' ', '  '))}{{}}"
    tail = " buffer#=7 sync scn={} p3=0 obj#=-1 tim=9"
    ela, scn = rng.choice((1, 7, 512, 513, 4_000_000, 61_000_000)), rng.randrange(10**15, 10**15 + 40)
    sync = wait.format(SYNC, ela) + tail.format(scn)
    kinds = (
        sync,
        sync,
        wait.format(SYNC, ela) + " p1=77 p2=0 p3=0",
        wait.format("SQL*Net message from client", rng.randrange(99)) + " driver id=1 #bytes=1 p3=0",
        wait.format("db file sequential read", ela) + " file#=1 block#=2 blocks=1",
        wait.format("log file syncs", 3),
        " " + sync,
        sync.replace("ela=", "elb="),
        f"=====================\nPARSING IN CURSOR #3 len=1 tim=1\nselect '\n{sync}\n{sync} {sync}' from dual\nEND OF STMT",
        "PARSING IN CURSOR #4 len=1 tim=1\nselect 1\nEND OF STMT\nPARSE #4:c=0,e=1",
        f'BINDS #2:\n Bind#0\n  value="one line nam=\'{SYNC}\' ela= 5"\n Bind#1\n  value="two\n{sync}\nlines" {sync}',
        '  value=""',
        "*** 2022-11-24T18:08:39.247276+05:00 (PDB1(3))",
        "EXEC #2:c=0,e=71,p=0,cr=3,cu=3,mis=0,r=1,dep=0,og=1,plh=19,tim=9",
        "",
        f"PARSE ERROR #5:len={len(sync) + 9 + rng.choice((0, 0, 1, -1, 7, 400, 10**9))} dep=0 uid=84 oct=3 lid=84 tim=1 err=942\n"
        f"select '\n{sync}\n",
        f"PARSE ERROR #5:len={rng.choice((0, 8, 9, 60))} dep=0 tim=1 err=904\nselect 1",
        f'  kxsbbbfp=7fee  bln=128  avl={len(sync) + rng.choice((8, 8, 2, 99, 40_000))}  flg=05\n  value="a "b"\n{sync}\nc"',
        f'  kxsbbbfp=7fee  bln=32  avl={rng.choice((4, 5, 6, 90, 400))}  flg=05\n  value="it"s"',
        wait.format(SYNC, rng.choice((-5, 10**10, 10**11, 2**32 - 1, 2**64 - 1, "000512"))) + tail.format(scn),
    )
    return rng.choice(kinds)


def end(rng: random.Random) -> str:
    """Return how a file ends: whole, cut in a wait, a statement or a value, limited, or with a new line missing."""
    sync = f"WAIT #3: nam='{SYNC}' ela= 77 buffer#=7 sync scn=1000000000000001 p3=0"
    return rng.choice(
        (
            "",
            "",
            sync,
            f"PARSING IN CURSOR #3 len=1\nselect\n{sync}\n{sync}",
            f"PARSING IN CURSOR #3 len=1\nselect\n{sync}\n",
            f'  value="open\n{sync}\n',
            f'  value="open\n{sync}',
            "*** DUMP FILE SIZE IS LIMITED TO 5242880 BYTES ***\n",
            "*** DUMP FILE SIZE IS LIMITED TO 5242880 BYTES ***",
        )
    )


def written(directory: Path, seed: int) -> list[Path]:
    """Write some random trace files and return them in the order of their names."""
    rng = random.Random(seed)
    paths = []
    for pid in range(rng.randrange(1, 5)):
        path = directory / f"spot1_ora_{pid}.trc"
        lines = [fragment(rng) for _ in range(rng.randrange(60))]
        path.write_text(HEAD.format(path=path, pid=pid) + "".join(f"{line}\n" for line in lines) + end(rng))
        paths.append(path)
    (directory / "spot1_ora_0.trm").write_text(f"WAIT #0: nam='{SYNC}' ela= 1\n")
    return paths


def read_here(paths: Sequence[Path], event: str) -> list[Traced]:
    """Return what the local reader finds, file by file."""

    def one(path: Path) -> Traced:
        return summarize(filling([path.read_bytes()]), event, str(path), grouped=bool(event))

    return [one(path) for path in paths]


def read_there(directory: Path, event: str, awk: str, **options: int) -> Reduced:
    """Return what a shell with one of the awks finds."""
    path = directory.parent / "bin"
    path.mkdir(exist_ok=True)
    link = path / "awk"
    link.unlink(missing_ok=True)
    link.symlink_to(str(shutil.which(awk)))
    text = script(str(directory), "*_ora_*.trc", event, **options)
    ran = subprocess.run(
        ["/bin/sh", "-s"],
        input=text,
        capture_output=True,
        text=True,
        env={"PATH": f"{path}:/usr/bin:/bin"},
        check=False,
    )
    assert ran.stderr == ""
    return read_reduced(ran.stdout, str(directory))


@pytest.mark.parametrize("awk", AWKS)
@pytest.mark.parametrize("event", [SYNC, ""])
def test_awk_and_the_local_reader_agree_on_any_file(tmp_path: Path, awk: str, event: str) -> None:
    """Waits by microsecond, what is broken and why, look-alikes, heads, sizes and log writes are the same, file by file."""
    for seed in range(60):
        directory = tmp_path / str(seed)
        directory.mkdir()
        here = read_here(written(directory, seed), event)
        there = read_there(directory, event, awk)
        for mine, its in zip(here, there.files, strict=True):
            assert (mine.events, mine.broken, mine.lookalikes) == (its.events, its.broken, its.lookalikes), seed
            assert (mine.headers, mine.size, mine.odd) == (its.headers, its.size, its.odd), seed
        packed = together(here).writes.get("spot1", {}) if event else {}
        assert there.writes == LogWrites.of(packed.values()), seed


def test_only_files_that_were_written_to_lately_are_read(tmp_path: Path) -> None:
    """With a number of minutes older files are left out."""
    import os

    directory = tmp_path / "traces"
    directory.mkdir()
    old, new = directory / "spot1_ora_1.trc", directory / "spot1_ora_2.trc"
    for path in (old, new):
        path.write_text(f"WAIT #0: nam='{SYNC}' ela= 5 sync scn=7\n")
    os.utime(old, (1, 1))
    assert [file.files for file in read_there(directory, SYNC, "awk").files] == [1, 1]
    assert [list(file.headers) for file in read_there(directory, SYNC, "awk", minutes=10).files] == [[str(new)]]


def test_an_empty_file_is_a_file_without_waits(tmp_path: Path) -> None:
    """A file of no bytes is counted and holds nothing."""
    directory = tmp_path / "traces"
    directory.mkdir()
    (directory / "spot1_ora_1.trc").write_text("")
    (found,) = read_there(directory, SYNC, "awk").files
    assert (found.size, found.events, found.broken) == (0, {}, {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "ended early"),
        ("F 3 ./x.trc\nW 1 2 log file sync\n", "ended early"),
        ("W 1 2 x\n__EXACELL_TRACES_END__\n", "can't be read"),
        ("F 3 ./x.trc\nW one 2 x\n__EXACELL_TRACES_END__\n", "can't be read"),
        ("F 3 ./x.trc\nB nix\n__EXACELL_TRACES_END__\n", "can't be read"),
        ("G 1 2\n__EXACELL_TRACES_END__\n", "can't be read"),
        ("__EXACELL_NO_DIRECTORY__\n", "there is no directory /d"),
    ],
)
def test_what_is_not_the_scripts_answer_is_refused(text: str, why: str) -> None:
    """A cut or strange answer is an error, never fewer waits."""
    with pytest.raises(ReplyError, match=why):
        read_reduced(text, "/d")


def test_a_node_without_awk_says_so(tmp_path: Path) -> None:
    """Where there is no awk the script says just that."""
    ran = subprocess.run(
        ["/bin/sh", "-s"],
        input=script(str(tmp_path), "*", SYNC),
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path)},
        check=False,
    )
    assert lacks_awk(ran.stdout)
