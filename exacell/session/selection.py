"""Select the cells of a rack that statements go to: all, those of `use`, or ON's cells or hosts for one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from exacell.core.cellset import CellSet, fold, known_as
from exacell.core.config import RackConfig
from exacell.core.errors import CellSetError
from exacell.core.hostgroups import TAKEN
from exacell.core.meant import ask_for, closest


class Selection:
    """The selected cells of one rack, how the last change ended on them, and which of them did not answer.

    Args:
        cells: the cells selected from the start; empty means all.
        changed: returns how the rack's newest change ended: ``ok`` and ``failed`` → names, also of database nodes.
    """

    def __init__(
        self,
        rack: RackConfig,
        cells: Iterable[str] = (),
        *,
        changed: Callable[[], Mapping[str, Iterable[str]]] = dict,
    ) -> None:
        chosen = CellSet(cells)
        self._rack = rack
        self._changed = changed
        self._used: CellSet | None = chosen if len(chosen) else None
        self._on: CellSet | None = None
        self._hosts = CellSet()
        self._down = CellSet()

    @property
    def now(self) -> CellSet:
        """Return ON's cells, else those of `use`, else all of the rack."""
        if self._on is not None:
            return self._on
        return self._used if self._used is not None else CellSet(self._rack.cells)

    @property
    def limit(self) -> CellSet | None:
        """Return the cells to which ON limits the present statement; None without ON."""
        return self._on

    @property
    def hosts(self) -> CellSet:
        """Return the hosts to which ON sends the present statement; empty if it goes to cells."""
        return self._hosts

    def use(self, text: str) -> CellSet:
        """Select cells for all later statements; ``+set``, ``-set`` and ``not set`` change the present selection.

        Raises:
            CellSetError: a cell is not in the rack, or no cell is left.
        """
        text = text.strip()
        if text in ("@all", "all", "*"):
            self._used = None
            return self.now
        if text.startswith("+"):
            wanted = self.now | self.resolve(text[1:])
        elif text.startswith("-"):
            wanted = self.now - self.resolve(text[1:])
        elif text.lower().startswith("not "):
            wanted = self.now - self.resolve(text[4:])
        else:
            wanted = self.resolve(text)
        if not len(wanted):
            raise CellSetError(f"'{text}' leaves no cell", hint="`use @all` selects all cells again")
        self._used = wanted
        return wanted

    @contextmanager
    def using(self, text: str) -> Iterator[None]:
        """Select cells as :meth:`use` does, until the block is left.

        Raises:
            CellSetError: see :meth:`use`.
        """
        before = self._used
        self.use(text or "@all")
        try:
            yield
        finally:
            self._used = before

    @contextmanager
    def on(self, text: str) -> Iterator[None]:
        """Limit the selection to ``text``, cells or hosts, for one statement; an empty text changes nothing.

        Raises:
            CellSetError: a cell or host is not in the rack, ``text`` names none, or it names both cells and hosts.
        """
        if not text:
            yield
            return
        wanted = self.targets(text)
        if not len(wanted):
            raise CellSetError(f"on {text}: no cell matches now", hint=_EMPTY.get(text.strip().lower(), ""))
        hosts = wanted & CellSet(self._rack.host_names)
        cells = wanted - hosts
        if len(hosts) and len(cells):
            raise CellSetError(
                f"on {text}: there are cells ({fold(cells)}) and hosts ({fold(hosts)}) in it; a statement goes "
                f"either to cells or to hosts",
                hint=f"type it twice: `on {fold(cells)} …`, then `on {fold(hosts)} …`",
            )
        before = self._on, self._hosts
        self._on, self._hosts = cells, hosts
        try:
            yield
        finally:
            self._on, self._hosts = before

    def resolve(self, text: str) -> CellSet:
        """Return the cells that ``text`` names; see :meth:`targets`.

        Raises:
            CellSetError: as there, or if it names a host.
        """
        wanted = self._known(text, told=self._rack.cells)
        hosts = wanted & CellSet(self._rack.host_names)
        if len(hosts):
            raise CellSetError(
                f"{fold(hosts)} {'is not a cell' if len(hosts) == 1 else 'are not cells'}, and this needs cells",
                part=text,
                hint=f"for one statement, type for example `on {fold(hosts)} sh uptime`",
            )
        return wanted

    def targets(self, text: str) -> CellSet:
        """Return the cells and hosts that ``text`` names; the end of a name is enough if only one name has this end.

        ``@down`` are the cells that gave no answer, or an error, when they were last asked, ``@up`` the others. ``@failed``
        are the cells that are down and those on which the rack's newest change is not complete, ``@ok`` those on which it is;
        without a change, ``@ok`` are all cells that are up.

        Raises:
            CellSetError: a cell or host is not in the rack, or a group is unknown.
        """
        return self._known(text, told=(*self._rack.cells, *self._rack.host_names))

    def _known(self, text: str, *, told: Sequence[str]) -> CellSet:
        """Return the cells and hosts that ``text`` names; the error for an unknown name lists the names in ``told``."""
        known = (*self._rack.cells, *self._rack.host_names)
        wanted = CellSet(self._full(name, known) for name in CellSet.parse(text, groups=self._group))
        unknown = wanted - CellSet(known)
        if len(unknown):
            near = dict.fromkeys(one for name in unknown for one in closest(name, told, limit=1))
            raise CellSetError(
                f"{unknown} is not in rack {self._rack.name}, which has {fold(told)}",
                part=str(unknown),
                hint=f"did you mean {fold(near)}?" if near else "",
            )
        return wanted

    @staticmethod
    def _full(name: str, known: Sequence[str]) -> str:
        """Return the name in ``known`` of the same cell, or the only one with this end (``cel07``); else ``name`` itself."""
        name = known_as(name, known)
        if name in known:
            return name
        ending = [one for one in known if one.lower().endswith(name.lower())]
        return ending[0] if len(ending) == 1 else name

    def _group(self, name: str) -> Iterable[str]:
        if name in ("all", "cells"):
            return self._rack.cells
        if name in ("failed", "ok"):
            return self._ended(name)
        if name == "down":
            return self._down
        if name == "up":
            return CellSet(self._rack.cells) - self._down
        if name in self._rack.groups:
            return self._rack.groups[name]
        if name in self._rack.host_groups:
            return self._rack.host_groups[name].nodes
        known = [f"@{group}" for group in (*TAKEN, *self._rack.groups, *self._rack.host_groups)]
        near = ask_for(f"@{name}", known)
        listed = "" if near else f": {', '.join(known)}"
        raise CellSetError(f"@{name} is not a group of rack {self._rack.name}{listed}", part=f"@{name}", hint=near)

    def _ended(self, name: str) -> CellSet:
        """Return the cells of ``@failed`` or ``@ok``; database nodes of the change are left out."""
        cells = CellSet(self._rack.cells)
        changed = {how: cells & CellSet(targets) for how, targets in self._changed().items()}
        failed, ok = changed.get("failed", CellSet()), changed.get("ok", CellSet())
        if name == "failed":
            return failed | self._down
        return (ok if len(failed | ok) else cells) - self._down

    def take_over(self, other: Selection) -> None:
        """Copy from ``other``, a copy of this selection, which cells did not answer."""
        self._down = other._down

    def remember(self, asked: Iterable[str], failed: Iterable[str]) -> None:
        """Store which of the cells ``asked`` failed; the state of the other cells stays."""
        self._down = (self._down - CellSet(asked)) | CellSet(failed)


_EMPTY: Mapping[str, str] = {
    "@failed": "the newest change failed on no cell (`journal` shows it), and each cell gave its last answer",
    "@ok": "the newest change is complete on no cell (`journal` shows it)",
    "@down": "each cell gave its last answer",
}
"""Why a group that changes may be empty."""
