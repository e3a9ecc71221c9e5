"""The programs ``cellcli`` and others on the PATH of a shell on an emulated host: a pipe to the rack's process.

Run by path with ``python -I -S`` as ``shim.py <control.json> <program> <argument>…``; behind a host's fence, ``@`` replaces
that file: the rack is reached at an address that only this host has, and so knows the host. It starts for every statement of
a third-party script, so it imports nothing that takes time (which is why it uses plain sockets and the simplest form of the
frames of :mod:`exacell.emulator.server.wire`).
"""

import os
import sys
from _socket import AF_UNIX, socket

RESTING = 70
"""Exit status if the rack's process can't be reached, as EX_SOFTWARE of sysexits.h."""
CHUNK = 65536


class Gone(Exception):
    """The rack's process closed the connection before the program ended."""


def send_frame(connection: socket, kind: bytes, payload: bytes) -> None:
    """Send one frame."""
    connection.sendall(kind + len(payload).to_bytes(4, "big") + payload)


def receive(connection: socket, size: int) -> bytes:
    """Return exactly ``size`` bytes.

    Raises:
        Gone: the connection ended first.
    """
    data = b""
    while len(data) < size:
        piece = connection.recv(min(size - len(data), CHUNK))
        if not piece:
            raise Gone
        data += piece
    return data


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``."""
    while data:
        data = data[os.write(descriptor, data) :]


def read_input(prompt: bytes, terminal: bool) -> bytes:
    """Return the next piece of standard input: an edited line on a terminal, else a chunk; empty at the end."""
    if not terminal:
        write_all(1, prompt)
        return os.read(0, CHUNK)
    from contextlib import suppress

    with suppress(ImportError):  # without it, only the terminal's own line editing works
        import readline  # noqa: F401 - importing it gives input() line editing and history
    try:
        line = input(prompt.decode("utf-8", "surrogateescape"))
    except EOFError:
        write_all(1, b"\n")
        return b""
    return (line + "\n").encode("utf-8", "surrogateescape")


def fields(token: str, program: str, arguments: list[str], terminal: bool) -> bytes:
    """Return the payload of a RUN frame."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = "/"
    host, login = os.environ.get("EXACELL_EMU_HOST", ""), os.environ.get("EXACELL_EMU_LOGIN", "")
    head = [token, host, login, "1" if terminal else "0", cwd, program, str(len(arguments))]
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    return "\0".join(head + arguments + environment).encode("utf-8", "surrogateescape")


def read_control(path: str) -> tuple[int, str]:
    """Return the port and the token in control.json, without importing a JSON parser.

    Its values have only digits and hexadecimal digits, so splitting at quotes and colons is exact.
    """
    with open(path, encoding="ascii") as file:
        parts = file.read().strip().strip("{}").split(",")
    pairs = {key.strip('"'): value.strip('"') for key, _, value in (part.partition(":") for part in parts)}
    return int(pairs["port"]), pairs["token"]


def main() -> int:
    """Run the program that the arguments name and return its exit status."""
    control, program, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    terminal = os.isatty(0) and os.isatty(1)
    connection = socket(AF_UNIX) if control == "@" else socket()
    try:
        if control == "@":
            token = ""
            connection.connect("\0exacell")
        else:
            port, token = read_control(control)
            connection.connect(("127.0.0.1", port))
        send_frame(connection, b"R", fields(token, program, arguments, terminal))
        while True:
            header = receive(connection, 5)
            payload = receive(connection, int.from_bytes(header[1:], "big"))
            kind = header[:1]
            if kind == b"O":
                write_all(1, payload)
            elif kind == b"E":
                write_all(2, payload)
            elif kind == b"W":
                send_frame(connection, b"I", read_input(payload, terminal))
            elif kind == b"X":
                return int(payload)
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        write_all(1, b"\n")
        return 130
    except (OSError, Gone, KeyError, ValueError) as error:
        reason = f" ({error})" if str(error) else ""
        write_all(2, f"{program}: the emulated rack does not answer{reason}\n".encode())
        return RESTING
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
