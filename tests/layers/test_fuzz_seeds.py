"""What fuzzing found: every text that a reader once failed at is read again (``make fuzz-readers`` finds more)."""

from __future__ import annotations

from pathlib import Path

from tests.support.every import every
from tests.support.fuzzing.readers import DATA, READERS
from tests.support.fuzzing.trying import tried

KEPT = DATA / "fuzz"


def kept() -> list[Path]:
    """Return the texts that were kept."""
    return sorted(path for path in KEPT.rglob("*") if path.is_file())


@every(kept, name=lambda path: f"{path.parent.name}/{path.name}")
def test_what_a_reader_failed_at_is_read(path: Path) -> None:
    """Each text that once ended a reader with another error than exacell's own, or took seconds, is read or refused."""
    fault = tried(READERS[path.parent.name], path.read_bytes())
    assert fault is None, f"{fault.place}\n{fault.told}"


@every(list(READERS))
def test_no_reader_fails_at_what_it_is_given_first(name: str) -> None:
    """Each reader reads or refuses the texts that fuzzing begins with, and has at least one of them."""
    seeds = list(READERS[name].seeds())
    assert seeds, "nothing to begin with"
    faults = [fault for seed in seeds[:: 1 + len(seeds) // 60] if (fault := tried(READERS[name], seed)) is not None]
    assert not faults, faults[0].told
