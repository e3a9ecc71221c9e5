"""The named loads of ``emulator load``: the I/O that comes with each redo write of a database, and their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The I/O on a cell that comes with one redo write.

    Attributes:
        redo: the database's redo writes in a second, unless the load gives another number.
        reads: reads of blocks.
        writes: writes of blocks.
        scanned_mb: megabytes that smart scans request.
        loaded_mb: megabytes of large writes: spills of work areas, other temporary data, and loads past the buffer cache.
        executions: statements that the database executes for each redo write.
    """

    redo: float
    reads: float
    writes: float
    scanned_mb: float
    loaded_mb: float
    executions: float


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "redo": Profile(redo=2000, reads=4, writes=1, scanned_mb=0, loaded_mb=0, executions=3),
        "oltp": Profile(redo=800, reads=25, writes=3, scanned_mb=0.002, loaded_mb=0, executions=12),
        "dw": Profile(redo=40, reads=1, writes=0.25, scanned_mb=30, loaded_mb=2, executions=2),
        "mixed": Profile(redo=400, reads=18, writes=2, scanned_mb=0.2, loaded_mb=0.01, executions=9),
        "batch": Profile(redo=1200, reads=3, writes=12, scanned_mb=0.01, loaded_mb=0.02, executions=4),
    }
)
"""In order: redo with little else; transactions on small blocks; a warehouse that scans; both together; jobs that mostly write.
"""

COMMITS = Profile(redo=0, reads=0, writes=0.1, scanned_mb=0, loaded_mb=0, executions=0)
"""The I/O that comes with the redo of user sessions that commit: changed blocks are written now and then."""
