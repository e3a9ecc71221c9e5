"""Imports fabric and paramiko without what they load for their own tests, command line and configuration files.

``import fabric`` takes 130 ms, half of it for modules that a connection never uses: unittest.mock (and asyncio with
it) for a class that tests use, a YAML parser for configuration files that we do not read, importlib.metadata for a
version number, a library that copies signatures, and what the packages invoke and fabric offer at their front doors: task
runners, argument parsers. Here each of those is put off to its first use, if there ever is one. Without this module a cold
read of one cell takes 1.35 times as long, one of 14 cells 1.26 times: docs/performance.md. Whoever suspects it sets
``EXACELL_PLAIN_IMPORT`` to anything, and fabric is imported as Python does.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_MOCK = "unittest.mock"
_METADATA = "importlib.metadata"
_DECORATOR = "decorator"
_YAML = "invoke.vendor.yaml"
_OFFERED = {
    "invoke": {
        "Config": "config",
        "Context": "context",
        "Result": "runners",
        "Runner": "runners",
        "pty_size": "terminals",
    },
    "fabric": {"Config": "config", "Connection": "connection"},
}
"""What is asked for at the packages' front doors on the way to a connection, and the module where it is."""
_ONE_AT_A_TIME = threading.Lock()


def import_fabric() -> None:
    """Import fabric, and paramiko with it, in the shortest way; other imports of theirs later find them there."""
    with _ONE_AT_A_TIME:
        if "fabric" in sys.modules:
            return
        if os.environ.get("EXACELL_PLAIN_IMPORT"):
            import fabric.connection

            return
        put_off = _PutOff()
        sys.meta_path.insert(0, put_off)
        try:
            with ExitStack() as stack:
                for name, make in _STAND_INS.items():
                    stack.enter_context(_instead(name, make))
                for package in _OFFERED:
                    _open_door(package)
                import fabric.connection  # noqa: F401
        finally:
            sys.meta_path.remove(put_off)


def _open_door(package: str) -> None:
    """Make ``package`` known without running it: it runs when it is asked for something that is not ``_OFFERED``."""
    spec = PathFinder.find_spec(package) if package not in sys.modules else None
    if spec is None or spec.loader is None:
        return  # It is there already, or it is nowhere: its import will say so.
    loader, module, modules = spec.loader, importlib.util.module_from_spec(spec), _OFFERED[package]

    def ask(name: str) -> object:
        where = modules.get(name)
        if where is not None:
            found: object = getattr(importlib.import_module(f"{package}.{where}"), name)
        elif name.startswith("__") and name != "__version__":
            raise AttributeError(name)  # Only the import system asks for such, to see whether it is there.
        elif PathFinder.find_spec(f"{package}.{name}", list(module.__path__)) is not None:
            found = importlib.import_module(f"{package}.{name}")
        else:
            if module.__dict__.pop("__getattr__", None) is not None:
                loader.exec_module(module)
            found = getattr(module, name)
        return module.__dict__.setdefault(name, found)

    module.__dict__["__getattr__"] = ask
    sys.modules[package] = module


class _PutOff:
    """Finds the YAML parser in a form that is loaded when something of it is first asked for.

    A MetaPathFinder but for its base class, whose module costs more than is saved here.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for the YAML parser alone."""
        spec = PathFinder.find_spec(fullname, path) if fullname == _YAML else None
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


@contextmanager
def _instead(name: str, make: Any) -> Iterator[None]:
    """Have imports of ``name`` find a stand-in for a while, unless the module is loaded already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = make(name)
    try:
        yield
    finally:
        # The real one comes with the next import.
        del sys.modules[name]


def _later_mock(name: str) -> ModuleType:
    """Return a stand-in whose Mock loads the real one when it is called. Source: invoke.context, MockContext."""

    def mock(*args: Any, **kwargs: Any) -> Any:
        return importlib.import_module(name).Mock(*args, **kwargs)

    module = ModuleType(name)
    module.__dict__["Mock"] = mock
    return module


def _wrapping(name: str) -> ModuleType:
    """Return a stand-in whose decorator wraps as functools does. Source: fabric.connection, opens."""

    def decorator(caller: Any) -> Any:
        def decorate(method: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                return caller(method, *args, **kwargs)

            return functools.wraps(method)(call)

        return decorate

    module = ModuleType(name)
    module.__dict__["decorator"] = decorator
    return module


def _version_only(name: str) -> ModuleType:
    """Return a stand-in that reads a version from the name of the folder where pip notes it."""

    def version(package: str) -> str:
        for folder in sys.path:
            for found in os.listdir(folder) if os.path.isdir(folder) else ():
                if found.startswith(f"{package}-") and found.endswith(".dist-info"):
                    return found[len(package) + 1 : -len(".dist-info")]
        del sys.modules[name]
        return str(importlib.import_module(name).version(package))

    module = ModuleType(name)
    module.__dict__["version"] = version
    return module


_STAND_INS = {
    _MOCK: _later_mock,
    _METADATA: _version_only,
    _DECORATOR: _wrapping,
}
