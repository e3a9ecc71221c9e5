"""Print how soon the first prompt stands and how soon the completion menu follows a key, beside litecli and pgcli.

Run: python benchmarks/prompt.py [rounds]. Each program runs in a pty of 24 by 100 and is watched through a terminal
emulator (pyte), so that what counts is what a person would see. exacell has a rack of 64 cells, 10,000 grid disks and
all metrics known, litecli and pgcli have a database of 10,000 tables with the names of those grid disks. The first
prompt of exacell is also measured with a rack of 14 cells that do not answer. litecli, pgcli and pyte live in a virtual
environment of this script's own; pgcli needs a PostgreSQL server's programs on this host and is left out without them.

A key counts from its write until the line shows it and the menu's first name begins with what is typed. Programs are
measured in turn, so that a drifting machine hits all of them alike. CPU is the process's own time to its first prompt.
"""

from __future__ import annotations

import contextlib
import glob
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path

ROWS, COLUMNS = 24, 100
DISKS = [f"DATA{p}_CD_{n:02d}_exa1cel{c:02d}" for p in range(10) for n in range(16) for c in range(1, 64)][:10_000]
ONLY = "FLASH_FD_00_exa1cel01"
"""The one grid disk that begins so: a shell writes its name at the first Tab."""
NAME = re.compile(r"data\d_cd_\d\d_exa1cel\d\d|\b(?:FL|FC)_[A-Z_]+", re.IGNORECASE)
SLOWEST, REFRESHING = 10.0, 60.0
QUIET, MOST_PIECES = 0.04, 50
PACKAGES = ("pyte", "litecli", "pgcli")
MARK = "EXACELL_BENCHMARK_PYTHON"


def own_python() -> str:
    """Return the interpreter of this script's own virtual environment, which is made when it is missing."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "exacell-benchmarks" / "prompt"
    python = cache / "bin" / "python"
    if not (cache / "bin" / "litecli").exists():
        subprocess.run([sys.executable, "-m", "venv", str(cache)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return str(python)


def as_installed(python: str, folder: Path) -> str:
    """Return the interpreter of a virtual environment with the program ``exacell`` in it; see fanout.installed."""
    code = "import sys; from pathlib import Path; from lab import installed; print(installed(Path(sys.argv[1])))"
    done = subprocess.run(
        [python, "-c", code, str(folder)], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def bytecode(home: Path) -> dict[str, str]:
    """Return the variables that have Python keep what it compiles, whatever the caller's say."""
    return {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(home / "bytecode")}


