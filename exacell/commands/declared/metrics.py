"""Declarations of the commands that :mod:`exacell.commands.metrics` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

KINDS = ("flashlog", "flashcache")
"""Kinds of counters that explain and reports can interpret."""

COUNTED = (
    *(*KINDS, "smartio", "xrmemcache", "cell", "celldisk", "griddisk", "host_interconnect", "ibport", "iorm_database"),
    *("iorm_pluggable_database", "iorm_category", "iorm_consumer_group", "iorm_cluster", "sysstat"),
)
"""All kinds of counters that snapshots contain: objectTypes of METRICCURRENT, and the counters of a database."""

_PAIR = (
    Param(name="before", kind=Kind.SNAPSHOT, positional=True, required=True, help="the earlier snapshot"),
    Param(name="after", kind=Kind.SNAPSHOT, positional=True, required=True, help="the later one; `snap` takes one now"),
)
_OR_FILES = (
    Param(name="before", kind=Kind.MEASURED, positional=True, required=True, help="the earlier snapshot, or a file"),
    Param(name="after", kind=Kind.MEASURED, positional=True, required=True, help="the later one; `snap` takes one now"),
)
_ANYWAY = Flag(name="anyway", help="also if other conditions differ; marks those")

COMMANDS = (
    Command(
        name="snap",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the counters of this moment on every cell, or of a database, under a name",
        details="Cells collect metrics once a minute. So a snapshot waits for the next collection on each cell's "
        "own clock, and has everything that happened before the snap. fresh=no takes the last collection instead, "
        "which may be a minute old. sysstat db=SPOT keeps V$SYSSTAT of each instance of a database. hosts=@db also "
        "keeps the facts of these hosts: delta refuses two snapshots if one of the hosts changed between them.",
        example="snap flashlog as=before",
        params=(
            Param(
                name="kind", kind=Kind.CHOICE, choices=COUNTED, positional=True, required=True, help="which counters"
            ),
            Param(name="as", kind=Kind.SNAPSHOT, required=True, help="the snapshot's name; replaces an older one"),
            Param(name="fresh", kind=Kind.BOOL, default="yes", help="wait for a new collection"),
            Param(name="db", kind=Kind.DB, help="of sysstat: the database"),
            Param(name="hosts", kind=Kind.CELLSET, help="keep also the facts of these hosts: @db"),
        ),
        handler="exacell.commands.metrics:snap",
    ),
    Command(
        name="snap list",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the answer of a LIST statement from every cell under a name",
        details="Any LIST statement of CellCLI. Attributes that identify the rows, such as name, are added if they "
        "are missing; collectionTime, upTime and lastRequestTime are not kept. delta of two snapshots of the same "
        "statement shows the rows that came and went, and each attribute before and after.",
        example="snap list griddisk attributes name,size,status as=before",
        params=(
            Param(name="as", kind=Kind.SNAPSHOT, required=True, help="the snapshot's name; replaces an older one"),
            Param(name="hosts", kind=Kind.CELLSET, help="keep also the facts of these hosts: @db"),
            Param(
                name="statement",
                kind=Kind.LIST,
                positional=True,
                required=True,
                rest=True,
                help="the rest of a LIST statement",
            ),
        ),
        handler="exacell.commands.metrics:snap_list",
    ),
    Command(
        name="snaps",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the snapshots of this rack, oldest first",
        example="snaps",
        handler="exacell.commands.metrics:snaps",
    ),
    Command(
        name="delta",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="what happened between two snapshots, per cell and over the rack",
        details="Only counters are subtracted. A flush, a new cache or log, or a restart of CELLSRV sets counters "
        "back to 0, and a large load afterwards can hide that. So exacell checks the counters, CELLSRV's start "
        "time, this host's journal and the cells' own metric history. A cell whose counters were set back has no "
        "difference, and then the rack has no figure. Snapshots that differ in release, flash cache mode or size, "
        "flash log, services or IORM plan are refused, and the difference is named; --anyway shows the delta and "
        "marks each row. flashWinPercent = flash first / (flash first + disk first). Kinds other than flashlog and "
        "flashcache have a row for each counter that changed, with its rate over the true interval and its share of "
        "the total at the second snapshot; -o json and csv also list the others. For snap list: a row "
        "for each object that came or went and each attribute that changed, numbers with their difference; changed "
        "conditions are named, but don't refuse the delta. Two files with the output of LIST METRICCURRENT work "
        "too, without a rack.",
        example="delta before after",
        params=_OR_FILES,
        flags=(_ANYWAY,),
        handler="exacell.commands.metrics:show_delta",
    ),
    Command(
        name="explain",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="what happened between two snapshots, in sentences, and the figures behind them",
        details="For the flash log: how often flash answered first, outliers that were prevented, actual and "
        "missed, why writes did not use it, errors, and when and why a comparison of flash logging can't show "
        "anything on these cells. For the flash cache: hits of small reads and scans, whether it was still filling, "
        "writes, errors. Intervals are 95 %, from counting alone: they assume independent requests and do not "
        "predict the next run. It refuses the same snapshots as delta; with --anyway it first names what differs.",
        example="explain flashlog before after",
        params=(
            Param(name="kind", kind=Kind.CHOICE, choices=KINDS, positional=True, required=True, help="which counters"),
            *_PAIR,
        ),
        flags=(_ANYWAY,),
        handler="exacell.commands.metrics:explain_pair",
    ),
)
