"""A rack on a clock that tests turn by hand, and a driver that runs cellcli on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.program import Ask, Out, Pause
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.basics.spool import FileAccess, ReadFile, WriteFile
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.rack.rack import Rack
from exacell.emulator.state.asm_view import AsmDiskView

MORNING = 1_600_000_000.0


class Bench:
    """``wall`` seconds pass only when a test says so, or when a program pauses."""

    def __init__(self, **options: Any) -> None:
        self.wall = MORNING
        spec = RackSpec(**{"name": "t1", **options})
        self.rack = Rack(spec, RackClock(speed=spec.speed, wall=lambda: self.wall))
        self.cell = self.rack.cells["exa1cel01"]
        self.pauses: list[Pause] = []
        self.status: int | None = None

    def pass_time(self, rack_seconds: float) -> None:
        """Let rack time pass, and bring the rack up to it."""
        self.wall += rack_seconds / self.rack.clock.speed
        self.rack.advance()

    def run(
        self,
        *argv: str,
        cell: str = "exa1cel01",
        login: str = "celladmin",
        tty: bool = False,
        stdin: Sequence[str] | None = None,
        read_file: ReadFile | None = None,
        write_file: WriteFile | None = None,
    ) -> str:
        """Return what one run of cellcli shows; on a terminal with prompts and what is typed."""
        program = cellcli(
            self.rack,
            cell,
            login,
            argv,
            tty=tty,
            has_stdin=stdin is not None,
            files=FileAccess(read=read_file, write=write_file),
        )
        shown: list[str] = []
        lines = iter(stdin or ())
        answer: str | None = None
        while True:
            try:
                event = program.send(answer)
            except StopIteration as end:
                self.status = end.value
                return "".join(shown)
            answer = None
            if isinstance(event, Out):
                shown.append(event.text)
            elif isinstance(event, Pause):
                self.pauses.append(event)
                self.wall += event.seconds if event.wall else event.seconds / self.rack.clock.speed
            else:
                assert isinstance(event, Ask)
                answer = next(lines, None)
                if tty:
                    shown.append(event.prompt + (f"{answer}\n" if answer is not None else ""))

    def e(self, statement: str, **options: Any) -> str:
        """Return what ``cellcli -e statement`` prints."""
        return self.run("-e", statement, **options)

    def values(self, statement: str, **options: Any) -> list[list[str]]:
        """Return the columns of what ``cellcli -e statement`` prints."""
        return [[field.strip() for field in line.split("\t")[1:]] for line in self.e(statement, **options).splitlines()]

    def one(self, statement: str, **options: Any) -> str:
        """Return the single value that a statement prints."""
        ((value,),) = self.values(statement, **options)
        return value

    def metric(self, name: str, *, cell: str = "exa1cel01") -> float:
        """Return the raw value of a metric that has one object."""
        text = self.run("-xml", "-e", f"list metriccurrent {name} attributes metricValue", cell=cell)
        return float(text.split("<metricValue>")[1].split("<")[0])

    def flush(self, *, cell: str = "exa1cel01") -> None:
        """Flush a cell's cache to its end."""
        self.e("alter flashcache all flush", cell=cell)


class AsmStub:
    """An ASM that answers what a test puts into ``disks`` and remembers what it was told."""

    def __init__(self, default: AsmDiskView | None = None) -> None:
        self.default = default
        self.disks: dict[tuple[str, str], AsmDiskView] = {}
        self.told: list[tuple[str, str, str]] = []

    def disk(self, cell: str, griddisk: str) -> AsmDiskView | None:
        return self.disks.get((cell, griddisk), self.default)

    def grid_disk_changed(self, cell: str, griddisk: str, what: str) -> None:
        self.told.append((cell, griddisk, what))


IN_DATA = AsmDiskView(
    disk_group="DATA",
    disk_group_type="NORMAL",
    disk_name="DATA_CD_00_EXA1CEL01",
    fail_group="EXA1CEL01",
    mode_status="ONLINE",
    deactivation_outcome="Yes",
    size_bytes=423 << 30,
)
STUCK = replace(IN_DATA, deactivation_outcome="Cannot de-activate due to other offline disks in the diskgroup")
