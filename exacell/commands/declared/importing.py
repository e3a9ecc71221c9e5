"""Declarations of the commands that :mod:`exacell.commands.importing` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "metrics"

PROGRAMS = (
    "fio",
    "iostat",
    "sar",
    "orion",
    "calibrate",
    "calibrate_io",
    "awr",
    "slob",
    "sg_vpd",
    "queues",
    "vscsistats",
    "vflash",
    "esxtop",
)
"""Programs whose output is read; :data:`exacell.measure.importers.kinds.KINDS` has the readers."""

COMMANDS = (
    Command(
        name="import",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="read what fio, iostat, sar, ORION, AWR and others wrote, show it, and keep it under a name",
        details="What a file is, its content tells; kind= says it where that is not clear. Several files are one set: parts of "
        "one run (hosts, named NAME@HOST.json where the text does not tell them: their rates are added), or repetitions of "
        "it, which give compare an interval. Points at the same load are put together, latencies weighted by the I/Os that "
        "they are of, the peak and the knee of a curve are marked, and a cold first pass is set apart. Files of gzip and "
        "UTF-16 are unpacked; what is refused says which form is needed. "
        "Without as= nothing is kept. What a recipe kept is read by its name: fio_1280 of the newest run, r3:fio_1280 of r3, "
        "of all its hosts (parts of one run); fio_1280@ini1 of one. IMPORT CELLDISK stays CellCLI's own statement. The page "
        "importing has the details.",
        example="import as=before /tmp/run1.json /tmp/run2.json",
        params=(
            Param(name="as", kind=Kind.NAME, help="the name to keep it under; an older one of it is replaced"),
            Param(name="kind", kind=Kind.CHOICE, choices=PROGRAMS, help="whose output it is"),
            Param(
                name="files",
                kind=Kind.KEPT,
                positional=True,
                rest=True,
                required=True,
                help="files to read, or what a run has kept: [r3:]NAME[@HOST]",
            ),
        ),
        handler="exacell.commands.importing:import_files",
    ),
    Command(
        name="imports",
        group=GROUP,
        effect=Effect.READ,
        summary="what was imported, oldest first",
        example="imports",
        handler="exacell.commands.importing:imports",
    ),
)
