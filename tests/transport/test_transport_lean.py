"""The short import of fabric leaves behind what the long one does."""

from __future__ import annotations

import subprocess
import sys

PUT_OFF = (
    *("unittest.mock", "asyncio", "importlib.metadata", "invoke.vendor.yaml.reader"),
    *("decorator", "invoke.program", "invoke.loader", "fabric.executor", "fabric.tasks", "nacl"),
)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LEAN = "import sys; from exacell.transport.lean import import_fabric; import_fabric(); "


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
        "import threading; from exacell.transport.lean import import_fabric; seen = []\n"
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


def test_data_classes_are_the_usual_ones_again() -> None:
    """It should leave the standard data classes in their place, and those of cryptography with fields and equality."""
    code = (
        "import dataclasses; from cryptography.hazmat.primitives.serialization import ssh\n"
        "print(type(dataclasses).__name__, [f.name for f in dataclasses.fields(ssh._SSHCipher)], "
        "ssh._SSH_CIPHERS[b'aes256-ctr'] == ssh._SSH_CIPHERS[b'aes256-ctr'], "
        "ssh._SSH_CIPHERS[b'aes256-ctr'] == ssh._SSH_CIPHERS[b'aes256-cbc'])"
    )
    assert python(LEAN + code) == python(code)
