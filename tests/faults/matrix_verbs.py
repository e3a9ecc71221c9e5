"""The rows of the fault matrix: statements that change something, and from which rack they start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from matrix_rack import CELLS, NODES

SCRIPT = Path(__file__).parent / "scripts" / "drop_flashcache.sh"

ROOM = ("resize flashcache size=288g -y",)
CARVED = (*ROOM, "carve griddisk prefix=p -y")
GROUPED = (*CARVED, "create diskgroup PP prefix=p redundancy=normal -y")
FLUSHED = ("raw: alter flashcache all flush",)
DISABLED = ("disable flashlog db=SPOT -y",)

OLD = (("release", "11.2.3.2.1"),)
PMEM = (("model", "x8m"), ("release", "22.1"), ("pmem", "writeback"))
XRMEM = (("model", "x8m"), ("release", "24.1"))

TWO = CELLS[1]
REARM = ((TWO, "alter flashcache all cancel flush"),)
PMEM_REARM = ((TWO, "alter pmemcache all cancel flush"),)
XRMEM_REARM = ((TWO, "alter xrmemcache all cancel flush"),)
PLAN = ((TWO, "alter iormplan dbplan=((name=SPOT,share=8,limit=80),(name=ERP,share=4),(name=default,share=2))"),)
NEW_PLAN = "((name=SPOT,share=16),(name=ERP,share=2),(name=default,share=1))"
STILL = ("raw: sql:alter diskgroup DATA rebalance power 0", "raw: sql:alter diskgroup RECO rebalance power 0")
ONE_DISK = ((TWO, "create griddisk z_FD_00_exa1cel02 celldisk=FD_00_exa1cel02, size=1G"),)
TAKEN = ((NODES[1], "sql:create diskgroup QQ normal redundancy disk 'o/*/p_*'"),)


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One row.

    Attributes:
        name: the row's heading.
        prepare: exacell's statements that lead to the rack it starts from; ``raw: …`` goes to every cell as it is,
            ``raw: sql:…`` to a node.
        undo: whether undo has to bring the rack back to where it was.
        caching: whether the flash cache caches when the statement has ended well.
        rack: what the rack is made with, when it is not the default one.
        again: it makes several changes, of which resume finishes the one that was cut off; so the operator gives it again.
        other: what a second operator does in between: (host, statement); ``sql:`` in front for SQL on a node.
    """

    name: str
    statement: str
    prepare: tuple[str, ...] = ()
    undo: bool = False
    caching: bool = True
    other: tuple[tuple[str, str], ...] = REARM
    rack: tuple[tuple[str, str], ...] = ()
    again: bool = False


