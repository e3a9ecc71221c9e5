"""Find ssh_config's settings for one target: exacell reads the files itself if it can, else it asks ``ssh -G``.

ssh is asked only for conditions of newer OpenSSH releases and for names that DNS has to complete, once per target.
"""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from exacell.core.errors import ConfigError, TransportError
from exacell.core.values import replace
from exacell.transport.ssh.programs import OWN_FILES, Program, check, in_shell, start
from exacell.transport.ssh.resolving import GROWING, KNOWN_HOSTS, USED, Answer, Found, Reader, UnknownError, finished
from exacell.transport.ssh.sshconfig import SYSTEM_CONFIG, USER_CONFIG, Condition, SshConfigFiles, programs_named

PROGRAM_S = 30.0
"""The longest time, in seconds, that a Match exec or ssh -G may take."""
_T = TypeVar("_T")


class SshConfig:
    """Finds the settings of targets in one set of files. Thread-safe.

    Results of programs (``Match exec``, ``ssh -G``) are kept as long as this object, and each program runs only once at a time.

    Args:
        given: the file to read instead of the user's and the system's.
        refused: why programs named in ``given`` may not run; empty if they may.
    """

    def __init__(self, given: Path | None, *, refused: str = "") -> None:
        self._files = SshConfigFiles.read(given)
        self._refused = refused
        self._said: dict[object, _Said] = {}
        self._lock = threading.Lock()

    @property
    def places(self) -> tuple[Path, ...]:
        """Return the files that were read or looked for; see :class:`SshConfigFiles`."""
        return self._files.places

    def answer(self, target: str, *, user: str | None = None, port: int | None = None) -> Answer:
        """Return the settings that the files contain for ``target``.

        Args:
            user, port: if given, they have priority over the files.

        Raises:
            ConfigError: a setting for the target is wrong, or can't be read and there is no ssh program to ask.
        """
        _refuse_signs(target, "host name")
        _refuse_signs(user or "", "login")
        try:
            found = Reader(self._files, self.holds, target, user, port).answer()
        except UnknownError as unknown:
            what = str(unknown)
            found = self.once(("ssh", target, user, port), lambda: self._ask(target, user, port, what))
        if found.proxy is None:
            return found
        _refuse_signs(found.host, "host name")  # It is part of the command, which a shell reads.
        _refuse_signs(found.user, "login")
        if not self._refused:
            return found
        return replace(found, proxy=replace(found.proxy, refused=self._refused))

    def by_ssh(self, target: str, *, user: str | None = None, port: int | None = None) -> Answer:
        """Return the settings from ``ssh -G`` for ``target``, even if exacell could read them itself.

        Raises:
            ConfigError: there is no ssh program, it may not be run, or it can't read the files.
        """
        _refuse_signs(target, "host name")
        _refuse_signs(user or "", "login")
        return self.once(("ssh", target, user, port), lambda: self._ask(target, user, port, "ssh_config"))

    def once(self, key: object, make: Callable[[], _T]) -> _T:
        """Return the value that ``make`` returned for ``key``; while one thread calls it, others wait.

        All threads that waited get its error; a later call tries again.

        Raises:
            ConfigError: ``make`` raised it.
        """
        with self._lock:
            said = self._said.setdefault(key, _Said())
            turn = said.turn
        with said.lock:
            if not said.known and said.turn == turn:
                said.turn, said.problem = turn + 1, None
                try:
                    said.value, said.known = make(), True
                except ConfigError as error:
                    said.problem = error
            if said.problem is not None:
                raise ConfigError(said.problem.message, hint=said.problem.hint) from said.problem
            return said.value  # type: ignore[return-value]  # A value made for a key has the key's type.

    def holds(self, command: str, condition: Condition) -> bool:
        """Return whether a Match exec ends with status 0.

        Raises:
            ConfigError: it may not run, can't be started, or does not end.
        """
        where = condition.where
        program = self._program(command, condition)

        def run() -> bool:
            process = _started(program, in_shell(command))
            try:
                return process.wait(PROGRAM_S) == 0
            except subprocess.TimeoutExpired as error:
                raise ConfigError(
                    f"{where}: Match exec '{command}' did not end within {PROGRAM_S:g}s: run it in a shell to see why"
                ) from error
            finally:
                _end(process)

        return self.once(command, run)

    def _program(self, command: str, condition: Condition) -> Program:
        where, own = condition.where, condition.own
        return Program(what="Match exec", command=command, where=where, own=own, refused=self._refused)

    def _ask(self, target: str, user: str | None, port: int | None, why: str) -> Answer:
        """Return the settings from ``ssh -G`` for a target."""
        from shutil import which  # Few files need ssh to read them.

        ssh = which("ssh")
        if ssh is None:
            raise ConfigError(
                f"{why} can't be read by exacell, and there is no ssh program: install openssh-clients, remove "
                "this line, or give another file with --ssh-config"
            )
        given = self._files.given
        named = programs_named(self._files) if self._refused else ()
        if named:  # ssh would start programs that exacell does not read.
            raise ConfigError(
                f"exacell does not run `ssh -G`, because it might start {named[0]}: {self._refused}", hint=OWN_FILES
            )
        # ssh runs the programs of these conditions: they must be allowed as if exacell ran them.
        for condition in filter(None, (section.condition for section in self._files.sections)):
            for command in [criterion.argument for criterion in condition.criteria if criterion.name == "exec"]:
                check(
                    Program(
                        what="Match exec",
                        command=command,
                        where=condition.where,
                        own=condition.own,
                        refused=self._refused,
                    )
                )
        with tempfile.NamedTemporaryFile("w", prefix="exacell-ssh-", suffix=".conf") as both:
            words = [ssh, "-G", *_which_file(given, both.name)]
            words += [*(["-l", user] if user else []), *(["-p", str(port)] if port else []), "--", target]
            if both.name in words:
                both.write(f"Include {os.path.expanduser(USER_CONFIG)}\nMatch all\nInclude {SYSTEM_CONFIG}\n")
                both.flush()
            program = Program(what="ssh -G", command=" ".join(words[1:]), where=target, own=given is None)
            said, status, error = _output(program, words)
        if status:
            raise ConfigError(f"{why} can't be read by exacell, and `ssh -G {target}` fails too: {error}")
        return _answer_of_ssh(said, target, own=given is None, asked=f"{why} is read by ssh -G")


