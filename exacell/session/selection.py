"""Which cells of a rack statements go to: all, those in use, or ON's for one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from exacell.core.cellset import CellSet, fold
from exacell.core.config import RackConfig
from exacell.core.errors import CellSetError


class Selection:
    """The selected cells of one rack, how the last change ended on them, and which of them did not answer.

    Args:
        cells: those in use from the start; all when there are none.
        changed: tells how the rack's newest change ended: ``ok`` and ``failed`` → names, database nodes among them.
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
        self._down = CellSet()

    @property
    def now(self) -> CellSet:
        """ON's cells, else those in use, else all of the rack."""
        if self._on is not None:
            return self._on
        return self._used if self._used is not None else CellSet(self._rack.cells)

    @property
    def limit(self) -> CellSet | None:
        """The cells that the present statement is limited to by ON, None when it is not."""
        return self._on

    def use(self, text: str) -> CellSet:
        """Select cells for the statements to come; ``+set``, ``-set`` and ``not set`` change what is selected.

        Raises:
            CellSetError: a cell is not in the rack, or none is left.
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
            raise CellSetError(f"'{text}' leaves no cell")
        self._used = wanted
        return wanted

    @contextmanager
    def on(self, text: str) -> Iterator[None]:
        """Limit the selection to ``text`` for one statement; empty leaves it.

        Raises:
            CellSetError: a cell is not in the rack, or it is none.
        """
        if not text:
            yield
            return
        wanted = self.resolve(text)
        if not len(wanted):
            raise CellSetError(f"on {text}: that is no cell now", hint=_EMPTY.get(text.strip().lower(), ""))
        before, self._on = self._on, wanted
        try:
            yield
        finally:
            self._on = before

    def resolve(self, text: str) -> CellSet:
        """Return the cells of the rack that ``text`` names; the end of a name will do where only one cell has it.

        ``@down`` are the cells that gave no answer, or an error, when they were last asked, ``@up`` the others. ``@failed``
        are those and the ones on which the rack's newest change is not complete, ``@ok`` where it is; without a change all
        that are up.

        Raises:
            CellSetError: a cell is not in the rack, or a group is unknown.
        """
        cells = CellSet(self._rack.cells)
        wanted = CellSet(self._full(name) for name in CellSet.parse(text, groups=self._group))
        unknown = wanted - cells
        if len(unknown):
            import difflib

            near = dict.fromkeys(
                cell for name in unknown for cell in difflib.get_close_matches(name, self._rack.cells, n=1, cutoff=0.8)
            )
            raise CellSetError(
                f"{unknown} is not in rack {self._rack.name}, which has {fold(self._rack.cells)}",
                part=str(unknown),
                hint=f"did you mean {fold(near)}?" if near else "",
            )
        return wanted

    def _full(self, name: str) -> str:
        """Return the one cell of the rack whose name ends so (``cel07``), ``name`` itself when that is not one."""
        if name in self._rack.cells:
            return name
        ending = [cell for cell in self._rack.cells if cell.lower().endswith(name.lower())]
        return ending[0] if len(ending) == 1 else name

    def _group(self, name: str) -> Iterable[str]:
        if name == "all":
            return self._rack.cells
        if name in ("failed", "ok"):
            return self._ended(name)
        if name == "down":
            return self._down
        if name == "up":
            return CellSet(self._rack.cells) - self._down
        if name in self._rack.groups:
            return self._rack.groups[name]
        known = ", ".join(f"@{g}" for g in ("all", "ok", "failed", "up", "down", *self._rack.groups))
        raise CellSetError(f"@{name} is not a group of rack {self._rack.name}: {known}", part=f"@{name}")

    def _ended(self, name: str) -> CellSet:
        """The cells of ``@failed`` or ``@ok``; a change's database nodes are none."""
        cells = CellSet(self._rack.cells)
        changed = {how: cells & CellSet(targets) for how, targets in self._changed().items()}
        failed, ok = changed.get("failed", CellSet()), changed.get("ok", CellSet())
        if name == "failed":
            return failed | self._down
        return (ok if len(failed | ok) else cells) - self._down

    def take_over(self, other: Selection) -> None:
        """Keep what ``other``, a copy of this selection, remembers of the cells that were asked."""
        self._down = other._down

    def remember(self, asked: Iterable[str], failed: Iterable[str]) -> None:
        """Keep which of the cells ``asked`` failed; what is known of the others stays."""
        self._down = (self._down - CellSet(asked)) | CellSet(failed)


_EMPTY: Mapping[str, str] = {
    "@failed": "the newest change failed on no cell (journal shows it), and each cell answered when it was last asked",
    "@ok": "the newest change is complete on no cell: journal shows it",
    "@down": "each cell answered when it was last asked",
}
"""Why a group that changes may be empty."""
