"""Published sessions, retold with our names: the emulated cell prints the same layout for the same state."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cells_bench import IN_DATA, STUCK, AsmStub, Bench

from exacell.cellcli import reply
from exacell.emulator.basics.schema import object_types
from exacell.emulator.metrics.collection import Collection

_TYPED = re.compile(r"(?:CellCLI> |> |(?:Confirm )?password: )(.*)")
"""What somebody typed behind a prompt of a terminal session."""
CAPTURES = sorted((Path(__file__).parents[2] / "data" / "captures").glob("*.txt"))


def _option(text: str) -> tuple[str, str]:
    name, value = text.split("=", 1)
    return name.strip(), value.strip()


def _set_state(bench: Bench, path: str, value: str) -> None:
    *steps, last = path.split("/")
    found: object = bench.cell
    for step in steps:
        found = found[step] if isinstance(found, dict) else getattr(found, step)
    setattr(found, last, json.loads(value))


def _set_metric(bench: Bench, name: str, value: str) -> None:
    metrics = bench.rack.metrics["exa1cel01"]
    last = metrics.collections.last
    assert last is not None
    metrics.collections.put(Collection(last.moment, {**last.values, name: float(value)}, 0, 0))


def _blocks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return the ``$`` statements with the lines expected of them, and ``# pass`` and ``# metric`` between them."""
    blocks: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(("$ ", "# pass:", "# metric:")):
            blocks.append((line, []))
        elif blocks and not line.startswith("# "):
            blocks[-1][1].append(line)
    return blocks


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_capture(path: Path) -> None:
    """The emulator prints a published session byte for byte, given the state that the capture's header describes."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    header = [line[2:].strip() for line in lines if line.startswith("# ")]
    assert header[0].startswith("Source: ")
    options = dict(_option(o) for line in header if line.startswith("rack:") for o in line[5:].split())
    bench = Bench(**options)
    if "asm: stuck" in header:
        bench.rack.asm = AsmStub(STUCK)
    if "asm: data" in header:
        bench.rack.asm = AsmStub(IN_DATA)
    login = next((line[7:] for line in header if line.startswith("login: ")), "celladmin")
    for line in header:
        if line.startswith("set:"):
            _set_state(bench, *_option(line[4:]))
    marker = next((word for word in ("terminal", "banner") if word in header), "")
    if marker:
        session = "".join(lines[lines.index(f"# {marker}\n") + 1 :])
        typed = [match[1] for line in session.splitlines() if (match := _TYPED.match(line)) is not None]
        assert bench.run(*(("-x",) if marker == "terminal" else ()), tty=True, stdin=typed) == session
        return
    for statement, expected in _blocks(lines):
        if statement.startswith("# pass:"):
            bench.pass_time(float(statement[7:]))
        elif statement.startswith("# metric:"):
            _set_metric(bench, *_option(statement[9:]))
        else:
            argv = ["-xml", "-e"] if "xml" in header else ["-e"]
            assert bench.run(*argv, statement[2:].rstrip("\n"), login=login) == "".join(expected)


def test_there_are_enough_of_them() -> None:
    """At least thirty sessions are retold, each with its source."""
    assert len(CAPTURES) >= 30


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_capture_is_read_without_loss(path: Path) -> None:
    """exacell's reader finds every value, message and error that a published session shows, and nothing else."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if any(line in ("# terminal\n", "# banner\n") for line in lines):
        return
    for statement, expected in _blocks(lines):
        if statement.startswith("$ "):
            _read(statement[2:].strip(), "".join(expected))


_TALK = (
    "Dump sequence",
    "Controller read",
    "Lun ",
    "Stopping",
    "Starting",
    "Getting",
    "LUN ",
    "Aggregate",
    "Calibrat",
    "CALIBRATE",
)
"""How lines begin that tell what goes on, and neither success nor failure."""


def _read(statement: str, text: str) -> None:
    words = statement.split()
    if words[0] == "help":
        return
    if words[0] not in ("list", "describe"):
        telling = [line for line in text.splitlines() if not line.startswith(_TALK)]
        assert [str(error) for error in reply.errors(text)] == [li for li in telling if li.startswith("CELL-")]
        done = [line for line in telling if not line.startswith("CELL-") and " not successful" not in line]
        successes = reply.successes(text)
        assert len(successes) == len(done)
        assert all(s.name in line and s.what.split()[-1] in line for s, line in zip(successes, done, strict=True))
        return
    kind = words[1]
    if text.startswith("<?xml"):
        values = [value for record in reply.read_xml(text) for value in record.values()]
        assert values == re.findall(r"<(?!cli|context)[A-Za-z]+>([^<]*)</", text)
    elif words[0] == "describe":
        rows = [[d.name, "modifiable" if d.modifiable else ""] for d in reply.read_describe(text)]
        assert rows == [_fields(line) for line in text.splitlines()]
    elif " detail" in statement:
        records = reply.read_detail(text, kind)
        pairs = [(name, value) for record in records for name, all_of in record.items() for value in all_of.split("\n")]
        shown = [line.split(":", 1)[1] if line.startswith("\t") else line for line in text.splitlines() if line.strip()]
        assert [value for _name, value in pairs] == [value.strip().strip('"') for value in shown]
    else:
        match = re.search(r"attributes (.*?)( where | order |$)", statement)
        found = object_types()[kind.upper()]
        columns = [c.strip() for c in match[1].split(",")] if match else list(found.default_columns)
        values = [list(record.values()) for record in reply.read_columns(text, columns, kind)]
        rows = [_fields(line) for line in text.splitlines()]
        assert values == [row + [""] * (len(columns) - len(row)) for row in rows]


def _fields(line: str) -> list[str]:
    return [field.strip().strip('"') for field in line.split("\t")[1:]]
