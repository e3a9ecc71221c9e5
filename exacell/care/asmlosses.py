"""What SQL and asmcmd take from disk groups by force or with their files, found in text that is not read otherwise. Pure.

Whoever accepts that exacell can't read a text has not accepted that a disk group goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exacell.core.errors import RefusedError

_NAME = r"\"?\+?([\w$#]+)"
_LOSSES: Mapping[str, str] = {
    rf"\bdrop\s+diskgroup\s+{_NAME}": "it is dropped",
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\bdrop\s+(?:quorum\s+)?disks?\s[^;]*\bforce\b": "it loses disks by FORCE",
    rf"\balter\s+diskgroup\s+{_NAME}\s+drop\s+(?:file|directory|volume)\b": "it loses files",
    rf"\balter\s+diskgroup\s+{_NAME}[^;]*\bdismount\s+force\b": "it is dismounted by FORCE",
    rf"\balter\s+diskgroup\s+{_NAME}\s[^;]*\b(?:add|replace)\s[^;]*\bforce\b": "it takes disks that others may use, by FORCE",
    rf"\bcreate\s+diskgroup\s+{_NAME}\s[^;]*\bforce\b": "it takes disks that others may use, by FORCE",
    rf"\bdropdg\s+(?:-\w+\s+)*{_NAME}": "it is dropped",
    rf"\basmcmd\b[^;\n]*?\brm\s+(?:-\w+\s+)*['\"]?\+{_NAME}": "it loses files",
    rf"\basmcmd\b[^;\n]*?\bumount\s+(?:-\w+\s+)*-f\s+(?:-\w+\s+)*{_NAME}": "it is dismounted by FORCE",
}
"""Patterns whose first group is the disk group, and what happens to it. Source: Oracle Database SQL Language Reference, ALTER,
CREATE and DROP DISKGROUP; reference asm.md."""
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def asm_losses(text: str) -> dict[str, str]:
    """Return what would happen to which disk group (upper case); nothing where nothing looks like it.

    Literals count as well: PL/SQL executes what stands in them.
    """
    bare = _COMMENT.sub(" ", text)
    found: dict[str, str] = {}
    for form in (bare, " ".join(text.split())):
        for pattern, what in _LOSSES.items():
            for match in re.finditer(pattern, form, re.IGNORECASE):
                found.setdefault(match[1].upper(), what)
    return found


def refuse_losses(what: str, losses: Mapping[str, str], accepted: tuple[str, ...]) -> None:
    """Return when every disk group's loss was accepted by its name.

    Raises:
        RefusedError: naming those that were not.
    """
    given = {name.upper() for name in accepted}
    missing = [name for name in losses if name not in given]
    if missing:
        said = "; ".join(f"{name}: {losses[name]}" for name in missing)
        raise RefusedError(
            f"'{what}': refused: data would be lost on {', '.join(missing)} ({said}); nothing was sent",
            hint=f"--accept-data-loss={','.join(missing)} accepts it; -y and --accept-opaque never do",
        )
