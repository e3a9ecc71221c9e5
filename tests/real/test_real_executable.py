"""The one file: in an empty root it does a DBA's work, and it unpacks itself where nobody else can interfere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pexpect
import pytest

from exacell.core.version import __version__
from tests.support.patience import LONG_S, until

ROOT = Path(__file__).resolve().parents[2]
OWN = "EXACELL_PROGRAM_DIR"
SAYS = f"exacell {__version__}\n"


@pytest.fixture(scope="module")
def file(built: Path) -> Path:
    """The one file."""
    return built / f"exacell-{__version__}-x86_64"


def in_empty_root(file: Path, home: Path, *words: str) -> list[str]:
    """Return the command that runs the file where nothing else is but /proc, /dev, /tmp and a home; no network, no rights."""
    root = [
        "--unshare-all",
        "--die-with-parent",
        "--clearenv",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
    ]
    variables = ["--setenv", "HOME", "/home", "--setenv", "TERM", "xterm"]
    return [
        "bwrap",
        *root,
        "--ro-bind",
        str(file),
        "/exacell",
        "--bind",
        str(home),
        "/home",
        *variables,
        "--",
        "/exacell",
        *words,
    ]


class Screen:
    """The prompt of the one file on the emulated rack, in an empty root."""

    def __init__(self, file: Path, home: Path) -> None:
        command = in_empty_root(file, home, "demo")
        self._child = pexpect.spawn(command[0], command[1:], encoding="utf-8", timeout=LONG_S, dimensions=(50, 150))
        self._prompted()

    def _prompted(self) -> str:
        self._child.expect(r"exacell\S*> ")
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]", "", self._child.before)

    def type(self, statement: str, expected: str) -> None:
        """Type a statement, and wait until the expected text is there."""
        self._child.send(statement + "\r")
        self._child.expect(expected)
        time.sleep(0.5)

    def press(self, keys: str, expected: str) -> None:
        """Press keys, without Enter."""
        self._child.send(keys)
        self._child.expect(expected)

    def leave(self) -> None:
        """Leave the prompt; the emulated rack ends with it."""
        self._child.sendcontrol("c")
        self._child.send("quit\r")
        self._child.expect(pexpect.EOF)
        self._child.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home, taken away at the end: it gets the unpacked program."""
    path = tmp_path / "home"
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def test_a_benchmark_is_prepared_and_reported_where_there_is_nothing_else(file: Path, home: Path) -> None:
    """In an empty root it lists cells, completes on Tab, helps, resets for a benchmark, and writes the report of an A/B."""
    for name in ("vfrc_baseline.txt", "vfrc_cache.txt"):
        shutil.copy(ROOT / "examples/data" / name, home)
    screen = Screen(file, home)
    screen.type("list cell", r"exa1cel\[01-03\].*online")
    screen.press("list flashcac\t", "flashcachecontent")
    screen.press("\x03", "exacell")
    screen.type("help resize", "resize griddisk")
    screen.type("help man", "EXACELL.1.")
    screen.type("list cell | head -1", "no /bin/sh")
    screen.type("@reset_cold size=288g -y", "still warm")
    screen.type("report /home/vfrc_baseline.txt /home/vfrc_cache.txt html to=/home/ab.html --anyway", "ab.html: ")
    screen.type("doctor", "login celladmin: works")
    screen.leave()
    page = (home / "ab.html").read_text()
    assert "1.1 times" in page


def run(file: Path, *words: str, env: dict[str, str], before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, str(file), *(words or ("--version",))],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_S,
    )


def unpacked(base: Path) -> Path:
    """Return the one folder that the file has unpacked itself into."""
    (folder,) = base.glob("exacell-*")
    return folder


def test_starts_at_the_same_time_leave_one_folder(file: Path, home: Path) -> None:
    """Eight first starts at once all work, and one unpacked folder is left."""
    env = {"HOME": str(home)}
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: run(file, env=env), range(8)))
    assert [(one.returncode, one.stdout, one.stderr) for one in done] == [(0, SAYS, "")] * 8
    assert sorted(path.name for path in (home / ".cache/exacell/program").iterdir()) == [
        unpacked(home / ".cache/exacell/program").name,
        "lock",
    ]


@pytest.mark.parametrize("harm", ["cut", "gone", "other_mode", "changed", "link"])
def test_a_folder_that_is_not_as_it_was_unpacked_is_made_anew(file: Path, home: Path, harm: str) -> None:
    """A file that is cut, gone, writable by others, written again or replaced by a link is not run: all is unpacked again."""
    env = {OWN: str(home)}
    assert run(file, env=env).stdout == SAYS
    (module,) = unpacked(home).glob("lib/python3.*/exacell/cli.py")
    text = module.read_text()
    if harm == "cut":
        module.write_text("")
    elif harm == "gone":
        module.unlink()
    elif harm == "other_mode":
        module.chmod(0o666)
    elif harm == "changed":
        module.write_text(text.replace("exacell", "EXACELL"))
    else:
        module.rename(home / "elsewhere")
        module.symlink_to(home / "elsewhere")
    done = run(file, env=env)
    assert (done.stdout, done.stderr) == (SAYS, "")
    assert module.read_text() == text
    assert not module.is_symlink()
    assert not module.stat().st_mode & 0o022


