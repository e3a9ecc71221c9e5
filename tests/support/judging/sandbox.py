"""A place where shell text runs and can do nothing: another user, namespaces of its own, no network, nothing to write to.

Every program there is a stand-in that tells with which words it was started (``recorder.c``), and there is no other program
but the shells. A text never runs anywhere else: without such a place ``missing()`` says why, and nothing is run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType

NOBODY = 65534

SHELLS: Mapping[str, tuple[str, ...]] = {
    "bash": ("bash",),
    "dash": ("dash",),
    "mksh": ("mksh",),
    "ksh": ("ksh93", "ksh"),
    "busybox": ("busybox",),
    "zsh": ("zsh",),
}
"""What a shell is called here -> the programs that are it, the best first."""

ARGV0 = {"busybox": "sh"}
"""With which name a shell is started where that is not its own: busybox takes it for the applet."""

SECONDS = 10
"""So long a text may run."""

_RECORDER = Path(__file__).with_name("recorder.c")


@dataclass(frozen=True, slots=True)
class Started:
    """A program that was started in the sandbox.

    Attributes:
        argv: its words.
        environment: its variables, as NAME=value.
        folder: its working directory.
        umask: its umask, three octal digits.
        descriptors: open descriptor -> what it is: ``outer`` for the run's own, ``null``, ``pipe`` (ksh93 takes sockets),
            ``file``, else its numbers.
        stdin: what it read from standard input; nothing where that was the run's own.
    """

    argv: tuple[str, ...]
    environment: tuple[str, ...]
    folder: str
    umask: str
    descriptors: Mapping[int, str]
    stdin: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """What a text did in a shell.

    Attributes:
        shell: which one.
        started: the programs, in the order in which they told of themselves.
        left: files that the text left, whose names it could only write where a here-document needs a place.
        said: what came on standard error, its beginning.
        ended: the exit status, or ``timeout``.
        printed: what came on standard output, from the stand-ins and from what the shell prints itself.
    """

    shell: str
    started: tuple[Started, ...]
    left: tuple[str, ...]
    said: str
    ended: str
    printed: bytes = b""


def program(shell: str) -> str | None:
    """Return the path of a shell, None where it is not installed."""
    found = (shutil.which(name) for name in SHELLS[shell])
    return next((str(Path(path).resolve()) for path in found if path), None)


def installed() -> tuple[str, ...]:
    """Return the shells that this machine has."""
    return tuple(shell for shell in SHELLS if program(shell))


@lru_cache(maxsize=1)
def missing() -> str:
    """Return why no sandbox can be had here, "" where one can."""
    for name in ("bwrap", "cc"):
        if not shutil.which(name):
            return f"no sandbox for shell text: {name} is not installed"
    tried = subprocess.run(
        ["bwrap", *_NAMESPACES, "--ro-bind", "/", "/", "--proc", "/proc", "true"],
        capture_output=True,
        text=True,
        check=False,
        **as_nobody(),
    )
    if tried.returncode:
        return f"no sandbox for shell text: {tried.stderr.strip() or 'bwrap does not start'}"
    return ""


_NAMESPACES = (
    "--unshare-all",
    "--uid",
    str(NOBODY),
    "--gid",
    str(NOBODY),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)


def as_nobody() -> dict[str, object]:
    """Return for subprocess who starts the sandbox: nobody where we are root, else ourselves, mapped to nobody in there."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


