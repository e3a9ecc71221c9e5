"""Take a cell's disks offline and bring them back; restart services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.change.reviving import mount_again
from exacell.change.settling import done_on
from exacell.errors import RefusedError
from exacell.journal.offline import observe_online, offline_disks
from exacell.journal.stopped import observe_services
from exacell.language.registry import Call
from exacell.output.result import Result
from exacell.plan import facts as f
from exacell.plan.availability import offline_plan, online_plan, restart_plan, restart_words

if TYPE_CHECKING:
    from exacell.context import Context


def _one(ctx: Context, call: Call) -> str:
    name = call.text_arg("cell")
    found = tuple(ctx.resolve(name))
    if len(found) != 1:
        raise RefusedError(f"{call.command.name}: {name} is {len(found)} cells: one at a time, each is a failure group")
    return found[0]


def offline(ctx: Context, call: Call) -> Result:
    """Return one record with the outcome."""
    cell = _one(ctx, call)
    fact = ctx.facts(f.CELL, f.GRIDDISK, cells=(cell,))[cell]
    return ctx.change(offline_plan(ctx.need_rack().name, fact, statement=call.text), call)


def online(ctx: Context, call: Call) -> Result:
    """Return one record with the outcome; first those of what mounts disk groups again that were lost meanwhile."""
    cell = _one(ctx, call)
    rack = ctx.need_rack().name
    for change in [item.change for item in offline_disks(ctx.journal, rack) if cell in item.cells]:
        held_up = mount_again(ctx, change, call.flags, ctx.origin)
        if held_up is not None:
            return held_up
    stopped = ctx.facts(f.CELL, cells=(cell,))[cell].cellsrv.lower() == "stopped"
    fact = ctx.facts(f.CELL, f.GRIDDISK_PLAIN if stopped else f.GRIDDISK, cells=(cell,))[cell]
    if not stopped:
        problem = observe_services(ctx.journal, rack, {cell: ("cellsrv",)})
        for line in ctx.unnoted(problem):
            ctx.console.say(line)
    plan = online_plan(rack, fact, statement=call.text)
    if not plan.stages:
        for line in ctx.unnoted(observe_online(ctx.journal, rack, (cell,))):
            ctx.console.say(line)
    return ctx.change(plan, call)


def restart(ctx: Context, call: Call) -> Result:
    """Return one record per cell with its outcome."""
    service = call.text_arg("service")
    # MS that is down answers nothing: its restart depends on no fact, so that it can be mended.
    wanted = (f.CELL, f.GRIDDISK, f.FLASHCACHE) if service in ("cellsrv", "all") else ()
    facts = ctx.facts(*wanted)
    rack = ctx.need_rack().name
    restarted = done_on(ctx.journal, rack, ctx.finishing, restart_words(service)) if ctx.finishing else ()
    return ctx.change(restart_plan(rack, facts, service=service, statement=call.text, restarted=restarted), call)