def test_a_start_that_was_killed_leaves_nothing_that_counts(file: Path, home: Path) -> None:
    """A first start that is killed while it unpacks leaves no whole folder, and the next start takes its rest away."""
    env = {OWN: str(home)}
    child = subprocess.Popen([str(file), "--version"], env=env, stdout=subprocess.DEVNULL)
    until(lambda: any(home.glob("exacell-new.*/lib")))
    child.kill()
    child.wait()
    assert run(file, env=env).stdout == SAYS
    assert not list(home.glob("exacell-new.*"))


def test_what_older_versions_left_goes_when_nobody_uses_it(file: Path, home: Path) -> None:
    """The folder of another version goes at a first start, but not while a process holds it."""
    for name in ("exacell-free", "exacell-held"):
        (home / name / "lib").mkdir(parents=True)
    holder = subprocess.Popen(
        ["sh", "-c", "exec flock --shared --no-fork exacell-held sleep 600"], cwd=home, stdout=subprocess.DEVNULL
    )
    try:
        until(lambda: subprocess.run(["flock", "-n", home / "exacell-held", "true"], check=False).returncode == 1)
        assert run(file, env={OWN: str(home)}).stdout == SAYS
    finally:
        holder.kill()
        holder.wait()
    assert (home / "exacell-held").exists()
    assert not (home / "exacell-free").exists()


def mounted(options: str, at: Path) -> list[str]:
    """Return the words that run a command with a small file system at a folder, seen by that command alone."""
    script = f'mount -t tmpfs -o {options} none "$1"; shift; exec "$@"'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(at)]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("noexec,mode=700", "no program may run there (noexec)"),
        ("size=8m,mode=700", "No space left on device"),
        ("ro,mode=700", "Read-only file system"),
        ("mode=777", "others can write there"),
    ],
)
def test_another_folder_is_taken_or_one_line_says_why_not(file: Path, home: Path, options: str, reason: str) -> None:
    """A cache without programs, full, read-only or open to others: another folder is used, or one line says why."""
    before = mounted(options, home)
    there = run(file, env={"HOME": "/nowhere", "XDG_CACHE_HOME": str(home), "TMPDIR": str(home)}, before=before)
    assert (there.returncode, there.stdout, there.stderr) == (0, SAYS, "")
    refused = run(file, env={OWN: str(home)}, before=before)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert f"{home}: {reason}" in refused.stderr
    assert OWN in refused.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_nothing_of_another_user_is_run(file: Path, home: Path) -> None:
    """A folder that another user has put where ours would be is not used."""
    run(file, env={OWN: str(home)})
    os.chown(home, 12345, 12345)
    refused = run(file, env={OWN: str(home)})
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "belongs to another user" in refused.stderr


def test_a_user_whom_the_system_does_not_know(file: Path, home: Path) -> None:
    """Without HOME and without an entry in passwd it starts all the same."""
    words = [
        "--unshare-all",
        "--clearenv",
        "--uid",
        "4711",
        "--gid",
        "4711",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
    ]
    done = run(Path("/exacell"), env={}, before=["bwrap", *words, "--ro-bind", str(file), "/exacell", "--"])
    assert (done.returncode, done.stdout, done.stderr) == (0, SAYS, "")


def test_programs_of_the_host_see_nothing_of_it(file: Path, home: Path) -> None:
    """A program that it starts has the user's environment, LD_PRELOAD too, which exacell itself does not follow."""
    env = {
        "HOME": str(home), "PATH": os.environ["PATH"], "PAGER": "cat", "LD_LIBRARY_PATH": "/of/the/user",
        "LD_PRELOAD": "/no/such/library.so", "PYTHONPATH": "/of/the/user", "PYTHONHOME": "/of/the/user",
        "EXACELL_HOME": str(home / "own"),
    }  # fmt: skip
    assert run(file, "emulator", "start", "t1", env=env).returncode == 0
    try:
        done = run(file, "-r", "t1", "-e", "list cell | env", env=env)
    finally:
        run(file, "emulator", "stop", "t1", env=env)
    assert done.returncode == 0, done.stderr
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    changed = {name for name in {*seen, *env} if seen.get(name) != env.get(name)}
    assert changed <= {"LC_CTYPE", "PWD", "SHLVL", "_"}


def test_files_lists_what_is_unpacked(file: Path, home: Path) -> None:
    """`files` names the folder that the program unpacked itself into."""
    done = run(file, "-o", "json", "files", env={"HOME": str(home), "PATH": os.environ["PATH"]})
    assert f"{home}/.cache/exacell/program/exacell-" in done.stdout, done.stderr


def test_a_damaged_file_says_so(file: Path, home: Path) -> None:
    """A copy with a byte changed or an end missing runs nothing, and names SHA256SUMS."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    copy = home / "copy"
    for content in (bytes(data), bytes(data[: len(data) // 2])):
        copy.write_bytes(content)
        copy.chmod(0o755)
        done = run(copy, env={OWN: str(home / "program")})
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1


def test_nothing_inside_is_under_the_gpl(file: Path, home: Path) -> None:
    """No library under the GPL is inside, and each part's licence and source is named."""
    run(file, env={OWN: str(home)})
    names = {path.name for path in unpacked(home).rglob("*")}
    assert not [
        name for name in names if name.startswith(("readline", "libreadline", "_gdbm", "_dbm", "libgdbm", "libdb"))
    ]
    contents = (unpacked(home) / "licences/CONTENTS").read_text()
    assert set(re.findall(r"^debian-[\w.+-]+(?=:)", contents, re.MULTILINE)) <= names
    assert "debian-libc6" in contents
    assert "apt-get source glibc" in contents
