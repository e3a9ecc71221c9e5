"""What the tests of dcli on emulated racks share: what a call left on the screen, in the caches and in the journal."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from exacell.cli import main

CELLS = "exa1cel01,exa1cel02,exa1cel03"
SHORT = "exa1cel01,exa1cel02"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Dcli = Callable[..., Done]


def caches(home: Path, rack: str) -> list[Any]:
    """What the cells of a rack say about their caches now."""
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        assert main(["-r", rack, "-o", "json", f"on ({CELLS}) list flashcache attributes id, size, status"]) == 0
        return json.loads(sys.stdout.getvalue())
    finally:
        sys.stdout = out


def journalled(home: Path, statement: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The rows of the changes whose statement begins so."""
    if not (home / "journal.db").exists():  # Nothing was journalled so far, and connecting would make an empty file.
        return []
    with sqlite3.connect(home / "journal.db") as connection:
        rows = connection.execute("select change, kind, target, body from entry order by seq").fetchall()
    numbers = {n for n, kind, _, body in rows if kind == "plan" and json.loads(body)["statement"].startswith(statement)}
    return [(kind, target, json.loads(body)) for n, kind, target, body in rows if n in numbers]


BLOG = """\
    cellcli <<!
    drop flashcache;
    create flashcache all;
    """


def flushcache(*, mark: bool = False) -> Path:
    """Write a blog post's flushcache.sh into this directory as it was printed, or with a closing mark of its here-document."""
    path = Path("flushcache.sh")
    path.write_text(dedent(BLOG) + ("!\n" if mark else ""))
    path.chmod(0o755)
    return path
