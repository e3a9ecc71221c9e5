"""Modules of the standard library that others import for what they seldom do, loaded when that is done.

The standard library's modules import each other at their head: data classes import Python's own parser for a signature
in a docstring, paths import URLs, copying files imports two compressors. A process that asks its cells one question
needs none of that, and it was a tenth of what such a process cost. Here a stand-in takes the place of such a module:
what is asked of it, and every name that is imported from it, comes from the real one. Measured: docs/performance.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

_ASKED_OF_ALL = frozenset({"__file__", "__path__", "__warningregistry__"})
"""What is asked of every module there is: to find one by its file, to import from it, to silence warnings."""
_PACKAGES = frozenset({"json"})
"""Those that are put off and have modules of their own, which are looked for in their ``__path__``."""


def _is_class(value: object) -> bool:
    return isinstance(value, type)


_PUT_OFF: Mapping[str, Mapping[str, Callable[..., object] | None]] = {
    **{name: {} for name in ("bz2", "difflib", "json", "locale", "lzma", "random", "tempfile", "textwrap")},
    "inspect": {"isclass": _is_class},
    "pprint": {"pformat": None},
    "traceback": {"format_exception": None},
}
"""The modules, and functions that are imported from them by name: None loads the module when one is called; inspect's
is so small that it is given here. Source: inspect, isclass."""


class Later(ModuleType):
    """Stands for a module until something of it is asked for.

    Args:
        functions: what is imported from it by name only to be called later.
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
            self.__dict__[name] = found  # The next call need not look for it again.
        return found

    def loaded(self) -> ModuleType:
        """Return the real module, which from then on has its place again."""
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
    """Have the modules stood in for that are not loaded yet; only for a process that is this program's own."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = Later(name, _PUT_OFF.get(name, {}))


class without:
    """Within it, imports of a module find a stand-in with late functions, unless the module is loaded already."""

    def __init__(self, name: str, *functions: str) -> None:
        self._later = Later(name, dict.fromkeys(functions))

    def __enter__(self) -> None:
        sys.modules.setdefault(self._later.__name__, self._later)

    def __exit__(self, *_: object) -> None:
        if sys.modules.get(self._later.__name__) is self._later:
            del sys.modules[self._later.__name__]
