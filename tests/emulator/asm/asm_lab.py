"""A rack with a hand-driven clock, and its programs run to their end in process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exacell.emulator.asm.default import new_asm
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.program import Ask, Out, Pause, Program
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.basics.spool import FileAccess
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.programs.dbnode import program
from exacell.emulator.rack.rack import Rack

GRID_HOME = "/u01/app/19.0.0.0/grid"
DB_HOME = "/u01/app/oracle/product/19.0.0.0/dbhome_1"


@dataclass(frozen=True)
class Ran:
    """What a program did."""

    out: str
    err: str
    status: int

    @property
    def codes(self) -> list[int]:
        """The ORA codes in the output, in order."""
        return [int(line[4:9]) for line in self.out.splitlines() if line.startswith("ORA-")]

    @property
    def lines(self) -> list[str]:
        """The lines that hold something."""
        return [line for line in self.out.splitlines() if line.strip()]


@dataclass
class Lab:
    """One rack. ``seconds`` is wall time; the rack runs 60 times as fast. ``files`` are the scripts and spool files."""

    spec: Mapping[str, object] = field(default_factory=dict)
    seconds: float = 1.7e9
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        clock = RackClock(speed=60, wall=lambda: self.seconds)
        self.rack = Rack(RackSpec(name="t1", **self.spec), clock)  # type: ignore[arg-type]
        self.asm = new_asm(self.rack)

    def pass_time(self, rack_seconds: float) -> None:
        """Let the rack's clock go on."""
        self.seconds += rack_seconds / 60

    def drive(self, running: Program, text: str = "") -> Ran:
        """Run a program to its end with ``text`` as its input."""
        lines = text.splitlines()
        out, err, answer = "", "", None
        while True:
            try:
                event = running.send(answer)
            except StopIteration as end:
                return Ran(out, err, end.value)
            answer = None
            if isinstance(event, Out):
                out, err = (out, err + event.text) if event.err else (out + event.text, err)
            elif isinstance(event, Pause):
                self.pass_time(max(1.0, event.seconds))
            elif isinstance(event, Ask):
                answer = lines.pop(0) if lines else None

    def sql(
        self,
        text: str,
        *argv: str,
        node: int = 1,
        login: str = "grid",
        sid: str | None = None,
        home: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run sqlplus; by default ``-S -L "/ as sysasm"`` on the ASM instance of a node."""
        name = sid or f"+ASM{node}"
        given = {"ORACLE_SID": name, "ORACLE_HOME": home or (GRID_HOME if name.startswith("+") else DB_HOME)}
        arguments = list(argv) or ["-S", "-L", "/ as sysasm"]
        host = self.rack.dbnodes[node - 1]
        running = program(
            "sqlplus",
            self.rack,
            host,
            login,
            arguments,
            env=given if env is None else env,
            tty=False,
            files=FileAccess(read=self.files.get, write=self._write),
        )
        return self.drive(running, text)

    def _write(self, name: str, text: str, append: bool) -> bool:
        if name.startswith("/no"):
            return False
        self.files[name] = (self.files.get(name, "") if append else "") + text
        return True

    def rows(self, query: str, **options: object) -> list[str]:
        """Return the lines of a query with neither headings nor counts."""
        bare = "set feedback off heading off pagesize 0 linesize 32767 tab off numwidth 20\n"
        return self.sql(f"{bare}{query};\n", **options).lines  # type: ignore[arg-type]

    def db(self, text: str, *, node: int = 1, database: str = "SPOT") -> Ran:
        """Run sqlplus as oracle on a database's instance."""
        return self.sql(text, "-S", "-L", "/ as sysdba", node=node, login="oracle", sid=f"{database}{node}")

    def run(self, name: str, *argv: str, node: int = 1, login: str = "grid", text: str = "") -> Ran:
        """Run another program of a database node."""
        env = {"ORACLE_SID": f"+ASM{node}", "ORACLE_HOME": GRID_HOME}
        host = self.rack.dbnodes[node - 1]
        return self.drive(program(name, self.rack, host, login, argv, env=env, tty=False), text)

    def cell(self, statement: str, number: int = 1) -> Ran:
        """Run one CellCLI statement on a cell."""
        host = list(self.rack.cells)[number - 1]
        return self.drive(cellcli(self.rack, host, "celladmin", ["-e", statement], tty=False, has_stdin=False))

    def carve(self, prefix: str = "ssd") -> None:
        """Make 4912M flash grid disks on every flash cell disk of every cell."""
        for number in range(1, len(self.rack.cells) + 1):
            for statement in (
                "alter flashcache all flush nowait",
                "wait",
                "drop flashcache",
                "create flashcache all size=288g",
                f"create griddisk all flashdisk prefix={prefix}",
            ):
                if statement == "wait":
                    self.pass_time(600)
                else:
                    assert "CELL-" not in self.cell(statement, number).out

    def create(self, name: str = "ssd", prefix: str = "ssd", **options: str) -> Ran:
        """Create a disk group over carved grid disks."""
        redundancy = options.get("redundancy", "normal")
        attributes = options.get("attributes", "attribute 'au_size'='4M'")
        return self.sql(f"create diskgroup {name} {redundancy} redundancy disk 'o/*/{prefix}_*' {attributes};\n")
