"""Emulated racks: start, stop, look at, load; and the demo."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from exacell.errors import ExitCode, RackFormatError, StatementError
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result
from exacell.signals import AtPrompt
from exacell.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from exacell.context import Context

GROUP = "racks"

_NAME = Param(name="name", kind=Kind.RACK, positional=True, required=True, help="the rack's name, as for -r")

_OPTIONS = (
    Param(name="cells", kind=Kind.INT, help="number of cells (3)"),
    Param(name="dbnodes", kind=Kind.INT, help="number of database nodes (2)"),
    Param(name="clusters", kind=Kind.INT, help="ASM clusters that share the cells, each with nodes of its own (1)"),
    Param(name="db", kind=Kind.NAMES, help="databases (SPOT,ERP)"),
    Param(name="pdb", kind=Kind.NAMES, help="pluggable databases, each with its own: SPOT.SALES (none)"),
    Param(name="vault", kind=Kind.NAMES, help="Exascale vaults, from release 24.1 on (none)"),
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
    Param(name="seed", kind=Kind.INT, help="same seed, same numbers (1)"),
    Param(name="cellcli-start", kind=Kind.DURATION, help="how long CellCLI takes to start, as Java does (0s)"),
)


@contextmanager
def copied_rack(home: Path, name: str, likeness: Mapping[str, Any]) -> Iterator[None]:
    """Have a rack in the likeness of a described one run under ``home`` while it is entered.

    Raises:
        EmulatorError: such a rack can't be emulated.
    """
    from exacell.emulator import control

    try:
        control.start_like(home, name, likeness)
        yield
    finally:
        if control.exists(home, name):
            control.stop(home, name)


def _row(info: Any) -> dict[str, Any]:
    return {
        "cell": None,
        "name": info.name,
        "running": info.running,
        "pid": info.pid,
        "cells": ",".join(info.cells),
        "dbnodes": ",".join(info.dbnodes),
        "databases": tuple(info.databases),
        "asmClusters": tuple(cluster.name for cluster in info.asm),
        "model": info.model,
        "release": info.release,
        "mode": info.mode,
        "speed": info.speed,
        "seed": info.seed,
        "started": info.started or None,
        "down": info.down,
        "shells": None if not info.running else f"none: {info.no_shells}" if info.no_shells else "fenced",
        "sshConfig": str(info.ssh_config),
    }


_COLUMNS = tuple(
    Column(n, "cells" if n in ("cells", "dbnodes") else "text")
    for n in ("name", "running", "cells", "dbnodes", "databases", "model", "release", "mode", "speed", "shells", "down")
)


@command(
    "emulator start",
    group=GROUP,
    effect=Effect.LOCAL,
    dry_runs=False,
    summary="start an emulated rack; every process then reaches it with -r NAME",
    details="Its state, ports and host keys survive stop and start; reset=yes begins anew. Its clock runs speed= times "
    "as fast as yours. Starting a running rack says so. port22=yes is for ssh clients that insist on port 22: each host then "
    "has a loopback address of its own (emulator hosts NAME), which takes root or net.ipv4.ip_unprivileged_port_start=22.",
    example="emulator start t1",
    params=(
        _NAME,
        *_OPTIONS,
        Param(
            name="port22", kind=Kind.BOOL, help="an address for each host, with port 22, from now on (as last time; no)"
        ),
        Param(name="reset", kind=Kind.BOOL, default="no", help="forget the old state first"),
    ),
    recipe_ok=False,
)
def start(ctx: Context, call: Call) -> Result:
    """Return one record about the rack."""
    info, already = start_rack(ctx, call.text_arg("name"), call)
    how = f"connect {info.name}, in a shell: exacell -r {info.name}"
    note = f"{info.name} is running already" if already else f"{info.name} is running: {how}"
    return Result(records=[_row(info)], columns=_COLUMNS, fold=True, notes=[note])


def start_rack(ctx: Context, name: str, call: Call) -> tuple[Any, bool]:
    """Start the rack with the options of ``call``; returns its info and whether it was running."""
    from exacell.emulator import control

    given: dict[str, Any] = {p.name: call.args[p.name] for p in _OPTIONS if call.args.get(p.name) is not None}
    for key, value in given.items():
        if isinstance(value, tuple):
            given[key] = ",".join(value)
    port22 = call.args.get("port22")
    return control.start(
        ctx.home.config_dir,
        name,
        options=given,
        reset=bool(call.args.get("reset")),
        port22=None if port22 is None else bool(port22),
    )


@command(
    "emulator stop",
    group=GROUP,
    effect=Effect.LOCAL,
    dry_runs=False,
    summary="stop an emulated rack; its state is kept",
    example="emulator stop t1",
    params=(_NAME,),
    recipe_ok=False,
)
def stop(ctx: Context, call: Call) -> Result:
    """Return a note."""
    from exacell.emulator import control

    name = call.text_arg("name")
    stopped = control.stop(ctx.home.config_dir, name)
    return Result(notes=[f"{name} is stopped" if stopped else f"{name} was not running"])


@command(
    "emulator status",
    group=GROUP,
    effect=Effect.READ,
    summary="the emulated racks and whether they run",
    example="emulator status",
    params=(Param(name="name", kind=Kind.RACK, positional=True, help="only this one"),),
    recipe_ok=False,
)
def status(ctx: Context, call: Call) -> Result:
    """Return one record per rack."""
    from exacell.emulator import control

    infos = control.status(ctx.home.config_dir, call.text_arg("name") or None)
    return Result(records=[_row(info) for info in infos], columns=_COLUMNS, fold=True, data=True)


@command(
    "emulator ssh-config",
    group=GROUP,
    effect=Effect.READ,
    summary="an ssh_config with which ssh, scp and sftp reach the rack's hosts",
    example="emulator ssh-config t1",
    params=(_NAME,),
    recipe_ok=False,
)
def ssh_config(ctx: Context, call: Call) -> Result:
    """Return the text."""
    from exacell.emulator import control

    return Result(text=control.ssh_config(ctx.home.config_dir, call.text_arg("name")))


@command(
    "emulator hosts",
    group=GROUP,
    effect=Effect.READ,
    summary="the addresses with port 22 of the hosts of a rack that was started with port22=yes, for /etc/hosts",
    details="For ssh clients that insist on port 22 and read no ssh_config. The key is id_ed25519 beside the file that emulator "
    "status -o json names as sshConfig.",
    example="emulator hosts t1",
    params=(_NAME,),
    recipe_ok=False,
)
def hosts(ctx: Context, call: Call) -> Result:
    """Return the text."""
    from exacell.emulator import control

    return Result(text=control.hosts(ctx.home.config_dir, call.text_arg("name")))


_PROFILES = ("redo", "oltp", "dw", "mixed", "batch")


@command(
    "emulator load",
    group=GROUP,
    effect=Effect.LOCAL,
    dry_runs=False,
    summary="let a database work for a while: redo that races disk against flash on two cells, reads, writes, scans",
    details="Begins at the rack's next whole minute, lasts exactly for= on the rack's clock and ends on a collection. "
    "profile= says what comes with each redo write: redo (little else), oltp (small reads that hit or miss the flash "
    "cache), dw (smart scans), mixed (both), batch (mostly writes, which make the cache dirty).",
    example="emulator load t1 profile=oltp db=SPOT for=10m",
    params=(
        _NAME,
        Param(name="profile", kind=Kind.CHOICE, choices=_PROFILES, default="redo", help="what kind of work"),
        Param(name="db", kind=Kind.DB, help="the database (the rack's first)"),
        Param(name="redo", kind=Kind.NUMBER, help="redo writes a second (the profile's own)"),
        Param(name="for", kind=Kind.DURATION, required=True, help="on the rack's clock"),
    ),
)
def load(ctx: Context, call: Call) -> Result:
    """Return one record about what was applied."""
    from exacell.emulator import control

    done = control.load(
        ctx.home.config_dir,
        call.text_arg("name"),
        seconds=call.float_arg("for", 0),
        db=call.text_arg("db"),
        redo=call.float_arg("redo", 0) if call.args.get("redo") is not None else None,
        profile=call.text_arg("profile"),
    )
    return Result(records=[{"cell": None, **done}])


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

_FAULT_OPTIONS = (
    Param(name="after", kind=Kind.DURATION, help="begin so much later, on the rack's clock"),
    Param(name="for", kind=Kind.DURATION, help="end so much later, on the rack's clock; else until cleared"),
    Param(name="every", kind=Kind.INT, help="strike each n-th statement (refuse: connection)"),
    Param(name="nth", kind=Kind.INT, help="strike the n-th statement only (refuse: connection)"),
    Param(name="match", kind=Kind.TEXT, help="strike statements that this regular expression is found in"),
    Param(name="delay", kind=Kind.DURATION, help="slow: on your clock, before each statement (2s)"),
    Param(
        name="bytes",
        kind=Kind.INT,
        help="drop: output before the cut (0); garbage (256); kept-redo: how much redo (4 MiB)",
    ),
    Param(name="code", kind=Kind.TEXT, help="error: CELL-nnnnn or ORA-nnnnn, with ': text' behind it if you like"),
    Param(
        name="variant",
        kind=Kind.CHOICE,
        choices=("stale", "error", "endless"),
        help="stuck-flush: FC_BY_STALE_DIRTY above 0 (stale), a flushError, or it just never ends",
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
        help="flash-disk, hard-disk: what the disk then is (failed)",
    ),
    Param(
        name="bare",
        kind=Kind.BOOL,
        help="replace: nothing is made on the new disk; cell disk and grid disks are left to you (no)",
    ),
    Param(name="down", kind=Kind.DURATION, help="restart: how long CELLSRV is away, on the rack's clock (10s)"),
)

_FAULT_COLUMNS = tuple(
    Column(n) for n in ("host", "kind", "state", "begins", "ends", "match", "every", "nth", "struck", "options")
)


@command(
    "emulator fault",
    group=GROUP,
    effect=Effect.LOCAL,
    dry_runs=False,
    summary="let something go wrong on hosts of an emulated rack, list such faults, or clear them",
    details="emulator fault NAME CELLS KIND … injects, emulator fault NAME list lists, emulator fault NAME CELLS clear "
    "[KIND] ends. A fault stays, over stops and starts of the rack, until it is over or cleared; one of the same kind "
    "for the same statements or disk takes its place. help docs emulator says what each kind does.",
    example="emulator fault t1 exa1cel02 error code=CELL-02559 match=flashcache nth=2",
    params=(
        _NAME,
        Param(
            name="hosts",
            kind=Kind.CELLSET,
            positional=True,
            required=True,
            words=("list", "all"),
            help="cells and database nodes; all: every cell; list: no host, the faults there are",
        ),
        Param(name="kind", kind=Kind.CHOICE, positional=True, choices=(*_FAULTS, "clear"), help="what goes wrong"),
        Param(name="only", kind=Kind.CHOICE, positional=True, choices=_FAULTS, help="clear: this kind only"),
        *_FAULT_OPTIONS,
    ),
)
def fault(ctx: Context, call: Call) -> Result:
    """Return one record per fault of the rack, or a note about what was cleared."""
    from exacell.cellset import CellSet
    from exacell.emulator import control

    home, name = ctx.home.config_dir, call.text_arg("name")
    where, kind, only = call.text_arg("hosts"), call.text_arg("kind"), call.text_arg("only")
    given: dict[str, Any] = {p.name: call.args[p.name] for p in _FAULT_OPTIONS if call.args.get(p.name) is not None}
    if (where == "list") == bool(kind):
        raise StatementError(
            "a fault needs hosts and a kind: emulator fault t1 exa1cel02 hang; or: emulator fault t1 list"
        )
    if given and kind in ("", "clear"):
        raise StatementError(
            f"{', '.join(f'{key}=' for key in given)} goes with a kind of fault, not with {kind or where}"
        )
    if only and kind != "clear":
        raise StatementError(f"'{only}' is one kind too many: one fault at a time")
    (info,) = control.status(home, name)
    hosts = list(info.cells) if where == "all" else list(CellSet.parse(where)) if where != "list" else []
    if kind == "clear":
        count = control.clear_faults(home, name, None if where == "all" else hosts, only or None)
        return Result(notes=[f"{counted(count, 'fault')} cleared on {name}"])
    rows = control.fault(home, name, hosts, kind, **given) if kind else control.faults(home, name)
    if kind == "replace" and "after" not in given:
        return Result(notes=[f"a new disk is in the place of {given['disk']} on {where}"])
    return Result(records=[_fault_row(row) for row in rows], columns=_FAULT_COLUMNS, data=True)


def _fault_row(row: Mapping[str, Any]) -> dict[str, Any]:
    options = " ".join(f"{key}={value}" for key, value in row["options"].items() if value != "")
    return {"cell": None, **row, "options": options}


@command(
    "emulator path",
    group=GROUP,
    effect=Effect.READ,
    summary="a directory for the PATH of other programs on this machine: its cellcli reaches the rack",
    details="EXACELL_EMU_HOST chooses the host (the first cell; for sqlplus, asmcmd and srvctl the first database "
    "node), EXACELL_EMU_LOGIN the login (celladmin, grid). Its hostname, whoami, id and uname speak for that host.",
    example="emulator path t1",
    params=(_NAME,),
    recipe_ok=False,
)
def path(ctx: Context, call: Call) -> Result:
    """Return the directory's name."""
    from exacell.emulator import control

    return Result(text=str(control.program_path(ctx.home.config_dir, call.text_arg("name"))))