class Terminal:
    """A program in a pty, seen through a terminal emulator."""

    def __init__(self, argv: list[str], env: dict[str, str], user: str = "") -> None:
        import pyte

        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self._screen_replies()
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, {**os.environ, "TERM": "xterm-256color", **env})
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def _screen_replies(self) -> None:
        self.screen.write_process_input = lambda data: os.write(self.fd, data.encode())

    def wait(self, seen: Callable[[list[str]], bool]) -> float:
        """Return when the output arrived that made ``seen`` true of the screen's rows.

        Output is kept with its time until none comes for a moment and only then shown on the emulated screen, whose own
        milliseconds would else delay the reading of the next piece.
        """
        end = time.perf_counter() + SLOWEST
        while time.perf_counter() < end:
            pieces: list[tuple[float, bytes]] = []
            wait = end - time.perf_counter()
            while len(pieces) < MOST_PIECES and select.select([self.fd], [], [], wait)[0]:
                data = os.read(self.fd, 65536)
                pieces.append((time.perf_counter(), data))
                wait = QUIET
            for at, data in pieces:
                self._stream.feed(data)
                if seen(self.screen.display):
                    for _, rest in pieces[pieces.index((at, data)) + 1 :]:
                        self._stream.feed(rest)
                    return at
        raise TimeoutError("\n".join(row.rstrip() for row in self.screen.display if row.strip()))

    def settle(self, quiet: float = 0.25) -> None:
        """Read until nothing comes any more."""
        while select.select([self.fd], [], [], quiet)[0]:
            try:
                self._stream.feed(os.read(self.fd, 65536))
            except OSError:
                return

    def key(self, text: str) -> float:
        """Write a key and return when."""
        at = time.perf_counter()
        os.write(self.fd, text.encode())
        return at

    @property
    def cpu(self) -> float:
        """Seconds of processor time that the program has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the program."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Program:
    """One program under test: how it is started, what its prompt ends in, and what is typed."""

    def __init__(
        self, name: str, argv: list[str], env: dict[str, str], prompt: str, typed: list[tuple[str, str]]
    ) -> None:
        self.name, self.argv, self.env, self.prompt, self.typed = name, argv, env, prompt, typed
        self.starts: list[float] = []
        self.cpu: list[float] = []
        self.keys: list[float] = []
        self.key_cpu = 0.0

    def measure(self) -> None:
        """Start once, wait for the prompt, and type each line."""
        terminal = Terminal(self.argv, self.env)
        try:
            shown = terminal.wait(lambda rows: any(row.rstrip().endswith(self.prompt) for row in rows))
            self.starts.append(shown - terminal.started)
            self.cpu.append(terminal.cpu)
            if self.typed:
                terminal.settle(1.5)  # What is loaded behind the prompt is there before anybody has read it.
                ready = time.perf_counter() + REFRESHING
                while time.perf_counter() < ready and any("Refreshing" in row for row in terminal.screen.display):
                    terminal.settle(1.0)
                    time.sleep(0.2)
            before, keys = terminal.cpu, len(self.keys) - sum(len(line) for line, _ in self.typed)
            for line, word in self.typed:
                for char in line:
                    terminal.key(char)
                terminal.settle()
                for end in range(1, len(word) + 1):
                    pressed = terminal.key(word[end - 1])
                    self.keys.append(terminal.wait(menu(line + word[:end], word[:end])) - pressed)
                    terminal.settle(0.05)
                terminal.key("\x15")
                terminal.settle()
            self.key_cpu = (terminal.cpu - before) / max(len(self.keys) - keys, 1)
        finally:
            terminal.end()


def menu(line: str, word: str) -> Callable[[list[str]], bool]:
    """Return whether the rows show the typed line, and below it a menu whose first name begins with the word."""

    def seen(rows: list[str]) -> bool:
        typed = [number for number, row in enumerate(rows) if line in row]
        if not typed:
            return False
        names = [found[0] for row in rows[typed[-1] + 1 :] if (found := NAME.search(row))]
        return bool(names) and names[0].lower().startswith(word.lower())

    return seen


def exacell(home: Path, python: str) -> Iterator[Program]:
    """Yield exacell with a large rack that is known well, and with one of 14 cells of which nothing is known."""
    root = str(Path(__file__).parents[1])
    (home / "racks.d").mkdir()
    (home / "ssh_config").write_text("Host *\n HostName 127.0.0.1\n Port 9\n")
    for name, cells in (("big", "exa1cel[01-64]"), ("prod1", "exa1cel[01-14]")):
        (home / "racks.d" / f"{name}.toml").write_text(f'cells = "{cells}"\nssh_config = "{home}/ssh_config"\n')
    learn = (
        "import json, sys; from pathlib import Path\n"
        "from exacell.cellcli.schema import metrics; from exacell.language.registry import Kind\n"
        "from exacell.session.completion.names import NameCache\n"
        "about = {name: f'what {name} counts, as a cell would say it in a phrase' for name in metrics()}\n"
        "NameCache(Path(sys.argv[1])).learn({Kind.GRIDDISK: json.load(sys.stdin), Kind.METRIC: about},\n"
        "    about={Kind.METRIC: about}, whole=True)\n"
    )
    import json

    subprocess.run(
        [python, "-c", learn, str(home / "names" / "big.json")],
        input=json.dumps([*DISKS, ONLY]),
        text=True,
        check=True,
        cwd=root,
    )
    env = {"EXACELL_HOME": str(home), **bytecode(home)}
    typed = [
        ("list griddisk ", "DATA7_CD_0"),
        ("list griddisk where name = ", "DATA3_CD_1"),
        ("list metriccurrent ", "FL_DI"),
    ]
    program = str(Path(python).parent / "exacell")
    yield Program("exacell, 64 cells", [program, "-r", "big"], env, "exacell>", typed)
    yield Program("exacell, 14 cells", [program, "-r", "prod1"], env, "exacell>", [])


def litecli(home: Path) -> Iterator[Program]:
    """Yield litecli on a database of 10,000 tables."""
    path = home / "tables.db"
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for name in DISKS:
            database.execute(f"create table {name} (name text, size integer)")
    program = str(Path(sys.executable).parent / "litecli")
    env = {"XDG_CONFIG_HOME": str(home), "HOME": str(home)}
    typed = [("select * from ", "DATA7_CD_0"), ("select * from ", "DATA3_CD_1")]
    yield Program("litecli", [program, "--auto-vertical-output", str(path)], env, "tables.db>", typed)


def tabs(home: Path, python: str, rounds: int) -> Iterator[tuple[str, list[float], float]]:
    """Yield each shell, the seconds from its Tab until the name stands there, and the seconds of CPU of a call."""
    root = Path(__file__).parents[1]
    program = Path(python).parent / "exacell"
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}", "EXACELL_HOME": str(home), "HOME": str(home)}
    env |= bytecode(home)
    files = root / "completions"
    setups = {
        "bash": (["bash", "--norc", "--noprofile", "-i"], f"PS1='ready$ '; source {files}/exacell.bash"),
        "zsh": (
            ["zsh", "-f", "-i"],
            f"PS1='ready$ '; fpath=({files} $fpath); autoload -Uz compinit; compinit -u -D",
        ),
        "fish": (
            ["fish", "-N", "-i"],
            f"function fish_prompt; echo -n 'ready$ '; end; set -g fish_autosuggestion_enabled 0; "
            f"source {files}/exacell.fish",
        ),
    }
    call = [str(program), "--complete", "bash", "5", "exacell", "-r", "big", "list", "griddisk", "DATA7_CD_0"]
    before = os.times()
    for _ in range(rounds):
        subprocess.run(call, env={**os.environ, **env}, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = (after.children_user + after.children_system - before.children_user - before.children_system) / rounds
    for shell, (argv, setup) in setups.items():
        if shutil.which(shell) is None:
            continue
        terminal, seconds = Terminal(argv, env), []
        try:
            terminal.settle(0.5)
            terminal.key(setup + "\r")
            terminal.wait(lambda rows: any(row.startswith("ready$") for row in rows))
            for number in range(rounds + 1):
                terminal.settle()
                terminal.key(f"exacell -r big list griddisk {ONLY[:4]}")
                terminal.settle()
                pressed = terminal.key("\t")
                wall = terminal.wait(lambda rows: any(ONLY in row for row in rows)) - pressed
                if number:  # the first one loads the shell's own completion
                    seconds.append(wall)
                terminal.key("\x03")
                terminal.settle()
                terminal.key("clear\r")
        finally:
            terminal.end()
        yield shell, seconds, cpu
        cpu = 0.0


@contextlib.contextmanager
def postgres(home: Path) -> Iterator[str]:
    """Start a PostgreSQL server with 10,000 tables; yield its socket's directory, empty when there is no server here."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found:
        yield ""
        return
    data = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    if as_user:
        subprocess.run(["chown", "postgres", str(data)], check=True)

    def run(*words: str) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run([*as_user, *words], check=True, stdout=quiet, stderr=quiet, cwd="/")

    run(f"{found[-1]}/initdb", "-D", f"{data}/d", "-U", "bench", "-A", "trust", "-N")
    options = f"-c listen_addresses= -c unix_socket_directories={data} -c fsync=off -c max_locks_per_transaction=1024"
    run(f"{found[-1]}/pg_ctl", "-D", f"{data}/d", "-w", "-l", f"{data}/log", "-o", options, "start")
    try:
        text = "".join(f"create table {name} (name text, size bigint);\n" for name in DISKS)
        psql = [f"{found[-1]}/psql", "-q", "-h", str(data), "-U", "bench", "postgres"]
        subprocess.run(psql, input=text, text=True, check=True, stdout=subprocess.DEVNULL)
        yield str(data)
    finally:
        run(f"{found[-1]}/pg_ctl", "-D", f"{data}/d", "-m", "immediate", "stop")
        subprocess.run(["rm", "-rf", str(data)], check=True)


