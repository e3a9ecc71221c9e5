"""Take a cell's disks offline and bring them back; restart services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.change.bringing_back import mount_again
from exacell.change.leftbehind import unnoted
from exacell.change.settling import done_on
from exacell.core.errors import RefusedError
from exacell.journal.left import observe_online, observe_services, offline_disks
from exacell.language.registry import Call
from exacell.output.result import Result
from exacell.plan import facts as f
from exacell.plan.model import Planned
from exacell.plan.planners.availability import (
    offline_plan,
    online_plan,
    restart_plan,
    restart_words,
)
from exacell.session.factreading import read_facts

if TYPE_CHECKING:
    from exacell.session.context import Context


def _one(ctx: Context, call: Call) -> str:
    name = call.text_arg("cell")
    found = tuple(ctx.resolve(name))
    if len(found) != 1:
        raise RefusedError(f"{call.command.name}: {name} is {len(found)} cells: one at a time, each is a failure group")
    return found[0]


def offline(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record with the outcome."""
    cell = _one(ctx, call)
    facts = read_facts(ctx, f.CELL, f.GRIDDISK, cells=(cell,))
    return Planned(offline_plan(ctx.need_rack().name, facts[cell], statement=call.text), facts)


def online(ctx: Context, call: Call) -> Result | Planned:
    """Return one record with the outcome; first those of what mounts disk groups again that were lost meanwhile."""
    cell = _one(ctx, call)
    rack = ctx.need_rack().name
    for change in [item.change for item in offline_disks(ctx.journal, rack) if cell in item.cells]:
        held_up = mount_again(ctx, change, call.flags, ctx.request.origin)
        if held_up is not None:
            return held_up
    stopped = read_facts(ctx, f.CELL, cells=(cell,))[cell].cellsrv.lower() == "stopped"
    facts = read_facts(ctx, f.CELL, f.GRIDDISK_PLAIN if stopped else f.GRIDDISK, cells=(cell,))
    if not stopped:
        problem = observe_services(ctx.journal, rack, {cell: ("cellsrv",)})
        for line in unnoted(ctx, problem):
            ctx.console.say(line)
    plan = online_plan(rack, facts[cell], statement=call.text)
    if not plan.stages:
        for line in unnoted(ctx, observe_online(ctx.journal, rack, (cell,))):
            ctx.console.say(line)
    return Planned(plan, facts)


def restart(ctx: Context, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    service = call.text_arg("service")
    # MS that is down answers nothing: its restart depends on no fact, so that it can be mended.
    wanted = (f.CELL, f.GRIDDISK, f.FLASHCACHE) if service in ("cellsrv", "all") else ()
    facts = read_facts(ctx, *wanted)
    rack = ctx.need_rack().name
    restarted = (
        done_on(ctx.journal, rack, ctx.request.finishing, restart_words(service)) if ctx.request.finishing else ()
    )
    plan = restart_plan(rack, facts, service=service, statement=call.text, restarted=restarted)
    return Planned(plan, facts if wanted else {})
