"""What exacell calls a read, run on emulated instances: it changes nothing, and every name in it is found there."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.sql import read_sql

READS = [
    block.partition("\n")[2]
    for block in (Path(__file__).parents[2] / "data/sql/reads.sql").read_text(encoding="ascii").split("%% ")[1:]
]


@pytest.mark.parametrize("text", READS)
def test_a_read_changes_nothing(lab, text) -> None:
    """Every text that is called a read leaves rack, ASM and databases as they were, and its names are known there."""
    before = lab.rack.to_state(), lab.asm.to_state()
    for ran in (lab.sql(text), lab.db(text)):
        assert not {904, 942, 900, 933} & set(ran.codes), ran.out
        assert not any(line.startswith("SP2-") for line in ran.lines), ran.out
    assert (lab.rack.to_state(), lab.asm.to_state()) == before


SOURCES = {
    "v$log": ("status", "group#"),
    "v$log l": ("status", "l.status", "l.group#"),
    "v$logfile f": ("member", "f.member", "f.status"),
    "dual": ("dummy", "dual.dummy"),
    "v$datafile": ("name", "v$datafile.name"),
    "sys.gv_$logfile f": ("f.inst_id", "member"),
    "x": ("x.n", "n", "m"),
}
OTHERS = (
    "name",
    "status",
    "member",
    "dummy",
    "wipe",
    "n",
    "m",
    "l.wipe",
    "x.n",
    "x.name",
    "wipe.n",
    "l.status",
    "v$log.wipe",
)


class _Writer:
    """Writes queries whose names mostly fit what they read."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def query(self, depth: int = 0) -> str:
        """Return a query; below the top it may be read by another."""
        dice = self.dice
        sources = [dice.choice(list(SOURCES)) for _ in range(dice.randint(1, 2))]
        fitting = [name for source in sources for name in SOURCES[source]]
        listed = [
            dice.choice(("*", "l.*", *[f"{self.value(fitting, depth)}{dice.choice(('', ' n', ' as m', ' wipe'))}"] * 6))
            for _ in range(dice.randint(1, 2))
        ]
        text = f"select {', '.join(listed)} from {', '.join(self.source(source, depth) for source in sources)}"
        for clause, often in (("where 1 = nvl({}, 1)", 3), ("group by {}", 7), ("order by {}", 3)):
            if not dice.randrange(often):
                text += f" {clause.format(self.value(fitting, depth))}"
        if depth == 0 and not dice.randrange(4):
            return f"with x as ({self.query(2)}) {text}"
        return text

    def source(self, name: str, depth: int) -> str:
        """Return what stands in FROM for a source."""
        return name if name != "x" or depth > 1 else f"({self.query(depth + 1)}) x"

    def value(self, fitting: list[str], depth: int) -> str:
        """Return a value that is made of names."""
        dice, shape = self.dice, self.dice.randrange(10)
        name = dice.choice(fitting if dice.randrange(7) else OTHERS)
        if shape < 6 or depth > 2:
            return name
        if shape == 6:
            return f"{name} || {self.value(fitting, depth + 1)}"
        if shape == 7:
            return f"max({name})"
        if shape == 8:
            return f"case when {name} is null then 'a' end"
        return f"(select {self.value([*fitting, 'dummy'], depth + 1)} from dual where rownum = 1)"


def test_the_database_finds_every_name_that_is_read(lab) -> None:
    """Of 1,200 queries with names that are columns or none, none that is called a read holds a name which the emulated
    database does not find: such a name could be a function. A tenth at least is read, and as many are not."""
    writer = _Writer(random.Random(16))
    read = 0
    for _ in range(1200):
        query = writer.query()
        try:
            read_sql(f"{query};")
        except UnreadError:
            continue
        read += 1
        ran = lab.db(f"{query};\n")
        assert not {904, 942} & set(ran.codes), (query, ran.out)
    assert 120 < read < 1080
