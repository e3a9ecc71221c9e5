"""Commands for emulated racks: start, stop, status, loads and faults; and the demo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from exacell.commands.declared.emulator import FAULT_OPTIONS, OPTIONS
from exacell.core.cellset import CellSet
from exacell.core.errors import ExitCode, RackFormatError, StatementError
from exacell.core.units import counted
from exacell.emulator import control
from exacell.language.registry import Call
from exacell.output.result import Column, Result
from exacell.session.given import Services, Session
from exacell.session.signals import AtPrompt


@contextmanager
def copied_rack(home: Path, name: str, likeness: Mapping[str, Any]) -> Iterator[None]:
    """Run a rack under ``home`` that is like a described one, while the context is open.

    Raises:
        EmulatorError: such a rack can't be emulated.
    """
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


def start(session: Session, call: Call) -> Result:
    """Start an emulated rack, unless it is running; return one record about it: name, whether it runs, cells, hosts, release,
    model.
    """
    info, already = start_rack(session, call.text_arg("name"), call)
    how = f"connect {info.name}, in a shell: exacell -r {info.name}"
    note = f"{info.name} is running already" if already else f"{info.name} is running: {how}"
    return Result(records=[_row(info)], columns=_COLUMNS, fold=True, notes=[note])


def start_rack(session: Session, name: str, call: Call) -> tuple[Any, bool]:
    """Start the rack with the options of ``call``; return its info, and whether it was already running."""
    given: dict[str, Any] = {p.name: call.args[p.name] for p in OPTIONS if call.args.get(p.name) is not None}
    for key, value in given.items():
        if isinstance(value, tuple):
            given[key] = ",".join(value)
    port22 = call.args.get("port22")
    return control.start(
        session.home.config_dir,
        name,
        options=given,
        reset=bool(call.args.get("reset")),
        port22=None if port22 is None else bool(port22),
    )


def stop(session: Session, call: Call) -> Result:
    """Stop the rack and return a note."""
    name = call.text_arg("name")
    stopped = control.stop(session.home.config_dir, name)
    return Result(notes=[f"{name} is stopped" if stopped else f"{name} was not running"])


def status(session: Session, call: Call) -> Result:
    """Return one record per emulated rack: name, whether it runs, cells, hosts, release, model."""
    infos = control.status(session.home.config_dir, call.text_arg("name") or None)
    return Result(records=[_row(info) for info in infos], columns=_COLUMNS, fold=True, data=True)


def ssh_config(session: Session, call: Call) -> Result:
    """Return the rack's ssh_config as text."""
    return Result(text=control.ssh_config(session.home.config_dir, call.text_arg("name")))


def hosts(session: Session, call: Call) -> Result:
    """Return the rack's lines for a hosts file as text."""
    return Result(text=control.hosts(session.home.config_dir, call.text_arg("name")))


def load(session: Session, call: Call) -> Result:
    """Return one record about the load that was applied.

    Raises:
        StatementError: neither or both of the ways to give the load's length are used.
    """
    lasts, commits = call.float_arg("for", 0), int(call.float_arg("commits", 0))
    if bool(lasts) == bool(commits):
        raise StatementError("give for=… (how long the load runs), or commits=… for each of sessions=…, not both")
    if commits:
        made = control.commit_load(
            session.home.config_dir,
            call.text_arg("name"),
            sessions=int(call.float_arg("sessions", 20)),
            commits=commits,
            db=call.text_arg("db"),
        )
        return Result(records=[{"cell": None, **made}])
    done = control.load(
        session.home.config_dir,
        call.text_arg("name"),
        seconds=lasts,
        db=call.text_arg("db"),
        redo=call.float_arg("redo", 0) if call.args.get("redo") is not None else None,
        profile=call.text_arg("profile"),
    )
    return Result(records=[{"cell": None, **done}])


_TRUTH = ("adds", "when", "prevents", "hits", "cache", "keeps")


