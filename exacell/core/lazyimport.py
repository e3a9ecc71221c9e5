"""Delay the import of modules of the standard library that other modules import but seldom use.

The standard library's modules import each other at their head: data classes import Python's own parser for a signature in a
docstring, paths import URLs, copying files imports two compressors. A process that asks its cells one question needs none of
that, and it was a tenth of the cost of such a process. Here a stand-in takes the place of such a module: attributes of it, and
names that are imported from it, come from the real module. Measured: docs/performance.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

_ASKED_OF_ALL = frozenset({"__file__", "__path__", "__warningregistry__"})
"""Attributes that are read of every module: to find it by its file, to import from it, to silence warnings."""
_PACKAGES = frozenset({"json"})
"""Delayed modules that have submodules, which are found by their ``__path__``."""


def _is_class(value: object) -> bool:
    return isinstance(value, type)


_PUT_OFF: Mapping[str, Mapping[str, Callable[..., object] | None]] = {
    **{name: {} for name in ("bz2", "difflib", "json", "locale", "lzma", "random", "tempfile", "textwrap")},
    "inspect": {"isclass": _is_class},
    "pprint": {"pformat": None},
    "traceback": {"format_exception": None},
}
"""Module → the functions that others import from it by name. None: the first call loads the module; inspect's function is so
small that it is defined here. Source: inspect, isclass.
"""


class Later(ModuleType):
    """Takes the place of a module until one of its attributes is used.

    Args:
        functions: functions that others import from it by name but call later.
    """

    def __init__(self, name: str, functions: Mapping[str, Callable[..., object] | None]) -> None:
        super().__init__(name)
        for function, at_hand in functions.items():
            self.__dict__[function] = at_hand or self._calling(function)

    def __getattr__(self, name: str) -> object:
        if name in _ASKED_OF_ALL and not (name == "__path__" and self.__name__ in _PACKAGES):
            raise AttributeError(name)
        found: object = getattr(self.loaded(), name)
        if callable(found):
            self.__dict__[name] = found  # The next call finds it directly.
        return found

    def loaded(self) -> ModuleType:
        """Import the real module, put it into ``sys.modules`` instead of this one, and return it."""
        module = self.__name__
        if sys.modules.get(module) is self:
            del sys.modules[module]
        __import__(module)
        return sys.modules[module]

    def _calling(self, function: str) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            found: object = getattr(self.loaded(), function)(*args, **kwargs)
            return found

        call.__name__ = call.__qualname__ = function
        return call


def put_off(names: Iterable[str] = _PUT_OFF) -> None:
    """Put stand-ins in place of modules that are not loaded yet; only for a process that runs nothing but exacell."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = Later(name, _PUT_OFF.get(name, {}))


class without:
    """A context in which imports of a module find a stand-in with delayed functions, unless the module is loaded already."""

    def __init__(self, name: str, *functions: str) -> None:
        self._later = Later(name, dict.fromkeys(functions))

    def __enter__(self) -> None:
        sys.modules.setdefault(self._later.__name__, self._later)

    def __exit__(self, *_: object) -> None:
        if sys.modules.get(self._later.__name__) is self._later:
            del sys.modules[self._later.__name__]
