"""Find the words to complete with on a rack: from the configuration, exacell's files and learned names; no cell is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from exacell.core.hostgroups import TAKEN
from exacell.core.packaged import PAGES, packaged_files
from exacell.core.paths import Home, at_home
from exacell.language.registry import Kind, Param
from exacell.language.suggestion import Known
from exacell.session.completion.names import NameCache

if TYPE_CHECKING:
    from exacell.core.config import RackConfig
    from exacell.session.completion.kept import KeptRack

_MOST_FILES = 200

RackNames: TypeAlias = "RackConfig | KeptRack"
"""A rack's configuration, or what completion keeps of it: name, cells, groups, database nodes and ASM clusters."""


def name_cache(home: Home, rack: RackNames | None) -> NameCache:
    """Return the names learned from ``rack``; an empty cache without a rack."""
    return NameCache(home.cache_dir / "names" / f"{rack.name if rack else 'none'}.json")


def knowledge(
    home: Home,
    racks: Callable[[], Mapping[str, RackNames]],
    rack: RackNames | None,
    cache: NameCache,
    *,
    release: str = "",
    aliases: Callable[[], Sequence[tuple[str, str]]] = tuple,
) -> Known:
    """Return the words to complete with on ``rack``; a file is read when a name from it is first needed."""

    def names(kind: Kind) -> Sequence[str | tuple[str, str]]:
        match kind:
            case Kind.RACK:
                return tuple(racks())
            case Kind.ALIAS:
                return aliases()
            case Kind.CELL:
                return rack.cells if rack else ()
            case Kind.CELLSET:
                if rack is None:
                    return tuple(f"@{group}" for group in TAKEN)
                groups = (*TAKEN, *rack.groups, *rack.host_groups)
                return (*(f"@{group}" for group in groups), *rack.host_names)
            case Kind.RECIPE:
                from exacell.session.completion.stored_names import recipe_titles

                return recipe_titles(home)
            case Kind.SETTING:
                from exacell.plan.hostsettings import SPEED  # Imported only when a host setting is typed.

                return SPEED
            case Kind.ASM:
                return tuple(rack.asm) if rack else ()
            case Kind.MEASURED:
                from exacell.session.completion.stored_names import stored_names

                stored = stored_names(home, rack.name if rack else "", kind)
                return (*stored, *names(Kind.KEPT))
            case Kind.SNAPSHOT | Kind.KEPT | Kind.PLAN | Kind.BASELINE | Kind.CHANGE | Kind.RUN | Kind.IORM:
                from exacell.session.completion.stored_names import stored_names

                return stored_names(home, rack.name, kind) if rack else ()
        return cache.vocabulary(kind)

    def recipe_params(name: str) -> Sequence[Param]:
        from exacell.recipes.files import recipe_params as params_of

        return params_of(home, name)

    def hosts_of(name: str) -> Sequence[str]:
        named = racks().get(name)
        return (*named.cells, *named.host_names) if named is not None else ()

    return Known(
        names=names,
        recipe_params=recipe_params,
        seen=cache.seen,
        files=files,
        hosts_of=hosts_of,
        pages=lambda: tuple(packaged_files("docs", *PAGES)),
        release=release,
    )


def files(typed: str) -> list[str]:
    """Return the paths that begin with ``typed``, directories with a slash at the end; ``~`` stays as typed."""
    head, slash, part = typed.rpartition("/")
    directory = at_home(head + slash) if slash else Path(".")
    try:
        with os.scandir(directory) as entries:
            found = [
                f"{head}{slash}{entry.name}{'/' if entry.is_dir() else ''}"
                for entry in entries
                if entry.name.startswith(part) and (part or not entry.name.startswith("."))
            ]
    except OSError:
        return []
    return sorted(found)[:_MOST_FILES]
