"""Whether the transport can carry a plan: asked before anybody confirms, so that no plan stops half-way for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exacell.cellcli.secrets import holds_secret
from exacell.core.errors import RefusedError
from exacell.plan.ageing import ages
from exacell.session.vault import refuse_forgotten
from exacell.transport.base import Capabilities

if TYPE_CHECKING:
    from exacell.plan.model import Plan


def refuse_plan(plan: Plan, capabilities: Capabilities) -> None:
    """Return when the transport can carry every step of a plan; ASM's steps go to database nodes and are not its own.

    Raises:
        RefusedError: it cannot, would show a password to others, or that one is not known any more; names the step, the
            transport's rule, and the way out.
    """
    for step in plan.steps:
        if step.asm or not step.statement:
            continue
        refuse_forgotten(step.statement)
        if not capabilities.stdin and holds_secret(step.statement):
            raise RefusedError(
                f"{step.target}: '{step.statement}' holds a password or a key, and the transport {capabilities.name} would "
                "put it into the arguments of a process, which all users of the host can read; nothing was sent",
                hint="set transport ssh, if the cells may be reached so",
            )
        why = capabilities.problem(step.statement)
        if why:
            raise RefusedError(
                f"{step.target}: '{step.statement}' can't go over the transport {capabilities.name}: {why}; "
                "nothing was sent",
                hint="set transport ssh, if the cells may be reached so",
            )


def wide_moment(plan: Plan, capabilities: Capabilities, *, production: bool) -> str:
    """Return how long the proof of a plan's statements may age before they are carried out, as a sentence; empty where each
    goes upon a look by its own CellCLI, or nothing can go stale.

    Raises:
        RefusedError: it ages on a production rack.
    """
    if capabilities.pairs:
        return ""
    step = next((step for step in plan.steps if step.statement and not step.asm and ages(step.statement)), None)
    if step is None:
        return ""
    wide = (
        f"'{step.statement}' goes over the transport {capabilities.name}: between the last look at a cell and the statement lie "
        "a login and the start of a CellCLI there, seconds in which what was proven may change"
    )
    if production:
        raise RefusedError(
            f"rack {plan.rack} is a production rack, and {wide}; nothing was sent",
            hint="set transport ssh, if the cells may be reached so",
        )
    return wide
