"""What the ssh program is given when the connection that it keeps is lost in the middle: a change once, whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.core.config import RackConfig
from exacell.transport.base import Role, State
from exacell.transport.openssh import OpensshTransport
from tests.support.requests import read, write

SSH = """\
#!/bin/sh
cd {folder}
echo "$@" >> calls
case " $* " in
*" -M "*) rm -f lost; exit 0 ;;
*" -O check "*) [ ! -e lost ]; exit ;;
*" -O "*) exit 0 ;;
esac
for last; do :; done
echo "$last" >> sent
[ -e losing ] || exit 0
cat losing
rm losing
[ -e alive ] || touch lost
[ -e status ] && exit $(cat status)
exit 255
"""
"""An ssh whose command ends with what the file losing holds, once, and 255 or what is in status; the connection is lost then,
unless alive is there."""


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[OpensshTransport]:
    """A transport over such a program."""
    program = tmp_path / "ssh"
    program.write_text(SSH.format(folder=tmp_path))
    program.chmod(0o700)
    found = OpensshTransport(RackConfig(name="t", cells=("c1",), read_user="u", write_user="u"), program=str(program))
    yield found
    found.close()


UNKNOWN = "the connection was lost after the command was sent; it may or may not have finished"
LOST: list[tuple[Role, bool, str, int, State, str]] = [
    (Role.READ, True, "", 2, State.OK, ""),
    (Role.READ, True, "half of an answer\n", 1, State.FAILED, UNKNOWN),
    (Role.READ, False, "", 1, State.FAILED, UNKNOWN),
    (Role.WRITE, True, "", 1, State.FAILED, UNKNOWN),
    (Role.WRITE, True, "half of an answer\n", 1, State.FAILED, UNKNOWN),
    (Role.WRITE, False, "", 1, State.FAILED, UNKNOWN),
]


@pytest.mark.parametrize(("role", "kept", "said", "times", "state", "problem"), LOST)
def test_only_a_read_without_any_answer_is_sent_again(
    ssh: OpensshTransport, tmp_path: Path, role: Role, kept: bool, said: str, times: int, state: State, problem: str
) -> None:
    """And only once, over a connection that was kept: what may have been carried out is told as not known."""
    if kept:
        assert ssh.run([read("c1", "uptime")]).ok
        (tmp_path / "sent").unlink()
    (tmp_path / "losing").write_text(said)
    request = (write if role is Role.WRITE else read)("c1", "hostname")
    reply = ssh.run([request]).replies["c1"]
    assert (reply.state, reply.problem, reply.stdout) == (state, problem, "" if times == 2 else said)
    assert (tmp_path / "sent").read_text() == "hostname\n" * times


@pytest.mark.parametrize("role", [Role.READ, Role.WRITE])
def test_a_commands_own_255_is_its_status(ssh: OpensshTransport, tmp_path: Path, role: Role) -> None:
    """While the connection lives, ssh's status for its own errors is the command's."""
    (tmp_path / "alive").touch()
    (tmp_path / "losing").touch()
    reply = ssh.run([(write if role is Role.WRITE else read)("c1", "hostname")]).replies["c1"]
    assert (reply.state, reply.problem, reply.exit_status) == (State.FAILED, "exit status 255", 255)
    assert (tmp_path / "sent").read_text() == "hostname\n"


@pytest.mark.parametrize("role", [Role.READ, Role.WRITE])
def test_a_status_that_came_is_the_commands(ssh: OpensshTransport, tmp_path: Path, role: Role) -> None:
    """What ended with a status of its own is known to have ended, although the connection was lost behind it."""
    (tmp_path / "status").write_text("3")
    (tmp_path / "losing").touch()
    reply = ssh.run([(write if role is Role.WRITE else read)("c1", "hostname")]).replies["c1"]
    assert (reply.state, reply.problem, reply.exit_status) == (State.FAILED, "exit status 3", 3)
    assert (tmp_path / "sent").read_text() == "hostname\n"


@pytest.mark.parametrize(("login", "user"), [(None, "u"), ("root", "root")])
def test_a_login_that_is_named_is_the_one(ssh: OpensshTransport, tmp_path: Path, login: str | None, user: str) -> None:
    """Connection and command are the named login's, else the rack's."""
    assert ssh.run([read("c1", "hostname", login=login)]).ok
    logged_in = [line.partition(" -l ")[2].split()[0] for line in (tmp_path / "calls").read_text().splitlines()]
    assert logged_in == [user, user]


def test_a_change_goes_over_no_connection_that_is_lost_already(ssh: OpensshTransport, tmp_path: Path) -> None:
    """A write looks first whether the kept connection lives, and opens a new one where it does not."""
    assert ssh.run([read("c1", "uptime")]).ok
    (tmp_path / "lost").touch()
    assert ssh.run([write("c1", "hostname")]).ok
    assert not (tmp_path / "lost").exists()
    assert (tmp_path / "sent").read_text() == "uptime\nhostname\n"
