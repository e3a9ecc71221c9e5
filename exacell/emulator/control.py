"""Starts, stops, queries and drives emulated racks from outside: the functions that the command layer calls.

Importing this module is cheap: it imports no asyncio and no SSH, and functions import what only they need. The rack itself
is another process, :mod:`exacell.emulator.server.daemon`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from exacell.core.errors import EmulatorError, RackFormatError
from exacell.core.units import parse_duration, parse_size
from exacell.emulator.basics.store import (
    Json,
    RackFiles,
    all_racks,
    life_cycle_lock,
    rack_files,
    read_json,
    write_json,
)
from exacell.emulator.rack.file import AsmInfo, RackInfo, rack_file, refuse_real_rack, write_rack_file
from exacell.emulator.server import wire

__all__ = [
    "AsmInfo",
    "FaultRow",
    "Option",
    "Options",
    "RackInfo",
    "clear_faults",
    "commit_load",
    "exists",
    "fault",
    "faults",
    "hosts",
    "load",
    "program_path",
    "rack_file",
    "ssh_config",
    "start",
    "start_like",
    "status",
    "stop",
]

_POLL_S = 0.02
_STOP_S = 30.0
_LOG_LIMIT = 1 << 20
_COMMITS_S = 20_000.0
"""The least commits that a rack makes in a second."""
_HELD_BACK = 4.0
"""Factor by which a load may take longer than expected from its speed, on a machine that is busy with other work."""


def start(
    home: Path,
    name: str,
    *,
    options: Options,
    reset: bool = False,
    port22: bool | None = None,
    timeout: float = 120.0,
) -> tuple[RackInfo, bool]:
    """Start the rack ``name``; create it with ``options`` if it does not exist yet.

    Args:
        home: the directory of all of exacell's files.
        options: of cells, dbnodes, clusters, db, pdb, vault, dbcache, model, release, mode, pmem, speed, seed,
            cellcli-start; only those that differ from the defaults. For an existing rack they must equal those it was made with.
        reset: make a new rack; the old one is deleted once the new one runs; if that fails, the old one stays, stopped.
        port22: whether each host gets its own loopback address with port 22; None keeps the last choice.
        timeout: seconds that starting may take.

    Returns:
        the rack, and whether it was running already.

    Raises:
        EmulatorError: an option is unknown, wrong, or not what the existing rack was made with; exacell runs from a zip; or
            the rack's process did not come up.
    """
    _refuse_zip()
    files = rack_files(home, name)
    wanted = _checked(options)
    with life_cycle_lock(files, timeout=timeout):
        refuse_real_rack(home, name)
        if reset:
            _stop(files)
        elif files.exists:
            _refuse_other_options(files, wanted)
        already = files.running()
        if port22 is not None and port22 != files.port22.exists() and already:
            raise EmulatorError(
                f"rack {name} runs with port22={'no' if port22 else 'yes'}",
                hint=f"stop it first: emulator stop {name}",
            )
        with files.set_aside() if reset else nullcontext():
            if port22 is not None and port22 != files.port22.exists():
                files.root.mkdir(mode=0o700, exist_ok=True)
                files.port22.touch() if port22 else files.port22.unlink()
            if not already:
                _spawn(files, wanted, timeout)
        info = _info(files)
        write_rack_file(home, info)
    return info, already


def _refuse_zip() -> None:
    """Raise EmulatorError if exacell's own files are in a zip: a rack's shells run some of them by their paths."""
    if not Path(__file__).is_file():
        raise EmulatorError(
            f"exacell runs from a zip ({Path(__file__).parents[2]}), and an emulated rack needs its files as files "
            f"on disk; nothing was started",
            hint="unpack the zip, or install exacell by pip or pipx, and start it from there",
        )


def start_like(home: Path, name: str, likeness: Mapping[str, Any], *, timeout: float = 120.0) -> RackInfo:
    """Make and start the rack ``name`` as a copy of a rack that is described.

    Args:
        likeness: the fields of :class:`exacell.emulator.copies.likeness.Likeness`.

    Raises:
        EmulatorError: such a rack exists already or can't be emulated, or its process did not come up.
    """
    from exacell.emulator.copies.likeness import Likeness, parts_of

    _refuse_zip()
    files = rack_files(home, name)
    with life_cycle_lock(files, timeout=timeout):
        refuse_real_rack(home, name)
        if files.exists:
            raise EmulatorError(
                f"rack {name} exists already",
                hint=f"emulator start {name} continues it; with reset=yes it starts from the beginning",
            )
        parts, described = parts_of(name, Likeness(**likeness))
        files.root.mkdir(mode=0o700, exist_ok=True)
        files.write_state(parts)
        write_json(files.rack, {**described, "given": {}})
        _spawn(files, {}, timeout)
        info = _info(files)
        write_rack_file(home, info)
    return info


def exists(home: Path, name: str) -> bool:
    """Return whether there is a rack ``name``, running or not."""
    return rack_files(home, name).exists


def stop(home: Path, name: str) -> bool:
    """Stop the rack ``name``, keeping its state; return False when it was not running.

    Raises:
        EmulatorError: there is no such rack, or its process does not end.
    """
    files = existing_rack(home, name)
    with life_cycle_lock(files, timeout=_STOP_S):
        return _stop(files)


def status(home: Path, name: str | None = None) -> tuple[RackInfo, ...]:
    """Return all emulated racks in order of name, or the one called ``name``.

    Raises:
        EmulatorError: there is no rack of that name.
    """
    racks = all_racks(home) if name is None else (existing_rack(home, name),)
    return tuple(_info(files) for files in racks)


def ssh_config(home: Path, name: str) -> str:
    """Return the text of an ssh_config that holds a Host block for every host of the rack.

    Raises:
        EmulatorError: there is no rack of that name.
    """
    return existing_rack(home, name).ssh_config.read_text(encoding="utf-8")


def hosts(home: Path, name: str) -> str:
    """Return the hosts' own addresses with port 22, as lines of /etc/hosts.

    Raises:
        EmulatorError: there is no rack of that name, or its hosts have no such addresses.
    """
    files = existing_rack(home, name)
    if not files.addresses.exists():
        raise EmulatorError(
            f"the hosts of rack {name} have no addresses of their own",
            hint=f"emulator stop {name}, then emulator start {name} port22=yes",
        )
    return files.addresses.read_text(encoding="ascii")


def load(
    home: Path, name: str, *, seconds: float, db: str = "", redo: float | None = None, profile: str = "redo"
) -> Mapping[str, object]:
    """Apply a load to the rack and wait until it is applied and collected.

    Args:
        seconds: of rack time; the load begins at the rack's next whole minute.
        db: empty for the rack's first database.
        redo: the database's redo writes in a second; None for the profile's own number.
        profile: one of :data:`exacell.emulator.io.load_profiles.PROFILES`.

    Returns:
        db, profile, redo and seconds as applied, and the wall_seconds that it took.

    Raises:
        EmulatorError: the rack does not run, or has no such database or profile.
    """
    files = existing_rack(home, name)
    minutes_around = 180.0
    longest = _HELD_BACK * (seconds + minutes_around) / max(_info(files).speed, 1e-6) + ANSWER_S
    request: Json = {"op": "load", "db": db, "redo": redo, "seconds": seconds, "profile": profile}
    return ask(files, request, timeout=longest)


def commit_load(home: Path, name: str, *, sessions: int, commits: int, db: str = "") -> Mapping[str, object]:
    """Let sessions of a database commit, and wait until the cells have counted the redo.

    Args:
        sessions: how many, all at the same time; those that are traced write their files on the first node.
        commits: commits of each session.
        db: empty for the rack's first database.

    Returns:
        sessions and commits, and wall_seconds that it took.

    Raises:
        EmulatorError: the rack does not run, has no such database, or a number makes no sense.
    """
    files = existing_rack(home, name)
    longest = _HELD_BACK * (commits * sessions / _COMMITS_S + 120.0 / max(_info(files).speed, 1e-6)) + ANSWER_S
    return ask(files, {"op": "commits", "db": db, "sessions": sessions, "commits": commits}, timeout=longest)


def truth(home: Path, name: str, *, db: str = "", known: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """Plant a true effect in the loads of a rack's database, and return the effect with the database's name.

    Args:
        db: empty for the rack's first database.
        known: attributes of :class:`exacell.emulator.io.truth.Truth`; None returns the present effect, {} removes it.

    Raises:
        EmulatorError: the rack does not run, has no such database, or the attributes are impossible for a load.
    """
    return ask(existing_rack(home, name), {"op": "truth", "db": db, "known": known}, timeout=ANSWER_S)


def program_path(home: Path, name: str) -> Path:
    """Return a directory for PATH, in which other programs find ``cellcli`` and similar programs that reach the rack.

    Raises:
        EmulatorError: there is no rack of that name, or it was last started by an exacell that made no such directory.
    """
    files = existing_rack(home, name)
    path = files.bin("path")
    if not path.is_dir():
        raise EmulatorError(f"rack {name} has no such directory yet", hint=f"start it: exacell emulator start {name}")
    return path


def _checked(options: Options) -> Json:
    """Return the options by RackSpec's names, converted to its types."""
    checked: Json = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        try:
            if name in ("cells", "dbnodes", "clusters", "seed"):
                checked[name] = int(value)
            elif name == "speed":
                checked[name] = float(value)
            elif name == "cellcli_start":
                checked[name] = parse_duration(str(value))
            elif name == "dbcache":
                checked[name] = parse_size(str(value))
            elif name in ("db", "pdb", "vault"):
                checked[name] = [word.strip() for word in str(value).split(",") if word.strip()]
            elif name in ("model", "release", "mode", "pmem"):
                checked[name] = str(value).lower()
            else:
                known = (
                    "cells, dbnodes, clusters, db, pdb, vault, dbcache, model, release, mode, pmem, speed, seed, "
                    "cellcli-start"
                )
                raise EmulatorError(f"an emulated rack has no option {key}", hint=f"the options are {known}")
        except ValueError as error:
            raise EmulatorError(
                f"{key} must be a number, not '{value}'", hint="use digits, and a point before decimals"
            ) from error
    return checked


