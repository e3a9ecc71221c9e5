"""Published procedures as data, and three ways of carrying them out: plain ssh, typed CellCLI at exacell, ``exacell dcli``.

A procedure is a TOML file: ``title``, ``source``, the rack that it needs (``release``, ``model``, ``mode``, ``speed``), and
steps in order. ``{cell}`` is the cell that is worked on, ``{CELL}`` the same in upper case. A step has one of

* ``say``: a CellCLI statement that changes something; ``prints`` has the lines that it prints (as published, or its head);
* ``look``: a CellCLI statement that reads; ``shows`` has its rows, ``all`` the one row that every line of it is;
  ``until = true`` looks again until it is so, as the page's reader is told to;
* ``asm``: a statement for the ASM instance; ``prints`` or ``shows`` as above; what changes something is typed at exacell as
  well;
* ``happens``: a fault or another event of the emulated rack, with its options in ``with``; ``clear`` ends faults.

``at`` says where: ``cell`` (the usual), ``all`` or ``others``; ``{each}`` is each of those cells in turn. ``accept = true``
accepts the loss of data for exacell, where the page takes it on; ``wrong`` has words of the error that the page itself gets:
exacell says it too, before or after the cell.
"""

from __future__ import annotations

import re
import shlex
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import paramiko

from exacell.emulator import control
from tests.support.patience import LONG_S
from tests.support.program import Done, InProcess

