"""Declarations of the commands that :mod:`exacell.commands.drift` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "change control"

COMMANDS = (
    Command(
        name="drift",
        group=GROUP,
        effect=Effect.READ,
        summary="where cells, or hosts, differ from each other, or from a saved baseline, by attribute",
        details="Every attribute of cells, flash cache, flash log, IORM plan, cell disks, grid disks, physical disks, "
        "LUNs and thresholds, and with a baseline the disk groups as well. Ids, serial numbers and times are left "
        "out, and a cell's own name in a value does not count. Without baseline= every cell is compared with what "
        "most cells have. An object or cell that is missing or additional is one line; what another release does not "
        "have is none. The table says what is the same of several objects or cells once (DATA_CD_[00-11]_{cell}); the "
        "other formats have each. judgement is worse (an object that is missing, a status that is well no more, a disk with "
        "more errors), better, or changed, which may be what was meant; what is worse is named below. Around a maintenance: "
        "save baseline as=before, then drift baseline=before. Of hosts beside the cells, on @db drift, the facts are compared. "
        "Exit code 5 when something differs.",
        example="drift baseline=before",
        params=(
            Param(name="baseline", kind=Kind.BASELINE, help="compare each cell with what it was"),
            Param(
                name="of",
                kind=Kind.TEXT,
                help="a LIST statement in quotes, instead of all that: 'list alertdefinition'",
            ),
        ),
        hosts=True,
        on_behind=True,
        handler="exacell.commands.drift:drift",
    ),
    Command(
        name="save baseline",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep what the cells are now, with ON @GROUP hosts, for drift baseline=",
        example="save baseline as=golden",
        params=(Param(name="as", kind=Kind.BASELINE, required=True, help="its name; an older one is replaced"),),
        flags=(Flag(name="partial", help="keep it even when a cell or host gave no answer"),),
        hosts=True,
        on_behind=True,
        handler="exacell.commands.drift:save_baseline",
    ),
)
