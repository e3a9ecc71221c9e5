"""Declarations of the commands that :mod:`exacell.commands.drift` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "change control"

COMMANDS = (
    Command(
        name="drift",
        group=GROUP,
        effect=Effect.READ,
        summary="where cells or hosts differ from each other or from a saved baseline, attribute by attribute",
        details="Compares every attribute of cells, flash cache, flash log, IORM plan, cell disks, grid disks, "
        "physical disks, LUNs and thresholds; with a baseline also the disk groups. Ids, serial numbers, times and "
        "a cell's own name in a value are left out. Without baseline= each cell is compared with what most cells "
        "have; where no value has a majority, as with two cells, each cell's value is shown and none is expected. A "
        "missing or additional object or cell is one line; attributes that another release does not have "
        "are left out. In the table, a difference that several objects or cells have is shown once "
        "(DATA_CD_[00-11]_{cell}); the other formats list each. judgement is worse (a missing object, a bad status, "
        "a disk with more errors), better, changed, which may be on purpose, or differs, where none is expected; what is "
        "worse is named below. "
        "Around maintenance: save baseline as=before, then drift baseline=before. on @db drift compares the facts "
        "of hosts. Exit code 5 when something differs.",
        example="drift baseline=before",
        params=(
            Param(name="baseline", kind=Kind.BASELINE, help="compare each cell with what it was"),
            Param(
                name="of",
                kind=Kind.TEXT,
                help="compare this LIST statement's answers instead; in quotes: 'list alertdefinition'",
            ),
        ),
        hosts=True,
        on_after=True,
        handler="exacell.commands.drift:drift",
    ),
    Command(
        name="save baseline",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the state of the cells, or with ON @GROUP of hosts, for drift baseline=",
        example="save baseline as=golden",
        params=(Param(name="as", kind=Kind.BASELINE, required=True, help="its name; an older one is replaced"),),
        flags=(Flag(name="partial", help="keep it even when a cell or host gave no answer"),),
        hosts=True,
        on_after=True,
        handler="exacell.commands.drift:save_baseline",
    ),
)
