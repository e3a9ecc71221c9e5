"""What a comparison of flash logging can't show, and why, is known from a cell's release, mode, model and logs."""

from __future__ import annotations

from exacell.measure.limits import RedoPath, limits
from tests.support.every import every

X8 = "Oracle Corporation ORACLE SERVER X8-2L High Capacity"
X8M = "Oracle Corporation ORACLE SERVER X8M-2L High Capacity"
X10M = "Oracle Corporation ORACLE SERVER X10M High Capacity"
X2 = "Oracle Corporation SUN FIRE X4270 M2 SERVER SAS"
EF = "Oracle Corporation ORACLE SERVER X8-2L Extreme Flash"
DISKS, NOTHING = "what flash logging does against disks on c1", "anything on c1"
KEEPS = "keeps the redo of databases in ARCHIVELOG mode"


def path(release: str = "19.3.2", mode: str = "writeback", model: str = X8, **other: object) -> RedoPath:
    return RedoPath(
        release=release, mode=mode, model=model, **{"flash_log": "512M normal", "memory_log": "none", **other}
    )  # type: ignore[arg-type]


@every(
    [
        (path(), ""),
        (path(release="20.1.0.0.0", mode="writethrough"), ""),
        (path(release="20.1.0.0.0", model=X2), ""),
        (path(release="20.1.0.0.0", model="ORACLE SERVER X6-2L"), ""),
        (path(release="20.1.0.0.0"), f"{DISKS}: release 20.1.0.0.0 {KEEPS}"),
        (path(release="24.1.5", model=X10M), f"{DISKS}: release 24.1.5 keeps"),
        (path(release="20.1", model=""), f"{DISKS}: release 20.1 may keep (on X7 and newer)"),
        (path(release="", model=""), ""),
        (path(model=EF), f"{DISKS}: an Extreme Flash cell has none"),
        (path(flash_log="none"), f"{NOTHING}: there is no flash log"),
        (
            path(model=X8M, memory_log="960M normal"),
            f"{NOTHING}: databases from 19c on write their redo to its PMEM log",
        ),
        (path(model=X8M, memory_log=""), ""),
        (path(on_flash=51, writes=100), f"{NOTHING}: the redo logs are on flash themselves"),
        (path(on_flash=49, writes=100), ""),
        (path(on_flash=0, writes=0), ""),
    ]
)
def test_what_stands_in_the_way_is_named(found: RedoPath, said: str) -> None:
    """Each way of the redo past disk or flash log is a sentence; where there is none, or nothing is known, none is."""
    told = limits({"c1": found})
    assert len(told) == bool(said) and all(said in line for line in told)


def test_cells_with_one_reason_share_a_sentence() -> None:
    """A rack of equal cells says it once."""
    (line,) = limits({"exa1cel01": path(flash_log="none"), "exa1cel02": path(flash_log="none"), "exa1cel03": path()})
    assert line.endswith("on exa1cel[01-02]: there is no flash log")
