"""Prove that the tests hold the guards: break each guard's condition, one at a time, and see which breakage is noticed.

    python benchmarks/mutate_guards.py [--jobs=2] [--only=word] [--list]

Each ``if`` of the functions below is negated, made always true and made always false; each ``and``/``or`` loses a side;
``<`` becomes ``<=``; each tuple of checks loses one; each ``needs=``, ``only_if=`` and ``proves=`` is emptied. The mutated
package lives in a temporary directory in front of the real one, and the fast tests run against it. All of it takes 25
minutes on two busy cores; ``--only`` narrows it down to a file or a function. Prints the mutants that no test noticed
and leaves with 1 when there is one that EQUIVALENT does not explain.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FLASHCACHE = ("tests/plan/test_plan_flashcache.py", "tests/engine/test_engine_flash.py")
GRIDDISK = ("tests/plan/test_plan_griddisk.py", "tests/plan/test_plan_flashcache.py")
DISKGROUP = ("tests/plan/test_plan_diskgroup.py", "tests/engine/test_engine_policy.py")
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "plan/guard.py": ((), ("tests/plan/test_plan_guard.py",)),
    "plan/flashcache.py": (
        (
            "flush_refusal",
            "_drop",
            "_create",
            "_rearm",
            "_refuse_room",
            "_refuse_size",
            "applicable",
            "recreate_stages",
        ),
        FLASHCACHE,
    ),
    "plan/griddisk.py": (
        ("refuse_used", "_refuse_names", "_refuse_room", "_free_check", "_drop", "_inactive", "_done", "media_of"),
        GRIDDISK,
    ),
    "plan/facts.py": (("use", "healthy", "caching"), GRIDDISK),
    "plan/diskgroup.py": (("_refuse_few", "_refuse_mismatch", "_existing", "drop_plan", "_create", "_drop"), DISKGROUP),
    "plan/watch.py": (("feed",), ("tests/plan/test_plan_watch.py",)),
    "engine.py": (
        ("run", "_admit", "entering", "_finished", "_judge", "_judge_sql", "_verify", "_stages"),
        ("tests/engine",),
    ),
    "journal.py": (("_refuse_damage", "verify", "caching_off"), ("tests/journal",)),
    "consent.py": ((), ("tests/plan/test_plan_consent.py",)),
    "transport/ssh.py": (
        ("run",),
        ("tests/transport/test_transport_readonly.py", "tests/transport/test_transport_ssh.py"),
    ),
    "transport/hostkeys.py": (("judge", "is_revoked_by"), ("tests/transport/test_transport_hostkeys.py",)),
}
"""File → the functions that are mutated (all when empty), and the tests that have to notice."""

EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "plan/guard.py:guard_plan",
        "without isinstance(statement, Grant) in isinstance(statement, Grant) or statement.object in _HARMLESS",
    ): "GRANT and REVOKE are about ROLE and PRIVILEGE, which are harmless objects anyway; type checkers need the first side",
    (
        "plan/guard.py:_lossy",
        "without {} in needs or {}",
    ): "without needs every cell has a reason, so that none is looked up",
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
    except subprocess.TimeoutExpired:
        return False
    finally:
        target.write_text(original, encoding="utf-8")
    if status not in (0, 1, 2):
        raise RuntimeError(f"pytest ended with {status} for {mutant}")
    return status == 0


def run_tests(folder: Path, tests: tuple[str, ...], timeout: float) -> int:
    """Return the status of pytest over the copy in ``folder``: 0 passed, 1 failed, 2 broken while it was imported."""
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", *tests]
    quiet = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=folder, env=env, timeout=timeout, stdout=quiet, stderr=quiet, check=False
    ).returncode


def prove_copy(folder: Path, timeout: float) -> None:
    """Raise unless the copy is what is imported, and all tests pass on it as it is."""
    env = {**os.environ, "PYTHONPATH": str(folder)}
    show = [sys.executable, "-c", "import exacell; print(exacell.__file__)"]
    found = subprocess.run(show, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout.strip()
    if not found.startswith(str(folder)):
        raise RuntimeError(f"{found} is imported instead of the copy in {folder}")
    tests = tuple(dict.fromkeys(test for _, wanted in TARGETS.values() for test in wanted))
    if run_tests(folder, tests, timeout * len(TARGETS)) != 0:
        raise RuntimeError("the tests do not pass on the unchanged package")


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


def main() -> int:
    options = argparse.ArgumentParser(description="mutate the guards and see which mutants the tests notice")
    options.add_argument("--jobs", type=int, default=2, help="mutants tried at a time")
    options.add_argument("--only", default="", help="only mutants whose description has this word")
    options.add_argument("--list", action="store_true", help="list the mutants, run nothing")
    options.add_argument("--timeout", type=float, default=60.0, help="seconds for the tests of one mutant")
    given = options.parse_args()
    every = [mutant for file in TARGETS for mutant in mutants(file) if given.only in str(mutant)]
    if given.list:
        print("\n".join(map(str, every)))
        return 0
    started, left = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="exacell-mutants-") as scratch:
        folders = [copy_project(Path(scratch) / str(number)) for number in range(given.jobs)]
        prove_copy(folders[0], given.timeout)

        def work(lane: int) -> list[Mutant]:
            found = []
            for mutant in every[lane :: given.jobs]:
                if survives(mutant, folders[lane], given.timeout):
                    found.append(mutant)
                    if mutant.key not in EQUIVALENT:
                        print(f"survived: {mutant}", flush=True)
            return found

        with ThreadPoolExecutor(given.jobs) as pool:
            left = [mutant for found in pool.map(work, range(given.jobs)) for mutant in found]
    unexplained = [mutant for mutant in left if mutant.key not in EQUIVALENT]
    for mutant in left:
        if mutant.key in EQUIVALENT:
            print(f"equivalent: {mutant}: {EQUIVALENT[mutant.key]}")
    print(
        f"{len(every)} mutants, {len(every) - len(left)} noticed, {len(left) - len(unexplained)} equivalent, "
        f"{len(unexplained)} unnoticed, {time.monotonic() - started:.0f}s"
    )
    return 1 if unexplained else 0


if __name__ == "__main__":
    raise SystemExit(main())
