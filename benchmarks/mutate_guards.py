"""Prove that the tests hold the guards: break each guard's condition, one at a time, and see which breakage is noticed.

    python benchmarks/mutate_guards.py [--jobs=2] [--only=word] [--list]

Each ``if`` of the functions below is negated, made always true and made always false; each ``and``/``or`` loses a side;
``<`` becomes ``<=``; each tuple of checks loses one; each ``needs=``, ``only_if=`` and ``proves=`` is emptied. The mutated
package lives in a temporary directory in front of the real one, and the fast tests run against it, in forks of a process
that has imported pytest. ``--only`` narrows it down to files or functions. Prints the mutants that no test noticed, a table
by module, and leaves with 1 when there is one that EQUIVALENT does not explain.
"""

from __future__ import annotations

import argparse
import ast
import copy
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

FLASHCACHE = ("tests/plan/test_plan_flashcache.py", "tests/engine/test_engine_flash.py")
GRIDDISK = ("tests/plan/test_plan_griddisk.py", "tests/plan/test_plan_flashcache.py")
GUARD = ("tests/plan/test_plan_guard.py",)
ROLLING = ("tests/plan/test_plan_rolling.py",)
ENGINE = (
    "tests/engine/test_engine_flash.py",
    "tests/engine/test_engine_policy.py",
    "tests/engine/test_engine_rolling.py",
    "tests/engine/test_engine_undo.py",
)
RESUMING = ("tests/engine/test_engine_undo.py", "tests/faults/test_fault_resuming.py")
DISKGROUP = ("tests/plan/test_plan_diskgroup.py", "tests/engine/test_engine_policy.py")
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "plan/guard.py": ((), GUARD),
    "plan/guard_caches.py": ((), GUARD),
    "plan/guard_disks.py": ((), GUARD),
    "plan/guard_steps.py": ((), GUARD),
    "plan/gate.py": (("in_use", "closed", "_other", "_own"), ROLLING),
    "plan/rolling.py": (("why_not", "roll", "_refuse_together", "_refuse_idle", "_waves", "laps"), ROLLING),
    "plan/replay.py": (("overlaps",), ROLLING),
    "plan/availability.py": ((), ("tests/plan/test_plan_availability.py",)),
    "plan/cachemode.py": ((), ("tests/plan/test_plan_availability.py",)),
    "plan/pmem.py": ((), ("tests/plan/test_plan_availability.py",)),
    "plan/rebalance.py": (
        ("resize_griddisk_plan", "_refuse_no_room", "_group", "_refuse_full", "_asm_stage", "_cell_step", "power_plan"),
        ("tests/plan/test_plan_rebalance.py",),
    ),
    "plan/flashcache.py": (
        (
            "flush_refusal",
            "drop_step",
            "create_step",
            "_rearm",
            "_refuse_room",
            "_refuse_size",
            "applicable",
            "recreate_stages",
        ),
        FLASHCACHE,
    ),
    "plan/griddisk.py": (
        ("refuse_used", "_free_check", "_drop", "_inactive"),
        GRIDDISK,
    ),
    "plan/carve.py": (("_refuse_names", "_refuse_room", "_done", "media_of", "_awake"), GRIDDISK),
    "plan/facts.py": (("use", "healthy", "caching"), GRIDDISK),
    "plan/diskgroup.py": (("_refuse_few", "_refuse_mismatch", "_existing", "drop_plan", "_create", "_drop"), DISKGROUP),
    "plan/watch.py": (("feed",), ("tests/plan/test_plan_watch.py",)),
    "engine.py": (
        ("run", "_admit", "_stages", "_lap", "_pass", "_held"),
        ENGINE,
    ),
    "running.py": (("entering", "_elsewhere", "_finished", "finishes"), ENGINE),
    "verdicts.py": (("judge", "judge_sql"), ENGINE),
    "following.py": (("flushes", "proofs"), ENGINE),
    "gatekeeper.py": (("wait", "linger", "_look"), ("tests/engine/test_engine_rolling.py",)),
    "journal.py": (("_refuse_damage", "verify", "caching_off"), ("tests/journal",)),
    "undoing.py": (("_refuse_impossible", "_refuse_moved", "_statements"), RESUMING),
    "settling.py": (("refuse_running", "unsettled", "_look"), RESUMING),
    "resuming.py": (("unfinished", "retry", "newest_to_undo", "_did_something"), RESUMING),
    "consent.py": ((), ("tests/plan/test_plan_consent.py",)),
    "transport/ssh.py": (
        ("run",),
        ("tests/transport/test_transport_readonly.py", "tests/transport/test_transport_ssh.py"),
    ),
    "transport/hostkeys.py": (("judge", "is_revoked_by"), ("tests/transport/test_transport_hostkeys.py",)),
}
"""File → the functions that are mutated (all when empty), and the tests that have to notice."""