def _refuse_other_options(files: RackFiles, wanted: Json) -> None:
    made_with = read_json(files.rack) or {}
    given = made_with.get("given")
    assert isinstance(given, dict)
    for key, value in wanted.items():
        old = made_with.get(key)
        # 19.3 may have been stored as 19.3.0.0.0: the given and the stored form both count as equal.
        if value not in (old, given.get(key)):
            raise EmulatorError(
                f"rack {files.name} exists with {_spelled(key, old)}; {_spelled(key, value)} needs a new one",
                hint="add reset=yes to create it again (its state is lost), or leave the option out",
            )


def _spelled(key: str, value: object) -> str:
    if isinstance(value, list):
        value = ",".join(str(item) for item in value)
    elif isinstance(value, float):
        value = f"{value:g}"
    return f"{key.replace('_', '-')}={value}"


def _spawn(files: RackFiles, options: Json, timeout: float) -> None:
    import subprocess

    files.root.mkdir(mode=0o700, exist_ok=True)
    for left_over in (files.failure, files.control):
        left_over.unlink(missing_ok=True)
    if files.log.exists() and files.log.stat().st_size > _LOG_LIMIT:
        os.replace(files.log, files.log.with_suffix(".old"))
    # -P: Python must not import a json.py from the caller's directory.
    command = [sys.executable, "-P", "-m", "exacell.emulator.server.daemon", str(files.root), json.dumps(options)]
    with open(files.log, "ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            close_fds=True,
            start_new_session=True,
            env=_child_environment(),
        )
    deadline = time.monotonic() + timeout
    while not files.control.exists():
        # The process that we started ends with 0 once its child holds the lock, and with another status if it refuses.
        status = process.poll()
        if status or (status == 0 and not files.running() and not files.control.exists()):
            raise _not_started(files)
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            _signal(files.holder(), signal.SIGKILL)
            raise EmulatorError(f"rack {files.name} did not start within {timeout:g}s", hint=f"its log is {files.log}")
        time.sleep(_POLL_S)
    process.wait()
    ask(files, {"op": "ping"})


