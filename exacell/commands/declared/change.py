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
        details="plan @NAME key=value shows a recipe's run: each line, those of a matrix written out, with its plan from the "
        "rack as it is now. A kept plan is of one statement: it remembers everything that was read for it, the cells, and how "
        "it was to roll; apply refuses it when any of what was read has moved. Flags of apply win.",
        example="plan as=monday resize flashcache size=288g",
        params=(Param(name="as", kind=Kind.PLAN, help="keep it under this name"), _STATEMENT),
        recipe_ok=False,
        handler="exacell.commands.change:plan",
    ),
    Command(
        name="rehearse",
        group=GROUP,
        effect=Effect.READ,
        summary="carry a statement or a recipe out on an emulated copy of the rack as it is now, and show what it would leave",
        details="The copy gets every value that somebody can have set on the cells, their disks, caches, logs, IORM "
        "plans, thresholds, alerts and other objects, and the disk groups; it ends with the rehearsal. A value that "
        "it can't have is named, and nothing is rehearsed then. Passwords and keys stay on the rack. The rack is only "
        "read and its journal gets nothing. What would be refused on the rack is refused on the copy. Counters and "
        "timing are the emulator's own, and so is every answer: it proves the plan, not the hardware. A copy has no hosts, "
        "no databases and runs no commands (sh, host): a recipe with lines for these is refused and they are named, unless "
        "without= leaves them out.",
        example="rehearse resize flashcache size=288g",
        params=(
            Param(
                name="without",
                kind=Kind.NAMES,
                choices=("hosts", "databases", "commands"),
                help="leave a recipe's lines out that are for these",
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
        summary="carry out a kept plan, refused when what it was made from has moved",
        example="apply monday -y",
        params=(Param(name="name", kind=Kind.PLAN, positional=True, required=True, help="of the plan"),),
        recipe_ok=False,
        handler="exacell.commands.change:apply",
    ),
    Command(
        name="plans",
        group=GROUP,
        effect=Effect.READ,
        summary="the kept plans of this rack",
        example="plans",
        handler="exacell.commands.change:plans",
    ),
    Command(
        name="resume",
        group=GROUP,
        effect=Effect.WRITE,
        summary="finish what a crash, a kill, a lost link or Ctrl-C left unfinished: a change, a recipe's run, an experiment",
        details="First it is found out what became of statements whose end was not recorded. Then each unfinished "
        "change is planned again from what is on the cells now, so that what is done is not done twice; the new plan "
        "is shown and confirmed like any other. undo takes an unfinished change back instead. A run of a recipe that was "
        "killed goes on at the line that was under way, with the text and the values that were agreed to, and with its finally: "
        "how its lines stand and what will be done is shown first. What was read before the plan and differs now is asked about, "
        "whatever -y says. A command on hosts that runs apart (--detach) is picked up; any other that exacell can't read is "
        "carried out again only with --accept-opaque, or when that is asked for and answered with yes. It ends with 1 while a "
        "cache is off on a cell where something was broken off or failed, and says what to type; a cache that was dropped on "
        "purpose does not count.",
        example="resume -y",
        params=(Param(name="change", kind=Kind.CHANGE, positional=True, help="only this one"),),
        flags=(
            Flag(name="abandon", help="leave a change as it is, and of a run carry out only its finally"),
            Flag(
                name="accept-opaque",
                help="let commands that can't be read be carried out again",
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
        details="Without a number the newest change of this rack that was done and not undone; of a recipe's run that has "
        "ended, the whole run. Refused when the change can't be taken back, or when what it left has been changed since. "
        "The inverse is planned, shown and confirmed like any other statement. What the cache held does not come back.",
        example="undo 12 -y",
        params=(Param(name="change", kind=Kind.CHANGE, positional=True, help="its number, as journal show tells"),),
        recipe_ok=False,
        handler="exacell.commands.change:undo",
    ),
    Command(
        name="undo run",
        group=GROUP,
        effect=Effect.WRITE,
        summary="put back what a run of a recipe changed; in its finally this run, at the prompt what this session changed",
        details="Newest first, each change as undo takes it back. What left nothing behind, such as a flush, what was taken back "
        "already and what exacell did not read is named and passed over. A name is for the prompt and scripts: Tab and "
        "undo run alone tell which there are. A run that was broken off is for resume first.",
        example="undo run r3",
        params=(Param(name="run", kind=Kind.RUN, positional=True, help="a run of this rack that has ended: r3"),),
        handler="exacell.commands.change:undo_run",
    ),
    Command(
        name="pending",
        group=GROUP,
        effect=Effect.READ,
        summary="what earlier changes left behind: unfinished, caching off, services stopped, disks offline, unconfirmed",
        details="Every start of exacell says the same in one line each, from the journal alone. pending asks the "
        "cells first: what was started, activated or switched on by other hands is left out, here and at later starts.",
        example="pending",
        handler="exacell.commands.change:pending",
    ),
    Command(
        name="lock",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the rack for yourself until unlock; without it a change locks the rack while it runs",
        details="The others are told who holds it and since when. A reason goes to your own journal: everybody on the "
        "host can read a lock, so it holds no text of yours.",
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
        details="A change of a process that has ended on this host holds nothing, and needs no takeover. Who took "
        "over from whom, and why (--reason), is in the journal. A change that still runs elsewhere stops before its "
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
        summary="who holds the rack's lock, since when, and for which change",
        example="show lock",
        handler="exacell.commands.change:show_lock",
    ),
)
