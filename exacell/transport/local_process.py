"""Run a program of this host to its end for one request: output is read as it comes, and it can be killed at any time."""

from __future__ import annotations

import contextlib
import os
import pwd
import selectors
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

from exacell.core.errors import TransportError
from exacell.core.values import dataclass
from exacell.transport.base import Large
from exacell.transport.capture import Capture, End

_PIECE = 65536


def is_locale(name: str) -> bool:
    """Return whether an environment variable chooses a language. Source: locale(7)."""
    return name == "LANG" or name.startswith("LC_")


def without_locale(variables: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without locale, so that ssh sends none; Python in it still reads and writes UTF-8."""
    kept = {name: value for name, value in variables.items() if not is_locale(name)}
    # Without a locale Python chooses one itself and sets LC_CTYPE, and ssh would send that. Source: PEP 538, PEP 540.
    return {**kept, "PYTHONUTF8": "1", "PYTHONCOERCECLOCALE": "0"}


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The end of a program: ``status`` as waitpid returns it, negative for a signal.

    Attributes:
        large: standard output, on disk; ``stdout`` is then empty.
        broken_off: if the program was killed because of its output, the reason, and the output is not kept; else None.
    """

    status: int
    stdout: str
    stderr: str
    large: Large | None = None
    broken_off: End | None = None


class LocalProcess:
    """One program, in its own session so that it can't ask anything on the terminal. Use once.

    Args:
        locale: whether it gets the operator's LANG and LC_*, which an ssh in it may send (SendEnv).
        account: the account it runs as; None for the present one.
        on_output: called with each piece of standard output as it arrives, from the thread in :meth:`run`.
        limit: bytes that it may print; a program that prints more is killed.
        in_pieces: whether its output may come as ``Ended.large``.
        sink: gets standard output, which is then not kept.

    Attributes:
        capture: its output so far.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        stdin: str | None = None,
        locale: bool = False,
        account: pwd.struct_passwd | None = None,
        on_output: Callable[[bytes], None] | None = None,
        limit: int | None = None,
        in_pieces: bool = False,
        sink: Callable[[bytes], None] | None = None,
    ) -> None:
        self._argv = list(argv)
        self._input = b"" if stdin is None else stdin.encode("utf-8", "surrogateescape")
        self._account = account
        self._env = None if locale else without_locale(os.environ)
        self._in_pieces = in_pieces
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self.capture = Capture(on_output, limit=limit)
        self.capture.on_limit = lambda end: self.kill()
        self._sink = sink or self.capture.take

    def run(self, talk: Callable[[subprocess.Popen[bytes]], None] | None = None) -> Ended:
        """Start the program, send its input, read its output to the end and return how it ended.

        Args:
            talk: sends and reads instead, and puts the output into :attr:`capture`.

        Raises:
            TransportError: it can't be started.
        """
        with self._lock:
            if self._killed:
                return Ended(status=-signal.SIGTERM, stdout="", stderr="")
            account = self._account
            try:
                process = self._process = subprocess.Popen(
                    self._argv,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=self._env,
                    start_new_session=True,
                    cwd=account.pw_dir if account else None,
                    user=account.pw_uid if account else None,
                    group=account.pw_gid if account else None,
                    extra_groups=os.getgrouplist(account.pw_name, account.pw_gid) if account else None,
                )
            except OSError as error:
                raise TransportError(
                    f"{self._argv[0]} can't be started: {error.strerror}", hint="put the program in PATH"
                ) from error
        with process:
            try:
                (talk or self._talk)(process)
            except BaseException:
                self.kill()
                raise
            finally:
                # Before wait() no other process gets its number; the lock lets no wait() come between a check and a kill.
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
                with self._lock:
                    status = process.wait()
        large = self.capture.output.hand_over_file() if self._in_pieces and status == 0 else None
        stdout = "" if large is not None else self.capture.stdout
        broken_off = self.capture.broken_off
        return Ended(status=status, stdout=stdout, stderr=self.capture.stderr, large=large, broken_off=broken_off)

    def _talk(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout and process.stderr
        left = memoryview(self._input)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ, 1)
            selector.register(process.stderr, selectors.EVENT_READ, 2)
            if left:
                os.set_blocking(process.stdin.fileno(), False)
                selector.register(process.stdin, selectors.EVENT_WRITE, 0)
            else:
                process.stdin.close()
            while selector.get_map():
                for key, _ in selector.select():
                    if key.data == 0:
                        try:
                            left = left[os.write(key.fd, left) :]
                        except BrokenPipeError:
                            left = left[:0]
                        if not left:
                            selector.unregister(process.stdin)
                            process.stdin.close()
                        continue
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        selector.unregister(key.fileobj)
                        continue
                    (self._sink if key.data == 1 else self.capture.take_error)(piece)

    def kill(self) -> None:
        """End the program and everything that it has started; :meth:`run` then returns."""
        with self._lock:
            self._killed = True
            process = self._process
            if process is not None and process.returncode is None:
                # Not poll(), which would free the number.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