def _child_environment() -> dict[str, str]:
    """Return our environment with this package's directory in PYTHONPATH, so that the daemon finds it from any directory."""
    package_parent = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(entry for entry in (package_parent, os.environ.get("PYTHONPATH", "")) if entry)
    return {**os.environ, "PYTHONPATH": path}


def _not_started(files: RackFiles) -> EmulatorError:
    failure = read_json(files.failure)
    if failure is None:
        return EmulatorError(f"the process of rack {files.name} ended while starting", hint=f"its log is {files.log}")
    if not files.exists:
        files.remove()
    kind = RackFormatError if failure.get("outdated") else EmulatorError
    return kind(str(failure["error"]), hint=str(failure.get("hint", "")))


def _stop(files: RackFiles) -> bool:
    """Stop the rack's process: first ask, then SIGTERM, then SIGKILL; return False if no process runs."""
    if not files.running():
        return False
    try:
        ask(files, {"op": "stop"})
    except EmulatorError:
        _signal(files.holder(), signal.SIGTERM)
    if _ended(files, _STOP_S):
        return True
    _signal(files.holder(), signal.SIGKILL)
    if _ended(files, _STOP_S):
        return True
    raise EmulatorError(f"the process of rack {files.name} is still running", hint=f"kill -9 {files.holder()}")


