"""To which statements CellCLI always prints something."""

from __future__ import annotations

from exacell.cellcli.messages import always_prints
from exacell.cellcli.statement import parse
from tests.support.every import every

ALWAYS = (
    "list cell", "list cell detail", "list cell attributes name,status", "list iormplan", "list physicaldisk",
    "list metricdefinition", "list alertdefinition", "list griddisk DATA_CD_00_c1", "list physicaldisk 20:3 detail",
    "describe griddisk", "alter cell comment=x", "alter iormplan objective=auto", "alter flashcache all flush nowait",
    "alter flashcache all size=1g", "create flashcache all", "drop flashcache", "create flashlog all", "drop flashlog",
    "create griddisk g celldisk=c", "drop griddisk a,b", "alter griddisk a inactive", "alter cell restart services all",
    "create key", "drop role r", "alter physicaldisk 20:3 drop for replacement",
)  # fmt: skip
MAYBE = (
    "list griddisk", "list alerthistory", "list metriccurrent", "list metriccurrent cl_cput", "list flashcachecontent",
    "list database", "list physicaldisk where status != normal", "list griddisk where size > 1G", "list flashcache",
    "describe privilege", "describe diagpack", "alter griddisk all inactive", "drop griddisk all prefix=x",
    "alter alerthistory all examinedby=me", "drop threshold all",
    "alter griddisk all harddisk where asmDiskGroupName=DATA inactive", "grant role a to user b",
)  # fmt: skip


@every(ALWAYS)
def test_a_statement_that_always_prints(text: str) -> None:
    """What every cell has, what is named, and a change of something that is named: CellCLI prints it, a success or an error."""
    assert always_prints(parse(text))


@every(MAYBE)
def test_a_statement_that_may_print_nothing(text: str) -> None:
    """Where there may be no object, no bytes are an answer: none."""
    assert not always_prints(parse(text))
