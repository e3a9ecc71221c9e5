"""What dcli refuses before anybody is asked and before a target is sent anything, on racks that only answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exacell.change.dcli.hosts import _child, reached, target
from exacell.change.dcli.options import SshOptions
from exacell.core.config import RackConfig
from exacell.core.errors import ExitCode, RefusedError
from exacell.session.state import Options
from exacell.transport.base import Role
from exacell.transport.capabilities import CLUSH, EXACLI
from tests.support.sessions import Session


def opened(folder: Path, **rack: Any) -> Session:
    """A session whose cells run a release that restricts logins, with two files to copy in its home."""
    found = Session(folder, options=Options(flags={"accept-opaque": True}), **rack)
    found.answers.rules.append(("releaseversion", lambda cell: f"\t {cell}\t 26.1.0.0.0.260131\n"))
    for name in ("one", "some.sh"):
        (folder / name).write_text("cellcli -e list cell\n")
        (folder / name).chmod(0o700)
    return found


def test_a_transport_of_cellcli_alone_carries_no_dcli(tmp_path: Path) -> None:
    """Over exacli whatever dcli is to do is refused by what that carries, and no target is asked."""
    rack = opened(tmp_path, write_user="root")
    rack.answers.capabilities = EXACLI  # type: ignore[attr-defined]
    for words in ("-c c1 hostname", f"-c c1 -f {tmp_path}/one", "-c c1 -k", '-c c1 --vmstat="1 1"'):
        with pytest.raises(RefusedError, match=r"^dcli needs command lines on the hosts, and the transport exacli"):
            rack.say(f"dcli {words}")
    assert rack.answers.asked == []


def test_a_transport_without_copies_takes_commands_only(tmp_path: Path) -> None:
    """Over clush -f and -x are refused by their words and no target is asked; a command goes its way."""
    rack = opened(tmp_path, write_user="root")
    rack.answers.capabilities = CLUSH  # type: ignore[attr-defined]
    for words in (f"-c c1 -f {tmp_path}/one", f"-c c1 -x {tmp_path}/some.sh"):
        with pytest.raises(RefusedError, match=f"^dcli {words[:35]}.*: the transport clush copies no files"):
            rack.say(f"dcli {words}")
    assert rack.answers.asked == []
    assert rack.say("dcli -c c1 hostname").exit_code is ExitCode.DONE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-f {0}/one", "copy one to the home directory"),
        ("-f {0}/one -d /tmp", "copy one to /tmp"),
        ("-f {0}/one -d /tmp hostname", "copy one to /tmp"),
        ("touch x", "touch: not in the table of commands that only read"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, words: str, said: str) -> None:
    """A command, or a copy with where it would go, that nobody accepted is named by the refusal; -y accepts nothing."""
    rack = opened(tmp_path, write_user="root")
    for flags in ({}, {"yes": True}):
        rack.session.options = Options(flags=flags)
        with pytest.raises(RefusedError, match=f"^exacell can't tell what this does on c1: {said}"):
            rack.say(f"dcli -c c1 {words.format(tmp_path)}")
    assert rack.answers.asked == []


@pytest.mark.parametrize(
    "words",
    [
        "hostname; uptime",
        "touch x",
        "-k hostname",
        "--timeout=5 hostname",
        "--hidestderr hostname; uptime",
        "-f {0}/one",
        "-f {0}/one hostname",
        "-x {0}/some.sh",
        "-k",
        "--unkey",
        "--vmstat=1",
    ],
)
def test_a_restricted_login_is_told_before_anything_goes(tmp_path: Path, words: str) -> None:
    """On release 26.1 celladmin, or cellmonitor by -l, gets nothing there that is more than one command: said by the
    login's name, while no target was sent anything but the question for its release."""
    rack = opened(tmp_path)
    for login, named in (("", "celladmin"), ("-l cellmonitor ", "cellmonitor")):
        with pytest.raises(
            RefusedError, match=rf"^dcli .*: c\[1-2\] run release 26\.1 or later, where {named} may run"
        ):
            rack.say(f"dcli -c c1,c2 {login}{words.format(tmp_path)}")
    assert rack.answers.asked and {request.role for request in rack.answers.asked} == {Role.READ}
    assert all("releaseVersion" in request.command for request in rack.answers.asked)


def test_one_command_goes_bare_where_logins_are_restricted(tmp_path: Path) -> None:
    """On release 26.1 a command that only shows something is sent as it is, and in its own shell where nobody is restricted."""
    rack = opened(tmp_path)
    for login, sent in (("", "hostname"), ("-l root ", "/bin/sh -c '(hostname\n) 2>&1'")):
        assert rack.say(f"dcli -c c1 {login}hostname").exit_code is ExitCode.DONE
        assert rack.answers.asked[-1].command == sent