def _signal(pid: int | None, number: signal.Signals) -> None:
    if pid is None:
        return
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _ended(files: RackFiles, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while files.running():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _info(files: RackFiles) -> RackInfo:
    made = read_json(files.rack) or {}
    running = files.running()
    control = (read_json(files.control) if running else None) or {}
    status = (read_json(files.status) if running else None) or {}

    def texts(key: str) -> tuple[str, ...]:
        value = made.get(key)
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    return RackInfo(
        name=files.name,
        running=running,
        pid=int(str(control["pid"])) if control else None,
        cells=texts("cell_names"),
        dbnodes=texts("dbnode_names"),
        databases=texts("db"),
        asm=_clusters(made) or (AsmInfo(name="main", nodes=texts("dbnode_names"), databases=texts("db")),),
        model=str(made.get("model")),
        release=str(made.get("release")),
        mode=str(made.get("mode")),
        speed=float(str(made.get("speed"))),
        seed=int(str(made.get("seed"))),
        ssh_config=files.ssh_config,
        started=str(control.get("started", "")),
        down=tuple(str(host) for host in down) if isinstance(down := status.get("down"), list) else (),
        no_shells=str(status.get("no_shells", "")),
    )


def _clusters(made: Json) -> tuple[AsmInfo, ...]:
    """Return the ASM clusters in rack.json; empty if the file was written before racks could have several."""
    found: list[AsmInfo] = []
    rows = made.get("asm")
    for row in rows if isinstance(rows, list) else []:
        found.append(AsmInfo(name=row["name"], nodes=tuple(row["nodes"]), databases=tuple(row["databases"])))
    return tuple(found)


Option = str | int | float | bool
Options = Mapping[str, Option]
FaultRow = Mapping[str, object]
"""Keys of a row: host, kind, state (waiting or active), begins, ends (rack seconds from now), match, every, nth, seen, struck,
options.
"""


def fault(home: Path, name: str, hosts: Sequence[str], kind: str, **options: Option) -> tuple[FaultRow, ...]:
    """Inject a fault into hosts of a rack; it stays until it is over or cleared, even if the rack is stopped and started.

    Args:
        hosts: cells; also database nodes, for the kinds that they can have.
        options: after, for, delay, down (seconds, or text such as ``2m``), every, nth, bytes, match, code, variant,
            disk, status, as :func:`exacell.emulator.state.fault_book.options_of` lists them for the kind.

    Returns:
        All faults of the rack.

    Raises:
        EmulatorError: the rack does not run, there is no such host, kind or option, or a value makes no sense.
    """
    request: Json = {"op": "fault", "hosts": list(hosts), "kind": kind, "options": _seconds(options)}
    return _fault_rows(ask(existing_rack(home, name), request))


def faults(home: Path, name: str) -> tuple[FaultRow, ...]:
    """Return the faults that were injected into a rack and are not over, by host.

    Raises:
        EmulatorError: the rack does not run.
    """
    return _fault_rows(ask(existing_rack(home, name), {"op": "faults"}))


def clear_faults(home: Path, name: str, hosts: Sequence[str] | None = None, kind: str | None = None) -> int:
    """End the faults of some hosts (None: of all hosts), or only those of one kind; return how many were ended.

    Raises:
        EmulatorError: the rack does not run, or there is no such host or kind.
    """
    wanted = None if hosts is None else list(hosts)
    answer = ask(existing_rack(home, name), {"op": "clear-faults", "hosts": wanted, "kind": kind})
    return int(str(answer["cleared"]))


def _seconds(options: Options) -> Json:
    return {
        name: parse_duration(value) if name in ("after", "for", "delay", "down") and isinstance(value, str) else value
        for name, value in options.items()
    }


def _fault_rows(answer: Json) -> tuple[FaultRow, ...]:
    rows = answer["faults"]
    assert isinstance(rows, list)
    return tuple(rows)


ANSWER_S = 30.0
"""Seconds that an answer may take, unless the caller gives another time."""


def existing_rack(home: Path, name: str) -> RackFiles:
    """Return the files of an existing rack.

    Raises:
        EmulatorError: there is no rack of that name.
    """
    files = rack_files(home, name)
    if files.exists:
        return files
    known = ", ".join(rack.name for rack in all_racks(home))
    raise EmulatorError(
        f"there is no emulated rack {name}" + (f" (there is {known})" if known else ""),
        hint=f"make it: exacell emulator start {name}",
    )


def ask(files: RackFiles, request: Json, *, timeout: float = ANSWER_S) -> Json:
    """Send a request to the rack's process and return its result.

    Raises:
        EmulatorError: the rack does not run, does not answer in time, or refuses.
    """
    import socket

    control = read_json(files.control)
    if control is None or not files.running():
        raise EmulatorError(f"rack {files.name} is not running", hint=f"start it: exacell emulator start {files.name}")
    try:
        with socket.create_connection(("127.0.0.1", int(str(control["port"]))), timeout=ANSWER_S) as connection:
            connection.settimeout(timeout)
            payload = json.dumps({**request, "token": control["token"]}).encode("utf-8")
            connection.sendall(wire.frame(wire.REQUEST, payload))
            with connection.makefile("rb") as stream:
                header = stream.read(wire.HEADER)
                if len(header) < wire.HEADER:
                    raise EOFError("the connection was closed")
                _, length = wire.parse_header(header)
                answer = json.loads(stream.read(length))
    except (OSError, EOFError, ValueError) as error:
        raise EmulatorError(
            f"rack {files.name} (pid {control['pid']}) does not answer: {error}", hint=f"its log is {files.log}"
        ) from error
    if "error" in answer:
        raise EmulatorError(str(answer["error"]), hint=str(answer.get("hint", "")))
    result: Json = answer["ok"]
    return result