KILLED = -9
"""Status of tests that did not come to their end in time: the mutant was noticed, as it would be by whoever waits."""

EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "plan/guard.py:_judged",
        "without isinstance(statement, Grant) in isinstance(statement, Grant) or statement.object in _HARMLESS",
    ): "GRANT and REVOKE are about ROLE and PRIVILEGE, which are harmless objects anyway; type checkers need the first side",
    (
        "plan/guard_steps.py:lossy",
        "without {} in needs or {}",
    ): "without needs every cell has a reason, so that none is looked up",
    (
        "plan/guard_caches.py:_made",
        "without said is None in said is None or not statement.all or (not fact.flash_disks)",
    ): "a size that is not said is read as empty text, which is no size either: the same proof",
    ("engine.py:_stages", "True instead of steps"): "a stage without steps reads, sends and journals nothing",
    (
        "transport/ssh.py:run",
        "without self.rack.fanout in self.rack.fanout or self.settings.fanout",
    ): "no guard: how many cells at a time",
}
"""(file and function, what was done) → why nobody can notice, or need not."""


@dataclass(frozen=True)
class Mutant:
    """One breakage: the file, where, what was done, and the file's new text."""

    file: str
    function: str
    line: int
    what: str
    source: str
    tests: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What EQUIVALENT is asked for; stays the same when lines move."""
        return f"{self.file}:{self.function}", self.what

    def __str__(self) -> str:
        return f"exacell/{self.file}:{self.line} {self.function}: {self.what}"


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may be done to ``node``: a phrase, and the node that stands there instead."""
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        for phrase, new in (
            (f"not ({test})", ast.UnaryOp(op=ast.Not(), operand=node.test)),
            (f"True instead of {test}", ast.Constant(value=True)),
            (f"False instead of {test}", ast.Constant(value=False)),
        ):
            changed = copy.copy(node)
            changed.test = new
            yield phrase, changed
    elif isinstance(node, ast.BoolOp):
        for place, value in enumerate(node.values):
            rest = [v for n, v in enumerate(node.values) if n != place]
            yield (
                f"without {ast.unparse(value)} in {ast.unparse(node)}",
                rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest),
            )
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        swap = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}.get(type(node.ops[0]))
        if swap is not None:
            changed_compare = copy.copy(node)
            changed_compare.ops = [swap()]
            yield f"{ast.unparse(changed_compare)} instead of {ast.unparse(node)}", changed_compare
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
        if any(isinstance(item, ast.Call) and getattr(item.func, "id", "") == "Check" for item in node.elts):
            for place, item in enumerate(node.elts):
                rest_items = [v for n, v in enumerate(node.elts) if n != place]
                yield f"without {ast.unparse(item)[:90]}", ast.Tuple(elts=rest_items, ctx=ast.Load())
    elif isinstance(node, ast.keyword) and node.arg in ("needs", "always", "only_if", "proves"):
        empty = ast.Dict(keys=[], values=[]) if node.arg == "always" else ast.Tuple(elts=[], ctx=ast.Load())
        if ast.unparse(node.value) not in ("()", "{}", "needs"):
            yield (
                f"{node.arg}= is empty instead of {ast.unparse(node.value)[:80]}",
                ast.keyword(arg=node.arg, value=empty),
            )


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node for the old one, every other as it is."""
        return self.new if node is self.old else self.generic_visit(node)


def mutants(file: str) -> Iterator[Mutant]:
    """Yield every breakage of one file."""
    wanted, tests = TARGETS[file]
    tree = ast.parse((ROOT / "exacell" / file).read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or (wanted and function.name not in wanted):
            continue
        for node in ast.walk(function):
            for what, new in changes(node):
                line = getattr(node, "lineno", 0) or getattr(getattr(node, "value", None), "lineno", 0)
                # The tree is copied whole; the node is found again by its place in the walk.
                place = next(n for n, found in enumerate(ast.walk(tree)) if found is node)
                fresh = copy.deepcopy(tree)
                old = next(found for n, found in enumerate(ast.walk(fresh)) if n == place)
                broken = ast.fix_missing_locations(_Replace(old, copy.deepcopy(new)).visit(fresh))
                yield Mutant(file, function.name, line, what, ast.unparse(broken), tests)


def survives(mutant: Mutant, folder: Path, timeout: float) -> bool:
    """Return whether all tests pass with the mutant in place of the real module."""
    target = folder / "exacell" / mutant.file
    original = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    try:
        status = run_tests(folder, mutant.tests, timeout)
    finally:
        target.write_text(original, encoding="utf-8")
    if status not in (0, 1, 2, KILLED):
        raise RuntimeError(f"pytest ended with {status} for {mutant}")
    return status == 0


def run_tests(folder: Path, tests: tuple[str, ...], timeout: float) -> int:
    """Return the status of pytest over the copy in ``folder``: 0 passed, 1 failed, 2 broken while it was imported.

    It runs in a fork of this process, which has imported pytest but nothing of exacell, so that each start is cheap.
    """
    child = os.fork()
    if child == 0:
        os._exit(_in_child(folder, tests))
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return KILLED


def _in_child(folder: Path, tests: tuple[str, ...]) -> int:
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)
    sys.dont_write_bytecode = True
    given = [
        "-q",
        "-x",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-c",
        str(folder / "setup.cfg"),
    ]
    return int(pytest.main([*given, *tests]))


def prove_copy(folder: Path, wanted: Iterable[tuple[str, ...]], timeout: float) -> None:
    """Raise unless the copy is what is imported, and the wanted tests pass on it as it is."""
    env = {**os.environ, "PYTHONPATH": str(folder)}
    show = [sys.executable, "-c", "import exacell; print(exacell.__file__)"]
    found = subprocess.run(show, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout.strip()
    if not found.startswith(str(folder)):
        raise RuntimeError(f"{found} is imported instead of the copy in {folder}")
    subprocess.run([sys.executable, "-m", "compileall", "-q", "exacell", "tests"], cwd=folder, check=True)
    for tests in dict.fromkeys(wanted):
        if run_tests(folder, tests, timeout * 4) != 0:
            raise RuntimeError(f"the tests do not pass on the unchanged package: {' '.join(tests)}")


def copy_project(folder: Path) -> Path:
    """Return a folder with the package, the tests and what pytest reads."""
    for name in ("exacell", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("setup.cfg", "recipes"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)
    return folder


def work(lane: int, jobs: int, only: str, folder: Path, timeout: float) -> list[tuple[str, int, bool]]:
    """Return, for each mutant of one lane, its file, its place among all mutants, and whether no test noticed it."""
    found = []
    for place, mutant in list(enumerate(chosen(only)))[lane::jobs]:
        survived = survives(mutant, folder, timeout)
        found.append((mutant.file, place, survived))
        if survived and mutant.key not in EQUIVALENT:
            print(f"survived: {mutant}", flush=True)
    return found


def chosen(only: str) -> list[Mutant]:
    """Return the mutants whose description has one of the words in ``only``, all when it is empty."""
    words = only.split(",")
    return [mutant for file in TARGETS for mutant in mutants(file) if any(word in str(mutant) for word in words)]


def main() -> int:
    options = argparse.ArgumentParser(description="mutate the guards and see which mutants the tests notice")
    options.add_argument("--jobs", type=int, default=2, help="mutants tried at a time")
    options.add_argument("--only", default="", help="only mutants whose description has one of these words")
    options.add_argument("--list", action="store_true", help="list the mutants, run nothing")
    options.add_argument("--timeout", type=float, default=60.0, help="seconds for the tests of one mutant")
    given = options.parse_args()
    every = chosen(given.only)
    if given.list:
        print("\n".join(map(str, every)))
        return 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="exacell-mutants-") as scratch:
        folders = [copy_project(Path(scratch) / str(number)) for number in range(given.jobs)]
        for folder in folders:
            prove_copy(folder, [mutant.tests for mutant in every] if folder is folders[0] else [], given.timeout)
        with ProcessPoolExecutor(given.jobs, mp_context=multiprocessing.get_context("fork")) as pool:
            lanes = [
                pool.submit(work, lane, given.jobs, given.only, folders[lane], given.timeout)
                for lane in range(given.jobs)
            ]
            ended = [item for lane in lanes for item in lane.result()]
    left = [every[place] for _, place, survived in sorted(ended, key=lambda item: item[1]) if survived]
    unexplained = [mutant for mutant in left if mutant.key not in EQUIVALENT]
    for mutant in left:
        if mutant.key in EQUIVALENT:
            print(f"equivalent: {mutant}: {EQUIVALENT[mutant.key]}")
    print("| module | mutants | noticed | equivalent | unnoticed |\n|--|--:|--:|--:|--:|")
    for file in TARGETS:
        own = [mutant for mutant in every if mutant.file == file]
        lost = [mutant for mutant in left if mutant.file == file]
        odd = [mutant for mutant in lost if mutant.key not in EQUIVALENT]
        if own:
            print(f"| {file} | {len(own)} | {len(own) - len(lost)} | {len(lost) - len(odd)} | {len(odd)} |")
    print(
        f"{len(every)} mutants, {len(every) - len(left)} noticed, {len(left) - len(unexplained)} equivalent, "
        f"{len(unexplained)} unnoticed, {time.monotonic() - started:.0f}s"
    )
    return 1 if unexplained else 0


if __name__ == "__main__":
    raise SystemExit(main())
