"""Declarations of the commands that :mod:`exacell.commands.change` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "change control"

_STATEMENT = Param(
    name="statement", kind=Kind.STATEMENT, positional=True, required=True, rest=True, help="a changing statement"
)

COMMANDS = (
    Command(
        name="plan",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="show what a statement would do; as=NAME keeps the plan for apply",
        details="plan @NAME key=value shows a recipe's run: each line with its plan from the rack as it is, matrix "
        "lines written out. as= keeps the plan of one statement, with the cells, the way it rolls and everything "
        "that was read for it. apply refuses it when any of that has changed. Flags given to apply win.",
        example="plan as=monday resize flashcache size=288g",
        params=(Param(name="as", kind=Kind.PLAN, help="keep it under this name"), _STATEMENT),
        recipe_ok=False,
        handler="exacell.commands.change:plan",
    ),
    Command(
        name="rehearse",
        group=GROUP,
        effect=Effect.READ,
        summary="run a statement or a recipe on an emulated copy of the rack as it is now, and show the result",
        details="The copy gets every value that somebody can have set: cells, disks, caches, logs, IORM plans, "
        "thresholds, alerts, other objects and disk groups. It ends with the rehearsal. If it can't have a value, "
        "that value is named and nothing is rehearsed. Passwords and keys stay on the rack. The rack is only read, "
        "and its journal gets nothing. What the rack would refuse, the copy refuses. Counters, timing and answers "
        "are the emulator's own: a rehearsal proves the plan, not the hardware. A copy has no hosts and no "
        "databases, and runs no commands (sh, host). A recipe with such lines is refused, and the lines are named; "
        "without= leaves them out.",
        example="rehearse resize flashcache size=288g",
        params=(
            Param(
                name="without",
                kind=Kind.NAMES,
                choices=("hosts", "databases", "commands"),
                help="leave out the recipe's lines for these",
            ),
            _STATEMENT,
        ),
        recipe_ok=False,
        handler="exacell.commands.change:rehearse",
    ),
    Command(
        name="apply",
        group=GROUP,
        effect=Effect.WRITE,
        summary="carry out a kept plan; refused when anything that it was made from has changed",
        example="apply monday -y",
        params=(Param(name="name", kind=Kind.PLAN, positional=True, required=True, help="of the plan"),),
        recipe_ok=False,
        handler="exacell.commands.change:apply",
    ),
    Command(
        name="plans",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the kept plans of this rack",
        example="plans",
        handler="exacell.commands.change:plans",
    ),
    Command(
        name="resume",
        group=GROUP,
        effect=Effect.WRITE,
        summary="finish what a crash, a kill, a lost link or Ctrl-C left unfinished: a change, a recipe's run, an experiment",
        details="First exacell finds out how the statements ended that have no end in the journal. Then it plans "
        "each unfinished change again from what is on the cells, so that nothing is done twice, and shows the new "
        "plan and asks, as always. undo takes an unfinished change back instead. A recipe's run that was killed "
        "continues at the line that was running, with the text and values you agreed to, and with its finally; "
        "first you see the state of its lines and what will be done. If a value that was read before the plan is "
        "different now, you are asked, even with -y. A detached command on hosts (--detach) is continued. "
        "Any other command that exacell can't read runs again only with --accept-opaque, or after you are asked and "
        "say yes. As long as caching is off on a cell because a change was interrupted or failed, the exit code is "
        "1 and you see the statement to type; a cache dropped on purpose does not count.",
        example="resume -y",
        params=(Param(name="change", kind=Kind.CHANGE, positional=True, help="only this one"),),
        flags=(
            Flag(name="abandon", help="leave a change as it is; of a run, run only its finally"),
            Flag(
                name="accept-opaque",
                help="run commands again that exacell can't read",
            ),
        ),
        recipe_ok=False,
        handler="exacell.commands.change:resume",
    ),
    Command(
        name="retry failed",
        group=GROUP,
        effect=Effect.WRITE,
        summary="repeat the last change on exactly the cells on which it failed",
        example="retry failed -y",
        recipe_ok=False,
        handler="exacell.commands.change:retry",
    ),
    Command(
        name="undo",
        group=GROUP,
        effect=Effect.WRITE,
        summary="take a change back: sizes, grid disks, empty disk groups, IORM plans",
        details="Without a number: the newest change of this rack that was done and not undone; after a recipe's "
        "run, the whole run. Refused when the change can't be taken back, or when somebody has changed the result "
        "since. The inverse is planned, shown and confirmed like any other statement. The blocks that the cache "
        "held do not come back.",
        example="undo 12 -y",
        params=(Param(name="change", kind=Kind.CHANGE, positional=True, help="its number, as in journal show"),),
        recipe_ok=False,
        handler="exacell.commands.change:undo",
    ),
    Command(
        name="undo run",
        group=GROUP,
        effect=Effect.WRITE,
        summary="take back what a recipe's run changed; in its finally: this run; at the prompt: all changes of this session",
        details="Newest first, each change as undo takes it back. Some things are named and left out: changes that "
        "leave nothing to undo (a flush), changes that were taken back before, and text that exacell could not "
        "read. At the prompt and in scripts give the run's name: Tab lists the names. If a run was "
        "broken off, use resume first.",
        example="undo run r3",
        params=(Param(name="run", kind=Kind.RUN, positional=True, help="a run of this rack that has ended: r3"),),
        handler="exacell.commands.change:undo_run",
    ),
    Command(
        name="pending",
        group=GROUP,
        effect=Effect.READ,
        summary="what earlier changes left behind: unfinished, caching off, services stopped, disks offline, unconfirmed",
        details="Every start of exacell lists the same, one line each, from the journal alone. pending asks the "
        "cells first: what other people have started, activated or switched on is left out, here and at later "
        "starts.",
        example="pending",
        handler="exacell.commands.change:pending",
    ),
    Command(
        name="lock",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the rack for yourself until unlock; otherwise a change locks the rack only while it runs",
        details="Others see who holds it and since when. The reason goes to your own journal only, because "
        "everybody on the host can read a lock.",
        example="lock reason='benchmark until noon'",
        params=(
            Param(name="reason", kind=Kind.TEXT, help="why, for your journal; --reason and --ticket say it as well"),
        ),
        recipe_ok=False,
        handler="exacell.commands.change:lock",
    ),
    Command(
        name="unlock",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="give the rack's lock back; --takeover removes somebody else's",
        details="No takeover is needed when the process has ended on this host: its lock holds nothing. The journal "
        "keeps who took over from whom, and why (--reason). A change that still runs elsewhere stops before its "
        "next statement.",
        example="unlock",
        flags=(Flag(name="takeover", help="remove it although somebody else holds it"),),
        recipe_ok=False,
        handler="exacell.commands.change:unlock",
    ),
    Command(
        name="show lock",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="who holds the rack's lock, since when, and for which change",
        example="show lock",
        handler="exacell.commands.change:show_lock",
    ),
)
