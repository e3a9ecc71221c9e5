"""Sends requests to the process of an emulated rack: one request and one answer over its control service."""

from __future__ import annotations

import json
from pathlib import Path

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.store import Json, RackFiles, all_racks, rack_files, read_json
from exacell.emulator.server import wire

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
