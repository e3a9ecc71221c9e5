"""A home with emulated racks, and dcli called in process on them."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dcli_bench import Dcli, Done

from exacell.cli import main
from exacell.emulator import control


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a write-through rack wt, a write-back one wb, and two racks that reach cells as if they were real: real those
    of wb, and prod, in production, a cell of wt that nothing else is done on.

    The emulated ones let through what is not read, as a rack may that scripts with dcli were made for.
    """
    path = tmp_path_factory.mktemp("home")
    small = {"cells": 3, "dbnodes": 1}
    control.start(path, "wt", options={**small, "cells": 4, "mode": "writethrough"})
    control.start(path, "wb", options=small)
    config = path / "emulator" / "wb" / "ssh_config"
    text = f'cells = "exa1cel[01-03]"\nssh_config = "{config}"\n'
    (path / "config.toml").write_text("".join(f'[racks.{name}]\nopaque = "allow"\n' for name in ("wt", "wb")))
    (path / "racks.d" / "real.toml").write_text(text)
    (path / "racks.d" / "prod.toml").write_text(
        text.replace("[01-03]", "04").replace("wb", "wt") + "production = true\n"
    )
    yield path
    control.stop(path, "wt")
    control.stop(path, "wb")


@pytest.fixture
def dcli(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dcli:
    """Run ``exacell -r RACK … dcli …`` in a scratch directory that is also HOME."""
    for name, value in {"EXACELL_HOME": str(home), "HOME": str(tmp_path), "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("EXACELL_RACK", raising=False)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def run(*words: str, rack: str = "wb", before: tuple[str, ...] = ()) -> Done:
        code = main(["-r", rack, *before, "dcli", *words])
        shown = capsys.readouterr()
        return Done(code, shown.out, shown.err)

    return run
