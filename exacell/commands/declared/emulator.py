"""Declarations of the commands that :mod:`exacell.commands.emulator` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "racks"

_NAME = Param(name="name", kind=Kind.RACK, positional=True, required=True, help="the rack's name, as for -r")

OPTIONS = (
    Param(name="cells", kind=Kind.INT, help="number of cells (3)"),
    Param(name="dbnodes", kind=Kind.INT, help="number of database nodes (2)"),
    Param(name="clusters", kind=Kind.INT, help="ASM clusters that share the cells, each with nodes of its own (1)"),
    Param(name="db", kind=Kind.NAMES, help="databases (SPOT,ERP)"),
    Param(name="pdb", kind=Kind.NAMES, help="pluggable databases, each with its database: SPOT.SALES (none)"),
    Param(name="vault", kind=Kind.NAMES, help="Exascale vaults, from release 24.1 on (none)"),
    Param(name="dbcache", kind=Kind.SIZE, help="flash cache on the nodes for each database (none)"),
    Param(name="model", kind=Kind.NAME, help="hardware: x2, x6, x6ef, x8m, x10m, x10mef (x2)"),
    Param(name="release", kind=Kind.NAME, help="Exadata release of the cells (19.3)"),
    Param(name="mode", kind=Kind.CHOICE, choices=("writeback", "writethrough"), help="flash cache mode (writeback)"),
    Param(
        name="pmem",
        kind=Kind.CHOICE,
        choices=("writeback", "writethrough"),
        help="mode of the cache on persistent memory, on x8m (writethrough)",
    ),
    Param(name="speed", kind=Kind.NUMBER, help="rack seconds in one second of yours (60)"),
    Param(name="seed", kind=Kind.INT, help="the same seed gives the same numbers (1)"),
    Param(name="cellcli-start", kind=Kind.DURATION, help="how long CellCLI takes to start, as Java does (0s)"),
)

_PROFILES = ("redo", "oltp", "dw", "mixed", "batch")

_FAULTS = (
    "refuse",
    "hang",
    "slow",
    "drop",
    "garbage",
    "error",
    "ms-down",
    "cellsrv-down",
    "stuck-flush",
    "flash-disk",
    "hard-disk",
    "replace",
    "host-key",
    "disk-full",
    "restart",
    "unguarded",
    "quarantine",
    "kept-redo",
    "bad-sector",
    "lossy-network",
    "power-off",
)

FAULT_OPTIONS = (
    Param(name="after", kind=Kind.DURATION, help="begins after this time, on the rack's clock"),
    Param(name="for", kind=Kind.DURATION, help="ends after this time, on the rack's clock; without it when cleared"),
    Param(name="every", kind=Kind.INT, help="hit every n-th statement (refuse: connection)"),
    Param(name="nth", kind=Kind.INT, help="hit only the n-th statement (refuse: connection)"),
    Param(name="match", kind=Kind.TEXT, help="hit only statements that match this regular expression"),
    Param(name="delay", kind=Kind.DURATION, help="slow: on your clock, before each statement (2s)"),
    Param(
        name="bytes",
        kind=Kind.INT,
        help="drop: output before the cut (0); garbage (256); kept-redo: how much redo (4 MiB)",
    ),
    Param(name="code", kind=Kind.TEXT, help="error: CELL-nnnnn or ORA-nnnnn, with ': text' after it if you like"),
    Param(
        name="variant",
        kind=Kind.CHOICE,
        choices=("stale", "error", "endless"),
        help="stuck-flush: FC_BY_STALE_DIRTY above 0 (stale), a flushError, or no sign at all (endless)",
    ),
    Param(
        name="disk",
        kind=Kind.TEXT,
        help="flash-disk, hard-disk, bad-sector, disk-full: the disk (the first; disk-full: all); replace: which",
    ),
    Param(
        name="status",
        kind=Kind.CHOICE,
        choices=("failed", "not present", "warning - predictive failure", "warning - poor performance"),
        help="flash-disk, hard-disk: the new status of the disk (failed)",
    ),
    Param(
        name="bare",
        kind=Kind.BOOL,
        help="replace: the new disk stays empty: create cell disk and grid disks yourself (no)",
    ),
    Param(name="down", kind=Kind.DURATION, help="restart: how long CELLSRV is down, on the rack's clock (10s)"),
)

COMMANDS = (
    Command(
        name="emulator start",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="start an emulated rack; every process then reaches it with -r NAME",
        details="Its state, ports and host keys survive stop and start; reset=yes starts with a new rack. Its clock "
        "runs speed= times as fast as yours. If the rack is already running, a note says so. port22=yes is for ssh clients "
        "that can only use port 22: each host then has a loopback address of its own (emulator hosts NAME); this "
        "needs root or net.ipv4.ip_unprivileged_port_start=22.",
        example="emulator start t1",
        params=(
            _NAME,
            *OPTIONS,
            Param(
                name="port22",
                kind=Kind.BOOL,
                help="an address for each host, with port 22, from now on (as last time; no)",
            ),
            Param(name="reset", kind=Kind.BOOL, default="no", help="start with a new rack"),
        ),
        recipe_ok=False,
        handler="exacell.commands.emulator:start",
    ),
    Command(
        name="emulator stop",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="stop an emulated rack; its state is kept",
        example="emulator stop t1",
        params=(_NAME,),
        recipe_ok=False,
        handler="exacell.commands.emulator:stop",
    ),
    Command(
        name="emulator status",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the emulated racks and whether they run",
        example="emulator status",
        params=(Param(name="name", kind=Kind.RACK, positional=True, help="only this one"),),
        recipe_ok=False,
        handler="exacell.commands.emulator:status",
    ),
    Command(
        name="emulator ssh-config",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="an ssh_config with which ssh, scp and sftp reach the rack's hosts",
        example="emulator ssh-config t1",
        params=(_NAME,),
        recipe_ok=False,
        handler="exacell.commands.emulator:ssh_config",
    ),
    Command(
        name="emulator hosts",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the addresses with port 22 of the hosts of a rack that was started with port22=yes, for /etc/hosts",
        details="For ssh clients that can only use port 22 and read no ssh_config. The key is id_ed25519 beside the "
        "file that emulator status -o json names as sshConfig.",
        example="emulator hosts t1",
        params=(_NAME,),
        recipe_ok=False,
        handler="exacell.commands.emulator:hosts",
    ),
    Command(
        name="emulator load",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="let a database work for a while: redo to disk and flash of two cells, reads, writes, scans",
        details="Begins at the rack's next whole minute, lasts exactly for= on the rack's clock and ends on a "
        "collection. profile= is the kind of work beside each redo write: redo (little else), oltp (small reads "
        "that hit or miss the flash cache), dw (smart scans), mixed (both), batch (mostly writes, which make the "
        "cache dirty). With commits= each of sessions= sessions changes a row and commits that often; traced "
        "sessions write 10046 files on the database's first node.",
        example="emulator load t1 profile=oltp db=SPOT for=10m",
        params=(
            _NAME,
            Param(name="profile", kind=Kind.CHOICE, choices=_PROFILES, default="redo", help="what kind of work"),
            Param(name="db", kind=Kind.DB, help="the database (the rack's first)"),
            Param(name="redo", kind=Kind.NUMBER, help="redo writes a second (the profile's own)"),
            Param(name="for", kind=Kind.DURATION, help="on the rack's clock"),
            Param(name="commits", kind=Kind.NUMBER, help="of each session, instead of for="),
            Param(name="sessions", kind=Kind.NUMBER, help="that commit at the same time (20)"),
        ),
        handler="exacell.commands.emulator:load",
    ),
    Command(
        name="emulator truth",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="plant a known effect in the loads of a database, to check a measurement",
        details="adds= and prevents= set what the flash log does to redo writes: later loads have it in the "
        "counters of cells and in the waits of the database. hits= and cache= go together: a full flash cache of "
        "that size per cell serves that percent of the block reads, a smaller or emptier one less, in proportion; "
        "keeps= is the percent for tables with KEEP. With when= the effect exists only while a parameter of the "
        "database has that value. Without any of them the planted effects are shown; --forget removes them.",
        example="emulator truth t1 db=SPOT adds=6 prevents=25",
        params=(
            _NAME,
            Param(name="db", kind=Kind.DB, help="the database (the rack's first)"),
            Param(name="adds", kind=Kind.NUMBER, help="percent that the flash log adds to a redo write's mean"),
            Param(name="saves", kind=Kind.NUMBER, help="percent that it subtracts, instead of adds="),
            Param(
                name="prevents",
                kind=Kind.NUMBER,
                help="outliers prevented per million redo writes; use with one of these",
            ),
            Param(name="hits", kind=Kind.NUMBER, help="percent of reads of blocks that the flash cache serves"),
            Param(name="cache", kind=Kind.SIZE, help="size of that flash cache, per cell"),
            Param(name="keeps", kind=Kind.NUMBER, help="percent that it serves of the reads of tables with KEEP"),
            Param(name="when", kind=Kind.TEXT, help="a parameter and its value: open_cursors=444"),
        ),
        flags=(Flag(name="forget", help="remove the effect"),),
        handler="exacell.commands.emulator:truth",
    ),
    Command(
        name="emulator fault",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="make hosts of an emulated rack fail, list such faults, or clear them",
        details="emulator fault NAME CELLS KIND … makes a fault, emulator fault NAME list shows them, emulator "
        "fault NAME CELLS clear [KIND] ends them. A fault stays until its time is over or it is cleared, also when "
        "the rack stops and starts. A new fault of the same kind for the same statements or disk replaces it. help docs "
        "emulator explains each kind.",
        example="emulator fault t1 exa1cel02 error code=CELL-02559 match=flashcache nth=2",
        params=(
            _NAME,
            Param(
                name="hosts",
                kind=Kind.CELLSET,
                positional=True,
                required=True,
                words=("list", "all"),
                help="cells and database nodes; all: every cell; list: show the faults",
            ),
            Param(name="kind", kind=Kind.CHOICE, positional=True, choices=(*_FAULTS, "clear"), help="what goes wrong"),
            Param(name="only", kind=Kind.CHOICE, positional=True, choices=_FAULTS, help="clear: this kind only"),
            *FAULT_OPTIONS,
        ),
        handler="exacell.commands.emulator:fault",
    ),
    Command(
        name="emulator path",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="a directory for the PATH of other programs on this machine: its cellcli reaches the rack",
        details="EXACELL_EMU_HOST chooses the host (the first cell; for sqlplus, asmcmd and srvctl the first database "
        "node), EXACELL_EMU_LOGIN the login (celladmin, grid). Its hostname, whoami, id and uname speak for that host.",
        example="emulator path t1",
        params=(_NAME,),
        recipe_ok=False,
        handler="exacell.commands.emulator:path",
    ),
    Command(
        name="demo",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="start an emulated quarter rack, run a statement on it or open the prompt, and stop it",
        details="Without a statement and without a terminal the statements come from standard input; if there are "
        "none, run reset_cold -y shows the main job.",
        example="demo show flashcache",
        params=(Param(name="statement", kind=Kind.STATEMENT, positional=True, rest=True, help="what to run on it"),),
        recipe_ok=False,
        handler="exacell.commands.emulator:demo",
    ),
)
