"""Record what the program says in 400 sessions, or compare it with what is kept.

    python benchmarks/sessions.py             play them all and print every difference
    python benchmarks/sessions.py --hold 10m  the same with a holder of connections for the reads: no answer may be another one
    python benchmarks/sessions.py --record    write tests/data/sessions.jsonl anew; with --only one scene of it

A change of the structure must leave them as they are; a change of what people see records them anew, and the
difference of the file is what reviewers look at. Recording plays each scene twice: what differs between the two is
compared without its numbers; what differs even then is left out and named.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from exacell.core.errors import StatementError  # noqa: E402
from exacell.language.line import parse_line  # noqa: E402
from exacell.language.registry import Effect, commands  # noqa: E402
from tests.e2e.test_docs_commands import PAGES, inline, shown  # noqa: E402
from tests.support.recording import KEPT, Player, Said, Scene, kept, levelled  # noqa: E402
from tests.support.ways import ways  # noqa: E402

RACK = "t1 speed=600 cells=3"
NOT_ALONE = (
    "doctor",
    "files",
    "emulator",
    "exit",
    "quit",
    "edit",
    "watch",
    "top",
    "tutorial",
    "trust",
    "demo",
    "wait",
    "host",
    "diagpack",
)
"""First words of examples that no list of statements can hold: they want a terminal, go on, or act on this machine."""

LEVELS = ("exact", "numbers", "not compared")
"""How closely a session is compared."""

MEASURED = re.compile(r"(-\S+ )*(delta|snap|top|list metric\w*|show health)\b")
"""Statements whose figures are what a cell happened to count: equal in two runs, they may be others in a third."""

DCLI = """
-g cells hostname|-c exa1cel01 uname -r|-c exa1cel01,exa1cel02 cellcli -e list cell|-t -c exa1cel[01-03]
-c exa1cel[01-03] -n id -un|-c exa1cel[01-03] -r exa1cel01 hostname|-c nosuch hostname|-c exa1cel01 -x /nosuch
-c exa1cel01 -l celladmin cellcli -e list griddisk attributes name,size|-s -v -c exa1cel01 id|hostname|-q
-c exa1cel01 cellcli -e drop flashcache|-c exa1cel01 reboot|-c exa1cel01 "cellcli -e \\"list griddisk where size > 1g\\""
-c exa1cel[01-03] -i cat /etc/hostname|-c exa1cel01,exa1cel02,exa1cel01 hostname|-c exa1cel01 --showbanner id
-c exa1cel01 -f /nosuch|-c exa1cel01 -k|--version|-h|-c exa1cel[01-03] --hidestderr ls /nosuch|-c "exa1cel01" 'ls -l'
-c exa1cel01 cat /etc/passwd ; ls|-c exa1cel01 "cat /proc/cpuinfo \\| grep -c processor"|-c exa1cel[01-03] cat /proc/1/comm
""".replace("\n", "|").strip("|")

FAULTS = """
! emulator fault t1 exa1cel02 refuse|list cell|show flashcache|-y flush flashcache|show health|-n resize flashcache size=288g
! emulator fault t1 exa1cel02 clear|! emulator fault t1 exa1cel01 error code=CELL-02559 match=flashcache nth=1
list flashcache|list flashcache|! emulator fault t1 all clear|! emulator fault t1 exa1cel03 garbage match=griddisk
list griddisk exists|list griddisk|! emulator fault t1 exa1cel03 clear|! emulator fault t1 exa1cel01 flash-disk
show health|list flashcache detail|-n resize flashcache size=288g|-y flush flashcache|show griddisk|list alerthistory
! emulator fault t1 list|! emulator fault t1 all clear|! emulator fault t1 exa1cel02 ms-down|list cell|show services
! emulator fault t1 exa1cel02 clear|! emulator fault t1 exa1cel02 host-key|list cell|! emulator fault t1 exa1cel02 clear
! emulator fault t1 exa1cel01 nonsense|! emulator fault t1 nosuch refuse|! emulator fault t2 exa1cel01 refuse
! emulator fault t1 exa1cel01 error code=CELL-02525 match=drop nth=1|-y resize flashcache size=288g|pending|journal
-y resume|pending|list flashcache attributes size,status|-y undo|journal show|can offline exa1cel02|-n offline cell exa1cel02
""".replace("\n", "|").strip("|")

CHANGES = """
show flashcache|-y flush flashcache|-y resize flashcache size=288g|journal|-y undo|-y carve griddisk prefix=ssddisk
show griddisk|-y create diskgroup DATA_SSD prefix=ssddisk redundancy=normal au_size=4m|show diskgroup DATA_SSD
show asmdisk|-y drop diskgroup DATA_SSD|-y release griddisk prefix=ssddisk regrow=yes|-y disable flashlog db=SPOT
show iorm|-y undo|-y set iorm db=SPOT share=8 limit=50|-y unset iorm limit db=SPOT|-y save iorm as=kept|-y reset iorm
-y restore iorm kept|-y alter griddisk all comment=x|-y alter griddisk all comment=x
-y on exa1cel02 alter cell comment=y|journal show 3|-y resize griddisk prefix=RECO size=96g|-y set rebalance power=4
show rebalance|snap flashlog as=a|snap flashlog as=b|delta a b|snaps|plan as=monday resize flashcache size=300g|plans
-y apply monday|-y apply monday|undo 1|-y undo 99|save baseline as=golden|drift|-y alter cell comment=other|drift
-y run reset_cold size=288g|check recipe night|-n run night|-y run night size=280g|-y run night size=zero|run nosuch
recipes|show recipe night|lock reason='noon'|show lock|-y flush flashcache|unlock|unlock
-y set flashcache mode=writethrough|show flashcache|-y undo|-y offline cell exa1cel02|show health|-y flush flashcache
-y online cell exa1cel02|-y restart service ms|rehearse resize flashcache size=200g|-o json journal
-y sql asm "alter diskgroup DATA check"|sql asm "select name from v$asm_diskgroup"
sql db=SPOT "select name from v$database"|-y drop flashcache|-y create flashcache all|-y retry failed
-y on exa1cel02 ack alert 3|locate disk FD_00_exa1cel02|journal verify|journal export format=csv|-o csv journal
pending|alias fd list griddisk attributes name,size|-o json pending
""".replace("\n", "|").strip("|")

ASIDE = """
lst cell|list flashcach|list flashcache where size > 3G|drop iormplan|resize flashcache|resize flashcache size=|use nosuch
resize flashcache size=288q|resize flashcache size=999t|carve griddisk|create diskgroup X|help nosuch|on nosuch list cell
on exa1cel0[1-9] list cell|-o yaml list cell|list griddisk where (name=a)|set format nosuch|set nosuch 1|journal show 77
show diskgroup NOSUCH|drop diskgroup NOSUCH|undo|resume|retry failed|apply nosuch|delta a b|restore iorm nosuch|"list cell
list cell | nosuch_program_x|list cell > /nosuch/file|run nosuch|check recipe nosuch|connect nosuch|ack alert 99|sh
sql|sql asm|sql db=NOSUCH "select 1 from dual"|sql asm "drop diskgroup DATA"|alter flashlog all size=3g|describe nosuch
create flashcache all size=1t|alter griddisk nosuch comment=x|drop griddisk DATA_CD_00_exa1cel01|drop celldisk all
resize griddisk prefix=NOSUCH size=1g
offline cell nosuch|can offline nosuch|flush flashcache --nosuch|flush flashcache -y -n|show flashcachecontent top=zero
alter cell shutdown services all|alter cell restart services cellsrv|calibrate|import celldisk all|alter lun x|grant role x
list metriccurrent where objectType='FLASHCACHE'|list metriccurrent FL_IO_W|list metrichistory where ageInMinutes < 5
list physicaldisk|list celldisk attributes name,freespace|list alerthistory|list activerequest|list quarantine|list database
list griddisk attributes name,asmmodestatus,asmdeactivationoutcome|list cell detail|list iormplan detail|describe griddisk
-o json list griddisk|-o csv list celldisk|-o raw list flashcache detail|-o jsonl list lun|list lun detail|list offloadgroup
list griddisk where name like 'DATA.*' and size>1G order by size desc limit 3|list key|list threshold|list ibport|list pmemcache
""".replace("\n", "|").strip("|")


def _examples() -> Iterator[tuple[str, bool]]:
    for found in commands().values():
        if found.words[0] not in NOT_ALONE:
            text = re.sub(r" -y$| > \S+$", "", found.example)
            yield (f"-n {text}" if found.effect is Effect.WRITE else text), found.effect is Effect.LOCAL


def _pages() -> Iterator[str]:
    texts = [text for _, text in sorted(set(inline()))]
    texts += [command.text for page in PAGES for command in shown(page) if command.typed]
    for text in dict.fromkeys(re.sub(r" -y$| > \S+$", "", text) for text in texts):
        try:
            line = parse_line(text)
        except StatementError:
            continue
        first = text.partition(" ")[0]
        if (
            line is not None
            and line.call is not None
            and first not in NOT_ALONE
            and "|" not in text
            and "!" not in text
        ):
            writes = line.call.command.effect is Effect.WRITE
            yield f"-n {text}" if writes and not text.startswith("-") else text


def scenes() -> Iterator[tuple[str, str, list[str]]]:
    """Yield (name, rack, statements) of every scene."""
    topics = ["", "safety", "recipe", "metric FL_DISK_FIRST", "CELL-02559", "attribute griddisk size", "docs", "fluhs"]
    helps = [" ".join(found.words) for found in commands().values()]
    yield "help", "", [f"help {topic}".strip() for topic in (*topics, *helps)]
    yield "examples", RACK, [text for text, local in _examples() if not local]
    yield "local", RACK, [text for text, local in _examples() if local]
    yield "pages", RACK, [*_pages()]
    yield "dcli", RACK, [f"dcli {line}" if line != "hostname" else "dcli hostname" for line in DCLI.split("|")]
    yield "aside", RACK, ASIDE.split("|")
    yield "shell", RACK, [f"sh -- {way.text}" for way in [*ways()][::25]]
    yield "faults", RACK, FAULTS.split("|")
    yield "changes", RACK, CHANGES.split("|")


def record(folder: Path, only: str = "") -> int:
    """Write the file and print what was left out; return how many sessions it holds. Scenes other than ``only`` stay as kept.

    What was once seen to vary stays compared no closer than it was: two runs may be alike by chance.
    """
    before = {(scene.name, one.statement): one.level for scene in kept() for one in scene.said}
    lines, total = [], 0
    as_kept = {scene.name: scene for scene in kept()}
    for name, rack, statements in scenes():
        if only and name != only and name in as_kept:
            lines.append(as_kept[name].line)
            total += len(as_kept[name].said)
            continue
        played = [Player(folder / turn).play(name, rack, statements) for turn in ("first", "second")]
        said: list[Said] = []
        for place, statement in enumerate(statements):
            closest = before.get((name, statement), "numbers" if MEASURED.match(statement) else "exact")
            first, second = (came[place] for _, came in played)
            for level in LEVELS[LEVELS.index(closest) :]:
                one, other = (levelled(statement, came[place], home, level) for home, came in played)
                if one == other:
                    break
            if level != "not compared":
                said.append(one)
                continue
            print(f"left out of {name}, since two runs differ: {statement}")
            for old, new in ((first.out, second.out), (first.err, second.err)):
                print(*difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0), sep="\n  ")
            if name in ("faults", "changes"):
                said.append(one)
        lines.append(Scene(name, rack, tuple(said)).line)
        total += len(said)
        print(f"{name}: {len(said)} sessions, {sum(one.level == 'exact' for one in said)} of them exact", flush=True)
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return total


def compare(folder: Path, only: str = "", hold: str = "") -> int:
    """Play the kept scenes, print what differs, and return how many sessions do.

    Args:
        hold: idle time of a holder that the reads go to; empty for none.
    """
    different = 0
    for scene in kept():
        if only and scene.name != only:
            continue
        found = Player(folder, hold=hold).compare(scene)
        different += len(found)
        for before, after in found:
            print(f"\n{scene.name}: {before.statement}: exit {before.code} -> {after.code}")
            for kind, old, new in (("out", before.out, after.out), ("err", before.err, after.err)):
                print(*difflib.unified_diff(old.splitlines(), new.splitlines(), kind, kind, lineterm="", n=1), sep="\n")
        print(f"{scene.name}: {len(scene.said)} sessions, {len(found)} differ", flush=True)
    return different


def main() -> int:
    """Record or compare; exit code 1 when something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write tests/data/sessions.jsonl anew")
    parser.add_argument("--only", default="", help="compare or record this scene alone")
    parser.add_argument(
        "--hold", default="", metavar="IDLE", help="compare with a holder that ends after so long without a read"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.record:
            print(f"{record(Path(folder), given.only)} sessions kept")
            return 0
        different = compare(Path(folder), given.only, given.hold)
    print(f"{different} sessions differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
