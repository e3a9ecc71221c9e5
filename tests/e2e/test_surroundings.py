"""What tests share with each other, with other workers and with the person who runs them: nothing that they don't mean to."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exacell.transport.exchange import Exchange
from tests.support import sshd as sshd_support
from tests.support.patience import until
from tests.support.sshd import Sshd
from tests.support.surroundings import changes, on_the_hosts_clock, process_state

ROOT = Path(__file__).parents[2]

RUN = """\
import pytest, sys
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", "/dev/null", "--rootdir", ".", sys.argv[1]]))
"""


def run(folder: Path, text: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of that text, with our conftest above them, in a process of their own."""
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "test_it.py").write_text(
        f"import os, signal, subprocess, sys, tempfile\nfrom pathlib import Path\n\n{text}"
    )
    return subprocess.run(
        [sys.executable, "-c", RUN, "test_it.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_nothing_is_somebodys_own(tmp_path: Path) -> None:
    """It should give tests an empty home, a place for temporary files, and no habit of the person who runs them."""
    person = tmp_path / "person"
    (person / ".ssh").mkdir(parents=True)
    text = """
def test_it():
    home, place = Path.home(), Path(tempfile.gettempdir())
    assert list(home.iterdir()) == list(place.iterdir()) == []
    assert str(home).startswith(os.environ["PYTEST_DEBUG_TEMPROOT"]) and home.parent == place.parent
    assert [n for n in os.environ if n.startswith(("EXACELL_", "SSH_", "XDG_", "LC_")) or n.endswith("_proxy")] == []
    assert os.environ["TZ"] == "Asia/Kathmandu"
"""
    habits = {
        "EXACELL_RACK": "mine",
        "EXACELL_HOME": "/x",
        "XDG_CONFIG_HOME": "/x",
        "SSH_AUTH_SOCK": "/x",
        "LC_ALL": "C",
    }
    done = run(tmp_path, text, **habits, https_proxy="http://127.0.0.1:9", HOME=str(person), TZ="Asia/Kathmandu")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os.environ['EXACELL_RACK'] = 'x'", "$EXACELL_RACK was None and is now 'x'"),
        ("os.chdir('/')", "the working directory was"),
        ("os.umask(0o077)", "the umask was '0022' and is now '0077'"),
        ("signal.signal(signal.SIGINT, signal.SIG_IGN)", "the handler of SIGINT was"),
        ("sys.path.insert(0, '/nowhere')", "sys.path was"),
    ],
)
def test_a_process_that_is_left_otherwise_is_a_fault(tmp_path: Path, body: str, said: str) -> None:
    """It should fail where a test leaves its process otherwise than it found it, and say how."""
    done = run(tmp_path, f"def test_it():\n    {body}\n\ndef test_other(): pass\n")
    assert done.returncode == 1 and said in done.stdout, done.stdout


def test_what_is_left_in_private_places_is_told(tmp_path: Path) -> None:
    """It should tell of files and processes that are left which test made them, end the processes, and fail nothing."""
    text = """
from tests.support import surroundings

def test_it():
    surroundings.SLOW_TO_END_S = 0.3
    tempfile.mkstemp(prefix="spill")
    Path("~/.made").expanduser().touch()
    Path("pid").write_text(str(subprocess.Popen(["sleep", "77"], start_new_session=True).pid))

def test_other():
    pass
"""
    done = run(tmp_path, text)
    assert done.returncode == 0, done.stdout
    for said in ("/t/spill", "/home/.made was left by test_it.py::test_it", "was left: sleep 77"):
        assert said in done.stdout, done.stdout
    assert until(lambda: not alive(int((tmp_path / "pid").read_text())))


CLOCKS = """\
import time
from exacell.core.background import uptime
from exacell.transport.exchange import Exchange
clock = Exchange.__init__.__kwdefaults__["clock"]
print({uptime: "the host's", time.thread_time: "of its own"}[clock])
"""


def test_a_look_has_a_clock_of_its_own_unless_a_test_wants_the_hosts() -> None:
    """Processes of tests measure a look by their own work, and by the host's clock, as for everybody, where a test says so."""

    def told() -> str:
        return subprocess.run([sys.executable, "-c", CLOCKS], capture_output=True, text=True, check=True).stdout.strip()

    assert told() == "of its own"
    with on_the_hosts_clock():
        assert told() == "the host's"
    assert told() == "of its own"
    assert Exchange.__init__.__kwdefaults__ is not None
    assert Exchange.__init__.__kwdefaults__["clock"] is time.thread_time


def alive(pid: int) -> bool:
    """Whether there is such a process, other than one that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_places_are_gone_behind_the_tests(tmp_path: Path) -> None:
    """It should remove its own places, and only those, whether all went well or not."""
    (tmp_path / "root").mkdir()
    text = "def test_it():\n    Path('place').write_text(tempfile.mkdtemp())\n"
    done = run(tmp_path, text, PYTEST_DEBUG_TEMPROOT=str(tmp_path / "root"))
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "place").read_text().startswith(str(tmp_path / "root" / "exacell-"))
    assert [path.name for path in (tmp_path / "root").iterdir()] == [f"pytest-of-{getpass.getuser()}"]


def test_the_state_of_the_process_is_told() -> None:
    """It should call two looks at an untouched process the same."""
    assert changes(process_state()) == []


@pytest.mark.sshd
def test_a_port_that_was_taken_meanwhile_is_no_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should start its sshd on another port where somebody else listens on the one that was free a moment ago."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    free = sshd_support.free_port
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        ports = iter([taken, free()])
        monkeypatch.setattr(sshd_support, "free_port", lambda: next(ports))
        server = Sshd(tmp_path / "sshd")
        server.start()
        try:
            assert server.port != taken
        finally:
            server.stop()