def truth(session: Session, call: Call) -> Result:
    """Return one record with the true effect that is set for the database's loads; without one, a note that the model decides."""
    given = {name: call.args[name] for name in _TRUTH if call.args.get(name) is not None}
    if (saves := call.args.get("saves")) is not None:
        if "adds" in given:
            raise StatementError("adds= and saves= are opposites: give one of them")
        given["adds"] = -call.float_arg("saves", 0.0) if saves else 0.0
    if given and call.flag("forget"):
        raise StatementError("`--forget` can't be given together with values of an effect; leave the values out")
    known = {} if call.flag("forget") else given or None
    told = control.truth(session.home.config_dir, call.text_arg("name"), db=call.text_arg("db"), known=known)
    if len(told) == 1:
        return Result(notes=[f"no effect is set for {told['db']}: the model decides"])
    columns = [Column("db"), *(Column(name, _KIND_OF_TRUTH.get(name, "number")) for name in _TRUTH)]
    return Result(records=[{"cell": None, **told}], columns=columns)


_KIND_OF_TRUTH = {"cache": "size", "when": "text"}

_FAULT_COLUMNS = tuple(Column(n) for n in ("host", "kind", "state", "ends", "struck", "options"))
"""Columns of a fault in a table; other formats have every value that was given."""


def fault(session: Session, call: Call) -> Result:
    """Return one record per fault of the rack, or a note about the faults that were cleared."""
    home, name = session.home.config_dir, call.text_arg("name")
    where, kind, only = call.text_arg("hosts"), call.text_arg("kind"), call.text_arg("only")
    given: dict[str, Any] = {p.name: call.args[p.name] for p in FAULT_OPTIONS if call.args.get(p.name) is not None}
    if (where == "list") == bool(kind):
        raise StatementError(
            "a fault needs hosts and a kind: emulator fault t1 exa1cel02 hang; or: emulator fault t1 list"
        )
    if given and kind in ("", "clear"):
        raise StatementError(f"{', '.join(f'{key}=' for key in given)} needs a kind of fault, not {kind or where}")
    if only and kind != "clear":
        raise StatementError(f"'{only}' is a second kind: give one fault at a time")
    (info,) = control.status(home, name)
    hosts = list(info.cells) if where == "all" else list(CellSet.parse(where)) if where != "list" else []
    if kind == "clear":
        count = control.clear_faults(home, name, None if where == "all" else hosts, only or None)
        return Result(notes=[f"{counted(count, 'fault')} cleared on {name}"])
    rows = control.fault(home, name, hosts, kind, **given) if kind else control.faults(home, name)
    if kind == "replace" and "after" not in given:
        return Result(notes=[f"a new disk replaces {given['disk']} on {where}"])
    return Result(records=[_fault_row(row) for row in rows], columns=_FAULT_COLUMNS, data=True)


def _fault_row(row: Mapping[str, Any]) -> dict[str, Any]:
    options = " ".join(f"{key}={value}" for key, value in row["options"].items() if value != "")
    return {"cell": None, **row, "options": options}


def path(session: Session, call: Call) -> Result:
    """Return the path of the folder with the rack's programs."""
    return Result(text=str(control.program_path(session.home.config_dir, call.text_arg("name"))))


def demo(session: Session, services: Services, call: Call) -> Result:
    """Return the exit code of the statements that were run."""
    home, before, stays = session.home.config_dir, session.rack, False
    try:
        _, already = control.start(home, DEMO, options={})
    except RackFormatError:
        services.console.say(f"the emulated rack {DEMO} was stored by another version of exacell: it is created again")
        _, already = control.start(home, DEMO, options={}, reset=True)
    if not already:
        services.console.say(f"the emulated rack {DEMO} is up: 3 cells, 2 database nodes, databases SPOT and ERP")
    try:
        services.connect(DEMO)
        code = services.run_nested(call.text_arg("statement"))
    except AtPrompt:
        stays = True
        return Result(notes=(f"type `tutorial` to learn exacell; `emulator stop {DEMO}` stops the rack",))
    finally:
        if not stays:
            services.close()
            if not already:
                control.stop(home, DEMO)
            if before is not None and before.name in session.config.racks:
                services.connect(before.name)
            else:
                session.leave()
    return Result(exit_code=ExitCode(code))


DEMO = "demo"
"""The rack that ``exacell demo`` starts and stops."""
