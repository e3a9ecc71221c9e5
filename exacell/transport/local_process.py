"""A program of this host run to its end for one request: output read as it comes, broken off at any time."""

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
    """Return whether a variable of the environment chooses a language. Source: locale(7)."""
    return name == "LANG" or name.startswith("LC_")


def without_locale(variables: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without language, so that ssh sends none on; Python in it reads and writes UTF-8 all the same."""
    kept = {name: value for name, value in variables.items() if not is_locale(name)}
    # Without a language Python would choose one itself and set LC_CTYPE, which ssh would send. Source: PEP 538, PEP 540.
    return {**kept, "PYTHONUTF8": "1", "PYTHONCOERCECLOCALE": "0"}


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a program ended: ``status`` as waitpid has it, negative for a signal.

    Attributes:
        large: standard output, on disk; ``stdout`` is empty then.
        broken_off: that it was, because its output was too large; nothing of that is kept.
    """

    status: int
    stdout: str
    stderr: str
    large: Large | None = None
    broken_off: End | None = None


class LocalProcess:
    """One program, in a session of its own so that it can't ask anything on our terminal. Use once.

    Args:
        locale: whether it gets the operator's LANG and LC_*, which an ssh in it may send on (SendEnv).
        account: whose it is; one's own when None.
        on_output: told of each piece of standard output as it arrives, from the thread in :meth:`run`.
        limit: bytes that it may print; one that prints more is ended.
        in_pieces: what it prints may come as ``Ended.large``.
        sink: given standard output instead of its being kept.

    Attributes:
        capture: what it has printed so far.
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
        """Start the program, feed it, read it to its end and return how it ended.

        Args:
            talk: feeds and reads it instead, putting what it prints into :attr:`capture`.

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
                # While nobody has waited for it, its number is nobody else's, and the lock keeps it so for who kills it.
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
                # Not poll(), which would give the number back.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
