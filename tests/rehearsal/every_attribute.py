"""Statements that set every attribute that cells of a release let somebody set, to something that is not there of itself."""

from __future__ import annotations

from collections.abc import Iterator

from exacell.emulator.basics.schema import Attribute, Release, object_types
from tests.support.worlds import WorldTransport

KEY = "b67d5587fe728118af47c57ab8da650a"

OWN_SYNTAX = {
    "bbuLearnCycleTime": "2027-01-22T02:00:00-08:00",
    "bbuLearnSchedule": "MONTH 1 DATE 17 HOUR 2 MINUTE 0",
    "emailSubscriber": "((email='a@example.com',alertType='HARDWARE,SOFTWARE'))",
    "hardDiskScrubStartTime": "2027-01-01T00:00:00+00:00",
    "metricFGCollIntvlInSec": "5",
    "snmpSubscriber": "((host=h1,port=8162,type=v3),(host=h2))",
    "syslogConf": "('*.err;authpriv.none @loghost','kern,mail.crit @other')",
}
"""Values of those attributes of CELL whose values have a syntax of their own."""

NOT_SET = {
    ("CELL", "flashCacheCompress"): "none of the emulated models can compress: it is only ever FALSE",
    ("OFFLOADGROUP", "package"): "system groups keep theirs",
}
"""Settable attributes that are printed and can't be set to anything else, and why."""

PERSISTENT_MEMORY = frozenset(
    (
        ("CELL", "pmemCacheMode"),
        *((f"{word}CACHE", name) for word in ("PMEM", "XRMEM") for name in ("cellDisk", "size")),
    )
)
"""Attributes that only cells with persistent memory have."""


def settable(release: Release) -> Iterator[tuple[str, Attribute]]:
    """Yield the object type and the attribute of everything that a cell of the release lets somebody set."""
    for owner in object_types().values():
        if owner.exists_in(release):
            yield from (
                (owner.name, attribute)
                for attribute in owner.attributes_in(release)
                if attribute.modifiable or attribute.created
            )


def _other(attribute: Attribute) -> str:
    """Return a value that the attribute takes and has not of itself."""
    if attribute.values:
        return next(value for value in attribute.values if value != attribute.default)
    if attribute.kind == "bool":
        return "FALSE" if attribute.default == "TRUE" else "TRUE"
    return {"int": "3", "size": "8G", "number": "1.5"}.get(attribute.kind, f"{attribute.name}, as it was set")


def set_everything(on: WorldTransport, cell: str, release: Release, model: str) -> list[str]:
    """Set every settable attribute of the objects of a cell and return what cells said to it that is no success."""
    said: list[str] = []

    def run(statement: str) -> None:
        text = on.cellcli(cell, statement)
        said.extend(f"{statement}: {line}" for line in text.splitlines() if "CELL-0" in line)

    for statement in (
        *_disks(on, cell, release, model),
        *_plans(release),
        *_watched(on, cell, release),
        *_cell(cell, release),
        *_security(release),
        *_exascale(on, cell, release),
    ):
        run(statement)
    return said


def _cell(cell: str, release: Release) -> Iterator[str]:
    for owner, attribute in settable(release):
        apart = ("name", "flashCacheMode", "pmemCacheMode", "flashCacheCompress", "snmpUser")
        if owner != "CELL" or attribute.name in apart or attribute.written_only:
            continue
        text = OWN_SYNTAX.get(attribute.name) or _other(attribute)
        yield f"alter cell {attribute.name}={text if text.startswith('(') else repr(text)}"
    yield "alter cell snmpUser.bob=(authProtocol=SHA,authPassword=Abcdef12,privProtocol=AES,privPassword=Abcdef12)"
    yield f"alter cell name='storage-{cell[-2:]}'"
    yield "alter cell led on"
    yield "alter cell bbu drop for replacement"


def _names(on: WorldTransport, cell: str, kind: str) -> list[str]:
    return on.cellcli(cell, f"list celldisk attributes name where diskType={kind}").split()


