"""What the operator of benchmarks/chaos.py may want from a rack as it is, and what that would make of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from matrix_run import State, state_of

if TYPE_CHECKING:
    from chaos_rack import ChaosRack

NEW_PLAN = "((name=SPOT,share={0}),(name=ERP,share={1}),(name=default,share=1))"


@dataclass
class Choice:
    """A statement, and the rack that it leads to when nothing goes wrong.

    Attributes:
        before: statements that are given first, unstruck.
        undo: whether undo has to bring the rack back.
        again: it makes several changes, or none that can be gone on with; the operator gives it again.
        raw: it is CellCLI's: each cell may be as it was or as intended when going on was refused.
        plain: what it does, for a copy of the rack that keeps no plans.
        ended: how it ended, for the line about it.
    """

    statement: str
    undo: bool = True
    before: tuple[str, ...] = ()
    again: bool = False
    raw: bool = False
    plain: str = ""
    intended: State = field(default_factory=dict, repr=False)
    ended: str = ""


def choose(rack: ChaosRack, rng: random.Random, state: State, only: str) -> Choice:
    """Return a statement that the rack takes as it is."""
    from chaos_rack import discard

    offers = [choice for choice in _offers(rack, rng) if only in choice.statement]
    long_ones = ("flashcache", "diskgroup", "release", "resize", "cellsrv", "offline", "online", "rolling")
    weights = [4.0 if any(word in c.statement for word in long_ones) else 1.0 for c in offers]
    for _ in range(60):
        choice = rng.choices(offers, weights)[0]
        copied = rack.copy()
        try:
            done = copied.operator().do(f"{choice.plain or choice.statement} -y")
            if done.code != 0:
                continue
            copied.pass_time(1200)
            choice.intended = state_of(copied)
        finally:
            discard(copied)
        if choice.intended != state or "flush" in choice.statement or "restart" in choice.statement:
            return choice
    raise RuntimeError(f"nothing that matches {only!r} can be done on this rack")


def _offers(rack: ChaosRack, rng: random.Random) -> list[Choice]:
    cells = rack.info.cells
    cell = rng.choice(cells)
    number = rng.randrange(10_000)
    rolling = rng.choice(["", "", " --rolling", f" --canary={cell}", " --rolling --on-error=continue"])
    x2 = rack.info.model == "x2"
    size = rng.choice(["288g", "300g", "320g", "340g"] if x2 else ["19t", "20t", "21t"])
    each = rng.choice(["2G", "3G", "4G"])
    mode = rng.choice(["writethrough", "writeback"])
    old = rack.info.release.startswith("11.")
    resize = f"resize flashcache size={size}"
    offers = [
        Choice(f"flush flashcache{rolling}", undo=False),
        Choice(resize + rolling),
        Choice(resize),
        Choice("carve griddisk prefix=p" + (" size=1G" if not x2 else "")),
        Choice("release griddisk prefix=p regrow=yes"),
        Choice("release griddisk prefix=p"),
        Choice("create diskgroup PP prefix=p redundancy=normal"),
        Choice("drop diskgroup PP"),
        Choice(f"resize griddisk prefix=p size={each}"),
        Choice(f"set flashcache mode={mode}{rolling}"),
        Choice(f"offline cell {cell} --timeout=2m"),
        Choice(f"online cell {cell} --timeout=2m", undo=False),
        Choice("restart service ms --timeout=2m", undo=False),
        Choice("restart service cellsrv --timeout=2m", undo=False),
        Choice(f"set rebalance power={rng.randrange(1, 8)}"),
        Choice(f"plan as=p{number} {resize}; apply p{number}", before=(f"plan as=p{number} {resize}",), plain=resize),
        Choice(f"alter cell comment='ours {number}'"),
        Choice("create griddisk all flashdisk prefix=q, size=256M"),
        Choice("drop griddisk all flashdisk prefix=q", undo=False, raw=True),
        Choice("alter griddisk all flashdisk inactive", undo=False, raw=True),
        Choice("alter griddisk all flashdisk active", undo=False, raw=True),
        Choice("drop flashlog", undo=False, raw=True),
        Choice("create flashlog all size=512M", undo=False, raw=True),
        Choice('sql asm "drop diskgroup PP"'),
    ]
    if not old:
        plan = NEW_PLAN.format(rng.randrange(2, 30), rng.randrange(2, 30))
        objective = rng.choice(["basic", "auto", "balanced"])
        offers += [
            Choice(f"{rng.choice(['disable', 'enable'])} flashlog db={rng.choice(['SPOT', 'ERP'])}{rolling}"),
            Choice(f"set iorm db=SPOT share={rng.randrange(2, 30)}"),
            Choice("reset iorm"),
            Choice(f"alter iormplan dbplan={plan}"),
            Choice("disable flashlog db=SPOT --confirm-within=30m"),
            Choice("disable flashlog db=SPOT --confirm-within=4s"),
            Choice(
                f"dcli -c {','.join(cells)} cellcli -e alter iormplan objective={objective}", undo=False, again=True
            ),
        ]
    if x2:
        offers += [
            Choice("alter flashcache all flush", undo=False, raw=True),
            Choice(f"run cold size={size}", undo=False, again=True),
            Choice("run flash_diskgroup name=PP prefix=p", undo=False, again=True),
        ]
    if rack.options.get("pmem"):
        offers += [Choice("flush pmemcache", undo=False)]
    for offer in offers:
        if offer.before:
            offer.statement = f"apply p{number}"
    return offers
