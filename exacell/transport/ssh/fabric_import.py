"""Import fabric and paramiko without modules that they load only for tests, command line and configuration files.

``import fabric`` takes 130 ms, half of it for modules that a connection never uses: unittest.mock (and asyncio with
it) for a class that tests use, a YAML parser for configuration files that exacell does not read, importlib.metadata for a
version number, a library that copies signatures, and what the packages invoke and fabric export at the top level: task
runners, argument parsers. This module delays each of them to its first use, if there is one. Without it a cold
read of one cell takes 1.35 times as long, one of 14 cells 1.26 times: docs/performance.md. If it causes a problem, set
``EXACELL_PLAIN_IMPORT`` to any value, and fabric is imported as usual.
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
"""Top-level names that a connection needs, and the module that holds each."""
_ONE_AT_A_TIME = threading.Lock()


def import_fabric() -> None:
    """Import fabric and paramiko in the fastest way; later imports of them find them loaded."""
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
    """Register ``package`` without running it: it runs when a name that is not in ``_OFFERED`` is asked for."""
    spec = PathFinder.find_spec(package) if package not in sys.modules else None
    if spec is None or spec.loader is None:
        return  # It is loaded already, or missing: then its import will raise an error.
    loader, module, modules = spec.loader, importlib.util.module_from_spec(spec), _OFFERED[package]

    def ask(name: str) -> object:
        where = modules.get(name)
        if where is not None:
            found: object = getattr(importlib.import_module(f"{package}.{where}"), name)
        elif name.startswith("__") and name != "__version__":
            raise AttributeError(name)  # Only the import system asks for such names, to test whether they exist.
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
    """Finds the YAML parser as a module that is loaded only when a name of it is first used.

    It acts as a MetaPathFinder without that base class, whose import would cost more than is saved here.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for the YAML parser, None for all other modules."""
        spec = PathFinder.find_spec(fullname, path) if fullname == _YAML else None
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


@contextmanager
def _instead(name: str, make: Any) -> Iterator[None]:
    """Inside the block, imports of ``name`` get a stand-in, unless the module is loaded already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = make(name)
    try:
        yield
    finally:
        # The next import loads the real module.
        del sys.modules[name]


def _later_mock(name: str) -> ModuleType:
    """Return a stand-in whose Mock loads the real module when it is called. Source: invoke.context, MockContext."""

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
    """Return a stand-in that reads a version from the name of pip's folder for the package."""

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
