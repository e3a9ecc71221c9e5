"""The short import of fabric leaves behind what the long one does."""

from __future__ import annotations

import subprocess
import sys

PUT_OFF = (
    *("unittest.mock", "asyncio", "importlib.metadata", "invoke.vendor.yaml.reader"),
    *("decorator", "invoke.program", "invoke.loader", "fabric.executor", "fabric.tasks"),
)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LEAN = "import sys; from exacell.transport.ssh.fabric_import import import_fabric; import_fabric(); "


def test_heavy_modules_are_put_off() -> None:
    """It should import fabric without its test helpers, YAML parser and package metadata."""
    assert python(f"{LEAN}print([m for m in {PUT_OFF!r} if m in sys.modules], 'fabric' in sys.modules)") == "[] True"


def test_everything_still_works() -> None:
    """It should leave fabric, paramiko and invoke as the usual import does: versions, YAML files, mocks."""
    code = (
        "import fabric, invoke, invoke.config, paramiko; print(paramiko.__version__, fabric.__version__, "
        "invoke.config.yaml.safe_load('a: [1, b]'), "
        "invoke.MockContext(run=invoke.Result('out')).run('x').stdout); "
        "from unittest.mock import Mock; import importlib.metadata as m; "
        "print(Mock(return_value=3)(), m.version('fabric'))"
    )
    assert python(LEAN + code) == python(code)


def test_nothing_stays_in_the_way() -> None:
    """It should take its stand-ins and its finder away, and do nothing when fabric is imported already."""
    code = f"before = list(sys.meta_path); {LEAN[12:]} {LEAN[12:]} print(sys.meta_path == before, sys.modules.keys() & "
    assert python(f"import sys; {code}{set(PUT_OFF)!r})") == "True set()"


def test_threads_import_it_once() -> None:
    """It should import once and completely however many threads ask at the same time."""
    code = (
        "import threading; from exacell.transport.ssh.fabric_import import import_fabric; seen = []\n"
        "def work():\n import_fabric()\n import fabric\n seen.append(fabric.Connection)\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(len(seen))"
    )
    assert python(code) == "8"


def test_doors_open_for_everything() -> None:
    """It should leave every name that the packages offer, the same objects as in the modules where they are made."""
    code = (
        "import fabric, invoke, invoke.tasks, fabric.group; "
        "print(sorted(n for n in vars(__import__('fabric.main').main.Config)) != [], invoke.task is invoke.tasks.task, "
        "fabric.ThreadingGroup is fabric.group.ThreadingGroup, invoke.Program.__name__, hasattr(invoke, 'nothing'), "
        "fabric.Connection is fabric.connection.Connection, invoke.exceptions.Exit is invoke.Exit)\n"
        "from invoke import *\nfrom fabric import Group, task\nprint(Group.__name__, invoke.run.__module__)"
    )
    assert python(LEAN + code) == python(code)


def test_it_can_be_switched_off() -> None:
    """With EXACELL_PLAIN_IMPORT in the environment fabric is imported as Python does, with all that it asks for."""
    code = f"import os; os.environ['EXACELL_PLAIN_IMPORT'] = '1'; {LEAN}print('invoke.program' in sys.modules)"
    assert python(code) == "True"