class _Said:
    """The result of a program, once it is there."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.turn = 0
        self.known = False
        self.value: object = None
        self.problem: ConfigError | None = None


_SHELLS_OWN = re.compile(r"""["'`$\\;&<>|(){}\s\x00-\x1f\x7f]|^-""")


def _refuse_signs(name: str, what: str) -> None:
    """Raise ConfigError if a name has a character that a shell interprets, because commands of ssh_config may contain it.

    Source: OpenSSH 9.6, ssh.c, valid_hostname and valid_ruser.

    Raises:
        ConfigError: the message names the host or login.
    """
    if _SHELLS_OWN.search(name):
        raise ConfigError(f"the {what} {name!r} has a character with a meaning for a shell: leave that out")


def _which_file(given: Path | None, both: str) -> list[str]:
    """Return the option with which ssh reads the same files as exacell.

    ssh takes the home from the passwd file; if HOME is another folder, ``both`` must include the user's and the system's file.
    """
    if given is not None:
        return ["-F", str(given)]
    try:
        same = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir) == os.path.realpath(os.path.expanduser("~"))
    except KeyError:
        same = False
    return [] if same else ["-F", both]


def _started(program: Program, words: list[str], **streams: int) -> subprocess.Popen[bytes]:
    try:
        return start(program, words, **streams)
    except TransportError as error:
        raise ConfigError(f"{program.where}: {error.message}", hint=error.hint) from error


def _output(program: Program, words: list[str]) -> tuple[str, int, str]:
    """Run a program and return its output, its status, and its errors in one line."""
    process = _started(program, words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=PROGRAM_S)
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"{program.command} did not end within {PROGRAM_S:g}s", hint="run it by hand") from error
    finally:
        _end(process)
    errors = "; ".join(line.strip() for line in err.decode("utf-8", "backslashreplace").splitlines() if line.strip())
    return out.decode("utf-8", "surrogateescape"), process.returncode, errors or f"exit status {process.returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


def _answer_of_ssh(text: str, target: str, *, own: bool, asked: str) -> Answer:
    """Return the settings in the output of ``ssh -G``, which has a line per keyword and has expanded some of the tokens."""
    found = Found()
    for line in text.splitlines():
        keyword, _, value = line.partition(" ")
        if keyword in GROWING:
            found.lists.setdefault(keyword, []).append(value)
        elif keyword in KNOWN_HOSTS:
            # Without quotes there, a blank starts another path only if the next character can begin a path.
            paths = [_at_home(path) for path in re.split(r" (?=[/~%$])", value)]
            found.lists[keyword] = [path.replace("%", "%%") for path in paths]
        elif keyword in USED:
            found.one[keyword] = value
    host = found.one.get("hostname", target)
    return finished(found, target, host, (target, own), asked=asked)


def _at_home(path: str) -> str:
    """Return a path from ssh, which takes the home from the passwd file, with HOME in place of that home."""
    try:
        theirs = pwd.getpwuid(os.getuid()).pw_dir.rstrip("/") + "/"
    except KeyError:
        return path
    return os.path.expanduser("~/") + path[len(theirs) :] if path.startswith(theirs) else path
