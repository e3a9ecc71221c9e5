"""LIST ACTIVEREQUEST: the requests that smart scans have open on a cell while a load that scans runs.

Each session of a scan has one request, as EXW_SIO_SESSIONS_CURRENT counts them. Which kinds of requests, reasons and states
there are: Oracle SAGUG, describe-activerequest. Which of them a request shows at a given moment is made up.
Like each LIST whose rows no other object has, it has a module of its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from exacell.core.units import MIB
from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.grammar.values import Row
from exacell.emulator.io.load_profiles import PROFILES
from exacell.emulator.io.smart_scans import sessions
from exacell.emulator.io.workload import Load
from exacell.emulator.state.place import Place
from exacell.emulator.statements.content_rows import TABLESPACES
from exacell.emulator.statements.iorm_rows import database_id
from exacell.emulator.storage.segments import default_segments, object_number

MOST = 128
"""The most requests of one load that a cell shows; each session has one request."""

_STATES = ("Accessing Disk", "Computing Result", "Network Send", "Queued for Predicate Disk")
_STEP_S = 5.0
"""Rack seconds after which a scan has other requests."""
_FIRST_SESSION, _FIRST_FILE = 100, 256
_MOST_FILES = 12
_SQL_ID = "0123456789abcdfghjkmnpqrstuvwxyz"


def active_request_rows(place: Place) -> list[Row]:
    """Return the rows of LIST ACTIVEREQUEST; an empty list while no load scans."""
    return [row for load in place.rack.running_loads() for row in _requests(place, load)]


def _requests(place: Place, load: Load) -> Iterator[Row]:
    rack, cell = place.rack, place.cell
    up = sum(other.cellsrv_up for other in rack.cells.values())
    asked_mb = load.redo * MINUTE * PROFILES[load.profile].scanned_mb * min(2, up) / up
    # Data files are on the cached grid disks, not on those of RECO.
    disks = [d for d in cell.grid_disks.values() if d.caching_policy == "default" and d.status == "active"]
    if not disks or not asked_mb:
        return
    segments = [s for s in default_segments(1 << 40, 1 << 39) if s.kind == "TABLE"]
    for number in range(min(MOST, sessions(asked_mb))):
        step = int(rack.now() // _STEP_S)
        rng = random.Random(f"{rack.spec.seed}|{cell.host}|{load.ordinal}|{number}|{step}")
        steady = random.Random(f"{rack.spec.seed}|{load.ordinal}|{number}")
        segment, disk = steady.choice(segments), rng.choice(disks)
        size = rng.choice((1, 1, 1, 4)) * MIB
        serial = step % 100_000 * MOST + number
        yield {
            "name": str(serial),
            "asmDiskGroupNumber": 1,
            "asmFileIncarnation": int(cell.boot_time) % 1_000_000_000,
            "asmFileNumber": _FIRST_FILE + steady.randrange(_MOST_FILES),
            "consumerGroupID": 6,
            "consumerGroupName": "OTHER_GROUPS",
            "dbID": database_id(load.database),
            "dbName": load.database,
            "dbRequestID": serial,
            "fileType": "Datafile",
            "id": str(serial),
            "instanceNumber": 1 + number % len(rack.dbnodes),
            "ioBytes": size,
            "ioBytesSofar": rng.randrange(size // 8192) * 8192,
            "ioGridDisk": disk.name,
            "ioOffset": rng.randrange(disk.size_bytes // MIB) * MIB,
            "ioReason": "Smart scan",
            "ioType": "predicate pushing",
            "objectNumber": object_number(load.database, segment),
            "parentID": "0",
            "pdbID": 0,
            "requestState": rng.choice(_STATES),
            "sessionID": _FIRST_SESSION + number,
            "sessionSerNumber": 1 + steady.randrange(30_000),
            "sqlID": "".join(steady.choice(_SQL_ID) for _ in range(13)),
            "tableSpaceNumber": TABLESPACES[segment.tablespace],
        }
