"""The operator's language goes with text that is carried, where SendEnv names it, and never with what exacell reads."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.core.config import RackConfig
from exacell.transport.clush import ssh_script
from exacell.transport.local_process import LocalProcess
from exacell.transport.openssh import OpensshTransport
from exacell.transport.ssh import SshTransport, opener
from exacell.transport.ssh.route import Route
from tests.support.requests import CELLS, read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]
SHOW = "echo $LANG/$LC_TIME/$LC_X/$EXA_OTHER"


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    """A language, and a variable that is none."""
    for name, value in (("LANG", "de_DE.UTF-8"), ("LC_TIME", "fr"), ("LC_X", "x"), ("EXA_OTHER", "no")):
        monkeypatch.setenv(name, value)


def through(sshd: Sshd, *lines: str) -> Path:
    path = sshd.ssh_config()
    path.write_text("".join(f"{line}\n" for line in lines) + path.read_text())
    return path


@pytest.mark.sshd
@pytest.mark.parametrize("reads", ["by the one reader", "by a thread", "by openssh"])
def test_who_gets_the_language(
    sshd: Sshd, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch, reads: str
) -> None:
    """Text that is carried gets LANG and LC_* that SendEnv names and no other variable; a read gets nothing."""
    if reads == "by a thread":
        monkeypatch.setattr(opener, "supported", lambda: False)
    config = through(sshd, "SendEnv LANG LC_T*", "SendEnv EXA_*")
    transport = transport_to(config, sshd.user)
    if reads == "by openssh":
        transport = OpensshTransport(transport.rack)  # type: ignore[assignment]
    try:
        for locale, shown in ((True, "de_DE.UTF-8/fr//\n"), (False, "///\n"), (True, "de_DE.UTF-8/fr//\n")):
            reply = transport.run([read(CELLS[0], SHOW, locale=locale)]).replies[CELLS[0]]
            assert reply.stdout == shown, reply
    finally:
        transport.close()


SENT = [
    (("LANG", "LC_*"), ["LANG", "LC_TIME", "LC_X"]),
    (("LC_?",), ["LC_X"]),
    (("LANG", "LC_*", "-LC_*"), ["LANG"]),
    (("-LANG", "LANG"), ["LANG"]),
    (("*",), ["LANG", "LC_TIME", "LC_X"]),
    (("EXA_OTHER",), []),
    ((), []),
]


@pytest.mark.parametrize(("patterns", "names"), SENT)
def test_which_variables(monkeypatch: pytest.MonkeyPatch, patterns: tuple[str, ...], names: list[str]) -> None:
    """SendEnv's patterns, also those behind ``-`` that take names out again, choose among LANG and LC_* alone."""
    monkeypatch.setattr("os.environ", {"LANG": "a", "LC_TIME": "b", "LC_X": "c", "EXA_OTHER": "d", "LANGUAGE": "e"})
    lists = {"sendenv": patterns}
    route = Route(target="c", host="c", port=22, user="u", options={}, lists=lists, hops=(), connect_timeout=1)
    assert [name for name, _ in route.locale] == names


def test_a_program_of_this_host() -> None:
    """A program that may reach cells by ssh has no language to send on, and Python in it chooses none itself."""
    python = "import os; print([n for n in os.environ if n.startswith(('LANG', 'LC_'))], os.fsencode('ö'))"
    assert LocalProcess(["python3", "-c", python]).run().stdout == "[] b'\\xc3\\xb6'\n"
    assert "LC_TIME=fr" in LocalProcess(["env"], locale=True).run().stdout


def test_clustershell(tmp_path: Path) -> None:
    """The ssh that ClusterShell runs, here and on gateways, has no language to send on."""
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\nenv | grep -c -e ^LANG= -e ^LC_TIME=\n")
    ssh.chmod(0o755)
    script = ssh_script(RackConfig(name="r", cells=("c1",)), (), "u")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LANG": "de", "LC_TIME": "fr"}
    assert (
        subprocess.run(["sh", "-c", script, "ssh", "c1", "x"], env=env, capture_output=True, text=True).stdout == "0\n"
    )
