"""Another user of the same host, who means no good: what they find, and what they can't do."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.program import Done, Program

NEIGHBOUR = 61234
SECRET = "Geh3im-Zw9lf"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become another user: the neighbour is not tried"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may write to, as /var/tmp is."""
    folder = Path(tempfile.mkdtemp(prefix="exacell-neighbour-", dir="/var/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def ours(shared: Program, place: Path) -> Program:
    """The program with a home there, and the lock of its rack where the neighbour can write."""
    program = Program(place / "home").with_rack_of(shared)
    program.home.chmod(0o700)
    (program.home / "config.toml").write_text(f'[racks.t1]\nlock = "{place}/lock"\n')
    return program


def neighbour(*argv: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program as the neighbour, in /."""
    return subprocess.run(
        argv, user=NEIGHBOUR, group=NEIGHBOUR, extra_groups=[], cwd="/", env={"PATH": "/usr/bin:/bin"}, input=text,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def one_line(done: Done) -> str:
    """Return the only thing that was said."""
    (line,) = [line for line in done.err.splitlines() if line.startswith("exacell: ")]
    assert "Traceback" not in done.err
    return line


PORTS = count(1025)
READ = ("-r", "t1", "list cell attributes name")


def change() -> tuple[str, ...]:
    """Return the words of a statement that changes something each time."""
    return ("-r", "t1", f"alter cell smtpPort={next(PORTS)}", "-y")


TRAPS: dict[str, tuple[Callable[[Path], tuple[str, ...]], str]] = {
    "FIFO": (lambda lock: ("mkfifo", "-m", "666", str(lock)), "it is a FIFO"),
    "link": (lambda lock: ("ln", "-s", str(lock.parent / "home" / "config.toml"), str(lock)), "it is a symbolic link"),
    "folder": (lambda lock: ("mkdir", str(lock)), "it is a directory"),
    "junk": (lambda lock: ("sh", "-c", f"umask 0; echo 'run: unlock --takeover {SECRET}' > {lock}"), "it is not JSON"),
    "huge": (lambda lock: ("sh", "-c", f"umask 0; truncate -s 1T {lock}"), "bytes; at most"),
    "closed": (lambda lock: ("sh", "-c", f"umask 077; echo x > {lock}"), ""),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_in_the_place_of_the_lock_is_one_line(ours: Program, place: Path, trap: str) -> None:
    """A change should be refused in one line that says what lies there and repeats none of it; reads go on; nothing waits."""
    make, told = TRAPS[trap]
    config = (ours.home / "config.toml").read_text()
    made = neighbour(*make(place / "lock"))
    assert made.returncode == 0, made.stderr
    assert ours(*READ, timeout=300).code == 0
    if trap == "closed":
        return  # Root can read it.
    done = ours(*change(), timeout=300)
    line = one_line(done)
    assert done.code == 2 and told in line and SECRET not in done.err
    assert (ours.home / "config.toml").read_text() == config


def test_a_lock_tells_the_neighbour_no_text_of_ours(ours: Program, place: Path) -> None:
    """Neither a statement, nor a reason, nor a password should stand in the lock, while it is held and afterwards."""
    reason = f"--reason='because {SECRET}'"
    assert ours("-r", "t1", f"lock reason={SECRET} {reason}").code == 0
    assert ours("-r", "t1", f"create user neighbour1 password='{SECRET}' -y {reason}").code == 0
    seen = neighbour("cat", str(place / "lock"))
    assert seen.returncode == 0 and SECRET not in seen.stdout and "neighbour1" not in seen.stdout
    assert set(json.loads(seen.stdout)["kept"]) == {
        "user", "host", "pid", "since", "kept", "sudo", "started", "change"
    }  # fmt: skip
    assert ours("-r", "t1", "drop user neighbour1", "-y").code == 0
    assert ours("-r", "t1", "unlock").code == 0


def test_what_a_neighbour_writes_into_a_lock_is_not_said_to_us(ours: Program, place: Path) -> None:
    """A holder whose name is a sentence should be junk; one that claims the rack is told as a holder, and can be taken over."""
    holder = {"user": "maria", "host": "elsewhere", "pid": "7", "since": "2026-01-01T00:00:00+00:00"}
    for name, told in (("root;run:rm -rf /", "its user has a form"), ("maria", "is locked by maria on elsewhere")):
        text = json.dumps({"running": {**holder, "user": name}})
        assert neighbour("sh", "-c", f"umask 0; cat > {place}/lock", text=text).returncode == 0
        done = ours(*change())
        assert done.code == 2 and told in one_line(done) and "rm -rf" not in done.err
    assert ours("-r", "t1", "unlock", "--takeover", "-y").code == 0
    assert ours("-r", "t1", "plan", "drop griddisk nosuch").code == 2
    assert ours(*change()).code == 0


WATCH = """
import os, sys
print("watching", flush=True)
seen = set()
while not os.path.exists(sys.argv[1]):
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as stream:
                seen.add(stream.read())
        except OSError:
            pass
print(any((sys.argv[2] + sys.argv[3]).encode() in line for line in seen), len(seen))
"""


@pytest.mark.parametrize("transport", ["ssh", "openssh"])
def test_no_list_of_processes_shows_a_password(ours: Program, place: Path, transport: str) -> None:
    """While a statement with a password is sent, no process of the host should have it among its arguments."""
    half = SECRET[: len(SECRET) // 2]
    argv = ["/usr/bin/env", "python3", "-c", WATCH, str(place / "end"), half, SECRET[len(half) :]]
    with subprocess.Popen(
        argv, user=NEIGHBOUR, group=NEIGHBOUR, extra_groups=[], cwd="/", stdout=subprocess.PIPE, text=True
    ) as watcher:
        assert watcher.stdout is not None and watcher.stdout.readline() == "watching\n"
        script = (
            f"set transport {transport}\ncreate user neighbour2 password='{SECRET}'\nalter user neighbour2 "
            f"password='{SECRET}x'\n"
            "drop user neighbour2\n"
        )
        done = ours("-r", "t1", "-y", stdin=script)
        (place / "end").touch()
        said = watcher.stdout.read()
    assert done.code == 0, done.err
    assert said.startswith("False "), said
    assert SECRET not in done.out + done.err


def test_who_would_show_a_password_does_not_send_it(ours: Program) -> None:
    """Where only the arguments of a program could carry a password it should be refused in one line; nothing is sent."""
    script = f"set transport dcli\nalter user exacelladm password='{SECRET}'\n"
    done = ours("-r", "t1", "-y", stdin=script)
    assert done.code == 2 and SECRET not in done.out + done.err
    assert "has a password or a key, and the transport" in done.err and "nothing was sent" in done.err


def test_no_file_of_ours_holds_a_password(ours: Program, shared: Program) -> None:
    """Whatever was done with a password, it should be in no file: journal, plans, history, logs; retry asks for it anew."""
    wrong = f"alter cell snmpSubscriber=((host=h,port=1,community={SECRET},type=nosuch))"
    statements = [
        f"create user neighbour3 password='{SECRET}'",
        f"alter cell snmpSubscriber=((host=h1,port=162,community={SECRET},type=ASR))",
        f"plan as=kept create user neighbour4 password='{SECRET}'",
        f"alter user neighbour3 passwort='{SECRET}' password='{SECRET}' foo",
        "save baseline as=golden",
        f"sh --accept-opaque cellcli -e alter user neighbour3 password={SECRET}",
        "drop user neighbour3",
    ]
    for statement in statements:
        done = ours("-r", "t1", "-y", stdin=f"{statement}\n")
        assert SECRET not in done.err or statement.startswith("sh "), done.err
    assert ours("-r", "t1", "-y", stdin=f"{wrong}\n").code == 1
    again = ours("-r", "t1", "retry failed", "-y")
    assert again.code == 2 and "contains a password or a key, which exacell does not keep" in one_line(again)
    assert "type the whole statement again" in again.err
    told = ours("-r", "t1", "-y", f"alter user nosuch password='{SECRET}'", "-n")
    assert "every user of this host can read them" in told.err
    held = [path for path in ours.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert held == []
    logs = [path for path in (shared.home / "emulator" / "t1").glob("log*") if SECRET.encode() in path.read_bytes()]
    assert logs == []
    assert ours("-r", "t1", "-y", "alter cell snmpSubscriber=''").code == 0


def test_a_neighbour_reads_nothing_of_ours(ours: Program) -> None:
    """No file or folder of the home should be open to others, whatever made it."""
    ours.ok("-r", "t1", "snap flashcache as=x")
    ours.ok(*change())
    open_to_all = [
        path
        for path in ours.home.rglob("*")
        if not path.is_symlink()
        and path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP)
        and path.parent.name != "racks.d"
    ]
    assert [path for path in open_to_all if path.name != "config.toml"] == []
    assert neighbour("ls", str(ours.home)).returncode != 0


MINE = 'cells = "exa1cel01"\nssh_config = "x"\n'


def test_a_rack_of_the_neighbours_is_not_believed(ours: Program, place: Path) -> None:
    """A rack file that the neighbour made, can write, or could replace is refused with what mends it, which does."""
    rack = ours.home / "racks.d" / "evil.toml"
    made = place / "evil.toml"
    assert neighbour("sh", "-c", f"cat > {made}", text=MINE).returncode == 0
    rack.symlink_to(made)
    assert f"{made} belongs to user {NEIGHBOUR}" in one_line(ours("racks"))
    rack.unlink()
    rack.write_text(MINE)
    rack.chmod(0o666)
    line = one_line(ours("racks"))
    assert line.endswith(f"it is writable by everybody; type `chmod go-w {rack}`")
    subprocess.run(line.partition("`")[2].rstrip("`").split(), check=True)
    assert ours("racks").code == 0
    assert neighbour("sh", "-c", f"mkdir {place}/recipes; echo 'list cell' > {place}/recipes/x.exa").returncode == 0
    assert f"belongs to user {NEIGHBOUR}, not to you or root" in one_line(
        ours("-r", "t1", "run", f"{place}/recipes/x.exa")
    )


def test_the_neighbour_is_another_user() -> None:
    """The tests above should not have been made as ourselves."""
    assert neighbour("id", "-u").stdout.strip() == str(NEIGHBOUR) and os.geteuid() == 0 and sys.executable