VERBS: tuple[Verb, ...] = (
    Verb(name="flush flashcache", statement="flush flashcache -y"),
    Verb(name="resize flashcache (smaller)", statement="resize flashcache size=288g -y", undo=True),
    Verb(
        name="resize flashcache (larger)",
        statement="resize flashcache size=320g -y",
        prepare=ROOM,
        undo=True,
        other=ONE_DISK,
    ),
    Verb(name="carve griddisk", statement="carve griddisk prefix=p -y", prepare=ROOM, undo=True, other=ONE_DISK),
    Verb(name="release griddisk", statement="release griddisk prefix=p -y", prepare=CARVED, undo=True, other=TAKEN),
    Verb(
        name="release griddisk regrow=yes",
        statement="release griddisk prefix=p regrow=yes -y",
        prepare=CARVED,
        undo=True,
    ),
    Verb(
        name="create diskgroup",
        statement="create diskgroup PP prefix=p redundancy=normal -y",
        prepare=CARVED,
        undo=True,
        other=TAKEN,
    ),
    Verb(
        name="drop diskgroup",
        statement="drop diskgroup PP -y",
        prepare=GROUPED,
        undo=True,
        other=((NODES[1], "sql:alter diskgroup PP mount"),),
    ),
    Verb(name="disable flashlog", statement="disable flashlog db=SPOT -y", undo=True, other=PLAN),
    Verb(name="enable flashlog", statement="enable flashlog db=SPOT -y", prepare=DISABLED, undo=True, other=PLAN),
    Verb(name="set flashcache mode", statement="set flashcache mode=writethrough -y", undo=True),
    Verb(name="flush flashcache --rolling", statement="flush flashcache --rolling --timeout=3m -y"),
    Verb(
        name="resize griddisk",
        statement="resize griddisk prefix=p size=2G -y",
        prepare=CARVED,
        undo=True,
        other=TAKEN,
    ),
    Verb(
        name="set rebalance",
        statement="set rebalance power=4 -y",
        prepare=STILL,
        undo=True,
        other=((NODES[1], "sql:alter diskgroup RECO rebalance power 2"),),
    ),
    Verb(
        name="offline cell",
        statement="offline cell exa1cel02 --timeout=3m -y",
        undo=True,
        other=((CELLS[2], "alter iormplan objective=basic"),),
    ),
    Verb(
        name="online cell",
        statement="online cell exa1cel02 --timeout=3m -y",
        prepare=("offline cell exa1cel02 -y",),
        other=((CELLS[2], "alter iormplan objective=basic"),),
    ),
    Verb(name="restart service ms", statement="restart service ms --timeout=3m -y", other=PLAN),
    Verb(name="restart service cellsrv", statement="restart service cellsrv --timeout=3m -y", other=PLAN),
    Verb(
        name="set flashcache mode, 11.2.3.2.1",
        statement="on exa1cel02 set flashcache mode=writethrough --timeout=3m -y",
        rack=OLD,
        undo=True,
    ),
    Verb(name="set flashcache mode, PMEM", statement="set flashcache mode=writethrough -y", rack=PMEM),
    Verb(name="flush flashcache, PMEM", statement="flush flashcache -y", rack=PMEM),
    Verb(name="flush pmemcache", statement="flush pmemcache -y", rack=PMEM, other=PMEM_REARM),
    Verb(name="flush xrmemcache", statement="flush xrmemcache -y", rack=XRMEM, other=XRMEM_REARM),
    Verb(name="resize flashcache, PMEM", statement="resize flashcache size=20t -y", rack=PMEM),
    Verb(
        name="resize griddisk, smaller",
        statement="resize griddisk prefix=p size=2G -y",
        prepare=(*CARVED, "resize griddisk prefix=p size=3G -y"),
        other=TAKEN,
    ),
    Verb(
        name="resize griddisk, smaller, in ASM",
        statement="resize griddisk prefix=p size=3G -y",
        prepare=GROUPED,
        undo=True,
        other=PLAN,
    ),
    Verb(
        name="resize griddisk, larger, in ASM",
        statement="resize griddisk prefix=p size=4G -y",
        prepare=(*GROUPED, "resize griddisk prefix=p size=3G -y"),
        undo=True,
        other=PLAN,
    ),
    Verb(
        name="disable flashlog --confirm-within",
        statement="disable flashlog db=SPOT --confirm-within=30m -y",
        undo=True,
        other=PLAN,
    ),
    Verb(
        name="apply",
        statement="apply p -y",
        prepare=("plan as=p resize flashcache size=288g",),
        undo=True,
    ),
    Verb(name="set iorm", statement="set iorm db=SPOT share=9 -y", undo=True, other=PLAN),
    Verb(name="unset iorm", statement="unset iorm db=SPOT limit -y", undo=True, other=PLAN),
    Verb(name="reset iorm", statement="reset iorm -y", undo=True, other=PLAN),
    Verb(
        name="restore iorm",
        statement="restore iorm before -y",
        prepare=("save iorm as=before", "set iorm db=SPOT share=9 -y"),
        undo=True,
        other=PLAN,
    ),
    Verb(name="run cold", statement="run cold -y", again=True),
    Verb(
        name="run flash_diskgroup",
        statement="run flash_diskgroup name=PP prefix=p -y",
        prepare=ROOM,
        again=True,
        other=PLAN,
    ),
    Verb(name="ALTER IORMPLAN", statement=f"alter iormplan dbplan={NEW_PLAN} -y", other=PLAN),
    Verb(
        name="CREATE GRIDDISK",
        statement="create griddisk all flashdisk prefix=q, size=1G -y",
        prepare=ROOM,
        undo=True,
        other=ONE_DISK,
    ),
    Verb(
        name="ALTER GRIDDISK INACTIVE",
        statement="alter griddisk all flashdisk inactive -y",
        prepare=CARVED,
        other=ONE_DISK,
    ),
    Verb(
        name="DROP GRIDDISK",
        statement="drop griddisk all flashdisk prefix=p -y",
        prepare=(*CARVED, "raw: alter griddisk all flashdisk inactive"),
        other=ONE_DISK,
    ),
    Verb(
        name="ALTER GRIDDISK ACTIVE",
        statement="alter griddisk all flashdisk active -y",
        prepare=(*CARVED, "raw: alter griddisk all flashdisk inactive"),
        other=ONE_DISK,
    ),
    Verb(
        name="ALTER GRIDDISK size",
        statement="alter griddisk all flashdisk size=2G -y",
        prepare=CARVED,
        other=TAKEN,
    ),
    Verb(name="ALTER CELL RESTART SERVICES MS", statement="alter cell restart services ms --timeout=3m -y", other=PLAN),
    Verb(
        name="ALTER PMEMCACHE CANCEL FLUSH",
        statement="alter pmemcache all cancel flush -y",
        rack=PMEM,
        prepare=("raw: alter pmemcache all flush",),
        other=PMEM_REARM,
    ),
    Verb(
        name="CREATE PMEMCACHE",
        statement="create pmemcache all -y",
        rack=PMEM,
        prepare=("raw: alter pmemcache all flush", "raw: drop pmemcache"),
        other=((TWO, "create pmemcache all"),),
    ),
    Verb(
        name="sql asm DROP DISKGROUP",
        statement='sql asm "drop diskgroup PP" -y',
        prepare=GROUPED,
        undo=True,
        other=((NODES[1], "sql:alter diskgroup PP mount"),),
    ),
    Verb(
        name="sql asm ALTER DISKGROUP REBALANCE",
        statement='sql asm "alter diskgroup DATA rebalance power 4" -y',
        prepare=STILL,
        again=True,
        other=((NODES[1], "sql:alter diskgroup RECO rebalance power 2"),),
    ),
    Verb(
        name="ALTER CELL comment",
        statement="alter cell comment='ours' -y",
        undo=True,
        other=((TWO, "alter cell comment='theirs'"),),
    ),
    Verb(name="DROP FLASHCACHE", statement="drop flashcache -y", prepare=FLUSHED, caching=False),
    Verb(
        name="CREATE FLASHCACHE",
        statement="create flashcache all size=288g -y",
        prepare=(*FLUSHED, "raw: drop flashcache"),
        other=((TWO, "create flashcache all size=288g"),),
    ),
    Verb(name="ALTER FLASHCACHE size", statement="alter flashcache all size=288g -y", prepare=FLUSHED),
    Verb(name="ALTER FLASHCACHE FLUSH", statement="alter flashcache all flush -y", caching=False),
    Verb(name="ALTER FLASHCACHE CANCEL FLUSH", statement="alter flashcache all cancel flush -y", prepare=FLUSHED),
    Verb(name="DROP FLASHLOG", statement="drop flashlog -y", other=ONE_DISK),
    Verb(
        name="CREATE FLASHLOG",
        statement="create flashlog all size=512M -y",
        prepare=("drop flashlog -y",),
        other=ONE_DISK,
    ),
    Verb(
        name="ALTER CELL flashCacheMode",
        statement="alter cell flashCacheMode=writethrough -y",
        prepare=(*FLUSHED, "raw: drop flashcache"),
        caching=False,
        other=PLAN,
    ),
    Verb(
        name="ALTER PMEMCACHE FLUSH",
        statement="alter pmemcache all flush -y",
        rack=PMEM,
        caching=False,
        other=PMEM_REARM,
    ),
    Verb(
        name="DROP PMEMCACHE",
        statement="drop pmemcache -y",
        rack=PMEM,
        prepare=("raw: alter pmemcache all flush",),
        caching=False,
        other=PMEM_REARM,
    ),
    Verb(
        name="dcli",
        statement="dcli -c exa1cel01,exa1cel02,exa1cel03 cellcli -e alter iormplan objective=basic",
        again=True,
        other=PLAN,
    ),
    Verb(
        name="dcli DROP FLASHCACHE",
        statement="dcli -c exa1cel01,exa1cel02,exa1cel03 cellcli -e drop flashcache",
        prepare=FLUSHED,
        caching=False,
        again=True,
    ),
    Verb(
        name="dcli -x with DROP FLASHCACHE",
        statement=f"dcli -c exa1cel01,exa1cel02,exa1cel03 -x '{SCRIPT}'",
        prepare=FLUSHED,
        caching=False,
        again=True,
    ),
    Verb(
        name="sh DROP FLASHCACHE",
        statement="sh cellcli -e drop flashcache",
        prepare=FLUSHED,
        caching=False,
        again=True,
    ),
)
"""Adding a statement to the matrix is adding a row: its stages and their moments are found by carrying it out once."""

NO_ROW: dict[str, str] = {
    "resume": "goes on with a change of another row: it is what the operator says after each mishap",
    "retry failed": "goes on with a change of another row: it is what the operator says after each mishap",
    "undo": "takes back a change of another row: half of the cases end with it",
    "undo run": "takes back a recipe's changes one by one, each as undo does",
    "ack alert": "marks an alert as seen: it changes no storage and no caching",
    "set setting": "changes hosts beside the cells: tests/daily/test_e2e_settings.py and tests/real kill it",
    "trace on": "changes what a database writes down: it changes no storage and no caching",
    "trace off": "changes what a database writes down: it changes no storage and no caching",
    "drive commits": "loads a database: tests/e2e/test_e2e_traces.py kills it",
    "drive lookups": "loads a database: tests/e2e/test_e2e_loads.py breaks it off",
    "drive scans": "a load like drive lookups, which tests/e2e/test_e2e_loads.py breaks off",
    "drive end": "ends a load of a database: it changes no storage and no caching",
    "experiment": "is made of changes of another row: tests/e2e/test_e2e_experiment.py kills it and breaks its link",
    "diagpack": "lets a cell write a file of diagnostics: it changes no storage and no caching",
}
"""Commands that change something and have no row of their own, and why."""