def pgcli(home: Path, socket: str) -> Iterator[Program]:
    """Yield pgcli on that server."""
    if not socket:
        print("pgcli: left out, there is no PostgreSQL server on this host")
        return
    program = str(Path(sys.executable).parent / "pgcli")
    env = {"XDG_CONFIG_HOME": str(home), "HOME": str(home), "PGCONNECT_TIMEOUT": "5"}
    typed = [("select * from ", "data7_cd_0"), ("select * from ", "data3_cd_1")]
    yield Program("pgcli", [program, "-h", socket, "-U", "bench", "-d", "postgres"], env, "postgres>", typed)


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # The server ends with the script.
    with tempfile.TemporaryDirectory() as directory:
        homes = [Path(directory) / name for name in ("exacell", "litecli", "pgcli")]
        for home in homes:
            home.mkdir()
        with postgres(homes[2]) as socket:
            python = as_installed(os.environ[MARK], Path(directory) / "venv")
            programs = [*exacell(homes[0], python), *litecli(homes[1]), *pgcli(homes[2], socket)]
            for _ in range(rounds):
                for program in programs:
                    try:
                        program.measure()
                    except TimeoutError as error:
                        print(f"{program.name}: nothing to see within {SLOWEST:.0f}s:\n{error}", file=sys.stderr)
        shells = list(tabs(homes[0], python, rounds * 5))
        load = os.getloadavg()[0]
    print(f"{rounds} rounds, load {load:.1f}; milliseconds")
    print(
        f"{'program':<20}{'first prompt':>14}{'its CPU':>9}{'keys':>6}{'median':>8}{'p95':>7}{'max':>7}{'CPU a key':>11}"
    )
    for program in programs:
        if not program.starts:
            continue
        start, cpu = statistics.median(program.starts) * 1000, statistics.median(program.cpu) * 1000
        print(f"{program.name:<20}{start:>14.0f}{cpu:>9.0f}{len(program.keys):>6}", end="")
        times = sorted(seconds * 1000 for seconds in program.keys)
        if times:
            p95 = times[min(len(times) - 1, int(len(times) * 0.95))]
            print(
                f"{statistics.median(times):>8.1f}{p95:>7.1f}{times[-1]:>7.1f}{program.key_cpu * 1000:>11.1f}", end=""
            )
        print()
    for name, times, cpu in shells:
        told = f"{statistics.median(times) * 1000:.0f}, p95 {sorted(times)[int(len(times) * 0.95)] * 1000:.0f}"
        print(
            f"a Tab in {name}, 10,000 names known: median {told}"
            + (f", CPU of the call {cpu * 1000:.0f}" if cpu else "")
        )


if __name__ == "__main__":
    if MARK in os.environ:
        main()
    else:
        python = own_python()
        os.execve(python, [python, __file__, *sys.argv[1:]], {**os.environ, MARK: sys.executable})
