"""Declarations of the commands that :mod:`exacell.commands.importing` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, NamesOf, Param

GROUP = "metrics"

COMMANDS = (
    Command(
        name="import",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="read what fio, iostat, sar, ORION, AWR and others wrote, show it, and keep it under a name",
        details="The content of a file shows which program wrote it; kind= names the program if that is not clear. "
        "Several files are one set. They are either parts of one run on several hosts (NAME@HOST.json gives the "
        "host: rates are added), or repetitions of a run, from which compare makes an interval. Points at the "
        "same load are put together, latencies are weighted by their I/Os, the peak and the knee of a curve are "
        "marked, and a cold first pass is set apart. gzip and UTF-16 are unpacked. A refusal names the form that is "
        "needed. Without as= nothing is kept. Files that a recipe kept are read by name: fio_1280 of the newest "
        "run, r3:fio_1280 of r3, both of all their hosts; fio_1280@ini1 of one. IMPORT CELLDISK stays CellCLI's own "
        "statement. The page importing has the details.",
        example="import as=before /tmp/run1.json /tmp/run2.json",
        params=(
            Param(name="as", kind=Kind.NAME, help="keep it under this name; replaces an older one"),
            Param(
                name="kind",
                kind=Kind.CHOICE,
                choices=NamesOf("exacell.measure.importers.kinds:KINDS"),
                help="the program that wrote it",
            ),
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
        asks=False,
        summary="the imports that were kept, oldest first",
        example="imports",
        handler="exacell.commands.importing:imports",
    ),
)
