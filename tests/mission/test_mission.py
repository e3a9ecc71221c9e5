"""The mission's table, whole (README.md beside it)."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.support.mission import CODES, DESK, KERNEL, LINES, RACKS


def test_only_a_user_a_device_and_a_parameter_are_replaced() -> None:
    """No line stands otherwise than it was printed, but for a user, a device and $1, and a line says which."""
    for line in LINES:
        for old in line.replaced:
            assert old in ("userid", "$1") or re.fullmatch(r"(/dev/)?sd[a-z]+", old), line.name
            assert old in line.line, line.name


def test_the_table_is_whole() -> None:
    """Each line says how it is given and what must come; what is expected to fail names its issue and the reason."""
    assert not [name for name, times in Counter(line.name for line in LINES).items() if times > 1]
    for line in LINES:
        assert line.comes in CODES and line.rack in {*RACKS, KERNEL, DESK}, line.name
        assert bool(line.fails) == bool(line.why) and line.fails in (0, 30, 32, 33), line.name
        # At the prompt there is no exit code: what must not be shown says nothing of what was.
        coded = line.never and line.given != "prompt"
        assert line.says or coded or line.after or line.type or line.fails, f"{line.name}: nothing tells what must come"


def test_each_kind_of_rack_has_its_module() -> None:
    """No line is left out: each kind of rack that the table names is that of one module, and no two modules start the same."""
    modules = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_mission_*.py")]
    kinds = [found[1] for text in modules if (found := re.search(r"^RACK = (.+)$", text, re.MULTILINE))]
    named = [
        "KERNEL" if rack == KERNEL else "DESK" if rack == DESK else f'"{rack}"'
        for rack in {line.rack for line in LINES}
    ]
    assert sorted(kinds) == sorted(named) and len(modules) == len(kinds)
