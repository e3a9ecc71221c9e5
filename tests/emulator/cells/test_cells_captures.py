"""Published sessions, retold with our names: the emulated cell prints the same layout for the same state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cells_bench import STUCK, AsmStub, Bench

from exacell.emulator.collection import Collection

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
    last = metrics.collections[-1]
    metrics.collections[-1] = Collection(last.moment, {**last.values, name: float(value)}, 0, 0)


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
    for line in header:
        if line.startswith("set:"):
            _set_state(bench, *_option(line[4:]))
    if "terminal" in header:
        session = "".join(lines[lines.index("# terminal\n") + 1 :])
        typed = [
            line.split("> ", 1)[1].rstrip("\n") for line in session.splitlines() if line.startswith(("CellCLI> ", "> "))
        ]
        assert bench.run("-x", tty=True, stdin=typed) == session
        return
    for statement, expected in _blocks(lines):
        if statement.startswith("# pass:"):
            bench.pass_time(float(statement[7:]))
        elif statement.startswith("# metric:"):
            _set_metric(bench, *_option(statement[9:]))
        else:
            argv = ["-xml", "-e"] if "xml" in header else ["-e"]
            assert bench.run(*argv, statement[2:].rstrip("\n")) == "".join(expected)
