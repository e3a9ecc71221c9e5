"""Each sentence of what is known about dcli 3.5, at a prompt whose connections stay open: the bytes, the errors, the status."""

from __future__ import annotations

import importlib.util
import io
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from exacell.emulator import control
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.opening import open_session
from exacell.session.state import Options

RACK = "t1"
REFEREES = Path(__file__).parents[2] / "referees"


def script() -> ModuleType:
    """The script that judges a site's own dcli by the same claims."""
    spec = importlib.util.spec_from_file_location("dcli_verdict", REFEREES / "dcli_verdict.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


VERDICT = script()
CLAIMS, FILES = VERDICT.read_claims()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("home")
    (path / "config.toml").write_text(f'[racks.{RACK}]\nopaque = "allow"\n')
    control.start(path, RACK, options={"cells": 3, "dbnodes": 1})
    yield path
    control.stop(path, RACK)


@pytest.fixture(scope="module")
def typed(home: Path) -> Iterator[Callable[[str], tuple[int, str, str]]]:
    """A prompt's runner: takes a line, gives exit code, stdout and stderr."""
    err = io.StringIO()
    console = TerminalConsole(err=err, stdin=io.StringIO())
    session, services = open_session(Options(rack=RACK), console, env={"EXACELL_HOME": str(home)})

    def enter(line: str) -> tuple[int, str, str]:
        out, kept = io.StringIO(), sys.stdout
        err.seek(0)
        err.truncate()
        sys.stdout = out
        try:
            code = Runner(session, services, console, out=out, prefix="").run_text(line)
        finally:
            sys.stdout = kept
        return int(code), out.getvalue(), err.getvalue()

    yield enter
    services.close()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.ref} {claim.says}"[:60])
def test_dcli_does_what_is_known_of_it(
    claim: Any,
    typed: Callable[[str], tuple[int, str, str]],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The claimed command lines leave exactly the claimed stdout, stderr and status, or what is different on purpose."""
    group = tmp_path / "cell_group"
    cells = ("exa1cel01", "exa1cel02", "exa1cel03")
    group.write_text("".join(f"{cell}\n" for cell in cells))
    names = VERDICT.Names(cells=cells, group=str(group))
    VERDICT.make_place(tmp_path, FILES, names)
    for name, value in {"HOME": str(tmp_path), "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.chdir(tmp_path)
    if claim.before:
        code, out, err = typed(f"dcli -c {','.join(cells)} {shlex.quote(names.fill(claim.before))}")
        assert (code, out) == (0, ""), err

    def run(words: Any, stdin: str) -> Any:
        code, out, err = typed(f"dcli {shlex.join(words)}")
        return VERDICT.Left(out, err, code)

    left = VERDICT.carry_out(claim, run, names)
    expected = claim.ours if claim.differs else claim.expected
    assert VERDICT.misses(expected, left, names) == []
