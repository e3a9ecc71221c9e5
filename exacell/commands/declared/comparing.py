"""Declarations of the commands that :mod:`exacell.commands.comparing` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

FORMS = ("html", "md", "json")

_ANYWAY = Flag(name="anyway", help="compare even if conditions differ, and mark the differences")

COMMANDS = (
    Command(
        name="compare",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="compare measurements: B with A, and whether the difference is more than chance (cells: drift)",
        details="A and B are imports, files that import can read, files that recipes kept ([r3:]NAME[@HOST]), "
        "snapshots, intervals between two snapshots (on1..on2 and off1..off2: counts a second, shares, what "
        "differs), or sets of trace files (with *, in quotes). Imports are compared load by load: the ratio, with "
        "an interval if several runs or samples show how much it varies; each of three and more is compared with the "
        "first; place_* is every import of such a name. Measurements of different programs or under different "
        "conditions are refused, and the difference is named.",
        example="compare before after",
        params=(
            Param(
                name="a",
                kind=Kind.MEASURED,
                positional=True,
                required=True,
                help="what is compared with, or with * several imports",
            ),
            Param(name="b", kind=Kind.MEASURED, positional=True, many=True, help="what is compared"),
        ),
        flags=(_ANYWAY,),
        handler="exacell.commands.comparing:compare",
    ),
    Command(
        name="report",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="one file with the result of an experiment, of A alone, or of B compared with A: html, md or json",
        details="A is an experiment (default: the newest one); or A, B and more are what compare takes. The page needs no "
        "network and no script, and can be read on a phone and on paper, light and dark. It has the verdict first, "
        "then distributions with their tail, curves, the runs over time, conditions and their differences, changes "
        "in the journal during that time, and how to repeat it. --evidence packs one archive: the page, the distributions as CSV "
        "and the files that were read. report verify proves that nothing in it was changed. The page reports has "
        "the details.",
        example="report before after html to=/tmp/flashlog.html",
        params=(
            Param(
                name="a",
                kind=Kind.MEASURED,
                positional=True,
                words=FORMS,
                help="what is reported, or the side to compare with (default: the newest experiment)",
            ),
            Param(
                name="b",
                kind=Kind.MEASURED,
                positional=True,
                many=True,
                words=FORMS,
                help="what to compare with; then the form (default html)",
            ),
            Param(name="to", kind=Kind.FILE, help="the file; default: a file in this folder, named after them"),
        ),
        flags=(
            _ANYWAY,
            Flag(name="evidence", help="an archive with the report in all forms and all of its data"),
            Flag(name="replace", help="replace a file that exists"),
        ),
        handler="exacell.commands.comparing:report",
    ),
    Command(
        name="report verify",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="prove that nothing in a report's archive was changed",
        details="Each file is compared with its SHA-256. The seal was shown when the archive was made; it proves "
        "that the list of sums is the same as then.",
        example="report verify /tmp/flashlog.zip",
        params=(Param(name="file", kind=Kind.FILE, positional=True, required=True, help="the archive"),),
        handler="exacell.commands.comparing:verify_report",
    ),
)