@command(
    "demo",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="start an emulated quarter rack, run a statement on it or open the prompt, and stop it",
    details="Without a statement and without a terminal the statements come from standard input; when it holds none, "
    "run reset_cold -y shows the main job.",
    example="demo show flashcache",
    params=(Param(name="statement", kind=Kind.STATEMENT, positional=True, rest=True, help="what to run on it"),),
    recipe_ok=False,
)
def demo(ctx: Context, call: Call) -> Result:
    """Return the exit code of what was run."""
    from exacell.emulator import control

    home, before, stays = ctx.home.config_dir, ctx.rack, False
    try:
        _, already = control.start(home, DEMO, options={})
    except RackFormatError:
        ctx.console.say(f"the emulated rack {DEMO} was stored by another version of exacell: it begins anew")
        _, already = control.start(home, DEMO, options={}, reset=True)
    if not already:
        ctx.console.say(f"the emulated rack {DEMO} is up: 3 cells, 2 database nodes, databases SPOT and ERP")
    try:
        ctx.connect(DEMO)
        code = ctx.services.run_nested(call.text_arg("statement"))
    except AtPrompt:
        stays = True
        return Result(notes=(f"tutorial shows you round; emulator stop {DEMO} ends the rack",))
    finally:
        if not stays:
            ctx.services.close()
            if not already:
                control.stop(home, DEMO)
            if before is not None and before.name in ctx.config.racks:
                ctx.connect(before.name)
            else:
                ctx.leave()
    return Result(exit_code=ExitCode(code))


DEMO = "demo"
"""The rack that ``exacell demo`` starts and stops."""
