"""Declarations of the commands that :mod:`exacell.commands.iorm` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

NONE = "none"
"""The same value as in exacell.cellcli.directives, which completion must not load; a test compares the two."""

_SWITCH = ("on", "off")

_ATTRIBUTES = (
    Param(name="share", kind=Kind.INT, help="share of the I/O, compared with the other databases' shares: 1 to 32"),
    Param(name="limit", kind=Kind.INT, help="at most this percent of each disk: 1 to 100"),
    Param(name="level", kind=Kind.INT, help="1 to 8, with allocation"),
    Param(name="allocation", kind=Kind.INT, help="percent of its level: 0 to 100"),
    Param(name="flashCache", kind=Kind.CHOICE, choices=_SWITCH, help="may use the flash cache"),
    Param(name="flashCacheMin", kind=Kind.SIZE, help="this much of the flash cache is reserved for it"),
    Param(name="flashCacheLimit", kind=Kind.SIZE, help="at most this much of the flash cache"),
    Param(name="flashCacheSize", kind=Kind.SIZE, help="exactly this much of the flash cache"),
    Param(name="flashLog", kind=Kind.CHOICE, choices=_SWITCH, help="may use the flash log"),
)
"""Attributes of a directive that completion offers; later releases have more."""

GROUP = "IORM"

_DB = Param(
    name="db", kind=Kind.DIRECTIVE, required=True, help="a database as LIST DATABASE shows it, or DEFAULT or OTHER"
)

WHICH = (
    Param(
        name="role",
        kind=Kind.CHOICE,
        choices=("primary", "standby", NONE),
        help="which of its directives: the one for this role, or the one without",
    ),
    Param(
        name="type",
        kind=Kind.CHOICE,
        choices=("database", "profile"),
        help="whether db= is a database's or a profile's name",
    ),
    Param(
        name="asmcluster",
        kind=Kind.NAME,
        words=(NONE,),
        help="which of its directives: the one for this ASM cluster, or the one without",
    ),
)
"""Parameters that distinguish directives with the same name. Source: reference cellcli.md 7.1."""

_SEVERAL = (
    "If the plan has several directives of that name, or only that of a profile, choose one with role=, type= and "
    "asmcluster=; role=none is the one without a role. exacell never guesses."
)

_DETAILS = (
    "Reads the database plan of all cells (they must agree), changes this one directive, sends the whole plan back and "
    f"reads it again. A database without its own directive gets one with the values that it inherited. {_SEVERAL}"
)

COMMANDS = (
    Command(
        name="show iorm",
        group=GROUP,
        effect=Effect.READ,
        summary="the objective and every directive of the database plan, per cell",
        details="Cells with the same plan are shown once, so that a different one is easy to see. saved= shows a "
        "plan that save iorm kept instead.",
        example="show iorm",
        params=(Param(name="saved", kind=Kind.IORM, help="what save iorm kept under this name"),),
        handler="exacell.commands.iorm:show",
    ),
    Command(
        name="set iorm",
        group=GROUP,
        effect=Effect.WRITE,
        summary="set attributes of one database's directive, or the objective; everything else stays",
        details="Reads the database plan of all cells (they must agree), changes this one directive, sends the whole plan back "
        "and reads it again. A database without its own directive gets one with the values that it inherited. db=default and "
        f"db=other are the directives for all others. like=CELL gives one cell's plan to cells with other plans. {_SEVERAL}",
        example="set iorm db=SPOT share=8 limit=50 -y",
        params=(
            Param(name="db", kind=Kind.DIRECTIVE, help="a database as LIST DATABASE shows it, or DEFAULT or OTHER"),
            Param(
                name="objective",
                kind=Kind.CHOICE,
                choices=("basic", "auto", "low_latency", "balanced", "high_throughput"),
                help="what IORM optimizes for, on the whole cell",
            ),
            Param(
                name="like",
                kind=Kind.CELLSET,
                help="without other words: give all selected cells the database plan and objective of this cell",
            ),
            *WHICH,
        ),
        open_keys=True,
        offers=_ATTRIBUTES,
        handler="exacell.commands.iorm:set_iorm",
    ),
    Command(
        name="unset iorm",
        group=GROUP,
        effect=Effect.WRITE,
        summary="remove attributes from a database's directive, or the whole directive",
        details=f"Without an attribute the whole directive is removed; the database then gets the values of DEFAULT "
        f"or OTHER. {_SEVERAL}",
        example="unset iorm limit db=SPOT -y",
        params=(
            Param(
                name="attributes",
                kind=Kind.NAMES,
                positional=True,
                choices=tuple(attribute.name for attribute in _ATTRIBUTES),
                help="such as limit, or limit,flashCacheMin",
            ),
            Param(name="db", kind=Kind.DIRECTIVE, required=True, help="whose directive"),
            *WHICH,
        ),
        handler="exacell.commands.iorm:unset_iorm",
    ),
    Command(
        name="reset iorm",
        group=GROUP,
        effect=Effect.WRITE,
        summary="empty the database plan on every cell: no directive is left",
        details="The objective, category and cluster plans stay. The cells' plans may differ before; undo gives "
        "each cell its own plan back.",
        example="reset iorm -y",
        handler="exacell.commands.iorm:reset_iorm",
    ),
    Command(
        name="save iorm",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the database plan and objective of every selected cell under a name, for restore iorm",
        example="save iorm as=before_test",
        params=(Param(name="as", kind=Kind.IORM, required=True, help="its name; an older one is replaced"),),
        handler="exacell.commands.iorm:save_iorm",
    ),
    Command(
        name="restore iorm",
        group=GROUP,
        effect=Effect.WRITE,
        summary="give every selected cell back the database plan and objective that were kept under a name",
        example="restore iorm before_test -y",
        params=(Param(name="name", kind=Kind.IORM, positional=True, required=True, help="as save iorm was told"),),
        handler="exacell.commands.iorm:restore_iorm",
    ),
    Command(
        name="enable flashlog",
        group=GROUP,
        effect=Effect.WRITE,
        summary="let a database use the flash log",
        details=_DETAILS,
        example="enable flashlog db=SPOT -y",
        params=(_DB, *WHICH),
        handler="exacell.commands.iorm:enable",
    ),
    Command(
        name="disable flashlog",
        group=GROUP,
        effect=Effect.WRITE,
        summary="keep a database's redo writes out of the flash log",
        details=_DETAILS,
        example="disable flashlog db=SPOT -y",
        params=(_DB, *WHICH),
        handler="exacell.commands.iorm:disable",
    ),
)
