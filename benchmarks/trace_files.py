"""Made 10046 trace files: sessions that update and commit, as 11.2 and later write them. For the benchmark and for tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

HEAD = """Trace file {path}
Oracle Database 11g Enterprise Edition Release 11.2.0.4.0 - 64bit Production
ORACLE_HOME = /u01/app/oracle/product/11.2.0.4/dbhome_1
System name:\tLinux
Instance name: spot1
Redo thread mounted by this instance: 1
Oracle process number: 41
Unix process pid: {pid}, image: oracle@dbn01 (TNS V1-V3)


*** 2011-11-30 11:06:40.123
*** SESSION ID:({sid}.901) 2011-11-30 11:06:40.123
*** SERVICE NAME:(spot) 2011-11-30 11:06:40.123

=====================
PARSING IN CURSOR #140593871234568 len=52 dep=0 uid=91 oct=6 lid=91 tim=1322650000 hv=22 ad='9f8a3c10' sqlid='0w2qpuc6u2zsp'
UPDATE orders SET quantity = quantity + 1 WHERE id = :1
END OF STMT
"""


def waits(count: int, seed: int) -> Iterator[tuple[int, int, int]]:
    """Yield (sync scn, wait in µs, tim): commits that share a log write have its scn and nearly its time."""
    rng = random.Random(seed)
    tim, scn = 1_322_650_000_000_000, 98_765_000_000
    for number in range(count):
        if number % 5 == 0:
            scn += rng.randrange(1, 9)
            latency = round(rng.gammavariate(8, 62)) + 40
            if rng.random() < 2e-5:
                latency += 700_000
        ela = max(1, latency + rng.randrange(-12, 13))
        tim += ela + rng.randrange(60, 200)
        yield scn, ela, tim


def write_file(path: Path, commits: int, seed: int) -> None:
    """Write one session's trace: for each commit an EXEC, its waits for log file sync and the network, and XCTEND."""
    cursor = "140593871234568"
    with path.open("w", encoding="ascii") as file:
        file.write(HEAD.format(path=path, pid=20_000 + seed, sid=100 + seed))
        lines = []
        for scn, ela, tim in waits(commits, seed):
            lines.append(
                f"EXEC #{cursor}:c=0,e=71,p=0,cr=3,cu=3,mis=0,r=1,dep=0,og=1,plh=1936417498,tim={tim - ela}\n"
                f"WAIT #{cursor}: nam='log file sync' ela= {ela} buffer#={scn % 9973} sync scn={scn} p3=0 obj#=-1 tim={tim}\n"
            )
            if len(lines) == 20_000:
                file.write("".join(lines))
                lines = []
        file.write("".join(lines))


def write_files(folder: Path, files: int, commits: int) -> list[Path]:
    """Write so many traces and return their paths."""
    paths = [folder / f"spot1_ora_{20_000 + number}.trc" for number in range(files)]
    for number, path in enumerate(paths):
        write_file(path, commits, number)
    return paths
