"""A DBA's day on a production rack: what needs not be refused is not."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.opening import open_session
from exacell.session.state import Options
from tests.support.program import InProcess

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "everyday.toml").read_text(encoding="utf-8"))
REFUSED = re.compile(r"is a production rack|is read-only|can't tell what|is refused")


class Owner(TerminalConsole):
    """Somebody who types the rack's name where it is asked for, and says yes."""

    def ask(self, question: str) -> str | None:
        """Type the rack's name."""
        return "prod"

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Say yes."""
        return True


def test_nothing_of_a_day_is_refused(shared: InProcess, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of what a DBA gives a production rack none is refused: reads as it is opened, changes once its name was typed."""
    program = InProcess(tmp_path / "home").with_rack_of(shared)
    folder = program.home / "racks.d"
    (folder / "prod.toml").write_text(f"production = true\n{(folder / 't1.toml').read_text()}")
    names = {name: tmp_path / name for name in ("new", "new2", "cells")}
    names["cells"].write_text("exa1cel01\nexa1cel02\nexa1cel03\n")
    told = io.StringIO()
    console = Owner(err=told)
    session, services = open_session(Options(rack="prod"), console, env=program.env)
    runner = Runner(session, services, console)
    runner.typed = True
    wrong: list[str] = []
    try:
        for group in DATA["group"]:
            if group["mode"] == "rw":
                assert runner.run_text("set mode rw") == 0, told.getvalue()
            for line, words in group["lines"]:
                told.seek(0)
                told.truncate()
                code = int(runner.run_text(line.format(**names) if "{" in line else line))
                said = told.getvalue() + capfd.readouterr().out
                lacks = group.get("lacks", False) and code == 1
                if (code and not lacks) or REFUSED.search(said) or words not in said:
                    wrong.append(f"{line}: exit code {code}: {said[:300]}")
    finally:
        services.close()
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


def test_it_is_a_whole_day() -> None:
    """There are sixty lines and more, none twice."""
    lines = [line for group in DATA["group"] for line, _ in group["lines"]]
    assert len(lines) >= 60 and len(set(lines)) == len(lines)
