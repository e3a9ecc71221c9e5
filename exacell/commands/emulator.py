"""Emulated racks: start, stop, look at, load; and the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exacell.errors import ExitCode
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result

if TYPE_CHECKING:
    from exacell.context import Context

GROUP = "racks"

_NAME = Param(name="name", kind=Kind.RACK, positional=True, required=True, help="the rack's name, as for -r")

_OPTIONS = (
    Param(name="cells", kind=Kind.INT, help="number of cells (3)"),
    Param(name="dbnodes", kind=Kind.INT, help="number of database nodes (2)"),
    Param(name="db", kind=Kind.NAMES, help="databases (SPOT,ERP)"),
    Param(name="model", kind=Kind.NAME, help="hardware: x2, x6, x8m, x10m (x2)"),
    Param(name="release", kind=Kind.NAME, help="Exadata release of the cells (19.3)"),
    Param(name="mode", kind=Kind.CHOICE, choices=("writeback", "writethrough"), help="flash cache mode (writeback)"),
    Param(name="speed", kind=Kind.NUMBER, help="rack seconds in one second of yours (60)"),
    Param(name="seed", kind=Kind.INT, help="same seed, same numbers (1)"),
    Param(name="cellcli-start", kind=Kind.DURATION, help="how long CellCLI takes to start, as Java does (0s)"),
)


def _row(info: Any) -> dict[str, Any]:
    from exacell.cellset import fold

    return {
        "cell": None,
        "name": info.name,
        "running": info.running,
        "pid": info.pid,
        "cells": fold(info.cells),
        "dbnodes": fold(info.dbnodes),
        "databases": tuple(info.databases),
        "model": info.model,
        "release": info.release,
        "mode": info.mode,
        "speed": info.speed,
        "seed": info.seed,
        "started": info.started or None,
        "sshConfig": str(info.ssh_config),
    }


_COLUMNS = tuple(
    Column(n) for n in ("name", "running", "cells", "dbnodes", "databases", "model", "release", "mode", "speed")
)


@command(
    "emulator start",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="start an emulated rack; every process then reaches it with -r NAME",
    details="Its state, ports and host keys survive stop and start; reset=yes begins anew. Its clock runs speed= times "
    "as fast as yours. Starting a running rack says so.",
    example="emulator start t1",
    params=(
        _NAME,
        *_OPTIONS,
        Param(name="reset", kind=Kind.BOOL, default="no", help="forget the old state first"),
    ),
    recipe_ok=False,
)
def start(ctx: Context, call: Call) -> Result:
    """Return one record about the rack."""
    info, already = start_rack(ctx, call.text_arg("name"), call)
    note = f"{info.name} is running already" if already else f"{info.name} is running: exacell -r {info.name}"
    return Result(records=[_row(info)], columns=_COLUMNS, notes=[note])


def start_rack(ctx: Context, name: str, call: Call) -> tuple[Any, bool]:
    """Start the rack with the options of ``call``; returns its info and whether it was running."""
    from exacell.emulator import control

    given: dict[str, Any] = {p.name: call.args[p.name] for p in _OPTIONS if call.args.get(p.name) is not None}
    if isinstance(given.get("db"), tuple):
        given["db"] = ",".join(given["db"])
    return control.start(ctx.home.config_dir, name, options=given, reset=bool(call.args.get("reset")))


@command(
    "emulator stop",
    group=GROUP,
    effect=Effect.LOCAL,
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
    return Result(records=[_row(info) for info in infos], columns=_COLUMNS, data=True)


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
    "emulator load",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="let a database write redo for a while; every write races disk against flash on two cells",
    details="Begins at the rack's next whole minute, lasts exactly for= on the rack's clock and ends on a collection.",
    example="emulator load t1 db=SPOT redo=2000 for=60",
    params=(
        _NAME,
        Param(name="db", kind=Kind.NAME, required=True, help="the database"),
        Param(name="redo", kind=Kind.NUMBER, required=True, help="redo writes a second"),
        Param(name="for", kind=Kind.DURATION, required=True, help="on the rack's clock"),
    ),
)
def load(ctx: Context, call: Call) -> Result:
    """Return one record about what was applied."""
    from exacell.emulator import control

    done = control.load(
        ctx.home.config_dir,
        call.text_arg("name"),
        db=call.text_arg("db"),
        redo=call.float_arg("redo", 0),
        seconds=call.float_arg("for", 0),
    )
    return Result(records=[{"cell": None, **done}])


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

    home = ctx.home.config_dir
    _, already = control.start(home, DEMO, options={})
    if not already:
        ctx.console.say(f"the emulated rack {DEMO} is up: 3 cells, 2 database nodes, databases SPOT and ERP")
    try:
        ctx.connect(DEMO)
        code = ctx.run_nested(call.text_arg("statement"))
    finally:
        ctx.close()
        if not already:
            control.stop(home, DEMO)
    return Result(exit_code=ExitCode(code))


DEMO = "demo"
"""The rack that ``exacell demo`` starts and stops."""
