"""Check the two parameters of a database's own flash cache, Database Smart Flash Cache. Pure.

Source: Oracle Database Reference, DB_FLASH_CACHE_FILE (11.2: not modifiable; not allowed without DB_FLASH_CACHE_SIZE) and
DB_FLASH_CACHE_SIZE (specified at startup; 0 switches it off, the original value on again, no other one); Oracle Database
Administrator's Guide, "Configuring Database Smart Flash Cache" (Oracle Linux and Solaris only, not shared by instances).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from exacell.core.errors import RefusedError
from exacell.plan.dbchange import SetParameter

FILE, SIZE = "db_flash_cache_file", "db_flash_cache_size"
PAIR = (FILE, SIZE)

Told = Callable[[str], Mapping[str, Mapping[str, Any]]]
"""Returns the records of a parameter, by SID."""


def check_pair(change: SetParameter, told: Told, sid: str, now: Mapping[str, str | None], wanted: str) -> None:
    """Raise RefusedError if a change of one of the two parameters does not fit the other.

    Args:
        sid: the instance of the entry, ``*`` for all.
        now: the present value of each instance whose memory would change.
        wanted: the size in bytes, as V$PARAMETER prints it.

    Raises:
        RefusedError: an instance would not accept it, or not start with it; names the rule.
    """
    if change.name == FILE:
        if change.scope != "SPFILE":
            raise RefusedError(
                f"an instance reads {FILE} only when it starts; nothing was sent",
                hint="use SCOPE=SPFILE, then restart the instance",
            )
        if change.value is not None:
            _never_alone(told, sid, FILE, change.value)
        return
    if change.value is None:
        _never_alone(told, sid, SIZE, None)
    for instance, size in now.items():
        _switched(told, instance, size, wanted)


def caveats(change: SetParameter, now: Mapping[str, str | None], wanted: str) -> Iterator[str]:
    """Yield facts that the operator should know about such a change and that exacell can't check."""
    if change.name == FILE and change.value is not None:
        yield (
            "for Oracle Linux and Solaris only; instances do not share it: the name must mean each node's own flash, on all "
            "instances or on none"
        )
    elif "0" in now.values() and wanted != "0":
        yield "the database takes only the size that the instance has started with"


def _never_alone(told: Told, sid: str, name: str, value: str | None) -> None:
    """Raise RefusedError if an instance would have an entry for the file without one for the size."""
    entries = {each: {one: told(each)[one]["spfile"] for one in told(each)} for each in PAIR}
    entries[name][sid] = value
    for one in [each for each in entries[FILE] if each != "*"] or ["*"]:
        file, size = (entries[each][one] or entries[each]["*"] for each in PAIR)
        if file and size is None:
            first = f"reset {FILE}" if name == SIZE else f"set {SIZE}=…"
            raise RefusedError(
                f"the server parameter file would have {FILE} without {SIZE}{'' if '*' in (sid, one) else f' for {one}'}, "
                "which the database does not allow; nothing was sent",
                hint=f"type `alter system {first} scope=spfile` first",
            )


def _switched(told: Told, instance: str, size: str | None, wanted: str) -> None:
    """Raise RefusedError unless the size is switched off, or on again to its former value."""
    if size is None:
        raise RefusedError(f"{instance} has no parameter {SIZE}: its release does not know it; nothing was sent")
    if "," in size:
        raise RefusedError(
            f"{instance} has several flash cache files, of sizes {size}; exacell supports only one; nothing was sent"
        )
    if wanted == size or wanted == "0":
        return
    if size != "0":
        raise RefusedError(
            f"{SIZE} of {instance} is {size}: while the instance runs, it can only be set to 0 and back to this "
            f"size; nothing was sent",
            hint="for another size use SCOPE=SPFILE, then restart the instance",
        )
    if not told(FILE)[instance]["memory"]:
        raise RefusedError(
            f"{instance} was started without its own flash cache: {FILE} is empty; nothing was sent",
            hint=f"type `alter system set {SIZE}=… scope=spfile, {FILE}='…' scope=spfile`, then restart the instance",
        )
