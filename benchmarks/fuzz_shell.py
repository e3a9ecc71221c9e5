"""Let six shells judge generated texts that exacell calls reads, print the figures, and keep them in docs/reliability.md.

    python benchmarks/fuzz_shell.py [--texts=200000] [--forms=100000] [--seed=1] [--jobs=2] [--write] [--progress]

``tests/support/judging`` has the grammar, the sandbox and the judge; each run of the tests does 2,000 texts. Each text that is
called a read runs in every shell, and in every other shell also as it is sent, with programs that only tell how they were
started. Behind these come ``--forms`` texts over the wider forms (marks, documents, backslashes, scripts), each of which is
judged as a command, as it is sent or as a file. Prints each difference, the figures after each 25,000 texts (with --forms in
how many texts each form is), and leaves with 1 when there is one, when less than a
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
MARKS = {False: "fuzz", True: "fuzz forms"}
"""Between which marks of the page the figures stand: of the language, and of the wider forms."""

PART = 500
"""So many texts are done in one go."""

BETWEEN = 25_000
"""After so many texts the figures are printed: they are those of a run over so many, should this one be stopped."""

sys.path[:0] = [str(ROOT)]

from how_far import HowFar  # noqa: E402

from tests.support.judging.forms import FORMS  # noqa: E402
from tests.support.judging.fuzzing import LEAST_SHARE, Tally, fuzz_together  # noqa: E402
from tests.support.judging.sandbox import SHELLS, installed, missing  # noqa: E402


def keep(lines: list[str], *, forms: bool) -> None:
    """Put the lines into the page, between the marks of their kind."""
    opening, closing = f"<!-- {MARKS[forms]}: begin -->", f"<!-- {MARKS[forms]}: end -->"
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no lines {opening} and {closing}")
    PAGE.write_text("\n".join([before + opening, *lines, closing]) + after, encoding="utf-8")


def figures(tally: Tally, given: argparse.Namespace, *, forms: bool) -> list[str]:
    """Return what the page says of a run."""
    asked = f"--texts=0 --forms={given.forms}" if forms else f"--texts={given.texts} --forms=0"
    found = (
        f"`python benchmarks/fuzz_shell.py {asked} --seed={given.seed} --write`: {tally.texts:,} texts"
        f"{' over the wider forms' * forms}, {tally.reads:,} of them called reads ({tally.share:.0%}), "
        f"{sum(tally.runs.values()):,} runs, **{len(tally.differences)} differences**; "
    )
    if forms:
        refusals = ", ".join(f"{shell} {count:,}" for shell, count in tally.refused.items() if count) or "none"
        found += (
            f"each of {len(FORMS)} forms in at least {min(tally.forms[name] for name in FORMS):,} of the reads; "
            f"refused whole: {refusals}"
        )
        names = {name: name.replace("|", "\\|") for name in sorted(FORMS)}
        rows = [f"| {told} | {tally.forms[name]:,} |" for name, told in names.items()]
    else:
        found += (
            f"all {len(tally.productions)} productions of the language and all {len(tally.rows)} rows of the table are among "
            "the reads"
        )
        rows = [f"| {shell} | {tally.runs[shell]:,} |" for shell in SHELLS]
    found += f"; {tally.seconds / 60:.0f} minutes, {date.today().isoformat()}."
    return [found, "", "| form | texts read |" if forms else "| shell | runs |", "|--|--|", *rows]


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
    for count, tallied, forms in ((given.texts, tally, False), (given.forms, wider, True)):
        if given.write and count:
            keep(figures(tallied, given, forms=forms), forms=forms)
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
        if tally.texts % BETWEEN == 0:
            tell(tally)

    tally = fuzz_together(count, given.seed, jobs=given.jobs, part=PART, all_wrapped=False, forms=forms, told=told)
    if count % BETWEEN:
        tell(tally)
    return tally


def tell(tally: Tally) -> None:
    """Print the figures, and in how many texts that were read each of the wider forms is."""
    print(tally.sentence(), flush=True)
    if tally.forms:
        print("  " + ", ".join(f"{name} {tally.forms[name]:,}" for name in sorted(FORMS)), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
