"""Declarations of the commands that :mod:`exacell.commands.measuring` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "metrics"

_WHOSE = (
    Param(name="db", kind=Kind.DB, required=True, help="the database"),
    Param(name="service", kind=Kind.TEXT, help="only sessions of that service"),
    Param(name="module", kind=Kind.TEXT, help="only sessions of the service with that module"),
    Param(name="session", kind=Kind.TEXT, help="one session: its SID and serial number, 137,4711"),
    Param(name="node", kind=Kind.NAME, help="where the session is connected (the first node that answers)"),
)

_AS = "keep the figures under this name: different numbers of sessions make a curve, the same number again a repetition"
_KEYS = (
    "The table EXACELL_KEYS is made for this, with a row for each key, and dropped at the end; keep=yes keeps it "
    "for the next load; drive end drops it. The answer is how long it took, the rate and the waits of the "
    "sessions. as= keeps them for compare."
)

COMMANDS = (
    Command(
        name="trace on",
        group=GROUP,
        effect=Effect.WRITE,
        summary="write the waits of a database's sessions into 10046 files on its nodes, by DBMS_MONITOR",
        details="Without service= and session=: every session of the database, on all of its instances. Waits are "
        "traced, bind values are not. Tracing lasts until trace off, also over restarts. undo ends it; in a recipe "
        "undo run ends it in any case. Files grow on the node, and tracing takes time: trace both sides "
        "of a comparison.",
        example="trace on db=SPOT service=spot_batch -y",
        params=_WHOSE,
        handler="exacell.commands.measuring:trace_on",
    ),
    Command(
        name="trace off",
        group=GROUP,
        effect=Effect.WRITE,
        summary="end what trace on started; the files stay on the nodes",
        details="Give the same words as for trace on.",
        example="trace off db=SPOT service=spot_batch -y",
        params=_WHOSE,
        handler="exacell.commands.measuring:trace_off",
    ),
    Command(
        name="trace summarize",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the waits of 10046 trace files: an exact distribution of each event, its tail, and what is missing",
        details="Every wait counts, by event and microsecond; nothing is sampled. Times are in microseconds, "
        "quantiles are R's type 7. Text of statements and bind values that look like waits are not counted, and "
        "this is reported. So are files with a limited size or a cut last line, and tails that end just under a "
        "round number. Files are read on all processors, also gzip and UTF-16. Give .trc files, not the .trm files "
        "beside them, or names from trace collect.",
        example="trace summarize event='log file sync' /tmp/spot1_ora_*.trc",
        params=(
            Param(name="event", kind=Kind.TEXT, help="one event as the files write it; all of them without"),
            Param(
                name="files", kind=Kind.FILE, positional=True, rest=True, required=True, help="trace files, or a name"
            ),
        ),
        handler="exacell.commands.measuring:summarize_traces",
    ),
    Command(
        name="drive commits",
        group=GROUP,
        effect=Effect.WRITE,
        summary="let sessions of a database update a row and commit, again and again: a load that waits for log file sync",
        details="On one node each of the SQL*Plus sessions updates its own row in the table "
        "EXACELL_COMMITS. The table is made for this and dropped at the end; before that it is read to prove that "
        "all commits are there. It is plain SQL, because in PL/SQL only the last commit of a call would wait. tag= "
        "becomes the sessions' TRACEFILE_IDENTIFIER, so that trace collect finds their files. The answer is how long "
        "it took, the rate and the waits; as= keeps them.",
        example="drive commits db=SPOT sessions=20 commits=200000 tag=ON -y",
        params=(
            Param(name="db", kind=Kind.DB, required=True, help="the database"),
            Param(name="sessions", kind=Kind.INT, default="20", help="number that commit at the same time"),
            Param(name="commits", kind=Kind.INT, default="200000", help="commits of each session"),
            Param(name="tag", kind=Kind.NAME, help="TRACEFILE_IDENTIFIER of the sessions"),
            Param(name="as", kind=Kind.NAME, help=_AS),
            Param(name="node", kind=Kind.NAME, help="where they run (the first node that answers)"),
        ),
        handler="exacell.commands.measuring:drive_commits",
    ),
    Command(
        name="drive lookups",
        group=GROUP,
        effect=Effect.WRITE,
        summary="let sessions of a database look keys up in a table: a load that waits for reads of single blocks",
        details="On one node each of the SQL*Plus sessions runs a block of PL/SQL that looks up keys drawn "
        "at random. " + _KEYS + " A table that fits into the buffer cache is read from the cells only once: use "
        "more keys, or empty the buffer cache before.",
        example="drive lookups db=SPOT lookups=200000 keys=1000000 as=disk -y",
        params=(
            Param(name="db", kind=Kind.DB, required=True, help="the database"),
            Param(name="sessions", kind=Kind.INT, default="1", help="number that read at the same time"),
            Param(name="lookups", kind=Kind.INT, default="200000", help="look-ups of each session"),
            Param(name="keys", kind=Kind.INT, default="1000000", help="rows of the table"),
            Param(name="keep", kind=Kind.BOOL, default="no", help="leave the table for the next load"),
            Param(name="as", kind=Kind.NAME, help=_AS),
            Param(name="node", kind=Kind.NAME, help="where they run (the first node that answers)"),
        ),
        handler="exacell.commands.measuring:drive_lookups",
    ),
    Command(
        name="drive scans",
        group=GROUP,
        effect=Effect.WRITE,
        summary="let sessions of a database read a whole table again and again: a load that waits for smart scans",
        details="On one node each of the SQL*Plus sessions runs a block of PL/SQL that counts the rows of "
        "the table. " + _KEYS + " The database decides whether it scans on the cells: a small table is read through "
        "the buffer cache.",
        example="drive scans db=SPOT scans=20 keys=10000000 as=scans -y",
        params=(
            Param(name="db", kind=Kind.DB, required=True, help="the database"),
            Param(name="sessions", kind=Kind.INT, default="1", help="number that read at the same time"),
            Param(name="scans", kind=Kind.INT, default="10", help="scans of each session"),
            Param(name="keys", kind=Kind.INT, default="1000000", help="rows of the table"),
            Param(name="keep", kind=Kind.BOOL, default="no", help="leave the table for the next load"),
            Param(name="as", kind=Kind.NAME, help=_AS),
            Param(name="node", kind=Kind.NAME, help="where they run (the first node that answers)"),
        ),
        handler="exacell.commands.measuring:drive_scans",
    ),
    Command(
        name="drive end",
        group=GROUP,
        effect=Effect.WRITE,
        summary="drop the tables that loads of drive have left",
        example="drive end db=SPOT -y",
        params=(Param(name="db", kind=Kind.DB, required=True, help="the database"),),
        handler="exacell.commands.measuring:drive_end",
    ),
    Command(
        name="trace collect",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="the waits of a database's 10046 trace files, reduced on its nodes and kept under a name",
        details="On each node that runs the database, awk reads the files in the trace directory and writes "
        "nothing. Only some KB are copied: every wait by event and microsecond, file by file, and how many waits "
        "shared a log write. The figures are those of trace summarize on the same files. tag= takes the files of sessions "
        "with that TRACEFILE_IDENTIFIER, last= those that were written to in that time. If a node has no awk, or "
        "with fetch=yes, the files are copied here and read here. trace compare uses the name.",
        example="trace collect db=SPOT as=on tag=ON",
        params=(
            Param(name="db", kind=Kind.DB, required=True, help="the database"),
            Param(name="as", kind=Kind.NAME, required=True, help="the name to keep it under; replaces an older one"),
            Param(name="event", kind=Kind.TEXT, help="one event as the files write it (log file sync)"),
            Param(name="tag", kind=Kind.NAME, help="TRACEFILE_IDENTIFIER of the sessions; without it files of all"),
            Param(name="last", kind=Kind.DURATION, help="only files written to in that time"),
            Param(name="node", kind=Kind.NAME, help="only this node's files"),
            Param(name="user", kind=Kind.NAME, help="owner of the database's software (oracle)"),
            Param(name="fetch", kind=Kind.BOOL, default="no", help="fetch the files and read them here"),
        ),
        handler="exacell.commands.measuring:collect_traces",
    ),
    Command(
        name="trace list",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="what was collected from trace files of this rack, oldest first",
        example="trace list",
        handler="exacell.commands.measuring:list_traces",
    ),
    Command(
        name="trace compare",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="how an event's waits differ between two sets of 10046 trace files, and what such a test can't show",
        details="a and b are names from trace collect, or files. b is compared with a: means, effect size, shift, "
        "quantiles, and how many waits are longer than the mean by 1 to 500 ms. The test over all waits is naive, "
        "because commits that share a log write wait for the same one. So there are two more: one counts log "
        "writes, one counts files, and a file is a session. Intervals of quantiles are drawn from whole files (they "
        "need numpy: the extra analysis). None of this replaces several runs in turn. Times are in microseconds.",
        example="trace compare a=off b=on",
        params=(
            Param(
                name="a",
                kind=Kind.FILE,
                required=True,
                help="a name, or trace files to compare with; several in quotes",
            ),
            Param(name="b", kind=Kind.FILE, required=True, help="the name or the trace files that are compared"),
            Param(
                name="event",
                kind=Kind.TEXT,
                help="one event as the files write it (that of the names, or log file sync)",
            ),
        ),
        handler="exacell.commands.measuring:compare_traces",
    ),
)
