"""Plan the power of ASM's rebalances: how hard they work. Source: reference asm.md section 6."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.core.errors import RefusedError
from exacell.plan.asmfacts import AsmFacts
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo

MOST_POWER = 1024
"""The highest power. Source: reference asm.md section 6 (11 while compatible.asm is below 11.2.0.2)."""


def power_plan(rack: str, asm: AsmFacts, *, power: int, group: str, statement: str, starts: bool = True) -> Plan:
    """Return the plan that gives running rebalances another power, or starts one of ``group`` with it.

    Args:
        starts: whether a rebalance of ``group`` may be started; False if a power is taken back: a rebalance that has ended
            meanwhile is not started again. With power 0 a rebalance moves nothing.

    Raises:
        RefusedError: the power is out of range, or there is no such disk group mounted.
    """
    if power > MOST_POWER:
        raise RefusedError(f"set rebalance: power={power} is not possible: 0 (stop) to {MOST_POWER}")
    running = {op.diskgroup: op for op in reversed(asm.running) if op.diskgroup}
    if group:
        found = asm.group(group)
        if found is None or not found.number:
            known = ", ".join(g.name for g in asm.groups) or "none"
            raise RefusedError(
                f"set rebalance: disk group {group.upper()} is not mounted on {asm.node}; there are {known}"
            )
        if found.name not in running and power and not starts:
            return Plan(statement=statement, rack=rack, done={asm.node: f"no rebalance of {found.name} runs"})
        names = [found.name]
    else:
        names = sorted(running)
    if not names:
        return Plan(
            statement=statement,
            rack=rack,
            done={asm.node: "no rebalance is running; diskgroup=NAME starts one of that group"},
        )
    wanted = [name for name in names if name not in running or running[name].power != power]
    if not wanted:
        return Plan(statement=statement, rack=rack, done={asm.node: f"power is {power} already"})
    old = {name: running[name].power for name in wanted if name in running}
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(
            Stage(title=f"rebalance {name}", key=f"power-{name}", steps=(_power(asm, name, power, old.get(name)),))
            for name in wanted
        ),
        inverse={
            asm.node: tuple(
                f"set rebalance power={before} diskgroup={name} asm={asm.cluster}" for name, before in old.items()
            )
        }
        if len(old) == len(wanted)
        else {},
        notes=_power_notes(power, [name for name in wanted if name not in running]),
        risk=Risk.PERFORMANCE,
    )


def _power_notes(power: int, begun: Sequence[str]) -> tuple[str, ...]:
    """Return notes on the meaning of a power; ``begun``: the disk groups without a running rebalance."""
    if power:
        return ("power 1 to 4 leaves the disks to the databases; use more only in a time without load",)
    said = ("with power 0 a rebalance is stopped until it gets another power",)
    if not begun:
        return said
    return (
        *said,
        f"no rebalance of {', '.join(begun)} is running now: this starts one that waits, and gates "
        "and resizes wait for it",
    )


def _power(asm: AsmFacts, name: str, power: int, before: int | None) -> Step:
    # At power 0 a rebalance waits; at another power, the other instances show WAIT. Source: reference asm.md section 6.
    states = ("WAIT", "EST", "RUN") if before == 0 else ("EST", "RUN")
    as_before: dict[str, str | tuple[str, ...]] = {"diskgroup": name, "state": states, "power": str(before)}
    return Step(
        target=asm.node,
        asm=asm.cluster,
        statement=f"ALTER DISKGROUP {name} REBALANCE POWER {power}",
        what=f"power {power} for {name}",
        # A rebalance that has ended meanwhile no longer has a power.
        proves=() if before is None else (Check(object="asm.operation", op=Op.ABSENT, where=as_before),),
        risk=Risk.PERFORMANCE,
        undo=Undo.IMPOSSIBLE if before is None else Undo.STATEMENT,
        inverse=_unstarted(name, power) if before is None else f"ALTER DISKGROUP {name} REBALANCE POWER {before}",
        changes=(
            Change(
                object="rebalance",
                name=name,
                attribute="power",
                before="-" if before is None else str(before),
                after=str(power),
            ),
        ),
    )


def _unstarted(name: str, power: int) -> str:
    """Return why a started rebalance can't be taken back."""
    if power:
        return "a finished rebalance can't be undone"
    return (
        "a rebalance with power 0 moves nothing and can't be cancelled: `set rebalance power=4 "
        f"diskgroup={name}` lets it run and end"
    )