FOLDER = Path(__file__).parents[1] / "data" / "procedures"
RACK, NODE = "t1", "exa1db01"
_PATIENCE_S = LONG_S
_AS_SYSASM = "export ORACLE_SID=+ASM1 ORAENV_ASK=NO; . oraenv > /dev/null; sqlplus -S -L '/ as sysasm'"
_SQLPLUS = "set heading off feedback on pagesize 0 linesize 300 colsep '|'"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a procedure, as the file has it; ``place`` is where in the file it stands, from 1 on."""

    place: int
    say: str = ""
    look: str = ""
    asm: str = ""
    happens: str = ""
    clear: str = ""
    at: str = "cell"
    prints: tuple[str, ...] | None = None
    shows: tuple[tuple[str, ...], ...] | None = None
    all: tuple[str, ...] | None = None
    until: bool = False
    accept: bool = False
    wrong: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, place: int, row: dict[str, Any]) -> Step:
        """Return the step of a table of the file."""
        given = dict(row)
        for name in ("prints", "all"):
            given |= {name: tuple(given[name])} if name in given else {}
        if "shows" in given:
            given["shows"] = tuple(tuple(columns) for columns in given["shows"])
        return cls(place=place, options=given.pop("with", {}), **given)

    def on(self, cell: str) -> Step:
        """Return the step with a cell's name in the places of ``{cell}`` and ``{CELL}``."""

        def put(value: Any) -> Any:
            if isinstance(value, str):
                return value.replace("{cell}", cell).replace("{CELL}", cell.upper())
            return tuple(map(put, value)) if isinstance(value, tuple) else value

        return Step(**{name: put(value) for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """A published procedure."""

    name: str
    title: str
    source: tuple[str, ...]
    release: str
    model: str
    mode: str
    speed: int = 600
    steps: tuple[Step, ...]

    @classmethod
    def read(cls, path: Path) -> Procedure:
        """Return the procedure of a file."""
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        steps = tuple(Step.read(place, row) for place, row in enumerate(given.pop("steps"), 1))
        return cls(name=path.stem, source=tuple(given.pop("source")), steps=steps, **given)


class Hosts:
    """Connections of paramiko to the hosts of a rack, as somebody's own program makes them."""

    def __init__(self, ssh_config: Path) -> None:
        self._config = paramiko.SSHConfig.from_path(str(ssh_config))
        self._clients: dict[str, paramiko.SSHClient] = {}

    def run(self, host: str, command: str, stdin: str = "") -> str:
        """Return what a command prints on a host; it must end with status 0."""
        typed, out, err = self._client(host).exec_command(command, timeout=_PATIENCE_S)
        typed.write(stdin)
        typed.channel.shutdown_write()
        text = out.read().decode()
        assert out.channel.recv_exit_status() == 0, (command, text, err.read())
        return text

    def _client(self, host: str) -> paramiko.SSHClient:
        if host not in self._clients:
            found = self._config.lookup(host)
            client = self._clients[host] = paramiko.SSHClient()
            client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
            client.connect(
                found["hostname"],
                port=int(found["port"]),
                username=found["user"],
                key_filename=found["identityfile"][0],
                allow_agent=False,
                look_for_keys=False,
            )
        return self._clients[host]

    def close(self) -> None:
        """End the connections."""
        for client in self._clients.values():
            client.close()


class Way(Protocol):
    """One way of giving statements to cells; ``change`` returns the lines by cell, None where the way shows its own."""

    def read(self, cells: Sequence[str], statement: str) -> dict[str, list[list[str]]]: ...

    def change(self, cells: Sequence[str], step: Step) -> dict[str, list[str]] | None: ...


class Ssh:
    """``cellcli -e`` by plain ssh."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts

    def read(self, cells: Sequence[str], statement: str) -> dict[str, list[list[str]]]:
        return {cell: [_columns(line) for line in self._lines(cell, statement)] for cell in cells}

    def change(self, cells: Sequence[str], step: Step) -> dict[str, list[str]] | None:
        return {cell: self._lines(cell, step.say) for cell in cells}

    def _lines(self, cell: str, statement: str) -> list[str]:
        lines = self.hosts.run(cell, f"cellcli -e {shlex.quote(statement)}").splitlines()
        return [line.strip() for line in lines if line.strip()]


class Typed:
    """CellCLI typed at exacell, which plans, guards and verifies it."""

    def __init__(self, program: InProcess) -> None:
        self.program = program

    def read(self, cells: Sequence[str], statement: str) -> dict[str, list[list[str]]]:
        done = self._run("-o", "raw", cells=cells, statement=statement)
        if len(cells) > 1:
            return _by_cell(cells, done)
        assert done.code == 0, done
        return {cells[0]: [_columns(line) for line in done.out.splitlines() if line.strip()]}

    def change(self, cells: Sequence[str], step: Step) -> dict[str, list[str]] | None:
        done = self._run(*self._options(cells, step), cells=cells, statement=step.say)
        if step.wrong:
            assert done.code in (1, 2) and step.wrong in done.out + done.err, done
            return None
        assert done.code == 0, done
        return None

    def _run(self, *options: str, cells: Sequence[str], statement: str) -> Done:
        return self.program("-r", RACK, *options, f"on {','.join(cells)} {statement}")

    @staticmethod
    def _options(cells: Sequence[str], step: Step) -> tuple[str, ...]:
        return ("-y", *(f"--accept-data-loss={cell}" for cell in cells if step.accept))


class Dcli:
    """``exacell dcli`` with the command line that a page has."""

    def __init__(self, program: InProcess) -> None:
        self.program = program

    def read(self, cells: Sequence[str], statement: str) -> dict[str, list[list[str]]]:
        return _by_cell(cells, self._run(cells=cells, statement=statement))

    def change(self, cells: Sequence[str], step: Step) -> dict[str, list[str]] | None:
        done = self._run(*Typed._options(cells, step), cells=cells, statement=step.say)
        if step.wrong:  # A cell's own error ends dcli with 0, as the real one: what it printed counts.
            assert step.wrong in done.out + done.err, done
            return None
        assert done.code == 0, done
        return {cell: [line for said, line in _said(done) if said == cell and line] for cell in cells}

    def _run(self, *options: str, cells: Sequence[str], statement: str) -> Done:
        command = f"cellcli -e {shlex.quote(statement)}"
        return self.program("-r", RACK, *options, "dcli", "-c", ",".join(cells), "-l", "celladmin", command)


def _said(done: Done) -> Iterator[tuple[str, str]]:
    """Yield the cell and the rest of each line of ``cell: line``."""
    for line in done.out.splitlines():
        cell, _, rest = line.partition(":")
        yield cell, rest.strip()


def _by_cell(cells: Sequence[str], done: Done) -> dict[str, list[list[str]]]:
    assert done.code == 0, done
    return {cell: [_columns(line) for said, line in _said(done) if said == cell and line] for cell in cells}


def _columns(line: str) -> list[str]:
    """Return a line's columns, without empty ones at its end: dcli cuts them off."""
    return [column.strip() for column in line.strip().split("\t")]


class Run:
    """One procedure on a rack of its own."""

    def __init__(self, procedure: Procedure, program: InProcess, hosts: Hosts, info: control.RackInfo) -> None:
        self.procedure, self.program, self.hosts, self.info = procedure, program, hosts, info
        self.ways: dict[str, Way] = {"ssh": Ssh(hosts), "typed": Typed(program), "dcli": Dcli(program)}

    def carry_out(self, way: str, cell: str) -> None:
        """Do every step on a cell, and compare what it prints and shows with what the page has."""
        for step in self.procedure.steps:
            try:
                self._step(self.ways[way], step.on(cell), cell)
            except AssertionError as error:
                raise AssertionError(f"{self.procedure.name}, step {step.place} by {way}: {error}") from error

    def _step(self, way: Way, step: Step, cell: str) -> None:
        cells = {"cell": [cell], "all": list(self.info.cells)}.get(step.at, [c for c in self.info.cells if c != cell])
        if step.happens:
            control.fault(self.program.home, RACK, cells, step.happens, **step.options)
        elif step.clear:
            control.clear_faults(self.program.home, RACK, cells, step.clear)
        elif step.asm:
            typed = isinstance(way, Typed) and not step.asm.startswith("select")
            self._wait(step, lambda: self._typed_asm(step) if typed else self._asm(step))
        elif step.look:
            self._wait(step, lambda: [_problem(step, rows) for rows in way.read(cells, step.look).values()])
        elif "{each}" in step.say:
            for one in cells:
                _change(way, [one], replace(step, say=step.say.replace("{each}", one)))
        else:
            _change(way, cells, step)

    def _typed_asm(self, step: Step) -> list[str]:
        """Type what changes ASM at exacell, which plans it; where the page gets an error exacell foresees it by its code."""
        done = self.program("-r", RACK, "-y", f'sql asm "{step.asm}"')
        codes = re.findall(r"ORA-\d+", (step.prints or ("",))[-1])
        good = done.code == 2 and codes[0] in done.err if codes else done.code == 0
        return [] if good else [str(done)]

    def _asm(self, step: Step) -> list[str]:
        text = self.hosts.run(NODE, _AS_SYSASM, f"{_SQLPLUS}\n{step.asm};\n")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if step.prints is not None:
            return [] if lines[: len(step.prints)] == list(step.prints) else [f"{lines}"]
        rows = [] if lines == ["no rows selected"] else [line for line in lines if not line.endswith("selected.")]
        return [_problem(step, [[column.strip() for column in row.split("|")] for row in rows])]

    def _wait(self, step: Step, look: Any) -> None:
        """Look once, or until it is as the page has it."""
        deadline = time.monotonic() + _PATIENCE_S
        while any(problems := look()) and step.until and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(problems), problems


def _change(way: Way, cells: Sequence[str], step: Step) -> None:
    """Carry out a step that changes cells, and compare what they print."""
    said = way.change(cells, step)
    for cell in cells if said is not None else ():
        expected = [line.replace("{each}", cell) for line in step.prints or ()]
        assert said is not None and said[cell][: len(expected)] == expected, f"{step.say}: {said}"


def _problem(step: Step, rows: Sequence[Sequence[str]]) -> str:
    """Return what is not as published, empty when all is."""
    found, what = [tuple(row) for row in rows], step.look or step.asm
    if step.all is not None:
        return "" if found and set(found) == {_cut(step.all)} else f"{what}: {sorted(set(found))} and not {step.all}"
    if step.shows is not None:
        shows = [_cut(row) for row in step.shows]
        return "" if found == shows else f"{what}: {found} and not {shows}"
    return ""


def _cut(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row without empty columns at its end."""
    while row and not row[-1]:
        row = row[:-1]
    return row


@contextmanager
def running(procedure: Procedure, home: Path) -> Iterator[Run]:
    """Give a procedure's rack, which ends with the block."""
    program = InProcess(home)
    options = {
        "release": procedure.release,
        "model": procedure.model,
        "mode": procedure.mode,
        "dbnodes": 1,
        "speed": procedure.speed,
    }
    info, _already = control.start(home, RACK, options=options)
    hosts = Hosts(info.ssh_config)
    try:
        yield Run(procedure, program, hosts, info)
    finally:
        hosts.close()
        control.stop(home, RACK)


def procedures() -> list[Procedure]:
    """Return all procedures, by name."""
    return [Procedure.read(path) for path in sorted(FOLDER.glob("*.toml"))]