@lru_cache(maxsize=1)
def recorder() -> bytes:
    """Return the program of recorder.c, compiled here."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "recorder"
        subprocess.run(["cc", "-O2", "-static", "-o", str(made), str(_RECORDER)], check=True, capture_output=True)
        return made.read_bytes()


class Sandbox:
    """A sandbox that stays for many texts; use it as a context.

    Args:
        programs: the names that stand-ins have, in /usr/bin.
        folders: absolute folders that exist there, each with the files of ``files``.
        files: names in each of the folders and in the working directory; one that ends with ``/`` is a folder.
        writable: whether /tmp can be written, which some shells need for a here-document. What a text leaves there is told. Only
            then can a text be run as a file.
    """

    def __init__(
        self, programs: Iterable[str], folders: Iterable[str], files: Iterable[str], *, writable: bool = False
    ) -> None:
        self._data: list[int] = []
        arguments = [*_NAMESPACES, *self._root(programs, folders, files)]
        if writable:
            arguments += ["--perms", "1777", "--size", str(1 << 22), "--tmpfs", "/tmp"]
            arguments += ["--perms", "0700", "--size", str(1 << 22), "--tmpfs", "/judge/texts"]
        arguments += ["--", "/judge/driver"]
        self._process = self._start(arguments)

    def _root(self, programs: Iterable[str], folders: Iterable[str], files: Iterable[str]) -> Iterator[str]:
        yield from ("--tmpfs", "/", "--perms", "0755", "--dir", "/judge", "--dir", "/judge/texts")
        for library in ("/lib", "/lib64", "/usr/lib", "/usr/lib64"):
            if Path(library).is_dir():
                yield from ("--ro-bind", library, library)
        yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
        yield from self._file("/judge/recorder", recorder(), "0555")
        yield from self._file("/judge/stdin", b"touch evil\n" * 9, "0444")
        yield from ("--symlink", "/judge/recorder", "/judge/driver")
        for shell in installed():
            yield from ("--ro-bind", str(program(shell)), f"/judge/shells/{shell}")
        yield from ("--dir", "/usr/bin", "--symlink", "usr/bin", "/bin", "--symlink", "usr/bin", "/sbin")
        yield from (
            "--symlink",
            "bin",
            "/usr/sbin",
            "--symlink",
            "../bin",
            "/usr/local/bin",
            "--dir",
            "/home/judge",
            "--dir",
            "/tmp",
        )
        for name in sorted(set(programs)):
            yield from ("--symlink", "/judge/recorder", f"/usr/bin/{name}")
        names = list(files)
        for folder in sorted({*folders, "/judge/cwd"}):
            yield from ("--dir", folder)
            for name in names:
                if name.endswith("/"):
                    yield from ("--dir", f"{folder}/{name[:-1]}")
                else:
                    yield from ("--symlink", "/judge/stdin", f"{folder}/{name}")
        yield from ("--remount-ro", "/")

    def _file(self, path: str, content: bytes, mode: str) -> Iterator[str]:
        descriptor = os.memfd_create("judge")
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        self._data.append(descriptor)
        yield from ("--perms", mode, "--file", str(descriptor), path)

    def _start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        listed = os.memfd_create("arguments")
        os.write(listed, b"".join(argument.encode() + b"\0" for argument in arguments[: arguments.index("--")]))
        os.lseek(listed, 0, os.SEEK_SET)
        self._data.append(listed)
        try:
            return subprocess.Popen(
                ["bwrap", "--args", str(listed), *arguments[arguments.index("--") :]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=self._data,
                env={"PATH": "/usr/bin"},
                cwd="/",
                **as_nobody(),  # type: ignore[call-overload]
            )
        finally:
            for descriptor in self._data:
                os.close(descriptor)

    def run(
        self, text: str, shells: Iterable[str], *, status: str = "0", argv0: str | None = None, how: str = "-c"
    ) -> list[Run]:
        """Run a text in each of the shells.

        Args:
            status: with which statuses the stand-ins end, digits of which the words of each choose one: 0 well, 1 not.
            argv0: with which name the shells are started, None for their own.
            how: ``-c`` for a command; ``file`` for a file, or the option with which the file's shell is started.
        """
        wanted, body = list(shells), text.encode()
        assert self._process.stdin is not None
        for shell in wanted:
            name = ARGV0.get(shell) or argv0 or shell
            head = f"/judge/shells/{shell} {name} {status} {SECONDS} {how} {len(body)}\n"
            self._process.stdin.write(head.encode() + body)
        self._process.stdin.flush()
        return [self._answer(shell) for shell in wanted]

    def _answer(self, shell: str) -> Run:
        started, left, said, printed, outer = [], [], "", b"", frozenset[str]()
        while True:
            kind, body = self._frame()
            if kind == "R":
                started.append(_started(body, outer))
            elif kind == "L":
                left.append(body.decode(errors="replace"))
            elif kind == "S":
                said = body.decode(errors="replace")
            elif kind == "P":
                printed = body
            elif kind == "O":
                outer = frozenset(body.decode().split(" "))
            else:
                return Run(shell, tuple(started), tuple(left), said, body.decode(), printed)

    def _frame(self) -> tuple[str, bytes]:
        assert self._process.stdout is not None
        head = self._process.stdout.read(4)
        body = self._process.stdout.read(int.from_bytes(head, "little"))
        if len(head) < 4 or not body:
            raise RuntimeError(f"the sandbox ended with {self._process.wait()}")
        return chr(body[0]), body[1:]

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def _started(body: bytes, outer: frozenset[str]) -> Started:
    parts = body.split(b"\0\0", 2)
    argv = tuple(word[1:].decode(errors="surrogateescape") for word in parts[0].split(b"\0"))
    environment = tuple(pair.decode(errors="surrogateescape") for pair in parts[1].split(b"\0"))
    facts, stdin = parts[2].split(b"\0\0", 1)
    folder, umask, *descriptors = facts.decode().split("\0")
    return Started(argv, environment, folder, umask, dict(_descriptor(each, outer) for each in descriptors), stdin)


def _descriptor(text: str, outer: frozenset[str]) -> tuple[int, str]:
    number, what = text.split(" ")
    if what in outer:
        return int(number), "outer"
    *_, device, mode = what.split(":")
    if device == "103":
        return int(number), "null"
    return int(number), {"10000": "pipe", "140000": "pipe", "100000": "file"}.get(mode, what)