def test_keys_are_not_pushed_by_a_read_only_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """-k and --unkey are refused before a key is made here or a target is asked, and a command that reads is not."""
    monkeypatch.setenv("HOME", str(tmp_path))
    rack = opened(tmp_path, write_user="root")
    rack.services.set_mode(read_only=True)
    for words in ("-k", "--unkey", "-k hostname"):
        with pytest.raises(
            RefusedError, match=r"rack r is read-only \(type `set mode rw` to change that\); nothing was sent"
        ):
            rack.say(f"dcli -c c1 {words}")
    assert rack.answers.asked == [] and not (tmp_path / ".ssh").exists()
    assert rack.say("dcli -c c1 hostname").exit_code is ExitCode.DONE


KEYS = {
    "-k": "your public key is added to authorized_keys of celladmin",
    "-k hostname": "dcli --unkey takes it away",
    "--key-with-one-password": "is added",
    "--unkey": "whoever logs in only with it can't any more",
    "-x {0}/some.sh": "some.sh is copied to the home directory and stays there",
    "-k -l oracle": "authorized_keys of oracle",
}


@pytest.mark.parametrize("words", KEYS)
def test_what_stays_on_a_production_racks_cells_is_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """A key or a file that stays there is shown and asked for on a production rack, also by -n; it is journalled with its end,
    and so is its refusal while the rack is read-only. Elsewhere it goes as dcli's does."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa.pub").write_text("ssh-rsa AAAAtest me@here\n")
    text = f"dcli -c c1 {words.format(tmp_path)}"
    rack = opened(tmp_path, production=True)
    rack.console.answer, said = None, rack.console.said
    rack.answers.rules[:] = [("releaseversion", lambda cell: f"\t {cell}\t 19.3.0\n")]
    rack.session.options = Options()

    def changing() -> list[str]:
        return [request.command for request in rack.answers.asked if request.role.changes]

    rack.session.read_only = True
    with pytest.raises(RefusedError, match="read-only"):
        rack.say(text)
    assert [(row.kind, row.body["statement"]) for row in rack.services.journal.entries()] == [("refused", text)]
    rack.session.read_only = False
    with pytest.raises(RefusedError, match="there is no terminal for the question"):
        rack.say(text)
    assert KEYS[words] in "\n".join(said)
    rack.session.options = Options(flags={"dry-run": True})
    said.clear()
    assert rack.say(text).exit_code is ExitCode.DONE and KEYS[words] in "\n".join(said)
    assert changing() == [] and len(rack.services.journal.entries()) == 1
    rack.session.options = Options(flags={"yes": True})
    assert rack.say(text).exit_code is ExitCode.DONE and changing()
    kinds = [row.kind for row in rack.services.journal.entries()]
    assert kinds[1:2] == ["plan"] and {"intent", "outcome", "end"} <= set(kinds)
    (tmp_path / "lab").mkdir()
    lab = opened(tmp_path / "lab")
    lab.answers.rules[:] = rack.answers.rules
    lab.session.options = Options()
    assert lab.say(text).exit_code is ExitCode.DONE


@pytest.mark.parametrize(
    ("production", "chosen", "refused"), [(False, False, False), (True, False, False), (False, True, True)]
)
def test_a_session_that_was_set_read_only_changes_no_other_host(
    tmp_path: Path, production: bool, chosen: bool, refused: bool
) -> None:
    """set mode ro holds for hosts that belong to no rack as well; that a rack is in production says nothing of these."""
    rack = opened(tmp_path, production=production)
    rack.session.read_only = production  # As a rack in production starts.
    if chosen:
        rack.services.set_mode(read_only=True)
        with pytest.raises(RefusedError, match="is read-only"):
            rack.say("dcli -c elsewhere touch x")
    with reached(
        rack.session, rack.services, rack.request, [target("elsewhere")], options=SshOptions(), connect_timeout=None
    ) as (group,):
        assert group.session is not rack.session and group.session.read_only is refused
    rack.services.console.answer = "r"  # type: ignore[attr-defined]
    rack.services.set_mode(read_only=False)
    with reached(
        rack.session, rack.services, rack.request, [target("elsewhere")], options=SshOptions(), connect_timeout=None
    ) as (group,):
        assert not group.session.read_only


@pytest.mark.parametrize(
    ("monitor", "other", "now", "same", "read_only"),
    [
        (False, False, True, False, False),
        (True, False, False, False, True),
        (False, True, False, False, True),
        (False, True, False, True, False),
        (False, False, True, True, True),
    ],
)
def test_each_rack_is_as_read_only_as_its_own_mode(
    tmp_path: Path, monitor: bool, other: bool, now: bool, same: bool, read_only: bool
) -> None:
    """Targets of another rack, in production or not, go by that and -m; those of the same one, over other ssh options, by the
    session's mode."""
    rack = Session(tmp_path, options=Options(monitor=monitor))
    rack.session.read_only = now
    session, _ = _child(
        rack.session, rack.services, RackConfig(name="x", cells=("h",), production=other), keep_mode=same
    )
    assert session.read_only is read_only


def test_words_that_contradict_each_other_reach_nobody(tmp_path: Path) -> None:
    """A usage error ends it with dcli's status and no target asked."""
    rack = opened(tmp_path, write_user="root")
    result = rack.say("dcli -c c1 -n -r x hostname")
    assert result.exit_code is ExitCode.NOT_EXECUTED and "-n and -r exclude each other" in result.problems[-1]
    assert rack.answers.asked == []
