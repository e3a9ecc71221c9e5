"""Real shells behind an emulated host's sessions: pipes or a pty between an SSH channel and a process group."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import termios
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from asyncssh import SSHServerProcess

_HANGUP_S = 2.0
"""What a process group gets between SIGHUP and SIGKILL once its client is gone."""
_DRAIN_S = 5.0
"""How long output on a pty may take to leave after its shell has ended."""


async def run_shell(
    channel: SSHServerProcess[bytes], argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], tty: bool
) -> int:
    """Run ``argv`` with the channel as its standard streams and return its exit status, 128 + n for a signal.

    When the task is cancelled, the process group gets SIGHUP and then SIGKILL; a command that put itself into the
    background of a session that ended well goes on, as on a real host.
    """
    if tty:
        return await _on_pty(channel, argv, cwd, environment)
    return await _on_pipes(channel, argv, cwd, environment)


async def _on_pipes(channel: SSHServerProcess[bytes], argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> int:
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    ours_err, theirs_err = os.pipe()
    theirs, ours = (theirs_in, theirs_out, theirs_err), (ours_in, ours_out, ours_err)
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=theirs_in, stdout=theirs_out, stderr=theirs_err, cwd=cwd, env=env, start_new_session=True
        )
    except OSError:
        _close(ours)
        raise
    finally:
        _close(theirs)
    async with _Guarded(process):
        # send_eof would end the channel with the first of the two streams, and lose what the other still has.
        await channel.redirect(stdin=ours_in, stdout=ours_out, stderr=ours_err, send_eof=False)
        status = await process.wait()
        await channel.stdout.drain()
        await channel.stderr.drain()
    return _exit_status(status)


async def _on_pty(channel: SSHServerProcess[bytes], argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> int:
    master, slave = os.openpty()

    def own_terminal() -> None:
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=env,
            start_new_session=True,
            preexec_fn=own_terminal,
            pass_fds=(slave,),
        )
    except OSError:
        os.close(master)
        raise
    finally:
        os.close(slave)
    async with _Guarded(process):
        await channel.redirect(stdin=os.dup(master), stdout=master, send_eof=False)
        status = await process.wait()
        try:
            await asyncio.wait_for(channel.stdout.drain(), _DRAIN_S)
        except TimeoutError:
            # A background process keeps the terminal open: the shell has ended, and so does the session.
            return _exit_status(status)
    return _exit_status(status)


class _Guarded:
    """Ends a process group when the block is left before the process has ended."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is not None:
            return
        _signal_group(self._process.pid, signal.SIGHUP)
        _signal_group(self._process.pid, signal.SIGCONT)
        try:
            await asyncio.wait_for(self._process.wait(), _HANGUP_S)
        except TimeoutError:
            _signal_group(self._process.pid, signal.SIGKILL)
            await self._process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _exit_status(status: int) -> int:
    return status if status >= 0 else 128 - status