def _disks(on: WorldTransport, cell: str, release: Release, model: str) -> Iterator[str]:
    """Make caches and logs anew with sizes and disks of their own, and a grid disk beside them."""
    memory, word = _names(on, cell, "PMEM")[1:], "xrmem" if release >= (23, 1) else "pmem"
    if memory:
        yield from (f"alter {word}cache all flush", f"drop {word}cache", f"drop {word}log")
    # On this model the others are capacity-optimized: no cache lies on them.
    flash = _names(on, cell, "FlashDisk")[: 4 if model == "x10mef" else None]
    first, others = flash[0], flash[1:]
    if release >= (11, 2, 3, 2):
        yield "alter flashcache all flush"
    yield "drop flashcache"
    yield "drop flashlog"
    yield f"create flashlog celldisk='{','.join(others)}', size=480m"
    if release < (12, 1, 2, 1):
        (lun,) = on.cellcli(cell, f"list celldisk {first} attributes lun").split()
        yield f"drop celldisk {first}"
        yield f"create celldisk {first} lun={lun}, interleaving=normal_redundancy, size=20g"
    yield f"create flashcache celldisk='{','.join(others)}', size={len(others)}G"
    sparse = ", virtualSize=20G" if release >= (12, 1, 2, 1) else ""
    policy = ", cachingPolicy=none" if release >= (11, 2, 3, 2) else ""
    more = ", storagePool=HC" if release >= (24, 1) else ", offset=64M"
    yield f"create griddisk SPARE_{first} celldisk={first}, size=1G{sparse}{more}"
    yield f"alter griddisk SPARE_{first} comment='set aside', availableTo='c1,c2'{policy}, name=KEPT_{cell[-2:]}"
    yield f"alter celldisk {first} name=FIRST_{cell[-2:]}, comment='the first one'"
    if memory:
        yield f"create {word}log celldisk='{','.join(memory)}', size=880m"
        yield f"create {word}cache celldisk='{','.join(memory)}', size={len(memory)}G"


def _plans(release: Release) -> Iterator[str]:
    if release < (11, 2, 3, 2):
        yield "alter iormplan inactive"
    shared = release >= (21, 2)
    dbplan = (
        "(name=SPOT,share=8,limit=50),(name='OTHERS',share=2,flashCache=off)"
        if shared
        else ("(name=SPOT,level=1,allocation=70,flashLog=off),(name=other,level=2,allocation=100)")
    )
    yield f"alter iormplan dbplan=({dbplan}), objective=high_throughput"
    if release < (25, 1):
        yield "alter iormplan catplan=((name=interactive,level=1,allocation=80),(name=other,level=2,allocation=100))"
    if shared:
        yield "alter iormplan clusterplan=((name=clu1,share=5),(name=clu2,share=1,limit=40))"


def _watched(on: WorldTransport, cell: str, release: Release) -> Iterator[str]:
    yield "create threshold CL_FANS comparison='<', warning=14, critical=13, occurrences=2, observation=3"
    yield "create threshold CL_TEMP comparison='>', warning=20, occurrences=1, observation=1"
    yield "alter alerthistory all examinedBy='ann'"
    if release >= (22, 1):
        yield "alter metricdefinition all fineGrained=enabled, streaming=enabled where name like 'CL_.*'"
        yield "alter metricdefinition all fineGrained=disabled, streaming=disabled where name like 'FC_BY.*'"
    made = [(o, a) for o, a in settable(release) if o == "QUARANTINE" and a.created]
    given = {"quarantinePlan": "SYSTEM", "quarantineType": "'SQL PLAN'", "dbUniqueName": "SPOT"}
    values = ", ".join(f"{a.name}={given.get(a.name) or repr(_other(a))}" for _o, a in made)
    if any(a.name == "quarantinePlan" for _o, a in made):
        yield f"create quarantine {values}"
        yield "alter quarantine all comment='looked at'"
    if release >= (12, 1, 1, 1):
        yield "alter offloadgroup all comment='mine'"
    if release >= (18, 1):
        yield "alter softwareupdate name='24.1.5', frequency=weekly, store='https://store', timeLimitInMinutes=60"
        yield "alter softwareupdate time='2027-01-01T00:00:00-08:00'"


def _security(release: Release) -> Iterator[str]:
    yield f"assign key for {'asmcluster ' if release >= (12, 2, 1, 1) else ''}clu1='{KEY}'"
    if release >= (12, 1, 2, 2):
        yield "create role reader"
        yield "grant privilege list on all objects all attributes with all options to role reader"
        yield "create user ann password='Secret123'"
        yield "grant role reader to user ann"


def _exascale(on: WorldTransport, cell: str, release: Release) -> Iterator[str]:
    if release < (24, 1):
        return
    if cell.endswith("01"):
        yield "create escluster esc"
        yield "alter escluster adminPassword='Secret123', adminPubKey1='abc'"
        yield "register esnode id=n2, name=exa1cel02, cellSecurityPubKey=k2, services='cell|bsm'"
    yield "alter esnode ersip='10.0.0.1', frontendPriority=2, restBackend=TRUE, restBackendServerList='a,b', trustStore='/x'"
