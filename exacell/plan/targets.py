"""Define the kinds of target of a step's statement, with their differences for planning, showing and journalling. Pure.

A statement is sent to a cell, a database node or another host. What it changes is not always that host's own: SQL that is sent to
a database node changes an ASM cluster or a database, which has one state on all of its nodes. How targets of a kind are asked,
and how statements are sent to them, is in :mod:`exacell.change.targets`.
"""

from __future__ import annotations

from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What all targets of one kind have in common.

    Attributes:
        word: its name in exacell.
        mark: prefix of the target's name in a step's ``asm``, also in journals and kept plans. A name without a prefix is an ASM
            cluster's; an empty ``asm`` means a cell or a host.
        column: the field of records that holds the target's name: ``cell``, or ``node`` for database nodes.
        heading: the word above that field in tables.
        label: the text beside the node in plans, with ``{name}``; empty if the target's own name says all.
        cellcli: its statements are CellCLI; they are sent over the cells' transport, as the user who may change cells.
        shared: all nodes through which it is reached show the same state. So only the last check of it counts, one inverse
            takes back the work on several nodes, and its nodes do not go in waves.
        listed: exacell knows only those that the rack's configuration lists.
        rolls: plans that change it may go in waves, with a gate between them that reads cells and ASM.
        exact: a value is read back as it was written.
    """

    word: str
    mark: str = ""
    column: str
    heading: str
    label: str = ""
    cellcli: bool = False
    shared: bool = False
    listed: bool = False
    rolls: bool = True
    exact: bool = True

    def written(self, name: str) -> str:
        """Return a step's ``asm`` for the ASM cluster or database with this name: ``database SPOT``."""
        return f"{self.mark}{name}"

    def name(self, written: str) -> str:
        """Return the name in a step's ``asm``: ``SPOT`` for ``database SPOT``."""
        return written.removeprefix(self.mark)


CELL = Kind(word="cell", column="cell", heading="cell", cellcli=True, listed=True)
HOST = Kind(word="host", column="cell", heading="host", rolls=False, exact=False)
"""A host that is not a cell: its kernel may round a value that is written."""
ASM = Kind(word="asm", column="node", heading="node", label="ASM {name}", shared=True)
DATABASE = Kind(word="database", mark="database ", column="node", heading="node", label="database {name}", shared=True)

KINDS = (CELL, HOST, ASM, DATABASE)
"""All kinds, in the order in which a stage's targets are asked and sent to."""


def kind_of(written: str, *, host: bool) -> Kind:
    """Return the kind of a step's target from the two fields that journals and kept plans hold: ``asm`` and ``host``."""
    if not written:
        return HOST if host else CELL
    return next((kind for kind in KINDS if kind.mark and written.startswith(kind.mark)), ASM)
