"""Let six shells judge generated texts that exacell calls reads, print the figures, and keep them in docs/reliability.md.

    python benchmarks/fuzz_shell.py [--texts=200000] [--forms=100000] [--seed=1] [--jobs=2] [--write] [--progress]

``tests/support/judging`` has the grammar, the sandbox and the judge; each run of the tests does 2,000 texts. Each text that is
called a read runs in every shell, and in every other shell also as it is sent, with programs that only tell how they were
started. Behind these come ``--forms`` texts over the wider forms (marks, documents, backslashes, scripts), each of which is
judged as a command, as it is sent or as a file. Prints each difference, and leaves with 1 when there is one, when less than a
quarter of the texts are reads, when a production of the language or a row of the table did not occur, or when a wider form is
in less than a twentieth of its texts; with 2 where no sandbox can be had: texts never run outside of one.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- fuzz: begin -->", "<!-- fuzz: end -->"
PART = 500
"""So many texts are done in one go."""

sys.path[:0] = [str(ROOT)]

from how_far import HowFar  # noqa: E402

from tests.support.judging.fuzzing import LEAST_SHARE, Tally, fuzz_together  # noqa: E402
from tests.support.judging.sandbox import SHELLS, installed, missing  # noqa: E402


def keep(lines: list[str]) -> None:
    """Put the lines into the page, between its marks."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no lines {BEGIN} and {END}")
    PAGE.write_text("\n".join([before + BEGIN, *lines, END]) + after, encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description="let six shells judge generated texts")
    options.add_argument("--texts", type=int, default=200_000, help="how many")
    options.add_argument("--forms", type=int, default=100_000, help="how many over the wider forms")
    options.add_argument("--seed", type=int, default=1, help="another number makes other texts")
    options.add_argument("--jobs", type=int, default=0, help="processes; one a core unless given")
    options.add_argument("--write", action="store_true", help="keep the figures in docs/reliability.md")
    options.add_argument("--progress", action="store_true", help="say on standard error how far it is, also in a pipe")
    given = options.parse_args()
    if missing():
        print(f"{missing()}; nothing was run", file=sys.stderr)
        return 2
    lacking = [shell for shell in SHELLS if shell not in installed()]
    if lacking:
        print(f"not installed, and so not asked: {', '.join(lacking)}", file=sys.stderr)
    tally, wider = judged(given, forms=False), judged(given, forms=True)
    rare = wider.rare(given.forms // 20)
    for name in tally.missing if given.texts else ():
        print(f"in no text that was read: {name}")
    for name in rare:
        print(f"in too few texts that were read: {name}")
    if given.write:
        rows = [f"| {shell} | {tally.runs[shell]:,} |" for shell in SHELLS]
        command = f"python benchmarks/fuzz_shell.py --texts={given.texts} --seed={given.seed} --write"
        figures = (
            f"`{command}`: {tally.texts:,} texts, {tally.reads:,} of them called reads ({tally.share:.0%}), "
            f"{sum(tally.runs.values()):,} runs, **{len(tally.differences)} differences**; "
            f"all {len(tally.productions)} productions of the language and all {len(tally.rows)} rows of the table are among "
            f"the reads; {tally.seconds / 60:.0f} minutes, {date.today().isoformat()}."
        )
        refusals = ", ".join(f"{shell} {count:,}" for shell, count in wider.refused.items() if count) or "none"
        over = (
            f"`--forms={given.forms}`: {wider.texts:,} texts over the wider forms, {wider.reads:,} of them read, each of "
            f"{len(wider.forms)} forms in at least {min(wider.forms.values(), default=0):,}, {sum(wider.runs.values()):,} runs, "
            f"**{len(wider.differences)} differences**; refused whole: {refusals}."
        )
        keep([figures, "", "| shell | runs |", "|--|--|", *rows, "", over])
    failed = given.texts and (tally.missing or tally.share < LEAST_SHARE)
    return 1 if tally.differences or wider.differences or failed or rare else 0


def judged(given: argparse.Namespace, *, forms: bool) -> Tally:
    """Make and judge all texts of one of the two kinds, print each difference and the figures, and return them."""
    count = given.forms if forms else given.texts
    far = HowFar(count, "texts", "differences", wanted=given.progress)
    shown = 0

    def told(tally: Tally) -> None:
        nonlocal shown
        for difference in tally.differences[shown:]:
            print(difference, flush=True)
        shown = len(tally.differences)
        far.tell(tally.texts, shown)

    tally = fuzz_together(count, given.seed, jobs=given.jobs, part=PART, all_wrapped=False, forms=forms, told=told)
    if count:
        print(tally.sentence(), flush=True)
    return tally


if __name__ == "__main__":
    raise SystemExit(main())
