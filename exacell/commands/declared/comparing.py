"""Declarations of the commands that :mod:`exacell.commands.comparing` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

FORMS = ("html", "md", "json")

_ANYWAY = Flag(name="anyway", help="also what is not alike, marked with what differs")

COMMANDS = (
    Command(
        name="compare",
        group=GROUP,
        effect=Effect.READ,
        summary="what B says beside A, and whether it is more than chance; of imports any number, each against the first",
        details="A and B are imports, files that import reads, what runs of recipes kept ([r3:]NAME[@HOST]), snapshots, "
        "intervals between two snapshots (on1..on2 beside off1..off2: counts a second, shares, what differs), or sets of trace "
        "files (with * and in quotes). Imports are compared load by load: the ratio, with an interval where runs or samples tell "
        "how much it varies; of three and more there is one table with a column each, and one chart with a line each. "
        "What was measured by other programs or under other conditions is refused with what differs.",
        example="compare before after",
        params=(
            Param(name="a", kind=Kind.MEASURED, positional=True, required=True, help="what is compared with"),
            Param(name="b", kind=Kind.MEASURED, positional=True, required=True, many=True, help="what is compared"),
        ),
        flags=(_ANYWAY,),
        handler="exacell.commands.comparing:compare",
    ),
    Command(
        name="report",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="one file that says what an experiment, A alone, or B beside A comes to: html, md or json",
        details="A is an experiment, the newest one where none is named, or A, B and more are what compare takes. The page needs "
        "no network and no script, reads on a phone and on paper, light and dark: the verdict first, distributions up to their "
        "tail, curves, the runs in time, conditions with what differs, the journal's changes meanwhile, and how to repeat it. "
        "--evidence packs it with the distributions as CSV and the files that were read into one archive; report verify "
        "proves that nothing in it was changed. The page reports has the details.",
        example="report before after html to=/tmp/flashlog.html",
        params=(
            Param(
                name="a",
                kind=Kind.MEASURED,
                positional=True,
                words=FORMS,
                help="what is reported, or compared with; the newest experiment without",
            ),
            Param(
                name="b",
                kind=Kind.MEASURED,
                positional=True,
                many=True,
                words=FORMS,
                help="what is compared; behind it the form, html where none is given",
            ),
            Param(name="to", kind=Kind.FILE, help="the file; without it one of their names in this folder"),
        ),
        flags=(
            _ANYWAY,
            Flag(name="evidence", help="an archive with the report in all forms and everything it rests on"),
            Flag(name="replace", help="also over a file that exists"),
        ),
        handler="exacell.commands.comparing:report",
    ),
    Command(
        name="report verify",
        group=GROUP,
        effect=Effect.READ,
        summary="prove that nothing in a report's archive was changed",
        details="Each file is compared with its SHA-256. The seal, which the sender was told when the archive was made, proves "
        "that the list of sums is the one of then.",
        example="report verify /tmp/flashlog.zip",
        params=(Param(name="file", kind=Kind.FILE, positional=True, required=True, help="the archive"),),
        handler="exacell.commands.comparing:verify_report",
    ),
)
