"""The processes of benchmarks/races.py: each is known by a number of ours, since the system gives numbers of processes again."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

SAME_NUMBER = """
import json, os, sys
tell = lambda **row: print(json.dumps(row), flush=True)
first = json.loads(sys.stdin.readline())["number"]
tell(number=first, pid=os.getpid())
tell(number=first, code=2)
second = json.loads(sys.stdin.readline())["number"]
tell(number=second, pid=os.getpid())
third = json.loads(sys.stdin.readline())["number"]
tell(number=second, code=0)
tell(number=third, pid=os.getpid())
sys.stdin.readline()
"""
"""Starts nobody, and says of three processes that they have one and the same number of the system."""


@pytest.fixture
def operators() -> Iterator[Any]:
    """Operators whose processes are exacell's."""
    from races_process import Operators

    found = Operators()
    yield found
    found.close()


def test_a_process_that_has_the_number_of_an_earlier_one_is_another(tmp_path: Path) -> None:
    """The end of a process is never taken for that of a later one to which the system gave the same number."""
    from races_process import Operators

    operators = Operators([sys.executable, "-c", SAME_NUMBER])
    first = operators.start("list cell", tmp_path, tmp_path / "out")
    assert operators.wait(first, 300) == 2
    second = operators.start("list cell", tmp_path, tmp_path / "out")
    assert operators.wait(second, 0) is None
    operators.start("list cell", tmp_path, tmp_path / "out")
    assert operators.wait(second, 300) == 0
    assert operators.wait(first, 0) == 2
    operators.close()


def test_who_has_ended_gets_no_signal(operators: Any, tmp_path: Path) -> None:
    """A signal to a process that has ended reaches nobody and is no error; its text is all there when its end is known."""
    out = tmp_path / "out"
    operator = operators.start("list cell", tmp_path, out)
    assert operators.wait(operator, 300) == 2
    assert "there is no rack t1" in out.read_text()
    assert operator.signal(signal.SIGSTOP) is False
    operators.leave(operator)


def test_who_has_not_ended_is_ended(operators: Any, tmp_path: Path) -> None:
    """A process that is left before it has ended is gone then, even a stopped one."""
    operator = operators.start("list cell", tmp_path, tmp_path / "out")
    operator.signal(signal.SIGSTOP)
    operators.leave(operator)
    assert operators.wait(operator, 0) in (-signal.SIGKILL, 2)
