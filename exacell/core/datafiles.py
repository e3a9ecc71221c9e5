"""The tables that lie in ``data/`` beside a module, read as the module was: from a folder or from a zip."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class _Loader(Protocol):
    def get_data(self, path: str) -> bytes:
        """Return a file's content. Source: Python documentation, importlib.abc.ResourceLoader."""


def data_beside(spec: ModuleSpec, name: str) -> str:
    """Return the text of ``data/name`` beside the module of that ``__spec__``.

    Raises:
        OSError: there is no such file.
    """
    loader = cast("_Loader", spec.loader)
    return loader.get_data(os.path.join(os.path.dirname(str(spec.origin)), "data", name)).decode("utf-8")
